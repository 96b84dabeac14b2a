"""What becomes of a stop in a run: a table without clock or files, and what holds for every sequence."""

from __future__ import annotations

from dataclasses import replace as changed
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lifecycle.core.plan import StopVerdict
from lifecycle.core.values.configured import RunSettings
from lifecycle.run import long_run
from lifecycle.run.gates import gate_rules
from lifecycle.run.gates.run_moves import with_gate
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.run_store import adopted
from lifecycle.run.state import (
    Blocker,
    Failure,
    GatePart,
    GateRecord,
    Led,
    Run,
    Spent,
    Story,
    UserFix,
)
from lifecycle.run.stop.decide import (
    IDLE_STOPS,
    RunSeen,
    brake_lines,
    decide,
    missing,
    next_step,
    says_complete,
    story_line,
)
from lifecycle.run.table import (
    CheckState,
    FailureCategory,
    Gate,
    RunPhase,
    RunStatus,
    StoryStatus,
    TddPhase,
)
from lifecycle.run.texts.told import filled, sentence
from lifecycle.run.trouble import blockers
from tests.batches import each_row

NOW = 1_800_000_000.0
MARKER = "## WORKFLOW_COMPLETE\n**Goal:** Pay"
DONE = Story("S1", "Keep payments", status=StoryStatus.COMPLETED)
OPEN = Story("S2", "Refund", status=StoryStatus.IN_PROGRESS, tdd=TddPhase.GREEN, iteration=1)


def a_run(**more: Any) -> Run:
    """A run in the middle of its second story, led by a session."""
    run = Run(
        "abc12345",
        "Take payments",
        NOW - 60,
        phase=RunPhase.DEVELOPMENT,
        stories=(DONE, OPEN),
        led=(Led("one", NOW - 60),),
    )
    return replace(run, **more)


def seen(run: Run, message: str = "I am done.", **more: Any) -> RunSeen:
    """A stop of the session that leads it."""
    return changed(RunSeen(run, NOW, message=message), **more)


FIX = UserFix("B1", "Add the Stripe key to .env", NOW - 5, check_command=("make", "check"))


def test_an_open_run_goes_on_with_what_comes_next() -> None:
    """The reason has phase, story, cycle, what failed last, and the next command; the turn is counted."""
    failed = Failure("F1", FailureCategory.INFRA, "Connection refused", NOW)
    run = a_run(stories=(DONE, replace(OPEN, failures=(failed,))))
    verdict = decide(seen(run))
    reason = "\n".join(verdict.word.reason)
    assert verdict.word.verdict is StopVerdict.BLOCK
    assert (verdict.run.iterations, verdict.run.led_on_at) == (1, NOW)
    for words in (
        "development, 1 of 2 stories, turn 1 of 100",
        'S2 "Refund": in_progress, TDD green (minimum code to pass), iteration 1 of 3',
        '[infra] "Connection refused"',
        "lifecycle run tdd-phase S2 verify",
    ):
        assert words in reason
    assert verdict.word.person == ()


def test_each_line_of_a_continuation_is_as_long_as_it_may_be() -> None:
    """Where it stands, the goal, the story, its last failure alone, and what comes next; each is cut."""
    first = Failure("F1", FailureCategory.CODE, "an older one", NOW)
    last = Failure("F2", FailureCategory.INFRA, "f" * 161, NOW)
    open_one = replace(OPEN, title="t" * 81, failures=(first, last))
    run = a_run(goal="g" * 121, stories=(DONE, open_one), iterations=8, forgiven=Spent(5))
    step = next_step(run, WorkFacts())
    assert decide(seen(run)).word.reason == (
        "Run abc12345 is not complete, so go on: development, 1 of 2 stories, turn 9 of 105.",
        f'Goal: "{"g" * 119}…"',
        f'Story S2 "{"t" * 79}…": in_progress, TDD green (minimum code to pass), iteration 1 of 3.',
        f'Failed last: [infra] "{"f" * 159}…"',
        f"Next: {step}",
    )


def test_a_turn_is_counted_over_the_runs_life_as_the_caps_are() -> None:
    """More turns than the cap may be granted: then the last that may be is as many further on."""
    limits = RunSettings(max_iterations=3)
    run = long_run.with_left(a_run(iterations=1), limits, 10)
    assert "turn 2 of 11" in decide(seen(run, limits=limits)).word.reason[0]


def test_a_story_that_was_not_begun_has_neither_cycle_nor_iteration() -> None:
    """Nothing stands where there is nothing to tell."""
    assert story_line(Story("S3", "Report")) == 'Story S3 "Report": pending.'


