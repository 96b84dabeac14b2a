"""The JSON of check suites, check runs, statuses, workflows, runs and jobs in REST's answers."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from lifecycle.sandbox.accounts import payload as accounts
from lifecycle.sandbox.accounts.state import App
from lifecycle.sandbox.base.times import attributes, stamp
from lifecycle.sandbox.checks import actions as checks
from lifecycle.sandbox.checks import suites
from lifecycle.sandbox.checks.state import (
    Annotation,
    CheckRun,
    CheckSuite,
    CommitStatus,
    Step,
    Workflow,
    WorkflowRun,
)
from lifecycle.sandbox.git.store import objects
from lifecycle.sandbox.pulls import payload as pulls
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call, links


def details_url(call: Call, run: CheckRun) -> str:
    """The URL of a check run's details: its own, else that of its page on GitHub."""
    if run.details_url is not None:
        return run.details_url
    return page_url(call, run)


def page_url(call: Call, run: CheckRun) -> str:
    """The URL of a check run's page on GitHub; in Actions, its id is that of its job."""
    page = repositories.page_url(call, run.repository)
    if run.suite.run is None:
        return f"{page}/runs/{run.id}"
    return f"{page}/actions/runs/{run.suite.run.id}/job/{run.id}"


def app(call: Call, subject: App) -> dict[str, Any]:
    """The JSON of an app in its check runs and suites."""
    return {
        **attributes(subject, "id client_id slug node_id"),
        "owner": accounts.user(call, subject.owner),
        "name": subject.name,
        "description": "",
        "external_url": f"{call.web}/apps/{subject.slug}",
        "html_url": f"{call.web}/apps/{subject.slug}",
        "created_at": stamp(subject.owner.created_at),
        "updated_at": stamp(subject.owner.created_at),
        "permissions": dict(subject.permissions),
        "events": [],
    }


def pulls_of(call: Call, repo: Repository, sha: str) -> list[dict[str, Any]]:
    """The JSON of the open pull request with this head commit, in a list; one from a fork is left out."""
    pull = suites.pull_of(repo, sha)
    if pull is None or not pull.is_open or pull.is_cross_repository or pull.head_sha != sha:
        return []
    return [pulls.minimal(call, pull)]


def check_run(call: Call, run: CheckRun) -> dict[str, Any]:
    """The JSON of a check run."""
    url = f"{repositories.api_url(call, run.repository)}/check-runs/{run.id}"
    return {
        **attributes(run, "id name node_id"),
        "head_sha": run.sha,
        "external_id": run.external_id,
        "url": url,
        "html_url": page_url(call, run),
        "details_url": details_url(call, run),
        **attributes(run, "status conclusion started_at completed_at"),
        "output": {
            **attributes(run.output, "title summary text"),
            "annotations_count": len(run.output.annotations),
            "annotations_url": f"{url}/annotations",
        },
        "check_suite": {"id": run.suite.id},
        "app": app(call, run.suite.app),
        "pull_requests": pulls_of(call, run.repository, run.sha),
    }


def annotation(call: Call, run: CheckRun, subject: Annotation) -> dict[str, Any]:
    """The JSON of an annotation: a remark about lines of a file."""
    page = repositories.page_url(call, run.repository)
    return {
        "path": subject.path,
        "blob_href": f"{page}/blob/{run.sha}/{quote(subject.path)}",
        **attributes(subject, "start_line start_column end_line end_column"),
        "annotation_level": subject.level,
        **attributes(subject, "title message raw_details"),
    }


def head_commit(repo: Repository, sha: str) -> dict[str, Any]:
    """The JSON of a commit in check suites and workflow runs."""
    commit = objects.commit(repo.git, sha)
    if commit is None:  # a seed may name commits that git does not have
        nobody = {"name": "nobody", "email": "nobody@example.com"}
        epoch = "1970-01-01T00:00:00Z"
        return {
            "id": sha, "tree_id": sha, "message": "", "timestamp": epoch,
            "author": nobody, "committer": nobody,
        }  # fmt: skip
    return {
        "id": sha,
        "tree_id": commit.tree,
        "message": commit.message,
        "timestamp": stamp(commit.author.when),
        "author": {"name": commit.author.name, "email": commit.author.email},
        "committer": {"name": commit.committer.name, "email": commit.committer.email},
    }


def check_suite(call: Call, suite: CheckSuite) -> dict[str, Any]:
    """The JSON of a check suite: all check runs of an app on a commit."""
    repo = suite.repository
    url = f"{repositories.api_url(call, repo)}/check-suites/{suite.id}"
    status, conclusion = suites.status_of(suite)
    return {
        **attributes(suite, "id node_id"),
        "head_branch": suite.branch,
        "head_sha": suite.sha,
        "status": status,
        "conclusion": conclusion,
        "url": url,
        "before": None,
        "after": suite.sha,
        "pull_requests": pulls_of(call, repo, suite.sha),
        "app": app(call, suite.app),
        **attributes(suite, "created_at updated_at"),
        "rerequestable": True,
        "runs_rerequestable": suite.run is None,
        "latest_check_runs_count": len(suites.latest_runs_of(suite)),
        "check_runs_url": f"{url}/check-runs",
        "head_commit": head_commit(repo, suite.sha),
        "repository": repositories.minimal(call, repo),
    }


