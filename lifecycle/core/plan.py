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
    """A session begins: look whether the pull request was merged; its checks are left to other wakes."""
    TICK = "tick"
    SWEEP = "sweep"
    """A sweep: without a worktree, without memory, and without anybody who hears notices."""


ASKED = frozenset({Wake.TICK, Wake.SWEEP})
"""The wakes by somebody who wants everything that GitHub shows; earlier failures do not delay these."""


class Hooks(StrEnum):
    """What hooks do by themselves for a claim; sentences about it promise no more than that."""

    WATCH = "they watch its pull request, or will from the next stop on"
    STOP = "they act at the stops of a session that nobody attends"
    OVER = "they did, and the session is over, its settings cannot be read, or its token is refused"
    UNSEEN = "none has been seen"


class Audience(StrEnum):
    """Whom a notice is for, and what it asks for; `REPLIES` says in which part of a reply it is sent."""

    ACT = "act"
    """The agent can fix this and should: it continues a stop and wakes an idle session."""
    NEXT = "next"
    """The agent should continue: the new PR. Continues a stop and wakes an idle session."""
    NEWS = "news"
    """News of the pull request: wakes an idle session, never continues a stop."""
    ASK = "ask"
    """The agent must ask the user; kept in state until it is answered."""
    NOTE = "note"
    """For the person only; never worth a turn of the model."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence and the key under which it is said at most once.

    `stands` marks a condition: it is said once while it lasts, and again if it comes back. `ends` names
    events of the same claim whose sentences are no longer true, and need not be said if they still wait.
    `session` is the only session that is told; "" if any is.
    """

    key: str
    text: str
    audience: Audience
    stands: bool = False
    ends: tuple[str, ...] = ()
    session: str = ""

    @property
    def tone(self) -> Audience:
        """The audience, under its former name: deprecated."""
        warnings.warn("Notice.tone is called audience now", DeprecationWarning, stacklevel=2)
        return self.audience


PACKED = ("failed", "ejected", "conflict")
"""Events whose sentences have a packet with details: `app/news_packets.py` knows how to fetch it."""


@dataclass(frozen=True, slots=True)
class ReviewsHeard:
    """A look's findings on a pull request's reviews.

    Attributes:
        known: what to remember, as JSON values.
        notices: what to say.
        papers: files below `.lifecycle/feedback/` that the notices name, each with its text.
        withdrawn: keys of waiting notices that are no longer true; `notices` replaces them.
    """

    known: Mapping[str, Any]
    notices: tuple[Notice, ...] = ()
    papers: tuple[tuple[str, str], ...] = ()
    withdrawn: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FailuresHeard:
    """A look's findings on failed checks.

    Attributes:
        known: what to remember, as JSON values.
        notices: what to say.
        is_settled: the plain sentence on failed checks is not said; another notice or none replaces it.
        is_due: the reasons have to be read again as soon as a look shows failures.
        reruns: runs whose failed jobs have to run again, each with the attempt that failed.
        tampering: how all commits since the first red head weaken the checks, each in words; None if
            the commits were not looked through.
        flakes: checks that failed and passed at the same commit, each with what had failed.
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

    With `draft`, a number: turn that draft, opened by `lifecycle reconcile`, into this pull request.
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
    """Set: the text of the PR refers to the issue; `line` is appended if it does not."""

    number: int
    issue: int
    line: str


AUTO_MERGE, UPDATE_BRANCH = "auto-merge", "update-branch"
AUTO_MERGE_OFF = "no-auto-merge"


@dataclass(frozen=True, slots=True)
class AdvancePullRequest:
    """Set: auto-merge of this head is on, or off, or GitHub merges the base into its branch.

    Attributes:
        how: AUTO_MERGE, AUTO_MERGE_OFF or UPDATE_BRANCH.
        method: the merge method: merge, squash or rebase.
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
    """Set: the failed jobs of a run have run again after this attempt."""

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
    """Set: unassign one account from the issue."""

    issue: int
    login: str


@dataclass(frozen=True, slots=True)
class ReleaseLease:
    """Set: delete the lease ref, provided that it still holds `sha`."""

    issue: int
    sha: str


@dataclass(frozen=True, slots=True)
class LeadLease:
    """Set: the lease `sha` names this branch, for sweeps and takeovers."""

    issue: int
    sha: str
    branch: str


@dataclass(frozen=True, slots=True)
class SetLinked:
    """Set: the linked task of another tracker is in the state `wanted`.

    Attributes:
        tracker: the name of that tracker.
        id: the task's id there.
        wanted: "claimed", "closed" or "released", as in `tracker.Link`.
        reason: why the task is closed.
    """

    tracker: str
    id: str
    wanted: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ForgetClaim:
    """Delete the claim file; the last step of a claim."""


_OnPull = LinkPullRequest | RemarkOnPull | RerunJobs | AdvancePullRequest
PlainAction = _OnPull | PostComment | CloseIssue | Unassign | ReleaseLease | ForgetClaim
"""Actions whose success is fully described by the action: their fact is `Done`."""

