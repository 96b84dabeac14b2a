"""The command: how the hooks find it, since they have no Python environment of their own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from lifecycle import __version__
from lifecycle.core.errors import LifecycleError
from lifecycle.settings import user_folder
from lifecycle.settings.credentials import for_child
from lifecycle.settings.resources import hooks_folder
from lifecycle.setup.doctor.doctor_finding import ON_GITHUB, DoctorFinding, FixStep, fail, ok, warn
from lifecycle.setup.doctor.examine_client import shown
from lifecycle.setup.doctor.examined import Examined

VARIABLE = "LIFECYCLE_BIN"
START_SECONDS = 5.0
"""How long a command may take to say its version."""

_ALL = (*ON_GITHUB, FixStep.WAKE, FixStep.BRIEF, FixStep.NEWS)


def check(case: Examined) -> Iterator[DoctorFinding]:
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
    found = user_folder.find_command(case.root, case.environment)
    command = known.command if has_command else found.path if found is not None else None
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
    note = f" {found.note}" if found is not None and found.note and not has_command else ""
    yield ok(
        "command.recorded",
        f"Recorded in {folder} where the command and the hooks are, for hooks without a PATH.{note}",
    )
