"""What a sweep finds: kinds, findings, whom pull requests wait for, and the report of a run.

Whom one waits for the claim decides (`awaited`). Its author is the agent that holds the task, as far as the
task was read: a draft that a run opened is the run's account's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

from lifecycle.claim.decisions.pull.merge_standing import awaited
from lifecycle.claim.record.sections import Whom
from lifecycle.core.light_dataclass import asdict, dataclass, replace
from lifecycle.core.messages import figures
from lifecycle.core.redact import named, quoted
from lifecycle.core.timing import render_time
from lifecycle.core.values.survey import Holding
from lifecycle.git.lease import ref_of
from lifecycle.reconcile.inferred import InferredTask
from lifecycle.settings import resources

sentence: Final = resources.Sentences("reconcile/remarks.toml")
"""The sentences of a sweep's remarks, to be filled in."""


def of(kind: str, task: InferredTask, now: float) -> str:
    """The evidence for a finding of this kind, as `kinds.toml` words it; `kind` is a key of KINDS."""
    issue, pull, tip, sign = task.issue, task.pull, task.tip, task.last_sign
    held, hold = _held(task), task.hold
    # The lease's commit is the only thing that a release deletes for good.
    lease = f" ({ref_of(hold.issue)} at {hold.sha})" if hold is not None else ""
    words = {
        "number": issue.number,
        "pull": pull,
        "pull_branch": named(pull.branch) if pull is not None else "",
        "branch": named(task.branch),
        "tip": f" ({tip.sha[:7]}, committed{_at(tip.at)})" if tip is not None else "",
        "people": ", ".join(issue.assignees) or "nobody",
        "state": _state(task),
        "card": _card(task),
        "held": held,
        "leased": f"{held}{lease}",
        "closed": _at(issue.closed_at),
        "merged": _at(pull.merged_at if pull is not None else None),
        "pull_closed": _at(pull.closed_at if pull is not None else None),
        "started": _at(task.started_at),
        "happened": _at(task.happened_at, before="; the task's last event was at"),
        "sign": f"{figures.span(now - sign)} ago" if sign is not None else "unknown",
    }
    return KINDS[kind].evidence.format(**words)


def _state(task: InferredTask) -> str:
    """The state of the work, as far as GitHub shows it."""
    if not task.issue.is_open:
        return f"#{task.issue.number} is closed"
    if task.pull is None:
        since = _at(task.issue.reopened_at, before=" since it was reopened at")
        return f"it has no pull request of its own{since}"
    return f"PR #{task.pull.number} is {task.pull.state.value.lower()}"


def _card(task: InferredTask) -> str:
    item = task.observation.item
    if item is None:
        return "it has no card"
    if item.is_labels and not item.status:
        return "it has no Status label, or more than one"
    where = "the label" if item.is_labels else "the card"
    status = f"{where} says {quoted(item.status)}" if item.status else f"{where} has no Status"
    agent = f", and names {named(item.agent)}" if item.agent else ""
    return f"{status}{_at(item.status_at, before=' since')}{agent}"


def _held(task: InferredTask) -> str:
    if task.hold is not None:
        who = named(task.hold.agent) if task.hold.agent else "an unknown holder"
        return f"{who} holds the lease{_at(task.hold.since, before=' since')}"
    return f"the card names {named(task.agent)}" if task.agent else "nobody holds the lease"


def _at(moment: float | None, *, before: str = " at") -> str:
    return f"{before} {render_time(moment)}" if moment is not None else ""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of finding: a row of `kinds.toml`, whose head says what each text is for.

    Attributes:
        gate: the option that has to allow the fix, "" if none has to.
        stays: why the finding is left, "" if it is repaired.
    """

    means: str
    evidence: str
    fix: str = ""
    gate: str = ""
    stays: str = ""


KINDS = {name: Kind(**row) for name, row in resources.texts("reconcile/kinds.toml").items()}
"""Every kind of finding, in the order in which an issue's are listed."""


class State(StrEnum):
    """The outcome of a finding."""

    APPLIED = "applied"
    PLANNED = "planned"
    """A dry run: the fix would be applied."""
    OFF = "off"
    """The fix closes or releases something, which the policy does not allow."""
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
        fix: what repairs this finding, in the words of `judge.fix_sentence`; "" if it is left on purpose.
            Once applied, it is what was written; if it failed in part, what was not written.
        problem: why it was not applied; "" if it was, or if only its gate prevents it.
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


