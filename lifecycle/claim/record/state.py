"""The claim's record: what the engine remembers beside the file, and how a fact changes it.

The record is a value. `fold` returns the next one; the engine commits it after each fact, so that a
crash costs at most the fact that was under way, and the next look learns that again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, TypedDict, assert_never

from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.record.claim_file import Claim
from lifecycle.core import plan
from lifecycle.core.errors import Transient
from lifecycle.core.tracker import Link
from lifecycle.core.values.priorities import Status

PAST_LIMIT = 24
"""How many earlier projections are kept as possible merge bases."""

RETRY_SECONDS = 60.0
"""How long a failed write waits if the server named no time."""

REFUSED_SECONDS = 600.0
REFUSED_PR_SECONDS = 120.0
"""How long a refused write waits if nothing that we can see changes: permissions are granted, a pull
request's branch is pushed, and GitHub may lag."""

BEST_EFFORT_TRIES = 3
"""Transient failures of the board or the lease after which closing goes on without it."""

NUDGES_KEPT = 20
"""How many moves by hand a record remembers, the newest."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why an action did not come about, so that it is not tried at every wake.

    Attributes:
        mark: what was tried; another mark is another attempt and not held back.
        sentence: what to tell a person.
        until: when to try again.
        tries: how often it failed in a row.
        is_final: somebody said no; otherwise nobody knows, and it is silently tried again.
        for_agent: the agent can mend it.
        is_of_access: it hangs on the token, so that another token is another attempt.
    """

    mark: str
    sentence: str
    until: float
    tries: int = 1
    is_final: bool = False
    for_agent: bool = False
    is_of_access: bool = False


@dataclass(frozen=True, slots=True)
class Intent:
    """A create that was about to be sent at `at`, and in how many clean reads it was missing."""

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
    """A claim that is on its way back, from the command until the claim file is gone.

    Attributes:
        at: when it was asked for, in seconds since the epoch: tells this release from every other.
        reason: why, as the person or the agent said it, or empty.
        progress: how far the work got, in words for the issue.
        holder: who holds the task's lease in this claim's place, or empty.
        is_begun: GitHub was looked at and nothing speaks against it, so it is carried through.
        by: who gives it back in the agent's place, or empty.
    """

    at: float
    reason: str = ""
    progress: str = ""
    holder: str = ""
    is_begun: bool = False
    by: str = ""


class ClaimChanges(TypedDict, total=False):
    """Fields of the claim file that a decision or a fact sets."""

    item_id: str | None
    pr_number: int | None
    branch: str
    agent_id: str
    phase: str
    summary: str
    status: str
    last_check_poll: str | None
    last_synced_status: str | None


class RecordChanges(TypedDict, total=False):
    """Fields of the record that a decision or an observation sets."""

    is_item_known: bool
    synced_agent: str | None
    moved_to: str | None
    pr_url: str
    pr_head: str
    opened: int | None
    checks: Mapping[str, Any] | None
    comment_done: bool
    issue_closed: bool
    board_done: bool
    lease_done: bool
    leaves_labels: bool
    override: str
    taken_by: str
    given_back: bool
    doubted: bool
    reopened: int
    intents: Mapping[str, Intent]
    troubles: Mapping[str, Trouble]
    judged: str
    asked_pr: int | None
    consent: str
    changes_by: tuple[str, ...]
    conflicts_with: str
    told: Mapping[str, Any] | None
    durations: Mapping[str, float]
    releasing: Releasing | None
    unassigned: bool


