"""What of a pull request's conversations is news, what waits, and what is told to whom."""

from __future__ import annotations

import json
from dataclasses import asdict, astuple, replace
from typing import Any

import pytest

from lifecycle.core.errors import Transient
from lifecycle.core.plan import Audience
from lifecycle.core.values.model import Conversations
from lifecycle.feedback.reviews import review_packet, review_reading, review_watch
from lifecycle.feedback.reviews.remarks import (
    PullConversation,
    Remark,
    ReviewPoint,
    ReviewThread,
    Trusted,
)
from lifecycle.feedback.reviews.review_ledger import (
    LONGEST_QUIET,
    QUIET_SECONDS,
    ReviewDecision,
    ReviewLedger,
    ReviewRound,
    ToldPoint,
    decide,
    points,
)
from lifecycle.feedback.waiting import endings
from tests import factories
from tests.feedback.conversations import HEAD, NOW, bot, ours, review, said, talk, thread


def looked(
    found: PullConversation, ledger: ReviewLedger | None = None, now: float = NOW, **asked: Any
) -> ReviewDecision:
    """What is told of it now."""
    return decide(found, ledger or ReviewLedger(46), now, **{"is_asked": False, **asked})


def keys(decision: ReviewDecision) -> list[str]:
    """What the agent is told of."""
    return [one.key for one in decision.agent]


def test_each_word_is_told_once() -> None:
    """A thread, a review's text and a comment are news once, whatever else is said later."""
    found = talk(
        thread(said(1)), reviews=(review(2, "COMMENTED"),), comments=(said(3), said(4, body=" "))
    )
    first = looked(found)
    assert keys(first) == ["PRRT_1", "PRR_2", "C3", "C4"]
    assert keys(looked(found, first.ledger)) == []
    more = replace(found, threads=(*found.threads, thread(said(5))))
    assert keys(looked(more, first.ledger)) == ["PRRT_5"]


def test_a_packet_that_nobody_heard_takes_nothing_from_an_earlier_one() -> None:
    """How often something was told, and in how many rounds, ends a loop with a bot."""
    told = {
        "PRRT_1": ToldPoint("s", HEAD, 2, packet="b"),
        "PRRT_2": ToldPoint("s", "a", packet="a"),
    }
    rounds = (ReviewRound("a", ("PRRT_1", "PRRT_2")), ReviewRound(HEAD, ("PRRT_1",)))
    ledger = ReviewLedger(46, told=told, rounds=rounds)
    left = ledger.without(["b"])
    assert left.told == {"PRRT_2": told["PRRT_2"], "PRRT_1": ToldPoint("", HEAD)}
    assert left.rounds == rounds[:1]
    again = looked(talk(thread(bot(1))), replace(left, rounds=()))
    assert keys(again) == ["PRRT_1"]
    assert again.ledger.told["PRRT_1"].times == 2
    assert ledger.without(["a"]) == replace(ledger, told={"PRRT_1": told["PRRT_1"]})
    assert ledger.without(["c"]) is ledger


def test_another_word_in_a_thread_and_an_edit_are_news_again() -> None:
    """The newest word of somebody else counts, and so does an older one that was changed since."""
    first = looked(talk(thread(said(1)))).ledger
    assert keys(looked(talk(thread(said(1), said(2))), first)) == ["PRRT_1"]
    edited = said(1, edited_at=NOW - 200)
    second = looked(talk(thread(edited)), first)
    assert keys(second) == ["PRRT_1"]
    assert second.ledger.told["PRRT_1"].times == 2
    comment = looked(talk(comments=(said(3),))).ledger
    assert keys(looked(talk(comments=(said(3, edited_at=NOW - 200),)), comment)) == ["C3"]


def test_a_bot_rewrites_its_comment_unheard() -> None:
    """It changes its text beside the diff at each push; what it changes in a thread is news."""
    heard = looked(talk(comments=(bot(3),)))
    assert keys(heard) == ["C3"]
    first = heard.ledger
    assert keys(looked(talk(comments=(bot(3, edited_at=NOW - 200),)), first)) == []
    in_thread = looked(talk(thread(bot(1)))).ledger
    assert keys(looked(talk(thread(bot(1, edited_at=NOW - 200))), in_thread)) == ["PRRT_1"]
    twice = thread(said(1, at=NOW - 300), said(2, at=NOW - 300))
    assert [one.remark.id for one in looked(talk(twice)).agent] == ["2"]


