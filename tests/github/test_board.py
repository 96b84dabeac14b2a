"""lifecycle.github.board.board_client: cached ids, verified writes, and every page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import responses

from lifecycle.core.errors import (
    ItemArchived,
    ItemMissing,
    MissingScope,
    NotFound,
    Rejected,
    StaleFields,
    Transient,
    UnknownOption,
)
from lifecycle.core.values.model import BoardItem
from lifecycle.github.board.board_client import GitHubBoard, ProjectRef
from lifecycle.github.client.graph import GraphClient
from lifecycle.sandbox.control.faults import Fault
from tests.github.hub import Hub, MemoryCache

URL = "https://api.github.com/graphql"
KEY = "board:octo-org/1"
CACHED: dict[str, Any] = {
    "project_id": "PVT_1",
    "title": "Roadmap",
    "url": "https://github.com/orgs/octo-org/projects/1",
    "fields": [
        {"id": "F_S", "name": "Status", "kind": "SINGLE_SELECT", "options": [["Todo", "o1"]]},
        {"id": "F_A", "name": "Agent", "kind": "TEXT", "options": []},
    ],
    "is_closed": False,
}


@pytest.fixture
def mock() -> Iterator[responses.RequestsMock]:
    """Answers made up for api.github.com."""
    with responses.RequestsMock() as found:
        yield found


def board_with(graph: GraphClient, cached: object = CACHED) -> GitHubBoard:
    """A board on api.github.com whose ids are known already."""
    return GitHubBoard(ProjectRef("octo-org", 1), graph, MemoryCache({KEY: cached}))


def item_of(hub: Hub, issue: int) -> str:
    """The id of an issue's card."""
    return str(hub.world()["board"][str(issue)]["id"])


def values_of(hub: Hub, issue: int) -> dict[str, Any]:
    """What a person sees on an issue's card."""
    return dict(hub.world()["board"][str(issue)]["values"])


def project(*fields: dict[str, Any], after: str | None = None) -> dict[str, Any]:
    """A DiscoverBoard answer with one page of fields."""
    page = {"hasNextPage": after is not None, "endCursor": after}
    node = {"id": "PVT_1", "number": 1, "title": "Roadmap", "url": "u", "closed": False}
    node |= {"fields": {"pageInfo": page, "nodes": list(fields)}}
    return {"data": {"repositoryOwner": {"projectV2": node}}}


def select(name: str, *options: str) -> dict[str, Any]:
    """A single-select field."""
    found = [{"id": f"o-{one}", "name": one} for one in options]
    return {"id": f"F_{name}", "name": name, "dataType": "SINGLE_SELECT", "options": found}


def test_the_ids_are_read_once(hub: Hub) -> None:
    """They are kept as plain JSON, and read anew on demand only."""
    found = hub.board.schema()
    status = found.field("Status")
    assert status is not None
    assert [name for name, _ in status.options] == ["Todo", "In Progress", "In Review", "Done"]
    assert hub.board.schema() == found
    assert hub.asked() == ["DiscoverBoard"]
    assert isinstance(hub.cache[KEY], dict)
    hub.control.add_option("Status", "Blocked")
    assert hub.board.schema() == found
    refreshed = hub.board.schema(refresh=True).field("Status")
    assert refreshed is not None
    assert refreshed.option("Blocked")
    assert hub.asked() == ["DiscoverBoard"]


@pytest.mark.parametrize("cached", [None, "x", {}, {**CACHED, "fields": [1]}, {"fields": 3}])
def test_a_cache_of_another_shape_is_read_anew(
    graph: GraphClient, mock: responses.RequestsMock, cached: object
) -> None:
    """What another version wrote does not break the board."""
    mock.post(URL, json=project(select("Status", "Todo")))
    assert board_with(graph, cached).schema().project_id == "PVT_1"


def test_every_page_of_fields_is_read(graph: GraphClient, mock: responses.RequestsMock) -> None:
    """A field on the second page is as good as one on the first; odd kinds are left out."""
    matcher = responses.matchers.json_params_matcher
    for after, answer in (
        (None, project(select("Priority", "High"), {}, after="c1")),
        ("c1", project(select("Status", "Todo"))),
    ):
        variables = {"boardOwner": "octo-org", "boardNumber": 1, "after": after}
        match = [matcher({"variables": variables}, strict_match=False)]
        mock.post(URL, json=answer, match=match)
    found = board_with(graph, None).schema()
    assert [one.name for one in found.fields] == ["Priority", "Status"]


