"""Close a claim whose work is merged: comment, issue, card, lease, claim file, one step a decision.

The claim file goes last and only when GitHub shows the issue closed. The board is best effort: it is
tried again while that can help, and never keeps the issue open.
"""

from __future__ import annotations

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.ending import consent, ending_steps
from lifecycle.claim.decisions.snapshot import Decision, Snapshot, may_try
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.linked import linked_decisions
from lifecycle.claim.record.state import ClaimChanges, Record, is_same
from lifecycle.core import hidden_marker
from lifecycle.core.light_dataclass import replace
from lifecycle.core.messages import messages
from lifecycle.core.plan import Audience, CloseIssue, ForgetClaim, Notice, PostComment, SetBoard
from lifecycle.core.values.model import Observation, PullRequest, PullState
from lifecycle.core.values.priorities import Status


def decide(snapshot: Snapshot) -> Decision:
    """The next step of closing; refuses unless the pull request merged or a person overrode."""
    record, claim, observed = snapshot.record, snapshot.record.claim, snapshot.observation
    if observed is None:
        return Decision()
    pull = derive.pull_request_of(record, observed, snapshot.rules.head_owner)
    is_merged = pull is not None and pull.state is PullState.MERGED
    if not is_merged and not record.ending.override:
        return _refusal(record, pull)
    accepted: ClaimChanges = {"status": Status.DONE}
    if pull is not None:
        accepted["pr_number"] = pull.number
    # An override is for a claim without a merge; with one there is nothing to override.
    override = "" if is_merged else record.ending.override
    is_news = any(record.values.get(name) != value for name, value in accepted.items())
    if is_news or override != record.ending.override:
        url = pull.url if pull else record.pull.url
        return Decision(
            fields=accepted,
            record=replace(
                record,
                judged=Phase.DONE.value,
                pull=replace(record.pull, url=url),
                ending=replace(record.ending, override=override),
            ),
        )
    if observed.issue is None and not record.ending.issue_closed:
        text = messages.issue_unknown(claim.issue_number)
        notice = Notice(f"no-such-issue:{claim.issue_number}", text, Audience.ACT, stands=True)
        return Decision(notices=(notice,))
    return _steps(snapshot, observed)


def apply_observation(record: Record, seen: Observation, now: float) -> Record:
    """What an observation says about the steps of closing."""
    claim = record.claim
    if seen.issue is None or claim.phase != Phase.DONE:
        return record
    ending = replace(record.ending, issue_closed=not seen.issue.is_open)
    if seen.item is not None:
        is_done = is_same(seen.item.status, Status.DONE) and not seen.item.agent
        ending = replace(ending, board_done=is_done and not record.card.leaves_labels)
    return ending_steps.comment_missed(replace(record, ending=ending), seen, now)


def why_not_merged(pull: PullRequest | None, branch: str) -> str:
    """What GitHub shows instead of a merge, as the reason why `done` is refused."""
    if pull is None:
        return f"GitHub shows no merged PR for branch {branch or '(none)'}"
    state = "still open" if pull.state is PullState.OPEN else "closed without a merge"
    return f"PR #{pull.number} is {state}"


def comment_of(record: Record) -> PostComment:
    """The closing comment, with who confirmed, and a hidden marker: issue, PR, the agent's claim."""
    claim = record.claim
    agent = hidden_marker.word(claim.agent_id)
    mark = hidden_marker.of("completed", issue=claim.issue_number, pr=claim.pull, by=agent)
    if record.ending.override:
        text = messages.overridden_comment(claim.pr_number, record.ending.override)
    else:
        text = messages.completed_comment(claim.pull)
        confirmed = messages.confirmed(record.ending.consent)
        text = f"{text}\n{confirmed}" if confirmed else text
    return PostComment(claim.issue, hidden_marker.signed(text, mark), mark)


