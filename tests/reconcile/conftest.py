"""Grounds that end with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.reconcile.ground import Given, Ground, ground

Make = Callable[..., Ground]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """`make(task, …, seed part=…)`: a sandbox with these tasks."""
    serial = count()
    with ExitStack() as stack:

        def made(*tasks: Given, **changes: Any) -> Ground:
            folder = tmp_path / f"ground-{next(serial)}"
            return stack.enter_context(ground(folder, *tasks, **changes))

        yield made