@pytest.mark.parametrize("after", [None, "c1"])
def test_ids_that_another_answer_shows_are_kept_if_they_are_all(
    graph: GraphClient, after: str | None
) -> None:
    """Nothing is asked; of several pages, of no board and of none that is shown nothing is kept."""
    board = board_with(graph, None)
    for nothing in ({}, {"repositoryOwner": None}, {"repositoryOwner": {"projectV2": None}}):
        board.learn(nothing)
        assert board.known is None
    board.learn(project(select("Status", "Todo"), after=after)["data"])
    known = board.known
    assert (known is None) == (after is not None)
    if known is not None:
        assert known.project_id == "PVT_1"
        assert board.schema() == known


def test_a_page_without_an_end_is_not_asked_for_ever(
    graph: GraphClient, mock: responses.RequestsMock
) -> None:
    """A next page without a cursor cannot be read: that is said, and not looped on."""
    answer = project()
    fields = answer["data"]["repositoryOwner"]["projectV2"]["fields"]
    fields["pageInfo"] = {"hasNextPage": True, "endCursor": None}
    mock.post(URL, json=answer)
    with pytest.raises(Transient):
        board_with(graph, None).schema()
    assert len(mock.calls) == 1


def test_a_board_that_is_not_there_says_what_is_wrong(hub: Hub) -> None:
    """An unknown owner and an unknown number have sentences of their own."""
    nobody = GitHubBoard(ProjectRef("nobody-at-all", 1), hub.graph, MemoryCache())
    with pytest.raises(NotFound, match="no user or organisation nobody-at-all"):
        nobody.schema()
    wrong = GitHubBoard(ProjectRef("octo-org", 99), hub.graph, MemoryCache())
    with pytest.raises(NotFound, match=r"project 99 of octo-org.*gh auth refresh -s project"):
        wrong.schema()


def test_a_token_without_the_scope_is_told_how_to_get_it(hub: Hub) -> None:
    """MissingScope names the command."""
    hub.control.set_scopes(["repo"])
    with pytest.raises(MissingScope, match="gh auth refresh -s project"):
        hub.board.schema()


def test_both_fields_are_written_in_one_request(hub: Hub) -> None:
    """The returned item is what the payload shows, and what a person sees."""
    hub.board.schema()
    hub.asked()
    item = item_of(hub, 42)
    found = hub.board.set_fields(item, status="In Progress", agent="claude-1")
    assert found == BoardItem(item, "In Progress", "claude-1", status_at=found.status_at)
    assert found.status_at is not None
    assert hub.asked() == ["SetBoardFields"]
    assert values_of(hub, 42)["Agent"] == "claude-1"


def test_a_field_that_is_not_named_is_left_alone(hub: Hub) -> None:
    """Status alone keeps Agent, and Agent alone keeps Status."""
    item = item_of(hub, 42)
    hub.board.set_fields(item, status="In Progress", agent="claude-1")
    assert hub.board.set_fields(item, status="Done", agent=None).agent == "claude-1"
    assert hub.board.set_fields(item, status=None, agent="claude-2").status == "Done"


def test_clearing_really_clears(hub: Hub) -> None:
    """An empty text would keep the old value: the clearing mutation is sent instead."""
    item = item_of(hub, 38)
    found = hub.board.set_fields(item, status=None, agent="")
    assert found.agent is None
    assert "Agent" not in {name for name, value in values_of(hub, 38).items() if value}


def test_nothing_to_write_is_no_request(hub: Hub) -> None:
    """Neither field named: the board is left alone."""
    hub.board.schema()
    hub.asked()
    assert hub.board.set_fields("PVTI_x", status=None, agent=None) == BoardItem("PVTI_x")
    assert hub.asked() == []


def test_a_stale_option_is_refreshed_once(hub: Hub) -> None:
    """Options that were made anew since the ids were read cost one refresh, and no error."""
    hub.board.schema()
    hub.control.rename_option("Status", "Done", "Finished")
    hub.control.rename_option("Status", "Finished", "Done")
    hub.asked()
    assert hub.board.set_fields(item_of(hub, 42), status="Done", agent=None).status == "Done"
    assert hub.asked() == ["SetBoardFields", "DiscoverBoard", "SetBoardFields"]


def test_an_unknown_option_names_those_that_exist(hub: Hub) -> None:
    """After one look whether it was added meanwhile; nothing is written."""
    hub.board.schema()
    hub.asked()
    with pytest.raises(UnknownOption, match="Todo, In Progress, In Review, Done"):
        hub.board.set_fields(item_of(hub, 42), status="Parked", agent="claude-1")
    assert hub.asked() == ["DiscoverBoard"]
    assert not values_of(hub, 42).get("Agent")


def test_an_option_added_since_is_found(hub: Hub) -> None:
    """An option that the cache does not know is looked for before it is refused."""
    hub.board.schema()
    hub.control.add_option("Status", "Blocked")
    assert hub.board.set_fields(item_of(hub, 42), status="blocked", agent=None).status == "Blocked"


