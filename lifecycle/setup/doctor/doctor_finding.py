"""A finding of `lifecycle doctor`: how a thing is, what will not happen because of it, what mends it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from lifecycle.core.errors import LifecycleError


class Level(StrEnum):
    """How a thing is; the values are those of `--json`."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One finding: a line of the list.

    Attributes:
        name: `group.thing`; stable, for programs.
        level: how it is.
        sentence: what is so.
        hinders: what will not happen, or not as it should: steps of the table.
        fix: a command to copy, or what to do where no command can do it; empty if nothing is to do.
    """

    name: str
    level: Level
    sentence: str
    hinders: tuple[str, ...] = ()
    fix: str = ""

    @property
    def group(self) -> str:
        """What it is about."""
        return self.name.partition(".")[0]

    def as_json(self) -> dict[str, Any]:
        """The finding for `--json`."""
        fields = asdict(self) | {"hinders": list(self.hinders)}
        return {"says" if name == "sentence" else name: value for name, value in fields.items()}


_KEPT = re.compile(r"[;,] (?:so )?(?:nothing|no board|no task) was ")


def cause(error: LifecycleError) -> str:
    """An error's sentence without what was kept and what to do, which a finding says in its own way."""
    return f"{_KEPT.split(error.sentence)[0].rstrip('.')}."


@cache
def table() -> dict[str, Any]:
    """The rows of `findings.toml`, as its head describes them."""
    return tomllib.loads(Path(__file__).with_name("findings.toml").read_text(encoding="utf-8"))


def finding(
    key: str, /, *, hinders: Iterable[str] = (), fix: str = "", **words: object
) -> DoctorFinding:
    """The finding of one row of `findings.toml`.

    Args:
        key: the row, such as "token.found.none"; its first two words are the finding's name.
        hinders: what does not happen because of it, beside what the row says; in the row's words.
        fix: what mends it, if the row does not say.
        words: what stands for the names in braces.
    """
    group, thing, *case = key.split(".")
    row = table()[group][thing]
    for name in case:
        row = row[name]
    level = next(level for level in Level if level in row)
    named = [name.format(**words) for name in row.get("hinders", ())]
    steps = dict.fromkeys(step for name in (*named, *hinders) for step in _steps(name))
    fix = row["fix"].format(**words) if "fix" in row else fix
    return DoctorFinding(f"{group}.{thing}", level, row[level].format(**words), tuple(steps), fix)


def _steps(name: str) -> Iterator[str]:
    """The steps that a name of the table stands for: one, or several that go together."""
    together = table()["together"]
    if name in together["each step"]:
        yield name
        return
    for part in together[name]:
        yield from _steps(part)
