"""An answer to a review thread: posted once, seen again, resolved where that is ours to do."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.app.wiring import WorktreeWorld
from lifecycle.core.errors import NotFound, Refused, Transient
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.feedback.reviews.remarks import Trusted
from lifecycle.feedback.reviews.review_reading import read
from lifecycle.feedback.reviews.review_reply import (
    SETTLE_SECONDS,
    Replied,
    ReplyVerdict,
    ReviewAnswers,
    WantedReply,
    mark_of,
    may_resolve,
    verdict_of,
)
from lifecycle.storage.state_file import StateFile
from lifecycle.storage.store import Folder
from tests.feedback.conversations import NOW, bot, ours, said, thread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Place


@pytest.fixture
def number(place: Place) -> int:
    """An open pull request with one thread of maria's."""
    place.control.push_commit("work", {"a.txt": "one\ntwo\n"}, "Work", by="octocat")
    number = place.control.open_pull("work", "Work", by="octocat")
    remark = {"path": "a.txt", "line": 2, "body": "Why two?"}
    place.control.review(number, "COMMENTED", login="maria", comments=[remark])
    return number


@pytest.fixture
def world(place: Place) -> Iterator[WorktreeWorld]:
    """What the command has."""
    clock = SystemClock()
    file = StateFile(Folder(place.root))
    deadline = Deadline.after(clock, 30.0)
    with closing(WorktreeWorld(place.root, place.environment, clock, deadline, file)) as made:
        yield made


def answers(world: WorktreeWorld) -> ReviewAnswers:
    """A process of its own: it knows what state.json says."""
    file = StateFile(Folder(world.root))
    return ReviewAnswers(world.clients.graph, world.calls, world.base, file)


def there(world: WorktreeWorld, number: int) -> list[str]:
    """Who said what in the one thread, without markers."""
    (one,) = read(world.clients.graph, world.base, number).threads
    return [f"{remark.author}: {remark.body.partition(chr(10))[0]}" for remark in one.remarks]


def wanted(world: WorktreeWorld, number: int, text: str = "It counts.", **more: Any) -> WantedReply:
    """An answer to the one thread."""
    (one,) = read(world.clients.graph, world.base, number).threads
    return WantedReply(one.id, text, **more)


def test_the_same_answer_is_posted_once(world: WorktreeWorld, number: int) -> None:
    """Seen afterwards; sent again it is found; other words are another answer."""
    reply = wanted(world, number)
    first = answers(world).ensure_reply(reply, NOW)
    assert (first.is_new, first.is_seen, first.is_resolved) == (True, True, False)
    assert answers(world).file.reload().get("replies") == {}
    second = answers(world).ensure_reply(reply, NOW)
    assert second == Replied(number, first.url, is_new=False, is_seen=True, is_resolved=False)
    answers(world).ensure_reply(wanted(world, number, "And more."), NOW)
    assert there(world, number) == ["maria: Why two?", "octocat: It counts.", "octocat: And more."]


def test_a_lost_answer_never_doubles(place: Place, world: WorktreeWorld, number: int) -> None:
    """Where GitHub has it, it is found at once; where that cannot be seen, the same again finds it."""
    place.control.add_fault("connection-cut-after", method="POST", path="/replies$")
    first = answers(world).ensure_reply(wanted(world, number), NOW)
    assert (first.is_new, first.is_seen) == (True, True)
    reply = wanted(world, number, "Another.")
    place.control.add_fault("connection-cut-after", method="POST", path="/replies$")
    place.control.add_fault("bad-gateway", operation="ReadThread", skip=1, count=9)
    with pytest.raises(Transient, match="nobody knows whether it was posted") as lost:
        answers(world).ensure_reply(reply, NOW)
    assert "not sent twice" in str(lost.value)
    assert len(answers(world).file.reload().get("replies", {})) == 1
    place.control.clear_faults()
    assert answers(world).ensure_reply(reply, NOW + 1).is_new is False
    assert answers(world).file.reload().get("replies") == {}
    assert there(world, number)[1:] == ["octocat: It counts.", "octocat: Another."]


def test_what_never_came_is_sent_again_after_a_while(
    place: Place, world: WorktreeWorld, number: int
) -> None:
    """Two reads that miss it and two minutes: until then nothing is sent, whoever asks."""
    reply = wanted(world, number)
    place.control.add_fault("connection-cut", method="POST", path="/replies$")
    with pytest.raises(Transient, match="nobody knows"):
        answers(world).ensure_reply(reply, NOW)
    place.clear()
    with pytest.raises(Transient, match="in 119 seconds"):
        answers(world).ensure_reply(reply, NOW + 1)
    assert [one.operation for one in place.requests()] == ["ReadThread"]
    place.clear()
    done = answers(world).ensure_reply(reply, NOW + SETTLE_SECONDS)
    asked = [one.operation or one.method for one in place.requests()]
    assert asked == ["ReadThread", "ReadThread", "POST", "ReadThread"]
    assert (done.is_new, there(world, number)) == (True, ["maria: Why two?", "octocat: It counts."])


