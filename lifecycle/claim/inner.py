"""The linked task, asked and written: looked for, claimed inside before the issue, and given back.

The intent to claim it is committed first. So whoever is killed between the two claims leaves a note
that the next look reads: with a claim file the task is that claim's, without one it is given back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lifecycle import config, linked_messages, log
from lifecycle.claim import linked
from lifecycle.claim.desk import Desk
from lifecycle.claim.seen import Seen
from lifecycle.claim.state import BEST_EFFORT_TRIES, RETRY_SECONDS, Record, Trouble
from lifecycle.errors import (
    AlreadyClaimed,
    BadConfig,
    BlockedBy,
    GitFailed,
    Invalid,
    LifecycleError,
    NotClaimable,
    NotFound,
    Refused,
    Rejected,
    Transient,
)
from lifecycle.plan import LinkedIs, Say, SetLinked, Tone
from lifecycle.redact import redact
from lifecycle.tracker import Link, Task, TaskStatus, Tracker
from lifecycle.wiring import World

LINKING = "linking"
"""In state.json: the inner task that a taking is about to claim, and in whose name."""

_DUE = "due"
"""The guard's mark (`guard.py`, a layer above) for on-stop."""


@dataclass(frozen=True, slots=True)
class Held:
    """The inner task of a claim that is being taken, as far as it is known; `left`: why it is not ours."""

    link: Link | None = None
    is_known: bool = False
    left: str = ""


def issue_named(world: World, task: Task) -> int | None:
    """The number of the issue of this worktree's repository that a task is linked to, or None."""
    if not task.external:
        return None
    try:
        base, host = str(world.base), config.web_host(world.addresses.api_url)
    except (BadConfig, GitFailed):
        return None  # a worktree without GitHub: its tasks are linked to nothing of it
    return linked.issue_of(task.external, base, host)


def named(world: World, query: str, notes: list[str]) -> tuple[int, Task] | None:
    """The inner task whose id `query` is, and its issue; None if there is no such task.

    Raises:
        Refused: there is one, and it is linked to no issue, or closed; nothing was claimed.
    """
    word = query.strip()
    inner = world.inner_as("") if word and not word.split()[1:] else None
    if inner is None:
        return None
    try:
        task = inner.get(word)
    except (NotFound, Invalid):
        return None
    except LifecycleError as error:
        notes.append(f"{inner.name} is left out: {error.sentence}")
        return None
    number = issue_named(world, task)
    if number is None:
        raise Refused(linked_messages.not_linked(task.id, str(world.base), f"{world.base}#42"))
    if not task.is_open:
        raise Refused(linked_messages.closed_already(task.id, number))
    return number, task


def find(world: World, inner: Tracker, issue: int) -> Task | None:
    """The task that stands for the issue, or None; raises as the tracker's `list` does."""
    host = config.web_host(world.addresses.api_url)
    return linked.of_issue(inner.list(), issue, str(world.base), host)


def hold(
    world: World,
    desk: Desk,
    issue: int,
    agent: str,
    notes: list[str],
    *,
    chosen: Task | None = None,
    insists: bool = False,
) -> Held:
    """Claim the inner task of an issue that is about to be claimed, if it has one.

    Args:
        world: what may be touched.
        desk: holds the note of what is begun.
        issue: the issue.
        agent: the claim's agent, in whose name the task is claimed.
        notes: gets a remark where the issue is claimed without it.
        chosen: the task, if it was named.
        insists: the issue is claimed whatever the task says: by force, or because that goes on.

    Raises:
        AlreadyClaimed: somebody else has the task. Nothing was claimed.
        Refused: it may not be begun. Nothing was claimed.
    """
    inner = world.inner_as(agent)
    if inner is None:
        return Held()
    try:
        task = chosen or find(world, inner, issue)
    except LifecycleError as error:
        notes.append(linked_messages.not_asked(inner.name, issue, error.sentence))
        return Held()
    if task is None:
        return Held(is_known=True)
    link = Link(inner.name, task.id)
    desk.state[LINKING] = {"tracker": inner.name, "id": task.id, "actor": agent}
    desk.set_due(_DUE, 1.0)  # killed before the claim is there, the next stop gives it back
    desk.save()
    try:
        _claim(world, inner, task.id)
    except (Transient, Rejected) as error:  # it may have happened
        notes.append(linked_messages.claimed_later(task.id, error.sentence))
        return Held(link, is_known=True)
    except Refused as error:
        settle(desk)
        if insists:
            notes.append(linked_messages.left_alone(task.id, error.sentence))
            return Held(link, is_known=True, left=notes[-1])
        raise _refusal(error, task.id, issue) from None
    return Held(replace(link, synced=linked.CLAIMED), is_known=True)


def _claim(world: World, inner: Tracker, task: str) -> None:
    """Claim it; what this agent holds under the name that it had before its claim is its own."""
    try:
        inner.claim(task)
    except AlreadyClaimed as error:
        before = world.inner_as("")
        if before is None or not error.by or error.by != before.actor:
            raise
        before.release(task)
        inner.claim(task)


