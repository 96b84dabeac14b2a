"""The overview of one worktree as JSON, in the form of `overview.schema.json`. It only gains keys."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from lifecycle.core.timing import render_time
from lifecycle.views.overview.overview_values import Overview

VERSION = 1
"""Of the form; it changes when a key goes or changes its meaning."""


def overview_json(overview: Overview) -> dict[str, Any]:
    """All fields of an overview, by their names.

    A moment is ISO 8601 in UTC; one that nobody knows, and a text that is empty, is null.
    """
    return {"schema_version": VERSION, **{name: _plain(value) for name, value in _items(overview)}}


def _items(value: Any) -> list[tuple[str, Any]]:
    return [(field.name, getattr(value, field.name)) for field in fields(value)]


def _plain(value: Any) -> Any:
    if isinstance(value, float):  # every one of them is a moment; counts are integers
        return render_time(value) if value > 0 else None
    if isinstance(value, str):
        return str(value) or None
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if is_dataclass(value):
        return {name: _plain(one) for name, one in _items(value)}
    return dict(value) if isinstance(value, dict) else value
