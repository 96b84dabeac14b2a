"""Bots' findings end after some rounds; persons are never held back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lifecycle.feedback.reviews.remarks import PullConversation, ReviewPoint, ReviewThread
from lifecycle.feedback.reviews.review_ledger import (
    MOST_ROUNDS,
    MOST_TIMES,
    ReviewDecision,
    ReviewLedger,
    ReviewRound,
    ToldPoint,
    decide,
    to_ask_again,
)
from tests.feedback.conversations import HEAD, NEXT, NOW, bot, ours, review, said, talk, thread


def after(*heads: str, keys: tuple[str, ...] = ("PRRT_1",)) -> ReviewLedger:
    """A ledger after rounds at these heads, the last of which told of `keys`."""
    return ReviewLedger(46, rounds=tuple(ReviewRound(head, keys) for head in heads))


def looked(found: PullConversation, ledger: ReviewLedger) -> ReviewDecision:
    """What is told of it now."""
    return decide(found, ledger, NOW, is_asked=True)


def keys(decision: ReviewDecision) -> list[str]:
    """What the agent is told of."""
    return [one.key for one in decision.agent]


DONE = thread(bot(1), ours(2))
"""A finding of the last round that was answered."""


def test_a_round_is_a_head() -> None:
    """What bots add at the same head belongs to its round; the next head begins another.

    One that is gone back to is no further round, but the last one: what follows is compared with it.
    """
    first = looked(talk(thread(bot(1))), ReviewLedger(46)).ledger
    assert first.rounds == (ReviewRound(HEAD, ("PRRT_1",)),)
    more = looked(talk(DONE, thread(bot(3))), first).ledger
    assert more.rounds == (ReviewRound(HEAD, ("PRRT_1", "PRRT_3")),)
    assert not looked(talk(DONE), more).must_reproduce
    third = looked(talk(DONE, thread(bot(3), ours(4)), thread(bot(5)), head=NEXT), more).ledger
    assert third.rounds[-1] == ReviewRound(NEXT, ("PRRT_5",))
    assert len(third.rounds) == 2
    again = talk(DONE, thread(bot(5)), thread(bot(6)), head=NEXT)
    assert looked(again, third).ledger.rounds == (
        ReviewRound(HEAD, ("PRRT_1", "PRRT_3")),
        ReviewRound(NEXT, ("PRRT_5", "PRRT_6")),
    )
    back = looked(talk(thread(bot(5), ours(6)), thread(bot(7))), third).ledger
    assert back.rounds == (
        ReviewRound(NEXT, ("PRRT_5",)),
        ReviewRound(HEAD, ("PRRT_1", "PRRT_3", "PRRT_7")),
    )


def test_the_last_round_has_what_is_grave_or_of_no_class() -> None:
    """Minor findings go to the user; the agent reproduces each other one first."""
    new = [
        thread(bot(10 + n, kind))
        for n, kind in enumerate(("minor", "", "nit", "major", "blocking"))
    ]
    calm = looked(talk(DONE, *new, head=NEXT), after("0" * 40))
    assert (len(calm.agent), calm.must_reproduce, calm.person) == (5, False, ())
    last = looked(talk(DONE, *new, head=NEXT), after("0" * 40, HEAD))
    assert keys(last) == ["PRRT_14", "PRRT_13", "PRRT_11"]
    assert [one.key for one in last.person] == ["PRRT_10", "PRRT_12"]
    assert (last.must_reproduce, last.question) == (True, "")
    assert keys(looked(talk(DONE, *new, head=NEXT), last.ledger)) == []
    lesser = looked(talk(DONE, new[0], head=NEXT), after("0" * 40, HEAD))
    assert (keys(lesser), lesser.must_reproduce) == ([], False)
    assert lesser.ledger.rounds == after("0" * 40, HEAD).rounds


def test_a_point_of_a_bots_is_told_three_times() -> None:
    """The fourth time is the user's."""
    for times in (1, 2, 3):
        told = {"PRRT_1": ToldPoint("old", HEAD, times)}
        again = looked(talk(thread(bot(1))), replace(after(HEAD), told=told))
        assert keys(again) == (["PRRT_1"] if times < 3 else [])
        assert [one.key for one in again.person] == ([] if times < 3 else ["PRRT_1"])


