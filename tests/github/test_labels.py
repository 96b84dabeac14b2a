"""A Status as a label where the board cannot be seen: `status_labels` and `status_fallback`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import responses

from lifecycle.core.errors import (
    LifecycleError,
    MissingScope,
    NoPermission,
    NotFound,
    Rejected,
    Transient,
    UnknownOption,
    Unsupported,
)
from lifecycle.core.ports import Board
from lifecycle.core.timing import Deadline
from lifecycle.core.values.model import BoardItem, Look
from lifecycle.github.board.board_client import GitHubBoard, ProjectRef
from lifecycle.github.board.status_fallback import REMEMBERED_SECONDS, Choice, EitherBoard
from lifecycle.github.board.status_labels import LabelsBoard, StatusLabels
from lifecycle.github.client.graph import GraphClient
from lifecycle.github.client.rest import Calls, RestClient
from lifecycle.github.pulls.forge import GitHubForge
from tests.github.answers import SHA, problem, pull, seen
from tests.github.hub import REPOSITORY, TOKEN, MemoryCache, PatientClock, keeper, sending
from tests.github.made_up import LIBRARIES

URL = "https://api.github.com/graphql"
REST = "https://api.github.com:443/repos/octo-org/hello-service"
PROJECT = ProjectRef("octo-org", 1)
LOOK = Look(issue=42, branch="work", board=True)
NAMES = StatusLabels()
PATH = ("repository", "issue", "projectItems")


@pytest.fixture
def mock() -> Iterator[responses.RequestsMock]:
    """Answers made up for api.github.com."""
    with responses.RequestsMock() as found:
        yield found


@pytest.fixture
def cache() -> MemoryCache:
    """What outlives a process."""
    return MemoryCache()


@pytest.fixture
def labels(graph: GraphClient, rest: RestClient, cache: MemoryCache) -> LabelsBoard:
    """The labels of octo-org/hello-service."""
    return LabelsBoard(NAMES, graph, Calls(rest, REPOSITORY), cache)


def named(*names: str) -> list[dict[str, str]]:
    """Labels as REST lists them."""
    return [{"name": name} for name in names]


def issue_with(*names: str) -> dict[str, Any]:
    """An ObserveClaim answer's repository whose issue has these labels."""
    return seen(issue={**seen()["issue"], "labels": {"nodes": named(*names)}})


def choice(
    cache: MemoryCache, clock: PatientClock, *, use: str = "auto", token: str = TOKEN
) -> Choice:
    """Whether labels are used, as one process sees it."""
    return Choice(PROJECT, use, NAMES, keeper(token), cache, clock)


@pytest.mark.parametrize(
    ("names", "status"),
    [
        (["status: in progress"], "In Progress"),
        (["bug", "Status: Done"], "Done"),
        (["status: todo", "status: done"], None),
        (["status: blocked"], None),
        (["status: blocked", "status: todo"], "Todo"),
        (["bug"], None),
        ([], None),
    ],
)
def test_the_status_that_labels_say(names: list[str], status: str | None) -> None:
    """In any case; a word of somebody's own (`status: blocked`) says nothing, and two say nothing."""
    assert NAMES.item(42, names) == BoardItem("labels/42", status)


def test_the_labels_fit_the_boards_port(
    graph: GraphClient, labels: LabelsBoard, cache: MemoryCache, clock: PatientClock
) -> None:
    """What the engine may ask of a board, labels have without one; the schema costs no request."""
    board: Board = EitherBoard(choice(cache, clock, use="always"), None, labels)
    field = board.schema().field("Status")
    assert field is not None
    assert field.option("In Review") == "status: in review"


