"""Moves of a run between its phases; each demands what its condition is about, and no word replaces it."""

from __future__ import annotations

from lifecycle.run.gates.final_gate import without_waiver
from lifecycle.run.gates.gate_rules import HOLDS, design_lacks, failed_on_lint_alone, newest
from lifecycle.run.state import GateRecord, Run
from lifecycle.run.stories.clarifying import clarified_for
from lifecycle.run.table import PHASES, CheckState, Gate, RunPhase, RunStatus
from lifecycle.run.texts.design_blocks import listed
from lifecycle.run.texts.told import refused


def demand_active(run: Run) -> None:
    """Raise Refused unless the run goes on: a brake is undone by a person, and by no move."""
    if run.status is RunStatus.ACTIVE:
        return
    why = f" ({run.why})" if run.why else ""
    way = {
        RunStatus.AWAITING_USER: "It waits for a person: lifecycle run user-fix-complete",
        RunStatus.STOPPED: "A person lets it go on with: lifecycle run resume",
        RunStatus.COMPLETED: 'Begin another with: lifecycle run init "GOAL"',
    }[run.status]
    raise refused("run-not-active", run=run, why=why, way=way)


def moved_phase(run: Run, wanted: RunPhase, tree: str, now: float, *, asked: bool) -> Run:
    """The run in another phase; the same one where it is there already.

    Args:
        run: before it.
        wanted: where it is to go.
        tree: the tree as it is; "" if git does not say.
        now: the present.
        asked: somebody attends who can be asked what is not clarified.

    Raises:
        IllegalMove: no way leads there.
        Refused: the run does not go on, or what the move needs does not hold; it names that.
    """
    demand_active(run)
    if wanted is run.phase:
        return run
    PHASES.check(run.phase, wanted)
    run = clarified_for(run, wanted, now, asked=asked)
    lacks = _lacks(run, wanted, newest(run.gates, Gate.G7, tree))
    if lacks:
        raise refused("phase-stays", run=run, wanted=wanted, lacks=lacks)
    if wanted is RunPhase.DEVELOPMENT:
        run = without_waiver(run)
        if run.phase is RunPhase.PLANNING:
            run = with_design_gate(run, tree, now)
    return run.but(phase=wanted)


def with_design_gate(run: Run, tree: str, now: float, by: str = "") -> Run:
    """The run with G1 judged, and recorded."""
    state = CheckState.FAIL if design_lacks(run) else CheckState.PASS
    return run.but(gates=(*run.gates, GateRecord(Gate.G1, now, state, tree, by=by)))


def _lacks(run: Run, wanted: RunPhase, final: GateRecord | None) -> tuple[str, ...]:
    """What a legal move needs and does not find, each as a clause.

    Args:
        run: where it stands.
        wanted: where it is to go.
        final: the last run of G7 on the tree as it is.
    """
    no_final = "G7 has no record on the current tree (lifecycle run gate G7)"
    still_open = tuple(story.id for story in run.open_stories)
    every = (f"not completed: {listed(still_open)}",) if still_open else ()
    every = every if run.stories else ("there is no story (lifecycle run add-story)",)
    back = wanted is RunPhase.DEVELOPMENT and run.phase is not RunPhase.PLANNING
    if wanted is RunPhase.PLANNING and run.phase is RunPhase.ANALYSIS:
        return () if run.stories else every
    if wanted is RunPhase.DEVELOPMENT and not back:
        return design_lacks(run)
    if wanted is RunPhase.LINT_FIX:
        if final is None:
            return (*every, no_final)
        is_alone = failed_on_lint_alone(final)
        return (*every, *(() if is_alone else ("G7 did not fail on lint alone",)))
    if wanted is RunPhase.COMPLETION:
        needs_lint = run.phase is RunPhase.LINT_FIX and not run.lint_waived
        if needs_lint and (final is None or final.state not in HOLDS):
            return (*every, "lint neither passed nor was tried three times (lifecycle run gate G7)")
        return every
    if back and not still_open:
        if final is None:
            return ("no story is open, and " + no_final,)
        if final.state in HOLDS or failed_on_lint_alone(final):
            return ("no story is open, and build and tests pass",)
    return ()
