"""Run a check: its commands in order, the tree before and after, the counts, the record.

A run that changed files proves nothing about them. Files that it wrote and that git neither tracks nor
ignores are listed, and are not part of the tree as long as they are unchanged.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from lifecycle.core.errors import GitFailed, LockBusy, Refused, Transient
from lifecycle.core.timing import Deadline
from lifecycle.evidence import file_kinds, records, tree_hash
from lifecycle.evidence.checks import check_log, check_process, run_findings
from lifecycle.evidence.checks.known_checks import KnownCheck, sentence
from lifecycle.evidence.outcomes import Outcome, Reading
from lifecycle.evidence.records import EvidenceRoom, RunRecord
from lifecycle.evidence.runners import runner_table
from lifecycle.git.process import GitRepository
from lifecycle.git.tree_objects import UNSEEN, TreeSeen, tracked_in
from lifecycle.settings.config import for_child
from lifecycle.storage import log

if TYPE_CHECKING:
    from lifecycle.core.ports import Clock
    from lifecycle.core.values.configured import Settings
    from lifecycle.evidence.command_lines import Words

RUNNING = "LIFECYCLE_CHECK"
"""The variable in a check's commands that names the checks that they are part of."""

TREE_SECONDS = 60.0
"""How long git may take to read the files, before a run and after it."""

BEHIND = ("lifecycle.evidence.checks.check_reading", "lifecycle.storage.journal_file")
"""Modules that each check needs after its commands: imported while git works."""

_Seen = TypeVar("_Seen")


@dataclass(frozen=True, slots=True)
class CheckDone:
    """A check that was run.

    Attributes:
        record: the run's record.
        remarks: sentences about it, for people.
        signal: the signal that ended it early; 0 for none.
    """

    record: RunRecord
    remarks: tuple[str, ...]
    signal: int