def test_a_status_is_put_on_and_the_other_taken_off(
    labels: LabelsBoard, mock: responses.RequestsMock
) -> None:
    """New before old; a label is created once, at its first use; people's stay, whatever their name."""
    mock.post(f"{REST}/labels", status=201, json={"name": "status: in review"})
    others = ("bug", "status: blocked", "status: needs-triage")
    shown = named(*others, "status: in progress", "status: in review")
    mock.post(f"{REST}/issues/42/labels", json=shown)
    off = f"{REST}/issues/42/labels/status%3A%20in%20progress"
    mock.delete(off, json=named(*others, "status: in review"))
    wanted = BoardItem("labels/42", "In Review")
    assert labels.put_on(42, "In Review") == wanted
    made = json.loads(mock.calls[0].request.body or b"")
    assert (made["name"], len(made["color"])) == ("status: in review", 6)
    mock.post(f"{REST}/issues/42/labels", json=named(*others, "status: in review"))
    assert labels.put_on(42, "In Review") == wanted
    asked = [call.request.method for call in mock.calls]
    assert asked == ["POST", "POST", "DELETE", "POST"]


def test_a_label_that_is_there_is_used(labels: LabelsBoard, mock: responses.RequestsMock) -> None:
    """GitHub's 422 for a label of this name is as good as having made it."""
    error = {"resource": "Label", "code": "already_exists", "field": "name"}
    mock.post(
        f"{REST}/labels", status=422, json={"message": "Validation Failed", "errors": [error]}
    )
    mock.post(f"{REST}/issues/42/labels", json=named("status: done"))
    assert labels.put_on(42, "done").status == "Done"


def test_a_label_that_somebody_took_off_meanwhile(
    labels: LabelsBoard, cache: MemoryCache, mock: responses.RequestsMock
) -> None:
    """What is gone need not be taken off."""
    cache.put("labels:octo-org/hello-service", ["status: done"])
    mock.post(f"{REST}/issues/42/labels", json=named("status: todo", "status: done"))
    off = f"{REST}/issues/42/labels/status%3A%20todo"
    mock.delete(off, status=404, json={"message": "Label does not exist"})
    assert labels.put_on(42, "Done").status == "Done"


def test_nothing_to_write_is_no_request(labels: LabelsBoard) -> None:
    """Labels have no Agent."""
    assert labels.put_on(42, None) == BoardItem("labels/42")


def test_a_status_without_a_label_names_those_that_have_one(labels: LabelsBoard) -> None:
    """A typo makes no new label."""
    with pytest.raises(UnknownOption, match="Todo, In Progress, In Review, Done"):
        labels.put_on(42, "Doing")


def test_a_label_that_does_not_stay_is_said(
    labels: LabelsBoard, cache: MemoryCache, mock: responses.RequestsMock
) -> None:
    """GitHub took it and shows another: somebody's automation moves it."""
    cache.put("labels:octo-org/hello-service", ["status: done"])
    mock.post(f"{REST}/issues/42/labels", json=named("bug"))
    with pytest.raises(Rejected, match="status: done"):
        labels.put_on(42, "Done")


def test_an_issue_is_a_card_without_being_written(
    labels: LabelsBoard, mock: responses.RequestsMock
) -> None:
    """Adding it to the board is finding it."""
    node = {"number": 42, "labels": {"nodes": named("status: todo")}}
    mock.post(URL, json={"data": {"node": node}})
    assert labels.add("I_42") == BoardItem("labels/42", "Todo")
    mock.post(URL, json={"data": {"node": None}})
    with pytest.raises(NotFound):
        labels.add("I_43")


def column(*numbers: int, label: str, more: str = "") -> dict[str, Any]:
    """A column of ListLabelledIssues."""
    nodes = [
        {"number": n, "title": f"T{n}", "url": "u", "labels": {"nodes": named(label)}}
        for n in numbers
    ]
    page = {"hasNextPage": bool(more), "endCursor": more or None}
    return {"totalCount": len(numbers), "pageInfo": page, "nodes": nodes}


def test_the_columns_come_in_one_request(labels: LabelsBoard, mock: responses.RequestsMock) -> None:
    """Every open issue with a Status; only a column with more is asked again."""
    first = {
        "todo": column(1, 2, label="status: todo", more="c"),
        "inProgress": column(3, label="status: in progress"),
        "inReview": column(label="status: in review"),
    }
    mock.post(URL, json={"data": {"repository": first}})
    brief = labels.brief()
    assert (brief.total, brief.is_complete) == (3, False)
    mock.post(URL, json={"data": {"repository": first}})
    mock.post(URL, json={"data": {"repository": {"todo": column(4, label="status: todo")}}})
    cards = labels.cards()
    assert [(one.number, one.item.status) for one in cards] == [
        (1, "Todo"), (2, "Todo"), (3, "In Progress"), (4, "Todo"),
    ]  # fmt: skip
    variables = json.loads(mock.calls[2].request.body or b"")["variables"]
    assert (variables["todoMore"], variables["todoAfter"]) == (True, "c")
    assert not variables["inProgressMore"]


