"""Every sentence of a table is said somewhere in the code, and with all that it needs."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import lifecycle
from lifecycle.settings import resources

PACKAGE = Path(lifecycle.__file__).parent

TABLES = {
    "app/refusals.toml": (("app",), ("sentence",)),
    "claim/messages.toml": (("claim", "cli/checks"), ("message",)),
    "cli/tracker/refusals.toml": (("cli/tracker",), ("sentence",)),
    "claim/refusals.toml": (("claim",), ("sentence",)),
    "github/refusals.toml": (("github",), ("answered", "lost", "sentence", "told")),
    "feedback/failures/sentences.toml": (
        ("feedback/failures", "cli/checks"),
        ("sentence", "of_head"),
    ),
    "feedback/reviews/sentences.toml": (("feedback/reviews",), ("sentence",)),
    "evidence/checks/sentences.toml": (("evidence/checks",), ("sentence",)),
    "git/refusals.toml": (("git",), ("sentence",)),
    "reconcile/remarks.toml": (("reconcile", "cli/reconcile"), ("sentence",)),
    "run/texts/refusals.toml": (
        ("run", "cli/run", "hooks/answers"),
        ("refused", "sentence", "open_story"),
    ),
    "settings/sentences.toml": (("settings",), ("sentence",)),
    "setup/init/sentences.toml": (("setup/init",), ("note", "sentence")),
    "trackers/refusals.toml": (("trackers",), ("lacking", "sentence", "_unusable")),
    "workflow/refusals.toml": (
        ("workflow", "cli/workflow"),
        ("refused", "remark", "sentence"),
    ),
}
"""By the file of sentences, the folders in which they are said, and the functions that say them."""

NAME_AT = {"lacking": 1, "lost": 1, "open_story": 1, "told": 1}
"""Which of a function's arguments is the sentence's name, where that is not the first."""

BY_PLACE = {
    "_unusable": {"doing"},
    "answered": {"words"},
    "lost": {"case"},
    "of_head": {"packet", "number", "head", "checks", "broken", "identities", "base"},
    "open_story": {"story"},
    "told": {"case"},
}
"""The words that a function takes by their place."""


def said_in(
    folders: Iterable[str], functions: Iterable[str]
) -> Iterator[tuple[set[str], set[str], set[str]]]:
    """The sentences that each call may say, several where a condition decides; what it fills in, or may."""
    for path in (path for folder in folders for path in (PACKAGE / folder).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        table = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
        functions_in = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        for block in [*table, *functions_in]:
            assigned = {
                ast.unparse(node.targets[0]): node.value
                for node in ast.walk(block)
                if isinstance(node, ast.Assign)
            }
            for loop in [node for node in ast.walk(block) if isinstance(node, ast.For)]:
                steps = [part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)]
                assigned |= dict.fromkeys(steps, loop.iter)
            for call in [node for node in ast.walk(block) if isinstance(node, ast.Call)]:
                function = ast.unparse(call.func).rpartition(".")[2]
                if function in functions:
                    at = NAME_AT.get(function, 0)
                    names = {
                        name for arg in call.args[at : at + 1] for name in _texts(arg, assigned)
                    }
                    yield names, _words(call, assigned), BY_PLACE.get(function, set())


def _texts(node: ast.AST, assigned: dict[str, ast.expr], depth: int = 2) -> set[str]:
    """The texts in a piece of code, and in what was assigned to the names in it, so many steps back.

    What a condition compares with is none of them.
    """
    texts = set()
    tests = [part.test for part in ast.walk(node) if isinstance(part, ast.IfExp)]
    conditions = {id(part) for test in tests for part in ast.walk(test)}
    for part in (part for part in ast.walk(node) if id(part) not in conditions):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            texts.add(part.value)
        if depth and isinstance(part, ast.Name) and part.id in assigned:
            texts |= _texts(assigned[part.id], assigned, depth - 1)
    return texts


def _words(call: ast.Call, assigned: dict[str, ast.expr]) -> set[str]:
    """The words that a call fills in, with those of a dictionary that was written in its function."""
    words = {keyword.arg for keyword in call.keywords if keyword.arg}
    for spread in [keyword.value for keyword in call.keywords if not keyword.arg]:
        written = assigned.get(ast.unparse(spread))
        keys = written.keys if isinstance(written, ast.Dict) else []
        words |= {ast.literal_eval(key) for key in keys if key is not None}
    return words


@pytest.mark.parametrize("file", TABLES)
def test_each_sentence_is_said_somewhere_with_all_that_it_needs(file: str) -> None:
    """None is left over or missing, and none is short of a word: that would be a defect for its reader."""
    needed = {}
    for name, text in resources.texts(file).items():
        fields = [field for _, field, _, _ in string.Formatter().parse(text) if field]
        needed[name] = {field.partition(".")[0] for field in fields}
    said = [call for call in said_in(*TABLES[file]) if call[0]]
    assert {name for names, *_ in said for name in names} == needed.keys()
    wrong = [
        (names, words)
        for names, words, by_place in said
        if not words <= set().union(*(needed[name] for name in names)) <= words | by_place
    ]
    assert wrong == []
