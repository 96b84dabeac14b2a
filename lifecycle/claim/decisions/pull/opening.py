"""Open the pull request after a hand-off, or a draft for work that nobody continues; follow it."""

from __future__ import annotations

import hashlib
import re

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.ending import closing
from lifecycle.claim.decisions.pull import merge_standing, review
from lifecycle.claim.decisions.snapshot import NOTHING, Decision, Snapshot
from lifecycle.claim.decisions.table import IN_REVIEW, Phase
from lifecycle.claim.record.claim_file import message
from lifecycle.claim.record.state import ClaimChanges, Record, of_pull, with_pull_request
from lifecycle.core import hidden_marker
from lifecycle.core.light_dataclass import replace
from lifecycle.core.messages import messages
from lifecycle.core.plan import Audience, Notice, OpenPullRequest, Wake
from lifecycle.core.timing import render_time
from lifecycle.core.values.model import PullRequest, PullState
from lifecycle.core.values.priorities import Status

TITLE_LIMIT = 256
"""Characters of a title; GitHub answers a longer one with 422, "title is too long"."""

BODY_LIMIT = 60_000
SUMMARY_LIMIT = 20_000
"""GitHub accepts 65,536 characters; a long summary must not displace the link to the issue."""

MERGED_EARLIER = "merged-earlier"
"""The event that the handed-off work was merged before the claim."""

_NAMES = ("pull_request_template.md", "PULL_REQUEST_TEMPLATE.md", "pull_request_template.txt")
TEMPLATES = tuple(f".github/{name}" for name in _NAMES)

_TEMPLATE = """\
## Summary

{{summary}}

{{issue}}

## Mission integrity

- [ ] The change does what the issue asks for, all of it and nothing beside it
- [ ] Tests prove it, and fail without it
- [ ] No secret, personal data or machine path went in
- [ ] Documentation and changelog say what is true now
- [ ] Somebody who did not write it has read all of it

## Test plan

- [ ] The project's checks pass on this branch
- [ ] The behaviour was tried by hand where tests cannot see it
"""


def title(summary: str) -> str:
    """The summary on one line, within GitHub's limit."""
    line = " ".join(summary.split())
    return line if len(line) <= TITLE_LIMIT else f"{line[: TITLE_LIMIT - 1]}…"


def body(template: str, *, summary: str, issue: int, link: str) -> str:
    """The body: summary, link to the issue (`Refs #N` or `Closes #N`), checklist, test plan.

    Args:
        template: the project's own template, or "" for ours.
        summary: what was done.
        issue: the issue's number.
        link: the word before the number.
    """
    # Uncheck every box of a task list: nobody has done these things for this pull request.
    text = re.sub(r"(?m)^([ \t]*[-*+] )\[[xX]\]", r"\1[ ]", template or _TEMPLATE)
    parts = {"{{summary}}": summary.strip()[:SUMMARY_LIMIT], "{{issue}}": f"{link} #{issue}"}
    missing = [value for mark, value in parts.items() if mark not in text]
    # All at once: a mark inside of the summary is a word of it.
    text = re.sub("|".join(map(re.escape, parts)), lambda mark: parts[mark[0]], text)
    return "\n\n".join([*missing, text])[:BODY_LIMIT]


def decide(snapshot: Snapshot) -> Decision:
    """Open the pull request, adopt the open one, or find that it was merged already."""
    claim = snapshot.record.claim
    if names := missing(snapshot):
        name = "missing-fields" if names[1:] else "missing-field"
        text = message(name, names=" and ".join(names))
        return derive.condition(f"missing:{','.join(names)}", text)
    if snapshot.observation is None:
        return Decision()
    base = snapshot.settings.base or snapshot.observation.default_branch
    if claim.branch == base:
        return derive.condition(f"branch-is-base:{base}", message("branch-is-base", branch=base))
    owner, observed = snapshot.head_owner, snapshot.observation
    pull = derive.open_pull_request_of(claim, observed, owner, base)
    is_rejected = derive.is_rejected(snapshot.record)
    if pull is not None:
        finishing = replace(opening(snapshot, base), draft=pull.number)
        if is_left_work(pull) and not derive.is_given_up(snapshot.record, finishing):
            return NOTHING if is_rejected else derive.attempt(snapshot, finishing)
        return _adopt(snapshot.record, pull)
    merged_pull = derive.merged_as_pushed(snapshot, observed)
    if merged_pull is not None and derive.is_earlier(merged_pull, snapshot.record):
        text = message("merged-earlier", branch=claim.branch, number=merged_pull.number)
        return derive.condition(f"{MERGED_EARLIER}:{merged_pull.number}", text)
    if merged_pull is not None:
        return closing.merge_found(snapshot, merged_pull)
    if (ended := _ended_as_pushed(snapshot)) is not None:
        return ended
    step = derive.attempt(snapshot, opening(snapshot, base))
    if (before := derive.merged_meanwhile(snapshot)) is None:
        return NOTHING if is_rejected else step
    text = message("merged-before", number=before.number)
    notice = Notice(f"merged-before:{before.number}", text, Audience.NEXT)
    # Without this, the issue that the merge closed would count as closed by somebody.
    merged = replace(snapshot.record, judged=Phase.MERGED_DETECTED.value)
    return replace(step, record=merged, notices=(notice,))


