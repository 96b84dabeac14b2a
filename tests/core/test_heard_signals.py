"""How a view that stays open hears of signals."""

from __future__ import annotations

import signal

from lifecycle.core.timing import heard


def test_signals_are_heard_until_the_end_and_then_are_as_before() -> None:
    """Each by its number; afterwards the handlers are those that were there, whatever they were."""
    numbers: list[int] = []
    before = [signal.signal(number, signal.SIG_IGN) for number in (signal.SIGUSR1, signal.SIGUSR2)]
    try:
        with heard(numbers.append, signal.SIGUSR1, signal.SIGUSR2):
            signal.raise_signal(signal.SIGUSR2)
            signal.raise_signal(signal.SIGUSR1)
        assert numbers == [signal.SIGUSR2, signal.SIGUSR1]
        assert signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGUSR2) is signal.SIG_IGN
    finally:
        for number, handler in zip((signal.SIGUSR1, signal.SIGUSR2), before, strict=True):
            signal.signal(number, handler)
