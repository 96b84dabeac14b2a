"""`lifecycle run`: the group of its commands, each made of its row in `commands.toml` and one function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final

import click

from lifecycle.cli.main import RowGroup, Word, rows_of
from lifecycle.cli.run.run_session import RunSession
from lifecycle.run import table
from lifecycle.run.table import ClarificationPhase, CriterionState

COMMANDS: Final = rows_of("run")


def _words(members: Iterable[StrEnum], *, case_sensitive: bool = True) -> Word:
    return Word({member.value: member for member in members}, case_sensitive=case_sensitive)


_FOUND = (
    ("met", CriterionState.MET),
    ("unmet", CriterionState.UNMET),
    ("manual", CriterionState.MANUAL),
)

_KINDS: Final[Mapping[str, click.ParamType[Any]]] = {
    "seconds": click.IntRange(1, 3_600),
    "waiver": click.Choice(["waive"]),
    "size": click.Choice(table.SIZES),
    "severity": click.Choice(table.BLOCKER_SEVERITIES),
    "reviewer": click.Choice([*table.REVIEWERS]),
    "finding": Word(dict(_FOUND)),
    "checkpoint": _words((ClarificationPhase.PRE_ANALYSIS, ClarificationPhase.PRE_PLAN)),
    "clarification": _words(ClarificationPhase),
    "story-status": _words(table.StoryStatus),
    "run-phase": _words(table.RunPhase),
    "tdd-phase": _words(table.WORK),
    "failure": _words(table.FailureCategory),
    "verdict": _words(table.ReviewVerdict),
    "gate": _words(table.Gate, case_sensitive=False),
    "check": _words(table.StoryCheck, case_sensitive=False),
}
"""Click's types for the words on a command line, by the name that a row's `kind` gives them."""


@click.group(
    "run",
    cls=RowGroup,
    folder="run.",
    table=COMMANDS,
    session=RunSession,
    kinds=_KINDS,
)
def command() -> None:
    """Follow one goal through its stories, in `.claude/workflow-state.json`.

    In a session, /workflow starts one; lifecycle workflow is something else. A session that leads a run is
    not let go before it is completed, waits for you, or was stopped. See docs/runs.md.
    """
