"""The plan of a dry run: decisions followed as if every action succeeded. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lifecycle.claim.decisions.decide import apply_fact, decide
from lifecycle.claim.decisions.snapshot import Decision, Snapshot, prepared
from lifecycle.core.plan import Action, Fact

MAX_STEPS = 24
"""Decisions in one look at most: far more than any look takes."""


@dataclass(frozen=True, slots=True)
class RehearsedStep:
    """One decision, and the snapshot with its changes applied."""

    seen: Snapshot
    decision: Decision


def foresee(snapshot: Snapshot, imagine: Callable[[Action], Fact]) -> Iterator[RehearsedStep]:
    """The steps from here on, each action followed by the fact that `imagine` gives for it."""
    for _ in range(MAX_STEPS):
        step = decide(snapshot)
        now = prepared(snapshot, step)
        yield RehearsedStep(now, step)
        if step.action is not None:
            snapshot = apply_fact(now, imagine(step.action))
        elif now.record == snapshot.record:
            return
        else:
            snapshot = now
