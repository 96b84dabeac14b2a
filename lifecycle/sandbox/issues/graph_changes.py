"""GraphQL's mutations of issues and comments; some also accept a pull request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.git import actions as refs
from lifecycle.sandbox.issues import actions as issues
from lifecycle.sandbox.issues import moving
from lifecycle.sandbox.issues.graph import linked_branch
from lifecycle.sandbox.issues.labels import actions as labels
from lifecycle.sandbox.issues.relations import actions as relations
from lifecycle.sandbox.issues.state import Comment, Issue, IssueTables, Label, Milestone
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.changing import (
    Given,
    Payload,
    all_meant,
    demand,
    doing,
    half_meant,
    half_to_triage,
    meant,
    mutation,
    unprocessable,
)
from lifecycle.sandbox.wire.graph.pages import connection

LONGEST_TITLE, LONGEST_BODY = 256, 65_536
SPACE = "-"


def _texts(wanted: Given) -> None:
    """Refuse a title or text that is too long or empty."""
    title, body = wanted.get("title"), wanted.get("body")
    if title is not None and not title.strip():
        raise unprocessable("Title can't be blank")
    if title is not None and len(title) > LONGEST_TITLE:
        raise unprocessable(f"Title is too long (maximum is {LONGEST_TITLE} characters)")
    if body is not None and len(body) > LONGEST_BODY:
        raise unprocessable(f"Body is too long (maximum is {LONGEST_BODY} characters)")


@mutation("issue", takes="body assigneeIds labelIds milestoneId projectIds parentIssueId")
def create_issue(call: Call, wanted: Given) -> Payload:
    """Create an issue; labels, assignees and milestone are ignored unless the viewer may triage."""
    repo = meant(call, wanted["repositoryId"], Repository)
    demand(call, repo)
    if not repo.has_issues:
        raise unprocessable("Issues has been disabled in this repository.")
    if wanted.get("projectIds"):
        raise unprocessable("Projects (classic) are no longer there.")
    _texts(wanted)
    wishes = _wishes(call, wanted) if repo.can_triage(call.viewer) else {}
    parent = meant(call, wanted["parentIssueId"], Issue) if wanted.get("parentIssueId") else None
    issue = issues.new_issue(repo, call.viewer, wanted["title"], wanted.get("body") or "")
    _grant(call, issue, wishes)
    if parent is not None:
        doing(lambda: relations.add_sub_issue(parent, issue, call.viewer))
    return {"issue": issue}


def _wishes(call: Call, wanted: Given) -> dict[str, Any]:
    """The labels, assignees and milestone that the input names by id; missing keys are left out."""
    wishes: dict[str, Any] = {}
    if wanted.get("labelIds") is not None:
        wishes["labels"] = all_meant(call, wanted["labelIds"], Label)
    if wanted.get("assigneeIds") is not None:
        wishes["assignees"] = all_meant(call, wanted["assigneeIds"], User)
    if "milestoneId" in wanted:
        milestone_id = wanted["milestoneId"]
        wishes["milestone"] = meant(call, milestone_id, Milestone) if milestone_id else None
    return wishes


def _grant(call: Call, issue: Issue, wishes: Mapping[str, Any]) -> None:
    if "labels" in wishes:
        labels.replace(issue, wishes["labels"], call.viewer)
    if "assignees" in wishes:
        issues.set_assignees(issue, wishes["assignees"], call.viewer)
    if "milestone" in wishes:
        issues.set_milestone(issue, wishes["milestone"], call.viewer)


def _to_edit(call: Call, global_id: str) -> Issue:
    """The issue of that id, for its author and users who may triage."""
    issue = meant(call, global_id, Issue)
    may = issue.author is call.viewer or issue.repository.can_triage(call.viewer)
    demand(call, issue.repository, may=may)
    return issue


@mutation("issue actor", takes="title body assigneeIds labelIds milestoneId projectIds state")
def update_issue(call: Call, wanted: Given) -> Payload:
    """Change the given fields; a list replaces the old one."""
    issue = _to_edit(call, wanted["id"])
    if wanted.get("projectIds"):
        raise unprocessable("Projects (classic) are no longer there.")
    _texts(wanted)
    wishes = _wishes(call, wanted)
    if wanted.get("title") is not None:
        issues.rename(issue, call.viewer, wanted["title"])
    if wanted.get("body") is not None:
        issues.rewrite(issue, call.viewer, wanted["body"])
    if wanted.get("state") == "CLOSED":
        issues.close(issue, call.viewer, "completed")
    elif wanted.get("state") == "OPEN":
        issues.reopen(issue, call.viewer)
    _grant(call, issue, wishes)
    return {"issue": issue, "actor": call.viewer}


@mutation("issue", takes="stateReason")
def close_issue(call: Call, wanted: Given) -> Payload:
    """Close an issue; if it is closed already, only the reason changes."""
    issue = _to_edit(call, wanted["issueId"])
    reasons: dict[str, issues.Reason] = {
        "COMPLETED": "completed", "NOT_PLANNED": "not_planned", "DUPLICATE": "duplicate",
    }  # fmt: skip
    issues.close(issue, call.viewer, reasons[wanted.get("stateReason") or "COMPLETED"])
    return {"issue": issue}


@mutation("issue")
def reopen_issue(call: Call, wanted: Given) -> Payload:
    issue = _to_edit(call, wanted["issueId"])
    issues.reopen(issue, call.viewer)
    return {"issue": issue}


@mutation("repository")
def delete_issue(call: Call, wanted: Given) -> Payload:
    """Delete an issue, for an admin of its repository."""
    issue = meant(call, wanted["issueId"], Issue)
    repo = issue.repository
    demand(call, repo, may=repo.role_of(call.viewer) == "admin")
    moving.delete(issue, call.viewer)
    return {"repository": repo}


@mutation("issue", takes="createLabelsIfMissing")
def transfer_issue(call: Call, wanted: Given) -> Payload:
    """Move an issue to another repository of the same owner, if the viewer may push to both."""
    issue = meant(call, wanted["issueId"], Issue)
    target = meant(call, wanted["repositoryId"], Repository)
    both = issue.repository.can_push(call.viewer) and target.can_push(call.viewer)
    demand(call, issue.repository, may=both)
    if target is issue.repository or target.owner is not issue.repository.owner:
        raise unprocessable(
            "Issues can only be transferred to another repository of the same owner."
        )
    if wanted.get("createLabelsIfMissing"):
        for label in issue.labels:
            if label.name.lower() not in IssueTables.of(target).labels:
                labels.make(target, label.name, color=label.color, description=label.description)
    moving.transfer(issue, target, call.viewer)
    return {"issue": issue}


@mutation("commentEdge subject")
def add_comment(call: Call, wanted: Given) -> Payload:
    """Comment on an issue or a pull request."""
    issue, subject = half_meant(call, wanted["subjectId"])
    demand(call, issue.repository)
    _commented(wanted)
    if issue.locked and not issue.repository.can_triage(call.viewer):
        raise unprocessable("Unable to create comment because issue is locked.")
    comment = issues.comment(issue, call.viewer, wanted["body"])
    (edge,) = connection([comment], first=1)["edges"]()
    return {"commentEdge": edge, "subject": subject}


def _commented(wanted: Given) -> None:
    if not wanted["body"].strip():
        raise unprocessable("Body can't be blank")
    _texts(wanted)


@mutation("issueComment")
def update_issue_comment(call: Call, wanted: Given) -> Payload:
    """Change a comment's text, for its author or a user who may push."""
    comment = _own_comment(call, wanted["id"])
    _commented(wanted)
    issues.edit_comment(comment, call.viewer, wanted["body"])
    return {"issueComment": comment}


