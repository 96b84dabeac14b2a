"""The user's own folder, for settings that no project may make for its user, and for the hooks' scripts.

`${XDG_CONFIG_HOME:-$HOME/.config}/lifecycle/` contains:

- `bin` (one line: the absolute path of the lifecycle command) and `hooks` (one line: the absolute folder
  of the hook scripts), read by hooks without a Python environment of their own;
- `config.toml`, the user's settings;
- `trust.json`: the commands from projects' files that the user allows, and the repositories in which a
  tracker's program may run;
- `platforms/`, the user's own platforms;
- `clones/`, the clones that are worked in: for the views of all of them, and to find a main worktree (git
  itself does not say where that of a clone with `--separate-git-dir` is; nothing else depends on this);
- `looks/`, shared by waiters (`feedback/waiting/shared_looks.py`);
- if a GitHub App is configured, `app-tokens.json` with its lock: its installations' valid tokens.

`config.own_folder` returns its path.

A clone has one small file, so that processes which write at the same time do not disturb each other. Only
this user can read it (0600), and it never leaves the machine. It is written when work begins in an unknown
clone, and deleted once the clone's git folder is gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lifecycle.core.errors import BadConfig, Refused
from lifecycle.core.light_dataclass import dataclass, object_in
from lifecycle.settings import resources
from lifecycle.settings.config import NAME, own_folder, own_path
from lifecycle.storage import regular_files, store

BIN = "bin"
HOOKS = "hooks"
TRUST = "trust.json"
TOKENS = "app-tokens.json"
TOKENS_LOCK = "app-tokens.lock"

_TRUST_VERSION = 1

CLONES = "clones"

MOST_CLONES = 1_000
"""How many clones are read."""

_CLONE_NAME = re.compile(r"[0-9a-f]{32}")
_CLONE_VERSION = 1


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


def allowed(environment: Mapping[str, str], repository: Path, *kinds: str) -> list[str]:
    """What the user allows this repository to run.

    Args:
        environment: names the home.
        repository: the repository's common git folder, which all worktrees of one clone share.
        kinds: of which kinds: "commands" that a hand-off runs, in the order of the project's file, and only
            exactly these; "checks", a line each; "programs" that keep tasks.

    Raises:
        BrokenTrust: trust.json cannot be read, so it is unknown.
    """
    entry = _trusted(environment).get(str(repository), {})
    listed = [lines for lines in map(entry.get, kinds) if isinstance(lines, list)]
    return [line for lines in listed for line in lines]


def allowing(
    environment: Mapping[str, str], repository: Path, **lines: Sequence[str]
) -> tuple[Path, bytes]:
    """The file, and its content with the user's yes to these lines of this repository.

    Args:
        environment: names the home.
        repository: the repository's common git folder.
        lines: by kind, as in `allowed`. An earlier yes to others of the kind ends.

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


@dataclass(frozen=True, slots=True)
class KnownClone:
    """A clone: its git folder, which all of its worktrees share, and its main worktree, if it has one."""

    git: Path
    main: Path | None


def note_clone(root: Path, environment: Mapping[str, str]) -> None:
    """Note the clone of this worktree. Best effort: never raises, and writes only if it is new."""
    with contextlib.suppress(OSError):
        place, git = own_folder(environment), store.common_folder(root)
        if place is None or git is None:
            return
        path = place / CLONES / _clone_name(git)
        if os.path.lexists(path) or regular_files.strange_folder(str(path.parent)):
            return
        main = "" if root.resolve() in store.linked_worktrees(git).values() else str(root.resolve())
        data = {"version": _CLONE_VERSION, "git": str(git), "main": main}
        write(path, json.dumps(data).encode("ascii") + b"\n")


def known_clones(environment: Mapping[str, str]) -> tuple[KnownClone, ...]:
    """The known clones that still exist, by their paths; the files of others are deleted.

    Raises:
        StrangeFileError: the folder of the files is not a folder of this user.
        OSError: it cannot be read.
    """
    place = own_folder(environment)
    if place is None or not (place / CLONES).exists():
        return ()
    folder = Path(regular_files.below(str(place), CLONES, ""))
    paths = sorted(path for path in folder.iterdir() if _CLONE_NAME.fullmatch(path.name))
    clones = {path: _clone(path) for path in paths[:MOST_CLONES]}
    for path in (path for path, clone in clones.items() if clone is None):
        path.unlink(missing_ok=True)
    present = (clone for clone in clones.values() if clone is not None)
    return tuple(sorted(present, key=lambda clone: str(clone.git)))


def worktrees_of(clone: KnownClone) -> tuple[Path, ...]:
    """The top folders of a clone's worktrees, the main one first; found without starting git."""
    above = clone.git.parent if clone.git.name == ".git" else None
    tops = [clone.main or above, *store.linked_worktrees(clone.git).values()]
    # A folder that belongs to another clone by now is left out.
    return tuple(top for top in tops if top is not None and store.common_folder(top) == clone.git)


def _clone(path: Path) -> KnownClone | None:
    """The clone in a file; None if the file is not ours or has another form, or the clone is gone."""
    with contextlib.suppress(OSError, ValueError):
        file = store.read(path, follow=False)
        data = object_in(file.content, _CLONE_VERSION) if file is not None else {}
        git, main = (Path(str(data.get(name) or "")) for name in ("git", "main"))
        if git.is_absolute() and _clone_name(git) == path.name and git.is_dir():
            return KnownClone(git, main if main.is_absolute() else None)
    return None


def _clone_name(git: Path) -> str:
    import hashlib  # not needed on the quiet path

    return hashlib.sha256(os.fsencode(git)).hexdigest()[:32]
