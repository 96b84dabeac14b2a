"""The project's own cases of detection: one line of `cases/detection.jsonl` each, and what comes of one.

A line has `tier` (marker, verdict, words or run), `asked` (the stage in force), `text` or `turn`,
`expected` (the completed stage, or "stays") and `why`. One with `missed` completes its stage, and the
product asks there, for that reason. A turn is a list of texts and of calls, `[tool, text, how it ended,
output]`; the tool "typed" is a command that a person typed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lifecycle.core.stage_names import Stage
from lifecycle.evidence.outcomes import CallEnd
from lifecycle.stages.decisions import instructions
from lifecycle.stages.detection.detect_stage import detect
from lifecycle.stages.detection.stage_markers import said
from lifecycle.stages.transcript.turn import ANY_PROJECT, Prompt, ToolCall, Turn

FILE = Path(__file__).with_name("cases") / "detection.jsonl"
STAYS = "stays"
TIERS = {
    "marker": "a marker",
    "verdict": "a review's verdict",
    "words": "a claim in words",
    "run": "a run or another call",
}
"""What a case is about, and how the page calls it."""


@dataclass(frozen=True, slots=True)
class Case:
    """One line."""

    number: int
    tier: str
    asked: Stage
    steps: tuple[str | ToolCall, ...]
    expected: str
    why: str
    missed: str = ""

    @property
    def found(self) -> str:
        """What the product finds there: what is right, or nothing where it is known to ask."""
        return STAYS if self.missed else self.expected


@cache
def all_cases(path: Path = FILE) -> list[Case]:
    """Every case, in the file's order; what several modules ask for is read once."""
    cases: list[Case] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        known = json.loads(line)
        turn = known.get("turn") or [known["text"]]
        steps = tuple(step if isinstance(step, str) else _call(*step) for step in turn)
        cases.append(
            Case(
                number,
                known["tier"],
                Stage(known["asked"]),
                steps,
                known["expected"],
                known["why"],
                known.get("missed", ""),
            )
        )
    return cases


def named(case: Case) -> str:
    """What a failure calls it."""
    return f"{case.number}-{case.why}"


def _call(tool: str, text: str, end: str, output: str, is_background: bool = False) -> ToolCall:
    name = "" if tool == "typed" else tool
    return ToolCall(name, text, CallEnd(end), output, is_background=is_background)


def detected(case: Case) -> str:
    """The stage that the product finds completed in an answer to the instruction of `asked`, or "stays"."""
    markers = tuple(s for t in case.steps if isinstance(t, str) for s in said(t))
    turn = Turn(
        steps=case.steps,
        kind=Prompt.OURS,
        asked=case.asked,
        instruction=instructions.instruction(case.asked, instructions.Facts(), "So:"),
        markers=tuple(state for state, _ in markers),
        says=markers[-1][0] if markers else None,
        is_signed=any(is_own for _, is_own in markers),
        has_worked=any(isinstance(step, ToolCall) for step in case.steps),
        position="p1",
    )
    state = detect(turn, ANY_PROJECT).state
    return str(state) if state.is_completion else STAYS
