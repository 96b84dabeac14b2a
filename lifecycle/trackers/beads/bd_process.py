"""One run of bd: a list of words, a time limit, a process group of its own, bounded output.

No questions can be asked: stdin is the null device. If bd or a process that it started hangs, all are
ended as a group. A child that outlives bd and holds its pipes open is not waited for. One run at a time:
two at once in one workspace wait for each other inside bd, in some builds for ever.

Source: variables and flags: `bd --help` and docs/CONFIG.md, https://github.com/steveyegge/beads.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from lifecycle.core import errors
from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.core.timing import Deadline, ran
from lifecycle.settings.config import for_child
from lifecycle.storage import regular_files, store
from lifecycle.trackers.beads import bd_here
from lifecycle.trackers.refusals import sentence

HOOK_READ_SECONDS, READ_SECONDS, WRITE_SECONDS, PUBLISH_SECONDS = 3.0, 10.0, 15.0, 60.0
MOST_BYTES = 32 * 1024 * 1024
MOST_WORD = 120_000
"""Bytes of one word of a command line: Linux allows 131072 with its end, and a flag precedes a text."""

_PLACES = ("BEADS_DIR", "BEADS_DB", "BD_DB")
"""Variables that would make bd use another workspace than this worktree's."""


@dataclass(frozen=True, slots=True)
class Ran:
    """The exit code of one run, and its output."""

    code: int
    out: str
    err: str


@dataclass(eq=False)
class Runner:
    """Runs bd in one worktree, under one actor's name.

    Attributes:
        root: the worktree's root folder, in which bd is run.
        environment: variables that are added to this process's own, and override them.
        actor: the actor's name.
        deadline: the time by which everything must end.
        folder: the configured folder of the database; "" leaves the search to bd.
        is_hook: a hook is the caller: a read gets less time.
        demand: called before each run, with root, environment and folder; raises if bd may not be run.
    """

    root: Path
    environment: Mapping[str, str]
    actor: str
    deadline: Deadline
    folder: str = ""
    is_hook: bool = False
    demand: Callable[[Path, Mapping[str, str], str], None] = lambda *_: None
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

    def run(self, *words: str, is_write: bool = False, seconds: float | None = None) -> Ran:
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

    def _run(self, words: tuple[str, ...], until: Deadline, *, is_write: bool) -> Ran:
        about = {"verb": verb_of(words), "maybe": ", and may have done it" if is_write else ""}
        command, inherited = [self.program, *words], for_child("tracker", self.environment)
        variables = {name: value for name, value in inherited.items() if name not in _PLACES}
        variables.setdefault("BEADS_NO_DAEMON", "1")  # a hook must not leave a process behind
        variables |= {"BEADS_ACTOR": self.actor, "BD_ACTOR": self.actor, "BD_NON_INTERACTIVE": "1"}
        place = bd_here.database(self.root, self.folder)
        variables |= {"BEADS_DIR": place} if place else {}
        try:
            done = Ran(*ran(command, until.left, variables, self.root, most=MOST_BYTES))
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


def verb_of(words: tuple[str, ...]) -> str:
    """The first words of a command, without flags, for sentences."""
    return " ".join(word for word in words[:2] if not word.startswith("-"))
