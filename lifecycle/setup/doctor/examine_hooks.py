"""The hooks: which are wired for this project, by whom, and whether they can do their work."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator

from lifecycle.settings import user_folder
from lifecycle.settings.resources import hooks_folder
from lifecycle.setup.doctor import examine_wires
from lifecycle.setup.doctor.doctor_finding import DoctorFinding, FixStep, fail, ok, warn
from lifecycle.setup.doctor.examine_client import HookEntry, shown
from lifecycle.setup.doctor.examined import Examined
from lifecycle.setup.init.found_hooks import allows_all
from lifecycle.setup.init.hook_table import WIRES, Wire
from lifecycle.setup.init.init_mark import LOCAL, MARK

STEPS: dict[str, tuple[FixStep, ...]] = {
    "session-start": (FixStep.BRIEF,),
    "on-clear": (FixStep.STAGES,),
    "user-prompt-submit": (FixStep.NEWS,),
    "on-stop": (FixStep.PR, FixStep.CLOSE, FixStep.BOARD),
    "ci-waiter": (FixStep.CI, FixStep.MERGE, FixStep.WAKE),
    "on-idle": (FixStep.CI, FixStep.MERGE, FixStep.WAKE),
    "post-tool-use": (FixStep.EVIDENCE,),
    "session-end": (FixStep.END,),
}
"""What does not happen without each script."""

REINSTALL = "pipx reinstall agent-lifecycle"
"""Puts back what the installed package has lost."""

_PLAIN = re.compile(r"((?:\S*/)?lifecycle) hook \S+")


def check(case: Examined) -> Iterator[DoctorFinding]:
    """All settings files and the plugin together."""
    if not case.is_worktree:
        return
    yield from _files(case)
    yield from _mark(case)
    yield from _missing(case)
    yield from _permissions(case)
    yield from _doubled(case)
    for entry in case.client.entries:
        yield from _script(case, entry)
    yield from examine_wires.check(case.client.entries, STEPS, lambda entry: fix_of(case, entry))


def _all() -> tuple[FixStep, ...]:
    return tuple(dict.fromkeys(step for steps in STEPS.values() for step in steps))


def fix_of(case: Examined, entry: HookEntry) -> str:
    """What puts an entry right: `init` renews its own, others' are their writers'."""
    if entry.is_inits and entry.file.path.is_relative_to(case.root):
        return _init(case)
    return _edit(entry.file.shown)


def _edit(name: str) -> str:
    return f"${{EDITOR:-vi}} {name if name.startswith('~/') else shlex.quote(name)}"


def _init(case: Examined) -> str:
    """The command that wires this project in the way in which it was wired."""
    mark = case.client.mark
    return "lifecycle init" if mark is None or mark.mode == LOCAL else "lifecycle init --shared"


def _files(case: Examined) -> Iterator[DoctorFinding]:
    for file in case.client.files:
        if file.problem:
            yield fail(
                "hooks.settings",
                f"{file.shown} cannot be read ({file.problem}), so none of its hooks run.",
                _all(),
                _edit(file.shown),
            )
        if file.data.get("disableAllHooks") is True:
            yield fail(
                "hooks.disabled",
                f"{file.shown} says disableAllHooks, so no hook runs.",
                _all(),
                _edit(file.shown),
            )


def _mark(case: Examined) -> Iterator[DoctorFinding]:
    client = case.client
    if client.mark_problem:
        yield fail(
            "hooks.mark",
            f"{MARK} cannot be read ({client.mark_problem}); it keeps the plugin's hooks silent, and init "
            "does not know its own entries.",
            _all() if client.plugins else (),
            f"rm {MARK} && lifecycle init",
        )
    elif client.mark is not None and not client.entries and not _broken(case):
        whose = " and the plugin's are silent because of it" if client.plugins else ""
        yield fail(
            "hooks.mark",
            f"{MARK} says that init wired this project, but no settings file has the hooks{whose}.",
            _all(),
            _init(case),
        )


def _broken(case: Examined) -> bool:
    """True if a settings file cannot be read: what is missing may stand there."""
    return any(file.problem for file in case.client.files)


def _missing(case: Examined) -> Iterator[DoctorFinding]:
    client = case.client
    if client.plugin_runs:
        names = ", ".join(client.plugins)
        yield ok("hooks.installed", f"All eight hooks are installed by the plugin {names}.")
        return
    wired = {(entry.event, entry.name) for entry in client.entries}
    missing = [wire for wire in WIRES if (wire.event, wire.name) not in wired]
    if not missing:
        files = dict.fromkeys(entry.file.shown for entry in client.entries)
        silent = "; the plugin's copies are silent" if client.plugins else ""
        yield ok(
            "hooks.installed", f"All eight hooks are installed in {_list(list(files))}{silent}."
        )
    elif _broken(case) or (client.mark is not None and not client.entries):
        return
    elif len(missing) == len(WIRES):
        yield fail("hooks.missing", "No hook is installed for this project.", _all(), _init(case))
    else:
        lacking = list(dict.fromkeys(_missed(wire, missing) for wire in missing))
        steps = [step for wire in missing for step in STEPS[wire.name]]
        yield fail(
            "hooks.missing",
            f"{_list(lacking)} {'is' if len(lacking) == 1 else 'are'} not installed, unlike the others.",
            dict.fromkeys(steps),
            _init(case),
        )


def _permissions(case: Examined) -> Iterator[DoctorFinding]:
    """A plugin cannot bring permissions: without settings the client asks for each of our commands."""
    runs = case.client.plugin_runs and not case.client.entries
    if runs and not allows_all(case.root, case.environment):
        yield warn(
            "hooks.permissions",
            "The plugin cannot allow its own commands, so the client asks for each lifecycle claim, "
            "handoff, status, tick and release of the agent.",
            fix="lifecycle init --permissions",
        )


def _missed(wire: Wire, missing: list[Wire]) -> str:
    """A script's name, with the event if it is installed at another one of its own."""
    others = [one for one in WIRES if one.name == wire.name and one not in missing]
    return f"{wire.name} at {wire.event}" if others else wire.name


