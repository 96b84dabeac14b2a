"""The fields of boards: listing them, making them, and what an update does to their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.sandbox.everything import board, change, data, done, everything, field, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from lifecycle.sandbox.repositories.state import World

FIELDS = """query($id: ID!, $first: Int!, $after: String) { node(id: $id) { ... on ProjectV2 {
    fields(first: $first, after: $after) { totalCount pageInfo { hasNextPage endCursor } nodes {
    __typename
    ... on ProjectV2FieldCommon { id name dataType }
    ... on ProjectV2SingleSelectField { options { id name color description } }
    ... on ProjectV2IterationField { configuration { duration startDay
        iterations { id title startDate duration } completedIterations { title } } }
    } } } } }"""


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A board with a field of every type."""
    return everything(tmp_path)


def listed(world: World, first: int = 50) -> dict[str, Any]:
    """The board's fields by name, page by page."""
    found: dict[str, Any] = {}
    after = None
    while True:
        page = data(world, FIELDS, id=board(world).id, first=first, after=after)["node"]["fields"]
        found |= {one["name"]: one for one in page["nodes"]}
        if not page["pageInfo"]["hasNextPage"]:
            assert page["totalCount"] == len(found)
            return found
        after = page["pageInfo"]["endCursor"]


def test_fields_of_three_types_are_listed_page_by_page(world: World) -> None:
    """Single selects show their options, iterations their configuration, all others neither."""
    found = listed(world, first=3)
    assert list(found) == [one.name for one in board(world).fields]
    kinds = {name: one["__typename"] for name, one in found.items()}
    assert (kinds["Status"], kinds["Sprint"], kinds["Points"]) == (
        "ProjectV2SingleSelectField", "ProjectV2IterationField", "ProjectV2Field",
    )  # fmt: skip
    assert found["Linked pull requests"]["dataType"] == "LINKED_PULL_REQUESTS"
    assert [one["name"] for one in found["Status"]["options"]] == ["Todo", "Done"]
    sprint = found["Sprint"]["configuration"]
    assert (sprint["duration"], sprint["startDay"]) == (14, 1)
    assert [one["title"] for one in sprint["iterations"]] == ["Now"]
    assert sprint["completedIterations"] == [{"title": "Past"}]


def test_ids_have_the_prefixes_of_github(world: World) -> None:
    """PVTF for a field, PVTSSF for a single select, PVTIF for iterations."""
    for name, prefix in (("Points", "PVTF_"), ("Status", "PVTSSF_"), ("Sprint", "PVTIF_")):
        assert field(world, name).id.startswith(prefix)


def test_fields_in_another_order_and_by_name(world: World) -> None:
    """They may be sorted by name; one is found by its exact name; options by theirs."""
    query = """query($id: ID!) { node(id: $id) { ... on ProjectV2 {
        fields(first: 2, orderBy: {field: NAME, direction: DESC}) {
            nodes { ... on ProjectV2FieldCommon { name } } }
        field(name: "Status") { ... on ProjectV2SingleSelectField { options(names: ["Done"]) { name } } }
        gone: field(name: "status") { __typename } } } }"""
    found = data(world, query, id=board(world).id)["node"]
    assert [one["name"] for one in found["fields"]["nodes"]] == ["Title", "Sub-issues progress"]
    assert found["field"]["options"] == [{"name": "Done"}]
    assert found["gone"] is None


def create(world: World, **given: Any) -> Any:
    """The answer to making a field."""
    selection = "projectV2Field { ... on ProjectV2FieldCommon { id name dataType } }"
    return change(world, "createProjectV2Field", selection, projectId=board(world).id, **given)


