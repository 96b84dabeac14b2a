"""The JSON Schema of an overview, written from the values that it is made of."""

from __future__ import annotations

import inspect
import json
import re
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from types import NoneType
from typing import Any

from lifecycle.views.overview import overview_values
from lifecycle.views.overview.overview_values import VERSION, Overview
from tests.docs.pages import ROOT

SCHEMA = ROOT / "lifecycle" / "views" / "overview" / "overview.schema.json"

_ABOUT = (
    "Everything about one worktree, as `lifecycle status --json` prints it. Keys are added and never taken "
    "away. A moment that nobody knows and a text that is empty are null."
)
_VERSION = {"description": "Of this form: another one if a key goes or changes.", "const": VERSION}
_WITHHELD = {
    "description": "Where settings are not followed until the user trusts them: which, and why.",
    "type": "string",
}
_ERROR = {
    "description": "`lifecycle status`: why the claim cannot be shown. The exit code is 1 then.",
    "type": "object",
    "required": ["kind", "sentence"],
    "properties": {"kind": {"type": "string"}, "sentence": {"type": "string"}},
}
_MOMENT = {
    "description": "ISO 8601 in UTC, whole seconds.",
    "type": ["string", "null"],
    "pattern": "^[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
}
_CLAIM_FILE: dict[str, Any] = {
    "issue_number": {"description": "As the claim's file has it.", "type": ["integer", "null"]},
    "pr_number": {"description": "As the claim's file has it.", "type": ["integer", "null"]},
    "pr_url": {"description": "The page of the pull request.", "type": ["string", "null"]},
    "pr_head": {"description": "The commit that is its head.", "type": ["string", "null"]},
    "checks": {"description": "What is kept of the last poll.", "type": ["object", "null"]},
    "outcome": {"description": "How it ended, if it did.", "type": ["string", "null"]},
    "linked": {"description": "The task that stands for the issue.", "type": ["object", "null"]},
}
"""What `lifecycle status --json` has of a claim beside the overview: its file, and what is kept with it."""


def schema() -> str:
    """The schema as it is shipped."""
    kinds: dict[str, Any] = {"Moment": _MOMENT}
    whole = _kind(Overview, kinds)
    kinds["OverviewClaim"]["properties"].update(_CLAIM_FILE)
    whole["required"].insert(0, "schema_version")
    whole["properties"] = {
        "schema_version": _VERSION,
        **whole["properties"],
        "withheld": _WITHHELD,
        "error": _ERROR,
    }
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **whole,
        "description": _ABOUT,
        "$defs": kinds,
    }
    return f"{json.dumps(document, indent=2)}\n"


def _kind(value: type[Any], kinds: dict[str, Any]) -> dict[str, Any]:
    """The schema of a value; those of the values in it are added to `kinds`."""
    types = typing.get_type_hints(value, {**vars(overview_values), "Mapping": Mapping})
    said = said_of(value)
    properties: dict[str, Any] = {}
    for name in (field.name for field in fields(value)):
        about = {"description": f"{said[name][0].upper()}{said[name][1:]}"} if name in said else {}
        properties[name] = {**about, **_type(types[name], kinds)}
    return {
        "title": value.__name__,
        "description": (inspect.getdoc(value) or "").partition("\n")[0],
        "type": "object",
        "required": list(properties),
        "properties": properties,
    }


def said_of(value: type[Any]) -> dict[str, str]:
    """What the docstring says of each attribute; of an inherited one, what the base's says."""
    said: dict[str, str] = {}
    for kind in reversed(value.__mro__):
        section = re.search(r"Attributes:\n(.*)", inspect.getdoc(kind) or "", re.DOTALL)
        lines = re.sub(r"\n {8,}", " ", section[1]).splitlines() if section is not None else []
        pairs = [line.strip().partition(": ") for line in lines]
        said |= {name: about for names, _, about in pairs for name in names.split(", ")}
    return said


def _type(kind: Any, kinds: dict[str, Any]) -> dict[str, Any]:
    simple: dict[Any, dict[str, Any]] = {
        float: {"$ref": "#/$defs/Moment"},
        int: {"type": "integer", "minimum": 0},
        bool: {"type": "boolean"},
        str: {"type": ["string", "null"]},
    }
    if kind in simple:
        return simple[kind]
    parts = typing.get_args(kind)
    if NoneType in parts:
        return {
            "anyOf": [
                *(_type(one, kinds) for one in parts if one is not NoneType),
                {"type": "null"},
            ]
        }
    if typing.get_origin(kind) is tuple:
        item = {"type": "string"} if parts[0] is str else _type(parts[0], kinds)
        return {"type": "array", "items": item}
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return {"enum": [one.value for one in kind]}
    if is_dataclass(kind) and isinstance(kind, type):
        kinds[kind.__name__] = _kind(kind, kinds)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    return {"type": "object", "additionalProperties": {"type": "string"}}
