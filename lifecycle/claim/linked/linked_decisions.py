"""Which task of another tracker is linked to the claim's issue, and what it should be. Pure.

A task of another tracker may name an issue of GitHub's as what it is elsewhere (`Task.external`). Who
claims one has both, and both end together. The inner one is claimed before the issue and closed before
it. It never keeps the issue back for ever: like board and lease it is tried again while that can help,
and what could not be is told with the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lifecycle.claim.decisions.snapshot import Decision, Snapshot, is_given_up, may_try
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.record.state import BEST_EFFORT_TRIES, Record
from lifecycle.core.messages import linked_messages
from lifecycle.core.plan import Audience, Notice, SetLinked, Wake

if TYPE_CHECKING:
    from lifecycle.core.tracker import Task

CLAIMED, CLOSED, RELEASED = "claimed", "closed", "released"
"""What a linked task may be wanted to be, and what `Link.synced` says of it."""

LEFT = "left"
"""What `Link.synced` says of a task that was to end with the claim, and is not the claim's to end."""

FIND = "FindLinked"
"""Under which a record keeps that a claim about to end could not ask for its linked task."""

_SHORT = r"gh-|github:\s?#?"


def issue_of(external: str, base: str, host: str) -> int | None:
    """The number of the issue that an external reference names, or None if it names none of `base`.

    `gh-42`, `github:#42`, `owner/name#42` (also behind `github:`), or the issue's address.

    Args:
        external: as the tracker has it.
        base: `owner/name` of the repository of the issues.
        host: of its pages, with a port if it has one.
    """
    name = re.escape(base)
    ways = (
        rf"(?:{_SHORT})(\d{{1,9}})",
        rf"(?:github:\s?)?{name}#(\d{{1,9}})",
        rf"https?://{re.escape(host)}/{name}/issues/(\d{{1,9}})/?(?:[?#].*)?",
    )
    for way in ways:
        match = re.fullmatch(way, external.strip(), re.IGNORECASE)
        if match is not None and int(match[1]):
            return int(match[1])
    return None


def of_issue(tasks: Iterable[Task], issue: int, base: str, host: str) -> tuple[Task, ...]:
    """The open tasks that are linked to the issue; the first one stands for it."""
    return tuple(
        one for one in tasks if one.is_open and issue_of(one.external, base, host) == issue
    )


def wanted(record: Record) -> str:
    """The state that the linked task should have, given the claim."""
    if record.ending.releasing is not None:
        return RELEASED
    return CLOSED if record.claim.phase == Phase.DONE else CLAIMED


def action_of(record: Record) -> SetLinked | None:
    """The action that brings the linked task to the wanted state, or None if it is there.

    One that is closed stays closed, whoever did it. What a living claim left as it was may be free when
    the claim closes, so that is looked at once more.
    """
    link, aim = record.linked.link, wanted(record)
    if link is None or link.synced in (aim, CLOSED, LEFT):
        return None
    if record.linked.left and aim != CLOSED:
        return None
    return SetLinked(link.tracker, link.id, aim, reason_of(record))


def reason_of(record: Record) -> str:
    """The reason for closing the linked task; "" while it should stay open."""
    claim = record.claim
    if wanted(record) != CLOSED:
        return ""
    return linked_messages.closing_reason(
        claim.summary, claim.pr_number, record.pull.url, record.ending.override
    )


def wants_to_know(snapshot: Snapshot) -> bool:
    """True if this look should ask whether there is a linked task.

    Who asks by command wants to know what is linked by now; and what ends, and never asked, has no
    later look that would.
    """
    record = snapshot.record
    if (
        record.linked.link is not None
        or snapshot.wake is Wake.SWEEP
        or record.claim.issue_number is None
    ):
        return False
    if record.ownership.taken_by or record.ownership.is_released:
        return False
    is_ending = wanted(record) != CLAIMED
    return snapshot.wake is Wake.TICK or (is_ending and not record.linked.is_known)


def living(snapshot: Snapshot) -> Decision:
    """The next step for the linked task while the claim lives."""
    action = action_of(snapshot.record)
    if action is None or snapshot.wake is Wake.SWEEP or not may_try(snapshot, action):
        return Decision()
    return Decision(action=action)


def ending_step(snapshot: Snapshot) -> Decision | None:
    """The step that ends the linked task with the claim; None if there is none left to do."""
    record = snapshot.record
    if snapshot.wake is Wake.SWEEP:
        return None
    unknown = record.troubles.get(FIND)
    if unknown is not None and unknown.tries < BEST_EFFORT_TRIES and not record.linked.is_known:
        return Decision()
    action = action_of(record)
    if action is None or is_given_up(record, action):
        return None
    return Decision(action=action if may_try(snapshot, action) else None)


def notices(record: Record) -> tuple[Notice, ...]:
    """A notice, told once, that the linked task is left as it is."""
    if record.linked.link is None or not record.linked.left:
        return ()
    end = ":end" if record.linked.link.synced == LEFT else ""
    return (Notice(f"linked-left:{record.linked.link.id}{end}", record.linked.left, Audience.NOTE),)


def remainder(record: Record) -> str:
    """What a claim's last sentence adds if its linked task did not end with it; else ""."""
    action, trouble = action_of(record), record.troubles.get("SetLinked")
    if action is None or trouble is None:
        return ""
    told = linked_messages.left_open if wanted(record) == CLOSED else linked_messages.left_claimed
    return told(action.id, trouble.sentence)
