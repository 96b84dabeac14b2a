"""A review's verdict in its form: one line `VERDICT: APPROVED` or `VERDICT: CHANGES_REQUESTED`.

The last such line counts. Approved with anything behind it asks for changes; a line that only says which
forms there are, or how to end, is none.
"""

from __future__ import annotations

import re
from functools import partial

from lifecycle.evidence.words import word_tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

APPROVED, CHANGES = "approved", "changes"

_of = partial(word_tables.pattern, "words/sentences")


def may_be_in(text: str) -> bool:
    """True if a line of the text may be one: worth telling its prose."""
    pattern = r"(?im)^.{0,40}verdict\W+(?:approved|changes)"
    return "verdict" in text.lower() and re.search(pattern, text) is not None


def read(lines: Iterable[tuple[str, str]]) -> str:
    """APPROVED, CHANGES, or "" without such a line; each line comes with the one that announces it."""
    result = ""
    for line, above in lines:
        match = re.fullmatch(_of("verdict"), line, re.IGNORECASE)
        if match is None or re.search(_of("before a verdict"), above, re.IGNORECASE):
            continue
        if not re.match(r"\W*(?:\||/|or\b)", match[2]):  # else it says which verdicts there are
            is_whole = re.fullmatch(_of("behind a verdict"), match[2], re.IGNORECASE)
            is_approved = match[1].lower() == APPROVED and is_whole
            result = APPROVED if is_approved else CHANGES
    return result
