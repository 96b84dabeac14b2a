"""What was clarified, and the two checkpoints at which something has to be, with what is asked there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from lifecycle.core.markdown_table import table
from lifecycle.run.state import Clarification, Run, Story
from lifecycle.run.table import PHASES, ClarificationPhase, RunPhase
from lifecycle.run.texts.told import filled, line_of, refused
from lifecycle.settings import resources

ASSUMED = "Assumed: best judgment"
"""The design's answer where nobody gave one; what begins like it was assumed."""

QUESTIONS: Final = msgspec.convert(
    resources.texts("run/stories/questions.toml"), dict[ClarificationPhase, tuple[str, ...]]
)
"""What is asked at each checkpoint, in the design's words."""

CHECKPOINTS: Final[Mapping[RunPhase, ClarificationPhase]] = {
    RunPhase.ANALYSIS: ClarificationPhase.PRE_ANALYSIS,
    RunPhase.PLANNING: ClarificationPhase.PRE_PLAN,
}
"""The checkpoint at which something has to be clarified, by the phase that a run is to enter then."""


def clarification(
    question: str, answer: str, now: float, phase: ClarificationPhase, category: str = ""
) -> Clarification:
    """A question and its answer, as they are kept; without one the question is open, and G1 names it.

    Refused if the question is empty, or one of them too long.
    """
    text = line_of(answer, "the answer") if answer.strip() else ""
    return Clarification(
        line_of(question, "the question"),
        text,
        now,
        phase,
        line_of(category, "the category", 100) if category else "",
        assumed=text.casefold().startswith("assumed"),
    )


def clarified(run: Run, *clarifications: Clarification) -> Run:
    """The run with these clarifications; a question that its phase had before gets the new answer."""
    return run.but(clarifications=merged(run.clarifications, *clarifications))


def merged(before: tuple[Clarification, ...], *more: Clarification) -> tuple[Clarification, ...]:
    """Merge clarifications: each question of a phase once, with its newest answer."""
    return tuple({(entry.phase, entry.question): entry for entry in (*before, *more)}.values())


def clarified_for(run: Run, phase: RunPhase, now: float, *, asked: bool) -> Run:
    """The run as it may enter this phase, as far as clarifications go; some are assumed if nobody is asked.

    Args:
        run: before it.
        phase: that it is to enter.
        now: the present.
        asked: somebody attends who can be asked. Where nobody does, or in a run that is autonomous, the
            answer is assumed, and logged at once.

    Raises:
        Refused: nobody was asked, though somebody could have been.
    """
    if phase not in CHECKPOINTS:
        return run
    when = CHECKPOINTS[phase]
    entries = [entry for entry in run.clarifications if entry.phase is when]
    answers = [entry for entry in entries if entry.answer]
    if not asked or run.autonomous:
        wanting = [entry.question for entry in entries if not entry.answer]
        questions = wanting or ([] if answers else [QUESTIONS[when][0]])
        guessed = (clarification(question, ASSUMED, now, when) for question in questions)
        return clarified(run, *guessed)
    if any(not entry.assumed for entry in answers):
        return run
    assumed = " (what is there was assumed, which counts where nobody attends)" if answers else ""
    what = when.replace("pre-", "before the ")
    raise refused("not-clarified", value=what, assumed=assumed, run=run, when=when)


def entered(run: Run, phase: RunPhase, now: float, *, asked: bool) -> Run:
    """The run in this phase; as `clarified_for`, and raises IllegalMove where no way leads there."""
    PHASES.check(run.phase, phase)
    return clarified_for(run, phase, now, asked=asked).but(phase=phase)


def question_lines(phase: ClarificationPhase, run: Run | None) -> list[str]:
    """The design's block for this checkpoint, with the stories before the plan."""
    questions = [f"- {question}" for question in QUESTIONS[phase]]
    stories = story_table(run.stories if run is not None else ())
    return filled(phase, questions=questions, stories=stories)


def story_table(stories: Iterable[Story]) -> list[str]:
    """The stories with size and security, as the design has it."""
    rows = (
        (story.id, story.title, story.size, "Yes" if story.security else "No") for story in stories
    )
    return table(("#", "Story", "Size", "Security"), rows)
