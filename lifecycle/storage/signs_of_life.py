"""Marks and signs of life in `.lifecycle/`, which the hooks' guards and other processes read.

`.lifecycle/seen` holds the session that owns the claim and the process id of its client; its mtime is the
time when that was last seen. It is written after `state.json` and `.lifecycle/owner` name that session: a
reader that reads it first and those afterwards sees no older owner. `.lifecycle/ended` holds the owner's id
once its session has ended.

`.lifecycle/hooks-ID` shows that hooks of that session run here.

`.lifecycle/waiter` holds the process id and the session; its mtime is the moment by which the waiter
promises to be back. So a process id that is reused after a crash misleads readers for at most one wait.
A lock, not this file, decides who may wait.

`.lifecycle/wait-*`, named by its process id, shows that a command waits here, and for what; its mtime is
such a promise as well. A waiter leaves that news to the command. A file that a killed process left is
ignored, and the next command that waits deletes it.

A mark (`GuardMarks`) is an empty file; its mtime is a moment. The guards (`sh`, in `hooks/`) compare it
with the present or with the claim file's mtime, before they start Python, and end if nothing is due.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lifecycle.core.light_dataclass import dataclass
from lifecycle.storage import live_process, regular_files
from lifecycle.storage.workflow_marks import session_name

if TYPE_CHECKING:
    from lifecycle.core.ports import Clock
    from lifecycle.storage.store import Folder

SEEN = "seen"
ENDED = "ended"
SIGN = "waiter"
COMMAND = "wait-"
LOCK = "waiter.lock"
MET = "hooks-"
"""The beginning of the name of the mark that a session's hooks leave; the session's id follows."""

MET_SECONDS = 14 * 86_400.0
"""How long such a mark is kept."""

SILENT_SECONDS = 3600.0
"""Seconds without a sign of life after which a session with an unknown client counts as gone."""

SLACK = 60.0
"""Seconds that a look may take beyond the moment that was promised."""

STOP_DUE = "due"
IDLE_DUE = "idle-due"
"""Marks whose mtime is the moment from which on-stop and on-idle look again."""

ALWAYS = 1.0
"""A moment that has always come, whatever the clock says: a clock that was ahead must not stop polling."""

WAITING = "waiting"
"""A mark that exists while a prompt of the user is worth starting Python."""

ANSWERED = "answered"
"""A mark with id and transcript of each prompt; its mtime is the last prompt's. The question deletes it."""

_TRANSCRIPT = 4_000_000
"""Bytes at a transcript's end in which a prompt is looked for."""

_LONG_TURN = 40_000_000
"""As many, if the last prompt began before these: each picture in a turn has some megabytes."""

_KEPT = 20
"""Prompts among which a person's is looked for: a task may be scheduled for every minute."""

OWNER = "owner"
"""A file with the id of the session that the claim belongs to."""

