"""Makes click's groups and commands from tables (`commands.toml`), and runs a command line.

A row of a table is a command. It has

    module      the module beside the table, with a function that has the command's name; after a colon, the
                function's own name. The function's docstring is the text of --help
    short       the sentence on the command in its group's help
    is_timed    false for a command without a time limit
    changes_tasks   true if hooks have to ask the tracker again after the command
    is_plain    true for a function that gets `as_json` and no session, since it needs no worktree
    class       a class of the module to use instead of click.Command
    arguments   by the function's parameter: click's metavar, nargs, default …, and `kind`
    options     the same, with `spec` and `help`; a single word names a row of [shared]

A `spec` such as "--label LABEL" is the written form of an option: with "..." at its end it may be given
several times; without a word after the name it is a flag. A `kind` names a click type from this module,
the group, or KINDS of the function's module; without a kind it is text. A text option that is not given
is "", one of the kind "text" is None. All other keys are passed to click.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import math
from collections.abc import Callable, Mapping
from enum import StrEnum
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

import click

from lifecycle import __version__
from lifecycle.cli.command_session import LIMIT, Session
from lifecycle.cli.endings import answered, stopped, tell
from lifecycle.cli.terminal import guarded
from lifecycle.core.errors import Refused
from lifecycle.settings import resources

Row = Mapping[str, Any]
Rows = Mapping[str, Row]

_KINDS: Final[Mapping[str, Any]] = {
    "text": click.STRING,
    "number": click.INT,
    "count": click.IntRange(min=1),
    "lines": click.IntRange(1, 10_000),
    "file": click.Path(dir_okay=False, path_type=Path),
    "words": click.UNPROCESSED,
}
"""Click's types for the words on a command line, by the names that a row's `kind` uses."""

_JSON: Final = {"spec": "--json", "help": "Print one JSON object."}
"""The option that every command has, unless its row defines another."""


def rows_of(table: str) -> Rows:
    """The rows of a table below `lifecycle/cli/`, such as `run/commands`, by the command's name."""
    rows = resources.texts(f"cli/{table}.toml")
    shared = rows.pop("shared", {})
    for row in rows.values():
        options = row.get("options", {}).items()
        row["options"] = {
            name: shared[option] if isinstance(option, str) else option for name, option in options
        }
    return rows


class RowGroup(click.Group):
    """A click group whose commands are rows of a table; each is imported on first use.

    Args:
        table: the rows of its commands, as in `rows_of`; the functions are in the same folder.
        session: the class of the session that each of its commands gets.
        kinds: further click types, by the names that a row's `kind` uses.
        first: called with the world before each of its commands, as in `Session.first`.
        attributes: passed on to click.Group.
    """

    def __init__(
        self,
        *,
        table: str = "commands",
        session: type[Session] = Session,
        kinds: Row = _KINDS,
        first: Callable[[Any], None] = lambda _: None,
        **attributes: Any,
    ) -> None:
        super().__init__(**attributes)
        self.table = rows_of(table)
        self.package = ".".join(("lifecycle.cli", *table.split("/")[:-1]))
        # Names only: for a misspelt name click's error suggests the nearest.
        self.commands = dict.fromkeys(self.table, click.Command(None))
        self.kinds = {**_KINDS, **kinds}
        self.session, self.first = session, first

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """The names of the commands, in the order of their rows."""
        return list(self.table)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 -- click's signature
        """Write the list of commands for `--help`, each with its `short`; imports none of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, row["short"]) for name, row in self.table.items()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- click's signature
        """The command called `cmd_name`, or None."""
        if cmd_name not in self.table:
            return None
        row = self.table[cmd_name]
        module_name, _, name = row["module"].partition(":")
        module = importlib.import_module(f"{self.package}.{module_name}")
        command = getattr(module, name or cmd_name.replace("-", "_"))
        if not isinstance(command, click.Group):
            kind = getattr(module, row["class"]) if "class" in row else click.Command
            run = command if "is_plain" in row else self._in_worktree(command, row)
            kinds = {**self.kinds, **getattr(module, "KINDS", {})}
            command = kind(cmd_name, callback=run, help=run.__doc__, params=_parameters(row, kinds))
        command.short_help = row["short"]
        return command  # type: ignore[no-any-return]  # a module's attribute

    def _in_worktree(self, function: Callable[..., Any], row: Row) -> Callable[..., Any]:
        """Wrap a command's function: it gets a session, and its docstring the time limit."""

        @functools.wraps(function)
        def run(*, as_json: bool, **parameters: Any) -> Any:
            session = self.session(as_json, row.get("changes_tasks", False), self.first)
            return function(session, **parameters)

        limit = f"\n\n{LIMIT}" if row.get("is_timed", True) else ""
        run.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}{limit}"
        return run


