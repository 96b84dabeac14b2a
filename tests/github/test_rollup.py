"""lifecycle.github.pulls.rollup on values: which check counts, what is demanded, what workflows say."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.core.timing import render_time
from lifecycle.core.values.checks import ENDED_BADLY, Bucket, Check, Checks, Required
from lifecycle.github.pulls import rollup
from lifecycle.github.pulls.rollup import RollupEntry, Suite, run_bucket
from tests.github.cases_checks import OLD_SHA, SHA, run, status, suite

TEN = 1769853600.0
"""10:00:00 of the cases' day."""


def entry(name: str, bucket: Bucket, at: float | None, *, begun: bool = True) -> RollupEntry:
    """One run of the check of this name."""
    return RollupEntry((name,), Check(name, bucket, started_at=at), begun)


def made(
    workflow: str = "CI",
    conclusion: str = "SUCCESS",
    *,
    at: float = 1.0,
    status: str = "COMPLETED",
    event: str = "push",
) -> Suite:
    """One run of a workflow."""
    return Suite(workflow, event, at, status, conclusion, f"https://github.com/{workflow}/{at}")


def shown(*suites: dict[str, Any], sha: str = SHA, **connection: Any) -> dict[str, Any]:
    """A pull request with the check suites of its last commit."""
    found = {"nodes": list(suites), **connection}
    return {"commits": {"nodes": [{"commit": {"oid": sha, "checkSuites": found}}]}}


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (entry("a", Bucket.FAIL, 2.0), entry("a", Bucket.PASS, 3.0)),
        (entry("a", Bucket.FAIL, None), entry("a", Bucket.PASS, -1.0)),
        (entry("a", Bucket.FAIL, 3.0), entry("a", Bucket.PENDING, None, begun=False)),
        (entry("a", Bucket.PASS, 2.0), entry("a", Bucket.PENDING, 2.0)),
        (entry("a", Bucket.PENDING, 2.0), entry("a", Bucket.CANCELLED, 2.0)),
        (entry("a", Bucket.CANCELLED, 2.0), entry("a", Bucket.FAIL, 2.0)),
        (entry("a", Bucket.PASS, 2.0), entry("a", Bucket.FAIL, 2.0)),
    ],
)
def test_the_run_that_began_last_counts_and_of_two_the_worse(
    older: RollupEntry, newer: RollupEntry
) -> None:
    """One that waits is the newest; one without a time is the oldest; the list's order is nothing."""
    assert rollup.newest([older, newer]) == (newer.check,)
    assert rollup.newest([newer, older]) == (newer.check,)


def test_of_two_that_are_alike_the_first_stays() -> None:
    """Nothing says that the second is newer."""
    first = RollupEntry(("a",), Check("a", Bucket.PASS, started_at=1.0, url="first"))
    second = RollupEntry(("a",), Check("a", Bucket.PASS, started_at=1.0, url="second"))
    assert rollup.newest([first, second]) == (first.check,)


def test_checks_are_sorted_by_name_workflow_event_and_bucket() -> None:
    """So that two looks at the same checks are equal, however GitHub lists them."""
    checks = (
        Check("a", Bucket.PENDING, "x", "y"),
        Check("b", Bucket.PENDING, "a", "y"),
        Check("b", Bucket.PENDING, "b", "a"),
        Check("b", Bucket.FAIL, "b", "b"),
        Check("b", Bucket.PASS, "b", "b"),
    )
    for order in (checks, checks[::-1], (*checks[2:], *checks[:2])):
        found = rollup.newest(RollupEntry((one,), one) for one in order)
        assert found == checks


def test_demands_are_of_classic_protection_and_of_rulesets() -> None:
    """Each name once for each app, in order; an app that is no number is none."""
    demands: list[dict[str, Any]] = [
        {"context": "test", "integrationId": 7},
        {"context": "test", "integrationId": 3},
        {"context": "test", "integrationId": None},
        {"context": "lint", "integrationId": "x"},
        {"context": "docs"},
    ]
    base: dict[str, Any] = {
        "refUpdateRule": {"requiredStatusCheckContexts": ["test", "build", "", None]},
        "rules": {
            "nodes": [{}, {"type": "DELETION"}, {"parameters": {"requiredStatusChecks": demands}}]
        },
    }
    assert rollup.required(base) == (
        *(Required(name) for name in ("build", "docs", "lint", "test")),
        Required("test", 3),
        Required("test", 7),
    )
    assert rollup.required({}) == ()
    assert rollup.required({"refUpdateRule": {"requiredStatusCheckContexts": None}}) == ()


