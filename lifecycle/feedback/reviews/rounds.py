"""Decide when bots' findings stop being the agent's work, and whom to ask for another review. Pure.

At each push a reviewing bot finds something else, so its reviews never end. Persons are never held back.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.feedback.reviews import review_ledger
from lifecycle.feedback.reviews.remarks import PullConversation, ReviewPoint, Trusted
from lifecycle.feedback.reviews.review_ledger import ReviewLedger, ReviewRound

MOST_ROUNDS = 3
"""Heads at which bots' findings are told to the agent, over a pull request's whole life."""

CALM_ROUNDS = 2
"""Rounds after which only what is grave, or of no known class, is the agent's."""

MOST_TIMES = 3
"""How often one point of a bot's is told to the agent: a bot may answer every answer."""

_LESSER = ("minor", "nit")


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """What is told now, to whom, and the ledger once it is.

    Attributes:
        agent: points for the agent; the gravest first.
        person: bots' points for the user: lesser ones late, what was told too often, all after a stop.
        strangers, limited, approvals: as `review_ledger` has them.
        must_reproduce: the agent is to reproduce each bot's finding before it changes anything.
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
    """Decide what of a conversation is told now; nothing while somebody may still be writing.

    Args:
        conversation: all of it; what was not read whole must not come here.
        ledger: what was told so far.
        now: seconds since the epoch.
        is_asked: somebody asked by command, and is not made to wait.
    """
    ledger = review_ledger.resolved(ledger, conversation)
    fresh = review_ledger.news(conversation, ledger.told)
    # The rest is for the user alone.
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
    """True if something came of the last round, or its head is still the present one: the agent is at it.

    A thread that is answered, resolved or outdated came to something. A round of texts alone, which nobody
    can answer in their place, came to the push after it.
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
    """The key to sort points by: requests for changes, then persons, then bots by their class."""
    asks = point.review_state == "CHANGES_REQUESTED"
    return not asks, point.is_bots, _CLASSES.index(point.remark.severity)


def to_ask_again(conversation: PullConversation) -> tuple[str, ...]:
    """Who may be asked for another review of this head: each at most once for it, in the order of GitHub.

    People whose last review is of an older commit, and no approval, and of whom none is asked now. Bots
    look at each push by themselves, or are asked by words of their own.
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
