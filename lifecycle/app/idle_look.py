"""One look at the claim for a process that waits: within a hook's time, and shared with other waiters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, TypeVar

from lifecycle.claim.decisions.pull import review
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.engine.look import Report, tick
from lifecycle.claim.engine.observing import TOO_LATE
from lifecycle.claim.record.claim_store import Listener
from lifecycle.core.errors import LifecycleError, Transient
from lifecycle.core.plan import Wake
from lifecycle.core.timing import DeadlineReached, parse_time
from lifecycle.core.values.configured import HOOK_SECONDS
from lifecycle.storage import log
from lifecycle.storage.state_file import WATCHED

if TYPE_CHECKING:
    from lifecycle.app.wiring import WorktreeWorld
    from lifecycle.claim.record.claim_store import ClaimStore
    from lifecycle.claim.record.state import Record
    from lifecycle.feedback.waiting.look_rounds import SharedAnswer
    from lifecycle.feedback.waiting.shared_looks import SharedLooks

T = TypeVar("T")

Watching = tuple[Sequence[str], float]
"""A pull request by its ids, and when somebody here last looked at it whole."""


def idle_look(
    world: WorktreeWorld,
    claim_store: ClaimStore,
    within: AbstractContextManager[None],
    to: Listener,
    poll_seconds: float | None = None,
    seconds: float = HOOK_SECONDS - 1.0,
) -> Report:
    """Look once; errors are written to the log and the report, and nothing is raised.

    Args:
        world: everything that the look may use; its deadline is renewed, and removed afterwards.
        claim_store: the claim.
        within: a context that ends a hanging call, with DeadlineReached.
        to: who gets the notices that are taken off the queue.
        poll_seconds: how old the last poll of the checks has to be, as for `tick`.
        seconds: how long the look may take.
    """
    try:
        with world.deadline.renewed(seconds), within:
            report = tick(
                world, claim_store, Wake.IDLE, to=to, may_read=True, poll_seconds=poll_seconds
            )
    except DeadlineReached:
        log.write(world.root, f"{to.channel}: the deadline was reached")
        return Report(problem=Transient(TOO_LATE))
    except LifecycleError as error:
        log.write(world.root, f"{to.channel}: {error.sentence}")
        return Report(problem=error)
    if isinstance(report.problem, Transient) and report.problem.retry_after:
        seconds = report.problem.retry_after
        _with_looks(world, nullcontext(), lambda looks: looks.hold(seconds))
    return report


def join(
    world: WorktreeWorld, watching: Watching | None, within: AbstractContextManager[None]
) -> None:
    """Have the other waiters' next look ask for this pull request as well; asks nobody."""
    if watching is not None:
        _with_looks(world, within, lambda looks: looks.join(*watching))


def shared(
    world: WorktreeWorld,
    watching: Watching | None,
    within: AbstractContextManager[None],
    seconds: float = HOOK_SECONDS - 1.0,
) -> SharedAnswer | None:
    """What this machine's waiters know of a pull request, with at most one request for all of them.

    None means: look yourself. A waiter also looks itself if it has to do more than see whether something
    changed: the claim was edited, something failed, reviews are due, failures have to be read again, or
    GitHub never showed its checks.
    """
    if not watching:
        return None
    return _with_looks(world, within, lambda looks: looks.ask(*watching), seconds)


def watched(world: WorktreeWorld, claim_store: ClaimStore, record: Record) -> Watching | None:
    """The pull request's ids and the time of its last whole look; None if it needs a look of its own."""
    ids, due = claim_store.file.get(WATCHED), record.pull.reviews.get("due")
    looked = parse_time(record.claim.last_check_poll)
    is_edited = record.touched != claim_store.mtime_ns()
    is_due = isinstance(due, int | float) and due <= world.clock.now()
    if not isinstance(ids, list) or ids[:1] != [record.claim.pr_number] or looked is None:
        return None
    if record.claim.phase != Phase.CHECKS_RUNNING or is_edited or is_due or record.troubles:
        return None
    pull, failing = record.pull, record.pull.failures
    is_read_on = failing.get("is_due") or failing.get("base") or pull.is_unread
    # If no check ever comes, no digest changes.
    is_unchecked = looked < review.unchecked_from(pull) <= world.clock.now()
    if is_read_on or pull.reruns or pull.merging.queued or is_unchecked:
        return None  # such a look also reads the logs, the base, a run of the head, or the queue
    return tuple(str(node_id) for node_id in ids[1:]), looked


def _with_looks(
    world: WorktreeWorld,
    within: AbstractContextManager[None],
    call: Callable[[SharedLooks], T],
    seconds: float = HOOK_SECONDS - 1.0,
) -> T | None:
    """The result of `call` with the shared looks; None if there are none, or something went wrong."""
    try:
        with world.deadline.renewed(seconds), within:
            world.renew_token()
            looks = world.looks
            return call(looks) if looks is not None else None
    except (DeadlineReached, LifecycleError) as error:
        log.write(world.root, f"looks are not shared: {getattr(error, 'sentence', TOO_LATE)}")
        return None
