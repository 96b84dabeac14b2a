"""What becomes of a stop: a table of cases, and rules that hold for any."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core.plan import StopVerdict
from lifecycle.core.stage_names import LINE, MARKERS, Detected, Stage
from lifecycle.core.tracker import Wording
from lifecycle.core.values.configured import StageSettings
from lifecycle.evidence.records import Evidence
from lifecycle.stages.decisions import instructions
from lifecycle.stages.decisions.decide import (
    IDLE_BLOCKS,
    MISSING,
    HeldTask,
    Memory,
    StageDecision,
    StageSeen,
    decide,
    is_known,
    meant,
)
from lifecycle.stages.decisions.instructions import (
    COMPLETED,
    TEXTS,
    Facts,
    again,
    complete,
    instruction,
    question,
)
from lifecycle.stages.detection import detect_stage, stage_watch
from lifecycle.stages.detection.detect_stage import detect
from lifecycle.stages.detection.stage_markers import asked_in
from lifecycle.stages.transcript.turn import ANY_PROJECT, NOTHING, Prompt, StageFinding, Tier, Turn
from tests.batches import each_row

CODED, CLOSED = Detected.CODING_COMPLETE, Detected.ISSUE_CLOSED
CLEARED = Detected.SESSION_CLEARED
QUICK = (Stage.CODING, Stage.TESTING, Stage.COMMIT_CLOSE)
UNDER_WAY = [state for state in Detected if state.is_under_way]


def seen(
    state: Detected,
    *,
    position: str = "p1",
    tier: Tier = Tier.MARKER,
    asked: Stage | None = None,
    kind: Prompt = Prompt.OURS,
    has_worked: bool = False,
    subjects: tuple[str, ...] = (),
    **more: object,
) -> StageSeen:
    """A stop at which this state was found."""
    turn = Turn(steps=("text",), kind=kind, asked=asked, has_worked=has_worked, position=position)
    found = StageFinding(state, tier, "x", subjects, position)
    return StageSeen(turn, found, **more)  # type: ignore[arg-type]  # passed on as they are


def waited_turn() -> Turn:
    """The turn of a session that was told to close."""
    return Turn(steps=("text",), kind=Prompt.OURS, asked=Stage.COMMIT_CLOSE, position="p1")


@pytest.mark.parametrize("stage", LINE)
def test_a_completed_stage_gives_the_next_ones_instruction(stage: Stage) -> None:
    """Each marker leads to the next stage, the last one back to the first; it is written down."""
    state = MARKERS[stage]
    following = LINE[(LINE.index(stage) + 1) % len(LINE)]
    done = decide(seen(state, remaining=1))
    assert done.verdict is StopVerdict.BLOCK
    assert done.text == instruction(following, Facts(), COMPLETED[stage])
    assert [(e.kind, e.source, e.target) for e in done.events] == [
        ("transition", stage, following),
        ("block", stage, following),
    ]
    assert done.log == (
        f"Getting instruction for stage: {state}",
        f"Injecting instruction for stage: {state}",
    )
    assert (done.memory.position, done.memory.blocks) == ("p1", 1)


@pytest.mark.parametrize("state", UNDER_WAY)
def test_work_under_way_passes(state: Detected) -> None:
    """The agent is at work: nothing is said, nothing is kept."""
    done = decide(seen(state, conflict="x", remaining=0))
    log = (f"Agent at work ({state}): the session may stop",)
    assert done == StageDecision(StopVerdict.PASS, Memory(), log=log)


def test_where_the_tree_cannot_be_told_the_user_hears_it_once() -> None:
    """The agent may stop each time, without a position: once that is mended the same stop leads on."""
    blind = seen(Detected.TESTS_PASSING, evidence=Evidence.UNREADABLE, obstacle="git is broken.")
    first = decide(blind)
    assert first == StageDecision(
        StopVerdict.PASS,
        Memory(told="git is broken."),
        note="git is broken.",
        log=("git is broken.", "The agent may stop"),
    )
    again = decide(replace(blind, memory=first.memory))
    assert (again.verdict, again.note) == (StopVerdict.PASS, "")
    mended = decide(replace(blind, memory=again.memory, evidence=Evidence.GREEN, obstacle=""))
    assert (mended.verdict, mended.memory.told) == (StopVerdict.BLOCK, "")
    coded = decide(replace(blind, finding=seen(Detected.CODING_COMPLETE).finding))
    assert (coded.verdict, coded.note) == (StopVerdict.BLOCK, "")


def test_the_question_is_for_sessions_that_answer_us() -> None:
    """To a person an unknown stage is no matter."""
    asked = decide(seen(Detected.UNKNOWN))
    assert (asked.verdict, asked.text) == (StopVerdict.BLOCK, question())
    assert [(e.kind, e.detail["what"]) for e in asked.events] == [("block", "question")]
    for kind in (Prompt.HUMAN, Prompt.NONE):
        assert decide(seen(Detected.UNKNOWN, kind=kind)).verdict is StopVerdict.PASS
    waiting = seen(Detected.UNKNOWN, holding=HeldTask.WAITING)
    assert decide(waiting).verdict is StopVerdict.PASS
    short = decide(seen(Detected.UNKNOWN, facts=Facts(line=QUICK)))
    assert short.text == question(QUICK)


def test_the_question_names_the_check_where_a_run_could_not_be_read() -> None:
    """What runs the tests so that it is known; without a command for them there is nothing to name."""
    stop = seen(Detected.UNKNOWN, facts=Facts(check="lifecycle check test"))
    assert "lifecycle check" not in decide(stop).text
    stop.finding.why = stage_watch.UNREAD
    assert "Run `lifecycle check test`: its result is recorded." in decide(stop).text
    nothing = seen(Detected.UNKNOWN)
    nothing.finding.why = stage_watch.UNREAD
    assert decide(nothing).text == question()


@pytest.mark.parametrize("memory_of", ["block", "end", "let go"])
def test_the_same_stop_is_answered_once(memory_of: str) -> None:
    """Hooks run doubled: the second one, and a look again, says nothing."""
    first = seen(Detected.ISSUE_CLOSED, remaining=0 if memory_of == "end" else 1)
    if memory_of == "let go":
        first = replace(first, memory=Memory(idle=IDLE_BLOCKS))
    done = decide(first)
    again = decide(replace(first, memory=done.memory))
    assert (again.verdict, again.text, again.note, again.events) == (StopVerdict.PASS, "", "", ())


@pytest.mark.parametrize(
    ("state", "line", "wanted"),
    [
        (Detected.CODING_COMPLETE, QUICK, Stage.TESTING),
        (Detected.REQUIREMENTS_REVIEWED, QUICK, Stage.TESTING),
        (Detected.TESTS_PASSING, QUICK, Stage.COMMIT_CLOSE),
        (Detected.ORACLE_APPROVED, QUICK, Stage.COMMIT_CLOSE),
        (Detected.ISSUE_CLOSED, QUICK, None),
        (Detected.SESSION_CLEARED, QUICK, Stage.CODING),
        (Detected.CODING_COMPLETE, (Stage.TESTING, Stage.CODING), None),
        (Detected.TESTS_PASSING, (Stage.TESTING, Stage.CODING), Stage.CODING),
        (Detected.ISSUE_CLOSED, (*QUICK, Stage.NEXT_TASK), Stage.NEXT_TASK),
        (Detected.TESTS_PASSING, (Stage.CODING,), None),
    ],
)
def test_a_sequence_of_ones_own_is_followed(
    state: Detected, line: tuple[Stage, ...], wanted: Stage | None
) -> None:
    """The next stage is the line's; one without NEXT_TASK ends, which the user hears once."""
    assert instructions.following(state, line) is wanted
    done = decide(seen(state, facts=Facts(line=line), remaining=1))
    if wanted is None:
        assert (done.verdict, done.events[0].target) == (StopVerdict.PASS, "")
        assert "is complete" in done.note
    else:
        assert asked_in(done.text) is wanted