def _doubled(case: Examined) -> Iterator[DoctorFinding]:
    """Entries of one call are one hook for the client; others run side by side."""
    client = case.client
    found = [(wire, [e for e in client.of(wire.name) if e.event == wire.event]) for wire in WIRES]
    if client.plugin_runs and client.entries:
        files = list(dict.fromkeys(entry.file.shown for entry in client.entries))
        yield fail(
            "hooks.doubled",
            f"The hooks run twice: by the plugin, and by {_list(files)}, which init did not wire.",
            (FixStep.WAKE, FixStep.NEWS),
            "lifecycle init",
        )
    twice = [(wire, entries) for wire, entries in found if len({e.call for e in entries}) > 1]
    if twice:
        yield _twice(twice)
    elif same := list(dict.fromkeys(wire.name for wire, entries in found if len(entries) > 1)):
        files = list(dict.fromkeys(e.file.shown for name in same for e in client.of(name)))
        yield warn(
            "hooks.doubled",
            f"{_list(same)} {'stands' if len(same) == 1 else 'stand'} twice in {_list(files)}; the client "
            "runs equal entries once.",
            fix=_edit(files[-1]),
        )


def _twice(twice: list[tuple[Wire, list[HookEntry]]]) -> DoctorFinding:
    entries = [entry for _, found in twice for entry in found]
    files = list(dict.fromkeys(entry.file.shown for entry in entries))
    others = [entry.file.shown for entry in entries if not entry.is_inits]
    has_own = any(entry.is_inits for entry in entries)
    place = others[0] if has_own and others else files[0]
    names = list(dict.fromkeys(wire.name for wire, _ in twice))
    return fail(
        "hooks.doubled",
        f"{_list(names)} run{'s' if len(names) == 1 else ''} twice at each event: wired in different ways "
        f"in {_list(files)}; take one out.",
        (FixStep.WAKE, FixStep.NEWS),
        _edit(place),
    )


def _script(case: Examined, entry: HookEntry) -> Iterator[DoctorFinding]:
    """Whether what an entry starts is there, may be started, and is this installation's."""
    fix = fix_of(case, entry)
    about, where = f"{entry.name} in {entry.file.shown}", entry.script
    if where is None:
        command = str(entry.hook.get("command") or "")
        match = _PLAIN.fullmatch(command.strip())
        path = case.environment.get("PATH")
        program = match[1] if match else ""
        if program and shutil.which(program, path=path) is None:
            yield fail(
                "hooks.script",
                f"{about} starts {program}, which is not on PATH.",
                STEPS[entry.name],
                fix,
            )
        return
    name = shown(where, case.root, case.environment)
    if not where.is_file():
        says = f"{about} starts {name}, which is not there."
        if where.parent.resolve() == hooks_folder().resolve():
            # init would write the same path again: it is the installation that lacks its file.
            says = f"{about} starts {name}, which this installation of lifecycle has lost."
            fix = REINSTALL
        yield fail("hooks.script", says, STEPS[entry.name], fix)
    elif not os.access(where, os.X_OK):
        says = f"{about} starts {name}, which is not executable."
        yield fail("hooks.script", says, STEPS[entry.name], f"chmod +x {shlex.quote(str(where))}")
    elif not _is_known(case, entry):
        says = f"{about} starts {name}, the script of another installation than this one."
        yield warn("hooks.path", says, (), fix)


def _is_known(case: Examined, entry: HookEntry) -> bool:
    folders = (hooks_folder(), user_folder.recorded(case.environment).hooks)
    known = [folder / entry.name for folder in folders if folder is not None]
    script = entry.script
    return script is not None and any(k.is_file() and script.samefile(k) for k in known)


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
