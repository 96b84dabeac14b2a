"""Find news in a pull request's reviews: read changes, decide, pack; implements `ports.ReviewFeedback`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from lifecycle.core.errors import Transient
from lifecycle.core.light_dataclass import asdict, replace
from lifecycle.core.messages.review_messages import SHOWN_NAMES
from lifecycle.core.plan import Audience, Notice, ReviewsHeard
from lifecycle.core.redact import few, named
from lifecycle.core.values.model import PullRequest, Repository
from lifecycle.feedback.reviews import review_ledger
from lifecycle.storage import feedback_files

if TYPE_CHECKING:
    from lifecycle.feedback.reviews.remarks import PullConversation
    from lifecycle.github.client.graph import GraphClient


PACKET = "review:"
"""The beginning of a notice's key if it is a packet for the agent; the packet's key follows."""


class ReviewWatch:
    """Reads with a client and keeps no state: the known state comes in and goes out as JSON values."""

    def __init__(self, graph: GraphClient, repository: Repository) -> None:
        self._graph = graph
        self._repository = repository

    def heard(
        self,
        pull: PullRequest,
        known: Mapping[str, Any],
        now: float,
        *,
        is_asked: bool,
        waiting: Collection[str] = (),
    ) -> ReviewsHeard:
        """Read reviews that changed, and return the news; see `ports.ReviewFeedback.heard`."""
        digest = pull.conversations.digest if pull.conversations is not None else ""
        ledger = review_ledger.ReviewLedger.from_json(known, pull.number)
        is_due = ledger.due is not None and now >= ledger.due
        if ledger.looked == digest and not (is_due or (is_asked and ledger.due is not None)):
            return ReviewsHeard(known)
        from lifecycle.feedback.reviews import review_reading

        try:
            conversation = review_reading.read(self._graph, self._repository, pull.number)
        except Transient:
            # It was not read, and no shorter form is said in its place: the next look reads it again.
            return ReviewsHeard({**asdict(ledger), "looked": "", "late": digest})
        # A request may have been withdrawn since, or a thread resolved: waiting packets are made again.
        packets = [key.removeprefix(PACKET) for key in waiting if key.startswith(PACKET)]
        unheard = ledger.without(packets)
        decision = review_ledger.decide(conversation, unheard, now, is_asked=is_asked)
        after = replace(decision.ledger, looked=digest)
        withdrawn = tuple(PACKET + key for key in packets) if unheard is not ledger else ()
        return replace(told(conversation, decision), known=asdict(after), withdrawn=withdrawn)


def told(conversation: PullConversation, decision: review_ledger.ReviewDecision) -> ReviewsHeard:
    """The notices and files of a decision."""
    from lifecycle.feedback.reviews import review_packet
    from lifecycle.feedback.reviews.review_reading import sentence

    notices: list[Notice] = []
    papers: tuple[tuple[str, str], ...] = ()
    number = conversation.number
    if decision.agent:
        key = review_ledger.key_of(number, decision.agent)
        name = f"review-{key}.md"
        text = review_packet.in_wake(conversation, decision, feedback_files.shown(name))
        notices.append(Notice(f"{PACKET}{key}", text, Audience.NEWS))
        papers = ((name, review_packet.whole(conversation, decision)),)
    if decision.question:
        key = f"review-stop:{number}:{conversation.head}"
        name = "rounds-over" if decision.question == "rounds" else "rounds-without-change"
        most = review_ledger.MOST_ROUNDS
        text = sentence(name, number=number, most=most, url=conversation.url)
        notices.append(Notice(key, text, Audience.ASK))
    for audience, is_bots in ((Audience.NEWS, False), (Audience.NOTE, True)):
        approvals = [point for point in decision.approvals if point.is_bots is is_bots]
        if approvals:
            key = f"review-approved:{review_ledger.key_of(number, approvals)}"
            notices.append(Notice(key, review_packet.of_approvals(number, approvals), audience))
    for kind, points in (
        ("lesser", decision.person if not decision.question else ()),
        ("strangers", decision.strangers),
        ("limited", decision.limited),
    ):
        if points:
            key = f"review-{kind}:{review_ledger.key_of(number, points)}"
            remarks = ((point.remark.author, point.remark.url) for point in points)
            shown = (f"{named(who) if who else 'somebody'} {url}".strip() for who, url in remarks)
            text = sentence(kind, number=number, places=few(shown, SHOWN_NAMES))
            notices.append(Notice(key, text, Audience.NOTE))
    return ReviewsHeard({}, tuple(notices), papers)
