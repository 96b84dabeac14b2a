"""What a sweep finds: the table of kinds, one finding, and the report of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from lifecycle.core.timing import render_time
from lifecycle.core.values.model import PullRequest
from lifecycle.git.lease import ref_of
from lifecycle.reconcile.inferred import InferredTask

_HOUR = 3600
_MINUTE = 60


def of(kind: str, task: InferredTask, now: float) -> str:
    """The evidence for a finding of this kind; `kind` is a key of KINDS."""
    return _SENTENCES[kind](task, now)


def _merged_open(task: InferredTask, _now: float) -> str:
    pull = _pull(task)
    merged = f"PR #{pull.number} ({pull.branch}) merged{_at(pull.merged_at)}"
    return f"{merged}; #{_number(task)} is open; {_leased(task)}."


def _closed_on_board(task: InferredTask, _now: float) -> str:
    return f"#{_number(task)} was closed{_at(task.issue.closed_at)}; {_card(task)}."


def _pull_closed(task: InferredTask, _now: float) -> str:
    pull = _pull(task)
    return f"PR #{pull.number} was closed without a merge{_at(pull.closed_at)}; {_card(task)}."


def _status_drift(task: InferredTask, _now: float) -> str:
    return f"{_state(task)}; {_card(task)}."


def _agent_drift(task: InferredTask, _now: float) -> str:
    return f"{_held(task)}; {_card(task)}."


def _assigned_todo(task: InferredTask, _now: float) -> str:
    people = ", ".join(task.issue.assignees)
    return f"Assigned to {people}{_at(task.started_at)}; {_card(task)}."


def _off_board(task: InferredTask, _now: float) -> str:
    return f"{_held(task)}; #{_number(task)} has no card."


def _unlinked(task: InferredTask, _now: float) -> str:
    pull = _pull(task)
    return f"PR #{pull.number} is open for {pull.branch}; it does not mention #{_number(task)}."


def _branch_without_pull(task: InferredTask, _now: float) -> str:
    tip = task.tip
    pushed = f" ({tip.sha[:7]}, committed{_at(tip.at)})" if tip is not None else ""
    return f"{task.branch} is pushed{pushed}; it has no pull request."


def _silent(task: InferredTask, now: float) -> str:
    sign = task.last_sign
    ago = f"{_span(now - sign)} ago" if sign is not None else "unknown"
    return f"{_leased(task)}; {_state(task)}; the last sign of life: {ago}."


def _lease_left(task: InferredTask, _now: float) -> str:
    return f"#{_number(task)} was closed{_at(task.issue.closed_at)}; {_leased(task)}."


def _moved_by_hand(task: InferredTask, _now: float) -> str:
    return f"{_card(task)}; {_state(task)}{_at(task.happened_at, before=' since')}."


def _unassigned(task: InferredTask, _now: float) -> str:
    people = ", ".join(task.issue.assignees) or "nobody"
    return f"{_leased(task)}; assigned: {people}."


_SENTENCES: dict[str, Callable[[InferredTask, float], str]] = {
    "merged-open": _merged_open,
    "closed-on-board": _closed_on_board,
    "pull-closed": _pull_closed,
    "status-drift": _status_drift,
    "agent-drift": _agent_drift,
    "assigned-todo": _assigned_todo,
    "off-board": _off_board,
    "unlinked": _unlinked,
    "branch-without-pull": _branch_without_pull,
    "silent": _silent,
    "lease-left": _lease_left,
    "moved-by-hand": _moved_by_hand,
    "unassigned": _unassigned,
}


def _number(task: InferredTask) -> int:
    return task.issue.number


def _pull(task: InferredTask) -> PullRequest:
    if task.pull is None:
        raise ValueError(f"{task.repository}#{task.issue.number} has no pull request of its own")
    return task.pull


def _state(task: InferredTask) -> str:
    """What became of the work, as far as GitHub shows."""
    if not task.issue.is_open:
        return f"#{task.issue.number} is closed"
    if task.pull is None:
        return "it has no pull request of its own"
    return f"PR #{task.pull.number} is {task.pull.state.value.lower()}"


def _card(task: InferredTask) -> str:
    item = task.observation.item
    if item is None:
        return "it has no card"
    where = "the label" if item.is_labels else "the card"
    status = f'{where} says "{item.status}"' if item.status else f"{where} has no Status"
    named = f", and names {item.agent}" if item.agent else ""
    return f"{status}{_at(item.status_at, before=' since')}{named}"


def _held(task: InferredTask) -> str:
    if task.hold is not None:
        who = task.hold.agent or "an unknown holder"
        return f"{who} holds the lease{_at(task.hold.since, before=' since')}"
    return f"the card names {task.agent}" if task.agent else "nobody holds the lease"


def _leased(task: InferredTask) -> str:
    """Who holds the task, and the lease's commit: it is all that a release takes away for good."""
    sha = f" ({ref_of(task.hold.issue)} at {task.hold.sha})" if task.hold is not None else ""
    return f"{_held(task)}{sha}"


def _at(moment: float | None, *, before: str = " at") -> str:
    return f"{before} {render_time(moment)}" if moment is not None else ""


def _span(seconds: float) -> str:
    """So much time in the unit that says something: `40 minutes`, `1 hour`, `72 hours`."""
    unit, each = ("hour", _HOUR) if seconds >= _HOUR else ("minute", _MINUTE)
    number = int(seconds / each)
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


