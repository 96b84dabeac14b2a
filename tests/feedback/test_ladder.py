"""Whose a head's failures are, and what follows of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from typing import Any

import pytest

from lifecycle.core.values.configured import Settings
from lifecycle.core.values.failed_checks import WorkflowRun
from lifecycle.feedback.checks.packet import CheckFailure, FailurePacket
from lifecycle.feedback.failures.ladder import (
    BASE_POLLS,
    BETWEEN,
    MOST_HEADS,
    MOST_KEPT,
    BaseFacts,
    FailureClass,
    FailureDecision,
    FailureFacts,
    FailureLedger,
    RedHead,
    decide,
    flakes,
    is_due,
)

HEAD, NEXT, LATER, BASE, TIP = "a" * 40, "b" * 40, "c" * 40, "d" * 40, "e" * 40
EMPTY = FailureLedger(46)
SETTINGS = Settings(ci_rerun=1, ci_attempts=3)


def failed(name: str, *tests: str, how: str = "13", **more: Any) -> CheckFailure:
    """A failed check of CI, by its tests."""
    error = f"assert {how}" if tests else ""
    known: dict[str, Any] = {"word": "FAILURE", "workflow": "CI", "run": 7, "job": 8}
    return CheckFailure(name, tests=tests, first_error=error, **known | more)


ONCE = {7: 1}
"""How often run 7 was tried."""


def facts(
    *failures: CheckFailure,
    head: str = HEAD,
    attempts: Mapping[int, int] = ONCE,
    over: Collection[int] = (7,),
    **more: Any,
) -> FailureFacts:
    """A head whose run 7 is over after its first attempt."""
    packet = FailurePacket(46, "", head, failures, path=f"{head[:3]}.txt")
    runs = (WorkflowRun(run, attempt, run in over) for run, attempt in attempts.items())
    return FailureFacts(packet, tuple(runs), **more)


def looked(made: FailureFacts, ledger: FailureLedger = EMPTY, **limits: Any) -> FailureDecision:
    """What follows."""
    return decide(made, ledger, replace(SETTINGS, **limits))


def base(*tests: str, sha: str = BASE, workflows: tuple[str, ...] = ("CI",)) -> BaseFacts:
    """A commit of the base at which these tests failed."""
    return BaseFacts(sha, frozenset(f"test {one}" for one in tests), workflows)


LOST = failed("lint", excerpt=("##[error]npm error code ECONNRESET",))


def test_what_it_ran_on_is_run_again_once_its_run_is_over() -> None:
    """Before that GitHub runs nothing again: it is waited for, and read again."""
    over = looked(facts(LOST))
    assert (over.kind, over.runs, over.failures) == (FailureClass.RERUN, ((7, 1),), (LOST,))
    assert not over.ledger.is_due
    assert over.ledger.reds == ()
    going = looked(facts(LOST, over=()))
    assert (going.kind, going.runs, going.ledger.is_due) == (FailureClass.UNDER_WAY, (), True)
    assert is_due(going.ledger, HEAD, "", 0)
    assert not is_due(going.ledger, NEXT, "", 0)
    assert not looked(facts(LOST), going.ledger).ledger.is_due
    assert not looked(facts(failed("test", "adds")), going.ledger).ledger.is_due


def test_every_run_has_to_be_over_and_each_is_run_again_once() -> None:
    """Two jobs of one run make one rerun of it, two runs two."""
    other = replace(LOST, run=8)
    both = facts(LOST, LOST, other, attempts={7: 1, 8: 1}, over=(7,))
    assert looked(both).kind is FailureClass.UNDER_WAY
    over = facts(LOST, LOST, other, attempts={7: 1, 8: 1}, over=(7, 8))
    assert looked(over).runs == ((7, 1), (8, 1))


@pytest.mark.parametrize(
    ("attempt", "rerun", "kind"),
    [
        (1, 1, FailureClass.RERUN),
        (2, 1, FailureClass.OURS),
        (2, 2, FailureClass.RERUN),
        (3, 2, FailureClass.OURS),
        (1, 0, FailureClass.OURS),
    ],
)
def test_github_counts_how_often_a_run_was_run_again(
    attempt: int, rerun: int, kind: FailureClass
) -> None:
    """Another machine finds the same number; 0 switches it off. What is left then is the agent's."""
    assert looked(facts(LOST, attempts={7: attempt}), ci_rerun=rerun).kind is kind


def test_a_run_that_is_not_known_is_not_run_again() -> None:
    """The token may not read it, or it is another app's."""
    assert looked(facts(LOST, attempts={})).kind is FailureClass.OURS
    assert looked(facts(replace(LOST, run=None))).kind is FailureClass.OURS


