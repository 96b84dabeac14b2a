"""Items of a board: there or not, archived or not, and every kind of field."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, cast

import pytest

from lifecycle.api import NotFound, Refused, Rejected, UnknownOption
from lifecycle.core.errors import ItemArchived, ItemMissing, MissingScope, NoPermission
from lifecycle.core.values.model import BoardField
from lifecycle.github.operations import ensure_board
from lifecycle.github.operations.ensure_board import BoardOperations
from lifecycle.sandbox.control.faults import Fault
from tests.github.operations.ground import Ground


def board(ground: Ground) -> BoardOperations:
    return ground.hub.board(1)


def test_an_item_is_put_and_taken(ground: Ground) -> None:
    """Put once and taken once: 3 requests with the ids of the board, 2 without, then 1."""
    ground.control.remove_item(42)
    now, asked, again = ground.twice(lambda: board(ground).ensure_item(42))
    assert (asked, again) == (["FindItem", "DiscoverBoard", "AddBoardItem"], ["FindItem"])
    assert (now.number, now.is_archived) == (42, False)
    assert board(ground).item(42) == now
    _, asked, again = ground.twice(lambda: board(ground).ensure_no_item(42))
    assert (asked, again) == (["FindItem", "RemoveItem"], ["FindItem"])
    assert board(ground).item(42) is None


def test_a_pull_request_has_an_item_too(ground: Ground) -> None:
    """The number of a pull request names its card."""
    ground.pushed()
    number = ground.control.open_pull("work", "Work")
    now, _, _ = ground.twice(lambda: board(ground).ensure_item(number))
    assert now.number == number
    now, _, _ = ground.twice(lambda: board(ground).ensure_field(number, "Status", "In Review"))
    assert now.values["Status"] == "In Review"


@pytest.mark.parametrize(
    ("name", "value", "other"),
    [
        ("Agent", "octocat-1", "octocat-2"),
        ("Points", 3, 0.5),
        ("Points", 0, 1),
        ("Due", date(2026, 1, 31), date(2026, 2, 1)),
        ("Status", "In Progress", "Done"),
        ("Sprint", "Sprint 2", "Sprint 1"),
    ],
)
def test_every_kind_of_field(ground: Ground, name: str, value: Any, other: Any) -> None:
    """Set, changed and cleared, each once: 2 requests, then 1, and the ids of the board once."""
    set_to = board(ground).ensure_field
    now, asked, again = ground.twice(lambda: set_to(42, name, value))
    assert asked == ["FindItem", "DiscoverBoard", "SetItemField"]
    assert again == ["FindItem"]
    assert now.values[name] == value
    now, asked, _ = ground.twice(lambda: set_to(42, name.upper(), other))
    assert asked == ["FindItem", "SetItemField"]
    assert now.values[name] == other
    now, asked, again = ground.twice(lambda: set_to(42, name, None))
    assert (asked, again) == (["FindItem", "ClearItemField"], ["FindItem"])
    assert name not in now.values
    assert set_to(42, "Priority", "p1: high").changed is False


def test_a_moment_sets_its_day(ground: Ground) -> None:
    """A datetime is a date to Python: the day is sent and compared, and its time reaches nobody."""
    moment = datetime(2026, 1, 31, 10, 30)  # noqa: DTZ001  of no zone, as programs have them
    assert ensure_board._input(BoardField("F", "Due", "DATE"), moment) == {"date": "2026-01-31"}
    now, _, again = ground.twice(lambda: board(ground).ensure_field(42, "Due", moment))
    assert (now.values["Due"], again) == (date(2026, 1, 31), ["FindItem"])


def test_an_empty_text_clears(ground: Ground) -> None:
    """GitHub ignores an empty text: it is sent as a clearing."""
    board(ground).ensure_field(42, "Agent", "octocat-1")
    now, asked, _ = ground.twice(lambda: board(ground).ensure_field(42, "Agent", "  "))
    assert asked[-1] == "ClearItemField"
    assert "Agent" not in now.values


@pytest.mark.parametrize(
    ("name", "value", "error", "words"),
    [
        ("Status", "Doing", UnknownOption, "Todo, In Progress, In Review, Done"),
        ("Sprint", "Sprint 9", UnknownOption, "Sprint 2, Sprint 1"),
        ("Colour", "red", UnknownOption, "Status, Priority"),
        ("Colour", None, UnknownOption, "Status, Priority"),
        ("Points", "three", Refused, "a finite number"),
        ("Points", float("nan"), Refused, "a finite number"),
        ("Due", "soon", Refused, "a datetime.date"),
        ("Agent", 3, Refused, "a text"),
        ("Status", 3, Refused, "the name of an option"),
        ("Sprint", 2, Refused, "the title of an iteration"),
        ("Title", "New", Rejected, "change it there"),
    ],
)
def test_a_value_that_does_not_fit(
    ground: Ground, name: str, value: Any, error: type[Exception], words: str
) -> None:
    """What the field cannot hold is said with what it can, and nothing is written."""
    with pytest.raises(error, match=words):
        board(ground).ensure_field(42, name, value)
    assert ground.written() == []


def test_ids_are_renewed_once(ground: Ground) -> None:
    """An option that was renamed has another id: the board is read anew, and the write repeated."""
    board(ground).ensure_field(42, "Status", "In Progress")
    ground.control.rename_option("Status", "Done", "Finished")
    ground.asked()
    assert board(ground).ensure_field(42, "Status", "Finished").now.values["Status"] == "Finished"
    assert ground.asked() == ["FindItem", "DiscoverBoard", "SetItemField"]


def test_archived_items(ground: Ground) -> None:
    """Archived and brought back, each once; an archived one is not written."""
    now, asked, again = ground.twice(lambda: board(ground).ensure_archived(42))
    assert (asked[-1], again, now.is_archived) == ("ArchiveItem", ["FindItem"], True)
    assert not board(ground).ensure_item(42).changed
    with pytest.raises(ItemArchived, match="ensure_unarchived"):
        board(ground).ensure_field(42, "Status", "Done")
    now, asked, _ = ground.twice(lambda: board(ground).ensure_unarchived(42))
    assert (asked[-1], now.is_archived) == ("UnarchiveItem", False)


@pytest.mark.parametrize("operation", ["SetItemField", "ClearItemField", "ArchiveItem"])
def test_a_lost_answer_is_read_back(ground: Ground, operation: str) -> None:
    """Every answer of a write is lost: what the board shows then is what counts."""
    ground.control.set_field(42, "Agent", "octocat-1")
    ground.control.add_fault(Fault("status", when="after", operation=operation, count=3))
    acts = {
        "SetItemField": lambda: board(ground).ensure_field(42, "Status", "Done"),
        "ClearItemField": lambda: board(ground).ensure_field(42, "Agent", None),
        "ArchiveItem": lambda: board(ground).ensure_archived(42),
    }
    assert acts[operation]().changed
    assert not acts[operation]().changed


def test_what_is_not_there(ground: Ground) -> None:
    """An issue that is none, one that is not on the board, and a board that is none."""
    with pytest.raises(NotFound, match="#4040"):
        board(ground).ensure_item(4040)
    ground.control.remove_item(42)
    with pytest.raises(ItemMissing, match="ensure_item"):
        board(ground).ensure_field(42, "Status", "Done")
    with pytest.raises(NotFound, match="project 9 of octo-org"):
        ground.hub.board(9).ensure_item(42)


def test_a_token_without_the_scope(ground: Ground) -> None:
    """A token that may not see boards is told which scope it lacks."""
    ground.control.set_scopes(["repo"])
    with pytest.raises(MissingScope, match="project scope"):
        board(ground).ensure_field(42, "Status", "Done")


def test_a_look_that_is_refused_changed_nothing(ground: Ground) -> None:
    """The cards of an issue are hidden, the issue is not: what is read of it is no part of a change."""
    hidden = Fault(
        "graphql_error", operation="FindItem", when="after", error_type="FORBIDDEN", message="No.",
        null_paths=[["repository", "issueOrPullRequest", "projectItems"]],
    )  # fmt: skip
    ground.control.add_fault(hidden)
    with pytest.raises(NoPermission, match="so nothing was changed"):
        board(ground).ensure_field(42, "Status", "Done")


def test_the_case_of_a_text_counts(ground: Ground) -> None:
    """A text is written in another case; an option and an iteration are the same in any."""
    board(ground).ensure_field(42, "Agent", "octocat-1")
    now, asked, _ = ground.twice(lambda: board(ground).ensure_field(42, "agent", "Octocat-1"))
    assert (asked, now.values["Agent"]) == (["FindItem", "SetItemField"], "Octocat-1")
    for name, value in [("Status", "In Progress"), ("Sprint", "Sprint 2")]:
        board(ground).ensure_field(42, name, value)
        ground.asked()
        assert not board(ground).ensure_field(42, name.lower(), value.upper()).changed
        assert ground.asked() == ["FindItem"]


def test_true_is_no_number(ground: Ground) -> None:
    """True is refused also where the field holds 1, to which it compares as equal."""
    board(ground).ensure_field(42, "Points", 1)
    ground.asked()
    for value, words in ((True, "True"), ((1, 2), r"\(1, 2\)")):  # what a caller may get wrong
        with pytest.raises(Refused, match=f"cannot hold {words}"):
            board(ground).ensure_field(42, "Points", cast("Any", value))
    assert ground.written() == []
