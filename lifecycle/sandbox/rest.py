"""The REST half: exactly the calls that this product makes, as GitHub answers them.

What the real one would do and this one cannot is refused with 501 and a sentence, never silently
ignored: a client must not learn from the sandbox what is not true of GitHub.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from werkzeug.exceptions import MethodNotAllowed, NotFound
from werkzeug.routing import Map, Rule

from lifecycle.sandbox import checks, issues, payloads, pulls
from lifecycle.sandbox.call import LIMIT, Call, Reply
from lifecycle.sandbox.errors import ActionRefused, ApiError, invalid

if TYPE_CHECKING:
    from collections.abc import Callable

    from lifecycle.sandbox.state import Issue, PullRequest, World

ISSUES = "https://docs.github.com/rest/issues/issues"
PULLS = "https://docs.github.com/rest/pulls/pulls"
COMMITS = "https://docs.github.com/rest/commits"


def not_found(documentation: str) -> ApiError:
    """GitHub's 404, which it also sends for what you may not see."""
    return ApiError(404, "Not Found", documentation=documentation)


def _issue(call: Call, number: int) -> Issue:
    if number not in call.world.issues:
        raise not_found(f"{ISSUES}#get-an-issue")
    return call.world.issues[number]


def _pull(call: Call, number: int) -> PullRequest:
    if number not in call.world.pulls:
        raise not_found(f"{PULLS}#get-a-pull-request")
    return call.world.pulls[number]


def _only(call: Call, *known: str) -> None:
    unknown = sorted(set(call.query) - {"page", "per_page", *known})
    if unknown:
        raise ApiError(501, f"The sandbox does not imitate the parameter {unknown[0]!r} here.")


def _choice(call: Call, name: str, default: str, allowed: set[str], resource: str) -> str:
    value = call.query.get(name, default)
    if value not in allowed:
        raise invalid(ISSUES, {"resource": resource, "field": name, "code": "invalid"})
    return value


def _text(call: Call, name: str, resource: str, documentation: str) -> str:
    value = call.body.get(name)
    if not isinstance(value, str) or not value.strip():
        raise invalid(documentation, {"resource": resource, "code": "missing_field", "field": name})
    return value


def get_viewer(call: Call) -> Reply:
    """GET /user, which only a user's token may ask."""
    if call.token.kind == "app":
        documentation = "https://docs.github.com/rest/users/users#get-the-authenticated-user"
        raise ApiError(403, call.token.refusal, documentation=documentation)
    return Reply(200, payloads.viewer(call))


def get_rate_limit(call: Call) -> Reply:
    """GET /rate_limit, for every token, and without counting against it."""
    core = {"limit": LIMIT, "remaining": LIMIT - call.token.used.get("core", 0)}
    return Reply(200, {"resources": {"core": core}, "rate": core})


def get_repository(call: Call) -> Reply:
    """GET /repos/O/R."""
    return Reply(200, payloads.repository(call))


def list_issues(call: Call) -> Reply:
    """GET /repos/O/R/issues, pull requests among them, newest first."""
    _only(call, "state")
    state = _choice(call, "state", "open", {"open", "closed", "all"}, "Issue")
    found = [i for i in call.world.issues.values() if state in {"all", i.state}]
    shown, headers = call.page(call.world.visible(_newest(found), call.seen))
    return Reply(200, [payloads.issue(call, one) for one in shown], headers)


def _newest(found: list[Issue]) -> list[Issue]:
    return sorted(found, key=lambda one: one.number, reverse=True)


def get_issue(call: Call, number: int) -> Reply:
    """GET /repos/O/R/issues/N."""
    return Reply(200, payloads.issue(call, _issue(call, number)))


def edit_issue(call: Call, number: int) -> Reply:
    """PATCH /repos/O/R/issues/N: state, state_reason, title and body."""
    issue = _issue(call, number)
    if not call.viewer.can_push and issue.author is not call.viewer:
        raise ApiError(403, "Must have admin rights to Repository.",
                       documentation=f"{ISSUES}#update-an-issue")  # fmt: skip
    unknown = sorted(call.body.keys() - {"state", "state_reason", "title", "body"})
    if unknown:
        raise ApiError(501, f"The sandbox does not imitate editing {unknown[0]!r}.")
    state, reason = call.body.get("state"), call.body.get("state_reason")
    wrong = {"resource": "Issue", "code": "invalid"}
    if state not in (None, "open", "closed"):
        raise invalid(f"{ISSUES}#update-an-issue", {**wrong, "field": "state"})
    if reason not in (None, "completed", "not_planned", "duplicate", "reopened"):
        raise invalid(f"{ISSUES}#update-an-issue", {**wrong, "field": "state_reason"})
    if isinstance(call.body.get("title"), str):
        issue.title = call.body["title"]
    if "body" in call.body:
        issue.body = call.body["body"]
    if state:
        _set_state(call, issue, state, reason)
    return Reply(200, payloads.issue(call, issue))


