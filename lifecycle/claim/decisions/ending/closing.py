"""After the merge: ask whether to close the issue, act on the answer, and close the claim step by step.

The steps are comment, issue, card, lease and claim file, each a decision and a fact of its own. The claim
file goes last and only when GitHub shows the issue closed. The comment is a create that GitHub does not
deduplicate, so it is looked for by its hidden marker. The board and the lease are best effort: they are
tried again while that can help, and never keep the issue open. `releasing` shares those steps.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.claim.decisions import card_and_link, derive
from lifecycle.claim.decisions.pull import review
from lifecycle.claim.decisions.snapshot import NOTHING, Decision, Snapshot
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.record.claim_file import complaint, message
from lifecycle.claim.record.sections import Trouble
from lifecycle.claim.record.state import ENDING_STEPS, ClaimChanges, Record, fold, is_same
from lifecycle.core import hidden_marker, plan
from lifecycle.core.light_dataclass import replace
from lifecycle.core.messages import messages
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.values.model import Comment, Issue, Observation, PullRequest, PullState
from lifecycle.core.values.priorities import Status

COMMENT_SETTLE = 120.0
"""Seconds after which a comment may be posted again if no read shows it (reads lag)."""

COMMENT_READS = 2
"""How many reads of the comments must lack it before it is posted again."""

_AUTO = f"auto-{derive.QUESTION}"
"""The event of the notice that the settings close the issue: not true any more once it was reopened."""

_STEPS = (*(kind.__name__ for kind in ENDING_STEPS), "SetBoard", "SetLinked", card_and_link.FIND)
"""The kinds of actions that end a claim."""


def after_merge(snapshot: Snapshot) -> Decision:
    """Phase `merged_detected`: ask whether to close, unless settings say yes; go back without a merge."""
    record, observed = snapshot.record, snapshot.observation
    number, is_seen = record.claim.pull, record.judged == Phase.MERGED_DETECTED
    if derive.closes_itself(snapshot) and is_seen:
        agreed = record.with_ending(consent=derive.AUTO_CONSENT)
        return Decision(agreed.with_values({"phase": Phase.DONE.value}))
    if observed is None:
        return Decision(notices=(_question(snapshot, number),) if is_seen and number else ())
    pull = derive.pull_request_of(snapshot)
    if pull is not None and pull.state is PullState.MERGED:
        return merge_found(snapshot, pull)
    # A merge is final: if it does not show now, the read lags.
    return Decision() if is_seen else _refusal(record, pull, observed.issue, "not-merged")


def merge_found(snapshot: Snapshot, pull: PullRequest) -> Decision:
    """Move to `merged_detected` and ask about closing; `pull` is the pull request that merged."""
    base, observed = snapshot.settings.base, snapshot.observation
    record = derive.with_merge(snapshot.record, pull, base, observed)
    record = record.with_pull(url=pull.url, head=pull.head_sha, left_out=snapshot.left_out)
    record = record.with_pull(unanswered=review.unanswered(record.pull, pull))
    values: ClaimChanges = {"pr_number": pull.number}
    issue = observed.issue if observed is not None else None
    is_taken_back = record.claim.status == Status.DONE and issue is not None and issue.is_open
    if record.ending.is_reopened and (is_taken_back or record.claim.status == Status.IN_REVIEW):
        values["status"] = Status.IN_PROGRESS
    elif is_taken_back:  # a closing that GitHub refused, and that somebody undid by hand
        values["status"] = Status.IN_REVIEW
    record = record.confirmed(Phase.MERGED_DETECTED, values)
    question = _question(replace(snapshot, record=record), pull.number)
    return Decision(record, notices=(question,))


def close_if_answered(snapshot: Snapshot) -> Decision:
    """Phase `done`: close if somebody has said yes; else go back and ask."""
    record, observed = snapshot.record, snapshot.observation
    if observed is None:
        return _unjudged(snapshot)
    pull = derive.pull_request_of(snapshot)
    if pull is None or pull.state is not PullState.MERGED:
        return decide(snapshot)
    merge = derive.with_merge(record, pull, snapshot.settings.base, observed)
    snapshot = replace(snapshot, record=merge)
    is_outdated = derive.is_outdated(record, snapshot)
    is_missing = is_outdated or derive.is_consent_missing(snapshot, pull)
    if is_missing and not derive.lacks_issue(snapshot):
        merged = merge_found(snapshot, pull)
        unanswered = (merged.record or record).with_ending(consent="", comment_done=False)
        asking = replace(snapshot, record=unanswered)
        # It replaces the question in this look.
        refusal = _not_answered(asking, pull.number, is_outdated=is_outdated)
        return Decision(unanswered, notices=(*merged.notices, refusal))
    step = decide(snapshot)
    if record.ending.consent or record.ending.override or not (step.action or step.record):
        return step
    # Recorded, so that the yes counts until the issue is closed, whichever session continues.
    return replace(step, record=(step.record or record).with_ending(consent=derive.PROMPT_CONSENT))


def _unjudged(snapshot: Snapshot) -> Decision:
    """Take back a yes by command that no look could judge: it does not count for a later merge.

    Any other `done` is judged by the next look, which is told if GitHub did not answer.
    """
    record, trouble = snapshot.record, snapshot.record.troubles.get("Look")
    if not record.ending.consent or record.ending.override or derive.was_merge_seen(record):
        if trouble is None or trouble.is_final:
            return Decision()
        text = complaint("CloseIssue", trouble.sentence, record.claim.issue_number)
        return Decision(notices=(Notice("closing-waits", text, Audience.NOTE, stands=True),))
    phase = derive.last_of(record, {*Phase} - {Phase.DONE})
    text = message("yes-not-kept", issue=record.claim.issue_number, phase=phase)
    notice = Notice(f"yes-not-kept:{int(snapshot.now)}", text, Audience.ACT)
    taken_back = replace(record.with_ending(consent=""), conditions={})
    return Decision(taken_back.with_values({"phase": phase.value}), notices=(notice,))


def _not_answered(snapshot: Snapshot, number: int, *, is_outdated: bool) -> Notice:
    """The notice that the agent's `done` does not count, and what does: it asks as well."""
    record = snapshot.record
    was_asked = derive.is_question_put(record)
    unheard = "unheard-since-question" if was_asked else "unheard-since-merge"
    # Without that hook, `done` is a yes only in a look by command.
    missing = unheard if snapshot.hears_prompts else "no-yes"
    why = message("undone-since" if is_outdated else missing)
    kept = "not-ended" if record.ending.issue_closed else "not-closed"
    key = f"{derive.REFUSED}{record.touched}"  # each edit of the claim file gets its own
    refusal = message(kept, issue=record.claim.issue_number, why=why)
    text = f"{refusal} {_asking(snapshot, number)}"
    return Notice(key, text, Audience.ACT, stands=True, ends=(derive.QUESTION,))


