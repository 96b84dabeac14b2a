"""The lines of a file from its end: each once, with the place where it begins."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.stages.transcript import file_tail
from lifecycle.storage import regular_files

NEEDLE = re.compile(b"needle")
LINES = st.lists(
    st.one_of(
        st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"")),
        st.sampled_from(
            [b"x" * 70_000, b"needle", b"a needle and a needle", b"y" * 140_000, b"needl"]
        ),
    ),
    max_size=6,
)


@contextmanager
def opened(folder: Path, content: bytes) -> Iterator[int]:
    """A descriptor of a file that holds this."""
    path = folder / "lines"
    path.write_bytes(content)
    descriptor = regular_files.opened(str(path))
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@given(LINES)
def test_each_line_comes_once_with_its_place(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    """From the last to the first, whatever the blocks cut; the place is where the file has the line."""
    content = b"".join(line + b"\n" for line in lines)
    with opened(tmp_path_factory.getbasetemp(), content) as descriptor:
        found = list(file_tail.lines(descriptor, 10_000_000))
    for place, line in found:
        assert line is not None
        assert content[place : place + len(line) + 1] in (line + b"\n", line)
    assert [line for _, line in found if line] == [line for line in reversed(lines) if line]


@given(LINES, st.data())
def test_a_search_finds_each_line_that_matches_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], data: st.DataObject
) -> None:
    """The last one first, and none that begins behind the place where the search begins."""
    content = b"".join(line + b"\n" for line in lines)
    count = data.draw(st.integers(0, len(lines)))
    end = sum(len(line) + 1 for line in lines[:count])
    wanted = [line for line in reversed(lines[:count]) if b"needle" in line]
    with opened(tmp_path_factory.getbasetemp(), content) as descriptor:
        assert list(file_tail.holding(descriptor, (NEEDLE,), end, 10_000_000)) == wanted


def test_a_search_is_not_hindered_by_where_its_blocks_end(tmp_path: Path) -> None:
    """A match, and a line, that lie across two blocks are found; beyond the limit nothing is."""
    size = 16 * file_tail.BLOCK
    for shift in range(8):
        content = b"a\n" + b"before needle after\n" + b"x" * (size - shift - 6) + b"\n"
        with opened(tmp_path, content) as descriptor:
            found = list(file_tail.holding(descriptor, (NEEDLE,), len(content), 10_000_000))
            assert found == [b"before needle after"], shift
            assert list(file_tail.holding(descriptor, (NEEDLE,), len(content), size // 2)) == []


def test_a_line_that_matches_in_two_blocks_comes_once(tmp_path: Path) -> None:
    """Its end in the block that is searched first, its beginning in the next one."""
    line = b"needle" + b"x" * 900_000 + b"needle"
    content = b"a\n" + line + b"\n" + b"y" * 600_000 + b"\n"
    with opened(tmp_path, content) as descriptor:
        assert list(file_tail.holding(descriptor, (NEEDLE,), len(content), 10_000_000)) == [line]


def test_a_line_that_is_too_long_is_left_out(tmp_path: Path) -> None:
    """It is passed over, in the lines as None and in a search altogether."""
    content = (
        b"needle\n" + b"needle" + b"x" * (file_tail.LINE + 2 * file_tail.BLOCK) + b"\nend needle\n"
    )
    with opened(tmp_path, content) as descriptor:
        found = list(file_tail.lines(descriptor, 10_000_000))
        assert [line for _, line in found if line != b""] == [b"end needle", None, b"needle"]
        searched = list(file_tail.holding(descriptor, (NEEDLE,), len(content), 10_000_000))
        assert searched == [b"end needle", b"needle"]
