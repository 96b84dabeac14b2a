"""lifecycle.github.sweep.sweeping: the board of a sweep, a hundred cards a request."""

from __future__ import annotations

import pytest
import responses

from lifecycle.core.errors import MissingScope, NoPermission, NotFound
from lifecycle.core.timing import Deadline
from lifecycle.github.board.board_client import ProjectRef
from lifecycle.github.board.status_fallback import Choice
from lifecycle.github.board.status_labels import StatusLabels
from lifecycle.github.client.graph import GraphClient
from lifecycle.github.client.rest import RestClient
from lifecycle.github.sweep.sweeping import GitHubSurvey
from lifecycle.sandbox.control.faults import Fault
from lifecycle.sandbox.seed import SeedItem, SeedMark
from lifecycle.sandbox.seed.form import SeedDraft
from tests.github.hub import keeper, survey_on
from tests.github.survey_world import (
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

ITEMS: list[str | int] = ["repositoryOwner", "projectV2", "items", "nodes", 0]


def test_every_issue_on_the_board_is_read(deadline: Deadline) -> None:
    """Of all repositories, with Status, its moment and Agent; what is archived or no issue is not."""
    home = repository(
        issues=[issue(1), issue(2), issue(3)],
        branches=[branch("claude/x")],
        pulls=[pull(10, "claude/x", "Closes #1")],
    )
    other = repository("other", issues=[issue(1, state="closed", closed_at=at(9))])
    values: dict[str, str | int | float] = {"Status": "In Review", "Agent": "octocat-1"}
    items = [
        SeedItem(issue=1, values=values, marks={"Status": SeedMark(updated_at=at(7))}),
        SeedItem(issue=2, archived=True),
        SeedItem(draft=SeedDraft("An idea", creator="maria")),
        SeedItem(issue=10),
        SeedItem(issue=1, repository="octo-org/other"),
    ]
    with hub_of(seed([home, other], items), deadline) as hub:
        one, far = survey_of(hub).cards()
        assert hub.asked() == ["SurveyCards"]
    assert (one.repository, far.repository) == ("octo-org/hello-service", "octo-org/other")
    item = one.observation.item
    assert item is not None
    assert (item.status, item.agent, item.status_at) == ("In Review", "octocat-1", seconds(7))
    assert far.observation.item is not None
    assert (far.observation.item.status, far.observation.item.status_at) == (None, None)
    assert one.closed_by == frozenset({10})
    assert [pull.number for pull in one.observation.by_branch] == [10]
    assert one.assigned_at == seconds(1.5)
    assert far.observation.issue is not None
    assert far.observation.issue.closed_at == seconds(9)


@pytest.mark.parametrize(("count", "requests"), [(0, 1), (100, 1), (101, 2)])
def test_a_hundred_cards_are_one_request(deadline: Deadline, count: int, requests: int) -> None:
    """The floor: N/100 requests of four points at most, in the board's order."""
    home = repository(issues=[issue(n) for n in range(1, count + 1)])
    items = [SeedItem(issue=n) for n in range(count, 0, -1)]
    with hub_of(seed([home], items), deadline) as hub:
        found = list(survey_of(hub).cards())
        assert hub.asked() == ["SurveyCards"] * requests
        assert hub.graph.points <= 4 * requests
    numbers = [one.observation.issue.number for one in found if one.observation.issue]
    assert numbers == list(range(count, 0, -1))


def test_a_board_that_is_not_shown_is_an_error(deadline: Deadline) -> None:
    """Its number is wrong, or the token lacks the scope: what to do is said, as for a single card."""
    with hub_of(seed([repository()]), deadline) as hub:
        wrong = survey_on(hub.graph, hub.rest, ProjectRef("octo-org", 99))
        with pytest.raises(NotFound, match="project 99 of octo-org"):
            list(wrong.cards())
        hub.control.set_scopes(["repo"])
        with pytest.raises(MissingScope, match="gh auth refresh -s project"):
            list(survey_of(hub).cards())


def test_without_a_board_there_are_no_cards_to_ask_for(deadline: Deadline) -> None:
    """Who has no board must not ask for its cards: that is a defect, not an empty board."""
    with (
        hub_of(seed([repository()]), deadline) as hub,
        pytest.raises(ValueError, match="no board is configured"),
    ):
        list(survey_on(hub.graph, hub.rest).cards())


def test_a_board_that_cannot_be_read_is_remembered_for_the_labels(deadline: Deadline) -> None:
    """After the refusal issues are read with their labels, and the board is not asked for again."""
    home = repository(issues=[issue(1, labels=["status: in progress"])])
    with hub_of(seed([home]), deadline) as hub:
        hub.control.set_scopes(["repo"])
        clock, token = hub.graph.deadline.clock, hub.info.token
        choice = Choice(hub.project, "auto", StatusLabels(), keeper(token), hub.cache, clock)
        survey = GitHubSurvey(hub.graph, hub.rest, choice)
        with pytest.raises(MissingScope):
            list(survey.cards())
        hub.asked()
        (found,) = survey.issues([(str(hub.repository), 1)])
        assert hub.asked() == ["SurveyIssue"]
    assert found.observation.item is not None
    assert (found.observation.item.is_labels, found.observation.item.status) == (
        True,
        "In Progress",
    )


def test_an_archived_card_is_left_alone(graph: GraphClient, rest: RestClient) -> None:
    """Where GitHub lists one: it cannot be written, and its task is over for the board."""
    node = {"id": "I_1", "number": 1, "title": "t", "url": "u", "state": "OPEN"}
    node |= {"repository": {"nameWithOwner": "octo-org/hello-service"}}
    cards = [
        {"id": f"PVTI_{n}", "isArchived": n == 2, "content": {**node, "number": n}} for n in (1, 2)
    ]
    items = {"pageInfo": {"hasNextPage": False}, "nodes": [*cards, None]}
    data = {"data": {"repositoryOwner": {"projectV2": {"items": items}}}}
    with responses.RequestsMock() as mock:
        mock.post("https://api.github.com/graphql", json=data)
        survey = survey_on(graph, rest, ProjectRef("octo-org", 1))
        (found,) = survey.cards()
    assert found.observation.issue is not None
    assert found.observation.issue.number == 1


def struck(*path: str | int) -> Fault:
    """A part of the first card is refused."""
    return Fault(
        "graphql_error",
        operation="SurveyCards",
        when="after",
        error_type="FORBIDDEN",
        message="Resource protected by organization SAML enforcement.",
        null_paths=[[*ITEMS, *path]],
    )


def test_a_card_whose_issue_is_hidden_is_left_out(deadline: Deadline) -> None:
    """The token may not see one of the board's repositories: the other cards are read."""
    home = repository(issues=[issue(1), issue(2)])
    with hub_of(seed([home], [SeedItem(issue=1), SeedItem(issue=2)]), deadline) as hub:
        hub.control.add_fault(struck("content"))
        (found,) = survey_of(hub).cards()
    assert found.observation.issue is not None
    assert found.observation.issue.number == 2


def test_a_status_that_is_refused_is_not_taken_for_none(deadline: Deadline) -> None:
    """A card without the Status that it has would be repaired for nothing: the board is not read."""
    items = [SeedItem(issue=1, values={"Status": "Done"})]
    with hub_of(seed([repository(issues=[issue(1)])], items), deadline) as hub:
        hub.control.add_fault(struck("status"))
        with pytest.raises(NoPermission):
            list(survey_of(hub).cards())
