"""A reconcile on a terminal: a progress bar during the run, then a table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.text import Text

from lifecycle.cli import terminal
from lifecycle.cli.reconcile import reconcile_words as words
from lifecycle.cli.terminal import Column, fitted, one_line, table
from lifecycle.reconcile.finding import Finding, State, SweepReport
from lifecycle.reconcile.sweep import Progress

TITLE = 28
"""The most columns of a title."""

_URL = re.compile(r"https?://[!-~]+")
"""An address that is safe in a terminal's link: no space and no control character."""


@contextmanager
def bar() -> Iterator[Progress]:
    """Show a progress bar on standard error while the block runs; yields the function that moves it."""
    label = TextColumn("{task.description}")
    columns = (label, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=terminal.console(is_error=True), transient=True) as shown:
        row, heading = shown.add_task("asking GitHub", total=None), ""

        def tell(subject: str, done: int, total: int | None) -> None:
            nonlocal row, heading
            if subject != heading:  # a row of its own: a known total cannot be removed again
                shown.remove_task(row)
                row, heading = shown.add_task(one_line(subject), total=total), subject
            shown.update(row, completed=done, total=total)

        yield tell


def show(report: SweepReport, console: Console | None = None) -> None:
    """Print a report as tables with its ending, to standard output unless a console is given."""
    shown = fitted(console)
    title = Text("lifecycle reconcile", style="bold")
    shown.print(title.append("  dry run", "not bold cyan") if report.is_dry_run else title)
    shown.print()
    (_, rows), *folds = words.parted(report)
    columns = (
        Column("", lambda finding: _sign(finding.state)),
        Column("task", lambda finding: _linked(words.task_of(finding), finding.url), most=40),
        Column("finding", lambda finding: finding.kind, "bold"),
        Column("what is so", lambda finding: finding.evidence, most=None),
        Column("what is done", _done, most=None),
        Column("", lambda finding: finding.title, "dim", TITLE),
    )
    if rows:
        shown.print(table(shown, columns, rows))
        shown.print()
    for head, _ in folds:
        shown.print(_sign(State.LEFT).append(f" {one_line(head)}"))
    if folds:
        shown.print()
    _show_waiting(report, shown)
    first, *further = words.ending(report)
    style = words.FORMS[State.FAILED].style if report.failed else "bold"
    shown.print(Text(one_line(first), style=style))
    for line in further:
        shown.print(Text(one_line(line)))


def _show_waiting(report: SweepReport, shown: Console) -> None:
    """Print a table of the first open pull requests and whom they wait for; nothing if none waits."""
    if not report.waiting:
        return
    shown.print(Text(words.waiting_head(report), "bold"))
    pulls, more = words.waiting_listed(report)
    columns = (
        Column("pull request", lambda pull: _linked(words.pull_name(pull), pull.url), most=40),
        Column("waits for", words.whom, "bold", most=40),
        Column("how it stands", lambda pull: pull.why, most=None),
        Column("", lambda pull: pull.title, "dim", TITLE),
    )
    shown.print(table(shown, columns, pulls))
    if more:
        shown.print(Text(more, "dim"))
    shown.print()


def _sign(state: State) -> Text:
    return Text(words.FORMS[state].sign, words.FORMS[state].style)


def _linked(name: str, url: str) -> Text:
    return Text(one_line(name), f"link {url}" if _URL.fullmatch(url) else "")


def _done(finding: Finding) -> Text:
    """The state of a finding with its fix, and the reason if it was not applied."""
    measure, style = one_line(words.measure(finding)), words.FORMS[finding.state].style
    return Text.assemble((finding.state, style), f": {measure}" if measure else "")
