"""A waiter at rest: continues to wait as a small process if nothing happened for minutes.

A waiter that made a whole look has the engine in memory. After some quiet minutes `ci_waiter` hands over to
this module: the same process starts again, and imports only what asks the machine's shared looks. It gets
what it has to know (`Rest`) on stdin, in place of an event, so that its token is in no file. Once there is
something to decide, the process starts once more, with the waiter's whole path.
"""

from __future__ import annotations

import json
import math
import os
import select
import stat
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from lifecycle.core.errors import LifecycleError, LockBusy
from lifecycle.core.timing import Deadline, DeadlineReached, SystemClock, alarm
from lifecycle.feedback.waiting.shared_looks import SharedLooks
from lifecycle.github.client.client_common import Keeper, Sending, Token
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
"""How long a waiter waits at most before it computes again when to look: clocks are corrected."""

LONGEST_WAIT = 900.0
"""The longest time, in seconds, within which a waiter promises to be back."""

REST = "lifecycle_rest"
"""The key, in an object in place of the event, under which a waiter passes on what it knows."""

SETTLED = 0
"""The exit code if nobody listens any more, or another waiter waits."""

_READER = 2
"""The descriptor whose other end the client holds for as long as it lives: stderr."""


class Rest(TypedDict):
    """What a waiter has to know to continue as a small process.

    Attributes:
        root: the worktree.
        session: the client's session.
        dates: the mtime of each file that others change, by its path.
        ids: the pull request's ids for a shared look.
        looked: when it was last looked at whole; like the other times in seconds since the epoch.
        again: when to ask.
        until: when there is something else to do, None if that is unknown.
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
    """True if this process can be started again in the same way: it is a hook's own process."""
    return bool(sys.executable) and sys.orig_argv[-2:] == ["hook", "ci-waiter"]


def give_place(content: bytes) -> None:
    """Start this process again with these bytes on its stdin, which a pipe takes; does not return."""
    reader, writer = os.pipe()
    os.write(writer, content)
    os.close(writer)
    os.dup2(reader, 0)
    for descriptor in (1, 2):  # no file that is opened later may get one of these numbers
        os.set_inheritable(descriptor, True)
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 -- itself


def run() -> int | dict[str, Any]:
    """Wait at rest if the event asks for that.

    Returns:
        The event for the whole path, if it asks for no rest; SETTLED if nobody listens, or another waits.
    """
    event = stdin_event.read_input()
    rest: Rest | None = event.get(REST)
    if rest is None:
        return event
    event = {"session_id": rest["session"]}  # no session is starting any more
    try:
        with signs_of_life.alone(Folder(Path(rest["root"])), 0):
            clock = SystemClock()
            is_heard = rests(rest, clock, asking(rest, clock))
    except LockBusy:
        return SETTLED
    except (LifecycleError, OSError, DeadlineReached) as error:
        log.write(Path(rest["root"]), f"ci-waiter: {getattr(error, 'sentence', error)}")
        is_heard = True
    if is_heard:
        # After hours the files may be another version's, which do not fit the modules that are here.
        give_place(json.dumps(event).encode())
    return SETTLED


def rests(rest: Rest, clock: Clock, asked: Callable[[float], float]) -> bool:
    """Wait until the whole path has to continue; False if nobody listens any more.

    It has to if the clock was set back, too: both moments were named by the clock of before.

    Args:
        rest: what was passed on.
        clock: time.
        asked: asks GitHub, and says when to ask again; the moment it was given if the pull request needs
            a whole look.
    """
    folder, due, files = Folder(Path(rest["root"])), rest["again"], rest["dates"]
    until, latest = rest["until"] or math.inf, 0.0
    while latest <= (now := clock.now()) < until and dates(files) == files:
        latest = now
        if now >= due and (due := asked(now)) <= now:
            break
        moment = min(due, until)
        signs_of_life.promise(folder, rest["session"], min(moment, now + LONGEST_WAIT))
        if not waits(clock, moment - now, files, os.environ):
            return False
    return True


def asking(rest: Rest, clock: Clock) -> Callable[[float], float]:
    """What asks GitHub for `rests`, over one connection."""
    deadline = Deadline(clock, None)
    tokens = Keeper(lambda: Token(rest["token"], rest["source"]), clock)
    graph = GraphClient(rest["url"], Sending(tokens, deadline))
    root, path = Path(rest["root"]), Path(rest["path"])
    looks = SharedLooks(path, lambda: graph, clock, root, rest["every"])

    def asked(now: float) -> float:
        from lifecycle.core.values.configured import HOOK_SECONDS

        with deadline.renewed(HOOK_SECONDS - 1.0), alarm(HOOK_SECONDS):
            answer = looks.ask(rest["ids"], rest["looked"])
        return now if answer.is_whole else answer.again

    return asked


def waits(clock: Clock, seconds: float, files: Mapping[str, int], of: Mapping[str, str]) -> bool:
    """Wait for so many seconds, or until a file has changed; False if nobody listens any more.

    It never waits long, and by the clock that never runs backwards: the caller then computes again.

    Args:
        clock: time.
        seconds: how long to wait at most.
        files: the files' mtimes, by path.
        of: the environment, which identifies the client.
    """
    end = clock.monotonic() + min(seconds, RECKON_SECONDS)
    while (left := end - clock.monotonic()) > 0:
        if not is_heard(min(SLICE_SECONDS, left), of):
            return False
        if dates(files) != files:
            break
    return True


def dates(paths: Iterable[str]) -> dict[str, int]:
    """The mtime of each of these files, -1 for a missing one."""
    return {path: regular_files.mtime_ns(path, follow=True) for path in paths}


def is_heard(seconds: float, environment: Mapping[str, str]) -> bool:
    """Wait for so many seconds; False once the client is gone. A killed client does not end its hooks.

    Its pipes close with it, unless another process has them open, too; and we get another parent. If
    stderr is a terminal or a file, the end of its reader cannot be noticed.
    """
    kind = os.fstat(_READER).st_mode
    poll = select.poll()
    if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind):
        poll.register(_READER, 0)  # errors and hang-ups are always reported
    return not poll.poll(max(seconds, 0) * 1000) and client_of(environment) is not Client.OTHER
