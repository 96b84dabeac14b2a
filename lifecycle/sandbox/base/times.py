"""The present, at GitHub's resolution.

A world's clock may be ahead of the machine's, so that a test can let three days pass. Each request
is answered by the clock of the world that it is for; who asks without a request has the machine's.
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
    """The same for as long as a block runs."""
    token = _ahead.set(ahead)
    try:
        yield
    finally:
        _ahead.reset(token)


def stamp(moment: datetime | None) -> str | None:
    """A time as GitHub writes it: ISO 8601 in UTC to the second."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def attributes(thing: object, names: str) -> dict[str, Any]:
    """Attributes of a thing by their names, which spaces part, as JSON has them: a time is a stamp."""
    values = {name: getattr(thing, name) for name in names.split()}
    return {n: stamp(one) if isinstance(one, datetime) else one for n, one in values.items()}
