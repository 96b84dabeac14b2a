"""Stop, in the background: wait for the pull request's news without the model, and wake the session.

The client starts one of these at every stop (`asyncRewake`), and exit 2 wakes the idle session with
what is on stderr. So one lives for each worktree, by a lock; it serves the session that claimed the
task or handed it off, and ends with that session, with the claim, or when there is nothing to wait
for. It loads everything once and keeps its connection: a poll costs one request.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks.
"""

from __future__ import annotations

import os
import select
import stat
from dataclasses import dataclass
from pathlib import Path

from lifecycle import engine, log, watch
from lifecycle.answers.call import STOPPED, Call
from lifecycle.claim import pace, presence
from lifecycle.claim.seen import Rules
from lifecycle.config import CONFIG_FILE
from lifecycle.deadline import DeadlineReached, alarm
from lifecycle.errors import LifecycleError, LockBusy
from lifecycle.hookio import REPLIES, Reply
from lifecycle.plan import Wake
from lifecycle.settings import HOOK_SECONDS, Settings
from lifecycle.store import STATE
from lifecycle.wiring import World

SLICE_SECONDS = 3.0
"""How often a waiter looks whether its client is still there, or the files have changed."""

RECKON_SECONDS = 60.0
"""How long a waiter waits at most before it reckons anew when to look: clocks are corrected."""

LONGEST_WAIT = 900.0
"""Seconds for which a waiter promises at most to be back."""

TAKE_OVER_SECONDS = 8.0
"""How long the waiter of a new owner waits for the old owner's to end."""

_READER = 2
"""The descriptor whose other end the client holds for as long as it lives: stderr."""


def answer(call: Call) -> Reply:
    """Wait; a reply that wakes, or an empty one if nothing is left to wait for."""
    if not call.has_claim or not call.is_ours:
        return Reply()
    try:
        with watch.alone(call.desk.folder, 0 if call.has_waiter else TAKE_OVER_SECONDS):
            return _Waiter(call).run()
    except LockBusy:
        return Reply()  # one lives already


@dataclass(frozen=True, slots=True)
class _Files:
    """What others change meanwhile, by mtime: compared, never read."""

    claim: int
    state: int
    stopped: int
    settings: int


class _Waiter:
    """One wait, from the stop that started it to the news or the end."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.desk = call.desk
        self.world = call.world
        self.clock = call.world.clock
        self.not_before = 0.0
        # The client starts us at a stop: what lay there then was that stop's to look at.
        self.started_ns = int(call.world.clock.now() * 1e9)

    def run(self) -> Reply:
        """Look when a look is due, until there is something to say or nothing to wait for."""
        while True:
            files = self._files()
            moment = self._next()
            if moment is None:
                return Reply()
            # By the clock that never runs backwards, so that a corrected clock stops nothing for hours.
            pause = self.not_before - self.clock.monotonic()
            if pause > 0:
                moment = max(moment, self.clock.now() + pause)
            if moment > self.clock.now():
                if not self._wait(moment, files):
                    return Reply()
                self._read_settings(files)
                continue
            reply = self._look()
            if reply.code:
                return reply

    def _next(self) -> float | None:
        """When to look: at once if something waits to be said, None if nothing is waited for."""
        try:
            record = self.desk.load(repair=False).record
        except LifecycleError:
            return None  # the agent mends its file, and the stop after that starts another waiter
        if record is None or record.outcome or not presence.is_mine(record, self.call.session):
            return None  # over, or another session's by now
        if {say.tone for say in self.desk.ledger.waiting()} & REPLIES[self.call.hook].tones:
            return 0.0
        claim = self.desk.mtime_ns()
        stopped = max(self._mtime(self.desk.folder.path / STOPPED), self.started_ns)
        return pace.next_look(
            record,
            Rules(poll_seconds=self._settings().poll_seconds),
            self.clock.now(),
            settled=self.desk.is_stamped(claim),
            stopped_at=stopped / 1e9 if stopped >= claim else None,
        )

    def _look(self) -> Reply:
        """One look within a hook's time; what went wrong is in the log, and looked at again."""
        soonest = min(pace.SOONEST, self._settings().poll_seconds)
        self.not_before = self.clock.monotonic() + soonest
        watch.promise(self.desk.folder, self.call.session, self.clock.now() + soonest)
        self.world.deadline.renew(HOOK_SECONDS - 1.0)
        try:
            with alarm(HOOK_SECONDS):
                report = engine.tick(
                    self.world,
                    self.desk,
                    Wake.IDLE,
                    tones=REPLIES[self.call.hook].tones,
                    channel=self.call.hook,
                    session=self.call.session,
                )
        except DeadlineReached:
            log.write(self.world.root, "ci-waiter: the deadline was reached")
            self._begin_anew()
        except LifecycleError as error:
            log.write(self.world.root, f"ci-waiter: {error.sentence}")
        else:
            if report.problem is not None:
                self._begin_anew()  # another connection, and the token as it is by now
            return self.call.reply(report)
        return Reply()

    def _wait(self, moment: float, files: _Files) -> bool:
        """Wait until the moment may have come or a file has changed; False if nobody listens any more.

        Never long, and by the clock that never runs backwards: whoever waits reckons anew after that.
        """
        start = self.clock.now()
        watch.promise(self.desk.folder, self.call.session, min(moment, start + LONGEST_WAIT))
        end = self.clock.monotonic() + min(moment - start, RECKON_SECONDS)
        while (left := end - self.clock.monotonic()) > 0:
            if not _is_heard(min(SLICE_SECONDS, left)):
                return False
            if self._files() != files:
                return True
        return True

    def _files(self) -> _Files:
        folder = self.desk.folder.path
        return _Files(
            self.desk.mtime_ns(),
            self._mtime(folder / STATE),
            self._mtime(folder / STOPPED),
            self._mtime(self.world.root / CONFIG_FILE),
        )

    def _mtime(self, path: Path) -> int:
        try:
            return path.stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    def _settings(self) -> Settings:
        try:
            return self.world.settings
        except LifecycleError:
            return Settings()  # the look itself says what is wrong with them

    def _read_settings(self, files: _Files) -> None:
        """Begin with a new world if `.lifecycle.toml` was edited meanwhile."""
        if self._files().settings != files.settings:
            self._begin_anew()

    def _begin_anew(self) -> None:
        old = self.world
        old.close()
        self.world = World(old.root, old.environment, self.clock, old.deadline, self.desk.state)


def _is_heard(seconds: float) -> bool:
    """Wait, but no longer than the client lives: False once it has closed its end of our stderr.

    A client that is killed ends no hook of its own; its pipes end with it. On a terminal or a file
    nobody can be seen to leave.
    """
    kind = os.fstat(_READER).st_mode
    poll = select.poll()
    if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind):
        poll.register(_READER, 0)  # errors and hang-ups are always reported
    return not poll.poll(max(seconds, 0) * 1000)
