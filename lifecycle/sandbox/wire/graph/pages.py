"""What every GraphQL field may answer beside a plain value: a page of things, or a refusal."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from lifecycle.sandbox.accounts.state import Token
from lifecycle.sandbox.wire.call import Call


def camel(name: str) -> str:
    """A name of the world or of REST as GraphQL writes it."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def connection(
    things: Sequence[Any],
    *,
    first: int | None = None,
    last: int | None = None,
    after: str | None = None,
    before: str | None = None,
) -> dict[str, Any]:
    """A page of things. A cursor is opaque: the place in the list, wrapped.

    Source: https://docs.github.com/graphql/guides/using-pagination-in-the-graphql-api
    """
    start = _place(after, "after") if after else 0
    stop = _place(before, "before") - 1 if before else len(things)
    if first is not None:
        stop = min(stop, start + first)
    elif last is not None:
        start = max(start, stop - last)
    page = list(things[start:stop])
    answer: dict[str, Any] = {
        "nodes": page,
        "totalCount": len(things),
        "pageInfo": {
            "hasNextPage": stop < len(things),
            "hasPreviousPage": start > 0,
            "startCursor": _cursor(start + 1) if page else None,
            "endCursor": _cursor(start + len(page)) if page else None,
        },
    }
    answer["edges"] = lambda: _edges(answer["nodes"], start)
    return answer


def _edges(nodes: Sequence[Any], start: int) -> list[dict[str, Any]]:
    """Made when asked for, of the nodes as they are then: a caller may have forbidden some."""
    return [{"cursor": _cursor(place), "node": one} for place, one in enumerate(nodes, start + 1)]


def _cursor(place: int) -> str:
    return base64.b64encode(f"cursor:v2:{place}".encode()).decode()


def _place(cursor: str, name: str) -> int:
    try:
        return int(base64.b64decode(cursor, validate=True).decode().removeprefix("cursor:v2:"))
    except ValueError:
        raise Refusal(
            "INVALID_CURSOR_ARGUMENTS", f"`{cursor}` does not appear to be a valid cursor: {name}."
        ) from None


class Refusal(Exception):
    """A field that fails: it becomes null, and this becomes an error beside the data."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def not_found(message: str) -> Refusal:
    """Nothing is there, or the token may not see it."""
    return Refusal("NOT_FOUND", message)


def no_node(node_id: str) -> Refusal:
    """Nothing has that global id."""
    return not_found(f"Could not resolve to a node with the global id of '{node_id}'.")


def forbidden(token: Token) -> Refusal:
    """A token of permissions that lacks the one needed."""
    return Refusal("FORBIDDEN", token.refusal)


def no_permission(call: Call) -> Refusal:
    """Somebody who sees a thing and may not change it, in the words that `gh` prints in reports."""
    login, name = call.viewer.login, call.mutation
    words = f"{login} does not have the correct permissions to execute `{name}`"
    return Refusal("FORBIDDEN", words)


def rejected(message: str) -> Refusal:
    """A mutation whose input makes no sense for what is there."""
    return Refusal("VALIDATION", message)
