"""REST's operations on check runs, check suites and commit statuses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

from lifecycle.sandbox.accounts.state import App
from lifecycle.sandbox.base.errors import ApiError, invalid
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.checks import actions as checks
from lifecycle.sandbox.checks import payload as payloads
from lifecycle.sandbox.checks import suites
from lifecycle.sandbox.checks.state import (
    Annotation,
    CheckRun,
    CheckStatus,
    CheckSuite,
    CheckTables,
    Conclusion,
    StatusState,
)
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import REPO, Call, Reply, created, route
from lifecycle.sandbox.wire.rest import asking

RUNS = "https://docs.github.com/rest/checks/runs"
CREATE, UPDATE = f"{RUNS}#create-a-check-run", f"{RUNS}#update-a-check-run"
FIELDS = (
    "name", "head_sha", "details_url", "external_id", "status", "started_at", "conclusion",
    "completed_at", "output", "actions",
)  # fmt: skip
MOST_ANNOTATIONS, MOST_ACTIONS = 50, 3
ANNOTATION = {
    "path", "start_line", "end_line", "annotation_level", "message", "title", "raw_details",
    "start_column", "end_column",
}  # fmt: skip
RUN = f"{REPO}/check-runs/<int:run>"
SUITES = "https://docs.github.com/rest/checks/suites"
SUITE = f"{REPO}/check-suites/<int:suite>"
LONGEST = 140


@route("GET", f"{REPO}/commits/<path:ref>/check-runs", "checks:read")
def list_check_runs(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/commits/REF/check-runs: the latest of each suite, or all with filter=all."""
    asking.only(call, "filter", "check_name", "status", "app_id")
    sha = asking.commit(repo, ref)
    checks.read(repo, sha, call.seen)
    wants_all = call.query.get("filter", "latest") == "all"
    return page_of_runs(call, (checks.runs_of if wants_all else checks.latest_runs_of)(repo, sha))


def page_of_runs(call: Call, check_runs: Iterable[CheckRun]) -> Reply:
    """A page of these check runs by check_name, status and app_id, in the given order."""
    kept = list(check_runs)
    for parameter, attribute in (("check_name", "name"), ("status", "status")):
        if wanted := call.query.get(parameter):
            kept = [run for run in kept if getattr(run, attribute) == wanted]
    if app := call.query.get("app_id"):
        kept = [run for run in kept if str(run.suite.app.id) == app]
    return call.paged(kept, payloads.check_run, counted="check_runs")


def app_of(call: Call) -> App:
    """The app of the token; 403 for a token of another kind, with the words in public threads.

    Source: https://github.com/EnricoMi/publish-unit-test-result-action/issues/53
    """
    app = suites.app_of(call.world, call.token)
    if app is None:
        raise ApiError(403, "You must authenticate via a GitHub App.")
    return app


def run_of(repo: Repository, run: int, documentation: str = "") -> CheckRun:
    """The check run of that number, or 404."""
    check_run = repo.world.nodes.get(node_id("CR", repo.id, run))
    if not isinstance(check_run, CheckRun):
        raise asking.not_found(documentation)
    return check_run


