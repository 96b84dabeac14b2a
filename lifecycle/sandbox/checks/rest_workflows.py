"""Workflows of Actions."""

from __future__ import annotations

from lifecycle.sandbox.base.errors import ApiError
from lifecycle.sandbox.checks import payload_runs as payloads
from lifecycle.sandbox.checks import runs as actions_runs
from lifecycle.sandbox.checks import suites
from lifecycle.sandbox.checks.rest_runs import page_of_runs
from lifecycle.sandbox.checks.state import CheckTables, Workflow
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call, Reply
from lifecycle.sandbox.wire.rest import asking
from lifecycle.sandbox.wire.rest.routing import REPO, Route

WORKFLOWS = "https://docs.github.com/rest/actions/workflows"


def _known(repo: Repository) -> list[Workflow]:
    """Those that ran already and those that plans name."""
    suites.index(repo)
    for plan in CheckTables.of(repo).plans:
        if plan.name is not None and plan.workflow:
            suites.workflow(repo, plan.workflow)
    return list(CheckTables.of(repo).workflows.values())


def _workflow(repo: Repository, workflow: str) -> Workflow:
    """The workflow of a number or of a file's name, or 404."""
    for one in _known(repo):
        if workflow in {str(one.id), one.path, one.path.rpartition("/")[2]}:
            return one
    raise asking.not_found(f"{WORKFLOWS}#get-a-workflow")


def list_workflows(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/actions/workflows."""
    asking.only(call)
    found = _known(repo)
    shown, headers = call.page(found)
    listed = [payloads.workflow(call, one) for one in shown]
    return Reply(200, {"total_count": len(found), "workflows": listed}, headers)


def get_workflow(call: Call, repo: Repository, workflow: str) -> Reply:
    """GET /repos/O/R/actions/workflows/ID-or-file."""
    return Reply(200, payloads.workflow(call, _workflow(repo, workflow)))


def list_runs(call: Call, repo: Repository, workflow: str) -> Reply:
    """GET /repos/O/R/actions/workflows/ID-or-file/runs."""
    name = _workflow(repo, workflow).name
    found = actions_runs.all_of(repo)
    return page_of_runs(call, [one for one in found if one.run and one.run.workflow == name])


def dispatch(call: Call, repo: Repository, workflow: str) -> Reply:
    """POST /repos/O/R/actions/workflows/ID-or-file/dispatches: 204."""
    flow = _workflow(repo, workflow)
    documentation = f"{WORKFLOWS}#create-a-workflow-dispatch-event"
    asking.fields(call, "ref", "inputs")
    asking.demand_push(call, repo, documentation)
    ref = asking.needed(call, "ref", str, documentation).removeprefix("refs/heads/")
    sha = repo.git.resolve(f"refs/heads/{ref}")
    if sha is None:
        raise ApiError(422, f"No ref found for: {ref}", documentation=documentation)
    if flow.state != "active":
        message = "Cannot trigger a 'workflow_dispatch' on a disabled workflow"
        raise ApiError(422, message, documentation=documentation)
    actions_runs.dispatch(repo, flow, sha, ref, call.viewer)
    return Reply(204, None)


def disable(call: Call, repo: Repository, workflow: str) -> Reply:
    """PUT /repos/O/R/actions/workflows/ID-or-file/disable."""
    flow = _workflow(repo, workflow)
    documentation = f"{WORKFLOWS}#disable-a-workflow"
    asking.demand_push(call, repo, documentation)
    if flow.state != "active":
        message = "Unable to disable a workflow that is not active."
        raise ApiError(403, message, documentation=documentation)
    flow.state = "disabled_manually"
    return Reply(204, None)


def enable(call: Call, repo: Repository, workflow: str) -> Reply:
    """PUT /repos/O/R/actions/workflows/ID-or-file/enable."""
    flow = _workflow(repo, workflow)
    asking.demand_push(call, repo, f"{WORKFLOWS}#enable-a-workflow")
    flow.state = "active"
    return Reply(204, None)


WORKFLOW = f"{REPO}/actions/workflows/<path:workflow>"
READ, WRITE = "actions:read", "actions:write"
ROUTES = (
    Route("GET", f"{REPO}/actions/workflows", list_workflows, READ),
    Route("GET", WORKFLOW, get_workflow, READ),
    Route("GET", f"{WORKFLOW}/runs", list_runs, READ),
    Route("POST", f"{WORKFLOW}/dispatches", dispatch, WRITE),
    Route("PUT", f"{WORKFLOW}/disable", disable, WRITE),
    Route("PUT", f"{WORKFLOW}/enable", enable, WRITE),
)
