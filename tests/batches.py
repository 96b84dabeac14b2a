"""Tables of hundreds of rows, tested in batches: a case of pytest's costs more than the row that it tests.

Collecting a case three times, running it and telling of it takes 5 ms of CPU; reading a sentence, a tenth
of one. A test of a batch judges all of its rows and then fails once, with the name of each wrong row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest

_Row = TypeVar("_Row")


def batched(rows: Sequence[_Row], size: int = 100) -> pytest.MarkDecorator:
    """One case, `batch`, for so many rows each; a table without rows is an error."""
    batches = [rows[start : start + size] for start in range(0, len(rows), size)]
    ids = [f"{n * size + 1}-{n * size + len(batch)}" for n, batch in enumerate(batches)]
    return pytest.mark.parametrize("batch", batches, ids=ids)


def wrong(
    batch: Sequence[_Row], name: Callable[[_Row], str], got: Callable[[_Row], Any], wanted: Any
) -> list[str]:
    """A line for each row of a batch that does not come to what it should: its name, and both.

    Args:
        batch: the rows, one at least.
        name: what a failure calls a row.
        got: what a row comes to.
        wanted: what it should, as a value or as a function of the row.
    """
    assert batch
    found = [(row, got(row), wanted(row) if callable(wanted) else wanted) for row in batch]
    return [f"{name(row)}: {came!r}, not {due!r}" for row, came, due in found if came != due]
