"""Gates, reviews and moves as processes: what a command runs, records, prints and exits with."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lifecycle.run import state as run_state
from lifecycle.run.state import Run
from lifecycle.run.table import CriterionState, Gate, RunPhase, StoryStatus, TddPhase
from tests.cli.outcome import refused
from tests.run.gates.stories_ground import a_run, planned
from tests.run.run_ground import RunGround

SOAKED = pytest.mark.soak(
    "cli/run/test_run_gates.py::test_a_story_is_completed_and_the_run_comes_to_its_end",
    "run/gates/test_gate_rules.py::test_each_thing_that_is_missing_is_named_and_alone",
)

PLATFORM = {
    "name": "own",
    "markers": ["run.sh"],
    "priority": 5,
    "commands": {
        "build": ["sh", "run.sh", "build"],
        "test": ["sh", "run.sh", "test"],
        "coverage": ["sh", "run.sh", "coverage"],
        "lint": ["sh", "run.sh", "lint"],
        "lintFix": ["sh", "fix.sh"],
    },
    "coverage": {"pattern": "^TOTAL (\\d+)%"},
    "qualityGates": {"coverage": {"M": 75}},
}
SCRIPT = """\
echo "$1" >> "$HOME/ran"
case $1 in
    test) grep -q broken code.py && { echo 'AssertionError: 1 != 2'; echo '= 1 failed in 0.1s ='; exit 1; }
        echo '======= 3 passed in 0.1s =======';;
    coverage) echo TOTAL 80%;;
    lint) ! grep -q unformatted code.py;;
esac
"""


@pytest.fixture
def project(ground: RunGround) -> RunGround:
    """A worktree of the user's own platform, with a planned run whose story has begun on a commit."""
    home = Path(ground.environment["HOME"])
    folder = home / ".config/lifecycle/platforms/own"
    folder.mkdir(parents=True)
    (folder / "platform.json").write_text(json.dumps(PLATFORM))
    (ground.root / "run.sh").write_text(SCRIPT)
    commit(ground, "one = 1\n")
    ground.kept(a_run(planned(), phase=RunPhase.PLANNING))
    assert ground.said("update-story", "S1", "in_progress").splitlines() == [
        "Updated story S1: in_progress",
        "Iteration: 1/3",
    ]
    assert state(ground).stories[0].base == ground.git("rev-parse", "HEAD")
    return ground


def commit(ground: RunGround, code: str) -> None:
    """Write the code, and commit all."""
    (ground.root / "code.py").write_text(code)
    ground.git("add", ".")
    ground.git("commit", "--quiet", "--allow-empty", "-m", "Change")


def state(ground: RunGround) -> Run:
    """The run as its file holds it."""
    run = ground.store.load()
    assert run is not None
    return run


def with_red(ground: RunGround) -> None:
    """Let the story have its RED; that it is green is seen by the runs of the tests."""
    run = state(ground)
    story = replace(run.stories[0], tdd=TddPhase.VERIFY, red=run_state.TestProof(1.0))
    ground.kept(run.with_story(story))


def ran(ground: RunGround) -> list[str]:
    """What ran since this was asked last."""
    path = Path(ground.environment["HOME"]) / "ran"
    words = path.read_text().split() if path.exists() else []
    path.unlink(missing_ok=True)
    return words


def test_a_gate_is_run_and_recorded_and_not_run_again(project: RunGround) -> None:
    """Its parts, its tree, and that it passed before; --anew and an edit run it again."""
    said = project.said("gate", "G5")
    assert said.startswith("Gate G5: PASS for S1 on tree ")
    assert "- test: PASS (3 tests) `sh run.sh test`" in said
    assert ran(project) == ["build", "test"]
    said = project.said("gate", "g5", "s1")
    assert "Note: test passed on exactly these files at " in said
    assert ran(project) == []
    project.said("gate", "G5", "--anew")
    assert ran(project) == ["build", "test"]
    (project.root / "code.py").write_text("one = 2\n")
    data = project.data("gate", "G5")
    assert (data["state"], data["story"], data["parts"][1]["tests"]) == ("PASS", "S1", 3)
    assert data["tree"] == state(project).stories[0].gates[-1].tree
    assert ran(project) == ["build", "test"]


