"""What a decision is made of: actions to take, facts that come back, sentences to say, and to whom.

`decide` returns a `Decision`; the engine acts on it, folds the resulting `Fact` into the record,
commits, and asks again until nothing is left to do.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from lifecycle.core.light_dataclass import dataclass, field

if TYPE_CHECKING:
    from lifecycle.core.errors import LifecycleError
    from lifecycle.core.values.model import BoardItem, MergeMethod, PullRequest


class Wake(StrEnum):
    """Who woke the engine. A wake only says "look"; it carries no news."""

    STOP = "stop"
    IDLE = "idle"
    START = "start"
    """A session begins: whether the pull request was merged meanwhile; its checks are left to others."""
    TICK = "tick"
    SWEEP = "sweep"
    """A look from afar: no worktree, no memory, and nobody who hears what there is to say."""


ASKED = frozenset({Wake.TICK, Wake.SWEEP})
"""Somebody wants all that GitHub shows, and nothing earlier holds it back."""


class Hooks(StrEnum):
    """What hooks do by themselves for a claim: what is told of it promises no more."""

    WATCH = "they watch its pull request, or will from the next stop on"
    STOP = "they act at the stops of a session that nobody attends"
    OVER = "they did, and the session is over, its settings cannot be read, or its token is refused"
    UNSEEN = "none has been seen"


class Audience(StrEnum):
    """Whom a notice is for, and what it wants; `REPLIES` says by which part of a reply it goes."""

    ACT = "act"
    """The agent can mend this and should: it continues a stop and wakes an idle session."""
    NEXT = "next"
    """The agent goes on from here: the new PR. Continues a stop and wakes an idle session."""
    NEWS = "news"
    """What the pull request went through: wakes an idle session, never continues a stop."""
    ASK = "ask"
    """The agent must ask the user; kept in state until it is answered."""
    NOTE = "note"
    """For the person alone; never worth a turn of the model."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence and the key under which it is said at most once.

    `stands` marks a condition: it is said once while it lasts, and again if it comes back. `ends` names
    the events of the same claim whose sentences are not true any more, and need not be said if they
    still wait.
    """

    key: str
    text: str
    audience: Audience
    stands: bool = False
    ends: tuple[str, ...] = ()

    @property
    def tone(self) -> Audience:
        """The audience, by the name that it had: deprecated."""
        warnings.warn("Notice.tone is called audience now", DeprecationWarning, stacklevel=2)
        return self.audience


PACKED = ("failed", "ejected", "conflict")
"""Events whose sentences have a packet that tells more: `app/news_packets.py` knows what fetches it."""


@dataclass(frozen=True, slots=True)
class ReviewsHeard:
    """What a look heard of a pull request's reviews.

    Attributes:
        known: what is to be remembered, as JSON values.
        notices: what is to be said.
        papers: files below `.lifecycle/feedback/` that the notices name, each with its text.
        withdrawn: keys of notices that wait and are not true any more: `notices` has what still is.
    """

    known: Mapping[str, Any]
    notices: tuple[Notice, ...] = ()
    papers: tuple[tuple[str, str], ...] = ()
    withdrawn: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FailuresHeard:
    """What a look heard of failed checks.

    Attributes:
        known: what is to be remembered, as JSON values.
        notices: what is to be said.
        is_settled: that checks failed is said in another way, or not at all: not by the plain sentence.
        is_due: what failed is to be read again as soon as a look shows it failed.
        reruns: runs whose failed jobs are to be run again, each with the attempt that failed.
        tampering: what all commits since the first red head take from the checks, each in words; None if
            that was not looked through.
        flakes: checks that failed and passed at one commit, each with what had failed.
    """

    known: Mapping[str, Any]
    notices: tuple[Notice, ...] = ()
    is_settled: bool = False
    is_due: bool = False
    reruns: tuple[tuple[int, int], ...] = ()
    tampering: tuple[str, ...] | None = None
    flakes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class OpenPullRequest:
    """Create: open the PR. `head` is `owner:branch`; `pushed` is the commit last seen pushed.

    With `draft`, a number: make that draft, which `lifecycle reconcile` opened, what would be opened.
    """

    head: str
    base: str
    title: str
    issue: int
    pushed: str = ""
    is_draft: bool = False
    draft: int = 0


@dataclass(frozen=True, slots=True)
class LinkPullRequest:
    """Set: the text of the PR refers to the issue; `line` is added if it does not."""

    number: int
    issue: int
    line: str


AUTO_MERGE, UPDATE_BRANCH = "auto-merge", "update-branch"
AUTO_MERGE_OFF = "no-auto-merge"


@dataclass(frozen=True, slots=True)
class AdvancePullRequest:
    """Set: GitHub merges this head by itself, does not any more, or merges the base into its branch.

    Attributes:
        how: AUTO_MERGE, AUTO_MERGE_OFF or UPDATE_BRANCH.
        method: how it is merged: merge, squash or rebase.
    """

    number: int
    head: str
    how: str
    method: MergeMethod = "merge"


@dataclass(frozen=True, slots=True)
class RemarkOnPull:
    """Set: the text of the PR has this remark; the hidden `mark` finds it again."""

    number: int
    remark: str
    mark: str


@dataclass(frozen=True, slots=True)
class RerunJobs:
    """Set: the failed jobs of a run are run again after this attempt of it."""

    run: int
    attempt: int


@dataclass(frozen=True, slots=True)
class AddToBoard:
    """Set: the issue has a card; `issue_id` is its global id."""

    issue: int
    issue_id: str


@dataclass(frozen=True, slots=True)
class SetBoard:
    """Set: write Status and Agent of one item."""

    item_id: str
    status: str | None
    agent: str | None
    clear_agent: bool = False


@dataclass(frozen=True, slots=True)
class PostComment:
    """Create: post a comment; `marker` is hidden in `body` and finds it again."""

    issue: int
    body: str
    marker: str


@dataclass(frozen=True, slots=True)
class CloseIssue:
    """Set: close the issue as completed."""

    issue: int


@dataclass(frozen=True, slots=True)
class Unassign:
    """Set: take one assignee off the issue."""

    issue: int
    login: str


@dataclass(frozen=True, slots=True)
class ReleaseLease:
    """Set: delete the lease ref, provided that it still holds `sha`."""

    issue: int
    sha: str


@dataclass(frozen=True, slots=True)
class LeadLease:
    """Set: the lease `sha` names this branch, by which sweeps and takeovers go."""

    issue: int
    sha: str
    branch: str


@dataclass(frozen=True, slots=True)
class SetLinked:
    """Set: the task of another tracker that stands for the issue is `wanted`.

    Attributes:
        tracker: the name of that tracker.
        id: the task there.
        wanted: "claimed", "closed" or "released", as in `tracker.Link`.
        reason: why it is closed.
    """

    tracker: str
    id: str
    wanted: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ForgetClaim:
    """Delete the claim file; the last step of a claim."""


PlainAction = (
    LinkPullRequest
    | RemarkOnPull
    | RerunJobs
    | AdvancePullRequest
    | PostComment
    | CloseIssue
    | Unassign
    | ReleaseLease
    | ForgetClaim
)
"""What comes about as it says, so that nothing else is to be known of it afterwards."""

Action = OpenPullRequest | AddToBoard | SetBoard | LeadLease | SetLinked | PlainAction


@dataclass(frozen=True, slots=True)
class Intended:
    """A create that GitHub does not deduplicate is about to be sent; committed before it is."""

    action: OpenPullRequest | PostComment


@dataclass(frozen=True, slots=True)
class PullRequestOpened:
    """The pull request exists."""

    pull_request: PullRequest


@dataclass(frozen=True, slots=True)
class Done:
    """The action came about, or what it wants was true already; then it may be seen not to be `is_new`."""

    action: PlainAction
    is_new: bool = True


@dataclass(frozen=True, slots=True)
class OnBoard:
    """The issue has this card."""

    item: BoardItem


@dataclass(frozen=True, slots=True)
class BoardIs:
    """The card as GitHub's answer to our write shows it, and what was written."""

    item: BoardItem
    wrote_status: str | None
    wrote_agent: str | None


