"""The last phase: comment, close, board, lease, file, in this order, each step a fact of its own.

The claim file goes last and only when GitHub shows the issue closed. The board is best effort: it is
tried again while that can help, and never keeps the issue open.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from lifecycle import messages
from lifecycle.claim import derive
from lifecycle.claim.file import Claim
from lifecycle.claim.seen import COMMENT_READS, COMMENT_SETTLE, Seen, may_try
from lifecycle.claim.state import (
    BEST_EFFORT_TRIES,
    Record,
    Trouble,
    is_same,
    kind_of,
    mark_of,
)
from lifecycle.claim.table import Phase, Status
from lifecycle.model import Observation, PullRequest, PullState
from lifecycle.plan import (
    Action,
    CloseIssue,
    Decision,
    ForgetClaim,
    PostComment,
    ReleaseLease,
    Say,
    SetBoard,
    Tone,
)

_STEPS = ("PostComment", "CloseIssue", "SetBoard", "ReleaseLease")


def decide(seen: Seen) -> Decision:
    """The next step of closing; refuses unless the pull request merged or a person overrode."""
    if seen.observation is None:
        return Decision()
    record, claim = seen.record, seen.record.claim
    pull = derive.pull_request_of(record, seen.observation, seen.rules.head_owner)
    is_merged = pull is not None and pull.state is PullState.MERGED
    if not is_merged and not record.override:
        return _refusal(claim, pull)
    accepted: dict[str, Any] = {"status": Status.DONE}
    if pull is not None:
        accepted["pr_number"] = pull.number
    # An override is for a claim without a merge; with one there is nothing to override.
    override = "" if is_merged else record.override
    is_news = any(record.values.get(name) != value for name, value in accepted.items())
    if is_news or override != record.override:
        url = pull.url if pull else record.pr_url
        memory = {"judged": Phase.DONE.value, "pr_url": url, "override": override}
        return Decision(fields=accepted, memory=memory)
    if seen.observation.issue is None and not record.issue_closed:
        text = messages.issue_unknown(claim.issue_number)
        say = Say(f"no-such-issue:{claim.issue_number}", text, Tone.ACT, stands=True)
        return Decision(says=(say,))
    return _steps(seen, claim)


def absorb(record: Record, seen: Observation, now: float) -> Record:
    """What an observation says about the steps of closing."""
    claim = record.claim
    if seen.issue is None or claim.phase != Phase.DONE:
        return record
    changes: dict[str, Any] = {"issue_closed": not seen.issue.is_open}
    if seen.item is not None:
        changes["board_done"] = is_same(seen.item.status, Status.DONE) and not seen.item.agent
    if seen.issue.comments is not None and "PostComment" in record.intents:
        changes |= _comment_missed(record, now)
    return replace(record, **changes)


def may_go_on(seen: Seen) -> bool:
    """True unless every step that is left waits for a later moment."""
    troubles = seen.record.troubles
    waits = [troubles[kind].until for kind in _STEPS if kind in troubles]
    return not waits or seen.now >= min(waits)


def why_not_merged(pull: PullRequest | None, branch: str) -> str:
    """Why `done` cannot be: what GitHub shows instead of a merge."""
    if pull is None:
        return f"GitHub shows no merged PR for branch {branch or '(none)'}"
    state = "still open" if pull.state is PullState.OPEN else "closed without a merge"
    return f"PR #{pull.number} is {state}"


def comment_of(record: Record) -> PostComment:
    """The closing comment with its hidden marker, which names issue, PR and the agent's claim."""
    claim = record.claim
    number = claim.pr_number
    agent = re.sub(r"[^\w.]+", "-", claim.agent_id)
    marker = f"<!-- lifecycle:completed issue={claim.issue_number} pr={number or 0} by={agent} -->"
    if record.override:
        text = messages.overridden_comment(number, record.override)
    else:
        text = messages.completed_comment(number or 0)
    return PostComment(claim.issue_number or 0, f"{text}\n\n{marker}", marker)


