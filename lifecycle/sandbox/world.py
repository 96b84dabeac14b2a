"""Makes a world from a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifecycle.sandbox.gitrepo import BareRepository, Signature
from lifecycle.sandbox.ids import node_id, option_id
from lifecycle.sandbox.state import (
    Field,
    Issue,
    Item,
    Option,
    OwnerKind,
    Project,
    Token,
    User,
    World,
    now,
)

if TYPE_CHECKING:
    from pathlib import Path

    from lifecycle.sandbox.seed import Seed, SeedField, SeedIssue, SeedProject


def make_world(seed: Seed, folder: Path) -> World:
    """Build the world that a seed describes, with its bare repository below `folder`.

    Raises:
        SandboxError: git is missing or too old.
    """
    repository = seed.repository
    owner = User(9_001, repository.owner, repository.owner, repository.owner_kind, "admin")
    git = BareRepository(
        folder / repository.owner / f"{repository.name}.git",
        default_branch=repository.default_branch,
    )
    world = World(
        owner=owner,
        name=repository.name,
        description=repository.description,
        default_branch=repository.default_branch,
        git=git,
        plans=tuple(seed.checks),
    )
    _people(world, seed)
    author = next(user for user in world.users.values() if user.kind == "user")
    git.commit_files(
        world.default_branch, repository.files, "Initial commit", signature(author), parent=None
    )
    world.heads = git.refs()
    for issue in seed.issues:
        world.issues[issue.number] = _issue(world, issue, author)
    if seed.project:
        world.project = _project(world, seed.project)
    return world


def signature(user: User) -> Signature:
    """How a user signs commits now."""
    return Signature(user.name, f"{user.id}+{user.login}@users.noreply.github.com", now())


def new_option(field: Field, name: str, turn: int) -> Option:
    """An option of a field; another `turn` gives another id."""
    return Option(option_id(field.id, name, turn), name)


def _people(world: World, seed: Seed) -> None:
    world.users[world.owner.login.lower()] = world.owner
    for number, user in enumerate(seed.users, start=583_231):
        key = user.login.lower()
        made = User(number, user.login, user.name or user.login, "user", user.role)
        if key == world.owner.login.lower():
            world.owner = made
        world.users[key] = made
    for token in seed.tokens:
        world.tokens[token.token] = Token(
            token.token, world.users[token.user.lower()], token.kind, frozenset(token.scopes)
        )


def _issue(world: World, seed: SeedIssue, author: User) -> Issue:
    number, node = world.new_id("I")
    made = now()
    closed = seed.state == "closed"
    writer = world.user(seed.author) if seed.author else author
    return Issue(
        id=number,
        node_id=node,
        number=seed.number,
        title=seed.title,
        body=seed.body,
        author=writer or author,
        created_at=made,
        updated_at=made,
        state=seed.state,
        state_reason=seed.state_reason or ("completed" if closed else None),
        labels=list(seed.labels),
        assignees=[user for login in seed.assignees if (user := world.user(login))],
        closed_at=made if closed else None,
        closed_by=(writer or author) if closed else None,
    )


def _project(world: World, seed: SeedProject) -> Project:
    owner = world.owner
    if seed.owner and seed.owner.lower() != owner.login.lower():
        known = world.user(seed.owner)
        kind: OwnerKind = seed.owner_kind or "organization"
        owner = known or User(9_002, seed.owner, seed.owner, kind, "admin")
        world.users[owner.login.lower()] = owner
    project = Project(node_id("PVT", owner.id, 800_001), seed.number, seed.title, owner)
    project.fields = [_field(owner, number, one) for number, one in enumerate(seed.fields)]
    for item in seed.items:
        card = add_item(world, project, world.issues[item.issue])
        card.archived = item.archived
        for name, value in item.values.items():
            column = next(field for field in project.fields if field.name == name)
            ids = {option.name: option.id for option in column.options}
            card.values[column.id] = ids.get(value, value)
    return project


def _field(owner: User, number: int, seed: SeedField) -> Field:
    prefix = "PVTSSF" if seed.type == "SINGLE_SELECT" else "PVTF"
    field = Field(node_id(prefix, owner.id, 810_001 + number), seed.name, seed.type)
    field.options = [new_option(field, name, 0) for name in seed.options]
    return field


def add_item(world: World, project: Project, issue: Issue) -> Item:
    """The card of an issue on the board, made if there is none."""
    found = project.item_of(issue)
    if found is None:
        number = next(world.serial)
        found = Item(node_id("PVTI", project.owner.id, number), issue)
        project.items.append(found)
    return found
