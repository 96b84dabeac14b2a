"""Stories with everything that a gate looks at, in tests: each is changed by what a test is about."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import (
    Clarification,
    Criterion,
    GatePart,
    GateRecord,
    ReviewRecord,
    Run,
    Story,
    TestProof,
)
from lifecycle.run.table import (
    GATES,
    CheckState,
    ClarificationPhase,
    CriterionState,
    Gate,
    ReviewVerdict,
    RunPhase,
    StoryCheck,
    StoryStatus,
)

NOW = 1_800_000_000.0
TREE, OTHER = "a" * 40, "b" * 40
FACTS = WorkFacts(TREE, "c" * 40, (), ("pay.py",))
"""A worktree in which all is committed, and something changed since the story began."""


def passed(gate: Gate, tree: str = TREE, **states: CheckState) -> GateRecord:
    """A run of a gate whose checks all passed, but for those that are named."""
    parts = tuple(
        GatePart(name, states.get(name, CheckState.PASS), name, tests=3 if name == "test" else -1)
        for name in GATES[gate].checks
    )
    worst = CheckState.FAIL if CheckState.FAIL in states.values() else CheckState.PASS
    return GateRecord(gate, NOW, worst, tree, parts)


def review(verdict: ReviewVerdict = ReviewVerdict.APPROVED, **changes: Any) -> ReviewRecord:
    """A review of this tree."""
    is_security = verdict in (ReviewVerdict.CLEARED, ReviewVerdict.REMEDIATION_NEEDED)
    check = StoryCheck.SECURITY_CLEARED if is_security else StoryCheck.REVIEW_APPROVED
    return replace(ReviewRecord(check, verdict, NOW, TREE, "reviewer"), **changes)


def planned(**changes: Any) -> Story:
    """A story with its design."""
    story = Story(
        "S1", "Pay", criteria=(Criterion("a payment is kept"),), design="A class", files=("pay.py",)
    )
    return replace(story, **changes)


def done(**changes: Any) -> Story:
    """A security-sensitive story in review, of which everything is shown on `TREE`."""
    story = planned(
        status=StoryStatus.REVIEW,
        security=True,
        iteration=1,
        started=NOW,
        criteria=(Criterion("a payment is kept", CriterionState.MET, tree=TREE),),
        gates=(passed(Gate.G4), passed(Gate.G5)),
        reviews=(review(), review(ReviewVerdict.CLEARED)),
        red=TestProof(NOW, tree=OTHER),
        green=TestProof(NOW, tree=TREE),
    )
    return replace(story, **changes)


def a_run(*stories: Story, **changes: Any) -> Run:
    """A run in development, both checkpoints behind it."""
    clarified = tuple(
        Clarification("What?", "That", NOW, phase)
        for phase in (ClarificationPhase.PRE_ANALYSIS, ClarificationPhase.PRE_PLAN)
    )
    run = Run("abc12345", "Implement payment processing", NOW, phase=RunPhase.DEVELOPMENT)
    return replace(run, **{"stories": stories, "clarifications": clarified, **changes})
