"""Words for how urgent something is, and the order that they make."""

from __future__ import annotations

import pytest

from lifecycle.core.values.priorities import (
    READY_FOR_AGENT,
    Status,
    label_of,
    numbers,
    of_label,
    of_labels,
    order_of,
    rank_of,
)
from tests.batches import each_row


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


@pytest.mark.parametrize(
    ("words", "rank"),
    [
        (("critical", "urgent", "highest", "blocker"), 0),
        (("high",), 1),
        (("medium", "normal", "moderate"), 2),
        (("low",), 3),
        (("lowest", "trivial", "backlog"), 4),
    ],
)
def test_each_word_has_its_rank_in_any_case_and_between_signs(
    words: tuple[str, ...], rank: int
) -> None:
    """Boards have options such as a picture and the word."""
    assert [rank_of(f"\U0001f3d4 _{word.upper()}!") for word in words] == [rank] * len(words)


@each_row(
    ("name", "rank"),
    [
        ("P1", 1), ("p4 someday", 4), ("P7", None), ("priority: high", 1), ("Prio/0", 0),
        ("prio = low", 3), ("priority-1", 1), ("high priority", 1), ("low-prio", 3),
        (" urgent  priority ", 0), ("priority", None), ("high", None), ("2", None), ("P", None),
        ("not high: priority", None), ("priority: soon", None), ("stop1", None),
    ],
)  # fmt: skip
def test_labels_that_mean_a_priority(name: str, rank: int | None) -> None:
    """A label has to say that it is one: `high` alone, or a bare number, may mean anything."""
    assert of_label(name) == rank


def test_of_several_labels_the_most_urgent_counts() -> None:
    """Those that mean none do not; what a verb gives a task means what it was given."""
    assert of_labels(["bug", "P3", "high priority", "P2"]) == 1
    assert of_labels(["bug"]) is None
    assert of_labels([]) is None
    assert [of_label(label_of(rank)) for rank in range(5)] == [0, 1, 2, 3, 4]
    assert label_of(0) == "P0"


@pytest.mark.parametrize(
    ("text", "issues"),
    [
        ("#13, #12 and 12", [12, 13]),
        ("12", [12]),
        ("owner/name#12, https://github.com/o/n/issues/13", []),
        ("v1.2 task-7 x9 #4a", []),
        ("", []),
        (None, []),
    ],
)
def test_issues_that_a_field_names(text: str | None, issues: list[int]) -> None:
    """By number, with or without `#`; those of other repositories are not ours to judge."""
    assert numbers(text) == issues


def test_what_is_sorted_by_is_a_rank_and_a_word() -> None:
    """The word counts only where no rank is known, whatever its case; behind it comes nothing at all."""
    assert order_of(0, "Whatever") == (0, "")
    assert order_of(4) == (4, "")
    assert order_of(None, "Someday") == (5, "someday")
    assert order_of(None) == order_of(None, "") == (6, "")


def test_the_columns_have_the_names_that_a_new_board_has() -> None:
    """GitHub's own template has three of them; with the fourth a board works as it is."""
    assert (Status.TODO, Status.IN_PROGRESS, Status.IN_REVIEW, Status.DONE) == (
        "Todo", "In Progress", "In Review", "Done",
    )  # fmt: skip
    assert READY_FOR_AGENT == "Ready for Agent"
