"""The three tiers in their order, and when the agent may stop without a question."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lifecycle.core.stage_names import Detected, Stage
from lifecycle.stages.decisions import instructions
from lifecycle.stages.detection.detect_stage import detect, detect_text, is_quiet
from lifecycle.stages.transcript import stop_input
from lifecycle.stages.transcript.turn import ANY_PROJECT, NOTHING, StageFinding, Tier, Turn
from tests.stages.written import Written

DONE = "::: WORKFLOW_STAGE: CODING_COMPLETE :::"
FACTS = instructions.Facts()
TESTING = instructions.instruction(Stage.TESTING, FACTS, "Requirements review complete.")
CODING = instructions.instruction(Stage.CODING, FACTS, "Session cleared.")
QUESTION = instructions.question()


def look(written: Written, folder: Path) -> tuple[Turn, StageFinding]:
    """The turn at the end, and what is found in it."""
    turn = stop_input.read(written.at(folder))
    return turn, detect(turn, ANY_PROJECT)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("some text ::: WORKFLOW_STAGE: CODING_COMPLETE :::", "CODING_COMPLETE"),
        ("ran bd close with success", "ISSUE_CLOSED"),
        ("working on implementation", "UNKNOWN"),
        ("implementation complete ::: WORKFLOW_STAGE: TESTS_PASSING :::", "TESTS_PASSING"),
        ("", "UNKNOWN"),
        ("\x00\ufffd" * 1000, "UNKNOWN"),
        ("x " * 1_000_000 + f"\n{DONE}", "CODING_COMPLETE"),
    ],
)
def test_a_text_alone_is_judged_as_the_design_says(text: str, wanted: str) -> None:
    """The design's three examples, verbatim, and what a text can be besides."""
    assert detect_text(text).state is Detected(wanted)


def test_a_marker_counts_before_all_else(tmp_path: Path) -> None:
    """The agent's own word is believed against what its tools show, and work after it changes nothing."""
    log = Written().human("go").bash("pytest", "12 passed").says(DONE).edit().says("Tidied up.")
    _, found = look(log, tmp_path)
    assert (found.state, found.tier) == (Detected.CODING_COMPLETE, Tier.MARKER)
    assert stop_input.lines(Turn(), found)[-1] == "Found explicit marker: CODING_COMPLETE"


def test_tools_and_words_count_where_there_is_no_marker(tmp_path: Path) -> None:
    """The agent forgot the marker: what it did tells the stage."""
    _, found = look(Written().feedback(TESTING).bash("pytest", "12 passed").says("Good."), tmp_path)
    assert (found.state, found.tier) == (Detected.TESTS_PASSING, Tier.INFERENCE)
    assert stop_input.lines(Turn(), found)[-1] == "Inferred from pytest: TESTS_PASSING"
    _, found = look(Written().human("go").bash("bd close bd-1", "Closed bd-1"), tmp_path)
    assert (found.state, found.subjects) == (Detected.ISSUE_CLOSED, ("bd-1",))


def test_a_marker_of_an_earlier_turn_stands_until_it_is_answered(tmp_path: Path) -> None:
    """Nobody answered it: it still counts, but for a completion that was seen since."""
    log = Written().human("go").says(DONE).human("how is it going?").says("Fine.")
    turn, found = look(log, tmp_path)
    assert (found.state, found.position) == (Detected.CODING_COMPLETE, turn.marked)
    _, found = look(log.human("show me").bash("ls", "x").says("Here."), tmp_path)
    assert found.state is Detected.CODING_COMPLETE
    _, found = look(log.human("test").bash("pytest", "12 passed").says("Good."), tmp_path)
    assert found.state is Detected.TESTS_PASSING
    _, found = look(log.feedback(TESTING).says("Well."), tmp_path)
    assert found.state is Detected.UNKNOWN


def test_a_bare_name_counts_only_as_an_answer_to_the_question(tmp_path: Path) -> None:
    """The question asks for a name; elsewhere a name alone is no marker."""
    _, found = look(Written().feedback(QUESTION).says("TESTS_PASSING"), tmp_path)
    assert (found.state, found.tier) == (Detected.TESTS_PASSING, Tier.MARKER)
    _, found = look(Written().feedback(TESTING).says("TESTS_PASSING"), tmp_path)
    assert found.state is Detected.UNKNOWN


