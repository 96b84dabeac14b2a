"""The tests that a job's log names as failed, by the table of runners. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.core.redact import redact
from lifecycle.evidence.reading import Tally
from lifecycle.evidence.runners import runner_table
from lifecycle.evidence.runners.runner_options import RunScope
from lifecycle.evidence.suite_runs import SuiteRun
from lifecycle.feedback.checks.log_lines import StepTime, plain_lines


def failing_tests(lines: Iterable[str], step: StepTime | None = None) -> tuple[str, ...]:
    """The tests that failed, without secrets, as their runner names them; () where none says so.

    Args:
        lines: the log.
        step: when the failed step ran; lines without it, or of another time, are all looked through.
    """
    all_lines = list(lines)
    last = _last_command(all_lines, step) or _last_command(all_lines, None)
    run = SuiteRun("a job of CI", scope=RunScope.SUITE, decides=False)
    tally = Tally(runner_table.rows(), "\n".join(last), run)
    return tuple(sorted({redact(name) for name in tally.failures}))


def _last_command(lines: Iterable[str], step: StepTime | None) -> list[str]:
    kept: list[str] = []
    for text in plain_lines(lines, step):
        if text is None:
            kept = []
        else:
            kept.append(text)
    return kept
