"""Check suites and runs, commit statuses, workflow runs, and all of a commit's together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.base.times import stamp
from lifecycle.sandbox.checks import actions as checks
from lifecycle.sandbox.checks import suites
from lifecycle.sandbox.checks.payload import annotation, details_url, page_url, run_page
from lifecycle.sandbox.checks.state import (
    CheckRun,
    CheckSuite,
    CheckTables,
    CommitStatus,
    Step,
    Workflow,
    WorkflowRun,
)
from lifecycle.sandbox.git.graph import CommitAt, branch_ref
from lifecycle.sandbox.pulls.state import PullRequest, PullTables
from lifecycle.sandbox.repositories.payload import page_url as repository_page
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.rules import actions as rules
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.pages import connection, forbidden, no_node


@dataclass(frozen=True, slots=True)
class Rollup:
    """The checks of a commit, all together."""

    repository: Repository
    sha: str


@dataclass(frozen=True, slots=True)
class Statuses:
    """The commit statuses of a commit, all together."""

    repository: Repository
    sha: str


def rollup_of(call: Call, pull: PullRequest) -> Rollup | None:
    """The checks of a pull request's head."""
    return rollup(call, pull.repository, pull.head_sha)


def rollup(call: Call, repo: Repository, sha: str) -> Rollup | None:
    """None until a check or a status has registered for the commit."""
    checks.read(repo, sha, call.seen)
    found = checks.runs_of(repo, sha), checks.statuses_of(repo, sha)
    return Rollup(repo, sha) if any(found) else None


def _contexts(call: Call, of: Rollup, **arguments: Any) -> dict[str, Any]:
    runs, statuses = (
        checks.runs_of(of.repository, of.sha),
        checks.statuses_of(of.repository, of.sha),
    )
    page = connection([*runs, *statuses], **arguments)
    if call.token.kind == "fine-grained":
        page["nodes"] = [
            forbidden(call.token) for _ in page["nodes"]
        ]  # each becomes null and an error
    counts = {"checkRunCount": len(runs), "statusContextCount": len(statuses)}
    states = [(run.conclusion or run.status).upper() for run in runs]
    words = [one.state.upper() for one in statuses]
    return {
        **page,
        **counts,
        "checkRunCountsByState": [
            {"state": one, "count": states.count(one)} for one in dict.fromkeys(states)
        ],
        "statusContextCountsByState": [
            {"state": one, "count": words.count(one)} for one in dict.fromkeys(words)
        ],
    }


def _is_required(
    call: Call, repo: Repository, name: str, given: dict[str, Any], app: int | None
) -> bool:
    """Whether a check of that name has to pass for a pull request, named by id or number.

    Source: https://docs.github.com/graphql/reference/interfaces#requirablebypullrequest
    """
    pull: Any = None
    if given.get("pullRequestId") is not None:
        pull = call.world.nodes.get(given["pullRequestId"])
        if not isinstance(pull, PullRequest):
            raise no_node(given["pullRequestId"])
    elif given.get("pullRequestNumber") is not None:
        pull = PullTables.of(repo).pulls.get(given["pullRequestNumber"])
    if pull is None:
        return False
    found = rules.of_branch(pull.repository, pull.base)
    return any(name in rule.contexts and rule.app_ids.get(name, app) == app for rule in found)


def _run_required(call: Call, run: CheckRun, **given: Any) -> bool:
    return _is_required(call, run.repository, run.name, given, run.suite.app.id)


def _status_required(call: Call, status: CommitStatus, **given: Any) -> bool:
    return _is_required(call, status.repository, status.context, given, None)


def _suite_runs(call: Call, suite: CheckSuite, **given: Any) -> dict[str, Any]:
    """Runs of a suite by the filter; forbidden, one by one, for a token that cannot be given checks."""
    wanted = given.pop("filterBy", None) or {}
    every = wanted.get("checkType") == "ALL"
    found = (suites.runs_of if every else suites.latest_runs_of)(suite)
    if name := wanted.get("checkName"):
        found = [run for run in found if run.name == name]
    if words := wanted.get("conclusions"):
        found = [run for run in found if _upper(run.conclusion) in words]
    page = connection(found, **given)
    if call.token.kind == "fine-grained":
        page["nodes"] = [forbidden(call.token) for _ in page["nodes"]]
    return page


def _steps(_call: Call, run: CheckRun, **given: Any) -> dict[str, Any] | None:
    """Steps of a job of Actions; other apps' runs have none."""
    number = given.pop("number", None)
    if run.suite.run is None:
        return None
    return connection([one for one in run.steps if number in (None, one.number)], **given)


def _seconds(_call: Call, step: Step) -> int | None:
    if step.started_at is None or step.completed_at is None:
        return None
    return int((step.completed_at - step.started_at).total_seconds())


def _annotations(call: Call, run: CheckRun, **given: Any) -> dict[str, Any]:
    shown = []
    for one in run.output.annotations:
        made = annotation(call, run, one)
        span = {
            "start": {"line": one.start_line, "column": one.start_column},
            "end": {"line": one.end_line, "column": one.end_column},
        }
        shown.append({**made, "level": one.level.upper(), "location": span})
    return connection(shown, **given)


def _upper(text: str | None) -> str | None:
    return text.upper() if text else None