def test_fields_are_made_of_every_type(world: World) -> None:
    """Text, number, date, single select and iteration; each is listed last and can be found by id."""
    options = [{"name": "S", "color": "RED", "description": "Small"}]
    spans = {"startDate": "2026-02-02", "duration": 7, "iterations": []}
    for kind, more in (
        ("TEXT", {}), ("NUMBER", {}), ("DATE", {}),
        ("SINGLE_SELECT", {"singleSelectOptions": options}),
        ("ITERATION", {"iterationConfiguration": spans}),
    ):  # fmt: skip
        answer = create(world, name=f"New {kind}", dataType=kind, **more)
        made = answer["data"]["createProjectV2Field"]["projectV2Field"]
        assert made["dataType"] == kind
        assert data(world, "query($id: ID!) { node(id: $id) { __typename } }", id=made["id"])
    found = listed(world)
    (small,) = found["New SINGLE_SELECT"]["options"]
    assert (small["name"], small["color"], small["description"]) == ("S", "RED", "Small")
    spans_shown = found["New ITERATION"]["configuration"]
    titles = spans_shown["iterations"] + spans_shown["completedIterations"]
    assert {one["title"] for one in titles} == {"Iteration 1", "Iteration 2", "Iteration 3"}
    assert spans_shown["duration"] == 7


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": "status", "dataType": "TEXT"}, "Name has already been taken"),
        ({"name": " ", "dataType": "TEXT"}, "Name can't be blank"),
        ({"name": "Size", "dataType": "SINGLE_SELECT"}, "Options can't be blank"),
    ],
)
def test_impossible_fields_are_refused(world: World, given: dict[str, Any], words: str) -> None:
    """A taken or empty name, and a choice between nothing, are VALIDATION."""
    assert refusal(create(world, **given)) == ("VALIDATION", words)


def update(world: World, name: str, /, **given: Any) -> Any:
    """The answer to changing a field."""
    selection = "projectV2Field { ... on ProjectV2FieldCommon { id } }"
    return change(world, "updateProjectV2Field", selection, fieldId=field(world, name).id, **given)


def test_an_update_of_options_replaces_them_all(world: World) -> None:
    """Options that come again under their old names have new ids, and cards have lost theirs."""
    before = {option.name: option.id for option in field(world, "Status").options}
    options = [
        {"name": name, "color": "BLUE", "description": ""} for name in ("Todo", "Done", "Parked")
    ]
    assert "errors" not in update(world, "Status", singleSelectOptions=options)
    after = {option.name: option.id for option in field(world, "Status").options}
    assert list(after) == ["Todo", "Done", "Parked"]
    assert not set(before.values()) & set(after.values())
    assert all(field(world, "Status").id not in item.values for item in board(world).items)
    assert "errors" not in update(world, "Status", singleSelectOptions=[])
    assert len(field(world, "Status").options) == 3


def test_an_update_of_iterations_replaces_them_all(world: World) -> None:
    """The same titles and days get new ids, and cards lose theirs: github-mcp-server#2953."""
    before = {one.id for one in field(world, "Sprint").iterations}
    spans = [{"title": "Now", "startDate": "2026-01-19", "duration": 14}]
    given = {"startDate": "2026-01-19", "duration": 14, "iterations": spans}
    assert "errors" not in update(world, "Sprint", iterationConfiguration=given)
    (now,) = field(world, "Sprint").iterations
    assert now.id not in before
    assert field(world, "Sprint").id not in board(world).items[0].values


def test_a_field_is_renamed_and_deleted(world: World) -> None:
    """Only fields with values of their own can be; a deleted one takes its values along."""
    assert "errors" not in update(world, "Note", name="Remark")
    note = field(world, "Remark")
    done(world, "deleteProjectV2Field", "projectV2Field { __typename }", fieldId=note.id)
    assert "Remark" not in listed(world)
    assert note.id not in board(world).items[0].values
    answer = change(
        world, "deleteProjectV2Field", "projectV2Field { __typename }",
        fieldId=field(world, "Title").id,
    )  # fmt: skip
    assert refusal(answer)[0] == "VALIDATION"
    assert refusal(update(world, "Title", name="Name"))[0] == "VALIDATION"
