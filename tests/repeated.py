"""What repeats itself for certainty: the suite shows a rule once, `make soak` the same many times over.

A test, or a case of one, that is marked `soak` is left out by `make test` and run by `make soak`, which
also gives each property more examples (the profile `soak` of Hypothesis).
"""

from __future__ import annotations

from typing import Any

import pytest


def soaked(*values: Any, id: str | None = None) -> Any:  # noqa: A002 - pytest's own word
    """A case that only `make soak` runs."""
    return pytest.param(*values, id=id, marks=pytest.mark.soak)


DEATHS = pytest.mark.parametrize(
    "after", [soaked(False, id="before"), pytest.param(True, id="after")]
)
"""Dead before or after a write. What is left before one is what is left after the one before it, unless
something but the writes changes it in between."""
