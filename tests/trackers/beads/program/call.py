"""One run of the program."""

# ruff: noqa: PTH109 -- see database.py
from __future__ import annotations

import os

from tests.trackers.beads.program import database
from tests.trackers.beads.program.answers import (
    NO_DATABASE_DOLT,
    NO_DATABASE_OLD,
    Build,
    Refusal,
    missing,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Call:
    """One run of the program: its build, workspace, words and flags; `noise` goes to stderr."""

    def __init__(
        self, build: Build, words: list[str], flags: dict[str, Any], environment: dict[str, str]
    ) -> None:
        self.build = build
        self.words = words
        self.flags = flags
        self.environment = environment
        self.noise = ""
        self.plain = ""

    @property
    def actor(self) -> str:
        """In whose name: the flag, BEADS_ACTOR, BD_ACTOR, a default."""
        names = (
            self.flags.get("actor"),
            self.environment.get("BEADS_ACTOR"),
            self.environment.get("BD_ACTOR"),
        )
        return next((name for name in names if name), "somebody")

    @property
    def data(self) -> database.Database:
        """The workspace's database."""
        folder = database.find(os.getcwd(), self.environment)
        if not folder:
            raise Refusal(1, stderr=NO_DATABASE_DOLT if self.build.is_dolt else NO_DATABASE_OLD)
        return database.Database(folder)

    def found(self, state: dict[str, Any], name: str, verb: str) -> dict[str, Any]:
        """The issue of this name."""
        id_ = database.resolve(state, name)
        if not id_:
            raise missing(self.build, name, verb)
        issue: dict[str, Any] = state["issues"][id_]
        return issue
