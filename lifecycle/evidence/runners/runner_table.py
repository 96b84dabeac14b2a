"""The table of test runners: how a command line of each is recognised, and what its output says.

A row is data (`runners.json`), with the page that it was written from. Loaded only where a command line is
judged, and a pattern is compiled when it is used.

A project adds rows of its own (`[[evidence.runners]]`), which come first. Its patterns come with the
repository and are tried on what a run printed: one that could take for ever is refused, as is a row that
could never read anything.
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
"""What a summary's groups may be called: one that is a number counts as much, any other text one."""

LINE = 400
"""Characters of a line that a project's own patterns are tried on."""

_LINES = 4_000


class RunnerRow:
    """One runner.

    Attributes:
        name: what it is called.
        url: the page that the row was written from; "" for a project's own.
        commands: how its runs begin, as `cargo test`.
        anywhere: the last word of such a command may stand behind others, as in `mvn clean test`.
        alone: no word stands behind such a command but options and variables: `rake`, and not `rake build`.
        wraps: it prints whatever it runs: every row reads its output.
        proves: it ends with another status than 0 where there was no test to run.
        one_line: each of its summaries is one line, which tells of failures, too.
        adds: "sum": each summary is of a part; "last": the last one is of all.
        lists, picks, keeps, hides: options that run nothing; that run a part; that do neither although
            they do elsewhere; with which status 0 says nothing.
        valued: options whose value is the next word.
        sources: options whose value is the folder, or the file of settings, that says what there is to run.
        names: which words that are no options pick no tests, as a pattern; "" if none picks any.
        needs: which of these words has to be there, as a pattern: without one it is a part; "" for none.
        before: what may stand before the last word of such a command, as a pattern: `dev:test` of hatch.
        first: what the first word that is no option has to be, if there is one.
        environments: options and variables that name environments; those have to be of tests.
        empty_status: exit statuses that say that no test was found.
        summary: patterns of a line that counts, with groups of COUNTED; or pairs of the line's pattern
            and one of what counts in it.
        nothing, failed, partial, stopped: what says that there was no test; that something failed; that a
            part was picked; that the run did not come to its end.
        failures: patterns with a group `name`: the tests that failed.
        asserted: patterns with a group `name`: those of them that failed by their assertion, and not by an
            error; none if the output does not tell the two apart.
        is_own: a project's own, whose patterns see a bounded text.
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
        """Where a pattern of this row is found; `^` and `$` are of a line."""
        return re.finditer(pattern, bounded(text) if self.is_own else text, re.MULTILINE)

    def says(self, patterns: tuple[str, ...], text: str) -> bool:
        """True if one of these patterns of this row is found."""
        return any(next(self.found(pattern, text), None) is not None for pattern in patterns)


def bounded(text: str) -> str:
    """The end of a text, each line of it cut: what a project's own patterns are tried on."""
    return "\n".join(line[:LINE] for line in text.split("\n")[-_LINES:])


Rows = tuple[RunnerRow, ...]
"""Rows of the table of runners."""


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
    first = (_checked(place, row) for place, row in enumerate(own, 1))
    return (*first, *_shipped()) if own else _shipped()


OWN_KEYS = ("name", "commands", "adds", *WORDS, *PATTERNS)
"""What a project's own row may have."""


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
    from lifecycle.platforms import slow_patterns  # for a project's own rows alone

    if wrong := slow_patterns.problem(pattern):
        return wrong
    groups = set(re.compile(pattern).groupindex)
    if key == "summary" and not groups & set(COUNTED):
        return f"needs a group (?P<passed>\\d+), or of {', '.join(COUNTED)}"
    is_nameless = key in ("failures", "asserted") and "name" not in groups
    return "needs a group (?P<name>…)" if is_nameless else ""
