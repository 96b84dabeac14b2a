"""What every command starts from: the worktree, its world, and a way to print."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from lifecycle import log
from lifecycle.claim.desk import Desk
from lifecycle.claim.state import Record
from lifecycle.clock import SystemClock
from lifecycle.deadline import Deadline
from lifecycle.errors import LifecycleError, Refused
from lifecycle.redact import redact, visible
from lifecycle.store import worktree_root
from lifecycle.wiring import World

SECONDS = 60.0
"""How long a command may take in all; a person waits for it."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Session:
    """One command's worktree."""

    root: Path
    desk: Desk
    world: World
    as_json: bool

    def show(self, lines: list[str], data: Mapping[str, Any]) -> None:
        """Print sentences for a person, or one JSON object for a machine."""
        if self.as_json:
            click.echo(redact(json.dumps(dict(data), ensure_ascii=False, default=str)))
            return
        for line in lines:
            click.echo(redact(visible(line)))


def begin(
    *, as_json: bool, seconds: float | None = SECONDS, changes_tasks: bool = False
) -> Session:
    """The session of the worktree that the current folder lies in.

    Args:
        as_json: print one JSON object instead of sentences.
        seconds: how long the command may take in all.
        changes_tasks: the command changes a task: at its end, however that comes, hooks do not believe
            any more what the tracker said before.

    Raises:
        Refused: the current folder is in no git worktree.
    """
    root = worktree_root(Path.cwd())
    if root is None:
        raise Refused(f"{Path.cwd()} is in no git worktree; go to the repository that you work in.")
    clock = SystemClock()
    desk = Desk(root, clock)
    world = World(root, os.environ, clock, Deadline.after(clock, seconds), desk.state)
    session = Session(root, desk, world, as_json)
    if changes_tasks:
        click.get_current_context().call_on_close(lambda: _forget_tasks(session))
    return session


def _forget_tasks(session: Session) -> None:
    """What the staged workflow knows of the tasks is old; what keeps that from being noted is logged."""
    from lifecycle.stages import activity, marks
    from lifecycle.stages.shelf import Shelf

    shelf = Shelf(session.root)
    try:
        if shelf.path(activity.TASKS).exists() and not session.world.is_tracked(marks.FOLDER):
            activity.drop(shelf, session.world.clock.now())
    except (LifecycleError, OSError) as error:
        log.write(session.root, f"tasks: {error}")


def claim_data(record: Record | None) -> dict[str, Any] | None:
    """The claim for `--json`: the file's fields, and what the engine knows beside them."""
    if record is None:
        return None
    return {
        **record.values,
        "pr_url": record.pr_url or None,
        "pr_head": record.pr_head or None,
        "checks": record.checks,
        "outcome": record.outcome or None,
        "linked": asdict(record.link) if record.link is not None else None,
    }


already_json = click.option(
    "--json",
    is_flag=True,
    expose_value=False,
    help="Accepted as everywhere; what this prints is JSON already.",
)
"""For commands that print JSON whether asked or not."""


def json_option(function: F) -> F:
    """Add `--json`."""
    option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
    return option(function)
