"""`lifecycle run resume-context|resume|stop`: how a run goes on, or does not."""

from __future__ import annotations

import sys

import click

from lifecycle.cli.command_session import option
from lifecycle.cli.run.run_session import RunSession, in_run
from lifecycle.cli.terminal import is_terminal
from lifecycle.run.stop import caps
from lifecycle.run.trouble import brakes
from lifecycle.run.trouble.resume_context import resume_data, resume_lines
from lifecycle.settings.persons import person


@click.command("resume-context", short_help="Where the run goes on after a blocker.")
@option("--text", "Print the block for the developer; so it is on a terminal.")
@in_run
def resume_context(given: RunSession, *, text: bool) -> None:
    """Print as JSON where the run goes on after the user fixed something, and what was fixed."""
    run = given.store.demanded()
    if text or (is_terminal(sys.stdout) and not given.as_json):
        given.show(resume_lines(run), {**resume_data(run), "text": resume_lines(run)})
        return
    given.show_json(resume_data(run))


@click.command("resume", short_help="Let a stopped run go on; a person does.")
@option(
    "--iterations N",
    "So many more turns, where its cap stopped it. Default: as many as at first.",
    type=click.IntRange(min=1),
    default=None,
)
@in_run
def resume(given: RunSession, *, iterations: int | None) -> None:
    """Let the run go on that was stopped: by you, at a cap, or because nothing moved any more.

    Its counts go on; of what the caps limit the same is granted once more. A person does this: in a
    terminal outside of the client, or with a prompt after the run was stopped.
    """
    limits = given.world.settings.run
    with given.store.changing() as change:
        run = change.run
        brakes.demand_stopped(run)
        by = person(given.presence(run), run.stopped_at, "lifecycle run resume")
        reached = caps.exceeded(run, limits, given.now)
        run = caps.granted(brakes.resumed(run, given.now, by), given.now)
        change.run = run if iterations is None else caps.with_left(run, limits, iterations)
        done = f"Resumed: {run.id} (by a {by})"
        change.note(done)
    again = [f"The run was at a limit ({reached}), and may take as much again."] if reached else []
    status = change.run.status.value
    waits = f"It is {status.replace('_', ' ')}."
    next_line = (
        "Start the client in this folder, or write a prompt there." if status == "active" else waits
    )
    given.show([done, *again, next_line], {"status": status, "by": by, "reached": reached})


@click.command("stop", short_help="Stop the run; a person does.")
@option("--why TEXT", "Why; it is shown to whoever asks.", default="")
@in_run
def stop(given: RunSession, *, why: str) -> None:
    """Stop the run: its session may end, and no session goes on with it before lifecycle run resume.

    All of it is kept. A person does this: in a terminal outside of the client, or with a prompt since the
    agent was last told to go on.
    """
    with given.store.changing() as change:
        run = change.run
        by = person(given.presence(run), brakes.stop_asked_at(run), "lifecycle run stop")
        change.run = brakes.stopped(run, given.now, by, why)
        done = f"Stopped: {run.id} ({change.run.why}; by a {by})"
        change.note(done)
    data = {"status": change.run.status.value, "why": change.run.why, "by": by}
    given.show([done, "All of it is kept. Go on with: lifecycle run resume"], data)
