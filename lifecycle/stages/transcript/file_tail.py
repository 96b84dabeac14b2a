"""The lines of a file from its end, at a cost that does not depend on the file's size."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

BLOCK = 65_536
"""Bytes of one read."""

LINE = 1_000_000
"""Bytes of a line that is kept; a longer line is skipped."""

LONGEST = 40_000_000
"""Bytes, in total, that are skipped to find where long lines begin."""

MATCH = 1_000
"""Bytes of the longest match that a search finds for certain."""


def lines(descriptor: int, limit: int) -> Iterator[tuple[int, bytes | None]]:
    """The file's lines with the offset of each, the last line first, until about `limit` bytes were read.

    A line longer than LINE is given as None; skipping it does not count toward `limit`, but is
    bounded by LONGEST. The last line may be incomplete. Raises OSError.
    """
    place = os.fstat(descriptor).st_size
    parts: list[bytes] = []  # parts of the current line, its end first
    length = used = passed = 0
    while place > 0 and used < limit and passed < LONGEST:
        size = min(BLOCK, place)
        place -= size
        block = os.pread(descriptor, size, place)
        first, mark, rest = block.partition(b"\n")
        if mark:
            used += size + (length if length <= LINE else 0)
            *whole, end = rest.split(b"\n")
            begin = place + len(block) - len(end)
            yield begin, b"".join([end, *reversed(parts)]) if length <= LINE else None
            for line in reversed(whole):
                begin -= len(line) + 1
                yield begin, line
            parts, length = [first], len(first)
        else:
            length += size
            parts.append(block)
            if length > LINE:
                parts.clear()
                passed += size
    if place <= 0 and length:
        yield 0, b"".join(reversed(parts)) if length <= LINE else None


def holding(
    descriptor: int, patterns: tuple[re.Pattern[bytes], ...], end: int, limit: int
) -> Iterator[bytes]:
    """The lines with a match of one of the patterns, the last one first, from `limit` bytes before `end`.

    The search goes by blocks, not line by line. A line longer than LINE is left out; a match is at most
    MATCH bytes long. Raises OSError.
    """
    stop = max(0, end - limit)
    while end > stop:
        start = max(stop, end - 16 * BLOCK)
        block = os.pread(descriptor, end - start + MATCH, start)
        places = {match.start() for pattern in patterns for match in pattern.finditer(block)}
        begin = end
        for match_at in sorted((start + place for place in places), reverse=True):
            if match_at < begin:  # else it is in a line that was given already, or after the block
                begin = _begin(descriptor, match_at)
                line = _line(descriptor, begin)
                if line is not None:
                    yield line
        end = min(start, begin)


def _line(descriptor: int, begin: int) -> bytes | None:
    """The line that begins at this offset; None if it is longer than LINE."""
    parts: list[bytes] = []
    for place in range(begin, begin + LINE, BLOCK):
        part, mark, _ = os.pread(descriptor, BLOCK, place).partition(b"\n")
        parts.append(part)
        if mark or len(part) < BLOCK:
            return b"".join(parts)
    return None


def _begin(descriptor: int, place: int) -> int:
    """The beginning of the line that has this offset; at most LINE bytes before it."""
    end, stop = place, max(0, place - LINE)
    while end > stop:
        start = max(stop, end - BLOCK)
        break_at = os.pread(descriptor, end - start, start).rfind(b"\n")
        if break_at >= 0:
            return start + break_at + 1
        end = start
    return stop
