"""Comments of issues and pull requests."""

from __future__ import annotations

from lifecycle.sandbox.base.errors import ApiError
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.issues import actions as issues
from lifecycle.sandbox.issues import payload as payloads
from lifecycle.sandbox.issues.rest import ISSUE, LONGEST_BODY
from lifecycle.sandbox.issues.state import Comment, IssueTables
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import REPO, Call, Reply, created, route
from lifecycle.sandbox.wire.rest import asking

DOCS = "https://docs.github.com/rest/issues/comments"
COMMENT = f"{REPO}/issues/comments/<int:comment>"


@route("GET", f"{ISSUE}/comments", docs=DOCS)
def list_comments(call: Call, repo: Repository, number: int) -> Reply:
    """GET /repos/O/R/issues/N/comments, oldest first; `since` means when they changed."""
    asking.only(call, "since")
    found = asking.issue(repo, number).comments
    if since := call.query.get("since"):
        moment = asking.moment(since, "since", "IssueComment")
        found = [one for one in found if one.updated_at >= moment]
    return call.paged(repo.world.visible(found, call.seen), payloads.comment)


@route("GET", f"{REPO}/issues/comments", docs=DOCS)
def list_all_comments(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/issues/comments: of every issue, oldest first."""
    asking.only(call, "since", "sort", "direction")
    found = [one for issue in IssueTables.of(repo).issues.values() for one in issue.comments]
    if since := call.query.get("since"):
        moment = asking.moment(since, "since", "IssueComment")
        found = [one for one in found if one.updated_at >= moment]
    sort = asking.choice(call, "sort", "created", {"created", "updated"}, "IssueComment")
    # GitHub: the direction is ignored without a sort.
    newest_first = "sort" in call.query and call.query.get("direction", "desc") == "desc"
    found.sort(
        key=lambda one: (one.created_at if sort == "created" else one.updated_at, one.id),
        reverse=newest_first,
    )
    return call.paged(repo.world.visible(found, call.seen), payloads.comment)


@route("POST", f"{ISSUE}/comments", "issues:write")
def create_comment(call: Call, repo: Repository, number: int) -> Reply:
    """POST /repos/O/R/issues/N/comments; the same text twice makes two comments."""
    issue = asking.issue(repo, number)
    body = _body(call)
    if issue.locked and not repo.can_triage(call.viewer):
        message = "Unable to create comment because issue is locked."
        raise ApiError(403, message)
    made = issues.comment(issue, call.viewer, body)
    return created(payloads.comment(call, made))


def _body(call: Call) -> str:
    asking.fields(call, "body")
    asking.typed(call, "body", str)
    body = asking.text(call, "body", "IssueComment")
    return asking.short(body, "body", LONGEST_BODY, "IssueComment")


def _comment(repo: Repository, number: int) -> Comment:
    found = repo.world.nodes.get(node_id("IC", repo.id, number))
    if not isinstance(found, Comment) or found.issue.repository is not repo:
        raise asking.not_found(f"{DOCS}#get-an-issue-comment")
    return found


@route("GET", COMMENT)
def get_comment(call: Call, repo: Repository, comment: int) -> Reply:
    return Reply(200, payloads.comment(call, _comment(repo, comment)))


@route("PATCH", COMMENT, "issues:write")
def edit_comment(call: Call, repo: Repository, comment: int) -> Reply:
    """PATCH /repos/O/R/issues/comments/ID, by its author or who may push."""
    found = _comment(repo, comment)
    body = _body(call)
    if found.author is not call.viewer:
        asking.demand_push(call, repo)
    issues.edit_comment(found, call.viewer, body)
    return Reply(200, payloads.comment(call, found))


@route("DELETE", COMMENT, "issues:write")
def delete_comment(call: Call, repo: Repository, comment: int) -> Reply:
    """DELETE /repos/O/R/issues/comments/ID, by its author or who may push."""
    found = _comment(repo, comment)
    if found.author is not call.viewer:
        asking.demand_push(call, repo)
    issues.remove_comment(found)
    return Reply(204, None)
