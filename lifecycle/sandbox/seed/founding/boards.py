"""Boards of a seed, with their fields and cards."""

from __future__ import annotations

from lifecycle.sandbox.base.errors import SeedError
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.boards import actions as boards
from lifecycle.sandbox.boards.state import (
    BoardTables,
    DraftIssue,
    Field,
    Item,
    Iteration,
    Mark,
    Option,
    Project,
)
from lifecycle.sandbox.issues.state import Issue, IssueTables
from lifecycle.sandbox.repositories.state import Repository, World
from lifecycle.sandbox.seed.form import SeedDraft, SeedField, SeedItem, SeedMark, SeedProject
from lifecycle.sandbox.seed.references import account, account_or_none, grown, moment

FIRST_ID = 800_001
FIELDS_FROM = 810_001
FIELD_PREFIXES = {"SINGLE_SELECT": "PVTSSF", "ITERATION": "PVTIF"}


def found(world: World, seed: SeedProject) -> None:
    """Make a board of a seed in its world, with fields and cards."""
    tables = BoardTables.of(world)
    owner = account(world, seed.owner) if seed.owner else world.home.owner
    number = seed.database_id or FIRST_ID + len(tables.projects)
    project = grown(
        Project, seed, id=seed.id or node_id("PVT", owner.id, number), database_id=number,
        owner=owner, creator=account_or_none(world, seed.creator),
        repositories=_linked(world, seed), fields=[], items=[],
        collaborators={login.lower(): role for login, role in seed.collaborators.items()},
    )  # fmt: skip
    tables.projects.append(project)
    world.register(project.id, project)
    first = FIELDS_FROM + 100 * (len(tables.projects) - 1)
    for place, field in enumerate(seed.fields):
        _field(world, project, field, first + place)
    for item in seed.items:
        _item(world, project, item)


def _linked(world: World, seed: SeedProject) -> list[Repository]:
    """The repositories linked to a board: those that the seed names, or the world's first."""
    if seed.repositories is None:
        return [world.home]
    repositories = [world.repository(name) for name in seed.repositories]
    if None in repositories:
        raise SeedError(f"The board {seed.title!r} is linked to a repository that is not there.")
    return [repo for repo in repositories if repo]


def _field(world: World, project: Project, seed: SeedField, number: int) -> None:
    number = seed.number or number
    prefix = FIELD_PREFIXES.get(seed.type, "PVTF")
    field = grown(
        Field, seed, id=seed.id or node_id(prefix, project.owner.id, number), number=number,
        data_type=seed.type, options=[], iterations=[],
    )  # fmt: skip
    for option in seed.options:
        if isinstance(option, str):
            field.options.append(boards.new_option(field, option, 0))
        else:
            fresh = boards.new_option(field, option.name, 0)
            field.options.append(grown(Option, option, id=option.id or fresh.id))
    for span in seed.iterations:
        key = span.id or boards.new_option(field, span.title, 0).id
        field.iterations.append(grown(Iteration, span, id=key))
    project.fields.append(field)
    world.register(field.id, field)


def _item(world: World, project: Project, seed: SeedItem) -> None:
    content: Issue | DraftIssue
    if seed.draft is not None:
        content = _draft(world, project, seed.draft)
    else:
        repo = world.repository(seed.repository) if seed.repository else world.home
        if repo is None or seed.issue not in IssueTables.of(repo).issues:
            raise SeedError(f"The board {project.title!r} has a card for no issue.")
        content = IssueTables.of(repo).issues[seed.issue]
    number = seed.number or next(world.serial)
    creator = account_or_none(world, seed.creator) or world.home.owner
    item = grown(
        Item, seed, id=seed.id or node_id("PVTI", project.owner.id, number), number=number,
        project=project, content=content, creator=creator, values={}, marks={},
    )  # fmt: skip
    for name, value in seed.values.items():
        field = next(column for column in project.fields if column.name == name)
        ids = {option.name: option.id for option in field.options}
        ids |= {iteration.title: iteration.id for iteration in field.iterations}
        item.values[field.id] = ids.get(str(value), str(value))
        mark = seed.marks.get(name, SeedMark())
        item.marks[field.id] = Mark(
            account_or_none(world, mark.creator) or creator,
            moment(mark.created_at) if mark.created_at else item.created_at,
            moment(mark.updated_at or mark.created_at or item.updated_at),
        )
    project.put(item)
    world.register(item.id, item)


def _draft(world: World, project: Project, seed: SeedDraft) -> DraftIssue:
    number = seed.id or next(world.serial)
    draft = grown(
        DraftIssue, seed, id=number, node_id=node_id("DI", project.owner.id, number),
        creator=account_or_none(world, seed.creator) or world.home.owner,
        assignees=[account(world, login) for login in seed.assignees],
    )  # fmt: skip
    world.register(draft.node_id, draft)
    return draft
