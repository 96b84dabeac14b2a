"""docs/operations.md on the staged workflow: stages, settings, commands and log lines are as it says."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest

from lifecycle.cli import main
from lifecycle.core.stage_names import MARKERS, Detected
from lifecycle.core.values.configured import MAX_BLOCKS
from lifecycle.evidence.records import KEPT
from lifecycle.settings import config
from lifecycle.setup.init.hook_table import CAP, STAGE_PERMISSIONS
from lifecycle.setup.init.supplies import DETECT, ORCHESTRATOR, SIGNED, page_of, supplies
from lifecycle.stages.decisions.decide import IDLE_BLOCKS
from lifecycle.stages.decisions.instructions import NEEDS_REVIEW
from lifecycle.stages.session.session_record import OLD_SECONDS
from lifecycle.stages.session.workflow_tasks import INACTIVE_SECONDS
from lifecycle.storage import log
from lifecycle.trackers.beads.bd_here import START
from tests.conftest import Place
from tests.docs.pages import README, REFERENCE, ROOT, Page, codes_in
from tests.e2e.staged import Ground, marker
from tests.trackers.beads import simulated

PAGE = Page(ROOT / "docs/operations.md")
WORKFLOW = "The staged workflow"
BLOCKS = PAGE.blocks_under(WORKFLOW)
(BY_HAND,) = (block.code for block in BLOCKS if block.language == "sh")
EXAMPLES = [line.partition("  #")[0].strip() for line in BY_HAND.splitlines()]
(TOML,) = (block.code for block in BLOCKS if block.language == "toml")
(LOG,) = (block.code for block in BLOCKS if block.language == "text")


@pytest.fixture
def ground(place: Place, tmp_path: Path) -> Ground:
    """A worktree with the staged workflow on, and a tracker with one task."""
    folder = tmp_path / "bin"
    simulated.install(folder)
    simulated.workspace(place.root, folder)
    simulated.allow(place.root, place.environment)
    found = Ground(place, folder, str(place.command))
    found.settings()
    found.task("Write it")
    return found


def test_the_stages_are_those_in_code() -> None:
    """Each with the marker that ends it, in the order of the line."""
    (table,) = [table for table in PAGE.tables if table.header[0] == "stage"]
    shown = [(codes_in(row[0])[0], codes_in(row[2])[0]) for row in table.rows]
    assert shown == [(str(stage), str(state)) for stage, state in MARKERS.items()]
    assert f"`{NEEDS_REVIEW}`" in PAGE.section(WORKFLOW)
    line = " → ".join(MARKERS)
    assert line in Page(README).text


def test_the_settings_on_the_page_are_read(tmp_path: Path) -> None:
    """The example of `.lifecycle.toml` loads, and says what the text around it says."""
    (tmp_path / config.CONFIG_FILE).write_text(TOML)
    stages = config.load(tmp_path, {}).stages
    assert stages.use
    assert stages.require_evidence
    assert set(tomllib.loads(TOML)["stages"]["workflows"]) == set(stages.workflows)
    assert all(stages.is_label(label) for label in stages.workflows)
    assert all("NEXT_TASK" not in line for line in stages.workflows.values())
    assert stages.start == START


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_commands_on_the_page_run(ground: Ground, example: str) -> None:
    """Each line does what it says, where a session was led from coding to the requirements."""
    agent = ground.agent()
    agent.prompt("Write it.")
    agent.edits("code.py", "one = 1\n")
    assert (
        "CURRENT STAGE: REQUIREMENTS_REVIEW" in agent.stops(marker(Detected.CODING_COMPLETE)).model
    )
    line = re.sub(r"\blifecycle\b(?! )", "lifecycle", example)
    line = re.sub(r"(^|\| )lifecycle ", rf"\1{shlex.quote(str(ground.place.command))} ", line)
    if "stage on" in example:
        assert ground.place.cli("stage", "off").returncode == 0
    path = agent.environment["PATH"]
    done = ground.place.run("sh", "-c", line, PATH=path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


def test_the_log_looks_as_the_page_shows(ground: Ground) -> None:
    """A completed stage leaves these very lines, each with its moment in front."""
    agent = ground.agent()
    agent.prompt("Write it.")
    agent.edits("code.py", "one = 1\n")
    agent.stops(marker(Detected.CODING_COMPLETE))
    lines = (ground.root / log.STAGED_LOG).read_text().splitlines()
    form = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] (.*)")
    said = [match[1] for line in lines if (match := form.fullmatch(line))]
    assert len(said) == len(lines)
    wanted = [line.partition("] ")[2] for line in LOG.splitlines()]
    assert said[-len(wanted) :] == wanted


def test_the_lines_of_the_log_are_those_in_code() -> None:
    """What the page explains is written somewhere: the beginning of each line stands in the code."""
    (table,) = [table for table in PAGE.tables if table.header[0] == "line"]
    folders = [ROOT / "lifecycle" / name for name in ("stages", "hooks")]
    code = "".join(p.read_text("utf-8") for folder in folders for p in folder.rglob("*.py"))
    for line in table.codes():
        assert line.partition("…")[0].removesuffix(": ") in code, line


def test_the_numbers_on_the_page_are_those_in_code() -> None:
    """How often, how long, how much."""
    text = " ".join(PAGE.section(WORKFLOW).split()) + " ".join(Page(REFERENCE).text.split())
    assert IDLE_BLOCKS == 8
    assert "told to continue eight times without using a tool" in text
    assert MAX_BLOCKS == 50
    assert "50 times in all" in text
    assert INACTIVE_SECONDS == 300
    assert "after the tracker had no such task, it is not asked for five minutes" in text
    assert log.MAX_BYTES == 256 * 1024
    assert KEPT == 40
    assert "the last 40 test runs" in text
    assert OLD_SECONDS == 14 * 86_400
    assert "14 days after its last stop" in text


def test_what_init_supplies_is_named() -> None:
    """The reference lists every file, the runbook the variable and what is let run."""
    files = supplies(review="/oracle-review", start="/task-start", label="x")
    names = [supply.name for supply in files]
    assert all(SIGNED in supply.text for supply in files)
    assert f": {Detected.CODING_COMPLETE} :::" in next(s.text for s in files if "start" in s.name)
    assert {DETECT, ORCHESTRATOR} <= set(names)
    for name in names:
        assert f"`{name}`" in Page(REFERENCE).text
    assert f"`{Path(page_of(START)).name}`" in Page(REFERENCE).text
    assert f"`{CAP}`" in PAGE.section(WORKFLOW)
    assert not any("close" in rule for rule in STAGE_PERMISSIONS)


def test_the_commands_of_the_readme_run(place: Place) -> None:
    """The block on the README wires the project and labels the task, on GitHub."""
    (block,) = (b for b in Page(README).blocks_under("From stage to stage") if b.language == "sh")
    for line in block.code.splitlines():
        command = line.partition("  #")[0].replace("lifecycle", shlex.quote(str(place.command)), 1)
        done = place.run("sh", "-c", command)
        assert (done.returncode, done.stderr) == (0, ""), line
    assert config.load(place.root, {}).stages.use
    assert "auto-workflow" in place.cli("tracker", "show", "42").stdout


def test_every_command_of_the_runbook_is_one() -> None:
    """Each line in code quotes, also those in tables, is one that the command line takes."""
    lines = [code for code in codes_in(PAGE.section(WORKFLOW)) if code.startswith("lifecycle ")]
    assert len(lines) > 10
    for line in lines:
        words = shlex.split(line.replace("STAGE", "TESTING"))[1:]
        found = main.group.get_command(click.Context(main.group), words[0])
        assert found is not None, line
        if isinstance(found, click.Group) and len(words) > 1:
            found, words = found.get_command(click.Context(found), words[1]), words[1:]
            assert found is not None, line
        if not isinstance(found, click.Group):
            needs = any(p.required for p in found.params)
            if words[1:] or not needs:
                found.make_context(words[0], words[1:])


def test_every_heading_of_the_runbook_is_there() -> None:
    """From setting up to taking out."""
    headings = PAGE.headings[PAGE.headings.index(WORKFLOW) :]
    assert headings[1] == "Set up the workflow"
    assert headings[-1] == "Take the workflow out"
