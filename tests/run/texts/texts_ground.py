"""A run in the middle of its work, with something of all that its texts tell."""

from __future__ import annotations

from msgspec.structs import replace

from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import (
    Blocker,
    Clarification,
    Criterion,
    Failure,
    GatePart,
    GateRecord,
    Led,
    ReviewFinding,
    ReviewRecord,
    Run,
    Story,
    TestProof,
)
from lifecycle.run.stories.story_edits import QUESTIONS
from lifecycle.run.table import (
    CheckState,
    ClarificationPhase,
    CriterionState,
    FailureCategory,
    Gate,
    ReviewVerdict,
    RunPhase,
    Severity,
    StoryCheck,
    StoryStatus,
    TddPhase,
)
from lifecycle.run.texts.told import drawn

NOW = 1_800_000_000.0
OLD, TREE = "a" * 40, "b" * 40

FACTS = WorkFacts(TREE, "f" * 40, (), ("pay.py",))


def question_lines(phase: ClarificationPhase, run: Run | None) -> list[str]:
    """What the command prints on what to ask at a checkpoint."""
    stories = run.stories if run is not None else ()
    return drawn("questions", phase=phase, questions=QUESTIONS[phase], stories=stories)


def gate(name: Gate, tree: str, state: CheckState = CheckState.PASS) -> GateRecord:
    """A run of a gate on that tree."""
    part = GatePart(
        "test", state, "pytest", tests=3, log=".lifecycle/checks/1.log", failures=("t::a",)
    )
    return GateRecord(name, NOW, state, tree, (part,))


def review(tree: str = OLD) -> ReviewRecord:
    """A review that approved that tree."""
    findings = (
        ReviewFinding(Severity.SUGGESTION, "a name"),
        ReviewFinding(Severity.INFO, "a remark"),
    )
    return ReviewRecord(
        StoryCheck.REVIEW_APPROVED, ReviewVerdict.APPROVED, NOW, tree, "reviewer", findings
    )


def done(number: int, completed: float = NOW) -> Story:
    """A completed story, with what was shown of it on the tree of its end."""
    return Story(
        f"S{number}",
        f"Story {number}",
        status=StoryStatus.COMPLETED,
        tdd=TddPhase.VERIFY,
        iteration=2,
        criteria=(Criterion("it works", CriterionState.MET, tree=OLD),),
        design="A class",
        files=("pay.py",),
        completed=completed,
        gates=(gate(Gate.G4, OLD), gate(Gate.G5, "c" * 40), gate(Gate.G5, OLD)),
        reviews=(review(),),
        red=TestProof(NOW, ("t::a",), files={"t.py": "1"}),
        green=TestProof(NOW, ("t::a",), files={"t.py": "1"}),
        failures=(Failure("F1", FailureCategory.CODE, "an error of long ago", NOW),),
        commit="d" * 40,
    )


def at_work() -> Story:
    """A story in the middle of its cycle, whose tests passed on the present tree."""
    return Story(
        "S2",
        "Pay | by card",
        size="L",
        security=True,
        status=StoryStatus.IN_PROGRESS,
        tdd=TddPhase.GREEN,
        iteration=2,
        criteria=(Criterion("a payment is kept"), Criterion("a refund", CriterionState.MANUAL)),
        design="A table and a service",
        files=("pay.py", "card.py"),
        risks=("the bank is slow",),
        depends_on=("S1",),
        started=NOW,
        gates=(gate(Gate.G2, OLD), gate(Gate.G5, TREE)),
        red=TestProof(NOW, ("tests/test_pay.py::test_kept",), files={"tests/test_pay.py": "1"}),
        failures=(Failure("F2", FailureCategory.INFRA, "Connection refused", NOW),),
    )


def a_run() -> Run:
    """One story completed, one at work, one blocked, one to come."""
    blocked = Story("S3", "Mail", status=StoryStatus.BLOCKED)
    run = Run(
        "abc12345",
        "Implement payment processing",
        NOW,
        phase=RunPhase.DEVELOPMENT,
        iterations=12,
        led=(Led("one", NOW, tokens=120_000), Led("two", NOW, tokens=3_456)),
        stories=(done(1), at_work(), blocked, Story("S4", "Reports")),
        clarifications=(
            Clarification("What provider?", "Stripe", NOW, ClarificationPhase.PRE_ANALYSIS),
        ),
        blockers=(
            Blocker("B1", "solved long ago", "low", NOW, resolved_at=NOW),
            Blocker("B2", "Stripe API key not configured in .env", "high", NOW, story="S3"),
        ),
    )
    return replace(run, reported_at=NOW)
