"""Writes to the linked task, and those pending of a claim that ended or was never made, which are retried.

state.json keeps these, since the claim that wanted one is gone. It is tried more and more rarely, and
whoever looks by command tries it at once. It ends when it is done, when the task is somebody else's or gone
by then, or with one sentence after `KEPT_SECONDS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lifecycle.claim.decisions import card_and_link
from lifecycle.claim.record.state import REFUSED_SECONDS, RETRY_SECONDS, Record
from lifecycle.core.errors import (
    AlreadyClaimed,
    BlockedBy,
    LifecycleError,
    NotClaimable,
    NotFound,
    Transient,
)
from lifecycle.core.light_dataclass import asdict, dataclass, replace
from lifecycle.core.messages import linked_messages
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.redact import redact
from lifecycle.core.timing import DeadlineReached
from lifecycle.settings import config
from lifecycle.storage import journal, log
from lifecycle.storage.state_file import PENDING

if TYPE_CHECKING:
    from lifecycle.claim.record.claim_store import ClaimStore
    from lifecycle.core.tracker import Task, Tracker
    from lifecycle.core.world import World

KEPT_SECONDS = 14 * 86_400.0
DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Left:
    """One pending write to a linked task.

    Attributes:
        tracker: the registry's name; "" for the worktree's, whose task was never asked for.
        id: the task there, or "".
        actor: in whose name.
        wanted: `linked.CLOSED` or `linked.RELEASED`.
        issue: the number of the issue.
        reason: of a closing.
        since, until: when that began, and when it is tried again; seconds since the epoch.
    """

    tracker: str
    id: str
    actor: str
    wanted: str
    issue: int
    reason: str = ""
    since: float = 0.0
    until: float = 0.0


def waiting(state: Mapping[str, Any]) -> tuple[Left, ...]:
    """The pending writes in state.json."""
    return tuple(Left(**one) for one in state.get(PENDING, ()))


def due(state: Mapping[str, Any]) -> float | None:
    """When the first pending write is to be tried again, or None without one."""
    return min((one.until for one in waiting(state)), default=None)


def add(claim_store: ClaimStore, left: Left) -> None:
    """Keep a pending write; it replaces an earlier one for the same task."""
    about, pending = (left.tracker, left.id), waiting(claim_store.state)
    _set(claim_store, [*(one for one in pending if (one.tracker, one.id) != about), left])


def forget(claim_store: ClaimStore, tracker: str, task: str) -> None:
    """Delete the pending write for a task that a new claim has taken."""
    kept = [one for one in waiting(claim_store.state) if (one.tracker, one.id) != (tracker, task)]
    _set(claim_store, kept)


def actors(claim_store: ClaimStore, task: str) -> set[str]:
    """The names in which this worktree still has to release the task."""
    return {one.actor for one in waiting(claim_store.state) if one.id == task}


def at_the_end(claim_store: ClaimStore, record: Record) -> None:
    """Before the claim file is deleted: keep the write to the linked task that is not done yet."""
    link, claim, now = record.linked.link, record.claim, claim_store.clock.now()
    action = card_and_link.link_action(record)
    left = None
    if link is not None and action is not None:
        issue = claim.issue
        left = Left(link.tracker, link.id, claim.agent_id, action.wanted, issue, action.reason)
    elif link is None and card_and_link.FIND in record.troubles and claim.issue_number is not None:
        wanted, reason = card_and_link.link_wanted(record), card_and_link.link_reason(record)
        left = Left("", "", claim.agent_id, wanted, claim.issue_number, reason)
    if left is not None:
        add(claim_store, replace(left, since=now, until=now + REFUSED_SECONDS))
        claim_store.save()


def finish(world: World, claim_store: ClaimStore, record: Record | None, *, is_asked: bool) -> None:
    """Try the pending writes whose time has come; the caller holds the lock.

    Args:
        world: what may be touched.
        claim_store: holds the list.
        record: the worktree's claim, which takes care of its own task, or None.
        is_asked: somebody looks by command, so that nothing waits for its time.
    """
    link = record.linked.link if record is not None and not record.ending.outcome else None
    for left in waiting(claim_store.state):
        if link is not None and (link.tracker, link.id) == (left.tracker, left.id):
            forget(claim_store, left.tracker, left.id)
        elif is_asked or world.clock.now() >= left.until:
            _try(world, claim_store, left)
    claim_store.save()


def _try(world: World, claim_store: ClaimStore, left: Left) -> None:
    now = world.clock.now()
    try:
        done = _done(world, left)
    except (AlreadyClaimed, NotFound):
        done = ""
    except DeadlineReached:
        _later(claim_store, left, Transient("The answer did not come in time."), now)
        raise
    except LifecycleError as error:
        error.sentence = redact(error.sentence, world.environment)
        log.write(
            world.root, f"{left.id or 'a linked task'} is not {left.wanted}: {error.sentence}"
        )
        _later(claim_store, left, error, now)
        return
    forget(claim_store, left.tracker, left.id)
    if done and left.wanted == card_and_link.CLOSED:
        _tell(claim_store, left, linked_messages.closed_after_all(done, left.issue))
    if done:
        journal.note(world.root, _entry(left, done, now))


def _done(world: World, left: Left) -> str:
    """Carry out one pending write; returns the task's id, or "" if nothing is left to do."""
    tracker = world.inner_as(left.actor, left.tracker)
    if tracker is None:
        return ""
    name = left.id
    if not name:
        tasks = find(world, tracker, left.issue)
        name = tasks[0].id if tasks else ""
    if not name or not tracker.get(name).is_open:
        return ""
    if left.wanted == card_and_link.CLOSED and world.forge.issue(left.issue).is_open:
        return ""  # reopened since then: so is the task, and neither is this claim's any more
    written(tracker, name, left.wanted, left.reason)
    return name


