"""What `init` refuses and notes is in one file: no sentence is left over, and none is short of a word."""

from __future__ import annotations

import ast
import string
from pathlib import Path

import pytest

from lifecycle.core.errors import Refused
from lifecycle.settings import resources
from lifecycle.setup import init
from lifecycle.setup.init.init_mark import MARK, parse
from tests.batches import each_row

SENTENCES: dict[str, str] = resources.texts("setup/init/sentences.toml")


def calls() -> list[tuple[str, set[str]]]:
    """Each sentence that the code says, and what it fills in."""
    places = []
    for path in Path(init.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("sentence", "self.note"):
                given = {str(keyword.arg) for keyword in node.keywords if keyword.arg}
                places.append((ast.unparse(node.args[0]).strip("'"), given))
    return places


CALLS = calls()


@each_row("name", SENTENCES)
def test_a_sentence_is_said_with_all_that_it_needs(name: str) -> None:
    """A word in braces that nobody fills in would be a defect for its reader."""
    needed = {field for _, field, _, _ in string.Formatter().parse(SENTENCES[name]) if field}
    given = [words for said, words in CALLS if said == name]
    if name in ("own-file", "own-orchestrator"):  # one of two, where a condition decides
        given = [words for said, words in CALLS if said == "note"]
    assert given
    assert all(words == needed for words in given)


def test_a_sentence_of_several_lines_is_one() -> None:
    """However the file breaks it."""
    with pytest.raises(Refused) as refusal:
        parse(b"{")
    assert refusal.value.sentence == (
        f"{MARK} cannot be read, so nothing was written anywhere; delete it and run lifecycle init again, "
        "which finds its own entries."
    )
