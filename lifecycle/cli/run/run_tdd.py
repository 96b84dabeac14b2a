"""`lifecycle run tdd-phase`, `tdd-validate`, `tdd-status` and `tdd waive`: red, green, refactor, verify."""

from __future__ import annotations

import json
from typing import Any

import click

from lifecycle.cli.command_session import option
from lifecycle.cli.run.run_session import RunSession, in_run
from lifecycle.run.table import WORK, TddPhase
from lifecycle.run.tdd import tdd_moves, test_proofs
from lifecycle.run.tdd.tdd_moves import TddViolation
from lifecycle.run.tdd.test_proofs import RunsSeen

_PHASES = click.Choice([phase.value for phase in WORK])
_NEXT = {
    TddPhase.RED: "Write the test, and let it fail by its assertion: lifecycle check test",
    TddPhase.GREEN: "Make it pass with the least code, and show it: lifecycle check test",
    TddPhase.REFACTOR: "Clean up, and show that the tests still pass: lifecycle check test",
    TddPhase.VERIFY: "Run the gates: lifecycle run gate G5",
}


@click.command("tdd-phase", short_help="Move a story to red, green, refactor or verify.")
@click.argument("story", metavar="STORY")
@click.argument("phase", type=_PHASES)
@in_run
def phase(given: RunSession, *, story: str, phase: str) -> int:
    """Move a story to a phase of its cycle; what the phase demands is shown by runs, and never by words.

    green needs a run since the story began in which a named test failed by its assertion; refactor and
    verify need that test to pass on the files as they are. Exits with 1 if that is not so.
    """
    wanted = TddPhase(phase)
    runs = _runs(given)
    try:
        with given.store.changing() as change:
            run = tdd_moves.moved_phase(change.run, story, wanted, runs, given.now)
            change.run = run
            change.note(f"{run.story(story).id} TDD: {wanted}")
    except TddViolation as violation:
        given.show(violation.lines, _refused(violation))
        return 1
    one = run.story(story)
    lines = [f"{one.id} TDD phase: {wanted} ({WORK[wanted]})"]
    if one.red is not None or one.waived:
        lines += test_proofs.proof_lines(one)
    given.show([*lines, _NEXT[wanted]], test_proofs.cycle_data(one))
    return 0


@click.command("tdd-validate", short_help="Whether a story may go to a phase of its cycle.")
@click.argument("story", metavar="STORY")
@click.argument("phase", type=_PHASES)
@in_run
def validate(given: RunSession, *, story: str, phase: str) -> None:
    """Whether a story may go to a phase: {"valid": true}, or {"valid": false, "expected": "red"}."""
    one = given.store.demanded().story(story)
    violation = tdd_moves.expected_of(one, TddPhase(phase), _runs(given))
    answer: dict[str, Any] = {"valid": violation is None}
    if violation is not None:
        answer["expected"] = violation.expected.value
    more = {"why": violation.why} if violation is not None and violation.why else {}
    given.show([json.dumps(answer)], {**answer, **more})


@click.command("tdd-status", short_help="The phase of a story's cycle.")
@click.argument("story", metavar="STORY")
@in_run
def status(given: RunSession, *, story: str) -> None:
    """The phase of a story's cycle, as "green"; with --json also what was shown."""
    one = given.store.demanded().story(story)
    given.show([json.dumps(one.tdd.value)], test_proofs.cycle_data(one))


@click.command("tdd", short_help="Leave red and green out of a story, with the reason.")
@click.argument("action", type=click.Choice(["waive"]))
@click.argument("story", metavar="STORY")
@option("--reason TEXT", "Why, for the reviewer and the pull request.", required=True)
@in_run
def waive(given: RunSession, *, action: str, story: str, reason: str) -> None:
    """Leave red and green out of a story: documents, configuration, pure refactoring.

    The reason is recorded, and stands in the pull request. The other gates stay. A story that changes
    code is waived before it does, where lifecycle check test passed on the files as they were.
    """
    del action  # there is one
    base, runs = given.store.demanded().story(story).base, _runs(given)
    facts = given.facts_since(base)
    changed = facts.changed if base else facts.uncommitted
    with given.store.changing() as change:
        change.run = run = tdd_moves.waived(change.run, story, reason, runs, changed)
        one = run.story(story)
        change.note(f"{one.id} TDD waived: {one.waived}")
    given.show([f"{one.id} TDD waived: {one.waived}"], test_proofs.cycle_data(one))


def _runs(given: RunSession) -> RunsSeen:
    world = given.world
    return test_proofs.look(world.root, world.environment, world.deadline)


def _refused(violation: TddViolation) -> dict[str, Any]:
    return {
        "valid": False,
        "current": violation.current.value,
        "expected": violation.expected.value,
        "why": violation.why,
        "violation": violation.sentence,
    }
