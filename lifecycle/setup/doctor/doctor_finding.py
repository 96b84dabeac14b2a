"""A finding of `lifecycle doctor`: how a thing is, what will not happen because of it, what mends it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from lifecycle.core.errors import LifecycleError


class Level(StrEnum):
    """How a thing is; the values are those of `--json`."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class FixStep(StrEnum):
    """What happens between claim and close, in a person's words."""

    CLAIM = "claiming"
    LEASE = "leases"
    HANDOFF = "handing off"
    PR = "opening the PR"
    CI = "polling CI"
    MERGE = "seeing the merge"
    WAKE = "waking the session"
    CLOSE = "closing"
    RELEASE = "releasing"
    BOARD = "board sync"
    BRIEF = "the briefing at a session's start"
    NEWS = "news beside a prompt"
    END = "noticing a session's end"
    TASKS = "tracker commands"
    STAGES = "the staged workflow"
    EVIDENCE = "evidence of test runs"
    STATS = "lifecycle stats"


ON_GITHUB = (FixStep.CLAIM, FixStep.PR, FixStep.CI, FixStep.MERGE, FixStep.CLOSE, FixStep.BOARD)
"""What needs GitHub's API."""


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One line of the list.

    Attributes:
        name: `group.thing`; stable, for programs.
        level: how it is.
        says: one sentence.
        hinders: what will not happen, or not as it should.
        fix: a command to copy, or what to do where no command can do it; empty if nothing is to do.
    """

    name: str
    level: Level
    says: str
    hinders: tuple[FixStep, ...] = ()
    fix: str = ""

    @property
    def group(self) -> str:
        """What it is about."""
        return self.name.partition(".")[0]

    def as_json(self) -> dict[str, Any]:
        """The finding for `--json`."""
        return {**asdict(self), "hinders": [step.value for step in self.hinders]}


_KEPT = re.compile(r"[;,] (?:so )?(?:nothing|no board|no task) was ")


def cause(error: LifecycleError) -> str:
    """An error's sentence without what was kept and what to do, which a finding says in its own way."""
    return f"{_KEPT.split(error.sentence)[0].rstrip('.')}."


def ok(name: str, says: str) -> DoctorFinding:
    """It works."""
    return DoctorFinding(name, Level.OK, says)


def warn(name: str, says: str, hinders: Iterable[FixStep] = (), fix: str = "") -> DoctorFinding:
    """It works, but not as it should, or nobody can tell."""
    return DoctorFinding(name, Level.WARN, says, tuple(hinders), fix)


def fail(name: str, says: str, hinders: Iterable[FixStep] = (), fix: str = "") -> DoctorFinding:
    """It does not work."""
    return DoctorFinding(name, Level.FAIL, says, tuple(hinders), fix)