@dataclass(frozen=True, slots=True)
class LeaseIs:
    """The claim's lease has this commit from here on."""

    sha: str


@dataclass(frozen=True, slots=True)
class LinkedIs:
    """What is true of the linked task now.

    Attributes:
        synced: "claimed", "closed" or "released"; "" or "left" if it was left as it is.
        left: why it was left: whose it is, or that it is closed or gone; "" if it was not.
    """

    id: str
    synced: str
    left: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """The action did not come about, or nobody knows whether it did."""

    action: Action
    error: LifecycleError


Fact = Intended | PullRequestOpened | Done | OnBoard | BoardIs | LeaseIs | LinkedIs | Failed


class ReplyPlace(StrEnum):
    """Where in a reply a sentence can stand, and whom it reaches there."""

    REASON = "decision: block, reason"
    """The model; the turn goes on."""
    CONTEXT = "additionalContext"
    """The model. At Stop the turn goes on as well; elsewhere it costs no turn of its own."""
    PERSON = "systemMessage"
    """The user alone."""
    WAKE = "stderr and exit 2"
    """The model, in a turn of its own (needs `asyncRewake`)."""


class StopVerdict(StrEnum):
    """What a part of the product wants of a stop."""

    PASS = "pass"  # noqa: S105 -- a word, no secret
    """It has nothing to say."""
    BLOCK = "block"
    """The agent goes on."""
    LET_GO = "let_go"
    """The agent stops, whatever else there is to tell it."""


