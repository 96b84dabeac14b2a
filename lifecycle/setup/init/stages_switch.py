"""Switches the staged workflow on in a person's `.lifecycle.toml`, and off again, restoring every byte.

The TOML text is not rendered again: an edit is one piece of text, below the table's head or at the end. Its
place is guessed from the lines, and a guess counts only if the text, read by `tomllib`, then has its former
values and the wanted ones. So a header inside a string does no harm. Forms that cannot be edited so, like
dotted keys and an inline table, are left to their writer.

Why not a library: those that keep a text's style (tomlkit, https://github.com/python-poetry/tomlkit)
promise it only for parts that they did not touch, lose the spacing around a changed value, and choose the
place themselves; the same check would still be needed.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from lifecycle.setup.init.init_mark import PutPiece, undone
from lifecycle.setup.init.planned_files import unwritten

TABLE = "stages"
USE = "use"
OURS = (USE, "review", "start")
"""The keys of the table that are added, and the only ones that may be removed."""

_HEADER = re.compile(
    rf"""(?m)^[ \t]*\[[ \t]*["']?{TABLE}["']?[ \t]*\][ \t]*(?:#[^\n]*)?\r?(?:\n|\Z)"""
)


def switch_on(text: str, where: str, values: Mapping[str, str]) -> tuple[str, tuple[PutPiece, ...]]:
    """Add `stages.use = true` to a text, and those values whose keys it lacks, unless it says false.

    Args:
        text: the file's content.
        where: its name, for sentences.
        values: keys of the table and the values to write; an existing key stays as it is.

    Returns:
        The text, and the changes; none if it has all of these keys already, or is switched off.

    Raises:
        Refused: it is not TOML, or has a form that cannot be edited.
    """
    table = _read(text, where).get(TABLE, {})
    if not isinstance(table, dict):
        raise unwritten(f"{TABLE} in {where} is not a table")
    lacking = {key: val for key, val in {USE: True, **values}.items() if key not in table}
    if not lacking or table.get(USE) is False:
        return text, ()
    wanted = {**table, **lacking}
    for start, piece in _pieces(text, lacking):
        after = text[:start] + piece.after + text[start + len(piece.before) :]
        if _is_kept(text, after) and _spelled(tomllib.loads(after)[TABLE]) == _spelled(wanted):
            return after, (piece,)
    if table.get(USE) is True:  # by hand, as the error advises
        return text, ()
    problem = f"{where} writes its table [{TABLE}] in a form that lifecycle does not edit"
    raise unwritten(problem, f"set {USE} = true in it by hand")


def switch_off(text: str, where: str, pieces: tuple[PutPiece, ...]) -> str | None:
    """Undo these changes in a text; None if somebody changed them, so that it must stay as it is.

    Raises:
        Refused: it is not TOML (any more).
    """
    _read(text, where)
    before = undone(text, pieces)
    return before if before is not None and _is_kept(text, before) else None


def _pieces(text: str, lacking: Mapping[str, Any]) -> Iterator[tuple[int, PutPiece]]:
    """The places and changes by which the keys could be added, the likeliest first."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = (f"{key} = {json.dumps(val, ensure_ascii=False)}" for key, val in lacking.items())
    block = "".join(f"{line}{newline}" for line in lines)
    for match in _HEADER.finditer(text):
        head = match[0] if match[0].endswith("\n") else match[0] + newline
        yield match.start(), PutPiece(match[0], head + block)
    joint = "" if not text or text.endswith("\n") else newline
    gap = newline if text.strip() else ""
    yield len(text), PutPiece("", f"{joint}{gap}[{TABLE}]{newline}{block}")


def _is_kept(text: str, edited: str) -> bool:
    """True if an edited text has the same values as before, except ours."""
    try:
        return _others(text) == _others(edited)
    except (ValueError, RecursionError):
        return False


def _others(text: str) -> str:
    data = tomllib.loads(text)
    table = data.pop(TABLE, {})
    return _spelled([data, {key: val for key, val in table.items() if key not in OURS}])


def _spelled(data: object) -> str:
    """The data as text, in a fixed order: in Python 1 equals True, and NaN does not equal itself."""
    return json.dumps(data, sort_keys=True, default=repr)


def _read(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise unwritten(f"{where} is no valid TOML ({error})") from None
