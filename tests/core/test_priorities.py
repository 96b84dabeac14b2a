"""Words for how urgent something is, and the order that they make."""

from __future__ import annotations

import pytest

from lifecycle.core.values.priorities import order_of, rank_of


@pytest.mark.parametrize(
    ("word", "rank"),
    [
        ("P0", 0), ("p3: someday", 3), ("2", 2), ("Urgent", 0), ("High", 1), ("\U0001f3d4 High", 1),
        ("Medium", 2), ("low!", 3), ("Backlog", 4), ("P5", None), ("10", None), ("Highland", None),
        ("", None), ("!", None),
    ],
)  # fmt: skip
def test_words_that_mean_a_priority(word: str, rank: int | None) -> None:
    """People's words for the five, with signs around them; any other word is none."""
    assert rank_of(word) == rank


def test_words_that_nobody_knows_stand_between_the_known_ones_and_none() -> None:
    """A board may have any options: those that mean a priority come first, the others as their text."""
    words = [None, "Someday", "Low", "maybe", "", "P0", "High"]
    ordered = sorted(words, key=lambda word: order_of(rank_of(word or ""), word))
    assert ordered == ["P0", "High", "Low", "maybe", "Someday", None, ""]
