"""Whom open pull requests wait for, as a sweep reads it: in the same requests, and never at their cost."""

from __future__ import annotations

from typing import Any

import pytest
import responses

from lifecycle.core.timing import Deadline
from lifecycle.core.values.checks import Verdict
from lifecycle.core.values.model import Conversations, PullRequest, Repository
from lifecycle.core.values.survey import Holding
from lifecycle.github.client.graph import GraphClient
from lifecycle.github.pulls.translate import pull_request
from lifecycle.github.sweep.sweep_holdings import Holdings
from lifecycle.sandbox.seed import SeedPull, SeedReview
from lifecycle.sandbox.seed.form_content import SeedReviewComment, SeedThread
from tests.github.hub import TOKEN, Hub, sending
from tests.github.made_up import LIBRARIES
from tests.github.survey_world import OWNER, branch, hub_of, pull, repository, seed, survey_of

NODE = {"number": 1, "url": "u", "title": "t", "state": "OPEN"}


def holdings(hub: Hub, way: str, waits: int = 100) -> list[Holding]:
    """Read by name, or as an owner's."""
    survey = survey_of(hub)
    if way == "owner":
        return list(survey.holdings_of(OWNER, waits))
    return list(survey.holdings([hub.repository], waits))


@pytest.mark.parametrize("way", ["name", "owner"])
def test_one_request_shows_whom_they_wait_for(deadline: Deadline, way: str) -> None:
    """Reviewers, standing reviews, conversations, checks, author: points, and no request more."""
    said = SeedThread("work.txt", 1, comments=[SeedReviewComment("sam", "Why?")])
    world = repository(
        branches=[branch("claude/a"), branch("claude/b")],
        pulls=[
            pull(1, "claude/a", requested_reviewers=["sam"], threads=[said],
                 reviews=[SeedReview("maria", "CHANGES_REQUESTED")]),
            pull(2, "claude/b", draft=True),
        ],
    )  # fmt: skip
    with hub_of(seed([world]), deadline) as hub:
        hub.control.set_check(1, "build", conclusion="failure")
        hub.control.clear_requests()
        (found,) = holdings(hub, way)
        assert len(hub.asked()) == 1
        assert hub.graph.points <= (4 if way == "name" else 80)
    second, first = found.pulls
    assert (first.requested, first.author) == (("sam",), "octocat")
    assert [one.author for one in first.changes_requested] == ["maria"]
    assert first.conversations == Conversations("", 1)
    assert first.checks is not None
    assert first.checks.verdict is Verdict.FAILED
    assert second.is_draft
    assert second.merge_state
    assert second.checks is not None
    assert not second.checks.runs


def open_pulls(count: int) -> list[SeedPull]:
    """So many open pull requests of which git need not be asked."""
    return [
        pull(n, f"b{n}", head_sha="a" * 40, base_sha="b" * 40, requested_reviewers=["sam"])
        for n in range(1, count + 1)
    ]


def test_every_page_shows_it(deadline: Deadline) -> None:
    """More than a hundred: the next page of both lists is one request."""
    with hub_of(seed([repository(pulls=open_pulls(102))]), deadline) as hub:
        (found,) = holdings(hub, "name")
        assert len(hub.asked()) == 2
    assert [one.requested for one in found.pulls] == [("sam",)] * 102


@pytest.mark.parametrize("way", ["name", "owner"])
def test_it_is_read_of_the_first_repositories(deadline: Deadline, way: str) -> None:
    """Nobody pays for it who did not ask; what is left of the number counts for the next request."""
    world = [repository(pulls=open_pulls(1)), *(repository(f"r{n:03}") for n in range(25))]
    with hub_of(seed([*world, repository("zz", pulls=open_pulls(1))]), deadline) as hub:
        every = [one.name.partition("/")[2] for one in world] + ["zz"]
        survey, names = survey_of(hub), [Repository(OWNER, name) for name in every]
        found = list(
            survey.holdings_of(OWNER, 25) if way == "owner" else survey.holdings(names, 25)
        )
        assert len(hub.asked()) == 2
        (plain,) = holdings(hub, "name", 0)
    shown = {one.repository.partition("/")[2]: one.pulls for one in found if one.pulls}
    assert {name: pulls[0].requested for name, pulls in shown.items()} == {
        "hello-service": ("sam",),
        "zz": (),
    }
    assert (plain.pulls[0].requested, plain.pulls[0].merge_state) == ((), "")


