"""The table of test runners: how a command line of each is recognised, and what its output says.

A row is data (`runners.json`), with the page that it was written from. A project adds rows of its own
(`[[evidence.runners]]`); they come first. Loaded only where a command line is judged, and a pattern is
compiled when it is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from lifecycle.evidence.command_lines import each
from lifecycle.evidence.runners.runner_row import Rows, RunnerRow
from lifecycle.evidence.words import word_tables

TABLE = "runners/runners"


@cache
def _shipped() -> Rows:
    return tuple(map(RunnerRow, word_tables.table(TABLE)["rows"]))


@cache
def options(kind: str) -> frozenset[str]:
    """Options that mean one thing to nearly all programs; the kinds are those of the table."""
    return each(word_tables.table(TABLE)["options"][kind])


def pattern(kind: str) -> str:
    """The pattern of this kind that is for the output of any program."""
    return str(word_tables.table(TABLE)["patterns"][kind])


def general(kind: str, text: str) -> bool:
    """True if a text says what any program's may say: "nothing", "failed", "crashed", "broken"."""
    return re.search(pattern(kind), text, re.MULTILINE) is not None


def names() -> tuple[str, ...]:
    """How the runs of all known runners begin."""
    return tuple(command for row in _shipped() for command in row.commands)


def rows(own: tuple[Mapping[str, object], ...] = ()) -> Rows:
    """The table.

    Args:
        own: a project's rows, as they stand in its file; BadConfig if one cannot be used.
    """
    if not own:
        return _shipped()
    from lifecycle.evidence.runners import project_rows

    return (*project_rows.checked(own), *_shipped())
