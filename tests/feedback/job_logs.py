"""Logs of jobs in the form in which GitHub hands them out, made around what a tool printed.

The form: each line begins with its moment; a command is echoed in a group; what a step ends with is an
`##[error]`; then the steps that tidy up. Source: https://github.com/actions/runner, and the logs quoted in
https://github.com/actions/runner/issues/2427 and https://github.com/docker/build-push-action/issues/1107.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lifecycle.core.values.failed_checks import JobStep

HERE = Path(__file__).parent
RECORDED = HERE.parent / "evidence" / "recorded"
BEGAN = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)

SET_UP = """\
Current runner version: '2.330.0'
##[group]Runner Image Provisioner
Hosted Compute Agent
##[endgroup]
##[group]GITHUB_TOKEN Permissions
Contents: read
##[endgroup]
Complete job name: test
##[group]Run actions/checkout@v5
with:
  fetch-depth: 1
##[endgroup]
Syncing repository: octo/shop
[command]/usr/bin/git version
git version 2.51.0
remote: Enumerating objects: 812, done.
remote: Counting objects: 100% (812/812), done.
##[group]Run pip install -r requirements.txt
pip install -r requirements.txt
shell: /usr/bin/bash -e {0}
##[endgroup]
Collecting errors==1.0
  Downloading errors-1.0-py3-none-any.whl (63 kB)
Successfully installed errors-1.0 fatal-2.0"""

TIDY_UP = """\
Post job cleanup.
[command]/usr/bin/git config --local --unset-all http.https://github.com/.extraheader
fatal: No such section: http
##[warning]Node.js 20 actions are deprecated.
Cleaning up orphan processes"""


@dataclass(frozen=True)
class QuotedLog:
    """One log, and what a person would quote from it."""

    name: str
    output: str
    command: str
    status: int
    quote: tuple[str, ...]

    @property
    def text(self) -> str:
        """The log of the whole job."""
        return job_log(self.output, self.command, self.status)[0]


def job_log(output: str, command: str, status: int) -> tuple[str, JobStep]:
    """The log of a job whose last step ran `command`, and when that step ran."""
    echo = f"##[group]Run {command}\n{command}\nshell: /usr/bin/bash -e {{0}}\n##[endgroup]"
    end = f"##[error]Process completed with exit code {status}."
    lines: list[str] = []
    at = BEGAN
    for part in (SET_UP, f"{echo}\n{output.rstrip()}\n{end}", TIDY_UP):
        at += timedelta(seconds=10)
        if part is not SET_UP and part is not TIDY_UP:
            began = at
        for line in part.split("\n"):
            at += timedelta(milliseconds=7)
            lines.append(f"{at:%Y-%m-%dT%H:%M:%S.%f}0Z {line}")
        if part is not SET_UP and part is not TIDY_UP:
            ended = at
    first, last = (float(int(moment.timestamp())) for moment in (began, ended))
    whole = JobStep(1, "Test", began=first, ended=last)
    return "\ufeff" + "\n".join(lines) + "\n", whole


def quoted_logs() -> list[QuotedLog]:
    """What tools printed (`logs/`), with the lines of `cases.toml`."""
    cases = tomllib.loads((HERE / "cases.toml").read_text("utf-8"))
    return [
        QuotedLog(
            name,
            (HERE / "logs" / f"{name}.log").read_text("utf-8"),
            case["command"],
            case["status"],
            tuple(case["quote"]),
        )
        for name, case in cases.items()
    ]


def recorded_logs() -> Iterator[QuotedLog]:
    """What test runners printed (`tests/evidence/recorded`), with the tests that fail there."""
    for path in sorted(RECORDED.glob("*.json")):
        for case in json.loads(path.read_text("utf-8"))["cases"]:
            failures = tuple(case.get("failures") or ())
            if case["kind"] == "test" and case["status"] and failures:
                yield QuotedLog(
                    f"{path.stem}/{case['case']}",
                    "\n".join(case["output"]),
                    " ".join(case["argv"]),
                    case["status"],
                    failures,
                )
