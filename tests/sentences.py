"""Whether the places in the code that say a sentence of a file fill in what it needs."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterable, Mapping
from pathlib import Path

import lifecycle

PACKAGE = Path(lifecycle.__file__).parent
SAYING = ("refused", "sentence", "remark")


def filled_in(names: Iterable[str], folders: Iterable[str]) -> dict[str, list[set[str]]]:
    """By the sentence's name, what each place in these folders of the product fills in."""
    found: dict[str, list[set[str]]] = {name: [] for name in names}
    for path in (path for folder in folders for path in (PACKAGE / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            function = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if function in SAYING:
                given = {str(one.arg) for one in node.keywords}
                for name in ast.walk(node.args[0]):  # one of two, where a condition decides
                    if isinstance(name, ast.Constant):
                        found[str(name.value)].append(given)
    return found


def needed_by(sentence: str) -> set[str]:
    """The words that a sentence has filled in."""
    fields = {field for _, field, _, _ in string.Formatter().parse(sentence) if field}
    return {field.partition(".")[0] for field in fields}


def lacking(sentences: Mapping[str, str], folders: Iterable[str]) -> dict[str, list[set[str]]]:
    """The sentences that nobody says, or somebody with other words than they need: what is filled in."""
    said = filled_in(sentences, folders).items()
    needed = {name: needed_by(text) for name, text in sentences.items()}
    return {
        name: given
        for name, given in said
        if not given or any(one != needed[name] for one in given)
    }
