"""Settings files as they are in the wild, made up by Hypothesis.

A text comes with the values that it must be read as. Comments, trailing commas, tabs, CRLF, a BOM,
no final newline, odd indentation and blank lines all occur.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

NAMES = st.text(min_size=0, max_size=6) | st.sampled_from(
    ["model", "a b", "é", "//", "/*", "\u2028"]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**6)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
    | st.sampled_from(["// no comment", "/* nor this */", "{", "],", '"', "\\", "\u2028"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
FOREIGN_HOOKS = st.fixed_dictionaries(
    {
        "hooks": st.lists(
            st.fixed_dictionaries(
                {"type": st.just("command"), "command": st.sampled_from(["a", "/x/hooks/on-stop"])},
                optional={"timeout": st.integers(1, 9)},
            ),
            max_size=2,
        )
    },
    optional={"matcher": st.sampled_from(["", "idle_prompt", "startup"])},
)
EVENTS = st.sampled_from(["Stop", "SessionStart", "Notification", "PreToolUse", "SessionEnd"])
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "model": SCALARS,
        "env": st.dictionaries(NAMES, VALUES, max_size=2),
        "permissions": st.fixed_dictionaries(
            {},
            optional={
                "allow": st.lists(
                    st.sampled_from(["Bash(ls)", "Bash(lifecycle claim:*)", "Read"]), max_size=3
                ),
                "deny": st.lists(st.text(max_size=5), max_size=2),
            },
        ),
        "hooks": st.dictionaries(EVENTS, st.lists(FOREIGN_HOOKS, max_size=2), max_size=3),
        "other": VALUES,
    },
)


class _Writer:
    """Writes a value with whatever may stand between its tokens."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.newline = draw(st.sampled_from(["\n", "\r\n"]))
        self.unit = draw(st.sampled_from(["  ", "\t", "    ", " ", ""]))
        self.is_flat = draw(st.booleans())
        self.has_comments = draw(st.booleans())
        self.is_tidy = draw(st.booleans())

    def gap(self, depth: int) -> str:
        """What stands before an item or a closing bracket."""
        lead = "" if self.is_flat else self.newline + self.unit * depth
        if self.is_tidy:
            return lead
        pieces = ["", " ", "\t"]
        if not self.is_flat:
            pieces += [self.newline, self.newline * 2]
        if self.has_comments:
            pieces += ["/* c */", "/**/"]
            if not self.is_flat:
                pieces += [f"// c, ]}}{self.newline}", f" // {self.newline}", f"/*{self.newline}*/"]
        before, after = self.draw(st.sampled_from(pieces)), self.draw(st.sampled_from(pieces))
        return f"{before}{lead}{after}"

    def write(self, value: Any, depth: int = 0) -> str:
        """The value as text."""
        if isinstance(value, dict):
            parts = [
                f"{self.text(key)}{self.small()}:{self.small()}{self.write(item, depth + 1)}"
                for key, item in value.items()
            ]
            return self.container("{", "}", parts, depth)
        if isinstance(value, list):
            return self.container("[", "]", [self.write(v, depth + 1) for v in value], depth)
        return self.text(value)

    def small(self) -> str:
        """What stands beside a colon."""
        return str(self.draw(st.sampled_from(["", " ", "  "])))

    def text(self, value: Any) -> str:
        """A scalar."""
        return json.dumps(value, ensure_ascii=self.draw(st.booleans()))

    def container(self, opening: str, closing: str, parts: list[str], depth: int) -> str:
        """An object or an array."""
        text = opening
        for index, part in enumerate(parts):
            if index:
                text += ("" if self.is_tidy else self.draw(st.sampled_from(["", " "]))) + ","
            text += self.gap(depth + 1) + part
        if parts and self.draw(st.booleans()):
            text += ","
        return text + (self.gap(depth) if parts or not self.is_tidy else "") + closing


@st.composite
def texts(draw: Any, values: st.SearchStrategy[Any] = SETTINGS) -> tuple[str, Any]:
    """A text, and the value that it holds."""
    value = draw(values)
    writer = _Writer(draw)
    bom = draw(st.sampled_from(["", "\ufeff"]))
    lead = draw(st.sampled_from(["", "\n", f"// first{writer.newline}", "/* first */ "]))
    tail = draw(st.sampled_from(["", writer.newline, f"{writer.newline}// last", " \n\n"]))
    return f"{bom}{lead}{writer.write(value)}{tail}", value
