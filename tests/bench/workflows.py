"""Starts and compactions with two hundred files of workflows, set up so that they can be timed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from rich.table import Table

from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.hooks.guidance import prepared_recovery
from lifecycle.hooks.guidance.preparing import preparing_store
from lifecycle.settings.resources import hook_script
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.whose import Asker, adopted
from tests.bench.paths import environment
from tests.bench.timing import Probe

BARE = "python3 -c pass"
"""Python's start as a command has it, with its site; the first row, against which the others are held."""

STARTED = "200 workflow files: hooks/session-start"
COMPACTED = "200 workflow files: hooks/pre-compact"
CHANGED = "200 workflow files, one changed by hand: hooks/session-start"
FILES = 200
MOST = 3.0
"""A start and a compaction take at most so many starts of Python; what changed by hand has no limit."""

SESSION = "11111111-aaaa-4bbb-8ccc-000000000001"


def workflow_probes(folder: Path, files: int = FILES) -> list[Probe]:
    """Python's start, and the hooks in a worktree with so many checkpoints, one of them the session's.

    Args:
        folder: an empty one.
        files: how many checkpoints.
    """
    root = _worktree(folder / "workflows", files)
    seen = {**environment(root), "CLAUDE_CODE_SESSION_ID": SESSION}
    events = {
        "session-start": {"hook_event_name": "SessionStart", "source": "compact"},
        "pre-compact": {"hook_event_name": "PreCompact", "trigger": "auto"},
    }
    inputs = {}
    for hook, event in events.items():
        inputs[hook] = folder / f"{hook}.json"
        inputs[hook].write_text(json.dumps({"session_id": SESSION, "cwd": str(root), **event}))
    start, compact = (str(hook_script(name)) for name in events)
    starts, compacts = map(str, inputs.values())
    return [
        Probe(BARE, (sys.executable, "-c", "pass"), seen),
        Probe(STARTED, (start,), seen, stdin=starts),
        Probe(COMPACTED, (compact,), seen, stdin=compacts),
        Probe(CHANGED, (start,), seen, lambda: _changed(root), stdin=starts),
    ]


def _worktree(root: Path, files: int) -> Path:
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    asker = Asker(SESSION)
    phases = tuple(WorkflowPhase(title) for title in ("Design", "Build", "Verify"))
    store = preparing_store(root, {}, Deadline.after(SystemClock(), None))
    with store.changing() as change:
        for number in range(files):
            made = Workflow(change.new_id(), f"Workflow {number}", phases=phases, current=0)
            change.put(adopted(made, asker) if number == files - 1 else made)
    found = list((root / "untracked/workflow-state").glob("*/*.json"))
    if len(found) != files or prepared_recovery.has_documents(str(root)) is not True:
        raise RuntimeError("the workflows were not written: their hooks cannot be measured")
    return root


def _changed(root: Path) -> None:
    path = root / prepared_recovery.LOCAL
    path.write_text(f"{len(path.read_text()) if path.exists() else 0} notes\n" * 2)


def workflow_table(took: Mapping[str, float], rounds: int) -> Table:
    """The rows against Python's start."""
    title = f"a session with {FILES} files of workflows (medians of {rounds})"
    table = Table(title=title, title_justify="left")
    table.add_column("process")
    for name in ("ms", f"÷ {BARE}"):
        table.add_column(name, justify="right")
    for name, seconds in took.items():
        table.add_row(name, f"{seconds * 1e3:.1f}", f"{seconds / took[BARE]:.2f}")
    return table


def judge_workflows(took: Mapping[str, float]) -> list[str]:
    """What is too slow, in words; empty if all is well."""
    return [
        f"{name} takes {took[name] / took[BARE]:.2f} of {BARE}"
        for name in (STARTED, COMPACTED)
        if took[name] > MOST * took[BARE]
    ]