@pytest.mark.parametrize("way", ["name", "owner"])
def test_what_is_too_much_is_read_without_it(deadline: Deadline, way: str) -> None:
    """A repository that cannot be read with it alone is read without, and so are the others."""
    with hub_of(seed([repository(pulls=open_pulls(1))]), deadline) as hub:
        hub.control.add_fault(
            fault="heavy-bad-gateway", above={"nodes": 2_000 if way == "name" else 301}
        )
        (found,) = holdings(hub, way)
    assert found.problem is None
    assert [(one.number, one.merge_state) for one in found.pulls] == [(1, "")]


HOLDING: dict[str, Any] = {
    "nameWithOwner": "o/r", "url": "u", "leases": {"nodes": []}, "tips": {"nodes": []},
    "pulls": {"nodes": [NODE, {**NODE, "number": 2}]},
}  # fmt: skip
WAITS = {"mergeStateStatus": "CLEAN", "statusCheckRollup": {"state": "SUCCESS"}}
BOTH = {"nodes": [{"number": 1, **WAITS}, {"number": 2, **WAITS}]}


def answered(deadline: Deadline, *answers: dict[str, Any]) -> tuple[Holding, int]:
    """What a server's answers amount to, and how many requests they took."""
    url = "https://ghes.example/api/graphql"
    with responses.RequestsMock() as mock:
        for one in answers:
            mock.post(url, json=one)
        graph = GraphClient(url, sending(TOKEN, deadline, by_library=LIBRARIES))
        rest: Any = None
        (found,) = Holdings(graph, rest).holdings([Repository("o", "r")], 100)
        return found, len(mock.calls)


def test_a_server_that_does_not_know_it_is_asked_without(deadline: Deadline) -> None:
    """An older GitHub Enterprise Server costs a request more, and the sweep goes on."""
    unknown = {
        "extensions": {"code": "undefinedField"},
        "message": "Field 'mergeQueueEntry' doesn't exist on type 'PullRequest'",
    }
    found, requests = answered(deadline, {"errors": [unknown]}, {"data": {"p0": HOLDING}})
    assert (len(found.pulls), found.problem, requests) == (2, None, 2)


@pytest.mark.parametrize(
    ("path", "states"),
    [
        (["p1", "waits", "nodes", 1, "statusCheckRollup"], ["CLEAN", ""]),
        (["p1", "waits", "nodes", 0, "baseRef", "refUpdateRule"], ["CLEAN", "CLEAN"]),
        (["p1", "waits"], ["CLEAN", "CLEAN"]),
    ],
)
def test_what_is_hidden_of_one_takes_nothing_else_along(
    deadline: Deadline, path: list[str | int], states: list[str]
) -> None:
    """A pull request of which a part was refused shows nothing; the base's rules only name a reason."""
    refused = {"type": "FORBIDDEN", "path": path, "message": "Resource not accessible"}
    answer = {"data": {"p0": HOLDING, "p1": {"waits": BOTH}}, "errors": [refused]}
    found, _ = answered(deadline, answer)
    assert found.problem is None
    assert [one.merge_state for one in found.pulls] == states


def test_a_team_is_named_with_its_organisation() -> None:
    """As GitHub names one; who is hidden is nobody."""
    asked = [
        {"requestedReviewer": {"login": "maria"}},
        {"requestedReviewer": {"slug": "core", "organization": {"login": "octo-org"}}},
        {"requestedReviewer": None},
        {"requestedReviewer": {}},
    ]
    made = pull_request({**NODE, "reviewRequests": {"nodes": asked}})
    assert made.requested == ("maria", "octo-org/core")


@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        ("SUCCESS", Verdict.GREEN),
        ("FAILURE", Verdict.FAILED),
        ("ERROR", Verdict.FAILED),
        ("PENDING", Verdict.PENDING),
        ("EXPECTED", Verdict.PENDING),
    ],
)
def test_a_state_alone_is_one_check(state: str, verdict: Verdict) -> None:
    """GitHub's own word over all of them, where nobody asked for each."""
    made: PullRequest = pull_request({**NODE, "statusCheckRollup": {"state": state}})
    assert made.checks is not None
    assert (made.checks.verdict, len(made.checks.runs)) == (verdict, 1)
