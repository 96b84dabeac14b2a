"""Decisions while a pull request is in review."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lifecycle.claim.decisions.decide import apply_fact, decide, look
from lifecycle.claim.decisions.pull import review as judging
from lifecycle.claim.decisions.table import IN_REVIEW, Phase
from lifecycle.claim.engine import briefing
from lifecycle.claim.record.sections import MergeRecord, PullRecord
from lifecycle.claim.record.state import fold
from lifecycle.core.messages import messages
from lifecycle.core.plan import Audience, PullRequestOpened, Wake
from lifecycle.core.timing import render_time
from lifecycle.core.values.checks import Bucket, Check, Checks, Required
from lifecycle.core.values.model import PullState
from lifecycle.storage.state_file import lasting
from tests.claim.steps import ITEM, READY, REVIEW, rest, set_by
from tests.factories import (
    NOW,
    SHA,
    checks,
    issue,
    observation,
    pull,
    record,
    review,
    seen,
    texts,
)


@pytest.mark.parametrize("phase", sorted(IN_REVIEW))
def test_fault_2_no_checks_is_not_green(phase: Phase) -> None:
    """Zero checks, or checks that are not all known, never become "CI passed"."""
    made = record(**{**REVIEW, "phase": phase.value})
    for found in (Checks(SHA), Checks(SHA, checks(Bucket.PASS).runs, is_complete=False)):
        shown = observation(by_number=pull(checks=found), item=ITEM)
        assert "CI" not in texts(decide(seen(made, observed=shown)))


@pytest.mark.parametrize(
    ("changes", "how"),
    [
        ({}, "is ready to merge"),
        (
            {"is_draft": True},
            "is a draft, and cannot be merged before it is marked as ready on its page",
        ),
    ],
)
def test_a_head_that_has_no_checks_for_minutes_waits_for_none(
    changes: dict[str, Any], how: str
) -> None:
    """The person is told once how its merge stands, as of a green one; `status` says it from then on."""
    made = record(**{**REVIEW, "phase": "checks_running"}, memory={"judged": "checks_running"})
    bare = pull(checks=Checks(SHA), merge_state="CLEAN", **changes)
    start = seen(made, observed=observation(by_number=bare, item=ITEM), looked_at_checks=True)
    first = decide(start)
    assert first.record is not None
    assert (texts(first), first.record.pull.merging.standing) == ("", "")
    early = decide(replace(start, record=first.record, now=NOW + 299))
    assert texts(early) == ""
    late = decide(replace(start, record=first.record, now=NOW + 300))
    assert late.record is not None
    (told,) = late.notices
    assert (told.audience, told.text.endswith(f"so none is waited for: the PR {how}.")) == (
        Audience.NOTE,
        True,
    )
    assert late.record.pull.merging.standing == how
    person = f"PR #107 {how}" if changes else "PR #107 waits for a person to merge it"
    assert briefing.next_line(late.record) == f"{person}."
    required = Checks(SHA, required=(Required("test"),))
    waits = observation(by_number=replace(bare, checks=required), item=ITEM)
    demanded = decide(replace(start, record=first.record, observation=waits, now=NOW + 300))
    assert "none is waited for" not in texts(demanded)


def test_green_names_the_count_and_the_pull_request() -> None:
    """The design's words; the key holds the head, so that green is said once for each head."""
    shown = observation(by_number=pull(checks=checks(*[Bucket.PASS] * 3)), item=ITEM)
    step = decide(seen(record(**REVIEW), observed=shown))
    assert texts(step) == "CI passed! All 3 checks green. PR #107 is ready to merge."
    assert step.notices[0].key == f"green:107:{SHA}"
    assert set_by(step)["phase"] == "checks_running"
    assert set_by(step)["last_check_poll"] == render_time(NOW)


def test_failures_name_the_first_five() -> None:
    """Cancelled counts as failed, five names are given, the others are counted."""
    buckets = [Bucket.FAIL] * 6 + [Bucket.CANCELLED, Bucket.PASS]
    found = checks(*buckets, names=[f"job-{n}" for n in range(8)])
    shown = observation(by_number=pull(checks=found), item=ITEM)
    said = texts(decide(seen(record(**REVIEW), observed=shown)))
    assert "7 FAILED — job-0, job-1, job-2, job-3, job-4 (+2 more)" in said


