"""Write to the linked task; keep and retry the writes that an ended or failed claim left pending.

state.json keeps a pending write, since its claim does not exist any more. It is tried more and more rarely;
a look by command tries it at once. It is dropped when it is done, when the task is somebody else's or does
not exist any more, or with one notice after `KEPT_SECONDS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lifecycle.claim.decisions import card_and_link
from lifecycle.claim.record.claim_file import sentence
from lifecycle.claim.record.state import DAY_SECONDS, REFUSED_SECONDS, RETRY_SECONDS, Record
from lifecycle.core import errors
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
"""Seconds after which a pending write that fails is given up."""


@dataclass(frozen=True, slots=True)
class Left:
    """One pending write to a linked task.

    Attributes:
        tracker: its name in the registry; "" for the worktree's tracker, which was not asked for a task.
        id: the task's id there; "" if it is to be found by the issue.
        actor: the name under which it is written.
        wanted: `card_and_link.CLOSED` or `card_and_link.RELEASED`.
        issue: the number of the issue.
        reason: why the task is closed, or "".
        since, until: since when it is pending, and when it is tried again; seconds since the epoch.
    """

    tracker: str
    id: str
    actor: str
    wanted: str
    issue: int
    reason: str = ""
    since: float = 0.0
    until: float = 0.0

    @property
    def name(self) -> tuple[str, str, str]:
        """The tracker, task and actor that identify this write."""
        return self.tracker, self.id, self.actor


def waiting(state: Mapping[str, Any]) -> tuple[Left, ...]:
    """The pending writes in state.json."""
    return tuple(Left(**write) for write in state.get(PENDING, ()))


def due(state: Mapping[str, Any]) -> float | None:
    """When the first pending write is to be tried again, or None without one."""
    return min((write.until for write in waiting(state)), default=None)


def add(claim_store: ClaimStore, write: Left) -> None:
    """Keep a pending write; it replaces an earlier one for the same task in the same name."""
    others = [old for old in waiting(claim_store.state) if old.name != write.name]
    claim_store.state[PENDING] = [asdict(kept) for kept in (*others, write)]


def forget(claim_store: ClaimStore, *about: str) -> None:
    """Delete the pending writes for a task (tracker, id), or only the write with one `Left.name`."""
    pending = claim_store.state.pop(PENDING, [])
    if kept := [old for old in pending if Left(**old).name[: len(about)] != about]:
        claim_store.state[PENDING] = kept


def actors(claim_store: ClaimStore, task: str) -> set[str]:
    """The names in which this worktree still has to release the task."""
    return {write.actor for write in waiting(claim_store.state) if write.id == task}


def at_the_end(claim_store: ClaimStore, record: Record) -> None:
    """Keep the write to the linked task that is not done yet; called before the claim file is deleted."""
    claim, action = record.claim, card_and_link.link_action(record)
    is_unknown = record.linked.link is None and card_and_link.FIND in record.troubles
    if action is None and not (is_unknown and claim.issue_number is not None):
        return
    tracker, task = (action.tracker, action.id) if action is not None else ("", "")
    wanted, reason = card_and_link.link_wanted(record), card_and_link.link_reason(record)
    now = claim_store.clock.now()
    write = Left(tracker, task, claim.agent_id, wanted, claim.issue, reason)
    add(claim_store, replace(write, since=now, until=now + REFUSED_SECONDS))
    claim_store.save()


def finish(
    world: World, claim_store: ClaimStore, record: Record | None, *, is_asked: bool = False
) -> list[str]:
    """Try the pending writes that are due; the caller holds the lock, so no claim is being taken.

    Returns remarks on tasks that could not be released.

    Args:
        world: gives access to files, git, GitHub and trackers.
        claim_store: holds the pending writes.
        record: the worktree's claim, which looks after its own task, or None.
        is_asked: the look is by command, so all pending writes are due.
    """
    link = record.linked.link if record is not None and not record.ending.outcome else None
    remarks = []
    for write in waiting(claim_store.state):
        if link is not None and (link.tracker, link.id) == (write.tracker, write.id):
            forget(claim_store, write.tracker, write.id)
        elif is_asked or world.clock.now() >= write.until:
            why = _try(world, claim_store, write)
            is_held = why and write.id and write.wanted == card_and_link.RELEASED
            later = sentence("linked-released-later", task=write.id, why=why)
            remarks += [later] if is_held else []
    claim_store.save()
    return remarks


def _try(world: World, claim_store: ClaimStore, write: Left) -> str:
    """Try one pending write. Done or needless, it is dropped (""); else it is tried later (returns why)."""
    now = world.clock.now()
    try:
        task = _done(world, write)
    except (errors.AlreadyClaimed, errors.NotFound):
        task = ""
    except DeadlineReached:
        _later(claim_store, write, errors.Transient("The answer did not come in time."), now)
        raise
    except errors.LifecycleError as error:
        error.sentence = redact(error.sentence, world.environment)
        about = write.id or "a linked task"
        log.write(world.root, f"{about} is not {write.wanted}: {error.sentence}")
        _later(claim_store, write, error, now)
        return error.sentence
    forget(claim_store, *write.name)
    if not task:
        return ""
    if write.wanted == card_and_link.CLOSED:
        _tell(claim_store, write, sentence("linked-closed-too", task=task, number=write.issue))
    key = f"{write.issue}@{write.actor}/SetLinked/{task}/{write.wanted}"
    entry = journal.JournalEntry(now, journal.CLAIM, journal.WRITE, f"#{write.issue}", write.actor)
    detail = {"id": task, "wanted": write.wanted}
    journal.note(world.root, replace(entry, target="linked task", key=key, detail=detail))
    return ""


def _done(world: World, write: Left) -> str:
    """Carry out one pending write; returns the task's id, or "" if nothing is left to do."""
    tracker = world.inner_as(write.actor, write.tracker)
    if tracker is None:
        return ""
    tasks = (tracker.get(write.id),) if write.id else find(world, tracker, write.issue)
    task = next(iter(tasks), None)
    if task is None or not task.is_open:
        return ""
    if write.wanted == card_and_link.CLOSED and world.forge.issue(write.issue).is_open:
        return ""  # reopened since then, with its task: neither is this claim's any more
    return task.id if written(tracker, task, write.wanted, write.reason) == write.wanted else ""


