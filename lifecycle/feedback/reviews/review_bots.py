"""Who may speak to the agent, and how a listed bot's text is read, from `review_bots.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from typing import Any

from lifecycle.feedback.reviews.remarks import Trusted
from lifecycle.settings import resources

_INSIDERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
"""The insiders: https://docs.github.com/graphql/reference/enums#commentauthorassociation"""

table = partial(resources.table, "feedback/reviews/review_bots.toml")
"""The content of `review_bots.toml`."""


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
        return Trusted.BOT if plain_login(login) in table()["logins"] else Trusted.STRANGER
    return Trusted.PERSON if association in _INSIDERS else Trusted.STRANGER


_LONG = 3_000
"""Characters from which a text is a review, even if it says that there was none."""


def about(body: str) -> dict[str, Any]:
    """What a listed bot's text is, as the fields of `Remark` that say so.

    It may say that the bot did not review, or summarise the change and ask for nothing. The severity is ""
    if the bot gives its finding none, or an unknown one.
    """
    words = table()
    severities = (name for name, patterns in words["severity"].items() if _has(patterns, body))
    return {
        "is_limited": len(body) < _LONG and _has(words["limited"], body),
        "is_summary": _has(words["summary"], body),
        "severity": next(severities, ""),
    }


def _has(patterns: Iterable[str], body: str) -> bool:
    return any(re.search(pattern, body, re.IGNORECASE | re.MULTILINE) for pattern in patterns)