def _question(snapshot: Snapshot, number: int) -> Notice:
    """The question about closing; if the settings are a yes, the notice of the merge."""
    issue, key = snapshot.record.claim.issue_number, derive.question_key(snapshot.record, number)
    ends = (*review.WHILE_OPEN, "closed")
    if derive.lacks_issue(snapshot):
        text = message("merged-alone", number=number)
        return Notice(f"gone-{key}", text, Audience.NEWS, ends=ends)
    if derive.closes_itself(snapshot):
        was_closed, is_left = snapshot.record.ending.issue_closed, _is_not_ours(snapshot)
        name = "merged-and-closed" if was_closed else "merged-and-closing"
        text = message("merged-left-open" if is_left else name, number=number, issue=issue)
        return Notice(f"{_AUTO}:{number}", text, Audience.NEWS, ends=ends)
    others = (_AUTO, derive.QUESTION)
    return Notice(key, _asking(snapshot, number), Audience.ASK, ends=(*ends, *others))


def _asking(snapshot: Snapshot, number: int) -> str:
    """The question about closing, and what happens with the answer, in the words of a look at the claim."""
    hears, is_unheard = snapshot.hears_prompts, snapshot.is_unheard
    counts = derive.counts_done(snapshot.record, hears_prompts=hears, is_unheard=is_unheard)
    return f"{derive.question(snapshot.record, number)} {messages.how_to_close(counts_done=counts)}"


