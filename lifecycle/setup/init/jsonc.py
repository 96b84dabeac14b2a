"""JSON with comments, read with the place of every value, so that text can be edited in place.

Settings files in the wild have comments, trailing commas, tabs, CRLF and a BOM. Nothing here renders a
file anew: values are found by their offsets, and an edit replaces a piece of text.

Why not a library: those for Python that keep comments refuse trailing commas or U+2028 in strings, or
start a JavaScript engine, and none of them inserts a member without choosing the layout of its own.

Source: RFC 8259, with the comments and trailing commas of JSONC (https://jsonc.org/).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

DEEPEST = 200
"""Containers within containers; settings have five."""

_SPACE = re.compile(r"[ \t\r\n]+|//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_WORD = re.compile(r"true|false|null")


class JsoncError(Exception):
    """The text is no JSON with comments; says what is wrong, and where, both counted from 1."""

    def __init__(self, what: str, text: str, offset: int) -> None:
        line = text.count("\n", 0, offset) + 1
        column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        super().__init__(f"line {line}, column {column}: {what}")


@dataclass(frozen=True, slots=True)
class Node:
    """One value and its place: `text[start:end]`.

    Attributes:
        start, end: where the value's own text begins and ends.
        value: what Python makes of it; of members with one name the last counts, as in JavaScript.
        items: an array's values.
        members: an object's members.
        is_trailed: a comma follows the last item or member.
    """

    start: int
    end: int
    value: Any
    items: tuple[Node, ...] = ()
    members: tuple[Member, ...] = ()
    is_trailed: bool = False

    def get(self, key: str) -> Node | None:
        """The value of an object's member, or None."""
        found = [member.node for member in self.members if member.key == key]
        return found[-1] if found else None

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Where each item or member begins and ends, a member's name included."""
        if self.members:
            return [(member.start, member.node.end) for member in self.members]
        return [(item.start, item.end) for item in self.items]


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object; `start` is where its name begins."""

    key: str
    start: int
    node: Node


def parse(text: str) -> Node | None:
    """The value that the text holds, or None if it holds nothing but space and comments.

    Raises:
        JsoncError: it is no JSON with comments.
    """
    reader = _Reader(text)
    start = reader.skip(1 if text.startswith("\ufeff") else 0)
    if start == len(text):
        return None
    node = reader.value(start, 0)
    end = reader.skip(node.end)
    if end != len(text):
        raise JsoncError("something follows the value", text, end)
    return node


def skip(text: str, offset: int) -> int:
    """The offset behind the space and comments that begin here."""
    return _Reader(text).skip(offset)


def skip_one(text: str, offset: int) -> int:
    """The offset behind the one run of space, or the one comment, that begins here."""
    match = _SPACE.match(text, offset)
    return match.end() if match else offset


def comments_until(text: str, offset: int, limit: int) -> int:
    """Where the last comment ends that begins on this line, before `limit`; else `offset`."""
    end = offset
    while offset < limit and (match := _SPACE.match(text, offset)):
        if match[0].startswith("/"):
            end = match.end()
        elif "\n" in match[0]:
            break
        offset = match.end()
    return end


class _Reader:
    """One pass over the text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def skip(self, offset: int) -> int:
        while match := _SPACE.match(self.text, offset):
            offset = match.end()
        return offset

    def value(self, offset: int, depth: int) -> Node:
        if depth > DEEPEST:
            raise JsoncError("nested too deeply", self.text, offset)
        first = self.text[offset : offset + 1]
        if first == "{":
            return self._object(offset, depth)
        if first == "[":
            return self._array(offset, depth)
        for pattern in (_STRING, _NUMBER, _WORD):
            if match := pattern.match(self.text, offset):
                return Node(offset, match.end(), _loaded(match[0], self.text, offset))
        raise self._unexpected("a value", offset)

    def _object(self, start: int, depth: int) -> Node:
        members: list[Member] = []
        offset, comma = self.skip(start + 1), False
        while self.text[offset : offset + 1] != "}":
            if members and not comma:
                raise self._unexpected('"," or "}"', offset)
            name = _STRING.match(self.text, offset)
            if name is None:
                raise self._unexpected('a name in quotes or "}"', offset)
            colon = self.skip(name.end())
            if self.text[colon : colon + 1] != ":":
                raise self._unexpected('":"', colon)
            node = self.value(self.skip(colon + 1), depth + 1)
            members.append(Member(json.loads(name[0]), offset, node))
            offset, comma = self._comma(node.end)
        value = {member.key: member.node.value for member in members}
        return Node(start, offset + 1, value, members=tuple(members), is_trailed=comma)

    def _array(self, start: int, depth: int) -> Node:
        items: list[Node] = []
        offset, comma = self.skip(start + 1), False
        while self.text[offset : offset + 1] != "]":
            if items and not comma:
                raise self._unexpected('"," or "]"', offset)
            items.append(self.value(offset, depth + 1))
            offset, comma = self._comma(items[-1].end)
        value = [item.value for item in items]
        return Node(start, offset + 1, value, items=tuple(items), is_trailed=comma)

    def _comma(self, offset: int) -> tuple[int, bool]:
        offset = self.skip(offset)
        if self.text[offset : offset + 1] == ",":
            return self.skip(offset + 1), True
        return offset, False

    def _unexpected(self, wanted: str, offset: int) -> JsoncError:
        found = self.text[offset : offset + 1]
        what = json.dumps(found, ensure_ascii=False) if found else "the end of the file"
        return JsoncError(f"expected {wanted}, found {what}", self.text, offset)


def _loaded(word: str, text: str, offset: int) -> Any:
    try:
        return json.loads(word)
    except ValueError:  # Python converts no integer of more than 4300 digits
        raise JsoncError("a number that is too long", text, offset) from None
