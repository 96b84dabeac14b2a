"""The files that become a command: any Python, any arguments, and the installed command does the work."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from lifecycle.setup.init.supplies import CORE, STATE_SCRIPT, WRITER, runs, workflows
from lifecycle.setup.init.supplies import SHIMS as OF_RUNS
from tests.repeated import soaked

PATHS = {**{name: f"{CORE}{name}.py" for name in OF_RUNS}, "workflow_state": STATE_SCRIPT}
SHIMS = {**OF_RUNS, "workflow_state": "workflow"}
TEXTS = {file.name: file.text for file in (*runs(), *workflows())}
FILES = {name: TEXTS[path] for name, path in PATHS.items()}


@cache
def pythons() -> dict[str, str]:
    """Each Python from 3.6 on that is here and runs, by its version; the newest of a version once."""
    there = [sys.executable]
    named = ("python3", "pypy3", *(f"python3.{minor}" for minor in range(6, 20)))
    there += [path for name in named if (path := shutil.which(name))]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    there += [str(path) for path in sorted(pyenv.glob("versions/*/bin/python3"))]
    # Itself, and not a script that was found in its place and needs more of the environment.
    ask = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"
    found: dict[str, str] = {}
    for path in there:
        done = subprocess.run([path, "-c", ask], capture_output=True, text=True, check=False)
        version, _, itself = done.stdout.strip().partition(" ")
        if done.returncode == 0 and tuple(map(int, version.split("."))) >= (3, 6):
            found.setdefault(version, itself)
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with these files, and a home in which nothing is recorded."""
    for name, text in FILES.items():
        path = tmp_path / "a project" / PATHS[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "home").mkdir()
    return tmp_path / "a project"


def command(path: Path, code: int = 7) -> Path:
    """A command that says its name, each argument, and what is on stdin; it ends with `code`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'#!/bin/sh\nprintf "{path}"\nprintf "<%s>" "$@"\nread -r line\nprintf "%s" "$line"\nexit {code}\n'
    )
    path.chmod(0o755)
    return path


def run(
    project: Path, name: str, *words: str, python: str = sys.executable, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Start one of the files from the project's folder, as the design's command lines do."""
    return subprocess.run(
        [python, PATHS[name], *words],
        cwd=project,
        env={"PATH": "/nowhere", "HOME": str(project.parent / "home"), **environment},
        input="on stdin",
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
    )


@pytest.mark.parametrize("name", SHIMS)
def test_each_is_valid_from_python_3_6_on(name: str) -> None:
    """Its grammar is that of 3.6; it says who wrote it and what it stands for."""
    ast.parse(FILES[name], feature_version=(3, 6))
    assert f"lifecycle {SHIMS[name]} ..." in FILES[name]
    option = "--workflow" if name == "workflow_state" else "--run"
    assert f"`{WRITER} {option}`" in FILES[name]
    assert not [word for word in ("VERB", "OPTION", "ABOVE") if word in FILES[name]]


@pytest.mark.parametrize("is_every", [False, soaked(True)])
def test_all_passes_through_with_every_python_that_is_here(
    project: Path, tmp_path: Path, *, is_every: bool
) -> None:
    """Arguments with spaces, quotes and nothing in them, stdin, output and exit status."""
    found = command(tmp_path / "my tools/lifecycle")
    words = ("add-story", 'It\'s "one" story', "", "--size", "M", "$(x) *", "naïve \udcff")
    others = pythons() if is_every else {}
    for version, python in ({"": sys.executable} | others).items():
        # They are one text but for their words: on the other Pythons one of them stands for all.
        for name, verb in [*SHIMS.items()][: 1 if version else None]:
            done = run(project, name, *words, python=python, LIFECYCLE_BIN=str(found))
            shown = "".join(f"<{word}>" for word in (verb, *words))
            wanted = (7, f"{found}{shown}on stdin", "")
            assert (done.returncode, done.stdout, done.stderr) == wanted, version


