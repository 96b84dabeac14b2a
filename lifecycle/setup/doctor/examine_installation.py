"""Checks of the installation: versions, the command that hooks start, the status line."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from lifecycle import __version__
from lifecycle.core.errors import GitFailed, LifecycleError
from lifecycle.core.light_dataclass import object_in
from lifecycle.core.timing import ran
from lifecycle.settings import config, user_folder
from lifecycle.settings.resources import install_line
from lifecycle.setup.doctor.examined import Examined
from lifecycle.setup.init.client_settings import KEY, command_of, other_status_line, own_status_line
from lifecycle.setup.init.found_hooks import shown
from lifecycle.setup.plugin_version import NAME, install, is_as_command, update
from lifecycle.storage import store

LEAST_GIT = (2, 29)
"""The oldest git that has `git fetch --no-write-fetch-head`, with which leases are read.

Source: https://github.com/git/git/blob/master/Documentation/RelNotes/2.29.0.adoc
"""


def check(case: Examined) -> None:
    """Findings on the versions of lifecycle, plugins and git."""
    case.find("versions.lifecycle", version=__version__, python=platform.python_version())
    roots = {name: _installed(name, case) for name in case.client.plugins}
    if own := case.environment.get("CLAUDE_PLUGIN_ROOT"):
        roots[next(iter(roots), NAME)] = own  # the plugin that runs this is enabled
    for name, root in roots.items():
        is_same = is_as_command(root) if root else None
        if is_same is False:
            case.find("versions.plugin.other", name=name, install=install(root), fix=update(name))
        else:
            case.find("versions.plugin.same" if is_same else "versions.plugin.unknown", name=name)
    _git(case)


def _installed(name: str, case: Examined) -> str:
    """A plugin's folder in the client's list; "" if it is not in the list."""
    listing = store.read(case.client.files[0].path.parent / "plugins" / "installed_plugins.json")
    with contextlib.suppress(KeyError, TypeError, AttributeError):  # a list of another form
        places = object_in(listing.content)["plugins"][name] if listing is not None else []
        own = (place for place in places if place.get("projectPath") in (None, str(case.root)))
        return str(next(filter(None, (place.get("installPath") for place in own)), ""))
    return ""


def _git(case: Examined) -> None:
    try:
        printed = case.world.git.run("--version")
    except GitFailed:
        return case.find("versions.git.none")
    match = re.search(r"(\d+)\.(\d+)", printed)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    number = printed.removeprefix("git version ")
    key = "versions.git.leases" if version < LEAST_GIT else "versions.git.enough"
    return case.find(key, number=number, least=".".join(map(str, LEAST_GIT)))


VARIABLE = "LIFECYCLE_BIN"
START_SECONDS = 5.0
"""Seconds that a command may take to print its version."""


def check_command(case: Examined) -> None:
    """Findings on the command that hooks start: LIFECYCLE_BIN, else the recorded one, else that on PATH."""
    _recorded(case)
    named, search = case.environment.get(VARIABLE), case.environment.get("PATH")
    if named:
        program = shutil.which(named, path=search)
        if program is None:
            return case.find("command.found.misnamed", named=named)
        return _runs(case, Path(program), f"{VARIABLE} says", f"unset {VARIABLE}")
    command = user_folder.recorded(case.environment, user_folder.BIN)
    if command is not None and os.access(command, os.X_OK):
        path = config.own_path(user_folder.BIN, case.environment)
        return _runs(case, command, f"{path} says", f"rm {path} && lifecycle doctor")
    on_path = shutil.which(config.NAME, path=search)
    if on_path is not None:
        fix = install_line("renew", prefix=Path(on_path).resolve().parents[1])
        return _runs(case, Path(on_path), "PATH leads to it", fix)
    return case.find("command.found.none")


def _runs(case: Examined, command: Path, why: str, fix: str) -> None:
    """The finding on whether a command starts and has this version; `why`: why hooks start it."""
    name = shown(command, case.root, case.environment)
    seconds, printed = case.deadline.remaining(at_most=START_SECONDS), ""
    variables = config.for_child("lifecycle", case.environment)
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        _, printed, _ = ran([str(command), "--version"], seconds, variables, case.root)
    match = re.search(r"lifecycle, version (\S+)", printed)
    if match is None:
        return case.find("command.found.broken", name=name, why=why, fix=fix)
    if match[1] != __version__:
        words = {"name": name, "why": why, "version": match[1], "own": __version__}
        return case.find("command.found.other", **words, fix=fix)
    return case.find("command.found.same", name=name, why=why)


def _recorded(case: Examined) -> None:
    """Record the paths of command and scripts if the recorded ones do not exist; a finding on that."""
    environment = case.environment
    command = user_folder.recorded(environment, user_folder.BIN)
    hooks = user_folder.recorded(environment, user_folder.HOOKS)
    has_command = command is not None and os.access(command, os.X_OK)
    command = command if has_command else user_folder.find_command(case.root, environment)
    if command is None or (has_command and hooks is not None and hooks.is_dir()):
        return None  # nothing to record; the next finding reports a missing command
    folder = config.own_path("", environment).rstrip("/")
    try:
        user_folder.record(environment, command)
    except (LifecycleError, OSError) as error:
        return case.find("command.recorded.failed", folder=folder, error=error)
    return case.find("command.recorded.done", folder=folder)


def check_statusline(case: Examined) -> None:
    """A finding on our status line, if a settings file has it; the client shows that of the last file."""
    files = case.client.files
    places = [index for index, file in enumerate(files) if command_of(file.value(KEY))]
    if not places:
        return
    file, before = files[places[-1]], files[: places[-1]]
    line = own_status_line(file.value(KEY))
    if line is None:
        if any(own_status_line(other.value(KEY)) is not None for other in before):
            case.find("statusline.hidden", file=file)
        return
    other = command_of(other_status_line(before))
    if not os.access(line.script, os.X_OK):
        script = shown(line.script, case.root, case.environment)
        case.find("statusline.lost", file=file, script=script)
    elif other and other != line.above:
        case.find("statusline.other", file=file)
    else:
        case.find("statusline.set", beside=", below the one that was set" if line.above else "")
