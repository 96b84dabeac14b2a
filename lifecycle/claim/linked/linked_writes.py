"""The linked task during a claim and at its end: find it, claim it before the issue, close or release it.

The later release of the task is committed first, as a pending write. If the process is killed between the
two claims, the next look decides: with a claim file the task is that claim's, without one it is released.

state.json keeps a pending write, since its claim does not exist any more. It is tried more and more rarely;
a look by command tries it at once. It is dropped when it is done, when the task is somebody else's or does
not exist any more, or with one notice after `KEPT_SECONDS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lifecycle.claim.decisions import card_and_link
from lifecycle.claim.record.claim_file import sentence
from lifecycle.claim.record.sections import Attempt, LinkRecord, Trouble
from lifecycle.claim.record.state import DAY_SECONDS, REFUSED_SECONDS, RETRY_SECONDS, Record
from lifecycle.core import errors, redact
from lifecycle.core.light_dataclass import asdict, dataclass, replace
from lifecycle.core.messages import messages
from lifecycle.core.plan import Audience, LinkedIs, Notice, SetLinked
from lifecycle.core.timing import DeadlineReached
from lifecycle.core.tracker import Link, Task, TaskStatus, Tracker
from lifecycle.settings import config
from lifecycle.storage import journal, log, signs_of_life
from lifecycle.storage.state_file import PENDING

if TYPE_CHECKING:
    from lifecycle.claim.decisions.snapshot import Snapshot
    from lifecycle.claim.record.claim_store import ClaimStore
    from lifecycle.core.world import World

KEPT_SECONDS = 14 * 86_400.0
"""Seconds after which a pending write that fails is given up."""


def issue_named(world: World, task: Task) -> int | None:
    """The number of the issue of this worktree's repository that a task is linked to, or None."""
    if not task.external:
        return None
    try:
        base, host = str(world.base), config.web_host(world.addresses.api_url)
    except (errors.BadConfig, errors.GitFailed):
        return None  # a worktree without GitHub has no issue that its tasks could be linked to
    return card_and_link.issue_of(task.external, base, host)


def named(world: World, query: str, notes: list[str]) -> tuple[int, Task] | None:
    """The linked task whose id is `query`, and its issue's number; None if there is no such task.

    Raises:
        Refused: the task exists, but is linked to no issue, or closed; nothing was claimed.
    """
    word = query.strip()
    tracker = world.inner_as("") if word and not word.split()[1:] else None
    if tracker is None:
        return None
    try:
        task = tracker.get(word)
    except (errors.NotFound, errors.Invalid):
        return None
    except errors.LifecycleError as error:
        notes.append(f"{tracker.name} was skipped: {error.sentence}")
        return None
    number = issue_named(world, task)
    if number is None:
        raise errors.Refused(sentence("not-linked", task=task.id, base=world.base))
    if not task.is_open:
        raise errors.Refused(sentence("linked-closed", task=task.id, number=number))
    return number, task


