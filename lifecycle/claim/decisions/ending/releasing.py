"""Release a task: comment, assignee, lease, card, claim file, one step a decision.

Built like `closing`, for a task that is not finished. No work is deleted, here or on GitHub. A card that
people moved aside (Blocked, Done) is left alone, and what another agent holds by now is not touched at all.
Once the command was given, the phase no longer matters.

A task may also be released from another machine (`lifecycle reconcile --release`): `derive` says how the
worktree that had the claim finds that out.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.claim.decisions import card_and_link, derive
from lifecycle.claim.decisions.ending import closing
from lifecycle.claim.decisions.snapshot import NOTHING, Decision, Snapshot
from lifecycle.claim.record.claim_file import message
from lifecycle.claim.record.sections import Releasing
from lifecycle.claim.record.state import Record, is_same
from lifecycle.core import hidden_marker
from lifecycle.core.light_dataclass import replace
from lifecycle.core.messages import messages
from lifecycle.core.plan import Audience, Notice, PostComment, SetBoard, Unassign, Wake
from lifecycle.core.redact import named
from lifecycle.core.values.model import BoardItem, Comment, Issue, Observation, PullState
from lifecycle.core.values.priorities import Status

_AT_WORK = (Status.IN_PROGRESS, Status.IN_REVIEW)
"""The Statuses from which a card goes to Todo, whoever set them: nobody works on the task any more."""

ENDING = "given-back:"
"""The beginning of the last notice's key; the time of the release follows."""


def decide(snapshot: Snapshot) -> Decision:
    """The next step of a release; refuses at the start if the work was merged."""
    record, observed = snapshot.record, snapshot.observation
    releasing = record.ending.releasing
    if releasing is None or observed is None:
        return Decision()
    claim = record.claim
    holder = releasing.holder or record.ownership.taken_by
    if holder:
        text = message("released-to-holder", issue=claim.issue_number, holder=named(holder))
        return _leave(snapshot, releasing, text)
    issue = observed.issue
    if issue is None:
        text = message("released-unseen", issue=claim.issue_number)
        return _leave(snapshot, releasing, text)
    if not releasing.is_begun:
        if observed.is_archived and snapshot.wake is not Wake.SWEEP:
            text = message("not-released-archived", issue=claim.issue_number)
            return _refused(record, releasing, text)
        pull = derive.pull_request_of(snapshot)
        is_merged = pull is not None and pull.state is PullState.MERGED
        # GitHub still names the claim's agent on the card, or its account among the assignees.
        is_on_card = observed.item is not None and observed.item.agent == claim.agent_id
        is_named = is_on_card or _assigned(record, issue) is not None
        if record.ownership.is_leaseless and (is_merged or not is_named):
            text = message("released-unheld", issue=claim.issue_number)
            return _leave(snapshot, releasing, text)
        if pull is not None and is_merged:
            text = message("not-released", issue=claim.issue_number, number=pull.number)
            return _refused(record, releasing, text)
    if not releasing.is_begun or claim.status != Status.TODO:
        begun = record.with_ending(releasing=replace(releasing, is_begun=True))
        return Decision(begun.with_values({"status": Status.TODO}))
    return _steps(snapshot, releasing, observed, issue)


def _refused(record: Record, releasing: Releasing, text: str) -> Decision:
    """Give up a release that has not begun, and say why."""
    notice = Notice(f"not-given-back:{int(releasing.at)}", text, Audience.ACT)
    return Decision(record=record.with_ending(releasing=None), notices=(notice,))


def apply_observation(record: Record, observed: Observation, now: float) -> Record:
    """The record after an observation, with the steps that GitHub shows as done.

    A done step stays done: the task is free before the claim file is deleted, so others may have changed it
    by then. But while the lease is ours, only a sweep sets the card back to work: the lease tells it to.
    """
    if record.ending.releasing is None or not record.ending.releasing.is_begun:
        return record
    if observed.issue is not None and _assigned(record, observed.issue) is None:
        record = record.with_ending(unassigned=True)
    item = observed.item
    is_free = item and is_same(item.status, Status.TODO) and not item.agent
    if is_free and not record.card.leaves_labels:
        record = record.with_ending(board_done=True)
    elif observed.hold and observed.hold.sha == record.ownership.lease:
        is_at_work = item and any(is_same(item.status, status) for status in _AT_WORK)
        record = record.with_ending(board_done=record.ending.board_done and not is_at_work)
    return closing.comment_missed(record, observed, now)


def comment_of(record: Record, releasing: Releasing, pulls: str, issue: Issue) -> PostComment:
    """The comment on the issue, with a hidden marker that identifies this release.

    `pulls` is the sentence about its open pull request, or "".
    """
    claim = record.claim
    by, at = hidden_marker.word(claim.agent_id), int(releasing.at)
    mark = hidden_marker.of("released", issue=claim.issue_number, by=by, at=at)
    who = (claim.agent_id, releasing.by, _others(record, issue))
    headline = messages.release_headline(*who, is_open=issue.is_open)
    work = (claim.branch, releasing.progress, pulls)
    text = messages.release_comment(headline, *work, releasing.reason)
    return PostComment(claim.issue, hidden_marker.signed(text, mark), mark)


def surplus(record: Record, posted: Iterable[Comment]) -> list[int]:
    """The ids of this claim's release comments after the oldest, if copies of it were released at once.

    Of a task that was taken over in the midst of its release, none stays: it is not free.
    """
    released = derive.tellings(posted, record.claim.issue, record.claim.agent_id)
    ours = [number for number, at in released if at >= int(record.created_at)]
    return ours if record.ownership.taken_by else ours[1:]


