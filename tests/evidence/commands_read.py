"""A command of a check, read as `lifecycle check` reads it once it has come to its end."""

from __future__ import annotations

from pathlib import Path

from lifecycle.evidence.checks import check_reading
from lifecycle.evidence.checks.check_log import CheckOutput
from lifecycle.evidence.checks.known_checks import KnownCheck
from lifecycle.evidence.outcomes import Reading
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
    end = check_reading.CommandEnd(
        argv, configured, status, printed, 0.0, printed, first_began=0.0, is_last=True
    )
    check = KnownCheck(kind, (argv,), "here", is_projects=False, coverage=coverage)
    table = runner_table.rows() if rows is None else rows
    return check_reading.read(check, end, Path("there-is-no-such-folder"), table)
