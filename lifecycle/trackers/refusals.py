"""What every tracker refuses before it asks anybody: values that no tracker is to keep."""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.core import hidden_marker
from lifecycle.core.errors import Invalid, Refused

MOST_TITLE = 256
"""Characters of a title. Source: GitHub's own limit, https://docs.github.com/rest/issues/issues"""


def demand_key(key: str) -> None:
    """Invalid unless the key is letters, digits and single . : / # = - _."""
    try:
        hidden_marker.keyed(key)
    except Refused:
        raise Invalid(
            f"The key {key!r} cannot be kept, so nothing was done; use letters, digits, and single "
            ". : / # = - or _ between them."
        ) from None


def demand_title(title: str | None) -> None:
    """Invalid for a title that is empty, of several lines or too long; None is no title at all."""
    if title is None:
        return
    if not title.strip():
        raise Invalid("A task needs a title, so nothing was done; give it one.")
    if len(title.splitlines()) > 1 or len(title) > MOST_TITLE:
        raise Invalid(
            f"A title is one line of at most {MOST_TITLE} characters, so nothing was done; put the rest "
            "into the description."
        )


def demand_priority(priority: int | None) -> None:
    """Invalid unless it is 0 (the most urgent) to 4; None is no priority."""
    if priority is not None and (isinstance(priority, bool) or not 0 <= priority <= 4):
        raise Invalid(
            f"A priority is 0 (the most urgent) to 4, not {priority!r}; nothing was done."
        )


def demand_labels(names: Iterable[str]) -> None:
    """Invalid for a label that is empty, or has a comma, a line break or outer spaces."""
    for name in names:
        if not name.isprintable() or name != name.strip() or not name or "," in name:
            raise Invalid(
                f"{name!r} can be no label, so nothing was done; use words without a comma or a line break."
            )


def demand_apart(add: Iterable[str], remove: Iterable[str]) -> None:
    """Invalid if a label is to be there and not there."""
    gone = {name.casefold() for name in remove}
    both = [name for name in add if name.casefold() in gone]
    if both:
        raise Invalid(
            f"The label {both[0]} cannot be added and removed at once, so nothing was done; name it once."
        )


def has_any(labels: Iterable[str], wanted: Iterable[str]) -> bool:
    """True if one of the labels is wanted: by name, or by a beginning that ends with `*`; no case.

    Nothing wanted means that every task will do.
    """
    words = [word.casefold() for word in wanted]
    names = [name.casefold() for name in labels]
    return not words or any(_fits(name, word) for name in names for word in words)


def _fits(name: str, word: str) -> bool:
    return name.startswith(word[:-1]) if word.endswith("*") else name == word