def _leave(snapshot: Snapshot, releasing: Releasing, text: str) -> Decision:
    """End only lease and linked task: the task is another agent's, was released before, or is gone."""
    # If the card names somebody else, the lease may still be ours and would keep them out.
    lease = None if releasing.holder else closing.lease_step(snapshot)
    step = lease or card_and_link.link_ending_step(snapshot)
    return step or closing.last_step(snapshot.record, f"{ENDING}{int(releasing.at)}", text)


def _steps(
    snapshot: Snapshot, releasing: Releasing, observed: Observation, issue: Issue
) -> Decision:
    """The next step of a release that has begun."""
    record, claim = snapshot.record, snapshot.record.claim
    if snapshot.wake is Wake.SWEEP and record.ownership.lease and not record.ending.lease_done:
        # From another machine, only the lease shows that nobody took the task meanwhile, so it goes first;
        # if it cannot be ended, the task stays with its holder.
        return closing.lease_step(snapshot) or Decision()
    pulls = closing.stays(record, derive.pull_request_of(snapshot))
    comment = closing.comment_step(snapshot, comment_of(record, releasing, pulls, issue))
    if comment is not None and comment != NOTHING:
        return comment
    # A closed issue continues to show who worked on it.
    login = _assigned(record, issue) if issue.is_open and not record.ending.unassigned else None
    unassigning = Unassign(issue.number, login) if login is not None else None
    step = derive.ending_step(snapshot, unassigning)
    # The linked task goes before the lease: once the lease is gone, somebody else may claim both. The card
    # goes behind it: the lease shows whether somebody took the task over, whose card that is. But labels
    # name no agent: with the lease gone, no sweep could tell that a release was cut off before them.
    step = step or card_and_link.link_ending_step(snapshot)
    lease = comment or closing.lease_step(snapshot)
    card = derive.ending_step(snapshot, _board_action(snapshot, observed, issue))
    step = step or (card or lease if claim.is_labels else lease or card)
    if step is not None:
        return step
    kept = _kept(snapshot, observed.item, issue)
    board = closing.board_sentence(snapshot, observed, Status.TODO, kept)
    others = _others(record, issue)
    text = messages.released(claim.issue_number, board, claim.branch, pulls, others)
    trouble = record.troubles.get("ReleaseLease")
    if trouble is not None:
        forcing = messages.forcing(claim.issue_number)
        text = f"{text} {message('lease-left', forcing=forcing, why=trouble.sentence)}"
    return closing.last_step(record, f"{ENDING}{int(releasing.at)}", text)


def _assigned(record: Record, issue: Issue) -> str | None:
    """The claimer's login as it appears among the issue's assignees, or None."""
    return derive.assigned(issue.assignees, derive.login_of(record.claim.agent_id))


def _others(record: Record, issue: Issue) -> str:
    """Who stays assigned once the claimer is unassigned; only for them is the task free then."""
    own = _assigned(record, issue)
    return ", ".join(named(name) for name in issue.assignees if issue.is_open and name != own)


def _board_action(snapshot: Snapshot, observed: Observation, issue: Issue) -> SetBoard | None:
    """The write that sets the card to Todo and clears its Agent, or None if nothing has to be written."""
    record, item = snapshot.record, observed.item
    if not snapshot.has_board or record.ending.board_done or observed.board_problem:
        return None
    if item is None or item.is_archived or _other_agent(snapshot, item):
        return None
    if snapshot.wake is Wake.SWEEP and item.agent and "Unassign" in record.troubles:
        return None  # with the lease gone, the name on it alone lets the next run finish this
    is_set = is_same(item.status, Status.TODO) or not _may_move(record, item, issue)
    if is_set and not item.agent and not record.card.leaves_labels:
        return None
    is_left = is_set and not (record.card.leaves_labels and is_same(item.status, Status.TODO))
    status = None if is_left else Status.TODO
    return SetBoard(item.id, status, None, clear_agent=bool(item.agent))


def _other_agent(snapshot: Snapshot, item: BoardItem) -> str | None:
    """The other agent that the card names; "" or None if that is the claim's agent or nobody.

    A name on the card does not count if the claim had the lease until its end: the lease outweighs it.
    """
    lease, observed = snapshot.record.ownership.lease, snapshot.observation
    hold = observed.hold if observed is not None else None
    is_seen = snapshot.wake is Wake.SWEEP or (hold is not None and hold.sha == lease)
    is_ours = item.agent == snapshot.record.claim.agent_id or (bool(lease) and is_seen)
    return "" if is_ours else item.agent


def _may_move(record: Record, item: BoardItem, issue: Issue) -> bool:
    """True if the task can be taken again, and the card's Status is one that a claim sets."""
    is_where_left = record.claim.last_synced_status is not None and not record.card.moved_to
    is_at_work = not item.status or any(is_same(item.status, status) for status in _AT_WORK)
    return issue.is_open and (is_where_left or is_at_work)


def _kept(snapshot: Snapshot, item: BoardItem | None, issue: Issue) -> str:
    """The sentence on a card that was left as it is, or ""; nothing is said of an archived one."""
    if item is None or item.is_archived:
        return ""
    other_agent = _other_agent(snapshot, item)
    if other_agent:
        return message("card-of-another", agent=named(other_agent))
    if is_same(item.status, Status.TODO) or _may_move(snapshot.record, item, issue):
        return ""
    return messages.status_kept(item.status or "", is_labels=item.is_labels)
