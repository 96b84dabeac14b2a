"""Read and write the other tracker: find the task linked to an issue, claim, close and release it."""

from __future__ import annotations

from lifecycle.claim.linked import linked_decisions
from lifecycle.core.errors import AlreadyClaimed, BlockedBy, NotClaimable, NotFound
from lifecycle.core.messages import linked_messages
from lifecycle.core.tracker import Task, Tracker
from lifecycle.core.world import World
from lifecycle.settings import config


def find(world: World, tracker: Tracker, issue: int) -> tuple[Task, ...]:
    """The open tasks that are linked to the issue, the most urgent one first; raises as `list` does."""
    host = config.web_host(world.addresses.api_url)
    return linked_decisions.of_issue(tracker.list(), issue, str(world.base), host)


def written(tracker: Tracker, task: str, wanted: str, reason: str) -> str:
    """Bring a task to the wanted state and return the state it has then; a closed one stays closed.

    Raises:
        AlreadyClaimed: it is to be claimed or closed, and somebody else has it.
        NotFound, Refused, Rejected, Transient: as the tracker says.
    """
    if wanted == linked_decisions.RELEASED:
        return linked_decisions.RELEASED if released(tracker, task) else linked_decisions.CLOSED
    if wanted == linked_decisions.CLAIMED:
        try:
            tracker.claim(task)
        except (NotClaimable, BlockedBy):
            if tracker.get(task).is_open:
                raise
            return linked_decisions.CLOSED
        return linked_decisions.CLAIMED
    found = tracker.get(task)
    if found.is_open and found.assignee not in ("", tracker.actor):
        raise AlreadyClaimed(linked_messages.held_by(task, found.assignee), by=found.assignee)
    if found.is_open:
        tracker.close(task, reason=reason)
    return linked_decisions.CLOSED


def released(tracker: Tracker, task: str) -> bool:
    """Release a task unless it is somebody else's or gone; False if it is closed and stays so."""
    try:
        if not tracker.get(task).is_open:
            return False
        tracker.release(task)
    except (AlreadyClaimed, NotFound):
        return True
    return True
