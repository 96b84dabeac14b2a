"""The lines of a file from its end, at a cost that does not depend on the file's size."""

from __future__ import annotations

import os
from collections.abc import Iterator

BLOCK = 65_536
"""Bytes of one read."""

LINE = 1_000_000
"""Bytes of a line that is kept; a longer line is skipped."""

LONGEST = 40_000_000
"""Bytes, in total, that are skipped to find where long lines begin."""


def lines(
    descriptor: int, place: int, limit: int, longest: int = LONGEST
) -> Iterator[tuple[int, bytes | None]]:
    """The lines before `place`, each with its offset, the last one first; about `limit` bytes are read.

    A line longer than LINE is given as None; skipping it does not count toward `limit`, but is
    bounded by `longest`. The last line may be incomplete. Raises OSError.
    """
    parts: list[bytes] = []  # parts of the current line, its end first
    length = used = passed = 0
    while place > 0 and used < limit and passed < longest:
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
                passed += sum(map(len, parts))
                parts.clear()
    if place <= 0 and length:
        yield 0, b"".join(reversed(parts)) if length <= LINE else None
