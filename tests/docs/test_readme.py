"""The README is short, and what it tells people to type works."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from itertools import pairwise
from pathlib import Path

import click

from lifecycle.claim.decisions.table import CLAIM, Phase
from lifecycle.cli.main import group
from lifecycle.cli.run import run
from lifecycle.settings import config
from tests.docs.demo_picture import PICTURE
from tests.docs.pages import README, ROOT, Page

PAGE = Page(README)
LINES = 180


def test_the_readme_is_short() -> None:
    """It is read to the end; what is looked up is in docs/reference.md."""
    assert len(PAGE.text.splitlines()) <= LINES


def test_the_first_screen_has_the_picture() -> None:
    """Whoever opens the page sees the demo before any command, and words say what it shows."""
    at = PAGE.text.index(f"]({PICTURE.relative_to(ROOT).as_posix()})")
    assert at < PAGE.text.index("\n## ")
    alt = PAGE.text[:at].rpartition("![")[2]
    assert len(alt.split()) > 10


def test_the_toml_on_the_page_is_one_that_is_read(tmp_path: Path) -> None:
    """What the README tells people to write into .lifecycle.toml configures a board."""
    (code,) = PAGE.blocks_in("toml")
    assert tomllib.loads(code)
    (tmp_path / config.CONFIG_FILE).write_text(code)
    assert config.load(tmp_path, {}).project_number == 1


def test_the_plugin_is_named_as_its_marketplace_names_it() -> None:
    """What the README tells people to type installs the plugin that the marketplace lists."""
    marketplace = json.loads((ROOT / ".claude-plugin/marketplace.json").read_text())
    (plugin,) = marketplace["plugins"]
    assert f"/plugin install {plugin['name']}@{marketplace['name']}\n" in PAGE.text


def test_the_demo_needs_the_product_alone() -> None:
    """`make demo` installs what the product needs and none of what only tests and checks need."""
    steps = subprocess.run(
        ["make", "--no-print-directory", "--dry-run", "--always-make", "demo"],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=30,
    ).stdout  # fmt: skip
    assert "requirements/action.txt" in steps
    assert "requirements/dev.txt" not in steps
    assert steps.splitlines()[-1].endswith("-m lifecycle demo")


def test_the_walk_of_a_task_is_one_that_the_table_allows() -> None:
    """The line of phases on the page goes from the first to the last by moves of the table."""
    (line,) = [line for line in PAGE.text.splitlines() if line.startswith("coding → ")]
    phases = [Phase(name) for name in line.split(" → ")]
    assert phases[0] is CLAIM.initial
    assert CLAIM.is_terminal(phases[-1])
    assert [(a, b) for a, b in pairwise(phases) if b not in CLAIM.table[a]] == []


def test_what_the_page_says_of_a_run_can_be_typed() -> None:
    """Every command of a run that the page names is there, and `init --run` and `/workflow` are."""
    named = set(re.findall(r"lifecycle run ([a-z-]+)", PAGE.text))
    assert len(named) >= 4
    assert named <= set(run.command.table)
    init = group.get_command(click.Context(group), "init")
    assert init is not None
    assert "--run" in {name for one in init.params for name in one.opts}
    assert (ROOT / "commands" / "workflow.md").is_file()
