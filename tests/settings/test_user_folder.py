"""The user's own folder: where it is, what hooks find in it, and what may run."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from lifecycle.core.errors import BadConfig, Refused
from lifecycle.settings import config, resources, user_folder

COMMANDS = ("make test", "make lint")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A home of its own."""
    return {"HOME": str(tmp_path / "me"), "PATH": ""}


def is_trusted(environment: dict[str, str], repository: Path, commands: tuple[str, ...]) -> bool:
    """Whether exactly these commands of a repository may run at a hand-off."""
    return user_folder.allowed(environment, repository, "commands") == [*commands]


def test_the_folder_follows_the_xdg_specification(tmp_path: Path) -> None:
    """XDG_CONFIG_HOME if it is absolute, else .config in HOME; nothing where neither is."""
    assert config.own_folder({"HOME": "/home/me"}) == Path("/home/me/.config/lifecycle")
    both = {"HOME": "/home/me", "XDG_CONFIG_HOME": str(tmp_path)}
    assert config.own_folder(both) == tmp_path / "lifecycle"
    relative = {"HOME": "/home/me", "XDG_CONFIG_HOME": "settings"}
    assert config.own_folder(relative) == Path("/home/me/.config/lifecycle")
    assert config.own_folder({}) is None
    assert config.own_folder({"HOME": "me"}) is None


def test_paths_are_shown_as_people_write_them() -> None:
    """The home is `~`; another folder is spelled out."""
    assert config.own_path("config.toml", {"HOME": "/home/me"}) == "~/.config/lifecycle/config.toml"
    assert config.own_path("bin", {"XDG_CONFIG_HOME": "/etc/x"}) == "/etc/x/lifecycle/bin"
    assert config.own_path("bin", {"HOME": "/h", "XDG_CONFIG_HOME": "/hx"}) == "/hx/lifecycle/bin"


