"""What was run in this worktree, on which tree, with which result: one record per run, and their evidence.

They are kept in `.lifecycle/evidence/records.json`, the newest last. A run counts for the tree that it ran
on, whoever started it: sessions that work on the same files share it. Most are runs of `lifecycle check`;
of commands that the agent ran by itself only the command line, the outcome and the tree are known.

The file also lists what checks left in the worktree that git neither tracks nor ignores (`coverage.xml`),
each file with its content's name: as long as it is unchanged, it is not part of a tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from lifecycle.core.light_dataclass import asdict, dataclass, fields, from_json, object_in, replace
from lifecycle.core.redact import redact, short, swept
from lifecycle.evidence.outcomes import Counts, Outcome, Reading
from lifecycle.storage import journal
from lifecycle.storage.store import Folder, as_json
from lifecycle.storage.workflow_files import LOCK_SECONDS

FOLDER, RECORDS, LOCK, VERSION = "evidence", "records.json", "evidence.lock", 1

KEPT, OUTPUTS = 40, 2_000
"""How many runs are remembered, and how many files that checks wrote."""

TEST = "test"
"""The kind of the runs that the staged workflow asks for."""

COVERAGE = "coverage"
KINDS = (TEST, "build", "lint", COVERAGE)
"""What a check may show; the check of the same name shows it."""

_SHOWN = 200
_SILENT = (Outcome.UNKNOWN, Outcome.NOTHING_RAN, Outcome.PARTIAL)


class Evidence(StrEnum):
    """What the runs of a kind show about the present tree."""

    NOT_NEEDED = "not_needed"
    GREEN = "green"
    """The last run on exactly this tree passed."""
    MISSING = "missing"
    """No run is known."""
    RED = "red"
    """The last run failed, and none that passed on this tree came after it."""
    CHANGED = "changed"
    """The last run that passed was on another tree: files have changed since."""
    UNKNOWN = "unknown"
    """The last run is known, but not how it ended."""
    NOTHING = "nothing"
    """The last run ran no test."""
    PARTIAL = "partial"
    """The last run was of a part."""
    OTHER = "other"
    """At least one of the project's own commands was never run."""
    SPOILED = "spoiled"
    """The last run passed, but files changed while it ran."""
    UNREADABLE = "unreadable"
    """The name of the present tree cannot be determined."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run of a command.

    Attributes:
        at: when it ended, in seconds since the epoch.
        command: the command line, shortened, without secrets.
        outcome: how it ended.
        tree: the name of the tree that it is evidence for; "" if unknown, or if files changed meanwhile.
        id: the client's id of the tool call; a second copy of one event is not a second run.
        kind: what it shows: "test", "build", "lint", "coverage", or the check's own name.
        name: the check that was run; "" for a run of the agent's own.
        why: one clause for people if the outcome alone does not explain it.
        commands: the commands that were run, word by word, in order.
        folder: the folder that it ran in, as an absolute path.
        status: the exit status; None if unknown.
        started: when it began, in seconds since the epoch.
        tree_before, tree_after: the tree then, as `git write-tree` names it; "" if unknown.
        changed: files that changed while it ran and are not outputs of a check.
        made: outputs that it created or rewrote, and that git neither tracks nor ignores.
        counts: the numbers that the runner reported.
        failures: identities of the failed tests, in the runner's words.
        asserted: the failures that were failed assertions, not errors or problems before the test began;
            None if that is unknown.
        passed: identities of tests that passed here and failed in a run that is remembered, if a report
            names them.
        percent: the coverage that was read; None if there was none.
        files: for the failed tests, the path of each file and the name of its content in git.
        log: the path of the whole output below the worktree; "" if none was kept.
        tail: the end of the output, without secrets.
        session: the client's session that ran it; "" for a person, or if unknown.
        suites: the project's own test commands that were run, spelled as in `stages.test`.
        line: the whole command line of a run in the background, which is read again at its end; else "".
    """

    at: float
    command: str
    outcome: Outcome
    tree: str
    id: str = ""
    kind: str = TEST
    name: str = ""
    why: str = ""
    commands: tuple[tuple[str, ...], ...] = ()
    folder: str = ""
    status: int | None = None
    started: float = 0.0
    tree_before: str = ""
    tree_after: str = ""
    changed: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    counts: Counts | None = None
    failures: tuple[str, ...] = ()
    asserted: tuple[str, ...] | None = None
    passed: tuple[str, ...] = ()
    percent: float | None = None
    files: tuple[tuple[str, str], ...] = ()
    log: str = ""
    tail: str = ""
    session: str = ""
    suites: tuple[str, ...] = ()
    line: str = ""

    @property
    def data(self) -> dict[str, Any]:
        """The record as JSON values, without default values."""
        values = asdict(self)
        defaults = {field.name: field.default for field in fields(self)}
        return {name: value for name, value in values.items() if value != defaults[name]}


