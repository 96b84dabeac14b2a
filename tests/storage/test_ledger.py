"""The ledger: what is said once, to whom, and what waits."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core.errors import ClaimRefused, Refused
from lifecycle.core.plan import Audience, Notice
from lifecycle.storage.state_file import REFUSED, Ledger, StateSections, lasting
from tests.conftest import ManualClock

ASK = Notice("42@1/merged:107", "PR #107 merged!", Audience.ASK)
NOTE = Notice("42@1/issue-closed:107", "Issue #42 closed.", Audience.NOTE)


def ledger(state: StateSections | None = None) -> Ledger:
    return Ledger({} if state is None else state, ManualClock())


def test_a_key_is_queued_once_and_offered_once() -> None:
    """Neither while it waits nor after it was offered does a key come on the queue again."""
    state: StateSections = {}
    ledger(state).queue(ASK)
    ledger(state).queue(ASK)
    assert ledger(state).waiting() == [ASK]
    assert ledger(state).take([Audience.ASK], "ci-waiter", "s1") == (ASK,)
    ledger(state).queue(ASK)
    assert ledger(state).waiting() == []


@pytest.mark.parametrize("again", [False, True])
def test_what_still_waits_gets_the_words_that_are_true_now(*, again: bool) -> None:
    """An issue that was closed while the question about closing it waited is asked about once."""
    kept = ledger()
    kept.queue(ASK)
    kept.queue(NOTE)
    now = replace(ASK, text="PR #107 merged! Issue #42 is already closed.")
    kept.queue(now, again=again)
    assert kept.waiting() == [now, NOTE]


def test_who_asks_again_is_told_once() -> None:
    """A sentence that stands is queued anew by a command, and not beside itself."""
    kept = ledger()
    say = Notice("a", "The card was not updated.", Audience.NOTE, stands=True, ends=("closed",))
    for was_offered in (False, True):
        assert kept.queue(say, again=True) is was_offered
        assert kept.queue(say, again=True) is False, "it waits already"
        assert [one.text for one in kept.take(tuple(Audience), "cli")] == [say.text]
    assert kept.queue(say) is False


def test_what_is_dropped_was_offered_to_nobody() -> None:
    """It leaves the queue, and what is known of its last offer stays; the others wait on."""
    book = ledger()
    book.queue(ASK)
    book.take([Audience.ASK], "cli", "s1")
    for say in (ASK, NOTE):
        book.queue(say, again=True)
    assert book.drop(lambda key: key == ASK.key) == (ASK,)
    assert book.drop(lambda key: key == ASK.key) == ()
    assert book.waiting() == [NOTE]
    assert book.offered_to("s1") == {ASK.key}


def test_what_a_channel_cannot_deliver_stays() -> None:
    """A wake cannot reach the person: the note waits for a channel that can."""
    book = ledger()
    book.queue(ASK)
    book.queue(NOTE)
    assert book.take([Audience.ASK], "on-idle") == (ASK,)
    assert book.waiting() == [NOTE]
    assert book.take(tuple(Audience), "cli", held=("merged", "issue-closed")) == ()
    assert book.take(tuple(Audience), "cli", held=("merged",)) == (NOTE,)


def test_an_offer_names_channel_session_and_its_first_moment() -> None:
    """Whom it was offered to is kept; a later offer of the same question moves no moment."""
    clock = ManualClock()
    book = Ledger({}, clock)
    book.queue(ASK)
    book.take([Audience.ASK], "ci-waiter", "s1")
    first = book.state["said"][ASK.key]["offered"]
    clock.sleep(60)
    book.queue(ASK, again=True)
    book.take([Audience.ASK], "session-start", "s2")
    entry = book.state["said"][ASK.key]
    assert (entry["channel"], entry["session"]) == ("session-start", "s2")
    assert entry["offered"] == first


def test_a_condition_that_cleared_may_be_said_again() -> None:
    """`stands` marks what is said once while it lasts; news stays said for good."""
    stands = Notice("42@1/missing", "branch is missing", Audience.ACT, stands=True)
    book = ledger()
    for say in (stands, ASK):
        book.queue(say)
    book.take(list(Audience), "on-stop")
    book.forget_cleared("42@1/", stated=set())
    assert not book.was_said(stands.key)
    assert book.was_said(ASK.key)


def test_a_refusal_goes_to_the_agent_only_if_it_can_mend_it() -> None:
    """Two refusals: one for the agent, one for the person; both go when nothing refuses any more."""
    book = ledger()
    book.queue_refusal(ClaimRefused("fix the file"))
    book.queue_refusal(Refused("give the token a scope"))
    assert [say.audience for say in book.waiting()] == [Audience.ACT, Audience.NOTE]
    book.withdraw(REFUSED)
    assert book.waiting() == []
    book.queue_refusal(ClaimRefused("fix the file"))
    assert len(book.waiting()) == 1


def test_news_that_is_not_true_any_more_is_not_said() -> None:
    """Green takes the place of red, the merge of both; another claim's and what is no claim's stay."""
    book = ledger()
    red = Notice("42@1/failed:107:a", "red", Audience.NEWS)
    other = Notice("43@1/failed:108:b", "other", Audience.NEWS)
    merged = Notice("42@1/merged:107", "merged", Audience.ASK, ends=("failed", "green"))
    for say in (red, other, Notice("branch-merged:9", "branch", Audience.NEWS), merged):
        book.queue(say)
    assert [say.text for say in book.waiting()] == ["other", "branch", "merged"]
    book.queue(red)
    assert "red" not in [say.text for say in book.waiting()]  # it was its turn, and is over


def test_a_claim_that_ended_leaves_only_what_the_person_is_to_know() -> None:
    """The next agent does not hear of the last one's checks; the person hears how it ended."""
    book = ledger()
    for say in (ASK, NOTE, Notice("refused:x", "no token", Audience.NOTE)):
        book.queue(say)
    assert book.retire("42@1") is False
    assert book.retire("") is True
    assert [say.text for say in book.waiting()] == ["Issue #42 closed.", "no token"]


