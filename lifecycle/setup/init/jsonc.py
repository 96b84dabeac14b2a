"""Reads JSON with comments, with the position of every value, and edits the text in place.

Settings files in the wild have comments, trailing commas, tabs, CRLF and a BOM. No file is rendered
again: values are found by their offsets, and an edit replaces a piece of text.

Why not a library: Python libraries that keep comments refuse trailing commas or U+2028 in strings, or
start a JavaScript engine, and all of them choose their own layout when they insert a member.

Source: RFC 8259, with the comments and trailing commas of JSONC (https://jsonc.org/).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lifecycle.core.light_dataclass import dataclass, field

DEEPEST = 200
"""How deep containers may be nested; settings have five levels."""

LONGEST = 1_000_000
"""Characters of the longest text that is read; settings have some thousands, and each takes its time."""

_BLANKS = " \t\r\n"
_SPACE = re.compile(r"[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_SPACES = re.compile(f"(?:{_SPACE.pattern})*", re.DOTALL)
_COMMENTS = re.compile(r"(?:[ \t\r]*(?://[^\r\n]*|/\*.*?\*/))*", re.DOTALL)
"""The comments that begin on a line before anything else."""

_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_SCALAR = re.compile(rf"{_STRING.pattern}|{_NUMBER}|true|false|null")


class JsoncError(Exception):
    """The text is not JSON with comments; says what is wrong, and where: line and column count from 1."""

    def __init__(self, what: str, text: str, offset: int) -> None:
        line = text.count("\n", 0, offset) + 1
        column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        super().__init__(f"line {line}, column {column}: {what}")


@dataclass(frozen=True, slots=True)
class Node:
    """One value and its position: `text[start:end]`.

    Attributes:
        start, end: the beginning and end of the value's own text.
        value: the value in Python.
        items: an array's values.
        members: an object's values by their names; of several with one name the last, as in JavaScript.
        spans: the positions of each item or member, including a member's name.
        is_trailed: a comma follows the last item or member.
    """

    start: int
    end: int
    value: Any
    items: tuple[Node, ...] = ()
    members: Mapping[str, Node] = field(default_factory=dict)
    spans: tuple[tuple[int, int], ...] = ()
    is_trailed: bool = False

    def index(self, key: str) -> int:
        """The index of an object's member in `spans`."""
        return [end for _, end in self.spans].index(self.members[key].end)


NOTHING = Node(0, 0, None)
"""The result if there is no value: it has no item and no member."""


def at(root: Node | None, *route: str) -> Node:
    """The value to which these names lead, one object after another, or NOTHING."""
    node = root or NOTHING
    for key in route:
        node = node.members.get(key, NOTHING)
    return node


def parse(text: str) -> Node | None:
    """The value in the text, or None if it has only space and comments.

    Raises:
        JsoncError: it is not JSON with comments, or longer than any settings are.
    """
    if len(text) > LONGEST:
        raise JsoncError(f"there are more than {LONGEST:,} characters", text, LONGEST)
    start = skip(text, 1 if text.startswith("\ufeff") else 0)
    if start == len(text):
        return None
    node = _value(text, start, 0)
    end = skip(text, node.end)
    if end != len(text):
        raise JsoncError("something follows the value", text, end)
    return node


def skip(text: str, offset: int, what: re.Pattern[str] = _SPACES) -> int:
    """The offset after the space and comments that begin here, or after what else is to be skipped."""
    match = what.match(text, offset)
    return match.end() if match is not None else offset


def _value(text: str, offset: int, depth: int) -> Node:
    if depth > DEEPEST:
        raise JsoncError("nested too deeply", text, offset)
    if text.startswith(("{", "["), offset):
        return _container(text, offset, depth)
    match = _SCALAR.match(text, offset)
    if match is None:
        raise _unexpected("a value", text, offset)
    return Node(offset, match.end(), _loaded(match[0], text, offset))


