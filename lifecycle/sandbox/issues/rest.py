"""REST's operations on issues and their comments: list, make, edit, assign, lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ActionRefused, ApiError, invalid, wrong
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.issues import actions as issues
from lifecycle.sandbox.issues import payload as payloads
from lifecycle.sandbox.issues.actions import mentions
from lifecycle.sandbox.issues.labels import actions as labels
from lifecycle.sandbox.issues.state import Comment, Issue, IssueTables, Label, Milestone
from lifecycle.sandbox.pulls import actions as pulls
from lifecycle.sandbox.pulls.state import pull_of
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import REPO, Call, Reply, created, route
from lifecycle.sandbox.wire.rest import asking

LIST = f"{asking.ISSUES}#list-repository-issues"
LONGEST_TITLE, LONGEST_BODY = 256, 65_536
LOCK_REASONS = {"off-topic", "too heated", "resolved", "spam"}
REASONS = {None, "completed", "not_planned", "duplicate", "reopened"}
FILTERS = (
    "state", "labels", "assignee", "creator", "mentioned", "milestone", "since", "sort",
    "direction",
)  # fmt: skip
SORTS: dict[str, Callable[[Issue], Any]] = {
    "created": lambda issue: (issue.created_at, issue.number),
    "updated": lambda issue: (issue.updated_at, issue.number),
    "comments": lambda issue: (len(issue.comments), issue.number),
}
ISSUE = f"{REPO}/issues/<int:number>"


@route("GET", f"{REPO}/issues")
def list_issues(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/issues, including pull requests, by default newest first."""
    asking.only(call, *FILTERS)
    selection = filtered(call, IssueTables.of(repo).issues.values(), repo)
    if not repo.has_issues:
        selection = [issue for issue in selection if issue.is_pull]
    return call.paged(repo.world.visible(selection, call.seen), payloads.issue)


def filtered(call: Call, pool: Iterable[Issue], repo: Repository | None = None) -> list[Issue]:
    """The issues of `pool` that match the query's filters, in the query's order.

    Source: https://docs.github.com/rest/issues/issues#list-repository-issues
    """
    state = asking.choice(call, "state", "open", {"open", "closed", "all"}, "Issue")
    selection = [issue for issue in pool if state in {"all", issue.state}]
    if wanted := [name for name in call.query.get("labels", "").split(",") if name]:
        needed = {name.strip().lower() for name in wanted}
        selection = [
            issue for issue in selection if needed <= {label.name.lower() for label in issue.labels}
        ]
    if since := call.query.get("since"):
        moment = asking.moment(since, "since", "Issue", documentation=LIST)
        selection = [issue for issue in selection if issue.updated_at >= moment]
    selection = _of_people(call, selection)
    if repo is not None:
        selection = _of_milestone(call, repo, selection)
    sort = asking.choice(call, "sort", "created", set(SORTS), "Issue")
    direction = asking.choice(call, "direction", "desc", {"asc", "desc"}, "Issue")
    return sorted(selection, key=SORTS[sort], reverse=direction == "desc")


def _of_people(call: Call, selection: list[Issue]) -> list[Issue]:
    assignee = call.query.get("assignee")
    if assignee == "none":
        selection = [issue for issue in selection if not issue.assignees]
    elif assignee == "*":
        selection = [issue for issue in selection if issue.assignees]
    elif assignee:
        person = _person(call, "assignee", assignee)
        selection = [issue for issue in selection if person in issue.assignees]
    if creator := call.query.get("creator"):
        person = _person(call, "creator", creator)
        selection = [issue for issue in selection if issue.author is person]
    if mentioned := call.query.get("mentioned"):
        login = _person(call, "mentioned", mentioned).login
        selection = [issue for issue in selection if mentions(issue, login)]
    return selection


def _person(call: Call, field: str, login: str) -> User:
    user = call.world.user(login)
    if user is None:
        raise invalid(
            {"value": login, "resource": "Issue", "field": field, "code": "invalid"},
            documentation=LIST,
        )
    return user


