"""The linked task during a claim: find it, claim it before the issue, release it if that fails.

The later release of the task is committed first, as a pending write. If the process is killed between the
two claims, the next look decides: with a claim file the task is that claim's, without one it is released.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifecycle.claim.decisions import card_and_link
from lifecycle.claim.linked import pending_writes
from lifecycle.claim.record.claim_file import sentence
from lifecycle.claim.record.sections import Attempt, LinkRecord, Trouble
from lifecycle.claim.record.state import RETRY_SECONDS, Record
from lifecycle.core import errors, redact
from lifecycle.core.light_dataclass import replace
from lifecycle.core.messages import linked_messages
from lifecycle.core.messages.loss_messages import forcing
from lifecycle.core.plan import Audience, LinkedIs, Notice, SetLinked
from lifecycle.core.tracker import Link, Task, TaskStatus, Tracker
from lifecycle.settings import config
from lifecycle.storage import log
from lifecycle.storage.signs_of_life import ALWAYS, STOP_DUE

if TYPE_CHECKING:
    from lifecycle.claim.decisions.snapshot import Snapshot
    from lifecycle.claim.record.claim_store import ClaimStore
    from lifecycle.core.world import World


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
        tasks = pending_writes.find(world, tracker, issue)
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
        names = ", ".join(others)
        notes.append(sentence("also-linked", number=issue, task=task.id, others=names))
    link, earlier = Link(tracker.name, task.id), pending_writes.actors(claim_store, task.id)
    if _is_mine(tracker, task) and tracker.actor not in earlier:
        return LinkRecord(replace(link, synced=card_and_link.CLAIMED), is_known=True)
    # Only a task that this attempt claims itself is released: when it fails, or by a look if it is killed.
    now, released = claim_store.clock.now(), card_and_link.RELEASED
    release = pending_writes.Left(link.tracker, link.id, tracker.actor, released, issue)
    pending_writes.add(claim_store, replace(release, since=now, until=now))
    claim_store.marks.set_due(STOP_DUE, ALWAYS)
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
    words = {"task": task, "number": issue, "way": forcing(issue)}
    if isinstance(error, errors.AlreadyClaimed):
        by = redact.named(error.by) if error.by else "somebody else"
        return errors.AlreadyClaimed(sentence("linked-held", by=by, **words), by=error.by)
    return errors.Refused(sentence("linked-unready", why=error.sentence, **words))


def _not_asked(tracker: str, issue: int | None, why: str) -> str:
    return sentence("linked-not-asked", tracker=tracker, number=issue, why=why)


def settle(claim_store: ClaimStore, link: Link | None) -> None:
    """Delete the pending release of the task: the claim has the link, or the attempt holds nothing."""
    if link is not None:
        pending_writes.forget(claim_store, link.tracker, link.id)
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
        task = next(iter(pending_writes.find(world, tracker, issue)), None)
    except errors.LifecycleError as error:
        why = redact.redact(error.sentence, world.environment)
        log.write(world.root, f"the linked task of #{issue}: {why}")
        if isinstance(error, errors.Transient):
            before = record.troubles.get(card_and_link.FIND)
            tries = before.tries + 1 if before is not None else 1
            trouble = Trouble("", why, snapshot.now + RETRY_SECONDS, tries)
            return record.without(card_and_link.FIND).with_trouble(card_and_link.FIND, trouble), ()
        text = _not_asked(name, issue, why)
        return record, (Notice("linked-unknown", text, Audience.NOTE),)
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
    if stays:
        return record
    return record.with_linked(link=replace(link, synced=""), left="")


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
        state = pending_writes.written(tracker, task, action.wanted, action.reason)
    except errors.AlreadyClaimed as error:
        left = linked_messages.held_by(action.id, error.by, goes_on=goes_on)
        return LinkedIs(action.id, synced, left)
    except errors.NotFound:
        return LinkedIs(action.id, synced, linked_messages.gone(action.id, goes_on=goes_on))
    is_over = goes_on and state == card_and_link.CLOSED
    left = sentence("linked-closed-meanwhile", task=task.id) if is_over else ""
    return LinkedIs(action.id, state, left)
