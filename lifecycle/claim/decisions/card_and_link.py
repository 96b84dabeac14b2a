"""Keep the card on the board, and the linked task of another tracker, in step with the claim. Pure.

The card gets the claim's Status and Agent; a card that people moved by hand is left alone.

A task of another tracker may name a GitHub issue (`Task.external`). Whoever claims one of them holds both,
and both end together. The linked task is claimed before the issue and closed before it. It never keeps the
issue open: like board and lease, it is tried again while that can help, and the last notice tells what
could not be done.
"""

from __future__ import annotations

import re

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.snapshot import NOTHING, Decision, Snapshot
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.record.claim_file import message
from lifecycle.claim.record.sections import CardRecord
from lifecycle.claim.record.state import BEST_EFFORT_TRIES, ClaimChanges, Record, is_same
from lifecycle.core.light_dataclass import replace
from lifecycle.core.plan import AddToBoard, Audience, Notice, SetBoard, SetLinked, Wake
from lifecycle.core.redact import quoted
from lifecycle.core.values.model import BoardItem, Observation
from lifecycle.core.values.priorities import Status

CLAIMED, CLOSED, RELEASED = "claimed", "closed", "released"
"""The states that a claim may want its linked task in; `Link.synced` has the state that was reached."""

LEFT = "left"
"""`Link.synced` of a task that should have ended with the claim, but is somebody else's or gone."""

FIND = "FindLinked"
"""The kind of trouble of an ending claim that could not look for its linked task."""


def apply_card(record: Record, observed: Observation) -> Record:
    """The record after an observation of its card: written as wanted, moved by hand, or another agent's."""
    item, claim, card = observed.item, record.claim, record.card
    if item is None:
        # A card that is gone is looked for before it is written.
        is_gone = card.is_known and bool(claim.item_id) and not observed.board_problem
        return replace(record, card=replace(card, is_known=False)) if is_gone else record
    values: ClaimChanges = {"item_id": item.id}
    synced = claim.last_synced_status or next(iter(card.unsure), None)
    was_labels = claim.is_labels
    leaves_labels = (was_labels or card.leaves_labels) and not item.is_labels
    is_other = claim.item_id not in ("", item.id) and not (was_labels or item.is_labels)
    is_replaced = is_other or item.is_labels != was_labels
    if is_replaced:
        # A write to one card says nothing about another card, or about labels, nor the other way round.
        values["last_synced_status"] = None
    issue = observed.issue
    is_anew = issue is not None and issue.is_open and is_behind(item, issue.reopened_at)
    # Agent only with a Status: a board without that field never shows what was written.
    is_reset = is_anew and record.past and not is_same(item.status, claim.status)
    # A card is written once even if it is right already, since that write removes the label.
    is_unwritten = leaves_labels and not item.agent
    agent = None if is_other or is_reset or is_unwritten else card.agent
    if is_anew:  # what was written before a reopening is written again
        values["last_synced_status"] = item.status
    is_known = any(is_same(item.status, was) for was in (claim.status, synced, *card.unsure))
    is_known = is_known or is_behind(item, derive.happened_at(claim.pr_number, observed))
    has_moved = synced is not None and not (is_replaced or is_anew or is_known)
    if has_moved:
        values["last_synced_status"] = synced
    if is_same(item.status, claim.status) and not leaves_labels:
        values["last_synced_status"] = claim.status
    is_leased = observed.hold is not None and observed.hold.sha == record.ownership.lease
    if item.agent and (is_leased or item.agent == claim.agent_id):
        agent = item.agent  # since the lease is ours, another name is overwritten
    was_ours = bool(claim.agent_id) and card.agent == claim.agent_id
    holder = item.agent if was_ours and not is_other and item.agent != claim.agent_id else None
    record = record.with_values(values).with_ownership(taken_by=holder or "")
    moved = item.status if has_moved else None
    card = CardRecord(not item.is_archived, agent, moved, leaves_labels, card.unsure)
    return record if record.card == card else replace(record, card=card)


