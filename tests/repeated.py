"""What repeats itself for certainty: the suite shows a rule once, `make soak` the same many times over.

A test, or a case of one, that is marked `soak` is left out by `make test` and run by `make soak`, which
also gives each property more examples (the profile `soak` of Hypothesis).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest


def soaked(*values: Any, id: str | None = None) -> Any:  # noqa: A002 - pytest's own word
    """A case that only `make soak` runs."""
    return pytest.param(*values, id=id, marks=pytest.mark.soak)


def crossed(rows: Mapping[str, Any], columns: Mapping[str, Any]) -> list[Any]:
    """Cases of two arguments: each row with the first column, and each column with the first row.

    The other pairs, whose two halves these show, are soaked.
    """
    first_row, first_column = next(iter(rows)), next(iter(columns))
    return [
        (pytest.param if row == first_row or column == first_column else soaked)(
            rows[row], columns[column], id=f"{row}-{column}"
        )
        for row in rows
        for column in columns
    ]


DEATHS = pytest.mark.parametrize(
    "after", [soaked(False, id="before"), pytest.param(True, id="after")]
)
"""Dead before or after a write. What is left before one is what is left after the one before it, unless
something but the writes changes it in between."""
