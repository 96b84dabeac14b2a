"""Judge an open pull request by checks, reviews, conflicts and merge queue: what to tell, what to write.

Each notice is given once for the head or the review that it is about. While checks run, or have not yet
registered, nothing is said: neither is a pass. What only a person can do is told to the person.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.pull import merge_standing, pace
from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.record.claim_file import message
from lifecycle.claim.record.sections import PullRecord
from lifecycle.core import hidden_marker
from lifecycle.core.light_dataclass import replace
from lifecycle.core.messages import merge_messages
from lifecycle.core.messages import review_messages as words
from lifecycle.core.plan import Audience, LinkPullRequest, Notice, RemarkOnPull, RerunJobs, Wake
from lifecycle.core.redact import named
from lifecycle.core.values.checks import Bucket, Checks, Verdict
from lifecycle.core.values.model import PullRequest, PullState

APPROVED = "APPROVED"

_OVER = ("FAILURE", "ERROR", "SUCCESS")
"""GitHub's words for checks that have all ended."""

UNCHECKED_SECONDS = 300.0
"""Seconds that a head is seen without checks before it counts as having none: checks register late."""

_RESULTS = ("failed", "green", "unchecked", "waits", "rerun", "inherited", "mended", "stopped")
"""Events about the result of the checks: a new notice of one replaces the previous one."""

_OF_REVIEWS = ("changes", "review", "review-stop", "review-approved")
_OF_PULL = ("pr", "reopened", "weakens", "ci-stop", *_OF_REVIEWS)
WHILE_OPEN = (*_OF_PULL, *merge_standing.EVENTS, *_RESULTS)
"""Events of an open pull request: their notices are not given any more once it is merged or closed."""


def judge(snapshot: Snapshot, pull: PullRequest) -> tuple[PullRecord, tuple[Notice, ...]]:
    """Judge an open pull request as it was just read; its checks only if this look read them.

    Returns the record of the pull request from now on, and what to tell.
    """
    pull_record = snapshot.record.pull.at(pull.head_sha)
    pull_record = replace(pull_record, **shown(pull_record, pull))
    notices, reviews = [], pull_record.reviews
    digest = pull.conversations.digest if pull.conversations is not None else None
    # The feedback tells the reviews as a packet, now or once nobody writes any more.
    is_packed = digest in (reviews.get("looked", ""), reviews.get("late", ""))
    for review in pull.changes_due:
        if not (is_packed or review.id in reviews.get("told", ())):
            text = words.changes_requested(pull.number, review.author, review.url)
            notices.append(Notice(f"changes:{pull.number}:{review.id}", text, Audience.NEWS))
    if pull.checks is not None and snapshot.looked_at_checks:
        pull_record, polled = _polled(snapshot, pull_record, pull, pull.checks)
        notices += polled
    else:
        notices += merge_standing.mended_first(snapshot, pull, pull_record.merging)
    ended = over(pull_record, pull) if notices else ()
    whole = (
        replace(notice, ends=tuple(dict.fromkeys((*notice.ends, *ended)))) for notice in notices
    )
    return pull_record, tuple(whole)


def _polled(
    snapshot: Snapshot, pull_record: PullRecord, pull: PullRequest, checks: Checks
) -> tuple[PullRecord, list[Notice]]:
    """The record after a look that read the checks, and what to tell of them and of the merge."""
    now, durations = snapshot.now, pace.learned(pull_record.durations, checks)
    # In whole seconds, as in polls.
    missed = int(_since(snapshot, checks, "missed_since")) if checks.missing else None
    names, text = _persons(snapshot, pull, checks, missed)
    # Soon after a push it may be too early to say that a check is missing.
    soonest = min(pace.SOONEST, snapshot.settings.poll_seconds)
    is_early = names == checks.missing and (missed is None or now - missed < soonest)
    summary = _summary(checks, durations, () if is_early else names)
    summary |= {} if missed is None else {"missed_since": missed}
    is_unchecked = False
    if checks.are_none:
        since = _since(snapshot, checks, "none_since")
        is_unchecked = now - since >= UNCHECKED_SECONDS
        summary |= {"none_since": since, "is_unchecked": is_unchecked}
    merging = merge_standing.stands(pull_record.merging, pull, now, is_unchecked=is_unchecked)
    pull_record = replace(pull_record, checks=summary, durations=durations, merging=merging)
    notices = [*merge_standing.mended_first(snapshot, pull, merging)]
    is_reported = bool(notices or pull.changes_due)
    notices += merge_standing.notices(snapshot, pull, merging)
    if not is_reported:
        notices += merge_standing.moved(snapshot, pull, merging)
    if names:
        key = f"waits:{pull.number}:{checks.sha}:{','.join(names)}"
        notices.append(Notice(key, text, Audience.NOTE, ends=_RESULTS))
    elif is_unchecked and merging.standing:
        text = message("unchecked", number=pull.number, how=merging.standing)
        key = f"unchecked:{pull.number}:{checks.sha}"
        notices.append(Notice(key, text, Audience.NOTE, ends=_RESULTS))
    elif checks.verdict is Verdict.FAILED:
        pull_record, failed = _failed(snapshot, pull_record, pull, checks)
        notices += failed
    elif checks.verdict is Verdict.GREEN:
        notices += _green(snapshot, pull, checks, is_reported=is_reported)
    return pull_record, notices


