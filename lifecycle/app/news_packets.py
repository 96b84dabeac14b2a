"""News and the packet that tells why: fetched for whom they wake, named wherever else they are said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from lifecycle.core.errors import LifecycleError
from lifecycle.core.plan import Notice
from lifecycle.core.redact import redact
from lifecycle.core.timing import DeadlineReached
from lifecycle.core.world import World
from lifecycle.storage import log
from lifecycle.storage.feedback_files import FeedbackFiles

FETCH_SECONDS = 20.0
"""How long a wake waits for the logs: then it goes out without what was not read."""

PREPARE_SECONDS = FETCH_SECONDS + 12.0
"""How long `prepared` takes at the most: the runs and the base are asked for after the logs."""

_FAILED = "failed"


def prepared(world: World, waiting: Iterable[Notice]) -> list[str]:
    """Lines of ours that tell why the checks failed of which one of these sentences speaks.

    What failed is fetched, within FETCH_SECONDS; that it could not be is a line as well.
    """
    for pull, head in _failed(waiting):
        try:
            return [*world.failures.explained(pull, head, FETCH_SECONDS)]
        except (LifecycleError, OSError, DeadlineReached) as error:
            log.write(world.root, f"feedback: {error}")
            return [unread(getattr(error, "sentence", ""), pull)]
    return []


def unread(why: str, pull: int) -> str:
    """The sentence that a packet could not be read; `why` is somebody's sentence, "" if time was up."""
    why = redact(why or "the time for that was up.")
    return f"What CI's logs say was not read: {why} lifecycle feedback {pull} reads it."


def with_packets(root: Path, said: Iterable[Notice]) -> tuple[Notice, ...]:
    """The same sentences; one about checks whose packet is there says where."""
    return tuple(_with_packet(root, notice) for notice in said)


def _with_packet(root: Path, notice: Notice) -> Notice:
    for pull, head in _failed([notice]):
        name = FeedbackFiles.packet_of(pull, head)
        try:
            is_there = FeedbackFiles(root).has(name)
        except OSError:
            return notice
        if is_there:
            where = FeedbackFiles.shown(name)
            return replace(notice, text=f"{notice.text} What the logs say is in {where}.")
    return notice


def _failed(notices: Iterable[Notice]) -> Iterator[tuple[int, str]]:
    """Pull request and head of each sentence about failed checks, by its key."""
    for notice in notices:
        event, _, rest = notice.key.rpartition("/")[2].partition(":")
        number, _, more = rest.partition(":")
        if event == _FAILED and number.isdecimal():
            yield int(number), more.partition(":")[0]
