"""lifecycle.credentials: gh as the last source of a token. A scripted gh stands in for the real one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lifecycle import credentials
from lifecycle.errors import NoToken
from lifecycle.redact import redact


def gh(tmp_path: Path, script: str) -> dict[str, str]:
    """An environment whose PATH begins with a gh that runs this shell script."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "gh"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(tmp_path)}


def test_gh_is_asked_for_the_host_in_use(tmp_path: Path) -> None:
    """The token of one host is never given for another; from then on it is taken out of texts."""
    environment = gh(tmp_path, 'echo "made-up-for-$4"; echo more; echo "$*" >"$HOME/asked"')
    assert credentials.kept_by_gh("ghes.example", environment) == "made-up-for-ghes.example"
    assert (tmp_path / "asked").read_text() == "auth token --hostname ghes.example\n"
    assert redact("it is made-up-for-ghes.example.") == "it is ***."


def test_variables_that_are_for_no_host_are_kept_from_gh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """gh would print GH_ENTERPRISE_TOKEN for whatever host it is asked about."""
    environment = gh(tmp_path, 'echo "$GH_TOKEN$GITHUB_TOKEN$GH_ENTERPRISE_TOKEN$HOME"')
    for name in ("GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"):
        monkeypatch.setenv(name, "for-somebody-else")
        environment[name] = "for-somebody-else"
    assert credentials.kept_by_gh("ghes.example", environment) == str(tmp_path)


@pytest.mark.parametrize("script", ["exit 1", "echo made-up; exit 1", "exit 0", "echo"])
def test_a_gh_without_a_token_is_none(tmp_path: Path, script: str) -> None:
    """Not logged in, or nothing printed: there is no token, and nothing to complain of."""
    assert credentials.kept_by_gh("github.com", gh(tmp_path, script)) is None


def test_without_gh_there_is_no_token_of_it(tmp_path: Path) -> None:
    """Absent, on a relative PATH where a project could put it, or not to be started: nothing."""
    assert credentials.kept_by_gh("github.com", {"PATH": str(tmp_path)}) is None
    environment = gh(tmp_path, "echo made-up")
    assert credentials.kept_by_gh("github.com", {"PATH": "bin"}) is None
    (tmp_path / "bin" / "gh").write_text("#!/nowhere/at/all\n")
    assert credentials.kept_by_gh("github.com", environment) is None


def test_a_gh_that_hangs_is_ended_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all that it started; the sentence says what was kept and what to do."""
    monkeypatch.setattr(credentials, "SECONDS_OF_GH", 0.5)
    held = tmp_path / "held"
    held.touch()
    lock = f"import fcntl; f = open('{held}'); fcntl.flock(f, fcntl.LOCK_EX)"
    program = f"{lock}; import os, signal; os.fork(); signal.pause()"
    environment = gh(tmp_path, f'exec "{sys.executable}" -c "{program}"')
    with pytest.raises(NoToken, match=r"gh auth token took longer than 0\.5 s"):
        credentials.kept_by_gh("github.com", environment)
    subprocess.run([sys.executable, "-c", lock], check=True, timeout=30)