class Gate(StrEnum):
    """What has to be configured before a fix is applied; the value is the option's name."""

    NONE = ""
    CLOSE = "close"
    RELEASE = "release"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of finding.

    Attributes:
        means: what is the case, as a sentence without a subject's number.
        fix: what repairs it, "" if it is left on purpose.
        gate: which setting allows the fix.
    """

    means: str
    fix: str
    gate: Gate = Gate.NONE


KINDS: dict[str, Kind] = {
    "merged-open": Kind(
        "The claim's pull request is merged, and the issue is open.",
        "The issue gets the closing comment and is closed, the card goes to Done, the lease ends.",
        Gate.CLOSE,
    ),
    "closed-on-board": Kind(
        "The issue is closed, and its card is not Done or still names an agent.",
        "The card goes to Done and names no agent.",
    ),
    "pull-closed": Kind(
        "The claim's pull request was closed without a merge, and the card stands in review.",
        "The card goes back to In Progress.",
    ),
    "status-drift": Kind(
        "The card's Status is behind what happened to the task.",
        "The card gets the Status that the task has.",
    ),
    "agent-drift": Kind(
        "The card names another agent than the lease, or none.",
        "The card names the agent that holds the lease.",
    ),
    "assigned-todo": Kind(
        "Somebody is assigned, and the card is still Todo.",
        "The card goes to In Progress.",
    ),
    "off-board": Kind(
        "The task is claimed, and its issue is not on the board.",
        "The issue is put on the board, with the Status that the task has.",
    ),
    "unlinked": Kind(
        "The claim's pull request does not mention the issue.",
        "A line that refers to the issue is added to the pull request's text.",
    ),
    "branch-without-pull": Kind(
        "The claim's branch is pushed and nobody works on it, and there is no pull request.",
        "A draft pull request is opened, so that the work can be seen.",
    ),
    "silent": Kind(
        "The claim shows no sign of life.",
        "The task is released: comment, assignee, card to Todo, lease.",
        Gate.RELEASE,
    ),
    "lease-left": Kind(
        "The issue is closed, and its lease is still there.",
        "The lease ends.",
        Gate.RELEASE,
    ),
    "moved-by-hand": Kind(
        "Somebody set the card's Status after the last thing that happened to the task.",
        "",
    ),
    "unassigned": Kind(
        "An agent holds the lease, and its account is no longer among the assignees.",
        "",
    ),
}
"""Every kind of finding, in the order in which an issue's are listed; `fix` is what is done in general."""

STAYS = {
    "moved-by-hand": "It stays until something else happens to the task; put it where the task is, and it "
    "follows again.",
    "unassigned": "The lease still holds the task: assign the account again, or give the task back with "
    "lifecycle release in the agent's worktree.",
}
"""Why what somebody did on purpose is left, and the way out."""


class State(StrEnum):
    """What became of a finding."""

    APPLIED = "applied"
    PLANNED = "planned"
    """A dry run: it would be applied."""
    OFF = "off"
    """The fix closes or releases, and is not configured."""
    LEFT = "left"
    """Left by rule, or because the time or the limit was up; `problem` says which."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be.

    Attributes:
        kind: a key of KINDS.
        repository: `owner/name`.
        phase: the phase that GitHub shows, as the claim's table spells it.
        evidence: what was seen, as a sentence with numbers and names.
        fix: what repairs this very one, as `judge.fix_sentence` tells it; "" if it is left on purpose. Of
            one that was applied it is what was written.
        problem: why it was not applied, "" if it was, or if nothing but its gate speaks against it.
    """

    kind: str
    repository: str
    issue: int
    title: str
    url: str
    phase: str
    evidence: str
    fix: str
    state: State
    problem: str = ""

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SweepProblem:
    """What could not be read, or not be finished: where (`owner/name`, or with `#N`), and why."""

    where: str
    kind: str
    sentence: str


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What one run came to.

    Attributes:
        findings: by repository and issue, each issue's in the order of KINDS.
        problems: repositories and tasks that could not be looked at.
        left: what was not looked at because the run ended early, as `owner/name` or `owner/name#N`.
        ended: why the run ended early, "" if it did not.
        skipped: why nothing at all was looked at, "" if something was.
        notes: what a person should know of how it was done, such as labels in place of the board.
        repositories, tasks: how many were looked at.
        requests, points: what all of it cost, GraphQL's points among them.
        is_dry_run: nothing was written.
    """

    findings: tuple[Finding, ...] = ()
    problems: tuple[SweepProblem, ...] = ()
    left: tuple[str, ...] = ()
    ended: str = ""
    notes: tuple[str, ...] = ()
    repositories: int = 0
    tasks: int = 0
    requests: int = 0
    points: int = 0
    is_dry_run: bool = False
    skipped: str = ""

    def count(self, *states: State) -> int:
        """How many findings are in one of these states."""
        return sum(finding.state in states for finding in self.findings)

    @property
    def failed(self) -> int:
        """Fixes that failed, and what could not be looked at, or was not any more."""
        return self.count(State.FAILED) + len(self.problems) + bool(self.ended)

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values; `counts.left` counts findings, `next_run` names what was not looked at."""
        return {
            "findings": [finding.as_json() for finding in self.findings],
            "problems": [asdict(problem) for problem in self.problems],
            "next_run": list(self.left),
            "ended": self.ended,
            "skipped": self.skipped,
            "notes": list(self.notes),
            "counts": {
                "findings": len(self.findings),
                "applied": self.count(State.APPLIED),
                "planned": self.count(State.PLANNED),
                "off": self.count(State.OFF),
                "left": self.count(State.LEFT),
                "failed": self.failed,
                "repositories": self.repositories,
                "tasks": self.tasks,
            },
            "cost": {"requests": self.requests, "points": self.points},
            "dry_run": self.is_dry_run,
        }
