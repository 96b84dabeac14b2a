"""The table of test runners: how a command line of each is recognised, and how its output is read.

A row is data (`runners.json`), with the page that it is based on. The table is loaded only to judge a
command line, and a pattern is compiled when it is used.

A project may add its own rows (`[[evidence.runners]]`), which come first. Their patterns come with the
repository and are tried on a run's output: a pattern that could take for ever is refused, and so is a row
that could never read anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from lifecycle.evidence.command_lines import each
from lifecycle.evidence.words import word_tables

TYPE_CHECKING = False
"""Type checkers take it for true; importing `typing` for it costs more than the rest."""

if TYPE_CHECKING:
    from typing import Any

TABLE = "runners/runners"

WORDS = ("lists", "picks", "keeps", "hides", "valued")
PATTERNS = ("summary", "nothing", "failed", "partial", "stopped", "failures", "asserted")
COUNTED = ("passed", "failed", "errors", "skipped", "total", "parts", "left")
"""Names of a summary's groups: a number counts as that many, any other text as one."""

LINE = 400
"""Characters of a line on which a project's own patterns are tried."""

_LINES = 4_000


class RunnerRow:
    """One runner.

    Attributes:
        name: the runner's name.
        url: the page that the row is based on; "" for a project's own.
        commands: the beginnings of its command lines, for instance `cargo test`.
        anywhere: the last word of such a command may come after others, as in `mvn clean test`.
        alone: only options and variables may follow such a command: `rake`, but not `rake build`.
        wraps: it prints the output of whatever it runs: every row reads its output.
        proves: its status is not 0 if there was no test to run.
        one_line: each of its summaries is one line, which also reports failures.
        adds: "sum": each summary is of a part; "last": the last summary is of everything.
        lists, picks, keeps, hides: options that run nothing; that run a part; that do neither although
            they do for other programs; after which status 0 means nothing.
        valued: options whose value is the next word.
        sources: options whose value is a folder or a settings file that defines what there is to run.
        names: a pattern of non-option words that do not pick tests; "" if no word picks any.
        needs: a pattern of words of which one is required: without it, it is a run of a part; "" for none.
        before: a pattern of what may precede the last word of such a command: `dev:test` of hatch.
        first: a pattern of the first non-option word, if there is one.
        environments: options and variables that name environments, which must be test environments.
        empty_status: exit statuses that mean that no test was found.
        summary: patterns of a line with counts, with groups of COUNTED; or pairs of the line's pattern
            and a pattern of one count in it.
        nothing, failed, partial, stopped: patterns for: no test ran; something failed; a part was picked;
            the run was ended early.
        failures: patterns with a group `name`, for failed tests.
        asserted: patterns with a group `name`, for tests that failed by their assertion, not by an error;
            none if the output does not distinguish the two.
        is_own: a project's own row, whose patterns are tried on a bounded text.
    """

    name = url = adds = names = needs = before = first = ""
    wraps = proves = one_line = anywhere = alone = False
    lists = picks = keeps = hides = valued = sources = frozenset[str]()
    commands = environments = nothing = failed = tuple[str, ...]()
    partial = stopped = failures = asserted = tuple[str, ...]()
    empty_status = tuple[int, ...]()
    summary = tuple[str | list[str], ...]()

    def __init__(self, row: Mapping[str, Any], *, is_own: bool = False) -> None:
        self.is_own = is_own
        for key, value in row.items():
            made = tuple(value) if isinstance(value, list) else value
            setattr(self, key, each(value) if key in (*WORDS, "sources") else made)

    def found(self, pattern: str, text: str) -> Iterator[re.Match[str]]:
        """The matches of a pattern of this row; `^` and `$` match at each line."""
        return re.finditer(pattern, bounded(text) if self.is_own else text, re.MULTILINE)

    def says(self, patterns: tuple[str, ...], text: str) -> bool:
        """True if one of these patterns of this row matches."""
        return any(next(self.found(pattern, text), None) is not None for pattern in patterns)


def bounded(text: str) -> str:
    """The end of a text, with each line cut: the text for a project's own patterns."""
    return "\n".join(line[:LINE] for line in text.split("\n")[-_LINES:])


Rows = tuple[RunnerRow, ...]
"""Rows of the table of runners."""


@cache
def _shipped() -> Rows:
    return tuple(map(RunnerRow, word_tables.table(TABLE)["rows"]))


@cache
def options(kind: str) -> frozenset[str]:
    """Options with the same meaning in nearly all programs; the kinds are those of the table."""
    return each(word_tables.table(TABLE)["options"][kind])


def pattern(kind: str) -> str:
    """The pattern of this kind for the output of any program."""
    return str(word_tables.table(TABLE)["patterns"][kind])


def general(kind: str, text: str) -> bool:
    """True if a text has words that any program may print: "nothing", "failed", "crashed", "broken"."""
    return re.search(pattern(kind), text, re.MULTILINE) is not None


def names() -> tuple[str, ...]:
    """The beginnings of the command lines of all known runners."""
    return tuple(command for row in _shipped() for command in row.commands)


def rows(own: tuple[Mapping[str, object], ...] = ()) -> Rows:
    """The table.

    Args:
        own: a project's rows, from its file; BadConfig if one cannot be used.
    """
    first = (_checked(place, row) for place, row in enumerate(own, 1))
    return (*first, *_shipped()) if own else _shipped()


OWN_KEYS = ("name", "commands", "adds", *WORDS, *PATTERNS)
"""The keys of a project's own row."""


def _checked(place: int, row: Mapping[str, Any]) -> RunnerRow:
    from lifecycle.core.errors import BadConfig, did_you_mean

    where = f"evidence.runners, row {place}"
    for key, value in row.items():
        if key not in OWN_KEYS:
            raise BadConfig(f'{where}: there is no key "{key}".{did_you_mean(key, OWN_KEYS)}')
        is_listed = key in ("commands", *PATTERNS)
        texts = value if is_listed and isinstance(value, list) else [value]
        are_texts = all(isinstance(text, str) and text.strip() for text in texts)
        if not are_texts or is_listed is not isinstance(value, list):
            form = "a list of texts" if is_listed else "a text"
            raise BadConfig(f"{where}: {key} must be {form}, not {value!r}.")
        if key in PATTERNS:
            for pattern_ in value:
                if wrong := _wrong(key, pattern_):
                    raise BadConfig(f"{where}: {key}: {pattern_!r} {wrong}.")
    if not row.get("name") or not row.get("commands"):
        raise BadConfig(f'{where}: it needs a name, and commands, as ["./verify all"].')
    if row.get("adds", "sum") not in ("sum", "last"):
        raise BadConfig(f'{where}: adds must be "sum" or "last", not {row["adds"]!r}.')
    return RunnerRow(row, is_own=True)


def _wrong(key: str, pattern: str) -> str:
    """What is wrong with a pattern, as half a sentence; "" if it can be used."""
    from lifecycle.platforms import slow_patterns  # only for a project's own rows

    if wrong := slow_patterns.problem(pattern):
        return wrong
    if re.search(pattern, "", re.MULTILINE):
        return "fits an empty text, and so every output"
    groups = set(re.compile(pattern).groupindex)
    if key == "summary" and not groups & set(COUNTED):
        return f"needs a group (?P<passed>\\d+), or of {', '.join(COUNTED)}"
    is_nameless = key in ("failures", "asserted") and "name" not in groups
    return "needs a group (?P<name>…)" if is_nameless else ""
