"""Which stage an agent's own words are of: what a claim completes, and what is under way."""

from __future__ import annotations

from lifecycle.core.stage_names import Detected
from lifecycle.evidence.words import claim_words, own_words

STAGES = {
    "closed": Detected.ISSUE_CLOSED,
    claim_words.APPROVED: Detected.ORACLE_APPROVED,
    claim_words.TESTED: Detected.TESTS_PASSING,
    claim_words.SATISFIED: Detected.REQUIREMENTS_REVIEWED,
    claim_words.CODED: Detected.CODING_COMPLETE,
    "cleared": Detected.SESSION_CLEARED,
}
"""The stage that each claim completes."""

OPEN = {
    claim_words.TESTED: Detected.IN_TESTING,
    claim_words.APPROVED: Detected.IN_ORACLE_REVIEW,
}
"""The stage that is under way where a text says that this is open."""


def said(text: str, about: tuple[str, ...] = ()) -> tuple[Detected, ...]:
    """What the text says is completed, the furthest stage first; then what it says is under way.

    `about`: words that stand for what the turn is about besides, as `own_words.said` takes them.
    """
    claims, still = own_words.said(text, about)
    return (*(STAGES[name] for name in claims), *(OPEN[name] for name in still))
