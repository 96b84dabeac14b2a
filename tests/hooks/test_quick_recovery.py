"""A start and a compaction in three ways: prepared, made of the workflows alone, and in full.

What is told is the same; what is imported for it is not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from lifecycle import __version__
from lifecycle.app.guidance import prepared_recovery
from lifecycle.app.guidance.preparing import preparing_store
from lifecycle.app.workflow_functions import create_workflow_state, update_phase_status
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.hooks import quick_recovery
from lifecycle.storage import workflow_marks
from lifecycle.storage.regular_files import StrangeFileError
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.steps.workflow_steps import WorkflowSteps
from lifecycle.workflow.store.found_workflows import FoundWorkflow
from lifecycle.workflow.store.workflow_store import WorkflowStore
from lifecycle.workflow.table import PhaseStatus
from lifecycle.workflow.whose import Asker
from tests.factories import client
from tests.repeated import soaked

SESSION = "11111111-aaaa-4bbb-8ccc-000000000001"
LIGHT = {"pathlib", "typing", "dataclasses", "msgspec", "subprocess", "logging", "tempfile"}
"""What the quick path must not import: any of these costs as much as all of it."""

UNTOUCHED = {
    "lifecycle.core.values.configured", "lifecycle.workflow.sources.following",
    "lifecycle.workflow.sources.source_text", "_strptime",
}  # fmt: skip
"""What a start after a change by hand imports only for settings, a source, or a document without a date."""

FULL, ALONE = "lifecycle.hooks.wake", "lifecycle.hooks.workflow_part"
"""What is imported on the full path, and where a workflow alone has something to say."""

ANOTHER_CLIENT = ("sh", "-c", 'CLAUDE_PID=$$ "$@"; :', "sh")
"""A client that is not this process."""

QUICK = """
import sys
sys.argv = ["lifecycle", "hook", {hook!r}]
from lifecycle.{module} import {function}
code = {function}({arguments})
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


def run(
    root: Path,
    hook: str,
    session: str = SESSION,
    *,
    in_full: bool = False,
    through: Sequence[str] = (),
    **more: str,
) -> tuple[str, set[str]]:
    """The hook as Python runs it: what it printed, and the modules that it imported."""
    events = {
        "session-start": ("SessionStart", {"source": "resume"}),
        "pre-compact": ("PreCompact", {}),
    }
    name, extra = events[hook]
    event: dict[str, Any] = {"session_id": session, "hook_event_name": name, **extra}
    names = ("PATH", "HOME", "XDG_CONFIG_HOME")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    how = ("hooks.wake", "run", repr(hook)) if in_full else ("__main__", "main", "")
    named = dict(zip(("module", "function", "arguments"), how, strict=True))
    code = QUICK.format(hook=hook, **named)
    done = subprocess.run(
        [*through, sys.executable, "-P", "-c", code],
        cwd=root,
        env={**kept, "CLAUDE_PROJECT_DIR": str(root), **client(), **more},
        input=json.dumps(event),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    ended, *modules = done.stderr.splitlines()[-1].split()
    assert ended == "0"
    return done.stdout, set(modules)


def way(modules: set[str]) -> str:
    """Which of the three ways was taken."""
    return "full" if FULL in modules else "alone" if ALONE in modules else "prepared"


@pytest.mark.parametrize("hook", ["session-start", "pre-compact"])
def test_what_was_prepared_is_printed_with_next_to_no_imports(root: Path, hook: str) -> None:
    """The commit has prepared it: the same text as of the two other ways, without any of their modules."""
    quick, modules = run(root, hook)
    assert 'Workflow \\"Mine\\"' in quick or 'Workflow "Mine"' in quick
    assert way(modules) == "prepared"
    assert not modules & LIGHT
    (root / ".lifecycle/recovery.json").unlink()
    asker = (
        "another" if hook == "session-start" else SESSION
    )  # one start of one session is told once
    alone, modules = run(root, hook, asker)
    assert (alone, way(modules)) == (quick, "alone")
    assert not {name for name in modules if name.startswith(("lifecycle.claim", "lifecycle.run"))}
    whole, modules = run(root, hook, asker, in_full=True, through=ANOTHER_CLIENT)
    assert (whole, way(modules)) == (quick, "full")
    assert modules >= LIGHT - {"tempfile", "logging"}


@pytest.mark.parametrize("in_full", [False, True])
def test_a_session_whose_client_was_killed_is_told_again(root: Path, *, in_full: bool) -> None:
    """It may be resumed at once: what was told a moment ago was told to a process that is gone."""
    told, _ = run(root, "session-start", in_full=in_full)
    assert "Mine" in told
    assert run(root, "session-start", in_full=in_full)[0] == "", "a copy of the same start"
    again, _ = run(root, "session-start", in_full=in_full, through=ANOTHER_CLIENT)
    assert again == told


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a document in place": (lambda root: _append(root / ".claude/state/workflow.json"), "alone"),
    "a checkpoint": (
        lambda root: _append(next(root.glob("untracked/workflow-state/*/*.json"))), "alone",
    ),
    "a checkpoint more": (lambda root: _copied(root), "alone"),  # noqa: PLW0108 -- defined below
    "a checkpoint less": (
        lambda root: next(root.glob("untracked/workflow-state/*/*.json")).unlink(), "alone",
    ),
    "the view": (lambda root: (root / ".claude/workflow_state_system.md").unlink(), "alone"),
    "notes of somebody's": (lambda root: (root / "CLAUDE.local.md").write_text("Notes\n"), "prepared"),
    "notes that tell of a workflow": (
        lambda root: (root / "CLAUDE.local.md").write_text("Workflow State\n"), "alone",
    ),
    "a plan": (lambda root: _append(root / "CLAUDE/Plan/001/PLAN.md"), "prepared"),
    "a plan in progress": (
        lambda root: (root / "CLAUDE/Plan/001/PLAN.md").write_text("# A\n🔄 In Progress, phase 1\n"),
        "alone",
    ),
    "what is checked out": (lambda root: _append(root / ".git/HEAD"), "prepared"),
    "settings": (lambda root: (root / ".lifecycle.toml").write_text(""), "full"),
    "a claim": (lambda root: (root / ".agent-claim.json").write_text("{}"), "full"),
    "a run": (lambda root: (root / ".lifecycle/run").touch(), "full"),
    "what waits": (lambda root: (root / ".lifecycle/waiting").touch(), "full"),
}  # fmt: skip
CHOSEN = ("a document in place", "a plan", "settings", "a claim")
"""One for each way, and both reasons for the full one."""