@pytest.mark.parametrize("state", [Detected.ISSUE_CLOSED, Detected.SESSION_CLEARED])
def test_with_none_left_it_is_said_once_and_ends(state: Detected) -> None:
    """The agent stops, and the user reads that all is complete; with some left, or unasked, it goes on."""
    done = decide(seen(state, remaining=0))
    assert (done.verdict, done.note, done.text) == (StopVerdict.PASS, complete(), "")
    assert done.memory.blocks == 0
    assert decide(seen(state, remaining=2)).verdict is StopVerdict.BLOCK
    assert decide(seen(state, remaining=None)).verdict is StopVerdict.BLOCK
    assert decide(seen(Detected.TESTS_PASSING, remaining=0)).verdict is StopVerdict.BLOCK


def test_a_marker_may_skip_or_go_back() -> None:
    """The agent says so; what was asked for is written down beside it."""
    skipped = decide(seen(Detected.ORACLE_APPROVED, asked=Stage.REQUIREMENTS_REVIEW))
    assert asked_in(skipped.text) is Stage.COMMIT_CLOSE
    assert skipped.events[0].detail == {
        "marker": "ORACLE_APPROVED",
        "tier": "marker",
        "asked": "REQUIREMENTS_REVIEW",
    }
    back = decide(seen(Detected.CODING_COMPLETE, asked=Stage.ORACLE_REVIEW))
    assert asked_in(back.text) is Stage.REQUIREMENTS_REVIEW


@each_row(("state", "evidence"), product(MARKERS.values(), MISSING))
def test_tests_need_evidence_where_it_is_required(state: Detected, evidence: Evidence) -> None:
    """TESTS_PASSING and what comes after it wait for a green run, and are told what is missing."""
    done = decide(seen(state, evidence=evidence, remaining=1))
    needs = state in (Detected.TESTS_PASSING, Detected.ORACLE_APPROVED, Detected.ISSUE_CLOSED)
    assert (done.events[0].kind == "refused") is needs
    if needs:
        assert asked_in(done.text) is Stage.TESTING
        assert MISSING[evidence] in done.text
        assert done.events[0].detail["missing"] == evidence
    short = Facts(line=(Stage.CODING, Stage.COMMIT_CLOSE))
    assert (
        decide(seen(state, evidence=evidence, remaining=1, facts=short)).events[0].kind
        == "transition"
    )


def test_nothing_stays_accepted_and_the_claims_end_needs_nothing() -> None:
    """Whatever goes past TESTING needs green on the files as they are; what ended with a merge does not."""
    for state in (Detected.TESTS_PASSING, Detected.ORACLE_APPROVED, Detected.ISSUE_CLOSED):
        for holding in (HeldTask.NONE, HeldTask.WORKING, HeldTask.WAITING):
            stale = seen(state, evidence=Evidence.CHANGED, holding=holding, remaining=1)
            assert decide(stale).events[0].detail["missing"] == Evidence.CHANGED
            assert asked_in(decide(stale).text) is Stage.TESTING
    green = seen(Detected.ORACLE_APPROVED, evidence=Evidence.GREEN)
    assert asked_in(decide(green).text) is Stage.COMMIT_CLOSE
    ended = seen(
        Detected.ISSUE_CLOSED,
        asked=Stage.COMMIT_CLOSE,
        evidence=Evidence.RED,
        holding=HeldTask.ENDED,
        remaining=1,
    )
    assert asked_in(decide(ended).text) is Stage.NEXT_TASK


