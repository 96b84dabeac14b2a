"""docs/workflow.md: its example runs as it is typed, and its table has every command."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from lifecycle.cli.workflow.workflow import command as workflow_group
from lifecycle.setup.init.supplies import WORKFLOW_FILES
from lifecycle.workflow.steps.workflow_templates import supplied_templates
from tests.cli.outcome import ok
from tests.conftest import COMMAND
from tests.docs.pages import ROOT, Page, codes_in

PAGE = Page(ROOT / "docs/workflow.md")
EXAMPLE, SHOWN = "From start to end", ".claude/workflow_state_system.md"


def typed() -> list[str]:
    """The command lines of the example."""
    (block,) = (one.code for one in PAGE.blocks_under(EXAMPLE) if one.language == "sh")
    return block.replace("\\\n", " ").strip().splitlines()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with the plan that the example names."""
    root = tmp_path / "clone"
    subprocess.run(["git", "init", "--quiet", root], check=True)
    (root / "docs").mkdir()
    (root / "docs/plan.md").write_text("the plan")
    return root


def test_the_example_runs_and_shows_what_the_page_shows(clone: Path) -> None:
    """Every line of it ends with 0, and the view is at one moment as it stands on the page."""
    (view,) = (one.code for one in PAGE.blocks_under(EXAMPLE) if one.language == "text")
    path = f"{COMMAND.parent}:{os.environ['PATH']}"
    views = []
    for line in typed():
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=clone,
            env={"PATH": path, "HOME": str(clone.parent)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (line, done.stderr)
        views.append((clone / SHOWN).read_text(encoding="utf-8"))
    assert view.strip() in [one.strip() for one in views]
    assert "Status: completed" in views[-1]
    assert "completed by tester" in done.stdout
    assert not list((clone / "untracked/workflow-state").glob("*"))


def test_the_table_has_every_command() -> None:
    """Each command of the group, but for the one that only the script calls, and none that is not there."""
    rows = [word for row in PAGE.table("Commands").rows for word in codes_in(row[0])]
    assert {row.split()[0] for row in rows} == set(workflow_group.table) - {"call"}


def test_the_types_are_those_that_are_supplied(clone: Path) -> None:
    """Each with its phases; and the page's own template begins a workflow as it says."""
    rows = {row[0].strip("`"): row[1].split(", ") for row in PAGE.table("Types and templates").rows}
    supplied = {
        name: [phase.title for phase in made.phases] for name, made in supplied_templates().items()
    }
    assert rows == {name: titles or ["phases of your own"] for name, titles in supplied.items()}
    (text,) = (one.code for one in PAGE.blocks_under("Types and templates"))
    (clone / ".claude/workflow-templates").mkdir(parents=True)
    (clone / ".claude/workflow-templates/release.toml").write_text(text)
    done = subprocess.run(
        [COMMAND, "workflow", "start", "Release 2.1", "--type", "release", "--json"],
        cwd=clone,
        env={"PATH": os.environ["PATH"], "HOME": str(clone.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    begun = json.loads(ok(done))
    assert [phase["gate"] for phase in begun["phases"]] == [None, "person"]
    assert begun["required_reading"] == ["@docs/release.md"]


def test_what_init_supplies_is_on_the_page() -> None:
    """Each file by its name, and what becomes of the designs' handlers."""
    for name in WORKFLOW_FILES:
        assert Path(name).stem in PAGE.text
    for words in ("WorkflowStatePreCompactHandler", "WorkflowStateRestorationHandler", "TodoWrite"):
        assert words in PAGE.section("What does it here")


@pytest.mark.parametrize(
    "words",
    ["was not created", "was not updated", "lost after a compaction", "accumulate", "`*Task*`"],
)
def test_both_designs_troubleshooting_is_there(words: str) -> None:
    """Each of their questions has a row with an answer."""
    rows = PAGE.table("When something is wrong").rows
    (row,) = [row for row in rows if words in row[0]]
    assert len(row[1]) > 40