def test_after_the_last_round_a_person_is_asked() -> None:
    """Whatever bots find then is the user's, and no further round is counted."""
    rounds = after(*(str(n) * 40 for n in range(MOST_ROUNDS)))
    over = looked(talk(DONE, thread(bot(9, "blocking")), head=NEXT), rounds)
    assert (keys(over), over.question) == ([], "rounds")
    assert [one.key for one in over.person] == ["PRRT_9"]
    assert len(over.ledger.rounds) == MOST_ROUNDS == 3
    assert looked(talk(DONE, thread(bot(9, "blocking")), head=NEXT), over.ledger).question == ""


@pytest.mark.parametrize(
    ("last", "is_stopped"),
    [
        (thread(bot(1)), True),
        (DONE, False),
        (replace(thread(bot(1)), is_resolved=True), False),
        (replace(thread(bot(1)), is_outdated=True), False),
    ],
)
def test_a_round_without_progress_stops(last: ReviewThread, *, is_stopped: bool) -> None:
    """At a new head nothing of the last round is answered, resolved or outdated: a person is asked."""
    first = looked(talk(thread(bot(1))), ReviewLedger(46)).ledger
    found = looked(talk(last, thread(bot(7)), head=NEXT), first)
    assert found.question == ("no progress" if is_stopped else "")
    assert keys(found) == ([] if is_stopped else ["PRRT_7"])


def test_a_bot_that_answers_every_answer_is_the_users_in_the_end() -> None:
    """One thread is told three times; what the bot says after that goes to the user, without a question."""
    ledger, remarks = ReviewLedger(46), [bot(1)]
    for times in range(1, 5):
        found = looked(talk(thread(*remarks)), ledger)
        assert keys(found) == (["PRRT_1"] if times <= MOST_TIMES else []), times
        assert [one.key for one in found.person] == ([] if times <= MOST_TIMES else ["PRRT_1"])
        assert found.question == ""
        ledger = found.ledger
        remarks += [ours(10 * times), bot(10 * times + 1)]
    persons = talk(thread(bot(1), said(99)))
    assert keys(looked(persons, ledger)) == ["PRRT_1"]


def test_what_was_dealt_with_meanwhile_is_waited_for_no_more() -> None:
    """A thread that is resolved within the quiet time leaves nothing that is due."""
    found = talk(thread(bot(1, at=NOW - 5)))
    waiting = decide(found, ReviewLedger(46), NOW, is_asked=False).ledger
    assert waiting.due is not None
    resolved = talk(replace(found.threads[0], is_resolved=True))
    ended = decide(resolved, waiting, NOW, is_asked=False)
    assert (ended.ledger.due, ended.ledger.waits_since, ended.agent) == (None, None, ())


def test_persons_alone_never_raise_a_question() -> None:
    """Neither after the last round nor where nothing came of it."""
    over = after(*(str(n) * 40 for n in range(MOST_ROUNDS)))
    found = talk(thread(bot(1)), thread(said(2)), head=NEXT)
    told = {"PRRT_1": ToldPoint(bot(1).stamp, HEAD)}
    for ledger in (over, after(HEAD)):
        decision = looked(found, replace(ledger, told=told))
        assert (keys(decision), decision.question) == (["PRRT_2"], "")


def test_a_round_of_texts_alone_came_to_the_push_after_it() -> None:
    """Nobody can answer them in their place."""
    found = talk(thread(bot(7)), head=NEXT)
    assert looked(found, after(HEAD, keys=("PRR_1", "C2"))).question == ""


