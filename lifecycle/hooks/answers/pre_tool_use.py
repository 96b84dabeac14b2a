"""PreToolUse of the tools that edit files: no code before a test of the story was seen to fail.

This applies only with `tdd.enforce`, only to the session that leads the run, and only to code in this
worktree: tests, documents and configuration may be edited at any time. Edits by shell commands are not seen
here.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks (PreToolUse decision control).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lifecycle.core.light_dataclass import text_in
from lifecycle.evidence.file_kinds import FileKind, kind_of
from lifecycle.evidence.records import EvidenceRoom
from lifecycle.hooks.answers.call import HookCall
from lifecycle.hooks.client_contract import Ours, Reply, render
from lifecycle.run import tdd_moves
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.run_store import RunStore
from lifecycle.run.table import RunStatus

_AT_REST = (RunStatus.COMPLETED, RunStatus.STOPPED)
"""States of a run in which nobody works on it: edits then belong to no story."""


def answer(call: HookCall) -> Reply:
    """Tell the agent of a violation, or refuse the edit, as `tdd.enforce` says; nothing without one."""
    world = call.world
    if world.settings.tdd_enforce == "off" or not call.session:
        return Reply()
    path = edited(world.root, call.event)
    if not path or kind_of(path) is not FileKind.CODE:
        return Reply()
    run = RunStore(world.root, world.environment, world.deadline).load()
    if run is None or run.session != call.session or run.status in _AT_REST:
        return Reply()
    facts = WorkFacts(records=EvidenceRoom(world.root).records())
    violation = tdd_moves.forbids_edits(run, facts)
    story = run.current
    if violation is None or story is None:
        return Reply()
    lines = [
        *violation.lines,
        f"{path} is code; tests, documents and configuration may be edited now.",
        "Write the test, and let it fail by its assertion: lifecycle check test",
        f"A story that needs none: lifecycle run tdd waive {story.id} --reason TEXT",
    ]
    if world.settings.tdd_enforce == "deny":
        return render(call.hook, [], refusal=lines)
    return render(call.hook, [], context=[Ours(line) for line in lines])


def edited(root: Path, event: Mapping[str, Any]) -> str:
    """The path of the file that the event is about, from the top of the worktree; "" for any other."""
    file = text_in(event, "tool_input", "file_path")
    path = file or text_in(event, "tool_input", "notebook_path")
    if not path or "\0" in path:
        return ""
    folder = event.get("cwd")
    full_path = os.path.realpath(Path(folder if isinstance(folder, str) else root, path))
    top = os.path.realpath(root)
    return os.path.relpath(full_path, top) if full_path.startswith(f"{top}{os.sep}") else ""
