"""What happened to issues, over REST: events, and the timeline with its comments and references."""

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


def event(call: Call, subject: Issue, made: IssueEvent) -> dict[str, Any]:
    """Something that happened to an issue.

    Source: https://docs.github.com/rest/using-the-rest-api/issue-event-types
    """
    repo = repositories.api_url(call, subject.repository)
    commit = made.about.get("commit") if made.kind in WITH_COMMIT else None
    answer = {
        **attributes(made, "id node_id"),
        "url": f"{repo}/issues/events/{made.id}",
        "actor": accounts.user(call, made.actor),
        "event": made.kind,
        "commit_id": commit,
        "commit_url": f"{repo}/commits/{commit}" if commit else None,
        "created_at": stamp(made.created_at),
        "performed_via_github_app": None,
    }
    if made.kind == "closed":
        answer["state_reason"] = made.about.get("state_reason")
    if made.kind == "renamed":
        answer["rename"] = {"from": made.about["old"], "to": made.about["new"]}
    if made.kind in {"assigned", "unassigned"}:
        answer["assigner"] = accounts.user(call, made.actor)
    if made.kind in {"review_requested", "review_request_removed"}:
        answer["review_requester"] = accounts.user(call, made.actor)
    for key, value in made.about.items():
        if key in SHAPES:
            answer[key] = SHAPES[key](call, value)
    return answer


def _label(_call: Call, label: Label | str) -> dict[str, Any]:
    """A label, of which only the name is left if it was deleted."""
    if isinstance(label, Label):
        return {"name": label.name, "color": label.color}
    return {"name": str(label), "color": "ededed"}


def _milestone(_call: Call, milestone: Milestone | str | int) -> dict[str, Any]:
    title = milestone.title if isinstance(milestone, Milestone) else str(milestone)
    return {"title": title}


def _person(call: Call, person: User) -> dict[str, Any]:
    return accounts.user(call, person)


def _related(call: Call, issue: Issue) -> dict[str, Any]:
    """A minimal reference to another issue."""
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
"""How each thing that an event is about is shown."""


def event_of_repository(call: Call, subject: Issue, made: IssueEvent) -> dict[str, Any]:
    """The same where the issue is not known from the address."""
    return {**event(call, subject, made), "issue": issues.issue(call, subject)}


def timeline(call: Call, subject: Issue, made: IssueEvent | Comment) -> dict[str, Any]:
    """An entry of the timeline: an event, a comment, or a reference from somewhere else."""
    if isinstance(made, Comment):
        return {
            **issues.comment(call, made),
            "event": "commented",
            "actor": accounts.user(call, made.author),
        }
    if made.kind == "cross-referenced":
        source = issues.issue(call, made.about["source"])
        repo = made.about["source"].repository
        source["repository"] = repositories.minimal(call, repo)
        return {
            "actor": accounts.user(call, made.actor),
            "created_at": stamp(made.created_at),
            "updated_at": stamp(made.created_at),
            "source": {"type": "issue", "issue": source},
            "event": made.kind,
        }
    entry = event(call, subject, made)
    entry.pop("assigner", None)  # recorded lists of events have it, timelines do not
    return entry


def may_see(call: Call, event: IssueEvent) -> bool:
    """Whether what an event came from may be seen."""
    source = event.about.get("source")
    return source is None or access.sees(call.token, source.repository)
