"""Find out that a claim lost its task: somebody else took it over, or it was released elsewhere. Pure.

A task may be released from another machine (`lifecycle reconcile --release`): by the issue's comment, the
assignee, the card, the lease. Nothing of that reaches the worktree whose claim it was, so its next look
finds it out (`apply_loss`). People change one or the other by hand and mean something else by it: therefore
all that GitHub shows has to agree before the claim counts as lost.
"""

from __future__ import annotations

import re

from lifecycle.claim.decisions.derive import is_behind, login_of
from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.record.state import Record, is_same
from lifecycle.core import hidden_marker
from lifecycle.core.messages import loss_messages
from lifecycle.core.plan import ASKED, Wake
from lifecycle.core.values.model import Issue, Observation
from lifecycle.core.values.priorities import Status


def reads_comments(snapshot: Snapshot) -> bool:
    """True if this look should read the issue's comments to see whether the task was released.

    It should once the account was seen to be off the issue and no card names the agent. Labels name no
    agent at all: with them it should also before a pull request is opened, in a look by command, and at a
    start.
    """
    record = snapshot.record
    has_agents = snapshot.rules.has_board and not record.claim.is_labels
    if not record.past or not login_of(record.claim.agent_id):
        return False
    is_asked = snapshot.wake in (*ASKED, Wake.START) or record.claim.phase == Phase.READY_FOR_PR
    return record.ownership.is_doubted or (is_asked and not has_agents)


def apply_loss(before: Record, record: Record, observed: Observation) -> Record:
    """The record after an observation, with who took the task over, and whether it was released.

    It was released if the agent's account is off the open issue, and either the card, which named the
    agent, names nobody and is in Todo, or the issue has a release comment of this claim. Once seen that
    stands until the card names the agent again, whatever others do with the task then.

    Args:
        before: the claim as it was known before this observation.
        record: the same after `apply_card`.
        observed: what GitHub showed.
    """
    issue, item = observed.issue, observed.item
    if not before.past or issue is None:
        return record  # it was never in a file: a sweep made it up, and no agent holds it
    agent = record.claim.agent_id
    is_named = item is not None and bool(agent) and item.agent == agent
    login = login_of(agent).casefold()
    is_off = issue.is_open and login not in [name.casefold() for name in issue.assignees]
    is_certain = is_off and (_is_card_freed(before, observed) or is_told(before, issue))
    names_none = item is None or not item.agent
    return record.with_ownership(
        is_released=not is_named and (before.ownership.is_released or is_certain),
        is_doubted=is_off and names_none and bool(login),
        taken_by=_taken_by(before, record, observed),
    )


def _taken_by(before: Record, record: Record, observed: Observation) -> str:
    """The agent that took the task over, or "": by its lease, which outweighs a card; else by the card.

    A lease that is older than this claim comes from a read that lags. One that is gone shows nothing,
    and neither does a card without an agent once the issue is closed: whoever took the task closed it.
    """
    hold, claimed = observed.hold, record.ownership
    names_none = observed.item is None or not observed.item.agent
    if hold is None and names_none and observed.issue is not None and not observed.issue.is_open:
        return before.ownership.taken_by
    if hold is None:
        return claimed.taken_by
    if hold.sha == claimed.lease or hold.agent == record.claim.agent_id:
        return ""
    is_newer = hold.since is None or hold.since >= int(before.created_at)
    return hold.agent if hold.agent and is_newer else claimed.taken_by


def loss_line(record: Record) -> str:
    """The sentence about a lost task, and what to do."""
    number, own = record.claim.issue_number, record.ownership
    if own.taken_by:
        return loss_messages.taken_over(number, own.taken_by)
    return loss_messages.released_from_afar(number, is_certain=own.is_released)


def is_told(record: Record, issue: Issue) -> bool:
    """True if the issue has a release comment of this claim, not of an earlier one of the same name."""
    posted_at = told_at(issue, record.claim.agent_id)
    return posted_at is not None and posted_at >= int(record.created_at)


def told_at(issue: Issue, agent: str) -> int | None:
    """The time of the newest release comment for an agent's claim on the issue, or None.

    A release that is resumed without state.json names the same time, and so finds its comment again.
    """
    mark = hidden_marker.of("released", issue=issue.number, by=hidden_marker.word(agent), at="AT")
    begin, _, end = mark.rpartition("AT")  # the last one: a name may have "AT" in it
    pattern = rf"{re.escape(begin)}(\d{{1,12}}){re.escape(end)}"
    bodies = (comment.body.rstrip().splitlines()[-1:] for comment in issue.comments or ())
    ends = (line.rstrip() for last in bodies for line in last)
    matches = (re.fullmatch(pattern, line) for line in ends)
    return max((int(match[1]) for match in matches if match), default=None)


def _is_card_freed(before: Record, observed: Observation) -> bool:
    """True if the card that named the agent names nobody and was set to Todo, not by this claim.

    A Status that was set before the claim was made comes from a read before the claim's own write showed.
    """
    claim, item = before.claim, observed.item
    if item is None or item.is_labels or item.agent or not is_same(item.status, Status.TODO):
        return False
    # A claim file that was written by hand may name an agent that nobody ever put on the card.
    was_ours = before.is_taken and bool(claim.agent_id) and before.card.agent == claim.agent_id
    wrote = (claim.status, claim.last_synced_status)
    is_todo = any(is_same(status, Status.TODO) for status in wrote)
    is_our_write = claim.last_synced_status is None or is_todo
    return was_ours and not is_our_write and not is_behind(item, float(int(before.created_at)))
