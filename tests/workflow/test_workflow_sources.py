"""Sources of workflows: what CLAUDE.local.md and plans say, and what a compaction makes of it."""

from __future__ import annotations

import json
import subprocess
from dataclasses import astuple, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core.errors import Refused
from lifecycle.workflow.sources.following import followed, observe
from lifecycle.workflow.sources.source_files import LOCAL, is_standing, read_sources
from lifecycle.workflow.sources.source_text import (
    SourceFacts,
    active_plan,
    local_markers,
)
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.table import PhaseStatus
from lifecycle.workflow.whose import Asker, WorkflowChoice, chosen
from tests.workflow.workflow_ground import DESIGNS, WorkflowGround

MARKS = (DESIGNS / "local.md").read_text("utf-8")
PLAN = "CLAUDE/Plan/001-auth/PLAN.md"
PLAN_TEXT = """# Plan 001: User Auth

**Status**: 🔄 In Progress

@CLAUDE/PlanWorkflow.md

## Phase 1: Design
Status: ✅ Completed
## Phase 2 - Build 🔄
- [ ] Phase words in a list do not count here
## Phase 3: Ship
"""


@pytest.fixture
def ground(tmp_path: Path) -> WorkflowGround:
    """A worktree without workflows."""
    return WorkflowGround.made(tmp_path / "tree")


def seen(ground: WorkflowGround, session: str = "one") -> WorkflowChoice:
    """The workflows that a compaction of a session finds."""
    return observe(ground.store, Asker(session))[0]


def nothing(found: WorkflowChoice) -> bool:
    """Whether neither a workflow is meant nor another one is named."""
    return found.workflow is None and not found.others


def test_the_designs_own_markers_are_read() -> None:
    """Workflow, phase, total, title and @ lines of the example, whose heading is in small letters."""
    facts = local_markers(MARKS, LOCAL)
    assert facts is not None
    assert facts.name == "Page Orchestration - Case Studies"
    assert (facts.number, facts.total, facts.title) == (4, 10, "SEO Generation")
    assert facts.reading == ("@CLAUDE/PageOrchestration.md", "@CLAUDE/Sitemap/case-studies.md")


def test_markers_without_a_task_have_none_and_a_path_that_leads_out_is_told() -> None:
    """A file's name is taken as it is, but for the ticks behind it."""
    lines = ("workflow state", "workflow: X", "phase: 1/2 - A", "@docs/a~`", "@/etc/passwd")
    facts = local_markers("\n".join(lines), LOCAL)
    assert facts is not None
    assert (facts.task, facts.type, facts.reading) == ("", "", ("@docs/a~",))
    (refused,) = facts.refused
    assert refused.startswith('The required reading "@/etc/passwd" leads out of the project')


def test_each_phase_of_a_plan_has_the_status_below_its_own_heading() -> None:
    """Up to the next one; of boxes those count that name a phase, wherever they stand."""
    done, going, waits = PhaseStatus.COMPLETED, PhaseStatus.ACTIVE, PhaseStatus.PENDING
    marks = ("✅", "✅", "🔄", "")
    headed = "".join(f"## Phase {n}: {n}\nStatus: {mark}\n" for n, mark in enumerate(marks))
    for text, phases in (
        (headed, [("0", done), ("1", done), ("2", going), ("3", waits)]),
        ("- [x] milk\n- [ ] Phase 1: Pay\n- [x] eggs\n", [("Pay", waits)]),
    ):
        facts = active_plan(f"# P\n**Status**: 🔄 In Progress\n{text}", PLAN)
        assert facts is not None
        assert [*facts.phases] == phases


