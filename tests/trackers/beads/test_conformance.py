"""bd keeps what every tracker keeps: the suite, on each simulated build, through real processes."""

from __future__ import annotations

import pytest

from lifecycle.trackers.conformance import claiming, reading
from lifecycle.trackers.conformance.suite import CHECKS, Outcome, run
from tests.trackers.beads import grounds, simulated

ALL = {
    "1.0.5": CHECKS,
    **dict.fromkeys(
        simulated.PROFILES[:3], tuple(c for c in CHECKS if c is not reading.nothing_is_truncated)
    ),
}
"""The checks on each build. The slowest is asked of one: `test_verbs.py` has its like for all."""

RACES = {"one_of_many_wins", "nobody_gets_the_same_next_task"}
"""Rules that only compare-and-swap keeps, which the oldest build has not."""

LACKING = {
    "without_dependencies_they_are_lacking",
    "a_claim_lives_as_long_as_it_is_renewed",
    "a_claim_that_ran_out_is_anybodys",
}
"""Rules about what bd has, and about leases, which none of these builds has."""


@pytest.mark.parametrize("profile", simulated.PROFILES)
def test_the_suite_holds(profile: str) -> None:
    """No check fails, and those that do not apply are the known ones."""
    with grounds.build(profile) as ground:
        results = list(run(ground, ALL[profile]))
    failed = [f"{r.check}: {r.words}" for r in results if r.outcome is Outcome.FAILED]
    assert not failed, "\n".join(failed)
    skipped = {r.check for r in results if r.outcome is Outcome.SKIPPED}
    assert skipped == LACKING | (RACES if profile == "0.30.7" else set())


def test_leases_are_renewed_where_there_are_any() -> None:
    """Build 1.3, as far as it is known: `renew` is its heartbeat, refused to all but the holder."""
    checks = [
        claiming.a_claim_lives_as_long_as_it_is_renewed,
        claiming.a_claimed_task_is_the_actors,
    ]
    with grounds.build("1.3.0") as ground:
        results = list(run(ground, checks))
        assert "heartbeat" in {call["argv"][0] for call in simulated.calls(ground.folder)}
    assert [result.outcome for result in results] == [Outcome.PASSED, Outcome.PASSED]