def test_where_nothing_can_be_run_evidence_is_advisory_and_said_once() -> None:
    """The marker counts, the user hears why, once; a run that was seen, or a command, makes it needed."""
    stop = seen(Detected.TESTS_PASSING, evidence=Evidence.MISSING, can_run=False)
    done = decide(stop)
    assert asked_in(done.text) is Stage.ORACLE_REVIEW
    assert done.note == TEXTS["ADVISORY"]["note"] == done.memory.told
    assert done.events[0].detail["evidence"] == "none can be had"
    later = seen(Detected.ORACLE_APPROVED, evidence=Evidence.MISSING, can_run=False, position="p2")
    again = decide(replace(later, memory=done.memory))
    assert (asked_in(again.text), again.note) == (Stage.COMMIT_CLOSE, "")
    assert decide(replace(stop, can_run=True)).events[0].kind == "refused"
    early = seen(Detected.CODING_COMPLETE, evidence=Evidence.MISSING, can_run=False)
    assert (decide(early).note, decide(early).memory.told) == ("", "")
    red = replace(stop, evidence=Evidence.RED)
    assert decide(red).events[0].kind == "refused"
    assert decide(replace(stop, evidence=Evidence.RED)).events[0].kind == "refused"
    free = decide(replace(stop, evidence=Evidence.NOT_NEEDED))
    assert (free.note, "evidence" in free.events[0].detail) == ("", False)


def test_tests_in_words_count_only_where_none_can_be_run() -> None:
    """The journal says that it was by words; where a run could be seen, the stage is asked for."""
    turn = Turn(steps=("All tests pass.",), kind=Prompt.OURS, asked=Stage.TESTING, position="p1")
    found = StageFinding(Detected.TESTS_PASSING, Tier.INFERENCE, stage_watch.TEXT, position="p1")
    stop = StageSeen(turn, found, can_run=False)
    (transition, _) = decide(stop).events
    assert (transition.kind, transition.detail["by"]) == ("transition", "words")
    asked = decide(replace(stop, can_run=True))
    assert asked.text == question()
    ran = StageFinding(Detected.TESTS_PASSING, Tier.INFERENCE, "pytest", position="p1")
    assert "by" not in decide(replace(stop, finding=ran, can_run=True)).events[0].detail


def test_a_task_that_is_anothers_does_not_advance() -> None:
    """Claimed or blocked: the stage stays, and the agent is told why; a closed task is closed."""
    sentence = "bd-1 is claimed by alice."
    done = decide(seen(Detected.CODING_COMPLETE, conflict=sentence))
    assert done.text.startswith(sentence)
    assert asked_in(done.text) is Stage.CODING
    assert done.events[0].detail["conflict"] == sentence
    closed = decide(seen(Detected.ISSUE_CLOSED, conflict=sentence, remaining=1))
    assert asked_in(closed.text) is Stage.NEXT_TASK


def test_under_a_claim_the_issue_is_closed_when_the_claim_ended() -> None:
    """Before the hand-off it is refused, before the merge it waits, after the end it needs no marker."""
    working = decide(seen(Detected.ISSUE_CLOSED, holding=HeldTask.WORKING))
    assert working.events[0].kind == "refused"
    assert asked_in(working.text) is Stage.COMMIT_CLOSE
    waiting = decide(seen(Detected.ISSUE_CLOSED, holding=HeldTask.WAITING))
    assert (waiting.verdict, waiting.events) == (StopVerdict.PASS, ())
    again = seen(Detected.ISSUE_CLOSED, holding=HeldTask.WAITING, memory=waiting.memory)
    assert decide(again).log == ("Nothing new since the last word: the session may stop",)
    came = replace(again, turn=waited_turn(), holding=HeldTask.ENDED, remaining=1)
    told = decide(came)
    assert asked_in(told.text) is Stage.NEXT_TASK
    assert decide(replace(came, memory=told.memory)).verdict is StopVerdict.PASS
    for state in (Detected.UNKNOWN, Detected.IN_PROGRESS, Detected.ISSUE_CLOSED):
        ended = seen(state, asked=Stage.COMMIT_CLOSE, holding=HeldTask.ENDED, remaining=1)
        assert asked_in(decide(ended).text) is Stage.NEXT_TASK
    other = seen(Detected.IN_PROGRESS, asked=Stage.CODING, holding=HeldTask.ENDED)
    assert decide(other).verdict is StopVerdict.PASS


def test_who_says_closed_of_an_open_task_is_told_to_close_it() -> None:
    """Marker or inferred, without a claim: refused, with the command; under a claim its rules hold."""
    wording = Wording(show="", ready="", claim="", close="x close {id}", label="", comment="")
    facts = Facts(task="demo-1", wording=wording)
    for tier in (Tier.MARKER, Tier.INFERENCE):
        stop = seen(
            Detected.ISSUE_CLOSED,
            tier=tier,
            facts=facts,
            is_still_open=True,
            remaining=1,
        )
        done = decide(stop)
        assert done.text.startswith("Task demo-1 is still open in the tracker")
        assert asked_in(done.text) is Stage.COMMIT_CLOSE
        assert "`x close demo-1`" in done.text
        assert [event.kind for event in done.events] == ["refused", "block"]
        ended = decide(replace(stop, holding=HeldTask.ENDED))
        assert asked_in(ended.text) is Stage.NEXT_TASK


