"""One hook entry against the table of wires: event, matcher, time, and whether it can wake."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from lifecycle.setup.doctor.doctor_finding import DoctorFinding, FixStep, fail, warn
from lifecycle.setup.doctor.examine_client import HookEntry
from lifecycle.setup.init.hook_table import DAY, WIRES, Wire

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


def check(entries: Iterable[HookEntry], steps: Steps, fix: Fix) -> Iterator[DoctorFinding]:
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
    wakes = entry.hook.get("asyncRewake") is True
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
