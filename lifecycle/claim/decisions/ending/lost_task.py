"""A task that was released from another machine: how its holder recognises that.

`lifecycle reconcile --release` releases a silent task from another machine: the issue's comment, the
assignee, the card, the lease. Nothing of that reaches the worktree whose claim it was, so its next look
finds it out. People undo one or the other by hand and mean something else by it: therefore all that
GitHub shows has to say the same before anybody is told.
"""

from __future__ import annotations

from dataclasses import replace

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.ending import releasing
from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.record.state import Record, is_same
from lifecycle.core.values.model import Issue, Observation
from lifecycle.core.values.priorities import Status


def apply_observation(before: Record, record: Record, seen: Observation) -> Record:
    """The record after an observation, with `is_released` and `is_doubted` as it shows them.

    It was if the agent's account is off the open issue, and either the card, which named the agent,
    stands free in Todo, or the issue was told so in this claim's name. Once seen it stands, until the
    card names the agent again; whatever else others do with the task is theirs.

    Args:
        before: the claim as it was known before this observation.
        record: the same, once the card was taken in.
        seen: what GitHub showed.
    """
    issue, item = seen.issue, seen.item
    if not before.past or issue is None:
        return record  # one that never was in a file is no holder's, but a sweep's
    agent = record.claim.agent_id
    is_named = item is not None and bool(agent) and item.agent == agent
    is_off = issue.is_open and not _is_assigned(issue, agent)
    is_certain = is_off and (_is_card_freed(before, seen) or releasing.is_told(before, issue))
    names_none = item is None or not item.agent
    return replace(
        record,
        ownership=replace(
            record.ownership,
            is_released=not is_named and (before.ownership.is_released or is_certain),
            is_doubted=is_off and names_none and bool(releasing.login_of(agent)),
        ),
    )


def reads_comments(snapshot: Snapshot) -> bool:
    """True if this look should read the issue's comments to see whether the task was released.

    A look asks once the account was seen to be off the issue and no card names the agent. Labels name no
    agent at all: then it asks besides before a pull request is opened, and for whoever asks by command.
    """
    record = snapshot.record
    has_agents = snapshot.rules.has_board and not record.claim.is_labels
    if not record.past or not releasing.login_of(record.claim.agent_id):
        return False
    is_asked = snapshot.wake.is_asked or record.claim.phase == Phase.READY_FOR_PR
    return record.ownership.is_doubted or (is_asked and not has_agents)


def _is_assigned(issue: Issue, agent: str) -> bool:
    login = releasing.login_of(agent).casefold()
    return any(name.casefold() == login for name in issue.assignees)


def _is_card_freed(before: Record, seen: Observation) -> bool:
    """True if the card that named the agent names nobody and was set to Todo, not by this claim.

    A Status as old as the claim was read before the claim's own write showed.
    """
    claim, item = before.claim, seen.item
    if item is None or item.is_labels or item.agent or not is_same(item.status, Status.TODO):
        return False
    # What a claim that was written by hand says of the card, nobody may ever have put there.
    is_written = before.is_taken and bool(claim.agent_id)
    was_ours = is_written and before.card.agent == claim.agent_id
    wrote = (claim.status, claim.last_synced_status)
    is_our_write = claim.last_synced_status is None or any(
        is_same(one, Status.TODO) for one in wrote
    )
    is_older = derive.is_behind(item, float(int(before.created_at)))
    return was_ours and not is_our_write and not is_older
