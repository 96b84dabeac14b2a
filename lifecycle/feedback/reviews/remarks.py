"""A pull request's conversation as values: remarks, their threads and reviews, and points.

A point is something that somebody may be asked to answer: a thread, a review's own text, a comment. This
module uses neither a clock nor a client.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto

from lifecycle.core.light_dataclass import dataclass


class Trusted(Enum):
    """The kind of a remark's author; it decides who gets the remark."""

    OURS = auto()
    """The token's account, taken for this agent unless something shows a person: no news for the agent."""
    OWNER = auto()
    """The token's account in a thread or review that it began: only a person begins those."""
    PERSON = auto()
    """Somebody with access to the repository."""
    BOT = auto()
    """A reviewing bot that is listed by its exact name."""
    STRANGER = auto()
    """Anybody else: only the user gets their remarks."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One text that somebody wrote.

    Attributes:
        id: GitHub's number for it.
        author: a login without `[bot]`, "" if the account is gone.
        at, edited_at: seconds since the epoch, None if GitHub did not say.
        is_hidden: somebody hid it, or it is a draft that others do not see.
        sha, hunk: the commit that it is about, and the lines of the diff up to its own.
        is_limited: a bot says that it did not review.
        is_summary: a bot's summary of the change, which asks for nothing.
        severity: given by its bot: "blocking", "major", "minor", "nit"; "" if unclassed.
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
        """When it was last written or edited, in seconds since the epoch; 0.0 if unknown."""
        return max(filter(None, (self.at, self.edited_at)), default=0.0)

    @property
    def stamp(self) -> str:
        """An id of this remark in this wording; an edit changes it."""
        return f"{self.id}@{self.changed_at:.0f}"


@dataclass(frozen=True, slots=True)
class ReviewThread:
    """A conversation about a place in the diff.

    Attributes:
        id: GitHub's global id, used to answer it.
        line: in the head; in an outdated thread, in the commit that it is about. It is the last line if the
            thread is about several: a suggested change replaces all of them.
        start: the first of these lines; None if there is one line.
        is_of_base: the lines are those of the base, which the change removes.
        remarks: the first and the newest ones, the oldest first.
        left_out: how many remarks between these were not read.
    """

    id: str
    path: str
    line: int | None
    remarks: tuple[Remark, ...]
    can_reply: bool
    start: int | None = None
    is_of_base: bool = False
    is_resolved: bool = False
    is_outdated: bool = False
    can_resolve: bool = False
    left_out: int = 0

    @property
    def place(self) -> str:
        """Its lines, as they follow a path: ":5", ":2-5"; "" if it is about a whole file."""
        if self.line is None:
            return ""
        is_one = self.start is None or self.start >= self.line
        return f":{self.line}" if is_one else f":{self.start}-{self.line}"

    @property
    def shown(self) -> tuple[Remark, ...]:
        """The remarks that are neither hidden nor drafts."""
        return tuple(remark for remark in self.remarks if not remark.is_hidden)

    @property
    def is_answered(self) -> bool:
        """True if the last remark is ours, and none was edited after it: GitHub shows an answer."""
        remarks = self.shown
        if not remarks or remarks[-1].trusted is not Trusted.OURS:
            return False
        return all(remark.changed_at <= remarks[-1].changed_at for remark in remarks)

    @property
    def is_unanswered(self) -> bool:
        """True if it is neither resolved nor answered, and somebody else wrote in it."""
        is_over = self.is_resolved or self.is_answered
        return not is_over and any(remark.trusted is not Trusted.OURS for remark in self.shown)


@dataclass(frozen=True, slots=True)
class ReviewPoint:
    """Something that somebody may be asked to answer, and its newest remark.

    Attributes:
        key: the id of its thread, review or comment.
        remark: the last one that somebody else wrote or edited.
        thread: None for a review's own text and for a comment.
        review_state: the state of the review with this text, else "".
    """

    key: str
    remark: Remark
    thread: ReviewThread | None = None
    review_state: str = ""

    @property
    def is_bots(self) -> bool:
        """True if a listed bot wrote it, and no person wrote in the same thread."""
        remarks = self.thread.shown if self.thread is not None else (self.remark,)
        return not any(remark.trusted in (Trusted.OWNER, Trusted.PERSON) for remark in remarks)


@dataclass(frozen=True, slots=True)
class PullConversation:
    """The whole conversation on one pull request, every page of it, as GitHub shows it.

    Attributes:
        head: its current commit.
        texts: the submitted reviews' own texts, even empty ones, then the comments.
        requested: who is asked for a review now, as logins in small letters without `[bot]`.
    """

    number: int
    url: str
    head: str
    threads: tuple[ReviewThread, ...] = ()
    texts: tuple[ReviewPoint, ...] = ()
    requested: tuple[str, ...] = ()

    @property
    def standing(self) -> tuple[ReviewPoint, ...]:
        """The requests for changes still in force: the last opinion of each writer or listed bot.

        A request ends when its author gives another opinion, or somebody dismisses it. If its author was
        asked to review again, it is left out: the next step is theirs.
        """
        states = ("APPROVED", "CHANGES_REQUESTED", "DISMISSED")
        last = self.last_of(text for text in self.texts if text.review_state in states)
        asked = (opinion for opinion in last if opinion.review_state == "CHANGES_REQUESTED")
        return tuple(opinion for opinion in asked if opinion.remark.is_trusted)

    def last_of(self, texts: Iterable[ReviewPoint]) -> list[ReviewPoint]:
        """The last of these texts of each author who is not asked for a review now."""
        last = {text.remark.author.casefold(): text for text in texts}
        return [text for name, text in last.items() if name not in self.requested]

    @property
    def unanswered(self) -> tuple[ReviewThread, ...]:
        """The threads that wait for an answer from us."""
        return tuple(thread for thread in self.threads if thread.is_unanswered)