def test_what_we_said_is_no_news_and_answers() -> None:
    """A thread in which we have the last word is answered; one that was edited after it is not."""
    assert keys(looked(talk(thread(ours(1)), comments=(ours(2),)))) == []
    assert keys(looked(talk(thread(said(1), ours(2))))) == []
    changed = thread(said(1, edited_at=NOW - 300), ours(2))
    assert keys(looked(talk(changed))) == ["PRRT_1"]
    assert [one.id for one in talk(changed, thread(said(3), ours(4))).unanswered] == ["PRRT_1"]
    hidden, stranger = said(5, is_hidden=True), said(6, trusted=Trusted.STRANGER)
    assert [one.id for one in talk(thread(hidden), thread(stranger)).unanswered] == ["PRRT_6"]


def test_a_resolved_thread_waits_for_no_answer_and_tells_nobody() -> None:
    """Neither a person's nor a stranger's."""
    person = replace(thread(said(1)), is_resolved=True)
    stranger = replace(thread(said(2, trusted=Trusted.STRANGER)), is_resolved=True)
    found = talk(person, stranger)
    assert found.unanswered == ()
    assert looked(found).strangers == ()


def test_a_draft_of_ours_answers_nothing() -> None:
    """What lies in a pending review is seen by nobody else."""
    assert keys(looked(talk(thread(said(1), ours(2, is_hidden=True))))) == ["PRRT_1"]


def test_resolved_is_dropped_and_opened_again_is_news() -> None:
    """Whoever resolves a thread ends it; whoever opens it again wants something, answered or not."""
    open_ = thread(said(1), ours(2))
    assert keys(looked(talk(replace(thread(said(1)), is_resolved=True)))) == []
    told = looked(talk(thread(said(1)))).ledger
    ended = looked(talk(replace(open_, is_resolved=True)), told)
    assert (keys(ended), ended.ledger.told["PRRT_1"].is_resolved) == ([], True)
    back = looked(talk(open_), ended.ledger)
    assert keys(back) == ["PRRT_1"]
    assert keys(looked(talk(open_), back.ledger)) == []


def test_a_thread_that_was_told_and_is_answered_waits_no_more() -> None:
    """Only one that was resolved meanwhile, and opened again, does."""
    told = looked(talk(thread(said(1)))).ledger
    assert points(talk(thread(said(1))), told.told)
    assert points(talk(thread(said(1), ours(2))), told.told) == []


def test_folded_away_is_not_told() -> None:
    """A comment that somebody hid as off-topic or outdated is nobody's work; a review's text neither."""
    hidden = said(1, is_hidden=True)
    found = talk(
        thread(hidden),
        comments=(said(2, is_hidden=True),),
        reviews=(review(3, "COMMENTED", is_hidden=True),),
    )
    assert keys(looked(found)) == []


def test_an_outdated_thread_still_waits() -> None:
    """That its lines have moved does not answer it."""
    assert keys(looked(talk(thread(said(1), is_outdated=True)))) == ["PRRT_1"]


def test_a_request_for_changes_stands_until_its_author_takes_it_back() -> None:
    """It needs no text; the author's approval or a dismissal ends it, somebody else's approval does not."""
    asked = review(1, "CHANGES_REQUESTED", body="")
    assert keys(looked(talk(reviews=(asked,)))) == ["PRR_1"]
    other = review(2, "APPROVED", author="sam", body="")
    assert keys(looked(talk(reviews=(asked, other)))) == ["PRR_1"]
    for state in ("APPROVED", "DISMISSED"):
        assert keys(looked(talk(reviews=(asked, review(3, state, body=""))))) == []
    assert keys(looked(talk(reviews=(review(4, "COMMENTED", body=" "),)))) == []
    assert keys(looked(talk(reviews=(review(5, "APPROVED", body="Nice."),)))) == []


def test_who_may_ask_for_changes() -> None:
    """Persons of the repository and listed bots: a stranger's request stands nowhere, and ours is none."""
    kinds = {"maria": Trusted.PERSON, "bot": Trusted.BOT, "x": Trusted.STRANGER, "me": Trusted.OURS}
    asked = tuple(
        review(number, "CHANGES_REQUESTED", author=author, trusted=kind)
        for number, (author, kind) in enumerate(kinds.items())
    )
    assert [one.key for one in talk(reviews=asked).standing] == ["PRR_0", "PRR_1"]


def test_one_review_is_one_packet() -> None:
    """While somebody may still be writing nothing is told, and the next look knows when to come."""
    assert QUIET_SECONDS == 90.0
    found = talk(thread(said(1, at=NOW - 30)), thread(said(2, at=NOW - 5)))
    waiting = looked(found)
    assert (keys(waiting), waiting.ledger.due) == ([], NOW - 5 + QUIET_SECONDS)
    assert waiting.ledger.told == {}
    due = NOW - 5 + QUIET_SECONDS
    assert keys(looked(found, waiting.ledger, due - 1)) == []
    told = looked(found, waiting.ledger, due)
    assert (keys(told), told.ledger.due, told.ledger.waits_since) == (
        ["PRRT_1", "PRRT_2"],
        None,
        None,
    )


