"""Mutations of issues and comments; those that pull requests share take both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    meant,
    mutations,
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


def create_issue(call: Call, wanted: Given) -> Payload:
    """createIssue: labels, people and milestone of who may not set them are left out."""
    repo = meant(call, wanted["repositoryId"], Repository)
    demand(call, repo, "CreateIssue", may=True)
    if not repo.has_issues:
        raise unprocessable("Issues has been disabled in this repository.")
    if wanted.get("projectIds"):
        raise unprocessable("Projects (classic) are no longer there.")
    _texts(wanted)
    wishes = _wishes(call, wanted) if repo.can_triage(call.viewer) else {}
    parent = meant(call, wanted["parentIssueId"], Issue) if wanted.get("parentIssueId") else None
    made = issues.new_issue(repo, call.viewer, wanted["title"], wanted.get("body") or "")
    _grant(call, made, wishes)
    if parent is not None:
        doing(lambda: relations.add_sub_issue(parent, made, call.viewer))
    return {"issue": made}


def _wishes(call: Call, wanted: Given) -> dict[str, Any]:
    """What is asked for, as things; what is not named stays as it is."""
    wishes: dict[str, Any] = {}
    if wanted.get("labelIds") is not None:
        wishes["labels"] = all_meant(call, wanted["labelIds"], Label)
    if wanted.get("assigneeIds") is not None:
        wishes["assignees"] = all_meant(call, wanted["assigneeIds"], User)
    if "milestoneId" in wanted:
        given = wanted["milestoneId"]
        wishes["milestone"] = meant(call, given, Milestone) if given else None
    return wishes


def _grant(call: Call, issue: Issue, wishes: Mapping[str, Any]) -> None:
    if "labels" in wishes:
        labels.replace(issue, wishes["labels"], call.viewer)
    if "assignees" in wishes:
        issues.set_assignees(issue, wishes["assignees"], call.viewer)
    if "milestone" in wishes:
        issues.set_milestone(issue, wishes["milestone"], call.viewer)


def _may_edit(call: Call, issue: Issue) -> bool:
    return issue.author is call.viewer or issue.repository.can_triage(call.viewer)


def update_issue(call: Call, wanted: Given) -> Payload:
    """updateIssue: what is given changes; lists replace what was there."""
    issue = meant(call, wanted["id"], Issue)
    demand(call, issue.repository, "UpdateIssue", may=_may_edit(call, issue))
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


def close_issue(call: Call, wanted: Given) -> Payload:
    """closeIssue: to close what is closed changes the reason only."""
    issue = meant(call, wanted["issueId"], Issue)
    demand(call, issue.repository, "CloseIssue", may=_may_edit(call, issue))
    reasons: dict[str, issues.Reason] = {
        "COMPLETED": "completed", "NOT_PLANNED": "not_planned", "DUPLICATE": "duplicate",
    }  # fmt: skip
    issues.close(issue, call.viewer, reasons[wanted.get("stateReason") or "COMPLETED"])
    return {"issue": issue}


def reopen_issue(call: Call, wanted: Given) -> Payload:
    """ReopenIssue."""
    issue = meant(call, wanted["issueId"], Issue)
    demand(call, issue.repository, "ReopenIssue", may=_may_edit(call, issue))
    issues.reopen(issue, call.viewer)
    return {"issue": issue}


def delete_issue(call: Call, wanted: Given) -> Payload:
    """deleteIssue, for who administers the repository."""
    issue = meant(call, wanted["issueId"], Issue)
    repo = issue.repository
    demand(call, repo, "DeleteIssue", may=repo.role_of(call.viewer) == "admin")
    moving.delete(issue, call.viewer)
    return {"repository": repo}


def transfer_issue(call: Call, wanted: Given) -> Payload:
    """transferIssue, for who may push to both repositories, which have one owner."""
    issue = meant(call, wanted["issueId"], Issue)
    target = meant(call, wanted["repositoryId"], Repository)
    both = issue.repository.can_push(call.viewer) and target.can_push(call.viewer)
    demand(call, issue.repository, "TransferIssue", may=both)
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


def add_comment(call: Call, wanted: Given) -> Payload:
    """addComment, to an issue or a pull request."""
    issue, subject = half_meant(call, wanted["subjectId"])
    demand(call, issue.repository, "AddComment", may=True)
    _commented(wanted)
    if issue.locked and not issue.repository.can_triage(call.viewer):
        raise unprocessable("Unable to create comment because issue is locked.")
    made = issues.comment(issue, call.viewer, wanted["body"])
    (edge,) = connection([made], first=1)["edges"]()
    return {"commentEdge": edge, "subject": subject}


def _commented(wanted: Given) -> None:
    if not wanted["body"].strip():
        raise unprocessable("Body can't be blank")
    _texts(wanted)


def update_comment(call: Call, wanted: Given) -> Payload:
    """updateIssueComment, by its author or who may push."""
    comment = _own_comment(call, wanted["id"], "UpdateIssueComment")
    _commented(wanted)
    issues.edit_comment(comment, call.viewer, wanted["body"])
    return {"issueComment": comment}


def delete_comment(call: Call, wanted: Given) -> Payload:
    """deleteIssueComment, by its author or who may push."""
    issues.remove_comment(_own_comment(call, wanted["id"], "DeleteIssueComment"))
    return {}


def _own_comment(call: Call, global_id: str, action: str) -> Comment:
    comment = meant(call, global_id, Comment)
    repo = comment.issue.repository
    demand(call, repo, action, may=comment.author is call.viewer or repo.can_push(call.viewer))
    return comment


def add_assignees(call: Call, wanted: Given) -> Payload:
    """addAssigneesToAssignable: a union; who cannot be assigned is left out."""
    issue, subject = half_meant(call, wanted["assignableId"])
    repo = issue.repository
    demand(call, repo, "AddAssigneesToAssignable", may=repo.can_triage(call.viewer))
    found = all_meant(call, wanted["assigneeIds"], User)
    may = [one.login for one in found if issues.may_be_assigned(repo, one)]
    issues.assign(issue, may, call.viewer)
    return {"assignable": subject}


def remove_assignees(call: Call, wanted: Given) -> Payload:
    """RemoveAssigneesFromAssignable."""
    issue, subject = half_meant(call, wanted["assignableId"])
    repo = issue.repository
    demand(call, repo, "RemoveAssigneesFromAssignable", may=repo.can_triage(call.viewer))
    found = all_meant(call, wanted["assigneeIds"], User)
    issues.unassign(issue, [one.login for one in found], call.viewer)
    return {"assignable": subject}


def lock(call: Call, wanted: Given) -> Payload:
    """LockLockable."""
    issue, subject = half_meant(call, wanted["lockableId"])
    demand(call, issue.repository, "LockLockable", may=issue.repository.can_triage(call.viewer))
    reason = wanted.get("lockReason")
    words = {"OFF_TOPIC": "off-topic", "TOO_HEATED": "too heated"}
    issues.lock(issue, call.viewer, reason and words.get(reason, reason.lower()))
    return {"lockedRecord": subject, "actor": call.viewer}


def unlock(call: Call, wanted: Given) -> Payload:
    """UnlockLockable."""
    issue, subject = half_meant(call, wanted["lockableId"])
    demand(call, issue.repository, "UnlockLockable", may=issue.repository.can_triage(call.viewer))
    issues.unlock(issue, call.viewer)
    return {"unlockedRecord": subject, "actor": call.viewer}


def pin(call: Call, wanted: Given) -> Payload:
    """pinIssue: three at most in a repository."""
    issue = meant(call, wanted["issueId"], Issue)
    demand(call, issue.repository, "PinIssue", may=issue.repository.can_push(call.viewer))
    if not issues.pin(issue, call.viewer):
        raise unprocessable(f"Maximum {issues.MOST_PINNED} pinned issues per repository")
    return {"issue": issue}


def unpin(call: Call, wanted: Given) -> Payload:
    """UnpinIssue."""
    issue = meant(call, wanted["issueId"], Issue)
    demand(call, issue.repository, "UnpinIssue", may=issue.repository.can_push(call.viewer))
    issues.unpin(issue, call.viewer)
    return {"id": issue.node_id, "issue": issue}


def add_sub_issue(call: Call, wanted: Given) -> Payload:
    """AddSubIssue."""
    parent = meant(call, wanted["issueId"], Issue)
    demand(call, parent.repository, "AddSubIssue", may=parent.repository.can_triage(call.viewer))
    child = meant(call, wanted.get("subIssueId") or "", Issue)
    replaces = bool(wanted.get("replaceParent"))
    doing(lambda: relations.add_sub_issue(parent, child, call.viewer, replace_parent=replaces))
    return {"issue": parent, "subIssue": child}


def remove_sub_issue(call: Call, wanted: Given) -> Payload:
    """RemoveSubIssue."""
    parent, child = _family(call, wanted, "RemoveSubIssue")
    relations.remove_sub_issue(parent, child, call.viewer)
    return {"issue": parent, "subIssue": child}


def move_sub_issue(call: Call, wanted: Given) -> Payload:
    """reprioritizeSubIssue: right after or right before one of its siblings."""
    parent, child = _family(call, wanted, "ReprioritizeSubIssue")
    after, before = (
        meant(call, wanted[key], Issue) if wanted.get(key) else None
        for key in ("afterId", "beforeId")
    )
    beside = after or before
    if beside is None or (after and before) or beside not in parent.sub_issues:
        raise unprocessable("Must specify either after_id or before_id, and not both.")
    relations.move_sub_issue(child, after=after, before=before)
    return {"issue": parent}


def _family(call: Call, wanted: Given, action: str) -> tuple[Issue, Issue]:
    parent = meant(call, wanted["issueId"], Issue)
    demand(call, parent.repository, action, may=parent.repository.can_triage(call.viewer))
    child = meant(call, wanted["subIssueId"], Issue)
    if child.parent is not parent:
        raise unprocessable("The provided sub-issue is not a sub-issue of the provided issue")
    return parent, child


def link_branch(call: Call, wanted: Given) -> Payload:
    """createLinkedBranch: makes a branch for an issue, by default named after it."""
    issue = meant(call, wanted["issueId"], Issue)
    repo = issue.repository
    demand(call, repo, "CreateLinkedBranch", may=repo.can_push(call.viewer),
           permission="contents:write")  # fmt: skip
    if wanted.get("repositoryId") not in {None, repo.node_id}:
        raise unprocessable("The sandbox links branches of the issue's own repository only.")
    words = "".join(c if c.isalnum() else " " for c in issue.title.lower()).split()
    name = wanted.get("name") or SPACE.join([str(issue.number), *words])
    doing(lambda: refs.create(repo, call.viewer, f"refs/heads/{name}", str(wanted["oid"])))
    issue.linked_branches.append(name)
    return {"linkedBranch": linked_branch(issue, name), "issue": issue}


ACTIONS: dict[str, Callable[[Call, Mapping[str, Any]], dict[str, Any]]] = {
    "createIssue": create_issue,
    "updateIssue": update_issue,
    "closeIssue": close_issue,
    "reopenIssue": reopen_issue,
    "deleteIssue": delete_issue,
    "transferIssue": transfer_issue,
    "addComment": add_comment,
    "updateIssueComment": update_comment,
    "deleteIssueComment": delete_comment,
    "addAssigneesToAssignable": add_assignees,
    "removeAssigneesFromAssignable": remove_assignees,
    "lockLockable": lock,
    "unlockLockable": unlock,
    "pinIssue": pin,
    "unpinIssue": unpin,
    "addSubIssue": add_sub_issue,
    "removeSubIssue": remove_sub_issue,
    "reprioritizeSubIssue": move_sub_issue,
    "createLinkedBranch": link_branch,
}


RESOLVERS: dict[str, dict[str, Any]] = {"Mutation": mutations(ACTIONS)}
PLAIN = {
    "CreateIssuePayload": "issue",
    "UpdateIssuePayload": "issue actor",
    "CloseIssuePayload": "issue",
    "ReopenIssuePayload": "issue",
    "DeleteIssuePayload": "repository",
    "TransferIssuePayload": "issue",
    "AddCommentPayload": "commentEdge subject",
    "UpdateIssueCommentPayload": "issueComment",
    "DeleteIssueCommentPayload": "clientMutationId",
    "AddAssigneesToAssignablePayload": "assignable",
    "RemoveAssigneesFromAssignablePayload": "assignable",
    "LockLockablePayload": "lockedRecord actor",
    "UnlockLockablePayload": "unlockedRecord actor",
    "PinIssuePayload": "issue",
    "UnpinIssuePayload": "id issue",
    "AddSubIssuePayload": "issue subIssue",
    "RemoveSubIssuePayload": "issue subIssue",
    "ReprioritizeSubIssuePayload": "issue",
    "CreateLinkedBranchPayload": "linkedBranch issue",
}
INPUTS = {
    "CreateIssueInput": "body assigneeIds labelIds milestoneId projectIds parentIssueId",
    "UpdateIssueInput": "title body assigneeIds labelIds milestoneId projectIds state",
    "CloseIssueInput": "stateReason",
    "TransferIssueInput": "createLabelsIfMissing",
    "LockLockableInput": "lockReason",
    "AddSubIssueInput": "subIssueId replaceParent",
    "ReprioritizeSubIssueInput": "afterId beforeId",
    "CreateLinkedBranchInput": "name repositoryId",
}