def decide(snapshot: Snapshot) -> Decision:
    """The next step of closing; refuses unless the pull request merged or a person gave an override."""
    record, observed = snapshot.record, snapshot.observation
    if observed is None:
        return Decision()
    pull = derive.pull_request_of(snapshot)
    is_merged = pull is not None and pull.state is PullState.MERGED
    numbered = record.with_values({"pr_number": pull.number}) if pull is not None else record
    if not is_merged and not record.ending.override:
        return _refusal(numbered, pull, observed.issue, "done-refused")
    # An override is for a claim without a merge; with one there is nothing to override.
    override = "" if is_merged else record.ending.override
    accepted = numbered.with_values({"status": Status.DONE}).with_ending(override=override)
    if accepted != record:
        url = pull.url if pull else record.pull.url
        of_merge = accepted.with_pull(url=url, left_out=snapshot.left_out)
        return Decision(replace(of_merge, judged=Phase.DONE.value))
    if observed.issue is None and not record.ending.issue_closed:
        return Decision(notices=(derive.gone_notice(record),))
    return _steps(snapshot, observed, pull)


def apply_observation(record: Record, observed: Observation, now: float) -> Record:
    """The record of a claim in phase `done` after an observation, with the steps that GitHub shows done."""
    if observed.issue is None:
        return record
    if observed.item is not None:
        is_done = is_same(observed.item.status, Status.DONE) and not observed.item.agent
        record = record.with_ending(board_done=is_done and not record.card.leaves_labels)
    return comment_missed(record, observed, now)


def why_not_merged(pull: PullRequest | None, branch: str) -> str:
    """What GitHub shows instead of a merge, as the reason why `done` is refused."""
    if pull is None:
        return f"GitHub shows no merged PR for branch {branch or '(none)'}"
    state = "still open" if pull.state is PullState.OPEN else "closed without a merge"
    return f"PR #{pull.number} is {state}"


def comment_of(record: Record) -> plan.PostComment:
    """The closing comment, with who confirmed, and a hidden marker: issue, PR, the agent's claim.

    Before a reopening the issue may have got one that told of another yes.
    """
    claim = record.claim
    pull = f"{claim.pull}{':reopened' * record.ending.is_reopened}"
    agent = hidden_marker.word(claim.agent_id)
    mark = hidden_marker.of("completed", issue=claim.issue_number, pr=pull, by=agent)
    if record.ending.override:
        name = "overridden-unmerged" if claim.pr_number else "overridden-explicitly"
        text = message(name, number=claim.pr_number, reason=record.ending.override)
    else:
        text = message("completed", number=claim.pull)
        is_open = not record.ending.issue_closed
        confirmed = messages.confirmed(record.ending.consent, is_open=is_open)
        text = f"{text}\n{confirmed}" if confirmed else text
    return plan.PostComment(claim.issue, hidden_marker.signed(text, mark), mark)


def _steps(snapshot: Snapshot, observed: Observation, pull: PullRequest | None) -> Decision:
    """The next step of closing, once it is certain that the issue closes."""
    record, claim = snapshot.record, snapshot.record.claim
    if _is_not_ours(snapshot):  # issue and card are left as they are
        key = f"left-open:{claim.issue_number}"
        text = message("left-open", issue=claim.issue_number)
        step = card_and_link.link_ending_step(snapshot) or lease_step(snapshot)
        return step or last_step(record, key, text)
    comment: Decision | None = NOTHING
    # If closing may be refused, the issue is closed first: the comment would tell of what never happened.
    if record.ending.issue_closed or not observed.is_not_ours_to_close:
        comment = None if _is_told(record, observed) else comment_step(snapshot, comment_of(record))
    if comment is not None and comment != NOTHING:
        return comment
    step = card_and_link.link_ending_step(snapshot)
    close = plan.CloseIssue(claim.issue)
    if step is None and not record.ending.issue_closed:
        if derive.may_try(snapshot, close):
            return Decision(action=close)
        step = derive.ending_step(snapshot, _put_back(record, observed)) or Decision()
    step = step or derive.ending_step(snapshot, _board_action(snapshot, observed))
    step = step or comment or lease_step(snapshot)
    if step is not None:
        return step
    moved_to = "" if record.ending.board_done else record.card.moved_to
    kept = messages.status_kept(moved_to, is_labels=claim.is_labels) if moved_to else ""
    board_text = board_sentence(snapshot, observed, Status.DONE, kept)
    text = message("closed", issue=claim.issue_number, board=board_text)
    left = [*derive.open_parts(record), *derive.left_out(record, is_closed=True)]
    text = " ".join(filter(None, [text, *left, stays(record, pull)]))
    return last_step(record, f"issue-closed:{claim.pull}", text)


