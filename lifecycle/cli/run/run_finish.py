"""`lifecycle run gate|finish|complete`: run what a gate demands, open the pull request, end the run."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from lifecycle.cli.run.run import RunSession
from lifecycle.cli.terminal import passing
from lifecycle.core.errors import HeldByAnother, LifecycleError, Refused
from lifecycle.core.redact import visible
from lifecycle.git.commits import head_of
from lifecycle.git.worktree_files import refuse_under_way
from lifecycle.github.operations.ensure_pulls import PullOperations
from lifecycle.platforms import selection
from lifecycle.run import tdd_moves
from lifecycle.run.finish import completion
from lifecycle.run.finish.completion import AGAIN, Published, facts_for
from lifecycle.run.gates import gate_rules, run_moves
from lifecycle.run.gates.gate_runs import GateRun
from lifecycle.run.gates.work_facts import files_of
from lifecycle.run.state import GateRecord, Run, Story, data_of
from lifecycle.run.table import GATES, CheckState, Gate, RunStatus
from lifecycle.run.texts import report_text
from lifecycle.run.texts.told import refused


def finish(session: RunSession) -> int:
    """Run G7, push the branch, open the pull request with the run's text, and complete the run.

    If this worktree has a claim, the pull request is the claim's, opened as by lifecycle handoff and the
    next stop. Without a remote on GitHub, the run is completed without a pull request, and the output says
    so. A second run changes nothing. The time for the gate is not counted.

    Exits 1 if the gate does not pass.
    """
    world = session.world
    run = session.store.demanded()
    if run.is_over:
        return session.show(*completion.closing(run))
    session.store.refuse_held(run)
    run.demand_active()
    refuse_under_way(world.git, session.root, "pushed")  # git refuses then what is named below
    missing = completion.lacks(run, facts_for(world, run))
    if missing:  # the gate may take long, and does not solve these
        raise refused("not-run", missing=missing)
    publish, branch = _publisher(session, run), world.git.current_branch()
    record, gate_lines, _ = shown(session, Gate.G7)
    if record.state not in gate_rules.HOLDS:
        return session.show(gate_lines, {"gate": Gate.G7, "state": record.state}, code=1)
    facts = facts_for(session.world, run)
    with session.store.changing() as change:
        change.run = run = completion.at_completion(change.run, facts, session.now)
    section = completion.section_for(world, run, facts)
    _refuse_moved(session, branch or "", facts.head)
    try:
        pull = publish(run, section)
    except HeldByAnother as error:  # nothing that the session can do would finish it
        with session.store.changing() as change:
            why, now = error.sentence, session.now
            change.run = change.run.but(status=RunStatus.STOPPED, why=why, stopped_at=now)
        raise
    with session.store.changing() as change:
        change.run = completion.published(change.run, pull.url, facts.head, pull.why)
        change.note(f"Pull request: {pull.url or pull.why}")
    try:
        with session.store.changing() as change:
            change.run = run = completion.completed(change.run, facts, session.now)
            change.note(f"Run {run.id} completed")
    except Refused as error:  # somebody stopped the run meanwhile
        error.sentence = f"{error.sentence} What was done: {' '.join(_told(pull))}"
        raise
    lines, data = completion.closing(run)
    return session.show([*gate_lines, "", *_told(pull), "", *lines], data)


def complete(session: RunSession) -> None:
    """Complete a run whose gates all passed and whose pull request is open, and print its closing block.

    If something is missing, it is named. For a completed run, the block is printed again.
    """
    run = session.store.demanded()
    if not run.is_over:
        facts = facts_for(session.world, run)
        with session.store.changing() as change:
            change.run = run = completion.completed(change.run, facts, session.now)
            change.note(f"Run {run.id} completed")
    session.show(*completion.closing(run))


def _refuse_moved(session: RunSession, branch: str, head: str) -> None:
    """Refuse to continue if branch or head moved while the gate ran: only what it judged is pushed."""
    git = session.world.git
    here, now = git.current_branch() or "", head_of(git)
    if (here, now) != (branch, head):
        refuse_under_way(git, session.root, "pushed")
        here, now, head = here or "no branch", now[:10], head[:10]
        words = {"branch": branch, "head": head, "quoted": shlex.quote(branch)}
        raise refused("moved-meanwhile", here=here, now=now, **words)


def _told(pull: Published) -> list[str]:
    if not pull.url:
        return [f"No pull request was made: {visible(pull.why)}."]
    return [f"Opened pull request: {pull.url}" if pull.is_new else f"Pull request: {pull.url}"]


def _publisher(session: RunSession, run: Run) -> Callable[[Run, str], Published]:
    """The function that makes the pull request: through the claim if there is one, else directly.

    Called before the gate is run, so that obstacles are raised first.
    """
    from lifecycle.github.pulls.pull_calls import PullCalls

    world = session.world

    def pulls() -> PullOperations:
        return PullOperations(PullCalls(world.calls, world.clients.graph))

    if session.claim_store.load(repair=False).record is None:
        return partial(completion.publish, world, completion.destination(world, pulls, run))
    return partial(_through_claim, session, pulls())


def _through_claim(session: RunSession, pulls: PullOperations, run: Run, section: str) -> Published:
    """Publish through the claim: hand it off, look once, then add the run's section to the PR's text."""
    from lifecycle.claim.commands.moves import current, hand_off
    from lifecycle.claim.decisions.table import Phase
    from lifecycle.claim.engine import look
    from lifecycle.cli.claims.claim_look import listener
    from lifecycle.core.plan import Wake

    world, claim_store = session.world, session.claim_store
    before, head = current(world, claim_store), head_of(world.git)
    # If the PR merged without the last commits, hand off again, which opens the claim's next one.
    if before.claim.phase != Phase.MERGED_DETECTED or before.pull.head not in ("", head):
        hand_off(world, claim_store, before.claim.summary or report_text.summary_of(run))
    report = look.tick(world, claim_store, Wake.TICK, to=listener(session.client_session))
    record = report.record
    number = record.claim.pr_number if record is not None else None
    if record is None or number is None or not record.pull.url:
        words = [report.problem.sentence] if report.problem is not None else []
        words += [notice.text for notice in report.said]
        raise refused("claim-without-pull", why=" ".join(words) or "GitHub does not show it yet.")
    if record.claim.phase == Phase.MERGED_DETECTED and record.pull.head != head:
        raise refused("merged-without-last", record=record)
    try:
        body = world.forge.pull_request(number).body
        pulls.ensure_text(number, body=report_text.with_section(body, run, section))
    except LifecycleError as error:
        pull_state = f"{record.pull.url} is open, but its text lacks the run's section."
        error.sentence = f"{error.sentence} {pull_state} {AGAIN}"
        raise
    return Published(record.pull.url, is_new=record.pull.url != before.pull.url)


RUNS_OWN = (Gate.G1, Gate.G7)
"""The gates of the whole run; the others are a story's."""

