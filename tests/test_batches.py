"""A batch of rows is tested as its rows would be, one by one."""

from __future__ import annotations

import pytest

from tests.batches import batched, wrong

ROWS = [1, 2, 3, 4, 5]


def test_each_wrong_row_is_named_and_no_other() -> None:
    """One that fails does not hide the next; what it came to and what it should are told."""
    assert wrong(ROWS, str, lambda row: row % 2, lambda row: int(row != 3 and row % 2)) == [
        "3: 1, not 0"
    ]
    assert wrong(ROWS, str, lambda row: row > 3, False) == [
        "4: True, not False",
        "5: True, not False",
    ]
    assert wrong(ROWS, str, lambda row: row, lambda row: row) == []


def test_every_row_is_in_one_batch_that_says_which() -> None:
    """The last batch has what is left; a batch without rows is none."""
    ((names, batches), given) = batched(ROWS, 2).args, batched(ROWS, 2).kwargs
    assert (names, batches, given["ids"]) == ("batch", [[1, 2], [3, 4], [5]], ["1-2", "3-4", "5-5"])
    with pytest.raises(AssertionError):
        wrong([], str, str, "")
