"""Commit statuses."""

from __future__ import annotations

from typing import get_args

from lifecycle.sandbox.base.errors import ApiError, invalid
from lifecycle.sandbox.checks import actions as checks
from lifecycle.sandbox.checks import payload as payloads
from lifecycle.sandbox.checks.state import CheckTables, StatusState
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call, Reply
from lifecycle.sandbox.wire.rest import asking
from lifecycle.sandbox.wire.rest.routing import REPO, Route

STATUSES = "https://docs.github.com/rest/commits/statuses"
CREATE = f"{STATUSES}#create-a-commit-status"
LONGEST = 140


def create_status(call: Call, repo: Repository, ref: str) -> Reply:
    """POST /repos/O/R/statuses/SHA; of a context, a commit takes a thousand."""
    asking.fields(call, "state", "target_url", "description", "context")
    if not repo.can_push(call.viewer):
        raise asking.not_found(CREATE)
    sha = repo.git.resolve(ref)
    if sha is None:
        raise ApiError(422, f"No commit found for SHA: {ref}", documentation=CREATE)
    wrong = {"resource": "Status", "code": "custom"}
    if call.body.get("state") not in get_args(StatusState):
        message = "state is not included in the list"
        raise invalid(CREATE, {**wrong, "field": "state", "message": message})
    text = asking.typed(call, "description", str, CREATE)
    if text is not None:
        asking.short(text, "description", LONGEST, "Status", CREATE)
    context = asking.typed(call, "context", str, CREATE) or "default"
    known = [one for one in CheckTables.of(repo).statuses.get(sha, ()) if one.context == context]
    if len(known) >= checks.MOST_STATUSES:
        message = "This SHA and context has reached the maximum number of statuses."
        raise invalid(CREATE, {**wrong, "message": message})
    made = checks.set_status(
        repo, sha, context, call.body["state"], text, creator=call.viewer,
        target_url=asking.typed(call, "target_url", str, CREATE),
    )  # fmt: skip
    answer = payloads.status(call, made)
    return Reply(201, answer, {"Location": answer["url"]})


def list_statuses(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/commits/REF/statuses: every one that was made, newest first."""
    asking.only(call)
    sha = asking.commit(repo, ref)
    checks.read(repo, sha, call.seen)
    shown, headers = call.page(list(reversed(CheckTables.of(repo).statuses.get(sha, ()))))
    return Reply(200, [payloads.status(call, one) for one in shown], headers)


def get_combined_status(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/commits/REF/status: the newest of each context."""
    asking.only(call)
    sha = asking.commit(repo, ref)
    checks.read(repo, sha, call.seen)
    found = checks.statuses_of(repo, sha)
    shown, headers = call.page(found)
    return Reply(200, payloads.combined_status(call, repo, sha, shown, len(found)), headers)


ROUTES = (
    Route("POST", f"{REPO}/statuses/<path:ref>", create_status, "statuses:write"),
    Route("GET", f"{REPO}/commits/<path:ref>/statuses", list_statuses, "statuses:read"),
    Route("GET", f"{REPO}/commits/<path:ref>/status", get_combined_status, "statuses:read"),
)