@pytest.mark.parametrize(
    ("text", "asked", "is_end"),
    [
        ("The issue is closed.", Stage.COMMIT_CLOSE, True),
        ("Issue demo-1 is closed.", Stage.COMMIT_CLOSE, True),
        ("Yes: issue demo-3 is closed, since last week.", Stage.COMMIT_CLOSE, False),
        ("The issue is closed.", Stage.CODING, False),
        ("The issue is closed.", None, False),
    ],
)
def test_a_closing_in_words_counts_where_it_is_asked_for(
    text: str, asked: Stage | None, is_end: bool
) -> None:
    """And where it is not another task's."""
    turn = Turn(steps=(text,), kind=Prompt.MACHINE, asked=asked, position="p1")
    found = StageFinding(Detected.ISSUE_CLOSED, Tier.INFERENCE, stage_watch.TEXT, position="p1")
    stop = StageSeen(turn, found, facts=Facts(task="demo-1"), remaining=1)
    kinds = [event.kind for event in decide(stop).events]
    assert ("transition" in kinds) is is_end


def test_of_a_closing_in_words_the_last_text_says_which_task_it_is() -> None:
    """What was said before it is over; of a task that nobody knows any closing is the session's."""
    found = StageFinding(CLOSED, Tier.INFERENCE, stage_watch.TEXT, position="p1")
    turn = waited_turn()
    turn.steps = ("Issue demo-3 is closed.", "The issue is closed.")
    stop = StageSeen(turn, found, facts=Facts(task="demo-1"), remaining=1)
    assert decide(stop).events[0].kind == "transition"
    turn.steps = ("Issue #43 is closed.",)
    assert decide(replace(stop, facts=Facts())).events[0].kind == "transition"
    other = decide(replace(stop, facts=Facts(task="42"))).events
    assert [event.detail for event in other] == [{"what": "question"}]


@pytest.mark.parametrize("state", [CODED, Detected.ORACLE_APPROVED])
def test_what_no_command_could_show_counts_in_words(state: Detected) -> None:
    """Tests and a closing could be seen; that the code is there, and a review approves, is said."""
    stop = seen(state)
    stop.finding.tier, stop.finding.why = Tier.INFERENCE, stage_watch.TEXT
    assert decide(stop).events[0].detail == {
        "marker": str(state),
        "tier": "inference",
        "by": "words",
    }


def test_an_answer_in_words_at_the_next_task_is_as_good_as_the_marker() -> None:
    """Whoever waits for `/clear` is told the next task, not asked for the stage; a person is answered."""
    for text, kind, is_meant in (
        ("I wait for /clear.", Prompt.OURS, True),
        ("Ready for the next task.", Prompt.OURS, True),
        ("You are welcome.", Prompt.HUMAN, False),
        ("It is still green.", Prompt.SCHEDULED, False),
        ("The build ended.", Prompt.MACHINE, False),
    ):
        turn = Turn(steps=(text,), kind=kind, asked=Stage.NEXT_TASK, position="p1")
        found = meant(turn, detect(turn, ANY_PROJECT))
        assert (found.state is Detected.SESSION_CLEARED) is is_meant
        if is_meant:
            stop = StageSeen(turn, found, remaining=1)
            assert asked_in(decide(stop).text) is Stage.CODING
            assert decide(replace(stop, remaining=0)).note == complete()
    coding = Turn(steps=("I wait.",), kind=Prompt.OURS, asked=Stage.CODING, position="p1")
    assert meant(coding, detect(coding, ANY_PROJECT)).state is Detected.UNKNOWN


def test_who_tells_the_user_what_stands_in_the_way_is_not_asked() -> None:
    """The instruction of a conflict wants no marker before that is settled."""
    facts = Facts(task="demo-1")
    why = "Task demo-1 is blocked by demo-2."
    told = instruction(Stage.CODING, facts, why, name="CONFLICT")
    turn = Turn(
        steps=("demo-2 comes first.",),
        kind=Prompt.OURS,
        asked=Stage.CODING,
        instruction=told,
        position="p1",
    )
    stop = StageSeen(turn, StageFinding(Detected.UNKNOWN, position="p1"), facts=facts)
    assert (decide(stop).verdict, decide(stop).events) == (StopVerdict.PASS, ())
    turn.is_question = turn.has_worked = True
    assert decide(stop).text == question()  # it was asked since, and went on
    turn.is_question = turn.has_worked = False
    turn.instruction = instruction(Stage.CODING, facts, "Lead.")
    assert decide(stop).text == question()


def test_a_person_who_says_what_to_do_begins_the_count_anew() -> None:
    """Of instructions in a row; how often the session was told in all stays, and is said once."""
    spent = Memory(blocks=9, idle=IDLE_BLOCKS, is_let_go=True)
    stop = seen(Detected.CODING_COMPLETE, kind=Prompt.HUMAN, memory=spent)
    done = decide(stop)
    assert (done.verdict, done.memory.idle, done.memory.is_let_go) == (StopVerdict.BLOCK, 1, False)
    assert decide(replace(stop, turn=waited_turn())).verdict is StopVerdict.PASS
    short = Facts(settings=StageSettings(max_blocks=9))
    full = decide(replace(stop, facts=short))
    assert (full.verdict, full.note, full.memory.is_let_go) == (StopVerdict.PASS, "", True)
    first = decide(replace(stop, facts=short, memory=replace(spent, is_let_go=False)))
    assert (first.verdict, first.memory.is_let_go) == (StopVerdict.LET_GO, True)


