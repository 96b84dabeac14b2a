"""G7, the run's last gate, and the loop in which lint alone is mended: three attempts, then a note.

An attempt is a tree of the lint-fix phase, seen for the first time, on which lint fails though build and
tests hold. A fix that breaks them is to be reverted, and lint is left as it was.
"""

from __future__ import annotations

from lifecycle.core.markdown_table import table
from lifecycle.run.gates.gate_rules import failed_on_lint_alone, newest, state_of
from lifecycle.run.state import Blocker, GateRecord, Run
from lifecycle.run.table import BUILD, LINT, MAX_LINT_ATTEMPTS, TESTS, CheckState, Gate, RunPhase
from lifecycle.run.texts.design_blocks import filled
from lifecycle.run.texts.told import sentence

NOTE = "Lint issues remain - manual review needed"
"""What stands in the pull request where lint was waived."""

GIVEN_UP = f"Unable to fix lint issues after {MAX_LINT_ATTEMPTS} attempts"
BROKE = "A lint fix broke the build or the tests, and is reverted"


def with_final_gate(run: Run, record: GateRecord, now: float) -> Run:
    """The run with a run of G7: one more attempt counted, lint waived, as the loop has it."""
    is_new = bool(record.tree) and newest(run.gates, Gate.G7, record.tree) is None
    if run.phase is RunPhase.LINT_FIX and is_new and record.state is CheckState.FAIL:
        if failed_on_lint_alone(record):
            run = run.but(lint_attempts=(*run.lint_attempts, record.tree))
            if len(run.lint_attempts) >= MAX_LINT_ATTEMPTS:
                run = _waived(run, GIVEN_UP, now)
        elif CheckState.FAIL in (record.part(BUILD).state, record.part(TESTS).state):
            run = _waived(run, BROKE, now)
    judged = record.but(state=state_of(record.parts, run.lint_waived))
    return run.but(gates=(*run.gates, judged))


def _waived(run: Run, why: str, now: float) -> Run:
    """The run in which lint is no obstacle; the blocker is logged, and stands in nobody's way."""
    if run.lint_waived:
        return run
    id_ = f"B{len(run.blockers) + 1}"
    blocker = Blocker(id_, why, "low", now, resolved_at=now, notes=NOTE)
    return run.but(lint_waived=NOTE, blockers=(*run.blockers, blocker))


def without_waiver(run: Run) -> Run:
    """The run whose code is worked on again: lint counts anew."""
    return run.but(lint_attempts=(), lint_waived="")


def final_lines(run: Run, record: GateRecord) -> list[str]:
    """The design's table of G7, and what follows from it."""
    rows = []
    for name, title in ((BUILD, "Build"), (TESTS, "Tests"), (LINT, "Lint")):
        part = record.part(name)
        counted = f" ({part.tests} tests)" if name == TESTS and part.tests >= 0 else ""
        command = f"`{part.command}`" if part.command else "-"
        rows.append((title, command, f"{part.state}{counted}"))
    result = ["Verification failed. Returning to Phase 2 to fix issues.", _advice(run, record)]
    if record.state is CheckState.PASS:
        waived = [f"{NOTE}."] if record.part(LINT).state is CheckState.FAIL else []
        result = [*waived, "All verification checks passed. Proceeding with PR creation."]
    return filled("final", rows=table(("Check", "Command", "Result"), rows), result=result)


def _advice(run: Run, record: GateRecord) -> str:
    """What to do after G7 failed."""
    is_alone = failed_on_lint_alone(record)
    if run.phase is not RunPhase.LINT_FIX:
        return sentence("only-lint-fails" if is_alone else "fix-in-phase-2")
    if not is_alone:
        return sentence("revert-the-lint-fix", note=NOTE)
    return sentence("lint-fix-attempt", done=len(run.lint_attempts), most=MAX_LINT_ATTEMPTS)
