"""One worktree at one moment, as values from which every view is drawn; and these as JSON.

Texts that somebody else wrote (titles, names of branches and checks, goals) are one line here, without
secrets and without a character that a terminal would obey. Addresses are http or https, or empty. A
moment is in seconds since the epoch; 0.0 means unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from lifecycle.core.light_dataclass import dataclass, field, fields, is_dataclass
from lifecycle.core.timing import render_time


class PullStanding(StrEnum):
    """A pull request's state, as GitHub last showed it: the worst that is known."""

    UNKNOWN = "unknown"
    """It is open, as far as is known, and its checks were not read yet."""
    UNCHECKED = "unchecked"
    """It was read, and no check has registered yet."""
    RUNNING = "running"
    FAILED = "failed"
    HELD = "held"
    """Checks do not continue by themselves: somebody has to approve, rerun or reveal them."""
    CHANGES = "changes"
    CONFLICT = "conflict"
    PASSED = "passed"
    MERGED = "merged"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class OverviewWorktree:
    """Where it is: `root`, the `clone` that it belongs to, and the checked-out `branch` or ""."""

    root: str
    clone: str
    branch: str


@dataclass(frozen=True, slots=True)
class OverviewClaim:
    """The claim of the worktree.

    Attributes:
        issue: its number, 0 if none is named.
        url: the issue's page.
        title: as it was last seen.
        branch, agent, summary: as in the claim.
        status: the card's.
        phase: the claim's phase.
        is_confirmed: GitHub showed that phase; otherwise it was written by hand and was not judged yet.
        since: when it entered that phase, by the journal.
        taken_at: when it was first seen.
        session: the client's session that it belongs to.
        active_at: the last sign of life of that session.
        is_watched: a process is watching its pull request now.
        is_releasing: it is being released.
        lost: one sentence on why this claim no longer has the task; or "".
        next: one sentence on the next step and who does it.
        linked_task: the task of another tracker that stands for the issue, or "".
    """

    issue: int
    url: str
    title: str
    branch: str
    agent: str
    summary: str
    status: str
    phase: str
    is_confirmed: bool
    since: float
    taken_at: float
    session: str
    active_at: float
    is_watched: bool
    is_releasing: bool
    lost: str
    next: str
    linked_task: str


@dataclass(frozen=True, slots=True)
class OverviewPull:
    """The claim's pull request: its number and page, and its state as GitHub last showed it.

    Attributes:
        number, url, head: its number, its page, and its head commit at that time.
        state: the worst that is known.
        changes_by: who asked for changes.
        conflicts_with: the branch that it conflicts with, or "".
    """

    number: int
    url: str
    head: str
    state: PullStanding
    changes_by: tuple[str, ...] = ()
    conflicts_with: str = ""


@dataclass(frozen=True, slots=True)
class OverviewChecks:
    """The checks of that head, at the last poll.

    Attributes:
        polled_at: when that was.
        passed, running: how many.
        failed, missing, stale, held, hidden: their names.
        line: all of it in one sentence.
    """

    polled_at: float
    passed: int
    running: int
    failed: tuple[str, ...]
    missing: tuple[str, ...]
    stale: tuple[str, ...]
    held: tuple[str, ...]
    hidden: tuple[str, ...]
    line: str


@dataclass(frozen=True, slots=True)
class OverviewStage:
    """One session of the staged workflow: the one that stopped last.

    Attributes:
        session, task: the session's id, and its task's.
        stage: the one of its last instruction, or one set by hand; "" if it got no instruction.
        is_set: the stage was set by hand, and the session gets its instruction at the next stop.
        is_over: its task was completed.
        is_let_go: it was told to continue too often, and is not told any more.
        is_off: the workflow is switched off in this worktree.
        told: how often it was told to continue.
        at: when it last stopped.
    """

    session: str
    task: str
    stage: str
    is_set: bool
    is_over: bool
    is_let_go: bool
    is_off: bool
    told: int
    at: float


@dataclass(frozen=True, slots=True)
class OverviewStory:
    """One story of a run; `met` of its `criteria` are met."""

    id: str
    title: str
    size: str
    status: str
    tdd: str
    iteration: int
    criteria: int
    met: int
    since: float