def test_closing_another_task_is_no_end_of_this_one() -> None:
    """A command that names other tasks only is work; one that names this one, in any spelling, ends it."""
    for subjects, verdict in (
        (("bd-9",), StopVerdict.PASS),
        (("bd-9", "7"), StopVerdict.BLOCK),
        (("#7",), StopVerdict.BLOCK),
        (("https://github.com/o/r/issues/7",), StopVerdict.BLOCK),
        ((), StopVerdict.BLOCK),
    ):
        stop = seen(CLOSED, subjects=subjects, facts=Facts(task="7"))
        assert decide(stop).verdict is verdict, subjects
        unknown = decide(seen(CLOSED, subjects=subjects))
        assert unknown.verdict is StopVerdict.BLOCK, "which task it is nobody knows"


def test_a_stage_set_by_hand_is_told_at_the_next_stop() -> None:
    """Whatever the agent is at; told once, and not at a stop that was answered already."""
    for state in (Detected.IN_PROGRESS, Detected.UNKNOWN, Detected.CODING_COMPLETE):
        stop = seen(state, memory=Memory(set_stage=Stage.TESTING))
        done = decide(stop)
        assert asked_in(done.text) is Stage.TESTING
        assert done.text == again(Stage.TESTING, Facts(), "The stage was set by hand.")
        assert done.log == (
            "Getting instruction for stage: TESTING (set by hand)",
            "Injecting instruction for stage: TESTING",
        )
        assert done.memory.set_stage is None
        assert decide(replace(stop, memory=done.memory)).verdict is StopVerdict.PASS
    told = seen(Detected.UNKNOWN, memory=Memory(position="p1", set_stage=Stage.TESTING))
    assert decide(told).memory.set_stage is Stage.TESTING


def test_eight_blocks_without_a_tool_let_the_session_stop_once() -> None:
    """Each is a new position and none used a tool; the user hears it once; a tool begins again."""
    memory = Memory()
    verdicts = []
    for count in range(8 + 3):
        done = decide(seen(Detected.CODING_COMPLETE, position=f"p{count}", memory=memory))
        memory = done.memory
        verdicts.append(done.verdict)
    wanted = [StopVerdict.BLOCK] * 8 + [
        StopVerdict.LET_GO,
        StopVerdict.PASS,
        StopVerdict.PASS,
    ]
    assert verdicts == wanted
    done = decide(seen(Detected.CODING_COMPLETE, position="new", memory=memory, has_worked=True))
    assert (done.verdict, done.memory.idle, done.memory.is_let_go) == (StopVerdict.BLOCK, 1, False)


def test_max_blocks_in_all_let_the_session_stop_for_good() -> None:
    """Tools or not: the count is of the session, and the note names the key that raises it."""
    facts = Facts(settings=StageSettings(max_blocks=3))
    memory = Memory()
    done: StageDecision | None = None
    verdicts = []
    for count in range(6):
        stop = seen(
            Detected.CODING_COMPLETE,
            position=f"p{count}",
            memory=memory,
            has_worked=True,
            facts=facts,
        )
        done = decide(stop)
        memory = done.memory
        verdicts.append(done.verdict)
        if done.verdict is StopVerdict.LET_GO:
            assert "3 times to continue (stages.max_blocks)" in done.note
            assert "it is at REQUIREMENTS_REVIEW" in done.note
            assert done.events[0].target == "REQUIREMENTS_REVIEW"
            assert done.events[0].kind == "let_go"
    assert verdicts == [StopVerdict.BLOCK] * 3 + [
        StopVerdict.LET_GO,
        StopVerdict.PASS,
        StopVerdict.PASS,
    ]


def test_of_a_session_that_is_let_go_the_place_and_the_counts_are_kept() -> None:
    """Where it was, so that it is told once there; tools that it used count as ever."""
    facts = Facts(settings=StageSettings(max_blocks=9))
    for found_at, kept_at in (("p7", "p7"), ("", "p1")):
        stop = seen(CODED, memory=Memory(blocks=9, idle=3), facts=facts, has_worked=True)
        stop.finding.position = found_at
        done = decide(stop)
        assert done.memory == Memory(position=kept_at, blocks=9, is_let_go=True)
        assert done.log == (done.note,)


STOPS = st.builds(
    seen,
    st.sampled_from(Detected),
    position=st.sampled_from([f"p{count}" for count in range(30)]),
    tier=st.sampled_from(Tier),
    asked=st.sampled_from([None, *Stage]),
    kind=st.sampled_from(Prompt),
    has_worked=st.booleans(),
    subjects=st.sampled_from([(), ("7",), ("8",)]),
    remaining=st.sampled_from([None, 0, 1]),
    evidence=st.sampled_from(Evidence),
    is_still_open=st.booleans(),
    conflict=st.sampled_from(["", "7 is claimed by x."]),
    holding=st.sampled_from(HeldTask),
    facts=st.builds(
        Facts,
        settings=st.builds(StageSettings, max_blocks=st.integers(0, 12)),
        task=st.sampled_from(["", "7"]),
        line=st.sampled_from([LINE, QUICK]),
    ),
)


