"""Change the labels of a repository, and those of its issues."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.issues.actions import note
from lifecycle.sandbox.issues.state import Issue, IssueTables, Label
from lifecycle.sandbox.repositories.state import Repository

DEFAULTS = {
    "bug", "documentation", "duplicate", "enhancement", "good first issue", "help wanted",
    "invalid", "question", "wontfix",
}  # fmt: skip
"""The labels of each new repository.
Source:
https://docs.github.com/issues/using-labels-and-milestones-to-track-work/managing-labels#about-default-labels
"""
GREY = "ededed"
"""The colour of a label that is made because somebody gives it to an issue."""


def make(
    repo: Repository, name: str, *, color: str | None = None, description: str | None = None
) -> Label:
    """Add a label; without a colour, it gets one derived from its name."""
    number, node = repo.new_id("LA")
    shade = color or hashlib.sha256(name.encode()).hexdigest()[:6]
    label = Label(number, node, name, shade.lower(), description, name in DEFAULTS, repository=repo)
    IssueTables.of(repo).labels[name.lower()] = label
    repo.world.register(node, label)
    return label


def named(repo: Repository, name: str) -> Label:
    """The label of that name, made if there is none, as GitHub does when it is given to an issue."""
    return IssueTables.of(repo).labels.get(name.lower()) or make(repo, name)


def edit(
    repo: Repository,
    label: Label,
    *,
    name: str | None = None,
    color: str | None = None,
    description: str | None = None,
) -> None:
    """Change the given values of a label; issues keep the label under its new name."""
    tables = IssueTables.of(repo)
    if name is not None and name != label.name:
        del tables.labels[label.name.lower()]
        tables.labels[name.lower()] = label
        label.name = name
    if color is not None:
        label.color = color.lower()
    if description is not None:
        label.description = description
    label.updated_at = now()


def delete(repo: Repository, label: Label) -> None:
    """Delete a label, also from every issue."""
    tables = IssueTables.of(repo)
    del tables.labels[label.name.lower()]
    repo.world.forget(label.node_id)
    for issue in tables.issues.values():
        if label in issue.labels:
            issue.labels.remove(label)


def add(issue: Issue, labels: Iterable[Label], by: User) -> None:
    """Add labels to those of an issue."""
    for label in labels:
        if label not in issue.labels:
            issue.labels.append(label)
            note(issue, by, "labeled", label=label)


def remove(issue: Issue, labels: Iterable[Label], by: User) -> None:
    """Remove labels from an issue; labels that it does not have are ignored."""
    for label in labels:
        if label in issue.labels:
            issue.labels.remove(label)
            note(issue, by, "unlabeled", label=label)


def replace(issue: Issue, labels: Iterable[Label], by: User) -> None:
    """Replace the labels of an issue."""
    wanted = list(labels)
    remove(issue, [label for label in issue.labels if label not in wanted], by)
    add(issue, wanted, by)
