"""Tables of twenty rows and more are one case of pytest's, or some: a case costs more than such a row.

Collecting a case three times, running it and telling of it takes 5 ms of CPU; reading a sentence, a tenth
of one. Such a test judges all of its rows and then fails once, with the name of each wrong row: `each_row`
is written as `pytest.mark.parametrize`, and `wrong` compares what a function makes of the rows.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import pytest

from tests.asserted import NOTHING, asserts

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


def each_row(
    names: str | tuple[str, ...],
    rows: Iterable[Any],
    ids: Callable[[Any], str] | Iterable[str] = repr,
) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """A test of every row, written as for `pytest.mark.parametrize`, and one case of pytest's.

    It takes nothing but its row: what a fixture gives would be the same for all of them. Each row has to
    assert something, and a table has to have rows.

    Args:
        names: the test's arguments; one name, or a tuple of them.
        rows: their values; tuples, if the names are one.
        ids: what a failure calls a value, or what it calls each row.
    """
    table = [row if isinstance(names, tuple) else (row,) for row in rows]
    called = [", ".join(map(ids, row)) for row in table] if callable(ids) else list(ids)
    named = (names,) if isinstance(names, str) else names

    def of_all(test: Callable[..., None]) -> Callable[[], None]:
        if set(inspect.signature(test).parameters) != set(named):
            raise TypeError(f"{test.__name__} takes its row, and nothing else: {', '.join(named)}")

        @functools.wraps(test)
        def judged() -> None:
            assert table, "a table without rows tests nothing"
            found = [_failure(test, dict(zip(named, row, strict=True))) for row in table]
            failed = [
                (name, why) for name, why in zip(called, found, strict=True) if why is not None
            ]
            if failed:
                told = [f"{name}: {_told(why)}" for name, why in failed]
                count = f"{len(failed)} of {len(table)} rows are wrong"
                raise AssertionError("\n".join([count, *told])) from failed[0][1]

        judged.__signature__ = inspect.Signature()  # type: ignore[attr-defined]
        return judged

    return of_all


def _failure(test: Callable[..., None], row: dict[str, Any]) -> BaseException | None:
    try:
        assert asserts(functools.partial(test, **row)), NOTHING
    except (Exception, pytest.fail.Exception, pytest.skip.Exception) as why:  # noqa: BLE001
        return why
    return None


def _told(why: BaseException) -> str:
    return pytest.ExceptionInfo.from_exception(why).exconly(tryshort=True)
