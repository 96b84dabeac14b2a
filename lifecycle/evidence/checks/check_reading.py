"""The result of one command of a check: from its exit status, its output, and its JUnit reports."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lifecycle.evidence import junit, reading, suite_runs
from lifecycle.evidence.checks.check_log import CheckOutput
from lifecycle.evidence.command_lines import Words
from lifecycle.evidence.outcomes import NOT_INSTALLED, Outcome, Reading
from lifecycle.evidence.records import KINDS, TEST
from lifecycle.evidence.runners import runner_table
from lifecycle.evidence.runners.runner_table import Rows, RunScope
from lifecycle.settings import resources

if TYPE_CHECKING:
    from lifecycle.platforms.platform_file import CoverageSource


class CommandEnd(NamedTuple):
    """A command of a check that has ended.

    Attributes:
        words: the program and its arguments.
        configured: those words that come from the check itself.
        status: its exit status.
        output: its output.
        began: when it was started, in seconds since the epoch.
    """

    words: Words
    configured: Words
    status: int
    output: CheckOutput
    began: float


def read(name: str, end: CommandEnd, root: Path, rows: Rows) -> Reading:
    """The reading of a command of the check with this name.

    A check with another name than those of kinds is read like tests if its command is known to run tests;
    else its exit status decides.
    """
    is_run = name not in KINDS and suite_runs.run_in(shlex.join(end.words), rows=rows) is not None
    if name != TEST and not is_run:
        if end.status in reading.STOPPED:
            return Reading(Outcome.PARTIAL, why=reading.ENDED)
        if end.status != 0:
            return Reading(Outcome.FAILED, why=_absent(end, rows) or f"exit status {end.status}")
        return Reading(Outcome.PASSED)
    is_cut = bool(end.output.left_out)
    shown = reading.read_check(
        end.words, end.status, end.output.text, rows, is_cut=is_cut, configured=end.configured
    )
    reports = junit.read_reports(root, end.words, end.began)
    if reports is not None:
        return with_reports(shown, reports, end.status)
    absent = _absent(end, rows) if end.status else ""
    return Reading(Outcome.FAILED, why=absent) if absent else shown


def _absent(end: CommandEnd, rows: Rows) -> str:
    """What a failed command did not find; "" if tests ran, since tests print such lines themselves."""
    why = missing_tool(end.status, end.output.text)
    shown = reading.read_check(end.words, end.status, end.output.text, rows) if why else None
    if shown is None or shown.outcome is Outcome.PARTIAL:
        return ""
    return why if shown.counts is None or not shown.counts.total else ""


def missing_tool(status: int, output: str) -> str:
    """The program that a command did not find and how to install it, as a reason; "" if it names none."""
    text = reading.plain(output)
    ends = {status, *map(int, re.findall(r"(?:Error|[Cc]ode|status) (\d{1,3})\b", text))}
    for row in resources.table("evidence/checks/missing_tools.toml")["tools"]:
        match = re.search(row["pattern"], text, re.MULTILINE)
        if match is not None and row.get("status", status) in ends:
            name = row.get("name", "{0}").format(match[1])
            install = row.get("install", "").format(match[1])
            way = f" (install it with: {install})" if install else ""
            return f"{name} {NOT_INSTALLED}{way}"
    return ""


def coverage(
    source: CoverageSource | None, output: str, last: str, root: Path, began: float
) -> Reading:
    """The reading of the percentage over all commands of a check, none of which failed.

    Args:
        source: how the platform reads the percentage; None if it does not say.
        output: what the commands printed.
        last: what the last one of them printed; without a platform's word its number counts before others.
        root: the worktree's top folder.
        began: when the first command was started, in seconds since the epoch.
    """
    from lifecycle.platforms import coverage_number

    if source is None:
        why = "no percentage of coverage was read"
        numbers = (coverage_number.known(reading.plain(text)) for text in (last, output))
        number = next((number for number in numbers if number is not None), None)
    else:
        why = "no percentage was read where its platform says it is"
        number = coverage_number.percent(source, output, root, int((began - junit.SLACK) * 1e9))
    if number is None:
        return Reading(Outcome.UNKNOWN, why=missing_tool(0, output) or why)
    return Reading(Outcome.PASSED, why=f"coverage {number:g} %", percent=number)


def picking(name: str, words: Words, environment: Mapping[str, str], rows: Rows) -> str:
    """The environment variable of a check that picks tests, as a reason; "" if there is none.

    Of a shell's variables only those count that runners read: a name alone may mean anything. A variable
    that a command of the check sets itself is the project's own definition of the suite.
    """
    if name != TEST and suite_runs.run_in(shlex.join(words), rows=rows) is None:
        return ""
    own = {word.partition("=")[0] for word in words}
    for key in sorted(runner_table.options("inherited") & {*environment} - own):
        if runner_table.scope_of("any", (), (f"{key}={environment[key]}",)) is not RunScope.SUITE:
            return f"the variable {key} picks tests"
    return ""


def with_reports(shown: Reading, reports: Reading, status: int) -> Reading:
    """The reading of the output, with the reports' counts and identities, and the worse outcome of both.

    Args:
        shown: the reading of the output.
        reports: the reading of the reports; without counts if they could not be read.
        status: the exit status.
    """
    if reports.outcome is Outcome.UNKNOWN:
        return shown
    outcome, why = shown.outcome, shown.why
    if reports.outcome is Outcome.FAILED:
        is_news = outcome is not Outcome.FAILED
        outcome, why = Outcome.FAILED, "its report counts tests that failed" if is_news else why
    elif shown.counts is None and not status and outcome in (Outcome.PASSED, Outcome.UNKNOWN):
        outcome, why = reports.outcome, reports.why
    named = reports if reports.failures else shown
    return Reading(outcome, reports.counts, named.failures, why, named.asserted, reports.passed)