@pytest.mark.parametrize(
    ("node", "sees"),
    [
        ({}, True),
        ({"baseRef": None}, False),
        ({"baseRef": {}}, True),
        ({"baseRef": {"rules": None}}, False),
        ({"baseRef": {"rules": {"nodes": None}}}, False),
        ({"baseRef": {"rules": {}}}, False),
        ({"baseRef": {"rules": {"nodes": []}}}, True),
        ({"baseRef": {"rules": {"nodes": [], "pageInfo": {"hasNextPage": False}}}}, True),
        ({"baseRef": {"rules": {"nodes": [], "pageInfo": {"hasNextPage": True}}}}, False),
    ],
)
def test_demands_are_seen_where_the_base_and_all_its_rules_are(
    node: dict[str, Any], sees: bool
) -> None:
    """What was not asked for is not missed; a further page is."""
    assert rollup.sees_demands(node) is sees


@pytest.mark.parametrize(
    ("node", "is_seen", "is_late"),
    [
        ({}, True, False),
        ({"commits": None}, False, False),
        ({"commits": {"nodes": []}}, False, False),
        (shown(), True, False),
        (shown(sha=OLD_SHA), True, True),
        (shown(pageInfo={"hasNextPage": True}), False, False),
        (shown(pageInfo={"hasNextPage": False}), True, False),
        ({"commits": {"nodes": [{"commit": {"oid": SHA, "checkSuites": None}}]}}, False, False),
    ],
)
def test_workflows_are_seen_where_the_heads_own_are(
    node: dict[str, Any], is_seen: bool, is_late: bool
) -> None:
    """Another commit's are late, and tell nothing; a head whose suites were hidden is not seen."""
    found = rollup.workflows(SHA, node, [])
    assert (found.sees_workflows, found.is_late) == (is_seen, is_late)
    assert (found.held, found.unfinished, found.runs) == ((), (), ())


def test_what_the_suites_of_a_head_say() -> None:
    """Those of Actions: which wait for somebody, which run, which ended without a job."""
    node = shown(
        suite("Held", "COMPLETED", "ACTION_REQUIRED"),
        suite("Going", "in_progress", None),
        suite("Broken", "completed", "failure", event="push"),
        suite("Fine"),
        suite(None, "QUEUED", None),
    )
    found = rollup.workflows(SHA, node, [])
    assert (found.held, found.unfinished) == (("Held",), ("Going",))
    url = "https://github.com/o/r/actions/runs/1"
    broken = Check(
        "Broken", Bucket.FAIL, "Broken", "push", None, url, None, "STARTUP_FAILURE", None
    )
    assert found.runs == (broken,)
    assert rollup.workflows(OLD_SHA, node, []) == Checks(OLD_SHA, is_late=True)


def test_the_newest_suite_counts_by_when_it_was_made() -> None:
    """GitHub's time, or the beginning of all times where it says none; each event for itself."""
    old, new = suite("CI", "QUEUED", None, at="09:00:00"), suite("CI", at="09:00:01")
    for order in ((old, new), (new, old)):
        assert rollup.workflows(SHA, shown(*order), []).unfinished == ()
    timeless = {**suite("CI", "QUEUED", None), "createdAt": None}
    early = suite("CI", at="00:00:00")
    assert rollup.workflows(SHA, shown(early, timeless), []).unfinished == ()
    other = suite("CI", "QUEUED", None, at="08:00:00", event="push")
    assert rollup.workflows(SHA, shown(new, other), []).unfinished == ("CI",)


@pytest.mark.parametrize(
    ("suites", "held", "unfinished", "ended"),
    [
        ([made(conclusion="FAILURE", at=1.0), made(at=2.0)], (), (), ()),
        ([made(at=2.0), made(conclusion="FAILURE", at=1.0)], (), (), ()),
        ([made(at=1.0), made(conclusion="CANCELLED", at=1.0)], (), (), ("CANCELLED",)),
        ([made(conclusion="CANCELLED", at=1.0), made(at=1.0)], (), (), ()),
        ([made(conclusion="TIMED_OUT")], (), (), ("TIMED_OUT",)),
        ([made(conclusion="FAILURE")], (), (), ("STARTUP_FAILURE",)),
        ([made(conclusion="STARTUP_FAILURE")], (), (), ("STARTUP_FAILURE",)),
        ([made(conclusion="SKIPPED"), made("B", "NEUTRAL")], (), (), ()),
        ([made("B", status="QUEUED"), made("A", "", status="WAITING")], (), ("A", "B"), ()),
        ([made("B", "ACTION_REQUIRED"), made("A", "ACTION_REQUIRED")], ("A", "B"), (), ()),
        ([made(status="QUEUED", conclusion="ACTION_REQUIRED")], (), ("CI",), ()),
    ],
)
def test_a_workflow_is_held_unfinished_or_ended(
    suites: list[Suite],
    held: tuple[str, ...],
    unfinished: tuple[str, ...],
    ended: tuple[str, ...],
) -> None:
    """By its newest run; of two of one moment the later one of the list."""
    found = rollup.judged(SHA, suites, [])
    assert (found.held, found.unfinished) == (held, unfinished)
    assert tuple(one.word for one in found.runs) == ended