def test_a_stopped_run_says_why_as_far_as_it_is_known() -> None:
    """And what is missing only if something is."""
    done = "0 of 0 stories are completed"
    why = "nobody says why"
    run = a_run(status=RunStatus.STOPPED, stories=(), why="")
    assert brake_lines(run) == (sentence("stopped", run=run, why=why, done=done, left=""),)


@pytest.mark.parametrize(
    "more",
    [
        {"led": (Led("one", NOW - 60), Led("two", NOW))},
        {"led_on_at": NOW},
        {"told": "stopped"},
        {"forgiven": Spent(1)},
        {"reported_at": NOW},
        {"reported_stories": 1},
    ],
    ids=lambda more: next(iter(more)),
)
def test_what_the_run_counts_is_no_work(more: dict[str, Any]) -> None:
    """Who leads it, what was told and granted, a report: with nothing else, nothing moved; a story does."""
    first = decide(seen(a_run(), position="p1"))
    again = decide(seen(replace(first.run, **more), position="p2"))
    assert again.run.idle == 1
    moved = replace(again.run, **more, stories=(DONE, replace(OPEN, iteration=2)))
    assert decide(seen(moved, position="p3")).run.idle == 0


@pytest.mark.parametrize(("since", "is_due"), [(1_799.0, False), (1_800.0, True)])
def test_a_report_that_is_due_is_asked_for(since: float, is_due: bool) -> None:
    """Half an hour after the last one the session is told so; before, it is not."""
    reason = decide(seen(a_run(reported_at=NOW - since))).word.reason
    assert ("A progress report is due: lifecycle run report" in reason) is is_due


def test_a_person_who_is_waited_for_is_told_once_what_to_do() -> None:
    """What to fix, how it is checked, how to say so, how to go on; another question is told anew."""
    run = a_run(status=RunStatus.AWAITING_USER, fix=FIX)
    first = decide(seen(run))
    told = "\n".join(first.word.person)
    assert (first.word.verdict, first.word.reason) == (StopVerdict.LET_GO, ())
    for words in ("Add the Stripe key", '"make check"', "user-fix-complete", "write a prompt here"):
        assert words in told
    again = decide(seen(first.run))
    assert (again.word.verdict, again.word.person) == (StopVerdict.LET_GO, ())
    other = replace(first.run, fix=replace(FIX, asked_at=NOW))
    assert decide(seen(other)).word.person
    assert decide(seen(adopted(first.run, "two", 0, NOW))).word.person
    assert first.run.iterations == 0


def test_a_person_is_waited_for_whatever_the_agent_says() -> None:
    """Neither a cap nor the closing word comes before that."""
    run = a_run(status=RunStatus.AWAITING_USER, fix=FIX, iterations=500)
    assert decide(seen(run, MARKER)).run.status is RunStatus.AWAITING_USER


def test_a_completed_run_that_says_so_stops() -> None:
    """Both are needed, and then nothing is said at all; a cap does not hide it."""
    run = a_run(status=RunStatus.COMPLETED, phase=RunPhase.COMPLETION, iterations=500)
    verdict = decide(seen(run, MARKER))
    assert verdict.word.verdict is StopVerdict.PASS
    assert (verdict.word.reason, verdict.word.person) == ((), ())


def test_a_completed_run_without_the_word_is_asked_for_it_once() -> None:
    """Then it may stop, said or not."""
    run = a_run(status=RunStatus.COMPLETED)
    first = decide(seen(run, "Done."))
    assert first.word.verdict is StopVerdict.BLOCK
    assert "WORKFLOW_COMPLETE" in first.word.reason[0]
    assert decide(seen(first.run, "Done.")).word.verdict is StopVerdict.PASS


def test_the_word_without_the_state_is_answered_with_what_is_missing() -> None:
    """A claim proves nothing: the open stories are named."""
    verdict = decide(seen(a_run(), MARKER))
    assert verdict.word.verdict is StopVerdict.BLOCK
    assert 'Missing: S2 "Refund" is in_progress' in "\n".join(verdict.word.reason)


def test_a_run_that_was_stopped_tells_the_person_once() -> None:
    """A brake holds: whatever the agent says, and nothing makes it go on."""
    run = a_run(status=RunStatus.STOPPED, why="you stopped it")
    first = decide(seen(run, MARKER))
    assert first.word.verdict is StopVerdict.LET_GO
    assert "you stopped it" in first.word.person[0]
    assert "lifecycle run resume" in first.word.person[0]
    second = decide(seen(first.run))
    assert (second.word.verdict, second.word.person) == (StopVerdict.LET_GO, ())


