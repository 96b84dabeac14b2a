"""The number that a coverage command produces: in its output, or in a file that it wrote."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lifecycle.platforms import selection
from lifecycle.platforms.platform_file import CoverageSource
from lifecycle.settings import resources
from lifecycle.storage import regular_files

_LARGEST = 20_000_000
"""Most bytes of a report; a larger one counts as missing, since the total is at its end."""

table = partial(resources.table, "platforms/coverage_outputs.toml")
"""The content of `coverage_outputs.toml`."""


def known(output: str) -> float | None:
    """The last percentage in a known program's output, without colours; None if there is none."""
    matches = (_last(row["pattern"], output) for row in table()["known"])
    return next((float(match[1]) for match in matches if match is not None), None)


def percent(source: CoverageSource, output: str, root: Path, since_ns: int) -> float | None:
    """The coverage in percent; None if no number from 0 to 100 can be read.

    Args:
        source: how the platform says that the number is read.
        output: the command's output.
        root: the worktree's root, below which reports are.
        since_ns: when the command was started, in nanoseconds: an older report is not of this run.
    """
    texts = _reports(root, source.files, since_ns) if source.files else [output]
    read = [last for text in texts if (last := _last(source.pattern, text)) is not None]
    if not read:
        return None
    names = read[-1].groupdict()
    if "covered" in names:
        covered = sum(_number(match["covered"]) for match in read)
        others = sum(_number(match["total" if "total" in names else "missed"]) for match in read)
        whole = others if "total" in names else covered + others
        value = 100 * covered / whole if whole > 0 else -1.0
    elif "fraction" in names:
        value = 100 * _number(read[-1]["fraction"])
    else:
        value = _number(read[-1][1])
    return value if 0 <= value <= 100 else None


def _reports(root: Path, patterns: Sequence[str], since_ns: int) -> list[str]:
    """The reports that this run wrote, the latest last."""
    reports: list[tuple[int, str]] = []
    for path in {path for pattern in patterns for path in selection.matches(root, pattern)}:
        try:
            # `matches` has checked where a link leads.
            file = regular_files.content(str(path), follow=True, limit=_LARGEST)
        except OSError:
            continue
        if file is not None and file[1] >= since_ns and len(file[0]) <= _LARGEST:
            reports.append((file[1], file[0].decode("utf-8", "replace")))
    return [text for _, text in sorted(reports)]


def _last(pattern: str, text: str) -> re.Match[str] | None:
    matches = deque(re.finditer(pattern, text, re.MULTILINE), maxlen=1)
    return matches[0] if matches else None


def _number(text: str | None) -> float:
    """A number as runners print it, also with a decimal comma; minus infinity if it is not a number."""
    try:
        return float((text or "").replace(",", "."))
    except ValueError:
        return float("-inf")
