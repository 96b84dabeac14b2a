"""What one run came to."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lifecycle.reconcile.finding import Finding, State


@dataclass(frozen=True, slots=True)
class SweepProblem:
    """What could not be read, or not be finished: where (`owner/name`, or with `#N`), and why."""

    where: str
    kind: str
    sentence: str


@dataclass(frozen=True, slots=True)
class SweepReport:
    """One run.

    Attributes:
        findings: by repository and issue, each issue's in the order of KINDS.
        problems: repositories and tasks that could not be looked at.
        left: what was not looked at because the run ended early, as `owner/name` or `owner/name#N`.
        ended: why the run ended early, "" if it did not.
        skipped: why nothing at all was looked at, "" if something was.
        notes: what a person should know of how it was done, such as labels in place of the board.
        repositories, tasks: how many were looked at.
        requests, points: what all of it cost, GraphQL's points among them.
        is_dry_run: nothing was written.
    """

    findings: tuple[Finding, ...] = ()
    problems: tuple[SweepProblem, ...] = ()
    left: tuple[str, ...] = ()
    ended: str = ""
    notes: tuple[str, ...] = ()
    repositories: int = 0
    tasks: int = 0
    requests: int = 0
    points: int = 0
    is_dry_run: bool = False
    skipped: str = ""

    def count(self, *states: State) -> int:
        """How many findings are in one of these states."""
        return sum(finding.state in states for finding in self.findings)

    @property
    def failed(self) -> int:
        """Fixes that failed, and what could not be looked at, or was not any more."""
        return self.count(State.FAILED) + len(self.problems) + bool(self.ended)

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values; `counts.left` counts findings, `next_run` names what was not looked at."""
        return {
            "findings": [finding.as_json() for finding in self.findings],
            "problems": [asdict(problem) for problem in self.problems],
            "next_run": list(self.left),
            "ended": self.ended,
            "skipped": self.skipped,
            "notes": list(self.notes),
            "counts": {
                "findings": len(self.findings),
                "applied": self.count(State.APPLIED),
                "planned": self.count(State.PLANNED),
                "off": self.count(State.OFF),
                "left": self.count(State.LEFT),
                "failed": self.failed,
                "repositories": self.repositories,
                "tasks": self.tasks,
            },
            "cost": {"requests": self.requests, "points": self.points},
            "dry_run": self.is_dry_run,
        }
