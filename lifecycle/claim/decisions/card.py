"""The card on the board: keep Status and Agent as the claim has them, and leave what people move."""

from __future__ import annotations

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.snapshot import Decision, Snapshot, is_unsynced, may_try
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.record.sections import CardAhead, CardRecord
from lifecycle.claim.record.state import ClaimChanges, Record, is_same
from lifecycle.core.light_dataclass import replace
from lifecycle.core.messages import messages
from lifecycle.core.plan import AddToBoard, Audience, Notice, SetBoard
from lifecycle.core.values.model import Observation
from lifecycle.core.values.priorities import Status


def apply_observation(record: Record, seen: Observation) -> Record:
    """What an observation says about the card: synced, moved by hand, taken over."""
    item, claim, card = seen.item, record.claim, record.card
    if item is None:
        return record
    values: ClaimChanges = {"item_id": item.id}
    expected: tuple[str | None, ...] = (claim.status, claim.last_synced_status)
    was_labels = claim.is_labels
    leaves_labels = (was_labels or card.leaves_labels) and not item.is_labels
    if item.is_labels != was_labels:
        # What was written to the board says nothing of the labels, nor the other way round.
        values["last_synced_status"] = None
        expected = (item.status,)
    ahead = card.ahead if card.ahead and is_same(item.status, card.ahead.wrote) else None
    if ahead is not None:  # our own write, whatever became of what it follows from
        values["last_synced_status"] = item.status
        expected = (item.status,)
    agent = card.agent
    if leaves_labels and not item.agent:
        # The card is written once even if it is as it should be: the label goes with that write.
        agent = None
    is_expected = any(is_same(item.status, status) for status in expected)
    is_behind = derive.is_behind(item, derive.happened_at(record, seen))
    has_moved = claim.last_synced_status is not None and not (is_expected or is_behind)
    if is_same(item.status, claim.status) and not leaves_labels:
        values["last_synced_status"] = claim.status
    if item.agent and item.agent == claim.agent_id:
        agent = claim.agent_id
    was_ours = bool(claim.agent_id) and card.agent == claim.agent_id
    other = item.agent if was_ours and item.agent != claim.agent_id else None
    moved_to = item.status if has_moved else None
    return replace(
        record.with_values(values),
        card=CardRecord(True, agent, moved_to, leaves_labels, _still(record, ahead, seen)),
        ownership=replace(record.ownership, taken_by=other or ""),
    )


def _still(record: Record, ahead: CardAhead | None, seen: Observation) -> CardAhead | None:
    """What a closing wrote ahead, while the issue is open; all else is kept as the claim has it anyway."""
    is_open = seen.issue is None or seen.issue.is_open
    return ahead if is_open and record.claim.phase == Phase.DONE else None


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
    if record.card.moved_to and not (is_finished and record.card.moved_to == Status.DONE):
        tell = messages.label_moved if claim.is_labels else messages.board_moved
        moved = tell(claim.issue_number, record.card.moved_to, claim.last_synced_status)
        notices.append(
            Notice(f"moved:{claim.item_id}:{record.card.moved_to}", moved, Audience.NOTE)
        )
    if not is_unsynced(snapshot) or record.card.moved_to:
        return Decision(notices=tuple(notices))
    item = now_seen.item if now_seen is not None else None
    if now_seen is not None and item is None:
        if now_seen.issue and not claim.item_id:
            adding = AddToBoard(claim.issue, now_seen.issue.id)
            return Decision(
                action=adding if may_try(snapshot, adding) else None, notices=tuple(notices)
            )
        text = messages.not_on_board(claim.issue_number, snapshot.rules.board_name)
        return Decision(notices=(Notice(f"off-board:{claim.issue_number}", text, Audience.NOTE),))
    if item is not None and item.is_archived:
        text = messages.archived(claim.issue_number, snapshot.rules.board_name)
        return Decision(notices=(Notice(f"archived:{claim.item_id}", text, Audience.NOTE),))
    if not record.card.is_known:
        return Decision(notices=tuple(notices))
    action = SetBoard(
        item_id=claim.item_id,
        status=None if is_same(claim.status, claim.last_synced_status) else claim.status,
        agent=claim.agent_id if claim.agent_id != (record.card.agent or "") else None,
    )
    return Decision(action=action if may_try(snapshot, action) else None, notices=tuple(notices))