@given(st.lists(STOPS, max_size=60), st.integers(0, 12))
def test_no_session_is_told_without_end(stops: list[StageSeen], limit: int) -> None:
    """At most `max_blocks` blocks, never two for one position, never more than eight without a tool."""
    memory = Memory()
    blocks, idle = 0, 0
    for stop in stops:
        facts = replace(stop.facts, settings=StageSettings(max_blocks=limit))
        last = memory.position
        done = decide(replace(stop, memory=memory, facts=facts))
        memory = done.memory
        if done.verdict is StopVerdict.BLOCK:
            blocks += 1
            is_new = stop.turn.has_worked or stop.turn.kind is Prompt.HUMAN
            idle = 1 if is_new else idle + 1
            assert done.text
            assert stop.turn.position != last
        else:
            assert not done.text
        if done.verdict is StopVerdict.LET_GO:
            assert done.note
    assert blocks <= limit
    assert idle <= IDLE_BLOCKS


@given(STOPS)
def test_one_stop_has_one_answer(stop: StageSeen) -> None:
    """Pure; under way passes unless the claim ended; a block asks for a stage or asks the question."""
    done = decide(stop)
    assert done == decide(stop)
    has_ended = stop.holding is HeldTask.ENDED and stop.turn.asked is Stage.COMMIT_CLOSE
    if stop.finding.state.is_under_way and not has_ended:
        assert done.verdict is StopVerdict.PASS
    if done.verdict is StopVerdict.BLOCK:
        assert asked_in(done.text) is not None or done.text == question(stop.facts.line)
        assert done.events[-1].kind == "block"
    assert done.log


NEXT = "REQUIREMENTS_REVIEW"


@each_row(
    ("stop", "events"),
    [
        (
            seen(CODED, asked=Stage.CODING),
            [
                (
                    "transition",
                    "CODING",
                    NEXT,
                    {"marker": "CODING_COMPLETE", "tier": "marker"},
                ),
                ("block", "CODING", NEXT, {"what": "instruction"}),
            ],
        ),
        (
            seen(CODED),
            [
                (
                    "transition",
                    "CODING",
                    NEXT,
                    {"marker": "CODING_COMPLETE", "tier": "marker"},
                ),
                ("block", "CODING", NEXT, {"what": "instruction"}),
            ],
        ),
        (
            seen(Detected.TESTS_PASSING, evidence=Evidence.RED),
            [
                ("refused", "TESTING", "TESTING", {"marker": "TESTS_PASSING", "missing": "red"}),
                ("block", "TESTING", "TESTING", {"what": "refusal"}),
            ],
        ),
        (
            seen(CODED, conflict="It is alice's."),
            [
                (
                    "refused",
                    "CODING",
                    "CODING",
                    {"marker": "CODING_COMPLETE", "conflict": "It is alice's."},
                ),
                ("block", "CODING", "CODING", {"what": "refusal"}),
            ],
        ),
        (
            seen(CLOSED, holding=HeldTask.WORKING),
            [
                (
                    "refused",
                    "COMMIT_CLOSE",
                    "COMMIT_CLOSE",
                    {"marker": "ISSUE_CLOSED", "missing": "handoff"},
                ),
                ("block", "COMMIT_CLOSE", "COMMIT_CLOSE", {"what": "refusal"}),
            ],
        ),
        (
            seen(CLOSED, is_still_open=True),
            [
                (
                    "refused",
                    "COMMIT_CLOSE",
                    "COMMIT_CLOSE",
                    {"marker": "ISSUE_CLOSED", "missing": "closing"},
                ),
                ("block", "COMMIT_CLOSE", "COMMIT_CLOSE", {"what": "refusal"}),
            ],
        ),
        (
            seen(CLOSED, remaining=0, asked=Stage.COMMIT_CLOSE),
            [("transition", "COMMIT_CLOSE", "", {"marker": "ISSUE_CLOSED", "tier": "marker"})],
        ),
        (
            seen(Detected.UNKNOWN, asked=Stage.TESTING),
            [("block", "TESTING", "TESTING", {"what": "question"})],
        ),
        (
            seen(CODED, asked=Stage.CODING, memory=Memory(set_stage=Stage.TESTING)),
            [
                ("transition", "CODING", "TESTING", {"tier": "hand"}),
                ("block", "CODING", "TESTING", {"what": "instruction"}),
            ],
        ),
        (
            seen(CODED, memory=Memory(set_stage=Stage.TESTING)),
            [
                ("transition", "", "TESTING", {"tier": "hand"}),
                ("block", "", "TESTING", {"what": "instruction"}),
            ],
        ),
        (
            seen(CODED, asked=Stage.CODING, memory=Memory(blocks=3, idle=IDLE_BLOCKS)),
            [("let_go", "CODING", NEXT, {"why": "no progress", "blocks": "3"})],
        ),
        (
            seen(Detected.UNKNOWN, memory=Memory(idle=IDLE_BLOCKS)),
            [("let_go", "CODING", "CODING", {"why": "no progress", "blocks": "0"})],
        ),
        (
            seen(CODED, memory=Memory(blocks=3), facts=Facts(settings=StageSettings(max_blocks=3))),
            [("let_go", NEXT, NEXT, {"why": "max_blocks", "blocks": "3"})],
        ),
        (seen(CLOSED, holding=HeldTask.WAITING), []),
        (seen(CODED, memory=Memory(position="p1")), []),
    ],
)
def test_each_answer_is_a_line_of_the_journal(
    stop: StageSeen, events: list[tuple[str, str, str, dict[str, str]]]
) -> None:
    """With the stages that it leads from and to, and why."""
    made = decide(stop).events
    assert [(one.kind, one.source, one.target, one.detail) for one in made] == events


