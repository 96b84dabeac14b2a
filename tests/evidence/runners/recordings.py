"""The recorded outputs: `tests/evidence/recorded/PROJECT.json`, one case after another."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lifecycle.evidence.outcomes import Outcome
from lifecycle.evidence.runners.runner_table import rows
from tests.evidence.commands_read import read_check
from tests.evidence.runners.projects import COUNTS, Case, Project
from tests.evidence.runners.running import Ended

RECORDED = Path(__file__).parents[1] / "recorded"


@dataclass(frozen=True)
class Recording:
    """A run as it was recorded, and what is true of it.

    Attributes:
        project: the file `projects/PROJECT.toml` that has the project's files.
        runner, version: what ran, as the table of runners calls it, and at which version.
        case: the case's name there.
        kind, argv: what the command is for, and the command.
        status: its exit status, as a shell says it: 128 and the signal's number where one ended it.
        output: stdout and stderr as one text.
        junit: the JUnit XML that it wrote, or None.
        outcome, also, counts, failures: what is true of it, as `projects.Case` has it.
    """

    project: str
    runner: str
    version: str
    case: str
    kind: str
    argv: tuple[str, ...]
    status: int
    output: str
    junit: str | None
    outcome: Outcome
    also: tuple[Outcome, ...]
    counts: dict[str, int] | None
    failures: tuple[str, ...]

    @property
    def name(self) -> str:
        """What a test calls it."""
        return f"{self.project}-{self.case}"


def recording(project: Project, case: Case, version: str, ended: Ended) -> Recording:
    """What a run gave, with what its author says is true of it."""
    return Recording(
        project=project.name,
        runner=project.row,
        version=version,
        case=case.name,
        kind=case.kind,
        argv=case.argv,
        status=ended.status,
        output=ended.output,
        junit=ended.junit,
        outcome=case.outcome,
        also=case.also,
        counts=case.counts,
        failures=case.failures,
    )


def _lines(text: str | None) -> list[str] | None:
    return None if text is None else text.split("\n")


def write(recordings: list[Recording]) -> None:
    """Write a runner's recordings; a text is a list of its lines, so that a difference can be read."""
    RECORDED.mkdir(exist_ok=True)
    first = recordings[0]
    cases = [
        {
            "case": each.case,
            "kind": each.kind,
            "argv": list(each.argv),
            "status": each.status,
            "outcome": each.outcome,
            "also": list(each.also),
            "counts": each.counts,
            "failures": list(each.failures),
            "output": _lines(each.output),
            "junit": _lines(each.junit),
        }
        for each in recordings
    ]
    text = json.dumps(
        {"runner": first.runner, "version": first.version, "cases": cases},
        indent=1,
        ensure_ascii=False,
    )
    (RECORDED / f"{first.project}.json").write_text(text + "\n", encoding="utf-8")


def _text(lines: list[str] | None) -> str | None:
    return None if lines is None else "\n".join(lines)


def read(path: Path) -> list[Recording]:
    """A runner's recordings."""
    told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return [
        Recording(
            project=path.stem,
            runner=told["runner"],
            version=told["version"],
            case=case["case"],
            kind=case["kind"],
            argv=tuple(case["argv"]),
            status=case["status"],
            output="\n".join(case["output"]),
            junit=_text(case["junit"]),
            outcome=Outcome(case["outcome"]),
            also=tuple(Outcome(word) for word in case["also"]),
            counts=case["counts"],
            failures=tuple(case["failures"]),
        )
        for case in told["cases"]
    ]


def all_recordings() -> list[Recording]:
    """Those of all runners."""
    return [each for path in sorted(RECORDED.glob("*.json")) for each in read(path)]


def misread(each: Recording) -> list[str]:
    """What the reader of outputs says of a run, and is not what is true of it: a sentence for each."""
    reading = read_check(each.kind, each.argv, each.status, each.output, rows=rows(()))
    told = []
    if reading.outcome not in {each.outcome, *each.also}:
        told.append(f"read as {reading.outcome} ({reading.why}), it is {each.outcome}")
    if each.counts is not None:
        counts = reading.counts and {name: getattr(reading.counts, name) for name in COUNTS}
        if counts != each.counts:
            told.append(f"counted {counts}, there are {each.counts}")
    if each.failures and reading.failures != each.failures:
        told.append(f"failures read: {reading.failures}, there are {each.failures}")
    return told
