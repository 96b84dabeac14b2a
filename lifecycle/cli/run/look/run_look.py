"""`lifecycle run status|progress|trim-progress|report`: where a run stands, and what happened in it."""

from __future__ import annotations

import sys

import click

from lifecycle.cli.command_session import option
from lifecycle.cli.run.run_session import RunSession, in_run
from lifecycle.cli.terminal import is_terminal
from lifecycle.run.run_store import PROGRESS
from lifecycle.run.table import KEPT_LINES

_LINES = click.IntRange(1, 10_000)


@click.command("status", short_help="Where the run stands, story by story.")
@option("--all", "Every story, also of very many.", "every")
@in_run
def status(given: RunSession, *, every: bool) -> None:
    """Show the run: its stories with their checks and gates on the files as they are, and what is next.

    A check that has no record on this tree is PENDING, whatever was said of it.
    """
    from lifecycle.run.texts import status_text

    run, written = given.store.demanded(), given.store.written_at
    facts = given.facts(run)
    data = {}
    if given.as_json:
        data = status_text.status_data(run, facts, given.now, written=written, every=every)
    view = status_text.status_view(run, facts, given.now, written=written, every=every)
    is_drawn = is_terminal(sys.stdout) and not given.as_json
    if is_drawn:
        from lifecycle.cli.run.look.run_screen import draw_status

        draw_status(view)
    given.show([] if is_drawn else status_text.status_lines(view), data)


@click.command("progress", short_help="What happened last in the run.")
@option("--lines N", "How many lines. Default: 20.", type=_LINES, default=20)
@in_run
def progress(given: RunSession, *, lines: int) -> None:
    """Show the last lines of the progress file, the newest last."""
    found = given.store.progress.tail(lines)
    is_drawn = is_terminal(sys.stdout) and not given.as_json
    if is_drawn and found:
        from lifecycle.cli.run.look.run_screen import draw_progress

        draw_progress(found)
    told = [] if is_drawn and found else found or ["There is no progress yet."]
    given.show(told, {"lines": found})


@click.command("trim-progress", short_help="Keep the last lines of the progress file only.")
@option("--lines N", f"How many are kept. Default: {KEPT_LINES}.", type=_LINES, default=KEPT_LINES)
@in_run
def trim_progress(given: RunSession, *, lines: int) -> None:
    """Let the progress file keep its last lines; a run of more than an hour does it by itself."""
    store = given.store
    with store.locked():
        before, kept = store.progress.trim(lines)
    said = f"Trimmed {PROGRESS}: {kept:,} of {before:,} lines are left"
    given.show([said], {"before": before, "kept": kept})


@click.command("report", short_help="The progress report; due every 3 stories or 30 minutes.")
@in_run
def report(given: RunSession) -> None:
    """Print the progress report of the run, and note that it was given."""
    from lifecycle.run.texts import report_text

    facts, now = given.facts(given.store.demanded()), given.now
    with given.store.changing() as change:
        run = change.run
        if not run.is_over:
            change.run = report_text.reported(run, now)
            done = f"{len(run.completed_stories)}/{len(run.stories)}"
            change.note(f"Progress report: {done} stories completed")
    given.show(report_text.report_lines(run, facts, now), report_text.report_data(run, facts, now))