def _container(text: str, start: int, depth: int) -> Node:
    """The object or the array that begins here."""
    close = "}" if text[start] == "{" else "]"
    nodes: list[tuple[str | None, Node]] = []
    spans: list[tuple[int, int]] = []
    offset, is_trailed = skip(text, start + 1), False
    while not text.startswith(close, offset):
        if spans and not is_trailed:
            raise _unexpected(f'"," or "{close}"', text, offset)
        begin, key = offset, None
        if close == "}":
            key, offset = _name(text, offset)
        node = _value(text, offset, depth + 1)
        nodes.append((key, node))
        spans.append((begin, node.end))
        offset = skip(text, node.end)
        is_trailed = text.startswith(",", offset)
        offset = skip(text, offset + 1) if is_trailed else offset
    items = tuple(node for key, node in nodes if key is None)
    members = {key: node for key, node in nodes if key is not None}
    value: Any = [node.value for node in items]
    if close == "}":
        value = {key: node.value for key, node in members.items()}
    return Node(start, offset + 1, value, items, members, (*spans,), is_trailed)


def _name(text: str, offset: int) -> tuple[str, int]:
    """The name of a member, and where its value begins."""
    name = _STRING.match(text, offset)
    if name is None:
        raise _unexpected('a name in quotes or "}"', text, offset)
    colon = skip(text, name.end())
    if not text.startswith(":", colon):
        raise _unexpected('":"', text, colon)
    return _loaded(name[0], text, offset), skip(text, colon + 1)


def _unexpected(expected: str, text: str, offset: int) -> JsoncError:
    char = text[offset : offset + 1]
    what = json.dumps(char, ensure_ascii=False) if char else "the end of the file"
    return JsoncError(f"expected {expected}, found {what}", text, offset)


def _loaded(word: str, text: str, offset: int) -> Any:
    if word.startswith('"') and "\\" not in word:
        return word[1:-1]
    try:
        return json.loads(word)
    except ValueError:  # Python does not convert an integer of more than 4300 digits
        raise JsoncError("a number that is too long", text, offset) from None


Parts = Sequence[tuple[str | None, Any]]
"""What is inserted: members of an object with their names, or items of a list, each with None."""

_DEFAULT_INDENT = "  "
_LINE_END = re.compile(r"[ \t]*\r?\n")


@dataclass(frozen=True, slots=True)
class JsonEdit:
    """An edit: `old`, which is at `start`, becomes `new`."""

    start: int
    old: str
    new: str


def applied(text: str, edits: Iterable[JsonEdit]) -> str:
    """The text with all edits, which must not overlap, made at once."""
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.new + text[edit.start + len(edit.old) :]
    return text


class Layout:
    """The layout of a text, by its first line end and its first item.

    Attributes:
        text: the text.
        newline: its line end.
        unit: one step of indentation.
        is_flat: everything is on one line.
    """

    def __init__(self, text: str) -> None:
        node = parse(text) or NOTHING
        indent = _indent_at(text, node.spans[0][0]) if node.spans else None
        self.text = text
        self.newline = "\r\n" if re.search(r"\A[^\n]*\r\n", text) else "\n"
        self.unit = indent or _DEFAULT_INDENT
        self.is_flat = bool(node.spans) and "\n" not in text[node.start : node.end]

    def rendered(self, value: Any, indent: str) -> str:
        """A value as text, with its further lines indented by `indent`."""
        if self.is_flat:
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit).split("\n")
        return f"{self.newline}{indent}".join(lines)


def insertion(layout: Layout, node: Node | None, parts: Parts) -> JsonEdit:
    """The edit that adds items, or members with names, at the end of a container.

    Args:
        layout: the layout of the whole text.
        node: the object or array; None puts the first value into a text that has none.
        parts: (name or None, value) of each.
    """
    if node is None:
        return _first_value(layout, dict(parts))
    if not node.spans:
        return _into_empty(layout, node, parts)
    text, (start, end) = layout.text, node.spans[-1]
    indent = _indent_at(text, start)
    after = _after_comma(text, end) if node.is_trailed else end
    if indent is None:
        behind, lead = after, " "
    else:
        behind, lead = skip(text, after, _COMMENTS), f"{layout.newline}{indent}"
    rendered = [lead + _part(layout, name, value, indent or "") for name, value in parts]
    kept, (first, last) = text[after:behind], ("", ",") if node.is_trailed else (",", "")
    return JsonEdit(after, kept, first + kept + ",".join(rendered) + last)


