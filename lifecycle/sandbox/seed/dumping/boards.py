"""Boards as a seed writes them."""

from __future__ import annotations

from typing import Any

from lifecycle.sandbox.boards.state import DraftIssue, Field, Item, Project
from lifecycle.sandbox.seed.form import (
    SeedDraft,
    SeedField,
    SeedItem,
    SeedIteration,
    SeedMark,
    SeedOption,
    SeedProject,
)
from lifecycle.sandbox.seed.references import login, plain


def project(made: Project) -> SeedProject:
    """A board with its fields and cards."""
    return plain(
        SeedProject,
        made,
        owner=made.owner.login,
        creator=login(made.creator),
        repositories=[repo.full_name for repo in made.repositories],
        fields=[_field(one) for one in made.fields],
        items=[_item(made, one) for one in made.items],
    )


def _field(made: Field) -> SeedField:
    return plain(
        SeedField,
        made,
        type=made.data_type,
        options=[plain(SeedOption, one) for one in made.options],
        iterations=[plain(SeedIteration, one) for one in made.iterations],
    )


def _item(board: Project, made: Item) -> SeedItem:
    content = made.content
    where: dict[str, Any]
    if isinstance(content, DraftIssue):
        draft = plain(
            SeedDraft, content, creator=content.creator.login,
            assignees=[user.login for user in content.assignees],
        )  # fmt: skip
        where = {"issue": None, "repository": None, "draft": draft}
    else:
        name = content.repository.full_name
        where = {"issue": content.number, "repository": name, "draft": None}
    values = {
        field.name: _value(field, made.values[field.id])
        for field in board.fields
        if field.id in made.values
    }
    marks = {
        field.name: plain(SeedMark, mark, creator=mark.creator.login)
        for field in board.fields
        if field.id in made.values and (mark := made.marks.get(field.id))
    }
    return plain(SeedItem, made, **where, values=values, marks=marks, creator=made.creator.login)


def _value(field: Field, raw: str) -> str:
    """A value as people write it: options and iterations by their names."""
    names = {option.id: option.name for option in field.options}
    names |= {iteration.id: iteration.title for iteration in field.iterations}
    return names.get(raw, raw)