def simple_status(call: Call, subject: CommitStatus) -> dict[str, Any]:
    """The JSON of a commit status in the combined status."""
    creator = subject.creator
    return {
        "url": f"{repositories.api_url(call, subject.repository)}/statuses/{subject.sha}",
        "avatar_url": accounts.user(call, creator)["avatar_url"] if creator else None,
        **attributes(subject, "id node_id state description target_url context created_at"),
        "updated_at": stamp(subject.created_at),
    }


def status(call: Call, subject: CommitStatus) -> dict[str, Any]:
    """The JSON of a commit status, with its creator."""
    creator = subject.creator
    return {
        **simple_status(call, subject),
        "creator": accounts.user(call, creator) if creator else None,
    }


def combined_status(
    call: Call, repo: Repository, sha: str, shown: list[CommitStatus], total: int
) -> dict[str, Any]:
    """The JSON of the combined status of a commit, with one page of its statuses."""
    url = f"{repositories.api_url(call, repo)}/commits/{sha}"
    return {
        "state": checks.combined_state(checks.statuses_of(repo, sha)),
        "statuses": [simple_status(call, commit_status) for commit_status in shown],
        "sha": sha,
        "total_count": total,
        "repository": repositories.minimal(call, repo),
        "commit_url": url,
        "url": f"{url}/status",
    }


def workflow(call: Call, subject: Workflow) -> dict[str, Any]:
    """The JSON of a workflow."""
    repo = subject.repository
    page = repositories.page_url(call, repo)
    return {
        **attributes(subject, "id node_id name path state created_at"),
        "updated_at": stamp(subject.created_at),
        "url": f"{repositories.api_url(call, repo)}/actions/workflows/{subject.id}",
        "html_url": f"{page}/blob/{repo.default_branch}/{subject.path}",
        "badge_url": f"{page}/actions/workflows/{subject.path.rpartition('/')[2]}/badge.svg",
    }


def run_page(call: Call, suite: CheckSuite, run: WorkflowRun) -> str:
    """The URL of a workflow run's page."""
    return f"{repositories.page_url(call, suite.repository)}/actions/runs/{run.id}"


def workflow_run(
    call: Call, suite: CheckSuite, run: WorkflowRun, *, with_pulls: bool = True
) -> dict[str, Any]:
    """The JSON of a workflow run."""
    repo = suite.repository
    api = repositories.api_url(call, repo)
    url = f"{api}/actions/runs/{run.id}"
    flow = suites.workflow(repo, run.workflow)
    pull = suites.pull_of(repo, suite.sha)
    source = (pull.head_repository if pull else None) or repo
    status, conclusion = suites.status_of(suite)
    commit = head_commit(repo, suite.sha)
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
        "pull_requests": pulls_of(call, repo, suite.sha) if with_pulls else [],
        **attributes(suite, "created_at updated_at"),
        "actor": actor,
        "run_attempt": run.attempt,
        "referenced_workflows": [],
        "run_started_at": stamp(suite.created_at),
        "triggering_actor": actor,
        **links(url, "jobs logs"),
        "check_suite_url": f"{api}/check-suites/{suite.id}",
        **links(url, "artifacts cancel rerun"),
        "previous_attempt_url": f"{url}/attempts/{run.attempt - 1}" if run.attempt > 1 else None,
        "workflow_url": f"{api}/actions/workflows/{flow.id}",
        "head_commit": commit,
        "repository": repositories.minimal(call, repo),
        "head_repository": repositories.minimal(call, source),
    }


def step(subject: Step) -> dict[str, Any]:
    """The JSON of a step of a job."""
    return attributes(subject, "name status conclusion number started_at completed_at")


def job(call: Call, run: CheckRun, of: WorkflowRun) -> dict[str, Any]:
    """The JSON of a job of a workflow run, which is the check run of the same id."""
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
        "html_url": page_url(call, run),
        **attributes(run, "status conclusion"),
        "created_at": stamp(run.suite.created_at),
        "started_at": stamp(run.started_at or run.suite.created_at),
        **attributes(run, "completed_at name"),
        "steps": [step(job_step) for job_step in run.steps],
        "check_run_url": f"{api}/check-runs/{run.id}",
        "labels": ["ubuntu-latest"],
        "runner_id": 1 if has_begun else None,
        "runner_name": "GitHub Actions 1" if has_begun else None,
        "runner_group_id": 0 if has_begun else None,
        "runner_group_name": "GitHub Actions" if has_begun else None,
    }