@dataclass(frozen=True, slots=True)
class Record:
    """One claim as the engine remembers it.

    Attributes:
        values: the claim's fields as the engine wants them in the file.
        past: projections that were in the file, oldest first; the last is the newest.
        created_at: when this claim was first seen.
        is_item_known: the board item id was confirmed by GitHub.
        synced_agent: the Agent value last written to, or seen on, the board.
        moved_to: a Status that somebody else set by hand, while that stands.
        pr_url, pr_head: of the pull request that `pr_number` names.
        opened: the number of the pull request that this claim opened.
        checks: the last poll's counts and failing names, for `status`.
        comment_done, issue_closed, board_done, lease_done: steps of closing that are facts.
        lease: the sha of our lease commit, or empty.
        override: why the claim may close without a merge, or empty; lives in phase done only.
        leaves_labels: the card took the place of the issue's labels, and was not written since.
        taken_by: another agent whose name the card shows where ours stood, while that lasts.
        given_back: somebody gave the task back in this claim's place: it writes nothing any more.
        doubted: the account is off the issue and no card names an agent: comments are read as well.
        reopened: how often the pull request was closed and opened again.
        title: the issue's, as it was last seen, for the journal; "" if nobody saw it.
        is_taken: `lifecycle claim` made this claim, so that `created_at` is when it was made.
        touched: the claim file's mtime when the last look ended; another one is another attempt.
        intents: by kind, creates whose outcome is not known.
        troubles: by kind, actions that failed.
        judged: the phase that GitHub confirmed last.
        session: the client's session that claimed or handed off; it alone is woken.
        session_at: when that session became the owner, 0.0 if it made the claim.
        inherited: the session that went on with the claim of one that was over, until it was told; or "".
        asked_pr: the merged pull request for which the question about closing was put, or None.
        consent: who said yes to closing: "prompt", "close", "auto", "nudge: …", or empty.
        changes_by: who asked for changes in a review that stands.
        conflicts_with: the base branch that the pull request conflicts with, or empty.
        told: the head and the failing checks that were last spoken of.
        durations: how many seconds each check took when it last ended, by name.
        nudges: the moves that were made by hand, oldest first, at most NUDGES_KEPT.
        releasing: the task is being given back, whatever the phase, or None.
        unassigned: the assignee is off the issue: a step of giving back that is a fact.
        link: the task of another tracker that stands for the issue, or None.
        is_link_known: that tracker was asked; None is an answer then.
        link_left: why the linked task is not touched any more: it is somebody else's, or gone; or "".
        remote, repository: where it was taken: the remote of its lease and branch, and `owner/name` of its
            issue; empty until they are known.
        outcome: how the claim ended ("closed", "released"), or empty while it lives.
    """

    values: Mapping[str, Any]
    past: tuple[Mapping[str, Any], ...] = ()
    created_at: float = 0.0
    is_item_known: bool = False
    synced_agent: str | None = None
    moved_to: str | None = None
    pr_url: str = ""
    pr_head: str = ""
    opened: int | None = None
    checks: Mapping[str, Any] | None = None
    comment_done: bool = False
    issue_closed: bool = False
    board_done: bool = False
    lease: str = ""
    lease_done: bool = False
    leaves_labels: bool = False
    override: str = ""
    taken_by: str = ""
    given_back: bool = False
    doubted: bool = False
    reopened: int = 0
    title: str = ""
    is_taken: bool = False
    touched: int = 0
    intents: Mapping[str, Intent] = field(default_factory=dict)
    troubles: Mapping[str, Trouble] = field(default_factory=dict)
    judged: str = ""
    session: str = ""
    session_at: float = 0.0
    inherited: str = ""
    asked_pr: int | None = None
    consent: str = ""
    changes_by: tuple[str, ...] = ()
    conflicts_with: str = ""
    told: Mapping[str, Any] | None = None
    durations: Mapping[str, float] = field(default_factory=dict)
    nudges: tuple[Nudge, ...] = ()
    releasing: Releasing | None = None
    unassigned: bool = False
    link: Link | None = None
    is_link_known: bool = False
    link_left: str = ""
    remote: str = ""
    repository: str = ""
    outcome: str = ""

    @property
    def claim(self) -> Claim:
        """The typed view of `values`."""
        return Claim.of(self.values)

    @property
    def key(self) -> str:
        """What tells one claim from another: its issue and its branch."""
        return f"{self.claim.issue_number}:{self.claim.branch}"

    @property
    def claim_key(self) -> str:
        """Under which the ledger keeps what was said of this claim, and of no later one."""
        return f"{self.claim.issue_number}@{int(self.created_at)}"

    @property
    def is_inherited(self) -> bool:
        """True if its session goes on with what another one began, and was not told yet."""
        return bool(self.inherited) and self.inherited == self.session

    @property
    def end(self) -> str:
        """The outcome that this claim will have when its file is gone."""
        return "released" if self.releasing is not None else "closed"

    def with_values(self, values: Mapping[str, object]) -> Record:
        """The record with some claim fields set."""
        return replace(self, values={**self.values, **values})

    def projected(self, values: Mapping[str, Any] | None = None) -> Record:
        """The record once `values` (its own unless given) are in the file: the newest merge base."""
        content = dict(self.values if values is None else values)
        if self.past and self.past[-1] == content:
            return self
        return replace(self, past=(*self.past, content)[-PAST_LIMIT:])

    def due(self) -> float | None:
        """The earliest moment at which a failed action wants to be tried again."""
        return min((trouble.until for trouble in self.troubles.values()), default=None)

    def without_troubles(self, *, only_final: bool = False) -> Record:
        """The record with nothing held back (or, `only_final`, no refusal)."""
        kept = {k: t for k, t in self.troubles.items() if only_final and not t.is_final}
        return replace(self, troubles=kept)

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Record:
        """The record that `as_json` gave; keys of another version are dropped."""
        known = {f.name for f in fields(cls)}
        kept = {name: value for name, value in data.items() if name in known}
        for name in ("past", "changes_by"):
            kept[name] = tuple(kept.get(name, ()))
        kept["intents"] = {k: Intent(**v) for k, v in kept.get("intents", {}).items()}
        kept["troubles"] = {k: Trouble(**v) for k, v in kept.get("troubles", {}).items()}
        kept["nudges"] = tuple(Nudge(**nudge) for nudge in kept.get("nudges", ()))
        if kept.get("releasing"):
            kept["releasing"] = Releasing(**kept["releasing"])
        if kept.get("link"):
            kept["link"] = Link(**kept["link"])
        return cls(**kept)


def is_same(one: str | None, other: str | None) -> bool:
    """True if two option names are one option: the board is matched without regard to case."""
    return (one or "").casefold() == (other or "").casefold()


