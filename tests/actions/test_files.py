"""The action and the workflows themselves: valid, pinned, nothing pasted into scripts, the lock true."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lifecycle.cli.main import COMMANDS
from tests.docs.pages import ROOT

BIN = Path(sys.executable).parent
WORKFLOWS = sorted([*ROOT.glob(".github/workflows/*.yml"), *ROOT.glob("docs/examples/*.yml")])
ACTION = ROOT / ".github/actions/reconcile/action.yml"
SCRIPTS = sorted(ACTION.parent.glob("*.sh"))
FILES = [*WORKFLOWS, ACTION]
LOCK = ROOT / "requirements/action.txt"


def loaded(file: Path) -> dict[str, Any]:
    """A YAML file; `on` is read as text, as GitHub does."""
    text = re.sub(r"(?m)^on:", '"on":', file.read_text(encoding="utf-8"))
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def steps_of(file: Path) -> Iterator[dict[str, Any]]:
    """Every step of a workflow or an action."""
    data = loaded(file)
    for job in data.get("jobs", {}).values():
        yield from job["steps"]
    yield from data.get("runs", {}).get("steps", [])


@pytest.mark.parametrize(
    ("schema", "files"),
    [("vendor.github-workflows", WORKFLOWS), ("vendor.github-actions", [ACTION])],
)
def test_they_are_valid(schema: str, files: list[Path]) -> None:
    """By the published JSON schemas, which check-jsonschema brings along."""
    done = subprocess.run(
        [BIN / "check-jsonschema", "--builtin-schema", schema, *files],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_zizmor_finds_nothing() -> None:
    """Template injection, too many permissions, credentials that stay: without the network."""
    done = subprocess.run(
        [BIN / "zizmor", "--offline", "--no-progress", *FILES],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_zizmor_would_find_something(tmp_path: Path) -> None:
    """The check above can fail: an expression in a script is found."""
    bad = loaded(ACTION)
    bad["runs"]["steps"][-1]["run"] = "echo ${{ inputs.repositories }}"
    (tmp_path / "action.yml").write_text(yaml.safe_dump(bad))
    done = subprocess.run(
        [BIN / "zizmor", "--offline", "--no-progress", tmp_path / "action.yml"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "template-injection" in done.stdout


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_expression_in_a_script(file: Path) -> None:
    """What GitHub pastes into a script, bash runs: inputs and events go through variables."""
    for step in steps_of(file):
        assert "${{" not in step.get("run", "")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_actions_are_pinned(file: Path) -> None:
    """By a commit, with the version as a comment; a tag can be moved. The project's own lies beside it."""
    text = file.read_text(encoding="utf-8")
    for step in steps_of(file):
        used = step.get("uses", "")
        if not used or used.startswith("./"):
            continue
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", used)
        own = used.startswith("your-org/")
        assert own or re.search(rf"{re.escape(used)} # v\d+\.\d+\.\d+$", text, re.MULTILINE)


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_workflows_take_no_more_than_they_need(file: Path) -> None:
    """Permissions are named, jobs end, no checkout keeps its token, a fork's code gets no secret."""
    data = loaded(file)
    assert data["permissions"] in ({}, {"contents": "read"})
    assert "pull_request_target" not in data["on"]
    for job in data["jobs"].values():
        assert job["timeout-minutes"] <= 60
    for step in steps_of(file):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def test_a_repair_is_not_cut_off() -> None:
    """One run at a time, and a newer one waits."""
    for file in WORKFLOWS:
        if file.name.startswith("reconcile"):
            assert loaded(file)["concurrency"]["cancel-in-progress"] is False


def test_the_schedules_are_off_the_full_hour() -> None:
    """GitHub delays and drops scheduled runs at the start of every hour."""
    crons = [
        entry["cron"] for file in WORKFLOWS for entry in loaded(file)["on"].get("schedule", [])
    ]
    assert len(crons) == 3
    for cron in crons:
        assert 5 <= int(cron.split()[0]) <= 55


def test_every_input_is_used_and_documented() -> None:
    """Each has a description and a default, and reaches a step; each variable is read by a script."""
    data = loaded(ACTION)
    steps = yaml.safe_dump(data["runs"])
    for name, given in data["inputs"].items():
        assert given["description"]
        assert isinstance(given["default"], str), name
        assert f"${{{{ inputs.{name} }}}}" in steps
    scripts = "".join(file.read_text(encoding="utf-8") for file in SCRIPTS)
    variables = re.findall(r"\bIN_[A-Z_]+(?=:)", steps)
    assert len(variables) > 10
    for variable in variables:
        assert re.search(rf"\${{?{variable}\b", scripts), variable


def test_the_workflows_give_inputs_that_there_are() -> None:
    """GitHub only warns of an input that an action does not have."""
    known = set(loaded(ACTION)["inputs"])
    for file in WORKFLOWS:
        for step in steps_of(file):
            if "actions/reconcile" in step.get("uses", ""):
                assert set(step["with"]) <= known


def test_the_options_are_the_commands() -> None:
    """Every option that the script passes is one of `lifecycle reconcile`, and none of them is missing."""
    text = (ACTION.parent / "reconcile.sh").read_text(encoding="utf-8")
    passed = set(re.findall(r"(?<![\w-])--[a-z-]*[a-z](?![a-z$-])", text))
    passed |= {f"--{name}" for name in re.findall(r"^switch (\w+)", text, re.MULTILINE)}
    options = COMMANDS["reconcile"]["options"].values()
    known = {one["spec"].partition(" ")[0].partition("/")[0] for one in options}
    assert passed == known


def requirements_in(lock: Path) -> dict[str, str]:
    """The name and version of every package of a lock file."""
    lines = re.findall(r"(?m)^([\w.-]+)==([\w.+!-]+)", lock.read_text(encoding="utf-8"))
    return {canonicalize_name(name): version for name, version in lines}


def test_the_lock_is_true() -> None:
    """It has every runtime dependency within its bounds, as the development lock has it, with hashes."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    locked = requirements_in(LOCK)
    for text in project["dependencies"]:
        wanted = Requirement(text)
        assert wanted.specifier.contains(locked[canonicalize_name(wanted.name)]), text
    developed = requirements_in(ROOT / "requirements/dev.txt")
    assert locked.items() <= developed.items()
    entries = re.split(r"(?m)^(?=\S)", LOCK.read_text(encoding="utf-8"))
    assert all("--hash=sha256:" in entry for entry in entries if entry)


def test_the_lock_has_nothing_more() -> None:
    """Only what the runtime dependencies need: no tool of ours is on somebody's runner."""
    tools = {"pytest", "ruff", "mypy", "zizmor", "hypothesis", "uv", "build", "hatchling"}
    assert tools.isdisjoint(requirements_in(LOCK))


def test_the_scripts_are_bash() -> None:
    """They parse, and they fail at the first error and at a variable that is not there."""
    for file in SCRIPTS:
        assert subprocess.run(["bash", "-n", file], check=False).returncode == 0
        assert "\nset -euo pipefail\n" in file.read_text(encoding="utf-8")
