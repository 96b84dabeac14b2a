"""The command that a shared settings file runs: anybody's shell, any machine, lifecycle or not."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from lifecycle.setup.init.hook_table import WIRES, shared_form

SHELLS = [shell for shell in ("sh", "bash", "dash", "zsh", "ksh") if shutil.which(shell)]
COMMAND = str(shared_form("on-stop")["command"])


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    """Each shell that is here."""
    return str(shutil.which(request.param))


def run(shell: str, **environment: str) -> tuple[int, str, str]:
    """Run the command as the client does; exit code, stdout, stderr."""
    done = subprocess.run(
        [shell, "-c", COMMAND],
        env={"PATH": "/nowhere", **environment},
        input='{"hook_event_name": "Stop"}',
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def script(path: Path, says: str, code: int = 0) -> Path:
    """A script that says something and what is on stdin, and ends with a code."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\nread -r line\necho "{says} $* $line"\nexit {code}\n')
    path.chmod(0o755)
    return path


def recorded(config: Path, folder: str) -> None:
    """Let the user's folder say where the scripts lie."""
    (config / "lifecycle").mkdir(parents=True)
    (config / "lifecycle/hooks").write_text(folder)


def test_without_lifecycle_it_ends_quietly(shell: str, tmp_path: Path) -> None:
    """Exit 0 and not a word: no home, an empty one, or a record of what is gone."""
    assert run(shell) == (0, "", "")
    assert run(shell, HOME=str(tmp_path)) == (0, "", "")
    recorded(tmp_path / ".config", "/gone/hooks\n")
    assert run(shell, HOME=str(tmp_path)) == (0, "", "")


@pytest.mark.parametrize("end", ["\n", ""])
def test_it_becomes_the_script_that_the_users_folder_names(
    shell: str, tmp_path: Path, end: str
) -> None:
    """With its stdin, its output and its exit code; a space in the path does no harm."""
    hooks = tmp_path / "my hooks"
    script(hooks / "on-stop", "script", code=2)
    recorded(tmp_path / ".config", f"{hooks}{end}")
    assert run(shell, HOME=str(tmp_path)) == (2, 'script  {"hook_event_name": "Stop"}\n', "")


def test_the_folder_is_where_xdg_says(shell: str, tmp_path: Path) -> None:
    """An absolute XDG_CONFIG_HOME counts, a relative one does not."""
    script(tmp_path / "one/on-stop", "one")
    script(tmp_path / "two/on-stop", "two")
    recorded(tmp_path / "xdg", f"{tmp_path}/one\n")
    recorded(tmp_path / ".config", f"{tmp_path}/two\n")
    assert run(shell, HOME=str(tmp_path), XDG_CONFIG_HOME=str(tmp_path / "xdg"))[1].startswith(
        "one"
    )
    assert run(shell, HOME=str(tmp_path), XDG_CONFIG_HOME="xdg")[1].startswith("two")


def test_else_it_becomes_the_command_on_path(shell: str, tmp_path: Path) -> None:
    """Where nothing is recorded, the command answers, which is slower and does the same."""
    script(tmp_path / "bin/lifecycle", "command")
    said = run(shell, HOME=str(tmp_path), PATH=f"{tmp_path}/bin")
    assert said == (0, 'command hook on-stop {"hook_event_name": "Stop"}\n', "")


def test_it_names_no_path_of_anybodys() -> None:
    """Committed, it is right on every machine; it needs no placeholder and holds no home."""
    for wire in WIRES:
        form = shared_form(wire.name)
        assert set(form) == {"command"}
        assert str(Path.home()) not in form["command"] or str(Path.home()) == "/"
        assert "\n" not in form["command"]
