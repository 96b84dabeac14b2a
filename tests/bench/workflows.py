"""Starts and compactions with two hundred files of workflows, set up so that they can be timed."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

from rich.table import Table

from lifecycle.app.guidance import prepared_recovery
from lifecycle.app.guidance.preparing import preparing_store
from lifecycle.app.workflow_functions import get_workflow_state, update_phase_status
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.git.checked_out import branch_of
from lifecycle.settings.resources import hook_script
from lifecycle.storage.store import FOLDER
from lifecycle.storage.workflow_marks import STARTED as STARTED_LAST
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.whose import Asker, adopted
from tests.bench.paths import environment
from tests.bench.timing import Probe

BARE = "python3 -c pass"
"""Python's start as a command has it, with its site; the first row, against which the others are held."""

STARTED = "200 workflow files: hooks/session-start"
COMPACTED = "200 workflow files: hooks/pre-compact"
NEW = "200 workflow files, another session: hooks/session-start"
BRANCH = "200 workflow files, another branch: hooks/session-start"
NOTES = "200 workflow files, notes changed: hooks/session-start"
PROGRAM = "200 workflow files, a program wrote last: hooks/session-start"
CHANGED = "200 workflow files, one changed by hand: hooks/session-start"
LIMITED = (STARTED, COMPACTED, NEW, BRANCH, NOTES, PROGRAM)
FILES = 200
MOST = 3.0
"""So many starts of Python each of `LIMITED` takes at the most. A document that changed by hand is read
with all others, and has no limit."""

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

    def after(change: Callable[[], object]) -> Callable[[], object]:
        """A change, long after the last start: one right after another is taken for its copy."""

        def prepare() -> None:
            change()
            (root / FOLDER / STARTED_LAST).unlink(missing_ok=True)

        return prepare

    return [
        Probe(BARE, (sys.executable, "-c", "pass"), seen),
        Probe(STARTED, (start,), seen, after(bool), stdin=starts),
        Probe(COMPACTED, (compact,), seen, stdin=compacts),
        Probe(NEW, (start,), seen, after(lambda: _another_session(Path(starts))), stdin=starts),
        Probe(BRANCH, (start,), seen, after(lambda: _another_branch(root)), stdin=starts),
        Probe(NOTES, (start,), seen, after(lambda: _noted(root)), stdin=starts),
        Probe(PROGRAM, (start,), seen, after(lambda: _written(root)), stdin=starts),
        Probe(CHANGED, (start,), seen, after(lambda: _changed(root)), stdin=starts),
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


def _another_session(event: Path) -> None:
    data = json.loads(event.read_text())
    event.write_text(json.dumps({**data, "session_id": str(uuid.uuid4())}))


def _another_branch(root: Path) -> None:
    branch = "red" if branch_of(root) == "blue" else "blue"
    (root / ".git/HEAD").write_text(f"ref: refs/heads/{branch}\n")


def _noted(root: Path) -> None:
    path = root / prepared_recovery.LOCAL
    path.write_text(f"{len(path.read_text()) if path.exists() else 0} notes\n" * 2)


def _written(root: Path) -> None:
    id_ = str(get_workflow_state(root=root)["id"])
    update_phase_status(id_, "phase_0", "active", [f"deliverable {uuid.uuid4()}"], root=root)


def _changed(root: Path) -> None:
    path = next((root / prepared_recovery.FOLDERS[1]).glob("*/*.json"))
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "context": {"note": str(uuid.uuid4())}}, indent=2))


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
        for name in LIMITED
        if took[name] > MOST * took[BARE]
    ]
