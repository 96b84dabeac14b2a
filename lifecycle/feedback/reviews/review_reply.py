"""Answer one review thread: post it once, confirm it, and resolve the thread if that is ours to do.

The reply goes by REST to the thread's first comment: by GraphQL it would become an unseen part of a
pending review of the same account. It ends with a hidden marker, by which it is found if GitHub's answer
was lost. If it is neither found nor known to have failed, it is sent again only after some time and two
more reads.
Sources: https://docs.github.com/rest/pulls/comments#create-a-reply-for-a-review-comment and
https://docs.github.com/graphql/reference/mutations#resolvereviewthread
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
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
from lifecycle.github.failures import AskedRequest
from lifecycle.github.operations.unclear_writes import settled
from lifecycle.storage.state_file import StateFile

LONGEST = 60_000
"""The most characters of a reply; GitHub accepts 65,536, including the marker."""

SETTLE_SECONDS = 120.0
"""If GitHub's answer was lost: seconds after which two reads without the reply show it was never posted."""

_INTENTS_KEPT = 50


class ReplyVerdict(StrEnum):
    """What a reply says about the point that it answers."""

    FIXED = "fixed"
    WONT_FIX = "wont_fix"
    QUESTION = "question"
    NEEDS_HUMAN = "needs_human"


@dataclass(frozen=True, slots=True)
class WantedReply:
    """The reply to post.

    Attributes:
        thread: its global id.
        resolves: True: resolve it even if not `fixed`; False: never; None: only a fixed thread of a bot.
        is_person: a person runs this, who may resolve threads that people began.
    """

    thread: str
    text: str
    verdict: ReplyVerdict | None = None
    resolves: bool | None = None
    is_person: bool = False


@dataclass(frozen=True, slots=True)
class ThreadState:
    """A thread as just read, and the facts of its pull request that matter here."""

    thread: ReviewThread
    number: int
    head: str
    pending_url: str


