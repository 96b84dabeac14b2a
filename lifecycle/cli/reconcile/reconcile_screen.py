"""A reconcile on a terminal: a bar while it works, then a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from lifecycle.cli import terminal
from lifecycle.cli.reconcile.reconcile_words import FORMS, ending, parted, signs_for, why_not
from lifecycle.cli.screen import fitted, grid
from lifecycle.cli.terminal import one_line
from lifecycle.reconcile.finding import Finding, State, SweepReport

if TYPE_CHECKING:
    from lifecycle.reconcile.sweep import Progress

WIDTH = 160
"""Columns at most: further apart, the cells of a row lose each other."""

WIDE = 120
"""From so many columns on, evidence and fix stand beside each other."""

NARROW = 60
"""Below so many, a finding is a block of lines."""

TITLE = 28
"""Columns of a title in a wide table."""

_URL = re.compile(r"https?://[!-~]+")
"""An address that can stand in a terminal's link: no space and no control character."""


@contextmanager
def bar() -> Iterator[Progress]:
    """A progress bar on standard error, gone when the work is over."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=terminal.console(is_error=True), transient=True) as shown:
        row, label = shown.add_task("asking GitHub", total=None), ""

        def tell(what: str, done: int, total: int | None) -> None:
            nonlocal row, label
            if what != label:  # a row of its own: a total that was known cannot be taken back
                shown.remove_task(row)
                row, label = shown.add_task(one_line(what), total=total), what
            shown.update(row, completed=done, total=total)

        yield tell


def show(report: SweepReport, console: Console | None = None) -> None:
    """Print the tables and what goes with them, to standard output unless a console is given."""
    shown, width = fitted(console, WIDTH)
    title = Text("lifecycle reconcile", style="bold")
    shown.print(title.append("  dry run", "not bold cyan") if report.is_dry_run else title)
    shown.print()
    form = _ReportForm.of(report, width, signs_for(shown.encoding))
    rows, folds = parted(report)
    by_repository = groupby(rows, lambda finding: finding.repository)
    for index, (repository, findings) in enumerate(by_repository):
        shown.print(
            Text(one_line(repository), "bold", no_wrap=True, overflow="ellipsis"), width=width
        )
        shown.print(form.table(findings, has_header=not index), width=width)
        shown.print()
    for fold in folds:
        sign = form.signs[State.LEFT]
        shown.print(Text(f"{sign} {one_line(fold.head)}", FORMS[State.LEFT].style), width=width)
    if folds:
        shown.print()
    first, *rest = ending(report)
    style = FORMS[State.FAILED].style if report.failed else "bold"
    shown.print(Text(one_line(first), style=style), width=width)
    for line in rest:
        shown.print(Text(one_line(line)), width=width)


@dataclass(frozen=True, slots=True)
class _ReportForm:
    """How findings are laid out; the same for every repository, so that columns meet.

    Attributes:
        width: columns in all.
        task: columns of a task's number.
        kind: columns of a finding's name.
    """

    width: int
    task: int
    kind: int
    signs: Mapping[State, str]

    @classmethod
    def of(cls, report: SweepReport, width: int, signs: Mapping[State, str]) -> _ReportForm:
        """The form for this report on so many columns."""
        task = max(map(len, ["task", *(f"#{finding.issue}" for finding in report.findings)]))
        kind = max(map(len, ["finding", *(finding.kind for finding in report.findings)]))
        return cls(width, task, kind, signs)

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
        sign = Text(self.signs[finding.state], FORMS[finding.state].style)
        number, kind = _number(finding), Text(finding.kind, "bold")
        title = Text(one_line(finding.title), "dim")
        seen = Text(one_line(finding.evidence))
        if self.width >= WIDE:
            title.truncate(TITLE, overflow="ellipsis")
            return [sign, number, title, kind, seen, _done(finding)]
        if self.width >= NARROW:
            title.truncate(self.width - self.task - self.kind - 9, overflow="ellipsis")
            return [sign, number, kind, Text("\n").join((title, seen, _done(finding)))]
        head = Text.assemble(number, " ", kind)
        return [sign, Text("\n").join((head, title, seen, _done(finding)))]


def _number(finding: Finding) -> Text:
    """The issue's number, which leads to the issue where a terminal follows links."""
    link = f"link {finding.url}" if _URL.fullmatch(finding.url) else ""
    return Text(f"#{finding.issue}", link)


def _done(finding: Finding) -> Text:
    """What becomes of it, and why not."""
    reason = why_not(finding)
    colon = ":" if finding.fix or reason else ""
    parts = [Text(f"{finding.state}{colon}", FORMS[finding.state].style)]
    if finding.fix:
        parts.append(Text(one_line(finding.fix)))
    if reason:
        parts.append(Text(one_line(reason), "yellow"))
    return Text(" ").join(parts)
