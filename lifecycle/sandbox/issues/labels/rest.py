"""Labels of a repository, and of its issues."""

from __future__ import annotations

import re

from lifecycle.sandbox.base.errors import ApiError, invalid
from lifecycle.sandbox.issues import payload as payloads
from lifecycle.sandbox.issues.labels import actions as labels
from lifecycle.sandbox.issues.rest import ISSUE, known_labels, label_names
from lifecycle.sandbox.issues.state import Issue, IssueTables, Label
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import REPO, Call, Reply, Route, created
from lifecycle.sandbox.wire.rest import asking

DOCS = "https://docs.github.com/rest/issues/labels"
COLOR = re.compile(r"[0-9A-Fa-f]{6}|[0-9A-Fa-f]{3}")
LONGEST_NAME, LONGEST_DESCRIPTION = 50, 100
FORMS = ("name", "color", "description")


def list_labels(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/labels, by name."""
    asking.only(call)
    found = sorted(IssueTables.of(repo).labels.values(), key=lambda one: one.name.lower())
    return call.paged(found, payloads.label, repo)


def _label(repo: Repository, name: str) -> Label:
    tables = IssueTables.of(repo)
    if name.lower() not in tables.labels:
        raise asking.not_found(f"{DOCS}#get-a-label")
    return tables.labels[name.lower()]


def get_label(call: Call, repo: Repository, label: str) -> Reply:
    """GET /repos/O/R/labels/NAME."""
    return Reply(200, payloads.label(call, repo, _label(repo, label)))


def create_label(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/labels."""
    documentation = f"{DOCS}#create-a-label"
    asking.demand_push(call, repo, documentation)
    asking.fields(call, *FORMS)
    name = asking.needed(call, "name", str, documentation)
    color, description = _looks(call, documentation)
    check_name(repo, name, None, documentation)
    made = labels.make(repo, name, color=color or labels.GREY, description=description)
    return created(payloads.label(call, repo, made))


def check_name(repo: Repository, name: str, own: Label | None, documentation: str) -> None:
    """422 for a name that is empty, too long, or another label's."""
    if not name.strip():
        error = {"resource": "Label", "code": "missing_field", "field": "name"}
        raise invalid(documentation, error)
    asking.short(name, "name", LONGEST_NAME, "Label", documentation)
    if IssueTables.of(repo).labels.get(name.lower(), own) is not own:
        error = {"resource": "Label", "code": "already_exists", "field": "name"}
        raise invalid(documentation, error)


def _looks(call: Call, documentation: str) -> tuple[str | None, str | None]:
    color = asking.typed(call, "color", str, documentation)
    if color is not None and not COLOR.fullmatch(color):
        raise invalid(documentation, {"resource": "Label", "code": "invalid", "field": "color"})
    description = asking.typed(call, "description", str, documentation)
    if description is not None:
        asking.short(description, "description", LONGEST_DESCRIPTION, "Label", documentation)
    return color, description


def edit_label(call: Call, repo: Repository, label: str) -> Reply:
    """PATCH /repos/O/R/labels/NAME; a new name goes with it to every issue."""
    documentation = f"{DOCS}#update-a-label"
    asking.demand_push(call, repo, documentation)
    asking.fields(call, "new_name", *FORMS)
    found = _label(repo, label)
    key = "new_name" if "new_name" in call.body else "name"
    name = asking.typed(call, key, str, documentation)
    color, description = _looks(call, documentation)
    if name is not None:
        check_name(repo, name, found, documentation)
    labels.edit(repo, found, name=name, color=color, description=description)
    return Reply(200, payloads.label(call, repo, found))


def delete_label(call: Call, repo: Repository, label: str) -> Reply:
    """DELETE /repos/O/R/labels/NAME, which takes it off every issue."""
    asking.demand_push(call, repo, f"{DOCS}#delete-a-label")
    labels.delete(repo, _label(repo, label))
    return Reply(204, None)


def _shown(call: Call, issue: Issue, *, paged: bool = False) -> Reply:
    repo = issue.repository
    found, headers = call.page(issue.labels) if paged else (issue.labels, {})
    return Reply(200, [payloads.label(call, repo, one) for one in found], headers)


def list_issue_labels(call: Call, repo: Repository, number: int) -> Reply:
    """GET /repos/O/R/issues/N/labels."""
    asking.only(call)
    return _shown(call, asking.issue(repo, number), paged=True)


def _given(call: Call, documentation: str) -> list[str]:
    """The names in a body that is a list, or an object with one under `labels`."""
    if call.listed is not None:
        return label_names(call.listed, documentation)
    asking.fields(call, "labels")
    return label_names(asking.typed(call, "labels", list, documentation) or [], documentation)


def add_labels(call: Call, repo: Repository, number: int) -> Reply:
    """POST /repos/O/R/issues/N/labels: a union; a label that is not there comes into being."""
    documentation = f"{DOCS}#add-labels-to-an-issue"
    issue = asking.issue(repo, number)
    asking.demand_triage(call, repo, documentation)
    labels.add(issue, known_labels(repo, _given(call, documentation)), call.viewer)
    return _shown(call, issue)


def set_labels(call: Call, repo: Repository, number: int) -> Reply:
    """PUT /repos/O/R/issues/N/labels: these and no others; an empty list takes all off."""
    documentation = f"{DOCS}#set-labels-for-an-issue"
    issue = asking.issue(repo, number)
    asking.demand_triage(call, repo, documentation)
    labels.replace(issue, known_labels(repo, _given(call, documentation)), call.viewer)
    return _shown(call, issue)


def clear_labels(call: Call, repo: Repository, number: int) -> Reply:
    """DELETE /repos/O/R/issues/N/labels."""
    issue = asking.issue(repo, number)
    asking.demand_triage(call, repo, f"{DOCS}#remove-all-labels-from-an-issue")
    labels.replace(issue, [], call.viewer)
    return Reply(204, None)


def remove_label(call: Call, repo: Repository, number: int, label: str) -> Reply:
    """DELETE /repos/O/R/issues/N/labels/NAME; 404 where the issue has it not."""
    documentation = f"{DOCS}#remove-a-label-from-an-issue"
    issue = asking.issue(repo, number)
    asking.demand_triage(call, repo, documentation)
    found = IssueTables.of(repo).labels.get(label.lower())
    if found is None or found not in issue.labels:
        raise ApiError(404, "Label does not exist", documentation=documentation)
    labels.remove(issue, [found], call.viewer)
    return _shown(call, issue)


TAKE_LISTS = {add_labels, set_labels}
"""Whose body may be a JSON array; of any other it has to be an object."""
LABEL = f"{REPO}/labels/<path:label>"
ROUTES = (
    Route("GET", f"{REPO}/labels", list_labels),
    Route("POST", f"{REPO}/labels", create_label, "issues:write"),
    Route("GET", LABEL, get_label),
    Route("PATCH", LABEL, edit_label, "issues:write"),
    Route("DELETE", LABEL, delete_label, "issues:write"),
    Route("GET", f"{ISSUE}/labels", list_issue_labels),
    Route("POST", f"{ISSUE}/labels", add_labels, "issues:write"),
    Route("PUT", f"{ISSUE}/labels", set_labels, "issues:write"),
    Route("DELETE", f"{ISSUE}/labels", clear_labels, "issues:write"),
    Route("DELETE", f"{ISSUE}/labels/<path:label>", remove_label, "issues:write"),
)
