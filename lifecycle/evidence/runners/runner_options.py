"""How much of a suite a test program's options leave to run: all of it, a part, or nothing at all.

Which options those are is data (`runners.json`), from the manual that each row names; this module knows how
they are written. More sources: https://www.gnu.org/software/make/manual/make.html#Options-Summary (letters
in one word), https://docs.pytest.org/en/stable/reference/reference.html#command-line-flags (`-kname`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from itertools import pairwise

from lifecycle.evidence.command_lines import Words
from lifecycle.evidence.runners.runner_table import RunnerRow, options, pattern


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
