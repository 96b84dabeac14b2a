"""What comes next in a run: one command for each place where it can stand."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.git.process import GitRepository
from lifecycle.run import state
from lifecycle.run.gates.work_facts import WorkFacts, facts_of
from lifecycle.run.state import (
    Blocker,
    Clarification,
    Criterion,
    GatePart,
    GateRecord,
    ReviewRecord,
    Run,
    Story,
)
from lifecycle.run.stop.decide import next_step
from lifecycle.run.table import (
    CheckState,
    ClarificationPhase,
    CriterionState,
    Gate,
    ReviewVerdict,
    RunPhase,
    StoryCheck,
    StoryStatus,
    TddPhase,
)
from tests.batches import each_row
from tests.run.gates.stories_ground import passed
from tests.run.gates.test_work_facts import committed
from tests.run.run_ground import RunGround

NOW = 1_800_000_000.0
TREE = "t" * 40
FACTS = WorkFacts(TREE, "h" * 40)

PLANNED = Story(
    "S1",
    "Pay",
    criteria=(Criterion("a payment is kept", CriterionState.MET),),
    design="a table",
    files=("pay.py",),
)
BEGUN = replace(PLANNED, status=StoryStatus.IN_PROGRESS, dependencies=())
PROOF = state.TestProof(NOW)
WRITTEN = replace(BEGUN, tdd=TddPhase.VERIFY, red=PROOF, green=PROOF)


def gates(*which: Gate, tree: str = TREE) -> tuple[GateRecord, ...]:
    """Gates that passed."""
    return tuple(GateRecord(gate, NOW, CheckState.PASS, tree) for gate in which)


BUILT = replace(WRITTEN, gates=gates(Gate.G2, Gate.G3, Gate.G4))
APPROVED = ReviewRecord(StoryCheck.REVIEW_APPROVED, ReviewVerdict.APPROVED, NOW, TREE)
CLEARED = ReviewRecord(StoryCheck.SECURITY_CLEARED, ReviewVerdict.CLEARED, NOW, TREE)
REVIEWED = replace(BUILT, reviews=(APPROVED,))
READY = replace(REVIEWED, gates=gates(Gate.G2, Gate.G3, Gate.G4, Gate.G5))
UNMET = replace(BUILT, criteria=(Criterion("a payment is kept"),))

OLD = Criterion("a payment is kept", CriterionState.MET, tree="old")
MISSED = Criterion("a payment is kept", CriterionState.UNMET, tree=TREE)
REFUSED = replace(APPROVED, verdict=ReviewVerdict.CHANGES_REQUESTED)
UNSAFE = replace(CLEARED, verdict=ReviewVerdict.REMEDIATION_NEEDED)
PLAN = 'story-plan S1 --criterion "TEXT" --design "TEXT" --file PATH'

STORY = [
    (Story("S1", "Pay"), PLAN),
    (replace(PLANNED, dependencies=None), "scan-dependencies S1"),
    (replace(PLANNED, dependencies=()), "update-story S1 in_progress"),
    (BEGUN, "tdd-phase S1 red"),
    (replace(BEGUN, tdd=TddPhase.RED), "tdd-phase S1 green"),
    (replace(BEGUN, tdd=TddPhase.GREEN), "tdd-phase S1 verify"),
    (replace(BEGUN, tdd=TddPhase.REFACTOR), "tdd-phase S1 verify"),
    (replace(BEGUN, waived="documentation"), "gate G2 S1"),
    (replace(BEGUN, unneeded="it is there"), "gate G2 S1"),
    (WRITTEN, "gate G2 S1"),
    (replace(WRITTEN, gates=gates(Gate.G2)), "gate G3 S1"),
    (replace(WRITTEN, gates=gates(Gate.G2, Gate.G3)), "gate G4 S1"),
    (replace(BUILT, gates=gates(Gate.G2, Gate.G3, Gate.G4, tree="old")), "gate G2 S1"),
    (UNMET, "criterion S1 1 met"),
    (replace(READY, criteria=(OLD,)), "criterion S1 1 met"),
    (replace(BUILT, criteria=(MISSED,)), "retry-context S1"),
    (replace(BUILT, criteria=(replace(MISSED, tree="old"),)), "criterion S1 1 met"),
    (replace(BUILT, reviews=(REFUSED,)), "retry-context S1"),
    (replace(WRITTEN, reviews=(REFUSED,)), "retry-context S1"),
    (replace(WRITTEN, security=True, reviews=(UNSAFE,)), "retry-context S1"),
    (replace(WRITTEN, reviews=(replace(REFUSED, tree="old"),)), "gate G2 S1"),
    (
        replace(BUILT, reviews=(replace(REFUSED, tree="old"),)),
        "review S1 --by reviewer --verdict VERDICT --report",
    ),
    (BUILT, "review S1 --by reviewer --verdict VERDICT --report"),
    (replace(BUILT, security=True), "review S1 --by reviewer --verdict VERDICT --report"),
    (replace(REVIEWED, security=True), "review S1 --by security --verdict VERDICT --report"),
    (replace(REVIEWED, security=True, reviews=(APPROVED, CLEARED)), "gate G5 S1"),
    (REVIEWED, "gate G5 S1"),
    (READY, "update-story S1 completed"),
]


def command_of(step: str) -> str:
    """The command with which a step ends."""
    return "lifecycle run " + step.partition(": lifecycle run ")[2]


@each_row(("story", "command"), STORY)
def test_a_story_goes_from_begin_to_completion(story: Story, command: str) -> None:
    """Each record on the present tree brings it one command further; an edit brings it back."""
    run = Run("abc12345", "Pay", NOW, phase=RunPhase.DEVELOPMENT, stories=(story,))
    assert command_of(next_step(run, FACTS)) == f"lifecycle run {command}"


def test_the_last_run_of_a_gate_counts() -> None:
    """What failed at first and passes now is done; what passed before it failed is not."""
    failed = GateRecord(Gate.G2, NOW, CheckState.FAIL, TREE)
    for records, command in (
        ((failed, *BUILT.gates), "review S1 --by reviewer --verdict VERDICT --report"),
        ((*BUILT.gates, failed), "gate G2 S1"),
    ):
        stories = (replace(BUILT, gates=records),)
        run = Run("abc12345", "Pay", NOW, phase=RunPhase.DEVELOPMENT, stories=stories)
        assert command_of(next_step(run, FACTS)) == f"lifecycle run {command}"


def test_what_a_gate_did_not_find_is_to_be_installed() -> None:
    """Before the gate is run again, of a story and of the run; and it is named."""
    parts = (GatePart("coverage", CheckState.FAIL, why="pytest-cov is not installed"),)
    absent = GateRecord(Gate.G2, NOW, CheckState.FAIL, TREE, parts)
    at_work = Run("abc12345", "Pay", NOW, phase=RunPhase.DEVELOPMENT, stories=(BUILT,))
    story = replace(BUILT, gates=(*BUILT.gates, absent))
    last = replace(at_work, stories=(DONE,), gates=(replace(absent, gate=Gate.G7),))
    for run, gate in ((replace(at_work, stories=(story,)), "G2 S1"), (last, "G7")):
        step = next_step(run, FACTS)
        assert (step.split(":")[0], command_of(step)) == (
            parts[0].why,
            f"lifecycle run gate {gate}",
        )


def test_what_is_shown_is_committed_before_it_is_completed() -> None:
    """Files that no commit has hold the story back."""
    run = Run("abc12345", "Pay", NOW, phase=RunPhase.DEVELOPMENT, stories=(READY,))
    facts = WorkFacts(TREE, "h" * 40, uncommitted=("pay.py",))
    assert command_of(next_step(run, facts)) == "lifecycle run commit S1"


ASKED = Clarification("Which one?", "Stripe", NOW, ClarificationPhase.PRE_ANALYSIS)
CONFIRMED = Clarification("In this order?", "Yes", NOW, ClarificationPhase.PRE_PLAN)
DONE = replace(READY, status=StoryStatus.COMPLETED)
LINT_FAILS = passed(Gate.G7, TREE, lint=CheckState.FAIL)
TESTS_FAIL = passed(Gate.G7, TREE, lint=CheckState.FAIL, test=CheckState.FAIL)

MADE: dict[str, Any] = {
    "phase": RunPhase.COMPLETION,
    "stories": (DONE,),
    "pull_request": "https://x/1",
    "published": FACTS.head,
}
"""A run whose pull request is made, of the commit that is here."""

OPEN_QUESTION = Clarification("q" * 121, "", NOW, ClarificationPhase.PRE_PLAN)

PLACES: list[tuple[dict[str, Any], str]] = [
    ({}, "update-phase analysis"),
    ({"phase": RunPhase.ANALYSIS}, "add-clarification"),
    ({"phase": RunPhase.ANALYSIS, "autonomous": True}, "add-story"),
    ({"phase": RunPhase.ANALYSIS, "clarifications": (ASKED,)}, "add-story"),
    (
        {"phase": RunPhase.ANALYSIS, "clarifications": (ASKED,), "stories": (PLANNED,)},
        "update-phase planning",
    ),
    ({"phase": RunPhase.PLANNING, "stories": (PLANNED,)}, "add-clarification"),
    (
        {
            "phase": RunPhase.PLANNING,
            "clarifications": (CONFIRMED,),
            "stories": (Story("S1", "Pay"),),
        },
        "story-plan S1",
    ),
    (
        {"phase": RunPhase.PLANNING, "clarifications": (CONFIRMED,), "stories": (PLANNED,)},
        "update-phase development",
    ),
    ({"phase": RunPhase.DEVELOPMENT}, "add-story"),
    (
        {
            "phase": RunPhase.DEVELOPMENT,
            "stories": (replace(PLANNED, status=StoryStatus.BLOCKED),),
        },
        "await-user-fix B1 ",
    ),
    (
        {
            "phase": RunPhase.DEVELOPMENT,
            "stories": (replace(PLANNED, status=StoryStatus.BLOCKED),),
            "blockers": tuple(Blocker(f"B{n}", "a key", "high", NOW) for n in (1, 2, 3)),
        },
        "await-user-fix B3 ",
    ),
    ({"phase": RunPhase.DEVELOPMENT, "stories": (DONE,)}, "gate G7"),
    (
        {"phase": RunPhase.DEVELOPMENT, "stories": (DONE,), "gates": gates(Gate.G7)},
        "update-phase completion",
    ),
    (
        {"phase": RunPhase.DEVELOPMENT, "stories": (DONE,), "gates": (LINT_FAILS,)},
        "update-phase lint-fix",
    ),
    (
        {"phase": RunPhase.DEVELOPMENT, "stories": (DONE,), "gates": (TESTS_FAIL,)},
        "gate G7",
    ),
    ({"phase": RunPhase.LINT_FIX, "stories": (DONE,)}, "gate G7"),
    ({"phase": RunPhase.LINT_FIX, "stories": (DONE,), "gates": (LINT_FAILS,)}, "gate G7"),
    (
        {"phase": RunPhase.LINT_FIX, "stories": (DONE,), "gates": gates(Gate.G7)},
        "update-phase completion",
    ),
    ({"phase": RunPhase.LINT_FIX, "stories": (PLANNED,)}, "update-phase development"),
    ({"phase": RunPhase.COMPLETION, "stories": (DONE,)}, "finish"),
    ({**MADE, "pull_request": ""}, "finish"),
    ({**MADE, "published": "another"}, "finish"),
    (MADE, "complete"),
]


@each_row(("place", "command"), PLACES)
def test_each_phase_has_its_next_step(place: dict[str, Any], command: str) -> None:
    """From the setup to the pull request."""
    step = next_step(Run("abc12345", "Pay", NOW, **place), FACTS)
    assert command_of(step).startswith(f"lifecycle run {command}")


def test_what_a_blocked_story_left_is_set_aside_before_the_next_one(
    ground: RunGround,
) -> None:
    """Its failing tests would fail that one, too; not where it was never begun, nor amid another.

    What wires the client stays where it is, committed or not.
    """
    stuck = replace(BEGUN, id="S9", status=StoryStatus.BLOCKED, iteration=3)
    run = Run("r", "g", NOW, phase=RunPhase.DEVELOPMENT, stories=(stuck, PLANNED))
    left = WorkFacts(TREE, "h" * 40, ("test_pay.py",))
    step = next_step(run, left)
    assert command_of(step) == "lifecycle run mark-working-state"
    wired, test = ground.root / ".claude/settings.json", ground.root / "test_pay.py"
    committed(ground, "pay.py")
    wired.parent.mkdir()
    for path in (wired, test):
        path.write_text("{}")
    stash = step.partition(" aside with ")[2].partition(", or ")[0]
    assert stash.startswith("git stash push -u -m S9 ")
    subprocess.run(["sh", "-c", stash], cwd=ground.root, check=True, capture_output=True)
    assert (wired.exists(), test.exists()) == (True, False)
    unmoved = "lifecycle run scan-dependencies S1"
    assert command_of(next_step(run, FACTS)) == unmoved
    assert command_of(next_step(run, WorkFacts(TREE, "h" * 40, (".claude/x",)))) == unmoved
    waiting = replace(run, stories=(replace(stuck, iteration=0), PLANNED))
    assert command_of(next_step(waiting, left)) == unmoved
    amid = replace(run, stories=(stuck, BEGUN))
    assert command_of(next_step(amid, left)) == "lifecycle run tdd-phase S1 red"


def test_in_a_rebase_the_step_is_to_end_it_first(ground: RunGround) -> None:
    """No gate is run there, and nothing committed with lifecycle run commit, the step once it has ended."""
    committed(ground, "pay.py")
    committed(ground, "test_pay.py")
    git = GitRepository(ground.root, Deadline.after(SystemClock(), 60), ground.environment)
    words = ["git", "rebase", "--quiet", "--exec", "false", "HEAD~1"]
    stopped = subprocess.run(words, cwd=ground.root, check=False, capture_output=True)
    assert stopped.returncode == 1
    (ground.root / "pay.py").write_text("3")

    def step(story: Story = READY) -> str:
        facts = facts_of(git)
        shown = WorkFacts(TREE, "h" * 40, facts.uncommitted, under_way=facts.under_way)
        return next_step(Run("r", "g", NOW, phase=RunPhase.DEVELOPMENT, stories=(story,)), shown)

    assert step(replace(READY, gates=())) == step()
    assert step().startswith("a rebase is in progress here: end it (git status says how), then: ")
    assert command_of(step()) == "lifecycle run status"
    ground.git("rebase", "--quit")
    assert command_of(step()) == "lifecycle run commit S1"


def test_what_a_blocked_story_left_in_a_submodule_is_set_aside_there(
    ground: RunGround, tmp_path: Path
) -> None:
    """A stash takes neither its files nor its commits, so the step stayed the same for good."""
    other = tmp_path / "other"
    ground.git("init", "--quiet", str(other))
    ground.git("-C", str(other), "commit", "--quiet", "--allow-empty", "-m", "One")
    ground.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "lib")
    ground.git("commit", "--quiet", "-m", "With a submodule")
    git = GitRepository(ground.root, Deadline.after(SystemClock(), 60), ground.environment)
    stuck = replace(BEGUN, id="S9", status=StoryStatus.BLOCKED, iteration=3)
    run = Run("r", "g", NOW, phase=RunPhase.DEVELOPMENT, stories=(stuck, PLANNED))
    module = ground.root / "lib"
    (module / "a.py").write_text("1")
    ground.git("-C", "lib", "add", ".")
    ground.git("-C", "lib", "commit", "--quiet", "-m", "Two")
    (module / "a.py").write_text("2")
    assert "git stash" in next_step(run, WorkFacts(TREE, "", ("a", "lib"), modules=("lib",)))
    step = next_step(run, facts_of(git))
    assert command_of(step) == "lifecycle run mark-working-state"
    aside = step.partition("submodule with ")[2].partition(": lifecycle")[0]
    subprocess.run(["sh", "-c", aside], cwd=ground.root, check=True, capture_output=True)
    assert facts_of(git).uncommitted == ()
    assert ground.git("-C", "lib", "stash", "list").endswith(": S9")


def test_without_git_the_records_alone_count() -> None:
    """Nobody knows the tree: what was shown is believed for a hint, and for no gate."""
    run = Run("abc12345", "Pay", NOW, phase=RunPhase.DEVELOPMENT, stories=(READY,))
    assert command_of(next_step(run)) == "lifecycle run update-story S1 completed"
    assert command_of(next_step(Run("abc12345", "Pay", NOW, **MADE))) == "lifecycle run complete"


def test_a_question_without_an_answer_comes_before_the_plan() -> None:
    """Its first 120 characters and its phase; it clarifies nothing until it is answered."""
    run = Run("abc12345", "Pay", NOW, phase=RunPhase.PLANNING, clarifications=(OPEN_QUESTION,))
    step = next_step(run, FACTS)
    assert f'"{"q" * 119}…"' in command_of(step)
    assert "pre-plan" in command_of(step)
    early = replace(OPEN_QUESTION, phase=ClarificationPhase.PRE_ANALYSIS)
    asked = replace(run, phase=RunPhase.ANALYSIS, clarifications=(early,))
    assert command_of(next_step(asked, FACTS)).startswith("lifecycle run add-clarification")
