"""Run workflows of Actions again, cancel them, start them by hand, and pack their logs.

Source: https://docs.github.com/rest/actions/workflow-runs
"""

from __future__ import annotations

import io
import zipfile

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.checks import actions as checks
from lifecycle.sandbox.checks import suites
from lifecycle.sandbox.checks.state import CheckRun, CheckSuite, CheckTables, Workflow, WorkflowRun
from lifecycle.sandbox.repositories.state import Repository

MOST_ATTEMPTS = 51
"""The first attempt and 50 re-runs, GitHub's limit.

Source: https://docs.github.com/actions/how-tos/manage-workflow-runs/re-run-workflows-and-jobs
"""

FAILED = {"failure", "cancelled", "timed_out", "startup_failure", "action_required"}


def all_of(repo: Repository, sha: str | None = None) -> list[CheckSuite]:
    """The check suites of all workflow runs, or of one commit's, newest first."""
    suites.index(repo)
    pool = CheckTables.of(repo).suites if sha is None else suites.of_commit(repo, sha)
    return [suite for suite in reversed(pool) if suite.run is not None]


def rerun(suite: CheckSuite, *, failed_only: bool = False) -> None:
    """Start another attempt with all jobs, or with the failed ones.

    Raises:
        ActionRefused: It is not over, none failed, or it was run again too often.
    """
    run = suite.run
    if run is None or suites.status_of(suite)[0] != "completed":
        raise ActionRefused("This workflow is already running")
    _demand_attempt(run)
    jobs = suites.latest_runs_of(suite)
    if failed_only:
        jobs = [job for job in jobs if job.conclusion in FAILED]
    if failed_only and not jobs:
        raise ActionRefused("This workflow run has no failed jobs")
    run.attempt += 1
    for job in jobs:
        checks.rerun(job)


def _demand_attempt(run: WorkflowRun) -> None:
    """Refuse an attempt above the limit, with the words in public threads.

    Source: https://github.com/metabase/metabase/pull/70916
    """
    if run.attempt >= MOST_ATTEMPTS:
        raise ActionRefused("This workflow run cannot be retried")


def rerun_job(job: CheckRun) -> None:
    """Start another attempt with only this job.

    Raises:
        ActionRefused: Its run is not over, or was run again too often.
    """
    run = job.suite.run
    if run is None or suites.status_of(job.suite)[0] != "completed":
        raise ActionRefused("The workflow run containing this job is already running")
    _demand_attempt(run)
    run.attempt += 1
    checks.rerun(job)


def cancel(suite: CheckSuite) -> None:
    """Cancel the jobs of a workflow run that are not completed.

    Raises:
        ActionRefused: It is over.
    """
    if suites.status_of(suite)[0] == "completed":
        raise ActionRefused("Cannot cancel a workflow run that is completed.")
    repo = suite.repository
    tables = CheckTables.of(repo)
    for job in suites.latest_runs_of(suite):
        if job.status != "completed":
            checks.move(job, "completed", "cancelled")
            tables.arrivals = [
                arrival
                for arrival in tables.arrivals
                if arrival.sha != job.sha or arrival.plan.name != job.name
            ]


def dispatch(repo: Repository, flow: Workflow, sha: str, branch: str, user: User) -> CheckSuite:
    """Start a workflow by hand on a branch; the planned checks name its jobs."""
    tables = CheckTables.of(repo)
    number, node = repo.new_id("CS")
    when = now()
    suite = CheckSuite(number, node, repo, sha, branch, suites.actions_app(repo.world), when, when)
    run_number = next(repo.world.serial)
    suite.run = WorkflowRun(
        run_number, node_id("WFR", repo.id, run_number), flow.name, "workflow_dispatch",
        flow.last_number + 1, actor=user, suite=suite,
    )  # fmt: skip
    tables.suites.append(suite)
    repo.world.register(node, suite)
    suites.index(repo)
    for plan in tables.plans:
        if plan.workflow == flow.name and plan.event == "workflow_dispatch":
            checks.register(repo, sha, plan)
    return suite


def logs_zip(suite: CheckSuite) -> bytes:
    """A zip file of the logs: each job's at the top, and again in the job's folder."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for place, job in enumerate(suites.latest_runs_of(suite)):
            name = job.name.replace("/", "_")
            archive.writestr(f"{place}_{name}.txt", checks.log_of(job))
            archive.writestr(f"{name}/1_{name}.txt", checks.log_of(job))
    return packed.getvalue()