def test_a_sentence_for_one_session_waits_for_it_until_the_next_claim() -> None:
    """Others that listen, and a terminal, take what is for all; a new claim ends the wait."""
    book = ledger()
    mine = Notice("42@1/answered", "closed", Audience.NEWS, session="one")
    for say in (mine, NOTE):
        book.queue(say)
    assert book.take(tuple(Audience), "cli") == (NOTE,)
    assert book.take(tuple(Audience), "on-stop", "two") == ()
    assert book.retire("") is False
    again = ledger()
    again.queue(mine)
    assert book.take(tuple(Audience), "on-stop", "one") == (mine,)
    assert again.retire("43@2") is True


def test_a_condition_that_cleared_before_it_was_said_is_not_said() -> None:
    """What is missing was filled in before anybody could be told."""
    book = ledger()
    book.queue(Notice("42@1/missing", "branch is missing", Audience.ACT, stands=True))
    book.forget_cleared("42@1/", stated=set())
    assert book.waiting() == []


_KEYS = st.sampled_from(["a", "b", "c"])
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("queue"), _KEYS, st.sampled_from(list(Audience))),
        st.tuples(st.just("take"), st.just(""), st.sets(st.sampled_from(list(Audience)))),
    ),
    max_size=30,
)


@given(_STEPS)
def test_nothing_is_said_twice_and_nothing_is_lost(steps: list[Any]) -> None:
    """Whatever is queued and taken, through any number of processes: once each, or still waiting."""
    state: StateSections = {}
    queued: set[str] = set()
    said: list[str] = []
    for verb, key, what in steps:
        state = json.loads(json.dumps(state))
        book = ledger(state)
        if verb == "queue":
            if not queued & {key}:
                queued.add(key)
            book.queue(Notice(key, f"text of {key}", what))
        else:
            said += [say.key for say in book.take(what, "hook", "s")]
    assert len(said) == len(set(said))
    # A key that is queued again for another audience stands on the queue once more at the most.
    assert queued == {*said, *(say.key for say in ledger(state).waiting())}


