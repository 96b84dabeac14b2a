"""`lifecycle run gate`: run what a gate demands, and record what it showed."""

from __future__ import annotations

import sys
from typing import Any

import click

from lifecycle.cli.run.run_session import RunSession
from lifecycle.cli.terminal import passing
from lifecycle.core.errors import GitFailed, Transient
from lifecycle.platforms import selection
from lifecycle.run import tdd_moves
from lifecycle.run.gates import gate_records
from lifecycle.run.gates.gate_rules import HOLDS, design_lacks
from lifecycle.run.gates.gate_runs import GateRun
from lifecycle.run.gates.run_moves import with_design_gate
from lifecycle.run.state import GateRecord, Story, data_of
from lifecycle.run.table import GATES, CheckState, Gate
from lifecycle.run.tdd_moves import RunsSeen
from lifecycle.run.texts.told import refused

GateShown = tuple[GateRecord, list[str], dict[str, Any]]
"""A gate's record, what is printed of it, and what `--json` shows beside it."""


def gate(given: RunSession, *, gate: Gate, story: str, anew: bool) -> int:
    """Run what a gate demands: of STORY, else of the story at work; G1 and G7 are the run's.

    G2 build, G3 test, G4 coverage against the story's threshold, G5 build and test, G7 build, test and
    lint, each through lifecycle check; G1 looks at the design, G6 at the security review. What passed on
    these very files is not run again.

    Exits with 0 if the gate passed, else with 1.
    """
    if story and (GATES[gate].is_final or gate is Gate.G1):
        raise click.UsageError(f"{gate} is the run's, and no story's.")
    record, lines, more = shown(given, gate, story, is_anew=anew)
    given.show(lines, {**data_of(record), **more})
    return 0 if record.state in HOLDS else 1


def shown(given: RunSession, gate: Gate, name: str = "", *, is_anew: bool = False) -> GateShown:
    """Run a gate, of the story of this name or of the one at work, and keep what it showed.

    The time of its commands is not counted: each has a limit of its own.
    """
    run = given.store.demanded()
    if run.is_over:
        raise refused("run-over-no-gate", run=run)
    runner = GateRun(given.world, session=given.client_session, out=passing(sys.stderr))
    if gate is Gate.G1:
        return _design(given, runner.tree())
    story = None if GATES[gate].is_final else gate_records.at_work(run, name)
    if story is not None and GATES[gate].by_hand:
        record = gate_records.security_gate(story, runner.tree(), given.now, given.who)
    else:
        threshold = _threshold(given, story) if gate is Gate.G4 else None
        with given.world.deadline.standing_still():
            record = runner.record(gate, threshold, is_anew=is_anew)
    if runner.interrupted:
        raise KeyboardInterrupt
    error = "; ".join(filter(None, runner.errors.values()))
    if story is None:
        return _final(given, record, error, runner.remarks)
    return _of_story(given, story, record, error, runner.remarks)


def _design(given: RunSession, tree: str) -> GateShown:
    with given.store.changing() as change:
        change.run = run = with_design_gate(change.run, tree, given.now, given.client_session)
        record, lacks = run.gates[-1], design_lacks(run)
        head = f"Gate G1: {record.state}"
        change.note(head)
    last = [f"{GATES[Gate.G1].on_fail}."] if lacks else []
    return record, [head, *(f"- {clause}" for clause in lacks), *last], {"lacks": lacks}


def _threshold(given: RunSession, story: Story | None) -> float | None:
    """Percent of coverage that a story of this size has to reach, as the platform says it."""
    platform = selection.detect(given.root, given.world.environment).selected
    if platform is None or story is None:
        return None
    by_size = platform.about.quality_gates.coverage
    return next((number for size, number in by_size.items() if size == story.size), None)


def _final(given: RunSession, record: GateRecord, error: str, remarks: list[str]) -> GateShown:
    with given.store.changing() as change:
        change.run = run = gate_records.with_gate(change.run, "", record, error, given.now)
        told = change.news(f"Gate {record.gate}: {record.state}")
        logged = run.blockers[len(change.before.blockers) :]
        change.note(*(f"Blocker {one.id}: {one.description}" for one in logged))
    record = run.gates[-1]
    lines = [*_notes(remarks), *gate_records.final_lines(run, record), *told]
    return record, lines, {"remarks": remarks}


def _of_story(
    given: RunSession, story: Story, record: GateRecord, error: str, remarks: list[str]
) -> GateShown:
    runs = _tests(given, remarks)
    with given.store.changing() as change:
        run = gate_records.with_gate(change.run, story.id, record, error, given.now)
        # What was shown by now stays shown.
        change.run = run.with_story(tdd_moves.remembered(run.story(story.id), runs))
        told = change.news(f"Gate {record.gate}: {record.state} for {story.id}")
        failures = [one.id for one in change.failures]
    lines = [*gate_records.gate_lines(record, story), *_notes(remarks)]
    if record.gate is Gate.G6 and record.state is CheckState.PENDING:
        way = f"lifecycle run review {story.id} --by security …"
        lines.append(f"No security review of these files: {way}")
    more = {"remarks": remarks, "story": story.id, "failures": failures}
    return record, [*lines, *told], more


def _tests(given: RunSession, remarks: list[str]) -> RunsSeen:
    """What is known of the tests; nothing, and a remark, where git cannot say."""
    try:
        return tdd_moves.look(given.git)
    except (GitFailed, Transient) as error:
        remarks.append(error.sentence)
        return RunsSeen()


def _notes(remarks: list[str]) -> list[str]:
    return [f"Note: {remark}" for remark in remarks]
