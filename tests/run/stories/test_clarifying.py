"""The two checkpoints: nobody enters a phase unasked, and where nobody attends the answer is logged."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from lifecycle.core.errors import IllegalMove, Refused
from lifecycle.run.gates.gate_rules import design_lacks
from lifecycle.run.state import Clarification, Run, Story, new_run
from lifecycle.run.stop.decide import next_step
from lifecycle.run.stories.story_edits import (
    ASSUMED,
    CHECKPOINTS,
    QUESTIONS,
    clarification,
    clarified,
    clarified_for,
    entered,
)
from lifecycle.run.table import ClarificationPhase, RunPhase, StoryStatus
from lifecycle.run.texts.standing import notes
from tests.run.texts.texts_ground import question_lines

NOW = 1_800_000_000.0
PRE = ClarificationPhase.PRE_ANALYSIS


@pytest.mark.parametrize("phase", CHECKPOINTS)
def test_a_phase_with_a_checkpoint_wants_an_answer(phase: RunPhase) -> None:
    """An answer of that phase opens it; one of another phase does not, nor one that was assumed."""
    when = CHECKPOINTS[phase]
    other = next(one for one in CHECKPOINTS.values() if one is not when)
    run = clarified(new_run("Pay", NOW), clarification("What?", "That", NOW, other))
    with pytest.raises(Refused, match=f"--phase {when}"):
        clarified_for(run, phase, NOW, asked=True)
    guessed = clarified(run, clarification("How?", ASSUMED, NOW, when))
    with pytest.raises(Refused, match="was assumed"):
        clarified_for(guessed, phase, NOW, asked=True)
    with pytest.raises(
        Refused, match=f"Nothing has been clarified before the {when[4:]} yet, so the run"
    ):
        clarified_for(run, phase, NOW, asked=True)
    answered = clarified(run, clarification("How?", "Stripe", NOW, when))
    assert clarified_for(answered, phase, NOW, asked=True) == answered


@pytest.mark.parametrize(("autonomous", "asked"), [(True, True), (False, False), (True, False)])
def test_where_nobody_is_asked_the_answer_is_logged_at_once(autonomous: bool, asked: bool) -> None:
    """Once, as assumed; an answer that is there already is enough."""
    run = new_run("Pay", NOW, autonomous=autonomous)
    logged = clarified_for(run, RunPhase.ANALYSIS, NOW, asked=asked)
    first = "Scope boundaries: What is IN scope vs OUT of scope?"
    assert logged.clarifications == (Clarification(first, ASSUMED, NOW, PRE, assumed=True),)
    assert clarified_for(logged, RunPhase.ANALYSIS, NOW, asked=asked) == logged


def test_other_phases_have_no_checkpoint() -> None:
    """Development is gated by G1, and not by questions."""
    run = new_run("Pay", NOW)
    assert clarified_for(run, RunPhase.DEVELOPMENT, NOW, asked=True) == run


def test_entering_keeps_to_the_table() -> None:
    """A phase is entered where the table leads there, and the checkpoint is judged on the way."""
    run = new_run("Pay", NOW)
    assert entered(run, RunPhase.ANALYSIS, NOW, asked=False).phase is RunPhase.ANALYSIS
    with pytest.raises(IllegalMove):
        entered(run, RunPhase.DEVELOPMENT, NOW, asked=False)


def test_a_question_that_is_answered_again_has_its_newest_answer() -> None:
    """Once in each phase, in the order in which they were first asked."""
    run: Run = new_run("Pay", NOW)
    for question, answer in (("A?", "1"), ("B?", "2"), ("A?", "3")):
        run = clarified(run, clarification(question, answer, NOW, PRE))
    assert [(one.question, one.answer) for one in run.clarifications] == [("A?", "3"), ("B?", "2")]
    later = clarified(run, clarification("A?", "4", NOW, ClarificationPhase.PRE_PLAN))
    assert [one.answer for one in later.clarifications] == ["3", "2", "4"]


def test_what_was_clarified_is_kept_with_its_category() -> None:
    """Of 100 characters at the most; what begins with the word for it was assumed."""
    assert clarification(" A\n? ", "1", NOW, PRE) == Clarification("A ?", "1", NOW, PRE)
    named = clarification("A?", "Assumed: 1", NOW, PRE, "c" * 100)
    assert named == Clarification("A?", "Assumed: 1", NOW, PRE, "c" * 100, assumed=True)
    with pytest.raises(Refused, match="101 characters in the category, but 100"):
        clarification("A?", "1", NOW, PRE, "c" * 101)


def test_the_stories_stand_before_the_plan_with_size_and_security() -> None:
    """A person sees there what is asked about; without a run the table is empty."""
    stories = (Story("S1", "Pay", "L", security=True), Story("S2", "Refund"))
    head = ["| # | Story | Size | Security |", "|---|-------|------|----------|"]
    run = replace(new_run("Pay", NOW), stories=stories)
    rows = ["| S1 | Pay | L | Yes |", "| S2 | Refund | M | No |"]
    for of, shown in ((run, [*head, *rows]), (None, ["None."])):
        lines = question_lines(ClarificationPhase.PRE_PLAN, of)
        assert [line for line in lines if line.startswith(("|", "None"))] == shown
    first = question_lines(PRE, run)
    assert [line for line in first if line.startswith(("- ", "|"))] == [
        f"- {one}" for one in QUESTIONS[PRE]
    ]


@pytest.mark.parametrize(
    ("question", "answer"), [("", "a"), (" \n", "a"), ("", ""), ("q" * 9000, "a")]
)
def test_what_is_empty_or_endless_is_refused(question: str, answer: str) -> None:
    """Nothing is kept of it."""
    with pytest.raises(Refused, match="nothing was changed"):
        clarification(question, answer, NOW, PRE)


def test_a_question_without_an_answer_is_open() -> None:
    """It opens no checkpoint, G1 names it until it is answered, and it is what comes next in planning.

    Asked when all are developed, it comes before the last gate, and whoever looks is told of it.
    """
    begun = replace(new_run("Pay", NOW), stories=(Story("S1", "Pay"),))
    run = clarified(begun, clarification("Which bank?", " ", NOW, PRE))
    with pytest.raises(Refused, match="Ask the user"):
        clarified_for(run, RunPhase.ANALYSIS, NOW, asked=True)
    assert "this question is open: Which bank?" in design_lacks(run)[-1]
    planning = replace(run, phase=RunPhase.PLANNING)
    assert "Which bank?" in next_step(planning)
    built = replace(run.stories[0], status=StoryStatus.COMPLETED)
    late = replace(run, phase=RunPhase.DEVELOPMENT, stories=(built,))
    assert "Which bank?" in next_step(late)
    assert "This question is open: Which bank?" in notes(late, NOW)[-1]
    answered = clarified(run, clarification("Which bank?", "Ours", NOW, PRE))
    assert not [lack for lack in design_lacks(answered) if "Which bank?" in lack]
    assert notes(replace(late, clarifications=answered.clarifications), NOW) == []


def test_where_nobody_is_asked_open_questions_are_answered_by_assumption() -> None:
    """Those of the phase that is entered, and no other question is made up for it."""
    run = clarified(new_run("Pay", NOW), clarification("Which bank?", "", NOW, PRE, "scope"))
    answered = clarified(run, clarification("Whose?", "Ours", NOW, PRE))
    told = clarified_for(answered, RunPhase.ANALYSIS, NOW, asked=False).clarifications
    assert [(one.question, one.answer) for one in told] == [
        ("Which bank?", ASSUMED),
        ("Whose?", "Ours"),
    ]
    (one,) = clarified_for(run, RunPhase.ANALYSIS, NOW, asked=False).clarifications
    assert (one.question, one.answer, one.assumed) == ("Which bank?", ASSUMED, True)