def _refusal(error: Refused, task: str, issue: int) -> Refused | AlreadyClaimed:
    if isinstance(error, AlreadyClaimed):
        return AlreadyClaimed(linked_messages.held_inside(task, issue, error.by), by=error.by)
    return Refused(linked_messages.not_to_be_begun(task, issue, error.sentence))


def settle(desk: Desk) -> None:
    """The taking is over, and whose the inner task is stands in the claim, if there is one."""
    if desk.state.pop(LINKING, None) is not None:
        desk.save()


def let_go(world: World, desk: Desk) -> str:
    """Give the inner task back that a taking had claimed; a remark if that has to be tried again.

    What is somebody else's by now, closed or gone is left.
    """
    begun: dict[str, Any] | None = desk.state.get(LINKING)
    if begun is None:
        return ""
    task = str(begun["id"])
    try:
        inner = world.inner_as(str(begun["actor"]))
        if inner is not None and inner.name == begun["tracker"]:
            _release(inner, task)
    except LifecycleError as error:
        sentence = redact(error.sentence, world.environment)
        log.write(world.root, f"giving {task} back: {sentence}")
        begun["tries"] = int(begun.get("tries", 0)) + 1
        if isinstance(error, Transient) and begun["tries"] < BEST_EFFORT_TRIES:
            desk.set_due(_DUE, world.clock.now() + RETRY_SECONDS)
            desk.save()
            return linked_messages.not_returned(task, sentence)
        text = linked_messages.left_claimed(task, sentence)
        desk.ledger.queue(Say(f"linked-kept:{task}:{int(world.clock.now())}", text, Tone.NOTE))
        settle(desk)
        return text
    settle(desk)
    return ""


def repair(world: World, desk: Desk, record: Record | None) -> None:
    """Finish what a killed taking left; the caller holds the lock, so that none is under way."""
    begun = desk.state.get(LINKING)
    if begun is None:
        return
    if record is not None and record.link is not None and record.link.id == begun["id"]:
        settle(desk)
    else:
        let_go(world, desk)


def learned(world: World, seen: Seen) -> tuple[Record, tuple[Say, ...]]:
    """The record once the tracker was asked for its linked task, and what there is to say of that.

    Without another tracker than GitHub nothing is asked and nothing changes.
    """
    record, issue = seen.record, seen.record.claim.issue_number
    known = {kind: one for kind, one in record.troubles.items() if kind != linked.FIND}
    try:
        inner = world.inner_as(record.claim.agent_id)
        if inner is None or issue is None:
            return record, ()
        task = find(world, inner, issue)
    except LifecycleError as error:
        sentence = redact(error.sentence, world.environment)
        log.write(world.root, f"the linked task of #{issue}: {sentence}")
        if isinstance(error, Transient):
            before = record.troubles.get(linked.FIND)
            tries = before.tries + 1 if before is not None else 1
            trouble = Trouble("", sentence, seen.now + RETRY_SECONDS, tries)
            return replace(record, troubles={**known, linked.FIND: trouble}), ()
        text = linked_messages.not_asked(world.settings.tracker_use, issue, sentence)
        return record, (Say("linked-unknown", text, Tone.NOTE),)
    link = Link(inner.name, task.id) if task is not None else None
    if task is not None and task.assignee == inner.actor and task.status is TaskStatus.IN_PROGRESS:
        link = Link(inner.name, task.id, linked.CLAIMED)
    return replace(record, link=link, is_link_known=True, troubles=known), ()


def set_linked(action: SetLinked, world: World, record: Record) -> LinkedIs:
    """Bring the linked task to what the claim wants; what is somebody else's, or gone, is left.

    Raises:
        Refused: the settings name another tracker now; or as the tracker says (a blocker).
        Transient, Rejected: as the tracker says.
    """
    inner = world.inner_as(record.claim.agent_id)
    if inner is None or inner.name != action.tracker:
        raise Refused(linked_messages.other_tracker(action.id, action.tracker))
    try:
        return LinkedIs(action.id, _written(inner, action))
    except AlreadyClaimed as error:
        return LinkedIs(action.id, "", linked_messages.held_by(action.id, error.by))
    except NotFound:
        return LinkedIs(action.id, "", linked_messages.gone(action.id))


def _written(inner: Tracker, action: SetLinked) -> str:
    if action.wanted == linked.RELEASED:
        return linked.RELEASED if _release(inner, action.id) else linked.CLOSED
    if action.wanted == linked.CLAIMED:
        try:
            inner.claim(action.id)
        except (NotClaimable, BlockedBy):
            if inner.get(action.id).is_open:
                raise
            return linked.CLOSED
        return linked.CLAIMED
    task = inner.get(action.id)
    if task.is_open and task.assignee not in ("", inner.actor):
        raise AlreadyClaimed(linked_messages.held_by(task.id, task.assignee), by=task.assignee)
    if task.is_open:
        inner.close(action.id, reason=action.reason)
    return linked.CLOSED


def _release(inner: Tracker, id: str) -> bool:  # noqa: A002 -- the tracker's own word
    """It is nobody's, or somebody else's, or gone; False if it is closed, and stays so."""
    try:
        if not inner.get(id).is_open:
            return False
        inner.release(id)
    except (AlreadyClaimed, NotFound):
        return True
    return True
