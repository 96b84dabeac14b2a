"""What is refused and noted is in tables: no sentence is left over, and none is short of a word."""

from __future__ import annotations

import ast
import string
from pathlib import Path

import pytest

from lifecycle import settings
from lifecycle.core.errors import Refused
from lifecycle.settings import resources
from lifecycle.setup import init
from lifecycle.setup.init.init_mark import MARK, parse
from tests.batches import each_row

SPOKEN = ("sentence", "resources.sentence", "self.note")
ROOMS = {"settings": settings, "setup/init": init}
SENTENCES = {
    (room, name): text
    for room in ROOMS
    for name, text in resources.texts(f"{room}/sentences.toml").items()
}


def calls(room: str) -> list[tuple[list[str], set[str]]]:
    """The texts by which the code may name a sentence, and what it fills in."""
    places = []
    for path in Path(str(ROOMS[room].__file__)).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
            before = {
                ast.unparse(node.targets[0]): node.value
                for node in ast.walk(function)
                if isinstance(node, ast.Assign)
            }
            for call in ast.walk(function):
                if not (isinstance(call, ast.Call) and ast.unparse(call.func) in SPOKEN):
                    continue
                of = before.get(ast.unparse(call.args[0]), call.args[0])
                tables = [before.get(ast.unparse(part)) for part in ast.walk(of)]
                parts = [part for tree in (of, *filter(None, tables)) for part in ast.walk(tree)]
                names = [part.value for part in parts if isinstance(part, ast.Constant)]
                words = {str(keyword.arg) for keyword in call.keywords if keyword.arg}
                for spread in [keyword.value for keyword in call.keywords if not keyword.arg]:
                    written = before.get(ast.unparse(spread))
                    keys = written.keys if isinstance(written, ast.Dict) else []
                    words |= {ast.literal_eval(key) for key in keys if key is not None}
                places.append(([str(name) for name in names], words))
    return places


CALLS = {room: calls(room) for room in ROOMS}


@each_row(("room", "name"), SENTENCES)
def test_a_sentence_is_said_with_all_that_it_needs(room: str, name: str) -> None:
    """A word in braces that nobody fills in would be a defect for its reader."""
    fields = string.Formatter().parse(SENTENCES[room, name])
    needed = {field for _, field, _, _ in fields if field}
    given = [words for names, words in CALLS[room] if name in names]
    assert given
    assert all(words >= needed for words in given)


def test_a_sentence_of_several_lines_is_one() -> None:
    """However the file breaks it."""
    with pytest.raises(Refused) as refusal:
        parse(b"{")
    assert refusal.value.sentence == (
        f"{MARK} cannot be read, so nothing was written anywhere; delete it and run lifecycle init again, "
        "which finds its own entries."
    )
