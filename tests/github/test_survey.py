"""lifecycle.github.sweep.sweeping: what a sweep reads of repositories, and for how many requests."""

from __future__ import annotations

import pytest

from lifecycle.core.errors import NotFound
from lifecycle.core.ports import Survey
from lifecycle.core.timing import Deadline
from lifecycle.core.values.model import Hold, PullState, Repository
from lifecycle.core.values.survey import Holding
from lifecycle.sandbox.seed import SeedRef
from tests.github.survey_world import (
    OWNER,
    at,
    branch,
    hub_of,
    issue,
    lease,
    pull,
    repository,
    seconds,
    seed,
    survey_of,
)


def names(count: int) -> list[Repository]:
    """`octo-org/r000` and so on."""
    return [Repository(OWNER, f"r{n:03}") for n in range(count)]


def test_what_a_repository_holds_is_read(deadline: Deadline) -> None:
    """Leases with agent, branch and date, branches with dates, open pull requests, assigned issues."""
    home = repository(
        issues=[issue(1), issue(2), issue(3, assignees=[]), issue(4, state="closed")],
        branches=[branch("claude/one-1", 7), branch("other", 7)],
        refs=[lease(1, "octocat-1", "claude/one-1", 6), lease(2, "octocat-2")],
        pulls=[
            pull(10, "claude/one-1", "Refs #1"),
            pull(11, "other", state="closed", closed_at=at(12)),
        ],
    )
    with hub_of(seed([home]), deadline) as hub:
        survey: Survey = survey_of(hub)
        (found,) = survey.holdings([hub.repository])
    assert (found.repository, found.default_branch, found.claimed) == (
        "octo-org/hello-service", "main", 2,
    )  # fmt: skip
    assert found.url.endswith("/octo-org/hello-service")
    one = found.leases[1]
    assert one == Hold(1, one.sha, "octocat-1", seconds(6), "claude/one-1")
    assert (found.leases[2].agent, found.leases[2].branch) == ("octocat-2", "")
    assert {name: tip.at for name, tip in found.tips.items()} == {"claude/one-1": seconds(7)}
    (open_pull,) = found.pulls
    assert (open_pull.number, open_pull.body, open_pull.state) == (10, "Refs #1", PullState.OPEN)
    assert open_pull.head_sha == found.tips["claude/one-1"].sha
    assert (open_pull.opened_at, open_pull.updated_at) == (seconds(10), seconds(11))
    assert (open_pull.mergeable, open_pull.checks) == ("UNKNOWN", None)


def test_words_that_are_no_leases_are_holds_of_nobody(deadline: Deadline) -> None:
    """A lease that is not ours to read has no agent; what has no issue's number is no lease."""
    strange = [
        SeedRef("refs/agent-claims/1", "something else"),
        SeedRef("refs/agent-claims/2", "lease [1, 2]"),
        SeedRef("refs/agent-claims/3", 'lease {"agent": 7, "branch": null}'),
        SeedRef("refs/agent-claims/x/4", "lease {}"),
    ]
    with hub_of(seed([repository(refs=strange)]), deadline) as hub:
        (found,) = survey_of(hub).holdings([hub.repository])
    assert sorted(found.leases) == [1, 2, 3]
    assert {(hold.agent, hold.branch) for hold in found.leases.values()} == {("", "")}


@pytest.mark.parametrize(("count", "requests"), [(1, 1), (25, 1), (26, 2)])
def test_twenty_five_repositories_are_one_request(
    deadline: Deadline, count: int, requests: int
) -> None:
    """The floor: R/25 requests, of a point or two each."""
    world = seed([repository(one.name, refs=[lease(1)]) for one in names(count)])
    with hub_of(world, deadline) as hub:
        found = list(survey_of(hub).holdings(names(count)))
        assert hub.asked() == ["SurveyHolding"] * requests
        assert [one.repository for one in found] == [str(one) for one in names(count)]
        assert {len(one.leases) for one in found} == {1}
        assert (hub.graph.requests, hub.rest.requests) == (requests, 0)
        assert hub.graph.points <= 2 * requests