def _later(claim_store: ClaimStore, left: Left, error: LifecycleError, now: float) -> None:
    """Schedule the next try, after as long as the write has waited already; or give up with a notice."""
    if now - left.since >= KEPT_SECONDS:
        forget(claim_store, left.tracker, left.id)
        name = left.id or f"of #{left.issue}"
        _tell(claim_store, left, linked_messages.given_up(name, left.wanted, error.sentence))
        return
    least = RETRY_SECONDS if isinstance(error, Transient) else REFUSED_SECONDS
    wait = min(max(least, now - left.since), DAY_SECONDS)
    add(claim_store, replace(left, until=now + wait))


def _tell(claim_store: ClaimStore, left: Left, text: str) -> None:
    key = f"linked-undone:{left.tracker}:{left.id}:{int(left.since)}"
    claim_store.ledger.queue(Notice(key, text, Audience.NOTE))


def _entry(left: Left, task: str, now: float) -> journal.JournalEntry:
    return journal.JournalEntry(
        now,
        journal.CLAIM,
        journal.WRITE,
        task=f"#{left.issue}",
        actor=left.actor,
        target="linked task",
        key=f"{left.issue}@{left.actor}/SetLinked/{task}/{left.wanted}",
        detail={"id": task, "wanted": left.wanted},
    )


def _set(claim_store: ClaimStore, left: list[Left]) -> None:
    if left:
        claim_store.state[PENDING] = [asdict(one) for one in left]
    else:
        claim_store.state.pop(PENDING, None)


def find(world: World, tracker: Tracker, issue: int) -> tuple[Task, ...]:
    """The open tasks that are linked to the issue, the most urgent one first; raises as `list` does."""
    host = config.web_host(world.addresses.api_url)
    return card_and_link.of_issue(tracker.list(), issue, str(world.base), host)


def written(tracker: Tracker, task: str, wanted: str, reason: str) -> str:
    """Bring a task to the wanted state and return the state it has then; a closed one stays closed.

    Raises:
        AlreadyClaimed: it is to be claimed or closed, and somebody else has it.
        NotFound, Refused, Rejected, Transient: as the tracker says.
    """
    if wanted == card_and_link.RELEASED:
        return card_and_link.RELEASED if released(tracker, task) else card_and_link.CLOSED
    if wanted == card_and_link.CLAIMED:
        try:
            tracker.claim(task)
        except (NotClaimable, BlockedBy):
            if tracker.get(task).is_open:
                raise
            return card_and_link.CLOSED
        return card_and_link.CLAIMED
    now = tracker.get(task)
    if now.is_open and now.assignee not in ("", tracker.actor):
        raise AlreadyClaimed(linked_messages.held_by(task, now.assignee), by=now.assignee)
    if now.is_open:
        tracker.close(task, reason=reason)
    return card_and_link.CLOSED


def released(tracker: Tracker, task: str) -> bool:
    """Release a task unless it is somebody else's or gone; False if it is closed and stays so."""
    try:
        if is_open := tracker.get(task).is_open:
            tracker.release(task)
    except (AlreadyClaimed, NotFound):
        return True
    return is_open
