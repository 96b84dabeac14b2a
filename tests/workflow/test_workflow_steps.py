"""The steps of a workflow: moves through gates, what the next phase is told, types and templates."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lifecycle.cli.workflow.workflow import drawn
from lifecycle.core.errors import IllegalMove, Refused
from lifecycle.evidence.outcomes import Outcome
from lifecycle.evidence.records import EvidenceRoom, RunRecord
from lifecycle.evidence.tree_hash import fingerprint
from lifecycle.settings.persons import Presence
from lifecycle.storage import journal
from lifecycle.views.stats.summary import Summary
from lifecycle.workflow.decide import MOST_CONTEXT, MOST_TEXT
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.steps.workflow_steps import GateClosed, NoWorkflow, PersonAsked
from lifecycle.workflow.steps.workflow_templates import (
    WorkflowTemplate,
    supplied_templates,
    template,
    template_names,
)
from lifecycle.workflow.table import PhaseStatus
from lifecycle.workflow.whose import Asker
from tests.views.web.web_ground import StillClock
from tests.workflow.workflow_ground import WorkflowGround


@pytest.fixture
def ground(tmp_path: Path) -> WorkflowGround:
    """A worktree without workflows."""
    return WorkflowGround.made(tmp_path / "tree")


def test_the_next_phase_is_told_what_the_previous_one_handed_on(ground: WorkflowGround) -> None:
    """Each phase gets the context of the one before it and of no earlier one; also past a skipped one."""
    ground.start("A", "B", "C", "D")
    begun = ground.advance(deliverables=["a.md"], context_for_next="of A").workflow
    assert begun.handed_to(begun.current) == "of A"
    skipped = ground.steps.set_status(PhaseStatus.SKIPPED, reason="not needed").workflow
    assert (skipped.current, skipped.handed_to(2)) == (2, "of A")
    assert skipped.phases[2].status is PhaseStatus.ACTIVE
    last = ground.advance().workflow
    assert (last.current, last.handed_to(3)) == (3, "")
    assert last.phases[0].deliverables == ("a.md",)
    assert last.progress == "3 of 4"


@pytest.mark.parametrize("type_", ["planning", "qa-loop", "implementation"])
def test_each_type_goes_from_its_first_phase_to_the_archive(
    ground: WorkflowGround, type_: str
) -> None:
    """A workflow of a type of the product is begun by its name alone, and led to its end."""
    begun = ground.steps.start(Workflow("", type_), type_).workflow
    assert begun.type == type_
    assert len(begun.phases) == {"planning": 6, "qa-loop": 3, "implementation": 4}[type_]
    for number in range(len(begun.phases)):
        assert ground.one().current == number
        ground.advance()
    assert ground.store.read().unfinished == ()
    assert ground.checkpoints() == []


def test_a_check_gate_needs_a_green_record_on_this_very_tree(ground: WorkflowGround) -> None:
    """Not run, run on other files, red: refused, each with its reason; green on these files: passed."""
    ground.start(WorkflowPhase("Build", gate="check:test"))
    with pytest.raises(GateClosed, match="was not run"):
        ground.advance()

    def ran(outcome: Outcome, tree: str) -> None:
        EvidenceRoom(ground.root).add(
            RunRecord(ground.clock.now(), "make test", outcome, tree, name="test")
        )

    def tree() -> str:
        return fingerprint(ground.root, ground.store.deadline, {})

    ran(Outcome.PASSED, tree())
    ground.write("code.py", "x = 1\n")
    with pytest.raises(GateClosed, match="other files"):
        ground.advance()
    ran(Outcome.FAILED, tree())
    with pytest.raises(GateClosed, match="failed"):
        ground.advance()
    ran(Outcome.PASSED, tree())
    done = ground.advance().workflow
    assert done.is_over
    assert done.phases[0].passed is not None
    assert done.phases[0].passed.tree == tree()


def test_a_file_gate_needs_the_file_inside_of_the_project(
    ground: WorkflowGround, tmp_path: Path
) -> None:
    """Missing, a folder of that name, a link that leads out or in a circle: refused; there: passed."""
    ground.start(WorkflowPhase("Build", gate="file:out/report.md"))
    with pytest.raises(GateClosed, match="the project does not have"):
        ground.advance()
    (ground.root / "out/report.md").mkdir(parents=True)
    with pytest.raises(GateClosed, match="the project does not have"):
        ground.advance()
    (ground.root / "out/report.md").rmdir()
    (ground.root / "out").rmdir()
    (tmp_path / "report.md").write_text("x")
    for place in (tmp_path, ground.root / "out"):
        (ground.root / "out").symlink_to(place)
        with pytest.raises(GateClosed, match="the project does not have"):
            ground.advance()
        (ground.root / "out").unlink()
    ground.write("out/report.md", "")
    assert ground.advance().workflow.is_over


def test_a_persons_gate_is_passed_and_skipped_by_a_person_only(ground: WorkflowGround) -> None:
    """Inside of the client neither advance nor skip goes by; a prompt from after the question does."""
    ground.start("A", WorkflowPhase("Agree", gate="person"))
    ground.advance()
    with pytest.raises(PersonAsked, match="Only a person"):
        ground.advance()
    with pytest.raises(PersonAsked, match="Only a person"):
        ground.steps.set_status(PhaseStatus.SKIPPED, reason="no")
    asked = ground.one().phases[1].asked_at
    assert asked
    ground.presence = Presence(is_inside=True, prompted_at=asked - 1)
    with pytest.raises(PersonAsked):
        ground.advance()
    assert ground.one().phases[1].asked_at == asked
    ground.presence = Presence(is_inside=True, prompted_at=asked + 1)
    done = ground.advance().workflow
    assert done.phases[1].passed is not None
    assert done.phases[1].passed.how == "person: prompt after the question"


def test_a_person_at_a_terminal_needs_no_question(ground: WorkflowGround) -> None:
    """Who is outside of the client is a person."""
    ground.start(WorkflowPhase("Agree", gate="person"), "B")
    ground.presence = Presence(is_inside=False)
    skipped = ground.steps.set_status(PhaseStatus.SKIPPED, reason="agreed by mail").workflow
    assert skipped.phases[0].gate
    assert skipped.phases[0].status is PhaseStatus.SKIPPED
    assert skipped.phases[0].reason == "agreed by mail"
    assert "(skipped: agreed by mail)" in ground.view()


def test_no_phase_begins_behind_a_gate(ground: WorkflowGround) -> None:
    """A later phase is neither begun nor completed nor failed while a gate before it stands."""
    ground.start(WorkflowPhase("A", gate="file:x"), "B")
    words = "comes after the gate"
    with pytest.raises(Refused, match=words):
        ground.steps.set_status(PhaseStatus.ACTIVE, "2", is_report=True)
    with pytest.raises(Refused, match=words):
        ground.advance(phase="2")
    with pytest.raises(Refused, match=words):
        ground.steps.set_status(PhaseStatus.FAILED, "2", reason="no")
    ground.steps.set_status(PhaseStatus.SKIPPED, "1", reason="no time")
    assert ground.one().phases[1].status is PhaseStatus.ACTIVE


def test_several_phases_are_active_at_once(ground: WorkflowGround) -> None:
    """Phases without a gate between them may run beside each other; `current_phase` stays one string."""
    ground.start("A", "B", "C")
    both = ground.steps.set_status(PhaseStatus.ACTIVE, "B", is_report=True).workflow
    assert both.active == (0, 1)
    data = json.loads(ground.document().read_text())
    assert data["current_phase"] == "phase_1"
    assert data["lifecycle"]["current_phases"] == ["phase_0", "phase_1"]
    assert ground.advance(phase="A").workflow.current == 1


def test_what_fails_is_tried_again_and_remembered(ground: WorkflowGround) -> None:
    """Attempts, errors and times stay; a completed phase does not come back, and the refusal says so."""
    ground.start(WorkflowPhase("A", agent="qa"), "B")
    ground.steps.set_status(PhaseStatus.FAILED, reason="no network")
    ground.clock.offset += 60
    ground.steps.set_status(PhaseStatus.ACTIVE)
    ground.clock.offset += 60
    done = ground.advance().workflow.phases[0]
    assert (done.attempts, [error.text for error in done.errors]) == (2, ["no network"])
    assert done.seconds == pytest.approx(120, abs=30)
    with pytest.raises(IllegalMove, match="completed is the end"):
        ground.steps.set_status(PhaseStatus.ACTIVE, "1")


def test_a_workflow_is_completed_when_one_phase_is_left_or_given_up(ground: WorkflowGround) -> None:
    """Several that are left are named; giving it up needs a reason, which stays; neither comes back."""
    ground.start("A", "B")
    with pytest.raises(Refused, match="2 phases are left"):
        ground.steps.complete()
    done = ground.steps.complete(give_up="the customer left").workflow
    assert done.status.value == "failed"
    assert done.given_up == "the customer left"
    assert ground.checkpoints() == []
    assert ground.store.read().unfinished == ()
    with pytest.raises(NoWorkflow):
        ground.advance()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"phases": ()}, "1 to 100 phases"),
        ({"phases": (WorkflowPhase(" "),)}, "no title"),
        ({"phases": (WorkflowPhase("A", gate="maybe"),)}, "not a gate"),
        ({"phases": (WorkflowPhase("A", gate="file:../x"),)}, "leads out"),
        ({"reading": ("/etc/passwd",)}, "leads out"),
        ({"context": {"a": "x" * MOST_CONTEXT}}, "is the limit"),
        ({"reminders": ("x",) * 101}, "is the limit"),
        ({"task": "x" * 20_001}, "is the limit"),
        ({"name": "--"}, "no letter or digit"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_not_allowed_is_refused_before_anything_is_written(
    ground: WorkflowGround, change: dict[str, object], words: str
) -> None:
    """Each limit has its sentence, and nothing lies there afterwards."""
    given = {"phases": (WorkflowPhase("A"),), "name": "X"} | change
    with pytest.raises(Refused, match=words):
        ground.steps.start(Workflow("", **given))  # type: ignore[arg-type] # one is changed at a time
    assert ground.documents() == {}


def test_what_a_phase_hands_on_is_limited(ground: WorkflowGround) -> None:
    """A context that is too long is refused, and the phase stays."""
    ground.start("A", "B")
    with pytest.raises(Refused, match="Put it in a file"):
        ground.advance(context_for_next="x" * (MOST_TEXT + 1))
    assert ground.one().current == 0


def test_no_secret_goes_into_a_document(ground: WorkflowGround) -> None:
    """What looks like a token is taken out of every text that is given."""
    token = "ghp_" + "a1B2" * 9
    ground.start("A", "B", task=f"use {token}")
    ground.advance(deliverables=[token], context_for_next=token)
    written = b"".join(ground.documents().values())
    assert b"use ***" in written
    assert token.encode() not in written


def test_a_template_of_the_project_is_read_and_used(ground: WorkflowGround) -> None:
    """A project's own template comes back as it was written, and a workflow begins with what it says."""
    phase = WorkflowPhase(
        "Freeze", agent="rm", reading=("@a.md",), reminders=('"q"\n',), gate="check:test"
    )
    made = WorkflowTemplate((phase,), context={"a b": 1}, reminders=("é",))
    path = ".claude/workflow-templates/release.toml"
    ground.write(path, "\n".join(drawn("template", template=made)))
    assert template(ground.root, "release") == made
    assert template_names(ground.root)[-1] == "release"
    begun = ground.steps.start(Workflow("", "R 1"), "release").workflow
    assert begun.phases[0].gate == "check:test"
    assert begun.context == {"a b": 1}
    assert not begun.is_foreign
    subprocess.run(["git", "-C", ground.root, "add", "-f", path], check=True)
    assert ground.steps.start(Workflow("", "R 2"), "release").workflow.is_foreign


