"""Checks of the hooks: which are installed here, by whom, and whether this project's sessions run them."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Iterable
from pathlib import Path

from lifecycle.claim.decisions.table import IN_REVIEW
from lifecycle.core.errors import LifecycleError
from lifecycle.core.redact import short, visible
from lifecycle.settings.running_client import session_of
from lifecycle.setup.doctor.examined import Examined
from lifecycle.setup.init.found_hooks import STRICT, ClientSettings, HookEntry, is_file, shown
from lifecycle.setup.init.hook_table import CAP, DEFAULT_CAP, WIRES
from lifecycle.storage import log, signs_of_life

_ADMINISTRATOR = "ask the administrator of this machine, whose file it is"


def check(case: Examined) -> None:
    """Findings on the hook entries of all settings files and of the plugin."""
    client = case.client
    _files(case)
    _installed(case)
    if client.only_rules and not client.allows():
        case.find("hooks.rules", file=client.only_rules, fix=_ADMINISTRATOR)
    # A plugin has no permissions, so the client asks for each command.
    elif client.plugin_runs and not client.entries and not client.allows():
        case.find("hooks.permissions")
    _doubled(case)
    _gone(case)
    for entry in client.entries:
        _entry(case, entry)


def allowing(case: Examined, command: str) -> str:
    """What allows the agent's commands: this command of `init`, if what it writes counts."""
    return _ADMINISTRATOR if case.client.only_rules else command


def fix_of(case: Examined, entry: HookEntry) -> str:
    """The command that corrects an entry: `init` for its own entries, an editor for others'."""
    if entry.is_inits and entry.file.path.is_relative_to(case.root):
        return "lifecycle init"
    return _edited(case, entry.file)


def _edited(case: Examined, file: ClientSettings) -> str:
    """How a settings file is corrected by hand."""
    return _ADMINISTRATOR if file in case.client.policies else edit(file.shown)


def edit(name: str) -> str:
    """The command line that opens a file in the user's editor."""
    home = "~/" if name.startswith("~/") else ""  # quoted, it would be a name like others
    return f"${{EDITOR:-vi}} {home}{shlex.quote(name.removeprefix(home))}"


def _files(case: Examined) -> None:
    client, barred = case.client, case.client.barred
    for file in client.every_file:
        fix = _edited(case, file)
        if file.problem:
            case.find("hooks.settings", file=file, fix=fix)
        if file.value("disableAllHooks") is True:
            case.find("hooks.disabled", file=file, fix=fix)
        if file in client.ruling and (denied := ", ".join(file.denied)):
            case.find("hooks.denied", file=file, rules=denied, fix=fix)
    if barred is not None:
        file, key = barred
        own = (entry.file.shown for entry in client.entries if entry.file not in client.policies)
        # Without its mark, init removes nothing.
        steps = ["lifecycle init --remove"] if client.mark else [*dict.fromkeys(map(edit, own))]
        steps += [] if client.plugins else ["install the plugin, whose hooks may run"]
        may_run = key == STRICT or client.is_plugin_managed
        fix = ", then ".join(steps) if may_run else _ADMINISTRATOR
        case.find("hooks.barred", file=file, key=key, fix=fix)


def _installed(case: Examined) -> None:
    """Findings on the mark of `init`, and on the hooks that are installed or missing."""
    client = case.client
    # Hooks that seem to be missing may be in a file that cannot be read.
    is_broken = any(file.problem for file in client.every_file)
    if client.mark_problem:
        hinders = ("every hook",) if client.plugins else ()
        case.find("hooks.mark.broken", problem=client.mark_problem, hinders=hinders)
    elif client.mark is not None and not client.entries and not is_broken:
        silent = " and the plugin's are silent because of it" if client.plugins else ""
        case.find("hooks.mark.alone", silent=silent)
    if client.plugin_runs:
        case.find("hooks.installed.plugin", names=", ".join(client.plugins))
        return
    missing = client.missing
    if not missing:
        silent = "; the plugin's copies are silent" if client.plugins else ""
        case.find("hooks.installed.settings", files=_files_of(client.entries), silent=silent)
    elif client.barred or is_broken or (client.mark is not None and not client.entries):
        return
    elif len(missing) == len(WIRES) and client.plugins_off:
        name = client.plugins_off[0]
        case.find("hooks.missing.plugin", name=name, fix=f"claude plugin enable {name}")
    elif len(missing) == len(WIRES):
        case.find("hooks.missing.all")
    else:
        names = _counted([f"{wire.name} at {wire.event}" for wire in missing], "is", "are")
        case.find("hooks.missing.some", names=names, hinders=[wire.name for wire in missing])


def _doubled(case: Examined) -> None:
    """Findings on scripts that run twice at an event."""
    client = case.client
    if client.plugin_runs and client.entries:
        fix = fix_of(case, client.entries[0])
        case.find("hooks.doubled.plugin", files=_files_of(client.entries), fix=fix)
    if client.doubled:
        entries = [entry for _, doubled in client.doubled for entry in doubled]
        # Of init's own entry and another one, the other is to be removed: init would restore its own.
        place = next((entry for entry in entries if not entry.is_inits), entries[0])
        names = _counted([wire.name for wire, _ in client.doubled], "runs", "run")
        files, fix = _files_of(entries), _edited(case, place.file)
        case.find("hooks.doubled.other", names=names, files=files, fix=fix)


