"""Who may speak to the agent, and how a listed bot's text is read, from `review_bots.toml`."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from lifecycle.feedback.reviews.remarks import Trusted
from lifecycle.settings import resources

_INSIDERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
"""The insiders: https://docs.github.com/graphql/reference/enums#commentauthorassociation"""


def plain_login(login: str) -> str:
    """A login in the form used for comparison: GraphQL omits `[bot]`, REST does not."""
    return login.removesuffix("[bot]").casefold()


def trusted(login: str, *, is_bot: bool, association: str, is_ours: bool) -> Trusted:
    """The kind of a remark's author; it decides who gets the remark.

    A bot is recognised by its exact login and by GitHub's statement that it is a bot: anybody may choose a
    name that looks like a bot's.
    """
    if is_ours:
        return Trusted.OURS
    if is_bot:
        return Trusted.BOT if plain_login(login) in _table()["logins"] else Trusted.STRANGER
    return Trusted.PERSON if association in _INSIDERS else Trusted.STRANGER


def is_limited(body: str) -> bool:
    """True if a bot says that it did not review. A long text counts as a review anyway."""
    return len(body) < _LONG and _has("limited", body)


_LONG = 3_000


def is_summary(body: str) -> bool:
    """True if a bot summarises the change and asks for nothing."""
    return _has("summary", body)


def severity(body: str) -> str:
    """The severity that a bot gives its finding; "" if it gives none, or an unknown one."""
    for name, patterns in _table()["severity"].items():
        if any(pattern.search(body) for pattern in patterns):
            return str(name)
    return ""


def _has(kind: str, body: str) -> bool:
    return any(pattern.search(body) for pattern in _table()[kind])


@cache
def _table() -> dict[str, Any]:
    read = resources.texts("feedback/reviews/review_bots.toml")
    kinds = {name: _patterns(read[name]) for name in ("limited", "summary")}
    classes = {name: _patterns(words) for name, words in read["severity"].items()}
    return {**kinds, "severity": classes, "logins": frozenset(read["logins"])}


def _patterns(words: list[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(word, re.IGNORECASE | re.MULTILINE) for word in words)
