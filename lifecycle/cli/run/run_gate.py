"""`lifecycle run gate`: run what a gate demands, and record what it showed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from lifecycle.cli.command_session import demanded_root, json_option, option
from lifecycle.cli.terminal import json_text, passing
from lifecycle.core.errors import GitFailed, Refused, Transient
from lifecycle.core.redact import visible
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.git import tracked_files
from lifecycle.platforms import selection
from lifecycle.run.gates import final_gate, gate_records
from lifecycle.run.gates.gate_rules import HOLDS, design_lacks
from lifecycle.run.gates.gate_runs import GateRun
from lifecycle.run.gates.phase_moves import with_design_gate
from lifecycle.run.run_store import RunStore
from lifecycle.run.state import GateRecord, Story, data_of
from lifecycle.run.table import GATES, CheckState, Gate
from lifecycle.run.tdd import tdd_moves, test_proofs
from lifecycle.run.tdd.test_proofs import RunsSeen
from lifecycle.settings import config, running_client

_SECONDS = 10.0
"""How long git and other commands may take before and after the checks."""


@click.command("gate", short_help="Run a gate, and record what it shows.")
@click.argument(
    "gate", metavar="G1…G7", type=click.Choice([one.value for one in Gate], case_sensitive=False)
)
@click.argument("story", metavar="[STORY]", default="")
@option("--anew", "Run everything, also what passed on these very files.")
@json_option
def gate(*, gate: str, story: str, anew: bool, as_json: bool) -> int:
    """Run what a gate demands: of STORY, else of the story at work; G1 and G7 are the run's.

    G2 build, G3 test, G4 coverage against the story's threshold, G5 build and test, G7 build, test and
    lint, each through lifecycle check; G1 looks at the design, G6 at the security review. What passed on
    these very files is not run again.

    Exits with 0 if the gate passed, else with 1.
    """
    which = Gate(gate.upper())
    if story and (GATES[which].is_final or which is Gate.G1):
        raise click.UsageError(f"{which} is the run's, and no story's.")
    command = GateCommand(which, demanded_root(), is_anew=anew)
    record, lines, more = command.result(story)
    if as_json:
        click.echo(json_text({**data_of(record), **more}))
    else:
        for line in lines:
            click.echo(visible(line))
    return 0 if record.state in HOLDS else 1


class GateCommand:
    """One gate of the run in a worktree; git has its own time before the checks, and after them."""

    def __init__(self, gate: Gate, root: Path, *, is_anew: bool) -> None:
        self.gate, self.root, self.is_anew = gate, root, is_anew
        self.clock = SystemClock()
        self.session = running_client.session_of({}, os.environ)
        tracked_files.refuse(root, self._soon(), os.environ)

    def result(self, name: str) -> tuple[GateRecord, list[str], dict[str, Any]]:
        """The record, what is printed of it, and what `--json` shows beside it."""
        run = self._store().demanded()
        if run.is_over:
            raise Refused(f"The run {run.id} is completed, so no gate was run.")
        settings = config.load(self.root, os.environ)
        runner = GateRun(
            self.root,
            os.environ,
            self.clock,
            settings,
            session=self.session,
            out=passing(sys.stderr),
        )
        if self.gate is Gate.G1:
            return self._design(runner.tree())
        story = None if GATES[self.gate].is_final else gate_records.at_work(run, name)
        if story is not None and GATES[self.gate].by_hand:
            by = self.session or "terminal"
            record = gate_records.security_gate(story, runner.tree(), self.clock.now(), by)
        else:
            threshold = self._threshold(story)
            record = runner.record(self.gate, threshold, is_anew=self.is_anew)
        if runner.interrupted:
            raise KeyboardInterrupt
        error = "; ".join(filter(None, runner.errors.values()))
        return self._kept(story, record, error, runner.remarks)

    def _design(self, tree: str) -> tuple[GateRecord, list[str], dict[str, Any]]:
        now = self.clock.now()
        with self._store().changing() as change:
            change.run = run = with_design_gate(change.run, tree, now, self.session)
            record, lacks = run.gates[-1], design_lacks(run)
            change.note(f"Gate G1: {record.state}")
        lines = [f"Gate G1: {record.state}", *(f"- {clause}" for clause in lacks)]
        if lacks:
            lines.append(f"{GATES[Gate.G1].on_fail}.")
        return record, lines, {"lacks": lacks}

    def _threshold(self, story: Story | None) -> float | None:
        """Percent of coverage that a story of this size has to reach, as the platform says it."""
        platform = None
        if story is not None and self.gate is Gate.G4:
            platform = selection.detect(self.root, os.environ).selected
        if platform is None or story is None:
            return None
        by_size = platform.about.quality_gates.coverage
        return next((number for size, number in by_size.items() if size == story.size), None)

    def _kept(
        self, story: Story | None, record: GateRecord, error: str, remarks: list[str]
    ) -> tuple[GateRecord, list[str], dict[str, Any]]:
        name = story.id if story is not None else ""
        runs = RunsSeen() if story is None else self._tests(remarks)
        with self._store().changing() as change:
            run = gate_records.with_gate(change.run, name, record, error, self.clock.now())
            if story is not None:  # what was shown by now stays shown
                run = run.with_story(tdd_moves.remembered(run.story(name), runs))
            change.run = run
            about = f" for {name}" if name else ""
            told = change.news(f"Gate {record.gate}: {record.state}{about}")
            logged = run.blockers[len(change.before.blockers) :] if story is None else ()
            change.note(*(f"Blocker {one.id}: {one.description}" for one in logged))
        more: dict[str, Any] = {"remarks": remarks}
        if story is None:
            record = run.gates[-1]
            lines = [*_notes(remarks), *final_gate.final_lines(run, record), *told]
            return record, lines, more
        lines = [*gate_records.gate_lines(record, story), *_notes(remarks)]
        if record.gate is Gate.G6 and record.state is CheckState.PENDING:
            lines.append(
                f"No security review of these files: lifecycle run review {name} --by security …"
            )
        failures = [one.id for one in change.failures]
        return record, [*lines, *told], {**more, "story": name, "failures": failures}

    def _tests(self, remarks: list[str]) -> RunsSeen:
        """What is known of the tests; nothing, and a remark, where git cannot say."""
        try:
            return test_proofs.look(self.root, os.environ, self._soon())
        except (GitFailed, Transient) as error:
            remarks.append(error.sentence)
            return RunsSeen()

    def _store(self) -> RunStore:
        return RunStore(self.root, os.environ, self._soon())

    def _soon(self) -> Deadline:
        return Deadline.after(self.clock, _SECONDS)


def _notes(remarks: list[str]) -> list[str]:
    return [f"Note: {remark}" for remark in remarks]