@SOAKED
def test_a_gate_that_fails_adds_what_failed(project: RunGround) -> None:
    """Exit 1, the failure with its category, and what is to be done; words change nothing of it."""
    commit(project, "broken\n")
    done = project.run("gate", "G5", "S1")
    assert done.returncode == 1
    assert "AssertionError: 1 != 2" in done.stderr
    assert "- test: FAIL" in done.stdout
    assert "DO NOT complete story, retry." in done.stdout
    assert "Added failure: F1 [code]" in done.stdout
    (failure,) = state(project).stories[0].failures
    assert (failure.source, "AssertionError" in failure.text) == ("G5", True)
    before = state(project)
    details = "all\ngreen " + "x" * 500
    said = project.said("verify", "S1", "testsPass", "--passed", "--details", details)
    assert "That is recorded, but not shown: lifecycle run gate G5 S1 shows it." in said
    assert "all green" not in project.said("status") + project.said("status", "--json")
    assert state(project) == before
    said = f"Said of S1: testsPass PASSED ({details.replace(chr(10), ' ')[:500]}) by "
    assert said in project.said("progress")
    assert "G5 (testsPass) FAILED" in refused(project.run("update-story", "S1", "completed"))
    assert "Iteration: 2/3" in project.said("update-story", "S1", "in_progress")


def test_a_gate_that_is_told_to_end_shows_nothing(project: RunGround) -> None:
    """Neither a record nor a failure: the client's time limit and a shutdown are none of the code's."""
    (project.root / "run.sh").write_text("kill -TERM $PPID; exec sleep 1000\n")
    before = state(project)
    for words in (("gate", "G5", "S1"), ("gate", "G7")):
        done = project.run(*words)
        assert (done.returncode, done.stdout) == (130, "")
        assert "Interrupted; what was done so far is kept." in done.stderr
    assert state(project) == before


def test_a_check_that_formats_is_run_once_more(project: RunGround) -> None:
    """It is no failure of the story, however often: only if it never ends to change a file it is one."""
    script = "case $1 in build) grep -q formatted code.py || echo formatted >> code.py;;"
    script += " test) echo '= 3 passed in 0.1s =';; esac\n"
    (project.root / "run.sh").write_text(script)
    for number in range(4):
        commit(project, f"one = {number}\n")
        done = project.run("gate", "G2")
        assert (done.returncode, state(project).stories[0].failures) == (1, ())
        assert "- build: PENDING: code.py changed meanwhile, so it shows nothing" in done.stdout
        assert "run it once more: lifecycle run gate G2 S1" in done.stdout
        assert project.said("gate", "G2").startswith("Gate G2: PASS")
    commit(project, "one = 4\n")
    done = project.run("gate", "G7")
    assert "once more: lifecycle run gate G7" in done.stdout, done.stdout
    assert "Verification failed" not in done.stdout
    (project.root / "run.sh").write_text("echo $$ >> code.py\n")
    commit(project, "one = 5\n")
    assert "PENDING: code.py changed meanwhile" in project.run("gate", "G2").stdout
    assert "FAIL: code.py changed again" in project.run("gate", "G2").stdout
    assert "code.py changed again" in state(project).stories[0].failures[0].text
    fight = "echo $1 > code.py; [ $1 = build ] || echo '= 3 passed in 0.1s ='\n"
    (project.root / "run.sh").write_text(fight)
    commit(project, "one = 6\n")
    said = [project.run("gate", "G5").stdout for _ in range(5)]
    for text, what in zip(said[-2:], ("test: FAIL (3 tests)", "build: FAIL"), strict=True):
        assert (
            f"- {what}: code.py changed again" in text
        )  # one undoes the other: it is said, and ends


