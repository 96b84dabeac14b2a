"""Several sequences at a time: each process of a pool has a server of forks of its own."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from tests.e2e.forked import Forked
from tests.soak.soaking import Outcome, soak

_command: Path


def _begin() -> None:
    """A worker of the pool gets its server of forks, which ends with it: its stdin closes."""
    global _command  # noqa: PLW0603 -- one for each process of the pool
    _command = Forked().__enter__().command


def _soak(seed: int, end: float) -> Outcome | None:
    return soak(seed, _command) if time.monotonic() < end else None


def outcomes(seeds: range, jobs: int, seconds: float = math.inf) -> Iterator[Outcome]:
    """What the sequences of these seeds come to, as they end; so many at a time.

    None begins when so many seconds have passed.
    """
    end = time.monotonic() + seconds
    with ProcessPoolExecutor(jobs, get_context("spawn"), _begin) as pool:
        for done in as_completed([pool.submit(_soak, seed, end) for seed in seeds]):
            outcome = done.result()
            if outcome is not None:
                yield outcome
