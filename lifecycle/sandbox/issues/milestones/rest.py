"""REST's operations on the milestones of a repository."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from lifecycle.sandbox.base.errors import wrong
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.issues import payload as payloads
from lifecycle.sandbox.issues.milestones import actions as milestones
from lifecycle.sandbox.issues.state import IssueTables, Milestone
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import REPO, Call, Reply, created, route
from lifecycle.sandbox.wire.rest import asking

DOCS = "https://docs.github.com/rest/issues/milestones"
FORMS = ("title", "state", "description", "due_on")
MILESTONE = f"{REPO}/milestones/<int:number>"


@route("GET", f"{REPO}/milestones")
def list_milestones(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/milestones, by due date, the earliest first."""
    asking.only(call, "state", "sort", "direction")
    state = asking.choice(call, "state", "open", {"open", "closed", "all"}, "Milestone")
    sort = asking.choice(call, "sort", "due_on", {"due_on", "completeness"}, "Milestone")
    direction = asking.choice(call, "direction", "asc", {"asc", "desc"}, "Milestone")
    counts = milestones.counts(repo)

    def completeness(milestone: Milestone) -> tuple[float, int]:
        opened, closed = counts[milestone.id]
        return (closed / (opened + closed) if opened + closed else 0.0, milestone.number)

    def due(milestone: Milestone) -> tuple[bool, float, int]:
        return (
            milestone.due_on is None,
            milestone.due_on.timestamp() if milestone.due_on else 0.0,
            milestone.number,
        )

    key: Callable[[Milestone], Any] = completeness if sort == "completeness" else due
    selection = [
        milestone
        for milestone in IssueTables.of(repo).milestones.values()
        if state in {"all", milestone.state}
    ]
    selection.sort(key=key, reverse=direction == "desc")
    return call.paged(selection, payloads.milestone, repo)


def _milestone(repo: Repository, number: int) -> Milestone:
    tables = IssueTables.of(repo)
    if number not in tables.milestones:
        raise asking.not_found(f"{DOCS}#get-a-milestone")
    return tables.milestones[number]


@route("GET", MILESTONE)
def get_milestone(call: Call, repo: Repository, number: int) -> Reply:
    return Reply(200, payloads.milestone(call, repo, _milestone(repo, number)))


@route("POST", f"{REPO}/milestones", "issues:write")
def create_milestone(call: Call, repo: Repository) -> Reply:
    asking.demand_push(call, repo)
    asking.fields(call, *FORMS)
    title = asking.needed(call, "title", str)
    _check_title(repo, title, None)
    description = asking.typed(call, "description", str)
    due = _due(call)
    state = _state(call)
    milestone = milestones.make(repo, call.viewer, title, description=description, due_on=due)
    milestones.set_state(milestone, "closed" if state == "closed" else "open")
    return created(payloads.milestone(call, repo, milestone))


def _check_title(repo: Repository, title: str, own: Milestone | None) -> None:
    if not title.strip():
        raise wrong("Milestone", "missing_field", "title")
    if milestones.titled(repo, title) not in {None, own}:
        raise wrong("Milestone", "already_exists", "title")


def _due(call: Call) -> datetime | None:
    text = asking.typed(call, "due_on", str)
    return asking.moment(text, "due_on", "Milestone") if text else None


def _state(call: Call) -> str | None:
    state: str | None = asking.typed(call, "state", str)
    if state not in {None, "open", "closed"}:
        raise wrong("Milestone", "invalid", "state")
    return state


@route("PATCH", MILESTONE, "issues:write")
def edit_milestone(call: Call, repo: Repository, number: int) -> Reply:
    """PATCH /repos/O/R/milestones/N: changes the fields that the body has."""
    asking.demand_push(call, repo)
    asking.fields(call, *FORMS)
    milestone = _milestone(repo, number)
    title = asking.typed(call, "title", str)
    if title is not None:
        _check_title(repo, title, milestone)
    description, due = asking.typed(call, "description", str), _due(call)
    state = _state(call)
    if title is not None:
        milestone.title = title
    if "description" in call.body:
        milestone.description = description
    if "due_on" in call.body:
        milestone.due_on = due
    if state is not None:
        milestones.set_state(milestone, "closed" if state == "closed" else "open")
    milestone.updated_at = now()
    return Reply(200, payloads.milestone(call, repo, milestone))


@route("DELETE", MILESTONE, "issues:write")
def delete_milestone(call: Call, repo: Repository, number: int) -> Reply:
    """DELETE /repos/O/R/milestones/N, also from its issues."""
    asking.demand_push(call, repo)
    milestones.delete(repo, _milestone(repo, number))
    return Reply(204, None)


@route("GET", f"{MILESTONE}/labels")
def list_milestone_labels(call: Call, repo: Repository, number: int) -> Reply:
    """GET /repos/O/R/milestones/N/labels: those of its issues, without duplicates."""
    asking.only(call)
    milestone = _milestone(repo, number)
    inside = [
        issue for issue in IssueTables.of(repo).issues.values() if issue.milestone is milestone
    ]
    labels = {label.id: label for issue in inside for label in issue.labels}
    return call.paged(list(labels.values()), payloads.label, repo)
