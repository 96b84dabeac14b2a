"""The lines of a job's log as its step printed them: cleaned, cut to the failed step, without noise.

The table in `log_words.toml` classifies a line: an error and its rank, noise, a step's end.

Lines are processed one by one, so that a log of any length costs no memory. `KeptLog` keeps the lines that
fit; `failing_tests` searches them for the failed tests, by the table of runners.

Source: the format of job logs, https://docs.github.com/actions/monitoring-and-troubleshooting-workflows and
https://github.com/actions/runner (each line has its moment; `##[group]`, `##[error]` and their like).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from enum import StrEnum, auto
from functools import cache, lru_cache, partial

from lifecycle.core.redact import redact
from lifecycle.core.timing import parse_time
from lifecycle.core.values.failed_checks import JobStep
from lifecycle.evidence.reading import Tally
from lifecycle.evidence.runners import runner_table
from lifecycle.evidence.suite_runs import SuiteRun
from lifecycle.settings import resources

_MOMENT = re.compile(r"\ufeff?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?Z ?")
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
"""Sequences that colour and move, and control characters."""

_KEY = re.compile(r"-----(BEGIN|END) [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_OF_KEY = re.compile(
    r"(?:.*[\s\"'>|])?[\w+/\\=]{24,}[\"',\\]*\s*$|\s*[\w+/=]*\s*$"
    r"|.*\b(?:Proc-Type|DEK-Info|Comment|Version): "
)
"""A line within a key, even if a tool has put something before it."""

MOST_OF_KEY = 400
"""The most lines of a key."""

LATE = 2.0
"""Seconds after a step's end in which its last lines may come: steps have whole seconds."""

MOST_CHARACTERS = 4_000
"""Characters of one line that are kept; if an error's line is longer, its beginning is enough."""

BEGIN = 500_000
END = 1_500_000
"""Characters that are kept of a log's beginning, and of its end."""

_AFTER = re.compile(r"Post job cleanup\.|Cleaning up orphan processes")


MOST_READ = 2_000
"""Characters of a line that are read: a one-line bundle has no second error further on."""


class AnchorRank(StrEnum):
    """How certain it is that a line names the error."""

    NONE = auto()
    HINT = auto()
    """A place in a file, a difference, a vague word of trouble: shown if nothing is more certain."""
    TROUBLE = auto()
    """A general word for something that went wrong."""
    VERDICT = auto()
    """A tool names what failed, or names the error itself."""


table = partial(resources.table, "feedback/checks/log_words.toml")
"""The content of `log_words.toml`."""


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


@cache
def _patterns(rank: AnchorRank) -> tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]:
    """The patterns of a rank, each with words of which its lines have one; "" is in every line."""
    by_words: dict[tuple[str, ...], list[str]] = {}
    for row in table()["anchor"]:
        if row["rank"] == rank:
            by_words.setdefault(tuple(row.get("has", [""])), []).append(row["pattern"])
    return tuple((words, _any_of(patterns)) for words, patterns in by_words.items())


def is_of(rank: AnchorRank, line: str) -> bool:
    """True if a line has a pattern of this rank; one that names no error may still be a HINT."""
    text = line[:MOST_READ]
    small = text.lower()
    worth = (pattern for words, pattern in _patterns(rank) if any(map(small.__contains__, words)))
    return any(pattern.match(text) for pattern in worth)


@cache
def begin(*kinds: str) -> re.Pattern[str]:
    """A pattern for the beginning of lines of these kinds.

    `noise` is never shown; `openers` announce an error without naming it. Actions ends a failed step with
    an `ended` line; by a `stopped` line it says that it stopped a step itself.
    """
    return _any_of(pattern for kind in kinds for pattern in table()[kind])


def rank_of(line: str) -> AnchorRank:
    """The rank of one line of a log (without time and colours), if it names an error; else NONE."""
    ranks = (AnchorRank.VERDICT, AnchorRank.TROUBLE)
    return next((rank for rank in ranks if is_of(rank, line)), AnchorRank.NONE)


class KeyBlocks:
    """Removes keys of several lines from a log; the mere mention of a key's beginning removes nothing."""

    def __init__(self) -> None:
        self._left = 0

    def shown(self, text: str) -> str | None:
        """The part of the next line (without its moment) that may be shown; None if it belongs to a key."""
        edge = _KEY.search(text) if "PRIVATE KEY" in text else None
        if edge is not None and edge[1] == "BEGIN":
            self._left = 0 if "-----END" in text[edge.end() :] else MOST_OF_KEY
            return f"{text[: edge.start()]}***"
        is_key = bool(self._left) and (edge is not None or _OF_KEY.match(text) is not None)
        self._left = self._left - 1 if is_key and edge is None else 0
        return None if is_key else text


