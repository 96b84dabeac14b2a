"""`lifecycle run`: the group of its commands, each made of its row in `commands.toml` and one function."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final

import click

from lifecycle.cli.command_session import in_worktree, option
from lifecycle.cli.main import LazyGroup, Word
from lifecycle.cli.run.run_session import RunSession
from lifecycle.run import table
from lifecycle.run.table import ClarificationPhase, CriterionState
from lifecycle.settings import resources

COMMANDS: Final[Mapping[str, Mapping[str, Any]]] = resources.texts("cli/run/commands.toml")
"""The rows, by the command's name."""


def _words(members: Iterable[StrEnum], *, case_sensitive: bool = True) -> Word:
    return Word({one.value: one for one in members}, case_sensitive=case_sensitive)


_FOUND = (
    ("met", CriterionState.MET),
    ("unmet", CriterionState.UNMET),
    ("manual", CriterionState.MANUAL),
)

_KINDS: Final[Mapping[str, click.ParamType[Any]]] = {
    "number": click.INT,
    "count": click.IntRange(min=1),
    "lines": click.IntRange(1, 10_000),
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
"""Of what kind a word on the command line may be, and so what the function gets."""


class RunGroup(LazyGroup):
    """The group: a command's function is imported when the command is asked for."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- click's signature
        """The command called `cmd_name`, or None."""
        if cmd_name not in COMMANDS:
            return None
        row = COMMANDS[cmd_name]
        module = importlib.import_module(f"lifecycle.cli.run.{row['module']}")
        function = getattr(module, cmd_name.replace("-", "_"))
        run = in_worktree(RunSession, is_timed=row.get("is_timed", True))(function)
        for name, about in reversed(row.get("options", {}).items()):
            run = option(about["spec"], about["help"], name, **_given(about))(run)
        for name, about in reversed(row.get("arguments", {}).items()):
            run = click.argument(name, **_given(about))(run)
        return click.command(cmd_name, short_help=row["short"])(run)


def _given(about: Mapping[str, Any]) -> dict[str, Any]:
    """What click is told of an argument or option beside its name and its help."""
    given = {key: value for key, value in about.items() if key not in ("spec", "help", "kind")}
    spec = about.get("spec", "")
    if "kind" in about:
        given["type"] = _KINDS[about["kind"]]
    elif "/" in spec.partition(" ")[0]:  # yes, no, or nothing was said
        given["default"] = None
    elif " " in spec and not (spec.endswith("...") or about.get("required")):
        given["default"] = ""
    return given


@click.group(
    "run", cls=RunGroup, table=COMMANDS, short_help="An autonomous run: stories, gates, blockers."
)
def command() -> None:
    """Follow one goal through its stories, in `.claude/workflow-state.json`.

    In a session, /workflow starts one; lifecycle workflow is something else. A session that leads a run is
    not let go before it is completed, waits for you, or was stopped. See docs/runs.md.
    """
