"""lifecycle.github.sweep.sweeping where GitHub does not manage a request, or the sweep has to end."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.core.errors import BadCredentials, NoPermission, Transient
from lifecycle.core.timing import Deadline
from lifecycle.core.values.model import Repository
from lifecycle.github.sweep.sweep_nodes import Batches
from lifecycle.sandbox.control.faults import Fault
from lifecycle.sandbox.seed import SeedItem
from tests.github.hub import Hub, PatientClock
from tests.github.survey_world import (
    OWNER,
    hub_of,
    issue,
    lease,
    repository,
    seconds,
    seed,
    survey_of,
)

ALWAYS = 1_000_000


def names(count: int) -> list[Repository]:
    """`octo-org/r000` and so on."""
    return [Repository(OWNER, f"r{n:03}") for n in range(count)]


def heavy(kind: str, **above: int) -> dict[str, Any]:
    """A fault of the catalogue for whatever asks for more than this."""
    return {"fault": f"heavy-{kind}", "above": above}


@pytest.mark.parametrize("kind", ["bad-gateway", "resource-limits"])
@pytest.mark.parametrize("by", ["name", "owner"])
def test_too_many_repositories_are_asked_for_in_halves(
    deadline: Deadline, kind: str, by: str
) -> None:
    """A batch that is too much is halved until GitHub manages it, and nothing is lost or doubled."""
    world = seed([repository(one.name, refs=[lease(1)]) for one in names(30)])
    with hub_of(world, deadline) as hub:
        hub.control.add_fault(**heavy(kind, nodes=7 * 301))
        survey = survey_of(hub)
        asked = survey.holdings(names(30)) if by == "name" else survey.holdings_of(OWNER)
        found = list(asked)
        requests = len(hub.asked())
    assert [one.repository for one in found] == [str(one) for one in names(30)]
    assert not any(one.problem for one in found)
    # 25 and 12 are too many; 6 at a time, four times, then 7 are tried.
    assert requests == 7


def test_too_many_issues_are_asked_for_in_halves(deadline: Deadline) -> None:
    """Lists are cut smaller, and each issue comes once."""
    homes = [repository(one.name, issues=[issue(k) for k in range(1, 61)]) for one in names(2)]
    with hub_of(seed(homes), deadline) as hub:
        survey = survey_of(hub)
        holdings = list(survey.holdings(names(2)))
        # An issue is itself, 20 assignees, 51 events, and 50 cards.
        hub.control.add_fault(**heavy("resource-limits", nodes=40 * 122))
        found = list(survey.issues_of(holdings, seconds(0)))
    keys = {
        (one.repository, one.observation.issue.number) for one in found if one.observation.issue
    }
    assert len(keys) == len(found) == 120


def test_too_many_cards_are_asked_for_in_halves(deadline: Deadline) -> None:
    """The board goes on where it was, with a smaller page."""
    home = repository(issues=[issue(n) for n in range(1, 131)])
    with hub_of(seed([home], [SeedItem(issue=n) for n in range(1, 131)]), deadline) as hub:
        hub.control.add_fault("gateway-timeout", operation="SurveyCards", skip=1, count=2)
        found = list(survey_of(hub).cards())
        assert len(hub.asked()) == 5
    assert [one.observation.issue.number for one in found if one.observation.issue] == [
        *range(1, 131)
    ]


def test_one_repository_that_cannot_be_read_is_its_own_problem(deadline: Deadline) -> None:
    """It is tried alone, three times, and carries the error; the others are read."""
    world = seed([repository(one.name, refs=[lease(1)]) for one in names(3)])
    with hub_of(world, deadline) as hub:
        # 3 at once, then the first one alone: three times.
        hub.control.add_fault("bad-gateway", operation="SurveyHolding", count=4)
        found = list(survey_of(hub).holdings(names(3)))
    assert [type(one.problem) for one in found] == [Transient, type(None), type(None)]
    assert found[0].problem is not None
    assert "(502)" in found[0].problem.sentence
    assert [len(one.leases) for one in found] == [0, 1, 1]


def test_an_owners_repository_that_cannot_be_read_is_passed_over(deadline: Deadline) -> None:
    """It is known by its name, and the list goes on behind it."""
    world = seed([repository(one.name, refs=[lease(1)]) for one in names(3)])
    with hub_of(world, deadline) as hub:
        # 25, 12, 6 and 3 at once, then the first one alone: three times.
        hub.control.add_fault("bad-gateway", operation="SurveyOwner", count=7)
        found = list(survey_of(hub).holdings_of(OWNER))
    assert [one.repository for one in found] == [str(one) for one in names(3)]
    assert [one.problem is None for one in found] == [False, True, True]


def test_issues_that_cannot_be_read_are_a_problem_of_their_repository(deadline: Deadline) -> None:
    """The sweep goes on with the other repositories."""
    homes = [repository(one.name, issues=[issue(1)]) for one in names(2)]
    with hub_of(seed(homes), deadline) as hub:
        survey = survey_of(hub)
        wanted = [(str(one), 1) for one in names(2)]
        hub.control.add_fault("bad-gateway", operation="SurveyIssue", count=4)
        found = list(survey.issues(wanted))
    assert [(one.repository, one.problem is None) for one in found] == [
        ("octo-org/r000", False), ("octo-org/r001", True),
    ]  # fmt: skip


def test_an_outage_ends_the_sweep(deadline: Deadline) -> None:
    """When not even single repositories can be read, it is not their fault, and asking ends."""
    with hub_of(seed([repository(one.name) for one in names(25)]), deadline) as hub:
        hub.control.add_fault("bad-gateway", count=ALWAYS)
        with pytest.raises(Transient, match="502"):
            list(survey_of(hub).holdings(names(25)))
        # 25, 12, 6, 3, and two alone, three times each.
        assert len(hub.asked()) == 10


def test_a_board_in_an_outage_is_an_error(deadline: Deadline) -> None:
    """There is no part of a board to go on with."""
    with hub_of(seed([repository()]), deadline) as hub:
        hub.control.add_fault("bad-gateway", count=ALWAYS)
        with pytest.raises(Transient, match="502"):
            list(survey_of(hub).cards())


def test_a_short_limit_is_waited_out(deadline: Deadline, clock: PatientClock) -> None:
    """Ten seconds at most: the same is asked for again, and not in halves."""
    short = Fault("status", status=403, headers={"retry-after": "9"}, operation="SurveyHolding")
    with hub_of(seed([repository(one.name) for one in names(3)]), deadline) as hub:
        hub.control.add_fault(short)
        assert len(list(survey_of(hub).holdings(names(3)))) == 3
        assert len(hub.asked()) == 2
    assert clock.naps == [9.0]


@pytest.mark.parametrize("name", ["graphql-rate-limited", "secondary-limit-without-a-wait"])
def test_a_limit_of_a_minute_ends_the_sweep(
    deadline: Deadline, clock: PatientClock, name: str
) -> None:
    """Nobody sits in silence: who started the run is told, and the next one goes on."""
    with hub_of(seed([repository(one.name) for one in names(3)]), deadline) as hub:
        hub.control.add_fault(name)
        with pytest.raises(Transient) as caught:
            list(survey_of(hub).holdings(names(3)))
        assert len(hub.asked()) == 1
    assert caught.value.retry_after == 60.0
    assert clock.naps == []


def test_a_long_limit_ends_the_sweep_at_once(deadline: Deadline, clock: PatientClock) -> None:
    """What was read is kept, nothing is waited for, and the error says for how long."""
    headers = {"retry-after": "1800"}
    limit = Fault("status", status=403, headers=headers, operation="SurveyHolding", skip=1)
    with hub_of(seed([repository(one.name) for one in names(30)]), deadline) as hub:
        hub.control.add_fault(limit)
        found = survey_of(hub).holdings(names(30))
        read = [next(found).repository for _ in range(25)]
        with pytest.raises(Transient) as caught:
            next(found)
    assert caught.value.retry_after == 1800
    assert clock.naps == []
    assert read == [str(one) for one in names(25)]


def test_the_deadline_ends_the_sweep(deadline: Deadline, clock: PatientClock) -> None:
    """When the time is up no smaller batch is tried."""
    with hub_of(seed([repository(one.name) for one in names(30)]), deadline) as hub:
        found = survey_of(hub).holdings(names(30))
        first = [next(found) for _ in range(25)]
        deadline.renew(0)
        with pytest.raises(Transient, match="time for this look is up"):
            next(found)
        assert len(hub.asked()) == 1
    assert len(first) == 25
    assert clock.naps == []


def test_a_part_that_is_refused_is_its_repositorys_problem(deadline: Deadline) -> None:
    """A token that may not read pull requests of one repository reads the others in full."""
    with hub_of(seed([repository(one.name) for one in names(2)]), deadline) as hub:
        refused = Fault(
            "graphql_error", operation="SurveyHolding", when="after", error_type="FORBIDDEN",
            message="Resource not accessible by personal access token",
            null_paths=[["p1", "pulls"]],
        )  # fmt: skip
        hub.control.add_fault(refused)
        found = list(survey_of(hub).holdings(names(2)))
    assert found[0].problem is None
    assert isinstance(found[1].problem, NoPermission)
    assert (found[1].default_branch, found[1].pulls) == ("", ())


def test_a_repository_of_an_owner_that_is_refused_is_passed_over(deadline: Deadline) -> None:
    """What GitHub refuses inside one repository is no problem of the owner's others."""
    with hub_of(seed([repository(one.name) for one in names(2)]), deadline) as hub:
        refused = Fault(
            "graphql_error", operation="SurveyOwner", when="after", error_type="FORBIDDEN",
            message="Resource not accessible by personal access token",
            null_paths=[["repositoryOwner", "repositories", "nodes", 0, "pulls"]],
        )  # fmt: skip
        hub.control.add_fault(refused)
        found = list(survey_of(hub).holdings_of(OWNER))
    assert [isinstance(one.problem, NoPermission) for one in found] == [True, False]