SPENT = [
    ({"iterations": 3}, "cap of 3 iterations."),
    ({"led": tuple(Led(str(number), NOW) for number in range(3))}, "cap of 2 sessions."),
    ({"started": NOW - 3_600}, "cap of 1 hours."),
    ({"led": (Led("one", NOW, tokens=1_000),)}, "cap of 1,000 tokens."),
]


@pytest.mark.parametrize(("more", "why"), SPENT)
def test_a_cap_stops_the_run_and_keeps_it(more: dict[str, object], why: str) -> None:
    """The person is told which one, what is missing, and how it goes on; that grants as much again."""
    limits = RunSettings(max_iterations=3, max_sessions=2, max_hours=1, max_tokens=1_000)
    run = a_run(**more)
    verdict = decide(seen(run, limits=limits))
    told = "\n".join(verdict.word.person)
    assert (verdict.word.verdict, verdict.run.status) == (StopVerdict.LET_GO, RunStatus.STOPPED)
    assert f"it reached its {why}" in told
    assert verdict.run.stopped_at == NOW
    assert "S2" in told
    assert "lifecycle run resume" in told
    assert verdict.run.stories == run.stories
    again = blockers.resumed(verdict.run, NOW, "terminal")
    onward = decide(seen(again, limits=limits))
    assert onward.word.verdict is StopVerdict.BLOCK
    once_more = replace(onward.run, iterations=99)
    assert decide(seen(once_more, limits=limits)).word.person  # a brake of its own, told anew


def test_a_cap_is_reached_at_its_very_number_and_not_before() -> None:
    """Of turns, seconds and tokens; the last session that is permitted may work."""
    limits = RunSettings(max_iterations=3, max_sessions=2, max_hours=1, max_tokens=1_000)
    for more in (
        {"iterations": 2},
        {"led": (Led("one", NOW), Led("two", NOW))},
        {"started": NOW - 3_599.5},
        {"led": (Led("one", NOW, tokens=999),)},
    ):
        assert long_run.exceeded(a_run(**more), limits, NOW) == ""


def test_the_time_that_it_waited_for_a_person_does_not_count() -> None:
    """A blocker that stood for a week-end leaves the hours as they were."""
    limits = RunSettings(max_hours=1)
    run = long_run.waited(a_run(started=NOW - 9_000), NOW - 8_900, NOW)
    assert run.forgiven == Spent(seconds=8_900)
    assert long_run.waited(run, NOW + 5, NOW) == run  # a clock that was set back
    assert long_run.waited(run, NOW - 8_900, NOW).forgiven.seconds == 9_000
    assert decide(seen(run, limits=limits)).word.verdict is StopVerdict.BLOCK


def test_the_same_is_not_said_twice_in_a_row() -> None:
    """Where nothing moved it says so, and a run that does not move is stopped in the end."""
    run, reasons = a_run(), []
    while (verdict := decide(seen(run))).word.verdict is StopVerdict.BLOCK:
        reasons.append("\n".join(verdict.word.reason))
        run = verdict.run
    assert len(reasons) == len(set(reasons)) == IDLE_STOPS == 5
    assert "Stuck: 2 turns in a row" in reasons[1]
    assert verdict.run.status is RunStatus.STOPPED
    assert f"{IDLE_STOPS} turns in a row changed neither" in verdict.run.why


def test_a_run_that_is_stuck_at_its_cap_is_told_the_cap() -> None:
    """A person who lets it go on grants what it had run out of."""
    run = decide(seen(a_run())).run
    run = replace(run, idle=IDLE_STOPS - 1, iterations=100)
    assert "cap of 100 iterations" in decide(seen(run)).run.why


def test_an_edited_file_is_a_move() -> None:
    """The tree counts: an agent that works on is not stuck, though the run's record is the same."""
    run = a_run()
    for number in range(2 * IDLE_STOPS):
        verdict = decide(seen(run, facts=WorkFacts(str(number))))
        assert verdict.word.verdict is StopVerdict.BLOCK
        assert "Stuck" not in "\n".join(verdict.word.reason)
        run = verdict.run


@pytest.mark.parametrize("story", ["S2", ""])
def test_a_gate_that_came_to_the_same_on_the_same_files_is_no_move(story: str) -> None:
    """A run that can end by no gate any more is stopped; one that came to something else is a move."""
    facts, gate = WorkFacts("a tree"), Gate.G5 if story else Gate.G7
    run = a_run()
    for number in range(IDLE_STOPS):
        part = GatePart("test", CheckState.PASS, log=f"{number}.log")
        record = GateRecord(gate, NOW + number, CheckState.PASS, "a tree", (part,))
        run = decide(seen(with_gate(run, story, record, "", NOW), facts=facts)).run
    assert (run.status, run.idle) == (RunStatus.ACTIVE, IDLE_STOPS - 1)
    record = GateRecord(gate, NOW, CheckState.NOT_APPLICABLE, "a tree")
    assert decide(seen(with_gate(run, story, record, "", NOW), facts=facts)).run.idle == 0
    assert decide(seen(run, facts=facts)).run.status is RunStatus.STOPPED


