"""What all checks of a head amount to: green needs evidence."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.core.values.checks import Bucket, Check, Checks, Required, Verdict
from lifecycle.core.values.failed_checks import FailedCheck, JobStep
from tests.batches import each_row

PASSED = Check("build", Bucket.PASS)
ANOTHER = Check("lint", Bucket.PASS)
FAILED, CANCELLED, PENDING = (
    Check(bucket.value, bucket) for bucket in (Bucket.FAIL, Bucket.CANCELLED, Bucket.PENDING)
)


def of(*runs: Check, **more: Any) -> Checks:
    """The checks of a head with these runs."""
    return Checks("a" * 40, runs, **more)


@each_row(
    ("checks", "verdict"),
    [
        (of(PASSED), Verdict.GREEN),
        (of(PASSED, ANOTHER, required=(Required("build"),)), Verdict.GREEN),
        (of(), Verdict.PENDING),
        (of(PASSED, PENDING), Verdict.PENDING),
        (of(PASSED, FAILED), Verdict.FAILED),
        (of(PASSED, CANCELLED), Verdict.FAILED),
        (of(PENDING, FAILED), Verdict.FAILED),
        (of(PASSED, FAILED, is_complete=False), Verdict.FAILED),
        (of(PASSED, is_complete=False), Verdict.PENDING),
        (of(PASSED, is_late=True), Verdict.PENDING),
        (of(PASSED, unseen="commit statuses"), Verdict.PENDING),
        (of(PASSED, sees_workflows=False), Verdict.PENDING),
        (of(PASSED, sees_demands=False), Verdict.PENDING),
        (of(PASSED, sees_demands=False, is_unblocked=True), Verdict.GREEN),
        (of(PASSED, required=(Required("deploy"),)), Verdict.PENDING),
        (of(PASSED, required=(Required("deploy"),), is_unblocked=True), Verdict.PENDING),
        (of(PASSED, held=("CI",)), Verdict.PENDING),
        (of(PASSED, unfinished=("CI",)), Verdict.PENDING),
    ],
)
def test_green_needs_all_of_it(checks: Checks, verdict: Verdict) -> None:
    """One that failed decides at once; else nothing that is missing, late, held or hidden is a pass."""
    assert checks.verdict is verdict
    assert checks.is_green is (verdict is Verdict.GREEN)


@pytest.mark.parametrize(
    ("demand", "check", "is_met", "may_be"),
    [
        (Required("build"), PASSED, True, True),
        (Required("build"), Check("build", Bucket.FAIL, app=7), True, False),
        (Required("build", 7), Check("build", Bucket.PASS, app=7), True, False),
        (Required("build", 7), Check("build", Bucket.PASS, app=8), False, False),
        (Required("build", 7), PASSED, False, True),
        (Required("deploy"), PASSED, False, False),
        (Required("deploy", 7), Check("build", Bucket.PASS, app=7), False, False),
    ],
)
def test_a_demand_is_met_by_name_and_app(
    demand: Required, check: Check, *, is_met: bool, may_be: bool
) -> None:
    """However it ended; a status, whose app GitHub does not say, may meet a demand for any app's."""
    assert (demand.is_met_by(check), demand.may_be_met_by(check)) == (is_met, may_be)


def test_what_is_demanded_is_missing_or_in_doubt() -> None:
    """Nothing of the name: missing. A status of somebody in place of an app's check: in doubt."""
    wanted = tuple(Required(name, app) for name, app in (("z", None), ("y", 7), ("build", 7)))
    also = (Required("lint"), Required("a", 8), Required("lint", 9))
    checks = of(PASSED, ANOTHER, required=(*wanted, *also))
    assert checks.missing == ("a", "y", "z")
    assert checks.doubted == ("build", "lint")
    # Where GitHub finds everything there, it knows who set the status.
    assert of(PASSED, ANOTHER, required=(*wanted, *also), is_unblocked=True).doubted == ()


def test_what_is_hidden_is_named() -> None:
    """In words, each once, and nothing where all is shown."""
    nothing = of(PASSED, sees_workflows=False, sees_demands=False, unseen="commit statuses")
    assert nothing.hidden == (
        "commit statuses",
        "the workflows of this head",
        "all that the base branch demands",
    )
    in_doubt = of(PASSED, ANOTHER, required=(Required("build", 7), Required("lint", 7)))
    assert in_doubt.hidden == ("which app set build, lint",)
    assert of(PASSED).hidden == ()


def test_runs_are_counted_and_listed_by_their_buckets() -> None:
    """Failed and cancelled ones by name, and those that GitHub gave up waiting for."""
    stale = [Check(name, Bucket.PENDING, word="STALE") for name in "ba"]
    checks = of(FAILED, *stale, CANCELLED, PASSED)
    assert checks.failed == (CANCELLED, FAILED)
    assert checks.stale == ("a", "b")
    assert checks.count(Bucket.PENDING, Bucket.PASS) == 3
    assert checks.count() == 0


@pytest.mark.parametrize(
    ("word", "is_failed"),
    [
        *((word, True) for word in ("FAILURE", "TIMED_OUT", "CANCELLED")),
        *((word, True) for word in ("STARTUP_FAILURE", "ACTION_REQUIRED")),
        *((word, False) for word in ("SUCCESS", "SKIPPED", "NEUTRAL", "STALE", "")),
    ],
)
def test_the_step_that_failed_is_the_first_that_did_not_pass(word: str, *, is_failed: bool) -> None:
    """By GitHub's words for how a step ended; what was skipped, or has not ended, is none."""
    steps = (
        JobStep(1, "Set up", "SUCCESS"),
        JobStep(2, "Build", word),
        JobStep(3, "Test", "FAILURE"),
    )
    failed = FailedCheck("build", "FAILURE", steps=steps).failed_step
    assert failed == steps[1 if is_failed else 2]
    assert FailedCheck("build", "FAILURE", steps=steps[:1]).failed_step is None


@each_row(
    ("checks", "are_none"),
    [
        (of(), True),
        (of(PENDING), False),
        (of(required=(Required("build"),)), False),
        (of(held=("CI",)), False),
        (of(unfinished=("CI",)), False),
        (of(is_late=True), False),
        (of(unseen="commit statuses"), False),
        (of(is_complete=False), False),
    ],
)
def test_there_are_none_if_nothing_is_awaited_or_hidden(checks: Checks, are_none: bool) -> None:
    """One that waits for a person's approval, or has not begun, is awaited."""
    assert checks.are_none is are_none
