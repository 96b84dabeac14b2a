"""The rooms of the product and what they import, drawn from the imports themselves."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.docs.pages import ROOT
from tests.test_imports import APART, LAYERS, every_import

PACKAGE = ROOT / "lifecycle"
_NAMES = {"__main__": "lifecycle"}
_STEM = "lifecycle."


def imports() -> dict[str, set[str]]:
    """Each room, and the other rooms that it imports from."""
    names = [*(room for layer in LAYERS for room in layer), APART]
    seen: dict[str, set[str]] = {name: set() for name in names}
    for found in every_import():
        importer = found.module.partition(".")[0]
        imported = found.target.removeprefix(_STEM).partition(".")[0]
        if found.target.startswith(_STEM) and importer in seen and imported != importer:
            seen[importer].add(imported)
    return seen


def reduced(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """The same graph without the edges that a longer way goes along, too."""

    def below(room: str) -> set[str]:
        return graph[room].union(*(below(one) for one in graph[room]))

    return {
        room: {one for one in ones if not any(one in below(other) for other in ones - {one})}
        for room, ones in graph.items()
    }


def rooms() -> str:
    """The rooms as a Mermaid diagram: an arrow leads from a room to one that it imports."""
    lines = ["```mermaid", "flowchart TD"]
    for room, ones in reversed(reduced(imports()).items()):
        lines += [f"    {_named(room)} --> {one}" for one in sorted(ones)]
    return "\n".join([*lines, "```"])


def tree() -> str:
    """The rooms from top to bottom, each with the first line of its docstring."""
    paths = {room: _path(room) for room in reversed(imports())}
    names = {
        room: f"{room}.py" if path.stem == room else f"{room}/" for room, path in paths.items()
    }
    width = max(map(len, names.values()))
    lines = [f"  {names[room]:<{width}}  {_purpose(path)}" for room, path in paths.items()]
    return "\n".join(["```text", "lifecycle/", *lines, "```"])


def _named(room: str) -> str:
    return _NAMES.get(room, room)


def _path(room: str) -> Path:
    """The file whose docstring says what a room is for."""
    module = PACKAGE / f"{room}.py"
    return module if module.exists() else PACKAGE / room / "__init__.py"


def _purpose(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.splitlines()[0].rstrip(".")
