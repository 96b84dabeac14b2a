"""Brakes: only a person undoes one, and what was counted stays counted."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from lifecycle.core.errors import Refused
from lifecycle.core.values.configured import RunSettings
from lifecycle.run import long_run
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import Led, PersonAct, Run, UserFix
from lifecycle.run.stop.decide import IDLE_STOPS, RunSeen, decide
from lifecycle.run.table import RunStatus
from lifecycle.run.trouble import blockers
from lifecycle.settings.persons import PROMPT, TERMINAL

NOW = 1_800_000_000.0
START = Run("abc12345", "Pay", NOW, led=(Led("one", NOW),))


def test_a_stop_is_kept_with_who_and_when_and_undone_with_all_counts() -> None:
    """Whoever asks is told why; the counters go on."""
    run = replace(START, iterations=7)
    run = blockers.stopped(run, NOW + 1, PROMPT, "too\ndear")
    assert (run.status, run.why, run.stopped_at) == (RunStatus.STOPPED, "too dear", NOW + 1)
    with pytest.raises(Refused, match="stopped already"):
        blockers.stopped(run, NOW + 2, TERMINAL)
    run = blockers.resumed(run, NOW + 3, TERMINAL)
    assert (run.status, run.iterations, run.why) == (RunStatus.ACTIVE, 7, "")
    assert [(one.what, one.at, one.by) for one in run.acts] == [
        ("stop", NOW + 1, PROMPT),
        ("resume", NOW + 3, TERMINAL),
    ]
    assert blockers.stopped(START, NOW, TERMINAL).why == "by its user"


def test_what_does_not_stand_still_is_not_resumed() -> None:
    """A run that waits is resumed by saying that it is fixed."""
    with pytest.raises(Refused, match=r"is active, so there is nothing to resume; nothing was"):
        blockers.resumed(START, NOW, TERMINAL)
    with pytest.raises(
        Refused, match=r"is awaiting user, so .*: a person says .*user-fix-complete"
    ):
        blockers.resumed(replace(START, status=RunStatus.AWAITING_USER), NOW, TERMINAL)
    done = replace(START, status=RunStatus.COMPLETED)
    for act in (blockers.resumed, blockers.stopped):
        with pytest.raises(Refused, match="completed"):
            act(done, NOW, TERMINAL)


def test_what_stops_or_resumes_a_run_is_told_anew_and_all_that_was_done_is_kept() -> None:
    """What the person was told of the stop before is no reason to be silent; turns count anew."""
    before = replace(START, told="a cap", idle=3, last_reason="x", acts=(PersonAct(NOW, "y", "z"),))
    run = blockers.stopped(before, NOW + 1, TERMINAL, "dear")
    assert (run.told, run.acts) == (
        "",
        (*before.acts, PersonAct(NOW + 1, "stop", TERMINAL, "dear")),
    )
    run = blockers.resumed(replace(run, told="a stop"), NOW + 2, TERMINAL)
    assert (run.told, run.idle, run.last_reason) == ("", 0, "")
    assert run.acts[2:] == (PersonAct(NOW + 2, "resume", TERMINAL, "dear"),)


def test_a_run_that_was_stopped_while_it_waited_waits_again() -> None:
    """One brake does not undo the other."""
    fix = UserFix("B1", "add the key", NOW)
    run = blockers.stopped(replace(START, status=RunStatus.AWAITING_USER, fix=fix), NOW, TERMINAL)
    assert blockers.resumed(run, NOW, TERMINAL).status is RunStatus.AWAITING_USER
    fixed = replace(run, fix=replace(fix, completed_at=NOW))
    assert blockers.resumed(fixed, NOW, TERMINAL).status is RunStatus.ACTIVE


def test_after_a_cap_as_much_is_granted_again_or_what_is_said() -> None:
    """The stop notes its moment, which a prompt has to come after."""
    limits = RunSettings(max_iterations=2)
    run = START
    for turn in range(3):
        run = decide(RunSeen(run, NOW + turn, limits, facts=WorkFacts(f"{turn}"))).run
    assert (run.status, run.iterations, run.stopped_at) == (RunStatus.STOPPED, 2, NOW + 2)
    resumed = blockers.resumed(run, NOW + 9, TERMINAL)
    for more, turns in ((resumed, 2), (long_run.with_left(resumed, limits, 5), 5)):
        after = more
        for turn in range(turns + 1):
            after = decide(RunSeen(after, NOW + 10 + turn, limits, facts=WorkFacts(f"n{turn}"))).run
        assert (after.status, after.iterations) == (RunStatus.STOPPED, 2 + turns)
        assert after.why == f"it reached its cap of {2 + turns} iterations"


def test_the_time_of_waiting_is_forgiven_once() -> None:
    """Who resumed a run that waits forgave all that it took by then, the waiting included."""
    fix = UserFix("B1", "add the key", NOW + 10)
    run = blockers.stopped(replace(START, status=RunStatus.AWAITING_USER, fix=fix), NOW, TERMINAL)
    run = blockers.resumed(run, NOW + 500, TERMINAL)
    assert long_run.waited(run, fix.asked_at, NOW + 600).forgiven.seconds == 600


def test_a_prompt_counts_for_a_stop_since_the_session_was_told_to_go_on() -> None:
    """What was written before the run, or before the last continuation, asks for no stop."""
    assert blockers.stop_asked_at(START) == NOW
    run = decide(RunSeen(START, NOW + 5)).run
    assert blockers.stop_asked_at(run) == NOW + 5
    run = blockers.resumed(blockers.stopped(run, NOW + 6, TERMINAL), NOW + 7, TERMINAL)
    assert blockers.stop_asked_at(run) == NOW + 7


def test_a_run_that_was_stuck_begins_to_count_anew_after_a_person_resumed_it() -> None:
    """The turns in which nothing moved are forgotten; that time passes moves nothing."""
    run = START
    for turn in range(IDLE_STOPS + 1):
        run = decide(RunSeen(run, NOW + turn)).run
    assert run.status is RunStatus.STOPPED
    run = decide(RunSeen(blockers.resumed(run, NOW + 50, TERMINAL), NOW + 60)).run
    assert (run.status, run.idle) == (RunStatus.ACTIVE, 0)
