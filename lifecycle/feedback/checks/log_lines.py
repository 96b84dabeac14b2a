"""The lines of a job's log as its step printed them: cleaned, cut to the failed step, without noise.

All of it works on one line after the other, so that a log of any length costs no memory.

Source: the format of job logs, https://docs.github.com/actions/monitoring-and-troubleshooting-workflows and
https://github.com/actions/runner (each line has its moment; `##[group]`, `##[error]` and their like).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import redact
from lifecycle.core.timing import parse_time
from lifecycle.feedback.checks.anchors import noise, step_ended, step_stopped

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
"""A line within a key, also where a tool has put something before it."""

MOST_OF_KEY = 400
"""Lines that a key has at the most."""

LATE = 2.0
"""Seconds after a step's end in which its last lines may come: steps have whole seconds."""

MOST_CHARACTERS = 4_000
"""Characters of one line that are kept; where an error stands in a line of more, its begin is enough."""

_AFTER = re.compile(r"Post job cleanup\.|Cleaning up orphan processes")


@dataclass(frozen=True, slots=True)
class StepTime:
    """When a step began and ended, in seconds since the epoch; GitHub tells whole seconds."""

    began: float
    ended: float


class KeyBlocks:
    """Takes keys over several lines out of a log; where only a key's begin is told, the log goes on."""

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


def moment_end(line: str) -> int:
    """How many characters of a line are its moment."""
    stamped = _MOMENT.match(line)
    return stamped.end() if stamped else 0


def plain_lines(lines: Iterable[str], step: StepTime | None = None) -> Iterator[str | None]:
    """The lines that a person would look through for the error.

    Args:
        lines: of the log, with or without their moments.
        step: the time of the failed step; all of the log without it.

    Returns:
        each line without moment, colours and rewritten progress, in their order, until Actions says that
        the step failed. Its `##[error]` line is the last. None stands where a command begins: what
        failed is the last that began. Keys over several lines are gone; other secrets are not.
    """
    return _without_noise(_until_the_end(_of_step(_cleaned(lines), step)))


def _cleaned(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each line as its moment, or "", and its text."""
    keys = KeyBlocks()
    for raw in lines:
        stamped = _MOMENT.match(raw)
        text = (raw[stamped.end() :] if stamped else raw).rstrip("\r\n")
        text = text.rpartition("\r")[2]
        if len(text) > MOST_CHARACTERS:
            text = redact(text[: 2 * MOST_CHARACTERS])[:MOST_CHARACTERS]
        if not text.isprintable():
            text = _ESCAPES.sub("", text)
        shown = keys.shown(text)
        if shown is not None:
            yield (stamped[1] if stamped else ""), shown


@lru_cache
def _seconds(moment: str) -> float | None:
    return parse_time(f"{moment}Z")


def _of_step(lines: Iterable[tuple[str, str]], step: StepTime | None) -> Iterator[str]:
    is_inside = step is None
    for moment, text in lines:
        if step is not None and moment:
            at = _seconds(moment)
            is_inside = at is not None and step.began <= at <= step.ended + LATE
        if is_inside:
            yield text


def _until_the_end(lines: Iterable[str]) -> Iterator[str]:
    has_error = False
    for text in lines:
        if has_error and _AFTER.match(text):
            return
        yield text
        if text.startswith("##[error]"):
            has_error = True
            if step_ended().match(text):
                return


def _without_noise(lines: Iterable[str]) -> Iterator[str | None]:
    """Leave out the echo of each command, what is noise, and the second of two empty lines.

    Where a step was stopped from outside, the last noise before it tells how far it came.
    """
    is_echo, was_empty, is_noise, is_stop = False, True, noise().match, step_stopped().match
    reached = ""
    for text in lines:
        if text.startswith("##[group]Run "):
            is_echo, was_empty, reached = True, True, ""
            yield None
        if is_echo:
            is_echo = not text.startswith("##[endgroup]")
            continue
        if _AFTER.match(text):
            continue
        if is_noise(text):
            reached = text
            continue
        is_empty = not text.strip()
        if reached and is_stop(text):
            yield reached
        if not is_empty:
            reached = ""
        if not (is_empty and was_empty):
            yield text.removeprefix("##[group]")
        was_empty = is_empty