@pytest.mark.parametrize(
    ("text", "phase"),
    [
        (MARKS.upper().replace("@CLAUDE", "@claude"), (4, 10, "SEO GENERATION")),
        ("WORKFLOW STATE\n- **Workflow**: X\n- **Phase:** 2 of 3: Fix\n", (2, 3, "Fix")),
        ("workflow state\nworkflow: X\nphase: Fixing\n", (0, 0, "Fixing")),
        ("workflow state\nworkflow: X\nphase: 9/3 - odd\n", (0, 0, "9/3 - odd")),
    ],
)
def test_markers_are_read_in_any_case(text: str, phase: tuple[int, int, str]) -> None:
    """Bold, lists, `of`, no number, and numbers that make no sense."""
    facts = local_markers(text, LOCAL)
    assert facts is not None
    assert (facts.number, facts.total, facts.title) == phase


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Workflow: X\nPhase: 1/2\n",
        "workflow state\nPhase: 1\n",
        "workflow state\nWorkflow: X\n",
    ],
)
def test_without_all_three_marks_there_is_no_workflow(text: str) -> None:
    """Each of the three is needed."""
    assert local_markers(text, LOCAL) is None


def test_a_plan_in_progress_is_read() -> None:
    """Name, phases with their statuses, the current one, and the plan itself as the first reading."""
    facts = active_plan(PLAN_TEXT, PLAN)
    assert facts is not None
    assert facts.name == "Plan 001: User Auth"
    assert facts.phases == (
        ("Design", PhaseStatus.COMPLETED),
        ("Build", PhaseStatus.ACTIVE),
        ("Ship", PhaseStatus.PENDING),
    )
    assert (facts.number, facts.total) == (2, 3)
    assert facts.reading == (f"@{PLAN}", "@CLAUDE/PlanWorkflow.md")


@pytest.mark.parametrize(
    "text",
    [
        "# P\n🔄 In Progress\n",
        "# P\nphase\n",
        "# P\n✅ Done\nphase 1\n",
        "# P\n**Status**: In Progress\nphase",
    ],
)
def test_a_plan_needs_its_mark_and_a_keyword(text: str) -> None:
    """Both parts of the design's rule are needed."""
    assert active_plan(text, PLAN) is None


@given(st.text(), st.booleans())
def test_no_text_breaks_a_reader(text: str, is_plan: bool) -> None:
    """Whatever stands beside its marks, it is read, and what comes out fits a record."""
    whole = f"workflow state\nworkflow: W{text}\nphase: 1/2 {text}\n🔄 In Progress\n{text}"
    facts = active_plan(whole, PLAN) if is_plan else local_markers(whole, LOCAL)
    assert facts is not None
    assert all(path.startswith("@") for path in facts.reading)


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("not started", PhaseStatus.PENDING),
        ("In Progress", PhaseStatus.ACTIVE),
        ("completed", PhaseStatus.COMPLETED),
        ("**Blocked**", PhaseStatus.BLOCKED),
        ("whatever", PhaseStatus.ACTIVE),
    ],
)
def test_markers_say_what_else_they_know(word: str, status: PhaseStatus) -> None:
    """Type, task and status; the first line of each kind counts, and a word that is none is "active"."""
    text = f"Workflow state\nWorkflow: X\nPhase: 1/2 Do\nStatus: {word}\nTask: do it\nStatus: blocked\n"
    for line, kind in (("", ""), ("Type: qa\n", "qa"), ("Type: qa\nWorkflow type: own\n", "own")):
        facts = local_markers(text + line, LOCAL)
        assert facts == SourceFacts(
            LOCAL, "X", number=1, total=2, title="Do", status=status, type=kind, task="do it"
        )


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        ("1/1", (1, 1, "")),
        ("100/100: End", (100, 100, "End")),
        ("1 of 3 \u2013 Go", (1, 3, "Go")),
        ("1 OF 3) Go", (1, 3, "Go")),
        ("0/3 Go", (0, 0, "0/3 Go")),
        ("4/3 Go", (0, 0, "4/3 Go")),
        ("1/101 Go", (0, 0, "1/101 Go")),
        ("3/3 Go", (3, 3, "Go")),
    ],
)
def test_numbers_of_a_phase_make_sense_or_are_its_title(
    said: str, numbers: tuple[int, int, str]
) -> None:
    """From one to the total, and that at most a hundred."""
    facts = local_markers(f"workflow state\nworkflow: X\nphase: {said}\n", LOCAL)
    assert facts is not None
    assert (facts.number, facts.total, facts.title) == numbers