@pytest.mark.parametrize("content", ["phases = 1", "x = [", 'type = "a"', '[[phases]]\nname = "a"'])
def test_a_template_that_is_none_is_refused(ground: WorkflowGround, content: str) -> None:
    """What is no TOML, of another form, or has no phase: one sentence with the file's name."""
    ground.write(".claude/workflow-templates/odd.toml", content)
    with pytest.raises(Refused, match=r"odd\.toml is not a template"):
        template(ground.root, "odd")
    with pytest.raises(Refused, match='Did you mean "qa-loop"'):
        template(ground.root, "qa-lop")


def test_the_supplied_templates_are_in_the_projects_own_form(ground: WorkflowGround) -> None:
    """Each can be written as a project's own, and is the same then."""
    supplied = {name: made for name, made in supplied_templates().items() if made.phases}
    assert "planning" in supplied
    for name, made in supplied.items():
        text = "\n".join(drawn("template", template=made))
        ground.write(f".claude/workflow-templates/{name}.toml", text)
        assert template(ground.root, name) == made


def test_what_a_living_session_works_on_is_moved_by_nobody_elses_session(
    ground: WorkflowGround,
) -> None:
    """By its name, too, it is that session's alone; a person, or whoever comes later, may move it."""
    ground.asker = Asker("owner", os.getpid())
    ground.start("A", "B", "C", name="Auth")
    other = replace(ground, asker=Asker("other", 0))
    before = ground.documents()
    moves: tuple[Callable[[], object], ...] = (
        lambda: other.advance(name="Auth"),
        lambda: other.steps.set_status(PhaseStatus.BLOCKED, reason="x", name="Auth"),
        lambda: other.steps.complete("Auth", give_up="mine"),
    )
    for move in moves:
        with pytest.raises(Refused, match='"Auth" is led by another session, which still runs'):
            move()
    assert ground.documents() == before
    assert other.steps.named(other.store.read(), "Auth").workflow.name == "Auth"  # anybody may look
    replace(ground, asker=Asker()).advance(name="Auth")
    assert ground.one().session == "owner"
    ground.asker = Asker("owner", 0)
    ground.steps.set_status(PhaseStatus.BLOCKED, reason="gone")
    other.steps.set_status(PhaseStatus.ACTIVE, name="Auth")
    assert ground.one().session == "other"


