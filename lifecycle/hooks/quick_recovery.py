"""The quick path of a session's start and of a compaction: print what was prepared, with few imports.

`__main__` asks this before it loads the rest of a hook. The input is the event on stdin and the files in
`.lifecycle/`. The result is an exit code if the whole answer was prepared (`app/guidance/preparing.py`) and
no file changed since; else the event, for the full path (`wake`), which prepares again. If there is a
claim, a run, the staged workflow, a board or a queued notice, the full path answers.

It is imported at every start, so it imports neither `pathlib` nor `typing` nor `dataclasses`.
"""

# pathlib alone would cost as much as all of this.
# ruff: noqa: PTH118

from __future__ import annotations

import json
import os

from lifecycle import __version__
from lifecycle.app.guidance import prepared_recovery
from lifecycle.git.checked_out import branch_of
from lifecycle.hooks import stdin_event
from lifecycle.settings import running_client
from lifecycle.storage import regular_files, workflow_marks
from lifecycle.workflow.nearest import adopted_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

START, COMPACT = "session-start", "pre-compact"
HOOKS = {START: "SessionStart", COMPACT: "PreCompact"}
"""Entrypoints that have a quick path, and the event of each."""

_OTHER_SECONDS = 0.2
"""How long another copy of the same start is waited for."""

_OTHERS = (
    ".agent-claim.json",
    workflow_marks.RUN_FILE,
    os.path.join(workflow_marks.FOLDER, workflow_marks.RUN),
    os.path.join(workflow_marks.FOLDER, "waiting"),
)
"""Files whose presence means that there is more to say than what was prepared."""


def run(hook: str) -> int | dict[str, Any] | None:
    """Answer this event from what was prepared, or from the workflows alone.

    Returns:
        0 if that was all; or the event that was read, if the full path has to answer it; or None if nothing
        was read.
    """
    event = None
    try:
        root = regular_files.worktree()
        if root is None or not _is_plain(hook, root):
            return None
        event = stdin_event.read_input()
        return 0 if _is_answered(hook, root, event) else event
    except Exception:  # noqa: BLE001 -- the full path reports any error; nothing was printed
        return event


def _is_plain(hook: str, root: str) -> bool:
    """True if there is a workflow, or a source of one, and nothing else that has anything to say."""
    if any(os.path.lexists(os.path.join(root, name)) for name in _OTHERS):
        return False
    is_ours = running_client.client_of(os.environ) is not running_client.Client.OTHER
    return is_ours and (hook == COMPACT or prepared_recovery.has_documents(root))


def _is_answered(hook: str, root: str, event: dict[str, Any]) -> bool:
    """Answer the event if that can be done here: then True. Raises errors from before the printing."""
    session = running_client.session_of(event, os.environ)
    if not session or event.get("hook_event_name") != HOOKS[hook] or event.get("agent_id"):
        return False
    asker = (session, running_client.process_of(os.environ), branch_of(root))
    answer = _prepared(hook, root, asker)
    if not answer:
        from pathlib import Path

        from lifecycle.hooks import workflow_part

        answer = workflow_part.alone(hook, event, Path(root), os.environ)
    if answer is None:
        return False
    if hook == START:
        _start(root, session, str(event.get("source") or ""), asker[1], answer)
    elif answer["kept"]:
        workflow_marks.owe(root, session)
        _print(f"{answer['kept']}\n")
    return True


def _prepared(hook: str, root: str, asker: workflow_marks.Whose) -> dict[str, Any] | None:
    """The prepared answer for the asking session, which then owns the workflow; None if there is none."""
    prepared = prepared_recovery.load(root, __version__)
    if prepared is None or any(os.environ.get(name) for name in prepared["unset"]):
        return None
    if hook == COMPACT and prepared["sources"] == "new":
        return None
    notes = workflow_marks.adoption_notes(root)
    answer = prepared_recovery.chosen(prepared, notes, asker)
    if answer is None or "told" not in answer:
        return None
    if answer["id"]:  # the workflow is this session's now; compactions that it outlives are counted
        whose, count = notes.get(answer["id"]) or (tuple(answer["whose"]), 0)
        after = (adopted_by(asker, whose), count + (hook == COMPACT))
        if after != (whose, count):
            workflow_marks.put_note(root, answer["id"], after)
    return {**answer, "person": prepared["person"]}


def _start(root: str, session: str, source: str, client: int, answer: dict[str, Any]) -> None:
    output: dict[str, Any] = {}
    if answer["told"]:
        own = {"hookEventName": HOOKS[START], "additionalContext": answer["told"]}
        output["hookSpecificOutput"] = own
    if answer["person"]:
        output["systemMessage"] = answer["person"]
    if not output:
        return
    note_told = workflow_marks.begin_start(root, session, source, client, _OTHER_SECONDS)
    if note_told is None:
        return
    workflow_marks.owe(root, session)
    _print(json.dumps(output) + "\n", note_told)


def _print(text: str, note_told: Callable[[], None] | None = None) -> None:
    try:
        os.write(1, text.encode("utf-8", "replace"))
        if note_told is not None:
            note_told()
    except OSError:
        return  # nobody reads any more, or nothing can be noted: it is told once more