def test_beside_a_failure_of_ours_nothing_is_run_again() -> None:
    """The fix is pushed, and runs all of it again."""
    ours = failed("test", "adds")
    found = looked(facts(LOST, ours))
    assert (found.kind, found.runs, found.failures) == (FailureClass.OURS, (), (LOST, ours))


def test_what_was_cancelled_beside_a_failure_says_nothing() -> None:
    """A matrix that fails fast cancels the rest; alone it is told as it is."""
    cancelled = failed("slow", word="CANCELLED")
    assert looked(facts(cancelled, LOST)).kind is FailureClass.RERUN
    assert looked(facts(cancelled, failed("test", "adds"), base=base("adds"))).kind is (
        FailureClass.INHERITED
    )
    assert looked(facts(cancelled)).failures == (cancelled,)


def test_what_fails_alike_at_the_base_is_inherited() -> None:
    """By what failed, and all of it: the name of the check says nothing."""
    known = failed("test", "adds", "divides")
    found = looked(facts(known, base=base("adds", "divides", "more"), tip=None))
    assert (found.kind, found.failures) == (FailureClass.INHERITED, (known,))
    assert found.ledger.reds == ()
    assert found.ledger.base == BASE


@pytest.mark.parametrize("known", [None, base("adds"), base()])
def test_a_new_failure_beside_an_old_one_is_ours(known: BaseFacts | None) -> None:
    """And so is everything where nothing is known of the base."""
    new = failed("test", "adds", "divides")
    found = looked(facts(new, base=known))
    assert (found.kind, found.failures) == (FailureClass.OURS, (new,))
    assert found.ledger.base == ""


def test_what_is_ours_by_now_does_not_wait_for_the_base() -> None:
    """Another attempt failed in another way than the base does."""
    old = looked(facts(failed("test", "adds"), base=base("adds")))
    assert old.ledger.base == BASE
    assert looked(facts(failed("test", "new"), base=base("adds")), old.ledger).ledger.base == ""
    assert looked(facts(LOST), old.ledger).ledger.base == ""


def test_without_a_log_nothing_is_inherited() -> None:
    """What is not known cannot be the same; nor is nothing."""
    nothing = looked(facts(base=base("adds")))
    assert (nothing.kind, nothing.ledger.base) == (FailureClass.OURS, "")
    assert looked(facts(failed("test"), base=base("adds"))).kind is FailureClass.OURS


def test_inherited_failures_are_left_out_of_what_is_ours() -> None:
    """They are neither charged nor asked about, and do not keep a rerun from the rest."""
    old, new = failed("old", "adds"), failed("new", "divides")
    found = looked(facts(old, new, base=base("adds")))
    assert (found.kind, found.failures) == (FailureClass.OURS, (new,))
    assert found.ledger.reds[0].identities == ("test divides",)
    again = looked(facts(old, LOST, base=base("adds")))
    assert (again.kind, again.failures) == (FailureClass.RERUN, (LOST,))


def test_the_base_is_looked_at_again_when_it_moved_and_its_run_is_over() -> None:
    """A commit whose workflow still runs says nothing; the one that mended it is told."""
    old = failed("test", "adds")

    def at(tip: BaseFacts | None) -> FailureDecision:
        return looked(facts(old, base=base("adds"), tip=tip))

    for unknown in (base(sha=TIP, workflows=()), base(sha=TIP, workflows=("Docs",)), None):
        waits = at(unknown)
        assert (waits.kind, waits.ledger.base) == (FailureClass.INHERITED, BASE)
        assert is_due(waits.ledger, HEAD, TIP, BASE_POLLS)
    still = at(base("adds", sha=TIP))
    assert (still.kind, still.ledger.base) == (FailureClass.INHERITED, TIP)
    assert not is_due(still.ledger, HEAD, TIP, BASE_POLLS)
    assert not is_due(still.ledger, HEAD, "", BASE_POLLS)
    assert not is_due(still.ledger, NEXT, LATER, BASE_POLLS)
    polls = {-1: True, 0: False, BASE_POLLS - 0.1: False, BASE_POLLS: True}
    assert {one: is_due(still.ledger, HEAD, LATER, one) for one in polls} == polls
    assert BASE_POLLS == 5
    mended = at(base("other", sha=TIP))
    assert (mended.kind, mended.ledger.base) == (FailureClass.MENDED, TIP)


