"""What a step says to GitHub's runner: commands in its output, and lines in its files.

Sources: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands; how a line is
taken apart is read in https://github.com/actions/runner (Runner.Common, ActionCommand.cs) and how a file
is in Runner.Worker, FileCommandManager.cs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

LEVELS = ("error", "warning", "notice")
_SILENT = ("debug", "group", "endgroup")
_OFF = ("set-output", "save-state", "set-env", "add-path")
_KNOWN = (*LEVELS, *_SILENT, *_OFF, "add-mask", "stop-commands")
_NEW = re.compile(r"::(?P<name>[^\s:]+)(?: (?P<properties>.*?))?::(?P<data>.*)")
_OLD = re.compile(r"##\[(?P<name>[^\s\]]+)(?: (?P<properties>[^\]]*))?\](?P<data>.*)")
SUMMARY_BYTES = 1024 * 1024
"""What a step's summary may have; a longer one is not shown."""


class BadCommandError(Exception):
    """The runner would fail the step, or drop what was said."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """What a run's page shows: `level` is error, warning or notice."""

    level: str
    message: str
    title: str = ""


@dataclass
class Listener:
    """Reads a job's output line by line, as the runner does.

    Attributes:
        masks: texts that are `***` wherever the log is shown.
        annotations: what was annotated, in order.
        log: the lines as people see them.
    """

    masks: set[str] = field(default_factory=set)
    annotations: list[Annotation] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    _stopped: str = ""

    def hear(self, line: str) -> None:
        """One line of a step's output."""
        if self._stopped:
            if line.strip() == f"::{self._stopped}::":
                self._stopped = ""
            else:
                self.log.append(self.masked(line))
            return
        match = _NEW.fullmatch(line.lstrip()) or _OLD.search(line)
        if match is None or match["name"].casefold() not in _KNOWN:
            self.log.append(self.masked(line))
            return
        properties = dict(
            pair.split("=", 1) for pair in (match["properties"] or "").split(",") if "=" in pair
        )
        self._obey(match["name"].casefold(), properties, _unescaped(match["data"]))

    def masked(self, text: str) -> str:
        """The text as it is shown."""
        for mask in sorted(self.masks, key=len, reverse=True):
            text = text.replace(mask, "***")
        return text

    def _obey(self, name: str, properties: dict[str, str], data: str) -> None:
        if name in _OFF:
            raise BadCommandError(f"::{name}:: is switched off by GitHub; there are files for it")
        if name == "add-mask":
            self.masks |= {line for line in data.splitlines() if line.strip()}
        elif name == "stop-commands":
            self._stopped = data
        elif name in LEVELS:
            title = _unescaped(properties.get("title", ""), is_property=True)
            said = Annotation(name, self.masked(data), self.masked(title))
            self.annotations.append(said)
            self.log.append(f"{name.capitalize()}: {said.message}")


def _unescaped(text: str, *, is_property: bool = False) -> str:
    """Undo the escaping of a message or a property; the percent sign comes last, as in the runner."""
    pairs = [("%0D", "\r"), ("%0A", "\n")]
    pairs += [("%3A", ":"), ("%2C", ",")] if is_property else []
    for escaped, plain in [*pairs, ("%25", "%")]:
        text = text.replace(escaped, plain)
    return text


def pairs_in(text: str) -> dict[str, str]:
    """The names and values of GITHUB_OUTPUT or GITHUB_ENV.

    Raises:
        BadCommandError: a line is neither NAME=VALUE nor NAME<<END, or the end never comes.
    """
    found: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, equals, value = line.partition("=")
        if not line:
            continue
        if "<<" in line.partition("=")[0] or not equals:
            name, arrows, end = line.partition("<<")
            if not (name and arrows and end):
                raise BadCommandError(f"{line!r} is no name and value")
            value = _until(lines, end)
        found[name] = value
    return found


def _until(lines: Iterator[str], end: str) -> str:
    """The lines before the end; the caller goes on behind it."""
    taken: list[str] = []
    for line in lines:
        if line == end:
            return "\n".join(taken)
        taken.append(line)
    raise BadCommandError(f"{end!r} never comes")