def shown(known: PullRecord, pull: PullRequest) -> dict[str, Any]:
    """The fields of a pull request's record that any reading of an open one shows."""
    return {
        "url": pull.url,
        "changes_by": tuple(review.author for review in pull.changes_due),
        "is_approved": pull.review_decision == APPROVED,
        "conflicts_with": pull.base if pull.mergeable == merge_standing.CONFLICTING else "",
        "unanswered": unanswered(known, pull),
    }


def over(known: PullRecord, pull: PullRequest) -> tuple[str, ...]:
    """Events that are over for the pull request as it was read: a conflict, requests for changes.

    If the head is another than in `known`, or is held by now, the events of green or missing checks are
    over, too. Failed checks are over once there is another head, or no failed check shows any more.
    """
    is_other, checks = known.head not in ("", pull.head_sha), pull.checks
    is_whole = checks is not None and checks.is_complete and not checks.unseen
    is_over = {"failed": is_other or (is_whole and not (checks and checks.failed))}
    is_other |= pull.mergeable == merge_standing.CONFLICTING and not known.conflicts_with
    is_other |= bool(pull.changes_due) and not known.changes_by
    is_over |= {"conflict": pull.mergeable == "MERGEABLE", "changes": not pull.changes_due}
    is_over |= dict.fromkeys(("green", "unchecked", "standing"), is_other)
    return tuple(event for event, holds in is_over.items() if holds)


def _since(snapshot: Snapshot, checks: Checks, name: str) -> float:
    """Since when this is so of this head, and the same checks are missing; now if it just began.

    One look is judged more than once, which does not begin anew.
    """
    before = snapshot.record.pull.checks or {}
    is_same = before.get("sha") == checks.sha and before.get("missing", []) == [*checks.missing]
    since = before.get(name) if is_same else None
    return snapshot.now if since is None else float(since)


def unchecked_from(known: PullRecord) -> float:
    """When its head begins to count as having no checks; never if the last poll saw or awaited one."""
    since = (known.checks or {}).get("none_since")
    return math.inf if since is None else float(since) + UNCHECKED_SECONDS


def unanswered(pull_record: PullRecord, pull: PullRequest) -> int:
    """How many conversations wait for an answer; the recorded number if this look did not read them."""
    return pull_record.unanswered if pull.conversations is None else pull.conversations.unanswered


def _failed(
    snapshot: Snapshot, pull_record: PullRecord, pull: PullRequest, checks: Checks
) -> tuple[PullRecord, tuple[Notice, ...]]:
    """Tell the first failure at once, and later ones when no check runs any more.

    If another run of the same check fails again, that is a new failure; so is one that was over before.
    """
    runs = [f"{check.name}@{int(check.started_at or 0)}" for check in checks.failed]
    before, last = pull_record.announced or {}, snapshot.record.pull.checks or {}
    announced = set(before.get("failed", ())) if before.get("sha") == checks.sha else set[str]()
    was_over = last.get("sha") == checks.sha and last.get("verdict") != Verdict.FAILED
    if announced and not was_over and (checks.running or announced.issuperset(runs)):
        return pull_record, ()
    spoken_of = {"sha": checks.sha, "failed": sorted({*announced, *runs})}
    key = f"failed:{pull.number}:{checks.sha}:{','.join(runs)}"
    notice = Notice(key, words.checks_failed(checks, pull.number), Audience.NEWS, ends=_RESULTS)
    return replace(pull_record, announced=spoken_of), (notice,)


def _green(
    snapshot: Snapshot, pull: PullRequest, checks: Checks, *, is_reported: bool
) -> tuple[Notice, ...]:
    """The notice that the checks are green, and what the merge still waits for; once after each failure."""
    key = f"green:{pull.number}:{checks.sha}"
    failures = snapshot.record.pull.announced or {}
    if failures.get("sha") == checks.sha:  # green after a failure that was told is news again
        key += f":{len(failures['failed'])}"
    if pull.merge_state == merge_standing.BEHIND and pull.queue is None and not is_reported:
        if merge_standing.is_updated(snapshot, pull):
            return ()
        whole = snapshot.observation.repository if snapshot.observation is not None else ""
        is_forked = whole.partition("/")[0].casefold() != pull.head_owner.casefold()
        which = f"{pull.base} of {whole}" if whole and is_forked else pull.base
        text = message("behind", number=pull.number, which=which)
        return (Notice(f"{key}:behind", text, Audience.NEWS, ends=_RESULTS),)
    ready = merge_messages.readiness(pull, is_reported=is_reported)
    text = words.checks_passed(checks, pull.number, ready)
    return (Notice(key, text, Audience.NEWS, ends=_RESULTS),)


