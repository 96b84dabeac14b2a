"""Which stage an agent's own words are of: what a claim completes, and what is under way."""

from __future__ import annotations

from lifecycle.core.stage_names import MARKERS, Detected, Stage
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

OPEN = {claim_words.TESTED: Detected.IN_TESTING, claim_words.APPROVED: Detected.IN_ORACLE_REVIEW}
"""The stage that is under way where a text says that this is open."""


def said(
    text: str, about: tuple[str, ...] = (), heard: Stage | None = None
) -> tuple[Detected, ...]:
    """What the text says is completed, the furthest stage first; then what it says is under way.

    Args:
        text: the agent's.
        about: words that stand for what the turn is about besides: that a review was asked for, so that
            "approved" needs no word of what was.
        heard: the stage whose completion alone is looked for; None for any.
    """
    own = MARKERS[heard] if heard else None
    wanted = next((name for name, state in STAGES.items() if state is own), "")
    claims, still = own_words.said(text, about, wanted)
    return (*(STAGES[name] for name in claims), *(OPEN[name] for name in still))
