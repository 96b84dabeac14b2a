"""What cards have in their fields: every type is read, set, cleared, and refused as on GitHub."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.sandbox.boards.state import BoardTables
from tests.sandbox.everything import board, change, data, done, everything, field, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from lifecycle.sandbox.boards.state import Item
    from lifecycle.sandbox.repositories.state import World

VALUES = """
... on ProjectV2ItemFieldTextValue { text }
... on ProjectV2ItemFieldNumberValue { number }
... on ProjectV2ItemFieldDateValue { date }
... on ProjectV2ItemFieldSingleSelectValue { name optionId color }
... on ProjectV2ItemFieldIterationValue { title iterationId startDate duration }
... on ProjectV2ItemFieldUserValue { users(first: 5) { nodes { login } } }
... on ProjectV2ItemFieldLabelValue { labels(first: 5) { nodes { name } } }
... on ProjectV2ItemFieldPullRequestValue { pullRequests(first: 5) { nodes { number } } }
... on ProjectV2ItemFieldReviewerValue { reviewers(first: 5) { nodes { ... on User { login } } } }
... on ProjectV2ItemFieldMilestoneValue { milestone { title } }
... on ProjectV2ItemFieldRepositoryValue { repository { nameWithOwner } }
"""
COMMON = """__typename
... on ProjectV2ItemFieldValueCommon { field { ... on ProjectV2FieldCommon { name } } }
... on ProjectV2ItemFieldUserValue { field { ... on ProjectV2FieldCommon { name } } }
... on ProjectV2ItemFieldLabelValue { field { ... on ProjectV2FieldCommon { name } } }
"""


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A board with a field of every type, and a card with a value in each."""
    return everything(tmp_path)


def values(world: World, place: int) -> dict[str, Any]:
    """What a card has, by the field's name."""
    query = f"""query($id: ID!) {{ node(id: $id) {{ ... on ProjectV2Item {{
        fieldValues(first: 50) {{ nodes {{ {VALUES} }} }} }} }} }}"""
    item = board(world).items[place]
    found = data(world, query, id=item.id)["node"]["fieldValues"]["nodes"]
    shown = [name.name for name in board(world).fields if _has(world, item, name.name)]
    return dict(zip(shown, found, strict=True))


def _has(world: World, item: Item, name: str) -> bool:
    query = """query($id: ID!, $name: String!) { node(id: $id) { ... on ProjectV2Item {
        fieldValueByName(name: $name) { __typename } } } }"""
    return data(world, query, id=item.id, name=name)["node"]["fieldValueByName"] is not None


def test_every_type_of_value_is_read(world: World) -> None:
    """An issue's card has its own values and what the issue says; a field without one is left out."""
    sprint = field(world, "Sprint").iterations[1]
    todo = field(world, "Status").options[0]
    assert values(world, 0) == {
        "Title": {"text": "One"},
        "Assignees": {"users": {"nodes": [{"login": "sam"}]}},
        "Status": {"name": "Todo", "optionId": todo.id, "color": "GRAY"},
        "Labels": {"labels": {"nodes": [{"name": "bug"}]}},
        "Linked pull requests": {"pullRequests": {"nodes": [{"number": 3}]}},
        "Milestone": {"milestone": {"title": "First"}},
        "Repository": {"repository": {"nameWithOwner": "org/app"}},
        "Note": {"text": "Soon"},
        "Points": {"number": 2.5},
        "Due": {"date": "2026-12-24"},
        "Sprint": {
            "title": "Now", "iterationId": sprint.id, "startDate": "2026-01-19", "duration": 14,
        },
    }  # fmt: skip


def test_a_pull_request_has_reviewers_and_a_draft_little(world: World) -> None:
    """Who was asked and who reviewed are reviewers; a draft has a title and assignees."""
    reviewers = values(world, 1)["Reviewers"]["reviewers"]["nodes"]
    assert reviewers == [{"login": "sam"}, {"login": "ada"}]
    assert values(world, 2) == {
        "Title": {"text": "Maybe"},
        "Assignees": {"users": {"nodes": [{"login": "sam"}]}},
    }


def test_values_may_be_turned_round(world: World) -> None:
    """`orderBy` takes a direction."""
    query = f"""query($id: ID!) {{ node(id: $id) {{ ... on ProjectV2Item {{
        fieldValues(first: 1, orderBy: {{field: POSITION, direction: DESC}}) {{
        nodes {{ {COMMON} }} totalCount }} }} }} }}"""
    found = data(world, query, id=board(world).items[0].id)["node"]["fieldValues"]
    assert found["nodes"][0]["field"]["name"] == "Sprint"
    assert found["totalCount"] == 11


