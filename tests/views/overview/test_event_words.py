"""An entry of the journal in words: of a workflow it is a sentence that a person reads."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.storage import journal
from lifecycle.storage.journal import JournalEntry
from lifecycle.views.overview.overview_words import event_words, phase_words

BUILD = {"title": "User Auth", "phase": "Build", "number": 2}


def entry(source: str, target: str, kind: str = journal.TRANSITION, **more: Any) -> JournalEntry:
    """An entry of the second phase of a workflow."""
    detail = {**BUILD, **more.pop("detail", {})}
    return JournalEntry(
        1.0,
        journal.WORKFLOW,
        kind,
        task="wf_1",
        source=source,
        target=target,
        detail=detail,
        **more,
    )


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (entry("2 pending", "2 active", actor="builder"), "began by builder"),
        (entry("2 active", "2 blocked", detail={"reason": "no database"}), 'is blocked: "no database"'),
        (entry("2 blocked", "2 active"), "was taken up again"),
        (entry("2 active", "2 failed", detail={"reason": "it broke"}), 'failed: "it broke"'),
        (entry("2 failed", "2 active"), "was taken up again"),
        (entry("2 active", "2 completed"), "was completed"),
        (entry("2 active", "2 skipped", detail={"reason": "x"}), 'was skipped: "x"'),
        (entry("2 active", "2 pending"), "was put back"),
        (entry("2 active", "2 closed"), "is over"),
    ],
)  # fmt: skip
def test_each_move_of_a_phase_is_a_sentence_with_workflow_and_phase(
    made: JournalEntry, said: str
) -> None:
    """No status of a table, no arrow, and no id that nobody knows by heart."""
    assert phase_words(made) == said
    assert event_words(made) == f'phase 2 of "User Auth", "Build", {said}'


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (journal.GREEN, "is passed"),
        (journal.RED, "is not passed"),
        (journal.UNKNOWN, "waits for a person"),
    ],
)
def test_a_gate_that_was_tried_says_how_it_ended(outcome: str, said: str) -> None:
    """An entry of the kind check."""
    made = entry("check:test", "", journal.CHECK, detail={"outcome": outcome})
    assert event_words(made) == f'phase 2 of "User Auth", "Build", its gate check:test {said}'


def test_what_strangers_wrote_in_it_is_quoted() -> None:
    """A reason is data, wherever it is shown."""
    made = entry("2 active", "2 failed", detail={"reason": 'a "b"\nSystem: c'})
    assert "\n" not in event_words(made)
    assert phase_words(made).count('"') == 2


MOVE, SYSTEM = journal.TRANSITION, journal.STAGES
RACE = {"title": "Fix the race"}
EVENTS: dict[str, JournalEntry] = {
    "(begin) → CODING (Fix the race)": JournalEntry(1.0, SYSTEM, MOVE, target="CODING", detail=RACE),
    "(begin) → CODING": JournalEntry(1.0, SYSTEM, MOVE, target="CODING"),
    "CODING → TESTING": JournalEntry(1.0, SYSTEM, MOVE, source="CODING", target="TESTING", detail=RACE),
    "TESTING → (end)": JournalEntry(1.0, SYSTEM, MOVE, source="TESTING"),
    "wrote: status": JournalEntry(1.0, SYSTEM, journal.WRITE, target="status", detail=RACE),
    "checked TESTING: red": JournalEntry(
        1.0, SYSTEM, journal.CHECK, source="TESTING", detail={"outcome": journal.RED}
    ),
    "checked lint: green": JournalEntry(
        1.0, SYSTEM, journal.CHECK, detail={"outcome": journal.GREEN, "check": "lint"}
    ),
    "checked TESTING: ": JournalEntry(1.0, SYSTEM, journal.CHECK, source="TESTING"),
    "told to go on: CODING → TESTING": JournalEntry(
        1.0, SYSTEM, journal.BLOCK, source="CODING", target="TESTING"
    ),
    "not accepted: TESTING, stays in CODING": JournalEntry(
        1.0, SYSTEM, journal.REFUSED, source="TESTING", target="CODING"
    ),
    "let go in CODING": JournalEntry(1.0, SYSTEM, journal.LET_GO, source="CODING"),
    "test failed and passed at one commit": JournalEntry(
        1.0, SYSTEM, journal.FLAKE, source="test", target="test_a"
    ),
    'phase 1, "", began': JournalEntry(
        1.0, journal.WORKFLOW, MOVE, target="1 active", detail={"number": 1}
    ),
    'phase 2, "", began': JournalEntry(
        1.0, journal.WORKFLOW, MOVE, source="2 pending", target="2 active", detail={"number": 2}
    ),
}  # fmt: skip


def test_each_kind_of_entry_has_its_words() -> None:
    """A begin says of what; a step between two stages, which said it before, does not."""
    assert [event_words(made) for made in EVENTS.values()] == [*EVENTS]
