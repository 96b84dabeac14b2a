"""lifecycle.github.board.board_client: the brief of a board, in as few requests as there are hundreds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import responses
from graphql import FieldNode, StringValueNode, Visitor, parse, visit

from lifecycle.core.errors import MissingScope, NotFound, Transient
from lifecycle.github.board.board_client import GitHubBoard, ProjectRef
from lifecycle.github.client.graph import GraphClient
from lifecycle.sandbox.control.faults import Fault
from tests.github.hub import Hub, MemoryCache, PatientClock
from tests.graphql_texts import graphql_document

URL = "https://api.github.com/graphql"


@pytest.fixture
def mock() -> Iterator[responses.RequestsMock]:
    """Answers made up for api.github.com."""
    with responses.RequestsMock() as found:
        yield found


def board_on(graph: GraphClient) -> GitHubBoard:
    """A board of which nothing is known yet."""
    return GitHubBoard(ProjectRef("octo-org", 1), graph, MemoryCache())


def brief_page(*numbers: int, after: str | None = None, total: int = 250) -> dict[str, Any]:
    """A BriefBoard answer with one page of cards."""
    nodes: list[Any] = [
        {
            "isArchived": False,
            "status": {"name": "Todo"},
            "content": {
                "number": number,
                "title": "t",
                "state": "OPEN",
                "repository": {"nameWithOwner": "o/r"},
            },
        }
        for number in numbers
    ]
    info = {"hasNextPage": after is not None, "endCursor": after}
    items = {"totalCount": total, "pageInfo": info, "nodes": [*nodes, {"content": {}}, None]}
    found = {"title": "Roadmap", "items": items}
    return {"data": {"repositoryOwner": {"projectV2": found}}}


def answering(
    mock: responses.RequestsMock, clock: PatientClock, *pages: tuple[float, dict[str, Any] | int]
) -> None:
    """Answer requests one by one, each after so many seconds, with a page or a status."""
    left = list(pages)

    def answer(_request: object) -> tuple[int, dict[str, str], str]:
        seconds, page = left.pop(0)
        clock.moment += seconds
        return (page, {}, "") if isinstance(page, int) else (200, {}, json.dumps(page))

    mock.add_callback("POST", URL, callback=answer)


def test_a_brief_of_the_board_is_one_request(hub: Hub) -> None:
    """Nothing has to be known of the board before; archived cards are neither listed nor counted."""
    hub.control.archive_item(36)
    hub.asked()
    brief = hub.board.brief()
    (request,) = hub.control.requests()
    assert (request.operation, request.points) == ("BriefBoard", 1)
    assert (brief.title, brief.total, brief.is_complete) == ("hello-service roadmap", 7, True)
    assert [card.number for card in brief.cards] == [38, 39, 41, 42, 43, 44, 45]
    first = brief.cards[0]
    assert (first.item.status, first.item.agent) == ("In Progress", "sam-1700000000")
    assert (first.title, first.priority, first.is_open) == (
        "Add a health endpoint",
        "P1: High",
        True,
    )
    assert first.repository == "octo-org/hello-service"


def test_a_brief_fetches_what_is_printed() -> None:
    """Titles, columns, priorities and agents of issues; no ids, no links."""
    document = parse(graphql_document("brief_board"))
    names: set[str] = set()
    strings: set[str] = set()

    class Leaves(Visitor):
        def enter_field(self, node: FieldNode, *_: object) -> None:
            names.update([] if node.selection_set else [node.name.value])

        def enter_string_value(self, node: StringValueNode, *_: object) -> None:
            strings.add(node.value)

    visit(document, Leaves())
    assert strings == {"Status", "Priority", "Agent"}
    assert names == {
        *("title", "totalCount", "hasNextPage", "endCursor", "isArchived", "name", "text"),
        *("number", "state", "nameWithOwner"),
    }


def test_a_long_board_is_read_while_there_is_time(
    graph: GraphClient, mock: responses.RequestsMock, clock: PatientClock
) -> None:
    """All pages if they come soon enough; drafts and pull requests are counted, not shown."""
    answering(
        mock,
        clock,
        (9, brief_page(1, after="c1")),
        (9, brief_page(2, after="c2")),
        (9, brief_page(3)),
    )
    brief = board_on(graph).brief()
    assert ([card.number for card in brief.cards], brief.total) == ([1, 2, 3], 250)
    assert brief.is_complete
    sent = [json.loads(call.request.body or "")["variables"]["after"] for call in mock.calls]
    assert sent == [None, "c1", "c2"]


def test_a_brief_is_rather_incomplete_than_late(
    graph: GraphClient, mock: responses.RequestsMock, clock: PatientClock
) -> None:
    """With a second and a half left no other page is begun, and what was read is shown."""
    answering(mock, clock, (9.5, brief_page(1, after="c1")), (19.1, brief_page(2, after="c2")))
    before = graph.deadline.at
    brief = board_on(graph).brief()
    assert ([card.number for card in brief.cards], brief.is_complete) == ([1, 2], False)
    assert len(mock.calls) == 2
    assert graph.deadline.at == before


@pytest.mark.parametrize("second", [502, brief_page(2, after="")])
def test_a_page_that_does_not_come_is_left_out(
    graph: GraphClient, mock: responses.RequestsMock, clock: PatientClock, second: Any
) -> None:
    """A later page is asked for once; without it, or without its end, the brief is a part."""
    answering(mock, clock, (1, brief_page(1, after="c1")), (1, second))
    brief = board_on(graph).brief()
    assert ([card.number for card in brief.cards], brief.is_complete) == ([1], False)
    assert len(mock.calls) == 2


def test_a_first_page_is_asked_for_again(hub: Hub) -> None:
    """An outage that passes costs a request more, and nothing else."""
    hub.control.add_fault(Fault("status", operation="BriefBoard"))
    hub.asked()
    assert hub.board.brief().is_complete
    assert hub.asked() == ["BriefBoard"] * 2


def test_a_brief_of_no_board_says_what_is_wrong(hub: Hub) -> None:
    """An unknown number, an unknown owner and a missing scope have the sentences of the schema."""
    missing = GitHubBoard(ProjectRef("octo-org", 9), hub.graph, MemoryCache())
    with pytest.raises(NotFound, match="shows no project 9 of octo-org"):
        missing.brief()
    nobody = GitHubBoard(ProjectRef("nobody-at-all", 1), hub.graph, MemoryCache())
    with pytest.raises(NotFound, match="no user or organisation nobody-at-all"):
        nobody.brief()
    hub.control.set_scopes(["repo"])
    with pytest.raises(MissingScope):
        hub.board.brief()


def test_a_brief_without_items_is_no_answer(
    graph: GraphClient, mock: responses.RequestsMock, clock: PatientClock
) -> None:
    """An empty board must not be shown because GitHub left the items out."""
    empty = {"data": {"repositoryOwner": {"projectV2": {"title": "Roadmap", "items": None}}}}
    answering(mock, clock, (0, empty))
    with pytest.raises(Transient):
        board_on(graph).brief()


def test_drafts_are_counted_and_are_no_cards(
    graph: GraphClient, mock: responses.RequestsMock
) -> None:
    """A draft has no number: it is never taken for an issue."""
    page = brief_page(1, total=4)
    nodes = page["data"]["repositoryOwner"]["projectV2"]["items"]["nodes"]
    nodes += [
        {"isArchived": False, "status": {"name": "Todo"}, "content": {}},
        {"isArchived": True, "status": None, "content": {}},
    ]
    mock.post(URL, json=page)
    brief = board_on(graph).brief()
    assert [card.number for card in brief.cards] == [1]
    assert brief.total == 4