@pytest.mark.parametrize(
    ("error", "token", "gives_up"),
    [
        (MissingScope("lacks the project scope."), "ghp_x", True),
        (NoPermission("may not."), "ghs_x", True),
        (Unsupported("does not support."), "ghp_x", True),
        (NotFound("no such project."), "ghs_x", True),
        (NotFound("no such project."), "github_pat_x", True),
        (NotFound("no such project."), "ghp_x", False),
        (Transient("not now."), "ghs_x", False),
        (UnknownOption("no such option."), "ghs_x", False),
    ],
)
def test_when_labels_take_the_place_of_the_board(
    cache: MemoryCache, clock: PatientClock, error: LifecycleError, token: str, gives_up: bool
) -> None:
    """A token or a server that cannot see it; not an outage, and not a person's wrong number."""
    assert choice(cache, clock, token=token).gives_up(error) is gives_up
    assert choice(cache, clock, token=token).uses_labels is gives_up
    assert not choice(MemoryCache(), clock, use="never", token=token).gives_up(error)


def test_what_was_learnt_is_of_one_token_and_ends(cache: MemoryCache, clock: PatientClock) -> None:
    """A new token asks at once; the same after an hour, with labels till then. No token is kept."""
    assert choice(cache, clock).gives_up(MissingScope("lacks the project scope."))
    note = choice(cache, clock).note
    assert note is not None
    assert "lacks the project scope. Until then" in note
    assert TOKEN not in json.dumps(cache)
    assert not choice(cache, clock, token="other").uses_labels
    assert not choice(cache, clock, use="never").uses_labels
    assert not choice(cache, clock).tries_board
    clock.moment += REMEMBERED_SECONDS
    assert choice(cache, clock).uses_labels
    assert choice(cache, clock).tries_board
    choice(cache, clock).shown()
    assert not choice(cache, clock).uses_labels


def test_a_board_that_cannot_be_written_is_tried_again_after_an_hour(
    cache: MemoryCache, clock: PatientClock
) -> None:
    """To see it is no reason to go back to it before, nor are commands: that would go to and fro."""
    assert choice(cache, clock).gives_up(MissingScope("lacks the scope."), writes=True)
    found = choice(cache, clock)
    assert (found.uses_labels, found.is_doubted, found.tries_board) == (True, False, False)
    found.shown()
    assert found.uses_labels
    clock.moment += REMEMBERED_SECONDS
    assert not found.uses_labels


@pytest.mark.parametrize("kept", [{"token": 1}, {"until": "soon"}, [], "x"])
def test_a_memory_that_is_none_is_left(
    cache: MemoryCache, clock: PatientClock, kept: object
) -> None:
    """What stands in state.json may be of any shape: then nothing was learnt."""
    cache.put("board_by_labels", kept)
    assert not choice(cache, clock).uses_labels


def forge_of(graph: GraphClient, rest: RestClient, found: Choice) -> GitHubForge:
    """A forge of one process."""
    return GitHubForge(Calls(rest, REPOSITORY), graph, found)


def test_a_look_without_the_scope_shows_the_labels(
    graph: GraphClient,
    rest: RestClient,
    cache: MemoryCache,
    clock: PatientClock,
    mock: responses.RequestsMock,
) -> None:
    """Two requests the first time, one from then on; the reason is a note, not a problem."""
    mock.post(URL, json={"data": None, "errors": [problem("INSUFFICIENT_SCOPES")]})
    mock.post(URL, json={"data": {"repository": issue_with("status: todo")}})
    found = forge_of(graph, rest, choice(cache, clock)).observe(LOOK)
    assert found.item == BoardItem("labels/42", "Todo")
    assert found.board_problem is None
    assert found.board_note is not None
    assert len(mock.calls) == 2
    mock.post(URL, json={"data": {"repository": issue_with("status: in progress")}})
    found = forge_of(graph, rest, choice(cache, clock)).observe(LOOK)
    assert found.item == BoardItem("labels/42", "In Progress")
    assert len(mock.calls) == 3
    assert "projectItems" not in str(mock.calls[2].request.body)


