"""Which card comes next: by what its Priority means, not by how the word is spelled."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.claim.commands.next_task import free, suggest, todo_of
from lifecycle.core.values.model import BoardItem, Card, PullState, Repository
from tests.factories import pull

HERE = Repository("octo-org", "hello-service")


def _card(number: int, priority: str | None, dependencies: str | None = None) -> Card:
    item = BoardItem(f"item-{number}", status="Todo")
    return Card(
        item, number, f"Task {number}", "", str(HERE), is_open=True, priority=priority,
        dependencies=dependencies,
    )  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ["Urgent", "High", "Medium", "Low"],
        ["Critical", "High", "Normal", "Backlog"],
        ["P0", "P1", "P2", "P3"],
        ["High", "Later", "Someday", None],
    ],
)
def test_cards_are_by_what_their_priority_means(words: list[str | None]) -> None:
    """Words in the order that people mean; unknown ones behind them as their text, none last."""
    cards = [_card(number, word) for number, word in enumerate(words, start=1)]
    assert [card.priority for card in todo_of(reversed(cards), HERE)] == words
    chosen = next(free(reversed(cards), HERE), None)
    assert chosen is not None
    assert chosen.priority == words[0]


def test_cards_of_one_priority_stay_as_the_board_has_them() -> None:
    """Two words for the same are the same: a person put the cards in this order."""
    cards = [_card(3, "High"), _card(1, "P1"), _card(2, "high")]
    assert [card.number for card in todo_of(cards, HERE)] == [3, 1, 2]


def test_the_most_urgent_that_waits_for_nothing_is_chosen() -> None:
    """One that names an open card is passed over."""
    cards = [_card(1, "Low"), _card(2, "Medium"), _card(3, "High", "#1")]
    chosen = next(free(cards, HERE), None)
    assert chosen is not None
    assert chosen.number == 2


@pytest.mark.parametrize(
    ("states", "is_told"),
    [
        ([], False),
        ([PullState.MERGED], True),
        ([PullState.MERGED, PullState.CLOSED], True),
        ([PullState.CLOSED, PullState.MERGED], False),
        ([PullState.MERGED, PullState.OPEN], False),
    ],
)
def test_a_merge_is_told_where_it_was_the_branchs_last_word(
    states: list[PullState], is_told: bool
) -> None:
    """A pull request of the branch that is open, or was closed after it, goes on with the work."""
    pulls = [pull(state=state, head_owner="Octo-Org") for state in states]
    stranger = pull(state=PullState.OPEN, head_owner="somebody")
    world: Any = SimpleNamespace(
        git=SimpleNamespace(current_branch=lambda: "work", head_of=lambda _: "0" * 40),
        settings=SimpleNamespace(base="main"),
        cache=SimpleNamespace(get=lambda _: None, put=lambda *_: None),
        head=HERE,
        base=HERE,
        forge=SimpleNamespace(pull_requests_of=lambda _: [stranger, *pulls]),
        board=None,
    )
    notice = suggest(world)
    assert (notice is not None) is is_told
