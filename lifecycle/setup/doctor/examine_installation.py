"""What is installed: versions, what the file system can do, and the command that the hooks start."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lifecycle import __version__
from lifecycle.core.errors import GitFailed, LifecycleError
from lifecycle.settings import user_folder
from lifecycle.settings.credentials import for_child
from lifecycle.settings.resources import hooks_folder
from lifecycle.setup.doctor.doctor_finding import ON_GITHUB, DoctorFinding, FixStep, fail, ok, warn
from lifecycle.setup.doctor.examined import Examined
from lifecycle.setup.init.found_hooks import shown
from lifecycle.setup.plugin_version import install, plugin_version
from lifecycle.storage import store
from lifecycle.storage.store import exchange

LEAST_GIT = (2, 29)
"""`git fetch --no-write-fetch-head`, with which leases are read.

Source: https://github.com/git/git/blob/master/Documentation/RelNotes/2.29.0.adoc
"""

WORKTREE_GIT = (2, 33)
"""`git worktree add --lock --reason`, for `claim --worktree`.

Source: https://github.com/git/git/blob/master/Documentation/RelNotes/2.33.0.adoc
"""


def check(case: Examined) -> Iterator[DoctorFinding]:
    """What runs here, and whether it fits together."""
    yield ok(
        "versions.lifecycle", f"lifecycle {__version__} on Python {platform.python_version()}."
    )
    yield from _plugins(case)
    yield from _git(case)
    if case.is_worktree:
        yield from _exchanges(case)


def _plugins(case: Examined) -> Iterator[DoctorFinding]:
    known = {name: _installed_version(name, case) for name in case.client.plugins}
    own = case.environment.get("CLAUDE_PLUGIN_ROOT")
    if own:
        known["lifecycle"] = (plugin_version(case.environment), own)
    for name, (version, root) in known.items():
        if version is None:
            yield ok(
                "versions.plugin",
                f"The plugin {name} is enabled; a session's start compares its version with this one.",
            )
        elif version == __version__:
            yield ok("versions.plugin", f"The plugin {name} is of the same version, {version}.")
        else:
            yield warn(
                "versions.plugin",
                f"The plugin {name} is version {version} and the command is {__version__}; both go on "
                "as they can, but were not made for each other.",
                fix=install(root) if root else "claude plugin update lifecycle",
            )


def _installed_version(name: str, case: Examined) -> tuple[str | None, str]:
    """A plugin's version and folder as the client's list has them; None and empty if it says none."""
    path = case.client.files[0].path.parent / "plugins" / "installed_plugins.json"
    listing = store.read(path)
    try:
        data = json.loads(listing.content) if listing is not None else {}
        listed = data.get("plugins", data)[name]
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        return None, ""
    places = [one for one in (listed if isinstance(listed, list) else [listed]) if _is(one)]
    here = [one for one in places if one.get("projectPath") in (None, str(case.root))]
    for one in here:
        root = str(one.get("installPath") or "")
        version = plugin_version({"CLAUDE_PLUGIN_ROOT": root})
        if version or one.get("version"):
            return version or str(one["version"]), root if version else ""
    return None, ""


def _is(value: Any) -> bool:
    return isinstance(value, Mapping)


def _git(case: Examined) -> Iterator[DoctorFinding]:
    try:
        printed = case.world.git.run("--version")
    except GitFailed:
        yield fail(
            "versions.git",
            "git is not installed, or not on PATH.",
            (FixStep.CLAIM, FixStep.LEASE, FixStep.HANDOFF, FixStep.PR),
            "install git: https://git-scm.com/downloads",
        )
        return
    match = re.search(r"(\d+)\.(\d+)", printed)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    number = printed.removeprefix("git version ")
    least = LEAST_GIT if version < LEAST_GIT else WORKTREE_GIT
    older = f"git {number} is older than {least[0]}.{least[1]}"
    install_git = "install a newer git: https://git-scm.com/downloads"
    if version < LEAST_GIT:
        says = f"{older}, from which on it can read a lease without side effects."
        yield fail("versions.git", says, (FixStep.CLAIM, FixStep.LEASE), install_git)
    elif version < WORKTREE_GIT:
        says = f"{older}: lifecycle claim --worktree does not work."
        yield warn("versions.git", says, (FixStep.CLAIM,), install_git)
    else:
        yield ok("versions.git", f"git {number} has all that is used.")


def _exchanges(case: Examined) -> Iterator[DoctorFinding]:
    """Whether two files can change places in one step, tried inside git's own folder."""
    try:
        folder = case.root / case.world.git.run("rev-parse", "--git-dir")
        if folder.stat().st_dev != case.root.stat().st_dev:
            return  # another file system says nothing about this one
        with tempfile.TemporaryDirectory(prefix="lifecycle-", dir=folder) as name:
            works = _try_exchange(Path(name))
    except (LifecycleError, OSError):
        return  # no repository, or one that may not be written: the worktree's checks say so
    if works:
        yield ok("versions.files", "This file system can exchange two files in one step.")
    else:
        yield warn(
            "versions.files",
            "This file system cannot exchange two files in one step: an edit of the claim that is made "
            "in the very moment of a write can be lost.",
            fix="keep the worktree on a local disk (ext4, xfs, btrfs, APFS)",
        )


