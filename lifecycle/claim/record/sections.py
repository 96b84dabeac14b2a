"""The sections of a claim's record: values that the engine keeps beside the claim file."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from lifecycle.core.light_dataclass import dataclass, field, replace
from lifecycle.core.tracker import Link, Task


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why an action failed, and when it is tried again: it is not tried at every wake.

    Attributes:
        mark: what was tried; another mark is another attempt and not held back.
        sentence: what to tell a person.
        until: when to try again.
        tries: how often it failed in a row.
        is_final: it was refused; otherwise its outcome is unknown, and it is tried again without a word.
        for_agent: the agent can do something about it.
        is_of_access: the token is the cause, so that another token is another attempt.
        is_guessed: GitHub named no time, so that whoever has a reason may try again sooner.
    """

    mark: str
    sentence: str
    until: float
    tries: int = 1
    is_final: bool = False
    for_agent: bool = False
    is_of_access: bool = False
    is_guessed: bool = False


@dataclass(frozen=True, slots=True)
class Intent:
    """A create that was about to be sent, so that it may have happened.

    Attributes:
        mark: what was to be created, as `state.mark_of` gives it.
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
        at: when it was asked for, in seconds since the epoch: tells this release from every other.
        reason: why, as the person or the agent said it, or empty.
        progress: how far the work got, in words for the issue.
        holder: who holds the task's lease in this claim's place, or empty.
        is_begun: GitHub was looked at and nothing speaks against it, so it is carried through.
        by: who releases it in the agent's place, or empty.
    """

    at: float
    reason: str = ""
    progress: str = ""
    holder: str = ""
    is_begun: bool = False
    by: str = ""


class Whom(StrEnum):
    """Who or what an open pull request waits for; those who have to do something come first."""

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
    """What is known of the merge of the claim's pull request, as of the last look that read its checks.

    Attributes:
        head: the head at that look.
        standing: how the merge stands, as a verb phrase, or empty.
        awaits: whom it waits for, as `Whom` has it, or empty.
        has_queue: the base takes changes through a merge queue.
        queued: the head that was in the queue when it was first seen there; empty while it is not.
        untested, untested_since: the queue's commit of which no check has begun, and since when.
        ejection, ejected: the last time that it left the queue, and the head that left.
        handed_out: the head that a hand-off took out of the queue.
        auto_on: the head at which auto-merge was seen switched on; empty while it is not.
        is_left_off: somebody switched auto-merge off at the head for which it was on.
        is_ours: auto-merge is on because this claim asked for it.
        asked: the head for which each thing was asked of GitHub, by `AdvancePullRequest.how`.
    """

    head: str = ""
    standing: str = ""
    awaits: str = ""
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


@dataclass(frozen=True, slots=True)
class PullRecord:
    """What is known of the claim's pull request; its number stands in the claim file.

    Attributes:
        url, head: its page, and the commit that GitHub shows as its head.
        opened: the number of the pull request that this claim opened itself.
        checks: the last poll's counts and failing names, if that was of this head; for `status`.
        durations: how many seconds each check took when it last ended, by name.
        announced: the head and the failing checks of the last notice about failures.
        changes_by: who asked for changes in a review that stands.
        is_approved: GitHub's verdict over its reviews, where the base demands one.
        unanswered: in how many conversations about the diff somebody else had the last word.
        merged_into: the base that it merged into, if that is neither the configured nor the default one.
        left_out: how many commits of its branch here were not in it when its merge was seen.
        reviews: what was told of its reviews, as JSON; `feedback/reviews/review_ledger.py` reads it.
        failures: what is known of its red heads, as JSON; `feedback/failures/failure_ledger.py` reads it.
        reruns: runs whose failed jobs are to be run again, each with the attempt that failed.
        tampering: what is taken from its checks since a head of it was red, each in words.
        remarked: how many of these its text has, the first.
        conflicts_with: the base branch that it conflicts with, or empty.
        merging: what is known of its merge.
        reopened: how often it was closed and opened again.
        asked: the merged pull request for which the question about closing was put, or None.
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
    reviews: Mapping[str, Any] = field(default_factory=dict)
    failures: Mapping[str, Any] = field(default_factory=dict)
    reruns: tuple[tuple[int, int], ...] = ()
    tampering: tuple[str, ...] = ()
    remarked: int = 0
    merging: MergeRecord = field(default_factory=MergeRecord)

    def closed(self) -> PullRecord:
        """What is known once it is closed without a merge: nothing stands that is true of an open one."""
        names = ("checks", "changes_by", "is_approved", "conflicts_with", "unanswered", "reruns")
        gone = {name: getattr(PullRecord(), name) for name in names}
        return replace(self, merging=replace(self.merging, standing=""), **gone)

    def at(self, head: str) -> PullRecord:
        """What is known once this is its head: nothing that came of another head's checks."""
        is_of_it = self.checks is None or self.checks.get("sha", head) == head
        merging = self.merging
        if merging.head not in ("", head):
            merging = replace(merging, standing="", awaits="")
        return replace(self, head=head, checks=self.checks if is_of_it else None, merging=merging)

    @property
    def is_unread(self) -> bool:
        """True if checks failed on its head, and nobody has read why: a look that tells it does not."""
        checks = self.checks or {}
        is_red = bool(checks.get("failed")) and checks.get("sha") == self.head
        return is_red and self.failures.get("red") != self.head


