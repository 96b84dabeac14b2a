"""Edits of JSON text that keep every byte that is not theirs.

What is put in follows the layout around it: indentation, line ends, trailing commas, comments that
stay behind the value they explain. What is taken out takes its comma and its own line along.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lifecycle.setup.init.jsonc import Node, comments_until, parse, skip, skip_one

_DEFAULT_INDENT = "  "
_LINE_END = re.compile(r"[ \t]*\r?\n")


@dataclass(frozen=True, slots=True)
class JsonEdit:
    """`old`, which stands at `start`, becomes `new`."""

    start: int
    old: str
    new: str


def applied(text: str, edits: Iterable[JsonEdit]) -> str:
    """The text with all edits, which must not overlap, made at once."""
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.new + text[edit.start + len(edit.old) :]
    return text


@dataclass(frozen=True, slots=True)
class Layout:
    """How a text is laid out.

    Attributes:
        text: the text.
        newline: its line end.
        unit: one step of indentation.
        is_flat: everything stands on one line.
    """

    text: str
    newline: str
    unit: str
    is_flat: bool

    @classmethod
    def of(cls, text: str) -> Layout:
        """Read it off the text."""
        node = parse(text)
        newline = "\r\n" if re.search(r"\A[^\n]*\r\n", text) else "\n"
        spans = node.spans if node is not None else []
        whole = text[node.start : node.end] if node is not None else ""
        is_flat = bool(spans) and "\n" not in whole
        unit = _indent_at(text, spans[0][0]) if spans else None
        return cls(text, newline, unit or _DEFAULT_INDENT, is_flat)

    def rendered(self, value: Any, indent: str) -> str:
        """A value as text, its further lines indented by `indent`."""
        if self.is_flat:
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit).split("\n")
        return f"{self.newline}{indent}".join(lines)


def insertion(
    layout: Layout, node: Node | None, parts: Sequence[tuple[str | None, Any]]
) -> JsonEdit:
    """The edit that puts items, or members with names, at the end of a container.

    Args:
        layout: of the whole text.
        node: the object or array; None puts the first value into a text that has none.
        parts: (name or None, value) of each.
    """
    if node is None:
        return _first(layout, {name: value for name, value in parts if name is not None})
    if not node.spans:
        return _into_empty(layout, node, parts)
    text, (start, end) = layout.text, node.spans[-1]
    indent = _indent_at(text, start)
    after = _after_comma(text, end) if node.is_trailed else end
    if layout.is_flat or indent is None:
        behind, lead = after, " "
    else:
        behind, lead = comments_until(text, after, node.end), f"{layout.newline}{indent}"
    rendered = [lead + _part(layout, name, value, indent or "") for name, value in parts]
    kept = text[after:behind]
    if node.is_trailed:
        return JsonEdit(after, kept, kept + "".join(f"{part}," for part in rendered))
    return JsonEdit(end, kept, f",{kept}" + ",".join(rendered))


def replacement(layout: Layout, node: Node, value: Any) -> JsonEdit:
    """The edit that writes another value in the place of this one."""
    old = layout.text[node.start : node.end]
    is_flat = layout.is_flat or "\n" not in old
    flat = Layout(layout.text, layout.newline, layout.unit, is_flat)
    return JsonEdit(node.start, old, flat.rendered(value, _line_indent(layout.text, node.start)))


def removal(text: str, node: Node, index: int) -> JsonEdit:
    """The edit that takes an item or a member out, with its comma and the space before it."""
    spans = node.spans
    start, end = spans[index]
    before = spans[index - 1][1] if index else node.start + 1
    is_last = index == len(spans) - 1
    lead, tail, kept = len(text[:start].rstrip(" \t\r\n")), end, ""
    if not is_last or node.is_trailed:
        tail = _after_comma(text, end)
        kept = text[end : tail - 1].rstrip(" \t\r\n")
    elif index:  # the value before it is the last one now, and loses its comma
        comma = _after_comma(text, before) - 1
        kept = text[before:comma] + text[comma + 1 : lead]
        lead = before
    is_first = lead == node.start + 1
    if is_first and is_last:
        tail += _space_before_close(text, tail, node.end)
    elif is_first and "\n" not in text[lead:start]:
        lead, tail = start, tail + len(text[tail:]) - len(text[tail:].lstrip(" "))
    if _ends_in_line_comment(text, before, start) and not _LINE_END.match(text, tail):
        kept += "\n"
    return JsonEdit(lead, text[lead:tail], kept)


def _ends_in_line_comment(text: str, offset: int, end: int) -> bool:
    """True if nothing but a line's end separates what begins at `end` from a comment up to it."""
    is_line_comment = False
    while offset < end:
        begin = offset
        offset = skip_one(text, offset)
        if offset == begin:  # the comma
            offset += 1
        elif text[begin:offset].strip(" \t\r\n"):
            is_line_comment = text.startswith("//", begin)
    return is_line_comment


def _space_before_close(text: str, end: int, close: int) -> int:
    space = text[end : close - 1]
    return len(space) if not space.strip(" \t\r\n") else 0


def _first(layout: Layout, value: Any) -> JsonEdit:
    text = layout.text
    lead = "" if not text.strip("\ufeff \t\r\n") or text.endswith("\n") else layout.newline
    tail = layout.newline if not text.strip("\ufeff") or text.endswith("\n") else ""
    return JsonEdit(len(text), "", lead + layout.rendered(value, "") + tail)


def _into_empty(layout: Layout, node: Node, parts: Sequence[tuple[str | None, Any]]) -> JsonEdit:
    text = layout.text
    place = comments_until(text, node.start + 1, node.end)
    while (following := skip(text, place)) > place and text[place:following].strip(" \t\r\n"):
        place = place + len(text[place:following].rstrip(" \t\r\n"))
    if layout.is_flat:
        flat = ", ".join(_part(layout, name, value, "") for name, value in parts)
        return JsonEdit(place, "", flat)
    outer = _line_indent(text, node.start)
    indent = outer + layout.unit
    lead = f"{layout.newline}{indent}"
    rendered = ",".join(lead + _part(layout, name, value, indent) for name, value in parts)
    closes = "\n" in text[place : node.end]
    return JsonEdit(place, "", rendered + ("" if closes else f"{layout.newline}{outer}"))


def _part(layout: Layout, name: str | None, value: Any, indent: str) -> str:
    rendered = layout.rendered(value, indent)
    return rendered if name is None else f"{json.dumps(name, ensure_ascii=False)}: {rendered}"


def _after_comma(text: str, end: int) -> int:
    """Behind the comma that follows a value."""
    return skip(text, end) + 1


def _indent_at(text: str, offset: int) -> str | None:
    """The indentation of what begins its line here; None if something else begins the line."""
    lead = text[text.rfind("\n", 0, offset) + 1 : offset]
    if "\n" not in text[:offset] or lead.strip(" \t"):
        return None
    return lead


def _line_indent(text: str, offset: int) -> str:
    """The indentation of the line that this offset lies on."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]
