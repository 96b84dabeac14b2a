"""Switches the staged workflow on in somebody's `.lifecycle.toml`, and off again, to the byte.

A TOML text is not rendered anew: an edit is one piece of text put in, or one word replaced. Where it may
stand is guessed from the lines, and a guess counts only if the text then says what it said before and
what was wanted, as `tomllib` reads it. So a header inside a string, a dotted key or an inline table
misleads nobody. What cannot be edited so is left to its writer.

Why not a library: those that keep a text's style (tomlkit, https://github.com/python-poetry/tomlkit)
promise it for what they did not touch, lose the spacing around a value that they change, and choose
the place themselves; the very check made here would be needed all the same.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lifecycle.core.light_dataclass import dataclass
from lifecycle.setup.init.planned_files import unwritten

TABLE = "stages"
USE = "use"

_HEADER = re.compile(
    rf"""(?m)^[ \t]*\[[ \t]*["']?{TABLE}["']?[ \t]*\][ \t]*(?:#[^\n]*)?\r?(?:\n|\Z)"""
)
_DOTTED = re.compile(rf"""(?m)^[ \t]*["']?{TABLE}["']?[ \t]*\.""")
_INLINE = re.compile(rf"""(?m)^[ \t]*["']?{TABLE}["']?[ \t]*=[ \t]*\{{[ \t]*""")
_FALSE = re.compile(r"\bfalse\b")


@dataclass(frozen=True, slots=True)
class Piece:
    """One change of a text: `before` became `after`, which may stand in it more than once.

    Attributes:
        before: "false", or "" if a piece of text was put in.
        after: what stands there now.
        keys: the keys of the table that it holds.
        has_header: the table itself came with it.
    """

    before: str
    after: str
    keys: tuple[str, ...]
    has_header: bool = False


def switch_on(text: str, where: str, values: Mapping[str, str]) -> tuple[str, tuple[Piece, ...]]:
    """Put `stages.use = true` into a text, and those values whose keys it lacks.

    Args:
        text: the file's content.
        where: its name, for sentences.
        values: keys of the table and what to write; a key that is there stays as it is.

    Returns:
        The text, and the changes in order; none if it says all that already.

    Raises:
        Refused: it is no TOML, or is written in a way that is not edited.
    """
    data = _read(text, where)
    table = data.get(TABLE, {})
    if not isinstance(table, dict):
        raise unwritten(f"{TABLE} in {where} is not a table")
    pieces: list[Piece] = []
    if table.get(USE) is False:
        table[USE] = True
        places = (
            (match.start(), Piece("false", "true", (USE,))) for match in _FALSE.finditer(text)
        )
        text, piece = _edited(text, where, data, places)
        pieces.append(piece)
    lacking: dict[str, str | bool] = {} if USE in table else {USE: True}
    lacking |= {key: value for key, value in values.items() if key not in table}
    if lacking:
        data[TABLE] = {**table, **lacking}
        text, piece = _edited(text, where, data, _places(text, lacking))
        pieces.append(piece)
    return text, tuple(pieces)


def switch_off(text: str, where: str, pieces: tuple[Piece, ...]) -> str | None:
    """Undo these changes in a text; None if somebody changed them, so that it has to stay as it is.

    Raises:
        Refused: it is no TOML (any more).
    """
    for piece in reversed(pieces):
        expected = _without(_read(text, where), piece)
        text_without = next(
            (candidate for candidate in _undone(text, piece) if _says(candidate, expected)), None
        )
        if text_without is None:
            return None
        text = text_without
    return text


def _edited(
    text: str, where: str, expected: Mapping[str, Any], places: Iterable[tuple[int, Piece]]
) -> tuple[str, Piece]:
    """Make the first of these changes after which the text says what is expected: the text, the change."""
    for offset, piece in places:
        candidate = text[:offset] + piece.after + text[offset + len(piece.before) :]
        if _says(candidate, expected):
            return candidate, piece
    problem = f"{where} writes its table [{TABLE}] in a way that is not edited here"
    raise unwritten(problem, f"set {USE} = true in it by hand")


def _places(text: str, values: Mapping[str, Any]) -> Iterator[tuple[int, Piece]]:
    """Places and texts by which the keys could be put in, the likeliest first."""
    newline = "\r\n" if "\r\n" in text else "\n"
    keys = tuple(values)
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    block = "".join(f"{line}{newline}" for line in lines)
    for match in _HEADER.finditer(text):
        joint = "" if match[0].endswith("\n") else newline
        yield match.end(), Piece("", joint + block, keys)
    for match in _DOTTED.finditer(text):
        dotted = "".join(f"{TABLE}.{line}{newline}" for line in lines)
        yield match.start(), Piece("", dotted, keys)
    for match in _INLINE.finditer(text):
        yield match.end(), Piece("", ", ".join(lines) + ", ", keys)
        yield match.end(), Piece("", ", ".join(lines) + " ", keys)
    joint = "" if not text or text.endswith("\n") else newline
    gap = newline if text.strip() else ""
    yield len(text), Piece("", f"{joint}{gap}[{TABLE}]{newline}{block}", keys, has_header=True)


def _undone(text: str, piece: Piece) -> Iterator[str]:
    for match in re.finditer(f"(?={re.escape(piece.after)})", text):
        yield text[: match.start()] + piece.before + text[match.start() + len(piece.after) :]


def _without(data: dict[str, Any], piece: Piece) -> dict[str, Any]:
    """The data that a text should hold once a piece of ours is taken out of it."""
    table = data.get(TABLE)
    if not isinstance(table, dict):
        return data
    kept = {key: value for key, value in table.items() if key not in piece.keys}
    kept |= dict.fromkeys(piece.keys, False) if piece.before else {}
    others = {key: value for key, value in data.items() if key != TABLE}
    return others if piece.has_header and not kept else {**others, TABLE: kept}


def _says(text: str, expected: Mapping[str, Any]) -> bool:
    try:
        return _spelled(tomllib.loads(text)) == _spelled(expected)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False


def _spelled(data: Mapping[str, Any]) -> str:
    """The data in words, whatever its order: to Python 1 and True are equal, and NaN is not to itself."""
    return json.dumps(data, sort_keys=True, default=repr)


def _read(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise unwritten(f"{where} is no valid TOML ({error})") from None
