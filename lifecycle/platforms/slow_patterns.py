"""Find regular expressions that could take for ever before they are used: they come with a repository."""

from __future__ import annotations

import re

LONGEST = 300
"""The most characters of such a pattern."""

WIDEST = 3
"""How many of `.*`, `\\s+` and the like a pattern may have."""

_PLAIN = re.compile(r"\\.|\[\^?\]?[^\]]*\]")
_NESTED = re.compile(r"[*+{)|][^()]*\)[*+{]|\(\?\(|\(\?P=")
"""A repetition, a choice or a group within a repetition."""

_WIDE = re.compile(r"(?:(?<!\\)\.|\]|\\[wWSDs]|\\d[*+]\\d)[*+{]|\\[1-9]")


def problem(pattern: str, widest: int = WIDEST) -> str:
    """What is wrong with a pattern, as half a sentence; "" if it always ends quickly.

    Args:
        pattern: the pattern as written.
        widest: how many of `.*` and the like it may have.
    """
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is no regular expression: {error}"
    is_slow = _NESTED.search(_PLAIN.sub("x", pattern)) or len(_WIDE.findall(pattern)) > widest
    if len(pattern) <= LONGEST and not is_slow:
        return ""
    return (
        f"could take too long: at most {LONGEST} characters and {widest} of .*, \\s+ and the like, and no "
        "repetition or choice within a repetition"
    )
