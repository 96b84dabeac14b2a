"""A whole seed."""

from __future__ import annotations

from typing import Any, Literal

from msgspec.structs import replace

from lifecycle.sandbox.control.faults import Measure
from lifecycle.sandbox.seed.form.boards import SeedProject
from lifecycle.sandbox.seed.form.people import (
    Form,
    SeedApp,
    SeedInstallation,
    SeedOrganization,
    SeedToken,
    SeedUser,
)
from lifecycle.sandbox.seed.form.repositories import SeedRepository


class SeedFault(Form, frozen=True, omit_defaults=True):
    """A fault of the catalogue by its name, and what is to be otherwise with it."""

    name: str
    method: str | None = None
    path: str | None = None
    operation: str | None = None
    when: Literal["before", "after"] | None = None
    count: int | None = None
    skip: int | None = None
    probability: float | None = None
    seed: int | None = None
    above: dict[Measure, int] | None = None
    spared: int | None = None


class Seed(Form, frozen=True, kw_only=True):
    """A whole world. The first token is the one that the sandbox hands out.

    `lag` says how many reads of lists miss what is new; `faults` strike from the beginning;
    `next_id` is the first number that nothing has, and says that the seed tells the whole past, as
    a dump does; `ahead` is how many seconds the world's clock is ahead of the machine's.
    """

    users: list[SeedUser]
    organizations: list[SeedOrganization] = []
    apps: list[SeedApp] = []
    installations: list[SeedInstallation] = []
    tokens: list[SeedToken]
    repositories: list[SeedRepository]
    projects: list[SeedProject] = []
    lag: dict[str, int] = {}
    faults: list[SeedFault] = []
    next_id: int | None = None
    ahead: float = 0.0

    def with_home(self, **changes: Any) -> Seed:
        """The same seed, but for these things of its first repository."""
        first, *others = self.repositories
        return replace(self, repositories=[replace(first, **changes), *others])

    def with_board(self, **changes: Any) -> Seed:
        """The same seed, but for these things of its first board."""
        first, *others = self.projects
        return replace(self, projects=[replace(first, **changes), *others])
