"""Small projects of each runner, and what is true of each: `projects/RUNNER.toml`.

A file names what the runner needs, how its version is asked for, files that all of its cases share, and
the cases. What a case's author states of it (outcome, counts, failures) comes from what the project's own
tests do, never from what a reader of the output makes of it.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lifecycle.evidence.outcomes import Outcome

PROJECTS = Path(__file__).parent / "projects"

CASES = (
    "passes",
    "fails",
    "none_found",
    "all_skipped",
    "broken",
    "stopped",
    "filtered",
    "part_without_tests",
)
"""What each runner is asked for; its file says why, where it cannot have one (`without`)."""

COUNTS = ("passed", "failed", "skipped", "errors")


@dataclass(frozen=True)
class Case:
    """A project, the command that is run in it, and what is true of that run.

    Attributes:
        name: one of CASES, or a name of its own for what this runner does besides.
        argv: the command, as it is typed in the project's folder.
        kind: what the command is for: test, build, lint, coverage.
        files: by path in the project, the text of each.
        before: commands that make ready what `argv` needs; their outputs are not recorded.
        env: variables beside those that every run has.
        stop: the signal that the whole group gets once a test has made the file `started`; or None.
        junit: where the runner writes JUnit XML, from the project's folder; or None.
        outcome: what the run came to.
        also: what a reader may say instead, where the output and the status do not tell the two apart.
        counts: what the runner itself tells of tests; None where it tells no numbers.
        failures: the tests that failed, as this runner names them.
    """

    name: str
    argv: tuple[str, ...]
    kind: str
    files: dict[str, str]
    before: tuple[tuple[str, ...], ...]
    env: dict[str, str]
    stop: str | None
    junit: str | None
    outcome: Outcome
    also: tuple[Outcome, ...]
    counts: dict[str, int] | None
    failures: tuple[str, ...]


@dataclass(frozen=True)
class Project:
    """A runner's file.

    Attributes:
        name: the file's name without its ending.
        row: what the table of runners calls it; the name, where the file does not say.
        needs: what installs it (`installing.INSTALLS`).
        version: the command that prints its version.
        cases: in the file's order.
        without: for each of CASES that it lacks, why.
    """

    name: str
    row: str
    needs: tuple[str, ...]
    version: tuple[str, ...]
    cases: tuple[Case, ...]
    without: dict[str, str] = field(default_factory=dict)


def _case(told: dict[str, Any], files: dict[str, str], env: dict[str, str]) -> Case:
    counts = told.get("counts")
    case = Case(
        name=told.pop("name"),
        argv=tuple(told.pop("argv")),
        kind=told.pop("kind", "test"),
        files={
            path: text
            for path, text in (files | told.pop("files", {})).items()
            if path not in told.get("leave_out", [])
        },
        before=tuple(tuple(argv) for argv in told.pop("before", [])),
        env=env | told.pop("env", {}),
        stop=told.pop("stop", None),
        junit=told.pop("junit", None),
        outcome=Outcome(told.pop("outcome")),
        also=tuple(Outcome(word) for word in told.pop("also", [])),
        counts=None if counts is None else dict.fromkeys(COUNTS, 0) | told.pop("counts"),
        failures=tuple(told.pop("failures", [])),
    )
    told.pop("leave_out", None)
    if told or set(case.counts or COUNTS) != set(COUNTS):
        raise ValueError(f"{case.name}: unknown keys: {[*told, *(case.counts or [])]}")
    return case


def read(path: Path) -> Project:
    """A runner's file as values; a key that means nothing is refused."""
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    files, env = told.pop("files", {}), told.pop("env", {})
    project = Project(
        name=path.stem,
        row=told.pop("row", path.stem),
        needs=tuple(told.pop("needs")),
        version=tuple(told.pop("version")),
        cases=tuple(_case(case, files, env) for case in told.pop("case")),
        without=told.pop("without", {}),
    )
    if told:
        raise ValueError(f"{path.name}: unknown keys: {list(told)}")
    return project


def all_projects() -> tuple[Project, ...]:
    """Those of all runners, by name."""
    return tuple(read(path) for path in sorted(PROJECTS.glob("*.toml")))
