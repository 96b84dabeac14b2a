"""`lifecycle run tdd-phase`, `tdd-validate`, `tdd-status` and `tdd waive`: red, green, refactor, verify."""

from __future__ import annotations

import json
from typing import Any

from lifecycle.cli.run.run_session import RunSession
from lifecycle.run.table import WORK, TddPhase
from lifecycle.run.tdd import tdd_moves, test_proofs
from lifecycle.run.tdd.tdd_moves import TddViolation

_NEXT = {
    TddPhase.RED: "Write the test, and let it fail by its assertion: lifecycle check test",
    TddPhase.GREEN: "Make it pass with the least code, and show it: lifecycle check test",
    TddPhase.REFACTOR: "Clean up, and show that the tests still pass: lifecycle check test",
    TddPhase.VERIFY: "Run the gates: lifecycle run gate G5",
}


def tdd_phase(given: RunSession, *, story: str, phase: TddPhase) -> int:
    """Move a story to a phase of its cycle; what the phase demands is shown by runs, and never by words.

    green needs a run since the story began in which a named test failed by its assertion; refactor and
    verify need that test to pass on the files as they are. Exits with 1 if that is not so.
    """
    runs = test_proofs.look(*given.place)
    try:
        with given.store.changing() as change:
            change.run = run = tdd_moves.moved_phase(change.run, story, phase, runs, given.now)
            one = run.story(story)
            change.note(f"{one.id} TDD: {phase}")
    except TddViolation as refused:
        steps = {"current": refused.current, "expected": refused.expected, "why": refused.why}
        given.show(refused.lines, {"valid": False, **steps, "violation": refused.sentence})
        return 1
    lines = [f"{one.id} TDD phase: {phase} ({WORK[phase]})"]
    if one.red is not None or one.waived:
        lines += test_proofs.proof_lines(one)
    given.show([*lines, _NEXT[phase]], test_proofs.cycle_data(one))
    return 0


def tdd_validate(given: RunSession, *, story: str, phase: TddPhase) -> None:
    """Whether a story may go to a phase: {"valid": true}, or {"valid": false, "expected": "red"}."""
    one = given.store.demanded().story(story)
    violation = tdd_moves.expected_of(one, phase, test_proofs.look(*given.place))
    answer: dict[str, Any] = {"valid": violation is None}
    if violation is not None:
        answer["expected"] = violation.expected
    line = json.dumps(answer)
    if violation is not None and violation.why:
        answer["why"] = violation.why
    given.show([line], answer)


def tdd_status(given: RunSession, *, story: str) -> None:
    """The phase of a story's cycle, as "green"; with --json also what was shown."""
    one = given.store.demanded().story(story)
    given.show([json.dumps(one.tdd)], test_proofs.cycle_data(one))


def tdd(given: RunSession, *, action: str, story: str, reason: str) -> None:
    """Leave red and green out of a story: documents, configuration, pure refactoring.

    The reason is recorded, and stands in the pull request. The other gates stay. A story that changes
    code is waived before it does, where lifecycle check test passed on the files as they were.
    """
    del action  # there is one
    base = given.store.demanded().story(story).base
    runs, facts = test_proofs.look(*given.place), given.facts_since(base)
    changed = facts.changed if base else facts.uncommitted
    with given.store.changing() as change:
        change.run = run = tdd_moves.waived(change.run, story, reason, runs, changed)
        one = run.story(story)
        done = f"{one.id} TDD waived: {one.waived}"
        change.note(done)
    given.show([done], test_proofs.cycle_data(one))
