"""Set check runs and commit statuses, as a person or an app asks, or as a seed plans them.

Delays are counted in reads, not in seconds, so that a polling client sees the same in every run. A read is
one request that asks for the checks of a head, however often it asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from lifecycle.sandbox.accounts.state import App, User
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.checks import suites
from lifecycle.sandbox.checks.state import (
    Arrival,
    CheckRun,
    CheckSuite,
    CheckTables,
    CommitStatus,
    PlannedCheck,
)
from lifecycle.sandbox.repositories.state import Repository

WAITING = {"queued", "waiting", "requested", "pending"}
MOST_STATUSES = 1000
"""The most statuses of one context on a commit."""

actions_app = suites.actions_app


def announce(repo: Repository, sha: str, *, event: str | None = None) -> None:
    """Start the planned checks of a commit that became the head of an open pull request.

    The workflows of a stranger's fork wait until somebody with write access approves them
    (https://docs.github.com/actions/how-tos/manage-workflow-runs/approve-runs-from-forks). For a
    merge group, `event` replaces the planned event.
    """
    tables = CheckTables.of(repo)
    if sha in tables.announced:
        return
    tables.announced.add(sha)
    plans = [replace(planned, event=event) if event else planned for planned in tables.plans]
    pull = suites.pull_of(repo, sha)
    if pull and pull.is_cross_repository and not repo.can_push(pull.issue.author):
        held = [planned for planned in plans if planned.name and planned.workflow]
        for plan in held:
            suite = suites.job_suite(repo, sha, plan.workflow, plan.event)
            if suite.run:
                suite.run.held = True
        plans = [planned for planned in plans if planned not in held]
    tables.arrivals.extend(Arrival(plan, sha) for plan in plans)
    _land(repo, sha)


def approve(suite: CheckSuite) -> None:
    """Approve a held workflow run: its planned checks start now."""
    repo, run = suite.repository, suite.run
    tables = CheckTables.of(repo)
    if run is None:
        return
    run.held = False
    due = [p for p in tables.plans if (p.workflow, p.event) == (run.workflow, run.event)]
    tables.arrivals.extend(Arrival(plan, suite.sha) for plan in due)
    _land(repo, suite.sha)


def read(repo: Repository, sha: str, seen: set[object]) -> None:
    """Count a read of a commit's checks, and register the planned ones that are due then."""
    tables = CheckTables.of(repo)
    key = ("rollup", sha)
    if key in seen:
        return
    seen.add(key)
    _land(repo, sha)
    tables.rollup_reads[sha] = tables.rollup_reads.get(sha, 0) + 1


def _land(repo: Repository, sha: str) -> None:
    tables = CheckTables.of(repo)
    reads = tables.rollup_reads.get(sha, 0)
    due = [a for a in tables.arrivals if a.sha == sha and a.plan.after_reads <= reads]
    for arrival in due:
        tables.arrivals.remove(arrival)
        register(repo, sha, arrival.plan)


def register(repo: Repository, sha: str, plan: PlannedCheck) -> None:
    """Set the status or the check run that a plan describes, now."""
    if plan.context is not None:
        set_status(repo, sha, plan.context, plan.state, None)
    elif plan.name is not None:
        check = set_check(
            repo,
            sha,
            plan.name,
            status=plan.status,
            conclusion=plan.conclusion,
            workflow=plan.workflow,
            event=plan.event,
        )
        check.log = check.log if plan.log is None else plan.log


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
    """Set the newest check run of that name, workflow and event; `rerun` adds another one.

    Missing times are now; a waiting run has no start, and only a completed one has an end.
    """
    key = (name, workflow, event)
    same_key = [c for c in runs_of(repo, sha) if c.key == key]
    if same_key and not rerun:
        check = same_key[-1]
    else:
        check = add_run(suites.job_suite(repo, sha, workflow, event), name, event, workflow)
    check.started_at = started_at or check.started_at
    move(check, status, conclusion, completed_at)
    return check


def add_run(suite: CheckSuite, name: str, event: str = "", workflow: str | None = None) -> CheckRun:
    """Add a check run to a suite; it is queued."""
    repo = suite.repository
    number, node = repo.new_id("CR")
    check = CheckRun(
        number, node, suite, suite.sha, name, workflow, event, "queued", None, None, None
    )
    check.attempt = suite.run.attempt if suite.run else 1
    CheckTables.of(repo).checks.setdefault(suite.sha, []).append(check)
    repo.world.register(node, check)
    return check


def move(
    check: CheckRun, status: str, conclusion: str | None, completed_at: datetime | None = None
) -> None:
    """Set a check run's status and conclusion, and its start and end if they follow from these."""
    check.status = status
    check.conclusion = conclusion if status == "completed" else None
    check.started_at = check.started_at or (None if status in WAITING else now())
    check.completed_at = (completed_at or now()) if status == "completed" else None
    check.suite.updated_at = now()
    check.repository.touch()


def rerun(check: CheckRun) -> CheckRun:
    """Add a new check run, to run this one again; its plan, if there is one, completes it."""
    repo = check.repository
    tables = CheckTables.of(repo)
    again = add_run(check.suite, check.name, check.event, check.workflow)
    repo.touch()
    plans = [p for p in tables.plans if (p.name, p.workflow, p.event) == check.key]
    reads = tables.rollup_reads.get(check.sha, 0)
    tables.arrivals.extend(
        Arrival(replace(plan, after_reads=reads + max(plan.after_reads, 1)), check.sha)
        for plan in plans
    )
    return again


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
    CheckTables.of(repo).statuses.setdefault(sha, []).append(status)
    repo.world.register(node, status)
    repo.touch()
    return status


def runs_of(repo: Repository, sha: str) -> list[CheckRun]:
    """Every check run of a commit, superseded ones too, oldest first."""
    return list(CheckTables.of(repo).checks.get(sha, ()))


def latest_runs_of(repo: Repository, sha: str) -> list[CheckRun]:
    """The newest check run of each name in each suite.

    Source: https://docs.github.com/rest/checks/runs#list-check-runs-for-a-git-reference
    """
    return list({(check.suite.id, check.name): check for check in runs_of(repo, sha)}.values())


def statuses_of(repo: Repository, sha: str) -> list[CommitStatus]:
    """The newest status of each context."""
    return list({s.context: s for s in CheckTables.of(repo).statuses.get(sha, ())}.values())


def combined_state(statuses: Sequence[CommitStatus]) -> str:
    """`failure` if one failed, `pending` if there are none or one is pending, else `success`.

    Source: https://docs.github.com/rest/commits/statuses#get-the-combined-status-for-a-specific-reference
    """
    states = {status.state for status in statuses}
    if states & {"failure", "error"}:
        return "failure"
    return "pending" if not states or "pending" in states else "success"


def verdict(repo: Repository, sha: str) -> str | None:
    """The worst of the newest runs and statuses of a commit; None if there are none."""
    runs, statuses = latest_runs_of(repo, sha), statuses_of(repo, sha)
    words = {run.conclusion if run.status == "completed" else "pending" for run in runs}
    words |= {status.state for status in statuses}
    if not words:
        return None
    if words - {"success", "neutral", "skipped", "pending", "expected", None}:
        return "FAILURE"
    return "PENDING" if words & {"pending", "expected", None} else "SUCCESS"


def log_of(check: CheckRun) -> str:
    """The log of a job: its own, else a few lines with its conclusion."""
    if check.log is not None:
        return check.log
    when = check.started_at or now()
    lines = [f"##[group]Run {check.name}", f"{check.name}: {check.conclusion}", "##[endgroup]"]
    if check.conclusion not in {"success", "neutral", "skipped"}:
        lines.append("##[error]Process completed with exit code 1.")
    stamp = when.strftime("%Y-%m-%dT%H:%M:%S.0000000Z")
    return "".join(f"{stamp} {line}\n" for line in lines)


def app_run(repo: Repository, sha: str, name: str, app: App, external_id: str = "") -> CheckRun:
    """A new check run of an app on a commit; a second call with the same name adds another one."""
    check = add_run(suites.app_suite(repo, sha, app), name)
    check.external_id = external_id
    return check
