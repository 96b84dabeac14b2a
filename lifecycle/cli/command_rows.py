"""Groups whose commands are rows of a table, each made of its row and one function.

A row has

    module      where beside the table the command's function is; it has the command's name unless another
                one follows behind a colon. Its docstring is the text of --help
    short       what the group's help says of it
    is_timed    false where it has no limit of time as a whole
    changes_tasks   true where hooks ask the tracker anew after it
    arguments   by the function's parameter: how each is shown, of what kind it is, what it is by default
    options     the same, with how it is written and what --help says of it; a word alone is that row of
                [shared]

What has no kind is text. An option of text that is not given is empty; one of the kind "text" is None. What
no row can say is a command in its module, and its row names that alone.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import click

from lifecycle.cli.command_session import Session, in_worktree, option
from lifecycle.cli.main import LazyGroup
from lifecycle.settings import resources

Rows = Mapping[str, Mapping[str, Any]]

_KINDS: Final[Mapping[str, Any]] = {
    "text": click.STRING,
    "number": click.INT,
    "count": click.IntRange(min=1),
    "lines": click.IntRange(1, 10_000),
}
"""Of what kind a word on the command line may be, and so what the function gets."""


def rows_of(folder: str) -> Rows:
    """The rows of `lifecycle/cli/FOLDER/commands.toml`, by the command's name."""
    rows = resources.texts(f"cli/{folder}/commands.toml")
    shared = rows.pop("shared", {})
    for row in rows.values():
        options = row.get("options", {}).items()
        row["options"] = {n: shared[o] if isinstance(o, str) else o for n, o in options}
    return rows


class RowGroup(LazyGroup):
    """The group: a command's function is imported when the command is asked for.

    Args:
        folder: below `lifecycle/cli`, with the functions.
        table: its rows.
        session: of its commands.
        kinds: more kinds of words, as click takes their types.
        first: as a session has it.
        given: as click.Group takes it.
    """

    def __init__(
        self,
        *,
        folder: str,
        table: Rows,
        session: type[Session] = Session,
        kinds: Mapping[str, Any] | None = None,
        first: Callable[[Any], None] = lambda _: None,
        **given: Any,
    ) -> None:
        super().__init__(table=table, **given)
        self.folder = folder
        self.kinds = {**_KINDS, **(kinds or {})}
        self.begun = partial(in_worktree, session, first=first)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- click's signature
        """The command called `cmd_name`, or None."""
        if cmd_name not in self.table:
            return None
        row = self.table[cmd_name]
        module, _, name = row["module"].partition(":")
        there = importlib.import_module(f"lifecycle.cli.{self.folder}.{module}")
        function = getattr(there, name or cmd_name.replace("-", "_"))
        if isinstance(function, click.Command):
            return function
        how = {name: row[name] for name in ("is_timed", "changes_tasks") if name in row}
        run = self.begun(**how)(function)
        for name, about in reversed(row["options"].items()):
            run = option(about["spec"], about["help"], name, **self._given(about))(run)
        for name, about in reversed(row.get("arguments", {}).items()):
            run = click.argument(name, **self._given(about))(run)
        return click.command(cmd_name, short_help=row["short"])(run)

    def _given(self, about: Mapping[str, Any]) -> dict[str, Any]:
        """What click is told of an argument or option beside its name and its help."""
        given = {key: value for key, value in about.items() if key not in ("spec", "help", "kind")}
        spec = about.get("spec", "")
        if "kind" in about:
            given["type"] = self.kinds[about["kind"]]
        elif "/" in spec.partition(" ")[0]:  # yes, no, or nothing was said
            given["default"] = None
        elif " " in spec and not (spec.endswith("...") or about.get("required")):
            given["default"] = ""
        return given
