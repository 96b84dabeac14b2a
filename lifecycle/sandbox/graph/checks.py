"""Check runs, commit statuses, and all of a commit's together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lifecycle.sandbox.actions import checks
from lifecycle.sandbox.graph.pages import connection
from lifecycle.sandbox.graph.refusals import forbidden
from lifecycle.sandbox.payloads.checks import details_url
from lifecycle.sandbox.state.times import stamp

if TYPE_CHECKING:
    from lifecycle.sandbox.state.pulls import PullRequest
    from lifecycle.sandbox.state.repositories import Repository
    from lifecycle.sandbox.wire.call import Call


@dataclass(frozen=True, slots=True)
class Rollup:
    """The checks of a commit, all together."""

    repository: Repository
    sha: str


def rollup_of(call: Call, pull: PullRequest) -> Rollup | None:
    """None until a check or a status has registered for the head."""
    repo, sha = pull.repository, pull.head_sha
    checks.read(repo, sha, call.seen)
    found = checks.runs_of(repo, sha), checks.statuses_of(repo, sha)
    return Rollup(repo, sha) if any(found) else None


def _contexts(call: Call, rollup: Rollup, **arguments: Any) -> dict[str, Any]:
    repo, sha = rollup.repository, rollup.sha
    found = [*checks.runs_of(repo, sha), *checks.statuses_of(repo, sha)]
    page = connection(found, **arguments)
    if call.token.kind == "fine-grained":
        page["nodes"] = [
            forbidden(call.token) for _ in page["nodes"]
        ]  # each becomes null and an error
    return page


def _verdict(_call: Call, rollup: Rollup) -> str:
    """The worst of the newest runs and statuses of a commit, hidden ones too."""
    runs = checks.latest_runs_of(rollup.repository, rollup.sha)
    words = {run.conclusion if run.status == "completed" else "pending" for run in runs}
    words |= {status.state for status in checks.statuses_of(rollup.repository, rollup.sha)}
    if words - {"success", "neutral", "skipped", "pending", "expected", None}:
        return "FAILURE"
    return "PENDING" if words & {"pending", "expected", None} else "SUCCESS"


RESOLVERS: dict[str, dict[str, Any]] = {
    "StatusCheckRollup": {
        "id": lambda _, rollup: f"SCR_{rollup.sha}",
        "commit": lambda _, rollup: {"id": f"C_{rollup.sha}", "oid": rollup.sha},
        "contexts": _contexts,
        "state": _verdict,
    },
    "CheckRun": {
        "id": lambda _, run: run.node_id,
        "databaseId": lambda _, run: run.id,
        "status": lambda _, run: run.status.upper(),
        "conclusion": lambda _, run: run.conclusion and run.conclusion.upper(),
        "startedAt": lambda _, run: stamp(run.started_at),
        "completedAt": lambda _, run: stamp(run.completed_at),
        "detailsUrl": details_url,
        "checkSuite": lambda _, run: run.suite,
    },
    "CheckSuite": {
        "id": lambda _, suite: suite.node_id,
        "workflowRun": lambda _, suite: suite.run,
    },
    "WorkflowRun": {"id": lambda _, run: run.node_id, "workflow": lambda _, run: run},
    "Workflow": {"id": lambda _, run: f"W_{run.workflow}", "name": lambda _, run: run.workflow},
    "StatusContext": {
        "id": lambda _, status: status.node_id,
        "state": lambda _, status: status.state.upper(),
        "createdAt": lambda _, status: stamp(status.created_at),
        "targetUrl": lambda _, status: status.target_url,
    },
}
