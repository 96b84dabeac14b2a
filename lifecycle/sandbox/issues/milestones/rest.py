"""Milestones of a repository."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from lifecycle.sandbox.base.errors import invalid
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.issues import payload as payloads
from lifecycle.sandbox.issues.milestones import actions as milestones
from lifecycle.sandbox.issues.state import IssueTables, Milestone
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import REPO, Call, Reply, Route, created
from lifecycle.sandbox.wire.rest import asking

DOCS = "https://docs.github.com/rest/issues/milestones"
CREATE = f"{DOCS}#create-a-milestone"
UPDATE = f"{DOCS}#update-a-milestone"
FORMS = ("title", "state", "description", "due_on")


def list_milestones(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/milestones, the ones due first at the top."""
    asking.only(call, "state", "sort", "direction")
    state = asking.choice(call, "state", "open", {"open", "closed", "all"}, "Milestone")
    sort = asking.choice(call, "sort", "due_on", {"due_on", "completeness"}, "Milestone")
    direction = asking.choice(call, "direction", "asc", {"asc", "desc"}, "Milestone")
    counts = milestones.counts(repo)

    def completeness(one: Milestone) -> tuple[float, int]:
        opened, closed = counts[one.id]
        return (closed / (opened + closed) if opened + closed else 0.0, one.number)

    def due(one: Milestone) -> tuple[bool, float, int]:
        return (one.due_on is None, one.due_on.timestamp() if one.due_on else 0.0, one.number)

    key: Callable[[Milestone], Any] = completeness if sort == "completeness" else due
    found = [one for one in IssueTables.of(repo).milestones.values() if state in {"all", one.state}]
    found.sort(key=key, reverse=direction == "desc")
    return call.paged(found, payloads.milestone, repo)


def _milestone(repo: Repository, number: int) -> Milestone:
    tables = IssueTables.of(repo)
    if number not in tables.milestones:
        raise asking.not_found(f"{DOCS}#get-a-milestone")
    return tables.milestones[number]


def get_milestone(call: Call, repo: Repository, number: int) -> Reply:
    """GET /repos/O/R/milestones/N."""
    return Reply(200, payloads.milestone(call, repo, _milestone(repo, number)))


def create_milestone(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/milestones."""
    asking.demand_push(call, repo, CREATE)
    asking.fields(call, *FORMS)
    title = asking.needed(call, "title", str, CREATE)
    _check_title(repo, title, None, CREATE)
    description = asking.typed(call, "description", str, CREATE)
    due = _due(call, CREATE)
    state = _state(call, CREATE)
    made = milestones.make(repo, call.viewer, title, description=description, due_on=due)
    milestones.set_state(made, "closed" if state == "closed" else "open")
    return created(payloads.milestone(call, repo, made))


def _check_title(repo: Repository, title: str, own: Milestone | None, documentation: str) -> None:
    if not title.strip():
        error = {"resource": "Milestone", "code": "missing_field", "field": "title"}
        raise invalid(documentation, error)
    if milestones.titled(repo, title) not in {None, own}:
        error = {"resource": "Milestone", "code": "already_exists", "field": "title"}
        raise invalid(documentation, error)


def _due(call: Call, documentation: str) -> datetime | None:
    text = asking.typed(call, "due_on", str, documentation)
    return asking.moment(text, "due_on", "Milestone", documentation) if text else None


def _state(call: Call, documentation: str) -> str | None:
    state: str | None = asking.typed(call, "state", str, documentation)
    if state not in {None, "open", "closed"}:
        raise invalid(documentation, {"resource": "Milestone", "code": "invalid", "field": "state"})
    return state


def edit_milestone(call: Call, repo: Repository, number: int) -> Reply:
    """PATCH /repos/O/R/milestones/N: what is given changes."""
    asking.demand_push(call, repo, UPDATE)
    asking.fields(call, *FORMS)
    found = _milestone(repo, number)
    title = asking.typed(call, "title", str, UPDATE)
    if title is not None:
        _check_title(repo, title, found, UPDATE)
    description, due = asking.typed(call, "description", str, UPDATE), _due(call, UPDATE)
    state = _state(call, UPDATE)
    if title is not None:
        found.title = title
    if "description" in call.body:
        found.description = description
    if "due_on" in call.body:
        found.due_on = due
    if state is not None:
        milestones.set_state(found, "closed" if state == "closed" else "open")
    found.updated_at = now()
    return Reply(200, payloads.milestone(call, repo, found))


def delete_milestone(call: Call, repo: Repository, number: int) -> Reply:
    """DELETE /repos/O/R/milestones/N; its issues are in none."""
    asking.demand_push(call, repo, f"{DOCS}#delete-a-milestone")
    milestones.delete(repo, _milestone(repo, number))
    return Reply(204, None)


def list_milestone_labels(call: Call, repo: Repository, number: int) -> Reply:
    """GET /repos/O/R/milestones/N/labels: those of its issues, each once."""
    asking.only(call)
    wanted = _milestone(repo, number)
    inside = [one for one in IssueTables.of(repo).issues.values() if one.milestone is wanted]
    found = {label.id: label for issue in inside for label in issue.labels}
    return call.paged(list(found.values()), payloads.label, repo)


MILESTONE = f"{REPO}/milestones/<int:number>"
ROUTES = (
    Route("GET", f"{REPO}/milestones", list_milestones),
    Route("POST", f"{REPO}/milestones", create_milestone, "issues:write"),
    Route("GET", MILESTONE, get_milestone),
    Route("PATCH", MILESTONE, edit_milestone, "issues:write"),
    Route("DELETE", MILESTONE, delete_milestone, "issues:write"),
    Route("GET", f"{MILESTONE}/labels", list_milestone_labels),
)