def _persons(
    snapshot: Snapshot, pull: PullRequest, checks: Checks, missed: int | None
) -> tuple[tuple[str, ...], str]:
    """The checks that wait for a person, and the sentence on them; nothing while something else runs.

    What only a person can correct does not wake the agent: its turn would be in vain. Checks register late,
    so a required one counts as missing only from the second look on (or in a look by command).
    """
    if checks.failed:
        is_a_persons = all(check.word == "ACTION_REQUIRED" for check in checks.failed)
        names = tuple(check.name for check in checks.failed) if is_a_persons else ()
        return names, words.checks_failed(checks, pull.number)
    if checks.waiting:
        names = tuple(check.name for check in checks.waiting)
        return names, words.deployment_needed(pull.number, checks.waiting)
    if checks.running or checks.unfinished:
        return (), ""
    if checks.held:
        workflows = [name for name in checks.held if name]
        how = "approvals-needed" if workflows[1:] else "approval-needed"
        return checks.held, message(how, pull=pull, names=_listed(workflows) or "a workflow")
    if checks.stale:
        text = message("checks-stale", number=pull.number, names=_listed(checks.stale))
        return checks.stale, text
    is_late = snapshot.wake is Wake.TICK or (missed is not None and missed < int(snapshot.now))
    if checks.missing and checks.is_complete and is_late:
        which = "check-missing" if len(checks.missing) == 1 else "checks-missing"
        base, shown = pull.base or "the base branch", _listed(checks.missing)
        return checks.missing, message(which, number=pull.number, names=shown, base=base)
    if checks.hidden and (checks.runs or checks.overall in _OVER):
        seen = "checks-judged" if checks.overall else "checks-unseen"
        sight = {"hidden": " and ".join(checks.hidden), "overall": checks.overall}
        return (*checks.hidden, checks.overall), message(seen, number=pull.number, **sight)
    return (), ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(named(name, words.NAME_LIMIT) for name in names)


def _summary(checks: Checks, durations: dict[str, float], waits: Sequence[str]) -> dict[str, Any]:
    """Counts and names of the checks as JSON, for the record and `status`; `waits`: those for a person."""
    return {
        "sha": checks.sha,
        "verdict": checks.verdict.value,
        "passed": checks.count(Bucket.PASS),
        "running": len(checks.running),
        "unfinished": [] if checks.waiting else list(checks.unfinished),
        "failed": [check.name for check in checks.failed],
        "then": words.advice(checks.failed) if checks.failed else "",
        "missing": list(checks.missing),
        "stale": list(checks.stale),
        "held": [*checks.held, *(check.name for check in checks.waiting)],
        "hidden": list(checks.hidden),
        "waits": list(waits),
        "ends_at": pace.ends_at(checks, durations),
    }


def failing_step(snapshot: Snapshot, pull: PullRequest) -> RerunJobs | RemarkOnPull | None:
    """The next write because of failed checks: rerun jobs, or a remark on what was taken from the checks.

    The feedback decides which failed jobs to rerun; its request stays in the record until it is done.
    """
    pull_record = snapshot.record.pull
    actions: list[RerunJobs | RemarkOnPull] = [RerunJobs(*rerun) for rerun in pull_record.reruns]
    if len(pull_record.tampering) > pull_record.remarked:
        text = words.weakened(pull_record.tampering[pull_record.remarked :])
        count = len(pull_record.tampering)
        mark = hidden_marker.of("weakened", head=pull.head_sha[:12], count=count)
        actions.append(RemarkOnPull(pull.number, text, mark))
    return next((action for action in actions if derive.may_try(snapshot, action)), None)


def link_step(snapshot: Snapshot, pull: PullRequest) -> LinkPullRequest | None:
    """The write that adds a missing link to the issue to an open pull request, or None."""
    observed, claim = snapshot.observation, snapshot.record.claim
    number = claim.issue_number
    if observed is None or observed.issue is None or not observed.issue.is_open or number is None:
        return None
    if pull.state is not PullState.OPEN or not claim.agent_id:
        return None  # without an agent it is a person's pull request, whose text is left alone
    mark = hidden_marker.of("link", issue=number)
    if mark in pull.body or derive.refers(pull, number, observed.repository):
        return None
    link = f"{snapshot.settings.issue_link} #{number} {mark}"
    action = LinkPullRequest(pull.number, number, link)
    return action if derive.may_try(snapshot, action) else None
