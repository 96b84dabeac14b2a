"""`findings.toml` and the code that speaks by it: neither has a row or a word that the other lacks."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lifecycle.setup import doctor
from lifecycle.setup.doctor.examined import Level, table
from tests.batches import each_row

FOLDER = Path(doctor.__file__).parent


def rows(part: dict[str, Any], key: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every row below a part of the table, with its key."""
    if any(level in part for level in Level):
        yield key.removeprefix("."), part
        return
    for name, below in part.items():
        yield from rows(below, f"{key}.{name}")


APART = ("words", "together")
"""Tables that hold no findings."""

ROWS = dict(rows({name: part for name, part in table().items() if name not in APART}))


def braced(text: str) -> set[str]:
    """The names that stand in braces, as a call gives them."""
    names = [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]
    return {name.partition(".")[0] for name in names}


def keys_in(node: ast.AST) -> list[str]:
    """The rows whose keys are written somewhere in a piece of code."""
    texts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
    keys = [text for text in texts if isinstance(text, str) and text in ROWS]
    for part in ast.walk(node):
        if isinstance(part, ast.JoinedStr):  # one function for several groups, as f"{part}.use.on"
            pieces = [re.escape(str(getattr(piece, "value", ""))) for piece in part.values]
            gaps = [isinstance(piece, ast.FormattedValue) for piece in part.values]
            form = "".join(
                r"\w+" if gap else piece for gap, piece in zip(gaps, pieces, strict=True)
            )
            keys += [key for key in ROWS if re.fullmatch(form, key)]
    return keys


def calls() -> Iterator[tuple[str, set[str]]]:
    """Each row that a call of `find` may name, with the words that the call gives."""
    functions = [
        node
        for path in FOLDER.glob("examine_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    ]
    for function in functions:
        set_before = {
            target.id: node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for call in ast.walk(function):
            if not (isinstance(call, ast.Call) and ast.unparse(call.func) == "case.find"):
                continue
            names = [part.id for part in ast.walk(call.args[0]) if isinstance(part, ast.Name)]
            parts = [call.args[0], *(set_before[name] for name in names if name in set_before)]
            keys = [key for part in parts for key in keys_in(part)]
            assert keys, ast.unparse(call)
            words = {str(keyword.arg) for keyword in call.keywords if keyword.arg}
            for spread in [keyword.value for keyword in call.keywords if not keyword.arg]:
                written = set_before[ast.unparse(spread)]
                assert isinstance(written, ast.Dict)
                words |= {ast.literal_eval(key) for key in written.keys if key is not None}
            for key in keys:
                yield key, words


CALLS = list(calls())


def test_every_row_is_said_somewhere() -> None:
    """A row that no call names would be no finding."""
    assert set(ROWS) == {key for key, _ in CALLS}


@each_row(("key", "words"), CALLS, ids=[key for key, _ in CALLS])
def test_a_call_gives_what_its_row_wants(key: str, words: set[str]) -> None:
    """Each name in braces has a word, and a row has one level and nothing that is not read."""
    row = ROWS[key]
    (level,) = [level for level in Level if level in row]
    texts = [row[level], row.get("fix", ""), *row.get("hinders", ())]
    assert set().union(*map(braced, texts)) <= words
    assert set(row) <= {level, "hinders", "fix"}