def test_a_board_without_status_says_which_fields_it_has(
    graph: GraphClient, mock: responses.RequestsMock
) -> None:
    """The missing field is named, and so are those that exist."""
    mock.post(URL, json=project(select("Phase", "Todo")))
    with pytest.raises(UnknownOption, match=r'no single-select field "Status".*Phase'):
        board_with(graph, None).set_fields("PVTI_1", status="Todo", agent=None)
    assert len(mock.calls) == 1


@pytest.mark.parametrize(
    ("now", "words"),
    [("Phase", 'no single-select field "Status".*Phase'), ("Status", 'accepted Status "Todo"')],
)
def test_a_field_that_was_renamed_since_is_missed_at_once(
    graph: GraphClient, mock: responses.RequestsMock, now: str, words: str
) -> None:
    """The known ids still write it, but the answer shows no value of that name: the ids are read again."""
    payload = {"projectV2Item": {"id": "PVTI_1", "status": None, "agent": None}}
    mock.post(URL, json={"data": {"status": payload}})
    mock.post(URL, json=project(select(now, "Todo")))
    mock.post(URL, json={"data": {"status": payload}})
    mock.assert_all_requests_are_fired = False
    with pytest.raises(Rejected, match=words):
        board_with(graph).set_fields("PVTI_1", status="Todo", agent=None)
    assert len(mock.calls) == (3 if now == "Status" else 2)


def test_agent_is_cleared_although_status_cannot_be_set(hub: Hub) -> None:
    """A task that is given back is nobody's: the card says so, and the refusal is told all the same."""
    with pytest.raises(UnknownOption, match="Parked"):
        hub.board.set_fields(item_of(hub, 38), status="Parked", agent="")
    assert not values_of(hub, 38).get("Agent")
    assert values_of(hub, 38)["Status"] == "In Progress"


def test_a_board_without_agent_gets_its_status(
    graph: GraphClient, mock: responses.RequestsMock
) -> None:
    """The Agent field is a convenience: without it Status is written all the same."""
    cached = {**CACHED, "fields": CACHED["fields"][:1]}
    payload = {"projectV2Item": {"id": "PVTI_1", "status": {"name": "Todo"}, "agent": None}}
    mock.post(URL, json={"data": {"status": payload}})
    found = board_with(graph, cached).set_fields("PVTI_1", status="Todo", agent="claude-1")
    assert found == BoardItem("PVTI_1", "Todo", None)


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        ({"status": {"name": "Done"}, "agent": {"text": "claude-1"}}, 'Status "Todo"'),
        ({"status": {"name": "Todo"}, "agent": {"text": "sam"}}, 'Agent "claude-1"'),
    ],
)
def test_a_value_that_did_not_stay_is_said(
    graph: GraphClient, mock: responses.RequestsMock, shown: dict[str, Any], words: str
) -> None:
    """A project workflow may move the card at once: the payload is believed, not the wish."""
    payload = {"projectV2Item": {"id": "PVTI_1", **shown}}
    mock.post(URL, json={"data": {"status": payload, "agent": payload}})
    with pytest.raises(Rejected, match=words):
        board_with(graph).set_fields("PVTI_1", status="Todo", agent="claude-1")


def test_a_payload_without_the_item_is_no_answer(
    graph: GraphClient, mock: responses.RequestsMock
) -> None:
    """A null without a reason may have been written or not."""
    mock.post(URL, json={"data": {"status": None}})
    with pytest.raises(Transient) as caught:
        board_with(graph).set_fields("PVTI_1", status="Todo", agent=None)
    assert caught.value.is_ambiguous


def test_an_archived_card_is_left_alone(hub: Hub) -> None:
    """GitHub refuses; the person can restore the card."""
    hub.control.archive_item(42)
    with pytest.raises(ItemArchived):
        hub.board.set_fields(item_of(hub, 42), status="Done", agent=None)


def test_a_removed_card_is_missing(hub: Hub) -> None:
    """An id that GitHub does not know any more is the card's, and no reason to refresh."""
    hub.board.schema()
    item = item_of(hub, 42)
    hub.control.remove_item(42)
    hub.asked()
    with pytest.raises(ItemMissing):
        hub.board.set_fields(item, status="Done", agent=None)
    assert hub.asked() == ["SetBoardFields"]


def test_a_project_that_was_made_anew_is_found(hub: Hub) -> None:
    """A stale project id costs one refresh, for reads and for writes."""
    stale = {**CACHED, "project_id": "PVT_kwDOAAAAAc4AAAAB"}
    hub.cache[KEY] = stale
    assert hub.board.cards()
    hub.cache[KEY] = stale
    assert hub.board.add(hub.forge.issue(42).id).status == "Todo"


