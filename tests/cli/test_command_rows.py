"""The tables of commands, held against the functions that do their work."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import click

from lifecycle.cli.main import rows_of
from tests.batches import each_row

CLI = Path(__file__).parents[2] / "lifecycle/cli"

TABLES = (
    "commands",
    "checks/commands",
    "checks/platform",
    "demo/commands",
    "run/commands",
    "tracker/commands",
    "tracker/stage",
    "workflow/commands",
)
EVERY = [(table, name) for table in TABLES for name in rows_of(table)]


def test_every_table_is_held() -> None:
    """A table that is added is held, too: none lies below `lifecycle/cli` that is not in the list."""
    files = (path for path in CLI.rglob("*.toml") if path.name != "refusals.toml")
    there = {path.relative_to(CLI) for path in files}
    assert there == {Path(f"{table}.toml") for table in TABLES}


@each_row(("table", "name"), EVERY)
def test_a_row_names_what_its_function_takes(table: str, name: str) -> None:
    """Each argument and option is a parameter of the function, and each parameter has its row.

    A group says all of that of its commands itself, and its row what the help above says of it. What
    `expose_value` keeps back is given to no function.
    """
    row = rows_of(table)[name]
    module, _, called = row["module"].partition(":")
    folders = table.split("/")[:-1]
    there = importlib.import_module(".".join(("lifecycle.cli", *folders, module)))
    function = getattr(there, called or name.replace("-", "_"))
    if isinstance(function, click.Group):
        assert (set(row), row["options"]) == ({"module", "short", "options"}, {})
        return
    kept_back = {
        name for name, about in row["options"].items() if not about.get("expose_value", True)
    }
    given = {*row.get("arguments", ()), *row["options"]} - kept_back
    named, takes_more = set(), False
    given |= {"as_json"} - kept_back if "is_plain" in row else {"session", "given"}
    for parameter in inspect.signature(function).parameters.values():
        takes_more |= parameter.kind is inspect.Parameter.VAR_KEYWORD
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            named.add(parameter.name)
    assert row["short"]
    session = {"session", "given"} & named
    assert bool(session) != row.get("is_plain", False)
    assert named <= given if takes_more else named == given - ({"session", "given"} - session)


def test_what_a_row_says_is_known() -> None:
    """A word that is misspelt in a table is found here, and not by whoever types the command."""
    marks, words = {"is_timed", "changes_tasks", "is_plain"}, set()
    known = {"module", "short", "class", "arguments", "options", *marks}
    for table, name in EVERY:
        row = rows_of(table)[name]
        assert set(row) <= known
        for about in (*row.get("arguments", {}).values(), *row["options"].values()):
            words |= set(about)
    of_click = {"metavar", "default", "required", "nargs", "is_flag", "flag_value", "envvar"}
    of_click |= {"show_envvar", "show_default", "expose_value"}
    assert words == {"spec", "help", "kind", *of_click}
