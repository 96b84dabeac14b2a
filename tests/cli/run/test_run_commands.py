"""The words that a run's commands take: what is typed, and what the function gets."""

from __future__ import annotations

import click
import pytest

from lifecycle.cli.run.run import FOUND, command


def test_a_word_stands_for_its_state() -> None:
    """`criterion … manual` stands for its state; another word is refused with those that there are."""
    made = command.get_command(click.Context(command), "criterion")
    assert made is not None
    with made.make_context("criterion", ["S1", "2", "manual"]) as context:
        assert FOUND[context.params["state"]] == "MANUAL_VERIFICATION_REQUIRED"
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