def plain_lines(lines: Iterable[str], step: JobStep | None = None) -> Iterator[str | None]:
    """The lines that a person would look through for the error.

    Args:
        lines: the log's lines, with or without their times.
        step: the failed step; without it, or without its times, the whole log is used.

    Returns:
        each line without time, colours and rewritten progress, in order, until Actions says that the
        step failed. Its `##[error]` line is the last. None marks the beginning of a command: the last one
        that began has failed. Keys of several lines are removed; other secrets are not.
    """
    return _without_noise(_of_step(lines, step))


def _of_step(lines: Iterable[str], step: JobStep | None) -> Iterator[str]:
    """The lines of the step, without time, colours, rewritten progress and keys."""
    keys = KeyBlocks()
    began, ended = (step.began, step.ended) if step is not None else (None, None)
    is_inside = began is None or ended is None
    for raw in lines:
        stamped = _MOMENT.match(raw)
        text = (raw[stamped.end() :] if stamped else raw).rstrip("\r\n").rpartition("\r")[2]
        if len(text) > MOST_CHARACTERS:
            text = redact(text[: 2 * MOST_CHARACTERS])[:MOST_CHARACTERS]
        if not text.isprintable():
            text = _ESCAPES.sub("", text)
        shown = keys.shown(text)
        if began is not None and ended is not None and stamped:
            at = _seconds(f"{stamped[1]}Z")
            is_inside = at is not None and began <= at <= ended + LATE
        if is_inside and shown is not None:
            yield shown


_seconds = lru_cache(parse_time)


def _without_noise(lines: Iterable[str]) -> Iterator[str | None]:
    """Leave out the echo of each command, noise, the second of two empty lines, and what follows the end.

    If a step was stopped from outside, the last noise before that is kept: it says how far the step came.
    """
    is_echo, was_empty, has_error = False, True, False
    is_noise, is_stop = begin("noise").match, begin("stopped").match
    reached = ""
    for text in lines:
        if text.startswith("##[group]Run "):
            is_echo, was_empty, reached = True, True, ""
            yield None
        if is_echo:
            is_echo = not text.startswith("##[endgroup]")
            continue
        if _AFTER.match(text):
            if has_error:
                return
            continue
        if is_noise(text):
            reached = text
            continue
        is_empty = not text.strip()
        if reached and is_stop(text):
            yield reached
        reached = reached if is_empty else ""
        if not (is_empty and was_empty):
            yield text.removeprefix("##[group]")
        was_empty = is_empty
        has_error = has_error or text.startswith("##[error]")
        if begin("ended", "stopped").match(text):
            return


class KeptLog:
    """Keeps the lines of a log while it is read, as far as they fit."""

    def __init__(self) -> None:
        self._begin: list[str] = []
        self._end: deque[str] = deque()
        self._begun = self._ended = self._left_out = 0
        self._keys = KeyBlocks()

    def through(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the same lines, and keep all except keys, whose beginning the gap may hide."""
        for line in lines:
            stamped = _MOMENT.match(line)
            at = stamped.end() if stamped else 0
            shown = self._keys.shown(line[at:])
            if shown is not None:
                self._keep(line[:at] + shown)
            yield line

    def _keep(self, line: str) -> None:
        size = len(line) + 1
        if self._begun + size <= BEGIN and not self._end:
            self._begin.append(line)
            self._begun += size
            return
        self._end.append(line)
        self._ended += size
        while self._ended > END and len(self._end) > 1:
            self._ended -= len(self._end.popleft()) + 1
            self._left_out += 1

    @property
    def lines(self) -> list[str]:
        """The kept lines; if lines are left out, one line says how many."""
        gap = [f"… {self._left_out:,} lines left out …"] if self._left_out else []
        return [*self._begin, *gap, *self._end]

    @property
    def text(self) -> str:
        """The kept lines as one text, without secrets."""
        return redact("\n".join(line.rstrip("\r") for line in self.lines)) + "\n"


def failing_tests(lines: Iterable[str], step: JobStep | None = None) -> tuple[str, ...]:
    """The failed tests, without secrets, as their runner names them; () if no runner names any.

    Args:
        lines: the log.
        step: the failed step; without it, or if no line has its time, all lines are searched.
    """
    all_lines = list(lines)
    last = _last_command(all_lines, step) or _last_command(all_lines, None)
    run = SuiteRun("a job of CI", is_suite=True, decides=False)
    tally = Tally(runner_table.rows(), "\n".join(last), run)
    return tuple(sorted({redact(name) for name in tally.failures}))


def _last_command(lines: Iterable[str], step: JobStep | None) -> list[str]:
    texts = [*plain_lines(lines, step)]
    begun = max((place for place, text in enumerate(texts, 1) if text is None), default=0)
    return [text for text in texts[begun:] if text is not None]
