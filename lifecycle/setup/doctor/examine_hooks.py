"""The hooks: which are wired for this project, by whom, and whether they can do their work."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping

from lifecycle.settings import user_folder
from lifecycle.settings.resources import hooks_folder
from lifecycle.setup.doctor.doctor_finding import DoctorFinding, FixStep, fail, ok, warn
from lifecycle.setup.doctor.examined import Examined
from lifecycle.setup.init.found_hooks import HookEntry, allows_all, shown
from lifecycle.setup.init.hook_table import DAY, WIRES, Wire
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
    yield from check_wires(case.client.entries, STEPS, lambda entry: fix_of(case, entry))


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
            says = f"{file.shown} cannot be read ({file.problem}), so none of its hooks run."
            yield fail("hooks.settings", says, _all(), _edit(file.shown))
        if file.data.get("disableAllHooks") is True:
            says = f"{file.shown} says disableAllHooks, so no hook runs."
            yield fail("hooks.disabled", says, _all(), _edit(file.shown))


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
    missing = client.missing
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
    if client.plugin_runs and client.entries:
        files = list(dict.fromkeys(entry.file.shown for entry in client.entries))
        yield fail(
            "hooks.doubled",
            f"The hooks run twice: by the plugin, and by {_list(files)}, which init did not wire.",
            (FixStep.WAKE, FixStep.NEWS),
            "lifecycle init",
        )
    twice = [
        (wire, entries) for wire, entries in client.doubled if len({e.call for e in entries}) > 1
    ]
    if twice:
        yield _twice(twice)
    elif same := list(dict.fromkeys(wire.name for wire, _ in client.doubled)):
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


DEFAULT_TIMEOUT = {"UserPromptSubmit": 30.0, "SessionEnd": 1.5}
"""Seconds that the client gives to a command without a timeout; 600 for the events not named.

Source: https://code.claude.com/docs/en/hooks.
"""
_DEFAULT = 600.0

LEAST = {
    "session-start": 6.0,
    "on-clear": 10.0,
    "user-prompt-submit": 6.0,
    "on-stop": 10.0,
    "ci-waiter": float(DAY),
    "on-idle": 10.0,
    "post-tool-use": 10.0,
    "session-end": 3.0,
}
"""Seconds: what each script takes at most, and a little more."""

MOST = 3600.0
"""Seconds for all but the waiter: whoever writes more thought of milliseconds."""

SOURCES = ("startup", "resume", "clear", "compact")
"""How a session starts. Source: as above."""

_NAMES = re.compile(r"[\w\- ,|]*", re.ASCII)

Steps = Mapping[str, tuple[FixStep, ...]]
Fix = Callable[[HookEntry], str]


def check_wires(entries: Iterable[HookEntry], steps: Steps, fix: Fix) -> Iterator[DoctorFinding]:
    """What is wrong with each entry.

    Args:
        entries: those that run a script of ours.
        steps: what does not happen without each script.
        fix: what puts an entry right.
    """
    for entry in entries:
        wires = [wire for wire in WIRES if wire.name == entry.name]
        wire = next((wire for wire in wires if wire.event == entry.event), None)
        if wire is None:
            yield warn(
                "hooks.event",
                f"{entry.name} in {entry.file.shown} hears {entry.event}, at which it does nothing; "
                f"its event is {wires[0].event}.",
                fix=fix(entry),
            )
            continue
        for look in (_matcher, _background, _timeout):
            yield from look(entry, wire, steps[entry.name], fix(entry))


def hears(matcher: str, kind: str) -> bool:
    """True if the client runs an entry of this matcher for this kind of its event."""
    if matcher in ("", "*"):
        return True
    if _NAMES.fullmatch(matcher):
        return kind in [name.strip() for name in re.split(r"[|,]", matcher)]
    try:
        return re.search(matcher, kind) is not None
    except re.error:
        return False


def _matcher(
    entry: HookEntry, wire: Wire, steps: tuple[FixStep, ...], fix: str
) -> Iterator[DoctorFinding]:
    about = f'{entry.name} in {entry.file.shown} has the matcher "{entry.matcher}"'
    if wire.event == "SessionStart" and not wire.matcher:
        missed = [source for source in SOURCES if not hears(entry.matcher, source)]
        if missed:
            says = (
                f"{about}, which misses {', '.join(missed)}: such sessions begin without the claim."
            )
            yield warn("hooks.matcher", says, steps, fix)
    elif wire.matcher and not hears(entry.matcher, wire.matcher):
        yield fail("hooks.matcher", f"{about}, which misses {wire.matcher}.", steps, fix)


def _background(
    entry: HookEntry, wire: Wire, steps: tuple[FixStep, ...], fix: str
) -> Iterator[DoctorFinding]:
    about = f"{entry.name} in {entry.file.shown}"
    wakes = entry.is_rewake
    if wire.is_rewake and not wakes:
        blocks = ", and holds up every turn" if wire.name == "ci-waiter" else ""
        says = f"{about} lacks asyncRewake, so it wakes nobody{blocks}."
        yield fail("hooks.rewake", says, steps, fix)
    elif not wire.is_rewake and (wakes or entry.hook.get("async") is True):
        loses = "what it says comes late or is lost"
        if wire.name == "post-tool-use":
            loses = "the files may have changed before it looks at them"
        says = f"{about} runs in the background, where {loses}."
        yield fail("hooks.background", says, steps, fix)


def _timeout(
    entry: HookEntry, wire: Wire, steps: tuple[FixStep, ...], fix: str
) -> Iterator[DoctorFinding]:
    about = f"{entry.name} in {entry.file.shown}"
    given = entry.timeout
    seconds = DEFAULT_TIMEOUT.get(wire.event, _DEFAULT) if given is None else given
    named = f"has the client's {seconds:g} s" if given is None else f"is given {seconds:g} s"
    least = LEAST[wire.name]
    if seconds < least:
        reason = "after that it wakes nobody" if wire.is_rewake else "it may be ended in the middle"
        says = f"{about} {named} and needs {least:g} s: {reason}."
        yield fail("hooks.timeout", says, steps, fix)
    elif seconds > MOST and wire.name != "ci-waiter":
        says = f"{about} {named}, which is {seconds / 3600:.1f} hours: timeouts are in seconds."
        yield warn("hooks.timeout", says, (), fix)