@pytest.mark.parametrize(
    ("stop", "log"),
    [
        (seen(CODED, conflict="x"), "Not accepted: CODING_COMPLETE. The task is not free"),
        (
            seen(CLOSED, holding=HeldTask.WORKING),
            "Not accepted: ISSUE_CLOSED. The claim is still held",
        ),
        (
            seen(CLOSED, is_still_open=True),
            "Not accepted: ISSUE_CLOSED. The task is still open in the tracker",
        ),
        (seen(CLOSED, holding=HeldTask.WAITING), "The merge is waited for: the session may stop"),
        (seen(Detected.UNKNOWN), "Asking for the stage"),
        (
            seen(CODED, memory=Memory(set_stage=Stage.TESTING)),
            "Getting instruction for stage: TESTING (set by hand)",
        ),
    ],
)
def test_each_answer_says_why_in_the_log(stop: StageSeen, log: str) -> None:
    """Where it begins."""
    assert decide(stop).log[0] == log


@pytest.mark.parametrize(
    ("conflict_", "still_open", "state", "kind"),
    [
        ("x", True, CLOSED, "refused"),
        ("x", False, CLOSED, "transition"),
        ("x", False, Detected.SESSION_CLEARED, "transition"),
        ("x", False, Detected.ORACLE_APPROVED, "refused"),
        ("x", True, Detected.SESSION_CLEARED, "transition"),
        ("", True, Detected.SESSION_CLEARED, "refused"),
        ("", False, Detected.SESSION_CLEARED, "transition"),
        ("", True, Detected.ORACLE_APPROVED, "transition"),
    ],
)
def test_a_conflict_is_none_once_the_task_is_closed(
    conflict_: str, still_open: bool, state: Detected, kind: str
) -> None:
    """Unless its tracker says that it is not."""
    stop = seen(state, conflict=conflict_, is_still_open=still_open, remaining=1)
    assert decide(stop).events[0].kind == kind


@pytest.mark.parametrize(
    ("asked", "back"),
    [(None, Stage.CODING), *((stage, stage) for stage in LINE[:5]), (Stage.NEXT_TASK, None)],
)
def test_who_leaves_an_open_task_is_led_back_to_its_stage(
    asked: Stage | None, back: Stage | None
) -> None:
    """Not to the next task, and not to the end; once every stage is behind it, it is left."""
    facts = Facts(task="demo-1")
    for remaining in (0, 1):
        stop = seen(CLEARED, asked=asked, facts=facts, is_still_open=True, remaining=remaining)
        done = decide(stop)
        assert done.note == ("" if back or remaining else complete())
        assert done.text.startswith("Task demo-1 is still open in the tracker") is bool(back)
        assert [event.kind for event in done.events][:1] == ["refused" if back else "transition"]
        assert back is None or asked_in(done.text) is back
        held = decide(replace(stop, holding=HeldTask.WORKING))
        assert (held.text, held.note) == (done.text, done.note)
        waiting = decide(replace(stop, is_still_open=False, holding=HeldTask.WAITING))
        assert (waiting.verdict, waiting.text, waiting.note) == (StopVerdict.PASS, "", "")


def test_all_is_complete_only_where_nobody_works_on_another() -> None:
    """The word at the end says how many are in progress."""
    for state in (CLOSED, CLEARED):
        done = decide(seen(state, remaining=0, elsewhere=2))
        assert (done.verdict, done.note) == (StopVerdict.PASS, complete(elsewhere=2))


@pytest.mark.parametrize(
    ("memory", "position", "has_ended", "is_known_"),
    [
        ("p1", "p1", False, True),
        ("p1", "p2", False, False),
        ("", "", False, False),
        ("", "p1", False, False),
        ("/waited", "", False, False),
        ("p1/waited", "p1", False, True),
        ("p1/waited", "p1", True, False),
        ("p1", "p1", True, True),
    ],
)
def test_a_merge_that_came_is_news_at_the_same_stop(
    memory: str, position: str, has_ended: bool, is_known_: bool
) -> None:
    """Everything else is answered once; without a position nothing was."""
    assert is_known(Memory(position=memory), position, has_ended=has_ended) is is_known_


def test_a_closed_task_has_all_stages_before_the_last_two_behind_it() -> None:
    """Whatever of them the agent tells then; that it cleared its session leads to the next task at once."""
    for state, asked, stage in (
        (CODED, None, Stage.NEXT_TASK),
        (CLOSED, None, Stage.NEXT_TASK),
        (CLEARED, None, Stage.CODING),
        (CLEARED, Stage.COMMIT_CLOSE, Stage.CODING),
        (Detected.IN_PROGRESS, Stage.COMMIT_CLOSE, Stage.NEXT_TASK),
    ):
        stop = seen(state, asked=asked, holding=HeldTask.ENDED, remaining=1)
        assert asked_in(decide(stop).text) is stage


def test_only_the_end_waits_for_a_merge() -> None:
    """What comes before it is answered, handed off or not."""
    stop = seen(CODED, holding=HeldTask.WAITING)
    assert asked_in(decide(stop).text) is Stage.REQUIREMENTS_REVIEW