def _workflow(_call: Call, run: WorkflowRun) -> Any:
    suite = run.suite
    return suites.workflow(suite.repository, run.workflow) if suite else None


def _workflow_run(_call: Call, suite: CheckSuite) -> WorkflowRun | None:
    suites.index(suite.repository)
    return suite.run


def _workflow_page(call: Call, workflow: Workflow) -> str:
    page = repository_page(call, workflow.repository)
    return f"{page}/actions/workflows/{workflow.path.rpartition('/')[2]}"


def _suite_page(call: Call, suite: CheckSuite) -> str:
    if suite.run is not None:
        return run_page(call, suite, suite.run)
    return f"{repository_page(call, suite.repository)}/commit/{suite.sha}/checks"


TYPES = {
    CheckSuite: "CheckSuite",
    WorkflowRun: "WorkflowRun",
    CheckRun: "CheckRun",
    CommitStatus: "StatusContext",
}
PLAIN = {
    "CheckRun": "resourcePath name repository id databaseId externalId status startedAt completedAt",
    "CheckSuite": "app repository id databaseId createdAt updatedAt",
    "WorkflowRun": "resourcePath event id databaseId",
    "Workflow": "resourcePath name id databaseId state createdAt",
    "App": "name slug",
    "StatusContext": "context description creator id state createdAt targetUrl",
    "StatusCheckRollupContextConnection": "checkRunCount statusContextCount "
    "checkRunCountsByState statusContextCountsByState",
    "CheckRunStateCount": "state count",
    "StatusContextStateCount": "state count",
    "CheckStep": "number name status conclusion startedAt completedAt",
    "CheckAnnotation": "location message path title",
    "CheckAnnotationSpan": "start end",
    "CheckAnnotationPosition": "line column",
}
INPUTS = {"CheckRunFilter": "checkName checkType conclusions"}
RESOLVERS: dict[str, dict[str, Any]] = {
    "Commit": {
        "statusCheckRollup": lambda c, one: rollup(c, one.repository, one.oid),
        "checkSuites": lambda _, one, **given: connection(
            suites.of_commit(one.repository, one.oid), **given
        ),
        "status": lambda _, one: (
            Statuses(one.repository, one.oid)
            if CheckTables.of(one.repository).statuses.get(one.oid)
            else None
        ),
    },
    "Status": {
        "id": lambda _, one: f"ST_{one.sha}",
        "state": lambda _, one: checks.combined_state(
            checks.statuses_of(one.repository, one.sha)
        ).upper(),
        "contexts": lambda _, one: checks.statuses_of(one.repository, one.sha),
        "commit": lambda _, one: CommitAt(one.repository, one.sha),
    },
    "StatusCheckRollup": {
        "id": lambda _, one: f"SCR_{one.sha}",
        "commit": lambda _, one: CommitAt(one.repository, one.sha),
        "contexts": _contexts,
        "state": lambda _, one: checks.verdict(one.repository, one.sha),
    },
    "CheckRun": {
        "conclusion": lambda _, run: _upper(run.conclusion),
        "detailsUrl": details_url,
        "url": page_url,
        "permalink": page_url,
        "title": lambda _, run: run.output.title,
        "summary": lambda _, run: run.output.summary,
        "text": lambda _, run: run.output.text,
        "checkSuite": lambda _, run: run.suite,
        "annotations": _annotations,
        "steps(number)": _steps,
        "isRequired(pullRequestId, pullRequestNumber)": _run_required,
    },
    "CheckStep": {"externalId": lambda *_: None, "secondsToCompletion": _seconds},
    "CheckAnnotation": {
        "annotationLevel": lambda _, one: one["level"],
        "blobUrl": lambda _, one: one["blob_href"],
        "rawDetails": lambda _, one: one["raw_details"],
    },
    "CheckSuite": {
        "status": lambda _, suite: suites.status_of(suite)[0].upper(),
        "conclusion": lambda _, suite: _upper(suites.status_of(suite)[1]),
        "workflowRun": _workflow_run,
        "checkRuns(filterBy)": _suite_runs,
        "commit": lambda _, suite: CommitAt(suite.repository, suite.sha),
        "branch": lambda _, suite: branch_ref(suite.repository, suite.branch),
        "url": _suite_page,
    },
    "WorkflowRun": {
        "runNumber": lambda _, run: run.number,
        "workflow": _workflow,
        "checkSuite": lambda _, run: run.suite,
        "createdAt": lambda _, run: stamp(run.suite.created_at),
        "updatedAt": lambda _, run: stamp(run.suite.updated_at),
        "url": lambda c, run: run_page(c, run.suite, run),
    },
    "Workflow": {
        "updatedAt": lambda _, one: stamp(one.created_at),
        "url": _workflow_page,
    },
    "App": {
        "id": lambda _, app: node_id("A", 0, app.id),
        "databaseId": lambda _, app: app.id,
        "description": lambda *_: "",
        "url": lambda c, app: f"{c.web}/apps/{app.slug}",
        "createdAt": lambda _, app: stamp(app.owner.created_at),
        "updatedAt": lambda _, app: stamp(app.owner.created_at),
    },
    "StatusContext": {
        "commit": lambda _, status: CommitAt(status.repository, status.sha),
        "isRequired(pullRequestId, pullRequestNumber)": _status_required,
    },
}
