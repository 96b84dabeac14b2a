"""`.claude/workflow-state.json`: read whole, changed under one lock, replaced by one rename.

A file that git tracks came with the repository: it leads no session, and no command in it is run. An
unreadable file is renamed and kept, which is said once. A file of a later release is left as it is.

The session that leads the run is found by the same rule as for a claim. A session without a known id leads
no run. A session leads nothing if it is over, if its client is gone, or, if its client is not known, after
an hour without a sign of life: then the next session that starts continues the run. `/clear` keeps the
client, but gives it a new session.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from lifecycle.core.errors import GitFailed, Refused
from lifecycle.core.redact import named, redact, visible
from lifecycle.core.timing import Deadline, render_time
from lifecycle.git.tracked_files import exclude_own_files, listed
from lifecycle.run.long_run import runtime, tier
from lifecycle.run.state import VERSION, Clarification, Failure, Led, Run, encoded
from lifecycle.run.table import KEPT_LINES, RunStatus
from lifecycle.run.texts.told import refused, sentence
from lifecycle.run.trouble.story_failures import escalation_lines
from lifecycle.settings import user_folder
from lifecycle.storage import journal, live_process, regular_files, signs_of_life, store
from lifecycle.storage.workflow_marks import RUN, RUN_FILE

FOLDER = ".claude"
STATE = "workflow-state.json"
PROGRESS = "workflow-progress.txt"
PATH = RUN_FILE
LOCK = "run.lock"

MARK = RUN
"""The mark in `.lifecycle/` that makes the guards pass on every stop while a run is active."""

EARLY = "clarifications.json"
"""The file in `.lifecycle/` with clarifications that came before the run."""

LINES = (f"/{FOLDER}/{STATE}*", f"/{FOLDER}/{PROGRESS}*")
"""The patterns of a run's files, from the worktree's root, for git."""

_LARGEST = 32_000_000
_USUAL = 100
"""The usual length of a line of the progress file in bytes."""

_BUSY = "Another lifecycle process is at work on this run, so nothing was changed; try again in a moment."


class NoRun(Refused):
    """There is no run in this worktree."""

    for_agent = True


class StrangeRun(Refused):
    """The run's file cannot be used: unreadable, of a later release, or tracked by git."""


class Change:
    """The run while the lock is held; the value of `run` is written when the block ends."""

    def __init__(self, run: Run) -> None:
        self.before = self.run = run
        self.notes: list[str] = []

    def note(self, *texts: str) -> str:
        """Add these lines to the progress file after the change is written; returns them as one text."""
        self.notes += texts
        return "\n".join(texts)

    def told(self, *done: str) -> list[str]:
        """Note what was done, and the escalations that follow; returns the escalations."""
        escalations = escalation_lines(self.before, self.run)
        self.note(*done, *escalations)
        return escalations

    def news(self, done: str) -> list[str]:
        """Note what was done, each new failure, and the escalations; returns all but the first."""
        new = [f"Added failure: {failure.id} [{failure.category}]" for failure in self.failures]
        return [*new, *self.told(done, *new)]

    @property
    def failures(self) -> list[Failure]:
        """The failures that came with the change."""
        known = {failure.id for story in self.before.stories for failure in story.failures}
        all_failures = (failure for story in self.run.stories for failure in story.failures)
        return [failure for failure in all_failures if failure.id not in known]


Asker = tuple[str, int]
"""The session that changes a run, "" for none, and its client's process."""


