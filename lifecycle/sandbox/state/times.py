"""The present, at GitHub's resolution."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """The present in UTC, to the second."""
    return datetime.now(UTC).replace(microsecond=0)


def stamp(moment: datetime | None) -> str | None:
    """A time as GitHub writes it: ISO 8601 in UTC to the second."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None
