"""REST's operations on workflows of Actions, their runs, jobs and logs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lifecycle.sandbox.base.errors import ActionRefused, ApiError
from lifecycle.sandbox.checks import actions as checks
from lifecycle.sandbox.checks import payload as payloads
from lifecycle.sandbox.checks import runs, suites
from lifecycle.sandbox.checks.rest import run_of
from lifecycle.sandbox.checks.state import CheckRun, CheckSuite, CheckTables, Workflow, WorkflowRun
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire import links
from lifecycle.sandbox.wire.call import REPO, Call, Reply, route
from lifecycle.sandbox.wire.rest import asking

RUNS = "https://docs.github.com/rest/actions/workflow-runs"
JOBS = "https://docs.github.com/rest/actions/workflow-jobs"
FILTERS = (
    "actor", "branch", "event", "status", "head_sha", "check_suite_id", "created",
    "exclude_pull_requests",
)  # fmt: skip
RUN = f"{REPO}/actions/runs/<int:run>"
ATTEMPT = f"{RUN}/attempts/<int:attempt>"
JOB = f"{REPO}/actions/jobs/<int:job>"
READ, WRITE = "actions:read", "actions:write"
WORKFLOWS = "https://docs.github.com/rest/actions/workflows"
WORKFLOW = f"{REPO}/actions/workflows/<path:workflow>"


@route("GET", f"{REPO}/actions/runs", READ)
def list_runs(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/actions/runs, newest first.

    By actor, branch, event, status (or conclusion), head_sha, check_suite_id and created (`>=DAY`).
    """
    return page_of_runs(call, runs.all_of(repo, call.query.get("head_sha")))


def page_of_runs(call: Call, pool: Iterable[CheckSuite]) -> Reply:
    """A page of the runs that match the query's filters."""
    asking.only(call, *FILTERS)
    kept = [suite for suite in pool if suite.run and _passes(call, suite, suite.run)]
    shown, headers = call.page(kept)
    with_pulls = call.query.get("exclude_pull_requests") != "true"
    listed = [
        payloads.workflow_run(call, suite, suite.run, with_pulls=with_pulls)
        for suite in shown
        if suite.run
    ]
    return Reply(200, {"total_count": len(kept), "workflow_runs": listed}, headers)


def _passes(call: Call, suite: CheckSuite, run: WorkflowRun) -> bool:
    query = call.query
    if "head_sha" in query and query["head_sha"] != suite.sha:
        return False
    wanted: list[tuple[str, Callable[[], set[str | None]]]] = [
        ("branch", lambda: {suite.branch}),
        ("event", lambda: {run.event}),
        ("status", lambda: set(suites.status_of(suite))),
        ("actor", lambda: {(run.actor or suite.repository.owner).login}),
        ("check_suite_id", lambda: {str(suite.id)}),
    ]
    if any(name in query and query[name] not in values() for name, values in wanted):
        return False
    return "created" not in query or _is_of(suite, query["created"])


def _is_of(suite: CheckSuite, created: str) -> bool:
    """Whether it was created then: a day, `>=DAY`, `<DAY` or `DAY..DAY`, with times or without."""
    text = suite.created_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    for sign in (">=", "<=", ">", "<"):
        if created.startswith(sign):
            day = created.removeprefix(sign)
            is_same = text.startswith(day)
            is_later = text > day and not is_same
            return is_same if "=" in sign and is_same else is_later is (">" in sign) and not is_same
    first, dots, last = created.partition("..")
    if not dots:
        return text.startswith(first)
    is_late_enough = first == "*" or text >= first
    return is_late_enough and (last == "*" or text <= last or text.startswith(last))


def _run(repo: Repository, run: int) -> tuple[CheckSuite, WorkflowRun]:
    suite = suites.of_run(repo, run)
    if suite is None or suite.run is None:
        raise asking.not_found(f"{RUNS}#get-a-workflow-run")
    return suite, suite.run


@route("GET", RUN, READ)
def get_run(call: Call, repo: Repository, run: int) -> Reply:
    asking.only(call, "exclude_pull_requests")
    with_pulls = call.query.get("exclude_pull_requests") != "true"
    return Reply(200, payloads.workflow_run(call, *_run(repo, run), with_pulls=with_pulls))


