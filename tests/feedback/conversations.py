"""Conversations about a pull request, each valid, of which a test changes one thing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lifecycle.feedback.reviews.remarks import (
    PullConversation,
    Remark,
    ReviewPoint,
    ReviewThread,
    Trusted,
)

NOW = 1_738_000_000.0
HEAD, NEXT = "a" * 40, "b" * 40


def said(number: int, **changes: Any) -> Remark:
    """A person's remark, said a while ago."""
    given: dict[str, Any] = {
        "id": str(number),
        "author": "maria",
        "trusted": Trusted.PERSON,
        "body": f"Remark {number}.",
        "at": NOW - 1000 + number,
        "url": f"https://github.com/octo-org/hello-service/pull/46#discussion_r{number}",
        "sha": HEAD,
    }
    return Remark(**given | changes)


def bot(number: int, severity: str = "", **changes: Any) -> Remark:
    """A listed bot's remark."""
    kind = {"author": "coderabbitai", "trusted": Trusted.BOT, "severity": severity}
    return said(number, **kind | changes)


def ours(number: int, **changes: Any) -> Remark:
    """What the token's owner wrote."""
    return said(number, **{"author": "octocat", "trusted": Trusted.OURS} | changes)


def thread(*remarks: Remark, **changes: Any) -> ReviewThread:
    """A thread of these remarks."""
    given: dict[str, Any] = {
        "id": f"PRRT_{remarks[0].id}",
        "path": "a.txt",
        "line": 2,
        "remarks": remarks,
        "can_reply": True,
    }
    return ReviewThread(**given | changes)


def review(number: int, state: str, **changes: Any) -> ReviewPoint:
    """A submitted review of maria's."""
    return ReviewPoint(f"PRR_{number}", said(number, **changes), review_state=state)


def talk(
    *threads: ReviewThread,
    reviews: Iterable[ReviewPoint] = (),
    comments: Iterable[Remark] = (),
    **changes: Any,
) -> PullConversation:
    """The conversation about pull request 46."""
    given: dict[str, Any] = {
        "number": 46,
        "url": "https://github.com/octo-org/hello-service/pull/46",
        "head": HEAD,
        "threads": threads,
        "texts": (*reviews, *(ReviewPoint(f"C{comment.id}", comment) for comment in comments)),
    }
    return PullConversation(**given | changes)