Action = OpenPullRequest | AddToBoard | SetBoard | LeadLease | SetLinked | PlainAction


@dataclass(frozen=True, slots=True)
class Intended:
    """A create that GitHub does not deduplicate is about to be sent; this is committed before."""

    action: OpenPullRequest | PostComment


@dataclass(frozen=True, slots=True)
class PullRequestOpened:
    """The pull request exists."""

    pull_request: PullRequest


@dataclass(frozen=True, slots=True)
class Done:
    """The action was done, or its result was true already: then, if that was noticed, not `is_new`."""

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
    """The claim's lease has this commit from now on."""

    sha: str


@dataclass(frozen=True, slots=True)
class LinkedIs:
    """The state of the linked task now.

    Attributes:
        synced: "claimed", "closed" or "released"; "" or "left" if it was left as it is.
        left: why it was left: who holds it, or that it is closed or gone; "" if it was not left.
    """

    id: str
    synced: str
    left: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """The action failed, or it is unknown whether it succeeded."""

    action: Action
    error: LifecycleError


Fact = Intended | PullRequestOpened | Done | OnBoard | BoardIs | LeaseIs | LinkedIs | Failed


class ReplyPlace(StrEnum):
    """The parts of a reply that can hold a sentence, and whom each part reaches."""

    REASON = "decision: block, reason"
    """The model; the turn continues."""
    CONTEXT = "additionalContext"
    """The model. At Stop the turn continues as well; elsewhere it costs no turn of its own."""
    PERSON = "systemMessage"
    """Only the user."""
    WAKE = "stderr and exit 2"
    """The model, in a turn of its own (needs `asyncRewake`)."""


class StopVerdict(StrEnum):
    """What a part of the product wants to happen at a stop."""

    PASS = "pass"  # noqa: S105 -- a word, no secret
    """It has nothing to say."""
    BLOCK = "block"
    """The agent continues."""
    LET_GO = "let_go"
    """The agent stops, even if there is something to tell it."""


@dataclass(frozen=True, slots=True)
class StopWord:
    """What a part of the product says at a stop.

    Attributes:
        verdict: what the part wants to happen.
        reason: lines for the agent, which continues with them.
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
        places: the part of the reply for each audience that it can deliver to; notices for other
            audiences stay on the queue.
        also: other events that it hears.
        alone: the parts for further audiences in an unattended session, which has no waiter for them.
    """

    event: str
    places: Mapping[Audience, ReplyPlace]
    also: tuple[str, ...] = ()
    alone: Mapping[Audience, ReplyPlace] = field(default_factory=dict)


_WAKES = dict.fromkeys((Audience.ACT, Audience.NEXT, Audience.NEWS, Audience.ASK), ReplyPlace.WAKE)
_TO_PERSON = {Audience.NOTE: ReplyPlace.PERSON}
_CONTEXT = dict.fromkeys(_WAKES, ReplyPlace.CONTEXT) | _TO_PERSON

REPLIES: dict[str, Channel] = {
    # Continuing a turn costs a model call: only the new PR and what the agent can fix are worth it.
    "on-stop": Channel(
        "Stop",
        {Audience.ACT: ReplyPlace.REASON, Audience.NEXT: ReplyPlace.CONTEXT, **_TO_PERSON},
        # No waiter was started, and after the last stop the client is gone: said now, or to nobody.
        alone=dict.fromkeys((Audience.NEWS, Audience.ASK), ReplyPlace.CONTEXT),
    ),
    # In the background: the client drops its stdout, and exit 2 wakes the idle session.
    "ci-waiter": Channel("Stop", _WAKES, also=("SessionStart",)),
    # Nothing printed on stdout reaches anybody; exit 2 of an asyncRewake hook wakes the session.
    "on-idle": Channel("Notification", _WAKES),
    # Context at the start of a session; it cannot block, and everything that waits belongs here.
    "session-start": Channel("SessionStart", _CONTEXT),
    # After `/clear` nothing that is printed starts a turn; exit 2 of an asyncRewake hook does.
    "on-clear": Channel("SessionStart", {}),
    # Context beside the user's own words: the cheapest moment of all, since a turn begins anyway.
    "user-prompt-submit": Channel("UserPromptSubmit", _CONTEXT),
    # Before an edit: test-driven development may warn about the edit, or refuse it.
    "pre-tool-use": Channel("PreToolUse", {}),
    # It takes note of test runs, and has nothing to say: the agent is at work.
    "post-tool-use": Channel("PostToolUse", {}, also=("PostToolUseFailure",)),
    # An agent was launched, failed to start, or has ended: a phase of the workflow moves; nobody is told.
    "workflow-agent": Channel("PostToolUse", {}, also=("PostToolUseFailure", "SubagentStop")),
    # Plain text is added to the summariser's instructions; JSON would be an error there.
    "pre-compact": Channel("PreCompact", {}),
    # Nobody listens any more.
    "session-end": Channel("SessionEnd", {}),
}
"""Hook entrypoint → its channel: which sentence reaches whom, and in which part of the reply."""