def _of_milestone(call: Call, repo: Repository, selection: list[Issue]) -> list[Issue]:
    tables = IssueTables.of(repo)
    wanted = call.query.get("milestone")
    if not wanted:
        return selection
    if wanted == "*":
        return [issue for issue in selection if issue.milestone]
    if wanted == "none":
        return [issue for issue in selection if issue.milestone is None]
    if not wanted.isdecimal() or int(wanted) not in tables.milestones:
        raise invalid(
            {"value": wanted, "resource": "Issue", "field": "milestone", "code": "invalid"}
        )
    return [issue for issue in selection if issue.milestone is tables.milestones[int(wanted)]]


@route("GET", ISSUE)
def get_issue(call: Call, repo: Repository, number: int) -> Reply:
    return Reply(200, payloads.issue(call, asking.issue(repo, number)))


@route("POST", f"{REPO}/issues", "issues:write")
def create_issue(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/issues; labels, assignees and milestone are ignored unless the viewer may triage."""
    asking.demand_issues(repo)
    asking.fields(call, "title", "body", "labels", "assignee", "assignees", "milestone")
    title = asking.needed(call, "title", str)
    _title(title)
    body = _body(call)
    wishes = Wishes.read(call, repo) if repo.can_triage(call.viewer) else None
    issue = issues.new_issue(repo, call.viewer, title, body)
    if wishes is not None:
        wishes.grant(issue, call.viewer)
    return created(payloads.issue(call, issue))


def _title(title: str) -> None:
    if not title.strip():
        raise wrong("Issue", "missing_field", "title")
    asking.short(title, "title", LONGEST_TITLE, "Issue")


def _body(call: Call) -> str | None:
    body: str | None = asking.typed(call, "body", str)
    return body and asking.short(body, "body", LONGEST_BODY, "Issue")


class Wishes:
    """The labels, assignees and milestone in a body; a missing key changes nothing."""

    def __init__(self) -> None:
        self.labels: list[str] | None = None
        self.assignees: list[User] | None = None
        self.milestone: Milestone | None = None
        self.sets_milestone = False

    @classmethod
    def read(cls, call: Call, repo: Repository) -> Wishes:
        """Read the body of the call.

        Raises:
            ApiError: 422, somebody cannot be assigned, or there is no such milestone.
        """
        wishes = cls()
        wanted = asking.typed(call, "labels", list)
        if wanted is not None:
            wishes.labels = label_names(wanted)
        logins = asking.typed(call, "assignees", list)
        if "assignee" in call.body and logins is None:
            login = asking.typed(call, "assignee", str)
            logins = [login] if login else []
        if logins is not None:
            wishes.assignees = [assignable(repo, name) for name in logins]
        if "milestone" in call.body:
            wishes.sets_milestone = True
            wishes.milestone = milestone(repo, call.body["milestone"])
        return wishes

    def grant(self, issue: Issue, by: User) -> None:
        """Set the requested values on an issue."""
        if self.labels is not None:
            labels.replace(issue, known_labels(issue.repository, self.labels), by)
        if self.assignees is not None:
            issues.set_assignees(issue, self.assignees, by)
        if self.sets_milestone:
            issues.set_milestone(issue, self.milestone, by)


def label_names(wanted: list[Any]) -> list[str]:
    """The names in a list of labels, which are texts or objects with a name."""
    names = [label.get("name") if isinstance(label, dict) else label for label in wanted]
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise wrong("Label", "missing_field", "name")
    return [name for name in names if isinstance(name, str)]


def known_labels(repo: Repository, names: Iterable[str]) -> list[Label]:
    """The labels of these names; a missing one is made, in grey."""
    return [
        IssueTables.of(repo).labels.get(name.lower()) or labels.make(repo, name, color=labels.GREY)
        for name in names
    ]


def assignable(repo: Repository, login: object) -> User:
    """The user of that login, if they can be assigned; else 422."""
    user = repo.world.user(str(login))
    if user is None or not issues.may_be_assigned(repo, user):
        error = {"value": login, "resource": "Issue", "field": "assignees", "code": "invalid"}
        raise invalid(error)
    return user


def milestone(repo: Repository, number: object) -> Milestone | None:
    """The milestone of that number, None for null, or 422."""
    tables = IssueTables.of(repo)
    if number is None:
        return None
    if isinstance(number, str) and number.isdecimal():
        number = int(number)
    if not isinstance(number, int) or number not in tables.milestones:
        error = {"value": number, "resource": "Issue", "field": "milestone", "code": "invalid"}
        raise invalid(error)
    return tables.milestones[number]


@route("PATCH", ISSUE, "issues:write")
def edit_issue(call: Call, repo: Repository, number: int) -> Reply:
    """PATCH /repos/O/R/issues/N, for its author; labels, people, milestone if the viewer may triage."""
    issue = asking.issue(repo, number)
    can_triage = repo.can_triage(call.viewer)
    if not can_triage and issue.author is not call.viewer:
        raise asking.forbidden()
    asking.fields(
        call, "title", "body", "state", "state_reason", "labels", "assignee", "assignees",
        "milestone",
    )  # fmt: skip
    state, reason = call.body.get("state"), call.body.get("state_reason")
    wrong = {"resource": "Issue", "code": "invalid"}
    if state not in (None, "open", "closed"):
        raise invalid({**wrong, "field": "state"})
    if not isinstance(reason, (str, type(None))) or reason not in REASONS:
        raise invalid({**wrong, "field": "state_reason"})
    title = asking.typed(call, "title", str)
    if title is not None:
        _title(title)
    body = _body(call)
    wishes = Wishes.read(call, repo) if can_triage else Wishes()
    if state:
        _set_state(call, issue, state, reason)
    if title is not None:
        issues.rename(issue, call.viewer, title)
    if "body" in call.body:
        issues.rewrite(issue, call.viewer, body)
    wishes.grant(issue, call.viewer)
    return Reply(200, payloads.issue(call, issue))


def _set_state(call: Call, issue: Issue, state: str, reason: Any) -> None:
    pull = pull_of(issue)
    if state == "closed":
        why: issues.Reason = "completed" if reason in {None, "reopened"} else reason
        issues.close(issue, call.viewer, None if pull else why)
    elif pull and not pull.is_open:
        try:
            pulls.reopen(issue.repository, pull)
        except ActionRefused as refused:
            raise wrong("Issue", "custom", "state", f"state cannot be changed. {refused}") from None
    else:
        issues.reopen(issue, call.viewer)


@route("POST", f"{ISSUE}/assignees", "issues:write")
def add_assignees(call: Call, repo: Repository, number: int) -> Reply:
    """POST /repos/O/R/issues/N/assignees: adds them; without push access, nothing changes."""
    issue = asking.issue(repo, number)
    if repo.can_push(call.viewer):
        users = [repo.world.user(login) for login in _logins(call)]
        logins = [user.login for user in users if user and issues.may_be_assigned(repo, user)]
        issues.assign(issue, logins, call.viewer)
    return Reply(201, payloads.issue(call, issue))


@route("DELETE", f"{ISSUE}/assignees", "issues:write")
def remove_assignees(call: Call, repo: Repository, number: int) -> Reply:
    """DELETE /repos/O/R/issues/N/assignees; without push access, nothing changes."""
    issue = asking.issue(repo, number)
    if repo.can_push(call.viewer):
        issues.unassign(issue, _logins(call), call.viewer)
    return Reply(200, payloads.issue(call, issue))


def _logins(call: Call) -> list[str]:
    wanted = call.body.get("assignees", [])
    if isinstance(wanted, str):
        wanted = [wanted]
    return [login for login in wanted if isinstance(login, str)]


@route("PUT", f"{ISSUE}/lock", "issues:write")
def lock_issue(call: Call, repo: Repository, number: int) -> Reply:
    issue = asking.issue(repo, number)
    asking.demand_triage(call, repo)
    reason = asking.typed(call, "lock_reason", str)
    if reason is not None and reason not in LOCK_REASONS:
        words = f'"{reason}" is not a member of {sorted(LOCK_REASONS)}.'
        raise asking.malformed(f"For 'properties/lock_reason', {words}")
    issues.lock(issue, call.viewer, reason)
    return Reply(204, None)


@route("DELETE", f"{ISSUE}/lock", "issues:write")
def unlock_issue(call: Call, repo: Repository, number: int) -> Reply:
    issue = asking.issue(repo, number)
    asking.demand_triage(call, repo)
    issues.unlock(issue, call.viewer)
    return Reply(204, None)


DOCS = "https://docs.github.com/rest/issues/comments"
COMMENT = f"{REPO}/issues/comments/<int:comment>"


@route("GET", f"{ISSUE}/comments", docs=DOCS)
def list_comments(call: Call, repo: Repository, number: int) -> Reply:
    """GET /repos/O/R/issues/N/comments, oldest first; `since` is about the time of the last change."""
    asking.only(call, "since")
    comments = asking.issue(repo, number).comments
    if since := call.query.get("since"):
        moment = asking.moment(since, "since", "IssueComment")
        comments = [comment for comment in comments if comment.updated_at >= moment]
    return call.paged(repo.world.visible(comments, call.seen), payloads.comment)


@route("GET", f"{REPO}/issues/comments", docs=DOCS)
def list_all_comments(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/issues/comments: of every issue, oldest first."""
    asking.only(call, "since", "sort", "direction")
    comments = [
        comment for issue in IssueTables.of(repo).issues.values() for comment in issue.comments
    ]
    if since := call.query.get("since"):
        moment = asking.moment(since, "since", "IssueComment")
        comments = [comment for comment in comments if comment.updated_at >= moment]
    sort = asking.choice(call, "sort", "created", {"created", "updated"}, "IssueComment")
    # GitHub: the direction is ignored without a sort.
    newest_first = "sort" in call.query and call.query.get("direction", "desc") == "desc"
    comments.sort(
        key=lambda comment: (
            comment.created_at if sort == "created" else comment.updated_at,
            comment.id,
        ),
        reverse=newest_first,
    )
    return call.paged(repo.world.visible(comments, call.seen), payloads.comment)


@route("POST", f"{ISSUE}/comments", "issues:write")
def create_comment(call: Call, repo: Repository, number: int) -> Reply:
    """POST /repos/O/R/issues/N/comments; the same text twice makes two comments."""
    issue = asking.issue(repo, number)
    body = _comment_body(call)
    if issue.locked and not repo.can_triage(call.viewer):
        raise ApiError(403, "Unable to create comment because issue is locked.")
    comment = issues.comment(issue, call.viewer, body)
    return created(payloads.comment(call, comment))


def _comment_body(call: Call) -> str:
    asking.fields(call, "body")
    asking.typed(call, "body", str)
    body = asking.text(call, "body", "IssueComment")
    return asking.short(body, "body", LONGEST_BODY, "IssueComment")


def _comment(repo: Repository, number: int) -> Comment:
    comment = repo.world.nodes.get(node_id("IC", repo.id, number))
    if not isinstance(comment, Comment) or comment.issue.repository is not repo:
        raise asking.not_found(f"{DOCS}#get-an-issue-comment")
    return comment


@route("GET", COMMENT)
def get_comment(call: Call, repo: Repository, comment: int) -> Reply:
    return Reply(200, payloads.comment(call, _comment(repo, comment)))


@route("PATCH", COMMENT, "issues:write")
def edit_comment(call: Call, repo: Repository, comment: int) -> Reply:
    """PATCH /repos/O/R/issues/comments/ID, by its author or a user who may push."""
    target = _comment(repo, comment)
    body = _comment_body(call)
    if target.author is not call.viewer:
        asking.demand_push(call, repo)
    issues.edit_comment(target, call.viewer, body)
    return Reply(200, payloads.comment(call, target))


@route("DELETE", COMMENT, "issues:write")
def delete_comment(call: Call, repo: Repository, comment: int) -> Reply:
    """DELETE /repos/O/R/issues/comments/ID, by its author or a user who may push."""
    target = _comment(repo, comment)
    if target.author is not call.viewer:
        asking.demand_push(call, repo)
    issues.remove_comment(target)
    return Reply(204, None)
