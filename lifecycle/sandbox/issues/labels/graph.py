"""Mutations of labels, and of what bears them: issues and pull requests alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lifecycle.sandbox.issues.labels import actions as labels
from lifecycle.sandbox.issues.state import Issue, IssueTables, Label
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.changing import (
    Given,
    Payload,
    all_meant,
    demand,
    half_meant,
    meant,
    mutations,
    unprocessable,
)


def add_labels(call: Call, wanted: Given) -> Payload:
    """AddLabelsToLabelable."""
    issue, subject = _labelable(call, wanted, "AddLabelsToLabelable")
    labels.add(issue, all_meant(call, wanted["labelIds"], Label), call.viewer)
    return {"labelable": subject}


def remove_labels(call: Call, wanted: Given) -> Payload:
    """RemoveLabelsFromLabelable."""
    issue, subject = _labelable(call, wanted, "RemoveLabelsFromLabelable")
    labels.remove(issue, all_meant(call, wanted["labelIds"], Label), call.viewer)
    return {"labelable": subject}


def clear_labels(call: Call, wanted: Given) -> Payload:
    """ClearLabelsFromLabelable."""
    issue, subject = _labelable(call, wanted, "ClearLabelsFromLabelable")
    labels.replace(issue, [], call.viewer)
    return {"labelable": subject}


def _labelable(call: Call, wanted: Given, action: str) -> tuple[Issue, Any]:
    issue, subject = half_meant(call, wanted["labelableId"])
    demand(call, issue.repository, action, may=issue.repository.can_triage(call.viewer))
    return issue, subject


def create_label(call: Call, wanted: Given) -> Payload:
    """CreateLabel."""
    repo = meant(call, wanted["repositoryId"], Repository)
    demand(call, repo, "CreateLabel", may=repo.can_push(call.viewer))
    if wanted["name"].lower() in IssueTables.of(repo).labels:
        raise unprocessable("Name has already been taken")
    made = labels.make(
        repo, wanted["name"], color=wanted["color"], description=wanted.get("description")
    )
    return {"label": made}


def update_label(call: Call, wanted: Given) -> Payload:
    """updateLabel: issues keep it under its new name."""
    label, repo = _label(call, wanted, "UpdateLabel")
    name = wanted.get("name")
    if name is not None and IssueTables.of(repo).labels.get(name.lower(), label) is not label:
        raise unprocessable("Name has already been taken")
    labels.edit(
        repo, label, name=name, color=wanted.get("color"), description=wanted.get("description")
    )
    return {"label": label}


def delete_label(call: Call, wanted: Given) -> Payload:
    """deleteLabel, which takes it off every issue."""
    label, repo = _label(call, wanted, "DeleteLabel")
    labels.delete(repo, label)
    return {}


def _label(call: Call, wanted: Given, action: str) -> tuple[Label, Repository]:
    label = meant(call, wanted["id"], Label)
    if label.repository is None:
        raise unprocessable("The label has no repository.")
    demand(call, label.repository, action, may=label.repository.can_push(call.viewer))
    return label, label.repository


ACTIONS: dict[str, Callable[[Call, Mapping[str, Any]], dict[str, Any]]] = {
    "addLabelsToLabelable": add_labels,
    "removeLabelsFromLabelable": remove_labels,
    "clearLabelsFromLabelable": clear_labels,
    "createLabel": create_label,
    "updateLabel": update_label,
    "deleteLabel": delete_label,
}
RESOLVERS: dict[str, dict[str, Any]] = {"Mutation": mutations(ACTIONS)}
PLAIN = {
    "AddLabelsToLabelablePayload": "labelable",
    "RemoveLabelsFromLabelablePayload": "labelable",
    "ClearLabelsFromLabelablePayload": "labelable",
    "CreateLabelPayload": "label",
    "UpdateLabelPayload": "label",
    "DeleteLabelPayload": "clientMutationId",
}
INPUTS = {
    "CreateLabelInput": "description",
    "UpdateLabelInput": "name color description",
}
