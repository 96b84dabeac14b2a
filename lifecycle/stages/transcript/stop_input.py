"""Read the input of one Stop event: the payload and the end of the transcript.

The client writes the transcript behind the session: while a Stop hook starts, the last text, the
results of tools before it and even our own last instruction may not be there yet. They come within some
hundredths of a second. The last text comes with the event: once the file has it too, it has all.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks (`last_assistant_message`).
"""

from __future__ import annotations

import os
import time

from lifecycle.stages.detection import detect_stage
from lifecycle.stages.transcript import session_end_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lifecycle.core.stage_names import Stage
    from lifecycle.stages.transcript.turn import StageFinding, Turn

PAUSE = 0.02
TRIES = 5
"""How long, and how often, the client is given time to write what it knows."""


def turn_of(event: Mapping[str, object], *, sleep: Callable[[float], None] = time.sleep) -> Turn:
    """The end of the transcript that the event names, with the event's own last text.

    A file that did not grow meanwhile is not read again.

    Args:
        event: a Stop event; what is missing in it counts as empty.
        sleep: waits for so many seconds.
    """
    path, message = (_text(event, name) for name in ("transcript_path", "last_assistant_message"))
    last = message.strip()
    size = -1
    for _ in range(TRIES if last else 0):
        before, size = size, _size(path)
        if size != before:
            turn = session_end_lines.read(path)
            if turn.is_there and turn.texts and turn.texts[-1].strip().endswith(last):
                return turn
        sleep(PAUSE)
    return session_end_lines.read(path, message)


def look(
    event: Mapping[str, object],
    *,
    tests: tuple[str, ...] = (),
    review: str = "",
    starts: tuple[str, ...] = (),
    told: Stage | None = None,
) -> tuple[Turn, StageFinding]:
    """The turn, and what is found in it, by whoever answers the agent.

    Where something was completed or nobody knows what, and no instruction of ours is in the end of the
    transcript, one is looked for further back. Where that finds none either, and does not reach the
    beginning, `told` counts.

    Args:
        event: as for `turn_of`.
        tests: the project's own test commands.
        review: the project's own review command.
        starts: as for `transcript.read`.
        told: the stage that this session was told last, as it was kept; None if nothing was.
    """
    turn = turn_of(event)
    found = detect_stage.detect(turn, tests=tests, review=review)
    if not turn.is_cut or detect_stage.is_quiet(turn, found):
        return turn, found
    path, message = (_text(event, name) for name in ("transcript_path", "last_assistant_message"))
    turn = session_end_lines.read(path, message, deep=session_end_lines.DEEP, starts=starts)
    if turn.is_cut:
        turn.asked, turn.is_cut = told, False
    return turn, detect_stage.detect(turn, tests=tests, review=review)


def is_waiting(event: Mapping[str, object], found: StageFinding) -> bool:
    """True if the agent waits for something in the background, and says nothing of a stage.

    The client wakes it when that ends.
    """
    tasks = event.get("background_tasks")
    is_running = isinstance(tasks, list) and any(
        isinstance(task, dict) and task.get("status") == "running" for task in tasks
    )
    return is_running and not found.state.is_completion


def lines(turn: Turn, found: StageFinding) -> tuple[str, ...]:
    """What the log says of a look."""
    if not turn.is_there:
        return "Hook triggered", "There is no transcript that could be read"
    return "Hook triggered", "Detecting stage from message", found.line


def _size(path: str) -> int:
    """The file's bytes; -2 if there is none."""
    try:
        return os.stat(path).st_size  # noqa: PTH116 -- pathlib alone would cost as much as the look
    except (OSError, ValueError):
        return -2


def _text(event: Mapping[str, object], name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""
