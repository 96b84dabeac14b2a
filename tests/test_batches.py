"""A batch of rows is tested as its rows would be, one by one."""

from __future__ import annotations

from inspect import signature

import pytest

from tests.asserted import NOTHING
from tests.batches import batched, each_row, wrong

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


@each_row(("number", "half"), [(2, 1), (3, 2), (6, 3), (9, 5), (0, None), ("x", 0)])
def halves(number: int, *, half: int | None) -> None:
    """A table that is wrong in each way."""
    halved = number // 2
    if half is not None:
        assert halved == half


def test_a_row_that_fails_raises_or_asserts_nothing_is_named_with_what_it_came_to() -> None:
    """The rows behind it are judged as well; the first failure's place in the code is there, too."""
    with pytest.raises(AssertionError) as failed:
        halves()
    assert str(failed.value).splitlines() == [
        "4 of 6 rows are wrong",
        "3, 2: assert 1 == 2",
        "9, 5: assert 4 == 5",
        f"0, None: AssertionError: {NOTHING}",
        "'x', 0: TypeError: unsupported operand type(s) for //: 'str' and 'int'",
    ]
    assert str(failed.value.__cause__) == "assert 1 == 2"


def test_what_waited_in_vain_or_left_itself_out_is_a_wrong_row() -> None:
    """Neither hides the next one; a row has the name that it was given."""

    @each_row("number", ["1", "x", "skip"], ids=["one", "no number", "left out"])
    def none_is_a_number(number: str) -> None:
        if number == "skip":
            pytest.skip("why")
        with pytest.raises(ValueError, match=number):
            int(number)

    with pytest.raises(AssertionError) as failed:
        none_is_a_number()
    assert str(failed.value).splitlines() == [
        "2 of 3 rows are wrong",
        "one: Failed: DID NOT RAISE ValueError",
        "left out: Skipped: why",
    ]


def test_a_table_has_rows_of_one_form_and_a_name_for_each() -> None:
    """One without rows tests nothing; one whose rows have no name, or whose values no place, is none."""

    def positive(number: int) -> None:
        assert number > 0

    with pytest.raises(AssertionError, match="a table without rows tests nothing"):
        each_row("number", [])(positive)()
    for names, rows, ids in ((("number",), [(1, 2)], repr), ("number", [1, 2], ["one"])):
        with pytest.raises(ValueError, match="zip"):
            each_row(names, rows, ids)(positive)()


def test_a_test_takes_nothing_but_its_row() -> None:
    """A fixture would be the same for all rows; pytest asks for none."""

    def with_a_fixture(number: int, tmp_path: object) -> None:
        assert number
        assert tmp_path

    with pytest.raises(TypeError, match="takes its row, and nothing else: number"):
        each_row("number", [1])(with_a_fixture)
    assert not signature(halves).parameters
