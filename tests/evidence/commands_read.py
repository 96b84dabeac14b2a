"""A command of a check, read as `lifecycle check` reads it once it has come to its end."""

from __future__ import annotations

from pathlib import Path

from lifecycle.evidence.checks import check_reading
from lifecycle.evidence.checks.check_log import CheckOutput
from lifecycle.evidence.outcomes import Reading
from lifecycle.evidence.records import COVERAGE
from lifecycle.evidence.runners import runner_table
from lifecycle.evidence.runners.runner_table import Rows
from lifecycle.platforms.platform_file import CoverageSource


def read_check(
    kind: str,
    argv: tuple[str, ...],
    status: int,
    output: str,
    *,
    rows: Rows | None = None,
    configured: tuple[str, ...] = (),
    coverage: CoverageSource | None = None,
) -> Reading:
    """The reading of a check's one command that printed this, where no report was written."""
    printed = CheckOutput()
    printed.add(output.encode())
    end = check_reading.CommandEnd(argv, configured, status, printed, 0.0)
    table = runner_table.rows() if rows is None else rows
    root = Path("there-is-no-such-folder")
    shown = check_reading.read(kind, end, root, table)
    if kind == COVERAGE and status == 0:
        return check_reading.coverage(coverage, printed.text, printed.text, root, 0.0)
    return shown
