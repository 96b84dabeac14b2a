"""The sections of a claim's record: values that the engine keeps beside the claim file."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from lifecycle.core.errors import LifecycleError, Transient
from lifecycle.core.light_dataclass import dataclass, field, replace
from lifecycle.core.tracker import Link, Task


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why an action failed, and when it is tried again: it is not tried at every wake.

    Attributes:
        mark: identifies what was tried; another mark is another attempt and is not held back.
        sentence: what to tell a person.
        until: when to try again, in seconds since the epoch.
        tries: how often it failed in a row.
        is_final: it was refused; otherwise its outcome is unknown, and it is tried again silently.
        for_agent: the agent can do something about it.
        is_of_access: the token is the cause, so that another token is another attempt.
        is_guessed: GitHub named no time, so a caller with a reason may try again sooner.
    """

    mark: str
    sentence: str
    until: float
    tries: int = 1
    is_final: bool = False
    for_agent: bool = False
    is_of_access: bool = False
    is_guessed: bool = False

    @classmethod
    def of(cls, error: LifecycleError, mark: str, until: float, tries: int = 1) -> Trouble:
        """The trouble of an attempt that ended with this error."""
        is_final, for_agent = not isinstance(error, Transient), error.for_agent
        return cls(mark, error.sentence, until, tries, is_final, for_agent, error.is_of_access)


@dataclass(frozen=True, slots=True)
class Intent:
    """A create that was about to be sent, so it may have happened.

    Attributes:
        mark: identifies what was to be created, as `state.mark_of` returns it.
        at: when, in seconds since the epoch.
        clean_reads: how many reads since then did not show it.
    """

    mark: str
    at: float
    clean_reads: int = 0


@dataclass(frozen=True, slots=True)
class Nudge:
    """A move that somebody made by hand, and why.

    Attributes:
        at: seconds since the epoch, UTC.
        source, target: the phases before and after.
        by: "agent" if it was made in a session of the client, else "person".
    """

    at: float
    source: str
    target: str
    reason: str
    by: str


@dataclass(frozen=True, slots=True)
class Releasing:
    """A release under way, from the command until the claim file is deleted.

    Attributes:
        at: when it was asked for, in seconds since the epoch: distinguishes this release from every other.
        reason: why, in the words of the person or the agent, or "".
        progress: how far the work is, in words for the issue.
        holder: who holds the task's lease instead of this claim, or "".
        is_begun: GitHub was read and nothing prevents the release, so it is carried through.
        by: who releases it on the agent's behalf, or "".
    """

    at: float
    reason: str = ""
    progress: str = ""
    holder: str = ""
    is_begun: bool = False
    by: str = ""


class Whom(StrEnum):
    """Who or what an open pull request waits for; those who have to act come first."""

    AUTHOR = "author"
    REVIEWERS = "reviewers"
    MERGE = "merge"
    """Somebody who merges it."""
    RULE = "rule"
    CHECKS = "checks"
    QUEUE = "queue"
    AUTO_MERGE = "auto-merge"


@dataclass(frozen=True, slots=True)
class MergeRecord:
    """What is known about the merge of the claim's pull request, from the last look that read its checks.

    Attributes:
        head: the pull request's head at that look.
        standing: the state of the merge as a verb phrase, or "".
        awaits: whom it waits for, a value of `Whom`, or "".
        is_owed: a conflict or requested changes hold, or held, it; how it stands after that is not told.
        has_queue: the base takes changes through a merge queue.
        queued: the head that was in the queue when it was first seen there; "" while it is not in it.
        untested, untested_since: the queue's commit for which no check has begun, and since when.
        ejection, ejected: when it last left the queue, and the head that left.
        handed_out: the head that a hand-off took out of the queue.
        auto_on: the head at which auto-merge was first seen to be on; "" while it is off.
        is_left_off: somebody switched auto-merge off at the head for which it had been on.
        is_ours: auto-merge is on because this claim asked for it.
        asked: the head for which each request was made of GitHub, by `AdvancePullRequest.how`.
        asked_at: when the last of these requests was made.
    """

    head: str = ""
    standing: str = ""
    awaits: str = ""
    is_owed: bool = False
    has_queue: bool = False
    queued: str = ""
    untested: str = ""
    untested_since: float = 0.0
    ejection: str = ""
    ejected: str = ""
    handed_out: str = ""
    auto_on: str = ""
    is_left_off: bool = False
    is_ours: bool = False
    asked: Mapping[str, str] = field(default_factory=dict)
    asked_at: float = 0.0