_STAMP = "stamp"
_PROMPTS = "prompts"
"""A file that the hook on the user's prompts touches: its mtime shows that the hook is installed."""


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs of one session in `.lifecycle/`.

    Attributes:
        has_ended: its end was seen, and no sign of it since.
        is_client_there: its client's process exists; None if the process is unknown.
        has_waiter: a process waits for news for it now.
        last_at: its last sign, in seconds since the epoch, or None.
    """

    has_ended: bool = False
    is_client_there: bool | None = None
    has_waiter: bool = False
    last_at: float | None = None


def seems_alive(signs: Signs, since: float, now: float) -> bool:
    """True if a session that holds something has not ended, as far as is known.

    Args:
        signs: the session's signs.
        since: when it began to hold: that counts as a sign of life.
        now: seconds since the epoch.
    """
    if signs.has_ended:
        return False
    if signs.is_client_there is not None:
        return signs.is_client_there
    last_at = max(signs.last_at or 0.0, since)
    return signs.has_waiter or now - last_at < SILENT_SECONDS


def sign(folder: Folder, session: str, client: int) -> None:
    """Note that a hook of this session runs, and the process of its client."""
    _put(folder, SEEN, f"{session} {client}\n")


def meet(folder: Folder, session: str, now: float) -> None:
    """Note that hooks of this session run here; notes that are two weeks old or older are deleted."""
    for old in folder.path.glob(f"{MET}*"):
        if folder.mtime_ns(old.name) < (now - MET_SECONDS) * 1e9:
            folder.remove(old.name)
    folder.mark(MET + session_name(session))


def has_met(folder: Folder, session: str) -> bool:
    """True if a hook of this session has run in this worktree; for "", of any session."""
    name = session_name(session) if session else "*"
    return any(True for _ in folder.path.glob(f"{MET}{name}"))


def note_end(folder: Folder, session: str) -> None:
    """Note that this session, which owns the claim, has ended."""
    _put(folder, ENDED, f"{session}\n")


def signs_of(folder: Folder, session: str, now: float) -> Signs:
    """The signs of a session, from the files that hooks leave."""
    (words, seen_ns), (ended, ended_ns) = _words(folder, SEEN), _words(folder, ENDED)
    is_seen = words[:1] == [session]
    return Signs(
        has_ended=ended == [session] and (ended_ns >= seen_ns or not is_seen),
        is_client_there=live_process.is_there(words[1]) if is_seen and len(words) > 1 else None,
        has_waiter=is_live(folder, now, session),
        last_at=seen_ns / 1e9 if is_seen else None,
    )


@contextlib.contextmanager
def alone(folder: Folder, seconds: float) -> Iterator[None]:
    """Be the only waiter of this worktree, and remove its sign at the end.

    Raises:
        LockBusy: another waiter lived for all of `seconds`.
    """
    with folder.locked(seconds, LOCK):
        try:
            yield
        finally:
            folder.remove(SIGN)


def promise(folder: Folder, session: str, until: float) -> None:
    """Show that this process waits for `session`, and will be back by `until` (seconds, epoch)."""
    _promise(folder, SIGN, f"{os.getpid()} {session}\n", until)


def _promise(folder: Folder, name: str, content: str, until: float) -> None:
    """Write a sign, unless it is there already, and the moment until which it counts."""
    if folder.read(name).content != content.encode():
        folder.make()
        _put(folder, name, content)
    folder.mark(name, int((until + SLACK) * 1e9))


def is_live(folder: Folder, now: float, session: str = "") -> bool:
    """True if a waiter promised to be back, its time is not up, and its process exists.

    Args:
        folder: the worktree's folder.
        now: seconds since the epoch.
        session: the waiter's session; any session unless given.
    """
    words, until_ns = _words(folder, SIGN)
    is_awaited = bool(words) and until_ns > now * 1e9 and session in ("", *words[1:])
    return is_awaited and live_process.is_there(words[0])


def promise_command(folder: Folder, wanted: str, until: float) -> None:
    """Show that this process is a command that waits for `wanted`, and will be back by `until`."""
    _promise(folder, f"{COMMAND}{os.getpid()}", f"{wanted}\n", until)


def leave_command(folder: Folder) -> None:
    """Delete this process's sign, and those of processes that do not exist any more."""
    for path in folder.path.glob(f"{COMMAND}*"):
        pid = path.name.removeprefix(COMMAND)
        if pid == str(os.getpid()) or not live_process.is_there(pid):
            folder.remove(path.name)


def waited_for(folder: Folder, now: float) -> frozenset[str]:
    """What live commands wait for here, in their own words."""
    wanted = set[str]()
    for path in folder.path.glob(f"{COMMAND}*"):
        words, until_ns = _words(folder, path.name)
        if until_ns > now * 1e9 and live_process.is_there(path.name.removeprefix(COMMAND)):
            wanted.add(" ".join(words))
    return frozenset(wanted)


def _words(folder: Folder, name: str) -> tuple[list[str], int]:
    """The words of a sign, and its mtime in nanoseconds; none, and -1, if there is no such file."""
    file = folder.read(name)
    return file.content.decode(errors="replace").split(), file.mtime_ns