def test_a_session_that_was_told_nothing_is_in_coding(tmp_path: Path) -> None:
    """Green tests on the way are work; the end of the work, a close and a marker count."""
    log = Written().human("/bd-start bd-1").edit().bash("pytest", "3 passed")
    turn, found = look(log.says("Step one of five is there. Next I write the parser."), tmp_path)
    assert found.state is Detected.IN_PROGRESS
    assert is_quiet(turn, found)
    for words in ("All requirements are satisfied.", "The review is approved.", "All tests pass."):
        assert look(log.says(words), tmp_path)[1].state is Detected.IN_PROGRESS, words
    _, found = look(log.says("The implementation is complete."), tmp_path)
    assert (found.state, found.tier) == (Detected.CODING_COMPLETE, Tier.INFERENCE)
    assert look(log.says(DONE), tmp_path)[1].tier is Tier.MARKER
    closed = Written().human("go").bash("bd close bd-1", "Closed bd-1")
    assert look(closed, tmp_path)[1].state is Detected.ISSUE_CLOSED


def test_words_that_answer_a_person_complete_nothing(tmp_path: Path) -> None:
    """Who asks is answered, and the agent may stop; what tools did since, and a marker, count."""
    review = instructions.instruction(Stage.REQUIREMENTS_REVIEW, FACTS, "Coding complete.")
    yes = "Yes, all requirements are satisfied."
    log = Written().feedback(review).bash("ls", "x").human("Just answer: are they satisfied?")
    turn, found = look(log.says(yes), tmp_path)
    assert found.state is Detected.UNKNOWN
    assert is_quiet(turn, found)
    worked = Written().feedback(review).human("Look again.").bash("cat x", "x").says(yes)
    assert look(worked, tmp_path)[1].state is Detected.REQUIREMENTS_REVIEWED
    own = Written().feedback(review).says(yes)
    assert look(own, tmp_path)[1].state is Detected.REQUIREMENTS_REVIEWED
    reviewed = "::: WORKFLOW_STAGE: REQUIREMENTS_REVIEWED :::"
    said = Written().feedback(review).human("Say it.").says(f"{yes}\n\n{reviewed}")
    assert look(said, tmp_path)[1].tier is Tier.MARKER


def test_a_marker_in_a_sentence_is_no_more_than_words_to_who_was_told_nothing(
    tmp_path: Path,
) -> None:
    """Only work on a task makes it count; on a line of its own, or after an instruction, it is a marker."""
    aside = "All is in place: ::: WORKFLOW_STAGE: ISSUE_CLOSED :::"
    turn, found = look(Written().human("go").edit().says(aside), tmp_path)
    assert (found.state, found.tier) == (Detected.ISSUE_CLOSED, Tier.INFERENCE)
    assert not turn.is_signed
    assert (
        stop_input.lines(Turn(), found)[-1] == "Inferred from a marker in a sentence: ISSUE_CLOSED"
    )
    for log in (Written().human("go").says(DONE), Written().feedback(TESTING).says(aside)):
        assert look(log, tmp_path)[1].tier is Tier.MARKER


def test_work_under_way_is_left_alone(tmp_path: Path) -> None:
    """Editing, red tests and a review without approval let the agent stop."""
    for log, wanted in (
        (Written().feedback(TESTING).edit().says("Going on."), Detected.IN_PROGRESS),
        (
            Written().feedback(TESTING).bash("pytest", "1 failed", is_error=True),
            Detected.IN_TESTING,
        ),
        (
            Written().feedback(TESTING).calls("Skill", skill="oracle-review").result("Launching"),
            Detected.IN_ORACLE_REVIEW,
        ),
    ):
        turn, found = look(log, tmp_path)
        assert found.state is wanted
        assert is_quiet(turn, found)


