"""What was said of a pull request, as values: remarks, their threads and reviews, and points.

A point is what somebody may be asked to answer: a thread, a review's own text, a comment. No clock and no
client here.
"""

from __future__ import annotations

from enum import Enum, auto

from lifecycle.core.light_dataclass import dataclass


class Trusted(Enum):
    """Who wrote a remark, as far as that decides who is told about it."""

    OURS = auto()
    """The token's account, and so this agent, as far as nothing shows a person: no news to it."""
    OWNER = auto()
    """The token's account in a thread or a review that it began: a person does that, and not we."""
    PERSON = auto()
    """Somebody with access to the repository."""
    BOT = auto()
    """A reviewing bot that is listed by its exact name."""
    STRANGER = auto()
    """Anybody else: told to the user alone."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One text that somebody wrote.

    Attributes:
        id: GitHub's number for it.
        author: a login without `[bot]`, "" if the account is gone.
        at, edited_at: seconds since the epoch, None if GitHub did not say.
        is_hidden: folded away by somebody, or a draft that others do not see.
        sha, hunk: the commit that it was said of, and the lines of the diff down to its own.
        is_limited: a bot says that it did not review.
        is_summary: a bot's summary of the change, which asks for nothing.
        severity: as its bot gives it: "blocking", "major", "minor", "nit"; "" if unclassed.
    """

    id: str
    author: str
    trusted: Trusted
    body: str
    at: float | None = None
    edited_at: float | None = None
    url: str = ""
    is_hidden: bool = False
    sha: str = ""
    hunk: str = ""
    is_limited: bool = False
    is_summary: bool = False
    severity: str = ""

    @property
    def is_trusted(self) -> bool:
        """True if its author may speak to the agent, and is not the agent."""
        return self.trusted in (Trusted.OWNER, Trusted.PERSON, Trusted.BOT)

    @property
    def changed_at(self) -> float:
        """When it was last written or edited; 0.0 if not known."""
        return max(filter(None, (self.at, self.edited_at)), default=0.0)

    @property
    def stamp(self) -> str:
        """An id of this remark in this wording: another one once it is edited."""
        return f"{self.id}@{self.changed_at:.0f}"


@dataclass(frozen=True, slots=True)
class ReviewThread:
    """A conversation about a place of the diff.

    Attributes:
        id: GitHub's global id, by which it is answered.
        line: of the head; where the thread is outdated, of the commit that it was said of.
        remarks: the first and the newest, the oldest first.
        left_out: how many between these were not read.
    """

    id: str
    path: str
    line: int | None
    remarks: tuple[Remark, ...]
    can_reply: bool
    is_resolved: bool = False
    is_outdated: bool = False
    can_resolve: bool = False
    left_out: int = 0

    @property
    def shown(self) -> tuple[Remark, ...]:
        """The remarks that are neither hidden nor drafts."""
        return tuple(remark for remark in self.remarks if not remark.is_hidden)

    @property
    def is_answered(self) -> bool:
        """True if the last remark is ours, and none was changed after it: GitHub shows an answer."""
        remarks = self.shown
        if not remarks or remarks[-1].trusted is not Trusted.OURS:
            return False
        return all(remark.changed_at <= remarks[-1].changed_at for remark in remarks)

    @property
    def is_unanswered(self) -> bool:
        """True if it is neither resolved nor answered, and somebody else spoke in it."""
        is_over = self.is_resolved or self.is_answered
        return not is_over and any(remark.trusted is not Trusted.OURS for remark in self.shown)


@dataclass(frozen=True, slots=True)
class SubmittedReview:
    """A submitted review with its own text; what it says of lines is in threads."""

    id: str
    state: str
    remark: Remark

    @property
    def point(self) -> ReviewPoint:
        """Its own text as a point."""
        return ReviewPoint(self.id, self.remark, None, self.state)


@dataclass(frozen=True, slots=True)
class PullConversation:
    """The whole conversation on one pull request, as GitHub shows it.

    Attributes:
        head: the commit that it has now.
        requested: of whom a review is asked now, logins without `[bot]`.
        is_complete: every page was read; else nothing counts as done.
    """

    number: int
    url: str
    head: str
    threads: tuple[ReviewThread, ...] = ()
    reviews: tuple[SubmittedReview, ...] = ()
    comments: tuple[Remark, ...] = ()
    requested: tuple[str, ...] = ()
    is_complete: bool = True

    @property
    def standing(self) -> tuple[SubmittedReview, ...]:
        """The requests for changes that stand: the last opinion of each who may write, or a listed bot's.

        Only who asked takes one back, by another opinion, or whoever dismisses it. Who is asked for another
        review has the next word: theirs waits for nobody here.
        """
        waits = {name.casefold() for name in self.requested}
        last: dict[str, SubmittedReview] = {}
        for review in self.reviews:
            if review.state in ("APPROVED", "CHANGES_REQUESTED", "DISMISSED"):
                last[review.remark.author.casefold()] = review
        others = (opinion for name, opinion in last.items() if name not in waits)
        asked = (opinion for opinion in others if opinion.state == "CHANGES_REQUESTED")
        return tuple(opinion for opinion in asked if opinion.remark.is_trusted)

    @property
    def unanswered(self) -> tuple[ReviewThread, ...]:
        """The threads that wait for an answer of ours."""
        return tuple(thread for thread in self.threads if thread.is_unanswered)


@dataclass(frozen=True, slots=True)
class ReviewPoint:
    """What somebody may be asked to answer, and its newest remark.

    Attributes:
        key: the id of its thread, review or comment.
        remark: what was said or edited last by somebody else.
        thread: None for a review's own text and for a comment.
        review_state: of the review whose own text it is, else "".
    """

    key: str
    remark: Remark
    thread: ReviewThread | None = None
    review_state: str = ""

    @property
    def is_bots(self) -> bool:
        """True if a listed bot said it, and no person spoke in the same thread."""
        remarks = self.thread.shown if self.thread is not None else (self.remark,)
        return not any(remark.trusted in (Trusted.OWNER, Trusted.PERSON) for remark in remarks)
