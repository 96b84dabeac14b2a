"""What happens to repositories: made, forked, renamed, deleted."""

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
    """A name as GitHub makes it of what was asked for: other characters become a dash.

    Source: https://docs.github.com/rest/repos/repos#create-a-repository-for-the-authenticated-user
    """
    return NAME.sub("-", name.strip()).removesuffix(".git")[:100]


def is_taken(world: World, owner: User, name: str) -> bool:
    """Whether the owner has a repository of that name, whose case does not matter."""
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
    """A repository with the default labels; with a first commit, or without any."""
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
    """A repository of somebody else's with the same branches, or the one that there is already.

    Source: https://docs.github.com/rest/repos/forks#create-a-fork
    """
    known = next((one for one in source.forks if one.owner is owner), None)
    if known is not None:
        return known
    world = source.world
    made = Repository(
        _next_id(world), world, owner, name, source.description, source.default_branch,
        visibility=source.visibility, has_issues=False, parent=source,
    )  # fmt: skip
    source.forks.append(made)
    _join(world, made)
    if default_only:
        for ref, sha in made.git.refs().items():
            if ref != f"refs/heads/{made.default_branch}":
                made.git.delete(ref, sha)
    made.heads = made.git.refs()
    return made


def rename(repo: Repository, name: str) -> None:
    """Give a repository another name; the former one leads to it until somebody takes it."""
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
    """Delete a repository with all that is in it; its forks stand alone."""
    issue_tables = IssueTables.of(repo)
    world = repo.world
    del world.repositories[repo.key]
    for former in [key for key, there in world.renamed.items() if there is repo]:
        del world.renamed[former]
    for one in repo.forks:
        one.parent = None
    if repo.parent is not None:
        repo.parent.forks.remove(repo)
    for project in BoardTables.of(world).projects:
        cards = (project.item_of(issue) for issue in issue_tables.issues.values())
        for card in [one for one in cards if one is not None]:
            project.take(card)
            world.forget(card.id)
        if repo in project.repositories:
            project.repositories.remove(repo)
    for issue in issue_tables.issues.values():
        world.forget(issue.node_id)
    for pull in PullTables.of(repo).pulls.values():
        world.forget(pull.node_id)
    world.forget(repo.node_id)