def _ended_as_pushed(snapshot: Snapshot) -> Decision | None:
    """The step of a hand-off of the very commits whose pull request somebody closed; None for any other.

    A second one for them is opened only if `lifecycle handoff` asks for it once the closing was seen.
    """
    observed, judged = snapshot.observation, snapshot.record.judged
    pull = observed.by_number if observed is not None else None
    if pull is None or not pull.ended_with(snapshot.pushed_head) or judged not in IN_REVIEW:
        return None
    step = _closed(snapshot, pull)
    again = f":{snapshot.record.touched}" if judged == Phase.PR_CLOSED else ""
    notices = (replace(n, key=f"{n.key}{again}", audience=Audience.ACT) for n in step.notices)
    return replace(step, notices=tuple(notices))


def at_work(snapshot: Snapshot) -> Decision:
    """The next step of a claim in work, whose pull request may have been merged meanwhile.

    If nobody continues the task, a draft is opened for what was pushed.
    """
    claim, observed = snapshot.record.claim, snapshot.observation
    if (merged := derive.merged_meanwhile(snapshot)) is not None:
        return closing.merge_found(snapshot, merged)
    if not snapshot.is_silent or observed is None or not (snapshot.pushed_head and claim.summary):
        return NOTHING
    base = snapshot.settings.base or observed.default_branch
    pulls, owner = (observed.by_number, *observed.by_branch), snapshot.head_owner
    ours = [pull for pull in pulls if pull and derive.is_ours(pull, claim, owner)]
    if claim.branch in ("", base) or any(pull.head_sha == snapshot.pushed_head for pull in ours):
        return NOTHING  # the pushed work had a pull request, and somebody ended it
    return derive.attempt(snapshot, replace(opening(snapshot, base), is_draft=True))


def left_work_mark(title: str, body: str) -> str:
    """The marker of a draft of left work; it identifies the draft until somebody edits title or body."""
    words = " ".join(f"{title} {body}".split())
    return hidden_marker.of("left-work", text=hashlib.sha256(words.encode()).hexdigest()[:16])


def is_left_work(pull: PullRequest) -> bool:
    """True if `at_work` opened it, and nobody has edited title or body since."""
    body, _, mark = pull.body.rstrip().rpartition("\n")
    return mark.rstrip() == left_work_mark(pull.title, body)


def missing(snapshot: Snapshot) -> list[str]:
    """The names of fields that a hand-off needs and the claim lacks."""
    return [name for name in ("branch", "summary") if not getattr(snapshot.record.claim, name)]


def opening(snapshot: Snapshot, base: str) -> OpenPullRequest:
    """The action that opens the claim's pull request into `base`."""
    claim = snapshot.record.claim
    head, pushed = f"{snapshot.head_owner}:{claim.branch}", snapshot.pushed_head or ""
    return OpenPullRequest(head, base, title=claim.summary, issue=claim.issue, pushed=pushed)


def _adopt(record: Record, pull: PullRequest) -> Decision:
    """Make an open pull request the claim's, whether or not this claim created it."""
    was_ours = "OpenPullRequest" in record.intents
    created = messages.pr_created(pull.number, pull.url)
    text = created if was_ours else message("adopted", pull=pull)
    adopted = replace(with_pull_request(record, pull), intents={}, troubles={})
    adopted = adopted.with_pull(changes_by=(), conflicts_with="")
    return Decision(adopted, notices=(is_open(pull.number, text),))


def is_open(number: int, text: str) -> Notice:
    """The notice that the claim has an open pull request; it ends one about a closed or merged one."""
    return Notice(f"pr:{number}", text, Audience.NEXT, ends=("closed", derive.QUESTION))


def follow(snapshot: Snapshot) -> Decision:
    """The next step of a claim with a pull request, by the state on GitHub if that was read."""
    claim = snapshot.record.claim
    created: tuple[Notice, ...] = ()
    opened, url = snapshot.record.pull.opened, snapshot.record.pull.url
    if claim.phase == Phase.PR_CREATED and claim.pr_number == opened is not None:
        created = (is_open(opened, messages.pr_created(opened, url)),)
    is_stop = snapshot.wake is Wake.STOP  # news of a pull request is told at other wakes
    decision = NOTHING
    if snapshot.observation is not None and not (is_stop and derive.is_confirmed(snapshot.record)):
        decision = _pull_found(snapshot)
    return replace(decision, notices=(*created, *decision.notices))


