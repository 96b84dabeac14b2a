"""Check runs and commit statuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifecycle.sandbox.actions import checks
from lifecycle.sandbox.payloads import checks as payloads
from lifecycle.sandbox.rest import asking
from lifecycle.sandbox.rest.routing import REPO, Route
from lifecycle.sandbox.wire.call import Reply

if TYPE_CHECKING:
    from lifecycle.sandbox.state.repositories import Repository
    from lifecycle.sandbox.wire.call import Call


def list_check_runs(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/commits/REF/check-runs: the latest of each, or all with filter=all."""
    asking.only(call, "filter", "check_name", "status")
    sha = asking.commit(repo, ref)
    checks.read(repo, sha, call.seen)
    every = call.query.get("filter", "latest") == "all"
    found = (checks.runs_of if every else checks.latest_runs_of)(repo, sha)
    for parameter, attribute in (("check_name", "name"), ("status", "status")):
        if wanted := call.query.get(parameter):
            found = [run for run in found if getattr(run, attribute) == wanted]
    shown, headers = call.page(found)
    runs = [payloads.check_run(call, run) for run in shown]
    return Reply(200, {"total_count": len(found), "check_runs": runs}, headers)


def get_combined_status(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/commits/REF/status."""
    asking.only(call)
    sha = asking.commit(repo, ref)
    checks.read(repo, sha, call.seen)
    found = checks.statuses_of(repo, sha)
    shown, headers = call.page(found)
    return Reply(200, payloads.combined_status(call, repo, sha, shown, len(found)), headers)


ROUTES = (
    Route("GET", f"{REPO}/commits/<path:ref>/check-runs", list_check_runs),
    Route("GET", f"{REPO}/commits/<path:ref>/status", get_combined_status),
)