@pytest.mark.parametrize(
    ("key", "claim", "event"),
    [
        ("42@1738000000/merged:107", "42@1738000000", "merged"),
        ("42@1/branch-merged:feature/x", "42@1", "branch-merged"),
        ("branch-merged:feature/x", "", "branch-merged"),
        ("feature/merged:107", "", "feature/merged"),
        ("42@1", "", "42@1"),
        ("x42@1/merged", "", "x42@1/merged"),
    ],
)
def test_a_key_tells_its_claim_and_its_event(key: str, claim: str, event: str) -> None:
    """A slash alone makes no claim: what a branch is called may hold one, too."""
    own = Notice(key, "first", Audience.NEWS)
    later = Notice(
        f"{claim}/later:1" if claim else "later:1", "later", Audience.NOTE, ends=(event,)
    )
    assert lasting((own, later)) == (later,)
    assert lasting((later, own)) == (later, own)
    book = ledger()
    book.queue(own)
    book.queue(later)
    assert [say.text for say in book.waiting()] == ["later"]
    book = ledger()
    book.queue(own)
    assert book.retire("7@7") is bool(claim)


def test_a_sentence_of_no_claim_outlives_every_claim() -> None:
    """It is addressed to whoever is there; a claim's own are for that claim's agent."""
    book = ledger()
    free = Notice("branch-merged:feature/x", "branch", Audience.NEWS)
    for say in (free, ASK):
        book.queue(say)
    assert book.retire("43@2") is True
    assert book.waiting() == [free]
    assert book.retire("43@2") is False


def test_an_end_is_the_claims_own_and_of_that_event() -> None:
    """Another claim's, and another event of this one, stay."""
    book = ledger()
    for key in ("43@1/failed:1", "42@1/changes:107:a", "42@1/failed:107", "failed:107"):
        book.queue(Notice(key, key, Audience.NEWS))
    book.queue(Notice("42@1/green:107", "green", Audience.NEWS, ends=("failed",)))
    waiting = [say.text for say in book.waiting()]
    assert waiting == ["43@1/failed:1", "42@1/changes:107:a", "failed:107", "green"]


def test_what_was_said_again_has_its_new_moment_and_whether_it_stands() -> None:
    """The entry is of the last time that it was queued."""
    clock = ManualClock()
    book = Ledger({}, clock)
    book.queue(replace(ASK, stands=True))
    first = book.state["said"][ASK.key]
    assert first["stands"] is True
    at = first["at"]
    clock.sleep(60)
    book.queue(ASK)
    assert book.state["said"][ASK.key]["at"] == at  # it waits already
    book.take([Audience.ASK], "cli")
    book.queue(ASK, again=True)
    entry = book.state["said"][ASK.key]
    assert entry["at"] >= at + 60
    assert entry["stands"] is False


def test_four_hundred_keys_are_remembered() -> None:
    """The oldest is forgotten, and may be said once more then."""
    book = ledger()
    for number in range(401):
        book.queue(Notice(f"k{number}", "text", Audience.NEWS))
    assert len(book.state["said"]) == 400
    assert not book.was_said("k0")
    assert book.was_said("k1")


def test_the_queue_holds_key_text_and_tone() -> None:
    """As state.json has it, for whichever version reads it next."""
    book = ledger()
    book.queue(ASK)
    assert book.state["queue"] == [{"key": ASK.key, "text": ASK.text, "tone": Audience.ASK.value}]
    assert ledger().waiting() == []
    assert ledger().take([Audience.ASK], "cli") == ()


def test_what_is_taken_back_is_neither_said_nor_waited_with() -> None:
    """By how its key begins; the others stay, waiting and said."""
    book = ledger()
    for say in (ASK, NOTE):
        book.queue(say)
    book.take([Audience.NOTE], "cli")
    book.withdraw("42@1/merged")
    assert (book.was_said(ASK.key), book.was_said(NOTE.key)) == (False, True)
    assert book.waiting() == []
    book.queue(ASK)
    book.withdraw("42@1/issue")
    assert book.waiting() == [ASK]
    assert not book.was_said(NOTE.key)


