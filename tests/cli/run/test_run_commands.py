"""The table of a run's commands, held against the functions that do their work."""

from __future__ import annotations

import importlib
import inspect

import click
import pytest

from lifecycle.cli.run.run import COMMANDS, command


@pytest.mark.parametrize("name", COMMANDS)
def test_a_row_names_what_its_function_takes(name: str) -> None:
    """Each argument and option is a parameter of the function, and each parameter has its row."""
    row = COMMANDS[name]
    module = importlib.import_module(f"lifecycle.cli.run.{row['module']}")
    function = getattr(module, name.replace("-", "_"))
    given = {*row.get("arguments", ()), *row.get("options", ())}
    named, takes_more = set(), False
    for parameter in [*inspect.signature(function).parameters.values()][1:]:
        takes_more |= parameter.kind is inspect.Parameter.VAR_KEYWORD
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            named.add(parameter.name)
    assert named <= given if takes_more else named == given


def test_what_a_row_says_is_known() -> None:
    """A word that is misspelt in the table is found here, and not by whoever types the command."""
    rows, words = {"module", "short", "is_timed", "arguments", "options"}, set()
    for row in COMMANDS.values():
        assert set(row) <= rows
        for about in (*row.get("arguments", {}).values(), *row.get("options", {}).values()):
            words |= set(about)
    assert words == {"spec", "help", "kind", "metavar", "default", "required"}


def test_help_names_a_word_and_the_function_gets_its_value() -> None:
    """`--size Q` is refused with the words that there are; `criterion … met` gives the state."""
    made = command.get_command(click.Context(command), "criterion")
    assert made is not None
    with made.make_context("criterion", ["S1", "2", "manual"]) as context:
        assert context.params["found"] == "MANUAL_VERIFICATION_REQUIRED"
        assert context.params["number"] == 2
    with pytest.raises(click.BadParameter, match="'met', 'unmet', 'manual'"):
        made.make_context("criterion", ["S1", "2", "perhaps"])


@pytest.mark.parametrize(("name", "words"), [("verify", "'testsPass', "), ("gate", "'G1', ")])
def test_a_word_is_refused_with_those_that_there_are_as_they_are_written(
    name: str, words: str
) -> None:
    """Case does not matter to who types one, and the words that are shown can be found in the handbook."""
    made = command.get_command(click.Context(command), name)
    assert made is not None
    given = ["S1", "nope"] if name == "verify" else ["nope"]
    with pytest.raises(click.BadParameter, match=words):
        made.make_context(name, given)
    taken = ["S1", "TESTSPASS"] if name == "verify" else ["g1"]
    with made.make_context(name, taken) as context:
        assert f"'{context.params['check' if name == 'verify' else 'gate']}'" in words
