"""What ends a wait, and with which status: the tables, and what they make of news and states."""

from __future__ import annotations

import pytest

from lifecycle.app.waiting.pull_wait import states_of
from lifecycle.claim.decisions.pull.review import WHILE_OPEN
from lifecycle.claim.record.sections import PullRecord
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.values.checks import Verdict
from lifecycle.feedback.waiting.endings import (
    EVENTS,
    STATUSES,
    Ending,
    WaitFor,
    event_of,
    events_of,
    news_ends,
    states_end,
)
from tests.batches import each_row

CI, REVIEW, MERGE, ANY = WaitFor.CI, WaitFor.REVIEW, WaitFor.MERGE, WaitFor.ANY
RED, GREEN = Verdict.FAILED, Verdict.GREEN


def test_every_ending_has_a_status_of_its_own() -> None:
    """Those of the command line (1 to 4, 130, 143) are no ending's, and good is 0."""
    codes = {ending.value: code for ending, (code, _) in STATUSES.items()}
    assert codes == {
        "good": 0,
        "red": 10,
        "review": 11,
        "conflict": 12,
        "closed": 13,
        "thrown_out": 14,
        "blocked": 15,
        "credentials": 16,
        "person": 17,
        "time_out": 124,
    }
    assert len(set(codes.values())) == len(codes) == len(Ending)
    assert not {*codes.values()} & {1, 2, 3, 4, 130, 143}
    assert all(words for _, words in STATUSES.values())


def test_every_event_of_an_open_pull_request_has_a_row() -> None:
    """So nobody adds one without saying what it ends; rows for what ends nothing are empty."""
    assert set(WHILE_OPEN) <= set(EVENTS)


@pytest.mark.parametrize(
    ("key", "event"),
    [
        ("42@1738000000/failed:46:abc:test@1", "failed"),
        ("green:46:abc", "green"),
        ("42@1738000000/green:46:abc:behind", "behind"),
        ("42@1/review-stop:46:abc", "review-stop"),
        ("42@1/conflict:46:x:behind", "conflict"),
        ("42@1/conflict:46:x:release/1.0", "conflict"),
        ("failed:46:abc:ci/other@1", "failed"),
    ],
)
def test_the_event_is_the_first_word_of_the_key(key: str, event: str) -> None:
    """Behind is told under the key of green, since one of both is said."""
    assert event_of(key) == event


NEWS = [
    ("failed:46:a", (Ending.RED, None, Ending.RED, Ending.RED)),
    ("green:46:a", (Ending.GOOD, None, None, Ending.GOOD)),
    ("green:46:a:behind", (Ending.GOOD, None, Ending.BLOCKED, Ending.BLOCKED)),
    ("waits:46:a", (Ending.PERSON, None, Ending.PERSON, Ending.PERSON)),
    ("changes:46:R", (None, Ending.REVIEW, Ending.REVIEW, Ending.REVIEW)),
    ("review:46-a", (None, Ending.REVIEW, Ending.REVIEW, Ending.REVIEW)),
    ("review-stop:46:a", (None, Ending.PERSON, Ending.PERSON, Ending.PERSON)),
    ("conflict:46:a", (Ending.CONFLICT, None, Ending.CONFLICT, Ending.CONFLICT)),
    ("ejected:46:E", (Ending.THROWN_OUT, None, Ending.THROWN_OUT, Ending.THROWN_OUT)),
    ("closed:46:0", (Ending.CLOSED,) * 4),
    ("merged:46", (Ending.GOOD,) * 4),
    ("pr:46", (None,) * 4),
    ("reopened:46:0", (None,) * 4),
    ("queue:46:a:stuck", (None, None, Ending.PERSON, Ending.PERSON)),
    ("standing:46:a:is ready to merge", (None,) * 4),
    ("auto-merge:46:a", (None,) * 4),
    ("updated:46:a", (None,) * 4),
    ("withheld", (None,) * 4),
]


