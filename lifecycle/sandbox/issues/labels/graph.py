"""GraphQL's mutations of labels, and of the labels of issues and pull requests."""

from __future__ import annotations

from lifecycle.sandbox.issues.labels import actions as labels
from lifecycle.sandbox.issues.state import IssueTables, Label
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.changing import (
    Given,
    Payload,
    all_meant,
    demand,
    half_to_triage,
    meant,
    mutation,
    unprocessable,
)


@mutation("labelable")
def add_labels_to_labelable(call: Call, wanted: Given) -> Payload:
    issue, subject = half_to_triage(call, wanted["labelableId"])
    labels.add(issue, all_meant(call, wanted["labelIds"], Label), call.viewer)
    return {"labelable": subject}


@mutation("labelable")
def remove_labels_from_labelable(call: Call, wanted: Given) -> Payload:
    issue, subject = half_to_triage(call, wanted["labelableId"])
    labels.remove(issue, all_meant(call, wanted["labelIds"], Label), call.viewer)
    return {"labelable": subject}


@mutation("labelable")
def clear_labels_from_labelable(call: Call, wanted: Given) -> Payload:
    issue, subject = half_to_triage(call, wanted["labelableId"])
    labels.replace(issue, [], call.viewer)
    return {"labelable": subject}


@mutation("label", takes="description")
def create_label(call: Call, wanted: Given) -> Payload:
    repo = meant(call, wanted["repositoryId"], Repository)
    demand(call, repo, may=repo.can_push(call.viewer))
    if wanted["name"].lower() in IssueTables.of(repo).labels:
        raise unprocessable("Name has already been taken")
    label = labels.make(
        repo, wanted["name"], color=wanted["color"], description=wanted.get("description")
    )
    return {"label": label}


@mutation("label", takes="name color description")
def update_label(call: Call, wanted: Given) -> Payload:
    """Change a label; issues keep it under its new name."""
    label, repo = _label(call, wanted)
    name = wanted.get("name")
    if name is not None and IssueTables.of(repo).labels.get(name.lower(), label) is not label:
        raise unprocessable("Name has already been taken")
    labels.edit(
        repo, label, name=name, color=wanted.get("color"), description=wanted.get("description")
    )
    return {"label": label}


@mutation()
def delete_label(call: Call, wanted: Given) -> Payload:
    """Delete a label, also from every issue."""
    label, repo = _label(call, wanted)
    labels.delete(repo, label)
    return {}


def _label(call: Call, wanted: Given) -> tuple[Label, Repository]:
    label = meant(call, wanted["id"], Label)
    if label.repository is None:
        raise unprocessable("The label has no repository.")
    demand(call, label.repository, may=label.repository.can_push(call.viewer))
    return label, label.repository