def test_what_was_never_inherited_is_not_read_again_for_the_base() -> None:
    """Nothing is due where nothing was told of the base."""
    assert not is_due(looked(facts(failed("test", "adds"))).ledger, HEAD, TIP, BASE_POLLS)


def red(*heads: tuple[str, str, str]) -> FailureLedger:
    """The ledger after these heads, each with a test that failed and how."""
    ledger = EMPTY
    for sha, name, how in heads:
        ledger = looked(facts(failed("test", name, how=how), head=sha), ledger).ledger
    return ledger


def test_a_head_is_charged_once_when_its_failure_is_read() -> None:
    """However often it is read, and only if it can be told what failed."""
    once = looked(facts(failed("test", "adds")))
    trace = ("assert 13", "test adds")
    assert once.ledger.reds == (RedHead(HEAD, ("test adds",), trace, "aaa.txt"),)
    assert (once.question, once.asked) == ("", ())
    again = looked(facts(failed("test", "adds")), once.ledger)
    assert (again.kind, again.ledger) == (FailureClass.OURS, once.ledger)
    without = looked(facts(failed("test"), head=NEXT), once.ledger)
    assert (without.kind, without.ledger.reds) == (FailureClass.OURS, once.ledger.reds)


def test_three_heads_with_one_identity_ask_the_person() -> None:
    """The third is told to nobody but through the question; the fourth to the person alone."""
    two = red((HEAD, "adds", "1"), (NEXT, "adds", "2"))
    third = looked(facts(failed("test", "adds", how="3"), head=LATER), two)
    assert (third.kind, third.question, third.asked) == (
        FailureClass.STOPPED,
        "attempts",
        ("test adds",),
    )
    assert third.ledger.stopped == ("test adds",)
    assert third.ledger.asked(("test b",)).stopped == ("test adds", "test b")
    fourth = looked(facts(failed("test", "adds", how="4"), head=TIP), third.ledger)
    assert (fourth.kind, fourth.question, fourth.asked) == (FailureClass.STOPPED, "", ())
    assert (
        looked(facts(failed("test", "adds", how="3"), head=LATER), two, ci_attempts=4).question
        == ""
    )
    # Whoever was asked said to go on: it is the agent's again, and counted anew.
    opened = looked(facts(failed("test", "adds", how="4"), head=TIP), fourth.ledger.opened())
    assert (opened.kind, opened.question) == (FailureClass.OURS, "")
    assert [one.sha for one in opened.ledger.reds] == [TIP]


def test_another_failure_beside_a_worn_out_one_is_the_agents() -> None:
    """The person is asked about the one; the agent is woken for the other."""
    two = red((HEAD, "adds", "1"), (NEXT, "adds", "2"))
    both = looked(facts(failed("a", "adds", how="3"), failed("b", "new"), head=LATER), two)
    assert (both.kind, both.question, both.asked) == (
        FailureClass.OURS,
        "attempts",
        ("test adds",),
    )
    later = looked(facts(failed("b", "new", "adds", how="5"), head=TIP), both.ledger)
    assert (later.kind, later.question) == (FailureClass.OURS, "")


def test_two_heads_that_fail_alike_to_the_line_ask_the_person() -> None:
    """A fix that changed nothing in what fails; one that failed in another way did change something."""
    one = red((HEAD, "adds", "1"))
    same = looked(facts(failed("test", "adds", how="1"), head=NEXT), one)
    assert (same.kind, same.question, same.asked) == (
        FailureClass.STOPPED,
        "no change",
        ("test adds",),
    )
    assert looked(facts(failed("test", "adds", how="2"), head=NEXT), one).question == ""
    between = red((HEAD, "adds", "1"), (NEXT, "other", "1"))
    assert looked(facts(failed("test", "adds", how="1"), head=LATER), between).question == ""
    # What was asked already is not asked again.
    after = looked(facts(failed("test", "adds", how="1"), head=LATER), same.ledger)
    assert (after.kind, after.question) == (FailureClass.STOPPED, "")


def test_what_was_mended_and_fails_again_counts_anew_but_for_the_cap() -> None:
    """After a green head the same line is the agent's again, also where a person was asked before it."""
    same = looked(facts(failed("test", "adds"), head=NEXT), red((HEAD, "adds", "13"))).ledger
    mended = same.mended()
    assert (mended.stopped, mended.count("test adds")) == ((), 0)
    again = looked(facts(failed("test", "adds"), head=LATER), mended)
    assert (again.kind, again.question) == (FailureClass.OURS, "")
    assert looked(facts(failed("test", "adds"), head=TIP), again.ledger).question == "no change"
    assert [one.sha for one in again.ledger.reds] == [HEAD, NEXT, LATER]