def test_what_is_said_to_others_moves_no_count() -> None:
    """An answer to a person clears what was counted in a row; to a machine it does not."""
    for kind, idle in ((Prompt.HUMAN, 0), (Prompt.SCHEDULED, 5), (Prompt.MACHINE, 5)):
        stop = seen(
            Detected.IN_PROGRESS, kind=kind, memory=Memory(idle=5, blocks=2, is_let_go=True)
        )
        memory = decide(stop).memory
        assert (memory.idle, memory.blocks, memory.is_let_go) == (idle, 2, kind is not Prompt.HUMAN)


def test_the_last_word_names_the_task_and_is_kept_at_its_stop() -> None:
    """The line is over: the user reads which task, and the agent may stop."""
    line = (Stage.CODING, Stage.TESTING)
    for task, name in (("demo-1", "demo-1"), ("", "the task")):
        done = decide(seen(Detected.TESTS_PASSING, facts=Facts(task=task, line=line)))
        assert done.note == f"The last stage of {name} is complete: TESTING"
        assert (done.log, done.memory.position, done.text) == ((done.note,), "p1", "")
    labelled = Facts(settings=StageSettings(label="mine"))
    assert decide(seen(CLOSED, remaining=0, facts=labelled)).note == complete("mine")


def test_a_task_that_was_taken_anew_is_told_its_stage_again() -> None:
    """With the task's own words; otherwise the next one is begun."""
    stop, lead = seen(CLEARED, facts=Facts(task="demo-1")), COMPLETED[Stage.NEXT_TASK]
    assert decide(stop).text == instruction(Stage.CODING, stop.facts, lead)
    stop.turn.taken = "demo-1"
    assert decide(stop).text == again(Stage.CODING, stop.facts, lead)


def test_an_answer_in_words_is_found_where_it_stands() -> None:
    """At the stop of the answer, so that it is answered once."""
    turn = Turn(
        steps=("I wait for /clear.",), kind=Prompt.OURS, asked=Stage.NEXT_TASK, position="p1"
    )
    found = meant(turn, StageFinding(Detected.UNKNOWN, position="p7"))
    assert (found.state, found.tier, found.position) == (
        Detected.SESSION_CLEARED,
        Tier.INFERENCE,
        "p7",
    )
    for other in (
        Turn(steps=turn.steps, kind=Prompt.OURS, asked=Stage.NEXT_TASK, is_question=True),
        Turn(
            steps=turn.steps,
            kind=Prompt.OURS,
            asked=Stage.NEXT_TASK,
            is_question=True,
            has_worked=True,
        ),
        Turn(kind=Prompt.OURS, asked=Stage.NEXT_TASK),
        Turn(steps=turn.steps, kind=Prompt.OURS, asked=Stage.NEXT_TASK, markers=(CODED,)),
        Turn(steps=turn.steps, kind=Prompt.MACHINE, asked=Stage.NEXT_TASK),
    ):
        assert meant(other, StageFinding(Detected.UNKNOWN)).state is Detected.UNKNOWN
    for state in (CODED, Detected.IN_PROGRESS):
        known = StageFinding(state)
        assert meant(turn, known) is known


@each_row(
    ("known", "wants"),
    [
        ({}, True),
        ({"kind": Prompt.MACHINE}, True),
        ({"kind": Prompt.MACHINE, "asked": Stage.TESTING}, True),
        ({"kind": Prompt.MACHINE, "asked": Stage.TESTING, "has_worked": True}, False),
        ({"kind": Prompt.MACHINE, "has_worked": True}, True),
        ({"asked": Stage.TESTING, "has_worked": True}, True),
        ({"kind": Prompt.HUMAN}, False),
        ({"kind": Prompt.NONE}, False),
        ({"steps": ()}, False),
        ({"is_question": True}, False),
        ({"is_question": True, "has_worked": True}, True),
        ({"steps": ("All Tasks Complete.",)}, False),
        ({"steps": ("All tasks complete.",), "asked": Stage.CODING}, False),
        ({"steps": ("All tasks complete.",), "asked": Stage.TESTING}, True),
        ({"steps": ("All tasks complete.", "No: one is left.")}, True),
    ],
)
def test_the_question_is_worth_a_turn_where_somebody_could_answer_it(
    known: dict[str, Any], wants: bool
) -> None:
    """Not to a person, not twice, and not after the agent said that nothing is left."""
    turn = Turn(**{"steps": ("text",), "kind": Prompt.OURS, **known})
    assert detect_stage.wants_question(turn) is wants
    unknown = StageFinding(Detected.UNKNOWN)
    assert detect_stage.is_quiet(turn, unknown) is not wants
    assert not detect_stage.is_quiet(turn, StageFinding(Detected.UNKNOWN, misnamed="X_DONE"))
    assert not detect_stage.is_quiet(turn, StageFinding(CODED))
    for state in UNDER_WAY:
        assert detect_stage.is_quiet(turn, StageFinding(state))
    assert detect_stage.is_quiet(NOTHING, StageFinding(CODED))


@pytest.mark.parametrize(
    ("conflict_", "detail"),
    [
        ("It is alice's.", {"marker": "ISSUE_CLOSED", "conflict": "It is alice's."}),
        ("", {"marker": "ISSUE_CLOSED", "missing": "closing"}),
    ],
)
def test_of_an_open_task_that_is_anothers_it_is_told_whose_it_is(
    conflict_: str, detail: dict[str, str]
) -> None:
    """Whoever has it is to close it; only one's own is to be closed."""
    stop = seen(CLOSED, conflict=conflict_, is_still_open=True, remaining=1)
    assert decide(stop).events[0].detail == detail
