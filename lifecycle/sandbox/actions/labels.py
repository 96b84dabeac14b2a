"""Labels of a repository."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from lifecycle.sandbox.state.issues import Label

if TYPE_CHECKING:
    from lifecycle.sandbox.state.repositories import Repository

DEFAULTS = {"bug", "documentation", "enhancement"}


def make(
    repo: Repository, name: str, *, color: str | None = None, description: str | None = None
) -> Label:
    """Add a label; without a colour it gets one that follows from its name."""
    number, node = repo.new_id("LA")
    shade = color or hashlib.sha256(name.encode()).hexdigest()[:6]
    label = Label(number, node, name, shade.lower(), description, name in DEFAULTS)
    repo.labels[name.lower()] = label
    repo.world.register(node, label)
    return label


def named(repo: Repository, name: str) -> Label:
    """The label of that name, made if there is none, as GitHub does when an issue is given it."""
    return repo.labels.get(name.lower()) or make(repo, name)
