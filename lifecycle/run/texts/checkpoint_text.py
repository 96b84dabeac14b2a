"""What is asked at the two checkpoints of a run."""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.core.markdown_table import table
from lifecycle.run.state import Run, Story
from lifecycle.run.stories.clarifying import QUESTIONS
from lifecycle.run.table import ClarificationPhase

JUDGMENT = 'Always offer: "Proceed with my best judgment".'


def question_lines(phase: ClarificationPhase, run: Run | None) -> list[str]:
    """The design's block for this checkpoint, with the stories before the plan."""
    ask = ["Questions to ask (pick relevant ones):", *(f"- {one}" for one in QUESTIONS[phase])]
    keep = [
        "",
        JUDGMENT,
        f'Keep each answer: lifecycle run add-clarification "QUESTION" "ANSWER" --phase {phase}',
    ]
    if phase is ClarificationPhase.PRE_ANALYSIS:
        return [
            "## Pre-Analysis Clarification Required",
            "",
            "Before I begin analyzing your request, I need to clarify:",
            "",
            *ask,
            *keep,
        ]
    return [
        "## Pre-Plan Clarification Required",
        "",
        "I've identified these stories from your request:",
        "",
        *story_table(run.stories if run is not None else ()),
        "",
        "Before I design the technical approach, please confirm:",
        "",
        *ask,
        *keep,
    ]


def story_table(stories: Iterable[Story]) -> list[str]:
    """The stories with size and security, as the design has it."""
    rows = ((one.id, one.title, one.size, "Yes" if one.security else "No") for one in stories)
    return table(("#", "Story", "Size", "Security"), rows)
