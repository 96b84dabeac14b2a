"""Check runs and check suites, and commit statuses."""

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
from lifecycle.sandbox.wire.call import REPO, Call, Reply, Route, created
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


def list_check_runs(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/commits/REF/check-runs: the latest of each suite, or all with filter=all."""
    asking.only(call, "filter", "check_name", "status", "app_id")
    sha = asking.commit(repo, ref)
    checks.read(repo, sha, call.seen)
    every = call.query.get("filter", "latest") == "all"
    return page_of_runs(call, (checks.runs_of if every else checks.latest_runs_of)(repo, sha))


def page_of_runs(call: Call, found: Iterable[CheckRun]) -> Reply:
    """A page of check runs by check_name, status and app_id, newest first."""
    kept = list(found)
    for parameter, attribute in (("check_name", "name"), ("status", "status")):
        if wanted := call.query.get(parameter):
            kept = [run for run in kept if getattr(run, attribute) == wanted]
    if app := call.query.get("app_id"):
        kept = [run for run in kept if str(run.suite.app.id) == app]
    shown, headers = call.page(kept)
    runs = [payloads.check_run(call, run) for run in shown]
    return Reply(200, {"total_count": len(kept), "check_runs": runs}, headers)


def app_of(call: Call, documentation: str) -> App:
    """The app that asks: 403 for everybody else, as in public threads.

    Source: https://github.com/EnricoMi/publish-unit-test-result-action/issues/53
    """
    found = suites.app_of(call.world, call.token)
    if found is None:
        message = "You must authenticate via a GitHub App."
        raise ApiError(403, message, documentation=documentation)
    return found


def run_of(repo: Repository, run: int, documentation: str) -> CheckRun:
    """The check run of that number, or 404."""
    found = repo.world.nodes.get(node_id("CR", repo.id, run))
    if not isinstance(found, CheckRun):
        raise asking.not_found(documentation)
    return found


def create_check_run(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/check-runs, for an app."""
    app = app_of(call, CREATE)
    asking.fields(call, *FIELDS)
    name = asking.needed(call, "name", str, CREATE)
    sha = repo.git.resolve(asking.needed(call, "head_sha", str, CREATE))
    if sha is None:
        raise ApiError(422, f"No commit found for SHA: {call.body['head_sha']}",
                       documentation=CREATE)  # fmt: skip
    _demand_form(call, CREATE)
    made = checks.app_run(repo, sha, name, app)
    _write(call, made, CREATE)
    return created(payloads.check_run(call, made))


def update_check_run(call: Call, repo: Repository, run: int) -> Reply:
    """PATCH /repos/O/R/check-runs/ID, for the app that made it; annotations are added."""
    app = app_of(call, UPDATE)
    made = run_of(repo, run, UPDATE)
    if made.suite.app is not app:
        message = (
            f"Invalid app_id `{app.id}` - check run can only be modified by the GitHub App that "
            "created it."
        )
        raise ApiError(403, message, documentation=UPDATE)
    asking.fields(call, *(field for field in FIELDS if field != "head_sha"))
    _demand_form(call, UPDATE)
    made.name = asking.typed(call, "name", str, UPDATE) or made.name
    _write(call, made, UPDATE)
    return Reply(200, payloads.check_run(call, made))


def _demand_form(call: Call, documentation: str) -> None:
    """Refuse a body with words or numbers that GitHub does not take, before anything is made."""
    status = asking.typed(call, "status", str, documentation)
    conclusion = asking.typed(call, "conclusion", str, documentation)
    if status is not None and status not in get_args(CheckStatus):
        raise asking.malformed(
            documentation, f'{status} is not a member of ["queued", "in_progress", "completed"].'
        )
    if conclusion is not None and conclusion not in get_args(Conclusion):
        raise asking.malformed(documentation, f"{conclusion} is not a member of the conclusions.")
    if status == "completed" and conclusion is None:
        raise asking.malformed(documentation, '"conclusion" wasn\'t supplied.')
    actions = asking.typed(call, "actions", list, documentation) or []
    output = asking.typed(call, "output", dict, documentation) or {}
    for given, most in ((actions, MOST_ACTIONS), (output.get("annotations", []), MOST_ANNOTATIONS)):
        if len(given) > most:
            words = f"No more than {most} items are allowed; {len(given)} were supplied."
            raise asking.malformed(documentation, words)
    if output and not isinstance(output.get("summary"), str):
        raise asking.malformed(documentation, '"summary" wasn\'t supplied.')
    if output and "title" not in output and call.body.get("name") is not None:
        raise asking.malformed(documentation, '"title" wasn\'t supplied.')
    for one in output.get("annotations", []):
        _annotation(one, documentation)


def _annotation(given: dict[str, Any], documentation: str) -> Annotation:
    missing = {"path", "start_line", "end_line", "annotation_level", "message"} - given.keys()
    if missing or given["annotation_level"] not in {"notice", "warning", "failure"}:
        named = sorted(missing) or ["annotation_level"]
        raise asking.malformed(documentation, f'"{named[0]}" wasn\'t supplied rightly.')
    if unknown := given.keys() - ANNOTATION:
        raise ApiError(501, f"The sandbox does not imitate {min(unknown)!r} of an annotation.")
    return Annotation(
        given["path"], given["start_line"], given["end_line"], given["annotation_level"],
        given["message"], given.get("title"), given.get("raw_details"),
        given.get("start_column"), given.get("end_column"),
    )  # fmt: skip


def _write(call: Call, made: CheckRun, documentation: str) -> None:
    body = call.body
    made.external_id = asking.typed(call, "external_id", str, documentation) or made.external_id
    made.details_url = asking.typed(call, "details_url", str, documentation) or made.details_url
    if "actions" in body:
        made.actions = list(body["actions"] or [])
    output = body.get("output") or {}
    if unknown := output.keys() - {"title", "summary", "text", "annotations", "images"}:
        raise ApiError(501, f"The sandbox does not imitate {min(unknown)!r} of an output.")
    for name in ("title", "summary", "text"):
        if name in output:
            setattr(made.output, name, output[name])
    made.output.annotations += [
        _annotation(a, documentation) for a in output.get("annotations", [])
    ]
    if text := asking.typed(call, "started_at", str, documentation):
        made.started_at = asking.moment(text, "started_at", "CheckRun", documentation)
    ended = asking.typed(call, "completed_at", str, documentation)
    moment = asking.moment(ended, "completed_at", "CheckRun", documentation) if ended else None
    conclusion = body.get("conclusion")
    status = "completed" if conclusion or ended else body.get("status") or made.status
    checks.move(made, status, conclusion or made.conclusion, moment)


def get_check_run(call: Call, repo: Repository, run: int) -> Reply:
    """GET /repos/O/R/check-runs/ID."""
    return Reply(200, payloads.check_run(call, run_of(repo, run, f"{RUNS}#get-a-check-run")))


def list_annotations(call: Call, repo: Repository, run: int) -> Reply:
    """GET /repos/O/R/check-runs/ID/annotations."""
    asking.only(call)
    made = run_of(repo, run, f"{RUNS}#list-check-run-annotations")
    return call.paged(made.output.annotations, payloads.annotation, made)


def rerequest_run(call: Call, repo: Repository, run: int) -> Reply:
    """POST /repos/O/R/check-runs/ID/rerequest: its app is asked for it again."""
    documentation = f"{RUNS}#rerequest-a-check-run"
    made = run_of(repo, run, documentation)
    asking.demand_push(call, repo, documentation)
    if made.status != "completed":
        raise ApiError(422, "This check run is not rerequestable", documentation=documentation)
    if made.suite.run is None:
        checks.move(made, "queued", None)
        made.completed_at = made.conclusion = None
    else:
        checks.rerun(made)
    return Reply(201, {})


RUN = f"{REPO}/check-runs/<int:run>"


SUITES = "https://docs.github.com/rest/checks/suites"


def _suite(repo: Repository, suite: int) -> CheckSuite:
    found = repo.world.nodes.get(node_id("CS", repo.id, suite))
    if not isinstance(found, CheckSuite):
        raise asking.not_found(f"{SUITES}#get-a-check-suite")
    return found


def list_suites(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/commits/REF/check-suites by app_id and check_name."""
    asking.only(call, "app_id", "check_name")
    sha = asking.commit(repo, ref)
    checks.read(repo, sha, call.seen)
    found = suites.of_commit(repo, sha)
    if app := call.query.get("app_id"):
        found = [one for one in found if str(one.app.id) == app]
    if name := call.query.get("check_name"):
        found = [one for one in found if any(run.name == name for run in suites.runs_of(one))]
    shown, headers = call.page(found)
    listed = [payloads.check_suite(call, one) for one in shown]
    return Reply(200, {"total_count": len(found), "check_suites": listed}, headers)


def create_suite(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/check-suites, for an app; 200 if it has one there."""
    tables = CheckTables.of(repo)
    documentation = f"{SUITES}#create-a-check-suite"
    app = app_of(call, documentation)
    asking.fields(call, "head_sha")
    sha = repo.git.resolve(asking.needed(call, "head_sha", str, documentation))
    if sha is None:
        message = f"No commit found for SHA: {call.body['head_sha']}"
        raise ApiError(422, message, documentation=documentation)
    before = len(tables.suites)
    made = suites.app_suite(repo, sha, app)
    answer = payloads.check_suite(call, made)
    return Reply(201 if len(tables.suites) > before else 200, answer)


def get_suite(call: Call, repo: Repository, suite: int) -> Reply:
    """GET /repos/O/R/check-suites/ID."""
    return Reply(200, payloads.check_suite(call, _suite(repo, suite)))


def list_runs_of_suite(call: Call, repo: Repository, suite: int) -> Reply:
    """GET /repos/O/R/check-suites/ID/check-runs: the latest, or all with filter=all."""
    asking.only(call, "filter", "check_name", "status")
    every = call.query.get("filter", "latest") == "all"
    return page_of_runs(
        call, (suites.runs_of if every else suites.latest_runs_of)(_suite(repo, suite))
    )


def rerequest(call: Call, repo: Repository, suite: int) -> Reply:
    """POST /repos/O/R/check-suites/ID/rerequest: its app is asked for all of it again."""
    found = _suite(repo, suite)
    asking.demand_push(call, repo, f"{SUITES}#rerequest-a-check-suite")
    for run in suites.latest_runs_of(found):
        if run.status == "completed":
            checks.rerun(run)
    return Reply(201, {})


SUITE = f"{REPO}/check-suites/<int:suite>"


STATUSES = "https://docs.github.com/rest/commits/statuses"
CREATE_STATUS = f"{STATUSES}#create-a-commit-status"
LONGEST = 140


def create_status(call: Call, repo: Repository, ref: str) -> Reply:
    """POST /repos/O/R/statuses/SHA; of a context, a commit takes a thousand."""
    asking.fields(call, "state", "target_url", "description", "context")
    if not repo.can_push(call.viewer):
        raise asking.not_found(CREATE_STATUS)
    sha = repo.git.resolve(ref)
    if sha is None:
        raise ApiError(422, f"No commit found for SHA: {ref}", documentation=CREATE_STATUS)
    wrong = {"resource": "Status", "code": "custom"}
    if call.body.get("state") not in get_args(StatusState):
        message = "state is not included in the list"
        raise invalid(CREATE_STATUS, {**wrong, "field": "state", "message": message})
    text = asking.typed(call, "description", str, CREATE_STATUS)
    if text is not None:
        asking.short(text, "description", LONGEST, "Status", CREATE_STATUS)
    context = asking.typed(call, "context", str, CREATE_STATUS) or "default"
    known = [one for one in CheckTables.of(repo).statuses.get(sha, ()) if one.context == context]
    if len(known) >= checks.MOST_STATUSES:
        message = "This SHA and context has reached the maximum number of statuses."
        raise invalid(CREATE_STATUS, {**wrong, "message": message})
    made = checks.set_status(
        repo, sha, context, call.body["state"], text, creator=call.viewer,
        target_url=asking.typed(call, "target_url", str, CREATE_STATUS),
    )  # fmt: skip
    return created(payloads.status(call, made))


def list_statuses(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/commits/REF/statuses: every one that was made, newest first."""
    asking.only(call)
    sha = asking.commit(repo, ref)
    checks.read(repo, sha, call.seen)
    return call.paged(list(reversed(CheckTables.of(repo).statuses.get(sha, ()))), payloads.status)


def get_combined_status(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/commits/REF/status: the newest of each context."""
    asking.only(call)
    sha = asking.commit(repo, ref)
    checks.read(repo, sha, call.seen)
    found = checks.statuses_of(repo, sha)
    shown, headers = call.page(found)
    return Reply(200, payloads.combined_status(call, repo, sha, shown, len(found)), headers)


ROUTES = (
    Route("GET", f"{REPO}/commits/<path:ref>/check-runs", list_check_runs, "checks:read"),
    Route("POST", f"{REPO}/check-runs", create_check_run, "checks:write"),
    Route("GET", RUN, get_check_run, "checks:read"),
    Route("PATCH", RUN, update_check_run, "checks:write"),
    Route("GET", f"{RUN}/annotations", list_annotations, "checks:read"),
    Route("POST", f"{RUN}/rerequest", rerequest_run, "checks:write"),
    Route("GET", f"{REPO}/commits/<path:ref>/check-suites", list_suites, "checks:read"),
    Route("POST", f"{REPO}/check-suites", create_suite, "checks:write"),
    Route("GET", SUITE, get_suite, "checks:read"),
    Route("GET", f"{SUITE}/check-runs", list_runs_of_suite, "checks:read"),
    Route("POST", f"{SUITE}/rerequest", rerequest, "checks:write"),
    Route("POST", f"{REPO}/statuses/<path:ref>", create_status, "statuses:write"),
    Route("GET", f"{REPO}/commits/<path:ref>/statuses", list_statuses, "statuses:read"),
    Route("GET", f"{REPO}/commits/<path:ref>/status", get_combined_status, "statuses:read"),
)
