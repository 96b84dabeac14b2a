"""Answer one review thread: posted once, seen again, and resolved where that is ours to do.

The reply goes by REST to the thread's first comment: by GraphQL it would land, unseen, in a review that
the same account has pending. It ends with a hidden marker, by which one whose answer was lost is found;
one that is neither found nor known to have failed is sent again only after a while and two reads more.
Sources: https://docs.github.com/rest/pulls/comments#create-a-reply-for-a-review-comment and
https://docs.github.com/graphql/reference/mutations#resolvereviewthread
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from functools import partial

from lifecycle.core import hidden_marker
from lifecycle.core.errors import LifecycleError, NotFound, Refused, Transient
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import named
from lifecycle.core.timing import DeadlineReached
from lifecycle.core.values.model import Repository
from lifecycle.feedback.reviews import review_reading
from lifecycle.feedback.reviews.remarks import Remark, ReviewThread, Trusted
from lifecycle.feedback.reviews.review_reading import sentence
from lifecycle.github.client.client_common import Json, nodes, part, text
from lifecycle.github.client.graph import GraphClient
from lifecycle.github.client.rest import Calls
from lifecycle.github.failures.failure_case import AskedRequest
from lifecycle.github.operations.unclear_writes import settled
from lifecycle.storage.state_file import StateFile

LONGEST = 60_000
"""Characters of a reply; GitHub takes 65,536, marker and all."""

SETTLE_SECONDS, SETTLE_READS = 120.0, 2
"""After so long, and so many reads that miss it, a reply with a lost answer was never posted: reads lag."""

_INTENTS_KEPT = 50


class ReplyVerdict(StrEnum):
    """What a reply says of the point that it answers."""

    FIXED = "fixed"
    WONT_FIX = "wont_fix"
    QUESTION = "question"
    NEEDS_HUMAN = "needs_human"


@dataclass(frozen=True, slots=True)
class WantedReply:
    """What is to be answered, and how.

    Attributes:
        thread: its global id.
        resolves: True: resolve it also without `fixed`; False: never; None: a bot's thread that is fixed.
        is_person: a person runs this, who may resolve what a person began.
    """

    thread: str
    text: str
    verdict: ReplyVerdict | None = None
    resolves: bool | None = None
    is_person: bool = False


@dataclass(frozen=True, slots=True)
class ThreadState:
    """A thread as it was just read, and what of its pull request matters here."""

    thread: ReviewThread
    number: int
    head: str
    pending_url: str


@dataclass(frozen=True, slots=True)
class Replied:
    """What is true after a reply.

    Attributes:
        url: of the reply.
        is_new: this call posted it.
        is_seen: GitHub showed it afterwards.
        is_resolved: the thread is resolved now.
        is_answer: the thread was unanswered before, and is not any more.
        note: why it was not resolved, where that was to be expected; or "".
    """

    number: int
    url: str
    is_new: bool
    is_seen: bool
    is_resolved: bool
    note: str = ""
    is_answer: bool = False


@dataclass(eq=False)
class ReviewAnswers:
    """Answers threads of one repository.

    Attributes:
        graph, calls: what speaks to GitHub.
        repository: whose threads; one of another repository is refused.
        file: where it is kept that a reply may have been sent.
    """

    graph: GraphClient
    calls: Calls
    repository: Repository
    file: StateFile

    def ensure_reply(self, wanted: WantedReply, now: float) -> Replied:
        """Post this answer to the thread unless it is there, and resolve that where that is ours to do.

        Requests: 3 for a new answer (read, post, read again), 1 for one that is there, 1 more to resolve.

        Raises:
            Refused: the text is empty or too long, a review of one's own is pending, or the thread is
                locked; nothing was posted.
            NotFound: GitHub shows no such thread here; nothing was posted.
            Rejected: GitHub says no.
            Transient: not now, or nobody knows whether it was posted: the same again finds it.
        """
        _demand_text(wanted.text)
        self.file.reload(repair=False)
        before = state = self.read(wanted.thread)
        mark = mark_of(state.thread, wanted)
        posted = _marked(state.thread, mark)
        if posted is not None:
            url, is_seen = posted.url, True
            self._forget(mark)
        else:
            _demand_open(state)
            url = self._post(state, wanted, mark, now)
            state, is_seen = self._seen_again(state, mark)
        is_resolved, note = self._resolved(state.thread, wanted)
        is_answer = before.thread.is_unanswered and not state.thread.is_unanswered
        return Replied(state.number, url, posted is None, is_seen, is_resolved, note, is_answer)

    def read(self, thread: str) -> ThreadState:
        """Read a thread as it is now; raises NotFound, and what every read raises."""
        subject = f"review thread {thread}"
        reply = self.graph.read("read_thread", {"thread": thread}, subject=subject)
        node = part(reply.data, "node")
        pull = part(node, "pullRequest")
        name = text(part(pull, "repository"), "nameWithOwner")
        is_absent = any(problem.type == "NOT_FOUND" for problem in reply.problems)
        if reply.problems and not is_absent:
            raise self.graph.failures.of_problem(reply.problems[0], AskedRequest(subject))
        if is_absent or not pull or name.casefold() != str(self.repository).casefold():
            own = {"thread": named(thread), "repository": self.repository}
            raise NotFound(sentence("no-thread", **own))
        number = pull.get("number")
        if not isinstance(number, int) or not nodes(node, "root"):
            raise self.graph.failures.of_nonsense(AskedRequest(subject))
        pending = nodes(pull, "reviews")
        url = (text(pending[0], "url") or "on its page") if pending else ""
        conversation = review_reading.thread(node)
        return ThreadState(conversation, number, text(pull, "headRefOid"), url)

    def _post(self, state: ThreadState, wanted: WantedReply, mark: str, now: float) -> str:
        """Post the reply, unless it may be there already; returns its address."""
        intent = self.file.content.get("replies", {}).get(mark)
        if intent is not None:
            self._wait_for(mark, intent, now)
        self._keep(mark, {"at": now, "reads": 0})
        number, root = state.number, state.thread.remarks[0].id
        body = {"body": hidden_marker.signed(_with_commit(wanted, state.head), mark)}
        subject = f"a reply to review thread {state.thread.id} of #{number}"
        path = f"pulls/{number}/comments/{root}/replies"
        send = partial(self.calls.create, "POST", path, subject, _address, body)

        def look() -> str | None:
            reply = _marked(self.read(state.thread.id).thread, mark)
            return reply.url if reply is not None else None

        try:
            url = settled(send, look).now
        except LifecycleError as error:
            if isinstance(error, Transient) and error.is_ambiguous:
                self._keep(mark, {"at": now, "reads": 1})  # `look` was one
                why = sentence("answer-lost", state=state, seconds=SETTLE_SECONDS)
                raise Transient(why, retry_after=SETTLE_SECONDS, is_ambiguous=True) from None
            self._forget(mark)
            raise
        self._forget(mark)
        return url

    def _wait_for(self, mark: str, intent: Mapping[str, float], now: float) -> None:
        """Count a read that did not show the reply; raise Transient until it is known not to have come."""
        at, reads = float(intent.get("at", now)), int(intent.get("reads", 0)) + 1
        self._keep(mark, {"at": at, "reads": reads})
        left = at + SETTLE_SECONDS - now
        if left > 0 or reads < SETTLE_READS:
            wait = max(left, 1)
            raise Transient(sentence("not-shown-yet", seconds=wait), retry_after=wait)

    def _seen_again(self, state: ThreadState, mark: str) -> tuple[ThreadState, bool]:
        """Read the thread again; as it was where it cannot be read now, which undoes nothing."""
        try:
            current = self.read(state.thread.id)
        except (LifecycleError, DeadlineReached):
            return state, False
        return current, _marked(current.thread, mark) is not None

    def _resolved(self, thread: ReviewThread, wanted: WantedReply) -> tuple[bool, str]:
        """Resolve the thread where that is ours to do; whether it is resolved, and else why not or ""."""
        if thread.is_resolved:
            return True, ""
        is_wanted, note = may_resolve(thread, wanted)
        if not is_wanted:
            return False, note
        subject = f"resolving review thread {thread.id}"
        try:
            data = self.graph.change("resolve_thread", {"thread": thread.id}, subject=subject)
        except LifecycleError as error:
            return False, f"It was not resolved: {error.sentence}"
        shown = part(part(data, "resolveReviewThread"), "thread")
        if shown.get("isResolved"):
            return True, ""
        return False, sentence("shown-open")

    def _keep(self, mark: str, intent: Mapping[str, float]) -> None:
        """Keep what is known of a reply that was sent; with nothing forget it."""
        with self.file.folder.locked(10.0):
            state = self.file.reload()
            replies = {**state.get("replies", {}), mark: dict(intent)}
            kept = [(name, known) for name, known in replies.items() if known]
            state["replies"] = dict(kept[-_INTENTS_KEPT:])
            self.file.save()

    def _forget(self, mark: str) -> None:
        if mark in self.file.content.get("replies", {}):
            self._keep(mark, {})


def mark_of(thread: ReviewThread, wanted: WantedReply) -> str:
    """The marker of an answer: to what, with which verdict and which words. The same again is the same."""
    others = [remark for remark in thread.shown if remark.trusted is not Trusted.OURS]
    digest = hashlib.sha256(wanted.text.strip().encode()).hexdigest()[:12]
    to = (others or thread.remarks)[-1].id
    return hidden_marker.of("reply", to=to, verdict=wanted.verdict or "none", said=digest)


def may_resolve(thread: ReviewThread, wanted: WantedReply) -> tuple[bool, str]:
    """Whether a thread is to be resolved after its answer, and why not where one could expect it.

    By default only what a bot began, once it is fixed: a bot that sees its thread resolved without a
    change raises it again, and what a person began that person resolves.
    """
    is_bots = thread.remarks[0].trusted is Trusted.BOT
    resolves = wanted.resolves
    if resolves is None:
        resolves = wanted.verdict is ReplyVerdict.FIXED
    if not resolves:
        return False, ""
    if not is_bots and not (wanted.resolves and wanted.is_person):
        who = named(thread.remarks[0].author) if thread.remarks[0].author else "whoever began it"
        return False, f"It was left open for {who} to resolve."
    if not thread.can_resolve:
        return False, sentence("may-not-resolve")
    return True, ""


def verdict_of(thread: ReviewThread) -> str:
    """The verdict of our last answer in a thread, as its marker on GitHub has it; "" if there is none."""
    for remark in reversed(thread.shown):
        mark = hidden_marker.mark_in(remark.body)
        if remark.trusted is Trusted.OURS and mark.startswith("<!-- lifecycle:reply "):
            facts = dict(word.partition("=")[::2] for word in mark.split())
            return facts.get("verdict", "")
    return ""


def _marked(thread: ReviewThread, mark: str) -> Remark | None:
    """Our answer with this marker, where others see it."""
    ours = (remark for remark in thread.shown if remark.trusted is Trusted.OURS)
    return next((remark for remark in ours if hidden_marker.is_signed(remark.body, mark)), None)


def _with_commit(wanted: WantedReply, head: str) -> str:
    """The text, with the commit where something was fixed and the text does not name it."""
    if wanted.verdict is not ReplyVerdict.FIXED or head[:7] in wanted.text:
        return wanted.text.strip()
    return f"{wanted.text.strip()}\n\nFixed as of {head[:7]}."


def _demand_text(text: str) -> None:
    if not text.strip():
        raise Refused(sentence("empty-reply"))
    if len(text) > LONGEST:
        raise Refused(sentence("long-reply", length=len(text), longest=LONGEST))


def _demand_open(state: ThreadState) -> None:
    if state.pending_url:
        raise Refused(sentence("review-pending", state=state))
    if not state.thread.can_reply:
        raise Refused(sentence("locked", state=state))


def _address(reply: Json) -> str:
    return str(reply["html_url"])
