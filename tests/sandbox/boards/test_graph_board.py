"""The board through GraphQL: discovery, pages, and the three mutations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from lifecycle.sandbox.control import Control
from lifecycle.sandbox.seed import SeedIssue, SeedItem, SeedProject, default_seed
from lifecycle.sandbox.server import Sandbox

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[..., Any]


@pytest.fixture
def board(graphql: Ask) -> Any:
    """The board as the product discovers it: ids by name."""
    project = graphql("discover_board", boardOwner="octo-org", boardNumber=1)["data"][
        "repositoryOwner"
    ]["projectV2"]
    return {
        "project": project["id"],
        "fields": {field["name"]: field for field in project["fields"]["nodes"]},
    }


@pytest.fixture
def write(graphql: Ask, board: Any, control: Control) -> Callable[..., Any]:
    """`write(**changes)`: set or clear fields of issue 42's card by the product's document."""

    def ask(**changes: Any) -> Any:
        fields = board["fields"]
        options = {option["name"]: option["id"] for option in fields["Status"]["options"]}
        given = {
            "project": board["project"],
            "item": control.world()["board"]["42"]["id"],
            "statusField": fields["Status"]["id"],
            "status": options["In Progress"],
            "setStatus": False,
            "agentField": fields["Agent"]["id"],
            "agent": "ada-1",
            "setAgent": False,
            "clearAgent": False,
        }
        return graphql("set_board_fields", **{**given, **changes})

    return ask


def card(control: Control) -> Any:
    """The values of issue 42's card."""
    return control.world()["board"]["42"]["values"]


def test_ids_look_like_github(board: Any) -> None:
    """Ids have GitHub's prefixes, options eight hexadecimal digits, and types their names."""
    fields = board["fields"]
    assert board["project"].startswith("PVT_")
    assert fields["Status"]["id"].startswith("PVTSSF_")
    assert fields["Agent"]["id"].startswith("PVTF_")
    assert [fields[n]["dataType"] for n in ("Title", "Assignees", "Agent", "Status")] == [
        "TITLE", "ASSIGNEES", "TEXT", "SINGLE_SELECT",
    ]  # fmt: skip
    assert all(len(option["id"]) == 8 for option in fields["Status"]["options"])
    assert all(int(option["id"], 16) >= 0 for option in fields["Status"]["options"])


def test_unknown_boards_and_owners(graphql: Ask) -> None:
    """A wrong number is NOT_FOUND; a wrong owner is null without an error."""
    answer = graphql("discover_board", boardOwner="octo-org", boardNumber=9)
    assert answer["data"]["repositoryOwner"] == {"projectV2": None}
    assert answer["errors"][0]["type"] == "NOT_FOUND"
    assert (
        graphql("discover_board", boardOwner="nobody", boardNumber=1)["data"]["repositoryOwner"]
        is None
    )
    other = graphql("discover_board", boardOwner="maria", boardNumber=1)
    assert other["errors"][0]["type"] == "NOT_FOUND"


def test_values_are_set_in_one_request(write: Ask, control: Control) -> None:
    """Status and Agent are written by one request, and each payload says what is true now."""
    answer = write(setStatus=True, setAgent=True)
    assert answer["data"]["status"]["projectV2Item"]["status"]["name"] == "In Progress"
    assert answer["data"]["agent"]["projectV2Item"]["agent"] == {"text": "ada-1"}
    assert "cleared" not in answer["data"]
    assert card(control)["Status"] == "In Progress"
    assert card(control)["Agent"] == "ada-1"


def test_empty_text_does_not_clear_and_clear_does(write: Ask, control: Control) -> None:
    """An empty text leaves the old value; only the clearing mutation removes it, repeatedly."""
    write(setAgent=True)
    answer = write(setAgent=True, agent="")
    assert answer["data"]["agent"]["projectV2Item"]["agent"] == {"text": "ada-1"}
    for _ in range(2):
        cleared = write(clearAgent=True)
        assert cleared["data"]["cleared"]["projectV2Item"]["agent"] is None
    assert "Agent" not in card(control)


def test_renamed_option_has_a_new_id(write: Ask, control: Control, board: Any) -> None:
    """After a rename the old id is refused in GitHub's words, and cards keep their value."""
    fresh = control.rename_option("Status", "In Progress", "Doing")
    answer = write(setStatus=True)
    assert answer["data"]["status"] is None
    (error,) = answer["errors"]
    assert error["message"] == "The single select option Id does not belong to the field"
    assert error["path"] == ["status"]
    old = {option["id"] for option in board["fields"]["Status"]["options"]}
    assert fresh not in old
    assert control.world()["board"]["38"]["values"]["Status"] == "Doing"
    assert "errors" not in write(setStatus=True, status=fresh)
    added = control.add_option("Status", "Blocked")
    write(setStatus=True, status=added)
    assert card(control)["Status"] == "Blocked"


def test_archived_cards_refuse_updates(write: Ask, control: Control, observe: Ask) -> None:
    """An archived card is visible as such and cannot be changed until it is back."""
    control.archive_item(42)
    nodes = observe()["data"]["repository"]["issue"]["projectItems"]["nodes"]
    assert nodes[0]["isArchived"] is True
    answer = write(setStatus=True)
    assert answer["errors"][0]["message"] == "The item is archived and cannot be updated"
    assert card(control)["Status"] == "Todo"
    control.archive_item(42, archived=False)
    assert "errors" not in write(setStatus=True)


