"""The rule by which parts become one recovery message: its size, what is never cut, and what goes first."""

from __future__ import annotations

import itertools
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.app.guidance.recovery_message import (
    LIMIT,
    WHOLE_LIMIT,
    Rank,
    RecoveryLine,
    RecoveryPart,
    folded,
    part_of,
)
from lifecycle.hooks import recovery
from lifecycle.hooks.answers import pre_compact
from lifecycle.stages.session import staged_start

RESTS = ("lifecycle status", "lifecycle run recover", "lifecycle stage show", "lifecycle guidance")
LINE = st.tuples(st.integers(0, 600), st.sampled_from((Rank.FIRST, Rank.NEXT, Rank.LAST)))
PARTS = st.lists(st.lists(LINE, max_size=12), max_size=4)
KEPT = st.lists(st.integers(0, WHOLE_LIMIT // 8 - 1), max_size=8)


def made(parts: list[list[tuple[int, Rank]]]) -> list[RecoveryPart]:
    """Parts with lines of these lengths and ranks; no two lines begin alike."""
    number = itertools.count()
    return [
        RecoveryPart(
            tuple(RecoveryLine(f"{next(number):03} →".ljust(n, "é"), rank) for n, rank in lines),
            rest,
        )
        for lines, rest in zip(parts, RESTS, strict=False)
    ]


@given(PARTS, KEPT, st.integers(0, 4))
def test_the_message_is_short_and_cuts_nothing_that_is_whole(
    parts: list[list[tuple[int, Rank]]], kept: list[int], place: int
) -> None:
    """At most 1,500 characters; every whole line is there, in order; what is left out has its command."""
    others = made(parts)
    whole = [chr(ord("A") + at) * length for at, length in enumerate(kept)]
    workflow = RecoveryPart(tuple(RecoveryLine(text, Rank.WHOLE) for text in whole), "lifecycle w")
    every = [*others[:place], workflow, *others[place:]]
    lines = folded(every)
    assert len("\n".join(lines)) <= LIMIT
    assert [line for line in lines if line in whole] == whole
    for part in every:
        if any(line.text not in lines for line in part.lines):
            assert part.rest in lines[-1]


@given(PARTS)
def test_what_fits_is_as_it_was_and_what_does_not_goes_by_its_rank(
    parts: list[list[tuple[int, Rank]]],
) -> None:
    """With room for all nothing is cut; else no line goes for one that counts less, but for short ones."""
    every = [line for part in made(parts) for line in part.lines]
    lines = folded(made(parts))
    texts = [line.text for line in every]
    if len("\n".join(texts)) <= LIMIT:
        assert lines == texts
        return
    gone = [line for line in every if not any(line.text[:5] == each[:5] for each in lines)]
    assert len("\n".join(lines)) <= LIMIT
    for line in every:
        is_later = any((line.rank, line.text[:3]) > (each.rank, each.text[:3]) for each in gone)
        assert line.text not in lines or not is_later or len(line.text) < 40


def test_a_text_of_any_length_is_cut() -> None:
    """Ten thousand characters in one line: the message is full, and says where the rest is."""
    lines = folded([part_of(["a" * 10_000], "lifecycle status")])
    assert len("\n".join(lines)) == LIMIT
    assert lines[0].endswith("…")
    assert lines[1] == "The rest: lifecycle status"


def test_lines_that_count_first_are_named_by_their_beginning() -> None:
    """The stage and its marker are there however long the instruction between them is."""
    part = part_of(
        ["CURRENT STAGE: CODING", *(["x" * 300] * 9), "::: END :::"],
        "lifecycle status",
        ("CURRENT STAGE", ":::"),
    )
    lines = folded([part])
    assert (lines[0], lines[-2]) == ("CURRENT STAGE: CODING", "::: END :::")
    assert len(lines[-3]) < 300


def test_the_steps_of_a_stage_are_a_list_within_what_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each line of the instruction has one bullet, also one that had it already."""
    told = ["CURRENT STAGE: TESTING", "", "Next step: Verify.", "- Fix failing tests"]
    monkeypatch.setattr(staged_start, "start_lines", lambda _: told)
    monkeypatch.setattr(recovery, "as_compacted", lambda call: call)
    assert pre_compact._stage(cast("Any", None)) == [
        "- CURRENT STAGE: TESTING",
        "- Next step: Verify.",
        "  - Fix failing tests",
    ]
