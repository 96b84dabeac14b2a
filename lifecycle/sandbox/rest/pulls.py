"""Pull requests and their reviews."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifecycle.sandbox.actions import pulls
from lifecycle.sandbox.errors import ApiError
from lifecycle.sandbox.payloads import pulls as payloads
from lifecycle.sandbox.rest import asking
from lifecycle.sandbox.rest.routing import REPO, Route
from lifecycle.sandbox.wire.call import Reply

if TYPE_CHECKING:
    from lifecycle.sandbox.state.repositories import Repository
    from lifecycle.sandbox.wire.call import Call


def list_pulls(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/pulls by state, head (`owner:branch`) and base, newest first."""
    asking.only(call, "state", "head", "base", "sort", "direction")
    if call.query.get("sort", "created") != "created":
        raise ApiError(501, "The sandbox sorts pull requests by creation only.")
    state = asking.choice(call, "state", "open", {"open", "closed", "all"}, "PullRequest")
    found = [p for p in repo.pulls.values() if state in {"all", p.issue.state}]
    owner, colon, branch = call.query.get("head", "").partition(":")
    if colon:  # GitHub ignores a head without an owner
        mine = owner.lower() == repo.owner.login.lower()
        found = [p for p in found if mine and p.head == branch]
    if base := call.query.get("base"):
        found = [p for p in found if p.base == base]
    newest_first = call.query.get("direction", "desc") != "asc"
    found.sort(key=lambda one: one.number, reverse=newest_first)
    shown, headers = call.page(repo.world.visible(found, call.seen))
    return Reply(200, [payloads.pull(call, one) for one in shown], headers)


def create_pull(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/pulls, for whoever may push."""
    if not repo.can_push(call.viewer):
        raise asking.not_found(pulls.CREATE)
    for name in ("head", "base"):
        if not isinstance(call.body.get(name), str):
            message = f'Invalid request.\n\n"{name}" wasn\'t supplied.'
            raise ApiError(422, message, documentation=pulls.CREATE)
    made = pulls.open_pull(
        repo,
        call.viewer,
        title=asking.text(call, "title", "PullRequest", pulls.CREATE),
        body=call.body.get("body"),
        head=call.body["head"],
        base=call.body["base"],
        draft=bool(call.body.get("draft", False)),
    )
    answer = payloads.full_pull(call, made, fresh=True)
    return Reply(201, answer, {"Location": answer["url"]})


def get_pull(call: Call, repo: Repository, number: int) -> Reply:
    """GET /repos/O/R/pulls/N."""
    return Reply(200, payloads.full_pull(call, asking.pull(repo, number)))


def list_reviews(call: Call, repo: Repository, number: int) -> Reply:
    """GET /repos/O/R/pulls/N/reviews, oldest first, every one that was ever submitted."""
    asking.only(call)
    pull = asking.pull(repo, number)
    shown, headers = call.page(pull.reviews)
    return Reply(200, [payloads.review(call, one) for one in shown], headers)


PULL = f"{REPO}/pulls/<int:number>"
ROUTES = (
    Route("GET", f"{REPO}/pulls", list_pulls),
    Route("POST", f"{REPO}/pulls", create_pull, "pull_requests:write"),
    Route("GET", PULL, get_pull),
    Route("GET", f"{PULL}/reviews", list_reviews),
)
