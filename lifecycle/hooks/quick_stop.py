"""The quick path of a stop: looks whether the staged workflow has anything to say, with few imports.

`__main__` asks this before it loads the rest of a hook. The input is the event on stdin, the marks in
`.lifecycle/` and the end of the transcript. The result is an exit code if the agent may stop, as in most
cases; else the event, for the full path (`wake`): if a claim is due, if a stage was completed, or if that
is unknown. Nothing here asks a tracker, takes a lock or prints: marks that came with a stranger's
repository can only make the agent stop.

It is imported at every stop, so it imports neither `pathlib` nor `typing` nor `dataclasses`, and it imports
the transcript's reader only if a stop is looked at.
"""

from __future__ import annotations

import json
import time

from lifecycle.hooks import stdin_event
from lifecycle.storage import log, regular_files, workflow_marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_SMALL = 100_000
"""How many bytes of a file of ours are read here."""

SETTLED = 0
"""The exit code of a stop at which there is nothing to say."""


def run() -> int | dict[str, Any] | None:
    """Look at this stop with few imports.

    Returns:
        SETTLED; or the event that was read, if the full path has to look at it; or None if nothing was
        read, because the stop does not concern the staged workflow alone.
    """
    folder = regular_files.worktree()
    try:
        return None if folder is None else _look(folder)
    except Exception as error:  # noqa: BLE001 -- a look that fails lets the agent stop
        log.write_staged(folder or ".", "Hook triggered", f"{type(error).__name__}: {error}")
        return SETTLED


def _look(root: str) -> int | dict[str, Any] | None:
    """As `run`, for a stop in this worktree; raises any error that a file or the event causes."""
    if not workflow_marks.is_known(root) or workflow_marks.is_claim_waiting(root, time.time()):
        return None
    if not workflow_marks.is_due(root, workflow_marks.DUE, time.time()):
        return None
    settings = _settings(root)
    if settings is None:
        return None
    event = stdin_event.read_input()
    return SETTLED if _is_settled(root, event, settings) else event


def _is_settled(root: str, event: dict[str, Any], settings: dict[str, Any]) -> bool:
    """True if the agent may stop whatever a tracker says; the workflow's log says why."""
    from lifecycle.stages.detection import detect_stage
    from lifecycle.stages.transcript import stop_input
    from lifecycle.stages.transcript.turn import OwnCommands

    if event.get("hook_event_name") not in (None, "", "Stop"):
        return True
    turn = stop_input.turn_of(event)
    tests, runners = tuple(settings["test"]), tuple(settings.get("runners", ()))
    finding = detect_stage.detect(turn, OwnCommands(tests, settings["review"], runners, root))
    is_at_rest = detect_stage.is_quiet(turn, finding) or stop_input.is_waiting(event, finding)
    if not is_at_rest or _is_set_by_hand(root, event):
        return False
    log.write_staged(root, *stop_input.lines(turn, finding), "The agent may stop")
    return True


def _is_set_by_hand(root: str, event: dict[str, Any]) -> bool:
    """True if somebody set the stage by hand, and the session was not told yet."""
    from lifecycle.core.light_dataclass import text_in

    own = workflow_marks.session_name(text_in(event, "session_id"))
    files = (f"{name}.json" for name in (own, workflow_marks.ANY))
    records = [_json(root, workflow_marks.SESSIONS, file) for file in files]
    places = ("memory", "set_stage"), ("set_stage",)  # the second is an earlier version's
    return any(text_in(record, *names) for record in records for names in places)


def _json(root: str, *names: str) -> Any:
    """The JSON in a small file in `.lifecycle/`; None if there is none that can be read."""
    path = regular_files.below(root, workflow_marks.FOLDER, *names)
    try:
        return json.loads(regular_files.whole(path, _SMALL) or b"null")
    except (ValueError, RecursionError):
        return None


def _settings(root: str) -> dict[str, Any] | None:
    """The settings as they were kept; None if the workflow is off, or their form is unknown."""
    match settings := _json(root, workflow_marks.STAGED):
        case {"use": True, "test": list(tests), "review": str()}:
            return settings if all(isinstance(test, str) for test in tests) else None
    return None
