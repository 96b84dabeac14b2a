"""The JSON of issues' events and timelines in REST's answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle.sandbox.accounts import payload as accounts
from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.times import attributes, stamp
from lifecycle.sandbox.issues import payload as issues
from lifecycle.sandbox.issues.state import Comment, Issue, IssueEvent, Label, Milestone
from lifecycle.sandbox.repositories import access
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.wire.call import Call

RELATED = {"sub_issue", "parent_issue", "blocked_by", "blocking"}
IN_TIMELINE_ONLY = {"cross-referenced"}
WITH_COMMIT = {"closed", "merged"}


def event(call: Call, subject: Issue, entry: IssueEvent) -> dict[str, Any]:
    """The JSON of an event of an issue.

    Source: https://docs.github.com/rest/using-the-rest-api/issue-event-types
    """
    repo = repositories.api_url(call, subject.repository)
    commit = entry.about.get("commit") if entry.kind in WITH_COMMIT else None
    answer = {
        **attributes(entry, "id node_id"),
        "url": f"{repo}/issues/events/{entry.id}",
        "actor": accounts.user(call, entry.actor),
        "event": entry.kind,
        "commit_id": commit,
        "commit_url": f"{repo}/commits/{commit}" if commit else None,
        "created_at": stamp(entry.created_at),
        "performed_via_github_app": None,
    }
    if entry.kind == "closed":
        answer["state_reason"] = entry.about.get("state_reason")
    if entry.kind == "renamed":
        answer["rename"] = {"from": entry.about["old"], "to": entry.about["new"]}
    if entry.kind in {"assigned", "unassigned"}:
        answer["assigner"] = accounts.user(call, entry.actor)
    if entry.kind in {"review_requested", "review_request_removed"}:
        answer["review_requester"] = accounts.user(call, entry.actor)
    for key, value in entry.about.items():
        if key in SHAPES:
            answer[key] = SHAPES[key](call, value)
    return answer


def _label(_call: Call, label: Label | str) -> dict[str, Any]:
    """The JSON of a label in an event; for a deleted label only the name is known."""
    if isinstance(label, Label):
        return {"name": label.name, "color": label.color}
    return {"name": str(label), "color": "ededed"}


def _milestone(_call: Call, milestone: Milestone | str | int) -> dict[str, Any]:
    title = milestone.title if isinstance(milestone, Milestone) else str(milestone)
    return {"title": title}


def _person(call: Call, person: User) -> dict[str, Any]:
    return accounts.user(call, person)


def _related(call: Call, issue: Issue) -> dict[str, Any]:
    """The JSON of another issue in an event: a minimal reference."""
    return {
        **attributes(issue, "number title state state_reason"),
        "repository": repositories.simple(call, issue.repository),
        "issue_type": None,
    }


SHAPES: dict[str, Callable[[Call, Any], Any]] = {
    "label": _label,
    "milestone": _milestone,
    "assignee": _person,
    "requested_reviewer": _person,
    "lock_reason": lambda _, reason: reason,
    **dict.fromkeys(RELATED, _related),
}
"""By key of an event's `about` that REST shows: the function that makes its JSON."""


def event_of_repository(call: Call, subject: Issue, entry: IssueEvent) -> dict[str, Any]:
    """The JSON of an event with its issue, for an address that does not name the issue."""
    return {**event(call, subject, entry), "issue": issues.issue(call, subject)}


def timeline(call: Call, subject: Issue, entry: IssueEvent | Comment) -> dict[str, Any]:
    """The JSON of an entry of the timeline: an event, a comment, or a reference from elsewhere."""
    if isinstance(entry, Comment):
        return {
            **issues.comment(call, entry),
            "event": "commented",
            "actor": accounts.user(call, entry.author),
        }
    if entry.kind == "cross-referenced":
        source = issues.issue(call, entry.about["source"])
        repo = entry.about["source"].repository
        source["repository"] = repositories.minimal(call, repo)
        return {
            "actor": accounts.user(call, entry.actor),
            "created_at": stamp(entry.created_at),
            "updated_at": stamp(entry.created_at),
            "source": {"type": "issue", "issue": source},
            "event": entry.kind,
        }
    answer = event(call, subject, entry)
    answer.pop("assigner", None)  # recorded lists of events have it, timelines do not
    return answer


def may_see(call: Call, event: IssueEvent) -> bool:
    """Whether the token can see the repository that an event comes from."""
    source = event.about.get("source")
    return source is None or access.sees(call.token, source.repository)
