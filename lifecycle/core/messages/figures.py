"""Counts, times and parts in words that a person reads at a glance. Pure."""

from __future__ import annotations

import re

from lifecycle.core import errors, timing

_UNITS = {"m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_MINUTE, _HOUR, _DAY = _UNITS["m"], _UNITS["h"], _UNITS["d"]
_MOST = 100_000


def moment(text: str, now: float) -> float:
    """The moment that `7d`, `24h`, `90m`, `2w` (before now) or a date means.

    Raises:
        Refused: the text has none of these forms.
    """
    match = re.fullmatch(r"(\d{1,6})([mhdw])", text.strip())
    if match is not None and 0 < int(match[1]) <= _MOST:
        return now - int(match[1]) * _UNITS[match[2]]
    at = timing.parse_time(text) if re.match(r"\d{4}-\d\d", text.strip()) else None
    if at is None:
        raise errors.Refused(
            f"{text!r} is no period, so nothing was counted; use a number with m, h, d or w, as 7d, or a "
            "date, as 2026-01-31."
        )
    return at


def minute(at: float) -> str:
    """A moment in UTC: `2026-01-31 08:05`."""
    return timing.render_time(at)[: len("2026-01-31T08:05")].replace("T", " ")


def span(seconds: float) -> str:
    """A length of time: `45 s`, `12 min`, `3.4 h`, `2.1 d`."""
    if round(seconds) < _MINUTE:
        return f"{round(seconds)} s"
    if round(seconds / _MINUTE) < _MINUTE:
        return f"{round(seconds / _MINUTE)} min"
    return f"{seconds / _HOUR:.1f} h" if seconds < _DAY else f"{seconds / _DAY:.1f} d"


def part(value: float | None) -> str:
    """A part of a whole: `83 %`, or a hyphen if there is no whole; only all is 100 %, and none 0 %."""
    if value is None:
        return "-"
    percent = round(100 * value)
    return f"{min(max(percent, 1), 99) if 0 < value < 1 else percent} %"


def count(number: int, singular: str, plural: str = "") -> str:
    """A number with its noun: `1 task`, `2 tasks`; `plural` if it is not the noun with an s."""
    return f"{number:,} {singular if number == 1 else plural or f'{singular}s'}"
