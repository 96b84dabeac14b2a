"""The stages as one table: what follows what, and which one a session is told next. Pure."""

from __future__ import annotations

from lifecycle.core.machine import Machine
from lifecycle.core.stage_names import COMPLETES, LINE, MARKERS, Detected, Stage

STAGES = Machine(
    name="session",
    initial=Stage.CODING,
    table={
        stage: {following: str(MARKERS[stage])}
        for stage, following in zip(LINE, (*LINE[1:], LINE[0]), strict=True)
    },
)
"""The whole line. A marker may skip forward or go back: the agent says so, and it is written down."""


def following(state: Detected, line: tuple[Stage, ...]) -> Stage | None:
    """The stage that comes after the completed one in a line; None if the line ends there.

    A stage that is not in the line is followed by the next one that is. NEXT_TASK is followed by
    CODING, with which the line of the next task begins whatever is in it.
    """
    done = COMPLETES[state]
    if done is Stage.NEXT_TASK:
        return Stage.CODING
    order = line if done in line else LINE
    return next((stage for stage in order[order.index(done) + 1 :] if stage in line), None)