@dataclass(frozen=True)
class CheckRun:
    """One run of a check in a worktree.

    Attributes:
        root: the worktree's top folder.
        environment: the environment variables.
        clock: the clock.
        settings: the project's settings.
        check: the check to run.
        out, err: receive its output as it comes.
        session: the client's session that asks; "" for a person.
        extra: further words for its only command: then it is a run of a part.
        seconds: how long it may take in total; 0 for the time in the settings.
        child: the name of its commands in the user's file about who may see tokens.
        remarks: the remarks so far.
    """

    root: Path
    environment: Mapping[str, str]
    clock: Clock
    settings: Settings
    check: KnownCheck
    out: check_process.Take
    err: check_process.Take
    session: str = ""
    extra: tuple[str, ...] = ()
    seconds: float = 0.0
    child: str = "check"
    remarks: list[str] = field(init=False, default_factory=list)

    def result(self) -> CheckDone:
        """Run the check, and remember its result.

        Raises:
            Refused: it would run itself, or words were given but it has several commands.
            BadConfig: a row of the project's runners cannot be used.
        """
        name, commands = self.check.name, self.check.commands
        rows = runner_table.rows(self.settings.evidence_runners)
        if self.extra:
            if len(commands) != 1:
                raise Refused(sentence("one-command", name=name, count=len(commands)))
            commands = ((*commands[0], *self.extra),)
        if name in self.environment.get(RUNNING, "").split(","):
            raise Refused(sentence("endless", name=name))
        room = EvidenceRoom(self.root)
        earlier = room.records()
        outputs = room.outputs()
        before = self._tree(outputs)
        started, begun = self.clock.now(), self.clock.monotonic()
        output, end, reads = self._run(commands, rows)
        seconds = self.clock.monotonic() - begun
        from concurrent.futures import ThreadPoolExecutor

        # The output and reports are read while git looks at the files: neither changes any.
        readings = ThreadPoolExecutor(1).submit(lambda: [read() for read in reads])
        after = TreeSeen() if end.signal else self._tree(outputs, before)
        record = RunRecord(
            at=started + seconds,
            command=" && ".join(replace(self.check, commands=commands).lines),
            outcome=Outcome.UNKNOWN,
            tree="",
            kind=name,
            name=name,
            commands=commands,
            folder=str(self.root),
            status=end.status,
            started=started,
            tree_before=before.full,
            session=self.session,
            suites=self._suites(commands, rows),
        )
        red = {name for run in earlier for name in run.failures}
        from lifecycle.evidence.checks.check_reading import picking

        part = self.extra and "more arguments were given"
        part = part or picking(name, commands[-1], self.environment, rows)
        record = run_findings.judged(record, readings.result(), red, part=part)
        record, files_left = self._on_tree(record, before, after)
        self.remarks.extend(run_findings.odd_beside(record, earlier, seconds))
        record = self._kept(record, output.text, files_left)
        return CheckDone(record, tuple(self.remarks), end.signal)

    def _suites(self, commands: tuple[Words, ...], rows: runner_table.Rows) -> Words:
        """Those of several `stages.test` commands that these are; all, if the check `test` has its own."""
        tests = self.settings.stages.test
        if self.check.name != records.TEST or len(tests) < 2:
            return ()
        from lifecycle.evidence import suite_runs

        runs = (suite_runs.run_in(shlex.join(words), tests, rows) for words in commands)
        return tuple(suite for run in runs if run is not None for suite in run.suites) or tests

    def _run(
        self, commands: tuple[Words, ...], rows: runner_table.Rows
    ) -> tuple[check_log.CheckOutput, check_process.ProcessEnd, list[Callable[[], Reading]]]:
        """Run the commands until one does not end with 0; at least one is run.

        Returns the output, how the last command ended, and functions that read the commands' results.
        """
        name = self.check.name
        running = ",".join(filter(None, (self.environment.get(RUNNING, ""), name)))
        environment = {**for_child(self.child, self.environment), RUNNING: running}
        seconds = self.seconds or self.settings.check_seconds
        until = monotonic() + seconds  # a laptop's sleep takes nothing from the commands
        printed, first_began = check_log.CheckOutput(), self.clock.now()
        reads: list[Callable[[], Reading]] = []
        for words, configured in zip(commands, self.check.commands, strict=True):
            part, began = check_log.CheckOutput(), self.clock.now()
            takes = {"out": _teed(self.out, printed, part), "err": _teed(self.err, printed, part)}
            end = check_process.run(words, self.root, environment, until - monotonic(), **takes)
            from lifecycle.evidence.checks import check_reading

            if end.error or end.signal or end.is_late:
                reads.append(partial(run_findings.cut_short, end, seconds))
            else:
                ended = check_reading.CommandEnd(words, configured, end.status, part, began)
                reads.append(partial(check_reading.read, name, ended, self.root, rows))
            if end.left:
                self.remarks.append(f"`{words[0]}` left processes running; they were ended too.")
            if end.status != 0 or end.signal:
                break
        else:
            if name == records.COVERAGE:
                place = printed.text, part.text, self.root, first_began
                reads.append(partial(check_reading.coverage, self.check.coverage, *place))
        return printed, end, reads

    def _tree(self, outputs: Mapping[str, str], before: TreeSeen = UNSEEN) -> TreeSeen:
        """The present tree; one without a name, and a remark, if git cannot answer."""
        return self._of_git(partial(tree_hash.seen, outputs=outputs, before=before)) or TreeSeen()

    def _of_git(self, look: Callable[..., _Seen]) -> _Seen | None:
        """The answer of git; None, and a remark, if there is none."""
        try:
            until = Deadline.after(self.clock, TREE_SECONDS)
            return look(GitRepository(self.root, until, self.environment))
        except (GitFailed, Transient) as error:
            if error.sentence not in self.remarks:
                self.remarks.append(error.sentence)
            return None

    def _on_tree(
        self, record: RunRecord, before: TreeSeen, after: TreeSeen
    ) -> tuple[RunRecord, dict[str, str]]:
        """The record with the tree that it is evidence for, and the files that the run left beside it."""
        record = replace(record, tree_after=after.full)
        tests = record.asserted or record.failures
        if tests:
            sources = file_kinds.of_tests(self.root, tests, before.files)
            record = replace(record, files=tuple(sources.items()))
        if not (before.name and after.name):
            return record, {}
        whole = replace(record, tree=before.name)
        if before.name == after.name:
            return whole, {}
        differing = run_findings.differing(before.files, after.files)
        tracked = self._of_git(partial(tracked_in, paths=differing))
        if tracked is None:
            return record, {}
        files = run_findings.written(whole, before.files, differing, tracked)
        self.remarks.extend(run_findings.on_files(files, tracked))
        return files, {path: after.files[path].partition(" ")[2] for path in files.made}

    def _kept(self, record: RunRecord, text: str, files_left: Mapping[str, str]) -> RunRecord:
        """The record with its log, after it was saved here and in the journal."""
        record = replace(record, tail=check_log.tail(text))
        try:
            path = check_log.keep(self.root, record.name, record.started, text) if text else ""
            record = replace(record, log=path, id=f"check:{record.name}:{record.started:.3f}")
            EvidenceRoom(self.root).add(record, files_left)
        except (OSError, LockBusy) as error:
            sentence = getattr(error, "sentence", "") or getattr(error, "strerror", "") or error
            self.remarks.append(f"It was not recorded, so it is no evidence: {sentence}")
            log.write(self.root, f"check: {sentence}")
            return replace(record, tree="")
        records.note(self.root, record, record.id)
        return record


def _teed(take: check_process.Take, *outputs: check_log.CheckOutput) -> check_process.Take:
    """A function that keeps a part of the output in each of these, and passes it on to `take`."""

    def taking(part: bytes) -> None:
        for output in outputs:
            output.add(part)
        take(part)

    return taking
