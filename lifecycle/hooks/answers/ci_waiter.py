"""Stop and SessionStart, in the background: wait for the pull request's news, and wake the session.

The client starts a waiter at every stop and start (`asyncRewake`), and exit 2 wakes the idle session with
the text on stderr; until then the model is not used. A lock lets only one live in each worktree. It serves
the session that claimed the task or handed it off, and ends with that session, with the claim, or when
there is nothing to wait for. It loads everything once and keeps its connection: a poll costs one request.
If nothing happens for minutes, it turns into a smaller process (`quick_wait`). An unattended client waits
for it: there it lives, after a stop, as long as the settings ask for, and by default not at all.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks.
"""

from __future__ import annotations

import json
import math

from lifecycle.app import news_packets
from lifecycle.app.waiting.wait_loop import Waiting, Watching, watched
from lifecycle.claim.decisions.pull import pace
from lifecycle.claim.engine import observing
from lifecycle.claim.engine.look import Report
from lifecycle.core.errors import LifecycleError, LockBusy
from lifecycle.core.light_dataclass import replace
from lifecycle.core.plan import PACKED, Notice
from lifecycle.core.timing import alarm
from lifecycle.core.values.configured import HOOK_SECONDS
from lifecycle.feedback.waiting.endings import event_of, events_of
from lifecycle.github.client.client_common import RENEW_SECONDS
from lifecycle.hooks import quick_wait
from lifecycle.hooks.answers.call import STOPPED, HookCall, has_packet
from lifecycle.hooks.client_contract import Reply
from lifecycle.hooks.wake import SECONDS
from lifecycle.settings import config
from lifecycle.settings.running_client import Client
from lifecycle.storage import signs_of_life
from lifecycle.storage.store import STATE

REST_SECONDS = 300.0
"""Seconds without a change or a look of its own after which a waiter becomes small (`quick_wait`)."""

_START = "SessionStart"

TAKE_OVER_SECONDS = 8.0
"""How long the waiter of a new owner waits for the old owner's waiter to end."""


def answer(call: HookCall) -> Reply:
    """Wait; return a reply that wakes, or an empty one if nothing is left to wait for."""
    if not call.has_claim or not call.is_ours:
        return Reply()
    longest = math.inf
    if call.client is Client.UNATTENDED:
        if call.event.get("hook_event_name") == _START:
            return Reply()  # the client would not begin before this ends
        longest = call.world.settings.wait_unattended
    patience = 0 if call.has_waiter else TAKE_OVER_SECONDS
    try:
        with signs_of_life.alone(call.claim_store.folder, patience):
            return _Waiter(call, longest).run()
    except LockBusy:
        return Reply()  # another waiter lives already