def kind_of(action: plan.Action) -> str:
    """The name under which an action's intent and trouble are kept."""
    return type(action).__name__


def mark_of(action: plan.Action) -> str:
    """What makes one attempt of an action differ from another."""
    match action:
        case plan.PostComment():
            return action.marker
        case plan.OpenPullRequest():
            return f"{action.head.partition(':')[2]}@{action.pushed}: {action.title}"
        case _:
            return repr(action)


def fold(record: Record, fact: plan.Fact, now: float) -> Record:
    """The record after a fact. Pure."""
    match fact:
        case plan.Intended():
            intent = Intent(mark_of(fact.action), now)
            return replace(record, intents={**record.intents, kind_of(fact.action): intent})
        case plan.PullRequestOpened():
            return _settled(with_pull_request(record, fact), "OpenPullRequest")
        case plan.PullRequestLinked():
            return _settled(record, "LinkPullRequest")
        case plan.OnBoard():
            return _settled(_on_board(record, fact), "AddToBoard")
        case plan.BoardIs():
            return _settled(_with_board(record, fact), "SetBoard")
        case plan.Commented() | plan.IssueClosed() | plan.Unassigned() | plan.LeaseReleased():
            return _stepped(record, fact)
        case plan.LinkedIs():
            return _settled(_with_link(record, fact), "SetLinked")
        case plan.ClaimForgotten():
            return replace(record, outcome=record.end)
        case plan.Failed():
            return _failed(record, fact, now)
        case _:
            assert_never(fact)


_STEPS = {
    plan.Commented: ("comment_done", "PostComment"),
    plan.IssueClosed: ("issue_closed", "CloseIssue"),
    plan.Unassigned: ("unassigned", "Unassign"),
    plan.LeaseReleased: ("lease_done", "ReleaseLease"),
}
"""For each step of an ending: the field that says it is a fact, and the action that made it one."""


def _stepped(
    record: Record,
    fact: plan.Commented | plan.IssueClosed | plan.Unassigned | plan.LeaseReleased,
) -> Record:
    done, kind = _STEPS[type(fact)]
    steps: dict[str, Any] = {done: True}
    return _settled(replace(record, **steps), kind)


def _with_link(record: Record, fact: plan.LinkedIs) -> Record:
    if record.link is None or record.link.id != fact.id:
        return record
    link = replace(record.link, synced=fact.synced or record.link.synced)
    return replace(record, link=link, link_left=fact.left)


def _on_board(record: Record, fact: plan.OnBoard) -> Record:
    return replace(record.with_values({"item_id": fact.item.id}), is_item_known=True)


def with_pull_request(record: Record, fact: plan.PullRequestOpened) -> Record:
    """The record once its pull request is known: number, phase and status in one step."""
    pull = fact.pull_request
    values = {"pr_number": pull.number, "phase": Phase.PR_CREATED.value, "status": Status.IN_REVIEW}
    return replace(
        record.with_values(values),
        pr_url=pull.url,
        pr_head=pull.head_sha,
        opened=pull.number,
        judged=Phase.PR_CREATED.value,
        checks=None,
    )


def _with_board(record: Record, fact: plan.BoardIs) -> Record:
    values: dict[str, Any] = {"item_id": fact.item.id}
    if fact.wrote_status is not None:
        values["last_synced_status"] = fact.wrote_status
    is_done = record.claim.phase == Phase.DONE and is_same(fact.wrote_status, Status.DONE)
    # While a claim is given back, its one write of the card is all that the card gets.
    is_done = is_done or (record.releasing is not None and record.releasing.is_begun)
    return replace(
        record.with_values(values),
        is_item_known=True,
        leaves_labels=False,
        moved_to=None if fact.wrote_status is not None else record.moved_to,
        synced_agent=fact.wrote_agent if fact.wrote_agent is not None else record.synced_agent,
        board_done=record.board_done or is_done,
    )


def _settled(record: Record, kind: str) -> Record:
    return replace(
        record,
        intents={k: v for k, v in record.intents.items() if k != kind},
        troubles={k: v for k, v in record.troubles.items() if k != kind},
    )


def _failed(record: Record, fact: plan.Failed, now: float) -> Record:
    kind, mark, error = kind_of(fact.action), mark_of(fact.action), fact.error
    before = record.troubles.get(kind)
    tries = before.tries + 1 if before and before.mark == mark else 1
    until = now + (REFUSED_PR_SECONDS if kind == "OpenPullRequest" else REFUSED_SECONDS)
    is_ambiguous = False
    if isinstance(error, Transient):
        until = now + (error.retry_after or RETRY_SECONDS)
        is_ambiguous = error.is_ambiguous
    intents = dict(record.intents)
    if not is_ambiguous:
        intents.pop(kind, None)  # a clear no: nothing was made, so nothing has to be looked for
    is_final = not isinstance(error, Transient)
    trouble = Trouble(
        mark, error.sentence, until, tries, is_final, error.for_agent, error.is_of_access
    )
    return replace(record, intents=intents, troubles={**record.troubles, kind: trouble})
