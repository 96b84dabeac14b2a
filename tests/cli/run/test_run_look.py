"""Where a run stands and what is kept of it, as processes: tables on a terminal, plain when piped."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from lifecycle.run.table import KEPT_LINES, TIERS
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
    assert plain(shown).split()[:2] == ["when", "what"]
    assert "line 249" in plain(shown)
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