def _gone(case: Examined) -> None:
    """One finding for all scripts that a file looks for in one folder in vain: they went together."""
    gone = dict[tuple[str, Path, str], list[str]]()
    for entry in case.client.entries:
        if entry.script is not None and not is_file(entry.script):
            key = entry.file.shown, entry.script.parent, fix_of(case, entry)
            gone.setdefault(key, []).append(entry.name)
    for (file, folder, fix), names in gone.items():
        place = shown(folder, case.root, case.environment)
        words = {"file": file, "names": _list(names), "folder": place}
        case.find("hooks.script.gone", **words, fix=fix, hinders=names)


def _entry(case: Examined, entry: HookEntry) -> None:
    """Findings if an entry was changed, or its script cannot be started or has no work at the event."""
    script, fix = entry.script, fix_of(case, entry)
    if script is not None and is_file(script) and not os.access(script, os.X_OK):
        name = shown(script, case.root, case.environment)
        case.find("hooks.script.closed", entry=entry, script=name, quoted=shlex.quote(str(script)))
    if entry.wire is None:
        own = ", ".join(wire.event for wire in WIRES if wire.name == entry.name)
        case.find("hooks.event", entry=entry, event=own, fix=fix)
    elif entry.changed:
        case.find("hooks.entry", entry=entry, changed=", ".join(entry.changed), fix=fix)


def _files_of(entries: Iterable[HookEntry]) -> str:
    """The files that contain these entries."""
    return _list(entry.file.shown for entry in entries)


def _counted(names: Iterable[str], singular: str, plural: str) -> str:
    """Names, each once, and the verb that fits their number."""
    names = dict.fromkeys(names)
    return f"{_list(names)} {singular if len(names) == 1 else plural}"


def _list(names: Iterable[str]) -> str:
    *others, last = dict.fromkeys(names)
    return f"{', '.join(others)} and {last}" if others else last


def check_session(case: Examined) -> None:
    """Findings on whether this session's hooks were seen at work, and on the cap of continuations."""
    if case.is_worktree and session_of({}, case.environment):
        # This variable shows which client runs a hook; an older client sets all but this one.
        is_old = bool(case.environment.get("CLAUDECODE")) and not case.environment.get("CLAUDE_PID")
        unmet = "session.hooks.nameless" if is_old else "session.hooks.unmet"
        is_there = case.client.plugins or case.client.plugins_off
        otherwise = "" if is_there else ", or install the plugin"
        case.find("session.hooks.met" if has_met(case) else unmet, otherwise=otherwise)
    value, where = _value(case)
    if value is not None and not (value.isdecimal() and int(value) >= DEFAULT_CAP):
        fix = f"unset {CAP}" if where == "environment" else f"take {CAP} out of {where}"
        case.find("session.cap.low", value=value, where=where, least=DEFAULT_CAP, fix=fix)


def demand_cap(case: Examined, part: str, wanted: int, setting: str) -> None:
    """A finding if the cap of continuations is too low.

    Args:
        case: the worktree.
        part: what needs them: "stages" or "run".
        wanted: continuations that are needed.
        setting: the command that sets the cap.
    """
    value, where = _value(case)
    shown, cap, fix = f"not set, which means {DEFAULT_CAP}", DEFAULT_CAP, setting
    if value is not None and value.isdecimal():
        shown, cap = f"{int(value)} ({where})", int(value)
        mark = case.client.mark
        is_inits = mark is not None and mark.settings.variables.get(CAP) == str(cap)
        if where in [file.shown for file in case.client.files] and not is_inits:
            fix = f"raise {CAP} to {wanted} or more in {where}"
    if cap < wanted:
        case.find(f"{part}.cap", set=shown, wanted=wanted, fix=fix)


def _value(case: Examined) -> tuple[str | None, str]:
    for file in reversed(case.client.files):
        if (value := file.value("env", CAP)) is not None:
            return str(value), file.shown
    return case.environment.get(CAP), "environment"


RECENT_SECONDS = 86_400.0
"""Age in seconds from which on a failure in the log is not reported any more."""

_LINE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),\d+ \d+ (.*)")
_WRONG = re.compile(
    r"\w+ failed: |(?:look|on-stop|on-idle|ci-waiter|session-\w+|user-prompt-submit): |deadline"
)


def check_waiter(case: Examined) -> None:
    """Findings on whether a waiter is active for an open pull request, and on the log's last failure."""
    if signs_of_life.is_live(case.claim_store.folder, case.clock.now()):
        case.find("waiter.live.now")
    else:
        try:
            record = case.claim_store.load(repair=False).record
        except LifecycleError:
            record = None  # reported with the worktree
        if record is not None and record.claim.phase in IN_REVIEW:
            client = case.client
            is_off = any(file.value("disableAllHooks") is True for file in client.every_file)
            is_wired = client.runs("ci-waiter") and not (is_off or client.barred)
            case.find("waiter.live.later" if is_wired and has_met(case) else "waiter.live.never")
    _log(case)


def has_met(case: Examined) -> bool:
    """True if a hook of the session that runs this was seen; on a terminal, of any session."""
    return signs_of_life.has_met(case.claim_store.folder, session_of({}, case.environment))


def _log(case: Examined) -> None:
    """A finding on the log's last failure, unless it is old or something succeeded since."""
    lines = case.claim_store.folder.read(log.LOG).content.decode("utf-8", "replace").splitlines()
    written = filter(None, map(_LINE.fullmatch, reversed(lines)))
    ends = (line for line in written if " done for " in line[2] or _WRONG.match(line[2]))
    last = next(ends, None)
    if last is None or " done for " in last[2]:
        return
    try:
        then = time.mktime(time.strptime(last[1], "%Y-%m-%d %H:%M:%S"))
    except (ValueError, OverflowError):
        return  # it begins like a moment, and is none
    if case.clock.now() - then < RECENT_SECONDS:
        case.find("waiter.log", moment=last[1], what=visible(short(last[2], 200)))
