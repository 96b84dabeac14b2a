"""Versions: of lifecycle, Python, the plugin and git; and what the file system can do."""

from __future__ import annotations

import json
import platform
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lifecycle import __version__
from lifecycle.core.errors import GitFailed, LifecycleError
from lifecycle.setup.doctor.doctor_finding import DoctorFinding, FixStep, fail, ok, warn
from lifecycle.setup.doctor.examined import Examined
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
    found = store.read(path)
    try:
        data = json.loads(found.content) if found is not None else {}
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


def _is(one: Any) -> bool:
    return isinstance(one, Mapping)


def _git(case: Examined) -> Iterator[DoctorFinding]:
    try:
        said = case.world.git.run("--version")
    except GitFailed:
        yield fail(
            "versions.git",
            "git is not installed, or not on PATH.",
            (FixStep.CLAIM, FixStep.LEASE, FixStep.HANDOFF, FixStep.PR),
            "install git: https://git-scm.com/downloads",
        )
        return
    match = re.search(r"(\d+)\.(\d+)", said)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    number = said.removeprefix("git version ")
    if version < LEAST_GIT:
        least = ".".join(map(str, LEAST_GIT))
        yield fail(
            "versions.git",
            f"git {number} is older than {least}, from which on it can read a lease without side effects.",
            (FixStep.CLAIM, FixStep.LEASE),
            "install a newer git: https://git-scm.com/downloads",
        )
    elif version < WORKTREE_GIT:
        least = ".".join(map(str, WORKTREE_GIT))
        yield warn(
            "versions.git",
            f"git {number} is older than {least}: lifecycle claim --worktree does not work.",
            (FixStep.CLAIM,),
            "install a newer git: https://git-scm.com/downloads",
        )
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
    one, other = folder / "one", folder / "other"
    one.write_bytes(b"1")
    other.write_bytes(b"2")
    return exchange(one, other) and one.read_bytes() == b"2"