def test_what_is_recorded_is_one_line_for_the_scripts(environment: dict[str, str]) -> None:
    """bin and hooks hold one absolute path each, in a folder that only the user may enter."""
    command, hooks = Path("/opt/a b/bin/lifecycle"), resources.top_folder("hooks")
    user_folder.record(environment, command)
    place = config.own_folder(environment)
    assert place is not None
    written = sorted(place.iterdir())
    assert [path.name for path in written] == ["bin", "hooks"]
    assert [path.read_text() for path in written] == [f"{command}\n", f"{hooks}\n"]
    assert user_folder.recorded(environment, user_folder.BIN) == command
    assert user_folder.recorded(environment, user_folder.HOOKS) == hooks
    assert stat.S_IMODE(written[0].parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(written[0].stat().st_mode) == 0o600


def test_recording_the_same_again_writes_nothing(environment: dict[str, str]) -> None:
    """The files' times stay; only what differs is written."""
    user_folder.record(environment, Path("/a"))
    place = config.own_folder(environment)
    assert place is not None
    for name in ("bin", "hooks"):
        os.utime(place / name, (1, 1))
    user_folder.record(environment, Path("/a"))
    assert (place / "bin").stat().st_mtime == 1
    user_folder.record(environment, Path("/b"))
    assert (place / "bin").read_text() == "/b\n"
    assert (place / "hooks").stat().st_mtime == 1


@pytest.mark.parametrize("content", [b"", b"relative/path\n", b"\n/late\n", b"\0\n"])
def test_a_line_that_is_no_absolute_path_is_none(
    environment: dict[str, str], content: bytes
) -> None:
    """A broken line is as good as none: the scripts go on to PATH."""
    place = config.own_folder(environment)
    assert place is not None
    place.mkdir(parents=True)
    (place / "bin").write_bytes(content)
    assert user_folder.recorded(environment, user_folder.BIN) is None
    assert user_folder.recorded(environment, user_folder.HOOKS) is None


def test_a_linked_file_is_written_through(environment: dict[str, str], tmp_path: Path) -> None:
    """Who keeps these files elsewhere and links to them still does so afterwards."""
    place = config.own_folder(environment)
    assert place is not None
    place.mkdir(parents=True)
    (tmp_path / "kept").write_text("/old\n")
    (place / "bin").symlink_to(tmp_path / "kept")
    user_folder.record(environment, Path("/new"))
    assert (place / "bin").is_symlink()
    assert (tmp_path / "kept").read_text() == "/new\n"


def test_without_a_home_nothing_is_written() -> None:
    """The sentence says what is missing."""
    with pytest.raises(Refused, match="HOME"):
        user_folder.record({}, Path("/a"))


def test_the_command_found_is_the_one_that_runs_us(tmp_path: Path) -> None:
    """The environment that this Python belongs to has the command; no remark is needed."""
    found = user_folder.find_command(tmp_path, {"PATH": ""})
    assert found == Path(sys.prefix) / "bin" / "lifecycle"


def test_a_command_outside_the_project_is_preferred(tmp_path: Path) -> None:
    """The project's own virtual environment may be gone tomorrow: one on PATH wins over it."""
    other = tmp_path / "lifecycle"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    found = user_folder.find_command(Path(sys.prefix).parent, {"PATH": str(tmp_path)})
    assert found == other


def test_the_projects_own_command_is_taken_last() -> None:
    """With nothing else there is, it works for now."""
    found = user_folder.find_command(Path(sys.prefix).parent, {"PATH": ""})
    assert found == Path(sys.prefix) / "bin" / "lifecycle"


def test_a_link_to_the_project_makes_no_other_command_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A PATH through it leads into the project all the same, and is not preferred."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "project"))
    command = tmp_path / "project/bin/lifecycle"
    command.parent.mkdir(parents=True)
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    (tmp_path / "link").symlink_to(tmp_path / "project")
    found = user_folder.find_command(tmp_path / "project", {"PATH": f"{tmp_path}/link/bin"})
    assert found == command


def test_trust_is_for_these_very_commands_of_this_clone(environment: dict[str, str]) -> None:
    """Another order, another word or another repository is another question."""
    here = Path("/home/dev/hello/.git")
    assert not is_trusted(environment, here, COMMANDS)
    user_folder.allow(environment, here, commands=COMMANDS)
    assert is_trusted(environment, here, COMMANDS)
    assert not is_trusted(environment, here, COMMANDS[::-1])
    assert not is_trusted(environment, here, ("make test make lint",))
    assert not is_trusted(environment, here, ("make test",))
    assert not is_trusted(environment, Path("/home/dev/other/.git"), COMMANDS)


def test_a_new_yes_ends_the_earlier_one(environment: dict[str, str]) -> None:
    """What was allowed once does not stay allowed when the file goes back to it."""
    here, there = Path("/home/dev/hello/.git"), Path("/home/dev/other/.git")
    user_folder.allow(environment, there, commands=COMMANDS)
    user_folder.allow(environment, here, commands=("rm old",))
    user_folder.allow(environment, here, commands=COMMANDS)
    assert not is_trusted(environment, here, ("rm old",))
    assert is_trusted(environment, there, COMMANDS)


def test_a_yes_to_one_kind_keeps_the_yes_to_others(environment: dict[str, str]) -> None:
    """Whoever allows a tracker's program allowed the commands before, and is not asked again; nor back."""
    here = Path("/home/dev/hello/.git")
    user_folder.allow(environment, here, commands=COMMANDS)
    user_folder.allow(environment, here, programs=["bd"])
    assert is_trusted(environment, here, COMMANDS)
    user_folder.allow(environment, here, commands=COMMANDS[:1], checks=["make"])
    assert user_folder.allowed(environment, here, "programs") == ["bd"]
    assert user_folder.allowed(environment, here, "commands", "checks") == [COMMANDS[0], "make"]


def test_trust_can_be_taken_back(environment: dict[str, str]) -> None:
    """Of this repository alone; taking back what was not given says so."""
    here, there = Path("/home/dev/hello/.git"), Path("/home/dev/other/.git")
    assert user_folder.revoke(environment, here) is False
    user_folder.allow(environment, here, commands=COMMANDS)
    user_folder.allow(environment, there, commands=COMMANDS)
    assert user_folder.revoke(environment, here) is True
    assert not is_trusted(environment, here, COMMANDS)
    assert is_trusted(environment, there, COMMANDS)


@pytest.mark.parametrize("is_yes", [True, False])
def test_what_an_earlier_lifecycle_was_allowed_ends(
    environment: dict[str, str], *, is_yes: bool
) -> None:
    """It kept each yes under a digest, and may still be installed: no new yes, and no no, leaves one."""
    here, place = Path("/home/dev/hello/.git"), config.own_folder(environment)
    assert place is not None
    entry = {"repository": str(here), "commands": list(COMMANDS)}
    file = place / user_folder.TRUST
    user_folder.write(file, json.dumps({"version": 1, "trusted": {"ab" * 32: entry}}).encode())
    assert not is_trusted(environment, here, COMMANDS)
    if is_yes:
        user_folder.allow(environment, here, commands=COMMANDS)
    else:
        assert user_folder.revoke(environment, here) is True
    assert [*json.loads(file.read_bytes())["trusted"]] == [str(here)] * is_yes


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[]",
        b'{"version": 2, "trusted": {}}',
        b'{"version": 1, "trusted": {"a": 1}}',
        b"\xff",
    ],
)
def test_a_broken_list_trusts_nothing_and_is_kept(
    environment: dict[str, str], content: bytes
) -> None:
    """Nobody knows what was allowed, so nothing is, and nothing is overwritten."""
    place = config.own_folder(environment)
    assert place is not None
    place.mkdir(parents=True)
    (place / "trust.json").write_bytes(content)
    here = Path("/home/dev/hello/.git")
    with pytest.raises(BadConfig, match=r"trust\.json"):
        is_trusted(environment, here, COMMANDS)
    with pytest.raises(BadConfig, match=r"trust\.json"):
        user_folder.allow(environment, here, commands=COMMANDS)
    assert (place / "trust.json").read_bytes() == content


def test_entries_of_another_form_are_no_yes(environment: dict[str, str]) -> None:
    """Each yes was once an entry of its own: whoever gave one is asked again; nor does a word count."""
    here = Path("/home/dev/hello/.git")
    older = {"repository": str(here), "commands": [*COMMANDS]}
    broken = {"commands": None, "checks": "make", "programs": "bd"}
    place = config.own_folder(environment)
    assert place is not None
    place.mkdir(parents=True)
    text = json.dumps({"version": 1, "trusted": {"5f" * 32: older, str(here): broken}})
    (place / "trust.json").write_text(text)
    assert not is_trusted(environment, here, COMMANDS)
    assert user_folder.allowed(environment, here, "commands", "checks", "programs") == []
    user_folder.allow(environment, here, commands=COMMANDS)
    assert is_trusted(environment, here, COMMANDS)
