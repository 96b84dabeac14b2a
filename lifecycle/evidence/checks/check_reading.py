"""What one command of a check came to: from its exit status, its output, and its JUnit reports."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from lifecycle.evidence import junit, reading, suite_runs
from lifecycle.evidence.checks.check_log import CheckOutput
from lifecycle.evidence.outcomes import Outcome, Reading
from lifecycle.evidence.records import KINDS, TEST
from lifecycle.evidence.runners import runner_options, runner_table
from lifecycle.evidence.runners.runner_options import RunScope
from lifecycle.evidence.runners.runner_row import Rows


class CommandEnd(NamedTuple):
    """A command of a check that came to its end.

    Attributes:
        words: the program and its arguments.
        configured: those of them that the check has by itself.
        status: its exit status.
        output: what it printed.
        began: when it was started, in seconds since the epoch.
    """

    words: tuple[str, ...]
    configured: tuple[str, ...]
    status: int
    output: CheckOutput
    began: float


def read(
    name: str, end: CommandEnd, root: Path, rows: Rows, number: float | None = None
) -> Reading:
    """The reading of a command of the check called `name`.

    A check of another name is read as tests are if its command is known to run tests; else it passes by its
    exit status. For coverage `number` is the percentage, where it was read elsewhere.
    """
    is_other = name in KINDS or suite_runs.run_in(shlex.join(end.words), rows=rows) is None
    kind = name if is_other else TEST
    shown = reading.read_check(
        kind,
        end.words,
        end.status,
        end.output.text,
        rows=rows,
        is_cut=bool(end.output.left_out),
        configured=end.configured,
        number=number,
    )
    reports = junit.read_reports(root, end.words, end.began) if kind == TEST else None
    return shown if reports is None else with_reports(shown, reports, end.status)


def picking(name: str, words: tuple[str, ...], environment: Mapping[str, str]) -> str:
    """Which variable that a check was started with picks tests, as a reason; "" if none does.

    Of what a shell holds only those count that runners read: a name alone may speak of anything. One that
    a command of the check sets itself is the project's word for what its suite is.
    """
    if name != TEST and suite_runs.run_in(shlex.join(words)) is None:
        return ""
    own = {word.partition("=")[0] for word in words}
    for key in sorted(runner_table.options("inherited") & {*environment} - own):
        if runner_options.scope_of("any", (), (f"{key}={environment[key]}",)) is not RunScope.SUITE:
            return f"the variable {key} picks tests"
    return ""


def with_reports(shown: Reading, reports: Reading, status: int) -> Reading:
    """The reading of the output, with the reports' counts and identities, and the worse outcome of both.

    Args:
        shown: what the output says.
        reports: what the reports say; of nothing if they could not be read.
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