def test_a_long_line_of_markers_is_cut() -> None:
    """At three hundred characters."""
    facts = local_markers(f"workflow state\nworkflow: {'a' * 400}\nphase: x\n", LOCAL)
    assert facts is not None
    assert facts.name == "a" * 300


def test_what_a_source_does_not_say_is_nothing() -> None:
    """No number, no title, no reading; and it goes on."""
    assert astuple(SourceFacts("a", "n")) == (
        *("a", "n", (), 0, 0, "", PhaseStatus.ACTIVE),
        *("", "", (), ()),
    )


def plan(text: str) -> SourceFacts:
    """What a plan in progress says."""
    facts = active_plan(f"{text}\n🔄 In Progress, by phase\n", PLAN)
    assert facts is not None
    return facts


@pytest.mark.parametrize(
    ("mark", "status"),
    [
        ("✅", PhaseStatus.COMPLETED),
        ("Complete", PhaseStatus.COMPLETED),
        ("completed", PhaseStatus.COMPLETED),
        ("Done", PhaseStatus.COMPLETED),
        ("🔄", PhaseStatus.ACTIVE),
        ("In progress", PhaseStatus.ACTIVE),
        ("⛔", PhaseStatus.BLOCKED),
        ("🚫", PhaseStatus.BLOCKED),
        ("❌", PhaseStatus.BLOCKED),
        ("Blocked", PhaseStatus.BLOCKED),
        ("⏭", PhaseStatus.SKIPPED),
        ("Skipped", PhaseStatus.SKIPPED),
        ("undone, unblocked", PhaseStatus.PENDING),
        ("", PhaseStatus.PENDING),
    ],
)
def test_each_mark_of_a_plan_has_its_status(mark: str, status: PhaseStatus) -> None:
    """In a heading, on the first status line below it, and in an entry; as a whole word in any case."""
    assert plan(f"## Phase 1: A {mark}").phases[0][1] is status
    below = f"## Phase 1: A\nsaid\nStatus: {mark}\nStatus: ✅ ⛔\n## Phase 2: B\n### Status ✅\n"
    assert plan(below).phases[0] == ("A", status)
    assert plan(f"- [ ] Phase 1: A {mark}").phases[0][1] is status
    assert plan(f"## Phase 1: A\n{mark}\n## Phase 2: B").phases[0][1] is PhaseStatus.PENDING


def test_a_heading_that_speaks_of_a_status_is_no_status_line() -> None:
    """The first line below it that does is."""
    facts = plan("## Phase 1: Status page\nStatus: ✅\n")
    assert facts.phases == (("Status page", PhaseStatus.COMPLETED),)
    below = plan("## Phase 1: A\n## Phase 2: B\nStatus: ✅\n")
    assert [status for _, status in below.phases] == [PhaseStatus.PENDING, PhaseStatus.COMPLETED]


def test_a_box_that_is_ticked_is_completed() -> None:
    """Whatever the entry says; its title has neither marks nor emphasis."""
    boxes = "- [x] Blocked\n* [X] **Two** `b`\n+ [ ] Three 🔄\n- [~] Four\n- [-] Phase\n- no box\n"
    assert plan(boxes).phases == (
        ("Blocked", PhaseStatus.COMPLETED),
        ("Two b", PhaseStatus.COMPLETED),
        ("Three", PhaseStatus.ACTIVE),
        ("Four", PhaseStatus.PENDING),
        ("Phase", PhaseStatus.PENDING),
    )


def test_a_plan_lists_its_phases_in_one_of_three_ways() -> None:
    """Headings count before entries that say "phase", and those before entries that do not."""
    plain, named = "- [ ] Look\n", "- [x] Phase 7\n- [ ] Phase 8 - Do\n"
    assert plan(plain).phases == (("Look", PhaseStatus.PENDING),)
    both = (("Phase 7", PhaseStatus.COMPLETED), ("Do", PhaseStatus.PENDING))
    assert plan(plain + named).phases == both
    assert plan(f"{plain}{named}### **Phase 3**").phases == (("Phase 3", PhaseStatus.PENDING),)