def test_the_same_stop_is_answered_once() -> None:
    """Hooks that are installed twice count one turn."""
    first = decide(seen(a_run(), position="p1"))
    second = decide(seen(first.run, position="p1"))
    assert (second.word.verdict, second.run) == (StopVerdict.PASS, first.run)
    assert decide(seen(second.run, position="p2")).word.verdict is StopVerdict.BLOCK


def test_an_agent_in_the_background_is_waited_for() -> None:
    """The client wakes the session then; a claim of completion is answered all the same."""
    waiting = seen(a_run(), is_waiting=True)
    assert decide(waiting).word.verdict is StopVerdict.PASS
    assert decide(changed(waiting, message=MARKER)).word.verdict is StopVerdict.BLOCK


def test_only_blocked_stories_wait_for_the_user() -> None:
    """Nothing else can be done: the run waits, and the person is told for what."""
    blocked = replace(OPEN, status=StoryStatus.BLOCKED)
    waits = Story("S3", "Report", depends_on=("S2",))
    blocker = Blocker("B1", "No key for Stripe", "high", NOW, story="S2")
    run = a_run(stories=(DONE, blocked, waits), blockers=(blocker,))
    verdict = decide(seen(run))
    assert (verdict.word.verdict, verdict.word.reason) == (StopVerdict.LET_GO, ())
    assert "No key for Stripe" in "\n".join(verdict.word.person)
    assert verdict.run.status is RunStatus.AWAITING_USER


@each_row(
    ("text", "says"),
    [
        ("## WORKFLOW_COMPLETE", True),
        ("All of it.\n\nWORKFLOW_COMPLETE\n**Goal:** x", True),
        ("**WORKFLOW_COMPLETE**", True),
        ("  ### WORKFLOW_COMPLETE ###", True),
        ("I will print WORKFLOW_COMPLETE soon", False),
        ("`WORKFLOW_COMPLETE`", False),
        ("```\nWORKFLOW_COMPLETE\n```", False),
        ("~~~~\n~~~\nWORKFLOW_COMPLETE\n~~~~", False),
        ("```\nx\n```\nWORKFLOW_COMPLETE", True),
        ("```\nx\n  ```\nWORKFLOW_COMPLETE", True),
        ("  ```\nx\n```\nWORKFLOW_COMPLETE", True),
        ("```\n```text\nWORKFLOW_COMPLETE", False),
        ("    WORKFLOW_COMPLETE", False),
        ("> WORKFLOW_COMPLETE", False),
        ("- WORKFLOW_COMPLETE", False),
        ("- S1 is done\nWORKFLOW_COMPLETE", True),
        ("<!--\nWORKFLOW_COMPLETE\n-->", False),
        ("## WORKFLOW_COMPLETED", False),
        ("", False),
    ],
)
def test_the_closing_word_stands_on_a_line_of_its_own(text: str, says: bool) -> None:
    """A sentence about it, and code, are no claim."""
    assert says_complete(text) is says


def test_the_reason_is_short_whatever_is_in_it() -> None:
    """Long goals, titles, errors and lists of stories leave it below 900 characters."""
    long = "word " * 4_000
    failure = Failure("F1", FailureCategory.CODE, long, NOW)
    stories = tuple(
        Story(f"S{number}", long, status=StoryStatus.IN_PROGRESS, failures=(failure,))
        for number in range(100)
    )
    for message in (MARKER, "Done."):
        verdict = decide(seen(a_run(goal=long, stories=stories), message))
        assert len("\n".join(verdict.word.reason)) <= 900


@pytest.mark.parametrize(
    ("lacks", "shown"),
    [
        (("a" * 150, "b" * 150, "c"), f"{'a' * 150}; and 2 more"),
        (("a" * 120, "b" * 100, "c"), f"{'a' * 120}; {'b' * 100}; and 1 more"),
        (("a" * 220, "b"), f"{'a' * 220}; and 1 more"),
        (("a" * 221,), f"{'a' * 219}…"),
        (("a", "b"), "a; b"),
    ],
    ids=["none is passed over", "full", "one fills it", "cut", "all"],
)
def test_what_is_missing_is_told_from_the_beginning(lacks: tuple[str, ...], shown: str) -> None:
    """As many as there is room for in their order, the first in any case, and how many are left."""
    (line,) = brake_lines(a_run(status=RunStatus.STOPPED, why="Enough."), lacks)
    assert f" Missing: {shown}." in line