@mutation()
def delete_issue_comment(call: Call, wanted: Given) -> Payload:
    """Delete a comment, for its author or a user who may push."""
    issues.remove_comment(_own_comment(call, wanted["id"]))
    return {}


def _own_comment(call: Call, global_id: str) -> Comment:
    comment = meant(call, global_id, Comment)
    repo = comment.issue.repository
    demand(call, repo, may=comment.author is call.viewer or repo.can_push(call.viewer))
    return comment


@mutation("assignable")
def add_assignees_to_assignable(call: Call, wanted: Given) -> Payload:
    """Add assignees; users who cannot be assigned are left out."""
    issue, subject = half_to_triage(call, wanted["assignableId"])
    assignees = all_meant(call, wanted["assigneeIds"], User)
    logins = [user.login for user in assignees if issues.may_be_assigned(issue.repository, user)]
    issues.assign(issue, logins, call.viewer)
    return {"assignable": subject}


@mutation("assignable")
def remove_assignees_from_assignable(call: Call, wanted: Given) -> Payload:
    issue, subject = half_to_triage(call, wanted["assignableId"])
    assignees = all_meant(call, wanted["assigneeIds"], User)
    issues.unassign(issue, [user.login for user in assignees], call.viewer)
    return {"assignable": subject}


@mutation("lockedRecord actor", takes="lockReason")
def lock_lockable(call: Call, wanted: Given) -> Payload:
    issue, subject = half_to_triage(call, wanted["lockableId"])
    reason = wanted.get("lockReason")
    words = {"OFF_TOPIC": "off-topic", "TOO_HEATED": "too heated"}
    issues.lock(issue, call.viewer, reason and words.get(reason, reason.lower()))
    return {"lockedRecord": subject, "actor": call.viewer}