def test_a_token_that_is_not_accepted_ends_the_sweep(deadline: Deadline) -> None:
    """That is no repository's problem."""
    with hub_of(seed([repository()]), deadline) as hub:
        hub.control.add_fault("bad-credentials")
        with pytest.raises(BadCredentials):
            list(survey_of(hub).holdings([hub.repository]))


def failing(error: Exception) -> Any:
    """A request that ends so."""

    def ask() -> None:
        raise error

    return ask


def test_a_size_grows_back_slowly(deadline: Deadline) -> None:
    """Halved at once; a quarter more after four good answers in a row, never more than the most."""
    batches = Batches(deadline, 100)
    assert isinstance(batches.attempt(100, failing(Transient("Too much."))), Transient)
    assert batches.size == 50
    sizes = []
    for _ in range(16):
        batches.attempt(batches.size, lambda: None)
        sizes.append(batches.size)
    assert sizes == [50, 50, 50, 62, 62, 62, 62, 77, 77, 77, 77, 96, 96, 96, 96, 100]


def test_an_error_that_is_none_of_size_is_raised(deadline: Deadline) -> None:
    """Only what passes by itself is asked for in halves."""
    batches = Batches(deadline, 100)
    with pytest.raises(NoPermission):
        batches.attempt(100, failing(NoPermission("No.")))
    assert batches.size == 100


def counted(hub: Hub) -> tuple[int, int]:
    """What the clients counted, and what the server did."""
    return hub.graph.requests + hub.rest.requests, len(hub.asked())


def test_requests_and_points_are_counted_for_everybody(deadline: Deadline) -> None:
    """Both clients count what they send, failures too, and the points that GitHub says."""
    with hub_of(seed([repository(issues=[issue(1)], refs=[lease(1)])]), deadline) as hub:
        hub.control.add_fault("bad-gateway", operation="SurveyHolding")
        survey = survey_of(hub)
        holdings = list(survey.holdings([hub.repository]))
        list(survey.issues_of(holdings, seconds(0)))
        list(survey.cards())
        hub.forge.viewer()
        points = sum(one.points or 0 for one in hub.control.requests() if one.kind == "graphql")
        assert hub.graph.points == points
        sent, arrived = counted(hub)
    assert sent == arrived == 5