@dataclass(frozen=True, slots=True)
class WaitingPull:
    """An open pull request, and whom it waits for.

    Attributes:
        repository: `owner/name`.
        names: of whom it waits for: the agent or its author, reviewers, teams; () if nobody is named.
        why: how it stands, as a verb phrase.
    """

    repository: str
    number: int
    title: str
    url: str
    whom: Whom
    names: tuple[str, ...]
    why: str


def waiting_pulls(holding: Holding) -> Iterator[WaitingPull]:
    """The open pull requests of a repository, without those of which it was not read; with authors."""
    for pull in holding.pulls:
        if pull.merge_state:
            waits = awaited(pull)
            place = holding.repository, pull.number, pull.title, pull.url
            yield WaitingPull(*place, waits.whom, waits.names, waits.why)


def in_order(
    pulls: Iterable[WaitingPull], agents: Mapping[tuple[str, int], str]
) -> tuple[WaitingPull, ...]:
    """Those first for which somebody has to do something, then by repository, the newest first.

    `agents`: who holds the task of a pull request, by its repository and number.
    """
    order = [*Whom]

    def known(pull: WaitingPull) -> WaitingPull:
        agent = agents.get((pull.repository, pull.number))
        return replace(pull, names=(agent,)) if agent and pull.whom is Whom.AUTHOR else pull

    def urgency(pull: WaitingPull) -> tuple[int, str, int]:
        return order.index(pull.whom), pull.repository.casefold(), -pull.number

    return tuple(sorted(map(known, pulls), key=urgency))


@dataclass(frozen=True, slots=True)
class SweepProblem:
    """What could not be read or finished: the place (`owner/name`, or with `#N`), and why."""

    where: str
    kind: str
    sentence: str


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What one run looked at, found and did.

    Attributes:
        findings: sorted by repository and issue, and for each issue in the order of KINDS.
        problems: repositories and tasks that could not be looked at.
        left: `owner/name` or `owner/name#N` of those not looked at because the run ended early.
        ended: why the run ended early, "" if it did not.
        skipped: why nothing at all was looked at, "" if something was.
        notes: what a person should know about the run, such as labels used in place of the board.
        repositories, tasks: how many were looked at.
        requests, points: what the run cost, in requests and in GraphQL's points.
        is_dry_run: nothing was written.
        is_narrowed: only issues or pull requests that somebody named were looked at.
        waiting: the open pull requests, with whom they waited for before anything was repaired.
        is_interrupted: somebody stopped the run during its repairs.
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
    is_narrowed: bool = False
    skipped: str = ""
    waiting: tuple[WaitingPull, ...] = ()
    is_interrupted: bool = False

    def count(self, *states: State) -> int:
        """How many findings are in one of these states."""
        return sum(finding.state in states for finding in self.findings)

    @property
    def failed(self) -> int:
        """How many fixes failed, and how much could not be looked at, or was not because the run ended."""
        return self.count(State.FAILED) + len(self.problems) + bool(self.ended)

    def reworded(self, change: Callable[[str], str]) -> SweepReport:
        """The report with each sentence on what failed, and each note, as `change` makes it."""
        findings = tuple(replace(each, problem=change(each.problem)) for each in self.findings)
        problems = tuple(replace(each, sentence=change(each.sentence)) for each in self.problems)
        notes, ended = tuple(map(change, self.notes)), change(self.ended)
        return replace(self, findings=findings, problems=problems, notes=notes, ended=ended)

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values; `counts.left` counts findings, `next_run` names what was not looked at."""
        return {
            "findings": [asdict(finding) for finding in self.findings],
            "problems": [asdict(problem) for problem in self.problems],
            "waiting": [asdict(pull) for pull in self.waiting],
            "next_run": list(self.left),
            "ended": self.ended,
            "skipped": self.skipped,
            "notes": list(self.notes),
            "counts": {
                "findings": len(self.findings),
                **{state.value: self.count(state) for state in State},
                "failed": self.failed,
                "repositories": self.repositories,
                "tasks": self.tasks,
            },
            "cost": {"requests": self.requests, "points": self.points},
            "dry_run": self.is_dry_run,
        }
