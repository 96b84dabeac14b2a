"""Reading GitHub's JSON without trusting its shape: what is absent or odd is empty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]


def nodes(node: Json, connection: str) -> list[Json]:
    """The entries of a connection, without the holes."""
    return [one for one in part(node, connection).get("nodes") or [] if one]


def part(node: Json, key: str) -> Json:
    """An object inside an object."""
    found = node.get(key)
    return found if isinstance(found, Mapping) else {}


def text(node: Json, key: str) -> str:
    """A text inside an object."""
    found = node.get(key)
    return found if isinstance(found, str) else ""


def word(value: object) -> str:
    """A word of an enumeration in GraphQL's spelling; REST writes them in lower case."""
    return value.upper() if isinstance(value, str) else ""


def login_of(found: Json) -> str:
    """Who wrote something; "" if the account is gone."""
    return str((found.get("user") or {}).get("login") or "")
