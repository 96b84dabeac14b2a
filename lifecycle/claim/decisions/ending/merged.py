"""After the merge: ask whether to close the issue, and act on the answer."""

from __future__ import annotations

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.ending import closing, consent
from lifecycle.claim.decisions.pull import review
from lifecycle.claim.decisions.snapshot import Decision, Snapshot
from lifecycle.claim.decisions.table import Phase
from lifecycle.core.light_dataclass import replace
from lifecycle.core.messages import messages, review_messages
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.values.model import PullRequest, PullState


def decide(snapshot: Snapshot) -> Decision:
    """Ask whether to close, unless the settings say so; go back if nothing is merged after all."""
    claim = snapshot.record.claim
    if snapshot.rules.closes_itself and snapshot.record.judged == Phase.MERGED_DETECTED:
        agreed = consent.given(snapshot.record, consent.AUTO)
        return Decision(fields={"phase": Phase.DONE.value}, record=agreed)
    if snapshot.observation is None:
        if snapshot.record.judged == Phase.MERGED_DETECTED and claim.pr_number:
            return Decision(notices=(_question(snapshot, claim.pr_number),))
        return Decision()
    pull = derive.pull_request_of(snapshot.record, snapshot.observation, snapshot.rules.head_owner)
    if pull is not None and pull.state is PullState.MERGED:
        return merge_found(snapshot, pull)
    if snapshot.record.judged == Phase.MERGED_DETECTED:
        return Decision()  # a merge is final: whatever hides it now is a lagging read
    found = derive.phase_of(pull)
    reason = closing.why_not_merged(pull, claim.branch)
    text = messages.done_refused(reason, claim.issue_number, found)
    key = f"not-merged:{pull.number if pull else 0}:{found}"
    return Decision(
        fields={"phase": found.value},
        record=replace(snapshot.record, judged=found.value),
        notices=(Notice(key, text, Audience.ACT, stands=True),),
    )


def merge_found(snapshot: Snapshot, pull: PullRequest) -> Decision:
    """Move to `merged_detected` and put the question."""
    left = review.unanswered(snapshot.record.pull, pull)
    known = replace(snapshot.record.pull, url=pull.url, head=pull.head_sha, unanswered=left)
    record = replace(snapshot.record, pull=known)
    return Decision(
        fields={"pr_number": pull.number, "phase": Phase.MERGED_DETECTED.value},
        record=replace(
            snapshot.record,
            judged=Phase.MERGED_DETECTED.value,
            pull=known,
        ),
        notices=(_question(replace(snapshot, record=record), pull.number),),
    )


def close_if_answered(snapshot: Snapshot) -> Decision:
    """Phase `done`: close if somebody has said yes; else go back and ask."""
    record, observed = snapshot.record, snapshot.observation
    if consent.is_pending(snapshot):
        return _ask_again(snapshot, record.claim.pull)
    if observed is None:
        return Decision()
    pull = derive.pull_request_of(record, observed, snapshot.rules.head_owner)
    if pull is None or pull.state is not PullState.MERGED:
        return closing.decide(snapshot)
    if consent.is_missing(snapshot, pull):
        found = merge_found(snapshot, pull)
        again = _ask_again(snapshot, pull.number)
        return replace(again, fields=found.fields, record=found.record)
    step = closing.decide(snapshot)
    if record.ending.consent or record.ending.override or not (step.action or step.fields):
        return step
    # What is a yes now stays one until the issue is closed, whoever goes on with it.
    return replace(step, record=consent.given(step.record or record, consent.PROMPT))


def _ask_again(snapshot: Snapshot, number: int) -> Decision:
    """Tell the agent that its `done` does not count, and what does; that is the question, too."""
    record = snapshot.record
    counts = consent.counts_done(record, hears_prompts=snapshot.hears_prompts)
    was_asked = consent.is_asked(record)
    text = messages.not_answered(
        number, record.claim.issue_number, was_asked=was_asked, counts_done=counts
    )
    refusal = Notice(
        consent.refusal_key(record), text, Audience.ACT, stands=True, ends=(consent.QUESTION,)
    )
    return Decision(
        fields={"phase": Phase.MERGED_DETECTED.value},
        record=replace(record, judged=Phase.MERGED_DETECTED.value),
        # It stands in the place of the question, which is not to be put once more.
        notices=(refusal,) if was_asked else (_question(snapshot, number), refusal),
    )


def _question(snapshot: Snapshot, number: int) -> Notice:
    issue, key = snapshot.record.claim.issue_number, consent.question_key(number)
    if snapshot.rules.closes_itself:
        text, key, audience = (
            messages.merged_and_closing(number, issue),
            f"auto-{key}",
            Audience.NEWS,
        )
    else:
        counts = consent.counts_done(snapshot.record, hears_prompts=snapshot.hears_prompts)
        left = snapshot.record.pull.unanswered
        open_threads = f"{review_messages.unanswered(number, left)}. " if left else ""
        if snapshot.record.pull.tampering:
            held = review_messages.holds(snapshot.record.pull.tampering)
            open_threads = f"{open_threads}{held} "
        how = messages.how_to_close(counts_done=counts)
        text = f"{messages.merged(number, issue)} {open_threads}{how}"
        audience = Audience.ASK
    return Notice(key, text, audience, ends=(*review.WHILE_OPEN, "closed"))
