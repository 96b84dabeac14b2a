"""The table of lines that tell an error."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lifecycle.feedback.checks.log_lines import MOST_READ, AnchorRank, is_of, rank_of, table


def ranked(line: str) -> AnchorRank:
    """The rank of a line, hints among them."""
    rank = rank_of(line)
    return AnchorRank.HINT if rank is AnchorRank.NONE and is_of(AnchorRank.HINT, line) else rank


def test_every_row_knows_its_own_lines() -> None:
    """Each line that a row is for has at least that row's rank; there is no row without one."""
    rows = table()["anchor"]
    assert len(rows) > 15
    for row in rows:
        assert set(row) - {"has"} == {"of", "rank", "pattern", "lines"}, row
        assert row["lines"], row["of"]
        wrong = [line for line in row["lines"] if ranked(line) < AnchorRank(row["rank"])]
        assert wrong == [], row["of"]


@pytest.mark.parametrize(
    "row", [row for row in table()["anchor"] if "has" in row], ids=itemgetter("of")
)
@settings(max_examples=200)
@given(data=st.data())
def test_no_line_of_a_row_lacks_its_words(row: dict[str, Any], data: st.DataObject) -> None:
    """A pattern is tried only where one of them stands: what it matches would be lost without."""
    ascii_ = st.characters(codec="ascii")
    line = data.draw(st.from_regex(rf"\A(?:{row['pattern']})", alphabet=ascii_))
    assume(re.match(row["pattern"], line))
    assert any(word in line.lower() for word in row["has"]), line


@pytest.mark.parametrize(
    "line",
    [
        "",
        "collected 150 items",
        "tests/test_many.py ......................................... [ 35%]",
        "src/m9.c:1:21: warning: unused variable 'unused' [-Wunused-variable]",
        "Successfully installed errors-1.0 fatal-2.0",
        "0 errors, 0 failures",
        "checked 812 files without problems",
        "test_missing_user ... ok (3 passed)",
        "test result: ok. 80 passed; 0 failed",
        "##[error]Process completed with exit code 1.",
    ],
)
def test_a_line_that_tells_no_error_is_no_anchor(line: str) -> None:
    """Progress, warnings, and sums without a failure; and what Actions ends each failed step with."""
    assert ranked(line) is AnchorRank.NONE


def test_a_line_without_end_is_read_to_a_limit() -> None:
    """What stands far behind in a bundle of one line is not looked for."""
    assert MOST_READ == 2_000
    assert rank_of("x" * MOST_READ + " error: here") is AnchorRank.NONE
    assert rank_of("x error: here" + "x" * 10 * MOST_READ) is AnchorRank.TROUBLE