def _put(folder: Folder, name: str, content: str) -> None:
    """Write a sign in place: an incomplete one is ignored, and a killed process leaves no other file."""
    regular_files.fill(folder.at(name), content.encode())


def _is_scheduled(prompt: str, transcript: str) -> bool | None:
    """True if the client itself sent the prompt, as for a task that the agent scheduled; None: unknown.

    The client's event is the same for both; the transcript shows the difference later, in the first line of
    the prompt. A prompt that a person writes into a turn has the id of the prompt that began the turn.
    """
    turn = transcript.partition(f'"promptId":"{prompt}"')[2]
    begun = turn.partition("\n")[0]
    if '"origin":{"kind":"human"' in turn:
        return False
    return '"promptSource":"system"' in begun if '"promptSource":' in begun else None


class GuardMarks:
    """The marks of one worktree."""

    def __init__(self, folder: Folder, clock: Clock) -> None:
        self.folder = folder
        self.clock = clock

    def is_due(self, name: str) -> bool:
        """True if the mark exists and its moment has come."""
        return 0 <= self.folder.mtime_ns(name) <= self.clock.now() * 1e9

    def stamp(self, mtime_ns: int) -> None:
        """Tell the guard that this version of the claim file was looked at and needs nothing more."""
        self.folder.mark(_STAMP, mtime_ns)

    def is_stamped(self, mtime_ns: int) -> bool:
        """True if a look at this version of the claim file left nothing to do."""
        return self.folder.mtime_ns(_STAMP) == mtime_ns

    def answer(self, prompt: str, transcript: str) -> None:
        """Note that a prompt came: its id, and the transcript in which the client records who sent it."""
        with contextlib.suppress(OSError):  # on a full disk the prompt counts as a person's
            lines = [*self._prompts(), f"{prompt} {transcript}"]
            _put(self.folder, ANSWERED, "".join(f"{line}\n" for line in lines))
        self.folder.set_due(ANSWERED, self.clock.now())

    @property
    def answered_at(self) -> float | None:
        """When a person last wrote a prompt, if that was after the question was asked; else None.

        0.0 if the client itself sent another prompt since, so that the time is unknown.
        """
        moment = self.folder.mtime_ns(ANSWERED)
        if moment < 0:
            return None
        when, texts = moment / 1e9, {"": ("", False)}
        for line in reversed(self._prompts()):
            prompt, _, path = line.partition(" ")
            if path not in texts:
                texts[path] = regular_files.end_of(path, _TRANSCRIPT, follow=True)
            text, is_cut = texts[path]
            is_scheduled = _is_scheduled(prompt, text)
            if is_scheduled is None and is_cut and when:
                texts[path] = text, is_cut = regular_files.end_of(path, _LONG_TURN, follow=True)
                is_scheduled = _is_scheduled(prompt, text)
            # A person's, unless the beginning of an earlier one is too far back.
            if is_scheduled is None:
                is_scheduled = is_cut and not when
            if not is_scheduled:
                return when
            when = 0.0
        return when or None

    def _prompts(self) -> list[str]:
        """The last prompts since the question was asked, one line for each."""
        noted = self.folder.read(ANSWERED).content
        return noted.decode(errors="replace").splitlines()[-_KEPT:]

    def hears_prompts(self, since: float) -> bool:
        """True if the hook on the user's prompts has run since then, so it is installed."""
        return self.folder.mtime_ns(_PROMPTS) >= since * 1e9

    def is_owner(self, session: str) -> bool:
        """True if the guards know this session as the claim's owner."""
        return self.folder.read(OWNER).content == f"{session}\n".encode()

    def show_owner(self, session: str) -> None:
        """Tell the guards which session owns the claim; "" for none."""
        if not session:
            self.folder.remove(OWNER)
        elif not self.is_owner(session):
            self.folder.write(OWNER, f"{session}\n".encode())