def _append(path: Path) -> None:
    with path.open("a") as file:
        file.write("\n")


def _copied(root: Path) -> None:
    path = next(root.glob("untracked/workflow-state/*/*.json"))
    path.with_name("state-copy-20250101_000000.json").write_bytes(path.read_bytes())


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_that_matters_voids_what_was_prepared(
    root: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is taken where nothing else has a say, while each file is the one that it was made of."""
    for variable, value in client(process=os.getppid()).items():
        monkeypatch.setenv(variable, value)

    def is_taken() -> bool:
        is_fresh = prepared_recovery.load(str(root), __version__) is not None
        return is_fresh and quick_recovery._is_plain(quick_recovery.START, str(root))

    assert is_taken()
    change, wanted = CHANGES[name]
    change(root)
    assert is_taken() is (wanted == "prepared")


@pytest.mark.parametrize("name", [name if name in CHOSEN else soaked(name) for name in CHANGES])
def test_what_was_prepared_counts_until_something_changes_that_matters(
    root: Path, name: str
) -> None:
    """A document that changed is read; where more than a workflow may have a say, all of it is asked."""
    change, wanted = CHANGES[name]
    change(root)
    assert way(run(root, "session-start")[1]) == wanted


def test_a_start_after_a_change_by_hand_imports_only_what_it_touches(root: Path) -> None:
    """No settings and no source are here, and every record says when it began: nobody reads any of them."""
    (root / "CLAUDE/Plan/001/PLAN.md").unlink()
    path = root / ".claude/state/workflow.json"
    path.write_text(path.read_text().replace("Design", "Drawing"))
    said, modules = run(root, "session-start")
    assert (way(modules), "Drawing" in said) == ("alone", True)
    assert modules & UNTOUCHED == set()


def test_a_file_that_was_changed_within_a_tick_is_noticed(root: Path) -> None:
    """The same date and size: the content of what was young when it was prepared is compared."""
    path = root / "CLAUDE.local.md"
    path.write_text("Notes")
    about = path.stat()
    files = {
        "CLAUDE.local.md": prepared_recovery.fingerprint(str(root), path.name, about.st_mtime_ns)
    }
    assert list(prepared_recovery.changed(str(root), files)) == []
    with path.open("r+") as file:
        file.write("Other")
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert list(prepared_recovery.changed(str(root), files)) == ["CLAUDE.local.md"]


def test_another_file_of_the_same_date_and_size_is_noticed(root: Path) -> None:
    """It has another number, as a file has that was put there in place of the first."""
    path, other = root / "CLAUDE.local.md", root / "other"
    for each in (path, other):
        each.write_text("Notes")
        os.utime(each, ns=(0, 0))
    files = {path.name: prepared_recovery.fingerprint(str(root), path.name, 2**62)}
    assert list(prepared_recovery.changed(str(root), files)) == []
    other.replace(path)
    assert list(prepared_recovery.changed(str(root), files)) == [path.name]


def test_a_new_session_is_told_what_was_prepared_and_goes_on_with_it(root: Path) -> None:
    """The quick path writes no document: whose the workflow is now is noted, read, and written next.

    For the session that led it the next one is read: it was not prepared. That start's commit takes the
    note into the record.
    """
    said, modules = run(root, "session-start", "another")
    assert (way(modules), "Mine" in said) == ("prepared", True)
    assert {one.workflow.name: one.workflow.session for one in _found(root)} == {
        "Mine": "another", "Other": SESSION,
    }  # fmt: skip
    assert "another" not in (root / ".claude/state/workflow.json").read_text()
    said, modules = run(root, "session-start")
    assert (way(modules), 'Workflow \\"Other\\"' in said) == ("alone", True)
    assert not list((root / ".lifecycle").glob("adopted-*"))
    (mine,) = root.glob("untracked/workflow-state/mine/*.json")
    assert '"another"' in mine.read_text()
    assert way(run(root, "session-start", "another")[1]) == "prepared"


def test_what_another_living_session_leads_is_named_and_not_told(root: Path) -> None:
    """While the leader's client runs, another session hears the names alone; once it is gone, all of it."""
    with subprocess.Popen(["sleep", "60"]) as leader:
        steps = WorkflowSteps(_store(root), Asker("leader", leader.pid))
        for name in ("Other", "Mine"):
            steps.set_status(PhaseStatus.BLOCKED, name=name, reason="it waits")
        said, modules = run(root, "session-start", "another")
        assert (way(modules), "Other workflows here" in said) == ("prepared", True)
        assert "ACTION REQUIRED" not in said
        assert run(root, "session-start", "a third", in_full=True)[0] == said
        leader.kill()
    said, modules = run(root, "session-start", "a fourth")
    assert (way(modules), "ACTION REQUIRED" in said) == ("prepared", True)


@pytest.mark.parametrize("branch", ["red", "blue"])
def test_the_workflow_of_the_branch_that_is_checked_out_is_told(root: Path, branch: str) -> None:
    """What was prepared outlives a change of branch, and has an answer for each."""
    for name in ("red", "blue"):
        steps = WorkflowSteps(_store(root), Asker("", 0, name))
        steps.start(Workflow("", f"On {name}", phases=(WorkflowPhase("Design"),)))
    (root / ".git/HEAD").write_text(f"ref: refs/heads/{branch}\n")
    said, modules = run(root, "session-start", "another")
    assert (way(modules), f'Workflow \\"On {branch}\\"' in said) == ("prepared", True)


def test_compactions_are_counted_on_the_quick_path_too(root: Path) -> None:
    """Each is noted; the next commit has the sum in the record, and leaves no note behind."""
    for _ in range(3):
        assert way(run(root, "pre-compact")[1]) == "prepared"
    assert _found(root)[0].workflow.compactions == 3
    workflow_marks.put_note(str(root), "wf_20200101_000000", (("gone", 0, ""), 1))
    _store(root).settle()
    assert not list((root / ".lifecycle").glob("adopted-*"))
    assert '"compactions": 3' in (root / ".claude/state/workflow.json").read_text()


def test_the_four_functions_prepare_the_next_start(root: Path) -> None:
    """A program that wrote last leaves an answer, as a command does."""
    id_ = create_workflow_state("By a program", ["Design", "Build"], root=root)
    update_phase_status(id_, "phase_0", "active", root=root)
    said, modules = run(root, "session-start", "another")
    assert (way(modules), "By a program" in said) == ("prepared", True)


def test_a_source_that_nobody_has_taken_over_is_read_at_the_compaction(root: Path) -> None:
    """It lay there when the last command prepared: a start may go by that, a compaction not."""
    lines = "# Workflow State\nWorkflow: From notes\nPhase: 1/2 - Look\n"
    (root / "CLAUDE.local.md").write_text(lines)
    _store(root).settle()
    assert way(run(root, "session-start")[1]) == "prepared"
    said, modules = run(root, "pre-compact")
    assert (way(modules), "From notes" in said) == ("alone", True)
    assert way(run(root, "pre-compact")[1]) == "prepared"


def test_a_variable_that_asks_for_a_board_leads_to_the_full_path(root: Path) -> None:
    """Then there is more to say than was prepared."""
    assert way(run(root, "session-start", LIFECYCLE_PROJECT_NUMBER="1")[1]) == "full"


def test_what_is_wrong_with_files_is_told_on_every_way(root: Path) -> None:
    """A broken document costs the user one sentence at each start, prepared or not."""
    (root / ".claude/state/workflows/wf_1.json").write_text("{")
    first, modules = run(root, "session-start")
    assert (way(modules), "wf_1.json is not used" in first) == ("alone", True)
    again, modules = run(root, "session-start", through=ANOTHER_CLIENT)
    assert (way(modules), again) == ("prepared", first)
    assert run(root, "session-start", "another", in_full=True)[0] == first


def _found(root: Path) -> Sequence[FoundWorkflow]:
    return _store(root).read().unfinished


def test_what_came_with_a_repository_is_not_printed(root: Path, tmp_path: Path) -> None:
    """A prepared answer counts beside the very git folder that it was made beside."""
    assert prepared_recovery.load(str(root), __version__) is not None
    prepared = json.loads((root / ".lifecycle/recovery.json").read_text())
    forged = {**prepared, "files": {}}
    elsewhere = tmp_path / "clone"
    subprocess.run(["git", "init", "--quiet", str(elsewhere)], check=True)
    (elsewhere / ".lifecycle").mkdir()
    (elsewhere / ".lifecycle/recovery.json").write_text(json.dumps(forged))
    assert prepared_recovery.load(str(elsewhere), __version__) is None
    (root / ".lifecycle/recovery.json").write_text(json.dumps(forged))
    assert prepared_recovery.load(str(root), __version__) is not None  # git's own file decides
    assert prepared_recovery.load(str(root), "0.0.9") is None


@pytest.mark.parametrize(
    "content", ["{", '{"form": [2, "x"]}', *map(soaked, ("", "[]", "{}", "\0" * 100))]
)
def test_what_is_broken_is_prepared_anew(root: Path, content: str) -> None:
    """It is read, told, and prepared again."""
    (root / ".lifecycle/recovery.json").write_text(content)
    said, modules = run(root, "session-start")
    assert "Mine" in said
    assert way(modules) == "alone"
    assert prepared_recovery.load(str(root), __version__) is not None


def test_the_first_compaction_with_a_source_alone_loads_nothing_else(tmp_path: Path) -> None:
    """There is no document yet: one is made of the source, and the next compaction is prepared."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / "CLAUDE.local.md").write_text("# Workflow State\nWorkflow: W\nPhase: 1/2 - Look\n")
    said, modules = run(tmp_path, "pre-compact")
    assert (way(modules), 'Workflow "W", phase 1/2' in said) == ("alone", True)
    assert len(list(tmp_path.glob("untracked/workflow-state/w/state-w-*.json"))) == 1
    assert run(tmp_path, "pre-compact")[0] == said


def test_a_start_that_fails_before_it_tells_keeps_no_other_way_of_it_waiting(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the session is owed cannot be noted: the full path, in this very process, begins at once."""
    (root / ".lifecycle" / f"{workflow_marks.OWED}{SESSION}").symlink_to("nowhere")
    answer = {"told": "Mine", "person": ""}
    with pytest.warns(ResourceWarning), pytest.raises(StrangeFileError):
        quick_recovery._start(str(root), SESSION, "resume", 1, answer)
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    begun = workflow_marks.begin_start(str(root), SESSION, "resume", 1, 1.0)
    assert (begun is not None, waited) == (True, [])
    with pytest.warns(ResourceWarning):
        del begun
