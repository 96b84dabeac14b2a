"""Run the checks of a gate, through the engine of `lifecycle check`, and report the results."""

from __future__ import annotations

import re

from lifecycle.core.errors import GitFailed, Transient
from lifecycle.core.timing import Deadline, render_time
from lifecycle.core.world import World
from lifecycle.evidence.checks.check_engine import TREE_SECONDS, CheckRun
from lifecycle.evidence.checks.check_process import Take
from lifecycle.evidence.checks.known_checks import KnownCheck, demanded, known_check
from lifecycle.evidence.outcomes import Outcome
from lifecycle.evidence.records import EvidenceRoom, RunRecord
from lifecycle.git.process import GitRepository
from lifecycle.run.gates.gate_rules import HOLDS, part_of, state_of
from lifecycle.run.gates.work_facts import tree_of
from lifecycle.run.state import GatePart, GateRecord
from lifecycle.run.table import GATES, CheckState, Gate
from lifecycle.run.texts.told import sentence

_ENDED = (Outcome.PASSED, Outcome.FAILED)
_TELLING = (
    r"(?i)(?:error|exception)\b.*:|refused|denied|not found|panic|timed out",
    r"(?i)error|fail|exception",
    "",
)
"""Patterns of lines that say what failed, the best first; the last matching line of an output counts."""
_LONGEST = 400


class GateRun:
    """One run of a gate in a worktree.

    Attributes:
        remarks: sentences to print about the run.
        errors: by check, what failed, in one line.
        interrupted: Ctrl-C or another signal ended it, so it has no result.
    """

    def __init__(self, world: World, *, session: str, out: Take) -> None:
        """Begin one for a client's session ("" for a person); `out` takes what the commands print."""
        self.world, self.session, self.out = world, session, out
        self.room = EvidenceRoom(world.root)
        self.remarks: list[str] = []
        self.errors: dict[str, str] = {}
        self.interrupted = False

    def record(self, gate: Gate, threshold: float | None, *, is_anew: bool) -> GateRecord:
        """Run the gate's checks; a check that passed on this very tree is not run again.

        A story's gate ends with the first check that fails; the last gate runs all of them.

        Args:
            gate: a gate that runs checks.
            threshold: percent that coverage has to reach; None for no threshold.
            is_anew: run everything, whatever passed before.

        Raises:
            Refused: a required check is missing, a check cannot be run, or nobody has allowed it;
                nothing was run.
            BadConfig: the user's list of what may run cannot be read.
        """
        row, parts = GATES[gate], list[GatePart]()
        checks = {name: self._check(name, is_needed=name in row.required) for name in row.checks}
        tree = self.tree()
        for name, check in checks.items():
            if self.interrupted or not (all(part.state in HOLDS for part in parts) or row.is_final):
                parts.append(GatePart(name, why="not run, since the one before did not pass"))
            elif check is None:
                why = "the platform has no such command"
                parts.append(GatePart(name, CheckState.NOT_APPLICABLE, why=why))
            else:
                own = [run for run in self.room.records() if run.name == name]
                run = None if is_anew else self._passed(check, own, tree)
                run = run or self._run(check)
                parts.append(part_of(run, tree, threshold, own))
                self.errors[name] = short_error(run, parts[-1])
        now = self.world.clock.now()
        return GateRecord(gate, now, state_of(parts), tree, tuple(parts), by=self.session)

    def tree(self) -> str:
        """The current tree; "", and a remark, if git cannot say."""
        deadline = Deadline.after(self.world.clock, TREE_SECONDS)
        try:
            return tree_of(GitRepository(self.world.root, deadline, self.world.environment))
        except (GitFailed, Transient) as error:
            self.remarks.append(error.sentence)
            return ""

    def _check(self, name: str, *, is_needed: bool) -> KnownCheck | None:
        """The check of this name, which can be run; None if the project has none and needs none."""
        project = (self.world.root, self.world.settings, self.world.environment)
        if not is_needed and known_check(name, *project) is None:
            return None
        return demanded(name, *project)

    def _passed(self, check: KnownCheck, own: list[RunRecord], tree: str) -> RunRecord | None:
        """The last of its runs on this tree, if it passed with the very same commands; else None."""
        here = (run for run in reversed(own) if run.tree == tree != "" and run.outcome in _ENDED)
        last = next(here, None)
        if last is None or last.outcome is not Outcome.PASSED or last.commands != check.commands:
            return None
        took, at = last.at - last.started, render_time(last.at)
        self.remarks.append(sentence("not-run-again", check=check, at=at, took=took))
        return last

    def _run(self, check: KnownCheck) -> RunRecord:
        place = (self.world.root, self.world.environment, self.world.clock, self.world.settings)
        run = CheckRun(*place, check, self.out, self.out, self.session).result()
        self.interrupted = run.signal != 0
        self.remarks += run.remarks
        return run.record


def short_error(run: RunRecord, part: GatePart) -> str:
    """What failed, in one line: the failed tests, or the last line that says it; "" if nothing failed."""
    if part.state is not CheckState.FAIL:
        return ""
    lines = [line.strip() for line in run.tail.splitlines() if line.strip()]
    telling = (line for words in _TELLING for line in reversed(lines) if re.search(words, line))
    parts = (f"{run.name} failed", part.why, ", ".join(run.failures[:3]), next(telling, ""))
    return ": ".join(filter(None, parts))[:_LONGEST]
