"""Which tasks a session took, by the commands in its transcript.

A task that is only mentioned does not count: a session that greps for `42` does not work on issue 42.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lifecycle.evidence.command_lines import commands
from lifecycle.trackers import command_signs

CLAIM = "claim"
"""The product's own slash command that begins a task, `/lifecycle:claim`."""

_QUOTED = re.compile(r"`([^`\n]+)`")
"""A command in an instruction of ours."""


def ids_in(texts: Iterable[str], starts: Iterable[str] = ()) -> tuple[str, ...]:
    """The tasks that were started, shown, claimed or closed, in order, in their plain form.

    Args:
        texts: command lines, slash commands, and any other text: names in prose do not count.
        starts: commands that begin a task, with or without `{id}`: `/begin`, `make begin ID={id}`.
    """
    return tuple(name for _, name in _named(texts, starts))


def begun_in(texts: Iterable[str], starts: Iterable[str] = ()) -> tuple[str, ...]:
    """The tasks that were started or claimed, as `ids_in`; a task that was only viewed does not count."""
    return tuple(name for verb, name in _named(texts, starts) if verb == command_signs.CLAIM)


def taken_by(command: str, output: str) -> str:
    """The task that a command line took, also by its output; "?" if not named, "" if it took none."""
    signs = [command_signs.read(simple.words) for simple in commands(command)]
    taking = [sign for sign in signs if sign is not None and sign.verb == command_signs.CLAIM]
    if not taking or command_signs.is_denied(output):
        return ""
    return plain(taking[-1].ids[-1]) if taking[-1].ids else "?"


def told_in(instruction: str, starts: Iterable[str] = ()) -> str:
    """The task that an instruction's own commands name; "" if they name none."""
    return next(reversed(ids_in(_QUOTED.findall(instruction), starts)), "")


def is_about_others(text: str, task: str) -> bool:
    """True if the text names tasks in a tracker's spelling, and this task is not among them.

    Tasks are spelled `#42`, or like the given one: `demo-3`, if that is `demo-1`.
    """
    family = task.rpartition("-")[0]
    form = rf"{re.escape(family)}-[\w.]*\w" if family else r"#\d+"
    named = {plain(name) for name in re.findall(rf"(?<![\w-]){form}", text)}
    return bool(named) and plain(task) not in named


def plain(name: str) -> str:
    """An id as trackers spell it: `#42` and an address that ends in it are `42`."""
    return name.removeprefix("#").rpartition("/")[2]


def _named(texts: Iterable[str], starts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """For each task that the texts name: what is done to it, and its plain form."""
    begins = [begin for start in starts if (begin := tuple(start.partition("{id}")[0].split()))]
    for text in texts:
        yield from ((verb, plain(name)) for verb, name in _ids(text, begins))


def _ids(text: str, begins: list[tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    """For each task that a text names: what is done to it (CLAIM if it is begun), and the task."""
    if text.startswith("/"):
        name, *rest = text.split()
        own = f"/{name.rpartition(':')[2].removeprefix('/')}"
        if own == f"/{CLAIM}" or (own,) in begins or (name,) in begins:
            yield from ((command_signs.CLAIM, word) for word in rest)
        return
    for command in commands(text):
        sign = command_signs.read(command.words)
        if sign is not None:
            yield from ((sign.verb, name) for name in sign.ids)
        for begin in begins:
            yield from ((command_signs.CLAIM, name) for name in _behind(command.words, begin))


def _behind(words: tuple[str, ...], begin: tuple[str, ...]) -> tuple[str, ...]:
    """The words after those that begin a task; `ID=42` names 42."""
    head, last = words[: len(begin)], begin[-1]
    if head == begin:
        return words[len(begin) :]
    is_alike = head[:-1] == begin[:-1] and head[-1].startswith(last)
    return (head[-1].removeprefix(last),) if is_alike and last.endswith("=") else ()