def is_behind(item: BoardItem, happened_at: float | None) -> bool:
    """True if the card's Status was set before `happened_at`: it says nothing about what came after."""
    return item.status_at is not None and happened_at is not None and item.status_at < happened_at


def is_unsynced(snapshot: Snapshot) -> bool:
    """True if the board is known to differ from what the claim wants.

    The last write of a card is a step of the claim's end, and a closed issue does not return to a column
    of open work.
    """
    record, claim = snapshot.record, snapshot.record.claim
    if not snapshot.has_board or claim.phase == Phase.DONE or not claim.status:
        return False
    if record.ending.releasing is not None or record.ending.issue_closed:
        return False
    is_agent_due = bool(claim.agent_id) and claim.agent_id != record.card.agent
    return is_agent_due or not is_same(claim.status, claim.last_synced_status)


def card_step(snapshot: Snapshot) -> Decision:
    """The next step for the card: add it, set Status and Agent, or tell why neither is done."""
    record, claim, observed = snapshot.record, snapshot.record.claim, snapshot.observation
    notices: list[Notice] = []
    if observed is not None and observed.board_problem and snapshot.has_board:
        problem = observed.board_problem
        return Decision(notices=(Notice(f"board:{problem}", problem, Audience.NOTE),))
    if observed is not None and observed.board_note and snapshot.has_board:
        note = observed.board_note
        notices.append(Notice(f"board-note:{note}", note, Audience.NOTE))
    if record.card.moved_to and not _is_meant(snapshot):
        where = "label-moved" if claim.is_labels else "board-moved"
        moved = {"status": quoted(record.card.moved_to), "synced": claim.last_synced_status}
        key = f"moved:{claim.item_id}:{record.card.moved_to}"
        text = message(where, issue=claim.issue_number, **moved)
        notices.append(Notice(key, text, Audience.NOTE))
    if not is_unsynced(snapshot) or record.card.moved_to or derive.lacks_issue(snapshot):
        return Decision(notices=tuple(notices)) if notices else NOTHING
    item = observed.item if observed is not None else None
    if observed is not None and item is None:
        if observed.issue and not claim.item_id:
            return derive.attempt(snapshot, AddToBoard(claim.issue, observed.issue.id), notices)
        text = message("not-on-board", issue=claim.issue_number, board=snapshot.settings.board_name)
        return Decision(notices=(Notice(f"off-board:{claim.issue_number}", text, Audience.NOTE),))
    if item is not None and item.is_archived:
        text = message(
            "card-archived", issue=claim.issue_number, board=snapshot.settings.board_name
        )
        return Decision(notices=(Notice(f"archived:{claim.item_id}", text, Audience.NOTE),))
    if not record.card.is_known:
        return Decision(notices=tuple(notices))
    status = None if is_same(claim.status, claim.last_synced_status) else claim.status
    agent = claim.agent_id if claim.agent_id != (record.card.agent or "") else None
    return derive.attempt(snapshot, SetBoard(claim.item_id, status, agent), notices)


def _is_meant(snapshot: Snapshot) -> bool:
    """True if what somebody moved the card to fits the task by now."""
    record, claim, observed = snapshot.record, snapshot.record.claim, snapshot.observation
    issue = observed.issue if observed is not None else None
    is_finished = record.ending.issue_closed if issue is None else not issue.is_open
    moved_to, head_owner = record.card.moved_to, snapshot.head_owner
    if is_same(moved_to, claim.status) or (is_finished and is_same(moved_to, Status.DONE)):
        return True
    # A sweep's draft, or another's pull request: what a hand-off adopts.
    opened = observed and derive.open_pull_request_of(claim, observed, head_owner)
    return opened is not None and is_same(moved_to, Status.IN_REVIEW)