def write(world: World, name: str, value: dict[str, Any], place: int = 0) -> Any:
    """The answer to setting a field of a card."""
    return change(
        world, "updateProjectV2ItemFieldValue", "projectV2Item { id }",
        projectId=board(world).id, itemId=board(world).items[place].id,
        fieldId=field(world, name).id, value=value,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "given", "shown"),
    [
        ("Note", {"text": "Later"}, {"text": "Later"}),
        ("Note", {"text": ""}, {"text": "Soon"}),
        ("Points", {"number": 3}, {"number": 3.0}),
        ("Points", {"number": -0.25}, {"number": -0.25}),
        ("Due", {"date": "2027-01-31"}, {"date": "2027-01-31"}),
    ],
)
def test_values_are_set(
    world: World, name: str, given: dict[str, Any], shown: dict[str, Any]
) -> None:
    """Texts, numbers and days are kept as given; an empty text leaves what is there."""
    assert "errors" not in write(world, name, given)
    assert values(world, 0)[name] == shown


def test_choices_are_set_by_id(world: World) -> None:
    """An option and an iteration are chosen by their ids."""
    done_option = field(world, "Status").options[1]
    past = field(world, "Sprint").iterations[0]
    assert "errors" not in write(world, "Status", {"singleSelectOptionId": done_option.id})
    assert "errors" not in write(world, "Sprint", {"iterationId": past.id})
    found = values(world, 0)
    assert (found["Status"]["name"], found["Sprint"]["title"]) == ("Done", "Past")


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("Status", {"text": "Done"},
         "Did not receive a single select option Id to update a field of type single_select"),
        ("Status", {"singleSelectOptionId": "00000000"},
         "The single select option Id does not belong to the field"),
        ("Sprint", {"iterationId": "00000000"}, "The iteration Id does not belong to the field"),
        ("Sprint", {"number": 1}, "Did not receive an iteration Id to update a field of type iteration"),
        ("Note", {"number": 1}, "Did not receive a text value to update a field of type text"),
        ("Points", {"text": "1"}, "Did not receive a number value to update a field of type number"),
        ("Due", {"text": "1"}, "Did not receive a date value to update a field of type date"),
        ("Due", {"date": "soon"}, "soon is not a date of the form YYYY-MM-DD"),
        ("Assignees", {"text": "sam"}, "The field of type assignees is currently not supported"),
        ("Milestone", {"text": "First"}, "The field of type milestone is currently not supported"),
    ],
)  # fmt: skip
def test_wrong_values_are_refused(
    world: World, name: str, given: dict[str, Any], words: str
) -> None:
    """A value of another type, or one that points to nothing, is VALIDATION, and nothing changes."""
    before = dict(board(world).items[0].values)
    assert refusal(write(world, name, given)) == ("VALIDATION", words)
    assert board(world).items[0].values == before


def test_a_value_is_cleared_and_stays_so(world: World) -> None:
    """Clearing removes it, twice is once; what the issue says cannot be cleared."""
    given = {"projectId": board(world).id, "itemId": board(world).items[0].id}
    for _ in range(2):
        done(
            world, "clearProjectV2ItemFieldValue", "projectV2Item { id }",
            **given, fieldId=field(world, "Sprint").id,
        )  # fmt: skip
    assert "Sprint" not in values(world, 0)
    answer = change(
        world, "clearProjectV2ItemFieldValue", "projectV2Item { id }",
        **given, fieldId=field(world, "Labels").id,
    )  # fmt: skip
    assert refusal(answer)[0] == "VALIDATION"


def test_things_of_another_board_are_refused(world: World) -> None:
    """A card or a field of another board is VALIDATION; an id of nothing is NOT_FOUND."""
    other = BoardTables.of(world).projects[1]
    given: dict[str, Any] = {
        "projectId": other.id, "itemId": board(world).items[0].id,
        "fieldId": field(world, "Note").id, "value": {"text": "x"},
    }  # fmt: skip
    name, shown = "updateProjectV2ItemFieldValue", "projectV2Item { id }"
    assert refusal(change(world, name, shown, **given)) == (
        "VALIDATION",
        "The item does not exist in the project",
    )
    given |= {"projectId": board(world).id, "fieldId": other.fields[0].id}
    assert refusal(change(world, name, shown, **given))[0] == "VALIDATION"
    given |= {"fieldId": "PVTF_nothing"}
    assert refusal(change(world, name, shown, **given)) == (
        "NOT_FOUND",
        "Could not resolve to a node with the global id of 'PVTF_nothing'.",
    )
