"""Check runs and commit statuses: set by a human's word, or planned and late.

Lateness is counted in reads, never in seconds, so that whoever polls sees the same in every run. A
read is one request that asks for the checks of a head, however often it asks within.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from lifecycle.sandbox.ids import node_id
from lifecycle.sandbox.state.accounts import App
from lifecycle.sandbox.state.checks import (
    Arrival,
    CheckRun,
    CheckSuite,
    CommitStatus,
    PlannedCheck,
    WorkflowRun,
)
from lifecycle.sandbox.state.times import now

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifecycle.sandbox.state.accounts import User
    from lifecycle.sandbox.state.repositories import Repository
    from lifecycle.sandbox.state.world import World

ACTIONS = "github-actions"


def announce(repo: Repository, sha: str) -> None:
    """A commit became the head of an open pull request: its planned checks are on their way."""
    if sha in repo.announced:
        return
    repo.announced.add(sha)
    repo.arrivals.extend(Arrival(plan, sha) for plan in repo.plans)
    _land(repo, sha)


def read(repo: Repository, sha: str, seen: set[object]) -> None:
    """Count a read of a head's checks, and let those land whose time has come."""
    key = ("rollup", sha)
    if key in seen:
        return
    seen.add(key)
    _land(repo, sha)
    repo.rollup_reads[sha] = repo.rollup_reads.get(sha, 0) + 1


def _land(repo: Repository, sha: str) -> None:
    reads = repo.rollup_reads.get(sha, 0)
    due = [a for a in repo.arrivals if a.sha == sha and a.plan.after_reads <= reads]
    for arrival in due:
        repo.arrivals.remove(arrival)
        register(repo, sha, arrival.plan)


def register(repo: Repository, sha: str, plan: PlannedCheck) -> None:
    """Register what a plan says, now."""
    if plan.context is not None:
        set_status(repo, sha, plan.context, plan.state, None)
    elif plan.name is not None:
        set_check(
            repo,
            sha,
            plan.name,
            status=plan.status,
            conclusion=plan.conclusion,
            workflow=plan.workflow,
            event=plan.event,
        )


def set_check(
    repo: Repository,
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
    known = [c for c in runs_of(repo, sha) if c.key == key]
    if known and not rerun:
        check = known[-1]
    else:
        number, node = repo.new_id("CR")
        suite = suite_of(repo, sha, workflow, event)
        check = CheckRun(number, node, suite, sha, name, workflow, event, status, None, None, None)
        repo.checks.setdefault(sha, []).append(check)
        repo.world.register(node, check)
    waiting = status in {"queued", "waiting", "requested", "pending"}
    check.status = status
    check.conclusion = conclusion if status == "completed" else None
    check.started_at = started_at or check.started_at or (None if waiting else now())
    check.completed_at = (completed_at or now()) if status == "completed" else None
    check.suite.updated_at = now()
    return check


def actions_app(world: World) -> App:
    """The app that GitHub Actions is, by the number that it has on github.com."""
    if ACTIONS not in world.apps:
        github = world.users.get("github") or world.home.owner
        world.apps[ACTIONS] = App(15_368, ACTIONS, "GitHub Actions", github)
    return world.apps[ACTIONS]


def suite_of(repo: Repository, sha: str, workflow: str | None, event: str) -> CheckSuite:
    """The suite that jobs of one workflow, event and commit share, made with the first of them."""
    for suite in repo.suites:
        run = suite.run
        key = (run.workflow, run.event) if run else (None, event)
        if suite.sha == sha and key == (workflow, event):
            return suite
    number, node = repo.new_id("CS")
    made = now()
    branch = next((p.head for p in repo.pulls.values() if p.head_sha == sha), None)
    suite = CheckSuite(number, node, repo, sha, branch, actions_app(repo.world), made, made)
    if workflow:
        run_number = next(repo.world.serial)
        same = [one for one in repo.suites if one.run and one.run.workflow == workflow]
        suite.run = WorkflowRun(
            run_number, node_id("WFR", repo.id, run_number), workflow, event, len(same) + 1
        )
    repo.suites.append(suite)
    repo.world.register(node, suite)
    return suite


def set_status(
    repo: Repository,
    sha: str,
    context: str,
    state: str,
    description: str | None,
    *,
    creator: User | None = None,
    target_url: str | None = None,
) -> CommitStatus:
    """Add a commit status, which supersedes older ones of its context."""
    number, node = repo.new_id("SC")
    status = CommitStatus(
        number, node, repo, sha, context, state, description, now(), creator, target_url
    )
    repo.statuses.setdefault(sha, []).append(status)
    repo.world.register(node, status)
    return status


def runs_of(repo: Repository, sha: str) -> list[CheckRun]:
    """Every check run of a commit, superseded ones too, oldest first."""
    return list(repo.checks.get(sha, ()))


def latest_runs_of(repo: Repository, sha: str) -> list[CheckRun]:
    """The newest check run of each name, workflow and event."""
    return list({check.key: check for check in runs_of(repo, sha)}.values())


def statuses_of(repo: Repository, sha: str) -> list[CommitStatus]:
    """The newest status of each context."""
    return list({s.context: s for s in repo.statuses.get(sha, ())}.values())


def combined_state(statuses: Sequence[CommitStatus]) -> str:
    """`failure` if any failed, `pending` if there is none or one is pending, else `success`.

    Source: https://docs.github.com/rest/commits/statuses#get-the-combined-status-for-a-specific-reference
    """
    states = {status.state for status in statuses}
    if states & {"failure", "error"}:
        return "failure"
    return "pending" if not states or "pending" in states else "success"
