"""The wheel alone is the product: installed away from the checkout, it tells the whole story."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

from lifecycle import __version__
from lifecycle.sandbox.wire.recorder import VARIABLE as RECORD
from lifecycle.setup.init.hook_table import NAMES, WIRES
from tests.needed import ROOT, lack

_UNREACHABLE = re.compile(r"Failed to establish a new connection|from versions: none|timed out")
"""What pip says where there is no registry; everything else is a fault of the wheel."""

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the checkout, which stays as it was."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--wheel", "--no-isolation", "--outdir", str(folder)]
    command = [sys.executable, "-m", "build", *options, str(ROOT)]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (found,) = folder.glob("*.whl")
    return found


def _files(folder: Path, pattern: str = "*") -> set[str]:
    found = {path.name for path in folder.glob(pattern) if path.is_file()}
    assert found
    return found


def test_the_wheel_holds_documents_hooks_schema_and_seeds(wheel: Path) -> None:
    """What lies outside the package in a checkout, or is no Python, is in the wheel all the same."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        modes = {one.filename: one.external_attr >> 16 for one in archive.infolist()}
    wanted = {f"lifecycle/_graphql/{name}" for name in _files(ROOT / "graphql", "*.graphql")}
    hooks = {f"lifecycle/_hooks/{name}" for name in _files(ROOT / "hooks")}
    seeds = {
        f"lifecycle/sandbox/seed/seeds/{name}"
        for name in _files(ROOT / "lifecycle/sandbox/seed/seeds")
    }
    supplied = {
        f"lifecycle/setup/init/supplied/{name}"
        for name in _files(ROOT / "lifecycle/setup/init/supplied")
    }
    pages = {f"lifecycle/_{path.relative_to(ROOT)}" for path in ROOT.glob("skills/*/SKILL.md")}
    pages |= {f"lifecycle/_agents/{name}" for name in _files(ROOT / "agents")}
    platforms = ROOT / "lifecycle/platforms"
    described = {path.relative_to(ROOT).as_posix() for path in platforms.rglob("*.json")}
    assert len(described) > 5
    wanted |= (
        hooks
        | described
        | seeds
        | supplied
        | pages
        | {
            "lifecycle/sandbox/wire/graph/schema/schema.graphql",
            "lifecycle/py.typed",
            "lifecycle/reconcile/kinds.toml",
            "lifecycle/run/stories/questions.toml",
            "lifecycle/run/tables.toml",
            "lifecycle/run/texts/design_blocks.toml",
            "lifecycle/run/trouble/words.toml",
            "lifecycle/setup/doctor/findings.toml",
            "lifecycle/stages/decisions/instructions.toml",
        }
    )
    assert wanted <= names
    for script in NAMES:
        assert modes[f"lifecycle/_hooks/{script}"] & 0o111 == 0o111
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"lifecycle", f"agent_lifecycle-{__version__}.dist-info"}


