"""One look of somebody who waits: at the claim as at rest, within a hook's time."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager

from lifecycle.claim.engine import look
from lifecycle.claim.engine.look import Report
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.core.errors import LifecycleError, Transient
from lifecycle.core.plan import Audience, Wake
from lifecycle.core.timing import DeadlineReached
from lifecycle.core.values.configured import HOOK_SECONDS
from lifecycle.core.world import World
from lifecycle.storage import log

TOO_LATE = "GitHub did not answer in time; the claim was kept and is looked at again."


def idle_look(
    world: World,
    claim_store: ClaimStore,
    within: AbstractContextManager[None],
    *,
    audiences: Collection[Audience],
    channel: str,
    session: str,
    held: Collection[str] = (),
) -> Report:
    """Look once; what went wrong is in the log and in the report, and nothing is raised.

    Args:
        world: what may be touched; its deadline is renewed.
        claim_store: the claim.
        within: ends what hangs, with DeadlineReached.
        audiences: whose sentences are taken off the queue, as `look.tick` has it.
        channel: who looks.
        session: the client's session, or "".
        held: events whose sentences stay on the queue all the same.
    """
    world.deadline.renew(HOOK_SECONDS - 1.0)
    try:
        with within:
            return look.tick(
                world,
                claim_store,
                Wake.IDLE,
                audiences=audiences,
                held=held,
                channel=channel,
                session=session,
            )
    except DeadlineReached:
        log.write(world.root, f"{channel}: the deadline was reached")
        return Report(problem=Transient(TOO_LATE))
    except LifecycleError as error:
        log.write(world.root, f"{channel}: {error.sentence}")
        return Report(problem=error)
