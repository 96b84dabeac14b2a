"""How a wait ended and why, with a claim or without one; values for the command that prints them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

from lifecycle.app import news_packets
from lifecycle.claim.record.sections import PullRecord
from lifecycle.core import errors
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.plan import Notice
from lifecycle.core.timing import DeadlineReached
from lifecycle.core.values.checks import Verdict
from lifecycle.core.world import World
from lifecycle.feedback.checks.fetching import FetchedPacket
from lifecycle.feedback.waiting.endings import Ending, Standing

SETTLE_SECONDS = 60.0
"""For how long after its beginning a wait does not believe in a head that is not the one pushed last."""

Within = Callable[[], AbstractContextManager[None]]
"""Makes a context that ends a look which hangs, by the world's deadline."""

OF_CREDENTIALS = (errors.NoToken, errors.BadCredentials, errors.NoPermission, errors.MissingScope)


@dataclass(frozen=True, slots=True)
class Waited:
    """How a wait ended.

    Attributes:
        ending: what ended it.
        pull, head: the pull request and its head, 0 and "" if none was seen.
        said: the news, which counts as told.
        state: sentences on where it stands, where there was no news.
        packet: what failed, for red ones.
        why: lines on a conflict, or on what failed in the merge queue.
        problem: what went wrong with the last look, "" if nothing did.
    """

    ending: Ending
    pull: int = 0
    head: str = ""
    said: tuple[Notice, ...] = ()
    state: tuple[str, ...] = ()
    packet: FetchedPacket | None = None
    why: tuple[str, ...] = ()
    problem: str = ""


def standing_of(record: PullRecord) -> Standing:
    """Where an open pull request stands, by what a look remembered."""
    checks = record.checks or {}
    is_of_head = checks.get("sha") == record.head
    verdict = str(checks.get("verdict")) if is_of_head else ""
    return Standing(
        verdict=Verdict(verdict) if verdict in {*Verdict} else None,
        is_over=is_of_head and not (checks.get("running") or checks.get("unfinished")),
        is_conflicting=bool(record.conflicts_with),
        is_approved=record.is_approved,
        is_held=is_of_head and bool(checks.get("waits")),
    )


def explained(world: World, ended: Waited, news: Iterable[Notice], within: Within) -> Waited:
    """The end with its reasons: the packet of red checks, lines on what else its news is about.

    They are fetched within FETCH_SECONDS; `within` makes a context that ends what hangs.
    """
    if ended.ending is Ending.RED and ended.pull:
        packet, problem = packet_of(world, ended.pull, within())
        return replace(ended, packet=packet, problem=problem)
    if ended.ending not in (Ending.CONFLICT, Ending.THROWN_OUT):
        return ended
    try:
        with world.deadline.renewed(news_packets.FETCH_SECONDS), within():
            why = news_packets.prepared(world, news).values()
            return replace(ended, why=tuple(line for lines in why for line in lines))
    except DeadlineReached:  # between two of them: the sentence of each says where to look
        return ended


def packet_of(
    world: World, pull: int, within: AbstractContextManager[None]
) -> tuple[FetchedPacket | None, str]:
    """What failed on a head, or why that was not read; `within` ends what hangs."""
    from lifecycle.feedback.checks.fetching import fetch

    try:
        with world.deadline.renewed(news_packets.FETCH_SECONDS), within:
            return fetch(world, pull), ""
    except DeadlineReached:
        return None, news_packets.unread("", pull)
    except (errors.LifecycleError, OSError) as error:
        return None, news_packets.unread(getattr(error, "sentence", ""), pull)
