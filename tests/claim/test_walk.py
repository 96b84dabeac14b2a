"""Every cell of the phase table is walked: no transition stands there that nothing makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import pytest

from lifecycle.claim.commands.moves import _moved
from lifecycle.claim.decisions.decide import apply_fact, apply_observation, decide
from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.decisions.table import CLAIM, Phase
from lifecycle.core.values.checks import Bucket
from lifecycle.core.values.model import PullState
from tests.batches import each_row
from tests.claim.steps import READY, REVIEW, believed
from tests.factories import SHA, checks, issue, observation, pull, record, seen

OPEN = observation(by_number=pull(checks=checks(Bucket.PENDING)), issue=issue(comments=()))
MERGED = observation(by_number=pull(state=PullState.MERGED), issue=issue(comments=()))
CLOSED = observation(by_number=pull(state=PullState.CLOSED), issue=issue(comments=()))

ENGINE: dict[tuple[Phase, Phase], Callable[[], Snapshot]] = {
    (Phase.CODING, Phase.MERGED_DETECTED): lambda: _review(Phase.CODING, MERGED),
    (Phase.READY_FOR_PR, Phase.PR_CREATED): lambda: seen(record(**READY), observed=observation()),
    (Phase.READY_FOR_PR, Phase.MERGED_DETECTED): lambda: seen(
        record(**READY), observed=MERGED, pushed_head=SHA
    ),
    (Phase.READY_FOR_PR, Phase.PR_CLOSED): lambda: seen(
        record(**{**REVIEW, **READY}, memory={"judged": "checks_running"}),
        observed=CLOSED,
        pushed_head=SHA,
    ),
    (Phase.PR_CREATED, Phase.CHECKS_RUNNING): lambda: _review(Phase.PR_CREATED, OPEN),
    (Phase.PR_CREATED, Phase.MERGED_DETECTED): lambda: _review(Phase.PR_CREATED, MERGED),
    (Phase.PR_CREATED, Phase.PR_CLOSED): lambda: _review(Phase.PR_CREATED, CLOSED),
    (Phase.CHECKS_RUNNING, Phase.MERGED_DETECTED): lambda: _review(Phase.CHECKS_RUNNING, MERGED),
    (Phase.CHECKS_RUNNING, Phase.PR_CLOSED): lambda: _review(Phase.CHECKS_RUNNING, CLOSED),
    (Phase.PR_CLOSED, Phase.PR_CREATED): lambda: _review(Phase.PR_CLOSED, OPEN),
    (Phase.PR_CLOSED, Phase.MERGED_DETECTED): lambda: _review(Phase.PR_CLOSED, MERGED),
}
"""Cells that the engine makes, each with a world in which it does."""

BY_HAND = {
    (Phase.CODING, Phase.READY_FOR_PR),
    (Phase.READY_FOR_PR, Phase.CODING),
    (Phase.PR_CREATED, Phase.CODING),
    (Phase.CHECKS_RUNNING, Phase.CODING),
    (Phase.PR_CLOSED, Phase.READY_FOR_PR),
    (Phase.PR_CLOSED, Phase.CODING),
    (Phase.MERGED_DETECTED, Phase.DONE),
    (Phase.MERGED_DETECTED, Phase.READY_FOR_PR),
    (Phase.MERGED_DETECTED, Phase.CODING),
}
"""Cells that an agent or a person makes, by command."""

CELLS = [(phase, wanted) for phase in Phase for wanted in CLAIM.legal(phase)]


def test_every_cell_has_somebody_who_makes_it() -> None:
    """The two lists are the table, no more and no less."""
    assert {*ENGINE, *BY_HAND} == set(CELLS)


@pytest.mark.parametrize("cell", ENGINE, ids=str)
def test_the_engine_walks_the_cell(cell: tuple[Phase, Phase]) -> None:
    """In that world the phases that follow each other are the cell's."""
    assert cell in _walk(ENGINE[cell]())


@pytest.mark.parametrize("cell", sorted(BY_HAND), ids=str)
def test_a_command_walks_the_cell(cell: tuple[Phase, Phase]) -> None:
    """The move is made without force."""
    phase, wanted = cell
    moved = _moved(record(**{**REVIEW, "phase": phase.value}), wanted, force=False)
    assert moved.claim.phase == wanted


SHOWN = {"open": OPEN, "merged": MERGED, "closed": CLOSED}

AT_REST = {
    *[(Phase.CODING, shown) for shown in ("open", "closed")],
    *[(Phase.MERGED_DETECTED, shown) for shown in SHOWN],
    (Phase.CHECKS_RUNNING, "open"),
    (Phase.PR_CLOSED, "closed"),
    (Phase.DONE, "merged"),
}
"""Where what GitHub shows is what the phase says, or waits for somebody: no step is made."""


@each_row(("phase", "shown"), product(Phase, SHOWN))
def test_the_engine_makes_no_move_that_the_table_lacks(phase: Phase, shown: str) -> None:
    """Whatever GitHub shows, each step of the engine is a cell of the table; at rest there is none.

    But for a phase that GitHub does not bear out: that becomes what GitHub shows.
    """
    steps = _walk(_review(phase, SHOWN[shown]))
    assert bool(steps) == ((phase, shown) not in AT_REST), steps
    for step in steps:
        is_judged = step[0] in (Phase.DONE, Phase.MERGED_DETECTED)
        assert step in CELLS or is_judged, step


def _review(phase: Phase, shown: Any) -> Snapshot:
    made = record(**{**REVIEW, "phase": phase.value, "summary": "Fix"})
    return seen(made, observed=shown)


def _walk(start: Snapshot) -> list[tuple[Phase, Phase]]:
    """The pairs of phases that follow each other until the look is at rest."""
    now = start
    if start.observation is not None:
        now = replace(start, record=apply_observation(start.record, start.observation, start.now))
    phases = [now.record.claim.phase]
    for _ in range(24):
        step = decide(now)
        before = now.record
        now = replace(now, record=step.record or now.record)
        phases.append(now.record.claim.phase)
        if step.action is not None:
            now = apply_fact(now, believed(step.action))
            phases.append(now.record.claim.phase)
        elif now.record == before:
            break
    return [(Phase(a), Phase(b)) for a, b in pairwise(phases) if a != b]
