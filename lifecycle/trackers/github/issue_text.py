"""What a task says in the body of its issue: people's text, and below it what only programs read.

The hidden lines lie at the end of the body, where `marker.is_signed` looks for the last one. Whoever
edits the text by a verb keeps them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from lifecycle.core import hidden_marker

_HIDDEN = re.compile(r"^<!-- lifecycle:[^<>]+ -->$")
_EXTERNAL = re.compile(r"^<!-- lifecycle:external ref=(\S+) -->$")


@dataclass(frozen=True, slots=True)
class Body:
    """A body taken apart; `hidden` are its last lines, if they are ours."""

    text: str
    hidden: tuple[str, ...] = ()

    @classmethod
    def of(cls, body: str) -> Body:
        """Take a body apart."""
        lines = body.rstrip().replace("\r\n", "\n").split("\n")
        hidden: list[str] = []
        while lines and (not lines[-1].strip() or _HIDDEN.match(lines[-1].strip())):
            line = lines.pop().strip()
            hidden += [line] if line else []
        return cls("\n".join(lines), tuple(reversed(hidden)))

    @property
    def external(self) -> str:
        """What the task is linked to in another tracker, "" if nothing."""
        found = (_EXTERNAL.match(line) for line in self.hidden)
        return next((unquote(match[1]) for match in found if match), "")

    def saying(self, text: str) -> str:
        """The whole body with another text above the same hidden lines."""
        return "\n\n".join(part for part in (text.rstrip(), "\n".join(self.hidden)) if part)


def with_external(text: str, external: str) -> str:
    """A text with the link to another tracker hidden below it; "" hides nothing."""
    if not external:
        return text
    # Nothing in it may end the HTML comment or be a space.
    safe = quote(external, safe="/:#=.").replace("-", "%2D")
    return hidden_marker.signed(text, hidden_marker.of("external", ref=safe))
