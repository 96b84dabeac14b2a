"""The table of test runners: how a command line of each is recognised, and what its output says.

A row is data (`runners.json`), with the page that it was written from. A project adds rows of its own
(`[[evidence.runners]]`); they come first. Loaded only where a command line is judged, and a pattern is
compiled when it is used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from lifecycle.core.errors import BadConfig, did_you_mean
from lifecycle.evidence.command_lines import each

_WORDS = ("lists", "picks", "keeps", "hides", "valued")
_PATTERNS = ("summary", "nothing", "failed", "partial", "stopped", "failures")
_FLAGS = ("wraps", "proves", "one_line", "anywhere")
_TEXTS = ("name", "url", "adds", "names", "first")
_LISTS = ("commands", "environments", "empty_status")
OWN_KEYS = ("name", "commands", "adds", *_WORDS, *_PATTERNS)
"""What a project's own row may have."""

COUNTED = ("passed", "failed", "errors", "skipped", "total", "parts", "left")
"""What a summary's groups may be called: one that is a number counts as much, any other text one."""

LINE = 400
"""Characters of a line that a project's own patterns are tried on."""

_LONGEST = 300
_LINES = 4_000
_PLAIN = re.compile(r"\\.|\[\^?\]?[^\]]*\]")
_SLOW = re.compile(r"[*+{)|][^()]*\)[*+{]|\(\?\(|\(\?P=")
"""A repetition, a choice or a group within a repetition: they can take for ever."""

_WIDE = re.compile(r"(?:(?<!\\)\.|\]|\\[wWSDs]|\\d[*+]\\d)[*+{]|\\[1-9]")
_WIDEST = 3


class RunnerRow:
    """One runner.

    Attributes:
        name: what it is called.
        url: the page that the row was written from; "" for a project's own.
        commands: how its runs begin, as `cargo test`.
        anywhere: the last word of such a command may stand behind others, as in `mvn clean test`.
        wraps: it prints whatever it runs: every row reads its output.
        proves: it ends with another status than 0 where there was no test to run.
        one_line: each of its summaries is one line, which tells of failures, too.
        adds: "sum": each summary is of a part; "last": the last one is of all.
        lists, picks, keeps, hides: options that run nothing; that run a part; that do neither although
            they do elsewhere; with which status 0 says nothing.
        valued: options whose value is the next word.
        names: which words that are no options pick no tests, as a pattern; "" if none picks any.
        first: what the first word that is no option has to be, if there is one.
        environments: options and variables that name environments; those have to be of tests.
        empty_status: exit statuses that say that no test was found.
        summary: patterns of a line that counts, with groups of COUNTED; or pairs of the line's pattern
            and one of what counts in it.
        nothing, failed, partial, stopped: what says that there was no test; that something failed; that a
            part was picked; that the run did not come to its end.
        failures: patterns with a group `name`: the tests that failed.
        is_own: a project's own, whose patterns see a bounded text.
    """

    __slots__ = (*_WORDS, *_PATTERNS, *_FLAGS, *_LISTS, *_TEXTS, "is_own")
    name: str
    url: str
    adds: str
    names: str
    first: str
    wraps: bool
    proves: bool
    one_line: bool
    anywhere: bool
    commands: tuple[str, ...]
    environments: tuple[str, ...]
    empty_status: tuple[int, ...]
    lists: frozenset[str]
    picks: frozenset[str]
    keeps: frozenset[str]
    hides: frozenset[str]
    valued: frozenset[str]
    summary: tuple[str | list[str], ...]
    nothing: tuple[str, ...]
    failed: tuple[str, ...]
    partial: tuple[str, ...]
    stopped: tuple[str, ...]
    failures: tuple[str, ...]

    def __init__(self, row: Mapping[str, Any], *, is_own: bool = False) -> None:
        for key in _WORDS:
            setattr(self, key, each(row.get(key, "")))
        for key in (*_PATTERNS, *_LISTS):
            setattr(self, key, tuple(row.get(key, ())))
        for key in _FLAGS:
            setattr(self, key, row.get(key, False))
        for key in _TEXTS:
            setattr(self, key, row.get(key, ""))
        self.is_own = is_own

    def found(self, pattern: str, text: str) -> Iterator[re.Match[str]]:
        """Where a pattern of this row is found; `^` and `$` are of a line."""
        return re.finditer(pattern, bounded(text) if self.is_own else text, re.MULTILINE)

    def says(self, patterns: tuple[str, ...], text: str) -> bool:
        """True if one of these patterns of this row is found."""
        return any(next(self.found(pattern, text), None) is not None for pattern in patterns)


