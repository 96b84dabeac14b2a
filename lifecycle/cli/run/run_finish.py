"""`lifecycle run finish`, `complete`: the last gate, the pull request, and the closing word."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lifecycle.cli.run import run_gate
from lifecycle.cli.run.run_session import RunSession
from lifecycle.core.errors import LifecycleError, Refused
from lifecycle.core.redact import visible
from lifecycle.git.commits import head_of
from lifecycle.github.operations.ensure_pulls import PullOperations
from lifecycle.run.finish import completion, publishing
from lifecycle.run.finish.completion import complete_data, complete_lines, completed
from lifecycle.run.finish.publishing import AGAIN, Published, facts_for, section_for
from lifecycle.run.finish.pull_text import summary_of, with_section
from lifecycle.run.gates.gate_rules import HOLDS
from lifecycle.run.gates.run_moves import demand_active
from lifecycle.run.state import Run
from lifecycle.run.table import Gate
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
    record, gate_lines, _ = run_gate.shown(given, Gate.G7)
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
