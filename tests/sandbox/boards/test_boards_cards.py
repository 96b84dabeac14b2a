"""Cards: drafts, archived ones, their order, pages, and what lists miss for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.sandbox.issues.state import IssueTables
from tests.sandbox.everything import board, change, data, done, everything, field, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from lifecycle.sandbox.repositories.state import World

ITEMS = """query($id: ID!, $first: Int!, $after: String, $order: ProjectV2ItemOrder) {
    node(id: $id) { ... on ProjectV2 { items(first: $first, after: $after, orderBy: $order) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { cursor node { id type isArchived content {
        ... on Issue { number } ... on PullRequest { number } ... on DraftIssue { title }
    } } } } } } }"""


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A board with an issue, a pull request, a draft, and an archived issue."""
    return everything(tmp_path)


def cards(world: World, first: int = 50, order: str = "ASC") -> list[Any]:
    """The board's cards as listed, page by page."""
    found: list[Any] = []
    after = None
    while True:
        page = data(
            world, ITEMS, id=board(world).id, first=first, after=after,
            order={"field": "POSITION", "direction": order},
        )["node"]["items"]  # fmt: skip
        found += [edge["node"] for edge in page["edges"]]
        if not page["pageInfo"]["hasNextPage"]:
            assert page["totalCount"] == len(found)
            return found
        after = page["edges"][-1]["cursor"]
        assert after == page["pageInfo"]["endCursor"]


def test_the_list_has_all_kinds_and_no_archived_one(world: World) -> None:
    """Issues, pull requests and drafts in their order; an archived card is not listed."""
    found = cards(world, first=1)
    assert [one["type"] for one in found] == ["ISSUE", "PULL_REQUEST", "DRAFT_ISSUE"]
    assert [one["content"] for one in found] == [{"number": 1}, {"number": 3}, {"title": "Maybe"}]
    assert cards(world, order="DESC") == found[::-1]


def of_issue(world: World, number: int, arguments: str = "") -> list[Any]:
    """An issue's cards as the issue shows them."""
    query = f"""query($number: Int!) {{ repository(owner: "org", name: "app") {{
        issue(number: $number) {{ projectItems(first: 5{arguments}) {{
        nodes {{ isArchived project {{ number }} }} }} }} }} }}"""
    found: list[Any] = data(world, query, number=number)["repository"]["issue"]["projectItems"][
        "nodes"
    ]
    return found


def test_an_issue_shows_its_archived_card_unless_told_not_to(world: World) -> None:
    """`projectItems` has it by default, `includeArchived: false` leaves it out."""
    assert of_issue(world, 2) == [{"isArchived": True, "project": {"number": 1}}]
    assert of_issue(world, 2, ", includeArchived: false") == []


def test_archiving_and_back(world: World) -> None:
    """Archived cards refuse changes and stay archived when added again; back, they take them."""
    card = {"projectId": board(world).id, "itemId": board(world).items[0].id}
    for _ in range(2):
        done(world, "archiveProjectV2Item", "item { isArchived }", **card)
    assert len(cards(world)) == 2
    note = {"fieldId": field(world, "Note").id}
    for name, more in (
        ("updateProjectV2ItemFieldValue", {**note, "value": {"text": "x"}}),
        ("clearProjectV2ItemFieldValue", note),
    ):
        answer = change(world, name, "projectV2Item { id }", **card, **more)
        assert refusal(answer) == ("VALIDATION", "The item is archived and cannot be updated")
    again = done(
        world, "addProjectV2ItemById", "item { id isArchived }",
        projectId=board(world).id, contentId=IssueTables.of(world.home).issues[1].node_id,
    )["item"]  # fmt: skip
    assert again == {"id": card["itemId"], "isArchived": True}
    back = done(world, "unarchiveProjectV2Item", "item { isArchived }", **card)
    assert back == {"item": {"isArchived": False}}
    assert len(cards(world)) == 3


