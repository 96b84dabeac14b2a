"""Makes a world from a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifecycle.sandbox.actions import boards, labels
from lifecycle.sandbox.ids import node_id
from lifecycle.sandbox.state.accounts import Token, User
from lifecycle.sandbox.state.boards import Field, Project
from lifecycle.sandbox.state.issues import Issue
from lifecycle.sandbox.state.repositories import Repository
from lifecycle.sandbox.state.times import now
from lifecycle.sandbox.state.world import World

if TYPE_CHECKING:
    from pathlib import Path

    from lifecycle.sandbox.seed import Seed, SeedField, SeedIssue, SeedProject
    from lifecycle.sandbox.state.accounts import OwnerKind


def make_world(seed: Seed, folder: Path) -> World:
    """Build the world that a seed describes; bare repositories come below `folder`.

    Raises:
        SandboxError: git is missing or too old.
    """
    world = World(folder)
    owner = _people(world, seed)
    given = seed.repository
    repo = Repository(
        700_001,
        world,
        owner,
        given.name,
        given.description,
        given.default_branch,
        files=dict(given.files),
        plans=tuple(seed.checks),
    )
    world.repositories[repo.key] = repo
    world.register(repo.node_id, repo)
    author = next(user for user in world.users.values() if user.kind == "user")
    for issue in seed.issues:
        _issue(repo, issue, author)
    if seed.project:
        world.projects.append(_project(repo, seed.project))
    repo.heads = repo.git.refs()
    return world


def _people(world: World, seed: Seed) -> User:
    """Everybody, and the owner of the repository among them."""
    given = seed.repository
    owner = User(9_001, given.owner, given.owner, given.owner_kind, "admin")
    _join(world, owner)
    for number, user in enumerate(seed.users, start=583_231):
        made = User(number, user.login, user.name or user.login, "user", user.role)
        if made.login.lower() == owner.login.lower():
            world.forget(owner.node_id)
            owner = made
        _join(world, made)
    for token in seed.tokens:
        world.tokens[token.token] = Token(
            token.token, world.users[token.user.lower()], token.kind, frozenset(token.scopes)
        )
    return owner


def _join(world: World, user: User) -> None:
    world.users[user.login.lower()] = user
    world.register(user.node_id, user)


def _issue(repo: Repository, seed: SeedIssue, author: User) -> None:
    number, node = repo.new_id("I")
    made = now()
    closed = seed.state == "closed"
    writer = (repo.world.user(seed.author) if seed.author else None) or author
    people = [repo.world.user(login) for login in seed.assignees]
    issue = Issue(
        number,
        node,
        repo,
        seed.number,
        seed.title,
        seed.body,
        writer,
        made,
        made,
        state=seed.state,
        state_reason=seed.state_reason or ("completed" if closed else None),
        labels=[labels.named(repo, name) for name in seed.labels],
        assignees=[user for user in people if user],
        closed_at=made if closed else None,
        closed_by=writer if closed else None,
    )
    repo.issues[issue.number] = issue
    repo.last_number = max(repo.last_number, issue.number)
    repo.world.register(node, issue)


def _project(repo: Repository, seed: SeedProject) -> Project:
    world, owner = repo.world, repo.owner
    if seed.owner and seed.owner.lower() != owner.login.lower():
        kind: OwnerKind = seed.owner_kind or "organization"
        owner = world.user(seed.owner) or User(9_002, seed.owner, seed.owner, kind, "admin")
        _join(world, owner)
    project = Project(
        node_id("PVT", owner.id, 800_001), 800_001, seed.number, seed.title, owner,
        repositories=[repo],
    )  # fmt: skip
    world.register(project.id, project)
    project.fields = [_field(project, number, one) for number, one in enumerate(seed.fields)]
    for item in seed.items:
        card = boards.add_item(world, project, repo.issues[item.issue], repo.owner)
        card.archived = item.archived
        for name, value in item.values.items():
            column = next(field for field in project.fields if field.name == name)
            ids = {option.name: option.id for option in column.options}
            card.values[column.id] = ids.get(value, value)
    return project


def _field(project: Project, number: int, seed: SeedField) -> Field:
    prefix = "PVTSSF" if seed.type == "SINGLE_SELECT" else "PVTF"
    field = Field(
        node_id(prefix, project.owner.id, 810_001 + number), 810_001 + number, seed.name, seed.type
    )
    field.options = [boards.new_option(field, name, 0) for name in seed.options]
    return field
