"""What people met with checks on GitHub: from GraphQL's answer to what is said of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lifecycle.claim.decisions.decide import decide
from lifecycle.claim.engine.briefing import claim_lines
from lifecycle.claim.record.state import Record
from lifecycle.core.plan import Audience, Notice, Wake
from lifecycle.core.values.checks import Bucket, Check, Checks, Required, Verdict
from lifecycle.github.pulls import translate
from tests import factories
from tests.batches import each_row
from tests.github.cases_checks import CASES, SHA, Case, classic, run, suite

IN_REVIEW: dict[str, Any] = {
    "phase": "checks_running",
    "status": "In Review",
    "last_synced_status": "In Review",
}


def node(case: Case) -> dict[str, Any]:
    """The pull request of a case, as GraphQL shows it."""
    contexts = {"pageInfo": {"hasNextPage": case.more}, "nodes": list(case.contexts)}
    commit = {"oid": SHA, "checkSuites": {"nodes": list(case.suites)}}
    found = {
        "number": 7,
        "url": "https://github.com/octo-org/hello/pull/7",
        "title": "Fix it",
        "body": "Refs #42",
        "state": "OPEN",
        "isDraft": False,
        "mergeable": "MERGEABLE",
        "mergeStateStatus": "CLEAN",
        "headRefName": factories.BRANCH,
        "headRefOid": SHA,
        "baseRefName": "main",
        "baseRef": case.demands,
        "headRepositoryOwner": {"login": "octo-org"},
        "statusCheckRollup": {"commit": {"oid": case.sha}, "contexts": contexts},
        "commits": {"nodes": [{"commit": commit}]},
        "autoMergeRequest": None,
        "mergeQueueEntry": None,
        "timelineItems": {"nodes": []},
    }
    return {**found, **case.pull}


def looked(case: Case, *, wake: Wake = Wake.IDLE) -> tuple[list[Notice], Record]:
    """What the looks of a case say, each once for its key, as the ledger has it; and the record.

    The first is at 12:00 of the cases' day, and each later one a second after the one before.
    """
    pull = translate.pull_request(node(case))
    record = factories.record(**IN_REVIEW, pr_number=7)
    said: dict[str, Notice] = {}
    for second in range(case.looks):
        shown, now = factories.observation(by_number=pull), factories.NOW + second
        step = decide(factories.seen(record, observed=shown, wake=wake, now=now))
        said |= {say.key: say for say in step.notices}
        record = step.record or record
    return list(said.values()), record


@each_row("case", CASES, ids=lambda case: case.name)
def test_a_case_that_somebody_met(case: Case) -> None:
    """The verdict is the one that the thread arrived at, and so is what is said."""
    checks = translate.pull_request(node(case)).checks
    assert checks is not None
    assert checks.verdict is case.verdict
    said = "\n".join(say.text for say in looked(case)[0])
    assert case.says in said
    assert bool(said) is bool(case.says)
    if case.verdict is not Verdict.GREEN:
        assert "CI passed" not in said


def named(part: str) -> Case:
    """The case whose name begins so."""
    (found,) = [case for case in CASES if case.name.startswith(part)]
    return found


@pytest.mark.parametrize(
    ("part", "audience"),
    [
        ("a first contribution from a fork", Audience.NOTE),
        ("a required workflow was left out", Audience.NOTE),
        ("stale: GitHub gave up", Audience.NOTE),
        ("an app's check that asks a person", Audience.NOTE),
        ("thrown out of the queue", Audience.NEWS),
        ("a cancelled check still keeps", Audience.NEWS),
        ("green and behind", Audience.NEWS),
    ],
)
def test_who_is_told(part: str, audience: Audience) -> None:
    """What only a person can do is no turn of the model; what the agent can mend is one."""
    assert looked(named(part))[0][0].audience is audience


def test_a_person_who_asks_is_told_at_once_what_is_missing() -> None:
    """The second look is for those that nobody asked for."""
    case = named("the same at the first look")
    assert looked(case)[0] == []
    (say,) = looked(case, wake=Wake.TICK)[0]
    assert "backend is required by main" in say.text


def test_another_missing_check_is_another_first_look() -> None:
    """What is missing changed between two looks: the wait begins anew."""
    case = named("a required workflow was left out")
    _, record = looked(replace(case, looks=1))
    other = replace(case, demands=classic("test", "another"))
    shown = factories.observation(by_number=translate.pull_request(node(other)))
    assert decide(factories.seen(record, observed=shown)).notices == ()


@pytest.mark.parametrize(
    ("part", "line", "is_for_the_merge"),
    [
        (
            "a first contribution from a fork",
            "CI: waits for an approval to run: CI, Windows.",
            False,
        ),
        (
            "a required workflow was left out",
            'CI: 2/2 passed; required and not reported: "ESP32 Sim Compile".',
            False,
        ),
        (
            "stale: GitHub gave up",
            "CI: 1/2 passed; stale, to be run again: external/scan.",
            False,
        ),
        ("four of fourteen checks", "CI: 4/4 passed.", False),
        ("skipped and neutral", "CI: 3/3 passed.", True),
    ],
)
def test_a_session_begins_with_what_is_waited_for(
    part: str, line: str, is_for_the_merge: bool
) -> None:
    """The claim's lines name what holds the checks up, and promise a merge to nothing that waits."""
    lines = claim_lines(looked(named(part))[1])
    assert line in lines
    assert ("PR #7 waits for a person to merge it." in lines) is is_for_the_merge