def test_pending_checks_are_silent() -> None:
    """While something runs and nothing failed, nobody is disturbed."""
    shown = observation(by_number=pull(checks=checks(Bucket.PASS, Bucket.PENDING)), item=ITEM)
    step = decide(seen(record(**REVIEW), observed=shown))
    assert not step.notices
    assert step.record is not None
    assert (step.record.pull.checks or {})["running"] == 1


def test_the_merge_asks_the_question_and_is_persisted() -> None:
    """The design's question; the phase remembers it, and asking again is the ledger's business."""
    shown = observation(by_number=pull(state=PullState.MERGED), item=ITEM)
    step = decide(seen(record(**REVIEW), observed=shown))
    assert set_by(step)["phase"] == "merged_detected"
    assert texts(step).startswith("PR #107 merged! Should I close issue #42?")
    assert [(say.key, say.audience) for say in step.notices] == [("merged:107", Audience.ASK)]


def test_fault_2_a_pull_request_closed_unmerged_is_a_state_of_its_own() -> None:
    """Closed is neither green nor merged: the claim says so and goes back to In Progress."""
    shown = observation(by_number=pull(state=PullState.CLOSED), item=ITEM)
    step = decide(seen(record(**REVIEW), observed=shown))
    assert set_by(step)["phase"] == "pr_closed"
    assert set_by(step)["status"] == "In Progress"
    assert "closed without being merged; issue #42 stays open" in texts(step)
    shown = replace(shown, issue=issue(is_open=False))
    for phase in ("pr_created", "pr_closed"):
        step = decide(seen(record(**{**REVIEW, "phase": phase}), observed=shown))
        assert texts(step) == messages.closed_unmerged(107, 42, is_open=False)
        assert [(say.key, say.audience) for say in step.notices] == [
            ("closed:107:0:issue", Audience.ASK)
        ]


STOOD: dict[str, Any] = {
    "pull.checks": {"sha": SHA, "passed": 1, "failed": []},
    "pull.announced": {"sha": SHA, "failed": ["lint@0"]},
    "pull.durations": {"lint": 7.0},
    "pull.changes_by": ("maria",),
    "pull.is_approved": True,
    "pull.unanswered": 1,
    "pull.conflicts_with": "main",
    "pull.reviews": {"number": 107, "told": {"1": 2}},
    "pull.reruns": ((7, 1),),
    "pull.tampering": ("skips a test",),
    "pull.remarked": 1,
    "pull.merging": MergeRecord(standing="is ready to merge", asked={"auto-merge": SHA}),
}
"""What was known of an open pull request."""


def test_of_a_closed_pull_request_nothing_is_said_that_holds_for_an_open_one() -> None:
    """Not by a start, and nowhere else; what was told of it is remembered, as it may be reopened."""
    shown = observation(by_number=pull(state=PullState.CLOSED), item=ITEM)
    _, end = rest(seen(record(**REVIEW, memory=STOOD), observed=shown))
    assert briefing.state_lines(end)[1:] == []
    closed, fresh = end.pull, PullRecord()
    assert (closed.checks, closed.is_approved, closed.reruns) == (None, False, ())
    assert (closed.changes_by, closed.unanswered, closed.conflicts_with) == ((), 0, "")
    assert closed.merging == MergeRecord(asked={"auto-merge": SHA}) != fresh.merging
    assert (closed.reviews, closed.remarked) == (STOOD["pull.reviews"], 1)


@pytest.mark.parametrize("how", ["opened", "adopted", "found"])
def test_of_a_new_pull_request_nothing_is_known_but_what_its_branch_has(how: str) -> None:
    """Not who reviewed the one before, how it stood, nor what was told: only what checks it weakens.

    That its own text is to have as well.
    """
    other = pull(number=108)
    before = record(**(REVIEW if how == "found" else READY), memory=STOOD)
    before = before.with_values({"pr_number": 107})
    closed, found = pull(state=PullState.CLOSED), observation(by_branch=(other,), item=ITEM)
    if how == "opened":
        after = fold(before, PullRequestOpened(other), NOW)
    else:
        snapshot = seen(before, observed=replace(found, by_number=closed))
        after = decide(snapshot).record or before
    known = PullRecord(url=other.url, head=SHA, durations={"lint": 7.0})
    if how == "opened":
        known = replace(known, opened=108)
    assert after.claim.pr_number == 108
    assert after.pull == replace(known, tampering=("skips a test",))
    again = fold(after, PullRequestOpened(other), NOW)  # found once more, it is the same one
    assert again.pull == replace(after.pull, opened=108)