@pytest.mark.parametrize("name", SHIMS)
@pytest.mark.parametrize("option", ["-I", "-s", "-S", "-E", "-B"])
def test_it_runs_with_each_option_of_pythons(
    option: str, name: str, project: Path, tmp_path: Path
) -> None:
    """Where Python itself leaves the file's folder out, nothing else is taken out in its place."""
    found = command(tmp_path / "lifecycle")
    done = subprocess.run(
        [sys.executable, option, PATHS[name], "get-command", "build"],
        cwd=project,
        env={"LIFECYCLE_BIN": str(found)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == f"{found}<{SHIMS[name]}><get-command><build>", done.stderr


def test_the_platform_beside_it_shadows_nothing(project: Path, tmp_path: Path) -> None:
    """A module of the standard library that asks for `platform` gets that of the library."""
    found = command(tmp_path / "lifecycle")
    state = project / CORE / "state.py"
    asked = "import os\nimport platform\nassert platform.python_version()\n"
    state.write_text(state.read_text().replace("import os\n", asked, 1))
    assert run(project, "state", LIFECYCLE_BIN=str(found)).returncode == 7


def test_it_is_found_as_the_hooks_find_it(project: Path, tmp_path: Path) -> None:
    """By the variable, else by the user's own file, else on PATH; XDG counts if it is absolute."""
    named, noted = command(tmp_path / "named"), command(tmp_path / "noted")
    on_path = command(tmp_path / "bin/lifecycle")
    places = {"PATH": f"/nowhere:{on_path.parent}"}
    assert run(project, "state", **places).stdout.startswith(f"{on_path}<run>")
    for folder in ("home/.config/lifecycle", "xdg/lifecycle"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "bin").write_text(f"{noted}\n")
        assert run(project, "state", **places).stdout.startswith(f"{noted}<run>")
    (tmp_path / "xdg/lifecycle/bin").write_text(f"{named}\r\n")
    places["XDG_CONFIG_HOME"] = str(tmp_path / "xdg")
    assert run(project, "state", **places).stdout.startswith(f"{named}<run>")
    places["XDG_CONFIG_HOME"] = "xdg"
    assert run(project, "state", **places).stdout.startswith(f"{noted}<run>")
    noted.chmod(0o644)  # what was noted and is gone is as if nothing was
    assert run(project, "state", **places).stdout.startswith(f"{on_path}<run>")
    assert run(project, "state", LIFECYCLE_BIN=str(named), **places).stdout.startswith(f"{named}<")


@pytest.mark.parametrize("name", SHIMS)
@pytest.mark.parametrize("place", ["bin", ".venv/bin", "relative"])
def test_a_command_in_the_project_is_never_started(place: str, name: str, project: Path) -> None:
    """Nor one by a relative PATH: a repository may bring its own. One sentence, and no success."""
    found = command(project / place / "lifecycle")
    path = place if place == "relative" else str(found.parent)
    done = run(project, name, "status", PATH=path)
    assert (done.returncode, done.stdout) == (127, "")
    assert re.fullmatch(r"No lifecycle command was found .*\n", done.stderr)


@pytest.mark.parametrize("name", SHIMS)
def test_a_relative_path_that_was_noted_counts_as_none(name: str, project: Path) -> None:
    """It would lead into the project."""
    command(project / "bin/lifecycle")
    note = project.parent / "home/.config/lifecycle/bin"
    note.parent.mkdir(parents=True)
    note.write_text("bin/lifecycle\n")
    assert run(project, name, "status").returncode == 127


def test_a_link_into_the_project_leads_nowhere(project: Path, tmp_path: Path) -> None:
    """What lies in the project stays out by whichever name it is reached."""
    found = command(project / "bin/lifecycle")
    (tmp_path / "links").mkdir()
    (tmp_path / "links/lifecycle").symlink_to(found)
    assert run(project, "state", "status", PATH=str(tmp_path / "links")).returncode == 127


def test_a_command_that_cannot_be_started_is_said(project: Path, tmp_path: Path) -> None:
    """Its interpreter is gone: one sentence, and no success."""
    found = command(tmp_path / "lifecycle")
    found.write_text("#!/gone/python\n")
    done = run(project, "state", "status", LIFECYCLE_BIN=str(found))
    assert (done.returncode, done.stdout) == (126, "")
    assert re.fullmatch(rf"{found} cannot be started \(.*\), so nothing was done\.\n", done.stderr)
