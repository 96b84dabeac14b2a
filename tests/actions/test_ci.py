"""CI runs what the README says, as it is typed there, on every Python and system that it names."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import yaml

from tests.docs.pages import README, ROOT, Page

CI: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
COMMANDS, INSTALL = Page(README).blocks_in("sh")[:2]
TYPED = [line.partition("  #")[0].strip() for line in COMMANDS.splitlines()]


def runs(job: str) -> list[str]:
    """What the steps of a job run."""
    return [step["run"] for step in CI[job]["steps"] if "run" in step]


def pythons() -> list[str]:
    """The Pythons that the package is said to work with."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [re.fullmatch(r".* :: (3\.\d+)", one) for one in project["classifiers"]]
    found = [match[1] for match in named if match]
    assert project["requires-python"] == f">={found[0]}"
    return found


def test_the_readmes_commands_are_run_as_typed() -> None:
    """The two commands, in their order, and both ways to install, in each job that is about them."""
    assert TYPED == ["make demo", "make test"]
    said = runs("readme")
    assert [line for line in said if line in TYPED] == TYPED
    assert said[-1] == ".ci/installs"
    typed = re.findall(
        r'^typed README\.md "(.*)"$', (ROOT / ".ci/installs").read_text(), re.MULTILINE
    )
    assert "   # or: ".join(typed) == INSTALL.strip()
    assert runs("fresh") == [".ci/fresh"]
    fresh = (ROOT / ".ci/fresh").read_text()
    assert [line.rpartition('" ')[2] for line in fresh.splitlines()[-2:]] == TYPED
    assert runs("check") == [".ci/run"]


def test_every_python_and_system_has_its_turn() -> None:
    """Those of the package's classifiers, the Action's own among them; Linux and macOS."""
    matrix = CI["readme"]["strategy"]["matrix"]
    assert matrix["python"] == pythons()
    action = yaml.safe_load((ROOT / ".github/actions/reconcile/action.yml").read_text())
    assert action["inputs"]["python-version"]["default"] in pythons()
    assert "on Linux or macOS" in Page(README).text
    for job in ("readme", "fresh", "action"):
        assert CI[job]["strategy"]["matrix"]["os"] == ["ubuntu-latest", "macos-latest"], job
        assert CI[job]["runs-on"] == "${{ matrix.os }}"


@pytest.mark.parametrize("job", ["readme", "runners"])
def test_what_is_lacking_there_fails(job: str) -> None:
    """Nothing is passed over in CI: where tests are run, all that they can ask is required."""
    running = [
        step
        for step in CI[job]["steps"]
        if re.match(r"make (test|soak|runners)", step.get("run", ""))
    ]
    assert running
    assert all(step["env"] == {"LIFECYCLE_REQUIRE": "all"} for step in running)
    assert "export LIFECYCLE_REQUIRE=all" in (ROOT / ".ci/run").read_text()


def test_the_real_bd_is_built_where_go_is() -> None:
    """On each Python and system of CI, in `.ci/run` on GitHub, and before the nightly soak."""
    assert any(line.startswith("make ") and "bd" in line.split() for line in runs("readme"))
    assert "wanted+=(bd)" in (ROOT / ".ci/run").read_text()
    nightly = yaml.safe_load((ROOT / ".github/workflows/soak.yml").read_text())["jobs"]["soak"]
    said = [step["run"] for step in nightly["steps"] if "run" in step]
    assert said.index("make bd") < said.index("make soak N=10")