class RunStore:
    """The run of one worktree.

    Args:
        root: the worktree's top folder.
        environment: the variables, for git.
        deadline: when git has to be done; git is used only if the file exists.
        asker: who changes the run.
    """

    def __init__(
        self, root: Path, environment: Mapping[str, str], deadline: Deadline, asker: Asker = ("", 0)
    ) -> None:
        self.root, self.environment, self.deadline = root, environment, deadline
        self.folder, self.asker = store.Folder(root), asker
        self._read: tuple[bytes, Run] | None = None  # a command reads the file several times

    @property
    def is_there(self) -> bool:
        """True if something exists at the file's path."""
        return os.path.lexists(self.root / FOLDER / STATE)

    @property
    def written_at(self) -> float:
        """When the file was last written, in seconds since the epoch; 0.0 if there is none."""
        return max(0, regular_files.mtime_ns(self._path(STATE))) / 1e9

    def load(self) -> Run | None:
        """The run, or None if there is none.

        Raises:
            StrangeRun: the file is tracked by git, of a later release, or unreadable; it is kept.
            StrangeFileError: it is not a regular file.
        """
        path = self._path(STATE)
        content = regular_files.content(path, limit=_LARGEST)
        if content is None:
            regular_files.refuse_strange(path)
            return None
        self._refuse_tracked()
        if self._read is None or self._read[0] != content[0]:
            self._read = content[0], decoded(content[0])
        return self._read[1]

    def demanded(self) -> Run:
        """The run; raises NoRun if there is none, and as `load` does.

        If the file was repaired or restored without the guards' knowledge, stops are looked at again.
        """
        run = self.load()
        if run is None:
            raise NoRun(sentence("no-run"))
        if run.status is RunStatus.ACTIVE:
            with suppress(OSError):  # a reader need not be able to write
                self.mark(run)
        return run

    def locked(self) -> AbstractContextManager[None]:
        """Hold the lock of the run's files; raises LockBusy."""
        self.folder.make()
        seconds = self.deadline.remaining(at_most=30.0)
        return store.locked(Path(self.folder.at(LOCK)), seconds, _BUSY)

    @contextmanager
    def changing(self, *, even_held: bool = False) -> Iterator[Change]:
        """Change the existing run: `with store.changing() as change: change.run = …`.

        The file is replaced when the block ends without an error, if the run has changed; then the notes
        are added to the progress file. `even_held`: also if another session leads the run, as a person may.

        Raises:
            NoRun: there is none.
            Refused: another session, which still runs, leads it.
            LockBusy: another process has the lock.
        """
        with self.locked():
            change = Change(self.demanded())
            if not even_held:
                self.refuse_held(change.run)
            yield change
            if change.run != change.before:
                self.write(change.run)
            now = self.deadline.clock.now()
            journal.note(self.root, *_moves(change.before, change.run, now))
            if change.run.is_over and not change.before.is_over:
                self._note_end(change.run, now)
            for text in change.notes:
                self.note(now, text)
            if change.notes and tier(change.run, now).trims:
                size = Path(self._path(PROGRESS)).lstat().st_size
                if size > 2 * KEPT_LINES * _USUAL:  # it has about twice as many lines
                    self.trim_progress(KEPT_LINES)

    def refuse_held(self, run: Run) -> None:
        """Raise Refused if the asker is a session other than the leading one, which still runs."""
        if self.is_held(run):
            raise refused("led-by-another", run=run, session=named(run.session))

    def is_held(self, run: Run) -> bool:
        """True if the asker is a session other than the leading one, which still runs."""
        return bool(self.asker[0]) and not run.is_over and self.is_led_by_another(run)

    def is_led_by_another(self, run: Run) -> bool:
        """True if another session than the asker, if that is one, leads the run and seems to be alive."""
        session, client = self.asker
        if run.session in ("", session):
            return False
        led, now = run.led[-1], self.deadline.clock.now()
        if led.client:
            return led.client != client and live_process.is_there(led.client)
        signs = signs_of_life.signs_of(self.folder, led.session, now)
        return signs_of_life.seems_alive(signs, led.since, now)

    def adopt(self) -> Run:
        """Have the asker lead the existing run, unless it is over or another live session leads it.

        Returns:
            The run as it is then; changes by another process meanwhile are taken into account.
        """
        with self.changing(even_held=True) as change:
            run = change.run
            if not (run.is_over or self.is_led_by_another(run)):
                change.run = adopted(run, *self.asker, self.deadline.clock.now())
                self.mark(run)
        return change.run

    def write(self, run: Run) -> None:
        """Replace the file by one rename, and set the guards' mark; the caller holds the lock."""
        path = self._path(STATE)
        Path(path).parent.mkdir(exist_ok=True)
        regular_files.refuse_strange(path)
        store.write(Path(path), encoded(run))
        self.mark(run)

    def _note_end(self, run: Run, now: float, reason: str = "") -> None:
        """Write into the journal that a run is over, how long it took, and what failed in it.

        `reason` says why a run that is not completed ended.
        """
        failed = sum(len(story.failures) for story in run.stories)
        detail = {"title": run.goal, "seconds": runtime(run, now), "failed": failed}
        whose = {"task": run.id, "session": run.session, "source": run.phase.value}
        journal.note(self.root, journal.closed(now, journal.RUN, detail, reason, **whose))

    def begin(self, run: Run) -> None:
        """Write the first state of a run, and keep its files out of git; the caller holds the lock.

        The run has adopted the clarifications that were kept for it.
        """
        exclude_own_files(self.root, LINES)
        self.write(run)
        self.folder.remove(EARLY)
        user_folder.note_clone(self.root, self.environment)

    def early(self) -> tuple[Clarification, ...]:
        """The clarifications that came while there was no run; the next run adopts them."""
        content = self.folder.read(EARLY).content or b"[]"
        try:
            return msgspec.json.decode(content, type=tuple[Clarification, ...])
        except (ValueError, RecursionError) as error:
            raise StrangeRun(sentence("early-unreadable", error=error)) from None

    def keep_early(self, clarifications: tuple[Clarification, ...]) -> None:
        """Keep these until a run adopts them; the caller holds the lock."""
        self.folder.write(EARLY, encoded(clarifications))

    def mark(self, run: Run | None) -> None:
        """Tell the guards whether stops need a look: they do if there is a run that was not let go."""
        if run is None:
            self.folder.remove(MARK)
        elif not self.folder.has(MARK):
            self.folder.mark(MARK)

    def set_aside(self, label: str) -> Path | None:
        """Rename the file to a free name beside it; None if there is none. The caller holds the lock."""
        return store.set_aside(Path(self._path(STATE)), label) if self.is_there else None

    def put_away(self, run: Run) -> str:
        """Set this run's file aside, so that no stop is looked at for it; returns the new path.

        The journal records that the run was stopped for good.

        Raises:
            LockBusy: another process is at it.
        """
        with self.locked():
            kept = self.set_aside(run.id)
            self.mark(None)
        self._note_end(run, self.deadline.clock.now(), run.why or "stopped")
        return f"{FOLDER}/{kept.name if kept is not None else STATE}"

    def progress(self, lines: int) -> list[str]:
        """The last lines of the progress file, which says what happened in the run; the oldest first."""
        return b"".join(self._noted()[-lines:]).decode("utf-8", "replace").splitlines()

    def trim_progress(self, lines: int) -> tuple[int, int]:
        """Keep the last lines only; returns how many there were, and are. The caller holds the lock."""
        before = self._noted()
        kept = before[-lines:]
        if len(kept) < len(before):
            store.write(Path(self._path(PROGRESS)), b"".join(kept))
        return len(before), len(kept)

    def _noted(self) -> list[bytes]:
        content = regular_files.content(self._path(PROGRESS), limit=_LARGEST)
        return content[0].splitlines(keepends=True) if content else []

    def note(self, at: float, text: str) -> None:
        """Append one line to the progress file; the caller holds the lock."""
        path = self._path(PROGRESS)
        Path(path).parent.mkdir(exist_ok=True)
        line = f"{render_time(at)} {visible(redact(' '.join(text.split())))}\n"
        regular_files.append(path, line.encode("utf-8", "replace"), most=_LARGEST)

    def _path(self, name: str) -> str:
        return regular_files.below(str(self.root), FOLDER, name)

    def _refuse_tracked(self) -> None:
        about = (self.deadline, self.environment)
        try:
            tracked = {path.casefold() for path in listed(self.root, *about, (PATH, FOLDER))}
            if FOLDER in tracked:  # a submodule, whose files are listed by its own repository
                tracked = {PATH} if listed(self.root / FOLDER, *about, (STATE,)) else set()
        except GitFailed as error:
            why = error.evidence or error.sentence
            raise StrangeRun(sentence("tracking-unknown", evidence=why)) from None
        if PATH in tracked:
            raise StrangeRun(sentence("tracked"))


