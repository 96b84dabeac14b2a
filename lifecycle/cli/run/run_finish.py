"""`lifecycle run gate`, `finish`, `complete`: what a gate demands is run, and the last one opens the PR."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from lifecycle.cli.run.run_session import RunSession
from lifecycle.cli.terminal import passing
from lifecycle.core.errors import GitFailed, LifecycleError, Refused, Transient
from lifecycle.core.redact import visible
from lifecycle.git.commits import head_of
from lifecycle.github.operations.ensure_pulls import PullOperations
from lifecycle.platforms import selection
from lifecycle.run import tdd_moves
from lifecycle.run.finish import completion, publishing
from lifecycle.run.finish.completion import complete_data, complete_lines, completed
from lifecycle.run.finish.publishing import AGAIN, Published, facts_for, section_for
from lifecycle.run.finish.pull_text import summary_of, with_section
from lifecycle.run.gates import gate_records
from lifecycle.run.gates.gate_rules import HOLDS, design_lacks
from lifecycle.run.gates.gate_runs import GateRun
from lifecycle.run.gates.run_moves import demand_active, with_design_gate
from lifecycle.run.state import GateRecord, Run, Story, data_of
from lifecycle.run.table import GATES, CheckState, Gate
from lifecycle.run.tdd_moves import RunsSeen
from lifecycle.run.texts.told import refused


def finish(given: RunSession) -> int:
    """Run G7, push the branch, open the pull request with the run's text, and complete the run.

    With a claim in this worktree the pull request is the claim's, opened as lifecycle handoff and the
    next stop would. Without a remote, or where it is no GitHub, the run is completed without one, and
    says so. A second time changes nothing. The time that the gate takes is not counted.

    Exits with 1 if the gate does not pass.
    """
    world = given.world
    run = given.store.demanded()
    if run.is_over:
        given.show(complete_lines(run), complete_data(run))
        return 0
    demand_active(run)
    missing = completion.lacks(run, facts_for(world, run))
    if missing:  # the gate may take long, and mends none of it
        raise refused("not-run", missing=missing)
    publish, branch = _publisher(given, run), world.git.current_branch()
    record, gate_lines, _ = shown(given, Gate.G7)
    if record.state not in HOLDS:
        given.show(gate_lines, {"gate": Gate.G7, "state": record.state})
        return 1
    facts, asked = facts_for(given.world, run), given.can_ask
    with given.store.changing() as change:
        change.run = run = completion.at_completion(change.run, facts, given.now, asked=asked)
    section = section_for(world, run, facts)
    _refuse_moved(given, branch or "", facts.head)
    made = publish(run, section)
    with given.store.changing() as change:
        change.run = completion.published(change.run, made.url, facts.head, made.why)
        change.note(f"Pull request: {made.url or made.why}")
    try:
        with given.store.changing() as change:
            change.run = run = completed(change.run, facts, given.now, asked=asked)
            change.note(f"Run {run.id} completed")
    except Refused as error:  # somebody stopped it meanwhile
        error.sentence = f"{error.sentence} What was done: {' '.join(_told(made))}"
        raise
    given.show([*gate_lines, "", *_told(made), "", *complete_lines(run)], complete_data(run))
    return 0


def complete(given: RunSession) -> None:
    """Complete a run whose gates all passed and whose pull request is open, and print its closing block.

    What is missing is named. A run that is completed already prints the block again.
    """
    run = given.store.demanded()
    if not run.is_over:
        facts = facts_for(given.world, run)
        with given.store.changing() as change:
            change.run = run = completed(change.run, facts, given.now, asked=given.can_ask)
            change.note(f"Run {run.id} completed")
    given.show(complete_lines(run), complete_data(run))


def _refuse_moved(given: RunSession, branch: str, head: str) -> None:
    """Refuse to push anything but what was judged: the gate takes its time, and git is not ours alone."""
    git = given.world.git
    here, now = git.current_branch() or "", head_of(git)
    if (here, now) != (branch, head):
        here, now, head = here or "no branch", now[:10], head[:10]
        raise refused("moved-meanwhile", here=here, now=now, branch=branch, head=head)


def _told(made: Published) -> list[str]:
    if not made.url:
        return [f"No pull request was made: {visible(made.why)}."]
    return [f"Opened pull request: {made.url}" if made.is_new else f"Pull request: {made.url}"]


def _publisher(given: RunSession, run: Run) -> Callable[[Run, str], Published]:
    """What makes the pull request: the claim's where there is one; raises before the gate is run."""
    from lifecycle.github.pulls.pull_calls import PullCalls

    world = given.world

    def pulls() -> PullOperations:
        return PullOperations(PullCalls(world.calls, world.clients.graph))

    if given.claim_store.load(repair=False).record is None:
        to = publishing.destination(world, pulls, run)
        return partial(publishing.publish, world, to)
    return partial(_through_claim, given, pulls())


