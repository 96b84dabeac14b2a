"""One run: sweep, judge, repair, report.

It uses the same `decide` and `act` as the hooks; only what is read differs. It makes one request at a time,
since GitHub asks for that:
https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from math import inf
from pathlib import Path

from lifecycle.core.errors import LifecycleError, Transient
from lifecycle.core.light_dataclass import dataclass, field, fields_of, replace
from lifecycle.core.messages import figures
from lifecycle.core.redact import redact
from lifecycle.core.timing import CLOCK_SKEW, DeadlineReached
from lifecycle.core.values.configured import Settings
from lifecycle.core.world import World
from lifecycle.reconcile import inferred
from lifecycle.reconcile.finding import Finding, State, SweepReport, in_order, sentence
from lifecycle.reconcile.judge import Judge
from lifecycle.reconcile.repair import Pace, RepairEnd, Repairer, failed, why_ended
from lifecycle.reconcile.scope import Policy, Scope
from lifecycle.reconcile.sweep import WAITS, Progress, Sweep

SPARE_SECONDS = 5.0
"""How much of the run's time has to be left for another task to be begun."""

PATIENCE = 5
"""After so many tasks in a row without an answer from GitHub, the run ends."""


HUNG = "It ran out of time while a server was still answering."
"""The reason for the end of a run whose reads were kept alive by a byte now and then."""


@dataclass(slots=True)
class _Drifted:
    """A task with something to report."""

    task: inferred.InferredTask
    findings: tuple[Finding, ...]

    @property
    def is_planned(self) -> bool:
        """True if a finding of the task has still to be repaired."""
        return any(finding.state is State.PLANNED for finding in self.findings)


@dataclass(slots=True)
class _Run:
    """The working memory of one run."""

    world: World
    sweep: Sweep
    policy: Policy
    note: str
    is_dry_run: bool
    drifted: list[_Drifted] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    ended: str = ""
    unanswered: int = 0
    is_interrupted: bool = False


def reconcile(
    world: World,
    scope: Scope,
    policy: Policy,
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
    note: str = "",
) -> SweepReport:
    """Look at every task of a scope as GitHub shows it, and repair what is not as it should be.

    A second run changes nothing. A run that is interrupted anywhere is continued by the next one;
    the report of one that somebody stopped during its repairs says what was done by then.

    Args:
        world: clients, settings, clock and deadline.
        scope: where to look.
        policy: what may be done.
        dry_run: report what would be done, and write nothing.
        progress: called with the progress; nothing is called unless given.
        note: what a person should know of the scope; the first of the report's notes.

    Raises:
        Refused: no token, or settings that cannot be used; nothing was looked at.
        Rejected: GitHub does not accept this token, or shows no such owner; nothing was looked at.
    """
    # Nothing would remember that labels replaced the board, and the next run would read the board.
    world.choice.follows_writes = False
    run = _Run(world, Sweep(world, scope, progress or _nobody), policy, note, dry_run)
    _read(run)
    if dry_run or run.ended:
        return _report(run)
    try:
        _repair(run)
    except RepairEnd as end:
        _end(run, str(end))
    except DeadlineReached:
        _end(run, HUNG)
    except KeyboardInterrupt:
        run.is_interrupted = True
        _end(run, "It was interrupted.")
    left = (drift.task for drift in run.drifted if drift.is_planned)
    run.left = [f"{task.repository}#{task.issue.number}" for task in left]
    return _report(run)


def _nobody(_what: str, _done: int, _of: int | None) -> None:
    """A progress report for nobody."""


def _read(run: _Run) -> None:
    sweep, scope = run.sweep, run.sweep.scope
    try:
        sweep.read_holdings()
        # GitHub's clock counts if this machine's is ahead of it: every claim would seem silent.
        theirs = run.world.server_time
        ahead = run.world.clock.now() - theirs if theirs is not None else 0.0
        if ahead > CLOCK_SKEW:
            sweep.ahead = ahead
            sweep.notes.append(sentence("clock-ahead", span=figures.span(ahead)))
        judge: Judge | None = None
        for task in sweep.read_tasks():
            # After the first card, not before it: then it is known whether the board can be read.
            judge = judge or _judge(run)
            if findings := judge.findings(task):
                run.drifted.append(_Drifted(task, findings))
        if run.is_dry_run and judge is not None:
            sweep.note_lacking(judge.planned)
    except (Transient, DeadlineReached) as error:
        _end(run, why_ended(error) if isinstance(error, Transient) else HUNG)
        read = [holding.repository for holding in sweep.holdings.values()]
        run.left = read or [*map(str, scope.repositories)] or [scope.owner]
    run.drifted.sort(key=lambda drift: (drift.task.repository.casefold(), drift.task.issue.number))