@pytest.mark.parametrize(
    ("jobs", "words"),
    [
        ([Check("test", Bucket.PASS, "CI", "push")], ["FAILURE"]),
        ([Check("test", Bucket.FAIL, "CI", "push")], []),
        ([Check("a", Bucket.PASS, "CI", "push"), Check("b", Bucket.FAIL, "CI", "push")], []),
        ([Check("test", Bucket.PENDING, "CI", "push")], []),
        ([Check("test", Bucket.FAIL, "CI", "schedule")], ["STARTUP_FAILURE"]),
        ([Check("test", Bucket.FAIL, "Other", "push")], ["STARTUP_FAILURE"]),
    ],
)
def test_a_failed_workflow_is_told_where_no_job_of_it_tells(
    jobs: list[Check], words: list[str]
) -> None:
    """Its jobs are those of the same event; without any, the file could not be read."""
    assert [
        one.word for one in rollup.judged(SHA, [made(conclusion="FAILURE")], jobs).runs
    ] == words


def test_what_workflows_say_is_added_to_checks() -> None:
    """Each once; held and unfinished in order; what was seen or is late is what GitHub showed."""
    job, end = Check("a", Bucket.PASS), Check("CI", Bucket.FAIL, "CI")
    checks = Checks(SHA, (job, end), held=("e",), unfinished=("f",))
    found = Checks(
        SHA, (end,), held=("a", "b"), unfinished=("c", "d"), sees_workflows=False, is_late=True
    )
    both = rollup.with_workflows(checks, found)
    assert (both.runs, both.held, both.unfinished) == (
        *((job, end), ("a", "b", "e"), ("c", "d", "f")),
    )
    assert (both.sees_workflows, both.is_late) == (False, True)
    added = rollup.with_workflows(Checks(SHA, (job,), sees_workflows=False), Checks(SHA, (end,)))
    assert added.runs == (job, end)
    assert (added.sees_workflows, added.is_late) == (True, False)


@pytest.mark.parametrize(
    ("reads", "shows", "sees"),
    [(True, True, True), (True, False, True), (False, True, True), (False, False, False)],
)
def test_demands_are_added_to_checks_that_were_read_elsewhere(
    reads: bool, shows: bool, sees: bool
) -> None:
    """With the ends of workflows, but not with jobs: those were read already."""
    job = Check("test", Bucket.PASS, "CI")
    end = Check("CI", Bucket.FAIL, "CI")
    begun = Check("CI", Bucket.PASS, "CI", started_at=1.0)
    ended = Check("CI", Bucket.PASS, "CI", ended_at=1.0)
    seen = Checks(
        SHA,
        (job, end, begun, ended, Check("x", Bucket.PASS, "CI")),
        required=(Required("test"),),
        held=("H",),
        unfinished=("U",),
        sees_workflows=shows,
        sees_demands=False,
        is_unblocked=True,
        is_late=True,
    )
    read = Checks(SHA, (Check("lint", Bucket.PASS),), sees_workflows=reads)
    both = rollup.with_demands(read, seen)
    assert both.runs == (*read.runs, end)
    assert (both.required, both.held, both.unfinished) == ((Required("test"),), ("H",), ("U",))
    assert (both.sees_workflows, both.sees_demands) == (sees, False)
    assert (both.is_unblocked, both.is_late) == (True, True)


def test_where_a_job_failed_the_end_of_its_workflow_is_no_second_failure() -> None:
    """The job's own failure tells more."""
    failed = Checks(SHA, (Check("lint", Bucket.FAIL),))
    seen = Checks(SHA, (Check("CI", Bucket.FAIL, "CI"),))
    assert rollup.with_demands(failed, seen).runs == failed.runs


def test_a_list_is_whole_without_a_further_page_and_without_holes() -> None:
    """A rollup that names no commit is of the head that was asked for."""
    contexts: dict[str, Any] = {"nodes": [run("a")]}
    whole = rollup.rollup(SHA, {"contexts": contexts})
    assert (len(whole.runs), whole.is_complete, whole.sha) == (1, True, SHA)
    hole = rollup.rollup(SHA, {"contexts": {"nodes": [None, run("a")]}})
    assert (len(hole.runs), hole.is_complete) == (1, False)
    more = rollup.rollup(SHA, {"contexts": {**contexts, "pageInfo": {"hasNextPage": True}}})
    assert (len(more.runs), more.is_complete) == (1, False)
    hidden = rollup.rollup(SHA, {"contexts": {"nodes": None}})
    assert (hidden.runs, hidden.is_complete, hidden.sha) == ((), False, SHA)
    assert rollup.rollup(SHA, {"commit": {"oid": OLD_SHA}, "contexts": contexts}) == Checks(SHA)


