"""Create, copy, change, delete and link whole boards.

Source:
https://docs.github.com/issues/planning-and-tracking-with-projects/creating-projects/creating-a-project
"""

from __future__ import annotations

from dataclasses import replace

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.boards.actions import BoardRefused, add_draft
from lifecycle.sandbox.boards.fields import PREFIXES, add_field
from lifecycle.sandbox.boards.state import BoardTables, DraftIssue, Field, FieldType, Project
from lifecycle.sandbox.repositories.state import Repository, World

BUILT_IN: tuple[tuple[str, FieldType], ...] = (
    ("Title", "TITLE"),
    ("Assignees", "ASSIGNEES"),
    ("Status", "SINGLE_SELECT"),
    ("Labels", "LABELS"),
    ("Linked pull requests", "LINKED_PULL_REQUESTS"),
    ("Milestone", "MILESTONE"),
    ("Repository", "REPOSITORY"),
    ("Reviewers", "REVIEWERS"),
    ("Parent issue", "PARENT_ISSUE"),
    ("Sub-issues progress", "SUB_ISSUES_PROGRESS"),
)
STATUS = (("Todo", "GREEN"), ("In Progress", "YELLOW"), ("Done", "PURPLE"))


def create(world: World, owner: User, title: str, by: User) -> Project:
    """Create a private board with the fields that every new board has.

    Raises:
        BoardRefused: The title is empty.
    """
    project = _bare(world, owner, title, by)
    options = [{"name": name, "color": color} for name, color in STATUS]
    for name, kind in BUILT_IN:
        add_field(world, project, name, kind, options=options if kind == "SINGLE_SELECT" else ())
    return project


def _bare(world: World, owner: User, title: str, by: User) -> Project:
    tables = BoardTables.of(world)
    if not title.strip():
        raise BoardRefused("Title can't be blank")
    number = next(world.serial)
    numbers = [other.number for other in tables.projects if other.owner is owner]
    project = Project(
        node_id("PVT", owner.id, number), number, max(numbers, default=0) + 1, title, owner, by
    )
    tables.projects.append(project)
    world.register(project.id, project)
    return project


def copy(
    world: World, source: Project, owner: User, title: str, by: User, *, with_drafts: bool
) -> Project:
    """Create a board with the fields of another one, and with its drafts if `with_drafts`.

    Raises:
        BoardRefused: The title is empty.
    """
    project = _bare(world, owner, title, by)
    project.readme, project.short_description = source.readme, source.short_description
    fields: dict[str, str] = {}
    for field in source.fields:
        number = next(world.serial)
        key = node_id(PREFIXES.get(field.data_type, "PVTF"), owner.id, number)
        twin = Field(key, number, field.name, field.data_type)
        twin.options = [replace(option) for option in field.options]
        twin.iterations = [replace(iteration) for iteration in field.iterations]
        project.fields.append(twin)
        world.register(key, twin)
        fields[field.id] = key
    drafts = [
        (item, item.content)
        for item in source.items
        if isinstance(item.content, DraftIssue) and not item.archived
    ]
    for item, note in drafts if with_drafts else ():
        card = add_draft(world, project, note.title, note.body or "", note.assignees, by)
        for key, value in item.values.items():
            if key in fields:
                card.give(fields[key], value, by)
    return project


def update(
    project: Project,
    *,
    title: str | None = None,
    description: str | None = None,
    readme: str | None = None,
    closed: bool | None = None,
    public: bool | None = None,
) -> None:
    """Change the given properties of the board; None leaves one unchanged.

    Raises:
        BoardRefused: The title is empty.
    """
    if title is not None and not title.strip():
        raise BoardRefused("Title can't be blank")
    project.title = project.title if title is None else title
    if description is not None:
        project.short_description = description
    if readme is not None:
        project.readme = readme
    if public is not None:
        project.is_public = public
    if closed is not None and closed != (project.closed_at is not None):
        project.closed_at = now() if closed else None
    project.updated_at = now()


def delete(world: World, project: Project) -> None:
    """Delete a board with its cards and drafts; the issues stay."""
    BoardTables.of(world).projects.remove(project)
    world.forget(project.id)
    for field in project.fields:
        world.forget(field.id)
    for item in project.items:
        world.forget(item.id)
        if isinstance(item.content, DraftIssue):
            world.forget(item.content.node_id)


def link(project: Project, repo: Repository) -> None:
    """Link a board to a repository; a second call changes nothing.

    Raises:
        BoardRefused: They have different owners.
    """
    if repo.owner is not project.owner:
        raise BoardRefused("Only projects owned by the same owner as the repository can be linked.")
    if repo not in project.repositories:
        project.repositories.append(repo)


def unlink(project: Project, repo: Repository) -> None:
    """Remove the link of a board to a repository, if there is one."""
    if repo in project.repositories:
        project.repositories.remove(repo)