def test_ids_that_stay_unknown_are_said(graph: GraphClient, mock: responses.RequestsMock) -> None:
    """After one refresh the error comes out instead of another round."""
    error = {"type": "NOT_FOUND", "path": ["status"]}
    error["message"] = "Could not resolve to a node with the global id of 'F_Status'."
    discovered = project(select("Status", "Todo"))
    mock.post(URL, json={"data": {"status": None}, "errors": [error]})
    mock.post(URL, json=discovered)
    mock.post(URL, json={"data": {"status": None}, "errors": [error]})
    with pytest.raises(StaleFields):
        board_with(graph).set_fields("PVTI_1", status="Todo", agent=None)
    assert len(mock.calls) == 3


def test_adding_twice_finds_the_card(hub: Hub) -> None:
    """An issue is on a board once; the second call returns the card that is there."""
    hub.control.remove_item(42)
    content = hub.forge.issue(42).id
    hub.asked()
    first = hub.board.add(content)
    assert hub.board.add(content).id == first.id
    assert hub.asked() == ["DiscoverBoard", "AddBoardItem", "AddBoardItem"]


def test_adding_what_does_not_exist_is_said(hub: Hub) -> None:
    """An unknown issue is not a stale project."""
    hub.board.schema()
    hub.asked()
    with pytest.raises(NotFound):
        hub.board.add("I_kwDOAAquYc4AAAAB")
    assert hub.asked() == ["AddBoardItem"]


@pytest.mark.parametrize(
    "words", ["Content already exists in this project", "The priority value is not unique"]
)
def test_a_race_of_two_adds_is_run_again(hub: Hub, words: str) -> None:
    """Two agents that add at once: GitHub refuses one of them, which asks again."""
    hub.board.schema()
    content = hub.forge.issue(42).id
    hub.asked()
    hub.control.add_fault(Fault("graphql_error", operation="AddBoardItem", message=words))
    assert hub.board.add(content).status == "Todo"
    assert hub.asked() == ["AddBoardItem", "AddBoardItem"]


def test_a_lost_answer_is_written_again(hub: Hub) -> None:
    """Field values may be written twice: the last write is the same."""
    hub.board.schema()
    item = item_of(hub, 42)
    hub.asked()
    hub.control.add_fault(Fault("cut", operation="SetBoardFields", when="after"))
    assert hub.board.set_fields(item, status="Done", agent=None).status == "Done"
    assert hub.asked() == ["SetBoardFields"] * 2


def test_cards_are_issues_that_are_not_archived(hub: Hub) -> None:
    """Every field that choosing the next task needs is there."""
    hub.control.archive_item(36)
    found = {one.number: one for one in hub.board.cards()}
    assert sorted(found) == [38, 39, 41, 42, 43, 44, 45]
    card = found[41]
    assert (card.repository, card.is_open) == ("octo-org/hello-service", True)
    assert (card.item.status, card.priority) == ("Todo", "P2: Medium")
    assert (card.readiness, card.dependencies) == ("Ready for Agent", "#36")


def test_every_page_of_cards_is_read(graph: GraphClient, mock: responses.RequestsMock) -> None:
    """The hundred-and-first card is found; drafts and pull requests are not cards."""
    matcher = responses.matchers.json_params_matcher

    def page(number: int, after: str | None) -> dict[str, Any]:
        content = {"number": number, "title": "t", "url": "u", "state": "OPEN"}
        content |= {"repository": {"nameWithOwner": "o/r"}}
        nodes = [{"id": f"i{number}", "content": content}, {"id": "draft", "content": {}}, None]
        info = {"hasNextPage": after is not None, "endCursor": after}
        shown = {"projectV2": {"items": {"pageInfo": info, "nodes": nodes}}}
        return {"data": {"repositoryOwner": shown}}

    for before, number, after in ((None, 1, "c1"), ("c1", 2, None)):
        variables = {"boardOwner": "octo-org", "boardNumber": 1, "after": before}
        match = [matcher({"variables": variables}, strict_match=False)]
        mock.post(URL, json=page(number, after), match=match)
    assert [one.number for one in board_with(graph).cards()] == [1, 2]


def test_cards_with_holes_are_not_a_list(graph: GraphClient, mock: responses.RequestsMock) -> None:
    """A task must not be overlooked because GitHub left it out."""
    path = ["repositoryOwner", "projectV2", "items"]
    shown: Any = {"repositoryOwner": {"projectV2": {"items": None}}}
    for errors in ([{"type": "RESOURCE_LIMITS_EXCEEDED", "path": path, "message": "x"}], []):
        mock.post(URL, json={"data": shown, "errors": errors})
        with pytest.raises(Transient):
            board_with(graph).cards()
    hidden = {"type": "NOT_FOUND", "path": [*path, "nodes", 0, "content"], "message": "x"}
    shown["repositoryOwner"]["projectV2"]["items"] = {"nodes": [{"id": "i1", "content": None}]}
    mock.post(URL, json={"data": shown, "errors": [hidden]})
    with pytest.raises(NotFound):
        board_with(graph).cards()