@pytest.mark.parametrize(
    ("known", "what"),
    [
        (
            {"pull.changes_by": ("maria",)},
            "the changes that were asked for, and then for another review (lifecycle feedback request)",
        ),
        ({"pull.conflicts_with": "main"}, "its conflict to be resolved and pushed"),
    ],
)
def test_green_checks_wait_for_what_stands_before_the_merge(
    known: dict[str, Any], what: str
) -> None:
    """With changes asked for, or a conflict, nobody is told that only a merge is missing."""
    record = factories.remembering(looked(named("skipped and neutral"))[1], known)
    assert claim_lines(record)[-1] == f"PR #7 waits for {what}."


def test_a_check_that_is_missing_is_named_once_for_each_name() -> None:
    """Two rules may demand one name, of any app and of one: it is one name to a person."""
    demands = (Required("b"), Required("a", 15368), Required("a"))
    runs = (Check("c", Bucket.PASS), Check("a", Bucket.PASS, app=1))
    assert Checks(SHA, runs, required=demands).missing == ("a", "b")
    assert Checks(SHA, (*runs, Check("a", Bucket.PASS, app=15368)), required=demands).missing == (
        "b",
    )


def test_a_workflow_that_runs_again_is_not_what_it_was() -> None:
    """A red suite without jobs, whose workflow runs once more: nothing has failed yet."""
    again = (
        suite("CI", conclusion="FAILURE", at="09:00:00"),
        suite("CI", "QUEUED", None, at="10:00:00"),
    )
    for suites in (again, again[::-1]):
        case = Case("", "", (run("lint", workflow="Lint"),), Verdict.PENDING, suites=suites)
        checks = translate.pull_request(node(case)).checks
        assert checks is not None
        assert (checks.verdict, checks.unfinished) == (Verdict.PENDING, ("CI",))


def test_suites_of_another_commit_are_no_word_about_the_head() -> None:
    """A list of commits that lags: what runs on the head is not known, so nothing is green yet.

    It is no fault of the token, so nothing is said of it.
    """
    case = Case("", "", (run("test"),), Verdict.GREEN, suites=(suite("CI", "QUEUED", None),))
    found = node(case)
    found["commits"]["nodes"][0]["commit"]["oid"] = "c" * 40
    checks = translate.pull_request(found).checks
    assert checks is not None
    assert (checks.verdict, checks.hidden) == (Verdict.PENDING, ())
    assert looked(replace(case, pull={"commits": found["commits"]}))[0] == []


def test_every_case_has_a_source_of_its_own_kind() -> None:
    """Each names a public thread, and no two cases have one name."""
    assert len({case.name for case in CASES}) == len(CASES)
    assert all(case.source.startswith("https://github.com/") for case in CASES)
    assert all("/issues/" in c.source or "/pull/" in c.source for c in CASES)