def test_a_look_with_a_hole_for_the_board_asks_once_more_with_labels(
    graph: GraphClient,
    rest: RestClient,
    cache: MemoryCache,
    clock: PatientClock,
    mock: responses.RequestsMock,
) -> None:
    """The second request is the same look, with the labels in the board's place."""
    mock.post(URL, json={"data": {"repository": seen()}, "errors": [problem("FORBIDDEN", *PATH)]})
    mock.post(URL, json={"data": {"repository": issue_with("status: todo")}})
    found = forge_of(graph, rest, choice(cache, clock)).observe(LOOK)
    assert found.item == BoardItem("labels/42", "Todo")
    asked = json.loads(mock.calls[1].request.body or b"")
    assert asked["operationName"] == "ObserveClaim"
    assert "labels" in asked["query"]
    assert "projectItems" not in asked["query"]
    assert len(mock.calls) == 2


def test_a_server_without_projects_shows_the_labels(
    deadline: Deadline,
    rest: RestClient,
    cache: MemoryCache,
    clock: PatientClock,
    mock: responses.RequestsMock,
) -> None:
    """An unknown field does not fail the observation, and is not asked for again."""
    message = "Field 'projectItems' doesn't exist on type 'Issue'"
    unknown = {"message": message, "extensions": {"code": "undefinedField"}}
    mock.post(URL, json={"errors": [unknown]})
    pulls = {"byBranch": {"nodes": [pull()]}}
    mock.post(URL, json={"data": {"repository": seen(**pulls)}})
    mock.post(URL, json={"data": {"repository": {**issue_with(), **pulls}}})
    graph = GraphClient(URL, sending(TOKEN, deadline, cache=cache, by_library=LIBRARIES))
    found = forge_of(graph, rest, choice(cache, clock)).observe(LOOK)
    assert [one.head_sha for one in found.by_branch] == [SHA]
    assert found.item == BoardItem("labels/42", None)
    assert found.board_note is not None
    assert "does not support" in found.board_note
    mock.post(URL, json={"data": {"repository": issue_with()}})
    forge_of(graph, rest, choice(cache, clock)).observe(LOOK)
    assert len(mock.calls) == 4


def test_without_labels_the_problem_is_said_as_before(
    graph: GraphClient,
    rest: RestClient,
    cache: MemoryCache,
    clock: PatientClock,
    mock: responses.RequestsMock,
) -> None:
    """labels.use = "never": nothing is kept anywhere, and the sentence says why."""
    mock.post(URL, json={"data": None, "errors": [problem("INSUFFICIENT_SCOPES")]})
    mock.post(URL, json={"data": {"repository": seen()}})
    found = forge_of(graph, rest, choice(cache, clock, use="never")).observe(LOOK)
    assert (found.item, found.board_note) == (None, None)
    assert found.board_problem is not None


@pytest.mark.parametrize(("use", "problem"), [("auto", None), ("never", "lacks the scope.")])
def test_a_process_that_lives_on_asks_a_board_it_could_not_read_again_after_an_hour(
    cache: MemoryCache, clock: PatientClock, use: str, problem: str | None
) -> None:
    """Within the hour no request with the board, not even one that insists; then the board is back."""
    kept = choice(cache, clock, use=use)
    kept.learn(MissingScope("lacks the scope."))
    clock.moment += REMEMBERED_SECONDS - 1
    assert (kept.asks_board(insists=True), kept.problem) == (False, problem)
    clock.moment += 1
    assert (kept.asks_board(), kept.problem) == (True, None)