def _is_told(record: Record, observed: Observation) -> bool:
    """True if the issue has a comment on the same merge, of whichever claim.

    On an issue that was never closed, it is of a closing that was cut off. If it was closed and reopened,
    what is told then is another closing.
    """
    issue = observed.issue
    if record.ending.override or issue is None or (issue.is_open and issue.reopened_at):
        return False
    # Whether it was reopened before it was closed, a closed issue does not show.
    ways = (comment_of(record.with_ending(is_reopened=was)) for was in (False, True))
    return any(_like(comment, issue.comments or ()) for comment in ways)


def _like(comment: plan.PostComment, posted: Iterable[Comment]) -> list[int]:
    """The ids of the posted comments that tell of the same merge, the oldest first."""
    begin = comment.marker.partition(" by=")[0] + " by="
    marks = ((text.id, hidden_marker.mark_in(text.body)) for text in posted)
    return sorted(number for number, mark in marks if mark.startswith(begin))


def surplus(record: Record, posted: Iterable[Comment]) -> list[int]:
    """The ids of the closing comments that say it again, if two closed the issue at once.

    The oldest stays, whoever posted it: so whatever several processes delete, one comment is left. Only the
    claim itself closes by an override, and that of an earlier claim on the task had a reason of its own.
    """
    return [] if record.ending.override else _like(comment_of(record), posted)[1:]


def stays(record: Record, pull: PullRequest | None) -> str:
    """The sentence about a pull request that stays open, or ""; how it merges, the last poll knows."""
    if pull is None or pull.state is not PullState.OPEN:
        return ""
    merging = record.pull.merging  # what was just asked of GitHub, no poll has shown yet
    merges = bool(merging.queued or merging.auto_on or merging.is_ours)
    return message("pull-merges-alone" if merges else "pull-stays-open", number=pull.number)


def _is_not_ours(snapshot: Snapshot) -> bool:
    """True if the issue is open and this account may not close it; a sweep tries, as its policy says."""
    observed, is_sweep = snapshot.observation, snapshot.wake is plan.Wake.SWEEP
    is_others = observed is not None and observed.is_not_ours_to_close and not is_sweep
    return is_others and not snapshot.record.ending.issue_closed


def _put_back(record: Record, observed: Observation) -> plan.SetBoard | None:
    """The write that undoes a card's change sent together with a closing that GitHub refused, or None."""
    item = observed.item  # from before that request, unless its answer was lost
    if item is None or not record.ending.board_done:
        return None
    status = next(iter(record.card.unsure), item.status)
    if is_same(status, Status.DONE):
        return None
    return plan.SetBoard(item.id, status, item.agent or record.claim.agent_id or None)


def _board_action(snapshot: Snapshot, observed: Observation) -> plan.SetBoard | None:
    """The write that sets the card to Done and clears its Agent, or None if nothing has to be written."""
    record = snapshot.record
    if not snapshot.has_board or record.ending.board_done:
        return None
    if observed.board_problem or observed.item is None or observed.item.is_archived:
        return None
    # A card that people moved before the issue was closed is set to Done; one moved later is left alone.
    was_closed = observed.issue is not None and not observed.issue.is_open
    is_moved = bool(record.card.moved_to) and was_closed
    keeps_status = is_moved and not is_same(observed.item.status, Status.DONE)
    needs_clearing = bool(observed.item.agent) and record.card.agent != ""
    if keeps_status and not needs_clearing:
        return None
    status = None if keeps_status else Status.DONE
    return plan.SetBoard(observed.item.id, status, None, clear_agent=needs_clearing)


def board_sentence(snapshot: Snapshot, observed: Observation, wanted: str, kept: str) -> str:
    """The sentence on the card's final state, for the last notice.

    `kept`: the sentence on a card that was left as it is; "" if it was to be set.
    """
    record, item, trouble = snapshot.record, observed.item, snapshot.record.troubles.get("SetBoard")
    if not snapshot.has_board:
        return message("board-absent")
    is_labels = record.claim.is_labels
    if trouble is not None and not record.ending.board_done:
        name = "label-not-set" if is_labels else "board-not-set"
        return message(name, status=wanted, why=trouble.sentence)
    is_out = bool(observed.board_problem) or item is None or item.is_archived
    if kept or record.ending.board_done or not is_out:
        return kept or message("label-set" if is_labels else "board-set", status=wanted)
    absence = "not-on-board" if item is None else "card-archived"
    absent = message(absence, issue=record.claim.issue_number, board=snapshot.settings.board_name)
    return message("board-not-set", status=wanted, why=observed.board_problem or absent)