def issue_of(external: str, base: str, host: str) -> int | None:
    """The number of the issue that an external reference names; None if it names no issue of `base`.

    Forms: `gh-42`, `github:#42`, `owner/name#42` (also behind `github:`), or the issue's address.

    Args:
        external: the reference, as the tracker has it.
        base: `owner/name` of the repository of the issues.
        host: the host of GitHub's pages, with a port if it has one.
    """
    name = re.escape(base)
    ways = (
        r"(?:gh-|github:\s?#?)(\d{1,9})",
        rf"(?:github:\s?)?{name}#(\d{{1,9}})",
        rf"https?://{re.escape(host)}/{name}/issues/(\d{{1,9}})/?(?:[?#].*)?",
    )
    matches = (re.fullmatch(way, external.strip(), re.IGNORECASE) for way in ways)
    return next((int(match[1]) for match in matches if match and int(match[1])), None)


def link_wanted(record: Record) -> str:
    """The state that the linked task should have, given the claim."""
    if record.ending.releasing is not None:
        return RELEASED
    return CLOSED if record.claim.phase == Phase.DONE else CLAIMED


def link_action(record: Record) -> SetLinked | None:
    """The action that brings the linked task to the wanted state, or None if it is in that state.

    A sweep's claim has none: there is no worktree. A closed task stays closed, whoever closed it. A task
    that was left to somebody else during the claim may be free when the claim closes, so it is tried once
    more then.
    """
    link, aim = record.linked.link, link_wanted(record)
    if link is None or link.synced in (aim, CLOSED, LEFT):
        return None
    if record.linked.left and aim != CLOSED:
        return None
    return SetLinked(link.tracker, link.id, aim, link_reason(record))


def link_reason(record: Record) -> str:
    """The reason for closing the linked task; "" while it should stay open."""
    claim, override = record.claim, record.ending.override
    if link_wanted(record) != CLOSED:
        return ""
    if override:
        return message("overridden", reason=override)
    pull = f"PR #{claim.pr_number} {record.pull.url}".rstrip() if claim.pr_number else ""
    is_both = claim.summary and pull
    return f"{claim.summary} ({pull})" if is_both else claim.summary or pull or "Done."


def wants_link(snapshot: Snapshot) -> bool:
    """True if this look should ask for a linked task, or for its present state.

    A look by command finds out what is linked by now, and whether it is still held. So does the look that
    ends a claim which never asked, since no later one can.
    """
    record = snapshot.record
    link, is_ending = record.linked.link, link_wanted(record) != CLAIMED
    if record.claim.issue_number is None or record.is_lost:
        return False
    if link is not None:
        # A linked task that somebody closed or took during the claim may be open or free again.
        is_read = link.synced == CLAIMED
        is_read |= not is_ending and (link.synced == CLOSED or bool(record.linked.left))
        return snapshot.wake is Wake.TICK and is_read
    return snapshot.wake is Wake.TICK or (is_ending and not record.linked.is_known)


def link_ending_step(snapshot: Snapshot) -> Decision | None:
    """The step that ends the linked task with the claim; None if there is none left to do."""
    record = snapshot.record
    unknown = record.troubles.get(FIND)
    if unknown is not None and unknown.tries < BEST_EFFORT_TRIES and not record.linked.is_known:
        return Decision()
    return derive.ending_step(snapshot, link_action(record))


def link_notices(record: Record) -> tuple[Notice, ...]:
    """A notice, told once, that the linked task is left as it is."""
    if record.linked.link is None or not record.linked.left:
        return ()
    link = record.linked.link
    end = {LEFT: ":end", CLOSED: ":closed"}.get(link.synced, "")
    return (Notice(f"linked-left:{link.id}{end}", record.linked.left, Audience.NOTE),)


def link_remainder(record: Record) -> str:
    """The addition to a claim's last notice if its linked task did not end with it; else ""."""
    action, trouble = link_action(record), record.troubles.get("SetLinked")
    if action is None or trouble is None:
        return ""
    name = "linked-left-open" if link_wanted(record) == CLOSED else "linked-left-claimed"
    return message(name, task=action.id, why=trouble.sentence)