class _Waiter(Waiting[Reply]):
    """One wait, from the stop that started it to the news or the end, and for `longest` seconds at most."""

    look_seconds = HOOK_SECONDS - 1.0

    def __init__(self, call: HookCall, longest: float) -> None:
        super().__init__(call.world, lambda: alarm(HOOK_SECONDS), longest)
        self.call = call
        self.claim_store = call.claim_store
        self.reply: Reply | None = None
        self.busy_at = self.clock.monotonic()
        if call.event.get("hook_event_name") == _START:  # session-start looks first, and tells
            self.not_before = self.busy_at + SECONDS["session-start"]
        if call.record is not None:
            self._join(watched(self.world, self.claim_store, call.record))

    def _next(self) -> float | Reply:
        if self.reply is None:
            self.files = self._dates()
            moment = self._due() if self.left > 0 else None
            if moment is not None and quick_wait.is_heard(0, self.world.environment):
                return moment
        return self.reply or Reply()

    def _due(self) -> float | None:
        """When to look: at once if notices wait to be said, None if there is nothing to wait for."""
        try:
            record = self.claim_store.load(repair=False).record
        except LifecycleError:
            return None  # the agent fixes its file, and the stop after that starts another waiter
        if record is None or record.ending.outcome or self.call.is_held(record):
            return None  # over, or another session's by now
        if not observing.is_mine(record, self.call.session):
            return 0.0  # its session is over: the look makes it this one's
        if self._ours():
            return 0.0
        claim = self.claim_store.mtime_ns()
        # The client starts us at a stop, which itself looks at earlier changes of files.
        stopped = max(self.claim_store.folder.mtime_ns(STOPPED), int(self.began * 1e9))
        stopped_at = stopped / 1e9 if stopped >= claim else None
        settled, now = self.claim_store.marks.is_stamped(claim), self.clock.now()
        moment = pace.next_look(record, self.every, now, settled=settled, stopped_at=stopped_at)
        return moment if moment is None else max(moment, self.again)

    def _watching(self) -> Watching | None:
        record = self.claim_store.remembered()
        return watched(self.world, self.claim_store, record) if record is not None else None

    def _pause(self, moment: float) -> None:
        """Wait until then, or until others changed a file; rest, or end if nobody listens any more."""
        rest = self._rest(moment)
        if rest is not None:
            self.reply = Reply(rest=rest)
            return
        now, before = self.clock.now(), self.files
        self._promise(min(moment, now + quick_wait.LONGEST_WAIT))
        seconds = min(moment - now, self.left)
        if not quick_wait.waits(self.clock, seconds, before, self.world.environment):
            self.reply = Reply()
        files = self._dates()
        if files != before:
            self.again, self.busy_at = 0.0, self.clock.monotonic()
        if files[self._settings_file] != before[self._settings_file]:
            self._begin_anew()

    def _left(self) -> frozenset[str]:
        """The events whose news a running `lifecycle wait` tells by itself."""
        return events_of(signs_of_life.waited_for(self.claim_store.folder, self.clock.now()))

    def _ours(self) -> list[Notice]:
        """The waiting notices, and those with a packet to read, that this waiter has to say."""
        waiting = news_packets.to_be_read(self.claim_store.ledger, self.claim_store.remembered())
        mine, left = self.call.listener.audiences, self._left()
        ours = [notice for notice in waiting if notice.audience in mine]
        return [notice for notice in ours if event_of(notice.key) not in left]

    def _look(self) -> None:
        """One look, and its reply; the packet of a notice is read before the notice counts as said."""
        report, why = self._tick(frozenset(PACKED)), list[str]()
        waiting = self._ours()
        if has_packet(waiting):
            self._promise(self.clock.now() + news_packets.PREPARE_SECONDS + HOOK_SECONDS)
            packets = news_packets.prepared(self.world, waiting)
            # Other news that this look finds waits for the next look, which reads its packet.
            second = self._tick(frozenset(PACKED).difference(packets))
            events = {event_of(notice.key) for notice in second.said}
            why = [line for event, lines in packets.items() if event in events for line in lines]
            record, notices = second.record or report.record, (*report.said, *second.said)
            report = replace(second, record=record, said=notices)
        reply = self.call.reply(report, why)
        self.reply = reply if reply.code else None

    def _tick(self, held: frozenset[str]) -> Report:
        """One look within a hook's time; after an error, there will be another one."""
        self.busy_at = self.clock.monotonic()
        self._promise(self.clock.now() + self.soonest)
        to = replace(self.call.listener, held=held | self._left())
        report = self._ticked(self.claim_store, to)
        if report.problem is not None:
            self._begin_anew()  # a new connection, with the present token
        self.call.sign_first(report.record)
        return report

    def _promise(self, until: float) -> None:
        """Note that this waiter promises to be back by then."""
        signs_of_life.promise(self.claim_store.folder, self.call.session, until)

    def _rest(self, moment: float) -> bytes | None:
        """What a small process has to know to wait instead of this one; None as long as this one stays.

        It stays if its time may run out, or if it waits for more than a change of the pull request.
        """
        is_quiet = self.clock.monotonic() - self.busy_at >= REST_SECONDS
        if not is_quiet or math.isfinite(self.ends) or not quick_wait.can_rest():
            return None
        record, watching = self.claim_store.remembered(), self._watching()
        mine, waiting = self.call.listener.audiences, self.claim_store.ledger.waiting()
        if record is None or watching is None or any(note.audience in mine for note in waiting):
            return None
        try:
            token, looks = self.world.token, self.world.looks
        except LifecycleError:
            return None
        if looks is None or self._dates() != self.files:
            return None
        due = record.pull.reviews.get("due")
        ends = [float(due)] if isinstance(due, int | float) else []
        ends += [token.expires_at - RENEW_SECONDS] if token.expires_at is not None else []
        rest = quick_wait.Rest(
            root=str(self.world.root),
            session=self.call.session,
            dates=self.files,
            ids=list(watching[0]),
            looked=watching[1],
            again=moment,
            until=min(ends, default=None),
            every=looks.every,
            url=self.world.addresses.graphql_url,
            token=token.value,
            source=token.source,
            path=str(looks.path),
        )
        return json.dumps({quick_wait.REST: rest}).encode()

    def _dates(self) -> dict[str, int]:
        """The dates of files that others change meanwhile, by path: compared, never read."""
        folder = self.claim_store.folder.path
        ours = (self.claim_store.disk.path, folder / STATE, folder / STOPPED)
        return quick_wait.dates([*map(str, ours), self._settings_file])

    @property
    def _settings_file(self) -> str:
        return str(config.file_of(self.world.root))

    def _begin_anew(self) -> None:
        """Continue with another world, which reads the settings again and makes a new connection."""
        old = self.world
        old.close()
        self.world = old.beside(old.root, old.environment, self.claim_store.file)
