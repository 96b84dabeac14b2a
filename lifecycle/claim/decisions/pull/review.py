"""Judge an open pull request: checks, reviews, conflicts, the merge queue; what to tell, what to write.

Each is said once for what it is about: the head, the review. Checks that still run are silence, and
so are checks that never registered: neither is a pass. What waits for a person is said to the person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.derive import may_try
from lifecycle.claim.decisions.pull import merge_standing, pace
from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.core import hidden_marker
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.messages import merge_messages
from lifecycle.core.messages import review_messages as words
from lifecycle.core.plan import Audience, LinkPullRequest, Notice, RemarkOnPull, RerunJobs, Wake
from lifecycle.core.values.checks import Bucket, Checks, Verdict
from lifecycle.core.values.model import PullRequest, PullState

if TYPE_CHECKING:
    from lifecycle.claim.record.sections import PullRecord


APPROVED = "APPROVED"

_BAD = ("FAILURE", "ERROR")
"""GitHub's words for checks that did not pass."""

_RESULTS = ("failed", "green", "waits", "rerun", "inherited", "mended", "stopped")
"""One result of the checks takes the place of the one before it."""

WHILE_OPEN = (
    "pr",
    "reopened",
    "changes",
    "review",
    "review-stop",
    "review-approved",
    "weakens",
    "ci-stop",
    *merge_standing.EVENTS,
    *_RESULTS,
)
"""Events of an open pull request: news of them is none once it was merged or closed."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What is known of the pull request now, and what to say."""

    known: PullRecord
    notices: tuple[Notice, ...]


def judge(snapshot: Snapshot, pull: PullRequest) -> Judged:
    """Judge an open pull request as it was just read."""
    is_conflicting = pull.mergeable == merge_standing.CONFLICTING
    checks = pull.checks if snapshot.looked_at_checks else None
    merge = snapshot.record.pull.merging
    known = replace(
        snapshot.record.pull,
        merging=merge_standing.known(merge, pull, snapshot.now) if checks is not None else merge,
        url=pull.url,
        head=pull.head_sha,
        changes_by=tuple(review.author for review in pull.changes_requested),
        is_approved=pull.review_decision == APPROVED,
        conflicts_with=pull.base if is_conflicting else "",
        unanswered=unanswered(snapshot.record.pull, pull),
    )
    notices = [
        Notice(
            f"changes:{pull.number}:{review.id}",
            words.changes_requested(pull.number, review.author, review.url),
            Audience.NEWS,
        )
        for review in pull.changes_requested
        if not (_is_packed(known, pull) or review.id in known.reviews.get("told", ()))
    ]
    notices += merge_standing.mended_first(snapshot, pull, known.merging)
    if checks is not None:
        is_reported = bool(notices or pull.changes_requested)
        judged = _checks(snapshot, known, pull, checks, is_reported=is_reported)
        how = merge_standing.stands(pull)
        more = merge_standing.notices(snapshot, pull, known)
        more += [] if is_reported else merge_standing.moved(snapshot, pull, how)
        known = replace(judged.known, merging=replace(known.merging, standing=how))
        notices += [*more, *judged.notices]
    return Judged(known, tuple(replace(told, ends=(*told.ends, *over(pull))) for told in notices))


def over(pull: PullRequest) -> tuple[str, ...]:
    """Events of an open pull request that are not true any more, whether there is other news or not."""
    is_over = {"conflict": pull.mergeable == "MERGEABLE", "changes": not pull.changes_requested}
    return tuple(event for event, holds in is_over.items() if holds)


def unanswered(known: PullRecord, pull: PullRequest) -> int:
    """How many conversations wait for an answer; what is known where this look was not shown them."""
    return pull.conversations.unanswered if pull.conversations is not None else known.unanswered


def _is_packed(known: PullRecord, pull: PullRequest) -> bool:
    """True if the reviews are told as a packet, now or once nobody writes any more."""
    digest = pull.conversations.digest if pull.conversations is not None else None
    return digest in (known.reviews.get("looked", ""), known.reviews.get("late", ""))


def _checks(
    snapshot: Snapshot, known: PullRecord, pull: PullRequest, checks: Checks, *, is_reported: bool
) -> Judged:
    durations = pace.learned(known.durations, checks)
    known = replace(known, checks=_summary(checks, durations), durations=durations)
    match checks.verdict:
        case Verdict.FAILED:
            return _failed(known, pull, checks)
        case Verdict.GREEN:
            return Judged(known, _green(snapshot, pull, checks, is_reported=is_reported))
        case Verdict.PENDING:
            return Judged(known, _waiting(snapshot, pull, checks))