def _judge(run: _Run) -> Judge:
    # Nothing is closed or merged on its own: those settings are left as they are by default.
    settings = Settings(**fields_of(run.world.settings, "base", "project_number", "issue_link"))
    # Cards show signs of life. If they cannot be seen now, no claim counts as silent.
    policy = replace(run.policy, silent_seconds=inf) if run.sweep.is_blind else run.policy
    return Judge(settings, run.sweep.has_board, policy, run.sweep.now, run.is_dry_run)


def _repair(run: _Run) -> None:
    """Repair all findings that may be repaired, repository by repository."""
    import tempfile  # needed only if something is repaired

    planned = [drift for drift in run.drifted if drift.is_planned]
    judge, pace = _judge(run), Pace(run.world.clock)
    done = 0
    with tempfile.TemporaryDirectory(prefix="lifecycle-") as folder:
        for name, group in groupby(planned, lambda drift: drift.task.repository):
            place = Path(tempfile.mkdtemp(dir=folder))
            holding = run.sweep.holdings[name.casefold()]
            repairer: Repairer | LifecycleError
            try:  # its token is valid for a while
                repairer = Repairer(run.sweep.there(holding, place), judge, pace)
            except LifecycleError as error:
                repairer = error
            for drift in group:
                _repair_one(run, repairer, drift)
                done += 1
                run.sweep.progress("repairs", done, len(planned))


def _repair_one(run: _Run, repairer: Repairer | LifecycleError, drift: _Drifted) -> None:
    """Repair one task; after an error, the others are still repaired.

    Raises:
        RepairEnd: no repair is possible any more; what was repaired is noted.
    """
    if run.world.deadline.left < SPARE_SECONDS:
        raise RepairEnd("The time for this run is up.")
    if isinstance(repairer, LifecycleError):
        drift.findings = failed(drift.findings, repairer)
        return
    try:
        drift.findings = repairer.repair(drift.task, drift.findings)
    except (RepairEnd, KeyboardInterrupt, DeadlineReached):
        drift.findings = repairer.partial(drift.findings)
        raise
    run.unanswered = run.unanswered + 1 if repairer.is_unanswered else 0
    if run.unanswered == PATIENCE:
        raise RepairEnd(f"GitHub did not answer for {PATIENCE} tasks in a row.")


def _end(run: _Run, sentence: str) -> None:
    run.ended = f"{sentence} The next run continues with the rest."


def _report(run: _Run) -> SweepReport:
    sweep = run.sweep
    requests, points = run.world.spent
    board_note = run.world.choice.note if sweep.has_board else None
    unread = sentence("waits-unread", count=sweep.unread, most=WAITS) if sweep.unread else ""
    report = SweepReport(
        findings=tuple(_findings(run)),
        problems=tuple(sweep.problems),
        left=tuple(run.left),
        ended=run.ended,
        notes=tuple(note for note in (run.note, *sweep.notes, board_note, unread) if note),
        waiting=in_order(sweep.waiting, sweep.agents),
        repositories=len(sweep.holdings),
        tasks=sweep.tasks,
        requests=requests,
        points=points,
        is_dry_run=run.is_dry_run,
        is_narrowed=bool(sweep.scope.issues or sweep.scope.pulls),
        is_interrupted=run.is_interrupted,
    )
    return report.reworded(partial(redact, environment=run.world.environment))


def _findings(run: _Run) -> Iterator[Finding]:
    """The findings as reported, by repository and issue; those planned but not reached are LEFT."""
    for drift in run.drifted:
        for finding in drift.findings:
            state, problem = finding.state, finding.problem
            if state is State.PLANNED and not run.is_dry_run:
                state, problem = State.LEFT, problem or "The run ended before it."
            yield replace(finding, state=state, problem=problem)