def read_by(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Turn a reader into a click type: if `read` raises Refused, that is a usage error."""

    def kind(text: str) -> Any:
        try:
            return read(text)
        except Refused as error:
            raise click.BadParameter(error.sentence) from None

    return kind


def _parameters(row: Row, kinds: Row) -> list[click.Parameter]:
    """Make click's arguments and options from the row of a command."""
    parameters = {**row.get("arguments", {}), **row["options"]}
    parameters.setdefault("as_json", _JSON)
    return [_parameter(name, about, kinds) for name, about in parameters.items()]


def _parameter(name: str, about: Row, kinds: Row) -> click.Parameter:
    """Make one of click's options from its row, or an argument from a row without a `spec`."""
    given = {key: value for key, value in about.items() if key not in ("spec", "kind")}
    option, _, metavar = about.get("spec", "").partition(" ")
    is_many = metavar.endswith("...")
    if is_many:
        given["multiple"] = True
    if metavar:
        given["metavar"] = metavar.removesuffix("...")
    elif option:
        given.setdefault("is_flag", True)
    if "kind" in about:
        given["type"] = kinds[about["kind"]]
    elif "/" in option:  # yes, no, or not given
        given["default"] = None
    elif metavar and not (is_many or about.get("required")):
        given.setdefault("default", "")
    return click.Option([option, name], **given) if option else click.Argument([name], **given)


@click.group(cls=RowGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lifecycle")
def group() -> None:
    """Claim to close for coding agents on GitHub.

    A task is claimed, worked on, handed off as a PR, watched through CI and review, and closed when a
    person says yes. The hooks do most of it while the agent works; these commands look and nudge.

    Tokens come from GH_TOKEN or GITHUB_TOKEN, settings from .lifecycle.toml; see docs/reference.md.
    """


COMMANDS: Final = group.table


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code; no traceback ever reaches a person."""
    as_json = "--json" in takewhile(lambda word: word != "--", arguments)
    with guarded():
        return answered(lambda: _clicked(arguments, as_json=as_json), as_json=as_json)


def _clicked(arguments: list[str], *, as_json: bool) -> object:
    """Run click on the arguments: the command's result, or the exit code if click itself ended it."""
    try:
        return group.main(args=arguments, prog_name="lifecycle", standalone_mode=False)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        if as_json:
            tell(error.format_message(), "UsageError", as_json=True)
        else:
            error.show()
        # A misspelt hook in somebody's settings must not block the agent, as exit code 2 would.
        return 1 if arguments[:1] == ["hook"] else 2
    except click.Abort as stop:
        return stopped(stop, as_json=as_json)


class Span(click.FloatRange):
    """A number within bounds, but never "nan", which compares with no bound."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number; raises click.BadParameter."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number

    def _describe_range(self) -> str:
        """The bounds in words: in an annotation, text that looks like a tag would be removed."""
        return f"above {self.min} up to {self.max}"


class Word(click.Choice[StrEnum]):
    """A click type: one of several members of an enumeration, each by its own word."""

    def normalize_choice(self, choice: object, ctx: click.Context | None) -> str:  # noqa: ARG002 -- click's signature
        """The word of a member; without its case if that does not matter."""
        return str(choice) if self.case_sensitive else str(choice).casefold()

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:  # noqa: ARG002 -- click's signature
        """The sentence about an unknown word: it lists the words as written in the table."""
        return f"{value!r} is not one of {', '.join(repr(str(word)) for word in self.choices)}."