@dataclass(frozen=True, slots=True)
class OverviewRun:
    """The autonomous run of the worktree.

    Attributes:
        id, goal, phase, status: as in the run.
        why: why it was stopped, or "".
        session: the one that leads it.
        started, completed: when.
        written_at: when its file was written.
        iterations: the stops after which it continued.
        stories: all of them, in their order.
        done: how many are completed.
        blockers: a line for each that nobody resolved.
        pull_url: the page of its pull request.
    """

    id: str
    goal: str
    phase: str
    status: str
    why: str
    session: str
    started: float
    completed: float
    written_at: float
    iterations: int
    stories: tuple[OverviewStory, ...]
    done: int
    blockers: tuple[str, ...]
    pull_url: str


@dataclass(frozen=True, slots=True)
class OverviewPhase:
    """One phase of a workflow; `since` is when it entered that status."""

    title: str
    status: str
    agent: str = ""
    since: float = 0.0


@dataclass(frozen=True, slots=True)
class OverviewWorkflow:
    """The workflow of the worktree that survives compaction.

    Attributes:
        id, name, type, task, status: as in the workflow.
        current: the number of its current phase, from 1; 0 if there is none.
        phases: all of them, in their order.
        reading: what has to be read before work continues, with the @.
        started, updated: when.
        others: the names of further workflows of this worktree.
    """

    id: str
    name: str
    type: str
    task: str
    status: str
    current: int
    phases: tuple[OverviewPhase, ...]
    reading: tuple[str, ...] = ()
    started: float = 0.0
    updated: float = 0.0
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OverviewEvent:
    """One entry of the clone's journal; `what` describes it in words."""

    at: float
    system: str
    task: str
    actor: str
    what: str


@dataclass(frozen=True, slots=True)
class AwaitedPerson:
    """Something that waits for a person: its part, a description, since when, and where to act.

    `part` is the name of the field of `Overview` that it belongs to; `where` is an address or a command.
    """

    part: str
    what: str
    since: float
    where: str = ""


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything about one worktree.

    Attributes:
        at: when it was read.
        worktree: where it is.
        claim, pull, checks, stage, run, workflow: that part; None if there is none.
        waiting: sentences that were not said to anybody yet.
        events: the last entries of the clone's journal about the work here, the newest last; if there is
            no work, about anything.
        awaited: what waits for a person, the longest wait first.
        troubles: for each part that could not be read, one sentence.
    """

    at: float
    worktree: OverviewWorktree
    claim: OverviewClaim | None = None
    pull: OverviewPull | None = None
    checks: OverviewChecks | None = None
    stage: OverviewStage | None = None
    run: OverviewRun | None = None
    workflow: OverviewWorkflow | None = None
    waiting: tuple[str, ...] = ()
    events: tuple[OverviewEvent, ...] = ()
    awaited: tuple[AwaitedPerson, ...] = ()
    troubles: Mapping[str, str] = field(default_factory=dict)

    @property
    def next(self) -> str:
        """The claim's next step, for a person; "" if the claim is lost, or waits for the person."""
        is_told = any(wait.part in ("claim", "pull", "checks") for wait in self.awaited)
        return self.claim.next if self.claim and not (self.claim.lost or is_told) else ""

    @property
    def tasks(self) -> frozenset[str]:
        """The work here, by its names in the journal: issue, tasks, run, workflow."""
        claim, stage = self.claim, self.stage
        ids = {part.id for part in (self.run, self.workflow) if part is not None}
        ids |= {f"#{claim.issue}", claim.linked_task} if claim is not None else set()
        ids |= {stage.task} if stage is not None else set()
        return frozenset(ids - {""})


VERSION = 1
"""The version of the JSON form; it changes when a key is removed or changes its meaning."""


def overview_json(overview: Overview) -> dict[str, Any]:
    """All fields of an overview, by their names.

    A moment is ISO 8601 in UTC; an unknown moment, or an empty text, is null.
    """
    return {"schema_version": VERSION, **_plain(overview)}


def _plain(value: Any) -> Any:
    if isinstance(value, float):  # every one of them is a moment; counts are integers
        return render_time(value) if value else None
    if isinstance(value, str):
        return str(value) or None
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    if is_dataclass(value):
        return {own.name: _plain(getattr(value, own.name)) for own in fields(value)}
    return dict(value) if isinstance(value, dict) else value