def test_a_draft_is_made_changed_and_converted(world: World) -> None:
    """The card and its values stay when a draft becomes an issue; the draft's id is gone."""
    project = board(world)
    made = done(
        world, "addProjectV2DraftIssue",
        "projectItem { id content { ... on DraftIssue { id title body creator { login } } } }",
        projectId=project.id, title="Idea", body="Text", assigneeIds=[world.users["sam"].node_id],
    )["projectItem"]  # fmt: skip
    draft = made["content"]
    assert (draft["title"], draft["body"], draft["creator"]) == ("Idea", "Text", {"login": "ada"})
    assert draft["id"].startswith("DI_")
    changed = done(
        world, "updateProjectV2DraftIssue",
        "draftIssue { title body assignees(first: 1) { totalCount } }",
        draftIssueId=draft["id"], title="Better",
    )["draftIssue"]  # fmt: skip
    assert changed == {"title": "Better", "body": "Text", "assignees": {"totalCount": 1}}
    project.items[-1].values[field(world, "Note").id] = "kept"
    item = done(
        world, "convertProjectV2DraftIssueItemToIssue",
        """item { id type content { ... on Issue { number title body assignees(first: 1) { nodes {
            login } } } }
            fieldValueByName(name: "Note") { ... on ProjectV2ItemFieldTextValue { text } } }""",
        itemId=made["id"], repositoryId=world.home.node_id,
    )["item"]  # fmt: skip
    assert (item["id"], item["type"]) == (made["id"], "ISSUE")
    assert item["content"]["title"] == "Better"
    assert item["content"]["assignees"]["nodes"] == [{"login": "sam"}]
    assert item["fieldValueByName"] == {"text": "kept"}
    number = item["content"]["number"]
    assert of_issue(world, number) == [{"isArchived": False, "project": {"number": 1}}]
    assert draft["id"] not in world.nodes
    twice = change(
        world, "convertProjectV2DraftIssueItemToIssue", "item { id }",
        itemId=made["id"], repositoryId=world.home.node_id,
    )  # fmt: skip
    assert refusal(twice)[0] == "VALIDATION"


def test_a_draft_needs_a_title(world: World) -> None:
    """An empty title is VALIDATION, and no card is made."""
    answer = change(
        world, "addProjectV2DraftIssue", "projectItem { id }", projectId=board(world).id, title=" "
    )
    assert refusal(answer) == ("VALIDATION", "Title can't be blank")
    assert len(board(world).items) == 4


def test_cards_are_moved(world: World) -> None:
    """A card goes after another, or without one to the top; the answer lists the new order."""
    first, second, third, archived = board(world).items
    where = {"projectId": board(world).id}
    name, shown = "updateProjectV2ItemPosition", "items(first: 9) { nodes { id } }"
    moved = done(world, name, shown, **where, itemId=first.id, afterId=third.id)
    assert [one["id"] for one in moved["items"]["nodes"]] == [second.id, third.id, first.id]
    top = done(world, name, shown, **where, itemId=third.id)
    assert [one["id"] for one in top["items"]["nodes"]] == [third.id, second.id, first.id]
    for given in ({"itemId": first.id, "afterId": first.id}, {"itemId": archived.id}):
        assert refusal(change(world, name, shown, **where, **given))[0] == "VALIDATION"


def test_a_deleted_card_leaves_its_issue(world: World) -> None:
    """Its id is NOT_FOUND afterwards; the issue gets another card when it is added again."""
    item = board(world).items[0]
    given = {"projectId": board(world).id, "itemId": item.id}
    assert done(world, "deleteProjectV2Item", "deletedItemId", **given) == {
        "deletedItemId": item.id
    }
    assert refusal(change(world, "deleteProjectV2Item", "deletedItemId", **given))[0] == "NOT_FOUND"
    again = done(
        world, "addProjectV2ItemById", "item { id }",
        projectId=board(world).id, contentId=IssueTables.of(world.home).issues[1].node_id,
    )["item"]  # fmt: skip
    assert again["id"] != item.id
    draft = board(world).items[1]
    done(world, "deleteProjectV2Item", "deletedItemId", projectId=board(world).id, itemId=draft.id)
    assert draft.content.node_id not in world.nodes


def test_lists_miss_a_new_card_for_some_reads(world: World) -> None:
    """The issue shows its card at once, the board's list later: medassist-ng#751 met this."""
    world.lag["items"] = 2
    issue = IssueTables.of(world.home).issues[1]
    board(world).take(board(world).items[0])
    done(
        world, "addProjectV2ItemById", "item { id }",
        projectId=board(world).id, contentId=issue.node_id,
    )  # fmt: skip
    assert len(of_issue(world, 1)) == 1
    assert [len(cards(world)) for _ in range(3)] == [2, 2, 3]


def test_cards_of_what_may_not_be_seen_are_redacted(world: World) -> None:
    """Somebody without access to a private repository sees that there is a card, and no more."""
    world.home.visibility = "private"
    world.home.owner.members.remove(world.users["sam"])
    board(world).collaborators["sam"] = "READER"
    query = """query($id: ID!) { node(id: $id) { ... on ProjectV2 { items(first: 2) { nodes {
        type content { __typename } fieldValues(first: 5) { totalCount } } } } } }"""
    found = data(world, query, token="s", id=board(world).id)["node"]["items"]["nodes"]
    hidden = {"type": "REDACTED", "content": None, "fieldValues": {"totalCount": 0}}
    assert found == [hidden, hidden]
