"""Boards of a seed, with fields and cards."""

from __future__ import annotations

from datetime import datetime

from lifecycle.sandbox.boards.state import FieldType, ProjectRole
from lifecycle.sandbox.seed.form.people import Form


class SeedOption(Form, frozen=True):
    """A choice of a single select field, where more than its name matters."""

    name: str
    color: str = "GRAY"
    description: str = ""
    id: str | None = None


class SeedIteration(Form, frozen=True):
    """A span of an iteration field; `start` is a day, as 2026-01-31, `duration` is in days."""

    title: str
    start: str
    duration: int
    completed: bool = False
    id: str | None = None


class SeedField(Form, frozen=True):
    """A column of the board; only a SINGLE_SELECT has options, only an ITERATION iterations."""

    name: str
    type: FieldType
    options: list[str | SeedOption] = []
    iterations: list[SeedIteration] = []
    id: str | None = None
    number: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class SeedDraft(Form, frozen=True):
    """A note on a board that is no issue yet."""

    title: str
    body: str = ""
    creator: str | None = None
    assignees: list[str] = []
    id: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class SeedMark(Form, frozen=True):
    """Who gave a card a value first and when, and when it was changed last.

    What is left out is as the card says of itself.
    """

    creator: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class SeedItem(Form, frozen=True):
    """A card: the number of an issue (of `repository`, by default the first), or a draft.

    Values and marks are by field name; an option or an iteration by its name.
    """

    issue: int | None = None
    values: dict[str, str | int | float] = {}
    marks: dict[str, SeedMark] = {}
    archived: bool = False
    hidden_for: int = 0
    repository: str | None = None
    draft: SeedDraft | None = None
    creator: str | None = None
    id: str | None = None
    number: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class SeedProject(Form, frozen=True):
    """A board, whose owner is the first repository's unless named."""

    number: int
    title: str
    fields: list[SeedField] = []
    items: list[SeedItem] = []
    owner: str | None = None
    repositories: list[str] | None = None
    is_public: bool = False
    is_template: bool = False
    collaborators: dict[str, ProjectRole] = {}
    creator: str | None = None
    short_description: str | None = None
    readme: str | None = None
    closed_at: datetime | None = None
    id: str | None = None
    database_id: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