def _failed(known: PullRecord, pull: PullRequest, checks: Checks) -> Judged:
    """Tell a first failure at once, and later ones when no check runs any more.

    Another run of the same check that fails again is another failure.
    """
    runs = [f"{check.name}@{int(check.started_at or 0)}" for check in checks.failed]
    announced = _announced(known, checks)
    is_last = not checks.count(Bucket.PENDING)
    if announced and (not is_last or announced.issuperset(runs)):
        return Judged(known, ())
    spoken_of = {"sha": checks.sha, "failed": sorted({*announced, *runs})}
    key = f"failed:{pull.number}:{checks.sha}:{','.join(runs)}"
    # What only a person can correct is not worth a turn of the model.
    is_a_persons = all(check.word == "ACTION_REQUIRED" for check in checks.failed)
    audience = Audience.NOTE if is_a_persons else Audience.NEWS
    notice = Notice(key, words.checks_failed(checks, pull.number), audience, ends=_RESULTS)
    return Judged(replace(known, announced=spoken_of), (notice,))


def _green(
    snapshot: Snapshot, pull: PullRequest, checks: Checks, *, is_reported: bool
) -> tuple[Notice, ...]:
    key = f"green:{pull.number}:{checks.sha}"
    is_behind = pull.merge_state == merge_standing.BEHIND and pull.queue is None
    if is_behind and not is_reported:
        if merge_standing.is_updated(snapshot, pull):
            return ()
        text = merge_messages.behind(pull.number, pull.base)
        return (Notice(f"{key}:behind", text, Audience.NEWS, ends=_RESULTS),)
    ready = merge_messages.readiness(pull, is_reported=is_reported)
    text = words.checks_passed(checks, pull.number, ready)
    return (Notice(key, text, Audience.NEWS, ends=_RESULTS),)


def _waiting(snapshot: Snapshot, pull: PullRequest, checks: Checks) -> tuple[Notice, ...]:
    """Notices to the person about checks that wait for somebody, once nothing else runs.

    Checks register late, so that one which is required counts as missing at the second look only.
    """
    if any(run.bucket is Bucket.PENDING and run.word != "STALE" for run in checks.runs):
        return ()
    if checks.unfinished:
        return ()
    before = snapshot.record.pull.checks or {}
    is_old = before.get("sha") == checks.sha and before.get("missing") == list(checks.missing)
    if checks.held:
        text, what = words.approval_needed(pull, checks.held), checks.held
    elif checks.stale:
        text, what = words.checks_stale(pull.number, checks.stale), checks.stale
    elif checks.missing and checks.is_complete and (is_old or snapshot.wake is Wake.TICK):
        text = words.checks_missing(pull.number, checks.missing, pull.base)
        what = checks.missing
    elif checks.hidden and (checks.runs or checks.overall in _BAD):
        text = words.checks_unseen(pull.number, checks.hidden, checks.overall)
        what = (*checks.hidden, checks.overall)
    else:
        return ()
    key = f"waits:{pull.number}:{checks.sha}:{','.join(what)}"
    return (Notice(key, text, Audience.NOTE, ends=_RESULTS),)


def _announced(known: PullRecord, checks: Checks) -> set[str]:
    """The failures of this head that were spoken of."""
    announced = known.announced or {}
    return set(announced.get("failed", ())) if announced.get("sha") == checks.sha else set()


def _summary(checks: Checks, durations: dict[str, float]) -> dict[str, Any]:
    return {
        "sha": checks.sha,
        "verdict": checks.verdict.value,
        "passed": checks.count(Bucket.PASS),
        "running": checks.count(Bucket.PENDING),
        "unfinished": list(checks.unfinished),
        "failed": [check.name for check in checks.failed],
        "missing": list(checks.missing),
        "stale": list(checks.stale),
        "held": list(checks.held),
        "hidden": list(checks.hidden),
        "ends_at": pace.ends_at(checks, durations),
    }


def failing_step(snapshot: Snapshot, pull: PullRequest) -> RerunJobs | RemarkOnPull | None:
    """The next write because checks failed: jobs run again, or a remark on what was taken from the checks.

    Whose a failure is the feedback decides; what it asks for stands in the record until it is a fact.
    """
    known = snapshot.record.pull
    wanted: list[RerunJobs | RemarkOnPull] = [RerunJobs(*one) for one in known.reruns]
    if len(known.tampering) > known.remarked:
        text = words.weakened(known.tampering[known.remarked :])
        mark = hidden_marker.of("weakened", head=pull.head_sha[:12], count=len(known.tampering))
        wanted.append(RemarkOnPull(pull.number, text, mark))
    return next((action for action in wanted if may_try(snapshot, action)), None)


def link_step(snapshot: Snapshot, pull: PullRequest) -> LinkPullRequest | None:
    """The link that an open pull request lacks, or None."""
    observed, claim = snapshot.observation, snapshot.record.claim
    number = claim.issue_number
    if observed is None or observed.issue is None or not observed.issue.is_open or number is None:
        return None
    if pull.state is not PullState.OPEN or not claim.agent_id:
        return None  # a person's pull request is the person's
    mark = hidden_marker.of("link", issue=number)
    if mark in pull.body or derive.refers(pull, number, observed.repository):
        return None
    action = LinkPullRequest(pull.number, number, f"{snapshot.rules.link} #{number} {mark}")
    return action if may_try(snapshot, action) else None
