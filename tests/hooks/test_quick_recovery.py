"""The quick path of a start and a compaction: what it prints, what leads past it, and what it imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lifecycle import __version__
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.hooks.guidance import prepared_recovery
from lifecycle.hooks.guidance.preparing import preparing_store
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.steps.workflow_steps import WorkflowSteps
from lifecycle.workflow.store.workflow_store import WorkflowStore
from lifecycle.workflow.whose import Asker
from tests.factories import client

SESSION = "11111111-aaaa-4bbb-8ccc-000000000001"
LIGHT = {"pathlib", "typing", "dataclasses", "msgspec", "subprocess", "logging", "tempfile"}
"""What the quick path must not import: any of these costs as much as all of it."""

QUICK = """
import sys
sys.argv = ["lifecycle", "hook", {hook!r}]
from lifecycle.__main__ import main
code = main()
print(code, *sys.modules, file=sys.stderr)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A worktree with a workflow that a session leads, and another one beside it."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / "CLAUDE/Plan/001").mkdir(parents=True)
    (tmp_path / "CLAUDE/Plan/001/PLAN.md").write_text("# Plan\n")
    steps = WorkflowSteps(_store(tmp_path), Asker(SESSION))
    for name in ("Other", "Mine"):
        steps.start(Workflow("", name, phases=(WorkflowPhase("Design"), WorkflowPhase("Build"))))
    return tmp_path


def _store(root: Path) -> WorkflowStore:
    return preparing_store(root, {}, Deadline.after(SystemClock(), 30))


def run(root: Path, hook: str, session: str = SESSION, **more: str) -> tuple[str, set[str]]:
    """The hook as Python runs it: what it printed, and the modules that it imported."""
    events = {
        "session-start": ("SessionStart", {"source": "resume"}),
        "pre-compact": ("PreCompact", {}),
    }
    name, extra = events[hook]
    event: dict[str, Any] = {"session_id": session, "hook_event_name": name, **extra}
    names = ("PATH", "HOME", "XDG_CONFIG_HOME")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-P", "-c", QUICK.format(hook=hook)],
        cwd=root,
        env={**kept, "CLAUDE_PROJECT_DIR": str(root), **client(), **more},
        input=json.dumps(event),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    code, *modules = done.stderr.splitlines()[-1].split()
    assert code == "0"
    return done.stdout, set(modules)


@pytest.mark.parametrize("hook", ["session-start", "pre-compact"])
def test_what_was_prepared_is_printed_with_next_to_no_imports(root: Path, hook: str) -> None:
    """The commit has prepared it: the same text as the full path's, without any of its modules."""
    quick, modules = run(root, hook)
    assert 'Workflow \\"Mine\\"' in quick or 'Workflow "Mine"' in quick
    assert not modules & LIGHT
    assert not {name for name in modules if name.startswith("lifecycle.claim")}
    (root / ".lifecycle/recovery.json").unlink()
    whole, modules = run(root, hook)
    assert whole == quick
    assert modules >= LIGHT - {"tempfile"}


CHANGES: dict[str, Callable[[Path], object]] = {
    "a document in place": lambda root: _append(root / ".claude/state/workflow.json"),
    "a checkpoint": lambda root: _append(next(root.glob("untracked/workflow-state/*/*.json"))),
    "a checkpoint more": lambda root: _copied(root),  # noqa: PLW0108 -- defined below
    "a checkpoint less": lambda root: next(root.glob("untracked/workflow-state/*/*.json")).unlink(),
    "the view": lambda root: (root / ".claude/workflow_state_system.md").unlink(),
    "CLAUDE.local.md": lambda root: (root / "CLAUDE.local.md").write_text("Notes\n"),
    "a plan": lambda root: _append(root / "CLAUDE/Plan/001/PLAN.md"),
    "settings": lambda root: (root / ".lifecycle.toml").write_text(""),
    "HEAD": lambda root: _append(root / ".git/HEAD"),
    "a claim": lambda root: (root / ".agent-claim.json").write_text("{}"),
    "a run": lambda root: (root / ".lifecycle/run").touch(),
    "what waits": lambda root: (root / ".lifecycle/waiting").touch(),
}


def _append(path: Path) -> None:
    with path.open("a") as file:
        file.write("\n")


def _copied(root: Path) -> None:
    path = next(root.glob("untracked/workflow-state/*/*.json"))
    path.with_name("state-copy-20250101_000000.json").write_bytes(path.read_bytes())


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_changed_by_hand_leads_to_the_full_path(root: Path, name: str) -> None:
    """Nothing that was prepared before it is printed; the full path prepares anew."""
    CHANGES[name](root)
    _, modules = run(root, "session-start")
    assert "lifecycle.hooks.wake" in modules


def test_a_file_that_was_changed_within_a_tick_is_noticed(root: Path) -> None:
    """The same date and size: the content of what was young when it was prepared is compared."""
    path = root / "CLAUDE.local.md"
    path.write_text("Notes")
    about = path.stat()
    files = {
        "CLAUDE.local.md": prepared_recovery.fingerprint(str(root), path.name, about.st_mtime_ns)
    }
    assert prepared_recovery.is_as_it_was(str(root), files)
    with path.open("r+") as file:
        file.write("Other")
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert not prepared_recovery.is_as_it_was(str(root), files)


def test_another_session_and_a_variable_lead_to_the_full_path(root: Path) -> None:
    """What was prepared is for the session that leads the workflow, in a repository without a board."""
    assert "lifecycle.hooks.wake" in run(root, "session-start", "another")[1]
    more = {"LIFECYCLE_PROJECT_NUMBER": "1"}
    assert "lifecycle.hooks.wake" in run(root, "session-start", **more)[1]


def test_what_came_with_a_repository_is_not_printed(root: Path, tmp_path: Path) -> None:
    """A prepared answer counts beside the HEAD that it was made beside, in this very file system."""
    assert prepared_recovery.load(str(root), __version__) is not None
    prepared = json.loads((root / ".lifecycle/recovery.json").read_text())
    forged = {**prepared, "files": {}}
    elsewhere = tmp_path / "clone"
    subprocess.run(["git", "init", "--quiet", str(elsewhere)], check=True)
    (elsewhere / ".lifecycle").mkdir()
    (elsewhere / ".lifecycle/recovery.json").write_text(json.dumps(forged))
    assert prepared_recovery.load(str(elsewhere), __version__) is None
    (root / ".lifecycle/recovery.json").write_text(json.dumps(forged))
    assert prepared_recovery.load(str(root), __version__) is not None  # the HEAD decides
    assert prepared_recovery.load(str(root), "0.0.9") is None


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"form": [1, "x"]}', "\0" * 100])
def test_what_is_broken_is_prepared_anew(root: Path, content: str) -> None:
    """The full path answers."""
    (root / ".lifecycle/recovery.json").write_text(content)
    said, modules = run(root, "session-start")
    assert "Mine" in said
    assert "lifecycle.hooks.wake" in modules
    assert prepared_recovery.load(str(root), __version__) is not None