def test_one_bad_alias_leaves_the_other_written(write: Ask, control: Control) -> None:
    """Two updates in one request are not atomic."""
    answer = write(setStatus=True, status="00000000", setAgent=True)
    assert answer["data"]["status"] is None
    assert card(control) == {**card(control), "Status": "Todo", "Agent": "ada-1"}


@pytest.mark.parametrize("name", ["project", "item", "agentField"])
def test_unknown_ids_are_not_found(write: Ask, name: str) -> None:
    """An id of nothing is NOT_FOUND and named."""
    (error,) = write(setAgent=True, **{name: "PVTI_nope"})["errors"]
    assert error["type"] == "NOT_FOUND"
    assert error["message"] == "Could not resolve to a node with the global id of 'PVTI_nope'."


def test_wrong_kinds_of_fields(write: Ask, board: Any) -> None:
    """A text for a choice, and any value for the title, are refused."""
    status, title = board["fields"]["Status"]["id"], board["fields"]["Title"]["id"]
    assert (
        "single select option Id" in write(setAgent=True, agentField=status)["errors"][0]["message"]
    )
    assert "not supported" in write(setAgent=True, agentField=title)["errors"][0]["message"]
    agent = board["fields"]["Agent"]["id"]
    answer = write(setStatus=True, statusField=agent)
    assert "Did not receive a text value" in answer["errors"][0]["message"]


def test_adding_returns_the_card_that_is_there(graphql: Ask, board: Any, control: Control) -> None:
    """Adding an issue twice gives one card; off the board it gets a new one."""
    world = control.world()
    given = {"project": board["project"], "content": world["issues"]["42"]["node_id"]}
    found = graphql("add_board_item", **given)["data"]["addProjectV2ItemById"]["item"]
    assert found["id"] == world["board"]["42"]["id"]
    assert found["status"]["name"] == "Todo"
    control.remove_item(42)
    again = [graphql("add_board_item", **given)["data"] for _ in range(2)]
    ids = {one["addProjectV2ItemById"]["item"]["id"] for one in again}
    assert len(ids) == 1
    assert ids != {found["id"]}
    assert again[0]["addProjectV2ItemById"]["item"]["status"] is None
    for wrong in ({"content": "I_nope"}, {"project": "PVT_nope"}, {"content": board["project"]}):
        assert graphql("add_board_item", **{**given, **wrong})["errors"][0]["type"] == "NOT_FOUND"


def test_pull_request_cards_are_empty_for_an_issue_fragment(
    graphql: Ask, board: Any, control: Control
) -> None:
    """A card of a pull request has content, of which `... on Issue` selects nothing."""
    control.push_commit("work", {"a.txt": "a"}, "Work")
    number = control.open_pull("work", "Work")
    content = control.world()["pulls"][str(number)]["node_id"]
    graphql("add_board_item", project=board["project"], content=content)
    answer = graphql("list_board_items", boardOwner="octo-org", boardNumber=1)
    nodes = answer["data"]["repositoryOwner"]["projectV2"]["items"]["nodes"]
    assert nodes[-1]["content"] == {}
    assert nodes[4]["content"]["repository"] == {"nameWithOwner": "octo-org/hello-service"}
    assert nodes[4]["priority"] == {"name": "P1: High"}


def test_board_of_a_user_with_pages() -> None:
    """A user may own the board, and following cursors gives each of many cards once."""
    seed = default_seed()
    many = range(1, 206)
    fields = seed.projects[0].fields
    project = SeedProject(
        7, "Big", fields, [SeedItem(n) for n in many], owner="maria", is_public=True
    )
    issues = [SeedIssue(n, f"Issue {n}") for n in many]
    whole = replace(seed.with_home(issues=issues), projects=[project])
    with Sandbox(whole) as sandbox:
        assert (sandbox.info.project_owner, sandbox.info.project_number) == ("maria", 7)
        seen = _all_cards(sandbox)
    assert seen == list(many)


def _all_cards(sandbox: Sandbox) -> list[int]:
    import requests

    from tests.graphql_texts import graphql_document

    def ask(name: str, **variables: Any) -> Any:
        body = {"query": graphql_document(name), "variables": variables}
        headers = {"Authorization": f"bearer {sandbox.info.token}"}
        answer = requests.post(sandbox.info.graphql_url, json=body, headers=headers, timeout=10)
        return answer.json()["data"]

    seen: list[int] = []
    after = None
    while True:
        shown = ask("list_board_items", boardOwner="maria", boardNumber=7, after=after)
        page = shown["repositoryOwner"]["projectV2"]["items"]
        seen += [node["content"]["number"] for node in page["nodes"]]
        if not page["pageInfo"]["hasNextPage"]:
            return seen
        after = page["pageInfo"]["endCursor"]


def test_wrong_cursor_is_an_error(graphql: Ask) -> None:
    """A cursor that the sandbox never gave is refused."""
    answer = graphql("list_board_items", boardOwner="octo-org", boardNumber=1, after="nonsense!")
    assert "does not appear to be a valid cursor" in answer["errors"][0]["message"]