def test_a_look_that_needs_no_board_asks_for_no_labels(
    graph: GraphClient,
    rest: RestClient,
    cache: MemoryCache,
    clock: PatientClock,
    mock: responses.RequestsMock,
) -> None:
    """What is not asked for costs nothing, degraded or not."""
    mock.post(URL, json={"data": {"repository": seen()}})
    found = forge_of(graph, rest, choice(cache, clock, use="always")).observe(
        replace(LOOK, board=False)
    )
    assert (found.item, found.board_note) == (None, None)
    assert "labels" not in str(mock.calls[0].request.body)


def test_a_card_is_written_where_it_was_read(
    graph: GraphClient,
    labels: LabelsBoard,
    cache: MemoryCache,
    clock: PatientClock,
    mock: responses.RequestsMock,
) -> None:
    """A label's id leads to the labels, whatever is chosen by now; the board's to the board."""
    project = GitHubBoard(PROJECT, graph, cache)
    board = EitherBoard(choice(cache, clock), project, labels)
    cache.put("labels:octo-org/hello-service", ["status: done"])
    mock.post(f"{REST}/issues/42/labels", json=named("status: done"))
    assert board.write(42, "labels/42", status="Done", agent=None).status == "Done"
    mock.post(URL, json={"data": None, "errors": [problem("INSUFFICIENT_SCOPES")]})
    never = EitherBoard(choice(cache, clock, use="never"), project, labels)
    with pytest.raises(MissingScope):
        never.write(42, "PVTI_1", status="Done", agent=None)
    assert not choice(cache, clock).uses_labels
    item = board.write(42, "PVTI_1", status="Done", agent=None)
    assert item == BoardItem("labels/42", "Done")
    assert choice(cache, clock).uses_labels
    assert [str(call.request.url) == URL for call in mock.calls] == [False, True, True, False]


def test_a_card_can_be_written_at_once_if_the_boards_ids_are_known(
    graph: GraphClient, labels: LabelsBoard, cache: MemoryCache, clock: PatientClock
) -> None:
    """Without them a read comes first; where labels are involved, more than one write."""
    project = GitHubBoard(PROJECT, graph, cache)
    board = EitherBoard(choice(cache, clock), project, labels)
    assert not board.is_ready("PVTI_1")
    ids = {"id": "PVT_1", "title": "B", "url": "u", "fields": {"nodes": [], "pageInfo": {}}}
    project.learn({"repositoryOwner": {"projectV2": ids}})
    assert board.is_ready("PVTI_1")
    assert not board.is_ready("labels/42")
    assert not EitherBoard(choice(cache, clock), None, labels).is_ready("PVTI_1")
    assert not EitherBoard(choice(cache, clock, use="always"), project, labels).is_ready("PVTI_1")


@pytest.mark.parametrize(
    ("kind", "why"),
    [("INSUFFICIENT_SCOPES", "cannot be written;"), ("undefinedField", "does not support")],
)
def test_an_issue_that_may_not_be_put_on_the_board_gets_a_label(
    graph: GraphClient,
    labels: LabelsBoard,
    cache: MemoryCache,
    clock: PatientClock,
    mock: responses.RequestsMock,
    kind: str,
    why: str,
) -> None:
    """The board can be read and not be written: labels, and to see it does not change that."""
    found = choice(cache, clock)
    board = EitherBoard(found, GitHubBoard(PROJECT, graph, cache), labels)
    project = {"id": "PVT_1", "title": "B", "url": "u", "fields": {"nodes": [], "pageInfo": {}}}
    owner = {"projectV2": project}
    mock.post(URL, json={"data": {"repositoryOwner": owner}})
    mock.post(URL, json={"data": None, "errors": [problem(kind)]})
    mock.post(URL, json={"data": {"node": {"number": 42, "labels": {"nodes": []}}}})
    assert board.add("I_42") == BoardItem("labels/42")
    assert why in (found.note or "")
    found.shown()
    assert found.uses_labels


