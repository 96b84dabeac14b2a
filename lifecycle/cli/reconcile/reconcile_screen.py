"""A reconcile on a terminal: a bar while it works, then a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from lifecycle.cli import terminal
from lifecycle.cli.reconcile import reconcile_words as words
from lifecycle.cli.terminal import fitted, grid, one_line
from lifecycle.reconcile.finding import Finding, State, SweepReport
from lifecycle.reconcile.sweep import Progress
from lifecycle.reconcile.waiting_pulls import WaitingPull

WIDTH = 160
"""Columns at most: further apart, the cells of a row lose each other."""

WIDE = 120
"""From so many columns of the terminal on, evidence and fix have columns of their own."""

NARROW = 60
"""Below so many columns, a finding is a block of lines."""

TITLE = 28
"""Columns of a title in a wide table."""

_URL = re.compile(r"https?://[!-~]+")
"""An address that can stand in a terminal's link: no space and no control character."""


@contextmanager
def bar() -> Iterator[Progress]:
    """Show a progress bar on standard error while the block runs; yields the function that moves it."""
    label = TextColumn("{task.description}")
    columns = (label, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=terminal.console(is_error=True), transient=True) as shown:
        row, heading = shown.add_task("asking GitHub", total=None), ""

        def tell(subject: str, done: int, total: int | None) -> None:
            nonlocal row, heading
            if subject != heading:  # a row of its own: a total that was known cannot be taken back
                shown.remove_task(row)
                row, heading = shown.add_task(one_line(subject), total=total), subject
            shown.update(row, completed=done, total=total)

        yield tell


def show(report: SweepReport, console: Console | None = None) -> None:
    """Print a report as tables with its ending, to standard output unless a console is given."""
    shown = fitted(console, WIDTH)
    title = Text("lifecycle reconcile", style="bold")
    shown.print(title.append("  dry run", "not bold cyan") if report.is_dry_run else title)
    shown.print()
    form = _ReportForm(report, shown.width, words.signs_for(shown.encoding))
    rows, folds = words.parted(report)
    by_repository = groupby(rows, lambda finding: finding.repository)
    for index, (repository, findings) in enumerate(by_repository):
        shown.print(Text(one_line(repository), "bold", no_wrap=True, overflow="ellipsis"))
        shown.print(form.table(findings, has_header=not index))
        shown.print()
    for fold in folds:
        sign = form.signs[State.LEFT]
        shown.print(Text(f"{sign} {one_line(fold.head)}", words.FORMS[State.LEFT].style))
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
    number = max(len(words.pull_name(pull)) for pull in pulls)
    is_wide = shown.width >= WIDE
    widths = [number, TITLE, None, None] if is_wide else [None]
    head = ("pull request", "", "waits for", "how it stands") if is_wide else ()
    shown.print(grid(widths, [_waits_cells(pull, is_wide=is_wide) for pull in pulls], head))
    if more:
        shown.print(Text(more, "dim"))
    shown.print()


def _waits_cells(pull: WaitingPull, *, is_wide: bool) -> list[Text]:
    name, title = _linked(words.pull_name(pull), pull.url), Text(one_line(pull.title), "dim")
    who, why = Text(one_line(words.whom(pull)), "bold"), Text(one_line(pull.why))
    if is_wide:
        title.truncate(TITLE, overflow="ellipsis")
        return [name, title, who, why]
    return [Text("\n").join((Text.assemble(name, " ", title), Text.assemble(who, ": it ", why)))]


class _ReportForm:
    """The layout of findings on so many columns; one for every repository, so that columns meet.

    Attributes:
        width: of the whole, in columns.
        task: width of a task's number.
        kind: width of a finding's kind.
        signs: the sign of each state that this output can hold.
    """

    def __init__(self, report: SweepReport, width: int, signs: Mapping[State, str]) -> None:
        self.width, self.signs = width, signs
        self.task = max(map(len, ["task", *(f"#{finding.issue}" for finding in report.findings)]))
        self.kind = max(map(len, ["finding", *(finding.kind for finding in report.findings)]))

    def table(self, findings: Iterable[Finding], *, has_header: bool) -> Table:
        """One repository's findings; a header only where evidence and fix have columns of their own."""
        widths: list[int | None] = [1, self.task, self.kind, None]
        if self.width >= WIDE:
            widths = [1, self.task, TITLE, self.kind, None, None]
        elif self.width < NARROW:
            widths = [1, None]
        is_headed = self.width >= WIDE and has_header
        head = ("", "task", "", "finding", "what is so", "what is done") if is_headed else ()
        rows = (self._cells(finding) for finding in findings)
        return grid(widths, rows, head, overflow="ellipsis")

    def _cells(self, finding: Finding) -> list[Text]:
        sign = Text(self.signs[finding.state], words.FORMS[finding.state].style)
        number = _linked(f"#{finding.issue}", finding.url)
        kind = Text(finding.kind, "bold")
        title = Text(one_line(finding.title), "dim")
        evidence = Text(one_line(finding.evidence))
        if self.width >= WIDE:
            title.truncate(TITLE, overflow="ellipsis")
            return [sign, number, title, kind, evidence, _done(finding)]
        if self.width >= NARROW:
            title.truncate(self.width - self.task - self.kind - 9, overflow="ellipsis")
            return [sign, number, kind, Text("\n").join((title, evidence, _done(finding)))]
        head = Text.assemble(number, " ", kind)
        return [sign, Text("\n").join((head, title, evidence, _done(finding)))]


def _linked(name: str, url: str) -> Text:
    return Text(one_line(name), f"link {url}" if _URL.fullmatch(url) else "")


def _done(finding: Finding) -> Text:
    """The state of a finding with its fix, and the reason if it was not applied."""
    reason = words.why_not(finding)
    colon = ":" if finding.fix or reason else ""
    parts = [Text(f"{finding.state}{colon}", words.FORMS[finding.state].style)]
    if finding.fix:
        parts.append(Text(one_line(finding.fix)))
    if reason:
        parts.append(Text(one_line(reason), "yellow"))
    return Text(" ").join(parts)
