"""A reconcile on a terminal: a bar while it works, then a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from lifecycle.cli import terminal
from lifecycle.cli.reconcile.reconcile_words import clean, ending, parted, signs_for, why_not
from lifecycle.reconcile.finding import Finding, State

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from lifecycle.reconcile.sweep_report import SweepReport

Progress = Callable[[str, int, int | None], None]

WIDTH = 160
"""Columns at most: further apart, the cells of a row lose each other."""

WIDE = 120
"""From so many columns on, evidence and fix stand beside each other."""

NARROW = 60
"""Below so many, a finding is a block of lines."""

TITLE = 28
"""Columns of a title in a wide table."""

_STYLES = {
    State.APPLIED: "green",
    State.PLANNED: "cyan",
    State.OFF: "yellow",
    State.LEFT: "dim",
    State.FAILED: "bold red",
}

_URL = re.compile(r"https?://[!-~]+")
"""An address that can stand in a terminal's link: no space and no control character."""


@contextmanager
def bar() -> Iterator[Progress]:
    """A progress bar on standard error, gone when the work is over."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=terminal.console(is_error=True), transient=True) as shown:
        row, said = shown.add_task("asking GitHub", total=None), ""

        def tell(what: str, done: int, total: int | None) -> None:
            nonlocal row, said
            if what != said:  # a row of its own: a total that was known cannot be taken back
                shown.remove_task(row)
                row, said = shown.add_task(clean(what), total=total), what
            shown.update(row, completed=done, total=total)

        yield tell


def show(report: SweepReport, console: Console | None = None) -> None:
    """Print the tables and what goes with them, to standard output unless a console is given."""
    from rich.text import Text

    shown = console or terminal.console()
    width = min(shown.width, WIDTH)
    title = Text("lifecycle reconcile", style="bold")
    shown.print(title.append("  dry run", "not bold cyan") if report.is_dry_run else title)
    shown.print()
    form = _Form.of(report, width, signs_for(shown.encoding))
    rows, folds = parted(report)
    by_repository = groupby(rows, lambda finding: finding.repository)
    for index, (repository, findings) in enumerate(by_repository):
        shown.print(Text(clean(repository), "bold", no_wrap=True, overflow="ellipsis"), width=width)
        shown.print(form.table(findings, has_header=not index), width=width)
        shown.print()
    for fold in folds:
        sign = form.signs[State.LEFT]
        shown.print(Text(f"{sign} {clean(fold.head)}", _STYLES[State.LEFT]), width=width)
    if folds:
        shown.print()
    first, *rest = ending(report)
    style = _STYLES[State.FAILED] if report.failed else "bold"
    shown.print(Text(clean(first), style=style), width=width)
    for line in rest:
        shown.print(Text(clean(line)), width=width)


@dataclass(frozen=True, slots=True)
class _Form:
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
    def of(cls, report: SweepReport, width: int, signs: Mapping[State, str]) -> _Form:
        """The form for this report on so many columns."""
        task = max(len(word) for word in ("task", *(f"#{one.issue}" for one in report.findings)))
        kind = max(len(word) for word in ("finding", *(one.kind for one in report.findings)))
        return cls(width, task, kind, signs)

    def table(self, findings: Iterable[Finding], *, has_header: bool) -> Table:
        """One repository's findings; a header only where evidence and fix have columns of their own."""
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2, 0, 0), expand=True)
        table.add_column(width=1)
        if self.width >= NARROW:
            table.add_column(width=self.task)
        if self.width >= WIDE:
            table.add_column(width=TITLE)
        if self.width >= NARROW:
            table.add_column(width=self.kind)
        if self.width >= WIDE:
            table.add_column(ratio=1)
        table.add_column(ratio=1)
        if self.width >= WIDE and has_header:
            words = ("", "task", "", "finding", "what is so", "what is done")
            table.add_row(*(Text(word, "dim") for word in words))
        for finding in findings:
            sign = Text(self.signs[finding.state], _STYLES[finding.state])
            table.add_row(sign, *self._cells(finding))
        return table

    def _cells(self, finding: Finding) -> list[Text]:
        from rich.text import Text

        number, kind = _number(finding), Text(finding.kind, "bold")
        title = Text(clean(finding.title), "dim")
        seen = Text(clean(finding.evidence))
        if self.width >= WIDE:
            title.truncate(TITLE, overflow="ellipsis")
            return [number, title, kind, seen, _done(finding)]
        if self.width >= NARROW:
            title.truncate(self.width - self.task - self.kind - 9, overflow="ellipsis")
            return [number, kind, Text("\n").join((title, seen, _done(finding)))]
        head = Text.assemble(number, " ", kind)
        return [Text("\n").join((head, title, seen, _done(finding)))]


def _number(finding: Finding) -> Text:
    """The issue's number, which leads to the issue where a terminal follows links."""
    from rich.text import Text

    link = f"link {finding.url}" if _URL.fullmatch(finding.url) else ""
    return Text(f"#{finding.issue}", link)


def _done(finding: Finding) -> Text:
    """What becomes of it, and why not."""
    from rich.text import Text

    reason = why_not(finding)
    colon = ":" if finding.fix or reason else ""
    parts = [Text(f"{finding.state}{colon}", _STYLES[finding.state])]
    if finding.fix:
        parts.append(Text(clean(finding.fix)))
    if reason:
        parts.append(Text(clean(reason), "yellow"))
    return Text(" ").join(parts)