def _set_state(call: Call, issue: Issue, state: str, reason: Any) -> None:
    pull = pulls.issue_face(call.world, issue)
    if state == "closed":
        why: issues.Reason = "completed" if reason in {None, "reopened"} else reason
        issues.close(issue, call.viewer, None if pull else why)
    elif pull and not pull.is_open:
        try:
            pulls.reopen(call.world, pull)
        except ActionRefused as refused:
            error = {"resource": "Issue", "code": "custom", "field": "state",
                     "message": f"state cannot be changed. {refused}"}  # fmt: skip
            raise invalid(f"{ISSUES}#update-an-issue", error) from None
    else:
        issues.reopen(issue)


def add_assignees(call: Call, number: int) -> Reply:
    """POST /repos/O/R/issues/N/assignees: a union; without push access, silently nothing."""
    issue = _issue(call, number)
    if call.viewer.can_push:
        issues.assign(call.world, issue, _logins(call))
    return Reply(201, payloads.issue(call, issue))


def remove_assignees(call: Call, number: int) -> Reply:
    """DELETE /repos/O/R/issues/N/assignees: who is left; without push access, silently nothing."""
    issue = _issue(call, number)
    if call.viewer.can_push:
        issues.unassign(issue, _logins(call))
    return Reply(200, payloads.issue(call, issue))


def _logins(call: Call) -> list[str]:
    wanted = call.body.get("assignees", [])
    if isinstance(wanted, str):
        wanted = [wanted]
    return [login for login in wanted if isinstance(login, str)]


def list_comments(call: Call, number: int) -> Reply:
    """GET /repos/O/R/issues/N/comments, oldest first."""
    _only(call)
    issue = _issue(call, number)
    shown, headers = call.page(call.world.visible(issue.comments, call.seen))
    return Reply(200, [payloads.comment(call, issue, one) for one in shown], headers)


def create_comment(call: Call, number: int) -> Reply:
    """POST /repos/O/R/issues/N/comments; the same text twice makes two comments."""
    issue = _issue(call, number)
    documentation = "https://docs.github.com/rest/issues/comments#create-an-issue-comment"
    body = _text(call, "body", "IssueComment", documentation)
    if len(body) > 65_536:
        message = "body is too long (maximum is 65536 characters)"
        error = {"resource": "IssueComment", "code": "custom", "field": "body", "message": message}
        raise invalid(documentation, error)
    made = issues.comment(call.world, issue, call.viewer, body)
    return Reply(201, payloads.comment(call, issue, made))


def list_pulls(call: Call) -> Reply:
    """GET /repos/O/R/pulls by state, head (`owner:branch`) and base, newest first."""
    _only(call, "state", "head", "base", "sort", "direction")
    if call.query.get("sort", "created") != "created":
        raise ApiError(501, "The sandbox sorts pull requests by creation only.")
    state = _choice(call, "state", "open", {"open", "closed", "all"}, "PullRequest")
    found = [p for p in call.world.pulls.values() if state in {"all", p.issue.state}]
    owner, colon, branch = call.query.get("head", "").partition(":")
    if colon:  # GitHub ignores a head without an owner
        mine = owner.lower() == call.world.owner.login.lower()
        found = [p for p in found if mine and p.head == branch]
    if base := call.query.get("base"):
        found = [p for p in found if p.base == base]
    newest_first = call.query.get("direction", "desc") != "asc"
    found.sort(key=lambda one: one.number, reverse=newest_first)
    shown, headers = call.page(call.world.visible(found, call.seen))
    return Reply(200, [payloads.pull(call, one) for one in shown], headers)


def create_pull(call: Call) -> Reply:
    """POST /repos/O/R/pulls, for whoever may push."""
    if not call.viewer.can_push:
        raise not_found(pulls.CREATE)
    for name in ("head", "base"):
        if not isinstance(call.body.get(name), str):
            message = f'Invalid request.\n\n"{name}" wasn\'t supplied.'
            raise ApiError(422, message, documentation=pulls.CREATE)
    made = pulls.open_pull(
        call.world,
        call.viewer,
        title=_text(call, "title", "PullRequest", pulls.CREATE),
        body=call.body.get("body"),
        head=call.body["head"],
        base=call.body["base"],
        draft=bool(call.body.get("draft", False)),
    )
    answer = payloads.full_pull(call, made, fresh=True)
    return Reply(201, answer, {"Location": answer["url"]})


def get_pull(call: Call, number: int) -> Reply:
    """GET /repos/O/R/pulls/N."""
    return Reply(200, payloads.full_pull(call, _pull(call, number)))


