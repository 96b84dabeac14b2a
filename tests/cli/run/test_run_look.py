"""Where a run stands and what is kept of it, as processes: tables on a terminal, plain when piped."""

from __future__ import annotations

import json
import os

import pytest
from msgspec.structs import replace

from lifecycle.run.state import Led
from lifecycle.run.table import KEPT_LINES, TIERS, RunStatus
from tests.cli.outcome import refused
from tests.cli.terminal import on_terminal, plain
from tests.conftest import Place
from tests.run.run_ground import RunGround
from tests.run.texts.texts_ground import a_run

SOAKED = pytest.mark.soak(
    "cli/run/test_run_look.py::test_status_is_plain_when_piped_and_a_table_on_a_terminal",
    "run/texts/test_status_text.py::test_the_facts_of_a_run_are_there",
)


def kept(ground: RunGround, seconds: float = 0.0) -> None:
    """A run in the middle of its work, begun so long ago."""
    ground.kept(replace(a_run(), started=ground.clock.now() - seconds, reported_at=0.0))


@SOAKED
def test_without_a_run_each_says_how_one_is_begun(ground: RunGround) -> None:
    """And exits 1; the platform's tables need no run."""
    for words in (["status"], ["report"], ["compact-context"]):
        assert 'lifecycle run init "GOAL"' in refused(ground.run(*words))
    assert ground.said("progress") == "There is no progress yet.\n"


def test_status_is_plain_when_piped_and_a_table_on_a_terminal(
    ground: RunGround, place: Place
) -> None:
    """The same facts, with and without Markdown."""
    kept(ground)
    piped = ground.said("status")
    assert piped.startswith("## Workflow Status")
    assert "| S2 | Pay \\| by card (security) | L | in_progress | green | 2 |" in piped
    assert ground.data("status")["stories"][1]["tdd_phase"] == "green"
    here = Place(place.info, place.control, ground.root, ground.environment)
    for width in (160, 80):
        code, shown = on_terminal(here, width, "run", "status")
        assert code == 0
        text = plain(shown)
        assert "##" not in text
        assert "Pay | by card (security)" in " ".join(text.split())
        assert "Next steps" in text


def test_progress_is_the_end_of_the_file(ground: RunGround, place: Place) -> None:
    """Its last lines; trimming keeps so many."""
    kept(ground)
    with ground.store.locked():
        for number in range(250):
            ground.store.note(ground.clock.now(), f"line {number}")
    lines = ground.said("progress", "--lines", "20").splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == [f"line {n}" for n in range(230, 250)]
    here = Place(place.info, place.control, ground.root, ground.environment)
    code, shown = on_terminal(here, 100, "run", "progress", "--lines", "2")
    assert code == 0
    last = [line.split(" ", 1)[1].strip() for line in plain(shown).splitlines()]
    assert last == ["line 248", "line 249"]
    assert "100 of 250 lines are left" in ground.said("trim-progress", "--lines", "100")
    assert ground.data("trim-progress") == {"before": KEPT_LINES, "kept": KEPT_LINES}
    assert len(ground.data("progress", "--lines", "1000")["lines"]) == KEPT_LINES


@SOAKED
def test_a_report_is_printed_and_recorded(ground: RunGround) -> None:
    """From then on the next one counts; the progress file has a line of it."""
    kept(ground, 2_000)
    assert "A progress report is due" in ground.said("status")
    assert ground.said("report").startswith("## Progress Report\n")
    run = ground.store.demanded()
    assert run.reported_at > run.started
    assert run.reported_stories == 1
    assert "A progress report is due" not in ground.said("status")
    assert "Progress report: 1/4 stories completed" in ground.said("progress")
    assert ground.data("report")["stories"]["Blocked"] == 1


@SOAKED
def test_compacting_goes_by_the_length_of_the_run(ground: RunGround) -> None:
    """Within four hours the file stays whole; beyond, completed stories are summaries in it."""
    kept(ground)
    assert "## Compact Context" in ground.said("compact-context")
    assert ground.store.demanded().story("S1").failures
    kept(ground, TIERS[1].until)
    said = ground.said("compact-context")
    assert "over 4 hours" in said
    assert "of completed stories all but a summary" in said
    assert not ground.store.demanded().story("S1").failures
    assert ground.data("compact-context")["completed_count"] == 1


