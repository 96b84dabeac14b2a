"""The quick path of a session's start and of a compaction: print what was prepared, with few imports.

`__main__` asks this before it loads the rest of a hook. In goes the event on stdin and what lies in
`.lifecycle/`. Out comes an exit code if all of the answer was prepared (`guidance/preparing.py`) and no
file changed since; else the event, for the full path (`wake`), which prepares anew. A claim, a run, the
staged workflow, a board and what waits to be said are the full path's.

It is imported at every start, so it imports neither `pathlib` nor `typing` nor `dataclasses`.
"""

# pathlib alone would cost as much as all of this.
# ruff: noqa: PTH118

from __future__ import annotations

import json
import os

from lifecycle import __version__
from lifecycle.hooks import recovery_marks, stdin_event
from lifecycle.hooks.guidance import prepared_recovery
from lifecycle.settings import running_client
from lifecycle.storage import workflow_marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

START, COMPACT = "session-start", "pre-compact"
HOOKS = {START: "SessionStart", COMPACT: "PreCompact"}
"""Entrypoints that have a quick path, and the event of each."""

_OTHERS = (
    ".agent-claim.json",
    workflow_marks.RUN_FILE,
    os.path.join(workflow_marks.FOLDER, workflow_marks.RUN),
    os.path.join(workflow_marks.FOLDER, "waiting"),
)
"""Where one of these lies, there is more to say than what was prepared."""


def run(hook: str) -> int | dict[str, Any] | None:
    """Answer this event from what was prepared.

    Returns:
        0 if that was all; or the event that was read, if somebody else has to answer it; or None if nothing
        was read.
    """
    try:
        root = workflow_marks.worktree()
        prepared = _prepared(root) if root is not None else None
    except Exception:  # noqa: BLE001 -- whatever it is, the full path says it
        return None
    if root is None or prepared is None:
        return None
    event = stdin_event.read_input()
    try:
        return 0 if _is_answered(hook, root, event, prepared) else event
    except Exception:  # noqa: BLE001 -- as above; nothing was printed
        return event


def _prepared(root: str) -> dict[str, Any] | None:
    if any(os.path.lexists(os.path.join(root, name)) for name in _OTHERS):
        return None
    if running_client.client_of(os.environ) is running_client.Client.OTHER:
        return None
    found = prepared_recovery.load(root, __version__)
    is_whole = found is not None and not any(os.environ.get(name) for name in found["unset"])
    return found if is_whole else None


def _is_answered(hook: str, root: str, event: dict[str, Any], prepared: dict[str, Any]) -> bool:
    """True if the event was answered from `prepared`; raises whatever goes wrong before it is printed."""
    session = running_client.session_of(event, os.environ)
    texts = prepared["answers"].get(session)
    is_ours = event.get("hook_event_name") == HOOKS[hook] and not event.get("agent_id")
    if not (session and is_ours and isinstance(texts, dict)):
        return False
    if hook == COMPACT:
        recovery_marks.owe(root, session)
        _print(f"{texts['kept']}\n")
        return True
    return _start(root, session, str(event.get("source") or ""), texts["told"])


def _start(root: str, session: str, source: str, text: str) -> bool:
    own = {"hookEventName": HOOKS[START], "additionalContext": text}
    output = json.dumps({"hookSpecificOutput": own}) + "\n"
    descriptor = recovery_marks.begin_start(root, session, source)
    if descriptor is None:
        return True
    try:
        is_told = source == "compact" and recovery_marks.was_told_by_prompt(root, session)
        if not is_told:
            recovery_marks.owe(root, session)
        if is_told or _print(output):
            _note(root, session, source)
        return True
    finally:
        os.close(descriptor)


def _print(text: str) -> bool:
    try:
        os.write(1, text.encode("utf-8", "replace"))
    except OSError:
        return False  # nobody reads any more; the mark stays, and the next prompt tells it
    return True


def _note(root: str, session: str, source: str) -> None:
    """Note that it was printed; where that cannot be written, it is told once more."""
    try:
        recovery_marks.answered(root, session, source)
        recovery_marks.settle(root, session)
    except OSError:
        return
