"""Workflows, their runs and jobs over REST."""

from __future__ import annotations

from typing import Any

from lifecycle.sandbox.accounts import payload as accounts
from lifecycle.sandbox.base.times import stamp
from lifecycle.sandbox.checks import payload as checks
from lifecycle.sandbox.checks import suites
from lifecycle.sandbox.checks.state import CheckRun, CheckSuite, Workflow, WorkflowRun
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.wire.call import Call


def workflow(call: Call, made: Workflow) -> dict[str, Any]:
    """A workflow."""
    repo = made.repository
    page = repositories.page_url(call, repo)
    return {
        "id": made.id,
        "node_id": made.node_id,
        "name": made.name,
        "path": made.path,
        "state": made.state,
        "created_at": stamp(made.created_at),
        "updated_at": stamp(made.created_at),
        "url": f"{repositories.api_url(call, repo)}/actions/workflows/{made.id}",
        "html_url": f"{page}/blob/{repo.default_branch}/{made.path}",
        "badge_url": f"{page}/actions/workflows/{made.path.rpartition('/')[2]}/badge.svg",
    }


def run_page(call: Call, suite: CheckSuite, run: WorkflowRun) -> str:
    """Where people look at a run."""
    return f"{repositories.page_url(call, suite.repository)}/actions/runs/{run.id}"


def workflow_run(
    call: Call, suite: CheckSuite, run: WorkflowRun, *, with_pulls: bool = True
) -> dict[str, Any]:
    """A run of a workflow."""
    repo = suite.repository
    api = repositories.api_url(call, repo)
    url = f"{api}/actions/runs/{run.id}"
    flow = suites.workflow(repo, run.workflow)
    pull = suites.pull_of(repo, suite.sha)
    there = (pull.head_repository if pull else None) or repo
    status, conclusion = suites.status_of(suite)
    commit = checks.head_commit(repo, suite.sha)
    actor = accounts.user(call, run.actor or repo.owner)
    return {
        "id": run.id,
        "name": run.workflow,
        "node_id": run.node_id,
        "head_branch": suite.branch,
        "head_sha": suite.sha,
        "path": flow.path,
        "display_title": pull.issue.title if pull else commit["message"].partition("\n")[0],
        "run_number": run.number,
        "event": run.event,
        "status": status,
        "conclusion": conclusion,
        "workflow_id": flow.id,
        "check_suite_id": suite.id,
        "check_suite_node_id": suite.node_id,
        "url": url,
        "html_url": run_page(call, suite, run),
        "pull_requests": checks.pulls_of(call, repo, suite.sha) if with_pulls else [],
        "created_at": stamp(suite.created_at),
        "updated_at": stamp(suite.updated_at),
        "actor": actor,
        "run_attempt": run.attempt,
        "referenced_workflows": [],
        "run_started_at": stamp(suite.created_at),
        "triggering_actor": actor,
        "jobs_url": f"{url}/jobs",
        "logs_url": f"{url}/logs",
        "check_suite_url": f"{api}/check-suites/{suite.id}",
        "artifacts_url": f"{url}/artifacts",
        "cancel_url": f"{url}/cancel",
        "rerun_url": f"{url}/rerun",
        "previous_attempt_url": f"{url}/attempts/{run.attempt - 1}" if run.attempt > 1 else None,
        "workflow_url": f"{api}/actions/workflows/{flow.id}",
        "head_commit": commit,
        "repository": repositories.minimal(call, repo),
        "head_repository": repositories.minimal(call, there),
    }


def job(call: Call, run: CheckRun, of: WorkflowRun) -> dict[str, Any]:
    """A job of a workflow run: the check run of the same id, seen from Actions."""
    repo = run.repository
    api = repositories.api_url(call, repo)
    has_begun = run.started_at is not None
    return {
        "id": run.id,
        "run_id": of.id,
        "workflow_name": of.workflow,
        "head_branch": run.suite.branch,
        "run_url": f"{api}/actions/runs/{of.id}",
        "run_attempt": run.attempt,
        "node_id": run.node_id,
        "head_sha": run.sha,
        "url": f"{api}/actions/jobs/{run.id}",
        "html_url": checks.page_url(call, run),
        "status": run.status,
        "conclusion": run.conclusion,
        "created_at": stamp(run.suite.created_at),
        "started_at": stamp(run.started_at or run.suite.created_at),
        "completed_at": stamp(run.completed_at),
        "name": run.name,
        "steps": [],
        "check_run_url": f"{api}/check-runs/{run.id}",
        "labels": ["ubuntu-latest"],
        "runner_id": 1 if has_begun else None,
        "runner_name": "GitHub Actions 1" if has_begun else None,
        "runner_group_id": 0 if has_begun else None,
        "runner_group_name": "GitHub Actions" if has_begun else None,
    }
