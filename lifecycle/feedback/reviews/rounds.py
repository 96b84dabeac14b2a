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
        conversation: the whole conversation.
        ledger: what was said so far.
        now: seconds since the epoch.
        is_asked: somebody ran a command for this, so the answer does not wait.
    """
    ledger = review_ledger.resolved(ledger, conversation)
    fresh = ledger.unsaid(review_ledger.points(conversation, ledger.told))
    # The other points are only for the user.
    strangers = ledger.unsaid(review_ledger.strangers(conversation))
    limited = ledger.unsaid(review_ledger.limited(conversation))
    approvals = ledger.unsaid(review_ledger.approvals(conversation))
    others = [*strangers, *limited, *approvals]
    calm = replace(ledger, due=None, waits_since=None)
    if not (fresh or others):
        return ReviewDecision(calm)
    since = ledger.waits_since if ledger.waits_since is not None else now
    due = review_ledger.due_at([*fresh, *others], since)
    if now < due and not is_asked:
        return ReviewDecision(replace(ledger, due=due, waits_since=since))
    answer = _told(conversation, calm, fresh)
    after = answer.ledger.telling(others, conversation.head)
    return replace(answer, ledger=after, strangers=strangers, limited=limited, approvals=approvals)


def _told(
    conversation: PullConversation, ledger: ReviewLedger, fresh: Sequence[ReviewPoint]
) -> ReviewDecision:
    head = conversation.head
    persons = [point for point in fresh if not point.is_bots]
    bots = [point for point in fresh if point.is_bots]
    heads = {past.head: past.keys for past in ledger.rounds}
    count = len({*heads, head})
    question = ""
    if bots and count > MOST_ROUNDS:
        question = "rounds"
    elif bots and ledger.rounds and not _has_progress(conversation, ledger.rounds[-1]):
        question = "no progress"
    worn_out = {key for key, row in ledger.told.items() if row.times >= MOST_TIMES}
    kept = [] if question else [point for point in bots if point.key not in worn_out]
    if count > CALM_ROUNDS:
        kept = [point for point in kept if point.remark.severity not in _LESSER]
    agent = tuple(sorted([*persons, *kept], key=_rank))
    for_person = tuple(point for point in bots if point not in kept)
    packet = review_ledger.key_of(conversation.number, agent)
    after = ledger.telling(agent, head, packet).telling(for_person, head)
    if kept:
        # A head that is gone back to is the last round again.
        keys = dict.fromkeys((*heads.pop(head, ()), *(point.key for point in kept)))
        rounds = {**heads, head: tuple(keys)}
        after = replace(after, rounds=tuple(ReviewRound(*past) for past in rounds.items()))
    is_late = bool(kept) and count > CALM_ROUNDS
    return ReviewDecision(after, agent, for_person, must_reproduce=is_late, question=question)


def _has_progress(conversation: PullConversation, last: ReviewRound) -> bool:
    """True if the last round had a result, or its head is still the current one: the agent is at it.

    A thread that was answered, resolved or outdated is a result. If a round has only texts that cannot be
    answered in place, the next push is its result.
    """
    if last.head == conversation.head:
        return True
    threads = [thread for thread in conversation.threads if thread.id in last.keys]
    done = (thread.is_resolved or thread.is_answered or thread.is_outdated for thread in threads)
    return not threads or any(done)


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
    reviews = (text for text in conversation.texts if text.review_state)
    last = conversation.last_of(text for text in reviews if text.remark.trusted is Trusted.PERSON)
    asked = (text for text in last if text.review_state != "APPROVED")
    return tuple(text.remark.author for text in asked if text.remark.sha != conversation.head)
