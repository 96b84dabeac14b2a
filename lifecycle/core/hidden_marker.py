"""Hidden markers: HTML comments by which a text of ours is found again on GitHub.

GitHub deduplicates neither issues nor comments, so what we created is recognised by its marker. A marker
is invisible on the page, and anybody may quote one: it counts only as the last line of a text, where
`signed` puts it, and only if the author of the text is right, too.
"""

from __future__ import annotations

import re

from lifecycle.core.errors import Refused

_KEY = r"[\w.:/#=]+(?:-[\w.:/#=]+)*"


def of(kind: str, **facts: object) -> str:
    """The marker of a kind of text, with facts that distinguish it from others of the kind."""
    words = "".join(f" {name}={value}" for name, value in facts.items())
    return f"<!-- lifecycle:{kind}{words} -->"


def word(text: str) -> str:
    """The text in a form that a marker may contain: no space, and nothing that ends an HTML comment."""
    return re.sub(r"[^\w.]+", "-", text)


def keyed(key: str) -> str:
    """The marker for a key that a caller chose.

    Raises:
        Refused: the key contains a space, `--`, or a character that a marker may not have.
    """
    if not re.fullmatch(_KEY, key):
        raise Refused(
            f"The marker {key!r} cannot be hidden in a text, so nothing was done; use letters, digits, "
            "and single . : / # = - or _ between them."
        )
    return of(key)


def signed(body: str, mark: str) -> str:
    """A text with its marker below it."""
    return f"{body.rstrip()}\n\n{mark}" if body.strip() else mark


def is_signed(body: str, mark: str) -> bool:
    """True if the marker is the last line of a text, where `signed` puts it, or the whole text.

    A marker within a line, a quotation or an example was written by somebody else, and does not count.
    """
    return bool(mark) and mark_in(body) == mark


def mark_in(body: str) -> str:
    """The marker of ours that a text is signed with, of whatever kind; "" if there is none."""
    lines = body.rstrip().splitlines()
    last = lines[-1].rstrip() if lines else ""
    return last if last.startswith("<!-- lifecycle:") and last.endswith(" -->") else ""
