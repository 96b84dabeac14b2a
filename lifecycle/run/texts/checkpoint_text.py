"""What is asked at the two checkpoints of a run."""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.core.markdown_table import table
from lifecycle.run.state import Run, Story
from lifecycle.run.stories.clarifying import QUESTIONS
from lifecycle.run.table import ClarificationPhase
from lifecycle.run.texts.design_blocks import filled


def question_lines(phase: ClarificationPhase, run: Run | None) -> list[str]:
    """The design's block for this checkpoint, with the stories before the plan."""
    questions = [f"- {one}" for one in QUESTIONS[phase]]
    stories = story_table(run.stories if run is not None else ())
    return filled(phase, questions=questions, stories=stories)


def story_table(stories: Iterable[Story]) -> list[str]:
    """The stories with size and security, as the design has it."""
    rows = ((one.id, one.title, one.size, "Yes" if one.security else "No") for one in stories)
    return table(("#", "Story", "Size", "Security"), rows)