@pytest.mark.soak("test_wheel.py::test_the_wheel_holds_documents_hooks_schema_and_seeds")
def test_the_source_archive_holds_all_that_git_tracks(tmp_path: Path) -> None:
    """Who unpacks it has the plugin too: manifests, hooks, commands, the skill; and can test it."""
    options = ["--sdist", "--no-isolation", "--outdir", str(tmp_path)]
    command = [sys.executable, "-m", "build", *options, str(ROOT)]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (found,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(found) as archive:
        modes = {one.name.partition("/")[2]: one.mode for one in archive.getmembers()}
    wanted = {
        path.relative_to(ROOT).as_posix()
        for folder in (".claude-plugin", "commands", "skills", "hooks", "graphql", "docs")
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
    }
    assert wanted <= set(modes)
    assert all(modes[f"hooks/{script}"] & 0o111 == 0o111 for script in NAMES)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an empty environment that holds the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("away")
    venv.create(folder / "venv")
    binaries = folder / "venv" / "bin"
    # uv takes a tenth of pip's time; pip's turn comes with pipx, in .ci/installs.
    uv = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--no-config", "--quiet"]
    command = [*uv, "--python", str(binaries / "python"), str(wheel)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0 and _UNREACHABLE.search(done.stderr):
        lack("the installed wheel", "no package registry can be reached from here")
    assert done.returncode == 0, done.stderr
    return binaries


def _run(installed: Path, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run an installed program in a folder of its own, with nothing of this environment."""
    return subprocess.run(
        [installed / command[0], *command[1:]],
        cwd=folder,
        env=_environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def _environment(folder: Path) -> dict[str, str]:
    git = shutil.which("git")
    assert git is not None
    path = os.pathsep.join([str(Path(git).parent), os.defpath])
    kept = {name: os.environ[name] for name in ("TMPDIR", RECORD) if name in os.environ}
    return {**kept, "PATH": path, "HOME": str(folder)}


@pytest.mark.soak("docs/test_regenerate.py::test_demo_prints_what_the_reference_shows")
def test_the_installed_wheel_runs_the_demo(installed: Path, tmp_path: Path) -> None:
    """In an empty environment, away from the checkout, a task goes from claim to close."""
    done = _run(installed, tmp_path, "lifecycle", "demo", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    story = json.loads(done.stdout)
    assert (story["ok"], story["is_closed"], story["board"]) == (True, True, "Done")
    assert story["comment"].startswith("Completed in #")
    steps = story["steps"]
    assert [step["requests"] for step in steps if step["who"] == "hook"][:3] == [1, 0, 2]
    assert not [step for step in steps if "No hook has run" in step["heard"]], steps
    assert list(tmp_path.iterdir()) == []


@pytest.mark.soak("test_wheel.py::test_the_wheel_holds_documents_hooks_schema_and_seeds")
def test_the_installed_wheel_is_what_runs(installed: Path, tmp_path: Path) -> None:
    """The package and its hooks come from the empty environment, not from the checkout."""
    code = (
        "import lifecycle, lifecycle.settings.resources as r; "
        "print(lifecycle.__file__, r.hook_script('on-stop'))"
    )
    done = _run(installed, tmp_path, "python", "-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    package, hook = map(Path, done.stdout.split())
    assert package.is_relative_to(installed.parent)
    assert hook.is_relative_to(installed.parent)
    assert os.access(hook, os.X_OK)


@pytest.mark.soak("test_wheel.py::test_the_wheel_holds_documents_hooks_schema_and_seeds")
def test_the_installed_command_knows_its_version(installed: Path, tmp_path: Path) -> None:
    """The command says the version that the package and the wheel's name say."""
    done = _run(installed, tmp_path, "lifecycle", "--version")
    assert (done.returncode, done.stdout) == (0, f"lifecycle, version {__version__}\n")


@pytest.mark.soak("test_wheel.py::test_the_wheel_holds_documents_hooks_schema_and_seeds")
def test_the_installed_wheel_wires_its_own_scripts(installed: Path, tmp_path: Path) -> None:
    """`init` names the scripts inside the package, all there and runnable, and knows them again."""
    root = tmp_path / "project"
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    environment = {**_environment(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}

    def init(*arguments: str) -> dict[str, Any]:
        command = [str(installed / "lifecycle"), "init", "--json", *arguments]
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, check=True
        )
        return dict(json.loads(done.stdout))

    assert init()["mode"] == "local"
    settings = json.loads((root / ".claude/settings.local.json").read_text())
    groups = [group for event in settings["hooks"].values() for group in event]
    scripts = [Path(hook["command"]) for group in groups for hook in group["hooks"]]
    assert [script.name for script in scripts] == [wire.name for wire in WIRES]
    assert all(script.is_relative_to(installed.parent) for script in scripts)
    assert all(os.access(script, os.X_OK) for script in scripts)
    recorded = (tmp_path / ".config/lifecycle/bin").read_text().strip()
    assert Path(recorded) == installed / "lifecycle"
    (root / ".claude/lifecycle.json").unlink()
    assert [Path(one["path"]).name for one in init()["changes"]] == ["lifecycle.json"]
    init("--remove")
    assert not settings_left(root)


def settings_left(root: Path) -> list[str]:
    """What of the settings names lifecycle still."""
    path = root / ".claude/settings.local.json"
    return (
        [line for line in path.read_text().splitlines() if "hooks/" in line]
        if path.exists()
        else []
    )
