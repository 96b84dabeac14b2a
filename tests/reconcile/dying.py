"""Ends a run at its N-th write to GitHub or to git: by an exception, or by SIGKILL as a process of its own.

A process is staged by `stage`, with DIE_AT and DIE_NOTE in its environment: which write, and a file that
gets the writes' names.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lifecycle.git import lease
from lifecycle.github.board.board_client import GitHubBoard
from lifecycle.github.board.status_labels import LabelsBoard
from lifecycle.github.operations.joint_writes import JointWrites
from lifecycle.github.pulls.forge import GitHubForge

WRITES: tuple[tuple[Any, str], ...] = (
    (GitHubForge, "create_pull_request"),
    (GitHubForge, "set_pull_request_texts"),
    (GitHubForge, "comment"),
    (GitHubForge, "delete_comment"),
    (GitHubForge, "close_issue"),
    (GitHubForge, "unassign"),
    (GitHubForge, "move_ref"),
    (GitHubBoard, "set_fields"),
    (GitHubBoard, "add"),
    (LabelsBoard, "put_on"),
    (JointWrites, "send"),
    (lease, "release"),
)
"""Everything by which a run changes the world."""

DIE_AT, DIE_NOTE = "TEST_DIE_AT", "TEST_DIE_NOTE"


class Died(BaseException):
    """The run ends here, as if killed."""


def die_at(put: Callable[[Any, str, Any], None], moment: int, *, after: bool = False) -> list[str]:
    """End the run before or after the `moment`-th write; the names of those that came.

    Args:
        put: sets an attribute, as `monkeypatch.setattr` does.
        moment: counted from 1; 0 for never.
        after: the write is done, and nobody hears of it.
    """
    seen: list[str] = []

    def end() -> None:
        raise Died(seen[-1])

    _stage(put, seen, lambda: len(seen) == moment, end, after=after)
    return seen


def _stage(
    put: Callable[[Any, str, Any], None],
    seen: list[str],
    is_due: Callable[[], bool],
    end: Callable[[], None],
    *,
    after: bool,
) -> None:
    def staged(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            seen.append(name)
            if is_due() and not after:
                end()
            result = real(*arguments, **named)
            if is_due() and after:
                end()
            return result

        return run

    for owner, name in WRITES:
        put(owner, name, staged(name, getattr(owner, name)))


def _killed(note: Path, moment: int) -> None:
    """Stage this process's end."""
    seen: list[str] = []

    def is_due() -> bool:
        note.write_text("\n".join(seen))
        return len(seen) == moment

    def end() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    _stage(setattr, seen, is_due, end, after=False)


def stage(environment: Mapping[str, str]) -> None:
    """Stage the end of a process whose environment names its moment; `tests.e2e.forked` asks."""
    _killed(Path(environment[DIE_NOTE]), int(environment[DIE_AT]))