def test_in_the_middle_of_a_merge_or_a_rebase_no_gate_is_run(project: RunGround) -> None:
    """Its files are not the story's, so they are no failure of it; once that is ended, they are checked."""
    commit(project, "one = 2\n")
    project.git("branch", "other")
    own = project.git("branch", "--show-current")
    project.git("reset", "--quiet", "--hard", "HEAD~")
    commit(project, "one = 3\n")
    before = state(project)
    stash = "echo one = 4 > code.py; git stash --quiet; git checkout --quiet other; git stash pop"
    for command, said in (
        ("git merge other", "A merge is in progress here, so nothing was checked; end it first"),
        ("git rebase other", "A rebase is in progress here, so nothing was checked; end it first"),
        (stash, "There are unmerged paths here, so nothing was checked; resolve them first"),
    ):
        words = ["sh", "-c", command]
        done = subprocess.run(words, cwd=project.root, check=False, capture_output=True, text=True)
        assert "CONFLICT" in done.stdout, done.stderr
        for gate in (("G5", "S1"), ("G7",)):
            assert said in refused(project.run("gate", *gate))
        assert (state(project), ran(project)) == (before, [])
        project.git("checkout", "--quiet", "--force", own)
        if (project.root / ".git/rebase-merge").exists():
            project.git("rebase", "--quit")
    assert project.said("gate", "G5").startswith("Gate G5: PASS")


@SOAKED
def test_coverage_is_held_against_the_storys_size(project: RunGround) -> None:
    """The platform's threshold; where it has none for that size, that is said."""
    assert "coverage: PASS: 80% of the 75% needed" in project.said("gate", "G4")
    run = state(project)
    project.kept(run.with_story(replace(run.stories[0], size="L")))
    assert "coverage: N/A: 80%; no threshold is known" in project.said("gate", "G4")


def test_what_nobody_allowed_never_runs(ground: RunGround) -> None:
    """A command of the repository's own needs its yes; nothing of the gate runs before."""
    (ground.root / ".lifecycle.toml").write_text('[checks.commands]\ntest = "touch ran"\n')
    commit(ground, "one = 1\n")
    ground.kept(a_run(planned(status=StoryStatus.IN_PROGRESS)))
    assert "lifecycle trust" in refused(ground.run("gate", "G5"))
    assert not (ground.root / "ran").exists()
    assert state(ground).stories[0].gates == ()


@SOAKED
def test_tests_are_needed_and_the_rest_is_not_applicable(ground: RunGround) -> None:
    """A project without commands: build is N/A, and recorded; no tests are no failure of code."""
    commit(ground, "one = 1\n")
    ground.kept(a_run(planned(status=StoryStatus.IN_PROGRESS)))
    assert "- build: N/A: the platform has no such command" in ground.said("gate", "G2")
    for gate in ("G3", "G5", "G7"):
        assert "[checks.commands]" in refused(ground.run("gate", gate))
    run = state(ground)
    assert [record.gate for record in run.stories[0].gates] == [Gate.G2]
    assert (run.stories[0].failures, run.gates) == ((), ())


@SOAKED
def test_the_design_is_judged_and_what_lacks_is_printed(ground: RunGround) -> None:
    """G1 is the run's, and exits with 1 until nothing lacks."""
    ground.kept(a_run(planned(design=""), phase=RunPhase.PLANNING))
    done = ground.run("gate", "G1")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "Gate G1: FAIL",
        "- S1 has no design",
        "Clarify with analyst/architect.",
    ]
    assert "S1 has no design" in refused(ground.run("update-phase", "development"))
    assert ground.run("gate", "G1", "S1").returncode == 2
    ground.said("story-plan", "S1", "--design", "a class")
    assert ground.said("gate", "G1") == "Gate G1: PASS\n"
    assert ground.said("update-phase", "development") == "Updated phase: development\n"