def _through_claim(given: RunSession, pulls: PullOperations, run: Run, section: str) -> Published:
    """Hand the claim off and look once, as its own commands do; then add the run's part to the text."""
    from lifecycle.claim.commands.moves import current, hand_off
    from lifecycle.claim.decisions.table import Phase
    from lifecycle.claim.engine import look
    from lifecycle.cli.claims import claim_look
    from lifecycle.core.plan import Wake

    world, claim_store = given.world, given.claim_store
    before = current(claim_store)
    if before.claim.phase != Phase.MERGED_DETECTED:
        hand_off(world, claim_store, before.claim.summary or summary_of(run))
    whom = given.client_session
    report = look.tick(
        world, claim_store, Wake.TICK, audiences=claim_look.audiences(), session=whom
    )
    record = report.record
    number = record.claim.pr_number if record is not None else None
    if record is None or number is None or not record.pull.url:
        words = [report.problem.sentence] if report.problem is not None else []
        words += [notice.text for notice in report.said]
        why = " ".join(words) or "GitHub does not show it yet."
        raise refused("claim-without-pull", why=why)
    if record.claim.phase == Phase.MERGED_DETECTED and record.pull.head != head_of(world.git):
        raise refused("merged-without-last", record=record)
    try:
        body = world.forge.pull_request(number).body
        pulls.ensure_text(number, body=with_section(body, run, section))
    except LifecycleError as error:
        left = f"{record.pull.url} is open without the run's part of its text."
        error.sentence = f"{error.sentence} {left} {AGAIN}"
        raise
    return Published(record.pull.url, is_new=record.pull.url != before.pull.url)


GateShown = tuple[GateRecord, list[str], dict[str, Any]]
"""A gate's record, what is printed of it, and what `--json` shows beside it."""


def gate(given: RunSession, *, gate: Gate, story: str, anew: bool) -> int:
    """Run what a gate demands: of STORY, else of the story at work; G1 and G7 are the run's.

    G2 build, G3 test, G4 coverage against the story's threshold, G5 build and test, G7 build, test and
    lint, each through lifecycle check; G1 looks at the design, G6 at the security review. What passed on
    these very files is not run again.

    Exits with 0 if the gate passed, else with 1.
    """
    if story and (GATES[gate].is_final or gate is Gate.G1):
        raise click.UsageError(f"{gate} is the run's, and no story's.")
    record, lines, more = shown(given, gate, story, is_anew=anew)
    given.show(lines, {**data_of(record), **more})
    return 0 if record.state in HOLDS else 1


def shown(given: RunSession, gate: Gate, name: str = "", *, is_anew: bool = False) -> GateShown:
    """Run a gate, of the story of this name or of the one at work, and keep what it showed.

    The time of its commands is not counted: each has a limit of its own.
    """
    run = given.store.demanded()
    if run.is_over:
        raise refused("run-over-no-gate", run=run)
    runner = GateRun(given.world, session=given.client_session, out=passing(sys.stderr))
    if gate is Gate.G1:
        return _design(given, runner.tree())
    story = None if GATES[gate].is_final else gate_records.at_work(run, name)
    if story is not None and GATES[gate].by_hand:
        record = gate_records.security_gate(story, runner.tree(), given.now, given.who)
    else:
        threshold = _threshold(given, story) if gate is Gate.G4 else None
        with given.world.deadline.standing_still():
            record = runner.record(gate, threshold, is_anew=is_anew)
    if runner.interrupted:
        raise KeyboardInterrupt
    error = "; ".join(filter(None, runner.errors.values()))
    if story is None:
        return _final(given, record, error, runner.remarks)
    return _of_story(given, story, record, error, runner.remarks)


def _design(given: RunSession, tree: str) -> GateShown:
    with given.store.changing() as change:
        change.run = run = with_design_gate(change.run, tree, given.now, given.client_session)
        record, lacks = run.gates[-1], design_lacks(run)
        head = f"Gate G1: {record.state}"
        change.note(head)
    last = [f"{GATES[Gate.G1].on_fail}."] if lacks else []
    return record, [head, *(f"- {clause}" for clause in lacks), *last], {"lacks": lacks}


def _threshold(given: RunSession, story: Story | None) -> float | None:
    """Percent of coverage that a story of this size has to reach, as the platform says it."""
    platform = selection.detect(given.root, given.world.environment).selected
    if platform is None or story is None:
        return None
    by_size = platform.about.quality_gates.coverage
    return next((number for size, number in by_size.items() if size == story.size), None)


def _final(given: RunSession, record: GateRecord, error: str, remarks: list[str]) -> GateShown:
    with given.store.changing() as change:
        change.run = run = gate_records.with_gate(change.run, "", record, error, given.now)
        news = change.news(f"Gate {record.gate}: {record.state}")
        logged = run.blockers[len(change.before.blockers) :]
        change.note(*(f"Blocker {one.id}: {one.description}" for one in logged))
    record = run.gates[-1]
    lines = [*_notes(remarks), *gate_records.final_lines(run, record), *news]
    return record, lines, {"remarks": remarks}


def _of_story(
    given: RunSession, story: Story, record: GateRecord, error: str, remarks: list[str]
) -> GateShown:
    runs = _tests(given, remarks)
    with given.store.changing() as change:
        run = gate_records.with_gate(change.run, story.id, record, error, given.now)
        # What was shown by now stays shown.
        change.run = run.with_story(tdd_moves.remembered(run.story(story.id), runs))
        news = change.news(f"Gate {record.gate}: {record.state} for {story.id}")
        failures = [one.id for one in change.failures]
    lines = [*gate_records.gate_lines(record, story), *_notes(remarks)]
    if record.gate is Gate.G6 and record.state is CheckState.PENDING:
        way = f"lifecycle run review {story.id} --by security …"
        lines.append(f"No security review of these files: {way}")
    more = {"remarks": remarks, "story": story.id, "failures": failures}
    return record, [*lines, *news], more


def _tests(given: RunSession, remarks: list[str]) -> RunsSeen:
    """What is known of the tests; nothing, and a remark, where git cannot say."""
    try:
        return tdd_moves.look(given.git)
    except (GitFailed, Transient) as error:
        remarks.append(error.sentence)
        return RunsSeen()


def _notes(remarks: list[str]) -> list[str]:
    return [f"Note: {remark}" for remark in remarks]
