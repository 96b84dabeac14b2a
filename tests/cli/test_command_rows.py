"""The tables of commands, held against the functions that do their work."""

from __future__ import annotations

import importlib
import inspect

import click
import pytest

from lifecycle.cli.main import rows_of

FOLDERS = ("", "checks", "run", "tracker", "workflow")
EVERY = [(folder, name) for folder in FOLDERS for name in rows_of(folder)]


@pytest.mark.parametrize(("folder", "name"), EVERY)
def test_a_row_names_what_its_function_takes(folder: str, name: str) -> None:
    """Each argument and option is a parameter of the function, and each parameter has its row.

    What is a command already says all of that itself, and its row what the group's help says of it.
    """
    row = rows_of(folder)[name]
    module, _, called = row["module"].partition(":")
    there = importlib.import_module(".".join(filter(None, ("lifecycle.cli", folder, module))))
    function = getattr(there, called or name.replace("-", "_"))
    if isinstance(function, click.Command):
        assert (set(row), row["options"]) == ({"module", "short", "options"}, {})
        return
    given = {*row.get("arguments", ()), *row.get("options", ())}
    named, takes_more = set(), False
    given |= {"as_json"} if "is_plain" in row else {"session", "given"}
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
    known = {"module", "short", "arguments", "options", *marks}
    for folder, name in EVERY:
        row = rows_of(folder)[name]
        assert set(row) <= known
        for about in (*row.get("arguments", {}).values(), *row["options"].values()):
            words |= set(about)
    assert words == {"spec", "help", "kind", "metavar", "default", "required", "nargs"}
