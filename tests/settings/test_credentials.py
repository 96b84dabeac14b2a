"""credentials: gh as the last source of a token. A scripted gh stands in for the real one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lifecycle.core.errors import NoToken
from lifecycle.core.redact import redact
from lifecycle.settings import config, credentials


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
    """With all that it started, even what does not end if asked; the sentence says what to do."""
    monkeypatch.setattr(credentials, "SECONDS_OF_GH", 0.5)
    held = tmp_path / "held"
    held.touch()
    lock = f"import fcntl; f = open('{held}'); fcntl.flock(f, fcntl.LOCK_EX)"
    stays = "os.fork() or signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    program = f"{lock}; import os, signal; {stays}; signal.pause()"
    environment = gh(tmp_path, f'exec "{sys.executable}" -c "{program}"')
    with pytest.raises(
        NoToken, match=r"gh auth token --hostname github\.com took longer than 0\.5 s"
    ):
        credentials.kept_by_gh("github.com", environment)
    subprocess.run([sys.executable, "-c", lock], check=True, timeout=30)


def test_a_command_that_prints_without_end_is_ended_before_it_fills_the_memory(
    tmp_path: Path,
) -> None:
    """Such a gh is none of GitHub's; of a token_command, that is said."""
    environment = gh(tmp_path, "exec yes")
    assert credentials.kept_by_gh("github.com", environment) is None
    file = tmp_path / ".config" / "lifecycle" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('token_command = ["yes"]\n')
    with pytest.raises(NoToken, match="printed much more than a token"):
        credentials.command_token({**environment, "HOME": str(tmp_path)})


def test_what_the_command_leaves_running_is_not_waited_for(tmp_path: Path) -> None:
    """A daemon that it started holds its output open for longer than there is time: all was said."""
    environment = gh(tmp_path, "sleep 20 & echo made-up")
    assert credentials.kept_by_gh("github.com", environment) == "made-up"


def test_every_variable_that_a_secret_is_read_from_is_withheld(tmp_path: Path) -> None:
    """Tokens and an App's key, by every name that settings know, unless the child needs them."""
    names = [*config.TOKEN_VARIABLES, *config.APP_VARIABLES.values()]
    environment = {**dict.fromkeys(names, "a secret"), "HOME": str(tmp_path), "PLAIN": "seen"}
    for child in ("git", "validate", "tracker"):
        seen = config.for_child(child, environment)
        assert not set(names) & set(seen)
        assert seen["PLAIN"] == "seen"
    assert set(names) <= set(config.for_child("git", environment, keeps=True))


def test_what_a_hook_keeps_from_our_python_is_there_for_the_projects(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A `pre-push` or a check finds its modules as in the user's shell; one that is set is left."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("PYTHONHOME", "/set")
    kept = {"LIFECYCLE_PYTHONPATH": "src", "LIFECYCLE_PYTHONHOME": "/kept"}
    seen = config.for_child("git", kept)
    assert (seen["PYTHONPATH"], seen["PYTHONHOME"]) == ("src", "/set")
    assert not set(kept) & set(seen)


def test_the_users_own_file_says_who_sees_them(tmp_path: Path) -> None:
    """Only the child that it names; a file that cannot be used names nobody."""
    own = tmp_path / ".config" / "lifecycle" / "config.toml"
    own.parent.mkdir(parents=True)
    environment = {"GH_TOKEN": "a secret", "HOME": str(tmp_path), "XDG_CONFIG_HOME": ""}
    own.write_text('pass_tokens_to = ["tracker"]\n')
    assert "GH_TOKEN" in config.for_child("tracker", environment)
    assert "GH_TOKEN" not in config.for_child("validate", environment)
    own.write_text('pass_tokens_to = ["tracker", "anybody"]\n')
    assert "GH_TOKEN" not in config.for_child("tracker", environment)


def test_the_main_ones_settings_count_for_a_linked_worktree(tmp_path: Path) -> None:
    """A linked worktree without settings of its own reads its main one's: a change there is one here."""
    main, linked = tmp_path / "main", tmp_path / "linked"
    git = main / ".git/worktrees/linked"
    git.mkdir(parents=True)
    linked.mkdir()
    (linked / ".git").write_text(f"gitdir: {git}\n")
    (git / "commondir").write_text("../..\n")
    (git / "gitdir").write_text(f"{linked}/.git\n")
    before = credentials.fingerprint(linked, {})
    (main / ".lifecycle.toml").write_text("")
    assert credentials.fingerprint(linked, {}) != before


def test_another_token_has_another_fingerprint(tmp_path: Path) -> None:
    """Variables, the user's file, the project's and gh's store count; nothing of them can be read there."""
    root, home = tmp_path / "project", tmp_path / "home"
    root.mkdir()
    names = {"HOME": str(home)}
    seen = {credentials.fingerprint(root, names)}
    assert seen == {credentials.fingerprint(root, names)}
    secret = "ghp_" + "a" * 36
    seen.add(credentials.fingerprint(root, {**names, "GH_TOKEN": secret}))
    seen.add(credentials.fingerprint(root, {**names, "GH_TOKEN": secret + "b"}))
    for name in (".config/gh/hosts.yml", ".config/lifecycle/config.toml"):
        (home / name).parent.mkdir(parents=True)
        (home / name).write_text("x: y\n")
        seen.add(credentials.fingerprint(root, names))
    (root / ".lifecycle.toml").write_text("")
    seen.add(credentials.fingerprint(root, names))
    (root / "gh").mkdir()
    (root / "gh/hosts.yml").write_text("x: y\n")
    seen.add(credentials.fingerprint(root, {**names, "GH_CONFIG_DIR": str(root / "gh")}))
    assert len(seen) == 7
    assert not any(secret in one for one in seen)
