"""The lines of a file from its end: each once, with the place where it begins."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.stages.transcript import file_tail
from lifecycle.storage import regular_files

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
        found = list(file_tail.lines(descriptor, len(content), 10_000_000))
    for place, line in found:
        assert line is not None
        assert content[place : place + len(line) + 1] in (line + b"\n", line)
    assert [line for _, line in found if line] == [line for line in reversed(lines) if line]


@given(LINES, st.data())
def test_reading_begins_where_it_is_told(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], data: st.DataObject
) -> None:
    """The last line before that place comes first, and none that begins behind it."""
    content = b"".join(line + b"\n" for line in lines)
    count = data.draw(st.integers(0, len(lines)))
    end = sum(len(line) + 1 for line in lines[:count])
    with opened(tmp_path_factory.getbasetemp(), content) as descriptor:
        found = [line for _, line in file_tail.lines(descriptor, end, 10_000_000)]
    assert [line for line in found if line] == [line for line in reversed(lines[:count]) if line]


def test_a_line_across_two_blocks_is_whole_and_beyond_the_limit_nothing_is_read(
    tmp_path: Path,
) -> None:
    """Wherever the blocks cut it."""
    size = 2 * file_tail.BLOCK
    for shift in range(8):
        content = b"a\n" + b"before needle after\n" + b"x" * (size - shift - 6) + b"\n"
        with opened(tmp_path, content) as descriptor:
            found = [line for _, line in file_tail.lines(descriptor, len(content), 10_000_000)]
            assert found[2:] == [b"before needle after", b"a"], shift
            found = [line for _, line in file_tail.lines(descriptor, len(content), size // 4)]
            assert b"before needle after" not in found


def test_a_line_that_is_too_long_is_left_out(tmp_path: Path) -> None:
    """It is passed over: None in its place."""
    content = (
        b"needle\n" + b"needle" + b"x" * (file_tail.LINE + 2 * file_tail.BLOCK) + b"\nend needle\n"
    )
    with opened(tmp_path, content) as descriptor:
        found = list(file_tail.lines(descriptor, len(content), 10_000_000))
        assert [line for _, line in found if line != b""] == [b"end needle", None, b"needle"]


def test_lines_that_are_too_long_are_skipped_within_bounds(tmp_path: Path) -> None:
    """All of their bytes count: many lines of a little more than LINE cost no more than one long line."""
    content = b"needle\n" + (b"x" * (file_tail.LINE + 2 * file_tail.BLOCK) + b"\n") * 6
    with opened(tmp_path, content) as descriptor:
        place = len(content)
        for longest, is_reached in ((20_000_000, True), (3_000_000, False)):
            found = [line for _, line in file_tail.lines(descriptor, place, 10_000_000, longest)]
            assert (b"needle" in found) is is_reached