def test_who_is_asked_and_who_is_not(tmp_path: Path) -> None:
    """A person's answer is left alone; ours and a machine's without a stage are asked about, once."""
    quiet = {
        "a person": Written().feedback(TESTING).bash("ls", "x").human("why?").says("Because."),
        "nobody": Written().says("Hello."),
        "asked already": Written().feedback(QUESTION).says("I do not know."),
        "asked before a notification": Written()
        .feedback(QUESTION)
        .says("?")
        .machine("x")
        .says("?"),
        "nothing left": Written().feedback(CODING).says("All auto-workflow tasks complete"),
        "at work": Written().feedback(TESTING).bash("ls", "x").says("Looking."),
        "a machine, in the middle of a stage": Written()
        .feedback(TESTING)
        .edit()
        .says("The build runs.")
        .machine("The build is done.")
        .says("It is done."),
    }
    asked = {
        "ours": Written().feedback(TESTING).says("I see."),
        "a machine": Written().feedback(TESTING).says("x").machine("done").says("I see."),
        "nobody knows the stage": Written().edit().machine("done").says("I see."),
        "worked since": Written().feedback(QUESTION).bash("ls", "x").machine("done").says("I see."),
    }
    for name, log in quiet.items():
        assert is_quiet(*look(log, tmp_path)), name
    for name, log in asked.items():
        assert not is_quiet(*look(log, tmp_path)), name
    assert is_quiet(NOTHING, detect(NOTHING, ANY_PROJECT))
    turn, found = look(Written().feedback(TESTING).says(DONE), tmp_path)
    assert not is_quiet(turn, found)


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ("TESTS_PASSED", "TESTS_PASSED"),
        ("**TESTS_PASSED**\n\nAll 12 of them.", "TESTS_PASSED"),
        ("::: WORKFLOW_STAGE: TESTS_PASSED :::", "TESTS_PASSED"),
        ("::: WORKFLOW_STAGE: TESTS :::", "TESTS"),
    ],
)
def test_a_misspelt_answer_is_answered(tmp_path: Path, answer: str, name: str) -> None:
    """With a marker around it or without: the right names are due, however often it was asked before."""
    log = Written().feedback(TESTING).says("Hm.").feedback(QUESTION).says(answer)
    turn, found = look(log, tmp_path)
    assert (found.state, found.misnamed) == (Detected.UNKNOWN, name)
    assert not is_quiet(turn, found)
    log.feedback(f"There is no marker {name}.\n\n{QUESTION}").says(answer)
    assert not is_quiet(*look(log, tmp_path))


@pytest.mark.parametrize(
    "answer", ["IN_PROGRESS", "- IN_PROGRESS", "::: WORKFLOW_STAGE: IN_PROGRESS :::"]
)
def test_not_finished_yet_is_an_answer(tmp_path: Path, answer: str) -> None:
    """It completes nothing, and the agent may stop; to an instruction alone the name says nothing."""
    turn, found = look(Written().feedback(QUESTION).says(answer), tmp_path)
    assert (found.state, found.why) == (Detected.IN_PROGRESS, "its answer")
    assert is_quiet(turn, found)
    turn, found = look(Written().feedback(TESTING).says(answer), tmp_path)
    assert found.why != "its answer"


def test_a_name_beside_what_it_is_not_yet_is_one_answer(tmp_path: Path) -> None:
    """Of a real and a made-up name the real one counts; two made-up ones are no answer."""
    _, found = look(Written().feedback(QUESTION).says("ALL_GREEN\nTESTS_PASSING"), tmp_path)
    assert found.state is Detected.TESTS_PASSING
    _, found = look(Written().feedback(QUESTION).says("ALL_GREEN\nSO_GOOD"), tmp_path)
    assert (found.state, found.misnamed) == (Detected.UNKNOWN, "")


def test_the_quick_path_loads_nothing_heavy(tmp_path: Path) -> None:
    """Reading and detecting, by marker and by inference, load no dataclass, no typing and no library."""
    path = Written().feedback(TESTING).bash("pytest", "12 passed").says("Good.").at(tmp_path)
    code = (
        "import sys\nfrom lifecycle.stages.detection import detect_stage\n"
        "from lifecycle.stages.transcript import stop_input, turn as lines\n"
        f"turn = stop_input.read({path!r}, deep=1000)\n"
        "found = detect_stage.detect(turn, lines.ANY_PROJECT)\n"
        "assert found.state == 'TESTS_PASSING', found.state\nprint(*sys.modules)"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            f"import sys; sys.path.insert(0, {str(Path.cwd())!r})\n{code}",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    assert "lifecycle.stages.detection.stage_watch" in loaded
    banned = {"dataclasses", "typing", "tomllib", "logging", "pathlib", "inspect", "subprocess"}
    banned |= {
        "lifecycle.core.tracker",
        "lifecycle.core.values.configured",
        "lifecycle.core.errors",
        "datetime",
        "socket",
    }
    assert not loaded & banned
