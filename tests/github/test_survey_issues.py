"""lifecycle.github.sweep.sweeping: the claimed issues of many repositories, a hundred a request."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from msgspec.structs import replace

from lifecycle.core.errors import NotFound
from lifecycle.core.timing import Deadline
from lifecycle.core.values.model import Repository
from lifecycle.core.values.survey import Holding, Swept
from lifecycle.github.board.status_fallback import Choice
from lifecycle.github.board.status_labels import StatusLabels
from lifecycle.github.sweep.sweeping import GitHubSurvey
from lifecycle.sandbox.seed import SeedItem, SeedMark, SeedRepository, SeedToken, SeedUser
from lifecycle.sandbox.seed.form_content import SeedEvent
from tests.github.hub import Hub, keeper
from tests.github.survey_world import (
    OWNER,
    at,
    branch,
    hub_of,
    issue,
    pull,
    repository,
    seconds,
    seed,
    survey_of,
)
from tests.repeated import soaked

SINCE = seconds(0)


def by_number(found: list[Swept]) -> dict[int, Swept]:
    """Each issue once."""
    made = {one.observation.issue.number: one for one in found if one.observation.issue}
    assert len(made) == len(found)
    return made


def swept(hub: Hub, since: float = SINCE) -> dict[int, Swept]:
    """What a sweep over the home repository reads."""
    survey = survey_of(hub)
    holdings = list(survey.holdings([hub.repository]))
    hub.asked()
    return by_number(list(survey.issues_of(holdings, since)))


def test_claimed_issues_and_closed_ones_are_read(deadline: Deadline) -> None:
    """Open ones with an assignee, and closed ones that changed since: with cards, in one request."""
    home = repository(
        issues=[
            issue(1),
            issue(2, assignees=[]),
            issue(3, state="closed", closed_at=at(20), updated_at=at(20)),
            issue(4, state="closed", closed_at=at(1), updated_at=at(1)),
        ]
    )
    marks = {"Status": SeedMark(updated_at=at(9))}
    card = SeedItem(issue=1, values={"Status": "In Progress", "Agent": "octocat-1"}, marks=marks)
    with hub_of(seed([home], [card]), deadline) as hub:
        found = swept(hub, seconds(10))
        assert hub.asked() == ["SurveyOpenIssues"]
    assert sorted(found) == [1, 3]
    one, closed = found[1].observation, found[3].observation
    assert one.issue is not None
    assert one.item is not None
    assert (one.issue.is_open, one.issue.assignees, one.issue.closed_at) == (
        True,
        ("octocat",),
        None,
    )
    assert (one.item.status, one.item.agent, one.item.status_at) == (
        "In Progress", "octocat-1", seconds(9),
    )  # fmt: skip
    assert (found[1].assigned_at, found[1].repository) == (seconds(1.5), str(hub.repository))
    assert closed.issue is not None
    assert (closed.issue.is_open, closed.issue.closed_at) == (False, seconds(20))
    assert closed.item is None


def test_the_last_assignment_counts(deadline: Deadline) -> None:
    """Somebody was assigned, taken off and assigned again; one that nobody has was assigned, too."""
    happened = [
        SeedEvent("assigned", "maria", {"assignee": "octocat"}, created_at=at(2)),
        SeedEvent("unassigned", "maria", {"assignee": "octocat"}, created_at=at(3)),
        SeedEvent("assigned", "maria", {"assignee": "octocat"}, created_at=at(4)),
    ]
    home = repository(
        issues=[
            issue(1, events=happened),
            issue(2, assignees=[], state="closed", closed_at=at(9), events=happened[:2]),
        ]
    )
    with hub_of(seed([home]), deadline) as hub:
        found = swept(hub)
    assert (found[1].assigned_at, found[2].assigned_at) == (seconds(4), seconds(2))


def test_a_reopened_issue_is_begun_again(deadline: Deadline) -> None:
    """The last reopening is read beside the last assignment, also where nobody is assigned any more."""
    assigned = SeedEvent("assigned", "maria", {"assignee": "octocat"}, created_at=at(2))
    reopened = SeedEvent("reopened", "maria", created_at=at(5))
    closed = SeedEvent("closed", "maria", created_at=at(3))
    home = repository(
        issues=[
            issue(1, events=[assigned, closed, reopened]),
            issue(2, assignees=[], events=[assigned, closed, reopened]),
            issue(3, events=[closed, reopened, replace(assigned, created_at=at(7))]),
        ]
    )
    with hub_of(seed([home]), deadline) as hub:
        found = {
            one.observation.issue.number: one
            for one in survey_of(hub).issues(
                [(str(hub.repository), number) for number in (1, 2, 3)]
            )
            if one.observation.issue
        }
    assert [found[number].assigned_at for number in (1, 2, 3)] == [
        seconds(2),
        seconds(2),
        seconds(7),
    ]
    issues = [found[number].observation.issue for number in (1, 2, 3)]
    assert {issue.reopened_at for issue in issues if issue} == {seconds(5)}


def test_pull_requests_that_mention_an_issue_come_with_it(deadline: Deadline) -> None:
    """Of the same repository, newest first, each once; those that would close it are named."""
    home = repository(
        issues=[issue(1), issue(2, body="See #1.")],
        branches=[branch(f"claude/b{n}") for n in range(3)],
        pulls=[
            pull(10, "claude/b0", "Refs #1", state="closed", closed_at=at(30)),
            pull(11, "claude/b1", "Closes #1"),
            pull(12, "claude/b2", "Nothing to see"),
        ],
    )
    other = repository(
        "other",
        branches=[branch("claude/x")],
        pulls=[pull(20, "claude/x", "Refs octo-org/hello-service#1")],
    )
    with hub_of(seed([home, other]), deadline) as hub:
        found = swept(hub)
    assert [one.number for one in found[1].observation.by_branch] == [11, 10]
    assert found[1].closed_by == frozenset({11})
    assert found[1].observation.by_branch[1].closed_at == seconds(30)
    assert found[2].observation.by_branch == ()


def crowd(counts: list[int], closed: int = 0) -> list[SeedRepository]:
    """Repositories with so many claimed issues each, and so many closed ones."""
    return [
        repository(
            f"r{n:03}",
            issues=[
                *(issue(k) for k in range(1, count + 1)),
                *(
                    issue(1000 + k, state="closed", closed_at=at(5), assignees=[])
                    for k in range(closed)
                ),
            ],
        )
        for n, count in enumerate(counts)
    ]


@pytest.mark.parametrize(
    ("counts", "closed", "requests"),
    [
        soaked([100], 0, 1),
        ([101], 0, 2),
        ([50, 50], 4, 1),
        soaked([30, 80, 5], 0, 2),
        soaked([0] * 25, 0, 1),
        ([0] * 26, 0, 2),
        soaked([1] * 100, 0, 4),
        soaked([40, 60], 30, 2),
        soaked([101, 150], 0, 3),
        ([], 0, 0),
    ],
)
def test_a_hundred_issues_are_one_request(
    deadline: Deadline, counts: list[int], closed: int, requests: int
) -> None:
    """The floor: N/100 requests, or a 25th of the repositories; a list is cut where one is full."""
    with hub_of(seed(crowd(counts, closed)) if counts else seed([repository()]), deadline) as hub:
        survey = survey_of(hub)
        names = [Repository(OWNER, f"r{n:03}") for n in range(len(counts))]
        holdings = list(survey.holdings(names))
        hub.asked()
        before = hub.graph.points
        found = list(survey.issues_of(holdings, SINCE))
        assert len(hub.asked()) == requests
    assert hub.graph.points - before <= 9 * requests
    keys = {
        (one.repository, one.observation.issue.number) for one in found if one.observation.issue
    }
    assert len(keys) == len(found) == sum(counts) + closed * len(counts)


def test_repositories_with_a_problem_are_passed_over(deadline: Deadline) -> None:
    """What could not be looked at has no issues to be asked for."""
    with hub_of(seed([repository()]), deadline) as hub:
        gone = Holding("octo-org/gone", problem=NotFound("It is gone."))
        assert list(survey_of(hub).issues_of([gone], SINCE)) == []
        assert hub.asked() == []


def test_single_issues_are_read_a_hundred_a_request(deadline: Deadline) -> None:
    """By repository and number; a number that is a pull request's or nobody's is left out."""
    homes = crowd([60, 60])
    homes[0] = repository(
        "r000",
        issues=list(homes[0].issues),
        branches=[branch("claude/x")],
        pulls=[pull(500, "claude/x")],
    )
    wanted = [(f"octo-org/r{n:03}", k) for n in range(2) for k in range(1, 61)]
    with hub_of(seed(homes), deadline) as hub:
        survey = survey_of(hub)
        found = list(survey.issues([*wanted, ("octo-org/r000", 500), ("octo-org/r000", 999)]))
        assert hub.asked() == ["SurveyIssue"] * 2
    keys = [
        (one.repository, one.observation.issue.number) for one in found if one.observation.issue
    ]
    assert keys == wanted
    assert not any(one.problem for one in found)


def test_an_issue_of_a_repository_that_is_not_shown_is_a_problem(deadline: Deadline) -> None:
    """The others of the same request are read."""
    with hub_of(seed([repository(issues=[issue(1)])]), deadline) as hub:
        home = str(hub.repository)
        gone, found = survey_of(hub).issues([("octo-org/gone", 1), (home, 1)])
    assert isinstance(gone.problem, NotFound)
    assert (gone.repository, gone.observation.issue) == ("octo-org/gone", None)
    assert found.problem is None
    assert found.observation.issue is not None


def labelled(
    hub: Hub, use: str = "auto", probe: Callable[[], object] | None = None, token: str = ""
) -> tuple[GitHubSurvey, Choice]:
    """A sweep that may use labels."""
    clock, whose = hub.graph.deadline.clock, token or hub.info.token
    choice = Choice(hub.project, use, StatusLabels(), keeper(whose), hub.cache, clock, probe)
    return GitHubSurvey(hub.graph, hub.rest, choice), choice


def test_labels_say_the_status_where_they_are_used(deadline: Deadline) -> None:
    """Labels that are always used take the place of the card, without a request more."""
    home = repository(issues=[issue(1, labels=["status: in review", "bug"]), issue(2)])
    with hub_of(seed([home], [SeedItem(issue=1, values={"Status": "Done"})]), deadline) as hub:
        survey, _ = labelled(hub, "always")
        holdings = list(survey.holdings([hub.repository]))
        hub.asked()
        found = by_number(list(survey.issues_of(holdings, SINCE)))
        assert hub.asked() == ["SurveyOpenIssues"]
    item, other = found[1].observation.item, found[2].observation.item
    assert item is not None
    assert other is not None
    assert (item.is_labels, item.status, other.status) == (True, "In Review", None)


def test_a_board_that_the_token_may_not_see_gives_way_to_labels(deadline: Deadline) -> None:
    """One request more, once: then labels are read, and why is said with every issue."""
    home = repository(issues=[issue(n, labels=["status: todo"]) for n in range(1, 102)])
    with hub_of(seed([home]), deadline) as hub:
        hub.control.set_scopes(["repo"])
        survey, choice = labelled(hub)
        holdings = list(survey.holdings([hub.repository]))
        hub.asked()
        found = by_number(list(survey.issues_of(holdings, SINCE)))
        assert hub.asked() == ["SurveyOpenIssues"] * 3
    assert choice.uses_labels
    assert len(found) == 101
    for one in found.values():
        assert one.observation.item is not None
        assert (one.observation.item.is_labels, one.observation.item.status) == (True, "Todo")
        assert "project scope" in str(one.observation.board_note)


def test_an_empty_list_of_cards_is_no_sight_of_the_board(deadline: Deadline) -> None:
    """A workflow's token is shown no cards and no error: the board itself is asked for, once."""
    home = repository(issues=[issue(n, labels=["status: todo"]) for n in (1, 2)])
    world = seed([home], [SeedItem(issue=1, values={"Status": "Done"})])
    token = SeedToken("ghs_workflow0123456789", "robot[bot]", ["issues:write"], "actions")
    bot = SeedUser("robot[bot]", kind="bot")
    world = replace(world, users=[*world.users, bot], tokens=[token])
    with hub_of(world, deadline) as hub:
        survey, choice = labelled(hub, probe=hub.board.schema)
        found = by_number(list(survey.issues((str(hub.repository), n) for n in (1, 2))))
        assert hub.asked() == ["SurveyIssue", "DiscoverBoard", "SurveyIssue"]
    assert choice.uses_labels
    assert {one.observation.item.status for one in found.values() if one.observation.item} == {
        "Todo"
    }


