"""The last phase: comment, close, board, lease, file, in this order, each step a fact of its own.

The claim file goes last and only when GitHub shows the issue closed. The board is best effort: it is
tried again while that can help, and never keeps the issue open.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lifecycle import messages
from lifecycle.claim import derive
from lifecycle.claim.file import Claim
from lifecycle.claim.seen import COMMENT_READS, COMMENT_SETTLE, Seen, may_try
from lifecycle.claim.state import BOARD_TRIES, Record, Trouble
from lifecycle.claim.table import Phase, Status
from lifecycle.model import Observation, PullRequest, PullState
from lifecycle.plan import (
    CloseIssue,
    Decision,
    ForgetClaim,
    PostComment,
    ReleaseLease,
    Say,
    SetBoard,
    Tone,
)


def decide(seen: Seen) -> Decision:
    """The next step of closing; refuses unless the pull request merged or a person overrode."""
    if seen.observation is None:
        return Decision()
    record, claim = seen.record, seen.record.claim
    pull = derive.pull_request_of(claim, seen.observation, seen.rules.head_owner)
    is_merged = pull is not None and pull.state is PullState.MERGED
    if not is_merged and not record.override:
        return _refusal(claim, pull)
    accepted: dict[str, Any] = {"status": Status.DONE}
    if pull is not None:
        accepted["pr_number"] = pull.number
    if any(record.values.get(name) != value for name, value in accepted.items()):
        memory = {"judged": Phase.DONE.value, "pr_url": pull.url if pull else record.pr_url}
        return Decision(fields=accepted, memory=memory)
    if seen.observation.issue is None and not record.issue_closed:
        text = messages.issue_unknown(claim.issue_number)
        return Decision(says=(Say(f"no-such-issue:{claim.issue_number}", text, Tone.ACT),))
    return _steps(seen, claim)


def absorb(record: Record, seen: Observation, now: float) -> Record:
    """What an observation says about the steps of closing."""
    claim = record.claim
    if seen.issue is None or claim.phase != Phase.DONE:
        return record
    changes: dict[str, Any] = {"issue_closed": not seen.issue.is_open}
    if seen.item is not None:
        changes["board_done"] = seen.item.status == Status.DONE and not seen.item.agent
    if seen.issue.comments is not None and not record.comment_done:
        changes |= _comment_read(record, [comment.body for comment in seen.issue.comments], now)
    return replace(record, **changes)


def farewell(seen: Seen) -> Decision:
    """The last sentence of a claim."""
    record, claim = seen.record, seen.record.claim
    text = messages.closed(claim.issue_number, _board_sentence(seen))
    key = f"issue-closed:{claim.issue_number}:{claim.pr_number or 0}:{int(record.created_at)}"
    return Decision(says=(Say(key, text, Tone.NOTE),))


def why_not_merged(pull: PullRequest | None, branch: str) -> str:
    """Why `done` cannot be: what GitHub shows instead of a merge."""
    if pull is None:
        return f"GitHub shows no merged PR for branch {branch or '(none)'}"
    state = "still open" if pull.state is PullState.OPEN else "closed without a merge"
    return f"PR #{pull.number} is {state}"


def comment_of(record: Record) -> PostComment:
    """The closing comment with its hidden marker."""
    claim = record.claim
    number = claim.pr_number
    marker = f"<!-- lifecycle:completed issue={claim.issue_number} pr={number or 0} -->"
    if record.override:
        text = messages.overridden_comment(number, record.override)
    else:
        text = messages.completed_comment(number or 0)
    return PostComment(claim.issue_number or 0, f"{text}\n\n{marker}", marker)


def _steps(seen: Seen, claim: Claim) -> Decision:
    record = seen.record
    says: list[Say] = []
    comment = _comment_step(seen, says)
    if isinstance(comment, Decision):
        return comment
    if not record.issue_closed:
        close = CloseIssue(claim.issue_number or 0)
        if may_try(seen, close):
            return Decision(action=close, says=tuple(says))
        return Decision(says=tuple(says))
    board = _board_action(seen)
    if board is not None:
        return Decision(action=board, says=tuple(says)) if may_try(seen, board) else Decision()
    if comment == "waiting":
        return Decision(says=tuple(says))
    if record.lease and not record.lease_done and "ReleaseLease" not in record.troubles:
        return Decision(action=ReleaseLease(claim.issue_number or 0, record.lease))
    return Decision(action=ForgetClaim(), says=tuple(says))


def _comment_step(seen: Seen, says: list[Say]) -> Decision | str:
    """A decision to post, or "done", or "waiting" for reads to settle."""
    record = seen.record
    if record.comment_done:
        return "done"
    comment = comment_of(record)
    intent = record.intents.get("PostComment")
    if intent is not None and intent.mark == comment.marker:
        has_settled = seen.now - intent.at >= COMMENT_SETTLE
        if has_settled and intent.clean_reads >= COMMENT_READS:
            return Decision(action=comment)
        return "waiting"
    trouble = record.troubles.get("PostComment")
    if trouble is not None and not may_try(seen, comment):
        if trouble.until is None:
            text = messages.not_commented(trouble.sentence, comment.issue)
            says.append(Say(f"no-comment:{comment.marker}", text, Tone.NOTE))
            return "done"
        return "waiting"
    return Decision(action=comment)


def _comment_read(record: Record, bodies: list[str], now: float) -> dict[str, Any]:
    comment = comment_of(record)
    others = {k: v for k, v in record.intents.items() if k != "PostComment"}
    troubles = {k: v for k, v in record.troubles.items() if k != "PostComment"}
    if any(comment.marker in body for body in bodies):
        return {"comment_done": True, "intents": others, "troubles": troubles}
    intent = record.intents.get("PostComment")
    if intent is None or intent.mark != comment.marker:
        return {}
    intent = replace(intent, clean_reads=intent.clean_reads + 1)
    # The next read, once the time is up, finds it or allows another attempt.
    again = max(intent.at + COMMENT_SETTLE, now + 1)
    trouble = Trouble(comment.marker, "it is not known whether the comment was posted", again)
    return {
        "intents": {**others, "PostComment": intent},
        "troubles": {**troubles, "PostComment": trouble},
    }


def _board_action(seen: Seen) -> SetBoard | None:
    record, observed = seen.record, seen.observation
    if not seen.rules.has_board or record.board_done or observed is None:
        return None
    if observed.board_problem or observed.item is None or observed.item.is_archived:
        return None
    keeps_status = bool(record.moved_to) and observed.item.status != Status.DONE
    needs_clearing = bool(observed.item.agent) and record.synced_agent != ""
    if keeps_status and not needs_clearing:
        return None
    action = SetBoard(
        item_id=observed.item.id,
        status=None if keeps_status else Status.DONE,
        agent=None,
        clear_agent=needs_clearing,
    )
    trouble = record.troubles.get("SetBoard")
    if trouble is not None and (trouble.until is None or trouble.tries >= BOARD_TRIES):
        return None
    return action


def _board_sentence(seen: Seen) -> str:
    record, claim, observed = seen.record, seen.record.claim, seen.observation
    if not seen.rules.has_board:
        return messages.board_absent()
    if record.board_done:
        return messages.board_done()
    trouble = record.troubles.get("SetBoard")
    if trouble is not None:
        return messages.board_not_done(trouble.sentence)
    if record.moved_to:
        return messages.board_kept(record.moved_to)
    if observed is not None and observed.board_problem:
        return messages.board_not_done(observed.board_problem)
    return messages.board_not_done(messages.not_on_board(claim.issue_number, seen.rules.board_name))


def _refusal(claim: Claim, pull: PullRequest | None) -> Decision:
    phase = derive.phase_of(pull)
    reason = why_not_merged(pull, claim.branch)
    text = messages.done_refused(reason, claim.issue_number, phase)
    status = Status.IN_REVIEW if phase is Phase.CHECKS_RUNNING else Status.IN_PROGRESS
    fields: dict[str, Any] = {"phase": phase.value}
    if pull is not None:
        fields["pr_number"] = pull.number
    if claim.status == Status.DONE:
        fields["status"] = status
    key = f"done-refused:{claim.issue_number}:{pull.number if pull else 0}:{phase}"
    return Decision(fields=fields, memory={"judged": phase.value}, says=(Say(key, text, Tone.ACT),))