def test_two_worktrees_that_begin_in_one_second_have_an_id_each(ground: WorkflowGround) -> None:
    """They share the journal, in which an id tells one workflow's history from the other's."""
    ground.clock = StillClock()
    subprocess.run(
        ["git", "-C", ground.root, "commit", "-q", "--allow-empty", "-m", "Begin"], check=True
    )
    other = ground.root.parent / "other"
    subprocess.run(["git", "-C", ground.root, "worktree", "add", "-q", other], check=True)
    ids = [
        place.start("A", name=name).workflow.id
        for place, name in ((ground, "One"), (replace(ground, root=other), "Two"))
    ]
    entries = [journal.read(ground.root, task=id_) for id_ in ids]
    assert [{entry.detail["title"] for entry in of} for of in entries] == [{"One"}, {"Two"}]


def test_who_was_to_work_on_a_skipped_phase_did_not_skip_it(ground: WorkflowGround) -> None:
    """The journal names an agent for what it did; who skipped the phase is its session."""
    ground.start(WorkflowPhase("A", agent="qa"), "B")
    ground.steps.set_status(PhaseStatus.SKIPPED, reason="not needed")
    actors = {entry.target: entry.actor for entry in journal.read(ground.root)}
    assert (actors["1 active"], actors["1 skipped"]) == ("qa", "")


def test_the_statistics_know_that_a_workflow_is_over(ground: WorkflowGround) -> None:
    """With its time, and the errors of its phases as what failed; what was given up is not done."""
    first = ground.start("A").workflow.id
    ground.clock.sleep(60)
    ground.steps.set_status(PhaseStatus.FAILED, reason="no network")
    ground.steps.set_status(PhaseStatus.ACTIVE)
    ground.clock.sleep(60)
    ground.steps.complete()
    second = ground.start("A", "B").workflow.id
    ground.steps.complete(give_up="not needed")
    told = Summary(journal.read(ground.root))
    assert told.done.keys() == {first}
    assert (told.tries[first], told.tries[second]) == (2, 0)
    assert second in told.spent
    assert told.tasks[first] == "Feature X"
    assert 120 <= told.spent[first] < 150
    assert (told.failed[first], told.failed[second]) == (1, 0)
    way = [(stay.stage, stay.target, stay.is_passed) for stay in told.told if stay.task == first]
    assert way == [("1 A", "failed", False), ("1 A", "completed", True)]
    (left,) = [stay for stay in told.told if stay.task == second]
    assert (left.stage, left.target, left.is_passed) == ("1 A", journal.CLOSED, False)
