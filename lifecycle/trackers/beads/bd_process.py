"""bd, run as a process, and the parts of its verbs: its version, reads, and writes verified if unclear.

A run is a list of words, with a time limit, a process group of its own, and bounded output. No questions
can be asked: stdin is the null device. If bd or a process that it started hangs, all are ended as a group.
A child that outlives bd and holds its pipes open is not waited for. One run at a time: two at once in one
workspace wait for each other inside bd, in some builds for ever.

The version is asked once, and kept in `<git folder>/lifecycle/beads.json` for this very file.

Sources: https://github.com/steveyegge/beads: `bd --help` and docs/CONFIG.md on variables and flags,
CHANGELOG.md on which version has what.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from lifecycle.core import errors
from lifecycle.core.light_dataclass import dataclass, field, object_in, replace
from lifecycle.core.redact import short
from lifecycle.core.timing import Deadline, ran
from lifecycle.core.tracker import Note, Task
from lifecycle.settings.config import for_child
from lifecycle.storage import log, regular_files, store
from lifecycle.trackers.beads import bd_decode, bd_here
from lifecycle.trackers.refusals import sentence

Value = TypeVar("Value")

HOOK_READ_SECONDS, READ_SECONDS, WRITE_SECONDS, PUBLISH_SECONDS = 3.0, 10.0, 15.0, 60.0
MOST_BYTES = 32 * 1024 * 1024
MOST_WORD = 120_000
"""Bytes of one word of a command line: Linux allows 131072 with its end, and a flag precedes a text."""

_PLACES = ("BEADS_DIR", "BEADS_DB", "BD_DB")
"""Variables that would make bd use another workspace than this worktree's."""

OLDEST = (0, 30)
CLAIMS = (0, 49, 4)
"""From this version on, `--claim` compares and swaps in one step; before, it read and then wrote."""
CLAIMS_NEXT = (1, 0, 4)
"""From this version on, `ready --claim` chooses and claims in one step."""
PUSHES, SYNCS_UNTIL = (1, 0), (0, 51)
"""From the first on, `dolt push` sends to a remote; before the second, `sync` did, with git."""
LEASES = (1, 3)
"""From this version on, a claim ends unless `heartbeat` renews it."""

NAME = "beads.json"


