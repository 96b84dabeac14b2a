"""The table of test runners: how a command line of each is recognised, and how its output is read.

A row is data (`runners.json`), with the page that it is based on. The table is loaded only to judge a
command line, and a pattern is compiled when it is used.

A project may add its own rows (`[[evidence.runners]]`), which come first. Their patterns come with the
repository and are tried on a run's output: a pattern that could take for ever is refused, and so is a row
that could never read anything.

Which options leave how much of a suite to run (all of it, a part, nothing) is data, too, from the manual
that each row names; this module knows how they are written. More sources:
https://www.gnu.org/software/make/manual/make.html#Options-Summary (letters in one word),
https://docs.pytest.org/en/stable/reference/reference.html#command-line-flags (`-kname`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from itertools import pairwise

from lifecycle.evidence.command_lines import Words, each
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


class RunScope(StrEnum):
    """How much of a suite runs."""

    SUITE = "suite"
    PART = "part"
    NOTHING = "nothing"


UNKNOWN = RunnerRow({})
"""The row of a program that no row recognises: it has no options of its own."""


def scope_of(name: str, words: Words, sets: Words = (), row: RunnerRow = UNKNOWN) -> RunScope:
    """How much of a suite runs with these words.

    Args:
        name: the program's name, with its command: `pytest`, `make test`.
        words: the words after it.
        sets: variables that are set for it, as `NAME=value`.
        row: the runner's row.
    """
    program = name.partition(" ")[0]
    words = tuple(word for word in words if word not in options("off"))
    further = _further(program, (*words, *sets))
    all_words = [*words, *further]
    none = (options("lists") | row.lists) - row.keeps
    is_none = any(word in none or _name(word) in none for word in all_words)
    if is_none or _has_form("listing form", program, all_words):
        return RunScope.NOTHING
    picks = options("picks") | row.picks
    own = words[: words.index("--")] if "--" in words else words
    passed_on = [*words[len(own) :], *further]  # for the program that it starts
    is_part = not (picks - row.keeps).isdisjoint(map(_name, (*own, *sets)))
    is_part = is_part or not picks.isdisjoint(map(_name, passed_on))
    is_part = is_part or _has_form("picking form", program, all_words) or _picks_file(all_words)
    is_part = is_part or _picks_named(row, words, sets)
    return RunScope.PART if is_part else RunScope.SUITE


def is_status_hidden(name: str, words: Words, sets: Words = (), row: RunnerRow = UNKNOWN) -> bool:
    """True if the program's status is 0 even if tests fail."""
    program = name.partition(" ")[0]
    rest = [*words, *_further(program, (*words, *sets))]
    hides = options("hides") | row.hides
    return _has_form("hiding form", program, rest) or not hides.isdisjoint(map(_name, rest))


def are_known(words: Words, row: RunnerRow) -> bool:
    """True if every option is known: as one that keeps the suite whole, or one that leaves out a part."""
    own = row.valued | row.keeps | row.picks | row.lists | row.sources
    general = map(options, ("plain", "lists", "picks", "hides", "settings"))
    known = (frozenset().union(*general) - options("any")) | (own - {"-D", "-P", "-exec"})
    files = valued(words, options("files") | row.sources)
    if any(re.match(pattern("other_config"), file) for _, file in files):
        return row.is_own
    # A project's own row lists all options of its runner that leave something out.
    return row.is_own or all(
        _name(word) in known or re.fullmatch(pattern("letters"), f"{word} {after}")
        for last, word, after in zip(("", *words), words, (*words[1:], ""), strict=False)
        if word.startswith(("-", "+")) and last not in own
    )


def valued(words: Words, names: frozenset[str]) -> list[tuple[str, str]]:
    """The options with these names among the words, each with its value: the next word, or after a `=`."""
    pairs = [(word, after) for word, after in pairwise(words) if word in names]
    parted = (word.partition("=") for word in words)
    return pairs + [(name, value) for name, _, value in parted if value and name in names]


def _name(word: str) -> str:
    """The name of an option; "+" for a word like `+nightly`, which names a toolchain."""
    return "+" if word.startswith("+") else word.partition("=")[0]


def _has_form(kind: str, program: str, words: Iterable[str]) -> bool:
    """True if a word has this form, as `-ki` of make and `-kname` of pytest: letters in one word."""
    return any(re.match(pattern(kind), f"{program} {word}") for word in words)


def _further(program: str, words: Words) -> list[str]:
    """The options inside variables."""
    further: list[str] = []
    for word in words:
        name, _, value = word.partition("=")
        if not re.search(pattern("options_of"), name):
            continue
        parts = [part.strip("'\"") for part in value.split()]
        if "MAKE" in name or name == "MFLAGS":
            parts = [f"-{p}" if i == 0 and p.isalpha() else p for i, p in enumerate(parts)]
            further += [p for p in parts if p not in ("-k", "-t")] if program == "make" else []
        else:
            further += parts
    return further


def _picks_file(words: list[str]) -> bool:
    settings = options("settings")
    return any(re.search(pattern("leaving"), word) for word in words) or any(
        (re.search(pattern("file"), word) or re.search(pattern("inner"), word))
        and not re.search(pattern("every"), word)
        and last not in settings
        and _name(word) not in settings
        for last, word in pairwise(("", *words))
    )


def _picks_named(row: RunnerRow, words: Words, sets: Words) -> bool:
    """True if tests are named, in the program's own way."""
    spelt = (re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word) for word in (*words, *sets))
    if any(re.search(pattern("picking"), word) for word in spelt):
        return True
    if row.environments:
        named = valued((*words, *sets), frozenset(row.environments))
        parts = [part for _, value in named for part in value.split(",") if part]
        return any(is_kind(part) or not re.search(pattern("of_tests"), part) for part in parts)
    plain = plain_words(words, row)
    if row.first:
        return bool(plain) and plain[0] != row.first
    if any(word in row.keeps for word in words):
        return False  # the words after an option that takes several names are not tests
    return not all(re.search(row.names, word) for word in plain)


def plain_words(words: Words, row: RunnerRow) -> list[str]:
    """The words that are neither options nor values of options."""
    free = (word for last, word in pairwise(("", *words)) if last not in row.valued)
    return [word for word in free if not (word.startswith(("-", "+")) or word.isdigit())]


def is_kind(name: str) -> bool:
    """True if a name of what runs means only one kind of tests: `unit`, `py311-integration`."""
    return any(re.search(pattern("kind"), part) for part in re.split(r"[^A-Za-z0-9]+", name))
