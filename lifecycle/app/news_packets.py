"""Packets that tell why something failed: fetched for a wake, and named in other sentences about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from lifecycle.claim.record.state import Record
from lifecycle.core import errors, timing
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.redact import redact
from lifecycle.core.world import World
from lifecycle.storage import feedback_files, log, state_file

FETCH_SECONDS = 20.0
"""How many seconds a wake waits for packets; then it goes out without those that were not read."""

PREPARE_SECONDS = FETCH_SECONDS + 12.0
"""How many seconds `prepared` takes at most: the runs and the base are read after the logs."""


@dataclass(frozen=True, slots=True)
class PackedEvent:
    """The parts of the key of a notice that has a packet.

    Attributes:
        event: its kind, a key of `KINDS`.
        pull: the pull request.
        commit: the commit that the packet is about, a head or one of the merge queue; "" if unknown.
        rest: the rest of the key.
    """

    event: str
    pull: int
    commit: str
    rest: str


def _checks(world: World, of: PackedEvent, seconds: float) -> list[str]:
    return [*world.failures.explained(of.pull, of.commit, seconds)]


def _queue(world: World, of: PackedEvent, seconds: float) -> list[str]:
    from lifecycle.feedback.checks.fetching import fetch

    world.deadline.renew(seconds)
    group = of.commit or world.reports.queue_commit(of.pull)
    fetched = fetch(world, of.pull, world.deadline.left, group=group) if group else None
    return fetched.wake_lines() if fetched and fetched.count else []


def _conflict(world: World, of: PackedEvent, seconds: float) -> list[str]:
    from lifecycle.feedback.merging.conflict import fetch

    return fetch(world, of.pull, of.commit, of.rest, seconds).wake_lines()


@dataclass(frozen=True, slots=True)
class PacketKind:
    """One kind of packet: how it is fetched and told in a wake, and the sentences about it."""

    lines: Callable[[World, PackedEvent, float], list[str]]
    unread: str
    where: str = "Excerpts of the logs are in {where}."
    fetched_by: str = ""


_UNREAD = (
    "What failed in the queue was not read: {why} To read it, run: lifecycle feedback merge {pull}"
)
KINDS = {
    "failed": PacketKind(
        _checks,
        "CI's logs were not read: {why} To read them, run: lifecycle feedback {pull}",
        fetched_by="To see what the logs say, run: lifecycle feedback {pull}",
    ),
    "ejected": PacketKind(_queue, _UNREAD),
    "conflict": PacketKind(
        _conflict,
        "The files in conflict were not found: {why} To see them, run: lifecycle feedback merge {pull}",
        "Files and commits are in {where}.",
    ),
}
"""The kind of packet, by the event in a notice's key."""

_KEY = re.compile(rf"(?:[^/:]*/)?({'|'.join(KINDS)}):(\d+):([0-9a-f]*)(?::(.*))?$", re.DOTALL)


def to_be_read(ledger: state_file.Ledger, record: Record | None) -> list[Notice]:
    """The waiting notices; and one for failed checks that were told without their reasons being read."""
    waiting = ledger.waiting()
    if record is not None and record.pull.is_unread:
        key = f"{record.claim_key}/failed:{record.claim.pr_number}:{record.pull.head}:"
        waiting.append(Notice(key, "", Audience.NEWS))
    return waiting


def prepared(world: World, waiting: Iterable[Notice]) -> dict[str, list[str]]:
    """Fetch the packets of these notices; returns, by event, lines that tell why it happened.

    This takes at most FETCH_SECONDS; for a packet that could not be fetched, a line says so.
    """
    lines: dict[str, list[str]] = {}
    end = world.clock.monotonic() + FETCH_SECONDS
    for of in {packed.event: packed for packed in _packed(waiting)}.values():
        try:
            lines[of.event] = KINDS[of.event].lines(world, of, end - world.clock.monotonic())
        except (errors.LifecycleError, OSError, timing.DeadlineReached) as error:
            log.write(world.root, f"feedback: {error}")
            lines[of.event] = [unread(getattr(error, "sentence", ""), of.pull, of.event)]
    return lines


def judged(world: World, waiting: Iterable[Notice], within: AbstractContextManager[None]) -> bool:
    """Read why checks failed, if one of these notices is about that; then True: the next look uses it.

    `within`: a context that ends a hanging call.
    """
    for of in _packed(waiting):
        if of.event == "failed":
            world.deadline.renew(FETCH_SECONDS)
            kinds = (errors.LifecycleError, OSError, timing.DeadlineReached)
            with log.Surviving(world.root, "feedback", *kinds), within:
                world.failures.explained(of.pull, of.commit, None)
            return True
    return False


def unread(why: str, pull: int, event: str = "failed") -> str:
    """The sentence that a packet was not read; `why` is a sentence, or "" if the time was up."""
    why = redact(why or "the time for that was up.")
    return KINDS[event].unread.format(why=why, pull=pull)


def with_packet(root: Path, notice: Notice) -> Notice:
    """The notice with its packet's place in `.lifecycle/feedback/`, or the command to fetch it."""
    for of in _packed([notice]):
        name = feedback_files.packet_of(of.pull, of.commit, of.event)
        try:
            is_there = bool(of.commit) and feedback_files.folder_of(root).has(name)
        except OSError:
            return notice
        kind = KINDS[of.event]
        if template := kind.where if is_there else kind.fetched_by:
            place = template.format(where=feedback_files.shown(name), pull=of.pull)
            between = " " if notice.text.endswith(".") else "\n"  # a command ends its line
            return replace(notice, text=f"{notice.text}{between}{place}")
    return notice


def _packed(notices: Iterable[Notice]) -> Iterator[PackedEvent]:
    """The keys of those notices that have a packet, split into their parts."""
    for notice in notices:
        if match := _KEY.match(notice.key):
            event, pull, commit, rest = match.groups("")
            yield PackedEvent(event, int(pull), commit, rest)
