"""Paths of the REST API: names in them, and the page that comes next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from lifecycle.core.errors import Refused

DOTS = frozenset({".", ".."})
"""Parts of a path that name no thing, but lead elsewhere."""


def part(text: str) -> str:
    """A name as one part of a path: a label or branch may hold anything.

    Raises:
        Refused: it is empty, `.` or `..`: no address names that, not even as `%2E`, which every client
            and server may read as a dot. Source: https://www.rfc-editor.org/rfc/rfc3986#section-6.2.2
    """
    if not text.strip() or text in DOTS:
        raise astray(f"the name {text!r}")
    return quote(text, safe="")


def astray(subject: str) -> Refused:
    """The refusal of a path that would lead to something else."""
    return Refused(
        f"No address can hold {subject}: empty or made of dots, it would lead to something else; nothing "
        "was done: give the whole name, or change it on GitHub's page."
    )


def following(headers: Mapping[str, Any], page: dict[str, Any]) -> dict[str, Any] | None:
    """The parameters of the page that `Link` calls next, None on the last one."""
    for link in str(headers.get("link") or "").split(","):
        target, _, rel = link.strip().partition(";")
        if 'rel="next"' in rel:
            return {**page, **dict(parse_qsl(urlsplit(target.strip("<> ")).query))}
    return None
