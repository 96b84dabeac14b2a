"""Check runs and commit statuses over REST."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifecycle.sandbox.actions import checks
from lifecycle.sandbox.payloads import repositories
from lifecycle.sandbox.state.times import stamp

if TYPE_CHECKING:
    from lifecycle.sandbox.state.checks import CheckRun, CommitStatus
    from lifecycle.sandbox.state.repositories import Repository
    from lifecycle.sandbox.wire.call import Call


def details_url(call: Call, run: CheckRun) -> str:
    """The page of a run; for Actions, a check run's id is its job's."""
    if run.details_url is not None:
        return run.details_url
    page = repositories.page_url(call, run.repository)
    if run.suite.run is None:
        return f"{page}/runs/{run.id}"
    return f"{page}/actions/runs/{run.suite.run.id}/job/{run.id}"


def check_run(call: Call, run: CheckRun) -> dict[str, Any]:
    """A check run of an app."""
    url = f"{repositories.api_url(call, run.repository)}/check-runs/{run.id}"
    return {
        "id": run.id,
        "node_id": run.node_id,
        "head_sha": run.sha,
        "external_id": run.external_id,
        "url": url,
        "html_url": details_url(call, run),
        "details_url": details_url(call, run),
        "name": run.name,
        "status": run.status,
        "conclusion": run.conclusion,
        "started_at": stamp(run.started_at),
        "completed_at": stamp(run.completed_at),
        "output": {
            "title": run.output.title,
            "summary": run.output.summary,
            "text": run.output.text,
            "annotations_count": len(run.output.annotations),
            "annotations_url": f"{url}/annotations",
        },
        "check_suite": {"id": run.suite.id},
        "app": {"id": run.suite.app.id, "slug": run.suite.app.slug, "name": run.suite.app.name},
        "pull_requests": [],
    }


def status(call: Call, made: CommitStatus) -> dict[str, Any]:
    """A commit status."""
    return {
        "id": made.id,
        "node_id": made.node_id,
        "url": f"{repositories.api_url(call, made.repository)}/statuses/{made.sha}",
        "avatar_url": None,
        "state": made.state,
        "description": made.description,
        "target_url": made.target_url,
        "context": made.context,
        "created_at": stamp(made.created_at),
        "updated_at": stamp(made.created_at),
    }


def combined_status(
    call: Call, repo: Repository, sha: str, shown: list[CommitStatus], total: int
) -> dict[str, Any]:
    """The combined status of a commit, with one page of its statuses."""
    url = f"{repositories.api_url(call, repo)}/commits/{sha}"
    return {
        "state": checks.combined_state(checks.statuses_of(repo, sha)),
        "statuses": [status(call, one) for one in shown],
        "sha": sha,
        "total_count": total,
        "repository": repositories.repository(call, repo),
        "commit_url": url,
        "url": f"{url}/status",
    }