def record_of(reading: Reading, run: RunRecord) -> RunRecord:
    """The record of a run with its reading: the outcome, the counts, which tests failed and how."""
    names = ("outcome", "counts", "failures", "asserted")
    return replace(run, **{name: getattr(reading, name) for name in names})


def last_at(records: tuple[RunRecord, ...]) -> float:
    """When the last of these runs, oldest first, ended; 0.0 if there is none."""
    return records[-1].at if records else 0.0


def standing(
    records: tuple[RunRecord, ...], tree: str, kind: str = TEST, suites: tuple[str, ...] = ()
) -> Evidence:
    """What the runs of a kind, oldest first, show about this tree; only a pass on it is evidence.

    Args:
        records: all runs.
        tree: the name of the present files' tree.
        kind: the kind of runs.
        suites: the project's own commands: if there are several, each must have passed.
    """
    runs = [run for run in records if run.kind == kind]
    if len(suites) < 2:
        return _standing(runs, tree)
    of_each = [_standing([run for run in runs if _is_of(run, suite)], tree) for suite in suites]
    lacking = [state for state in of_each if state is not Evidence.GREEN]
    first = Evidence.RED if Evidence.RED in lacking else next(iter(lacking), Evidence.GREEN)
    return Evidence.OTHER if first is Evidence.MISSING and runs else first


def _is_of(run: RunRecord, suite: str) -> bool:
    """True if a run counts for this suite out of several; a red run of no suite may count for each."""
    return suite in run.suites or not (run.suites or run.outcome is Outcome.PASSED)


def _standing(runs: list[RunRecord], tree: str) -> Evidence:
    ended = [run for run in runs if run.outcome not in _SILENT]
    on_tree = [run for run in ended if run.tree == tree and tree]
    if on_tree and on_tree[-1].outcome is Outcome.PASSED:
        return Evidence.GREEN
    if not runs:
        return Evidence.MISSING
    if runs[-1].outcome in _SILENT:
        return Evidence(runs[-1].outcome.removesuffix("_ran"))
    if ended[-1].outcome is not Outcome.PASSED:
        return Evidence.RED
    return Evidence.SPOILED if ended[-1].changed else Evidence.CHANGED


class EvidenceRoom:
    """The evidence files of one worktree."""

    def __init__(self, root: Path) -> None:
        self.folder = Folder(root, FOLDER)
        self._outer = Folder(root)

    def records(self) -> tuple[RunRecord, ...]:
        """The remembered runs; none if the file does not exist or is invalid."""
        # A record that cannot be read is learned again with the next run.
        listed = self._load().get("records", [])
        return from_json(tuple[RunRecord, ...], listed, is_whole=False) or ()

    @property
    def has_tests(self) -> bool:
        """True if a run of tests, or of a part of them, is remembered."""
        return any(run.kind == TEST for run in self.records())

    def outputs(self) -> dict[str, str]:
        """The files that checks left in the worktree: the path of each, and its content's name in git."""
        listed = self._load().get("outputs")
        return {**listed} if isinstance(listed, dict) else {}

    def add(self, run: RunRecord, outputs: Mapping[str, str] | None = None) -> bool:
        """Remember a run, and the files that it left; False if it was known already. Raises LockBusy.

        Secrets are removed from all of its fields.
        """
        with self._outer.locked(LOCK_SECONDS, LOCK):
            self.folder.make()
            runs = self.records()
            if run.id and any(run.id == record.id for record in runs):
                return False
            added = replace(run, command=shown(run.command))
            all_records = swept([record.data for record in (*runs, added)[-KEPT:]], [])
            all_outputs = {**self.outputs(), **(outputs or {})}
            kept = dict([*all_outputs.items()][-OUTPUTS:])
            data = {"version": VERSION, "records": all_records, "outputs": kept}
            self.folder.write(RECORDS, as_json(data))
        return True

    def _load(self) -> dict[str, Any]:
        """The file's JSON; empty if it does not exist, or is not of our form: it is learned again."""
        return object_in(self.folder.read(RECORDS).content, VERSION)


def note(root: Path, run: RunRecord, key: str, *, task: str = "", actor: str = "") -> None:
    """Write a finished run into the journal.

    Args:
        root: the worktree's top folder.
        run: the run.
        key: its unique key in the journal; "" for none.
        task: the session's task, as the journal spells it.
        actor: the name under which it ran.
    """
    colour = {Outcome.PASSED: journal.GREEN, Outcome.FAILED: journal.RED}.get(run.outcome)
    detail = {"outcome": colour or journal.UNKNOWN, "command": run.command, "tree": run.tree}
    detail |= {"check": run.name} if run.name else {}
    source = "TESTING" if run.kind == TEST else ""
    about = (run.at, journal.STAGES, journal.CHECK, task, actor, run.session, source)
    journal.note(root, journal.JournalEntry(*about, key=key, detail=detail))


def shown(command: str) -> str:
    """A command line in the form that is kept and shown: one line, shortened, without secrets."""
    return short(redact(" ".join(command.split())), _SHOWN)
