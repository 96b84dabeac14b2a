"""GraphQL's fields of check suites and runs, commit statuses, workflow runs and rollups."""

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
    """The rollup of a commit: all of its check runs and statuses."""

    repository: Repository
    sha: str


@dataclass(frozen=True, slots=True)
class Statuses:
    """All commit statuses of a commit."""

    repository: Repository
    sha: str


def rollup_of(call: Call, pull: PullRequest) -> Rollup | None:
    """The rollup of a pull request's head; None as for `rollup`."""
    return rollup(call, pull.repository, pull.head_sha)


def rollup(call: Call, repo: Repository, sha: str) -> Rollup | None:
    """Count a read of the commit's checks; its rollup, or None until there is a check run or status."""
    checks.read(repo, sha, call.seen)
    contexts = checks.runs_of(repo, sha), checks.statuses_of(repo, sha)
    return Rollup(repo, sha) if any(contexts) else None


def _contexts(call: Call, of: Rollup, **arguments: Any) -> dict[str, Any]:
    runs, statuses = (
        checks.runs_of(of.repository, of.sha),
        checks.statuses_of(of.repository, of.sha),
    )
    page = connection([*runs, *statuses], **arguments)
    if call.token.kind == "fine-grained":
        # Each becomes null and an error.
        page["nodes"] = [forbidden(call.token) for _ in page["nodes"]]
    counts = {"checkRunCount": len(runs), "statusContextCount": len(statuses)}
    states = [(run.conclusion or run.status).upper() for run in runs]
    words = [status.state.upper() for status in statuses]
    return {
        **page,
        **counts,
        "checkRunCountsByState": [
            {"state": state, "count": states.count(state)} for state in dict.fromkeys(states)
        ],
        "statusContextCountsByState": [
            {"state": word, "count": words.count(word)} for word in dict.fromkeys(words)
        ],
    }


def _is_required(
    call: Call, repo: Repository, name: str, arguments: dict[str, Any], app: int | None
) -> bool:
    """Whether a pull request, named by id or number, requires a check of that name.

    Source: https://docs.github.com/graphql/reference/interfaces#requirablebypullrequest
    """
    pull: Any = None
    if arguments.get("pullRequestId") is not None:
        pull = call.world.nodes.get(arguments["pullRequestId"])
        if not isinstance(pull, PullRequest):
            raise no_node(arguments["pullRequestId"])
    elif arguments.get("pullRequestNumber") is not None:
        pull = PullTables.of(repo).pulls.get(arguments["pullRequestNumber"])
    if pull is None:
        return False
    branch_rules = rules.of_branch(pull.repository, pull.base)
    return any(
        name in rule.contexts and rule.app_ids.get(name, app) == app for rule in branch_rules
    )


def _run_required(call: Call, run: CheckRun, **arguments: Any) -> bool:
    return _is_required(call, run.repository, run.name, arguments, run.suite.app.id)


def _status_required(call: Call, status: CommitStatus, **arguments: Any) -> bool:
    return _is_required(call, status.repository, status.context, arguments, None)


def _suite_runs(call: Call, suite: CheckSuite, **arguments: Any) -> dict[str, Any]:
    """A page of a suite's check runs by `filterBy`; each is FORBIDDEN for a fine-grained token."""
    wanted = arguments.pop("filterBy", None) or {}
    wants_all = wanted.get("checkType") == "ALL"
    runs = (suites.runs_of if wants_all else suites.latest_runs_of)(suite)
    if name := wanted.get("checkName"):
        runs = [run for run in runs if run.name == name]
    if words := wanted.get("conclusions"):
        runs = [run for run in runs if _upper(run.conclusion) in words]
    page = connection(runs, **arguments)
    if call.token.kind == "fine-grained":
        page["nodes"] = [forbidden(call.token) for _ in page["nodes"]]
    return page


def _steps(_call: Call, run: CheckRun, **arguments: Any) -> dict[str, Any] | None:
    """A page of the steps of a job of Actions; None for check runs of other apps."""
    number = arguments.pop("number", None)
    if run.suite.run is None:
        return None
    return connection([step for step in run.steps if number in (None, step.number)], **arguments)


def _seconds(_call: Call, step: Step) -> int | None:
    if step.started_at is None or step.completed_at is None:
        return None
    return int((step.completed_at - step.started_at).total_seconds())


def _annotations(call: Call, run: CheckRun, **arguments: Any) -> dict[str, Any]:
    shown = []
    for remark in run.output.annotations:
        answer = annotation(call, run, remark)
        span = {
            "start": {"line": remark.start_line, "column": remark.start_column},
            "end": {"line": remark.end_line, "column": remark.end_column},
        }
        shown.append({**answer, "level": remark.level.upper(), "location": span})
    return connection(shown, **arguments)


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
        "statusCheckRollup": lambda c, commit: rollup(c, commit.repository, commit.oid),
        "checkSuites": lambda _, commit, **arguments: connection(
            suites.of_commit(commit.repository, commit.oid), **arguments
        ),
        "status": lambda _, commit: (
            Statuses(commit.repository, commit.oid)
            if CheckTables.of(commit.repository).statuses.get(commit.oid)
            else None
        ),
    },
    "Status": {
        "id": lambda _, statuses: f"ST_{statuses.sha}",
        "state": lambda _, statuses: checks.combined_state(
            checks.statuses_of(statuses.repository, statuses.sha)
        ).upper(),
        "contexts": lambda _, statuses: checks.statuses_of(statuses.repository, statuses.sha),
        "commit": lambda _, statuses: CommitAt(statuses.repository, statuses.sha),
    },
    "StatusCheckRollup": {
        "id": lambda _, subject: f"SCR_{subject.sha}",
        "commit": lambda _, subject: CommitAt(subject.repository, subject.sha),
        "contexts": _contexts,
        "state": lambda _, subject: checks.verdict(subject.repository, subject.sha),
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
        "annotationLevel": lambda _, remark: remark["level"],
        "blobUrl": lambda _, remark: remark["blob_href"],
        "rawDetails": lambda _, remark: remark["raw_details"],
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
        "updatedAt": lambda _, workflow: stamp(workflow.created_at),
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
