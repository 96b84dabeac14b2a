"""What a run refuses is said in a sentence."""

from __future__ import annotations

import pytest

from lifecycle.core.errors import Refused
from lifecycle.run.texts.told import kept_words, line_of, refused, sentence, there


def test_a_refusal_is_one_line_and_clauses_are_joined() -> None:
    """However the file breaks it; several clauses are told one after the other."""
    missing = ["S1 is pending", "not committed: a.py"]
    error = refused("not-run", missing=missing)
    assert isinstance(error, Refused)
    assert refused("not-run", missing=(*missing,)).sentence == error.sentence
    assert error.sentence == (
        "The run is not complete, so nothing was run, pushed or opened: S1 is pending; not committed: a.py."
    )
    assert "\n" not in sentence("no-fix-asked")


def test_what_there_is_agrees_with_its_number() -> None:
    """One is, several are; of very many the newest are named, and that others were left out shows."""
    assert there([], "there is none") == "there is none"
    assert there(["S1"], "") == "there is S1"
    assert there(["S1", "S2"], "") == "there are S1, S2"
    assert there([1, 2, 3], "", most=2) == "there are …, 2, 3"
    assert there(range(20), "") == f"there are {', '.join(map(str, range(20)))}"
    assert there(range(21), "") == f"there are …, {', '.join(map(str, range(1, 21)))}"


def test_a_text_that_is_given_is_kept_in_one_line_or_refused_with_its_length() -> None:
    """Of 2,000 characters, where nothing else is said; without secrets and without control characters."""
    secret = "ghp_" + "a1" * 18
    assert line_of(f" a\n b\x1b {secret}", "x") == kept_words(f"a b\x1b {secret}")
    assert secret not in line_of(secret, "x")
    assert (line_of("x" * 2_000, "it"), line_of("xy", "it", 2)) == ("x" * 2_000, "xy")
    assert kept_words("x" * 2_001) == "x" * 2_000
    for text, longest, says in (
        (" \n", 9, "The text of a title is empty, so"),
        ("x" * 2_001, 2_000, "There are 2,001 characters in a title, but 2,000 is the limit"),
        ("xyz", 2, "There are 3 characters in a title, but 2 is the limit"),
    ):
        with pytest.raises(Refused, match=says):
            line_of(text, "a title", longest)
