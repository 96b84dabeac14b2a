"""Nothing outside of `trackers/beads` knows that bd exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[3] / "lifecycle"
BEADS = PACKAGE / "trackers" / "beads"
_KNOWS = re.compile(r"(?<![\w./<-])bd(?![\w>-])|\bbeads\b|\.beads\b", re.IGNORECASE)

NAMES = {
    "trackers/registry.py",  # the dict of trackers names its module
    "trackers/command_signs.py",  # the table of each tracker's signs names its module
}


def _docstrings(tree: ast.Module) -> set[int]:
    """The strings that stand alone: documentation of what is above them or around them."""
    alone = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    return {id(value) for value in alone if isinstance(value, ast.Constant)}


def _said(path: Path) -> Iterator[str]:
    """Every name and every text in a module's code, if the module has the word at all."""
    source = path.read_text(encoding="utf-8")
    if not _KNOWS.search(source):
        return
    tree = ast.parse(source)
    prose = _docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value
        elif isinstance(node, ast.ImportFrom | ast.Import):
            yield f"{getattr(node, 'module', '')} {' '.join(alias.name for alias in node.names)}"
        elif isinstance(node, ast.Name | ast.Attribute):
            yield node.id if isinstance(node, ast.Name) else node.attr


def test_nothing_else_knows_bd() -> None:
    """No name, no import and no text in code: who wants tasks asks the registry."""
    found = {
        f"{path.relative_to(PACKAGE)}: {text[:80]!r}"
        for path in PACKAGE.rglob("*.py")
        if BEADS not in path.parents and str(path.relative_to(PACKAGE)) not in NAMES
        for text in _said(path)
        if _KNOWS.search(text)
    }
    assert found == set()