@dataclass(frozen=True, slots=True)
class CardAhead:
    """A write of the card that shares a request with the write it follows from; kept before it is sent.

    Attributes:
        wrote: the Status that is written.
        status, agent: what the card had before, to be put back if the other write fails.
    """

    wrote: str
    status: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class CardRecord:
    """What is known of the claim's card on the board.

    Attributes:
        is_known: GitHub confirmed the id that the claim file has for it.
        agent: the Agent value last written to it, or seen on it.
        moved_to: a Status that somebody else set by hand, while that stands.
        leaves_labels: it took the place of the issue's labels, and was not written since.
        ahead: a write of it that may have been made before the claim calls for it, or None.
        is_other: it took the place of a card that names the agent, as where the board is another one.
    """

    is_known: bool = False
    agent: str | None = None
    moved_to: str | None = None
    leaves_labels: bool = False
    ahead: CardAhead | None = None
    is_other: bool = False


@dataclass(frozen=True, slots=True)
class EndingRecord:
    """How the claim ends, and which steps of that are done.

    Attributes:
        consent: who said yes to closing: "prompt", "close", "auto", "nudge: …", or empty.
        override: why it may close without a merge, or empty; lives in phase done only.
        releasing: the task is being released, whatever the phase, or None.
        issue_closed: the issue was closed when it was last seen, whoever closed it.
        open_parts: how many of its sub-issues were open then.
        comment_done, unassigned, board_done, lease_done: the other steps that are done.
        outcome: how the claim ended ("closed", "released"), or empty while it lives.
    """

    consent: str = ""
    override: str = ""
    releasing: Releasing | None = None
    comment_done: bool = False
    issue_closed: bool = False
    open_parts: int = 0
    unassigned: bool = False
    board_done: bool = False
    lease_done: bool = False
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class OwnershipRecord:
    """Whose claim it is, and where it was taken.

    Attributes:
        session: the client's session that claimed or handed off; it alone is woken.
        session_at: when that session became the owner, 0.0 if it made the claim.
        inherited: the session that went on with the claim of one that had ended, until it is told; or "".
        lease: the sha of our lease commit, or empty.
        refs_in: the global id of the repository whose API was found to move the lease's ref, or empty.
        remote, repository: the remote of its lease and branch, and `owner/name` of its issue; empty until
            they are known.
        taken_by: another agent that has the task's lease, or whose name the card shows where ours stood,
            while that lasts.
        is_released: somebody released the task in this claim's place: it writes nothing any more.
        is_doubted: the account is off the issue and no card names an agent: comments are read as well.
        is_leaseless: the remote was seen without a lease of the task, so that anybody may take it.
    """

    session: str = ""
    session_at: float = 0.0
    inherited: str = ""
    lease: str = ""
    refs_in: str = ""
    remote: str = ""
    repository: str = ""
    taken_by: str = ""
    is_released: bool = False
    is_doubted: bool = False
    is_leaseless: bool = False


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """The task of another tracker that stands for the issue.

    Attributes:
        link: that task, or None.
        is_known: that tracker was asked, so that a `link` of None means that there is none.
        left: why the task is not touched any more: it is somebody else's, or gone; or "".
    """

    link: Link | None = None
    is_known: bool = False
    left: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """Who takes a task, and by which attempt, before there is a claim.

    Attributes:
        issue: the task.
        agent: in whose name it is taken.
        nonce: the attempt's random word, which its lease commit has.
        resumes: it goes on with an attempt that was begun here, or with a claim whose file was lost.
        held: the sha of that claim's lease, or "".
        chosen: the linked task, if that was asked for by its id, or None.
        force: it is taken although its Status is not Todo, a dependency is open, or another holds it.
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
        """True if what speaks against it is told, and does not keep from it."""
        return self.force or self.resumes
