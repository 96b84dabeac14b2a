"""The filters of boards, as GitHub's page about them has them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.boards.actions import BoardRefused
from lifecycle.sandbox.boards.filter import NotImitated, item_filter
from tests.sandbox.everything import board, everything, field

if TYPE_CHECKING:
    from lifecycle.sandbox.repositories.state import World


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The cards: issue 1, pull request 3, a draft, and issue 2; nobody here changes them."""
    made = everything(tmp_path_factory.mktemp("world"))
    board(made).items[3].archived = False
    board(made).items[2].values[field(made, "Due").id] = now().date().isoformat()
    board(made).items[2].updated_at = now() - timedelta(days=9)
    return made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "0123"),
        ("is:issue", "03"),
        ("is:pr", "1"),
        ("is:draft", "2"),
        ("is:open", "01"),
        ("is:issue is:open", "0"),
        ("is:closed", "3"),
        ("is:merged", ""),
        ("-is:issue", "12"),
        ("assignee:sam", "012"),
        ("assignee:@me", "012"),
        ("-assignee:sam", "3"),
        ("no:assignee", "3"),
        ("-no:assignee", "012"),
        ("label:bug", "01"),
        ("label:bug,question", "01"),
        ("label:b*", "01"),
        ("label:bug is:pr", "1"),
        ("no:label", "23"),
        ("milestone:First", "01"),
        ("repo:org/app", "013"),
        ("reviewers:ada", "1"),
        ("status:todo", "0"),
        ('status:"Todo",Done', "01"),
        ("-status:Todo", "123"),
        ("no:status", "23"),
        ("note:soon", "0"),
        ("soon", "0"),
        ('"one"', "0"),
        ("title:Two", "3"),
        ("points:2.5", "0"),
        ("points:>2", "0"),
        ("points:>=2.5", "0"),
        ("points:<2.5", ""),
        ("points:1..3", "0"),
        ("points:*..2", ""),
        ("due:>2026-12-01", "0"),
        ("due:2026-12-01..2026-12-31", "0"),
        ("due:@today", "2"),
        ("due:<=@today+7", "2"),
        ("sprint:Now", "0"),
        ("sprint:@current", "0"),
        ("sprint:@previous", ""),
        ("sprint:>Past", "0"),
        ("last-updated:7days", "2"),
        ("-last-updated:7days", "013"),
        ("reason:completed", "3"),
    ],
)
def test_filters(world: World, text: str, expected: str) -> None:
    """Each filter means these cards, by their place on the board."""
    wanted = item_filter(board(world), world.users["sam"], text)
    found = [str(place) for place, item in enumerate(board(world).items) if wanted.matches(item)]
    assert "".join(found) == expected


@pytest.mark.parametrize(
    "text", ["is:locked", "tracked-by:x", "no:colour", "due:@current", "last-updated:soon"]
)
def test_what_is_not_imitated_is_said(world: World, text: str) -> None:
    """A qualifier or a value that the sandbox does not know is an error, never all cards or none."""
    wanted = item_filter(board(world), world.users["sam"], text)
    with pytest.raises(NotImitated, match="does not imitate"):
        [wanted.matches(item) for item in board(world).items]


def test_a_number_has_to_be_one(world: World) -> None:
    """A comparison of a number with a word is refused."""
    wanted = item_filter(board(world), world.users["sam"], "points:>many")
    with pytest.raises(BoardRefused, match="many is not a number"):
        wanted.matches(board(world).items[0])
