"""A runner's machine beside an embedded GitHub."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from filelock import FileLock

from lifecycle.sandbox.control import Control
from lifecycle.sandbox.seed import Seed
from lifecycle.sandbox.server import Sandbox, SandboxInfo
from tests.actions.runner import Event, Job, Machine, Outcome, run_action
from tests.clones import clone
from tests.conftest import Place, environment_of
from tests.docs.pages import ROOT

ACTION = ROOT / ".github/actions/reconcile"


@dataclass
class Shop:
    """A GitHub, and a machine on which its workflows run.

    Attributes:
        machine: the machine of the next job.
        folder: where machines keep their things.
        command: the agent's `lifecycle`; a machine installs its own.
    """

    info: SandboxInfo
    control: Control
    folder: Path
    temp: Path
    command: Path
    _jobs: int = 0

    def machine(self, event: Event, **changes: object) -> Machine:
        """A machine for one more job, with an empty workspace; the token is the sandbox's first."""
        self._jobs += 1
        home = self.folder / f"job-{self._jobs}"
        workspace = home / "workspace"
        workspace.mkdir(parents=True)
        given: dict[str, object] = {
            "workspace": workspace,
            "temp": self.temp,
            "home": home,
            "project": ROOT,
            "api_url": self.info.api_url,
            "repository": self.info.repository,
            "event": event,
            "token": self.info.token,
        }
        return Machine(**{**given, **changes})  # type: ignore[arg-type]  # its attributes, by name

    def reconcile(self, event: Event, **inputs: object) -> Outcome:
        """Run the action by itself, as another repository's workflow does, without a checkout."""
        return run_action(self.machine(event), ACTION, **{"project_number": 1, **inputs})

    def merged(self) -> int:
        """An agent takes #42 and hands it off, and its pull request is merged; the request's number."""
        root = self.folder / "clone"
        environment = environment_of(self.info, root)
        clone(self.info.git_url, root, environment)
        place = Place(self.info, self.control, root, environment, command=self.command)
        for step in (("claim", "42"), ("handoff", "--summary", "Fix it"), ("tick",)):
            if step[0] == "handoff":
                (root / "work.txt").write_text("work\n")
                place.git("add", "work.txt")
                place.git("commit", "--quiet", "-m", "Work")
            done = place.cli(*step)
            assert done.returncode == 0, done.stderr
        number = place.pull()
        self.control.merge_pull(number)
        self.control.clear_requests()
        return number

    def card(self, issue: int) -> dict[str, object]:
        """An issue's board fields."""
        found: dict[str, object] = self.control.world()["board"][str(issue)]["values"]
        return found

    def issue(self, number: int) -> dict[str, object]:
        """An issue as GitHub has it."""
        found: dict[str, object] = self.control.world()["issues"][str(number)]
        return found

    def labels(self, number: int) -> list[str]:
        """The labels of an issue that say a Status."""
        names = self.issue(number)["labels"]
        assert isinstance(names, list)
        return [name for name in names if name.startswith("status: ")]


Founded = Callable[[Seed | None], Shop]


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the action's own steps install, once for all processes that run tests here."""
    mine = tmp_path_factory.getbasetemp()
    shared = (mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine) / "action-libraries"
    with FileLock(f"{shared}.lock"):
        if not (shared / "lifecycle/installed.txt").exists():
            (shared / "workspace").mkdir(parents=True)
            lay_traps(shared / "workspace")
            machine = Machine(
                workspace=shared / "workspace",
                temp=shared,
                home=shared,
                project=ROOT,
                api_url="http://127.0.0.1:9",
                repository="octo-org/hello-service",
                event=Event("schedule"),
                token="",
            )
            steps = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))["runs"][
                "steps"
            ]
            job = Job(machine)
            here = {"github": {"action_path": str(ACTION)}, "inputs": {"python-version": "3.13"}}
            code, _ = job.steps(steps[:2], here)
            assert code == 0, job.raw
            assert not (shared / "workspace/pwned").exists(), "a file of the workspace was run"
    return shared / "lifecycle"


def lay_traps(workspace: Path) -> None:
    """Files that are named as modules are, and leave a file `pwned` where one of them is run."""
    trap = "from pathlib import Path\nPath('pwned').touch()\n"
    for name in ("venv", "pip", "queue", "click", "sitecustomize", "lifecycle/__main__"):
        file = workspace / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(trap)
    (workspace / "lifecycle/__init__.py").write_text(trap)


@pytest.fixture
def python(tmp_path: Path, command: Path, request: pytest.FixtureRequest) -> Path:
    """What the action starts as its Python: unless a test is marked `started`, `lifecycle` is forked."""
    if request.node.get_closest_marker("started"):
        libraries: Path = request.getfixturevalue("libraries")
        return libraries / "venv/bin/python"
    program = tmp_path / "forking/bin/python"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\n[ "$1 $2 $3" = "-P -m lifecycle" ] || exit 70\n'
                       f'shift 3\nexec {command} "$@"\n')  # fmt: skip
    program.chmod(0o755)
    return program


@pytest.fixture
def runner_temp(tmp_path: Path, python: Path) -> Path:
    """RUNNER_TEMP of a machine on which an earlier step has installed the libraries.

    What it leaves there is the lock (`test_the_libraries_are_installed_once`).
    """
    home = tmp_path / "temp/lifecycle"
    home.mkdir(parents=True)
    (home / "venv").symlink_to(python.parent.parent)
    shutil.copy(ROOT / "requirements/action.txt", home / "installed.txt")
    return home.parent


@pytest.fixture
def founded(tmp_path: Path, runner_temp: Path, command: Path) -> Iterator[Founded]:
    """Makes a GitHub of a seed, the built-in one if None, in which nothing has drifted."""
    with ExitStack() as stack:

        def make(seed: Seed | None = None) -> Shop:
            info = stack.enter_context(Sandbox(seed)).info
            control = Control(info.control_url)
            control.set_field(39, "Status", "In Progress")  # it is in review without a pull request
            control.clear_requests()
            return Shop(info, control, tmp_path / "runner", runner_temp, command)

        yield make


@pytest.fixture
def shop(founded: Founded) -> Shop:
    """The built-in world: #38 is in progress and its issue closed by hand; #42 is assigned, and Todo."""
    made = founded(None)
    made.control.close_issue(38)
    made.control.assign(42, "octocat")
    made.control.clear_requests()
    return made
