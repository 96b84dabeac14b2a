"""`lifecycle stats`: what the journal tells of times, attempts and bottlenecks. No network."""

from __future__ import annotations

import os
from pathlib import Path

import click

from lifecycle.cli.command_session import Session, in_worktree
from lifecycle.core.redact import visible
from lifecycle.storage import journal
from lifecycle.views.stats.stats_json import as_json as plain
from lifecycle.views.stats.stats_words import count, moment
from lifecycle.views.stats.summary import Wanted, summarize

EMPTY = (
    "Nothing is in the journal of this clone yet; it fills while claims and the staged workflow are at "
    "work, so begin with: lifecycle claim <number>"
)


@click.command("stats", short_help="Show times, attempts and bottlenecks; no network.")
@click.option(
    "--since",
    metavar="PERIOD",
    help="Only what ended within this period (90m, 24h, 7d, 2w) or since this date (2026-01-31).",
)
@click.option("--label", metavar="LABEL", help="Only tasks with this label, or LABEL:anything.")
@click.option("--task", metavar="ID", help="Only this task, and its way through the stages.")
@click.option(
    "--html",
    "page",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write a page with charts that needs no network; one that is there is replaced.",
)
@in_worktree()
def command(
    session: Session, *, since: str | None, label: str | None, task: str | None, page: Path | None
) -> None:
    """Show how long tasks are in each stage and phase, how often that led onward, and what holds work up.

    All worktrees of this clone count. A stage's time begins when the task enters it and ends when it
    goes on. A silence of more than two hours in between is time away (a closed laptop) and is shown
    beside it; phases that wait for reviews and CI are counted whole. "9 of 10 within" is the time that
    nine of ten visits did not exceed. An attempt is a completion that was accepted, one that was not,
    or a step back.
    """
    start = moment(since, session.world.clock.now()) if since else float("-inf")
    entries = journal.read(session.root)
    wanted = Wanted(start, label or "", task or "")
    summary = summarize(entries, wanted)
    if not summary.entries and not summary.told:
        session.show(
            [_nothing(len(entries), since, wanted, page)], {**plain(summary), "page": None}
        )
        return
    if page is not None:
        from lifecycle.views.stats.stats_page import write

        write(page, summary, _about(since, wanted))
    where = os.fspath(page.absolute()) if page is not None else None
    if session.as_json:
        session.show([], {**plain(summary), "page": where})
        return
    from lifecycle.cli.stats.stats_screen import show

    show(summary, is_told=bool(task))
    if where is not None:
        click.echo(f"The page is {visible(where)}")


def _about(since: str | None, wanted: Wanted) -> str:
    parts = [
        f"task {wanted.task}" if wanted.task else "all tasks",
        f"with the label {wanted.label}" if wanted.label else "",
        f"since {since}" if since else "",
    ]
    return " ".join(part for part in parts if part)


def _nothing(whole: int, since: str | None, wanted: Wanted, page: Path | None) -> str:
    unwritten = "; no page was written" if page is not None else ""
    if not whole:
        return EMPTY.replace(" yet;", f" yet{unwritten};", 1)
    return (
        f"Nothing in the journal fits {_about(since, wanted)}{unwritten}; it has "
        f"{count(whole, 'entry', 'entries')}: leave out --since, --label or --task to see more."
    )
