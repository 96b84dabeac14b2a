"""Answers of a GraphQL field other than a plain value: a page of a list, or a refusal."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from lifecycle.sandbox.accounts.state import Token
from lifecycle.sandbox.wire.call import Call


def camel(name: str) -> str:
    """Turn a name with underscores into GraphQL's form: `merge_pull` becomes `mergePull`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def connection(
    entries: Sequence[Any],
    *,
    first: int | None = None,
    last: int | None = None,
    after: str | None = None,
    before: str | None = None,
) -> dict[str, Any]:
    """The GraphQL connection that shows one page of `entries`.

    A cursor contains the position in the list, counted from 1; clients treat it as opaque.

    Source: https://docs.github.com/graphql/guides/using-pagination-in-the-graphql-api
    """
    start = _place(after, "after") if after else 0
    stop = _place(before, "before") - 1 if before else len(entries)
    if first is not None:
        stop = min(stop, start + first)
    elif last is not None:
        start = max(start, stop - last)
    page = list(entries[start:stop])
    answer: dict[str, Any] = {
        "nodes": page,
        "totalCount": len(entries),
        "pageInfo": {
            "hasNextPage": stop < len(entries),
            "hasPreviousPage": start > 0,
            "startCursor": _cursor(start + 1) if page else None,
            "endCursor": _cursor(start + len(page)) if page else None,
        },
    }
    answer["edges"] = lambda: _edges(answer["nodes"], start)
    return answer


def _edges(nodes: Sequence[Any], start: int) -> list[dict[str, Any]]:
    """The edges of a page, made when asked for: until then a caller may put refusals among the nodes."""
    return [{"cursor": _cursor(place), "node": node} for place, node in enumerate(nodes, start + 1)]


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
    """A field that fails: it becomes null, and this becomes an error next to the data."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def not_found(message: str) -> Refusal:
    """A NOT_FOUND error: there is no such object, or the token may not see it."""
    return Refusal("NOT_FOUND", message)


def no_node(node_id: str) -> Refusal:
    """A NOT_FOUND error in GitHub's words: no object has that global id."""
    return not_found(f"Could not resolve to a node with the global id of '{node_id}'.")


def forbidden(token: Token) -> Refusal:
    """A FORBIDDEN error: the token lacks the necessary permission."""
    return Refusal("FORBIDDEN", token.refusal)


def no_permission(call: Call) -> Refusal:
    """A FORBIDDEN error: the viewer may see but not change it. The words are from reports of `gh`."""
    login, name = call.viewer.login, call.mutation
    words = f"{login} does not have the correct permissions to execute `{name}`"
    return Refusal("FORBIDDEN", words)


def rejected(message: str) -> Refusal:
    """A VALIDATION error: a mutation's input makes no sense in the present state."""
    return Refusal("VALIDATION", message)