def replacement(text: str, node: Node, word: str) -> JsonEdit:
    """The edit that replaces this value by a text."""
    return JsonEdit(node.start, text[node.start : node.end], json.dumps(word, ensure_ascii=False))


def removal(text: str, node: Node, index: int) -> JsonEdit:
    """The edit that removes an item or member, with its comma and the space before it."""
    spans = node.spans
    start, end = spans[index]
    before = spans[index - 1][1] if index else node.start
    is_last = index == len(spans) - 1
    lead, tail, kept = len(text[:start].rstrip(_BLANKS)), end, ""
    if not is_last or node.is_trailed:
        tail = _after_comma(text, end)
        kept = text[end : tail - 1].rstrip(_BLANKS)
    elif index:  # the value before it becomes the last one, and loses its comma
        comma = _after_comma(text, before) - 1
        kept = text[before:comma] + text[comma + 1 : lead]
        lead = before
    is_first = lead == node.start + 1
    if is_first and is_last:
        # The space before the closing bracket is removed as well, if nothing else is there.
        space = text[tail : node.end - 1]
        tail += len(space) if not space.strip(_BLANKS) else 0
    elif is_first and "\n" not in text[lead:start]:
        lead, tail = start, tail + len(text[tail:]) - len(text[tail:].lstrip(" "))
    comments = [part for part in _SPACE.findall(text, before, start) if part.strip(_BLANKS)]
    if comments and comments[-1].startswith("//") and not _LINE_END.match(text, tail):
        kept += "\n"  # only a line's end closes such a comment
    return JsonEdit(lead, text[lead:tail], kept)


def _first_value(layout: Layout, value: Any) -> JsonEdit:
    text = layout.text
    lead = "" if not text.strip("\ufeff" + _BLANKS) or text.endswith("\n") else layout.newline
    tail = layout.newline if not text.strip("\ufeff") or text.endswith("\n") else ""
    return JsonEdit(len(text), "", lead + layout.rendered(value, "") + tail)


def _into_empty(layout: Layout, node: Node, parts: Parts) -> JsonEdit:
    text = layout.text
    comments = text[node.start + 1 : skip(text, node.start + 1)].rstrip(_BLANKS)
    place = node.start + 1 + len(comments)
    if layout.is_flat:
        flat = ", ".join(_part(layout, name, value, "") for name, value in parts)
        return JsonEdit(place, "", flat)
    line = text[text.rfind("\n", 0, node.start) + 1 : node.start].lstrip("\ufeff")
    outer = line[: len(line) - len(line.lstrip(" \t"))]
    indent = outer + layout.unit
    lead = f"{layout.newline}{indent}"
    rendered = ",".join(lead + _part(layout, name, value, indent) for name, value in parts)
    closes = "\n" in text[place : node.end]
    return JsonEdit(place, "", rendered + ("" if closes else f"{layout.newline}{outer}"))


def _part(layout: Layout, name: str | None, value: Any, indent: str) -> str:
    rendered = layout.rendered(value, indent)
    return rendered if name is None else f"{json.dumps(name, ensure_ascii=False)}: {rendered}"


def _after_comma(text: str, end: int) -> int:
    """The offset after the comma that follows a value."""
    return skip(text, end) + 1


def _indent_at(text: str, offset: int) -> str | None:
    """The indentation of an item that begins its line here; None if something else begins the line."""
    lead = text[text.rfind("\n", 0, offset) + 1 : offset]
    return None if lead.strip(" \t") else lead