@each_row(("key", "ends"), NEWS)
def test_news_ends_the_waits_that_it_is_for(key: str, ends: tuple[Ending | None, ...]) -> None:
    """For CI, for a review, for the merge, for anything."""
    notice = Notice(f"42@1738000000/{key}", "It happened.", Audience.NEWS)
    assert tuple(news_ends([notice], wanted) for wanted in (CI, REVIEW, MERGE, ANY)) == ends


@pytest.mark.parametrize("audience", Audience)
def test_what_nobody_foresaw_needs_somebody_unless_it_is_a_note(audience: Audience) -> None:
    """A sentence that somebody has to act upon ends every wait; one for the person alone ends none."""
    ends = news_ends([Notice("42@1/refused:Look:x", "No.", audience)], CI)
    assert ends is (None if audience is Audience.NOTE else Ending.PERSON)


STANDING = [
    (set(), (None,) * 4),
    ({"conflicting"}, (Ending.CONFLICT, None, Ending.CONFLICT, Ending.CONFLICT)),
    ({"failed"}, (Ending.RED, None, Ending.RED, Ending.RED)),
    ({"green"}, (Ending.GOOD, None, None, None)),
    ({"held"}, (Ending.PERSON, None, Ending.PERSON, Ending.PERSON)),
    ({"held", "failed"}, (Ending.PERSON, None, Ending.PERSON, Ending.PERSON)),
    ({"unchecked"}, (Ending.PERSON, None, None, None)),
    ({"approved"}, (None, Ending.GOOD, None, None)),
    (
        {"approved", "conflicting", "failed"},
        (Ending.CONFLICT, Ending.GOOD, Ending.CONFLICT, Ending.CONFLICT),
    ),
]


@pytest.mark.parametrize(("states", "ends"), STANDING)
def test_a_state_ends_a_wait_that_nothing_can_come_of(
    states: set[str], ends: tuple[Ending | None, ...]
) -> None:
    """Told before or not."""
    assert tuple(states_end(states, wanted) for wanted in (CI, REVIEW, MERGE, ANY)) == ends


def test_the_states_are_those_of_the_record() -> None:
    """What failed or is held counts once no check is running; of another head's checks nothing does."""

    def seen(**checks: object) -> set[str]:
        return states_of(PullRecord(head="a", checks={"sha": "a", **checks}))

    assert seen(verdict="failed") == {"failed"}
    assert seen(verdict="failed", waits=["cla"], running=1) == set()
    assert seen(verdict="failed", waits=["cla"], unfinished=["lint"]) == set()
    assert seen(verdict="pending", waits=["cla"]) == {"held"}
    assert seen(verdict="green", is_unchecked=True) == {"green", "unchecked"}
    assert seen(verdict="pending") == set()
    assert seen(sha="b", verdict="failed", waits=["cla"], is_unchecked=True) == set()
    approved = PullRecord(is_approved=True, conflicts_with="main")
    assert states_of(approved) == {"approved", "conflicting"}


def test_of_several_the_gravest_gives_the_status() -> None:
    """A failure outranks a review, a conflict outranks both, and good news comes last."""

    def ends(*events: str) -> Ending | None:
        notices = [Notice(f"42@1/{event}:46:a", "", Audience.NEWS) for event in events]
        return news_ends(notices, ANY)

    assert ends() is None
    assert ends("standing", "green", "standing") is Ending.GOOD
    assert ends("green", "review", "failed") is Ending.RED
    assert ends("failed", "conflict") is Ending.CONFLICT
    assert ends("waits", "behind", "review") is Ending.REVIEW


def test_a_waiter_leaves_what_a_command_waits_for_and_tells_the_rest() -> None:
    """By the words that the commands left; what is no such word leaves nothing."""
    assert events_of([]) == events_of(["rubbish", ""]) == frozenset()
    ci = events_of(["ci"])
    assert {"failed", "green", "conflict", "merged", "closed"} <= ci
    assert not {"review", "changes", "review-stop", "pr"} & ci
    assert {"review", "changes", "merged"} <= events_of(["review"])
    assert "failed" not in events_of(["review"])
    assert events_of(["ci", "review"]) == ci | events_of(["review"])
    # Behind has the key of green: whoever is left the one is left the other.
    assert {"behind", "green"} <= events_of(["merge"])
    assert "green" not in events_of(["review"])
