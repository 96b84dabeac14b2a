"""The user's own folder, for settings that no project may make for its user, and for the hooks' scripts.

`${XDG_CONFIG_HOME:-$HOME/.config}/lifecycle/` contains:

- `bin` (one line: the absolute path of the lifecycle command) and `hooks` (one line: the absolute folder
  of the hook scripts), read by hooks without a Python environment of their own;
- `config.toml`, the user's settings;
- `trust.json`: the commands from projects' files that the user allows, and the repositories in which a
  tracker's program may run;
- `platforms/`, the user's own platforms;
- `clones/`, the clones that are worked in (`known_clones.py`);
- `looks/`, shared by waiters (`feedback/waiting/shared_looks.py`);
- if a GitHub App is configured, `app-tokens.json` with its lock: its installations' valid tokens.

`config.own_folder` returns its path.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lifecycle.core.errors import BadConfig, Refused
from lifecycle.core.light_dataclass import object_in
from lifecycle.settings import resources
from lifecycle.settings.config import NAME, own_folder, own_path
from lifecycle.storage import store

BIN = "bin"
HOOKS = "hooks"
TRUST = "trust.json"
TOKENS = "app-tokens.json"
TOKENS_LOCK = "app-tokens.lock"

_TRUST_VERSION = 1


class BrokenTrust(BadConfig):
    """trust.json cannot be read."""


def recorded(environment: Mapping[str, str], name: str) -> Path | None:
    """The path in BIN or HOOKS; None if it is missing, or the line is not an absolute path."""
    place = own_folder(environment)
    file = store.read(place / name) if place is not None else None
    if file is None:
        return None
    path = Path(os.fsdecode(file.content.partition(b"\n")[0]))
    return path if path.is_absolute() and "\0" not in str(path) else None


def record(environment: Mapping[str, str], command: Path) -> None:
    """Write `bin` and `hooks` if their content differs.

    Raises:
        Refused: the environment names no home.
        OSError: the folder cannot be written.
    """
    for path, content in lines_to_record(environment, command).items():
        before = store.read(path)
        if before is None or before.content != content:
            write(path, content)


def lines_to_record(environment: Mapping[str, str], command: Path) -> dict[Path, bytes]:
    """The content of `bin` and `hooks`, by path; Refused if the environment names no home."""
    place, hooks = _needed(environment), resources.top_folder("hooks")
    return {place / BIN: os.fsencode(command) + b"\n", place / HOOKS: os.fsencode(hooks) + b"\n"}


def trouble(environment: Mapping[str, str]) -> str:
    """Why nothing can be written there; "" if it seems possible."""
    place = own_folder(environment)
    if place is None:
        return "neither HOME nor XDG_CONFIG_HOME names a folder"
    nearest = next(path for path in (place, *place.parents) if os.path.lexists(path))
    is_fine = nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
    return "" if is_fine else f"nothing can be written below {nearest}"


def write(path: Path, content: bytes) -> None:
    """Replace a file of the user's folder, readable only by the user, also through a symbolic link."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    store.write(path.resolve(), content)


def find_command(project: Path, environment: Mapping[str, str]) -> Path | None:
    """A command that will last: of the environment that runs us, else from PATH.

    One in a virtual environment inside the project is used only if there is no other.
    """
    import shutil

    own = Path(sys.prefix) / "bin" / NAME
    on_path = shutil.which(NAME, path=environment.get("PATH"))
    candidates = [own] if os.access(own, os.X_OK) else []
    candidates += [Path(on_path).absolute()] if on_path else []
    return min(candidates, key=lambda candidate: _lies_in(project, candidate), default=None)


def _lies_in(project: Path, file: Path) -> bool:
    """True for a file of the project, by whichever of its folder's names."""
    at = file.parent.resolve()
    return file.is_relative_to(project) or at.is_relative_to(project.resolve())


def is_trusted(environment: Mapping[str, str], repository: Path, commands: Sequence[str]) -> bool:
    """True if the user allows exactly these commands of this repository.

    Args:
        environment: names the home.
        repository: the repository's common git folder, which all worktrees of one clone share.
        commands: the commands in the project's file, in its order.

    Raises:
        BrokenTrust: trust.json cannot be read, so it is unknown.
    """
    return _allowed(environment, repository, "commands") == [*commands]


def allowed(environment: Mapping[str, str], repository: Path) -> tuple[str, ...]:
    """This repository's command lines that checks may run, including those of `is_trusted`.

    Raises:
        BrokenTrust: trust.json cannot be read, so it is unknown.
    """
    commands = _allowed(environment, repository, "commands")
    return (*commands, *_allowed(environment, repository, "checks"))


def allows(environment: Mapping[str, str], repository: Path, program: str) -> bool:
    """True if the user allows a tracker's program in this repository, whatever its files say.

    Raises:
        BrokenTrust: trust.json cannot be read, so it is unknown.
    """
    return program in _allowed(environment, repository, "programs")


def allowing(
    environment: Mapping[str, str], repository: Path, **lines: Sequence[str]
) -> tuple[Path, bytes]:
    """The file, and its content with the user's yes to these lines of this repository.

    Args:
        environment: names the home.
        repository: the repository's common git folder.
        lines: by kind: "commands" that a hand-off runs, in its order; "checks", a line each; "programs"
            that keep tasks. An earlier yes to others of the kind ends.

    Raises:
        Refused: the environment names no home.
        BrokenTrust: trust.json cannot be read; it is left unchanged.
    """
    trusted = _trusted(environment)
    entry = {**trusted.get(str(repository), {}), **lines}
    return _file(environment, {**trusted, str(repository): entry})


def allow(environment: Mapping[str, str], repository: Path, **lines: Sequence[str]) -> None:
    """Write what `allowing` returns; raises as that does."""
    write(*allowing(environment, repository, **lines))


def revoke(environment: Mapping[str, str], repository: Path) -> bool:
    """Allow no command or program of this repository any more; False if none was allowed.

    Raises:
        BrokenTrust: trust.json cannot be read; it is left unchanged.
    """
    trusted, name = _trusted(environment), str(repository)
    kept = {key: e for key, e in trusted.items() if name not in (key, e.get("repository"))}
    if kept == trusted:
        return False
    write(*_file(environment, kept))
    return True


def _trusted(environment: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """What the user allows each repository: "commands", "checks" and "programs"."""
    place = own_folder(environment)
    file = store.read(place / TRUST) if place is not None else None
    if file is None:
        return {}
    entries = object_in(file.content, _TRUST_VERSION).get("trusted")
    if isinstance(entries, dict) and all(isinstance(e, dict) for e in entries.values()):
        return entries
    raise BrokenTrust(resources.sentence("broken-trust", path=own_path(TRUST, environment)))


def _allowed(environment: Mapping[str, str], repository: Path, kind: str) -> list[str]:
    lines = _trusted(environment).get(str(repository), {}).get(kind)
    return lines if isinstance(lines, list) else []


def _file(environment: Mapping[str, str], trusted: Mapping[str, Any]) -> tuple[Path, bytes]:
    # Entries under digests are an earlier lifecycle's, which may still be installed: they end here.
    entries = {key: entry for key, entry in trusted.items() if Path(key).is_absolute()}
    text = json.dumps({"version": _TRUST_VERSION, "trusted": entries}, indent=2)
    return _needed(environment) / TRUST, text.encode("ascii") + b"\n"


def _needed(environment: Mapping[str, str]) -> Path:
    place = own_folder(environment)
    if place is None:
        raise Refused(resources.sentence("no-home"))
    return place