def _later(claim_store: ClaimStore, write: Left, error: errors.LifecycleError, now: float) -> None:
    """Schedule the next try, after as long as the write has waited already; or give up with a notice."""
    if now - write.since >= KEPT_SECONDS:
        forget(claim_store, *write.name)
        name = write.id or f"of #{write.issue}"
        words = {"task": name, "wanted": write.wanted, "why": error.sentence}
        _tell(claim_store, write, sentence("linked-given-up", **words))
        return
    least = RETRY_SECONDS if isinstance(error, errors.Transient) else REFUSED_SECONDS
    wait = min(max(least, now - write.since), DAY_SECONDS)
    add(claim_store, replace(write, until=now + wait))


def _tell(claim_store: ClaimStore, write: Left, text: str) -> None:
    """Queue the notice about the end of a pending write."""
    key = f"linked-undone:{write.tracker}:{write.id}:{int(write.since)}"
    claim_store.ledger.queue(Notice(key, text, Audience.NOTE))


def find(world: World, tracker: Tracker, issue: int) -> tuple[Task, ...]:
    """The open tasks that are linked to the issue, the most urgent first; raises as `list` does."""
    host = config.web_host(world.addresses.api_url)
    return card_and_link.of_issue(tracker.list(), issue, str(world.base), host)


def written(tracker: Tracker, task: Task, wanted: str, reason: str) -> str:
    """Bring a task to the wanted state and return its resulting state; a closed task stays closed.

    Raises:
        AlreadyClaimed: somebody else has it.
        NotFound, Refused, Rejected, Transient: the tracker's errors.
    """
    if not task.is_open:
        return card_and_link.CLOSED
    if wanted == card_and_link.RELEASED:
        tracker.release(task.id)
    elif wanted == card_and_link.CLAIMED:
        tracker.claim(task.id)
    elif task.assignee in ("", tracker.actor):
        tracker.close(task.id, reason=reason)
    else:
        text = linked_messages.held_by(task.id, task.assignee)
        raise errors.AlreadyClaimed(text, by=task.assignee)
    return wanted
