"""`lifecycle doctor`: print what works here, what does not, and how to fix it."""

from __future__ import annotations

import os
import sys
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from lifecycle.cli import command_session, terminal
from lifecycle.core.messages.figures import count
from lifecycle.core.redact import visible
from lifecycle.core.timing import Deadline, SystemClock, ending
from lifecycle.storage.store import worktree_root

if TYPE_CHECKING:
    from lifecycle.setup.doctor.examined import DoctorFinding, Examined

WIDTH = 100
"""The most columns: longer lines are hard to read."""

_SIGNS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "bold red")}
"""The sign of a level, and its style."""

_GROUP, _LABEL = 12, 9
"""Columns of the group's name, and of the word before a fix."""


def command(*, as_json: bool) -> int:
    """Look at versions, token, repository, board, hooks and files, and say what will not work.

    It ends after 24 seconds at the latest. Each line says what works or not, what will not happen because
    of it, and the fix, ready to copy. It writes nothing to GitHub and nothing to the project. It records
    the command's path in your own configuration folder, if none is recorded yet. Exits 1 if something does
    not work.
    """
    from lifecycle.setup.doctor.examination import examine
    from lifecycle.setup.doctor.examined import SECONDS

    clock = SystemClock()
    with ending(Deadline.after(clock, SECONDS), command_session.end_late):
        report = examine(worktree_root(Path.cwd()), os.environ, clock)
    if not as_json and terminal.is_terminal(sys.stdout):
        _show(report)
    else:
        terminal.say_all(map(_line, report.findings), report.as_json(), as_json=as_json)
    return 0 if report.is_ok else 1


def _line(finding: DoctorFinding) -> str:
    """A finding as one line, for a pipe or a file."""
    parts = [f"{_SIGNS[finding.level][0]} {finding.group}: {visible(finding.sentence)}"]
    parts += [f"Hinders: {', '.join(finding.hinders)}."] if finding.hinders else []
    parts += [f"Fix: {visible(finding.fix)}"] if finding.fix else []
    return " ".join(parts)


def _show(report: Examined) -> None:
    """Print the findings on a terminal: groups on the left, every fix on its own line."""
    console = terminal.fitted(None, WIDTH)
    place = f"  {report.base or ''}".rstrip()
    console.print(Text.assemble(("lifecycle doctor", "bold"), (place, "dim")))
    console.print()
    for group, findings in groupby(report.findings, lambda finding: finding.group):
        for index, finding in enumerate(findings):
            rows = Table.grid(padding=(0, 1, 0, 0))
            rows.add_column(width=_GROUP - 1, style="bold")
            sign = Text(*_SIGNS[finding.level])
            sentence = Text(visible(finding.sentence), overflow="fold")
            rows.add_row("" if index else group, sign, sentence)
            if finding.hinders:
                hinders = f"{'hinders':<{_LABEL}}{', '.join(finding.hinders)}"
                rows.add_row("", "", Text(hinders, style="dim"))
            console.print(rows)
            if finding.fix:
                # Not wrapped by us: copied from the terminal, it is one line.
                label = f"{'':<{_GROUP + 2}}{'fix':<{_LABEL}}"
                fix = Text.assemble((label, "dim"), (visible(finding.fix), "cyan"))
                console.print(fix, soft_wrap=True)
    console.print()
    levels = Counter(str(finding.level) for finding in report.findings)
    verdict = ("All that is needed works", _SIGNS["ok"][1])
    if fails := levels["fail"]:
        verdict = (f"{count(fails, 'thing')} to fix", _SIGNS["fail"][1])
    remarks = f", {count(levels['warn'], 'remark')}" if levels["warn"] else ""
    console.print(Text.assemble(verdict, f"{remarks}."))