def hold(world: World, claim_store: ClaimStore, attempt: Attempt, notes: list[str]) -> LinkRecord:
    """Claim the linked task of an issue that is about to be claimed, if it has one.

    Args:
        world: gives access to files, git, GitHub and trackers.
        claim_store: keeps the pending release of the task, from before it is claimed until the claim is.
        attempt: the name under which the task is claimed, the task if it was named, and whether it is taken
            over. An attempt that insists claims the issue even if the task is refused.
        notes: gets a remark if the issue is claimed without the task.

    Returns:
        The task, claimed or to be claimed later; with `left` if the issue is claimed without it.

    Raises:
        AlreadyClaimed: somebody else has the task. Nothing was claimed.
        Refused: the task may not be begun. Nothing was claimed.
    """
    tracker, issue, chosen = world.inner_as(attempt.agent), attempt.issue, attempt.chosen
    if tracker is None:
        return LinkRecord()
    try:
        tasks = find(world, tracker, issue)
    except errors.LifecycleError as error:
        if chosen is None:
            notes.append(_not_asked(tracker.name, issue, error.sentence))
            return LinkRecord()
        tasks = ()
    task = chosen or next(iter(tasks), None)
    if task is None:
        return LinkRecord(is_known=True)
    others = [other.id for other in tasks if other.id != task.id]
    if others:
        notes.append(sentence("also-linked", number=issue, task=task.id, others=", ".join(others)))
    link = Link(tracker.name, task.id)
    # The names in which this worktree still has to release it.
    earlier = {write.actor for write in waiting(claim_store.state) if write.id == task.id}
    if _is_mine(tracker, task) and tracker.actor not in earlier:
        return LinkRecord(replace(link, synced=card_and_link.CLAIMED), is_known=True)
    # Only a task that this attempt claims itself is released: when it fails, or by a look if it is killed.
    now, released = claim_store.clock.now(), card_and_link.RELEASED
    add(claim_store, Left(link.tracker, link.id, tracker.actor, released, issue, "", now, now))
    claim_store.folder.set_due(signs_of_life.STOP_DUE, signs_of_life.ALWAYS)
    claim_store.save()
    try:
        notes += _claim(world, tracker, task.id, earlier, takes_over=attempt.force)
    except (errors.Transient, errors.Rejected) as error:  # the claim may have succeeded
        notes.append(sentence("linked-later", task=task.id, why=error.sentence))
        return LinkRecord(link, is_known=True)
    except errors.Refused as error:
        settle(claim_store, link)
        if attempt.insists:
            notes.append(sentence("linked-left", task=task.id, why=error.sentence))
            return LinkRecord(link, is_known=True, left=notes[-1])
        raise _refusal(error, task.id, issue) from None
    return LinkRecord(replace(link, synced=card_and_link.CLAIMED), is_known=True)


def _is_mine(tracker: Tracker, task: Task) -> bool:
    """True if the task is claimed under the name with which we use the tracker."""
    return task.assignee == tracker.actor and task.status is TaskStatus.IN_PROGRESS


def _claim(
    world: World, tracker: Tracker, task: str, earlier: set[str], *, takes_over: bool
) -> list[str]:
    """Claim the task; first release it if this worktree holds it under one of its `earlier` names.

    Returns a remark if the task belonged to somebody else.
    """
    try:
        tracker.claim(task)
    except errors.AlreadyClaimed as error:
        of_nobody = world.inner_as("")
        ours = earlier | ({of_nobody.actor} if of_nobody is not None else set())
        as_holder = world.inner_as(error.by) if error.by else None
        if as_holder is None or not (error.by in ours or takes_over):
            raise
        # In the holder's name, so that the task is not touched if it is somebody else's by now.
        as_holder.release(task)
        tracker.claim(task)
        taken = sentence("linked-taken", task=task, by=redact.named(error.by))
        return [] if error.by in ours else [taken]
    return []


def _refusal(error: errors.Refused, task: str, issue: int) -> errors.Refused:
    """The tracker's refusal as an error for the caller that claims the issue."""
    words = {"task": task, "number": issue, "way": messages.forcing(issue)}
    if isinstance(error, errors.AlreadyClaimed):
        by = redact.named(error.by) if error.by else "somebody else"
        return errors.AlreadyClaimed(sentence("linked-held", by=by, **words), by=error.by)
    return errors.Refused(sentence("linked-unready", why=error.sentence, **words))


def _not_asked(tracker: str, issue: int | None, why: str) -> str:
    return sentence("linked-not-asked", tracker=tracker, number=issue, why=why)


def settle(claim_store: ClaimStore, link: Link | None) -> None:
    """Delete the pending release of the task: the claim has the link, or the attempt holds nothing."""
    if link is not None:
        forget(claim_store, link.tracker, link.id)
        claim_store.save()