def test_a_pending_review_of_ones_own_is_found_beforehand(
    place: Place, world: WorktreeWorld, number: int
) -> None:
    """Nothing is posted: it could end in that draft, seen by nobody."""
    place.control.review(number, "PENDING", login="octocat", body="Draft")
    with pytest.raises(Refused, match=r"A review of yours is pending on PR #\d+ \(http"):
        answers(world).ensure_reply(wanted(world, number), NOW)
    assert there(world, number) == ["maria: Why two?"]


def test_what_cannot_be_answered_is_one_sentence(world: WorktreeWorld, number: int) -> None:
    """No such thread, no text, too much text: nothing is posted."""
    with pytest.raises(NotFound, match="GitHub shows no review thread PRRT_gone"):
        answers(world).ensure_reply(WantedReply("PRRT_gone", "x"), NOW)
    with pytest.raises(Refused, match="The reply is empty"):
        answers(world).ensure_reply(wanted(world, number, " \n"), NOW)
    with pytest.raises(Refused, match="60,001 characters"):
        answers(world).ensure_reply(wanted(world, number, "x" * 60_001), NOW)
    assert there(world, number) == ["maria: Why two?"]


def test_a_person_resolves_what_a_person_began(world: WorktreeWorld, number: int) -> None:
    """An agent leaves it open and says who resolves it; a person who asks for it resolves."""
    done = answers(world).ensure_reply(
        wanted(world, number, verdict=ReplyVerdict.FIXED, resolves=True), NOW
    )
    assert (done.is_resolved, done.note) == (False, "It was left open for maria to resolve.")
    (one,) = read(world.clients.graph, world.base, number).threads
    assert verdict_of(one) == "fixed"
    assert "Fixed as of " in one.remarks[-1].body
    person = wanted(world, number, resolves=True, is_person=True)
    assert answers(world).ensure_reply(person, NOW).is_resolved
    (one,) = read(world.clients.graph, world.base, number).threads
    assert one.is_resolved


PERSONS = "It was left open for maria to resolve."


@pytest.mark.parametrize(
    ("begun", "given", "expected"),
    [
        (bot(1), {"verdict": ReplyVerdict.FIXED}, (True, "")),
        (bot(1), {"verdict": ReplyVerdict.WONT_FIX}, (False, "")),
        (bot(1), {}, (False, "")),
        (bot(1), {"resolves": True}, (True, "")),
        (bot(1), {"verdict": ReplyVerdict.FIXED, "resolves": False}, (False, "")),
        (said(1), {"verdict": ReplyVerdict.QUESTION}, (False, "")),
        (said(1), {"verdict": ReplyVerdict.FIXED}, (False, PERSONS)),
        (said(1), {"verdict": ReplyVerdict.FIXED, "is_person": True}, (False, PERSONS)),
        (said(1), {"resolves": True, "is_person": True}, (True, "")),
    ],
)  # fmt: skip
def test_who_resolves_what(begun: Any, given: dict[str, Any], expected: tuple[bool, str]) -> None:
    """A bot's thread that is fixed, or that somebody asks for; a person's only for a person who asks."""
    made = thread(begun, can_resolve=True)
    assert may_resolve(made, WantedReply(made.id, "x", **given)) == expected
    closed = thread(begun)
    is_resolved, note = may_resolve(closed, WantedReply(closed.id, "x", **given))
    assert not is_resolved
    assert ("resolving it needs permission" in note) is expected[0]


def test_the_same_answer_has_the_same_marker() -> None:
    """It names the remark that is answered, the verdict and the words, and nothing that we said since."""
    made = thread(said(1), said(2))
    reply = WantedReply(made.id, "Yes.\n", ReplyVerdict.FIXED)
    mark = mark_of(made, reply)
    assert "to=2 verdict=fixed" in mark
    assert (
        mark_of(thread(said(1), said(2), ours(3)), WantedReply("", "Yes.", ReplyVerdict.FIXED))
        == mark
    )
    for other in (WantedReply("", "No.", ReplyVerdict.FIXED), WantedReply("", "Yes.")):
        assert mark_of(made, other) != mark
    assert mark_of(thread(said(1), said(2), said(4)), reply) != mark
    assert verdict_of(thread(said(1, body=mark, trusted=Trusted.PERSON))) == ""
