"""`lifecycle run init`: begin a run."""

from __future__ import annotations

import click

from lifecycle.cli.command_session import Session, in_worktree, option
from lifecycle.cli.run.run_session import RunSession
from lifecycle.core.errors import Refused
from lifecycle.run.begin import new_run
from lifecycle.run.run_store import PATH


@click.command("init", short_help="Begin a run with a goal.")
@click.argument("goal")
@option("--autonomous", "Nobody is asked: answers are assumed, and logged.")
@option("--anew", "Set a run aside that is there, and begin another.")
@in_worktree()
def init(session: Session, *, goal: str, autonomous: bool, anew: bool) -> None:
    """Begin a run with a goal, in this worktree."""
    given = RunSession(session)
    run = new_run(goal, given.now, autonomous=autonomous)
    with given.store.locked():
        if anew:
            given.store.set_aside("replaced")
        before = given.store.load()
        if before is not None and not before.is_over:
            raise Refused(
                f"The run {before.id} is not over ({before.goal[:80]}), so none was begun. Go on with it: "
                "lifecycle run recover; or set it aside with: lifecycle run init --anew"
            )
        if before is not None:
            given.store.set_aside(before.id)
        given.store.begin(run)
        given.store.note(given.now, f"Run {run.id} began: {run.goal}")
    session.show(
        [f"Initialized workflow: {run.id}", f"Goal: {run.goal}", f"State: {PATH}"],
        {"workflow_id": run.id, "goal": run.goal, "phase": run.phase.value, "state": PATH},
    )