def test_a_reopened_pull_request_goes_on() -> None:
    """From pr_closed an open PR leads back by the table's own moves, and the board to In Review."""
    made = record(**{**REVIEW, "phase": "pr_closed", "status": "In Progress"})
    shown = observation(by_number=pull(checks=Checks(SHA)), item=ITEM)
    step = decide(seen(made, observed=shown))
    assert set_by(step)["phase"] == "pr_created"
    assert set_by(step)["status"] == "In Review"
    _, end = rest(seen(made, observed=shown))
    assert end.claim.phase == "checks_running"


def test_what_is_open_ends_the_news_that_one_was_closed() -> None:
    """Who hears of both later is not told to open one: reopened, found open, or opened by this look."""
    shut = observation(by_number=pull(state=PullState.CLOSED), item=ITEM)
    news = decide(seen(record(**REVIEW), observed=shut)).notices
    opened = observation(by_number=pull(checks=Checks(SHA)), item=ITEM)
    closed = record(**{**REVIEW, "phase": "pr_closed"})
    found = seen(record(**READY), observed=observation(by_branch=(pull(),)))
    made = apply_fact(seen(record(**READY), observed=observation()), PullRequestOpened(pull()))
    for later in (seen(closed, observed=opened), found, made):
        told = decide(later).notices
        assert told
        assert lasting((*news, *told)) == told


@pytest.mark.parametrize(
    ("held", "known"),
    [
        ({"mergeable": "CONFLICTING"}, {"conflicts_with": "main"}),
        ({"changes_requested": (review(),)}, {"changes_by": ("maria",)}),
    ],
)
def test_what_comes_to_hold_it_back_ends_the_news_that_it_is_ready(
    held: dict[str, Any], known: dict[str, Any]
) -> None:
    """Said once that was seen, "green" is what still holds: it tells of no merge, and stays."""
    before = PullRecord(head=SHA)
    assert {"green", "standing"} <= set(judging.over(before, pull(**held)))
    assert not {"green", "standing"} & set(judging.over(replace(before, **known), pull(**held)))


def test_news_drop_what_was_asked_for_and_is_no_more() -> None:
    """A conflict that is gone, a request for changes that was taken back; one that stands stays."""
    asked = pull(mergeable="CONFLICTING", changes_requested=(review(),), checks=checks(Bucket.FAIL))
    news = decide(seen(record(**REVIEW), observed=observation(by_number=asked, item=ITEM))).notices
    events = [notice.key.partition(":")[0] for notice in news]
    assert events == ["changes", "conflict", "failed"]
    green = replace(asked, checks=checks(Bucket.PASS))
    for shown, left in (
        (green, ["changes", "conflict", "green"]),
        (replace(green, mergeable="UNKNOWN"), ["changes", "conflict", "green"]),
        (replace(green, mergeable="MERGEABLE"), ["changes", "green"]),
        (replace(green, changes_requested=()), ["conflict", "green"]),
    ):
        step = decide(seen(record(**REVIEW), observed=observation(by_number=shown, item=ITEM)))
        kept = lasting((*news, *[say for say in step.notices if say.key.startswith("green")]))
        assert [say.key.partition(":")[0] for say in kept] == left


def test_a_new_pull_request_is_not_missed_by_the_look_that_opened_it() -> None:
    """The observation is older than the PR: it must not be said to be missing in the same look."""
    start = seen(record(**READY), observed=observation(), wake=Wake.TICK)
    opened = apply_fact(start, PullRequestOpened(pull()))
    assert "shows no pull request" not in texts(decide(opened))


@pytest.mark.parametrize("phase", ["merged_detected"])
def test_a_merge_written_by_hand_is_judged_by_github(phase: str) -> None:
    """The agent writes merged_detected while the PR is open: it becomes what GitHub shows."""
    made = record(**{**REVIEW, "phase": phase}, memory={"judged": "checks_running"})
    assert look(seen(made, wake=Wake.IDLE)) is not None
    step = decide(seen(made, observed=observation(by_number=pull(), item=ITEM)))
    assert set_by(step)["phase"] == "checks_running"
    assert "still open" in texts(step)


def test_a_merge_that_was_seen_is_not_unseen_by_a_lagging_read() -> None:
    """Once GitHub showed the merge, a read that lacks the PR changes nothing."""
    made = record(**{**REVIEW, "phase": "merged_detected"}, memory={"judged": "merged_detected"})
    step = decide(seen(made, observed=observation(item=ITEM), wake=Wake.TICK))
    assert "phase" not in set_by(step)


