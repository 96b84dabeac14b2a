"""`lifecycle run init|recover`: begin a run, and find it again."""

from __future__ import annotations

from lifecycle.cli.run.run_session import RunSession
from lifecycle.run.checkpoints.checkpoint_refs import head_of
from lifecycle.run.run_store import PATH, StrangeRun
from lifecycle.run.state import Run
from lifecycle.run.stop import leading
from lifecycle.run.stories.begin import new_run
from lifecycle.run.texts import standing
from lifecycle.run.texts.told import refused
from lifecycle.run.trouble import brakes


def init(given: RunSession, *, goal: str, autonomous: bool, anew: bool) -> None:
    """Begin a run with a goal, in this worktree. What was clarified before it is adopted.

    A person sets a run aside (--anew): in a terminal outside of the client, or with a prompt after the
    agent was last told to go on, and after the run was stopped, or began to wait.
    """
    store = given.store
    git = given.world.git
    start = {"branch": git.current_branch() or "", "base": head_of(git), "autonomous": autonomous}
    with store.locked():
        early = store.early()
        run = new_run(goal, given.now, clarifications=early, **start)
        run = leading.adopted(run, given.client_session, given.client_process, given.now)
        if anew and store.is_there:
            _demand_person(given)
            store.set_aside("replaced")
        before = store.load()
        if before is not None and not before.is_over:
            raise refused("run-not-over", before=before, goal=" ".join(before.goal.split())[:80])
        if before is not None:
            store.set_aside(before.id)
        store.begin(run)
        store.note(given.now, f"Run {run.id} began: {run.goal}")
        store.keep_early(())
    adopted = [f"Adopted {len(early)} clarification{'s'[: len(early) > 1]}"] if early else []
    given.show(
        [f"Initialized workflow: {run.id}", f"Goal: {run.goal}", f"State: {PATH}", *adopted],
        {
            "workflow_id": run.id,
            "goal": run.goal,
            "phase": run.phase,
            "state": PATH,
            "clarifications": len(early),
        },
    )


def _demand_person(given: RunSession) -> None:
    """Refuse an agent of its own accord: who sets a run aside takes away what stopped it, too."""
    try:
        run = given.store.load()
    except StrangeRun:
        run = None  # nobody knows what it waits for: any prompt may have been about something else
    run = run or Run("", "", given.now)
    if not run.is_over:
        waited = run.fix.asked_at if run.fix is not None else 0.0
        asked_at = max(brakes.stop_asked_at(run), run.stopped_at, waited)
        given.person(run, asked_at, 'init --anew "GOAL"')


def recover(given: RunSession) -> None:
    """Say whether there is a run here, where it stands and what comes next; for a session's start.

    The client's session that asks leads it from now on, unless another one that runs does.
    """
    run = given.store.load()
    if run is not None and not run.is_over and given.client_session:
        with given.store.changing() as change:
            who = given.client_session, given.client_process
            if not leading.is_held(change.run, *who, given.store.folder, given.now):
                change.run = leading.adopted(change.run, *who, given.now)
            run = change.run
    about = (run, given.now, given.store.written_at)
    lines = standing.recovery_lines(*about)
    data = standing.recovery_data(*about)
    if run is not None:
        data["led_by"] = run.session
        if not run.is_over and given.client_session and run.session != given.client_session:
            lines.append(f"Note: {standing.held_line(run)}")
    given.show(lines, data)