def test_phases_of_one_title_keep_what_is_known_of_each() -> None:
    """The first of a plan is the first that was known by that title, wherever others stand now."""
    rows = [
        WorkflowPhase("Test", agent="ann"),
        WorkflowPhase("Do"),
        WorkflowPhase("Test", agent="ben"),
    ]
    known = Workflow("wf", "Auth", phases=tuple(rows))
    facts = plan("- [x] Test\n- [ ] Test\n- [ ] Do\n- [ ] Test")
    after = followed(known, facts, 0.0, is_foreign=False).phases
    assert [phase.agent for phase in after] == ["ann", "ben", "", ""]
    assert [phase.title for phase in after] == ["Test", "Test", "Do", "Test"]


@pytest.mark.parametrize(
    ("marks", "number"),
    [("✅ 🔄 ✅ 🔄", 2), ("✅ ⛔ : 🔄", 4), ("✅ : ⛔", 2), ("✅ ⏭ :", 3), ("✅ ⏭", 0), (":", 1)],
)
def test_a_plan_is_at_the_phase_that_goes_on(marks: str, number: int) -> None:
    """The first that is marked so, else the first that is not over; else it is at none."""
    listed = marks.split()
    facts = plan("\n".join(f"## Phase {n}: T{n} {mark}" for n, mark in enumerate(listed, 1)))
    assert (facts.number, facts.total) == (number, len(listed))
    assert facts.title == (f"T{number}" if number else "In progress")


def test_a_plan_without_phases_is_one_phase() -> None:
    """Its name is its first heading without marks, else its folder's; a heading may close itself."""
    facts = plan("# Plan 7: **X** 🔄 ##\n# Other")
    assert (facts.name, facts.phases, facts.number, facts.total) == ("Plan 7: X", (), 1, 1)
    assert (facts.title, facts.status) == ("In progress", PhaseStatus.ACTIVE)
    assert plan("no heading").name == plan("# 🔄").name == "001-auth"


def test_a_plan_has_a_hundred_phases_at_most() -> None:
    """The others are left out; a long title is cut."""
    facts = plan("\n".join(f"- [ ] {'a' * 400}" for _ in range(101)))
    assert facts.phases == (("a" * 300, PhaseStatus.PENDING),) * 100
    assert facts.total == 100


@pytest.mark.parametrize("words", ["WORKFLOW", "Phase"])
@pytest.mark.parametrize("mark", ["🔄 in progress", "🔄\ufe0f **IN  PROGRESS**", "🔄in progress"])
def test_a_plan_goes_on_by_its_mark_and_a_word(words: str, mark: str) -> None:
    """In any case of letters."""
    assert active_plan(f"{mark} {words}", PLAN) is not None
    assert active_plan(f"{mark}", PLAN) is None


def test_what_a_source_has_read_is_listed_once() -> None:
    """A hundred paths at most, and twenty sentences about those that lead out."""
    lines = [f"- @a{n}.md" for n in range(101)] + ["> `@x`", "*  @`a0.md` "]
    facts = plan("\n".join([*lines, *(f"@../{n}" for n in range(21))]))
    assert facts.reading == (f"@{PLAN}", *(f"@a{n}.md" for n in range(100)))
    assert len(facts.refused) == 20
    assert [f'"@../{n}"' in sentence for n, sentence in enumerate(facts.refused)] == [True] * 20


def test_facts_that_differ_have_other_digests() -> None:
    """Sixteen signs that depend on each of them and on nothing else."""
    facts = plan("## Phase 1: A")
    assert facts.digest == plan("## Phase 1: A").digest
    others = [replace(facts, title="B"), replace(facts, reading=()), replace(facts, path="b")]
    assert len({one.digest for one in (facts, *others)}) == 4
    assert len(facts.digest) == 16