@route("GET", f"{RUN}/jobs", READ)
def list_jobs(call: Call, repo: Repository, run: int) -> Reply:
    """GET /repos/O/R/actions/runs/ID/jobs: the latest, or all attempts' with filter=all."""
    asking.only(call, "filter")
    suite, of = _run(repo, run)
    wants_all = call.query.get("filter", "latest") == "all"
    return _jobs(call, (suites.runs_of if wants_all else suites.latest_runs_of)(suite), of)


def _jobs(call: Call, check_runs: list[CheckRun], of: WorkflowRun) -> Reply:
    return call.paged(
        check_runs, lambda c, check_run: payloads.job(c, check_run, of), counted="jobs"
    )


@route("GET", ATTEMPT, READ)
def get_attempt(call: Call, repo: Repository, run: int, attempt: int) -> Reply:
    """GET /repos/O/R/actions/runs/ID/attempts/N: the newest attempt, with this number."""
    suite, of = _run(repo, run)
    if not 1 <= attempt <= of.attempt:
        raise asking.not_found()
    shown = payloads.workflow_run(call, suite, of)
    before = f"{shown['url']}/attempts/{attempt - 1}" if attempt > 1 else None
    return Reply(200, {**shown, "run_attempt": attempt, "previous_attempt_url": before})


@route("GET", f"{ATTEMPT}/jobs", READ)
def list_attempt_jobs(call: Call, repo: Repository, run: int, attempt: int) -> Reply:
    """GET /repos/O/R/actions/runs/ID/attempts/N/jobs: their state after that attempt."""
    asking.only(call)
    suite, of = _run(repo, run)
    if not 1 <= attempt <= of.attempt:
        raise asking.not_found()
    by_name = {
        check_run.name: check_run
        for check_run in suites.runs_of(suite)
        if check_run.attempt <= attempt
    }
    return _jobs(call, list(by_name.values()), of)


@route("GET", f"{RUN}/artifacts", READ)
def list_artifacts(call: Call, repo: Repository, run: int) -> Reply:
    """GET /repos/O/R/actions/runs/ID/artifacts: there are none."""
    asking.only(call, "name")
    _run(repo, run)
    return Reply(200, {"total_count": 0, "artifacts": []})


@route("GET", f"{RUN}/logs", READ)
def get_logs(call: Call, repo: Repository, run: int) -> Reply:
    """GET /repos/O/R/actions/runs/ID/logs: 302 to a zip file."""
    suite, _ = _run(repo, run)
    if suites.status_of(suite)[0] != "completed":
        raise asking.not_found()
    url = links.offer(call, runs.logs_zip(suite), "application/zip")
    return Reply(302, None, {"Location": url})


def _job(repo: Repository, job: int) -> tuple[CheckRun, WorkflowRun]:
    check_run = run_of(repo, job, documentation=f"{JOBS}#get-a-job-for-a-workflow-run")
    if check_run.suite.run is None:
        raise asking.not_found(f"{JOBS}#get-a-job-for-a-workflow-run")
    return check_run, check_run.suite.run


@route("GET", JOB, READ)
def get_job(call: Call, repo: Repository, job: int) -> Reply:
    """GET /repos/O/R/actions/jobs/ID: the number is that of the check run."""
    return Reply(200, payloads.job(call, *_job(repo, job)))


@route("GET", f"{JOB}/logs", READ)
def get_job_logs(call: Call, repo: Repository, job: int) -> Reply:
    """GET /repos/O/R/actions/jobs/ID/logs: 302 to a text, once the job is over.

    410 if the repository no longer keeps the log, with the words in public threads.
    Source: https://github.com/rust-lang/triagebot/issues/2241
    """
    check_run, _ = _job(repo, job)
    if check_run.status != "completed":
        raise asking.not_found()
    if check_run.log_is_gone:
        raise ApiError(410, "Server Error")
    url = links.offer(call, checks.log_of(check_run).encode(), "text/plain; charset=utf-8")
    return Reply(302, None, {"Location": url})


def _doing(call: Call, repo: Repository, act: Callable[[], None], status: int = 201) -> Reply:
    """Call `act` if the viewer may write; a refusal is 403, or 409 if success is 202."""
    asking.demand_push(call, repo)
    try:
        act()
    except ActionRefused as refused:
        code = 409 if status == 202 else 403
        raise ApiError(code, str(refused)) from None
    return Reply(status, {})


@route("POST", f"{RUN}/rerun", WRITE)
def rerun(call: Call, repo: Repository, run: int) -> Reply:
    asking.fields(call, "enable_debug_logging")
    suite, _ = _run(repo, run)
    return _doing(call, repo, lambda: runs.rerun(suite))