def test_a_card_is_sight_enough(deadline: Deadline) -> None:
    """An app that is shown one card is not asked whether it sees the board."""
    world = seed([repository(issues=[issue(1), issue(2)])], [SeedItem(issue=1)])
    with hub_of(world, deadline) as hub:
        survey, choice = labelled(hub, probe=hub.board.schema, token="ghs_app0123456789")
        found = by_number(list(survey.issues((str(hub.repository), n) for n in (1, 2))))
        assert hub.asked() == ["SurveyIssue"]
    assert not choice.uses_labels
    assert found[2].observation.item is None


def test_without_labels_a_board_that_is_not_seen_is_said(deadline: Deadline) -> None:
    """The issues are read all the same, and carry why they have no card."""
    with hub_of(seed([repository(issues=[issue(1)])]), deadline) as hub:
        hub.control.set_scopes(["repo"])
        found = swept(hub)
        assert hub.asked() == ["SurveyOpenIssues"] * 2
    assert found[1].observation.item is None
    assert "project scope" in str(found[1].observation.board_problem)


def test_pages_come_in_the_order_of_the_numbers(deadline: Deadline) -> None:
    """One repository's issues are read oldest first, so that what is new meanwhile comes last."""
    with hub_of(seed(crowd([150])), deadline) as hub:
        survey = survey_of(hub)
        found = survey.issues_of(survey.holdings([Repository(OWNER, "r000")]), SINCE)
        order = [one.observation.issue.number for one in found if one.observation.issue]
    assert len(order) == 150
    assert all(one < other for one, other in pairwise(order))