def test_a_compaction_creates_and_then_updates_one_checkpoint(ground: WorkflowGround) -> None:
    """The first creates it, later ones follow the source; `created_at` and the path stay for ever."""
    ground.write(LOCAL, MARKS)
    first = seen(ground)
    assert first.workflow is not None
    assert first.workflow.name == "Page Orchestration - Case Studies"
    (path,) = ground.checkpoints()
    before = json.loads(path.read_text())
    assert path.parent.name == "page-orchestration-case-studies"
    assert before["phase"] == {
        "current": 4,
        "total": 10,
        "name": "SEO Generation",
        "status": "in_progress",
    }
    ground.clock.offset += 100
    ground.write(LOCAL, MARKS.replace("4/10 - SEO Generation", "5/10 - Review"))
    second = seen(ground)
    assert second.workflow is not None
    assert second.workflow.name == first.workflow.name
    assert ground.checkpoints() == [path]
    after = json.loads(path.read_text())
    assert after["phase"]["name"] == "Review"
    assert after["created_at"] == before["created_at"]
    assert after["lifecycle"]["record"]["compactions"] == 2


def test_without_a_workflow_a_compaction_makes_none(ground: WorkflowGround) -> None:
    """No markers, no plan, no state: nothing is created."""
    assert nothing(seen(ground))
    assert ground.documents() == {}


def test_several_sources_are_several_workflows_and_all_are_named(ground: WorkflowGround) -> None:
    """Markers and two plans: three checkpoints; one is the session's, the others are named."""
    ground.write(LOCAL, MARKS)
    ground.write(PLAN, PLAN_TEXT)
    ground.write("CLAUDE/Plan/002-x/PLAN.md", PLAN_TEXT.replace("001: User Auth", "002: X"))
    found = seen(ground)
    assert len(ground.checkpoints()) == 3
    assert found.workflow is not None
    named = {found.workflow.name, *(one.name for one in found.others)}
    assert named == {"Page Orchestration - Case Studies", "Plan 001: User Auth", "Plan 002: X"}


def test_a_source_counts_only_while_it_says_in_progress(ground: WorkflowGround) -> None:
    """A plan that is done, or gone, restores nothing; one that was changed much, and goes on, does."""
    ground.write(PLAN, PLAN_TEXT)
    seen(ground)
    changed = "# Another name\n🔄 In Progress\n## Phase 1: All new\n"
    ground.write(PLAN, changed)
    assert is_standing(ground.root, ground.one())
    assert chosen(ground.root, ground.store.read().open_records, Asker("one")).workflow is not None
    ground.write(PLAN, changed.replace("🔄 In Progress", "✅ Completed"))
    assert chosen(ground.root, ground.store.read().open_records, Asker("one")).workflow is None
    (ground.root / PLAN).unlink()
    assert not is_standing(ground.root, ground.one())


def test_markers_that_name_another_workflow_end_the_first(ground: WorkflowGround) -> None:
    """The file tells of one workflow at a time."""
    ground.write(LOCAL, MARKS)
    seen(ground)
    ground.write(LOCAL, MARKS.replace("Page Orchestration - Case Studies", "Other"))
    found = seen(ground)
    assert found.workflow is not None
    assert found.workflow.name == "Other"
    assert chosen(ground.root, ground.store.read().open_records, Asker("one")).others == ()


def test_of_two_that_no_session_has_the_one_whose_source_moved_last_is_meant(
    ground: WorkflowGround,
) -> None:
    """Its source was read just now: with that it is the last changed one."""
    ground.write(LOCAL, MARKS)
    seen(ground, "over")
    ground.clock.offset += 10
    ground.asker = Asker("over, too")
    ground.start("A", name="Later")
    ground.clock.offset += 10
    ground.write(LOCAL, MARKS.replace("4/10 - SEO Generation", "5/10 - Review"))
    found = seen(ground, "new")
    assert found.workflow is not None
    assert found.workflow.name == "Page Orchestration - Case Studies"
    assert [other.name for other in found.others] == ["Later"]