@SOAKED
def test_the_platform_of_a_run_in_three_tables(ground: RunGround) -> None:
    """As they stand in the workflow's page; the block for subagents has the goal and the answers, too."""
    assert "gates run only what .lifecycle.toml names" in refused_of_platform(ground)
    (ground.root / "pyproject.toml").write_text('[project]\nname = "pay"\n')
    said = ground.said("platform")
    heads = [line for line in said.splitlines() if line.startswith("## ")]
    assert heads == [
        "## Platform Discovery",
        "## Platform Detection",
        "## Platform Configuration Loaded",
    ]
    assert ground.data("platform")["selected"]["name"]
    kept(ground)
    block = ground.said("platform-context")
    assert block.startswith("## Platform Context")
    assert "**Goal:** Implement payment processing" in block
    assert '- "What provider?" "Stripe"' in block
    assert "### Commands" in block
    assert json.dumps(block[:20])[1:-1] in ground.said("platform-context", "--json")


def refused_of_platform(ground: RunGround) -> str:
    """The last line of standard error where no platform matches."""
    done = ground.run("platform")
    assert done.returncode == 1
    return str(done.stderr)


RECORDS = (
    ["tdd-phase", "S2", "refactor"],
    ["review", "S2", "--by", "reviewer", "--verdict", "APPROVED"],
    ["gate", "G1"],
    ["gate", "G6"],
    ["verify", "S2", "testsPass", "--passed"],
    ["add-failure", "S2", "it broke"],
    ["scan-dependencies", "S2"],
    ["commit", "S2"],
    ["tdd", "waive", "S2", "--reason", "documents"],
    ["add-story", "Another"],
    ["story-plan", "S2", "--risk", "a risk"],
    ["criterion", "S2", "1", "met"],
    ["add-blocker", "no key"],
    ["await-user-fix", "0", "Add the key"],
    ["add-clarification", "Which?", "That"],
    ["update-story", "S2", "review"],
    ["update-phase", "planning"],
)


def test_nothing_is_recorded_in_a_run_that_was_stopped(ground: RunGround) -> None:
    """Each command refuses with the way on; one that looks goes on, and the run stays as it was."""
    ground.git("commit", "--quiet", "--allow-empty", "-m", "first")
    kept(ground)
    run = ground.store.demanded()
    stopped, completed = (RunStatus.STOPPED, "run resume"), (RunStatus.COMPLETED, "run init")
    for (status, way), records in ((stopped, RECORDS), (completed, RECORDS[:2])):
        ground.kept(replace(run, status=status, why="too dear"))
        before = ground.state.read_bytes()
        for words in records:
            said = refused(ground.run(*words))
            assert f"The run is {status} (too dear), so nothing was changed." in said, words
            assert f"lifecycle {way}" in said
        assert ground.state.read_bytes() == before
        assert ground.said("status").startswith("## Workflow Status")


def test_a_session_beside_the_one_that_leads_may_look(ground: RunGround) -> None:
    """Report and context are printed for it, and neither file of the run is another one then."""
    kept(ground, 5 * 3_600)
    run = ground.store.demanded()
    ground.kept(replace(run, led=(Led("the-leading-one", ground.clock.now(), os.getpid()),)))
    progress = ground.state.with_name("workflow-progress.txt")
    progress.write_text("a line\n" * 300)
    before = ground.state.read_bytes(), progress.read_bytes()
    beside = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "another"}
    assert ground.said("report", **beside).startswith("## Progress Report\n")
    assert ground.said("compact-context", **beside).startswith("## Compact Context\n")
    assert "is led by another session" in refused(ground.run("trim-progress", **beside))
    assert (ground.state.read_bytes(), progress.read_bytes()) == before
    leading = {**beside, "CLAUDE_CODE_SESSION_ID": "the-leading-one"}
    assert ground.said("report", **leading).startswith("## Progress Report\n")
    assert ground.state.read_bytes() != before[0]
