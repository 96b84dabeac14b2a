"""Worlds of many claimed tasks, for the sweep's tests and the bench.

Every task is an open issue with an assignee, a lease of three days ago and a card on the one board.
By turns it has a branch with a commit, an open pull request for that branch, or neither.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from lifecycle.sandbox.seed import (
    Seed,
    SeedBranch,
    SeedCommit,
    SeedField,
    SeedIssue,
    SeedItem,
    SeedMark,
    SeedOrganization,
    SeedProject,
    SeedPull,
    SeedRef,
    SeedRepository,
    SeedToken,
    SeedUser,
)

OWNER, TOKEN = "octo-org", "sandbox-token"
AGENT = "octocat-1795251656"
STATUSES = ["Todo", "In Progress", "In Review", "Done"]
FIELDS = [
    SeedField("Title", "TITLE"),
    SeedField("Status", "SINGLE_SELECT", options=[*STATUSES]),
    SeedField("Agent", "TEXT"),
]
EVERY = 4
"""Of so many tasks one has a pull request, two more a branch."""


@dataclass(frozen=True, slots=True)
class Ago:
    """Moments before one present."""

    present: datetime

    def days(self, number: float) -> datetime:
        """So many days before it."""
        return self.present - timedelta(days=number)


def agos(present: datetime | None = None) -> Ago:
    """Moments before now, or before another present."""
    return Ago(present or datetime.now(UTC).replace(microsecond=0))


def branch_of(issue: int) -> str:
    """The branch of a task."""
    return f"claude/task-{issue}"


def lease(issue: int, since: datetime, *, agent: str = AGENT, branch: str = "") -> SeedRef:
    """The ref by which an agent holds a task."""
    word = {"agent": agent, "issue": issue, "nonce": f"{issue:016x}"}
    if branch:
        word["branch"] = branch
    message = f"lease {json.dumps(word)}\n\n[skip ci]"
    return SeedRef(f"refs/agent-claims/{issue}", message, date=since)


def claimed(count: int = 10_000, repositories: int = 200, *, wrong: int = 0) -> Seed:
    """A world of so many claimed tasks.

    Args:
        count: How many tasks; spread evenly.
        repositories: `octo-org/service-0` and so on.
        wrong: Of so many tasks one has a card that says Todo; 0 for none.
    """
    ago = agos()
    shares = [count // repositories + (n < count % repositories) for n in range(repositories)]
    made = [_repository(f"{OWNER}/service-{n}", share, ago) for n, share in enumerate(shares)]
    cards = [_card(repo.name, issue, ago, wrong) for repo in made for issue in repo.issues]
    return Seed(
        users=[SeedUser("octocat"), SeedUser("maria", role="admin")],
        organizations=[SeedOrganization(OWNER, members=["octocat", "maria"])],
        tokens=[SeedToken(TOKEN, "octocat", ["repo", "project"])],
        repositories=made,
        projects=[SeedProject(1, "Tasks", fields=FIELDS, items=cards, repositories=[])],
    )


def _repository(name: str, tasks: int, ago: Ago) -> SeedRepository:
    numbers = range(1, tasks + 1)
    pushed = [n for n in numbers if n % EVERY]
    pulled = [n for n in pushed if n % EVERY == 1]
    commit = SeedCommit("Work", {"work.txt": "done\n"}, "octocat", ago.days(1))
    return SeedRepository(
        name,
        created_at=ago.days(30),
        issues=[_issue(n, ago) for n in numbers],
        branches=[SeedBranch(branch_of(n), [commit]) for n in pushed],
        refs=[lease(n, ago.days(3), branch=branch_of(n)) for n in numbers],
        pulls=[_pull(tasks + place, n, ago) for place, n in enumerate(pulled, 1)],
    )


def _issue(number: int, ago: Ago) -> SeedIssue:
    return SeedIssue(
        number,
        f"Task {number}",
        body="What is to be done.",
        author="maria",
        assignees=["octocat"],
        created_at=ago.days(10),
        updated_at=ago.days(3),
        assigned_at=ago.days(3),
    )


def _pull(number: int, issue: int, ago: Ago) -> SeedPull:
    return SeedPull(
        number,
        f"Task {issue}",
        head=branch_of(issue),
        body=f"Done.\n\nRefs #{issue}",
        author="octocat",
        created_at=ago.days(1),
        updated_at=ago.days(1),
    )


def _card(repository: str, issue: SeedIssue, ago: Ago, wrong: int) -> SeedItem:
    status = "In Review" if issue.number % EVERY == 1 else "In Progress"
    if wrong and issue.number % wrong == 0:
        status = "Todo"
    values: dict[str, str | int | float] = {"Status": status, "Agent": AGENT}
    mark = SeedMark("octocat", ago.days(3), ago.days(1))
    return SeedItem(
        issue.number,
        values=values,
        marks=dict.fromkeys(values, mark),
        repository=repository,
        created_at=ago.days(10),
        updated_at=ago.days(1),
    )
