"""Reports to be shown, in tests."""

from __future__ import annotations

from dataclasses import replace

from lifecycle.claim.record.sections import Whom
from lifecycle.reconcile.finding import (
    KINDS,
    Finding,
    State,
    SweepProblem,
    SweepReport,
    WaitingPull,
)

REPOSITORY = "octo-org/hello-service"


def finding(kind: str = "status-drift", issue: int = 42, **changes: object) -> Finding:
    """A finding of one kind, as a run makes it."""
    plain = Finding(
        kind=kind,
        repository=REPOSITORY,
        issue=issue,
        title="Fix race condition in task queue",
        url=f"https://github.com/{REPOSITORY}/issues/{issue}",
        phase="pr_created",
        evidence="Pull request #46 was opened, and the card says In Progress.",
        fix=KINDS[kind].fix,
        state=State.APPLIED,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]  # the test's own words


REPORT = SweepReport(
    findings=(
        finding("merged-open", 7, state=State.OFF),
        finding("status-drift", 42),
        finding("moved-by-hand", 1043, state=State.LEFT, problem="It stays where it is."),
        finding("unlinked", 9, repository="octo-org/other", state=State.FAILED, problem="403."),
        finding("silent", 10, repository="octo-org/other", state=State.PLANNED),
    ),
    problems=(SweepProblem("octo-org/secret", "NoPermission", "The token may not read it."),),
    left=tuple(f"octo-org/r{number}" for number in range(9)),
    ended="GitHub's limit is used up.",
    notes=("Labels keep the Status.",),
    repositories=3,
    tasks=1340,
    requests=42,
    points=1,
)
"""One of everything."""


def waiting(number: int = 46, **changes: object) -> WaitingPull:
    """An open pull request that waits for its author."""
    plain = WaitingPull(
        REPOSITORY,
        number,
        "Fix race condition in task queue",
        f"https://github.com/{REPOSITORY}/pull/{number}",
        Whom.AUTHOR,
        ("octocat-1738000000",),
        "has checks that failed",
    )
    return replace(plain, **changes)  # type: ignore[arg-type]  # the test's own words


REVIEWED = waiting(
    47,
    whom=Whom.REVIEWERS,
    names=("maria", "octo-org/core"),
    why="waits for an approving review",
)
MERGED_NEXT = waiting(48, whom=Whom.MERGE, names=(), why="is ready to merge")

QUIET = SweepReport(repositories=25, tasks=340, requests=12, points=9)
"""Nothing drifted."""
