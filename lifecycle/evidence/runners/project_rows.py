"""Rows that a project adds to the table of runners (`[[evidence.runners]]`): checked before they are used.

Its patterns come with the repository and are tried on what a run printed: one that could take for ever is
refused, as is a row that could never read anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from lifecycle.core.errors import BadConfig, did_you_mean
from lifecycle.evidence.runners.runner_row import COUNTED, PATTERNS, WORDS, Rows, RunnerRow
from lifecycle.platforms import slow_patterns

OWN_KEYS = ("name", "commands", "adds", *WORDS, *PATTERNS)
"""What a project's own row may have."""


def checked(rows: Iterable[Mapping[str, object]]) -> Rows:
    """The rows, as they stand in a project's file; BadConfig names the first that cannot be used."""
    return tuple(_checked(place, row) for place, row in enumerate(rows, 1))


def _checked(place: int, row: Mapping[str, Any]) -> RunnerRow:
    where = f"evidence.runners, row {place}"
    for key, value in row.items():
        if key not in OWN_KEYS:
            raise BadConfig(f'{where}: there is no key "{key}".{did_you_mean(key, OWN_KEYS)}')
        is_listed = key in ("commands", *PATTERNS)
        texts = value if is_listed and isinstance(value, list) else [value]
        if not all(isinstance(text, str) and text.strip() for text in texts):
            form = "a list of texts" if is_listed else "a text"
            raise BadConfig(f"{where}: {key} must be {form}, not {value!r}.")
        if is_listed and not isinstance(value, list):
            raise BadConfig(f"{where}: {key} must be a list of texts, not {value!r}.")
        if key in PATTERNS:
            for pattern_ in value:
                _check_pattern(f"{where}: {key}", key, pattern_)
    if not row.get("name") or not row.get("commands"):
        raise BadConfig(f'{where}: it needs a name, and commands, as ["./verify all"].')
    if row.get("adds", "sum") not in ("sum", "last"):
        raise BadConfig(f'{where}: adds must be "sum" or "last", not {row["adds"]!r}.')
    return RunnerRow(row, is_own=True)


def _check_pattern(where: str, key: str, pattern: str) -> None:
    if wrong := slow_patterns.problem(pattern):
        raise BadConfig(f"{where}: {pattern!r} {wrong}.")
    groups = set(re.compile(pattern).groupindex)
    if key == "summary" and not groups & set(COUNTED):
        names_ = ", ".join(COUNTED)
        raise BadConfig(f"{where}: {pattern!r} needs a group (?P<passed>\\d+), or of {names_}.")
    if key in ("failures", "asserted") and "name" not in groups:
        raise BadConfig(f"{where}: {pattern!r} needs a group (?P<name>…).")