def test_a_closed_pull_request_with_an_open_successor_is_replaced() -> None:
    """Somebody closed the PR and opened another from the same branch: that one goes on."""
    old, new = pull(state=PullState.CLOSED), pull(number=110, checks=Checks(SHA))
    shown = observation(by_number=old, by_branch=(new, old), item=ITEM)
    step = decide(seen(record(**REVIEW), observed=shown))
    assert set_by(step)["pr_number"] == 110


def test_fault_5_a_lost_number_is_found_by_the_branch() -> None:
    """pr_created without a number was stuck for ever; the branch's open PR has it."""
    made = record(**{**REVIEW, "pr_number": None})
    shown = observation(by_branch=(pull(checks=Checks(SHA)),), item=ITEM)
    assert set_by(decide(seen(made, observed=shown)))["pr_number"] == 107


def test_a_review_phase_without_any_pull_request_says_so() -> None:
    """A phase written by hand that GitHub does not bear out is reported, and the claim kept."""
    step = decide(seen(record(**REVIEW), observed=observation(item=ITEM)))
    assert "shows no pull request" in texts(step)
    assert "phase" not in set_by(step)


def failing(*runs: tuple[str, Bucket, float]) -> Checks:
    """Checks on the head, each with its start."""
    return Checks(SHA, tuple(Check(name, bucket, started_at=at) for name, bucket, at in runs))


def told(found: Checks, memory: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
    """What a poll with these checks says, and what is remembered for the next."""
    shown = observation(by_number=pull(checks=found), item=ITEM)
    made = record(**{**REVIEW, "phase": "checks_running"}, memory=memory)
    step = decide(seen(made, observed=shown))
    return texts(step), {"pull": (step.record or made).pull}


def test_the_first_failure_is_said_at_once_and_the_rest_together() -> None:
    """One turn when it fails, none for each that follows, and one more when no check runs any more."""
    lint, test = ("lint", Bucket.FAIL, 1.0), ("test", Bucket.FAIL, 2.0)
    running = ("slow", Bucket.PENDING, 3.0)
    first, memory = told(failing(lint, running))
    assert "1 FAILED — lint" in first
    second, memory = told(failing(lint, test, running), memory)
    assert second == ""
    third, memory = told(failing(lint, test, ("slow", Bucket.PASS, 3.0)), memory)
    assert "2 FAILED — lint, test" in third
    assert told(failing(lint, test, ("slow", Bucket.PASS, 3.0)), memory)[0] == ""


def test_a_run_that_failed_again_is_another_failure() -> None:
    """The agent ran a flaky check once more on the same head: it hears how that ended."""
    _, memory = told(failing(("test", Bucket.FAIL, 1.0)))
    assert "1 FAILED — test" in told(failing(("test", Bucket.FAIL, 900.0)), memory)[0]


def test_green_after_each_failure_is_told() -> None:
    """Whoever heard that a check failed hears that it passed, also where it was green before; each once."""
    shown = pull(checks=failing(("test", Bucket.PASS, 1.0)))
    made = record(**{**REVIEW, "phase": "checks_running"})
    keys = []
    for found in (
        shown.checks,
        failing(("test", Bucket.FAIL, 2.0)),
        shown.checks,
        shown.checks,
        failing(("test", Bucket.FAIL, 3.0)),
        shown.checks,
    ):
        look_at = replace(shown, checks=found)
        step = decide(seen(made, observed=observation(by_number=look_at, item=ITEM)))
        made = step.record or made
        keys += [notice.key for notice in step.notices]
    green = f"green:107:{SHA}"
    assert [key for key in dict.fromkeys(keys) if key.startswith("green")] == [
        green,
        f"{green}:1",
        f"{green}:2",
    ]


def test_green_does_not_promise_a_merge_that_something_else_holds_up() -> None:
    """With changes requested or a conflict, "ready to merge" would not be true."""
    green = checks(Bucket.PASS, Bucket.PASS)
    for change in ({"mergeable": "CONFLICTING"}, {"changes_requested": (review(),)}):
        shown = observation(by_number=pull(checks=green, **change), item=ITEM)
        said = texts(decide(seen(record(**REVIEW), observed=shown)))
        assert "All 2 checks green" in said
        assert "ready to merge" not in said