@SOAKED
def test_a_review_is_read_recorded_and_voided_by_an_edit(project: RunGround) -> None:
    """A finding that blocks refuses whatever the verdict says; security has a gate of its own."""
    words = ["review", "S1", "--by", "reviewer", "--verdict", "APPROVED"]
    said = project.said(*words, "--finding", "[BLOCKING] a crash")
    assert "- **[BLOCKING]** a crash" in said
    assert "The verdict was APPROVED, but something is BLOCKING" in said
    assert "Added failure: F1 [code]" in said
    refused(project.run("verify", "S1", "reviewApproved", "--passed"))
    commit(project, "one = 2\n")
    report = "### SUGGESTIONS\n- name it\n"
    assert "not marked as resolved" in refused(project.run(*words, "--report", stdin=report))
    assert "1. a crash" in project.said("review-context", "S1")
    done = project.run(*words, "--report", stdin=f"{report}\nRESOLVED: 1\n")
    assert "- **[SUGGESTION]** name it" in done.stdout
    said = project.said("review", "S1", "--by", "security", "--verdict", "REMEDIATION_NEEDED")
    assert "ESCALATION_REQUIRED: security vulnerability in S1" in said
    progress = (project.root / ".claude/workflow-progress.txt").read_text()
    assert "ESCALATION_REQUIRED: security vulnerability in S1" in progress
    assert "Added failure: F1 [code]" in progress
    assert "G6 (securityCleared)" not in refused(project.run("update-story", "S1", "completed"))
    run = state(project)
    project.kept(run.with_story(replace(run.stories[0], security=True)))
    assert project.run("gate", "G6").returncode == 1
    assert "a statement cannot change that" in refused(
        project.run("review", "S1", "--by", "security", "--verdict", "CLEARED")
    )
    commit(project, "one = 2 + 0\n")
    project.said("review", "S1", "--by", "security", "--verdict", "CLEARED")
    assert "Gate G6: PASS" in project.said("gate", "G6")
    commit(project, "one = 3\n")
    missing = refused(project.run("update-story", "S1", "completed"))
    assert "reviewApproved has no PASSED record" in missing
    assert "G6 (securityCleared) has no PASSED record" in missing


def test_a_story_is_completed_and_the_run_comes_to_its_end(project: RunGround) -> None:
    """Everything that is missing is named; once nothing is, the last gate and the loop of lint follow."""
    (project.root / "code.py").write_text("unformatted\n")
    with_red(project)
    missing = refused(project.run("update-story", "S1", "completed"))
    for name in ("criterion 1", "G5 ", "G4 ", "reviewApproved", "not committed: code.py"):
        assert name in missing
    project.said("criterion", "S1", "1", "met")
    for gate in ("G2", "G3", "G4", "G5"):
        project.said("gate", gate)
    project.said("verify", "S1", "reviewApproved", "--passed", "--by", "Ann")
    commit(project, "unformatted\n")
    said = project.said("update-story", "S1", "completed")
    assert said.splitlines() == ["Updated story S1: completed", "Next: lifecycle run gate G7"]
    story = state(project).stories[0]
    assert story.commit == project.git("rev-parse", "HEAD")
    assert story.criteria[0].state is CriterionState.MET
    refused(project.run("update-phase", "lint-fix"))
    done = project.run("gate", "G7")
    assert done.returncode == 1
    assert "| Lint | `sh run.sh lint` | FAIL |" in done.stdout
    assert "sh fix.sh" in project.said("update-phase", "lint-fix")
    for attempt in (1, 2):
        commit(project, f"unformatted {attempt}\n")
        done = project.run("gate", "G7")
        assert f"Lint fix attempt {attempt} of 3" in done.stdout
    commit(project, "unformatted 3\n")
    said = project.said("gate", "G7")
    assert "Lint issues remain - manual review needed." in said
    assert said.rstrip().endswith("Proceeding with PR creation.")
    assert state(project).blockers[0].description == "Unable to fix lint issues after 3 attempts"
    assert project.data("update-phase", "completion")["phase"] == "completion"


@pytest.mark.parametrize(
    "words",
    [
        ["gate", "G9"],
        ["gate", "G7", "S1"],
        ["verify", "S1", "testsPass"],
        ["verify", "S1", "nothing", "--passed"],
        ["review", "S1"],
        ["update-story", "S1", "flying"],
        ["update-phase", "flying"],
    ],
)
def test_a_command_line_that_means_nothing(ground: RunGround, words: list[str]) -> None:
    """Exit 2, and nothing changes."""
    ground.kept(a_run(planned(status=StoryStatus.IN_PROGRESS)))
    before: Any = state(ground)
    assert ground.run(*words).returncode == 2
    assert state(ground) == before