@pytest.mark.parametrize(
    ("node", "word"),
    [
        ({}, ""),
        ({"statusCheckRollup": None, "headRefOid": SHA}, ""),
        (
            {"statusCheckRollup": {"state": "ERROR", "commit": {"oid": SHA}}, "headRefOid": SHA},
            "ERROR",
        ),
        (
            {
                "statusCheckRollup": {"state": "ERROR", "commit": {"oid": OLD_SHA}},
                "headRefOid": SHA,
            },
            "",
        ),
    ],
)
def test_githubs_own_word_is_of_the_head(node: dict[str, Any], word: str) -> None:
    """Of another commit it is nothing."""
    assert rollup.overall(node) == word


def test_a_check_run_is_read_in_full() -> None:
    """With its app; two of one name are one check only if app, workflow and event are the same."""
    node = {**run("test", "FAILURE"), "completedAt": "2026-01-31T10:01:00Z"}
    (check,) = rollup.rollup(SHA, {"contexts": {"nodes": [node]}}).runs
    assert check == Check(
        "test",
        Bucket.FAIL,
        "CI",
        "pull_request",
        TEN,
        "https://github.com/o/r/runs/test",
        TEN + 60,
        "FAILURE",
        15368,
    )
    others = (run("test", app=1), run("test", workflow="B"), run("test", event="push"), run("b"))
    every = rollup.rollup(SHA, {"contexts": {"nodes": [node, *others, run("test", at="09:00:00")]}})
    assert len(every.runs) == 5


def test_a_commit_status_is_read_in_full() -> None:
    """Under either name of its state; a check run of the same name stays beside it."""
    node = {**status("test", "ERROR"), "targetUrl": "https://ci.example/1"}
    wanted = Check("test", Bucket.FAIL, "", "", TEN, "https://ci.example/1", None, "ERROR", None)
    assert rollup.rollup(SHA, {"contexts": {"nodes": [node]}}).runs == (wanted,)
    plain = {**node, "state": node["statusState"]}
    del plain["statusState"]
    assert rollup.rollup(SHA, {"contexts": {"nodes": [plain]}}).runs == (wanted,)
    bare = {**run("test", workflow=None), "checkSuite": None}
    assert len(rollup.rollup(SHA, {"contexts": {"nodes": [node, bare]}}).runs) == 2
    made = rollup.commit_status(
        {"context": "test", "state": "error", "created_at": render_time(TEN), "target_url": "u"}
    )
    assert made == RollupEntry(
        ("status", "test"), Check("test", Bucket.FAIL, started_at=TEN, url="u", word="ERROR"), True
    )


@pytest.mark.parametrize(
    ("status", "conclusion", "started_at", "word", "has_begun"),
    [
        ("COMPLETED", "FAILURE", None, "FAILURE", True),
        ("completed", None, None, "COMPLETED", True),
        ("IN_PROGRESS", "FAILURE", TEN, "IN_PROGRESS", True),
        ("QUEUED", None, None, "QUEUED", False),
        ("QUEUED", None, 0.0, "QUEUED", True),
    ],
)
def test_a_run_has_githubs_word_and_has_begun_or_waits(
    status: str, conclusion: str | None, started_at: float | None, word: str, has_begun: bool
) -> None:
    """How it ended if it is over, else where it stands; who names no more tells it by name and app."""
    run = {"name": "test", "status": status, "conclusion": conclusion}
    begun = {"started_at": None if started_at is None else render_time(started_at)}
    made = rollup.check_run(run | begun, ("", ""), 9, ())
    assert made.check.started_at == started_at
    assert (made.check.word, made.has_begun) == (word, has_begun)
    assert made.key == ("run", "test", 9)
    assert (made.check.workflow, made.check.event, made.check.ended_at) == ("", "", None)
    assert rollup.check_run(run, ("", ""), "x", ()).check.app is None


@pytest.mark.parametrize(
    ("bucket", "words"),
    [
        (Bucket.PASS, "SUCCESS SKIPPED NEUTRAL"),
        (Bucket.FAIL, "FAILURE TIMED_OUT ACTION_REQUIRED STARTUP_FAILURE"),
        (Bucket.CANCELLED, "CANCELLED"),
        (Bucket.PENDING, "STALE"),
    ],
)
def test_each_conclusion_has_its_bucket(bucket: Bucket, words: str) -> None:
    """All of GitHub's `CheckConclusionState`, also in REST's spelling.

    Source: https://docs.github.com/graphql/reference/enums#checkconclusionstate
    """
    for name in words.split():
        assert run_bucket("COMPLETED", name) is bucket
        assert run_bucket("completed", name.lower()) is bucket
        assert (name in ENDED_BADLY) == (bucket in (Bucket.FAIL, Bucket.CANCELLED))
