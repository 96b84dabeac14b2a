"""The card on the board: keep Status and Agent as the claim has them, and leave what people move."""

from __future__ import annotations

from dataclasses import replace

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.snapshot import Decision, Snapshot, is_unsynced, may_try
from lifecycle.claim.record.state import ClaimChanges, Record, RecordChanges, is_same
from lifecycle.core.messages import messages
from lifecycle.core.plan import AddToBoard, Audience, Notice, SetBoard
from lifecycle.core.values.model import Observation
from lifecycle.core.values.priorities import Status


def apply_observation(record: Record, seen: Observation) -> Record:
    """What an observation says about the card: synced, moved by hand, taken over."""
    claim = record.claim
    values: ClaimChanges = {}
    changes: RecordChanges = {}
    if seen.item is not None:
        values["item_id"] = seen.item.id
        changes["is_item_known"] = True
        expected = (claim.status, claim.last_synced_status)
        found = seen.item.status
        was_labels = claim.is_labels
        leaves_labels = (was_labels or record.leaves_labels) and not seen.item.is_labels
        if seen.item.is_labels != was_labels:
            # What was written to the board says nothing of the labels, nor the other way round.
            values["last_synced_status"] = None
            expected = (claim.status, found)
        changes["leaves_labels"] = leaves_labels
        if leaves_labels:
            # The card is written once even if it is as it should be: the label goes with that write.
            changes["synced_agent"] = record.synced_agent if seen.item.agent else None
        is_expected = found is None or any(is_same(found, status) for status in expected)
        is_behind = derive.is_behind(seen.item, derive.happened_at(record, seen))
        has_moved = claim.last_synced_status is not None and not (is_expected or is_behind)
        changes["moved_to"] = found if has_moved else None
        if is_same(found, claim.status) and not leaves_labels:
            values["last_synced_status"] = claim.status
        if seen.item.agent and seen.item.agent == claim.agent_id:
            changes["synced_agent"] = claim.agent_id
        was_ours = bool(claim.agent_id) and record.synced_agent == claim.agent_id
        other = seen.item.agent if seen.item.agent != claim.agent_id else None
        changes["taken_by"] = other or "" if was_ours else ""
    return replace(record.with_values(values), **changes)


def decide(snapshot: Snapshot) -> Decision:
    """Keep Status and Agent of the item as the claim has them."""
    record, claim, now_seen = snapshot.record, snapshot.record.claim, snapshot.observation
    notices: list[Notice] = []
    if now_seen is not None and now_seen.board_problem and snapshot.rules.has_board:
        problem = now_seen.board_problem
        return Decision(notices=(Notice(f"board:{problem}", problem, Audience.NOTE),))
    if now_seen is not None and now_seen.board_note and snapshot.rules.has_board:
        note = now_seen.board_note
        notices.append(Notice(f"board-note:{note}", note, Audience.NOTE))
    is_finished = now_seen is not None and now_seen.issue is not None and not now_seen.issue.is_open
    if record.moved_to and not (is_finished and record.moved_to == Status.DONE):
        tell = messages.label_moved if claim.is_labels else messages.board_moved
        moved = tell(claim.issue_number, record.moved_to, claim.last_synced_status)
        notices.append(Notice(f"moved:{claim.item_id}:{record.moved_to}", moved, Audience.NOTE))
    if not is_unsynced(snapshot) or record.moved_to:
        return Decision(notices=tuple(notices))
    if now_seen is not None and now_seen.item is None and now_seen.issue and not claim.item_id:
        adding = AddToBoard(claim.issue_number or 0, now_seen.issue.id)
        return Decision(
            action=adding if may_try(snapshot, adding) else None, notices=tuple(notices)
        )
    if now_seen is not None and now_seen.item is None:
        text = messages.not_on_board(claim.issue_number, snapshot.rules.board_name)
        return Decision(notices=(Notice(f"off-board:{claim.issue_number}", text, Audience.NOTE),))
    if now_seen is not None and now_seen.item is not None and now_seen.item.is_archived:
        text = messages.archived(claim.issue_number, snapshot.rules.board_name)
        return Decision(notices=(Notice(f"archived:{claim.item_id}", text, Audience.NOTE),))
    if not record.is_item_known:
        return Decision(notices=tuple(notices))
    action = SetBoard(
        item_id=claim.item_id,
        status=None if is_same(claim.status, claim.last_synced_status) else claim.status,
        agent=claim.agent_id if claim.agent_id != (record.synced_agent or "") else None,
    )
    return Decision(action=action if may_try(snapshot, action) else None, notices=tuple(notices))
