"""Every refusal of a tracker is a sentence of one file, and what it fills in is there."""

from __future__ import annotations

import ast
import functools
import string
from pathlib import Path

import lifecycle
from lifecycle.settings import resources
from lifecycle.trackers.refusals import sentence
from tests.batches import each_row

PACKAGE = Path(lifecycle.__file__).parent
SENTENCES: dict[str, str] = resources.texts("trackers/refusals.toml")
NAMED = {"sentence": 0, "lacking": 1, "_unusable": 0}
"""The functions that say a sentence, and which of their arguments is its name."""
ALWAYS = {"_unusable": {"doing"}}


@functools.cache
def calls() -> dict[str, list[set[str]]]:
    """By the sentence's name, what each place in the code fills in; `None` stands for a dictionary."""
    found: dict[str, list[set[str]]] = {name: [] for name in SENTENCES}
    for path in (PACKAGE / "trackers").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            says = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
            if not isinstance(node, ast.Call) or says not in NAMED:
                continue
            name = next(iter(node.args[NAMED[says] :]), None)
            if isinstance(name, ast.Constant):
                given = {str(one.arg) for one in node.keywords} | ALWAYS.get(says, set())
                found[str(name.value)].append(given)
    return found


@each_row("name", SENTENCES)
def test_a_sentence_is_said_somewhere_with_all_that_it_needs(name: str) -> None:
    """No sentence is left over, and none is short of a word: that would be a defect for its reader."""
    fields = {field for _, field, _, _ in string.Formatter().parse(SENTENCES[name]) if field}
    said = calls()[name]
    assert said
    assert all(
        given == fields or ("None" in given and given - {"None"} <= fields) for given in said
    )


def test_a_sentence_is_one_line_however_the_file_breaks_it() -> None:
    """And what is filled in is said as it is, its own line breaks included."""
    assert sentence("circle", task="a", blocker="b") == (
        "a cannot wait for b, which waits for a itself; nothing was done."
    )
    assert sentence("bd-long-text", longest=9, most=8) == (
        "The text is of 9 bytes, and bd takes 8 at most, so nothing was done; put the rest into a file, "
        "and its name into the text."
    )
    assert sentence("label-form", label="a\nb").startswith(r"'a\nb' can be no label")
    assert sentence("held", task="1", by="a\nb", since="").startswith("1 is held by a\nb;")
