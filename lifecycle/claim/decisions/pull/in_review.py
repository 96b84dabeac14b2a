"""Follow a claim whose pull request is out: by its state on GitHub, where that was read. Pure."""

from __future__ import annotations

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.ending import closing
from lifecycle.claim.decisions.pull import merge_standing, opening, review
from lifecycle.claim.decisions.snapshot import Decision, Snapshot
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.record.state import ClaimChanges, of_pull
from lifecycle.core.light_dataclass import replace
from lifecycle.core.messages import messages
from lifecycle.core.plan import Audience, Notice, Wake
from lifecycle.core.timing import render_time
from lifecycle.core.values.model import Observation, PullRequest, PullState
from lifecycle.core.values.priorities import Status


def decide(snapshot: Snapshot) -> Decision:
    """The next step of a claim whose pull request is out: by its state on GitHub, if that was read."""
    claim = snapshot.record.claim
    created: tuple[Notice, ...] = ()
    opened, url = snapshot.record.pull.opened, snapshot.record.pull.url
    if claim.phase == Phase.PR_CREATED and claim.pr_number == opened is not None:
        created = (opening.is_open(opened, messages.pr_created(opened, url)),)
    is_stop = snapshot.wake is Wake.STOP  # news of a pull request is told at other wakes
    if snapshot.observation is None or (is_stop and derive.is_confirmed(snapshot.record)):
        return Decision(notices=created)
    decision = _pull_found(snapshot, snapshot.observation)
    return replace(decision, notices=(*created, *decision.notices))


def _pull_found(snapshot: Snapshot, observed: Observation) -> Decision:
    """The next step by the pull request that GitHub shows: merged, closed, open, or none."""
    claim = snapshot.record.claim
    pull = derive.pull_request_of(snapshot.record, observed, snapshot.rules)
    if pull is None and not derive.is_confirmed(snapshot.record):
        return _not_there(snapshot)
    if pull is None:
        text = messages.pr_missing(claim.branch)
        notice = Notice(f"pr-missing:{claim.branch}", text, Audience.ACT)
        return Decision(fields=_polled(snapshot), notices=(notice,))
    snapshot = replace(snapshot, record=of_pull(snapshot.record, pull.number))
    match pull.state:
        case PullState.MERGED:
            return closing.merge_found(snapshot, pull)
        case PullState.CLOSED:
            is_open = observed.issue is None or observed.issue.is_open
            text = messages.closed_unmerged(pull.number, claim.issue_number, is_open=is_open)
            key = f"closed:{pull.number}:{snapshot.record.pull.reopened}"
            fields: ClaimChanges = {"pr_number": pull.number, "phase": Phase.PR_CLOSED.value}
            fields |= {"status": _without_review(claim.status), **_polled(snapshot)}
            known = snapshot.record.pull.closed()
            known = replace(known, url=pull.url, head=pull.head_sha)
            notice = Notice(key, text, Audience.NEWS, ends=review.WHILE_OPEN)
            if not is_open:
                ends = (*notice.ends, "closed", "closed-elsewhere")
                notice = replace(notice, key=f"{key}:issue", audience=Audience.ASK, ends=ends)
            record = replace(snapshot.record, judged=Phase.PR_CLOSED.value, pull=known)
            return Decision(fields, record, notices=(notice,))
        case PullState.OPEN:
            return _open(snapshot, pull)


def _not_there(snapshot: Snapshot) -> Decision:
    """Go back to the phase before: somebody wrote a phase that needs a pull request, and there is none."""
    claim, before = snapshot.record.claim, derive.phase_before(snapshot.record)
    fields: ClaimChanges = {"phase": before.value}
    if before is Phase.CODING:
        fields["status"] = _without_review(claim.status)
    text = messages.phase_without_pull(claim.phase, claim.branch, before)
    correction = derive.condition(f"no-pull:{claim.phase}:{snapshot.record.touched}", text)
    return replace(correction, fields=fields, record=replace(snapshot.record, judged=before.value))


def _open(snapshot: Snapshot, pull: PullRequest) -> Decision:
    """The next step while the pull request is open: judge checks and reviews, or note that it reopened."""
    claim = snapshot.record.claim
    fields: ClaimChanges = {"pr_number": pull.number}
    notices: tuple[Notice, ...]
    if claim.phase == Phase.PR_CLOSED:
        # One move at a time, as the table has it: the checks are this look's next step.
        fields |= {"phase": Phase.PR_CREATED.value, "status": Status.IN_REVIEW}
        known = snapshot.record.pull
        key = f"reopened:{pull.number}:{known.reopened}"
        pull_record = replace(known.at(pull.head_sha), url=pull.url, reopened=known.reopened + 1)
        notices = (Notice(key, messages.reopened(pull.number), Audience.NOTE, ends=("closed",)),)
    else:
        if pull.checks is not None and snapshot.looked_at_checks:
            fields |= {"phase": Phase.CHECKS_RUNNING.value, **_polled(snapshot)}
        judged = review.judge(snapshot, pull)
        pull_record, notices = judged.known, judged.notices
    record = replace(snapshot.record, judged=fields.get("phase", claim.phase), pull=pull_record)
    step = review.link_step(snapshot, pull) or review.failing_step(snapshot, pull)
    action = step or merge_standing.advance(replace(snapshot, record=record), pull)
    return Decision(fields, record, action, notices)


def _polled(snapshot: Snapshot) -> ClaimChanges:
    """The field with the time of this poll; none if this look did not read the checks."""
    return {"last_check_poll": render_time(snapshot.now)} if snapshot.looked_at_checks else {}


def _without_review(status: str) -> str:
    """The Status once there is no pull request to review: In Progress in place of In Review."""
    return Status.IN_PROGRESS if status == Status.IN_REVIEW else status
