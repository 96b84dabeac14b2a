"""`lifecycle run init|recover`: begin a run, and find it again."""

from __future__ import annotations

import click

from lifecycle.cli.command_session import Session, in_worktree, option
from lifecycle.cli.run.run_session import RunSession
from lifecycle.core.errors import Refused
from lifecycle.run.begin import new_run
from lifecycle.run.run_store import PATH
from lifecycle.run.stop import leading
from lifecycle.run.texts import recovery_text


@click.command("init", short_help="Begin a run with a goal.")
@click.argument("goal")
@option("--autonomous", "Nobody is asked: answers are assumed, and logged.")
@option("--anew", "Set a run aside that is there, and begin another.")
@in_worktree()
def init(session: Session, *, goal: str, autonomous: bool, anew: bool) -> None:
    """Begin a run with a goal, in this worktree. What was clarified before it is adopted."""
    given = RunSession(session)
    store = given.store
    branch = session.world.git.current_branch() or ""
    with store.locked():
        early = store.early()
        run = new_run(goal, given.now, autonomous=autonomous, clarifications=early, branch=branch)
        run = leading.adopted(run, given.client_session, given.client_process, given.now)
        if anew:
            store.set_aside("replaced")
        before = store.load()
        if before is not None and not before.is_over:
            raise Refused(
                f"The run {before.id} is not over ({before.goal[:80]}), so none was begun. Go on with it: "
                "lifecycle run recover; or set it aside with: lifecycle run init --anew"
            )
        if before is not None:
            store.set_aside(before.id)
        store.begin(run)
        store.note(given.now, f"Run {run.id} began: {run.goal}")
        store.keep_early(())
    adopted = [f"Adopted {len(early)} clarification{'s'[: len(early) > 1]}"] if early else []
    session.show(
        [f"Initialized workflow: {run.id}", f"Goal: {run.goal}", f"State: {PATH}", *adopted],
        {
            "workflow_id": run.id,
            "goal": run.goal,
            "phase": run.phase.value,
            "state": PATH,
            "clarifications": len(early),
        },
    )


@click.command("recover", short_help="Find the run of this worktree again.")
@in_worktree()
def recover(session: Session) -> None:
    """Say whether there is a run here, where it stands and what comes next; for a session's start.

    The client's session that asks leads it from now on, unless another one that runs does.
    """
    given = RunSession(session)
    run = given.store.load()
    if run is not None and not run.is_over and given.client_session:
        with given.store.changing() as change:
            who = given.client_session, given.client_process
            if not leading.is_held(change.run, *who, given.store.folder, given.now):
                change.run = leading.adopted(change.run, *who, given.now)
            run = change.run
    session.show(
        recovery_text.recovery_lines(run, given.now), recovery_text.recovery_data(run, given.now)
    )
