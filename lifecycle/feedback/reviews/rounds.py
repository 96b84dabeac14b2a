"""Decide when the agent stops getting bots' findings, and whom to ask for another review. Pure.

A reviewing bot finds something new at each push, so its reviews never end. People's are never held back.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.feedback.reviews import review_ledger
from lifecycle.feedback.reviews.remarks import PullConversation, ReviewPoint, Trusted
from lifecycle.feedback.reviews.review_ledger import ReviewLedger, ReviewRound

MOST_ROUNDS = 3
"""Heads at which the agent gets bots' findings, over a pull request's whole life."""

CALM_ROUNDS = 2
"""Rounds after which the agent gets only findings that are serious or have no known class."""

MOST_TIMES = 3
"""How often the agent gets one point of a bot: a bot may answer every answer."""

_LESSER = ("minor", "nit")


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """What to say now, to whom, and the ledger after that.

    Attributes:
        agent: points for the agent; the most serious first.
        person: bots' points for the user: minor ones of late rounds, repeated ones, all after a stop.
        strangers, limited, approvals: as returned by `review_ledger`.
        must_reproduce: the agent has to reproduce each bot's finding before it changes anything.
        question: why a person is asked: "rounds", "no progress", or "".
    """

    ledger: ReviewLedger
    agent: tuple[ReviewPoint, ...] = ()
    person: tuple[ReviewPoint, ...] = ()
    strangers: tuple[ReviewPoint, ...] = ()
    limited: tuple[ReviewPoint, ...] = ()
    approvals: tuple[ReviewPoint, ...] = ()
    must_reproduce: bool = False
    question: str = ""


def decide(
    conversation: PullConversation, ledger: ReviewLedger, now: float, *, is_asked: bool
) -> ReviewDecision:
    """Decide what to say about a conversation now; nothing while somebody may still be writing.

    Args:
        conversation: the complete conversation; never one that was read only in part.
        ledger: what was said so far.
        now: seconds since the epoch.
        is_asked: somebody ran a command for this, so the answer does not wait.
    """
    ledger = review_ledger.resolved(ledger, conversation)
    fresh = review_ledger.news(conversation, ledger.told)
    # The other points are only for the user.
    strangers = tuple(review_ledger.strangers(conversation, ledger.told))
    limited = tuple(review_ledger.limited(conversation, ledger.told))
    approvals = tuple(review_ledger.approvals(conversation, ledger.told))
    others = [*strangers, *limited, *approvals]
    if not (fresh or others):
        return ReviewDecision(replace(ledger, due=None, waits_since=None))
    since = ledger.waits_since if ledger.waits_since is not None else now
    due = review_ledger.due_at([*fresh, *others], since)
    if now < due and not is_asked:
        return ReviewDecision(replace(ledger, due=due, waits_since=since))
    decision = _told(conversation, replace(ledger, due=None, waits_since=None), fresh)
    after = decision.ledger.telling(others, conversation.head)
    return replace(
        decision, ledger=after, strangers=strangers, limited=limited, approvals=approvals
    )


def _told(
    conversation: PullConversation, ledger: ReviewLedger, fresh: Sequence[ReviewPoint]
) -> ReviewDecision:
    head = conversation.head
    persons = [point for point in fresh if not point.is_bots]
    bots = [point for point in fresh if point.is_bots]
    count = len(ledger.rounds) + (not _is_in_last(ledger, head))
    question = ""
    if bots and count > MOST_ROUNDS:
        question = "rounds"
    elif bots and ledger.rounds and not _has_progress(conversation, ledger):
        question = "no progress"
    kept = [] if question else [point for point in bots if not _is_worn_out(ledger, point)]
    if count > CALM_ROUNDS:
        kept = [point for point in kept if point.remark.severity not in _LESSER]
    agent = sorted([*persons, *kept], key=_rank)
    for_person = [point for point in bots if point not in kept]
    after = ledger.telling([*agent, *for_person], head)
    if kept:
        after = replace(after, rounds=_with_round(ledger, head, [point.key for point in kept]))
    is_late = bool(kept) and count > CALM_ROUNDS
    return ReviewDecision(
        after, tuple(agent), tuple(for_person), must_reproduce=is_late, question=question
    )


def _is_worn_out(ledger: ReviewLedger, point: ReviewPoint) -> bool:
    row = ledger.told.get(point.key)
    return row is not None and row.times >= MOST_TIMES


def _is_in_last(ledger: ReviewLedger, head: str) -> bool:
    return bool(ledger.rounds) and ledger.rounds[-1].head == head


def _has_progress(conversation: PullConversation, ledger: ReviewLedger) -> bool:
    """True if the last round had a result, or its head is still the current one: the agent is at it.

    A thread that was answered, resolved or outdated is a result. If a round has only texts that cannot be
    answered in place, the next push is its result.
    """
    last = ledger.rounds[-1]
    if last.head == conversation.head:
        return True
    threads = [thread for thread in conversation.threads if thread.id in last.keys]
    done = (thread.is_resolved or thread.is_answered or thread.is_outdated for thread in threads)
    return not threads or any(done)


def _with_round(ledger: ReviewLedger, head: str, keys: Sequence[str]) -> tuple[ReviewRound, ...]:
    if not _is_in_last(ledger, head):
        return (*ledger.rounds, ReviewRound(head, tuple(keys)))
    last = ledger.rounds[-1]
    more = tuple(key for key in keys if key not in last.keys)
    return (*ledger.rounds[:-1], replace(last, keys=(*last.keys, *more)))


_CLASSES = ("blocking", "major", "", "minor", "nit")


def _rank(point: ReviewPoint) -> tuple[bool, bool, int]:
    """The sort key of a point: requests for changes, then people, then bots by the finding's class."""
    asks = point.review_state == "CHANGES_REQUESTED"
    return not asks, point.is_bots, _CLASSES.index(point.remark.severity)


def to_ask_again(conversation: PullConversation) -> tuple[str, ...]:
    """Who may be asked to review this head again, in GitHub's order; each at most once for a head.

    These are people whose last review is of an older commit and not an approval, and who are not asked now.
    Bots are not: they review each push by themselves, or when asked in words of their own.
    """
    last: dict[str, tuple[str, str, str]] = {}
    for review in conversation.reviews:
        if review.remark.trusted is Trusted.PERSON:
            name = review.remark.author
            last[name.casefold()] = (name, review.state, review.remark.sha)
    waiting = {name.casefold() for name in conversation.requested}
    return tuple(
        name
        for key, (name, state, sha) in last.items()
        if key not in waiting and sha != conversation.head and state != "APPROVED"
    )