def bounded(text: str) -> str:
    """The end of a text, each line of it cut: what a project's own patterns are tried on."""
    return "\n".join(line[:LINE] for line in text.split("\n")[-_LINES:])


@cache
def _loaded() -> dict[str, Any]:
    path = Path(__file__).with_name("runners.json")
    table: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return table


@cache
def _shipped() -> tuple[RunnerRow, ...]:
    return tuple(map(RunnerRow, _loaded()["rows"]))


@cache
def options(kind: str) -> frozenset[str]:
    """Options that mean one thing to nearly all programs; the kinds are those of the table."""
    return each(_loaded()["options"][kind])


def pattern(kind: str) -> str:
    """The pattern of this kind that is for the output of any program."""
    return str(_loaded()["patterns"][kind])


def general(kind: str, text: str) -> bool:
    """True if a text says what any program's may say: "nothing", "failed", "crashed", "broken"."""
    return re.search(pattern(kind), text, re.MULTILINE) is not None


def names() -> tuple[str, ...]:
    """How the runs of all known runners begin."""
    return tuple(command for row in _shipped() for command in row.commands)


def rows(own: tuple[Mapping[str, object], ...] = ()) -> tuple[RunnerRow, ...]:
    """The table.

    Args:
        own: a project's rows, as they stand in its file; BadConfig if one cannot be used.
    """
    return (*(_checked(place, row) for place, row in enumerate(own, 1)), *_shipped())


def _checked(place: int, row: Mapping[str, Any]) -> RunnerRow:
    where = f"evidence.runners, row {place}"
    for key, value in row.items():
        if key not in OWN_KEYS:
            raise BadConfig(f'{where}: there is no key "{key}".{did_you_mean(key, OWN_KEYS)}')
        is_listed = key in ("commands", *_PATTERNS)
        texts = value if is_listed and isinstance(value, list) else [value]
        if not all(isinstance(text, str) and text.strip() for text in texts):
            form = "a list of texts" if is_listed else "a text"
            raise BadConfig(f"{where}: {key} must be {form}, not {value!r}.")
        if is_listed and not isinstance(value, list):
            raise BadConfig(f"{where}: {key} must be a list of texts, not {value!r}.")
        if key in _PATTERNS:
            for pattern_ in value:
                _check_pattern(f"{where}: {key}", key, pattern_)
    if not row.get("name") or not row.get("commands"):
        raise BadConfig(f'{where}: it needs a name, and commands, as ["./verify all"].')
    if row.get("adds", "sum") not in ("sum", "last"):
        raise BadConfig(f'{where}: adds must be "sum" or "last", not {row["adds"]!r}.')
    return RunnerRow(row, is_own=True)


def _check_pattern(where: str, key: str, pattern: str) -> None:
    try:
        groups = set(re.compile(pattern).groupindex)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadConfig(f"{where}: {pattern!r} is no regular expression: {error}.") from error
    is_slow = _SLOW.search(_PLAIN.sub("x", pattern)) or len(_WIDE.findall(pattern)) > _WIDEST
    if len(pattern) > _LONGEST or is_slow:
        raise BadConfig(
            f"{where}: {pattern!r} could take too long: at most {_LONGEST} characters and {_WIDEST} of"
            " .*, \\s+ and the like, and no repetition or choice within a repetition."
        )
    if key == "summary" and not groups & set(COUNTED):
        names_ = ", ".join(COUNTED)
        raise BadConfig(f"{where}: {pattern!r} needs a group (?P<passed>\\d+), or of {names_}.")
    if key == "failures" and "name" not in groups:
        raise BadConfig(f"{where}: {pattern!r} needs a group (?P<name>…).")