@pytest.mark.parametrize(
    ("status", "standing", "label"),
    [("Done", "Todo", "Done"), (None, "Todo", "Todo"), (None, "", None)],
)
def test_a_label_says_the_status_that_stands_where_none_is_written(
    status: str | None,
    standing: str,
    label: str | None,
    graph: GraphClient,
    labels: LabelsBoard,
    cache: MemoryCache,
    clock: PatientClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The board's card had it: a label that comes in its place must not lack it."""

    def refused(*_: object, **_fields: object) -> BoardItem:
        raise MissingScope("The token may not write projects.")

    def put_on(_board: LabelsBoard, number: int, status: str | None) -> BoardItem:
        return BoardItem(f"labels/{number}", status)

    monkeypatch.setattr(GitHubBoard, "set_fields", refused)
    monkeypatch.setattr(LabelsBoard, "put_on", put_on)
    board = EitherBoard(choice(cache, clock), GitHubBoard(PROJECT, graph, cache), labels)
    item = board.write(42, "PVTI_1", status=status, agent="ada", standing=standing)
    assert item == BoardItem("labels/42", status=label)


def test_the_label_that_was_put_on_here_is_taken_back(
    labels: LabelsBoard, cache: MemoryCache, mock: responses.RequestsMock
) -> None:
    """The one of this issue, once; that somebody took it off before is as good."""
    labels.take_back(42)
    cache.put("labels:octo-org/hello-service", ["status: todo"])
    mock.post(f"{REST}/issues/42/labels", json=named("status: todo", "status: blocked"))
    labels.put_on(42, "Todo")
    labels.take_back(43)
    off = f"{REST}/issues/42/labels/status%3A%20todo"
    mock.delete(off, status=404, json={"message": "Label does not exist"})
    labels.take_back(42)
    labels.take_back(42)
    assert [call.request.method for call in mock.calls] == ["POST", "DELETE"]


def test_a_board_that_is_hidden_from_the_token_gives_way_to_labels(
    graph: GraphClient,
    labels: LabelsBoard,
    cache: MemoryCache,
    clock: PatientClock,
    mock: responses.RequestsMock,
) -> None:
    """To the token of Actions GitHub says that there is no such project: labels, without asking again."""
    found = choice(cache, clock, token="ghs_x")
    board = EitherBoard(found, GitHubBoard(PROJECT, graph, cache), labels)
    hidden = {"repositoryOwner": {"projectV2": None}}
    errors = [problem("NOT_FOUND", "repositoryOwner", "projectV2")]
    mock.post(URL, json={"data": hidden, "errors": errors})
    node = {"number": 42, "labels": {"nodes": []}}
    mock.post(URL, json={"data": {"node": node}})
    assert board.add("I_42") == BoardItem("labels/42")
    mock.post(URL, json={"data": {"node": node}})
    assert board.add("I_42") == BoardItem("labels/42")
    assert len(mock.calls) == 3
    assert found.note is not None


def test_an_outage_of_the_board_is_no_reason_for_labels(
    graph: GraphClient,
    labels: LabelsBoard,
    cache: MemoryCache,
    clock: PatientClock,
    mock: responses.RequestsMock,
) -> None:
    """It is raised, and nothing is remembered."""
    board = EitherBoard(choice(cache, clock), GitHubBoard(PROJECT, graph, cache), labels)
    mock.post(URL, status=502, body="<html>")
    with pytest.raises(Transient):
        board.brief()
    assert cache == {}


def test_a_look_that_insists_sees_a_board_that_came_back(
    graph: GraphClient,
    rest: RestClient,
    cache: MemoryCache,
    clock: PatientClock,
    mock: responses.RequestsMock,
) -> None:
    """Board and labels in one request: the board counts whenever it can be seen, and from then on."""
    choice(cache, clock).gives_up(MissingScope("lacks the project scope."))
    insisting = replace(LOOK, insists=True)
    blind = {"data": {"repository": issue_with("status: todo")}}
    mock.post(URL, json={**blind, "errors": [problem("FORBIDDEN", *PATH)]})
    forge = forge_of(graph, rest, choice(cache, clock))
    assert forge.observe(insisting).item == BoardItem("labels/42", "Todo")
    assert len(mock.calls) == 1
    mock.post(URL, json=blind)
    forge.observe(insisting)
    assert "projectItems" not in str(mock.calls[1].request.body)
    empty = issue_with("status: todo")
    empty["issue"]["projectItems"] = {"nodes": []}
    mock.post(URL, json={"data": {"repository": empty}})
    forge = forge_of(graph, rest, choice(cache, clock))
    assert forge.observe(insisting).item == BoardItem("labels/42", "Todo")
    owner = {"login": "octo-org"}
    item = {"id": "PVTI_1", "project": {"number": 1, "owner": owner}, "status": {"name": "Done"}}
    both = issue_with("status: todo")
    both["issue"]["projectItems"] = {"nodes": [item]}
    mock.post(URL, json={"data": {"repository": both}})
    forge = forge_of(graph, rest, choice(cache, clock))
    for _ in range(2):
        found = forge.observe(insisting)
        assert found.item == BoardItem("PVTI_1", "Done")
        assert found.board_note is None
        assert not choice(cache, clock).uses_labels
        choice(cache, clock).gives_up(MissingScope("lacks it for another process."))


def test_after_an_hour_an_empty_answer_is_no_sight_of_the_board(
    graph: GraphClient,
    rest: RestClient,
    cache: MemoryCache,
    clock: PatientClock,
    mock: responses.RequestsMock,
) -> None:
    """Board and labels are asked for in one request; the labels stay until a card is seen."""
    clock.moment -= REMEMBERED_SECONDS
    choice(cache, clock, token="ghs_x").gives_up(NotFound("no such project."))
    clock.moment += REMEMBERED_SECONDS
    empty = issue_with("status: in progress")
    empty["issue"]["projectItems"] = {"nodes": []}
    mock.post(URL, json={"data": {"repository": empty}})
    forge = forge_of(graph, rest, choice(cache, clock, token="ghs_x"))
    found = forge.observe(LOOK)
    assert found.item == BoardItem("labels/42", "In Progress")
    assert found.board_note is not None
    asked = str(mock.calls[0].request.body)
    assert "projectItems" in asked
    assert "labels" in asked
    refused = {"data": {"repository": empty}, "errors": [problem("FORBIDDEN", *PATH)]}
    mock.replace(responses.POST, URL, json=refused)
    assert forge.observe(LOOK).item == BoardItem("labels/42", "In Progress")
    assert not choice(cache, clock, token="ghs_x").tries_board


@pytest.mark.parametrize(
    ("token", "is_shown", "item", "asks"),
    [
        ("ghs_x", False, BoardItem("labels/42", "Todo"), 1),
        ("ghs_x", True, None, 1),
        ("ghp_x", False, None, 0),
    ],
)
def test_an_empty_list_is_believed_of_a_token_that_is_shown_the_project(
    graph: GraphClient,
    rest: RestClient,
    cache: MemoryCache,
    clock: PatientClock,
    mock: responses.RequestsMock,
    *,
    token: str,
    is_shown: bool,
    item: BoardItem | None,
    asks: int,
) -> None:
    """The token of Actions gets it for every issue: the project itself is asked for, once."""
    asked: list[int] = []

    def probe() -> None:
        asked.append(1)
        if not is_shown:
            raise NotFound("no such project.")

    empty = issue_with()
    empty["issue"] = {**empty["issue"], "projectItems": {"nodes": []}}
    del empty["issue"]["labels"]
    mock.post(URL, json={"data": {"repository": empty}})
    if item is not None:
        mock.post(URL, json={"data": {"repository": issue_with("status: todo")}})
    for _ in range(2):
        kept = Choice(PROJECT, "auto", NAMES, keeper(token), cache, clock, probe)
        assert forge_of(graph, rest, kept).observe(LOOK).item == item
    assert len(asked) == asks


def test_a_board_that_showed_a_card_is_not_asked_for_itself(
    cache: MemoryCache, clock: PatientClock
) -> None:
    """An issue without a card is believed to have none, whatever the token's kind."""
    asked: list[int] = []
    kept = Choice(PROJECT, "auto", NAMES, keeper("ghs_x"), cache, clock, lambda: asked.append(1))
    item = {"id": "PVTI_1", "project": {"number": 1, "owner": {"login": "octo-org"}}}
    assert kept.blindness([{"number": 1, "projectItems": {"nodes": [item]}}]) is None
    assert kept.blindness([{"number": 2, "projectItems": {"nodes": []}}]) is None
    assert asked == []