@dataclass(frozen=True, slots=True)
class Replied:
    """The result of a reply.

    Attributes:
        url: the reply's address.
        is_new: this call posted it.
        is_seen: GitHub showed it afterwards.
        is_resolved: the thread is resolved now.
        is_answer: the thread was unanswered before, and is answered now.
        note: why it was not resolved, if one would expect that; or "".
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
        graph, calls: the clients for GitHub.
        repository: the threads' repository; a thread of another one is refused.
        file: where replies that may have been sent are kept.
    """

    graph: GraphClient
    calls: Calls
    repository: Repository
    file: StateFile

    def ensure_reply(self, wanted: WantedReply, now: float) -> Replied:
        """Post this answer to the thread unless it is there; resolve the thread if that is ours to do.

        Requests: 3 for a new answer (read, post, read again), 1 for an existing one, 1 more to resolve.

        Raises:
            Refused: the text is empty or too long, the account has a pending review, or the thread is
                locked; nothing was posted.
            NotFound: GitHub shows no such thread here; nothing was posted.
            Rejected: GitHub refuses.
            Transient: not possible now, or unknown whether it was posted: the same call again finds it.
        """
        if not wanted.text.strip():
            raise Refused(sentence("empty-reply"))
        if len(wanted.text) > LONGEST:
            raise Refused(sentence("long-reply", length=len(wanted.text), longest=LONGEST))
        self.file.reload(repair=False)
        before = state = self.read(wanted.thread)
        mark = mark_of(state.thread, wanted)
        posted = _marked(state.thread, mark)
        if posted is not None:
            url, is_seen = posted.url, True
            self._forget(mark)
        else:
            url = self._post(state, wanted, mark, now)
            is_seen = False
            with suppress(LifecycleError, DeadlineReached):  # the reply is posted anyway
                state = self.read(state.thread.id)
                is_seen = _marked(state.thread, mark) is not None
        is_resolved, note = self._resolved(state.thread, wanted)
        is_answer = before.thread.is_unanswered and not state.thread.is_unanswered
        return Replied(state.number, url, posted is None, is_seen, is_resolved, note, is_answer)

    def read(self, thread: str) -> ThreadState:
        """Read the thread's present state; raises NotFound, and the errors of every read."""
        subject = f"review thread {thread}"
        reply = self.graph.read("read_thread", {"thread": thread}, subject=subject)
        node = part(reply.data, "node")
        pull = part(node, "pullRequest")
        name = text(pull, "repository.nameWithOwner")
        is_absent = any(problem.type == "NOT_FOUND" for problem in reply.problems)
        if reply.problems and not is_absent:
            raise self.graph.failures.of_problem(reply.problems[0], AskedRequest(subject))
        if is_absent or not pull or name.casefold() != str(self.repository).casefold():
            raise NotFound(sentence("no-thread", thread=named(thread), repository=self.repository))
        number = pull.get("number")
        if not isinstance(number, int) or not nodes(node, "root"):
            raise self.graph.failures.of_nonsense(AskedRequest(subject))
        pending = nodes(pull, "reviews")
        url = (text(pending[0], "url") or "on its page") if pending else ""
        return ThreadState(review_reading.thread(node), number, text(pull, "headRefOid"), url)

    def _post(self, state: ThreadState, wanted: WantedReply, mark: str, now: float) -> str:
        """Post the reply, unless it may be there already; returns its address."""
        if state.pending_url:
            raise Refused(sentence("review-pending", state=state))
        if not state.thread.can_reply:
            raise Refused(sentence("locked", state=state))
        intent = self.file.content.get("replies", {}).get(mark)
        wait = float(intent.get("at", now)) + SETTLE_SECONDS - now if intent is not None else 0.0
        if wait > 0:
            wait = max(wait, 1)
            raise Transient(sentence("not-shown-yet", seconds=wait), retry_after=wait)
        number, root = state.number, state.thread.remarks[0].id
        words, head = wanted.text.strip(), state.head[:7]
        if wanted.verdict is ReplyVerdict.FIXED and head not in words:
            words += f"\n\nFixed as of {head}."
        body = {"body": hidden_marker.signed(words, mark)}
        subject = f"a reply to review thread {state.thread.id} of #{number}"
        path = f"pulls/{number}/comments/{root}/replies"
        send = partial(self.calls.create, "POST", path, subject, _address, body)

        def look() -> str | None:
            reply = _marked(self.read(state.thread.id).thread, mark)
            return reply.url if reply is not None else None

        url = look() if intent is not None else None  # the second read that does not show it
        if url is None:
            self._keep(mark, {"at": now})
            try:
                url = settled(send, look).now
            except LifecycleError as error:
                if isinstance(error, Transient) and error.is_ambiguous:
                    why = sentence("answer-lost", state=state, seconds=SETTLE_SECONDS)
                    raise Transient(why, retry_after=SETTLE_SECONDS, is_ambiguous=True) from None
                self._forget(mark)
                raise
        self._forget(mark)
        return url

    def _resolved(self, thread: ReviewThread, wanted: WantedReply) -> tuple[bool, str]:
        """Resolve the thread if that is ours to do; whether it is resolved, and the reason or "" if not."""
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
        shown = part(data, "resolveReviewThread.thread")
        return (True, "") if shown.get("isResolved") else (False, sentence("shown-open"))

    def _keep(self, mark: str, intent: Mapping[str, float]) -> None:
        """Keep when a reply was sent; an empty intent removes it."""
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
    """The marker of an answer: a hash of thread, verdict and words, so the same answer has the same one."""
    others = [remark for remark in thread.shown if remark.trusted is not Trusted.OURS]
    digest = hashlib.sha256(wanted.text.strip().encode()).hexdigest()[:12]
    to = (others or thread.remarks)[-1].id
    return hidden_marker.of("reply", to=to, verdict=wanted.verdict or "none", said=digest)


def may_resolve(thread: ReviewThread, wanted: WantedReply) -> tuple[bool, str]:
    """Whether to resolve a thread after its answer, and if one would expect it, why not.

    The default is only fixed threads of bots: a bot whose thread is resolved without a change raises it
    again, and a thread that a person began is for that person to resolve.
    """
    is_bots = thread.remarks[0].trusted is Trusted.BOT
    resolves = wanted.verdict is ReplyVerdict.FIXED if wanted.resolves is None else wanted.resolves
    if not resolves:
        return False, ""
    if not is_bots and not (wanted.resolves and wanted.is_person):
        who = named(thread.remarks[0].author) if thread.remarks[0].author else "whoever began it"
        return False, f"It was left open for {who} to resolve."
    return (True, "") if thread.can_resolve else (False, sentence("may-not-resolve"))


def verdict_of(thread: ReviewThread) -> str:
    """The verdict in the marker of our last answer in a thread; "" if there is none."""
    for remark in reversed(thread.shown):
        mark = hidden_marker.mark_in(remark.body)
        if remark.trusted is Trusted.OURS and mark.startswith("<!-- lifecycle:reply "):
            return dict(word.partition("=")[::2] for word in mark.split()).get("verdict", "")
    return ""


def _marked(thread: ReviewThread, mark: str) -> Remark | None:
    """Our answer with this marker, if others can see it."""
    ours = (remark for remark in thread.shown if remark.trusted is Trusted.OURS)
    return next((remark for remark in ours if hidden_marker.is_signed(remark.body, mark)), None)


def _address(reply: Json) -> str:
    return str(reply["html_url"])