def _steps(seen: Seen, claim: Claim) -> Decision:
    record = seen.record
    comment = _comment_step(seen)
    if isinstance(comment, Decision):
        return comment
    if not record.issue_closed:
        close = CloseIssue(claim.issue_number or 0)
        return Decision(action=close if may_try(seen, close) else None)
    board = _board_action(seen)
    if board is not None:
        return Decision(action=board if may_try(seen, board) else None)
    if comment == "waiting":
        return Decision()
    release = ReleaseLease(claim.issue_number or 0, record.lease)
    if record.lease and not record.lease_done and not _is_given_up(record, release):
        return Decision(action=release if may_try(seen, release) else None)
    # Said with the last step and not after it: a crash behind it must not lose the sentence.
    text = messages.closed(claim.issue_number, _board_sentence(seen))
    say = Say(f"issue-closed:{claim.pr_number or 0}", text, Tone.NOTE)
    return Decision(action=ForgetClaim(), says=(say,))


def _is_given_up(record: Record, action: Action) -> bool:
    """True if a best-effort step was refused, or failed too often to wait for it any longer."""
    trouble = record.troubles.get(kind_of(action))
    if trouble is None or trouble.mark != mark_of(action):
        return False
    return trouble.is_final or trouble.tries >= BEST_EFFORT_TRIES


def _comment_step(seen: Seen) -> Decision | str:
    """A decision, or "done", or "waiting" for reads to settle."""
    record = seen.record
    if record.comment_done:
        return "done"
    comment = comment_of(record)
    if _is_posted(comment, seen.observation):
        others = {k: v for k, v in record.intents.items() if k != "PostComment"}
        troubles = {k: v for k, v in record.troubles.items() if k != "PostComment"}
        return Decision(memory={"comment_done": True, "intents": others, "troubles": troubles})
    intent = record.intents.get("PostComment")
    if intent is not None and intent.mark == comment.marker:
        has_settled = seen.now - intent.at >= COMMENT_SETTLE
        if has_settled and intent.clean_reads >= COMMENT_READS:
            return Decision(action=comment)
        return "waiting"
    if may_try(seen, comment):
        return Decision(action=comment)
    # A comment that GitHub refuses does not keep the issue open; its complaint says so.
    trouble = record.troubles.get("PostComment")
    return "done" if trouble is not None and trouble.is_final else "waiting"


def _is_posted(comment: PostComment, seen: Observation | None) -> bool:
    comments = seen.issue.comments if seen is not None and seen.issue is not None else None
    return any(comment.marker in posted.body for posted in comments or ())


def _comment_missed(record: Record, now: float) -> dict[str, Any]:
    """Count a read for a comment whose fate is unknown; whether it was in it, the step sees."""
    intent = record.intents["PostComment"]
    intent = replace(intent, clean_reads=intent.clean_reads + 1)
    # The next read, once the time is up, finds it or allows another attempt.
    again = max(intent.at + COMMENT_SETTLE, now + 1)
    trouble = Trouble(intent.mark, "it is not known whether the comment was posted", again)
    return {
        "intents": {**record.intents, "PostComment": intent},
        "troubles": {**record.troubles, "PostComment": trouble},
    }


def _board_action(seen: Seen) -> SetBoard | None:
    record, observed = seen.record, seen.observation
    if not seen.rules.has_board or record.board_done or observed is None:
        return None
    if observed.board_problem or observed.item is None or observed.item.is_archived:
        return None
    keeps_status = bool(record.moved_to) and not is_same(observed.item.status, Status.DONE)
    needs_clearing = bool(observed.item.agent) and record.synced_agent != ""
    if keeps_status and not needs_clearing:
        return None
    action = SetBoard(
        item_id=observed.item.id,
        status=None if keeps_status else Status.DONE,
        agent=None,
        clear_agent=needs_clearing,
    )
    return None if _is_given_up(record, action) else action


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
    key = f"done-refused:{pull.number if pull else 0}:{phase}"
    return Decision(
        fields=fields, memory={"judged": phase.value}, says=(Say(key, text, Tone.ACT, stands=True),)
    )
