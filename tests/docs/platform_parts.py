"""What docs/platforms.md takes from the product: the form of a platform.json, and what is shipped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from inspect import cleandoc
from typing import Any

import msgspec

from lifecycle.platforms import platform_file, selection
from tests.docs.pages import ROOT

PLATFORMS = ROOT / "docs" / "platforms.md"
SCHEMA = ROOT / "lifecycle" / "platforms" / "platform.schema.json"


def schema() -> str:
    """The JSON schema of the form, as text; what a key is for is told by its class's docstring."""
    document = msgspec.json.schema(platform_file.PlatformFile)
    for form in (
        platform_file.PlatformFile,
        platform_file.QualityGates,
        platform_file.Condition,
        platform_file.CoverageSource,
    ):
        about = document["$defs"][form.__name__]
        text = cleandoc(about["description"])
        about["description"], _, listed = text.partition("\n\nAttributes:\n    ")
        keys = dict(zip(form.__struct_fields__, form.__struct_encode_fields__, strict=True))
        for entry in re.split(r"\n    (?=\S)", listed):
            name, _, purpose = entry.partition(": ")
            key, properties = keys[name], about["properties"]
            properties[key] = {"description": " ".join(purpose.split()), **properties[key]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def keys() -> str:
    """Each key of the form with its type and meaning, as a table."""
    kinds = json.loads(schema())["$defs"]
    rows = ["| key | type | default | meaning |", "|---|---|---|---|"]
    for name, about in _keys(kinds["PlatformFile"], kinds, ""):
        needed = about.get("needed", False)
        default = "needed" if needed else _default(about)
        rows.append(f"| `{name}` | {_type(about)} | {default} | {about.get('description', '')} |")
    return "\n".join(rows)


def shipped() -> str:
    """Each shipped platform: its markers, and the commands that workflows ask for."""
    rows = [
        "| name | markers | build | test | lint | coverage | priority |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in selection.discover(ROOT / "docs", {}).platforms:
        about = one.about
        joint = " and " if about.match_mode == "all" else ", "
        markers = joint.join(about.markers).replace("*", r"\*")
        cells = [_command(one, name) for name in ("build", "test", "lint", "coverage")]
        rows.append(f"| {about.name} | {markers} | {' | '.join(cells)} | {about.priority} |")
    return "\n".join([*rows, "", "¹ only where the project asks for it (`needs`)."])


def _keys(
    kind: Mapping[str, Any], kinds: Mapping[str, Any], before: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, about in kind["properties"].items():
        whole = {**about, "needed": name in kind["required"] and not before}
        parts = [about, *about.get("anyOf", [])]
        inner = next((part["$ref"].rpartition("/")[2] for part in parts if "$ref" in part), "")
        if inner:
            yield from _keys(kinds[inner], kinds, f"{before}{name}.")
        else:
            yield f"{before}{name}", whole


def _type(about: Mapping[str, Any]) -> str:
    if "enum" in about:
        return " or ".join(f"`{word}`" for word in about["enum"])
    kinds = {"string": "text", "array": "list", "object": "object", "integer": "whole number"}
    return kinds.get(about.get("type", ""), "anything")


def _default(about: Mapping[str, Any]) -> str:
    value = about.get("default")
    return f"`{json.dumps(value)}`" if value not in (None, "", [], {}) else ""


def _command(one: selection.Platform, name: str) -> str:
    words = one.commands.get(name, ())
    lines = [" ".join(argv) for argv in words]
    # Whole command lines would make the table too wide.
    shown = ", ".join(f"`{_short(line)}`".replace("|", r"\|") for line in lines)
    return f"{shown} ¹" if name in one.about.needs else shown


def _short(line: str) -> str:
    return line if len(line) <= 32 else f"{line[:31]}…"