def test_who_asks_does_not_wait() -> None:
    """A look by command tells what is there."""
    assert keys(looked(talk(thread(said(1, at=NOW))), is_asked=True)) == ["PRRT_1"]


def test_a_clock_that_is_ahead_stops_nothing_for_good() -> None:
    """Where GitHub's times lie in the future, what waits is told after a while all the same."""
    found = talk(thread(said(1, at=NOW + 50_000)))
    waiting = looked(found).ledger
    assert waiting.due == NOW + LONGEST_QUIET == NOW + 600
    assert keys(looked(found, waiting, NOW + LONGEST_QUIET)) == ["PRRT_1"]


def test_a_stranger_speaks_to_the_user_alone() -> None:
    """Neither their thread nor their words in another's make the agent do anything."""
    stranger = {"trusted": Trusted.STRANGER, "author": "visitor"}
    found = talk(
        thread(said(1, **stranger)),
        comments=(
            said(2, **stranger),
            said(3, **stranger, is_hidden=True),
            said(7, **stranger, body=""),
        ),
        reviews=(review(4, "CHANGES_REQUESTED", **stranger),),
    )
    decision = looked(found)
    assert keys(decision) == []
    assert [one.key for one in decision.strangers] == ["S1", "S4", "S2"]
    shown = {"conversation": found, "waiting": (), "ledger": decision.ledger}
    _, line = review_packet.drawn("reviews", **shown, strangers=(), again=())
    assert line.startswith(
        "- a.txt:2 · thread PRRT_1 · only people without write access wrote here"
    )
    assert "Remark" not in line
    assert looked(found, decision.ledger).strangers == ()
    answered = talk(thread(said(5), said(6, **stranger)))
    assert [one.remark.id for one in looked(answered).agent] == ["5"]


def test_a_bot_that_did_not_review_is_no_review() -> None:
    """Its word is told to the user, once, and is no point for anybody."""
    found = talk(comments=(bot(1, is_limited=True), bot(2, is_summary=True)))
    decision = looked(found)
    assert (keys(decision), [one.key for one in decision.limited]) == ([], ["L1"])
    assert looked(found, decision.ledger).limited == ()
    said_elsewhere = talk(
        thread(said(3), bot(4, is_limited=True)),
        comments=(bot(5, is_limited=True, is_hidden=True),),
        reviews=(replace(review(6, "COMMENTED"), remark=bot(6, is_limited=True)),),
    )
    decision = looked(said_elsewhere)
    assert [one.remark.id for one in decision.agent] == ["3"]
    assert [one.key for one in decision.limited] == ["L6"]


def test_a_ledger_comes_back_from_json_and_another_pull_request_begins_anew() -> None:
    """What a file of another shape says is forgotten, and told again."""
    ledger = looked(talk(thread(bot(1)), thread(said(2, at=NOW - 200)))).ledger
    kept = json.loads(json.dumps(asdict(ledger)))
    assert ReviewLedger.from_json(kept, 46) == ledger
    assert ledger.rounds
    assert ReviewLedger.from_json(kept, 47) == ReviewLedger(47)


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"told": 1},
        {"told": {"a": {"x": 1}}},
        {"told": {"a": {"seen": "", "head": "", "times": "often"}}},
        {"rounds": [{"head": "a"}]},
        {"due": "soon"},
        {"waits_since": []},
    ],
)
def test_a_ledger_of_another_shape_is_empty(broken: dict[str, Any]) -> None:
    """A hand-edited or older state.json costs a repetition, never a look."""
    kept = asdict(ReviewLedger(46, "d"))
    data = {**kept, **broken} if broken else {"number": 46}
    found = ReviewLedger.from_json(data, 46)
    assert (found.told, found.rounds) == ({}, ())


def test_what_github_did_not_say_of_a_remark_is_nothing() -> None:
    """No time, no commit, no class; it is shown, and a thread's place is as it was."""
    bare = Remark("1", "maria", Trusted.PERSON, "?")
    assert astuple(bare)[4:] == (None, None, "", False, "", "", False, False, "")
    assert (bare.changed_at, bare.stamp) == (0.0, "1@0")
    assert astuple(ReviewThread("T", "a", None, (), True))[5:] == (
        None,
        False,
        False,
        False,
        False,
        0,
    )
    assert astuple(PullConversation(1, "u", HEAD))[3:] == ((), (), ())
    assert astuple(ReviewPoint("1", bare))[2:] == (None, "")
    assert ToldPoint("s", HEAD) == ToldPoint("s", HEAD, 1, False, "")
    assert ReviewLedger(46) == ReviewLedger(46, "", None, None, {}, ())
    assert ReviewDecision(ReviewLedger(46)) == ReviewDecision(
        ReviewLedger(46), (), (), (), (), (), False, ""
    )


