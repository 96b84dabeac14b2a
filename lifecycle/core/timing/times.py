"""Timestamps: the one module that knows dateutil.

Inside the product a moment is a float of seconds since the epoch. Outside, in the claim file and in
GitHub's answers, it is ISO 8601 text, written by people and machines of all kinds.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

_GITHUBS = len("2026-01-31T09:30:00Z")


def parse(text: object) -> float | None:
    """Seconds since the epoch, or None for anything that is not a readable timestamp.

    A timestamp without a zone is taken as UTC.
    """
    if not isinstance(text, str) or not text.strip():
        return None
    if len(text) == _GITHUBS and text[10] == "T" and text[-1] == "Z":
        # As GitHub writes them all: a sweep reads tens of thousands, a look should not load dateutil.
        with suppress(ValueError):
            return datetime.fromisoformat(text).timestamp()
    import warnings

    from dateutil import parser

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an unknown zone's name: read as UTC, like none
            moment = parser.parse(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp()
    except (ValueError, OverflowError, TypeError):
        return None


def render(moment: float) -> str:
    """ISO 8601 in UTC with whole seconds, as GitHub writes it: `2026-01-31T09:30:00Z`."""
    return datetime.fromtimestamp(int(moment), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