@mutation("unlockedRecord actor")
def unlock_lockable(call: Call, wanted: Given) -> Payload:
    issue, subject = half_to_triage(call, wanted["lockableId"])
    issues.unlock(issue, call.viewer)
    return {"unlockedRecord": subject, "actor": call.viewer}


@mutation("issue")
def pin_issue(call: Call, wanted: Given) -> Payload:
    """Pin an issue; a repository has at most three pinned ones."""
    issue = meant(call, wanted["issueId"], Issue)
    demand(call, issue.repository, may=issue.repository.can_push(call.viewer))
    if not issues.pin(issue, call.viewer):
        raise unprocessable(f"Maximum {issues.MOST_PINNED} pinned issues per repository")
    return {"issue": issue}


@mutation("id issue")
def unpin_issue(call: Call, wanted: Given) -> Payload:
    issue = meant(call, wanted["issueId"], Issue)
    demand(call, issue.repository, may=issue.repository.can_push(call.viewer))
    issues.unpin(issue, call.viewer)
    return {"id": issue.node_id, "issue": issue}


@mutation("issue subIssue", takes="subIssueId replaceParent")
def add_sub_issue(call: Call, wanted: Given) -> Payload:
    parent = _parent(call, wanted)
    child = meant(call, wanted.get("subIssueId") or "", Issue)
    replaces = bool(wanted.get("replaceParent"))
    doing(lambda: relations.add_sub_issue(parent, child, call.viewer, replace_parent=replaces))
    return {"issue": parent, "subIssue": child}


@mutation("issue subIssue")
def remove_sub_issue(call: Call, wanted: Given) -> Payload:
    parent, child = _family(call, wanted)
    relations.remove_sub_issue(parent, child, call.viewer)
    return {"issue": parent, "subIssue": child}


@mutation("issue", takes="afterId beforeId")
def reprioritize_sub_issue(call: Call, wanted: Given) -> Payload:
    """Move a sub-issue right after or right before one of its siblings."""
    parent, child = _family(call, wanted)
    after, before = (
        meant(call, wanted[key], Issue) if wanted.get(key) else None
        for key in ("afterId", "beforeId")
    )
    beside = after or before
    if beside is None or (after and before) or beside not in parent.sub_issues:
        raise unprocessable("Must specify either after_id or before_id, and not both.")
    relations.move_sub_issue(child, after=after, before=before)
    return {"issue": parent}


def _parent(call: Call, wanted: Given) -> Issue:
    parent = meant(call, wanted["issueId"], Issue)
    demand(call, parent.repository, may=parent.repository.can_triage(call.viewer))
    return parent


def _family(call: Call, wanted: Given) -> tuple[Issue, Issue]:
    parent = _parent(call, wanted)
    child = meant(call, wanted["subIssueId"], Issue)
    if child.parent is not parent:
        raise unprocessable("The provided sub-issue is not a sub-issue of the provided issue")
    return parent, child


@mutation("linkedBranch issue", takes="name repositoryId")
def create_linked_branch(call: Call, wanted: Given) -> Payload:
    """Make a branch for an issue and link it; its default name comes from the issue."""
    issue = meant(call, wanted["issueId"], Issue)
    repo = issue.repository
    demand(call, repo, may=repo.can_push(call.viewer),
           permission="contents:write")  # fmt: skip
    if wanted.get("repositoryId") not in {None, repo.node_id}:
        raise unprocessable("The sandbox links branches of the issue's own repository only.")
    words = "".join(c if c.isalnum() else " " for c in issue.title.lower()).split()
    name = wanted.get("name") or SPACE.join([str(issue.number), *words])
    doing(lambda: refs.create(repo, call.viewer, f"refs/heads/{name}", str(wanted["oid"])))
    issue.linked_branches.append(name)
    return {"linkedBranch": linked_branch(issue, name), "issue": issue}