def test_a_ledger_keeps_the_newest_five_thousand_rows() -> None:
    """What is told again becomes the newest."""
    full = ReviewLedger(46, told={str(n): ToldPoint("s", HEAD) for n in range(5_000)})
    again = full.telling([ReviewPoint("0", said(0))], HEAD)
    assert (len(again.told), list(again.told)[-1], again.told["0"].times) == (5_000, "0", 2)
    more = again.telling([ReviewPoint("new", said(1))], HEAD)
    assert (len(more.told), "1" in more.told, "0" in more.told) == (5_000, False, True)


def test_what_an_approval_says_is_told_once_and_asks_for_nothing() -> None:
    """It is no point, and waits for nobody; an edit of it is news, and without words it is none."""
    nice = review(5, "APPROVED", body="Nice; the name is odd.")
    found = talk(reviews=(nice, review(6, "APPROVED", body=" ", author="sam")))
    first = looked(found)
    assert (keys(first), [one.key for one in first.approvals]) == ([], ["PRR_5"])
    assert points(found, {}) == []
    assert looked(found, first.ledger).approvals == ()
    edited = replace(nice, remark=replace(nice.remark, edited_at=NOW - 200))
    assert [one.key for one in looked(talk(reviews=(edited,)), first.ledger).approvals] == ["PRR_5"]
    mine = talk(reviews=(replace(nice, remark=ours(7)),))
    theirs = talk(reviews=(replace(nice, remark=said(8, trusted=Trusted.STRANGER)),))
    assert (looked(mine).approvals, looked(theirs).approvals) == ((), ())
    assert looked(theirs).strangers
    waits = looked(talk(reviews=(replace(nice, remark=replace(nice.remark, at=NOW - 5)),)))
    assert (waits.approvals, waits.ledger.due is not None) == ((), True)


def test_an_approvals_words_are_the_agents_to_tell_and_a_bots_the_users() -> None:
    """As data, behind bars, with its address; a wait does not end by it, which the approval itself does."""
    words = "Do <it>\nnow."
    found = looked(
        talk(
            reviews=(
                review(5, "APPROVED", body=words),
                ReviewPoint("PRR_6", bot(6, body="Looks good."), review_state="APPROVED"),
            )
        )
    )
    persons, bots = review_watch.told(talk(), found).notices
    assert (persons.audience, bots.audience) == (Audience.NEWS, Audience.NOTE)
    assert persons.text.startswith(
        "PR #46 was approved by maria, with remarks that need no answer;"
    )
    assert persons.text.split("\n")[-1].startswith("  | Do")
    assert "https://github.com/octo-org/hello-service/pull/46#discussion_r5" in persons.text
    assert "Looks good." in bots.text
    for one in (persons, bots):
        assert endings.event_of(one.key) == "review-approved"
        assert endings.news_ends([one], endings.WaitFor.REVIEW) is None


def test_what_could_not_be_read_now_is_read_at_the_next_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing of it is told, not even that it is there, and nothing is taken as told."""

    def read(*_: Any) -> Any:
        raise Transient("cut")

    monkeypatch.setattr(review_reading, "read", read)
    nowhere: Any = None
    conversations = Conversations(digest="new")
    pull = replace(factories.pull(), conversations=conversations)
    watch = review_watch.ReviewWatch(nowhere, nowhere)
    for known in ({}, asdict(ReviewLedger(pull.number, looked="old"))):
        heard = watch.heard(pull, known, NOW, is_asked=False)
        assert (heard.known["looked"], heard.known["late"], heard.notices) == ("", "new", ())


@pytest.mark.parametrize("is_heard", [False, True])
def test_a_packet_that_waits_is_packed_anew_without_what_was_taken_back(
    monkeypatch: pytest.MonkeyPatch, *, is_heard: bool
) -> None:
    """The first is withdrawn for it; what somebody heard is told no more."""
    before = talk(thread(said(1)), reviews=(review(4, "COMMENTED"),))
    talks = iter((before, talk(thread(said(1)))))
    monkeypatch.setattr(review_reading, "read", lambda *_: next(talks))
    nowhere: Any = None
    watch = review_watch.ReviewWatch(nowhere, nowhere)
    pull = replace(factories.pull(), number=46, conversations=Conversations(digest="1"))
    first = watch.heard(pull, {}, NOW, is_asked=True)
    (packet,) = first.notices
    assert "Remark 1." in packet.text
    assert "Remark 4." in packet.text
    pull, waiting = (
        replace(pull, conversations=Conversations(digest="2")),
        () if is_heard else (packet.key,),
    )
    again = watch.heard(pull, first.known, NOW, is_asked=True, waiting=waiting)
    assert again.withdrawn == waiting
    texts = [notice.text for notice in again.notices]
    assert [("Remark 1." in text, "Remark 4." in text) for text in texts] == [(True, False)] * len(
        waiting
    )
