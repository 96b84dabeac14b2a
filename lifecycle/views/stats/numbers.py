"""Times in a few numbers. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, median

_NINETY = 0.9


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds in a few numbers; all 0.0 if there are none.

    Attributes:
        count: how many there are.
        total, mean, median: as the words say.
        p90: nine of ten took no longer: the smallest one of which that is true (nearest rank).
    """

    count: int = 0
    total: float = 0.0
    mean: float = 0.0
    median: float = 0.0
    p90: float = 0.0

    @classmethod
    def of(cls, seconds: Iterable[float]) -> Times:
        """The numbers of these times."""
        known = sorted(seconds)
        if not known:
            return cls()
        nearest = known[math.ceil(_NINETY * len(known)) - 1]
        return cls(len(known), math.fsum(known), fmean(known), median(known), nearest)


def rate(part: int, whole: int) -> float | None:
    """The part of the whole, from 0 to 1, or None of nothing."""
    return part / whole if whole else None
