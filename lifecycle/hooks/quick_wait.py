"""A waiter at rest: waits on in a small process where nothing happened for minutes.

A waiter that looked whole holds the engine in memory. After some quiet minutes `ci_waiter` gives its place
to this one: the same process begins anew, and imports what asks the machine's shared looks and no more. It
gets its event on stdin as any hook does, and with it what it has to know (`Rest`), so that the token in it
lies in no file. Once there is something to decide, the waiter's whole path follows in this process.
"""

from __future__ import annotations

import json
import math
import os
import select
import stat
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from lifecycle.core.errors import LifecycleError, LockBusy
from lifecycle.core.timing import Deadline, DeadlineReached, SystemClock, alarm
from lifecycle.feedback.waiting.shared_looks import SharedLooks
from lifecycle.github.client.graph import GraphClient
from lifecycle.hooks import stdin_event
from lifecycle.settings.running_client import Client, client_of
from lifecycle.storage import log, regular_files, signs_of_life
from lifecycle.storage.store import Folder

if TYPE_CHECKING:
    from lifecycle.core.ports import Clock

SLICE_SECONDS = 3.0
"""How often a waiter looks whether its client is still there, or the files have changed."""

RECKON_SECONDS = 60.0
"""How long a waiter waits at most before it reckons anew when to look: clocks are corrected."""

LONGEST_WAIT = 900.0
"""Seconds for which a waiter promises at most to be back."""

REST = "lifecycle_rest"
"""The key of an event's object under which a waiter gives on what it knows."""

MOST_BYTES = 60_000
"""What a pipe takes before anybody reads; an event that is longer keeps its waiter as it is."""

SETTLED = 0
"""The exit code where nobody listens any more, or another waits."""

_READER = 2
"""The descriptor whose other end the client holds for as long as it lives: stderr."""


class Rest(TypedDict):
    """What a waiter has to know to go on as a small process.

    Attributes:
        root: the worktree.
        session: the client's session.
        dates: the mtime of each file that others change, by its path.
        ids: by which the pull request is asked for.
        looked: when it was last looked at whole; like the other moments in seconds since the epoch.
        again: when to ask.
        until: when there is something else to do, None if nobody knows.
        every: seconds between two looks.
        url, token, source, path: GitHub's address, the token, where it came from, and the shared file.
    """

    root: str
    session: str
    dates: dict[str, int]
    ids: list[str]
    looked: float
    again: float
    until: float | None
    every: float
    url: str
    token: str
    source: str
    path: str


def can_rest() -> bool:
    """True if this process can be begun anew as it was begun: it is a hook's own, and nobody else's."""
    return bool(sys.executable) and sys.orig_argv[-2:] == ["hook", "ci-waiter"]


def give_place(content: bytes) -> None:
    """Begin this process anew with these bytes on its stdin; does not return."""
    reader, writer = os.pipe()
    os.write(writer, content)
    os.close(writer)
    os.dup2(reader, 0)
    for descriptor in (1, 2):  # no file that is opened there may get the number of one of these
        os.set_inheritable(descriptor, True)
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 -- itself


def packed(event: Mapping[str, Any], rest: Rest) -> bytes | None:
    """The event and the rest as `give_place` takes them, None if that is too much.

    Its name is left out: who goes on behind a rest has waited for whatever tells at a start.
    """
    content = json.dumps({**event, "hook_event_name": "", REST: rest}).encode()
    return content if len(content) <= MOST_BYTES else None


def run() -> int | dict[str, Any]:
    """Wait at rest if that is what the event says.

    Returns:
        SETTLED, or the event for the whole path.
    """
    event = stdin_event.read_input()
    rest: Rest | None = event.pop(REST, None)
    if rest is None:
        return event
    try:
        folder = Folder(Path(rest["root"]))
        with signs_of_life.alone(folder, 0):
            is_heard = _Resting(rest, folder).wait()
    except LockBusy:
        return SETTLED
    except (LifecycleError, OSError, DeadlineReached) as error:
        log.write(Path(rest["root"]), f"ci-waiter: {getattr(error, 'sentence', error)}")
        return event
    return event if is_heard else SETTLED


class _Resting:
    """One wait of a small process."""

    def __init__(self, rest: Rest, folder: Folder) -> None:
        self._rest = rest
        self._folder = folder
        self._clock = SystemClock()
        self._deadline = Deadline(self._clock, None)
        self._graph = GraphClient(
            rest["url"], rest["token"], self._deadline, token_source=rest["source"]
        )
        self._looks = SharedLooks(
            Path(rest["path"]), lambda: self._graph, self._clock, folder.root, rest["every"]
        )

    def wait(self) -> bool:
        """Wait until the whole path has to go on; False if nobody listens any more."""
        due, files, session = self._rest["again"], self._rest["dates"], self._rest["session"]
        until = self._rest["until"] or math.inf
        while (now := self._clock.now()) < until and dates(files) == files:
            if now >= due:
                due = self._asked(now)
                if due <= now:
                    return True
                continue
            moment = min(due, until)
            signs_of_life.promise(self._folder, session, min(moment, now + LONGEST_WAIT))
            if not waits(self._clock, moment - now, files, os.environ):
                return False
        return True

    def _asked(self, now: float) -> float:
        """When to ask again; `now` if the pull request is to be looked at whole."""
        from lifecycle.core.values.configured import HOOK_SECONDS

        with self._deadline.renewed(HOOK_SECONDS - 1.0), alarm(HOOK_SECONDS):
            answer = self._looks.ask(self._rest["ids"], self._rest["looked"])
        return now if answer.is_whole else answer.again


def waits(clock: Clock, seconds: float, files: Mapping[str, int], of: Mapping[str, str]) -> bool:
    """Wait for so many seconds, or until a file has changed; False if nobody listens any more.

    Never long, and by the clock that never runs backwards: whoever waits reckons anew after that.

    Args:
        clock: time.
        seconds: how long at the most.
        files: their mtimes, by path.
        of: the environment, by which the client is known.
    """
    end = clock.monotonic() + min(seconds, RECKON_SECONDS)
    while (left := end - clock.monotonic()) > 0:
        if not is_heard(min(SLICE_SECONDS, left), of):
            return False
        if dates(files) != files:
            break
    return True


def dates(paths: Iterable[str]) -> dict[str, int]:
    """The mtime of each of these files, -1 of one that is not there."""
    return {path: regular_files.mtime_ns(path, follow=True) for path in paths}


def is_heard(seconds: float, environment: Mapping[str, str]) -> bool:
    """Wait for so many seconds; False once the client is gone. A killed client ends no hook of its own.

    Its pipes close with it, unless another process holds them too; and we get another parent.
    """
    return _is_read(seconds) and client_of(environment) is not Client.OTHER


def _is_read(seconds: float) -> bool:
    """Wait for so many seconds, but no longer than somebody has the other end of our stderr.

    On a terminal or a file nobody can be seen to leave.
    """
    kind = os.fstat(_READER).st_mode
    poll = select.poll()
    if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind):
        poll.register(_READER, 0)  # errors and hang-ups are always reported
    return not poll.poll(max(seconds, 0) * 1000)
