"""Switches the staged workflow on in a person's `.lifecycle.toml`, and off again, restoring every byte.

A table `[stages]` is added at the end, where TOML allows one; a file that has it is left to its writer.
"""

from __future__ import annotations

import contextlib
import json
import tomllib
from collections.abc import Mapping
from typing import Any

from lifecycle.setup.init.init_mark import PutPiece, undone
from lifecycle.setup.init.planned_files import newline_of, unwritten

TABLE = "stages"
USE = "use"
OURS = (USE, "review", "start")
"""The keys of the table that `init` may have added, and the only ones that may be removed."""


def switch_on(text: str, where: str, values: Mapping[str, str]) -> str:
    """What adds the table at the end of a text; "" if its writer has set `stages.use`.

    Args:
        text: the file's content.
        where: its name, for sentences.
        values: further keys of the table, and the values to write.

    Raises:
        Refused: it is not TOML, or has the table without that key.
    """
    table = _read(text, where).get(TABLE)
    wanted = {USE: True, **values}
    lines = [f"{key} = {json.dumps(val, ensure_ascii=False)}" for key, val in wanted.items()]
    if table is None:
        newline = newline_of(text)
        joint = "" if not text or text.endswith("\n") else newline
        gap = newline if text.strip() else ""
        return joint + gap + "".join(f"{line}{newline}" for line in (f"[{TABLE}]", *lines))
    if not isinstance(table, dict) or USE not in table:
        problem = f"{where} has a table [{TABLE}] that says nothing about {USE}"
        raise unwritten(problem, f"add by hand what it lacks of {', '.join(lines)}")
    return ""


def switch_off(text: str, where: str, pieces: tuple[PutPiece, ...]) -> str | None:
    """Undo these changes in a text; None if somebody changed them, so that it must stay as it is.

    Raises:
        Refused: it is not TOML (any more).
    """
    data, before = _read(text, where), undone(text, pieces)
    with contextlib.suppress(ValueError, RecursionError):  # what is left need not be TOML
        if before is not None and _others(tomllib.loads(before)) == _others(data):
            return before
    return None


def _others(data: dict[str, Any]) -> str:
    """All values but ours, as text in a fixed order: in Python 1 equals True, and NaN not itself."""
    others = {key: val for key, val in data.pop(TABLE, {}).items() if key not in OURS}
    return json.dumps([data, others], sort_keys=True, default=repr)


def _read(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise unwritten(f"{where} is no valid TOML ({error})") from None
