"""Worlds for sweeps: repositories with claimed issues, leases, branches, pull requests and one board."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from lifecycle.core.timing import Deadline
from lifecycle.github.sweep.sweeping import GitHubSurvey
from lifecycle.sandbox.seed import (
    Seed,
    SeedBranch,
    SeedCommit,
    SeedIssue,
    SeedItem,
    SeedPull,
    SeedRef,
    SeedRepository,
    default_seed,
)
from lifecycle.sandbox.server import Sandbox
from tests.github.hub import Hub, survey_on

START = datetime(2026, 1, 31, 9, 0, tzinfo=UTC)
OWNER = "octo-org"
MANY = 10_000.0
"""Seconds: no test of a sweep is about the deadline unless it says so."""


def at(minutes: float) -> datetime:
    """So long after the world's beginning."""
    return START + timedelta(minutes=minutes)


def seconds(minutes: float) -> float:
    """The same as seconds since the epoch."""
    return at(minutes).timestamp()


def issue(number: int, **changes: object) -> SeedIssue:
    """An open issue that octocat has."""
    made = SeedIssue(
        number,
        f"Task {number}",
        body="Do it.",
        author="maria",
        assignees=["octocat"],
        created_at=at(number),
        updated_at=at(number + 1),
        assigned_at=at(number + 0.5),
    )
    return replace(made, **changes)


def lease(number: int, agent: str = "octocat-1", branch: str = "", minutes: float = 5) -> SeedRef:
    """A lease as the product writes it."""
    word = {"agent": agent, "issue": number, "nonce": f"n{number}"}
    message = f"lease {json.dumps(word | ({'branch': branch} if branch else {}))}\n\n[skip ci]\n"
    return SeedRef(f"refs/agent-claims/{number}", message, date=at(minutes))


def branch(name: str, minutes: float = 5) -> SeedBranch:
    """A branch with one commit of its own."""
    return SeedBranch(name, [SeedCommit("Work", {"work.txt": name}, date=at(minutes))])


def pull(number: int, head: str, body: str = "", **changes: object) -> SeedPull:
    """An open pull request into main."""
    made = SeedPull(
        number,
        f"Work {number}",
        head=head,
        base="main",
        body=body,
        author="octocat",
        created_at=at(number),
        updated_at=at(number + 1),
    )
    return replace(made, **changes)


def repository(name: str = "hello-service", **changes: object) -> SeedRepository:
    """One of octo-org's."""
    return replace(SeedRepository(f"{OWNER}/{name}"), **changes)


def seed(repositories: Sequence[SeedRepository], items: Iterable[SeedItem] = ()) -> Seed:
    """A world of these repositories, and the built-in board with these cards."""
    base = default_seed()
    whole = replace(base, repositories=list(repositories))
    names = [one.name for one in repositories]
    return whole.with_board(items=list(items), owner=OWNER, repositories=names)


@contextmanager
def hub_of(world: Seed, deadline: Deadline) -> Iterator[Hub]:
    """Adapters on a world; a sweep takes its time."""
    deadline.renew(MANY)
    with Sandbox(world) as sandbox:
        hub = Hub(sandbox.info, deadline)
        hub.control.clear_requests()
        yield hub
        hub.graph.close()
        hub.rest.close()


def survey_of(hub: Hub) -> GitHubSurvey:
    """The sweep's adapter, without labels."""
    return survey_on(hub.graph, hub.rest, hub.project)