@route("POST", f"{REPO}/check-runs", "checks:write", docs=CREATE)
def create_check_run(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/check-runs, for an app."""
    app = app_of(call)
    asking.fields(call, *FIELDS)
    name = asking.needed(call, "name", str)
    sha = repo.git.resolve(asking.needed(call, "head_sha", str))
    if sha is None:
        raise ApiError(422, f"No commit found for SHA: {call.body['head_sha']}")  # fmt: skip
    _demand_form(call)
    check_run = checks.app_run(repo, sha, name, app)
    _write(call, check_run)
    return created(payloads.check_run(call, check_run))


@route("PATCH", RUN, "checks:write")
def update_check_run(call: Call, repo: Repository, run: int) -> Reply:
    """PATCH /repos/O/R/check-runs/ID, for the app that made it; annotations are added."""
    app = app_of(call)
    check_run = run_of(repo, run)
    if check_run.suite.app is not app:
        message = (
            f"Invalid app_id `{app.id}` - check run can only be modified by the GitHub App that "
            "created it."
        )
        raise ApiError(403, message)
    asking.fields(call, *(field for field in FIELDS if field != "head_sha"))
    _demand_form(call)
    check_run.name = asking.typed(call, "name", str) or check_run.name
    _write(call, check_run)
    return Reply(200, payloads.check_run(call, check_run))


def _demand_form(call: Call) -> None:
    """Refuse a body that GitHub would not accept for a check run, before one is made or changed."""
    status = asking.typed(call, "status", str)
    conclusion = asking.typed(call, "conclusion", str)
    if status is not None and status not in get_args(CheckStatus):
        raise asking.malformed(
            f'{status} is not a member of ["queued", "in_progress", "completed"].'
        )
    if conclusion is not None and conclusion not in get_args(Conclusion):
        raise asking.malformed(f"{conclusion} is not a member of the conclusions.")
    if status == "completed" and conclusion is None:
        raise asking.malformed('"conclusion" wasn\'t supplied.')
    actions = asking.typed(call, "actions", list) or []
    output = asking.typed(call, "output", dict) or {}
    for entries, most in (
        (actions, MOST_ACTIONS),
        (output.get("annotations", []), MOST_ANNOTATIONS),
    ):
        if len(entries) > most:
            words = f"No more than {most} items are allowed; {len(entries)} were supplied."
            raise asking.malformed(words)
    if output and not isinstance(output.get("summary"), str):
        raise asking.malformed('"summary" wasn\'t supplied.')
    if output and "title" not in output and call.body.get("name") is not None:
        raise asking.malformed('"title" wasn\'t supplied.')
    for annotation in output.get("annotations", []):
        _annotation(annotation)


def _annotation(remark: dict[str, Any]) -> Annotation:
    missing = {"path", "start_line", "end_line", "annotation_level", "message"} - remark.keys()
    if missing or remark["annotation_level"] not in {"notice", "warning", "failure"}:
        named = sorted(missing) or ["annotation_level"]
        raise asking.malformed(f'"{named[0]}" wasn\'t supplied rightly.')
    if unknown := remark.keys() - ANNOTATION:
        raise ApiError(501, f"The sandbox does not imitate {min(unknown)!r} of an annotation.")
    return Annotation(
        remark["path"], remark["start_line"], remark["end_line"], remark["annotation_level"],
        remark["message"], remark.get("title"), remark.get("raw_details"),
        remark.get("start_column"), remark.get("end_column"),
    )  # fmt: skip


def _write(call: Call, check_run: CheckRun) -> None:
    body = call.body
    check_run.external_id = asking.typed(call, "external_id", str) or check_run.external_id
    check_run.details_url = asking.typed(call, "details_url", str) or check_run.details_url
    if "actions" in body:
        check_run.actions = list(body["actions"] or [])
    output = body.get("output") or {}
    if unknown := output.keys() - {"title", "summary", "text", "annotations", "images"}:
        raise ApiError(501, f"The sandbox does not imitate {min(unknown)!r} of an output.")
    for name in ("title", "summary", "text"):
        if name in output:
            setattr(check_run.output, name, output[name])
    check_run.output.annotations += [_annotation(a) for a in output.get("annotations", [])]
    if text := asking.typed(call, "started_at", str):
        check_run.started_at = asking.moment(text, "started_at", "CheckRun")
    ended = asking.typed(call, "completed_at", str)
    moment = asking.moment(ended, "completed_at", "CheckRun") if ended else None
    conclusion = body.get("conclusion")
    status = "completed" if conclusion or ended else body.get("status") or check_run.status
    checks.move(check_run, status, conclusion or check_run.conclusion, moment)


@route("GET", RUN, "checks:read")
def get_check_run(call: Call, repo: Repository, run: int) -> Reply:
    return Reply(200, payloads.check_run(call, run_of(repo, run)))


@route("GET", f"{RUN}/annotations", "checks:read")
def list_annotations(call: Call, repo: Repository, run: int) -> Reply:
    asking.only(call)
    check_run = run_of(repo, run)
    return call.paged(check_run.output.annotations, payloads.annotation, check_run)


@route("POST", f"{RUN}/rerequest", "checks:write")
def rerequest_run(call: Call, repo: Repository, run: int) -> Reply:
    """POST /repos/O/R/check-runs/ID/rerequest: asks its app to run it again."""
    check_run = run_of(repo, run)
    asking.demand_push(call, repo)
    if check_run.status != "completed":
        raise ApiError(422, "This check run is not rerequestable")
    if check_run.suite.run is None:
        checks.move(check_run, "queued", None)
        check_run.completed_at = check_run.conclusion = None
    else:
        checks.rerun(check_run)
    return Reply(201, {})


def _suite(repo: Repository, suite: int) -> CheckSuite:
    check_suite = repo.world.nodes.get(node_id("CS", repo.id, suite))
    if not isinstance(check_suite, CheckSuite):
        raise asking.not_found(f"{SUITES}#get-a-check-suite")
    return check_suite


@route("GET", f"{REPO}/commits/<path:ref>/check-suites", "checks:read")
def list_suites(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/commits/REF/check-suites by app_id and check_name."""
    asking.only(call, "app_id", "check_name")
    sha = asking.commit(repo, ref)
    checks.read(repo, sha, call.seen)
    selection = suites.of_commit(repo, sha)
    if app := call.query.get("app_id"):
        selection = [suite for suite in selection if str(suite.app.id) == app]
    if name := call.query.get("check_name"):
        selection = [
            suite for suite in selection if any(run.name == name for run in suites.runs_of(suite))
        ]
    return call.paged(selection, payloads.check_suite, counted="check_suites")


@route("POST", f"{REPO}/check-suites", "checks:write")
def create_suite(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/check-suites, for an app; 200 if it already has one."""
    tables = CheckTables.of(repo)
    app = app_of(call)
    asking.fields(call, "head_sha")
    sha = repo.git.resolve(asking.needed(call, "head_sha", str))
    if sha is None:
        raise ApiError(422, f"No commit found for SHA: {call.body['head_sha']}")
    before = len(tables.suites)
    suite = suites.app_suite(repo, sha, app)
    answer = payloads.check_suite(call, suite)
    return Reply(201 if len(tables.suites) > before else 200, answer)


@route("GET", SUITE, "checks:read")
def get_suite(call: Call, repo: Repository, suite: int) -> Reply:
    return Reply(200, payloads.check_suite(call, _suite(repo, suite)))


@route("GET", f"{SUITE}/check-runs", "checks:read")
def list_runs_of_suite(call: Call, repo: Repository, suite: int) -> Reply:
    """GET /repos/O/R/check-suites/ID/check-runs: the latest, or all with filter=all."""
    asking.only(call, "filter", "check_name", "status")
    wants_all = call.query.get("filter", "latest") == "all"
    return page_of_runs(
        call, (suites.runs_of if wants_all else suites.latest_runs_of)(_suite(repo, suite))
    )


@route("POST", f"{SUITE}/rerequest", "checks:write")
def rerequest(call: Call, repo: Repository, suite: int) -> Reply:
    """POST /repos/O/R/check-suites/ID/rerequest: runs its completed check runs again."""
    check_suite = _suite(repo, suite)
    asking.demand_push(call, repo)
    for run in suites.latest_runs_of(check_suite):
        if run.status == "completed":
            checks.rerun(run)
    return Reply(201, {})


@route("POST", f"{REPO}/statuses/<path:ref>", "statuses:write")
def create_status(call: Call, repo: Repository, ref: str) -> Reply:
    """POST /repos/O/R/statuses/SHA; a commit has at most a thousand of one context."""
    asking.fields(call, "state", "target_url", "description", "context")
    if not repo.can_push(call.viewer):
        raise asking.not_found()
    sha = repo.git.resolve(ref)
    if sha is None:
        raise ApiError(422, f"No commit found for SHA: {ref}")
    wrong = {"resource": "Status", "code": "custom"}
    if call.body.get("state") not in get_args(StatusState):
        message = "state is not included in the list"
        raise invalid({**wrong, "field": "state", "message": message})
    text = asking.typed(call, "description", str)
    if text is not None:
        asking.short(text, "description", LONGEST, "Status")
    context = asking.typed(call, "context", str) or "default"
    same_context = [
        older for older in CheckTables.of(repo).statuses.get(sha, ()) if older.context == context
    ]
    if len(same_context) >= checks.MOST_STATUSES:
        message = "This SHA and context has reached the maximum number of statuses."
        raise invalid({**wrong, "message": message})
    status = checks.set_status(
        repo, sha, context, call.body["state"], text, creator=call.viewer,
        target_url=asking.typed(call, "target_url", str),
    )  # fmt: skip
    return created(payloads.status(call, status))


@route("GET", f"{REPO}/commits/<path:ref>/statuses", "statuses:read")
def list_statuses(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/commits/REF/statuses: all, superseded ones too, newest first."""
    asking.only(call)
    sha = asking.commit(repo, ref)
    checks.read(repo, sha, call.seen)
    return call.paged(list(reversed(CheckTables.of(repo).statuses.get(sha, ()))), payloads.status)


@route("GET", f"{REPO}/commits/<path:ref>/status", "statuses:read")
def get_combined_status(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/commits/REF/status: the newest of each context."""
    asking.only(call)
    sha = asking.commit(repo, ref)
    checks.read(repo, sha, call.seen)
    statuses = checks.statuses_of(repo, sha)
    shown, headers = call.page(statuses)
    return Reply(200, payloads.combined_status(call, repo, sha, shown, len(statuses)), headers)
