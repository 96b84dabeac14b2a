"""Parse a text in GitHub's search language into terms and an order.

A word matches only whole words; an unknown qualifier is refused, never ignored.
Sources: https://docs.github.com/search-github/searching-on-github/searching-issues-and-pull-requests,
https://docs.github.com/search-github/getting-started-with-searching-on-github/understanding-the-search-syntax
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lifecycle.sandbox.base.errors import SandboxError

TERM = re.compile(r'(?P<minus>-)?(?:(?P<key>[A-Za-z][\w-]*):)?(?P<value>(?:"[^"]*"|[^\s"])+)')
SORT = re.compile(r"(?P<field>[\w+-]+?)(?:-(?P<direction>asc|desc))?")


class UnknownSearch(SandboxError):
    """A part of GitHub's search language that the sandbox does not imitate."""


@dataclass(frozen=True, slots=True)
class Term:
    """`key:a,b`, where one of the values has to match; without a key, words to find."""

    key: str | None
    values: tuple[str, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A search: its conditions and its order; without an order, the best match comes first."""

    terms: tuple[Term, ...]
    sort: str = "best"
    descending: bool = True

    def values(self, key: str) -> list[str]:
        """The values of a qualifier's terms, without the negated ones."""
        return [v for t in self.terms if t.key == key and not t.negated for v in t.values]


def parse(text: str, qualifiers: Iterable[str]) -> Query:
    """Parse a search.

    Args:
        text: The search as a person types it.
        qualifiers: The supported ones, without `sort`.

    Raises:
        UnknownSearch: It uses another qualifier, or brackets or boolean words.
    """
    terms, sort, descending = [], "best", True
    allowed = set(qualifiers)
    for match in TERM.finditer(text):
        key, raw = match["key"], match["value"]
        if key is None and (raw in {"AND", "OR", "NOT"} or raw[0] in "()"):
            raise UnknownSearch(f"The sandbox does not imitate {raw!r} in a search.")
        if key is not None and key.lower() == "sort":
            chosen = SORT.fullmatch(raw)
            sort = chosen["field"] if chosen else raw
            descending = not chosen or chosen["direction"] != "asc"
            continue
        if key is not None and key.lower() not in allowed:
            raise UnknownSearch(f"The sandbox does not imitate the search qualifier {key!r}.")
        terms.append(
            Term(
                key and key.lower(),
                tuple(_values(raw, split=key is not None)),
                bool(match["minus"]),
            )
        )
    return Query(tuple(terms), sort, descending)


def _values(raw: str, *, split: bool) -> list[str]:
    """The values of a term, without quotes; commas outside of quotes separate them."""
    if not split:
        return [raw.replace('"', "")]
    parts = re.findall(r'(?:"[^"]*"|[^,"])+', raw)
    return [part.replace('"', "") for part in parts]


def words(text: str | None) -> set[str]:
    """The words of a text, in lower case."""
    return set(re.findall(r"\w+", (text or "").lower()))


def holds_words(wanted: str, texts: Iterable[str | None]) -> bool:
    """Whether the texts together contain all words of a phrase."""
    present: set[str] = set()
    for text in texts:
        present |= words(text)
    return words(wanted) <= present


def compares(value: str, actual: str | float) -> bool:
    """Whether a number or a time matches `>x`, `>=x`, `<x`, `<=x`, `x..y`, `x..*` or `x` itself.

    Times are compared in GitHub's form, as far as the given one goes.

    Raises:
        UnknownSearch: It is none of these.
    """
    match = re.fullmatch(r"(?P<sign>>=|<=|>|<)?(?P<low>[^.]+?)(?:\.\.(?P<high>[^.]+))?", value)
    if match is None:
        raise UnknownSearch(f"The sandbox does not understand {value!r} in a search.")
    low, high, sign = match["low"], match["high"], match["sign"]
    if high is not None:
        above = low == "*" or _order(actual, low) >= 0
        return above and (high == "*" or _order(actual, high) <= 0)
    order = _order(actual, low)
    return {">": order > 0, ">=": order >= 0, "<": order < 0, "<=": order <= 0, None: order == 0}[
        sign
    ]


def _order(actual: str | float, bound: str) -> int:
    """-1, 0 or 1, if `actual` is below, at or above a bound."""
    if isinstance(actual, str):
        short = actual[: len(bound)]
        return (short > bound) - (short < bound)
    try:
        number = float(bound)
    except ValueError:
        raise UnknownSearch(f"The sandbox does not understand {bound!r} in a search.") from None
    return (actual > number) - (actual < number)