def test_an_owners_repositories_come_page_by_page(deadline: Deadline) -> None:
    """Forks and archived ones are left out, and no name has to be known."""
    plain = [repository(one.name, refs=[lease(1)]) for one in names(26)]
    others = [
        repository("old", archived=True),
        repository("copy", fork_of="octo-org/r000"),
    ]
    with hub_of(seed([*plain, *others]), deadline) as hub:
        found = list(survey_of(hub).holdings_of(OWNER))
        assert hub.asked() == ["SurveyOwner"] * 2
    assert [one.repository for one in found] == [str(one) for one in names(26)]
    assert {len(one.leases) for one in found} == {1}


def test_an_owners_names_come_a_hundred_at_once(deadline: Deadline) -> None:
    """Who looks at a part of the repositories reads no more of the others than their names."""
    with hub_of(seed([repository(one.name) for one in names(101)]), deadline) as hub:
        assert list(survey_of(hub).repositories_of(OWNER)) == list(names(101))
        assert hub.asked() == ["SurveyOwnerNames"] * 2
        with pytest.raises(NotFound, match="nobody-here"):
            list(survey_of(hub).repositories_of("nobody-here"))


def test_an_owner_that_there_is_not_is_said(deadline: Deadline) -> None:
    """A wrong login is an error, not an empty sweep."""
    with (
        hub_of(seed([repository()]), deadline) as hub,
        pytest.raises(NotFound, match="nobody-here"),
    ):
        list(survey_of(hub).holdings_of("nobody-here"))


def test_lists_of_more_than_a_hundred_are_read_to_the_end(deadline: Deadline) -> None:
    """What several repositories have more of is continued in one request for all of them."""
    many = [
        repository(
            one.name,
            refs=[lease(n) for n in range(1, 206)],
            branches=[branch(f"claude/b{n}") for n in range(101)],
            pulls=[
                pull(200 + n, f"claude/b{n}", head_sha="a" * 40, base_sha="b" * 40)
                for n in range(101)
            ],
        )
        for one in names(2)
    ]
    with hub_of(seed(many), deadline) as hub:
        found = list(survey_of(hub).holdings(names(2)))
        assert len(hub.asked()) == 3
    for one in found:
        assert (len(one.leases), len(one.tips), len(one.pulls)) == (205, 101, 101)
        assert [pull.number for pull in one.pulls] == list(range(300, 199, -1))


def test_pages_that_are_too_much_are_asked_for_in_halves(deadline: Deadline) -> None:
    """The rest of a list is read in smaller batches; one that cannot be read spoils its repository."""
    many = [
        repository(one.name, refs=[lease(n) for n in range(1, 102 if one.name < "r003" else 2)])
        for one in names(4)
    ]
    with hub_of(seed(many), deadline) as hub:
        # Three pages at once, then the first one alone: three times.
        hub.control.add_fault("bad-gateway", operation="SurveyLeases", count=4)
        found = list(survey_of(hub).holdings(names(4)))
    assert [len(one.leases) for one in found] == [0, 101, 101, 1]
    assert [one.problem is None for one in found] == [False, True, True, True]


def test_a_repository_that_is_not_shown_costs_the_others_nothing(deadline: Deadline) -> None:
    """It carries the error with its name; those beside it are read in the same request."""
    with hub_of(seed([repository(one.name) for one in names(2)]), deadline) as hub:
        wanted = [names(2)[0], Repository(OWNER, "gone"), names(2)[1]]
        found = list(survey_of(hub).holdings(wanted))
        assert len(hub.asked()) == 1
    assert [one.problem is None for one in found] == [True, False, True]
    assert isinstance(found[1].problem, NotFound)
    assert "octo-org/gone" in found[1].problem.sentence
    assert found[1] == Holding("octo-org/gone", problem=found[1].problem)


def test_a_renamed_repository_has_the_name_that_it_has_now(deadline: Deadline) -> None:
    """A sweep by the old name shows the new one, which leases and cards go by."""
    with hub_of(seed([repository()]), deadline) as hub:
        hub.control.rename_repository("greetings")
        (found,) = survey_of(hub).holdings([hub.repository])
    assert found.repository == "octo-org/greetings"