def _moves(before: Run, after: Run, now: float) -> Iterator[journal.JournalEntry]:
    """The stories whose status changed, for the journal."""
    old = {story.id: story.status for story in before.stories}
    for story in after.stories:
        was = old.get(story.id, story.status)
        if story.status is not was:
            moved = {"source": f"{story.id} {was}", "target": f"{story.id} {story.status}"}
            detail = {"title": after.goal, "phase": story.title}
            yield entry(after, now, journal.TRANSITION, **moved, detail=detail)


def entry(run: Run, now: float, kind: str, **about: Any) -> journal.JournalEntry:
    """An entry of this kind on a run, for the journal, with more of its fields."""
    return journal.JournalEntry(now, journal.RUN, kind, run.id, session=run.session, **about)


class _Head(msgspec.Struct):
    """Only the version, which is read first: a file of another version may have other fields."""

    version: Any = 1


def decoded(content: bytes) -> Run:
    """The run in a file's content; raises StrangeRun, which says what is not in our form."""
    try:
        version = msgspec.json.decode(content, type=_Head).version
        if isinstance(version, int) and version > VERSION:
            raise StrangeRun(sentence("later-release", version=version, known=VERSION))
        return msgspec.json.decode(content, type=Run)
    except (ValueError, RecursionError) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise StrangeRun(sentence("unreadable", error=why)) from None


def is_led_by(run: Run, session: str) -> bool:
    """True if this session leads the run."""
    return bool(session) and run.session == session


def adopted(run: Run, session: str, client: int, now: float) -> Run:
    """The run, led by this session; unchanged if the session has no id."""
    if not session:
        return run
    if run.session != session:
        return run.but(led=(*run.led, Led(session, now, client)))
    *before, led = run.led
    return run.but(led=(*before, led.but(client=client or led.client)))
