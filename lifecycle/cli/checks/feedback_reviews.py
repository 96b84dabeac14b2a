"""`lifecycle feedback reviews|reply|request`: read reviews, answer a thread, ask for another review."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, Any

from lifecycle.cli.checks.feedback import keep, own_pull
from lifecycle.cli.command_session import Session
from lifecycle.cli.main import Word
from lifecycle.cli.tracker.tracker_values import text_from
from lifecycle.core.errors import LifecycleError, Refused
from lifecycle.core.light_dataclass import asdict, fields_of
from lifecycle.core.messages import review_messages
from lifecycle.core.redact import redact
from lifecycle.feedback.reviews import review_ledger, review_packet, review_reading, review_reply
from lifecycle.feedback.reviews.remarks import PullConversation, ReviewPoint
from lifecycle.feedback.reviews.review_ledger import ReviewLedger
from lifecycle.feedback.reviews.review_reply import ReplyVerdict
from lifecycle.feedback.reviews.review_watch import PACKET

if TYPE_CHECKING:
    from lifecycle.claim.record.state import Record
    from lifecycle.storage.state_file import Ledger

KINDS = {"verdict": Word(ReplyVerdict)}
"""Click's types for words on the command line, beside those of `main.py`."""


def reviews(session: Session, *, pull: int | None) -> None:
    """Show what is unanswered in a pull request's reviews: threads with their ids, texts, comments.

    Without PR: the claim's pull request, else the open one of the current branch. Lines that begin with a
    bar were written by others. Strangers' remarks are counted, but not shown.
    """
    number = pull or own_pull(session)
    conversation = review_reading.read(session.world.clients.graph, session.world.base, number)
    record = session.claim_store.load(repair=False).record
    ledger = ReviewLedger.from_json(record.pull.reviews if record is not None else {}, number)
    waiting = review_ledger.points(conversation, ledger.told)
    unanswered = len(conversation.unanswered)
    keep(session, number, lambda record, _: record.with_pull(unanswered=unanswered))
    shown = {"conversation": conversation, "waiting": waiting, "ledger": ledger}
    shown |= {"strangers": review_ledger.strangers(conversation)}
    lines = review_packet.drawn("reviews", **shown, again=review_ledger.to_ask_again(conversation))
    session.show(lines, _data(conversation, waiting, ledger))


def reply(
    session: Session, thread: str, file: str, verdict: ReplyVerdict | None, resolves: bool | None
) -> None:
    """Answer the review thread THREAD once; the same answer again posts nothing.

    A thread's id is in the packet of its review, and in `lifecycle feedback reviews`. A thread that a
    person began is for that person to resolve. While a review of yours is pending, nothing is posted.
    """
    world = session.world
    is_person = not session.presence_beside().is_inside
    # An agent may run this without asking, so it must not publish a file that it may not read.
    text = text_from(None, file, "", "--text-file", is_unasked=not is_person)
    text = world.public(text or "", "reply")
    answers = review_reply.ReviewAnswers(
        world.clients.graph, world.calls, world.base, session.claim_store.file
    )
    wanted = review_reply.WantedReply(thread, text, verdict, resolves, is_person=is_person)
    done = answers.ensure_reply(wanted, world.clock.now())
    if done.is_answer:
        keep(session, done.number, _answered)
    posted_reply = fields_of(done, pull="number", url="url", posted="is_new", seen="is_seen")
    posted_reply |= fields_of(done, resolved="is_resolved", note="note?")
    session.show(review_packet.drawn("replied", done=done), {"thread": thread, **posted_reply})


def request(session: Session, *, pull: int | None) -> int:
    """Ask everybody who reviewed an older commit, and did not approve, to review the present one.

    Each is asked at most once for a head; nobody is asked while a thread is unanswered.
    """
    from lifecycle.github.operations.ensure_pulls import PullOperations

    number = pull or own_pull(session)
    world = session.world
    conversation = review_reading.read(world.clients.graph, world.base, number)
    unanswered = len(conversation.unanswered)
    if unanswered:
        raise Refused(
            f"{review_messages.unanswered(number, unanswered)}; nobody was asked. Answer them first."
        )
    asked, refused = [], []
    for login in review_ledger.to_ask_again(conversation):
        try:
            forge = world.clients.forge(world.base)
            PullOperations(forge).ensure_reviewers(number, people=[login], again=True)
        except LifecycleError as error:
            refused.append(f"{login} was not asked: {error.sentence}")
        else:
            asked.append(login)
    keep(session, number, partial(_asked_again, asked=asked))
    lines = review_packet.drawn("asked_again", number=number, asked=asked, refused=refused)
    data = {"pull": number, "asked": asked, "refused": refused}
    return session.show(lines, data, code=int(bool(refused)))


def _answered(record: Record, _ledger: Ledger) -> Record:
    """The record with one thread fewer that waits for an answer."""
    return record.with_pull(unanswered=max(record.pull.unanswered - 1, 0))


def _asked_again(record: Record, ledger: Ledger, asked: Collection[str]) -> Record:
    """The record after these people were asked again, so that status does not advise it once more.

    A waiting notice may be their request: the other parts of its packet are packed again.
    """
    record = record.with_pull(unanswered=0)
    if not asked:
        return record
    pull, begin = record.pull, f"{record.claim_key}/{PACKET}"
    keys = [notice.key for notice in ledger.waiting()]
    packets = [key.removeprefix(begin) for key in keys if key.startswith(begin)]
    if packets:
        unheard = ReviewLedger.from_json(pull.reviews, record.claim.pull).without(packets)
        record = record.with_pull(reviews={**asdict(unheard), "looked": ""})
    ledger.end(record.claim_key, ("changes", "review"))
    return record.with_pull(changes_by=tuple(name for name in pull.changes_by if name not in asked))


def _data(
    conversation: PullConversation, waiting: list[ReviewPoint], ledger: ReviewLedger
) -> dict[str, Any]:
    return {
        **fields_of(conversation, pull="number", head="head"),
        "complete": True,  # of a conversation that was read only in part nothing is said
        "unanswered": [thread.id for thread in conversation.unanswered],
        "rounds": len(ledger.rounds),
        "points": [_point_data(point, ledger) for point in waiting],
        "threads": [
            {
                **fields_of(thread, id="id", resolved="is_resolved", answered="is_answered"),
                "verdict": review_reply.verdict_of(thread) or None,
            }
            for thread in conversation.threads
        ],
        "ask_again": [*review_ledger.to_ask_again(conversation)],
    }


def _point_data(point: ReviewPoint, ledger: ReviewLedger) -> dict[str, Any]:
    thread, row = point.thread, ledger.told.get(point.key)
    where: dict[str, Any] = dict.fromkeys(("thread", "path", "line", "start"))
    where |= fields_of(thread, "path", "line", "start", thread="id") if thread else {}
    return {
        "id": point.key,
        **where,
        "outdated": thread is not None and thread.is_outdated,
        "author": point.remark.author,
        "bot": point.is_bots,
        "severity": point.remark.severity or None,
        "review_state": point.review_state or None,
        **fields_of(point.remark, url="url", commit="sha?"),
        "body": redact(point.remark.body)[: review_packet.MOST_OF_BODY],
        "told_at_head": row.head if row is not None else None,
        "times_told": row.times if row is not None else 0,
    }
