"""What follows what: which stage a session is told next. Pure.

A marker may skip forward or go back: the agent says so, and it is written down.
"""

from __future__ import annotations

from lifecycle.core.stage_names import COMPLETES, LINE, Detected, Stage


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
