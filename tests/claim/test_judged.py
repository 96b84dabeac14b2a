"""What is told of an open pull request, and to whom: `review.judge` on values alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lifecycle.app.waiting.pull_wait import states_of
from lifecycle.claim.decisions.pull import merge_standing
from lifecycle.claim.decisions.pull.review import WHILE_OPEN, judge, over
from lifecycle.claim.engine.briefing import checks_line
from lifecycle.claim.record.sections import MergeRecord, PullRecord
from lifecycle.core.plan import Audience, Notice, Wake
from lifecycle.core.timing import render_time
from lifecycle.core.values.checks import Bucket, Check, Checks, Required
from lifecycle.core.values.model import Conversations, Ejection, PullRequest, QueueEntry
from lifecycle.feedback.waiting.endings import Ending, WaitFor, states_end
from tests.batches import each_row
from tests.claim.steps import REVIEW
from tests.factories import NOW, SHA, checks, observation, pull, record, seen
from tests.factories import review as asked_for

RESULTS = ("failed", "green", "unchecked", "waits", "rerun", "inherited", "mended", "stopped")
GREEN = checks(Bucket.PASS)


def judged(
    made: PullRequest, *, memory: dict[str, Any] | None = None, wake: Wake = Wake.IDLE
) -> tuple[PullRecord, tuple[Notice, ...]]:
    """What a look that read the checks makes of the pull request."""
    return judge(seen(record(**REVIEW, memory=memory or {}), wake=wake), made)


def only(found: tuple[PullRecord, tuple[Notice, ...]]) -> Notice:
    """The one notice."""
    (notice,) = found[1]
    return notice


def waiting(*, memory: dict[str, Any] | None = None, **changes: Any) -> tuple[Notice, ...]:
    """What is said of checks that are neither green nor failed."""
    found = replace(checks(Bucket.PASS), **changes)
    return judged(pull(checks=found), memory=memory)[1]


@pytest.mark.parametrize(("since", "is_told"), [(59.0, False), (60.0, True), (61.0, True)], ids=str)
def test_leaving_the_queue_is_told_a_minute_later(since: float, is_told: bool) -> None:
    """A merge is shown a moment after the leaving: what is still open after a minute was thrown out."""
    left = Ejection("E_1", NOW - since, "FAILED_CHECKS")
    found = judged(pull(ejection=left))[1]
    assert [(n.key, n.audience) for n in found] == [("ejected:107::E_1", Audience.NEWS)] * is_told


@pytest.mark.parametrize(
    ("changes", "is_told"),
    [
        ({}, True),
        ({"queue": QueueEntry("QUEUED")}, False),
        ({"ejection": None}, False),
        ({"ejection": Ejection("E_1", None)}, False),
        ({"checks": checks(Bucket.PENDING)}, True),
        ({"checks": Checks(SHA, (Check("t", Bucket.PENDING, started_at=NOW - 301),))}, True),
        ({"checks": Checks(SHA, (Check("t", Bucket.PENDING, started_at=NOW - 300),))}, True),
        ({"checks": Checks(SHA, (Check("t", Bucket.PENDING, started_at=NOW - 299),))}, False),
    ],
)
def test_what_is_queued_again_or_runs_anew_was_not_thrown_out_last(
    changes: dict[str, Any], is_told: bool
) -> None:
    """News of the queue is none once something newer is under way."""
    left = {"ejection": Ejection("E_1", NOW - 300)}
    assert bool(judged(pull(**{**left, **changes}))[1]) is is_told


def test_what_has_to_be_mended_is_news_of_its_own_and_the_record_knows_it() -> None:
    """Each review and each conflict of a head is told once, and none of them as a promise to merge."""
    made = pull(
        changes_requested=(asked_for(),), mergeable="CONFLICTING", base="next", head_sha="b"
    )
    found = judged(replace(made, checks=GREEN))
    assert [(n.key, n.audience, n.ends) for n in found[1]] == [
        ("changes:107:PRR_1", Audience.NEWS, ("failed",)),
        ("conflict:107:b:next", Audience.NEWS, ("failed",)),
        (f"green:107:{SHA}", Audience.NEWS, RESULTS),
    ]
    both = "PR #107 waits for its conflict to be resolved and the changes that a review asks for."
    assert both in found[1][-1].text
    known = found[0]
    assert (known.url, known.head) == (made.url, "b")
    assert (known.changes_by, known.conflicts_with) == (("maria",), "next")
    assert judged(pull())[0].conflicts_with == ""
    approvals = [judged(pull(review_decision=word))[0].is_approved for word in ("", "APPROVED")]
    assert approvals == [False, True]


@pytest.mark.parametrize(
    ("conversations", "reviews", "is_told"),
    [
        (None, {}, True),
        (Conversations("d1"), {}, True),
        (Conversations("d1"), {"looked": "d1"}, False),
        (Conversations("d1"), {"looked": "", "late": "d1"}, False),
        (Conversations("d2"), {"looked": "d1", "late": "d1"}, True),
        (Conversations("d2"), {"looked": "d1", "told": {"PRR_1": {}}}, False),
        (Conversations(""), {"looked": "d1"}, False),
        (Conversations(""), {"late": "d1"}, False),
    ],
)
def test_changes_are_told_here_only_where_no_packet_tells_them(
    conversations: Conversations | None, reviews: dict[str, str], *, is_told: bool
) -> None:
    """What was read is told whole, and green promises no merge meanwhile; else the bare word is said."""
    shown = pull(changes_requested=(asked_for(),), conversations=conversations)
    found = judged(replace(shown, checks=GREEN), memory={"pull.reviews": reviews})
    changes = [one for one in found[1] if one.key.startswith("changes")]
    assert bool(changes) is is_told
    assert "waits for the changes that a review asks for" in found[1][-1].text
    assert found[0].changes_by == ("maria",)


def test_unanswered_conversations_are_known_and_named_where_the_merge_is_blocked() -> None:
    """What was not shown is kept as it was known; a rule may demand that conversations are resolved."""
    memory = {"pull.unanswered": 3}
    assert judged(pull(), memory=memory)[0].unanswered == 3
    left = Conversations("d", unresolved=4, unanswered=2)
    found = judged(pull(checks=GREEN, merge_state="BLOCKED", conversations=left), memory=memory)
    assert found[0].unanswered == 2
    assert "4 of its conversations are not resolved" in found[1][-1].text


def test_checks_that_were_not_read_say_nothing() -> None:
    """A look without the checks keeps what the last poll knew, unless the head is another one by now."""
    ready = MergeRecord(head=SHA, standing="is ready to merge", awaits="merge", auto_on=SHA)
    memory = {"pull.checks": {"sha": SHA, "passed": 4}, "pull.merging": ready, "pull.head": SHA}
    made = seen(record(**REVIEW, memory=memory), looked_at_checks=False)
    for shown in (pull(checks=GREEN), pull(checks=None)):
        found = judge(made, shown)
        assert found[1] == ()
        assert found[0].checks == {"sha": SHA, "passed": 4}
        assert found[0].merging == ready
    pushed = judge(made, pull(head_sha="b" * 40))
    assert (pushed[0].head, pushed[0].checks) == ("b" * 40, None)
    assert pushed[0].merging == MergeRecord(head=SHA, auto_on=SHA)


@pytest.mark.parametrize(("head", "is_other"), [("", False), (SHA, False), ("b" * 40, True)])
def test_what_was_to_be_said_of_another_head_is_over(head: str, *, is_other: bool) -> None:
    """It was green, or had no checks; how its merge stood is not how that of a new one does."""
    gone = {"green", "unchecked", "standing"}
    assert (gone & {*over(PullRecord(head=head), pull())}) == (gone if is_other else set())


@pytest.mark.parametrize(
    ("changes", "is_behind"),
    [
        ({"merge_state": "BEHIND"}, True),
        ({"merge_state": "CLEAN"}, False),
        ({"merge_state": "BEHIND", "queue": QueueEntry("QUEUED")}, False),
        ({"merge_state": "BEHIND", "is_auto_merge": True}, True),
        ({"merge_state": "BEHIND", "changes_requested": (asked_for(),)}, False),
    ],
)
def test_behind_is_told_where_the_agent_has_to_do_something(
    changes: dict[str, Any], is_behind: bool
) -> None:
    """The queue tests with the newest base, auto-merge waits for ever; what is asked for comes first."""
    notice = judged(pull(checks=GREEN, **changes))[1][-1]
    assert notice.key == f"green:107:{SHA}" + ":behind" * is_behind
    assert ("main has moved on" in notice.text) is is_behind
    assert (notice.audience, notice.ends[: len(RESULTS)]) == (Audience.NEWS, RESULTS)


@pytest.mark.parametrize(("owner", "which"), [("octo-org", ""), ("bob", " of octo-org/hello")])
def test_behind_says_whose_base_it_is_where_the_branch_is_a_forks(owner: str, which: str) -> None:
    """The base of the same name in the fork has not moved, and to merge it changes nothing."""
    shown = pull(checks=GREEN, merge_state="BEHIND", head_owner=owner)
    notice = judge(seen(record(**REVIEW), observed=observation(by_number=shown)), shown)[1][-1]
    assert f"Fetch main{which}, merge it into the branch" in notice.text


@pytest.mark.parametrize(
    ("words", "audience"),
    [
        (["ACTION_REQUIRED"], Audience.NOTE),
        (["ACTION_REQUIRED", "FAILURE"], Audience.NEWS),
        (["FAILURE"], Audience.NEWS),
    ],
)
def test_what_only_a_person_can_mend_is_told_to_the_person(
    words: list[str], audience: Audience
) -> None:
    """The model gets no turn for a check that no commit helps."""
    runs = tuple(Check(f"check-{n}", Bucket.FAIL, word=word) for n, word in enumerate(words))
    notice = only(judged(pull(checks=Checks(SHA, runs))))
    assert notice.audience is audience
    assert notice.ends == (*RESULTS, "conflict", "changes")
    names = ",".join(f"check-{n}@0" for n in range(len(words)))
    is_persons = audience is Audience.NOTE
    names = names.replace("@0", "") if is_persons else names
    assert notice.key == f"{'waits' if is_persons else 'failed'}:107:{SHA}:{names}"


def test_a_deployment_that_waits_for_a_person_is_told_to_the_person() -> None:
    """An environment lets no job of it run before that; while something else runs, nothing is said."""
    waits = Check("deploy", Bucket.PENDING, "CI", word="WAITING", url="https://run")
    runs = (Check("test", Bucket.PASS), waits)
    found = judged(pull(checks=Checks(SHA, runs, unfinished=("CI",))))
    notice = only(found)
    assert (notice.key, notice.audience) == (f"waits:107:{SHA}:deploy", Audience.NOTE)
    assert "deploy waits for somebody to approve the deployment" in notice.text
    assert (found[0].checks or {})["held"] == ["deploy"]
    other = Check("slow", Bucket.PENDING, word="IN_PROGRESS")
    assert judged(pull(checks=Checks(SHA, (*runs, other))))[1] == ()
    assert judged(pull(checks=Checks(SHA, runs, unfinished=("CI", "Lint"))))[1] == ()


def test_nothing_runs_where_only_a_deployment_waits() -> None:
    """A wait that begins later ends, too; a further failure is told, and status names what failed."""
    waits = Check("deploy", Bucket.PENDING, "CI", word="WAITING")
    known = judged(pull(checks=Checks(SHA, (waits,), unfinished=("CI",))))[0]
    assert states_end(states_of(known), WaitFor.CI) is Ending.PERSON
    red = (Check("lint", Bucket.FAIL, "CI"), Check("test", Bucket.FAIL, "CI"), waits)
    memory = {"pull.announced": {"sha": SHA, "failed": ["lint@0"]}}
    found = judged(pull(checks=Checks(SHA, red, unfinished=("CI",))), memory=memory)
    assert [notice.key for notice in found[1]] == [f"failed:107:{SHA}:lint@0,test@0"]
    assert states_end(states_of(found[0]), WaitFor.CI) is Ending.RED
    line = checks_line(record(memory={"pull.checks": found[0].checks}))
    assert line == f"CI: 0/2 passed, 2 failed at {SHA[:7]}: lint, test."


def test_failures_of_another_head_were_not_spoken_of() -> None:
    """A push begins anew: the same check that fails again is told again, and kept for its head."""
    failed = Checks(SHA, (Check("test", Bucket.FAIL, started_at=7.9),))
    running = replace(failed, runs=(*failed.runs, Check("slow", Bucket.PENDING)))
    for head, is_told in ((SHA, False), ("b" * 40, True)):
        memory = {"pull.announced": {"sha": head, "failed": ["lint@3"]}}
        found = judged(pull(checks=running), memory=memory)
        assert bool(found[1]) is is_told
        assert (found[0].announced or {})["sha"] == (SHA if is_told else head)
    memory = {"pull.announced": {"sha": SHA, "failed": ["lint@3", "test@7"]}}
    assert judged(pull(checks=failed), memory=memory)[1] == ()
    memory = {"pull.announced": {"sha": SHA, "failed": ["lint@3"]}}
    told = judged(pull(checks=failed), memory=memory)[0].announced
    assert told == {"sha": SHA, "failed": ["lint@3", "test@7"]}


def test_what_failed_is_over_once_it_runs_again_or_another_head_is_there() -> None:
    """What waits to be told of it is no news then; a failure after that is told anew."""
    failed = Checks(SHA, (Check("test", Bucket.FAIL, started_at=7.9),))
    again = replace(failed, runs=(Check("test", Bucket.PENDING, started_at=7.9),))
    of_head, older = PullRecord(head=SHA), PullRecord(head="b" * 40)
    for known, shown, is_over in (
        (of_head, failed, False),
        (of_head, None, False),
        (of_head, again, True),
        (of_head, replace(again, is_complete=False), False),
        (of_head, replace(again, unseen="checks of apps"), False),
        (older, failed, True),
        (older, None, True),
        (PullRecord(), None, False),
    ):
        assert ("failed" in over(known, pull(checks=shown))) is is_over
    announced = {"sha": SHA, "failed": ["test@7"]}
    for last, is_told in (
        ({"sha": SHA, "verdict": "failed"}, False),
        ({"sha": SHA, "verdict": "pending"}, True),
    ):
        memory = {"pull.announced": announced, "pull.checks": last}
        assert bool(judged(pull(checks=failed), memory=memory)[1]) is is_told


BUSY = Check("b", Bucket.PENDING, word="IN_PROGRESS")
STALE = Check("old", Bucket.PENDING, word="STALE")
DEMANDED: dict[str, Any] = {"required": (Required("deploy"), Required("cover"))}
MISSING = {"sha": SHA, "missing": ["cover", "deploy"]}
MISSED = {"pull.checks": {**MISSING, "missed_since": int(NOW) - 15}}


@each_row(
    ("changes", "memory", "told"),
    [
        ({"held": ("CI", "docs")}, {}, "CI,docs"),
        ({"held": ("CI",), "unfinished": ("build",)}, {}, None),
        ({"held": ("CI",), "runs": (BUSY,)}, {}, None),
        ({"runs": (STALE,)}, {}, "old"),
        ({"runs": (STALE, BUSY)}, {}, None),
        (DEMANDED, {}, None),
        (DEMANDED, MISSED, "cover,deploy"),
        ({**DEMANDED, "is_complete": False}, MISSED, None),
        (DEMANDED, {"pull.checks": {"sha": "b", "missing": ["cover", "deploy"]}}, None),
        (DEMANDED, {"pull.checks": {"sha": SHA, "missing": ["cover"]}}, None),
        ({"unseen": "checks of apps"}, {}, "checks of apps,"),
        ({"unseen": "checks of apps", "runs": ()}, {}, None),
        ({"unseen": "them", "runs": (), "overall": "ERROR"}, {}, "them,ERROR"),
        ({"unseen": "them", "runs": (), "overall": "FAILURE"}, {}, "them,FAILURE"),
        ({"unseen": "them", "runs": (), "overall": "PENDING"}, {}, None),
        ({"is_complete": False}, {}, None),
        ({"is_late": True}, {"pull.checks": {"sha": SHA, "missing": []}}, None),
    ],
)
def test_what_waits_for_somebody_is_told_once_nothing_else_runs(
    changes: dict[str, Any], memory: dict[str, Any], told: str | None
) -> None:
    """Held back, given up, missing for the second time, or not shown: to the person, and to nobody else."""
    notices = waiting(memory=memory, **changes)
    key = f"waits:107:{SHA}:{told}"
    expected = [] if told is None else [(key, Audience.NOTE, (*RESULTS, "conflict", "changes"))]
    assert [(n.key, n.audience, n.ends) for n in notices] == expected


def test_who_asks_hears_of_a_missing_check_at_once() -> None:
    """A command is not worth a second one."""
    shown = pull(checks=replace(GREEN, **DEMANDED))
    assert "are required by main" in only(judged(shown, wake=Wake.TICK)).text
    assert judged(shown, wake=Wake.IDLE)[1] == ()


@pytest.mark.parametrize(
    ("seconds", "memory", "names"),
    [
        (200, {}, []),
        (200, {"pull.checks": {"sha": "b", "missing": ["cover", "deploy"]}}, []),
        (200, {"pull.checks": MISSING}, []),
        (0, {"pull.checks": {**MISSING, "missed_since": int(NOW) - 14}}, []),
        (0, MISSED, ["cover", "deploy"]),
    ],
)
def test_a_missing_check_needs_a_person_once_it_was_missed_a_while_ago(
    seconds: float, memory: dict[str, Any], names: list[str]
) -> None:
    """Who looks right after a push hears that it is missing, and may wait: it registers late.

    A look is judged once more for each thing that it does, with its own poll in the claim.
    """
    shown = pull(checks=replace(GREEN, **DEMANDED))
    made = record(**{**REVIEW, "last_check_poll": render_time(NOW - seconds)}, memory=memory)
    for wake in (Wake.TICK, Wake.IDLE, Wake.IDLE):
        found = judge(seen(made, wake=wake), shown)
        assert (found[0].checks or {})["waits"] == names
        is_told = wake is Wake.TICK or (found[0].checks or {})["missed_since"] < int(NOW)
        assert [notice.key.partition(":")[0] for notice in found[1]] == ["waits"] * is_told
        made = replace(made.with_values({"last_check_poll": render_time(NOW)}), pull=found[0])


@pytest.mark.parametrize(
    ("held", "words"),
    [
        (("", ""), "a workflow waits for somebody"),
        (("ci", ""), "ci waits for somebody"),
        (("ci", "lint"), "ci, lint wait for somebody"),
    ],
)
def test_workflows_that_wait_for_an_approval_are_named_as_far_as_they_have_names(
    held: tuple[str, ...], words: str
) -> None:
    """In the words of one, or of several."""
    (notice,) = judged(pull(checks=Checks(SHA, held=held)))[1]
    assert words in notice.text


def test_a_poll_is_remembered_as_it_was() -> None:
    """What `status` shows, and what the next poll compares with."""
    runs = (
        Check("a", Bucket.PASS),
        Check("b", Bucket.FAIL, started_at=NOW - 9, ended_at=NOW - 4),
        Check("c", Bucket.PENDING, word="STALE"),
        Check("d", Bucket.CANCELLED),
        Check("lint", Bucket.PENDING, started_at=NOW),
    )
    found = Checks(SHA, runs, held=("H",), unfinished=("U",), unseen="apps", **DEMANDED)
    known = judged(pull(checks=found), memory={"pull.durations": {"lint": 20.0, "c": 5.0}})[0]
    assert known.durations == {"lint": 20.0, "c": 5.0, "b": 5.0}
    assert known.checks == {
        "sha": SHA,
        "verdict": "failed",
        "passed": 1,
        "running": 1,
        "unfinished": ["U"],
        "failed": ["b", "d"],
        "then": "Fix, commit and push; the new head is watched.",
        "missing": ["cover", "deploy"],
        "stale": ["c"],
        "held": ["H"],
        "hidden": ["apps"],
        "waits": [],
        "missed_since": int(NOW),
        "ends_at": NOW + 20,
    }
    lint = judged(pull(checks=Checks(SHA, runs[4:])), memory={"pull.durations": {"lint": 20.0}})[0]
    assert (lint.checks or {})["ends_at"] == NOW + 20


def test_a_result_ends_the_one_before_it_and_a_merge_ends_them_all() -> None:
    """What the queue drops once a pull request is not open any more."""
    ends = set(WHILE_OPEN)
    told = {"changes", "review", "review-stop", "review-approved", "weakens", "ci-stop"}
    merge = {"conflict", "ejected", "queue", "standing", "auto-merge", "auto-kept", "updated"}
    assert ends == {"pr", "reopened", *merge, *told, *RESULTS}
    assert (merge_standing.SETTLES, merge_standing.UNTESTED_SECONDS) == (60.0, 600.0)