def _steps(snapshot: Snapshot, observed: Observation) -> Decision:
    record, claim = snapshot.record, snapshot.record.claim
    comment = ending_steps.comment_step(snapshot, comment_of(record))
    if isinstance(comment, Decision):
        return comment
    inner = linked_decisions.ending_step(snapshot)
    if inner is not None:
        return inner
    if not record.ending.issue_closed:
        close = CloseIssue(claim.issue)
        if may_try(snapshot, close):
            return Decision(action=close)
        back = _put_back(record, observed)
        return Decision(action=back if back and may_try(snapshot, back) else None)
    board = _board_action(snapshot, observed)
    if board is not None:
        return Decision(action=board if may_try(snapshot, board) else None)
    if comment == "waiting":
        return Decision()
    lease = ending_steps.lease_step(snapshot)
    if lease is not None:
        return lease
    # Said with the last step and not after it: a crash behind it must not lose the sentence.
    text = messages.closed(claim.issue_number, _board_sentence(snapshot, observed))
    text = f"{text} {linked_decisions.remainder(record)}".rstrip()
    notice = Notice(f"issue-closed:{claim.pull}", text, Audience.NOTE)
    return Decision(action=ForgetClaim(), notices=(notice,))


def _put_back(record: Record, observed: Observation) -> SetBoard | None:
    """What undoes the card that was written in one request with a closing that GitHub refused.

    Only what a look shows as it was written: one that was made before, or none, says nothing of it.
    """
    before, item = record.card.ahead, observed.item
    if before is None or item is None or not is_same(item.status, before.wrote):
        return None
    agent = before.agent if before.agent and not item.agent else None
    action = SetBoard(item.id, before.status or None, agent)
    return None if ending_steps.is_given_up(record, action) else action


def _board_action(snapshot: Snapshot, observed: Observation) -> SetBoard | None:
    record = snapshot.record
    if not snapshot.rules.has_board or record.ending.board_done:
        return None
    if observed.board_problem or observed.item is None or observed.item.is_archived:
        return None
    # Moved before it was closed, the card follows; moved since then, it stands.
    was_closed = observed.issue is not None and not observed.issue.is_open
    is_moved = bool(record.card.moved_to) and was_closed
    keeps_status = is_moved and not is_same(observed.item.status, Status.DONE)
    needs_clearing = bool(observed.item.agent) and record.card.agent != ""
    if keeps_status and not needs_clearing:
        return None
    action = SetBoard(
        item_id=observed.item.id,
        status=None if keeps_status else Status.DONE,
        agent=None,
        clear_agent=needs_clearing,
    )
    return None if ending_steps.is_given_up(record, action) else action


def _board_sentence(snapshot: Snapshot, observed: Observation) -> str:
    record, claim = snapshot.record, snapshot.record.claim
    if not snapshot.rules.has_board:
        return messages.board_absent()
    if record.ending.board_done:
        return messages.status_set(Status.DONE, is_labels=claim.is_labels)
    trouble = record.troubles.get("SetBoard")
    if trouble is not None:
        why, is_labels = trouble.sentence, claim.is_labels
        return messages.status_not_set(Status.DONE, why, is_labels=is_labels)
    if record.card.moved_to:
        kept = messages.label_kept if claim.is_labels else messages.board_kept
        return kept(record.card.moved_to)
    if observed.board_problem:
        return messages.status_not_set(Status.DONE, observed.board_problem)
    why = messages.not_on_board(claim.issue_number, snapshot.rules.board_name)
    return messages.status_not_set(Status.DONE, why)


def _refusal(record: Record, pull: PullRequest | None) -> Decision:
    claim, phase = record.claim, derive.phase_of(pull)
    reason = why_not_merged(pull, claim.branch)
    text = messages.done_refused(reason, claim.issue_number, phase)
    status = Status.IN_REVIEW if phase is Phase.CHECKS_RUNNING else Status.IN_PROGRESS
    fields: ClaimChanges = {"phase": phase.value}
    if pull is not None:
        fields["pr_number"] = pull.number
    if claim.status == Status.DONE:
        fields["status"] = status
    key = f"done-refused:{pull.number if pull else 0}:{phase}"
    return Decision(
        fields=fields,
        # A yes to what was not merged is no yes to what merges later.
        record=replace(consent.given(record, ""), judged=phase.value),
        notices=(Notice(key, text, Audience.ACT, stands=True),),
    )
