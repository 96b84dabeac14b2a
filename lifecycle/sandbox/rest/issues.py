"""Issues, their assignees and comments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifecycle.sandbox.actions import issues, pulls
from lifecycle.sandbox.errors import ActionRefused, ApiError, invalid
from lifecycle.sandbox.payloads import issues as payloads
from lifecycle.sandbox.rest import asking
from lifecycle.sandbox.rest.routing import REPO, Route
from lifecycle.sandbox.wire.call import Reply

if TYPE_CHECKING:
    from lifecycle.sandbox.state.issues import Issue
    from lifecycle.sandbox.state.repositories import Repository
    from lifecycle.sandbox.wire.call import Call


def list_issues(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/issues, pull requests among them, newest first."""
    asking.only(call, "state")
    state = asking.choice(call, "state", "open", {"open", "closed", "all"}, "Issue")
    found = [i for i in repo.issues.values() if state in {"all", i.state}]
    shown, headers = call.page(repo.world.visible(_newest(found), call.seen))
    return Reply(200, [payloads.issue(call, one) for one in shown], headers)


def _newest(found: list[Issue]) -> list[Issue]:
    return sorted(found, key=lambda one: one.number, reverse=True)


def get_issue(call: Call, repo: Repository, number: int) -> Reply:
    """GET /repos/O/R/issues/N."""
    return Reply(200, payloads.issue(call, asking.issue(repo, number)))


def edit_issue(call: Call, repo: Repository, number: int) -> Reply:
    """PATCH /repos/O/R/issues/N: state, state_reason, title and body."""
    issue = asking.issue(repo, number)
    if not repo.can_push(call.viewer) and issue.author is not call.viewer:
        raise ApiError(403, "Must have admin rights to Repository.",
                       documentation=f"{asking.ISSUES}#update-an-issue")  # fmt: skip
    unknown = sorted(call.body.keys() - {"state", "state_reason", "title", "body"})
    if unknown:
        raise ApiError(501, f"The sandbox does not imitate editing {unknown[0]!r}.")
    state, reason = call.body.get("state"), call.body.get("state_reason")
    wrong = {"resource": "Issue", "code": "invalid"}
    if state not in (None, "open", "closed"):
        raise invalid(f"{asking.ISSUES}#update-an-issue", {**wrong, "field": "state"})
    if reason not in (None, "completed", "not_planned", "duplicate", "reopened"):
        raise invalid(f"{asking.ISSUES}#update-an-issue", {**wrong, "field": "state_reason"})
    if isinstance(call.body.get("title"), str):
        issue.title = call.body["title"]
    if "body" in call.body:
        issue.body = call.body["body"]
    if state:
        _set_state(call, issue, state, reason)
    return Reply(200, payloads.issue(call, issue))


def _set_state(call: Call, issue: Issue, state: str, reason: Any) -> None:
    pull = pulls.issue_face(issue)
    if state == "closed":
        why: issues.Reason = "completed" if reason in {None, "reopened"} else reason
        issues.close(issue, call.viewer, None if pull else why)
    elif pull and not pull.is_open:
        try:
            pulls.reopen(issue.repository, pull)
        except ActionRefused as refused:
            error = {"resource": "Issue", "code": "custom", "field": "state",
                     "message": f"state cannot be changed. {refused}"}  # fmt: skip
            raise invalid(f"{asking.ISSUES}#update-an-issue", error) from None
    else:
        issues.reopen(issue, call.viewer)


def add_assignees(call: Call, repo: Repository, number: int) -> Reply:
    """POST /repos/O/R/issues/N/assignees: a union; without push access, silently nothing."""
    issue = asking.issue(repo, number)
    if repo.can_push(call.viewer):
        issues.assign(issue, _logins(call), call.viewer)
    return Reply(201, payloads.issue(call, issue))


def remove_assignees(call: Call, repo: Repository, number: int) -> Reply:
    """DELETE /repos/O/R/issues/N/assignees: who is left; without push access, silently nothing."""
    issue = asking.issue(repo, number)
    if repo.can_push(call.viewer):
        issues.unassign(issue, _logins(call), call.viewer)
    return Reply(200, payloads.issue(call, issue))


def _logins(call: Call) -> list[str]:
    wanted = call.body.get("assignees", [])
    if isinstance(wanted, str):
        wanted = [wanted]
    return [login for login in wanted if isinstance(login, str)]


def list_comments(call: Call, repo: Repository, number: int) -> Reply:
    """GET /repos/O/R/issues/N/comments, oldest first."""
    asking.only(call)
    issue = asking.issue(repo, number)
    shown, headers = call.page(repo.world.visible(issue.comments, call.seen))
    return Reply(200, [payloads.comment(call, one) for one in shown], headers)


def create_comment(call: Call, repo: Repository, number: int) -> Reply:
    """POST /repos/O/R/issues/N/comments; the same text twice makes two comments."""
    issue = asking.issue(repo, number)
    documentation = "https://docs.github.com/rest/issues/comments#create-an-issue-comment"
    body = asking.text(call, "body", "IssueComment", documentation)
    if len(body) > 65_536:
        message = "body is too long (maximum is 65536 characters)"
        error = {"resource": "IssueComment", "code": "custom", "field": "body", "message": message}
        raise invalid(documentation, error)
    made = issues.comment(issue, call.viewer, body)
    return Reply(201, payloads.comment(call, made))


ISSUE = f"{REPO}/issues/<int:number>"
ROUTES = (
    Route("GET", f"{REPO}/issues", list_issues),
    Route("GET", ISSUE, get_issue),
    Route("PATCH", ISSUE, edit_issue, "issues:write"),
    Route("POST", f"{ISSUE}/assignees", add_assignees, "issues:write"),
    Route("DELETE", f"{ISSUE}/assignees", remove_assignees, "issues:write"),
    Route("GET", f"{ISSUE}/comments", list_comments),
    Route("POST", f"{ISSUE}/comments", create_comment, "issues:write"),
)