def test_what_was_completed_does_not_come_back_from_its_source(ground: WorkflowGround) -> None:
    """Marks that were left lying restore nothing; marks of a new phase are a new workflow."""
    ground.write(LOCAL, MARKS)
    seen(ground)
    ground.steps.complete(give_up="no need")
    assert seen(ground).workflow is None
    assert ground.checkpoints() == []
    ground.write(LOCAL, MARKS.replace("4/10", "5/10"))
    again = seen(ground)
    assert again.workflow is not None
    assert again.workflow.name == "Page Orchestration - Case Studies"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (LOCAL, "# Workflow State\nWorkflow: 🎉\nPhase: 1/3 - A\n"),
        ("CLAUDE/Plan/---/PLAN.md", "# 🎉\nPhase 1 🔄 In Progress\n"),
    ],
)
def test_a_source_without_a_name_is_called_by_its_path(
    ground: WorkflowGround, path: str, text: str
) -> None:
    """A name without a letter or digit kept every workflow from being brought in step."""
    ground.write(path, text)
    for count in (1, 2):
        found = seen(ground).workflow
        assert found is not None
        assert (found.name, found.compactions) == (f"workflow {path}", count)


def test_a_workflow_of_a_command_is_left_to_commands(ground: WorkflowGround) -> None:
    """Markers of the same name do not move what a command began."""
    before = ground.start("A", "B", name="Page Orchestration - Case Studies").workflow
    ground.write(LOCAL, MARKS)
    seen(ground)
    assert ground.one().phases == before.phases


def test_words_that_git_tracks_are_marked(ground: WorkflowGround) -> None:
    """A tracked source makes a workflow whose text is quoted, also once it is not tracked any more."""
    ground.write(PLAN, PLAN_TEXT)
    subprocess.run(["git", "-C", ground.root, "add", "-A"], check=True)
    found = seen(ground)
    assert found.workflow is not None
    assert found.workflow.is_foreign
    subprocess.run(["git", "-C", ground.root, "rm", "-rq", "--cached", "CLAUDE"], check=True)
    assert ground.one().is_foreign


@pytest.mark.parametrize("path", [LOCAL, PLAN])
def test_a_source_that_is_too_large_or_a_link_is_told(
    ground: WorkflowGround, tmp_path: Path, path: str
) -> None:
    """10 MB cost one sentence; a link leads to a file that is not ours."""
    text = MARKS if path == LOCAL else PLAN_TEXT
    whole = ground.write(path, text + "x" * 10_000_000)
    _, (trouble,) = read_sources(ground.root)
    assert "larger than 1 MB" in trouble
    whole.unlink()
    (tmp_path / "foreign").write_text(text)
    whole.symlink_to(tmp_path / "foreign")
    facts, troubles = read_sources(ground.root)
    assert facts == []
    assert "link" in troubles[0]


def test_a_path_in_a_source_that_leads_out_is_refused(ground: WorkflowGround) -> None:
    """`..` and absolute paths are told, and never in a checkpoint."""
    ground.write(LOCAL, MARKS + "\n@../../etc/passwd\n@/etc/shadow\n")
    _, troubles = observe(ground.store, Asker("one"))
    assert len([one for one in troubles if "leads out" in one]) == 2
    assert b"passwd" not in b"".join(ground.documents().values())


def test_a_workflow_whose_source_is_gone_leads_nobody_and_is_said_to(
    ground: WorkflowGround,
) -> None:
    """It is nobody else's either: why it leads nobody and how it ends is said, and no summary keeps it."""
    ground.write(LOCAL, MARKS)
    assert seen(ground).workflow is not None
    (ground.root / LOCAL).unlink()
    ground.asker = Asker("one")
    assert nothing(seen(ground))
    choice = ground.steps.choice(ground.store.read())
    assert (choice.workflow, choice.others) == (None, ())
    (line,) = choice.lapsed_lines
    name = "Page Orchestration - Case Studies"
    assert line.startswith(
        f'The source of "{name}", CLAUDE.local.md, no longer says that the workflow is in progress'
    )
    with pytest.raises(Refused, match="so it leads no session"):
        ground.advance()
    assert ground.steps.complete(name, give_up="over").workflow.is_over


def test_a_summary_keeps_no_workflow_that_its_source_has_completed(ground: WorkflowGround) -> None:
    """The compaction that takes the end over is the first that says nothing of it."""
    ground.write(LOCAL, MARKS)
    assert seen(ground).workflow is not None
    ground.write(LOCAL, MARKS.replace("4/10", "10/10") + "\nStatus: completed\n")
    assert nothing(seen(ground))
    assert not ground.store.read().unfinished