def _refusal(record: Record, pull: PullRequest | None, issue: Issue | None, event: str) -> Decision:
    """Go back to the phase that GitHub shows instead of a merge, and tell the agent why."""
    phase, is_open = derive.phase_of(pull), issue is None or issue.is_open
    reason, number = why_not_merged(pull, record.claim.branch), record.claim.issue_number
    text = messages.done_refused(reason, number, phase, is_open=is_open)
    correction = derive.condition(f"{event}:{pull.number if pull else 0}:{phase}", text)
    values: ClaimChanges = {}
    ways = (Status.IN_PROGRESS, Status.IN_REVIEW)
    before, now = ways if phase is Phase.CHECKS_RUNNING else reversed(ways)
    if record.claim.status in (Status.DONE, before):  # one that somebody chose stays
        values["status"] = now
    # A yes that was given without a merge does not count for a later merge.
    return replace(correction, record=record.with_ending(consent="").confirmed(phase, values))


def may_go_on(snapshot: Snapshot) -> bool:
    """True unless every step that is left waits for a later moment."""
    troubles = snapshot.record.troubles
    waits = [troubles[kind].until for kind in _STEPS if kind in troubles]
    return not waits or snapshot.now >= min(waits)


def comment_step(snapshot: Snapshot, comment: plan.PostComment) -> Decision | None:
    """The next step to post the comment exactly once; None if it is posted or refused for good.

    NOTHING while a later read decides.
    """
    record = snapshot.record
    if record.ending.comment_done:
        return None
    if is_posted(comment, snapshot.observation):
        return Decision(record=fold(record, plan.Done(comment), snapshot.now))
    intent = record.intents.get("PostComment")
    if intent is not None and intent.mark == comment.marker:
        if snapshot.now - intent.at >= COMMENT_SETTLE and intent.clean_reads >= COMMENT_READS:
            return Decision(action=comment)
        return NOTHING
    if derive.may_try(snapshot, comment):
        return Decision(action=comment)
    # A comment that GitHub refuses does not keep the claim; its complaint says so.
    trouble = record.troubles.get("PostComment")
    return None if trouble is not None and trouble.is_final else NOTHING


def comment_missed(record: Record, observed: Observation, now: float) -> Record:
    """Count this read of the comments if it is unknown whether ours was posted (see `comment_step`)."""
    intent = record.intents.get("PostComment")
    if intent is None or observed.issue is None or observed.issue.comments is None:
        return record
    intent = replace(intent, clean_reads=intent.clean_reads + 1)
    # The next read, once the time is up, finds it or allows another attempt.
    retry_at = max(intent.at + COMMENT_SETTLE, now + 1)
    trouble = Trouble(intent.mark, "it is not known whether the comment was posted", retry_at)
    record = replace(record, intents={**record.intents, "PostComment": intent})
    return record.with_trouble("PostComment", trouble)


def lease_step(snapshot: Snapshot) -> Decision | None:
    """The step that ends the lease; None if there is no lease, it has ended, or the step was given up."""
    record, sha = snapshot.record, snapshot.record.ownership.lease
    is_held = sha and not record.ending.lease_done
    release = plan.ReleaseLease(record.claim.issue, sha) if is_held else None
    return derive.ending_step(snapshot, release)


def last_step(record: Record, key: str, text: str) -> Decision:
    """The step that deletes the claim file, with the notice of the ending and of the linked task.

    The notice comes with the last step and not after it, so that a crash after the step cannot lose it.
    """
    text = f"{text} {card_and_link.link_remainder(record)}".rstrip()
    return Decision(action=plan.ForgetClaim(), notices=(Notice(key, text, Audience.NOTE),))


def is_posted(comment: plan.PostComment, observed: Observation | None) -> bool:
    """True if the issue was seen to have the comment."""
    issue = observed.issue if observed is not None else None
    comments = (issue.comments or ()) if issue is not None else ()
    return any(hidden_marker.is_signed(posted.body, comment.marker) for posted in comments)
