"""No sequence of commands reaches a completed story, or the end of a run, with a gate missing.

The model beside the run keeps what was really shown, by tree, in plain sets; it uses none of the rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from lifecycle.core.errors import Refused
from lifecycle.run import state
from lifecycle.run.gates import reviews, run_moves
from lifecycle.run.gates.run_moves import moved_phase, moved_story
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import Criterion, ReviewFinding, ReviewRecord, Run
from lifecycle.run.stories.story_edits import judged
from lifecycle.run.table import (
    REVIEWERS,
    CheckState,
    CriterionState,
    Gate,
    RunPhase,
    RunStatus,
    Severity,
    StoryStatus,
)
from lifecycle.run.trouble.story_failures import failed
from tests.run.gates.stories_ground import NOW, a_run, passed, planned

TREES = "123"


@dataclass
class Model:
    """A run under test, and what was really shown.

    Attributes:
        run: the run.
        tree, committed: the files as they are, and whether they are committed.
        begun: the tree that the story began on; that stays while what it changed does.
        shown: what holds, by its name and tree.
    """

    run: Run = field(default_factory=lambda: a_run(planned(security=True), phase=RunPhase.PLANNING))
    tree: str = "0"
    committed: bool = True
    begun: str = "0"
    shown: set[tuple[str, str]] = field(default_factory=set)

    @property
    def facts(self) -> WorkFacts:
        """What git would show."""
        changed = ("pay.py",) if self.tree != self.begun else ()
        return WorkFacts(self.tree, "head", () if self.committed else ("pay.py",), changed)

    @property
    def may_complete(self) -> bool:
        """True if everything that the issue demands was shown on the files as they are."""
        story = self.run.stories[0]
        names = ("G4", "G5", "reviewer", "security", "criterion", "green")
        return (
            all((name, self.tree) in self.shown for name in names)
            and self.committed
            and self.tree != self.begun
            and self.run.status is RunStatus.ACTIVE
            and story.status in (StoryStatus.IN_PROGRESS, StoryStatus.TESTING, StoryStatus.REVIEW)
        )

    def shows(self, name: str, *, holds: bool) -> None:
        """Remember what the last look on this tree came to."""
        (self.shown.add if holds else self.shown.discard)((name, self.tree))


Step = Callable[[Model], None]


def edits(tree: str) -> Step:
    """Write files: another tree, not committed."""

    def step(model: Model) -> None:
        model.committed = model.committed and tree == model.tree
        model.tree = tree

    return step


def commits(model: Model) -> None:
    """Commit what is there."""
    model.committed = True


def runs(gate: Gate, state: CheckState) -> Step:
    """Run a gate whose first check comes to this."""

    def step(model: Model) -> None:
        first = {Gate.G4: "coverage", Gate.G5: "build", Gate.G7: "lint"}.get(gate, "test")
        record = passed(gate, model.tree, **{first: state})
        story = "" if gate is Gate.G7 else run_moves.at_work(model.run, "S1").id
        model.run = run_moves.with_gate(model.run, story, record, "", NOW)
        model.shows(gate, holds=state is CheckState.PASS)

    return step


def looks(role: str, severity: Severity | None, *, is_word: bool) -> Step:
    """Let somebody review the files as they are, who says that all is well."""

    def step(model: Model) -> None:
        story = run_moves.at_work(model.run, "S1")
        findings = () if severity is None else (ReviewFinding(severity, "a crash"),)
        check, verdict, _ = REVIEWERS[role]
        record = reviews.counted(ReviewRecord(check, verdict, NOW, model.tree, role, findings))
        model.run = reviews.reviewed(model.run, story, record, is_word=is_word)
        model.shows(role, holds=severity is not Severity.BLOCKING)

    return step


def judges(found: CriterionState) -> Step:
    """Let the tester judge the criterion."""

    def step(model: Model) -> None:
        model.run = judged(model.run, "S1", 1, Criterion("", found, at=NOW, tree=model.tree))
        model.shown = {one for one in model.shown if one[0] != "criterion"}
        model.shows("criterion", holds=found is CriterionState.MET)

    return step


def proves(model: Model) -> None:
    """Let RED and GREEN be proven."""
    story = run_moves.at_work(model.run, "S1")
    red, green = state.TestProof(NOW), state.TestProof(NOW, tree=model.tree)
    model.run = model.run.with_story(replace(story, red=red, green=green))
    model.shown = {one for one in model.shown if one[0] != "green"}
    model.shows("green", holds=True)


def fails(model: Model) -> None:
    """Tell a failure."""
    model.run = failed(model.run, "S1", f"assert {model.tree}", NOW, tree=model.tree)


def moves(wanted: StoryStatus, unneeded: str = "") -> Step:
    """Ask for another status: completed exactly if the model says that it may be."""

    def step(model: Model) -> None:
        before, may = model.run, model.may_complete and not unneeded
        was_done = before.stories[0].status is StoryStatus.COMPLETED
        was_pending = before.stories[0].status is StoryStatus.PENDING
        try:
            model.run = moved_story(before, "S1", wanted, model.facts, NOW, unneeded=unneeded)
        except Refused:
            assert not (wanted is StoryStatus.COMPLETED and may)
            raise
        now = model.run.stories[0].status
        if now is StoryStatus.COMPLETED and not was_done:
            unchanged = bool(unneeded) and model.tree == model.begun
            assert may or (unchanged and ("G5", model.tree) in model.shown)
        if was_pending and now is StoryStatus.IN_PROGRESS:
            model.begun = model.begun if before.stories[0].base else model.tree
            assert any(one.gate is Gate.G1 for one in model.run.gates)
        if wanted is StoryStatus.PENDING and not was_pending:
            model.shown.clear()

    return step


def goes(wanted: RunPhase) -> Step:
    """Ask for another phase: the last ones need every story completed."""

    def step(model: Model) -> None:
        before = model.run.phase
        model.run = moved_phase(model.run, wanted, model.tree, NOW, asked=True)
        late = (RunPhase.COMPLETION, RunPhase.LINT_FIX)
        if wanted in late and before is not wanted:
            assert not model.run.open_stories

    return step


GOOD: tuple[Step, ...] = (
    moves(StoryStatus.IN_PROGRESS),
    edits("1"),
    proves,
    runs(Gate.G4, CheckState.PASS),
    runs(Gate.G5, CheckState.PASS),
    judges(CriterionState.MET),
    looks("reviewer", None, is_word=True),
    looks("security", Severity.INFO, is_word=False),
    commits,
    moves(StoryStatus.COMPLETED),
)
"""A way on which a story is completed."""

OTHERS: tuple[Step, ...] = (
    *(edits(tree) for tree in TREES),
    *(runs(gate, CheckState.FAIL) for gate in (Gate.G4, Gate.G5, Gate.G7)),
    runs(Gate.G3, CheckState.PASS),
    *(looks(role, Severity.BLOCKING, is_word=False) for role in REVIEWERS),
    *(looks(role, Severity.SUGGESTION, is_word=False) for role in REVIEWERS),
    judges(CriterionState.UNMET),
    fails,
    *(moves(status) for status in StoryStatus),
    moves(StoryStatus.COMPLETED, "it is there"),
    *(goes(phase) for phase in RunPhase),
)


def follow(steps: list[Step]) -> Model:
    """A run after these steps; what is refused changes nothing."""
    model = Model()
    for step in steps:
        before = model.run
        try:
            step(model)
        except Refused:
            assert model.run == before
    return model


def test_the_good_way_leads_there_and_no_step_of_it_is_for_nothing() -> None:
    """All of it completes the story; without any one step it stays open."""
    assert not follow([*GOOD]).run.open_stories
    for left_out in range(len(GOOD)):
        steps = [step for number, step in enumerate(GOOD) if number != left_out]
        assert follow(steps).run.open_stories


@st.composite
def ways(draw: st.DrawFn) -> list[Step]:
    """The good way with steps left out, others between them, and some of it again at the end."""
    steps: list[Step] = []
    for step in (*GOOD, *GOOD):
        if draw(st.integers(0, 9)):
            steps.append(step)
        if not draw(st.integers(0, 2)):
            steps.append(draw(st.sampled_from(OTHERS)))
    return steps


@given(ways())
@settings(max_examples=5 * settings().max_examples, deadline=None)
def test_no_way_leads_to_the_end_with_a_gate_missing(steps: list[Step]) -> None:
    """A story is completed exactly where the model, too, says that everything was shown."""
    model = follow(steps)
    if model.run.phase in (RunPhase.COMPLETION, RunPhase.LINT_FIX):
        assert not model.run.open_stories


FINALS = st.lists(
    st.tuples(
        st.sampled_from("0123456"),
        st.sampled_from(["lint", "test", "build", ""]),
    ),
    max_size=12,
)


@given(FINALS)
@settings(max_examples=5 * settings().max_examples, deadline=None)
def test_the_last_gate_passes_with_lint_or_after_three_fixes_or_a_revert(
    looks_at: list[tuple[str, str]],
) -> None:
    """Build and tests hold whenever it passes; lint holds, or was tried as often as it has to be."""
    run = run_moves.with_gate(
        a_run(phase=RunPhase.COMPLETION), "", passed(Gate.G7, "0", lint=CheckState.FAIL), "", NOW
    )
    run = replace(run, phase=RunPhase.LINT_FIX)
    tried: set[str] = set()
    seen, reverted = {"0"}, False
    for tree, broken in looks_at:
        states = {broken: CheckState.FAIL} if broken else {}
        run = run_moves.with_gate(run, "", passed(Gate.G7, tree, **states), "", NOW)
        if tree not in seen:
            tried |= {tree} if broken == "lint" else set()
            reverted = reverted or broken in ("test", "build")
        seen.add(tree)
        holds = not broken or (broken == "lint" and (len(tried) >= 3 or reverted))
        assert (run.gates[-1].state is CheckState.PASS) == holds