@route("POST", f"{RUN}/rerun-failed-jobs", WRITE)
def rerun_failed(call: Call, repo: Repository, run: int) -> Reply:
    asking.fields(call, "enable_debug_logging")
    suite, _ = _run(repo, run)
    return _doing(call, repo, lambda: runs.rerun(suite, failed_only=True))


@route("POST", f"{JOB}/rerun", WRITE)
def rerun_job(call: Call, repo: Repository, job: int) -> Reply:
    asking.fields(call, "enable_debug_logging")
    check_run, _ = _job(repo, job)
    return _doing(call, repo, lambda: runs.rerun_job(check_run))


@route("POST", f"{RUN}/cancel", WRITE)
def cancel(call: Call, repo: Repository, run: int) -> Reply:
    """POST /repos/O/R/actions/runs/ID/cancel: 202, or 409 if it is over."""
    suite, _ = _run(repo, run)
    return _doing(call, repo, lambda: runs.cancel(suite), 202)


@route("POST", f"{RUN}/approve", WRITE)
def approve(call: Call, repo: Repository, run: int) -> Reply:
    """POST /repos/O/R/actions/runs/ID/approve: starts a held run of a fork's pull request."""
    suite, of = _run(repo, run)

    def act() -> None:
        if not of.held:
            raise ActionRefused("This run is not from a fork pull request")
        checks.approve(suite)

    return _doing(call, repo, act)


def _known(repo: Repository) -> list[Workflow]:
    """The workflows that have run, and those that planned checks name."""
    tables = CheckTables.of(repo)
    suites.index(repo)
    for plan in tables.plans:
        if plan.name is not None and plan.workflow:
            suites.workflow(repo, plan.workflow)
    return list(tables.workflows.values())


def _workflow(repo: Repository, workflow: str) -> Workflow:
    """The workflow of a number or file name, or 404."""
    for flow in _known(repo):
        if workflow in {str(flow.id), flow.path, flow.path.rpartition("/")[2]}:
            return flow
    raise asking.not_found(f"{WORKFLOWS}#get-a-workflow")


@route("GET", f"{REPO}/actions/workflows", READ)
def list_workflows(call: Call, repo: Repository) -> Reply:
    asking.only(call)
    return call.paged(_known(repo), payloads.workflow, counted="workflows")


@route("GET", WORKFLOW, READ)
def get_workflow(call: Call, repo: Repository, workflow: str) -> Reply:
    return Reply(200, payloads.workflow(call, _workflow(repo, workflow)))


@route("GET", f"{WORKFLOW}/runs", READ)
def list_runs_of_workflow(call: Call, repo: Repository, workflow: str) -> Reply:
    name = _workflow(repo, workflow).name
    pool = runs.all_of(repo)
    return page_of_runs(call, [suite for suite in pool if suite.run and suite.run.workflow == name])


@route("POST", f"{WORKFLOW}/dispatches", WRITE)
def dispatch(call: Call, repo: Repository, workflow: str) -> Reply:
    """POST /repos/O/R/actions/workflows/ID-or-file/dispatches: 204."""
    flow = _workflow(repo, workflow)
    asking.fields(call, "ref", "inputs")
    asking.demand_push(call, repo)
    ref = asking.needed(call, "ref", str).removeprefix("refs/heads/")
    sha = repo.git.resolve(f"refs/heads/{ref}")
    if sha is None:
        raise ApiError(422, f"No ref found for: {ref}")
    if flow.state != "active":
        raise ApiError(422, "Cannot trigger a 'workflow_dispatch' on a disabled workflow")
    runs.dispatch(repo, flow, sha, ref, call.viewer)
    return Reply(204, None)


@route("PUT", f"{WORKFLOW}/disable", WRITE)
def disable(call: Call, repo: Repository, workflow: str) -> Reply:
    flow = _workflow(repo, workflow)
    asking.demand_push(call, repo)
    if flow.state != "active":
        raise ApiError(403, "Unable to disable a workflow that is not active.")
    flow.state = "disabled_manually"
    return Reply(204, None)


@route("PUT", f"{WORKFLOW}/enable", WRITE)
def enable(call: Call, repo: Repository, workflow: str) -> Reply:
    flow = _workflow(repo, workflow)
    asking.demand_push(call, repo)
    flow.state = "active"
    return Reply(204, None)