def learned(world: World, snapshot: Snapshot) -> tuple[Record, tuple[Notice, ...]]:
    """Ask the worktree's other tracker for the linked task; returns the record with it, and notices.

    If GitHub is the only tracker, nothing is asked and nothing changes.
    """
    record, issue = snapshot.record, snapshot.record.claim.issue_number
    if record.linked.link is not None:
        return _read_again(world, record, record.linked.link), ()
    name = world.settings.tracker_use
    try:
        tracker = world.inner_as(record.claim.agent_id)
        name = tracker.name if tracker is not None else name
        if tracker is None or issue is None:
            return record, ()
        task = next(iter(find(world, tracker, issue)), None)
    except errors.LifecycleError as error:
        why = redact.redact(error.sentence, world.environment)
        log.write(world.root, f"the linked task of #{issue}: {why}")
        if isinstance(error, errors.Transient):
            before = record.troubles.get(card_and_link.FIND)
            tries = before.tries + 1 if before is not None else 1
            trouble = Trouble("", why, snapshot.now + RETRY_SECONDS, tries)
            return record.without(card_and_link.FIND).with_trouble(card_and_link.FIND, trouble), ()
        return record, (Notice("linked-unknown", _not_asked(name, issue, why), Audience.NOTE),)
    synced = card_and_link.CLAIMED if task is not None and _is_mine(tracker, task) else ""
    link = Link(tracker.name, task.id, synced) if task is not None else None
    return record.without(card_and_link.FIND).with_linked(link=link, is_known=True), ()


def _read_again(world: World, record: Record, link: Link) -> Record:
    """The record with the present state of its linked task.

    A task that is not held any more is to be claimed again, and so is one that was closed and reopened, or
    left to somebody and is free by now, or this agent's.
    """
    try:
        tracker = world.inner_as(record.claim.agent_id, link.tracker)
        if tracker is None:
            return record
        task = tracker.get(link.id)
        is_mine = _is_mine(tracker, task)
        if link.synced == card_and_link.CLOSED:
            stays = not task.is_open
        elif record.linked.left:
            stays = not (task.is_free or is_mine)
        else:
            stays = is_mine
    except errors.NotFound:
        stays = bool(record.linked.left)
    except errors.LifecycleError as error:
        why = redact.redact(error.sentence, world.environment)
        log.write(world.root, f"the linked task {link.id}: {why}")
        return record
    return record if stays else record.with_linked(link=replace(link, synced=""), left="")


def set_linked(action: SetLinked, world: World, record: Record) -> LinkedIs:
    """Write the linked task as the claim demands; leave it if it is somebody else's or does not exist.

    Raises:
        BadConfig: no tracker has the name in the link any more.
        Refused, Transient, Rejected: the tracker's errors (a blocker, a missing program).
    """
    tracker = world.inner_as(record.claim.agent_id, action.tracker)
    if tracker is None:
        raise ValueError("the link is to GitHub itself")
    goes_on = action.wanted == card_and_link.CLAIMED
    synced = "" if goes_on else card_and_link.LEFT
    try:
        task = tracker.get(action.id)
        state = written(tracker, task, action.wanted, action.reason)
    except errors.AlreadyClaimed as error:
        left = messages.linked_held_by(action.id, error.by, goes_on=goes_on)
        return LinkedIs(action.id, synced, left)
    except errors.NotFound:
        return LinkedIs(action.id, synced, messages.linked_gone(action.id, goes_on=goes_on))
    is_over = goes_on and state == card_and_link.CLOSED
    left = sentence("linked-closed-meanwhile", task=task.id) if is_over else ""
    return LinkedIs(action.id, state, left)


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
            if why and write.id and write.wanted == card_and_link.RELEASED:
                remarks.append(sentence("linked-released-later", task=write.id, why=why))
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
        error.sentence = redact.redact(error.sentence, world.environment)
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
    """The open tasks that are linked to the issue, the most urgent first; raises as `base` and `list`."""
    base, host = str(world.base), config.web_host(world.addresses.api_url)
    tasks = (task for task in tracker.list() if task.is_open)
    return tuple(t for t in tasks if card_and_link.issue_of(t.external, base, host) == issue)


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
        text = messages.linked_held_by(task.id, task.assignee)
        raise errors.AlreadyClaimed(text, by=task.assignee)
    return wanted
