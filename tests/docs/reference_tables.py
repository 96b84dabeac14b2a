"""The tables of docs/reference.md: names and defaults from the code, meanings from the page itself.

What a setting is good for is prose, so it stands on the page and nowhere else. A row is found again by
the key in its first column; a key that the page does not explain yet is an error that says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import click

from lifecycle.cli import main
from lifecycle.core.values.configured import API_URL, RunSettings, Settings, StageSettings
from lifecycle.feedback.waiting.endings import STATUSES
from lifecycle.settings import config

_OWN_DEFAULTS = {"api_url": API_URL}
"""Whatever else a user's own key is by default, words have to say it."""

_CELL = re.compile(r"(?<!\\)\|")


def settings(before: str) -> str:
    """The keys of `.lifecycle.toml` with their defaults.

    Args:
        before: the table as it stands on the page, for what it says of each key.

    Raises:
        ValueError: a key has no meaning on the page.
    """
    rows = [(key, _default(name)) for key, (name, _) in config._KEYS.items()]
    return _table("key", rows, before)


def own_settings(before: str) -> str:
    """The keys of the user's own `config.toml`; otherwise as `settings`."""
    rows = [(key, _literal(_OWN_DEFAULTS.get(key))) for key in config.USER_KEYS]
    return _table("key of your own", rows, before)


def commands() -> str:
    """Every command: how it is called, what its help says first, and its options."""
    rows = ["| command | what it does |", "|---|---|"]
    context = click.Context(main.group)
    for name in main.COMMANDS:
        command = main.group.get_command(context, name)
        assert command is not None
        rows += _commands(f"lifecycle {name}", command)
    return "\n".join(rows)


def wait_endings() -> str:
    """How a wait ends: the exit status, the word of `--json`, and what it means."""
    rows = ["| `wait` exits with | `ending` | meaning |", "|---|---|---|"]
    for ending, (status, meaning) in STATUSES.items():
        rows.append(f"| {status} | `{ending}` | {meaning} |")
    return "\n".join(rows)


def _default(name: str) -> str:
    """The default of the field that a key sets, as TOML; "" where words have to say it."""
    part, _, own = name.rpartition("/")
    holders = {"": Settings(), "stages": StageSettings(), "run": RunSettings()}
    return _literal(getattr(holders[part], own))


def _literal(value: object) -> str:
    """A value as TOML; "" for one that stands for "none"."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}" if value else ""
    return json.dumps(value) if value and isinstance(value, str | int) else ""


def _table(first: str, rows: list[tuple[str, str]], before: str) -> str:
    """A table of three columns; a default that the code has no literal for is the page's own word."""
    known = {cells[0]: cells[1:] for cells in map(_cells, before.splitlines()) if len(cells) == 3}
    lines = [f"| {first} | default | meaning |", "|---|---|---|"]
    for key, default in rows:
        said, meaning = known.get(f"`{key}`", ("", ""))
        if not meaning:
            raise ValueError(
                f"the page does not explain {key!r}: write the row | `{key}` | none | … |"
            )
        lines.append(f"| `{key}` | {f'`{default}`' if default else said} | {meaning} |")
    return "\n".join(lines)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in _CELL.split(line)[1:-1]]


def verbs_of(group: click.Group) -> dict[str, click.Command]:
    """The commands of a group, those that it loads when they are asked for as well."""
    context = click.Context(group)
    there = ((name, group.get_command(context, name)) for name in group.list_commands(context))
    return {name: command for name, command in there if command is not None}


def _commands(path: str, command: click.Command) -> Iterator[str]:
    if isinstance(command, click.Group):
        for name, below in verbs_of(command).items():
            yield from _commands(f"{path} {name}", below)
        return
    context = click.Context(command)
    shown = [one for one in command.params if not getattr(one, "hidden", False)]
    options = [one for one in shown if isinstance(one, click.Option) and "--json" not in one.opts]
    arguments = [one.make_metavar(context) for one in shown if isinstance(one, click.Argument)]
    first = " ".join((command.help or "").replace("\b", "").split("\n\n")[0].split())
    says = [_inline(first), *(_option(command, one) for one in options)]
    usage = " ".join([path, *arguments]).replace("|", r"\|")
    yield f"| `{usage}` | {'<br>'.join(says)} |"


def _option(command: click.Command, option: click.Option) -> str:
    """`--name METAVAR`: what its help says."""
    value = "" if option.is_flag else f" {option.make_metavar(click.Context(command))}"
    names = f"{', '.join(option.opts)}{value}".replace("|", r"\|")
    return f"`{names}`: {_inline(option.help)}" if option.help else f"`{names}`"


def _inline(text: str) -> str:
    """Plain text as Markdown inside a cell."""
    return " ".join(text.split()).replace("<", "&lt;").replace("*", r"\*").replace("|", r"\|")
