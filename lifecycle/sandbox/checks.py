"""Check runs and commit statuses: set by a human's word, or planned and late.

Lateness is counted in reads, never in seconds, so that whoever polls sees the same in every run. A
read is one request that asks for the checks of a head, however often it asks within.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from lifecycle.sandbox.state import Arrival, CheckRun, CommitStatus, PlannedCheck, World, now

if TYPE_CHECKING:
    from collections.abc import Sequence


def announce(world: World, sha: str) -> None:
    """A commit became the head of an open pull request: its planned checks are on their way."""
    if sha in world.announced:
        return
    world.announced.add(sha)
    world.arrivals.extend(Arrival(plan, sha) for plan in world.plans)
    _land(world, sha)


def read(world: World, sha: str, seen: set[object]) -> None:
    """Count a read of a head's checks, and let those land whose time has come."""
    key = ("rollup", sha)
    if key in seen:
        return
    seen.add(key)
    _land(world, sha)
    world.rollup_reads[sha] = world.rollup_reads.get(sha, 0) + 1


def _land(world: World, sha: str) -> None:
    reads = world.rollup_reads.get(sha, 0)
    due = [a for a in world.arrivals if a.sha == sha and a.plan.after_reads <= reads]
    for arrival in due:
        world.arrivals.remove(arrival)
        register(world, sha, arrival.plan)


def register(world: World, sha: str, plan: PlannedCheck) -> None:
    """Register what a plan says, now."""
    if plan.context is not None:
        set_status(world, sha, plan.context, plan.state, None)
    elif plan.name is not None:
        set_check(
            world,
            sha,
            plan.name,
            status=plan.status,
            conclusion=plan.conclusion,
            workflow=plan.workflow,
            event=plan.event,
        )


def set_check(
    world: World,
    sha: str,
    name: str,
    *,
    status: str,
    conclusion: str | None,
    workflow: str | None,
    event: str,
    started_at: datetime | None = None,
    completed_at: datetime | None = None,
    rerun: bool = False,
) -> CheckRun:
    """Set the newest check run of that name, workflow and event; `rerun` adds another beside it.

    Times that are not given are the present; only what runs has begun, only what is over has ended.
    """
    key = (name, workflow, event)
    known = [c for c in world.checks if c.sha == sha and c.key == key]
    if known and not rerun:
        check = known[-1]
    else:
        number = next(world.serial)
        check = CheckRun(
            number, sha, name, workflow, event, status, None, None, None, _run_of(world, sha, key)
        )
        world.checks.append(check)
    waiting = status in {"queued", "waiting", "requested", "pending"}
    check.status = status
    check.conclusion = conclusion if status == "completed" else None
    check.started_at = started_at or check.started_at or (None if waiting else now())
    check.completed_at = (completed_at or now()) if status == "completed" else None
    return check


def _run_of(world: World, sha: str, key: tuple[str, str | None, str]) -> int:
    """The workflow run that jobs of one workflow, event and commit share."""
    same = [c.run_id for c in world.checks if c.sha == sha and c.key[1:] == key[1:]]
    return same[0] if same else next(world.serial)


def set_status(
    world: World, sha: str, context: str, state: str, description: str | None
) -> CommitStatus:
    """Add a commit status, which supersedes older ones of its context."""
    status = CommitStatus(next(world.serial), sha, context, state, description, now())
    world.statuses.append(status)
    return status


def runs_of(world: World, sha: str) -> list[CheckRun]:
    """Every check run of a commit, superseded ones too, oldest first."""
    return [check for check in world.checks if check.sha == sha]


def latest_runs_of(world: World, sha: str) -> list[CheckRun]:
    """The newest check run of each name, workflow and event."""
    return list({check.key: check for check in runs_of(world, sha)}.values())


def statuses_of(world: World, sha: str) -> list[CommitStatus]:
    """The newest status of each context."""
    return list({s.context: s for s in world.statuses if s.sha == sha}.values())


def combined_state(statuses: Sequence[CommitStatus]) -> str:
    """`failure` if any failed, `pending` if there is none or one is pending, else `success`.

    Source: https://docs.github.com/rest/commits/statuses#get-the-combined-status-for-a-specific-reference
    """
    states = {status.state for status in statuses}
    if states & {"failure", "error"}:
        return "failure"
    return "pending" if not states or "pending" in states else "success"