def test_a_pull_request_has_a_cap_for_its_whole_life() -> None:
    """Each fix breaks something else: after so many red heads the person is asked, whatever it is."""
    many = red(*((f"{number}" * 40, f"t{number}", "1") for number in range(MOST_HEADS)))
    assert len(many.reds) == MOST_HEADS == 10
    assert many.stopped == ()
    last = looked(facts(failed("test", "new"), head=HEAD), many)
    assert (last.kind, last.question, last.asked) == (FailureClass.STOPPED, "heads", ("test new",))
    again = looked(facts(failed("test", "new", how="2"), head=NEXT), last.ledger)
    assert (again.kind, again.question) == (FailureClass.STOPPED, "")
    assert looked(facts(failed("test", "new"), head=HEAD), many.mended()).question == "heads"


def test_what_nobody_could_read_beside_a_stopped_failure_is_the_agents() -> None:
    """It may be something new."""
    same = looked(facts(failed("test", "adds"), head=NEXT), red((HEAD, "adds", "13")))
    assert same.kind is FailureClass.STOPPED
    beside = looked(facts(failed("test", "adds"), failed("other"), head=LATER), same.ledger)
    assert (beside.kind, beside.question) == (FailureClass.OURS, "")


def test_a_ledger_keeps_the_newest_heads() -> None:
    """It does not grow without end."""
    ledger = EMPTY
    for number in range(MOST_KEPT + 2):
        ledger = looked(facts(failed("test", "x"), head=str(number)), ledger).ledger
    assert [one.sha for one in ledger.reds] == [str(n) for n in range(2, MOST_KEPT + 2)]
    assert ledger.count("test x") == MOST_KEPT == 50


def test_a_flake_failed_and_passed_at_one_commit() -> None:
    """And nothing else is one: not what passes at another commit, nor what never failed."""
    one, other = f"CI{BETWEEN}test", f"CI{BETWEEN}lint"
    ledger = looked(facts(failed("test", "adds"), LOST)).ledger
    assert ledger.failing == {one: ("test adds",), other: ()}
    assert flakes(ledger, NEXT, {one}) == (ledger, ())
    assert flakes(ledger, HEAD, {"CI\tdocs"}) == (ledger, ())
    left, found = flakes(ledger, HEAD, {one, "CI\tdocs"})
    assert found == ((one, ("test adds",)),)
    assert left.failing == {other: ()}
    assert flakes(left, HEAD, {one}) == (left, ())


def test_twins_of_one_name_are_a_flake_once_both_have_passed() -> None:
    """A push and its pull request run one check: what failed in either is kept until both pass."""
    one = f"CI{BETWEEN}test"
    both = looked(facts(failed("test", "adds"), failed("test", "subtracts"))).ledger
    assert both.failing == {one: ("test adds", "test subtracts")}
    # One of them was run again and passed; the other, which fails still, is read once more.
    left = looked(facts(failed("test", "subtracts")), both).ledger
    assert flakes(left, HEAD, ()) == (left, ())
    _, found = flakes(left, HEAD, {one})
    assert found == ((one, ("test adds", "test subtracts")),)
    other = looked(facts(failed("test", "divides"), head=NEXT), both).ledger
    assert other.failing == {one: ("test divides",)}


def test_what_a_ledger_keeps_is_json() -> None:
    """It comes back as it was; another pull request's, and what is none, begins anew.

    One of a version before says nothing of its kind, and begins at the first red head that it has. What the
    branch took from the checks is its next pull request's, too.
    """
    import json

    ledger = replace(
        red((HEAD, "adds", "1"), (NEXT, "adds", "1")),
        compared=NEXT,
        base=BASE,
        base_at=1.5,
        is_due=True,
        kind="mended",
        since=HEAD,
    )
    kept = asdict(ledger)
    assert FailureLedger.from_json(json.loads(json.dumps(kept)), 46) == ledger
    assert FailureLedger.from_json(kept, 47) == FailureLedger(47, since=HEAD)
    assert FailureLedger.from_json({}, 46) == EMPTY
    for name in kept:
        if name != "number":
            broken = {key: value for key, value in kept.items() if key != name}
            assert FailureLedger.from_json(broken, 46) == EMPTY
            assert FailureLedger.from_json({**kept, "reds": [[1]]}, 46) == EMPTY
    odd: tuple[dict[str, Any], ...] = ({"reds": 7}, {"failing": []}, {"base_at": "soon"})
    assert [FailureLedger.from_json(kept | one, 46) for one in odd] == [EMPTY] * 3
