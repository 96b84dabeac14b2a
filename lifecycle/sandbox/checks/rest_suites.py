"""Check suites."""

from __future__ import annotations

from lifecycle.sandbox.base.errors import ApiError
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.checks import actions as checks
from lifecycle.sandbox.checks import payload as payloads
from lifecycle.sandbox.checks import suites
from lifecycle.sandbox.checks.rest import app_of, page_of_runs
from lifecycle.sandbox.checks.state import CheckSuite, CheckTables
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call, Reply
from lifecycle.sandbox.wire.rest import asking
from lifecycle.sandbox.wire.rest.routing import REPO, Route

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
    documentation = f"{SUITES}#create-a-check-suite"
    app = app_of(call, documentation)
    asking.fields(call, "head_sha")
    sha = repo.git.resolve(asking.needed(call, "head_sha", str, documentation))
    if sha is None:
        message = f"No commit found for SHA: {call.body['head_sha']}"
        raise ApiError(422, message, documentation=documentation)
    before = len(CheckTables.of(repo).suites)
    made = suites.app_suite(repo, sha, app)
    answer = payloads.check_suite(call, made)
    return Reply(201 if len(CheckTables.of(repo).suites) > before else 200, answer)


def get_suite(call: Call, repo: Repository, suite: int) -> Reply:
    """GET /repos/O/R/check-suites/ID."""
    return Reply(200, payloads.check_suite(call, _suite(repo, suite)))


def list_runs(call: Call, repo: Repository, suite: int) -> Reply:
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
ROUTES = (
    Route("GET", f"{REPO}/commits/<path:ref>/check-suites", list_suites, "checks:read"),
    Route("POST", f"{REPO}/check-suites", create_suite, "checks:write"),
    Route("GET", SUITE, get_suite, "checks:read"),
    Route("GET", f"{SUITE}/check-runs", list_runs, "checks:read"),
    Route("POST", f"{SUITE}/rerequest", rerequest, "checks:write"),
)