@dataclass(frozen=True, slots=True)
class StopWord:
    """What a part of the product says at a stop.

    Attributes:
        verdict: what it wants.
        reason: lines for the agent, which goes on with them.
        person: lines for the user.
    """

    verdict: StopVerdict = StopVerdict.PASS
    reason: tuple[str, ...] = ()
    person: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Channel:
    """One hook entrypoint's row of the reply table.

    Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks.

    Attributes:
        event: the client's name of the event.
        places: where the notices of each audience that it can deliver go; those of one that is not named
            stay on the queue.
        also: other events that it hears.
        alone: where those of further audiences go while nobody attends, and so nobody waits for them.
    """

    event: str
    places: Mapping[Audience, ReplyPlace]
    also: tuple[str, ...] = ()
    alone: Mapping[Audience, ReplyPlace] = field(default_factory=dict)


_WAKES = dict.fromkeys((Audience.ACT, Audience.NEXT, Audience.NEWS, Audience.ASK), ReplyPlace.WAKE)
_CONTEXT = {
    **dict.fromkeys((Audience.ACT, Audience.NEXT, Audience.NEWS, Audience.ASK), ReplyPlace.CONTEXT),
    Audience.NOTE: ReplyPlace.PERSON,
}

REPLIES: dict[str, Channel] = {
    # A continued turn costs a model call: only the new PR and what the agent can mend are worth it.
    "on-stop": Channel(
        "Stop",
        {
            Audience.ACT: ReplyPlace.REASON,
            Audience.NEXT: ReplyPlace.CONTEXT,
            Audience.NOTE: ReplyPlace.PERSON,
        },
        # No waiter was started, and after the last stop the client is gone: said now, or to nobody.
        alone=dict.fromkeys((Audience.NEWS, Audience.ASK), ReplyPlace.CONTEXT),
    ),
    # In the background: what it prints on stdout is dropped, and exit 2 wakes the idle session.
    "ci-waiter": Channel("Stop", _WAKES, also=("SessionStart",)),
    # Nothing printed on stdout reaches anybody; exit 2 of an asyncRewake hook wakes the session.
    "on-idle": Channel("Notification", _WAKES),
    # Context at the start of a session; it cannot block, and everything that waits belongs here.
    "session-start": Channel("SessionStart", _CONTEXT),
    # After `/clear` nothing that is printed starts a turn; exit 2 of an asyncRewake hook does.
    "on-clear": Channel("SessionStart", {}),
    # Context beside the user's own words: the cheapest moment of all, since a turn begins anyway.
    "user-prompt-submit": Channel("UserPromptSubmit", _CONTEXT),
    # Before an edit: what red and green ask for, told or refused.
    "pre-tool-use": Channel("PreToolUse", {}),
    # It takes note of test runs, and has nothing to say: the agent is at work.
    "post-tool-use": Channel("PostToolUse", {}, also=("PostToolUseFailure",)),
    # An agent was launched, could not be, or has ended: a phase of the workflow moves, and nobody is told.
    "workflow-agent": Channel("PostToolUse", {}, also=("PostToolUseFailure", "SubagentStop")),
    # Plain text is added to what the summariser is told; JSON is an error there.
    "pre-compact": Channel("PreCompact", {}),
    # Nobody listens any more.
    "session-end": Channel("SessionEnd", {}),
}
"""Hook entrypoint → its channel: which sentence reaches whom, and by what part of the reply."""