@dataclass(eq=False)
class Runner:
    """Runs bd in one worktree, under one actor's name, and reads and writes its tasks.

    Attributes:
        root: the worktree's root folder, in which bd is run.
        environment: variables that are added to this process's own, and override them.
        actor: the actor's name.
        deadline: the time by which everything must end.
        folder: the configured folder of the database; "" leaves the search to bd.
        is_hook: a hook is the caller: a read gets less time.
        has_strange: an issue was left out because its id is not a plain word.
        demand: called before each run, with root, environment and folder; raises if bd may not be run.
    """

    root: Path
    environment: Mapping[str, str]
    actor: str
    deadline: Deadline
    folder: str = ""
    is_hook: bool = False
    demand: Callable[[Path, Mapping[str, str], str], None] = lambda *_: None
    has_strange: bool = False
    _own: threading.RLock = field(default_factory=threading.RLock)
    _depth: int = 0

    @property
    def shared(self) -> Path:
        """The folder of the lock and of the program's record: in git's own folder, else in ours.

        Raises:
            Refused: the folder is not writable.
        """
        common = store.common_folder(self.root)
        place = common / "lifecycle" if common else self.root / store.FOLDER
        try:
            if common:
                place.mkdir(exist_ok=True)
            else:
                store.Folder(self.root).make()
            strange = regular_files.strange_folder(str(place), is_shared=True)
        except OSError as error:
            words = {"place": place, "why": error.strerror}
            raise errors.Refused(sentence("bd-folder-unwritten", **words)) from None
        if strange:
            raise errors.Refused(sentence("bd-folder-strange", place=place, strange=strange))
        return place

    @property
    def program(self) -> str:
        """The path of bd; NotInstalled."""
        path = bd_here.program(self.environment)
        if not path:
            raise errors.NotInstalled(sentence("bd-absent"))
        return path

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep our other processes from running bd in this clone meanwhile; Busy. Can be nested.

        A command waits for them as long as it keeps the time of a write.
        """
        with self._own, contextlib.ExitStack() as held:
            if not self._depth:
                spare = min(self.deadline.left, PUBLISH_SECONDS) - WRITE_SECONDS
                patience = HOOK_READ_SECONDS if self.is_hook else max(spare, WRITE_SECONDS)
                wait = self.deadline.remaining(at_most=patience)
                try:
                    held.enter_context(store.locked(self.shared / "beads.lock", wait, ""))
                except errors.LockBusy:
                    raise errors.Busy(sentence("bd-asked-by-others")) from None
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    def run(
        self, *words: str, is_write: bool = False, seconds: float | None = None
    ) -> bd_decode.Ran:
        """Run bd with these words.

        Args:
            words: its arguments; a value is written with its flag as `--flag=value`.
            is_write: it changes something.
            seconds: its time limit, if not the usual limit of a read or write.

        Raises:
            Invalid: a text cannot be in a command line: a NUL, or too long; nothing was run.
            Refused: `demand` raised; nothing was run.
            NotInstalled: there is no such program.
            Busy: another process of ours is running it.
            TimedOut: it took too long and was ended; ambiguous for a write.
            Crashed: a signal ended it; ambiguous for a write.
            ProtocolError: its output does not end.
            Transient: the deadline has passed; nothing was run.
        """
        if any("\0" in word for word in words):
            raise errors.Invalid(sentence("bd-nul"))
        longest = max(len(word.encode("utf-8", "surrogatepass")) for word in words)
        if longest > MOST_WORD:
            raise errors.Invalid(sentence("bd-long-text", longest=longest, most=MOST_WORD))
        self.demand(self.root, self.environment, self.folder)
        with self.alone():
            reading = HOOK_READ_SECONDS if self.is_hook else READ_SECONDS
            usual = WRITE_SECONDS if is_write else reading
            most = self.deadline.remaining(at_most=seconds or usual)
            return self._run(words, Deadline.after(self.deadline.clock, most), is_write=is_write)

    def _run(self, words: tuple[str, ...], until: Deadline, *, is_write: bool) -> bd_decode.Ran:
        about = {"verb": verb_of(words), "maybe": ", and may have done it" if is_write else ""}
        command, inherited = [self.program, *words], for_child("tracker", self.environment)
        variables = {name: value for name, value in inherited.items() if name not in _PLACES}
        variables.setdefault("BEADS_NO_DAEMON", "1")  # a hook must not leave a process behind
        variables |= {"BEADS_ACTOR": self.actor, "BD_ACTOR": self.actor, "BD_NON_INTERACTIVE": "1"}
        place = bd_here.database(self.root, self.folder)
        variables |= {"BEADS_DIR": place} if place else {}
        try:
            done = bd_decode.Ran(*ran(command, until.left, variables, self.root, most=MOST_BYTES))
        except OSError as error:
            raise errors.NotInstalled(sentence("bd-unusable", why=error.strerror)) from None
        except subprocess.TimeoutExpired:
            late = sentence("bd-late" if is_write else "bd-late-read", **about)
            raise errors.TimedOut(late, is_ambiguous=is_write) from None
        except OverflowError:
            raise errors.ProtocolError(sentence("bd-endless", verb=about["verb"])) from None
        if done.code < 0:
            crash = sentence("bd-crashed", signal=-done.code, **about)
            raise errors.Crashed(crash, is_ambiguous=is_write)
        return done

    @cached_property
    def version(self) -> str:
        """The version that this bd reports; "" if it reports none.

        Raises:
            NotInstalled: there is no bd.
            VersionUnsupported: it is older than any version that was tried.
        """
        path = self.program
        program = [path, *regular_files.version_of(os.path.realpath(path))]
        place = self.shared / NAME
        file = store.read(place, follow=False)
        kept = object_in(file.content if file is not None else b"")
        version = kept.get("version")
        # Of one that is too old: the same script may start another program now.
        if kept.get("program") != program or not isinstance(version, str) or _is_old(version):
            ran = self.run("version", "--json")
            version = str(bd_decode.payload(ran, due=dict, doing="version").get("version", ""))
            text = json.dumps({"program": program, "version": version}, indent=1)
            store.write(place, text.encode() + b"\n")
        if _is_old(version):
            words = {"version": version, "oldest": f"{OLDEST[0]}.{OLDEST[1]}"}
            raise errors.VersionUnsupported(sentence("bd-too-old", **words))
        return version

    def is_from(self, first: tuple[int, ...]) -> bool:
        """True if this bd has that version or a later one; False if its version is unknown."""
        return _numbers(self.version) >= first

    @cached_property
    def sends(self) -> str:
        """The words of bd's command that sends; "" if there is no remote, or that is unknown."""
        if not self.is_from(PUSHES):
            common = store.common_folder(self.root)
            settings = store.read(common / "config") if common else None
            has_remote = settings is not None and b'[remote "' in settings.content
            return "sync" if has_remote and not self.is_from(SYNCS_UNTIL) else ""
        # Publishing is a convenience: if the remote cannot be determined, it is not offered.
        with contextlib.suppress(errors.LifecycleError):
            ran = self.run("dolt", "remote", "list", "--json")
            if bd_decode.payload(ran, due=list, doing="dolt remote"):
                return "dolt push"
        return ""

    def rows(self, *words: str) -> tuple[bd_decode.IssueRow, ...]:
        """The issues that a command shows; one whose id is not a plain word is left out, and logged."""
        ran = self.run(*words, "--json")
        issues = bd_decode.payload(ran, due=list, doing=verb_of(words))
        plain = [raw for raw in issues if not bd_decode.has_strange_id(raw)]
        if len(plain) < len(issues):
            self.has_strange = True
            left_out = ", ".join(short(repr(raw["id"]), 60) for raw in issues if raw not in plain)
            strange = f"tracker: left out, since no plain word is its id: {left_out}"
            log.write(self.root, strange)
        return tuple(bd_decode.row_of(raw) for raw in plain)

    def show(self, name: str) -> bd_decode.IssueRow:
        """One issue in full; bd accepts the part after the prefix as an id. NotFound."""
        with contextlib.suppress(errors.NotFound):  # not every build names the task
            for row in self.rows("show", name) if bd_decode.ID.fullmatch(name) else ():
                is_it = row.task.id == name or row.task.id.endswith(f"-{name}")
                if is_it and row.task.raw_status != bd_decode.DELETED:
                    return row
        raise bd_decode.unknown(name)

    def notes(self, name: str) -> tuple[tuple[Note, str], ...]:
        """The comments of an issue with their marks, the oldest first. NotFound."""
        if not bd_decode.ID.fullmatch(name):
            raise bd_decode.unknown(name)
        ran = self.run("comments", name, "--json")
        try:
            answer = bd_decode.payload(ran, due=list, doing=f"comments {name}")
        except errors.NotFound:  # not every build names the task
            raise bd_decode.unknown(name) from None
        notes = [bd_decode.note_of(comment) for comment in answer]
        return tuple(sorted(notes, key=lambda pair: pair[0].created_at or 0.0))

    def change(self, before: Task, verb: str, *words: str, so: Callable[[Task], bool]) -> Task:
        """Run a write whose answer shows the changed task, and return that task.

        Args:
            before: the task before; its blockers are kept, since such answers do not name them.
            verb: the command.
            words: the words after the task's id.
            so: whether a task has the wanted state.
        """

        def seen(raw: Any) -> Task | None:
            tasks = (bd_decode.row_of(issue).task for issue in raw)
            fits = (task for task in tasks if task.id == before.id and so(task))
            return next((replace(task, blocked_by=before.blocked_by) for task in fits), None)

        def read() -> Task | None:
            task = self.show(before.id).task
            return task if so(task) else None

        return self.write(verb, before.id, *words, "--json", due=list, seen=seen, read=read)

    def write(
        self,
        *words: str,
        due: type = dict,
        seen: Callable[[Any], Value | None],
        read: Callable[[], Value | None],
    ) -> Value:
        """Run a write, and return the state afterwards.

        Args:
            words: the command.
            due: the type of the answer: `list` or `dict`.
            seen: returns the state in the answer; None if it is not the wanted one.
            read: reads the state if the answer is unclear; None if it is not the wanted one.

        Raises:
            Transient: ambiguous; no answer came, and a read does not show the result.
            LifecycleError: bd refused, and nothing was done.
        """
        doing, refused = verb_of(words), None
        try:
            ran = self.run(*words, is_write=True)
            value = seen(bd_decode.payload(ran, due=due, doing=doing))
            unclear = "gave an answer that does not fit"
        except errors.LifecycleError as error:
            # No answer, an empty one, or a refusal in unknown words: the write may have happened.
            is_lost = isinstance(error, errors.Transient) and error.is_ambiguous
            refused = error if type(error) is errors.Rejected else None
            if not (is_lost or refused or isinstance(error, errors.ProtocolError)):
                raise
            why = error.evidence or error.sentence.partition(";")[0]
            value, unclear = None, f"gave no clear answer ({why})"
        if value is None:
            # If the state cannot be read, the result remains unclear.
            with contextlib.suppress(errors.LifecycleError):
                value = read()
        if value is None:
            undone = sentence("bd-not-seen-done", doing=doing, unclear=unclear)
            raise refused or errors.Transient(undone, is_ambiguous=True)
        return value


def verb_of(words: tuple[str, ...]) -> str:
    """The first words of a command, without flags, for sentences."""
    return " ".join(word for word in words[:2] if not word.startswith("-"))


def label_words(labels: tuple[str, ...]) -> tuple[str, ...]:
    """The filter for any of these labels; () if bd has no filter for them (`auto:*`)."""
    if not labels or any(label.endswith("*") for label in labels):
        return ()
    return (f"--label-any={listed(labels)}",) if labels[1:] else (f"--label={listed(labels)}",)


def listed(values: tuple[str, ...]) -> str:
    """Several values in the form that a flag takes: a line of CSV."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()


def _is_old(version: str) -> bool:
    """True if the version is known to be older than any that was tried."""
    return () < _numbers(version) < OLDEST


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers at the beginning of a version; () if there are none."""
    match = re.match(r"v?(\d+)\.(\d+)(?:\.(\d+))?", version)
    return tuple(int(part or 0) for part in match.groups()) if match else ()
