"""bd keeps what every tracker keeps: the suite, on each simulated build, through real processes."""

from __future__ import annotations

import pytest

from lifecycle.trackers.conformance import claiming, read_cases, writing
from lifecycle.trackers.conformance.__main__ import CHECKS, CheckOutcome, checks_of, run
from tests.trackers.beads import grounds, simulated

VALUES = {
    read_cases.a_list_by_status_has_only_that,
    read_cases.a_list_has_only_the_label,
    read_cases.lists_are_by_urgency,
    read_cases.a_family_of_labels_is_asked_for_by_its_beginning,
    read_cases.several_labels_mean_any_of_them,
    read_cases.ready_without_labels_is_every_task,
    writing.texts_come_back_as_they_were,
    writing.titles_come_back_as_they_were,
    writing.labels_are_of_any_words,
    writing.what_can_be_no_title_is_invalid,
    writing.what_can_be_no_key_is_invalid,
    writing.what_can_be_no_label_is_invalid,
    writing.a_description_can_be_emptied,
}
"""Rules about which values are sent, or are left out of what came: no build has a way of its own there.

They are asked of the newest. How each build words its lists is in `test_decode.py` and
`test_scripted.py`.
"""

ELSEWHERE = {read_cases.nothing_is_truncated}
"""What `test_verbs.py` asks of each build, with fewer processes: `test_more_than_bd_shows_by_itself…`."""

REFUSED = (
    read_cases.an_unknown_id_is_not_found,
    writing.a_comment_is_posted_once,
    *checks_of(claiming),
    read_cases.a_dependency_is_added_once,
    read_cases.a_circle_is_invalid,
    read_cases.without_dependencies_they_are_lacking,
)
"""Rules in which bd itself refuses, each in its build's own words."""

_WAYS = tuple(check for check in CHECKS if check not in VALUES | ELSEWHERE)

ALL = {
    "0.30.7": _WAYS,
    "0.49.6-direct": REFUSED,
    "0.49.6-daemon": _WAYS,
    "1.0.5": tuple(check for check in CHECKS if check not in ELSEWHERE),
}
"""The checks on each build. One with its daemon and without it differ only in how it refuses."""

RACES = {"one_of_many_wins", "nobody_gets_the_same_next_task"}
"""Rules that only compare-and-swap keeps, which the oldest build has not."""

LACKING = {
    "without_dependencies_they_are_lacking",
    "a_claim_lives_as_long_as_it_is_renewed",
    "a_claim_that_ran_out_is_anybodys",
}
"""Rules about what bd has, and about leases, which none of these builds has."""


@pytest.mark.once("what older builds answer otherwise, test_decode, test_probe and test_rows have")
@pytest.mark.parametrize("profile", simulated.PROFILES[::-1])
def test_the_suite_holds(profile: str) -> None:
    """No check fails, and those that do not apply are the known ones."""
    with grounds.build(profile) as ground:
        results = list(run(ground, ALL[profile]))
    failed = [f"{r.check}: {r.words}" for r in results if r.outcome is CheckOutcome.FAILED]
    assert not failed, "\n".join(failed)
    skipped = {r.check for r in results if r.outcome is CheckOutcome.SKIPPED}
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
    assert [result.outcome for result in results] == [CheckOutcome.PASSED, CheckOutcome.PASSED]
