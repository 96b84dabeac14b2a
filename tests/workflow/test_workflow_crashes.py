"""A process that is killed at any write of a commit: what is read next is the old state or the new one."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lifecycle.run.run_store import PATH
from lifecycle.storage import store
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.store.document_files import CURRENT, VIEW
from lifecycle.workflow.store.found_workflows import WorktreeWorkflows
from tests.repeated import soaked
from tests.workflow.workflow_ground import WorkflowGround

MOST = 60
"""More moments than any of these commits has."""


def killed_at(moment: int, work: Callable[[], object]) -> bool:
    """Run `work` in a process of its own that is killed right before its n-th change of a file.

    True if it was; False if it came to its end before.
    """
    child = os.fork()
    if child == 0:
        _arm(moment)
        work()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def _arm(moment: int) -> None:
    """Have this process killed at its n-th rename, removal, exchange, or file that is made."""
    left = [moment]

    def change() -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        is_made = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT
        if is_made or event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir"):
            change()

    real = store.exchange

    def exchange(one: Path, other: Path) -> bool:
        change()
        return real(one, other)

    vars(store)["exchange"] = exchange
    sys.addaudithook(hear)


def ground_of(root: Path) -> WorkflowGround:
    """A worktree with a workflow whose second phase has a gate that can be passed, and another workflow."""
    ground = WorkflowGround.made(root)
    ground.start("A", name="Other")
    ground.start("Design", WorkflowPhase("Build", gate="file:there.txt"), "Ship")
    ground.write("there.txt", "")
    return ground


def starting(ground: WorkflowGround) -> object:
    """Begin a third workflow."""
    return ground.start("X", "Y", name="Third")


def advancing(ground: WorkflowGround) -> object:
    """Complete a phase, and begin the next."""
    return ground.advance(name="Feature X", deliverables=["d"], context_for_next="c")


def passing(ground: WorkflowGround) -> object:
    """Pass a gate after an edit by hand."""
    ground.edit(ground.document(), task="edited")
    return ground.advance(name="Feature X", phase="Design")


def completing(ground: WorkflowGround) -> object:
    """Archive a workflow."""
    return ground.steps.complete("Feature X", give_up="enough")


def read(ground: WorkflowGround) -> WorktreeWorkflows:
    """What is in the files, with the archive."""
    return ground.store.read(archived=True)


def names(every: WorktreeWorkflows) -> dict[str, tuple[object, ...]]:
    """What all workflows say, by their names."""
    assert len({one.workflow.id for one in every.found}) == len(every.found)
    return {one.workflow.name: told(one.workflow) for one in every.found}


def told(workflow: Workflow) -> tuple[object, ...]:
    """What a workflow says, without times."""
    statuses = tuple(phase.status for phase in workflow.phases)
    return statuses, workflow.current, workflow.task, workflow.is_over


def test_what_another_system_is_writing_beside_them_stays(tmp_path: Path) -> None:
    """A run's file lies in the same folder, under a lock of its own: only what is left of ours goes."""
    ground = ground_of(tmp_path)
    left = [f"{path}.0123456789abcdef{store.OURS}" for path in (CURRENT, VIEW)]
    theirs = [f"{path}.0123456789abcdef{store.OURS}" for path in (PATH, ".claude/state/tasks.json")]
    for path in (*left, *theirs):
        ground.write(path, "{}")
    advancing(ground)
    assert [path for path in (*left, *theirs) if (ground.root / path).exists()] == theirs


@pytest.mark.parametrize("step", [starting, soaked(advancing), soaked(passing), completing])
def test_a_kill_at_any_write_leaves_the_old_state_or_the_new(
    tmp_path: Path, step: Callable[[WorkflowGround], object]
) -> None:
    """Nothing is lost or doubled, nothing has to be mended by hand, and the step can be made again.

    A move of phases writes by the exchange that begins a workflow: to archive one has moments of its own.
    """
    reference = ground_of(tmp_path / "reference")
    before = shutil.copytree(reference.root, tmp_path / "before", symlinks=True)
    old = names(read(reference))
    step(reference)
    new = names(read(reference))
    assert old != new
    for moment in range(1, MOST):
        ground = WorkflowGround(shutil.copytree(before, tmp_path / str(moment), symlinks=True))
        edited = {**old}
        if step is passing:
            edited["Feature X"] = (*old["Feature X"][:2], "edited", False)
        was_killed = killed_at(moment, partial(step, ground))
        left = read(ground)
        now = names(left)
        assert now in (old, edited, new), moment
        assert left.troubles == (), moment
        ground.store.settle()
        settled = read(ground)
        assert names(settled) == now
        assert all(one.is_in_step for one in settled.found)
        assert not [path for path in ground.documents() if path.endswith(store.OURS)], moment
        if now != new and step is not passing:
            step(ground)
            assert names(read(ground)) == new
        if not was_killed:
            assert now == new
            return
    pytest.fail("the step has more writes than that")
