"""The lines of a file from its end, at a cost that does not depend on the file's size."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
"""Type checkers take it for true; importing `typing` for it costs more than the rest."""

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 65_536
"""Bytes of one read."""

LINE = 1_000_000
"""Bytes of a line that are kept; a longer one is passed over."""

LONGEST = 40_000_000
"""Bytes that are passed over to find where a long line begins, all in all."""


def opened(path: str) -> int | None:
    """A descriptor of the regular file; None for anything else, and for what cannot be read.

    A pipe is not waited for.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


def lines(descriptor: int, limit: int) -> Iterator[bytes | None]:
    """The file's lines, the last one first, until about `limit` bytes were read.

    What is longer than LINE comes as None; passing over it is not counted in `limit`, but
    bounded by LONGEST. The last line may be torn. Raises OSError.
    """
    place = os.fstat(descriptor).st_size
    kept: list[bytes] = []  # of the line that is being read, its end first
    length = used = passed = 0
    while place > 0 and used < limit and passed < LONGEST:
        size = min(BLOCK, place)
        place -= size
        block = os.pread(descriptor, size, place)
        first, mark, rest = block.partition(b"\n")
        if mark:
            used += size + (length if length <= LINE else 0)
            *whole, end = rest.split(b"\n")
            yield b"".join([end, *reversed(kept)]) if length <= LINE else None
            yield from reversed(whole)
            kept, length = [first], len(first)
        else:
            length += size
            kept.append(block)
            if length > LINE:
                kept.clear()
                passed += size
    if place <= 0 and length:
        yield b"".join(reversed(kept)) if length <= LINE else None


def holding(descriptor: int, needle: bytes, limit: int) -> Iterator[bytes]:
    """The lines that hold `needle`, the last one first, from the last `limit` bytes of the file.

    Looked for in blocks and not line by line. Lines longer than LINE are left out. Raises OSError.
    """
    end = os.fstat(descriptor).st_size
    stop = max(0, end - limit)
    while end > stop:
        start = max(stop, end - 16 * BLOCK)
        block = os.pread(descriptor, end - start + len(needle) - 1, start)
        found = block.rfind(needle)
        if found < 0:
            end = start
            continue
        begin = _begin(descriptor, start + found)
        line = os.pread(descriptor, LINE, begin)
        if b"\n" in line[start + found - begin :] or len(line) < LINE:
            yield line[: line.find(b"\n", start + found - begin)] if b"\n" in line else line
        end = begin


def _begin(descriptor: int, place: int) -> int:
    """Where the line with this place begins; at most LINE before it."""
    end, stop = place, max(0, place - LINE)
    while end > stop:
        start = max(stop, end - BLOCK)
        found = os.pread(descriptor, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return stop
