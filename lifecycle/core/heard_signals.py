"""Signals for a view that stays open, or a command that waits; the former handlers are restored."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def heard(listen: Callable[[int], object], *numbers: int) -> Iterator[None]:
    """Call `listen` with the number of each of these signals that arrives; main thread only."""
    before = {number: signal.signal(number, lambda came, _: listen(came)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
