"""Make, fork, rename and delete repositories."""

from __future__ import annotations

import re

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.boards.state import BoardTables
from lifecycle.sandbox.issues.labels import actions as labels
from lifecycle.sandbox.issues.state import IssueTables
from lifecycle.sandbox.pulls.state import PullTables
from lifecycle.sandbox.repositories.state import Repository, Visibility, World

NAME = re.compile(r"[^A-Za-z0-9._-]+")


def clean(name: str) -> str:
    """The name that GitHub makes of a requested one: other characters become a dash.

    Source: https://docs.github.com/rest/repos/repos#create-a-repository-for-the-authenticated-user
    """
    return NAME.sub("-", name.strip()).removesuffix(".git")[:100]


def is_taken(world: World, owner: User, name: str) -> bool:
    """Whether the owner has a repository of that name, ignoring case."""
    return world.repository(f"{owner.login}/{name}") is not None


def make(
    world: World,
    owner: User,
    name: str,
    *,
    description: str | None = None,
    visibility: Visibility = "public",
    is_empty: bool = True,
) -> Repository:
    """Make a repository with the default labels; unless `is_empty`, with a first commit."""
    repo = Repository(
        _next_id(world), world, owner, name, description, "main", visibility=visibility
    )
    repo.files = {} if is_empty else {"README.md": f"# {name}\n"}
    _join(world, repo)
    for label in sorted(labels.DEFAULTS):
        labels.make(repo, label)
    return repo


def _next_id(world: World) -> int:
    return next(world.serial)


def _join(world: World, repo: Repository) -> None:
    world.repositories[repo.key] = repo
    world.renamed.pop(repo.key, None)
    world.register(repo.node_id, repo)


def fork(source: Repository, owner: User, name: str, *, default_only: bool = False) -> Repository:
    """Fork a repository with its branches, or return the owner's existing fork.

    Source: https://docs.github.com/rest/repos/forks#create-a-fork
    """
    existing = next((candidate for candidate in source.forks if candidate.owner is owner), None)
    if existing is not None:
        return existing
    world = source.world
    new_fork = Repository(
        _next_id(world), world, owner, name, source.description, source.default_branch,
        visibility=source.visibility, has_issues=False, parent=source,
    )  # fmt: skip
    source.forks.append(new_fork)
    _join(world, new_fork)
    if default_only:
        for ref, sha in new_fork.git.refs().items():
            if ref != f"refs/heads/{new_fork.default_branch}":
                new_fork.git.delete(ref, sha)
    new_fork.heads = new_fork.git.refs()
    return new_fork


def rename(repo: Repository, name: str) -> None:
    """Rename a repository; the old name redirects until another repository takes it."""
    world, before = repo.world, repo.key
    repo.name = name
    if repo.key != before:
        renamed = {(repo.key if key == before else key): r for key, r in world.repositories.items()}
        world.repositories.clear()
        world.repositories.update(renamed)
        world.renamed[before] = repo
        world.renamed.pop(repo.key, None)
    repo.updated_at = now()


def delete(repo: Repository) -> None:
    """Delete a repository with its issues, pull requests and cards; its forks lose their parent."""
    issue_tables = IssueTables.of(repo)
    world = repo.world
    del world.repositories[repo.key]
    for former in [key for key, target in world.renamed.items() if target is repo]:
        del world.renamed[former]
    for child in repo.forks:
        child.parent = None
    if repo.parent is not None:
        repo.parent.forks.remove(repo)
    for project in BoardTables.of(world).projects:
        cards = (project.item_of(issue) for issue in issue_tables.issues.values())
        for card in [item for item in cards if item is not None]:
            project.take(card)
            world.forget(card.id)
        if repo in project.repositories:
            project.repositories.remove(repo)
    for issue in issue_tables.issues.values():
        world.forget(issue.node_id)
    for pull in PullTables.of(repo).pulls.values():
        world.forget(pull.node_id)
    world.forget(repo.node_id)
