"""The sandbox's clock, in whole seconds as on GitHub, and GitHub's form of times.

A world's clock may be ahead of the machine's, so that a test can let three days pass. A request is
answered with its world's clock; outside of requests it is the machine's.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_ahead: ContextVar[float] = ContextVar("ahead", default=0.0)


def now() -> datetime:
    """The present in UTC, without fractions of a second."""
    return (datetime.now(UTC) + timedelta(seconds=_ahead.get())).replace(microsecond=0)


def set_clock(ahead: float) -> None:
    """Set the clock of this thread this many seconds ahead of the machine's."""
    _ahead.set(ahead)


@contextmanager
def clock(ahead: float) -> Iterator[None]:
    """Set the clock this many seconds ahead while the block runs, then back."""
    token = _ahead.set(ahead)
    try:
        yield
    finally:
        _ahead.reset(token)


def stamp(moment: datetime | None) -> str | None:
    """A time in GitHub's form: ISO 8601 in UTC, without fractions of a second."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def attributes(entity: object, names: str) -> dict[str, Any]:
    """The attributes that `names` lists, separated by spaces; times in GitHub's form."""
    values = {name: getattr(entity, name) for name in names.split()}
    return {
        n: stamp(value) if isinstance(value, datetime) else value for n, value in values.items()
    }
