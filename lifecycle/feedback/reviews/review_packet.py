"""The packet of one review: what the agent gets in a wake, and all of it as a file. Pure.

Texts by people and bots are quoted as data, without secrets, and cut to a length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle.core.messages import review_messages as words
from lifecycle.core.redact import block, named
from lifecycle.feedback.reviews.remarks import PullConversation, ReviewPoint, ReviewThread
from lifecycle.feedback.reviews.review_ledger import ReviewDecision
from lifecycle.feedback.reviews.review_reading import sentence
from lifecycle.settings import resources

MOST_IN_WAKE = 2_000
"""Characters of the packet that come with the wake."""

MOST_OF_BODY = 4_000
"""Characters of one remark in the file."""

_HUNK_LINES = 8
_MOST_HUNK_LINES = 60

ANSWER = (
    "Answer each thread: lifecycle feedback reply THREAD --text-file FILE "
    "--verdict fixed|wont_fix|question|needs_human"
)


def first_line(conversation: PullConversation, decision: ReviewDecision) -> str:
    """The first sentence of a wake; if somebody asked for changes, it is the one from the design."""
    asked = [point for point in decision.agent if point.review_state == "CHANGES_REQUESTED"]
    if asked:
        remark = asked[-1].remark
        return words.changes_requested(conversation.number, remark.author, remark.url)
    authors = list(dict.fromkeys(point.remark.author for point in decision.agent))
    shown, count = authors[: words.SHOWN_NAMES], len(decision.agent)
    who = ", ".join(named(author) for author in shown if author) or "a reviewer"
    name = "remark-waits" if count == 1 else "remarks-wait"
    return sentence(name, number=conversation.number, count=count, who=who)


def in_wake(conversation: PullConversation, decision: ReviewDecision, path: str) -> str:
    """The packet for a wake: the sentence, as many points as there is room for, and the file's path."""
    head = [first_line(conversation, decision)]
    head += [sentence("reproduce-first")] if decision.must_reproduce else []
    tail = [ANSWER] if any(point.thread is not None for point in decision.agent) else []
    tail.append(f"All of it, with the lines of the diff: {path}")
    room = MOST_IN_WAKE - len("\n".join([*head, *tail])) - 80
    shown = [
        "\n".join(drawn("review_point", number=number, point=point, head=conversation.head))
        for number, point in enumerate(decision.agent, 1)
    ]
    while shown and len("\n".join(shown)) > room:
        shown.pop()
    left = len(decision.agent) - len(shown)
    more = [f"… and {left} more in the file."] if left else []
    return "\n".join([*head, words.quoted_as_data(), *shown, *more, *tail])


def of_approvals(number: int, approvals: Sequence[ReviewPoint]) -> str:
    """The notice on approvals: the first words of each, quoted, and the file with the rest."""
    remarks = [approval.remark for approval in approvals]
    return "\n".join(drawn("approvals", number=number, remarks=remarks))


def whole(conversation: PullConversation, decision: ReviewDecision) -> str:
    """The packet as a file: every point with its thread and the lines of the diff."""
    shown = {"conversation": conversation, "decision": decision, "most": MOST_OF_BODY}
    shown |= {"first_line": first_line(conversation, decision), "diff": _diff}
    return "\n".join(drawn("review", **shown)) + "\n"


def drawn(name: str, /, **values: Any) -> list[str]:
    """The lines of a text about reviews: a template in `templates/`, filled in."""
    path = f"feedback/templates/{name}.txt"
    return resources.drawn(path, words=words, sentence=sentence, ANSWER=ANSWER, **values)


def _diff(thread: ReviewThread | None, hunk: str) -> list[str]:
    """The lines of the diff that are shown: all that the thread is about, within bounds."""
    count = _HUNK_LINES
    if thread is not None and thread.line is not None and thread.start is not None:
        count = max(_HUNK_LINES, min(thread.line - thread.start + 1, _MOST_HUNK_LINES))
    return block("\n".join(hunk.split("\n")[-count:]))
