"""The sandbox's clock, which counts whole seconds as GitHub does, and times as GitHub writes them.

A world's clock may be ahead of the machine's, so that a test can let three days pass. Each request
is answered by the clock of the world that it is for; outside of requests it is the machine's.
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
    """The present in UTC, to the second."""
    return (datetime.now(UTC) + timedelta(seconds=_ahead.get())).replace(microsecond=0)


def set_clock(ahead: float) -> None:
    """Let the clock of this thread be so many seconds ahead of the machine's."""
    _ahead.set(ahead)


@contextmanager
def clock(ahead: float) -> Iterator[None]:
    """Set the clock so many seconds ahead while the block runs, then back."""
    token = _ahead.set(ahead)
    try:
        yield
    finally:
        _ahead.reset(token)


def stamp(moment: datetime | None) -> str | None:
    """A time as GitHub writes it: ISO 8601 in UTC to the second."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def attributes(entity: object, names: str) -> dict[str, Any]:
    """The attributes of an object that `names` lists, parted by spaces; times as GitHub writes them."""
    values = {name: getattr(entity, name) for name in names.split()}
    return {
        n: stamp(value) if isinstance(value, datetime) else value for n, value in values.items()
    }