@dataclass(frozen=True, slots=True)
class PullRecord:
    """What is known about the claim's pull request; its number is in the claim file.

    Attributes:
        url, head: its page, and the commit that GitHub shows as its head.
        opened: the number of the pull request that this claim opened itself.
        checks: the counts and failing names of the last poll, if it was of this head; for `status`.
        durations: how many seconds each check took when it last ended, by name.
        announced: the head and the failing checks of the last notice about failures.
        changes_by: who asked for changes in a review that still counts.
        is_approved: GitHub's verdict on its reviews, if the base requires one.
        unanswered: in how many conversations about the diff somebody else had the last word.
        merged_into: the base that it merged into, if that is neither the configured nor the default branch.
        reverted_by: the merged pull request that reverted its merge, 0 if none did.
        left_out: how many commits of its branch here were not in it when its merge was seen.
        reviews: which reviews were reported, as JSON; `feedback/reviews/review_ledger.py` reads it.
        failures: what is known of its red heads, as JSON; `feedback/failures/ladder.py` reads it.
        reruns: CI runs whose failed jobs are to be run again, each with the attempt that failed.
        tampering: how its checks were weakened since a head of it was red, each in words.
        remarked: how many of these its text mentions, from the first.
        conflicts_with: the base branch that it conflicts with, or "".
        merging: what is known about its merge.
        reopened: how often it was closed and reopened.
        asked: the merged pull request for which the question about closing was asked, or None.
    """

    url: str = ""
    head: str = ""
    opened: int | None = None
    checks: Mapping[str, Any] | None = None
    durations: Mapping[str, float] = field(default_factory=dict)
    announced: Mapping[str, Any] | None = None
    changes_by: tuple[str, ...] = ()
    is_approved: bool = False
    conflicts_with: str = ""
    reopened: int = 0
    asked: int | None = None
    unanswered: int = 0
    left_out: int = 0
    merged_into: str = ""
    reverted_by: int = 0
    reviews: Mapping[str, Any] = field(default_factory=dict)
    failures: Mapping[str, Any] = field(default_factory=dict)
    reruns: tuple[tuple[int, int], ...] = ()
    tampering: tuple[str, ...] = ()
    remarked: int = 0
    merging: MergeRecord = field(default_factory=MergeRecord)

    def closed(self) -> PullRecord:
        """The record once it is closed without a merge: without facts that hold only for an open one."""
        names = ("checks", "changes_by", "is_approved", "conflicts_with", "unanswered", "reruns")
        gone = {name: getattr(PullRecord(), name) for name in names}
        return replace(self, merging=replace(self.merging, standing=""), **gone)

    def at(self, head: str) -> PullRecord:
        """The record once this commit is its head: without what came from another head's checks."""
        is_of_it = self.checks is None or self.checks.get("sha", head) == head
        merging = self.merging
        if merging.head not in ("", head):
            merging = replace(merging, standing="", awaits="")
        return replace(self, head=head, checks=self.checks if is_of_it else None, merging=merging)

    @property
    def is_unread(self) -> bool:
        """True if checks failed on its head and nobody has read why; false in a look that reports it."""
        checks = self.checks or {}
        is_red = bool(checks.get("failed")) and checks.get("sha") == self.head
        return is_red and self.failures.get("red") != self.head


@dataclass(frozen=True, slots=True)
class CardRecord:
    """What is known about the claim's card on the board.

    Attributes:
        is_known: GitHub confirmed the card's id that is in the claim file.
        agent: the Agent value last written to it, or seen on it.
        moved_to: a Status that somebody else set by hand, while it lasts.
        leaves_labels: it replaced the issue's labels, and was not written since.
        unsure: its Status before a write that was sent with others, and the one that was to be written,
            until it is written again or its issue is closed: any other one is somebody's.
    """

    is_known: bool = False
    agent: str | None = None
    moved_to: str | None = None
    leaves_labels: bool = False
    unsure: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EndingRecord:
    """How the claim ends, and which steps of that are done.

    Attributes:
        consent: who said yes to closing: "prompt", "close", "auto", "nudge: …", or empty.
        override: why it may close without a merge, or ""; only in phase done.
        releasing: the task is being released, whatever the phase, or None.
        issue_closed: the issue was closed when it was last seen, whoever closed it.
        open_parts: how many of its sub-issues were open then.
        is_reopened: somebody reopened it after the merge of the claim's pull request, and it is open.
        comment_done, unassigned, board_done, lease_done: the other completed steps.
        outcome: how the claim ended ("closed", "released"), or "" while it lives.
    """

    consent: str = ""
    override: str = ""
    releasing: Releasing | None = None
    comment_done: bool = False
    issue_closed: bool = False
    open_parts: int = 0
    is_reopened: bool = False
    unassigned: bool = False
    board_done: bool = False
    lease_done: bool = False
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class OwnershipRecord:
    """Who owns the claim, and where it was taken.

    Attributes:
        session: the client's session that claimed or handed off; only this session is woken.
        session_at: when that session became the owner, 0.0 if it made the claim.
        inherited: the session that took over the claim of an ended session, until it is informed; or "".
        lease: the sha of our lease commit, or "".
        refs_in: the global id of the repository whose API can move the lease's ref, or "".
        remote, repository: the remote of its lease and branch, and `owner/name` of its issue; "" until
            they are known.
        taken_by: another agent that has the task's lease, or whose name is on the card instead of ours,
            while that lasts.
        is_leaseless: the remote was seen without a lease of the task: somebody released it, and anybody may
            take it. The claim writes nothing any more.
    """

    session: str = ""
    session_at: float = 0.0
    inherited: str = ""
    lease: str = ""
    refs_in: str = ""
    remote: str = ""
    repository: str = ""
    taken_by: str = ""
    is_leaseless: bool = False


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """The task of another tracker that stands for the issue.

    Attributes:
        link: that task, or None.
        is_known: the tracker was asked, so a `link` of None means that there is none.
        left: why the task is not touched any more: it is somebody else's, or does not exist; or "".
    """

    link: Link | None = None
    is_known: bool = False
    left: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """Who takes a task, and in which attempt, before there is a claim.

    Attributes:
        issue: the task.
        agent: the name under which it is taken.
        nonce: the attempt's random word, which is also in its lease commit.
        resumes: it continues an attempt that was begun here, or a claim whose file was lost.
        held: the sha of that claim's lease, or "".
        chosen: the linked task, if that was asked for by its id, or None.
        force: take it although its Status is not Todo, a dependency is open, or somebody else holds it.
    """

    issue: int
    agent: str
    nonce: str
    resumes: bool = False
    held: str = ""
    chosen: Task | None = None
    force: bool = False

    @property
    def insists(self) -> bool:
        """True if obstacles are reported but do not prevent the claim."""
        return self.force or self.resumes