def list_reviews(call: Call, number: int) -> Reply:
    """GET /repos/O/R/pulls/N/reviews, oldest first, every one that was ever submitted."""
    _only(call)
    pull = _pull(call, number)
    shown, headers = call.page(pull.reviews)
    return Reply(200, [payloads.review(call, pull, one) for one in shown], headers)


def _commit(call: Call, ref: str) -> str:
    sha = call.world.git.resolve(ref)
    if sha is None:
        raise ApiError(422, f"No commit found for SHA: {ref}", documentation=f"{COMMITS}/commits")
    return sha


def list_check_runs(call: Call, ref: str) -> Reply:
    """GET /repos/O/R/commits/REF/check-runs: the latest of each, or all with filter=all."""
    _only(call, "filter", "check_name", "status")
    sha = _commit(call, ref)
    checks.read(call.world, sha, call.seen)
    every = call.query.get("filter", "latest") == "all"
    found = (checks.runs_of if every else checks.latest_runs_of)(call.world, sha)
    for parameter, attribute in (("check_name", "name"), ("status", "status")):
        if wanted := call.query.get(parameter):
            found = [run for run in found if getattr(run, attribute) == wanted]
    shown, headers = call.page(found)
    runs = [payloads.check_run(call, run) for run in shown]
    return Reply(200, {"total_count": len(found), "check_runs": runs}, headers)


def get_combined_status(call: Call, ref: str) -> Reply:
    """GET /repos/O/R/commits/REF/status."""
    _only(call)
    sha = _commit(call, ref)
    checks.read(call.world, sha, call.seen)
    found = checks.statuses_of(call.world, sha)
    shown, headers = call.page(found)
    return Reply(200, payloads.combined_status(call, sha, shown, len(found)), headers)


@dataclass(frozen=True, slots=True)
class Route:
    """A call: its handler, and the permission that a token needs for it."""

    method: str
    path: str
    handler: Callable[..., Reply]
    permission: str = "metadata:read"


REPO = "/repos/<owner>/<name>"
ROUTES = (
    Route("GET", "/user", get_viewer),
    Route("GET", "/rate_limit", get_rate_limit),
    Route("GET", REPO, get_repository),
    Route("GET", f"{REPO}/issues", list_issues),
    Route("GET", f"{REPO}/issues/<int:number>", get_issue),
    Route("PATCH", f"{REPO}/issues/<int:number>", edit_issue, "issues:write"),
    Route("POST", f"{REPO}/issues/<int:number>/assignees", add_assignees, "issues:write"),
    Route("DELETE", f"{REPO}/issues/<int:number>/assignees", remove_assignees, "issues:write"),
    Route("GET", f"{REPO}/issues/<int:number>/comments", list_comments),
    Route("POST", f"{REPO}/issues/<int:number>/comments", create_comment, "issues:write"),
    Route("GET", f"{REPO}/pulls", list_pulls),
    Route("POST", f"{REPO}/pulls", create_pull, "pull_requests:write"),
    Route("GET", f"{REPO}/pulls/<int:number>", get_pull),
    Route("GET", f"{REPO}/pulls/<int:number>/reviews", list_reviews),
    Route("GET", f"{REPO}/commits/<path:ref>/check-runs", list_check_runs),
    Route("GET", f"{REPO}/commits/<path:ref>/status", get_combined_status),
)
URLS = Map([Rule(r.path, methods=[r.method], endpoint=r) for r in ROUTES], merge_slashes=False)


def answer(call: Call, method: str) -> Reply:
    """Answer a request.

    Raises:
        ApiError: Any answer other than success.
    """
    try:
        route, matched = URLS.bind("sandbox").match(call.path, method=method)
    except (NotFound, MethodNotAllowed):
        raise ApiError(501, f"The sandbox does not imitate {method} {call.path}.") from None
    found = dict(matched)
    owner, name = found.pop("owner", None), found.pop("name", "")
    if owner is not None and not is_ours(call.world, owner, name):
        raise not_found("https://docs.github.com/rest/repos/repos#get-a-repository")
    _demand(call, route.permission)
    reply: Reply = route.handler(call, **found)
    return reply


def is_ours(world: World, owner: str, name: str) -> bool:
    """Whether owner and name mean the one repository; their case does not matter."""
    return (owner.lower(), name.lower()) == (world.owner.login.lower(), world.name.lower())


def _demand(call: Call, permission: str) -> None:
    """Refuse a token that may not: 403 for those of permissions; for classic ones GitHub says 404."""
    if call.token.may(permission):
        return
    if call.token.kind != "classic":
        raise ApiError(
            403,
            call.token.refusal,
            headers={"x-accepted-github-permissions": permission.replace(":", "=")},
        )
    raise not_found("https://docs.github.com/rest")
