"""REST's operations on the labels of a repository, and of its issues."""

from __future__ import annotations

import re

from lifecycle.sandbox.base.errors import ApiError, wrong
from lifecycle.sandbox.issues import payload as payloads
from lifecycle.sandbox.issues.labels import actions as labels
from lifecycle.sandbox.issues.rest import ISSUE, known_labels, label_names
from lifecycle.sandbox.issues.state import Issue, IssueTables, Label
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import REPO, Call, Reply, created, route
from lifecycle.sandbox.wire.rest import asking

DOCS = "https://docs.github.com/rest/issues/labels"
COLOR = re.compile(r"[0-9A-Fa-f]{6}|[0-9A-Fa-f]{3}")
LONGEST_NAME, LONGEST_DESCRIPTION = 50, 100
FORMS = ("name", "color", "description")
LABEL = f"{REPO}/labels/<path:label>"


@route("GET", f"{REPO}/labels")
def list_labels(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/labels, by name."""
    asking.only(call)
    by_name = sorted(IssueTables.of(repo).labels.values(), key=lambda label: label.name.lower())
    return call.paged(by_name, payloads.label, repo)


def _label(repo: Repository, name: str) -> Label:
    tables = IssueTables.of(repo)
    if name.lower() not in tables.labels:
        raise asking.not_found(f"{DOCS}#get-a-label")
    return tables.labels[name.lower()]


@route("GET", LABEL)
def get_label(call: Call, repo: Repository, label: str) -> Reply:
    return Reply(200, payloads.label(call, repo, _label(repo, label)))


@route("POST", f"{REPO}/labels", "issues:write")
def create_label(call: Call, repo: Repository) -> Reply:
    asking.demand_push(call, repo)
    asking.fields(call, *FORMS)
    name = asking.needed(call, "name", str)
    color, description = _looks(call)
    check_name(repo, name, None)
    label = labels.make(repo, name, color=color or labels.GREY, description=description)
    return created(payloads.label(call, repo, label))


def check_name(repo: Repository, name: str, own: Label | None) -> None:
    """Raise 422 for a name that is empty, too long, or another label's."""
    if not name.strip():
        raise wrong("Label", "missing_field", "name")
    asking.short(name, "name", LONGEST_NAME, "Label")
    if IssueTables.of(repo).labels.get(name.lower(), own) is not own:
        raise wrong("Label", "already_exists", "name")


def _looks(call: Call) -> tuple[str | None, str | None]:
    color = asking.typed(call, "color", str)
    if color is not None and not COLOR.fullmatch(color):
        raise wrong("Label", "invalid", "color")
    description = asking.typed(call, "description", str)
    if description is not None:
        asking.short(description, "description", LONGEST_DESCRIPTION, "Label")
    return color, description


@route("PATCH", LABEL, "issues:write")
def edit_label(call: Call, repo: Repository, label: str) -> Reply:
    """PATCH /repos/O/R/labels/NAME; issues keep the label under its new name."""
    asking.demand_push(call, repo)
    asking.fields(call, "new_name", *FORMS)
    target = _label(repo, label)
    key = "new_name" if "new_name" in call.body else "name"
    name = asking.typed(call, key, str)
    color, description = _looks(call)
    if name is not None:
        check_name(repo, name, target)
    labels.edit(repo, target, name=name, color=color, description=description)
    return Reply(200, payloads.label(call, repo, target))


@route("DELETE", LABEL, "issues:write")
def delete_label(call: Call, repo: Repository, label: str) -> Reply:
    """DELETE /repos/O/R/labels/NAME, also from every issue."""
    asking.demand_push(call, repo)
    labels.delete(repo, _label(repo, label))
    return Reply(204, None)


def _shown(call: Call, issue: Issue, *, paged: bool = False) -> Reply:
    repo = issue.repository
    page, headers = call.page(issue.labels) if paged else (issue.labels, {})
    return Reply(200, [payloads.label(call, repo, label) for label in page], headers)


@route("GET", f"{ISSUE}/labels")
def list_issue_labels(call: Call, repo: Repository, number: int) -> Reply:
    asking.only(call)
    return _shown(call, asking.issue(repo, number), paged=True)


def _given(call: Call) -> list[str]:
    """The names in a body that is a list, or an object with one under `labels`."""
    if call.listed is not None:
        return label_names(call.listed)
    asking.fields(call, "labels")
    return label_names(asking.typed(call, "labels", list) or [])


@route("POST", f"{ISSUE}/labels", "issues:write")
def add_labels(call: Call, repo: Repository, number: int) -> Reply:
    """POST /repos/O/R/issues/N/labels: adds to its labels; a missing label is made."""
    issue = asking.issue(repo, number)
    asking.demand_triage(call, repo)
    labels.add(issue, known_labels(repo, _given(call)), call.viewer)
    return _shown(call, issue)


@route("PUT", f"{ISSUE}/labels", "issues:write")
def set_labels(call: Call, repo: Repository, number: int) -> Reply:
    """PUT /repos/O/R/issues/N/labels: replaces its labels; an empty list removes all."""
    issue = asking.issue(repo, number)
    asking.demand_triage(call, repo)
    labels.replace(issue, known_labels(repo, _given(call)), call.viewer)
    return _shown(call, issue)


@route("DELETE", f"{ISSUE}/labels", "issues:write")
def clear_labels(call: Call, repo: Repository, number: int) -> Reply:
    issue = asking.issue(repo, number)
    asking.demand_triage(call, repo)
    labels.replace(issue, [], call.viewer)
    return Reply(204, None)


@route(
    "DELETE",
    f"{ISSUE}/labels/<path:label>",
    "issues:write",
)
def remove_label(call: Call, repo: Repository, number: int, label: str) -> Reply:
    """DELETE /repos/O/R/issues/N/labels/NAME; 404 if the issue does not have it."""
    issue = asking.issue(repo, number)
    asking.demand_triage(call, repo)
    target = IssueTables.of(repo).labels.get(label.lower())
    if target is None or target not in issue.labels:
        raise ApiError(404, "Label does not exist")
    labels.remove(issue, [target], call.viewer)
    return _shown(call, issue)


TAKE_LISTS = {add_labels, set_labels}
"""The operations whose body may be a JSON array; every other one takes an object."""