def test_a_point_is_in_a_round_once() -> None:
    """However often a bot changes it at one head."""
    first = looked(talk(thread(bot(1))), ReviewLedger(46)).ledger
    again = looked(talk(thread(bot(1, edited_at=NOW - 200))), first)
    assert keys(again) == ["PRRT_1"]
    assert again.ledger.rounds == (ReviewRound(HEAD, ("PRRT_1",)),)


def test_the_last_round_counts_and_not_the_first() -> None:
    """Progress of an earlier round is none of this one."""
    rounds = ReviewLedger(
        46, rounds=(ReviewRound("0" * 40, ("PRRT_1",)), ReviewRound(HEAD, ("PRRT_3",)))
    )
    found = talk(DONE, thread(bot(3)), thread(bot(7)), head=NEXT)
    assert looked(found, rounds).question == "no progress"


def test_one_of_many_is_progress() -> None:
    """Something came of the last round where one of its findings was dealt with; so it goes on."""
    both = talk(thread(bot(1)), thread(bot(3)))
    first = looked(both, ReviewLedger(46)).ledger
    assert len(first.rounds[0].keys) == 2
    found = talk(DONE, thread(bot(3)), thread(bot(7)), head=NEXT)
    assert keys(looked(found, first)) == ["PRRT_7"]


def test_the_same_head_is_no_round_without_progress() -> None:
    """A bot that goes on writing while the agent is at work stops nothing."""
    first = looked(talk(thread(bot(1))), ReviewLedger(46)).ledger
    assert keys(looked(talk(thread(bot(1)), thread(bot(7))), first)) == ["PRRT_7"]


def test_persons_outrank_bots_and_rounds() -> None:
    """A request for changes comes first, then persons, then bots by class; a stop holds bots alone."""
    asked = review(3, "CHANGES_REQUESTED")
    everything = talk(thread(bot(1, "blocking")), thread(said(2)), thread(bot(4)), reviews=(asked,))
    assert keys(looked(everything, ReviewLedger(46))) == ["PRR_3", "PRRT_2", "PRRT_1", "PRRT_4"]
    over = after(*(str(n) * 40 for n in range(MOST_ROUNDS)))
    stopped = looked(everything, over)
    assert (keys(stopped), stopped.question) == (["PRR_3", "PRRT_2"], "rounds")
    joined = talk(thread(bot(1), said(2)))
    assert keys(looked(joined, over)) == ["PRRT_1"]
    assert looked(talk(thread(said(2))), ReviewLedger(46)).ledger.rounds == ()


def test_each_class_comes_before_the_next() -> None:
    """Persons, then what is blocking, major, unclassed, minor, and a nit, however GitHub has them."""
    said_last = [bot(n, kind) for n, kind in enumerate(("nit", "minor", "", "major", "blocking"))]
    found = talk(*map(thread, said_last), thread(said(9)))
    told = looked(found, ReviewLedger(46))
    assert keys(told) == ["PRRT_9", "PRRT_4", "PRRT_3", "PRRT_2", "PRRT_1", "PRRT_0"]
    asks = review(8, "CHANGES_REQUESTED")
    told = looked(talk(thread(bot(4, "blocking")), thread(said(9)), reviews=(asks,)), told.ledger)
    assert keys(told)[0] == "PRR_8"


def asked_again(*reviews: Any, **changes: Any) -> tuple[str, ...]:
    """Of whom another review is asked, once the head is the next one."""
    return to_ask_again(talk(reviews=reviews, **{"head": NEXT, **changes}))


def test_a_review_is_asked_again_once_for_each_head() -> None:
    """Of who reviewed an older head and did not approve; not of who is asked already, or saw this head."""
    asks = review(1, "CHANGES_REQUESTED")
    assert asked_again(asks) == ("maria",)
    assert asked_again(asks, requested=("maria",)) == ()
    assert asked_again(asks, head=HEAD) == ()
    assert asked_again(ReviewPoint("PRR_9", bot(9), review_state="COMMENTED")) == ()
    assert asked_again(asks, review(2, "APPROVED")) == ()
    assert asked_again(asks, review(2, "COMMENTED", sha=NEXT)) == ()