@pytest.mark.parametrize(
    ("stated", "prefix", "is_kept"),
    [
        (set(), "42@1/", False),
        ({"42@1/missing"}, "42@1/", True),
        ({"42@1/other"}, "42@1/", False),
        (set(), "43@1/", True),
    ],
)
def test_a_condition_is_forgotten_where_it_is_not_stated_any_more(
    stated: set[str], prefix: str, is_kept: bool
) -> None:
    """Of this claim, and of no other."""
    book = ledger()
    book.queue(Notice("42@1/missing", "branch is missing", Audience.ACT, stands=True))
    book.queue(replace(ASK, stands=False))
    book.forget_cleared(prefix, stated)
    assert book.was_said("42@1/missing") is is_kept
    assert [say.key for say in book.waiting()] == ["42@1/missing"] * is_kept + [ASK.key]


def test_a_refusal_is_queued_without_its_secrets() -> None:
    """Under a key of its own, so that it comes once."""
    book = ledger()
    book.queue_refusal(Refused("The token ghp_" + "a" * 36 + " is not allowed."))
    (say,) = book.waiting()
    assert "ghp_a" not in say.text
    assert "ghp_a" not in json.dumps(book.state)
    assert say.key.startswith("refused:")
    other = ledger()
    other.queue_refusal(Refused("No."))
    assert [one.key for one in other.waiting()] == ["refused:No."]


def test_who_does_not_know_the_session_offers_it_to_nobody() -> None:
    """The entry says so, and by which channel it went."""
    book = ledger()
    book.queue(ASK)
    book.take([Audience.ASK], "cli")
    entry = book.state["said"][ASK.key]
    assert (entry["channel"], entry["session"]) == ("cli", "")


def test_a_sentence_ends_none_but_earlier_ones() -> None:
    """One that ends its own event stays, and takes the one before it away."""
    first, again = (Notice("failed:7", text, Audience.NEWS, ends=("failed",)) for text in "ab")
    assert lasting((first,)) == (first,)
    assert lasting((first, again)) == (again,)


def test_a_session_is_asked_for_what_it_was_offered_last() -> None:
    """What another one was offered since is that one's; what nobody was offered is nobody's."""
    book = ledger()
    assert book.offered_to("s1") == frozenset()
    for say in (ASK, NOTE, Notice("waits", "waits", Audience.NEWS)):
        book.queue(say)
    book.take([Audience.ASK, Audience.NOTE], "cli", "s1")
    assert book.offered_to("s1") == {ASK.key, NOTE.key}
    assert book.offered_to("s2") == set()
    book.queue(ASK, again=True)
    book.take([Audience.ASK], "cli", "s2")
    assert book.offered_to("s1") == {NOTE.key}
    assert book.offered_to("s2") == {ASK.key}


def test_only_the_notice_that_is_over_is_taken_back() -> None:
    """Another one whose key begins alike waits on, and what was said of such a key stays said."""
    book = ledger()
    book.queue(Notice("42@1/failed:1071", "said", Audience.ASK))
    book.take([Audience.ASK], "cli")
    keys = ("42@1/failed:107", "42@1/failed:10")
    for key in keys:
        book.queue(Notice(key, key, Audience.NEWS))
    book.end("42@1", ("failed:10",))
    assert [notice.key for notice in book.waiting()] == ["42@1/failed:107"]
    book.end("42@1", ("failed:107",))
    assert book.was_said("42@1/failed:1071")


def test_what_is_over_is_taken_back_if_it_waits_and_may_come_again() -> None:
    """Of that claim and of these events; what was said already stays said."""
    book = ledger()
    said = Notice("42@1/failed:106", "said", Audience.ASK)
    book.queue(said)
    book.take([Audience.ASK], "cli")
    keys = ("42@1/failed:107", "42@1/changes:107", "43@1/failed:107", "failed:107")
    for key in keys:
        book.queue(Notice(key, key, Audience.NEWS))
    book.end("42@1", ("failed", "merged"))
    assert [say.key for say in book.waiting()] == list(keys[1:])
    assert (book.was_said(said.key), book.was_said(keys[0])) == (True, False)
    book.queue(Notice(keys[0], "again", Audience.NEWS))
    assert [say.key for say in book.waiting()] == [*keys[1:], keys[0]]
