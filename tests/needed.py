"""What a test needs and a machine may lack: a client, a browser, what GitHub publishes, a registry.

A test that lacks it is not run, and the run's last lines say so, one for each thing that is lacking.
`LIFECYCLE_REQUIRE=all` makes each such test a failure: so it is in CI.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).parents[1]
REQUIRED = "LIFECYCLE_REQUIRE"


def is_required() -> bool:
    """True where whatever a test needs has to be there."""
    return os.environ.get(REQUIRED) == "all"


def lack(subject: str, reason: str) -> NoReturn:
    """End a test for want of something; where all is required, it fails.

    Args:
        subject: what the tests are about: "the real gh".
        reason: what is lacking, and how to get it.
    """
    if is_required():
        pytest.fail(f"{subject}: {reason}, and {REQUIRED}=all requires it", pytrace=False)
    pytest.skip(f"of {subject}: {reason}")


def from_npm(target: str, verb: str = "installs") -> str:
    """Why something that `make TARGET` takes from npm is not there."""
    return f"`make {target}` {verb} it" if shutil.which("npm") else "npm is not installed"


def demand_program(name: str, target: str) -> None:
    """Demand a program on PATH, which `make TARGET` installs."""
    if shutil.which(name) is None:
        lack(f"the real {name}", f"{name} is not installed; `make {target}` installs it")


def told(reasons: Counter[str]) -> list[str]:
    """A line for each reason why tests were not run."""
    lines = []
    for reason, count in sorted(reasons.items()):
        tests = "1 test" if count == 1 else f"{count} tests"
        between = " " if reason.startswith("of ") else ": "
        lines.append(f"not run: {tests}{between}{reason}")
    return lines


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was not run, and why."""
    reasons = Counter[str]()
    for report in terminalreporter.stats.get("skipped", []):
        if isinstance(report.longrepr, tuple):
            reasons[report.longrepr[2].removeprefix("Skipped: ")] += 1
    if reasons:
        terminalreporter.section("not run")
        for line in told(reasons):
            terminalreporter.write_line(line)