def _try_exchange(folder: Path) -> bool:
    first, second = folder / "one", folder / "other"
    first.write_bytes(b"1")
    second.write_bytes(b"2")
    return exchange(first, second) and first.read_bytes() == b"2"


VARIABLE = "LIFECYCLE_BIN"
START_SECONDS = 5.0
"""How long a command may take to say its version."""

_ALL = (*ON_GITHUB, FixStep.WAKE, FixStep.BRIEF, FixStep.NEWS)


def check_command(case: Examined) -> Iterator[DoctorFinding]:
    """What the scripts will start: LIFECYCLE_BIN, else what is recorded, else what is on PATH."""
    yield from _recorded(case)
    named = case.environment.get(VARIABLE)
    if named:
        found = shutil.which(named, path=case.environment.get("PATH"))
        if found is None:
            yield fail(
                "command.found",
                f"{VARIABLE} is {named}, which is no command, so every hook ends without doing anything.",
                _ALL,
                f"unset {VARIABLE}",
            )
            return
        yield from _runs(case, Path(found), f"{VARIABLE} says", f"unset {VARIABLE}")
        return
    command = user_folder.recorded(case.environment).command
    if command is not None and os.access(command, os.X_OK):
        path = user_folder.shown(user_folder.BIN, case.environment)
        yield from _runs(case, command, f"{path} says", f"rm {path} && lifecycle doctor")
        return
    on_path = shutil.which(user_folder.NAME, path=case.environment.get("PATH"))
    if on_path is not None:
        yield from _runs(case, Path(on_path), "PATH leads to it", "pipx upgrade agent-lifecycle")
        return
    yield fail(
        "command.found",
        "No lifecycle command is recorded or on PATH, so every hook ends without doing anything.",
        _ALL,
        "install it as its README says (pipx install FOLDER, from its source), then: lifecycle doctor",
    )


def _runs(case: Examined, command: Path, why: str, fix: str) -> Iterator[DoctorFinding]:
    """Whether it starts, and is of this version."""
    name = shown(command, case.root, case.environment)
    try:
        done = subprocess.run(
            [command, "--version"],
            cwd=case.root,
            env=for_child("lifecycle", case.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=case.deadline.remaining(at_most=START_SECONDS),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        done = None
    match = re.search(r"lifecycle, version (\S+)", done.stdout) if done is not None else None
    if match is None:
        yield fail(
            "command.found", f"The hooks start {name} ({why}), which does not run.", _ALL, fix
        )
    elif match[1] != __version__:
        yield warn(
            "command.found",
            f"The hooks start {name} ({why}), which is version {match[1]}; this is {__version__}.",
            fix=fix,
        )
    else:
        yield ok("command.found", f"The hooks start {name} ({why}).")


def _recorded(case: Examined) -> Iterator[DoctorFinding]:
    """Record where the command and the scripts are, if what is recorded leads nowhere."""
    known = user_folder.recorded(case.environment)
    has_command = known.command is not None and os.access(known.command, os.X_OK)
    has_hooks = known.hooks is not None and known.hooks.is_dir()
    if has_command and has_hooks:
        return
    new = user_folder.find_command(case.root, case.environment)
    command = known.command if has_command else new.path if new is not None else None
    if command is None:
        return  # nothing to record; what follows says that nothing is found
    folder = user_folder.shown("", case.environment).rstrip("/")
    try:
        user_folder.record(case.environment, command, hooks_folder())
    except (LifecycleError, OSError) as error:
        yield warn(
            "command.recorded",
            f"Where the command is could not be recorded in {folder} ({error}); hooks find it by "
            f"{VARIABLE} or PATH only.",
            fix=f"mkdir -p {folder}",
        )
        return
    note = f" {new.note}" if new is not None and new.note and not has_command else ""
    yield ok(
        "command.recorded",
        f"Recorded in {folder} where the command and the hooks are, for hooks without a PATH.{note}",
    )
