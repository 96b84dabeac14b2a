"""A board's ids as JSON values, for the cache, and back."""

from __future__ import annotations

from typing import Any

from lifecycle.core.values.model import BoardField, BoardSchema


def as_json(schema: BoardSchema) -> dict[str, Any]:
    """The schema as the cache keeps it."""
    fields = [
        {
            "id": one.id,
            "name": one.name,
            "kind": one.kind,
            "options": [list(o) for o in one.options],
        }
        for one in schema.fields
    ]
    return {
        "project_id": schema.project_id,
        "title": schema.title,
        "url": schema.url,
        "viewer": schema.viewer,
        "fields": fields,
    }


def from_json(found: object) -> BoardSchema | None:
    """The cached schema; None if there is none, or if another version wrote another shape."""
    if not isinstance(found, dict):
        return None
    try:
        fields = tuple(
            BoardField(
                str(one["id"]),
                str(one["name"]),
                str(one["kind"]),
                tuple((str(name), str(option)) for name, option in one["options"]),
            )
            for one in found["fields"]
        )
        names = [str(found[key]) for key in ("project_id", "title", "url", "viewer")]
    except (KeyError, TypeError, ValueError):
        return None
    return BoardSchema(names[0], names[1], names[2], names[3], fields)
