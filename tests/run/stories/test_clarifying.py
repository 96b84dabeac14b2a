"""The two checkpoints: nobody enters a phase unasked, and where nobody attends the answer is logged."""

from __future__ import annotations

import pytest

from lifecycle.core.errors import IllegalMove, Refused
from lifecycle.run.begin import new_run
from lifecycle.run.state import Run
from lifecycle.run.stories.clarifying import (
    ASSUMED,
    CHECKPOINTS,
    clarification,
    clarified,
    clarified_for,
    entered,
)
from lifecycle.run.table import ClarificationPhase, RunPhase

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
    answered = clarified(run, clarification("How?", "Stripe", NOW, when))
    assert clarified_for(answered, phase, NOW, asked=True) == answered


@pytest.mark.parametrize(("autonomous", "asked"), [(True, True), (False, False), (True, False)])
def test_where_nobody_is_asked_the_answer_is_logged_at_once(autonomous: bool, asked: bool) -> None:
    """Once, as assumed; an answer that is there already is enough."""
    run = new_run("Pay", NOW, autonomous=autonomous)
    logged = clarified_for(run, RunPhase.ANALYSIS, NOW, asked=asked)
    [answer] = logged.clarifications
    assert (answer.answer, answer.assumed, answer.phase) == (ASSUMED, True, PRE)
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


@pytest.mark.parametrize(
    ("question", "answer"), [("", "a"), (" \n", "a"), ("q", ""), ("q" * 9000, "a")]
)
def test_what_is_empty_or_endless_is_refused(question: str, answer: str) -> None:
    """Nothing is kept of it."""
    with pytest.raises(Refused, match="nothing was changed"):
        clarification(question, answer, NOW, PRE)