GateShown = tuple[GateRecord, list[str], dict[str, Any]]
"""A gate's record, the lines to print about it, and further values for `--json`."""


def gate(session: RunSession, *, gate: Gate, story: str, anew: bool) -> int:
    """Run what a gate demands for STORY, else for the story at work; G1 and G7 are the whole run's.

    G2 build, G3 test, G4 coverage against the story's threshold, G5 build and test, G7 build, test and
    lint, each through lifecycle check; G1 looks at the design, G6 at the security review. Checks that
    passed on exactly these files are not run again.

    Exits 0 if the gate passed, else 1.
    """
    if story and gate in RUNS_OWN:
        raise click.UsageError(f"{gate} is a gate of the run, not of a story.")
    record, lines, values = shown(session, gate, story, is_anew=anew)
    code = int(record.state not in gate_rules.HOLDS)
    return session.show(lines, {**data_of(record), **values}, code=code)


def shown(session: RunSession, gate: Gate, name: str = "", *, is_anew: bool = False) -> GateShown:
    """Run a gate, for the story of this name or for the one at work, and record the result.

    The time of its commands is not counted: each has a limit of its own.
    """
    run = session.store.demanded()
    session.store.refuse_held(run)
    run.demand_open()
    runner = GateRun(session.world, session=session.client_session, out=passing(sys.stderr))
    story = None if gate in RUNS_OWN else run_moves.at_work(run, name)
    if not GATES[gate].checks:
        record = GateRecord(gate, session.now, CheckState.PENDING, runner.tree(), by=session.who)
    else:
        refuse_under_way(session.world.git, session.root, "checked")
        threshold = _threshold(session, story) if story and gate is Gate.G4 else None
        with session.world.deadline.standing_still():
            record = runner.record(gate, threshold, is_anew=is_anew)
    if runner.interrupted:
        raise KeyboardInterrupt
    error = "; ".join(filter(None, runner.errors.values()))
    runs, whose = files_of(session.world.git) if story else None, story.id if story else ""
    with session.store.changing() as change:
        run = run_moves.with_gate(change.run, whose, record, error, session.now)
        if runs is not None:  # evidence so far is kept
            run = run.with_story(tdd_moves.remembered(run.story(whose), runs))
        change.run, story = run, run.story(whose) if whose else None
        record = (story or run).gates[-1]
        news = change.news(f"Gate {gate}: {record.state}{f' for {whose}' if whose else ''}")
        logged = run.blockers[len(change.before.blockers) :] if story is None else ()
        change.note(*(f"Blocker {blocker.id}: {blocker.description}" for blocker in logged))
        failures = [failure.id for failure in change.failures]
    values: dict[str, Any] = {"remarks": runner.remarks}
    values |= {"story": whose, "failures": failures} if whose else {}
    values |= {"lacks": gate_rules.design_lacks(run)} if gate is Gate.G1 else {}
    notes = [f"Note: {remark}" for remark in runner.remarks]
    return record, [*run_moves.gate_lines(run, record, story), *notes, *news], values


def _threshold(session: RunSession, story: Story) -> float | None:
    """Percent of coverage that the platform requires of a story of this size; None if it requires none."""
    platform = selection.detect(session.root, session.world.environment).selected
    by_size = platform.about.quality_gates.coverage.items() if platform is not None else ()
    return next((number for size, number in by_size if size == story.size), None)
