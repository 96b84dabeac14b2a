"""Every refusal of a run is a sentence of one file, and what it fills in is there."""

from __future__ import annotations

import ast
import functools
import string
from pathlib import Path

import pytest

import lifecycle
from lifecycle.core.errors import Refused
from lifecycle.run.texts.told import refused, sentence, there
from lifecycle.settings import resources

PACKAGE = Path(lifecycle.__file__).parent
SENTENCES: dict[str, str] = resources.texts("run/texts/refusals.toml")


@functools.cache
def calls() -> dict[str, list[set[str]]]:
    """By the sentence's name, what each place in the code fills in."""
    found: dict[str, list[set[str]]] = {name: [] for name in SENTENCES}
    for folder in ("run", "cli/run", "hooks/answers"):
        for path in (PACKAGE / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                    continue
                if node.func.id not in ("refused", "sentence"):
                    continue
                given = {str(one.arg) for one in node.keywords}
                for name in ast.walk(node.args[0]):  # one of two, where a condition decides
                    if isinstance(name, ast.Constant):
                        found[str(name.value)].append(given)
    return found


@pytest.mark.parametrize("name", SENTENCES)
def test_a_sentence_is_said_somewhere_with_all_that_it_needs(name: str) -> None:
    """No sentence is left over, and none is short of a word: that would be a defect for its reader."""
    fields = {field for _, field, _, _ in string.Formatter().parse(SENTENCES[name]) if field}
    needed = {field.partition(".")[0] for field in fields}
    said = calls()[name]
    assert said
    assert all(given == needed for given in said), (needed, said)


def test_a_refusal_is_one_line_and_clauses_are_joined() -> None:
    """However the file breaks it; several clauses are told one after the other."""
    error = refused("not-run", missing=["S1 is pending", "not committed: a.py"])
    assert isinstance(error, Refused)
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