def test_a_run_lacks_its_open_stories_and_its_end() -> None:
    """And a story at all, where it has none; one that is completed lacks nothing."""
    end = "the run was not closed: lifecycle run finish, lifecycle run complete"
    assert missing(a_run()) == ('S2 "Refund" is in_progress', end)
    assert missing(a_run(stories=())) == ("there is no story yet", end)
    assert missing(a_run(stories=(DONE,), status=RunStatus.COMPLETED)) == ()
    (line, _) = missing(a_run(stories=(replace(OPEN, title="t" * 61),)))
    assert line == f'S2 "{"t" * 59}…" is in_progress'


def test_of_the_story_at_work_is_told_what_it_lacks() -> None:
    """As its completion is judged, where git says what the files are; not of one that only comes next."""
    facts = WorkFacts("t" * 40)
    end = "the run was not closed: lifecycle run finish, lifecycle run complete"
    own = gate_rules.missing_for(OPEN, facts)
    waits = Story("S3", "Report")
    assert own
    assert missing(a_run(stories=(OPEN, waits)), facts) == (
        'S2 "Refund" is in_progress',
        *own,
        'S3 "Report" is pending',
        end,
    )
    assert missing(a_run(stories=(waits,)), facts) == ('S3 "Report" is pending', end)


def test_what_a_person_is_waited_for_is_told_as_far_as_it_is_known() -> None:
    """Blocker and command stand in it only if there are such."""
    full = "\n".join(brake_lines(a_run(status=RunStatus.AWAITING_USER, fix=FIX)))
    assert '"Add the Stripe key to .env"' in full
    assert " (B1)" in full
    assert '"make check"' in full
    fix = replace(FIX, blocker="", check_command=())
    bare = "\n".join(brake_lines(a_run(status=RunStatus.AWAITING_USER, fix=fix)))
    assert " (B1)" not in bare
    assert sentence("checked-by-nothing") in bare
    expected = filled(
        "waits",
        run=a_run(),
        name="",
        what='"Add the Stripe key to .env"',
        checked=sentence("checked-by-nothing"),
    )
    assert list(brake_lines(a_run(status=RunStatus.AWAITING_USER, fix=fix))) == list(expected)
    what = "a blocker: lifecycle run status shows it"
    expected = filled(
        "waits", run=a_run(), name="", what=what, checked=sentence("checked-by-nothing")
    )
    assert list(brake_lines(a_run(status=RunStatus.AWAITING_USER, fix=None))) == expected


STORIES = st.lists(
    st.builds(
        Story,
        st.sampled_from(["S1", "S2", "S3"]),
        st.just("A story"),
        status=st.sampled_from(StoryStatus),
        tdd=st.sampled_from(TddPhase),
        security=st.booleans(),
    ),
    max_size=3,
).map(tuple)

RUNS = st.builds(
    a_run,
    phase=st.sampled_from(RunPhase),
    status=st.sampled_from(RunStatus),
    stories=STORIES,
    iterations=st.integers(0, 12),
)

STOPS = st.lists(
    st.tuples(
        st.sampled_from(["", "Done.", MARKER]),
        st.sampled_from(["", "t1", "t2"]),
        st.booleans(),
        st.sampled_from(RunPhase),
    ),
    min_size=60,
    max_size=60,
)


@given(RUNS, STOPS, st.integers(1, 10))
def test_no_run_blocks_for_ever(
    run: Run, stops: list[tuple[str, str, bool, RunPhase]], most: int
) -> None:
    """However its phase, its files and the agent's words change: at most so many turns go on, plus one.

    No two continuations in a row are the same, and what was stopped stays stopped.
    """
    blocks, before, was_stopped = 0, "", False
    start = run.iterations
    for message, tree, is_waiting, phase in stops:
        run = replace(run, phase=phase)
        limits = RunSettings(max_iterations=most)
        verdict = decide(
            seen(run, message, limits=limits, facts=WorkFacts(tree), is_waiting=is_waiting)
        )
        assert not (was_stopped and verdict.word.verdict is not StopVerdict.LET_GO)
        run = verdict.run
        was_stopped = run.status is RunStatus.STOPPED
        if verdict.word.verdict is StopVerdict.BLOCK:
            blocks += 1
            reason = "\n".join(verdict.word.reason)
            assert reason != before
            before = reason
            assert len(reason) <= 900
    assert blocks <= max(0, most - start) + 1