def _pull_found(snapshot: Snapshot) -> Decision:
    """The next step by the pull request that GitHub shows: merged, closed, open, or none."""
    claim = snapshot.record.claim
    pull = derive.pull_request_of(snapshot)
    if pull is None and not derive.is_confirmed(snapshot.record):
        return _not_there(snapshot)
    if pull is None:
        text = message("pull-missing", branch=claim.branch or "(none)", hand_off=messages.HAND_OFF)
        notice = Notice(f"pr-missing:{claim.branch}", text, Audience.ACT)
        return Decision(snapshot.record.with_values(_polled(snapshot)), notices=(notice,))
    snapshot = replace(snapshot, record=of_pull(snapshot.record, pull.number))
    match pull.state:
        case PullState.MERGED:
            return closing.merge_found(snapshot, pull)
        case PullState.CLOSED:
            return _closed(snapshot, pull)
        case PullState.OPEN:
            return _open(snapshot, pull)


def _closed(snapshot: Snapshot, pull: PullRequest) -> Decision:
    """The next step once the pull request was closed without a merge: tell it, and wait for a hand-off."""
    claim, observed = snapshot.record.claim, snapshot.observation
    is_issue_open = observed is None or observed.issue is None or observed.issue.is_open
    text = messages.closed_unmerged(pull.number, claim.issue_number, is_open=is_issue_open)
    key = f"closed:{pull.number}:{snapshot.record.pull.reopened}"
    status = Status.IN_PROGRESS if claim.status == Status.IN_REVIEW else claim.status
    values: ClaimChanges = {"pr_number": pull.number, "status": status, **_polled(snapshot)}
    known = replace(snapshot.record.pull.closed(), url=pull.url, head=pull.head_sha)
    notice = Notice(key, text, Audience.NEWS, ends=review.WHILE_OPEN)
    if not is_issue_open:
        ends = (*notice.ends, "closed", "closed-elsewhere")
        notice = replace(notice, key=f"{key}:issue", audience=Audience.ASK, ends=ends)
    record = replace(snapshot.record.confirmed(Phase.PR_CLOSED, values), pull=known)
    return Decision(record, notices=(notice,))


def _not_there(snapshot: Snapshot) -> Decision:
    """Go back to the phase before: somebody wrote one that needs a pull request, but there is none."""
    claim, before = snapshot.record.claim, derive.phase_before(snapshot.record)
    is_back = before is Phase.CODING and claim.status == Status.IN_REVIEW
    values: ClaimChanges = {"status": Status.IN_PROGRESS} if is_back else {}
    name = "no-pull-at-work" if before is Phase.CODING else "no-pull"
    branch = claim.branch or "(none)"
    text = message(name, branch=branch, written=claim.phase, phase=before)
    correction = derive.condition(f"no-pull:{claim.phase}:{snapshot.record.touched}", text)
    return replace(correction, record=snapshot.record.confirmed(before, values))


def _open(snapshot: Snapshot, pull: PullRequest) -> Decision:
    """The next step while the pull request is open: judge checks and reviews, or note that it reopened."""
    claim = snapshot.record.claim
    values: ClaimChanges = {"pr_number": pull.number}
    phase = claim.phase
    if claim.phase == Phase.PR_CLOSED and claim.pr_number != pull.number:
        return _adopt(snapshot.record, pull)  # one of another branch, say, that nobody closed
    if claim.phase != Phase.PR_CLOSED:
        # Somebody wrote the phase for a pull request that another had opened.
        if claim.pr_number != pull.number and claim.status == Status.IN_PROGRESS:
            values["status"] = Status.IN_REVIEW
        if pull.checks is not None and snapshot.looked_at_checks:
            phase, values = Phase.CHECKS_RUNNING, {**values, **_polled(snapshot)}
        pull_record, notices = review.judge(snapshot, pull)
    else:
        # One move at a time, as in the table: the checks are this look's next step.
        phase, values["status"] = Phase.PR_CREATED, Status.IN_REVIEW
        known = snapshot.record.pull
        key = f"reopened:{pull.number}:{known.reopened}"
        pull_record = replace(known.at(pull.head_sha), url=pull.url, reopened=known.reopened + 1)
        text = message("reopened", number=pull.number)
        notices = (Notice(key, text, Audience.NOTE, ends=("closed",)),)
    record = replace(snapshot.record.confirmed(phase, values), pull=pull_record)
    step = review.link_step(snapshot, pull) or review.failing_step(snapshot, pull)
    action = step or merge_standing.advance(replace(snapshot, record=record), pull)
    return Decision(record, action, notices)


def _polled(snapshot: Snapshot) -> ClaimChanges:
    """The field with the time of this poll; none if this look did not read the checks."""
    return {"last_check_poll": render_time(snapshot.now)} if snapshot.looked_at_checks else {}
