"""One runner: how its command lines are recognised, and what its output says."""

from __future__ import annotations

import re

from lifecycle.evidence.command_lines import each

TYPE_CHECKING = False
"""Type checkers take it for true; importing `typing` for it costs more than the rest."""

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

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
    lists = picks = keeps = hides = valued = frozenset[str]()
    commands = environments = nothing = failed = tuple[str, ...]()
    partial = stopped = failures = asserted = tuple[str, ...]()
    empty_status = tuple[int, ...]()
    summary = tuple[str | list[str], ...]()

    def __init__(self, row: Mapping[str, Any], *, is_own: bool = False) -> None:
        self.is_own = is_own
        for key, value in row.items():
            made = tuple(value) if isinstance(value, list) else value
            setattr(self, key, each(value) if key in WORDS else made)

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
