"""The table of hook scripts and their events, for the plugin, `init` and `init --shared`.

Source of the form: Claude Code's settings and hooks reference, https://code.claude.com/docs/en/hooks.
Timeouts are in seconds. A command with `args` is started as it is, without a shell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from lifecycle.core.light_dataclass import dataclass
from lifecycle.settings.resources import top_folder

DAY = 86_400

EDITS = "Write|Edit|MultiEdit|NotebookEdit"
"""The client's tools that edit files."""

AGENTS = "Agent|Task"
"""The client's tool that launches an agent, by its name and its former one."""


@dataclass(frozen=True, slots=True)
class Wire:
    """One script at one event.

    Attributes:
        event: the client's name of the event.
        name: the script's name in `hooks/`.
        timeout: seconds after which the client ends it.
        matcher: the kinds of the event for which it is run; "" for all.
        is_rewake: it runs in the background, and its exit 2 wakes an idle session.
    """

    event: str
    name: str
    timeout: int
    matcher: str = ""
    is_rewake: bool = False


WIRES: tuple[Wire, ...] = (
    Wire("SessionStart", "session-start", 30),
    # The former session's waiter ends with that session, and perhaps no turn comes that starts another.
    Wire("SessionStart", "ci-waiter", DAY, is_rewake=True),
    # Separate from the others: a background hook's output on stdout is lost.
    Wire("SessionStart", "on-clear", 30, matcher="clear", is_rewake=True),
    Wire("UserPromptSubmit", "user-prompt-submit", 10),
    Wire("Stop", "on-stop", 30),
    # It polls until something happens: the client would kill it at its timeout, and nobody would be woken.
    Wire("Stop", "ci-waiter", DAY, is_rewake=True),
    Wire("Notification", "on-idle", 30, matcher="idle_prompt", is_rewake=True),
    Wire("PreToolUse", "pre-tool-use", 10, matcher=EDITS),
    # Not in the background: the tree must be read before the agent edits it again. The client sends a
    # failed command to the second event only.
    Wire("PostToolUse", "post-tool-use", 10, matcher="Bash"),
    Wire("PostToolUse", "workflow-agent", 10, matcher=AGENTS),
    Wire("PostToolUseFailure", "post-tool-use", 10, matcher="Bash"),
    Wire("PostToolUseFailure", "workflow-agent", 10, matcher=AGENTS),
    # The event has no status: a phase fails by a command or by a tool's error.
    Wire("SubagentStop", "workflow-agent", 10),
    Wire("PreCompact", "pre-compact", 10),
    Wire("SessionEnd", "session-end", 5),
)

NAMES = tuple(dict.fromkeys(wire.name for wire in WIRES))
_ANY_NAME = f"({'|'.join(NAMES)})"
EVENTS = tuple(dict.fromkeys(wire.event for wire in WIRES))
"""Each script, and each event that has scripts, once and in order."""


def wire_of(event: str, name: str) -> Wire | None:
    """The wire of a script at an event; None if the script has no work there."""
    return next((wire for wire in WIRES if (wire.event, wire.name) == (event, name)), None)


def _rules(command: str, verbs: str) -> tuple[str, ...]:
    """The permission for each of these verbs of a command."""
    return tuple(f"Bash(lifecycle {command}{verb}:*)" for verb in verbs.split())


PERMISSIONS = _rules("", "claim handoff status tick release feedback wait")
"""Permissions for the commands that an agent runs from claim to close.

A permission covers every option of its command, so none of these may force anything. `takeover` takes
another holder's task, `close` and `nudge` say yes for the user, `trust` allows a stranger's commands,
and `init` edits settings: for these the client asks.
"""

_OF_TRACKER = _rules("tracker ", "ready list show claim label comment")
STAGE_PERMISSIONS = _OF_TRACKER + _rules("stage ", "status detect")
"""Further permissions for the staged workflow, added only with it: the commands in its instructions.

`tracker close` is not among them: under a claim it is the user's yes, as `close` is; nor is `tracker
edit`, which overwrites a person's text, nor any command with a `--force`.
"""

_RUN_VERBS = """
init recover status progress report platform platform-context retry-context resume-context compact-context
trim-progress questions add-clarification add-story story-plan criterion update-phase update-story verify
tdd-phase tdd-validate tdd-status tdd gate review-context review scan-dependencies add-failure
retry-recommendation add-blocker await-user-fix mark-working-state commit finish complete
"""

STASH_PERMISSIONS = ("Bash(git stash push -u -m:*)", "Bash(git stash pop:*)")
"""Permissions to put a paused story's files aside and restore them: nobody is there to ask."""

_BESIDE_RUN = _rules("platform ", "list detect get-command") + _rules("", "check")
RUN_PERMISSIONS = _rules("run ", _RUN_VERBS) + _BESIDE_RUN + STASH_PERMISSIONS
"""Further permissions for autonomous runs, added only with them: the commands in their instructions.

Gates and checks run the project's own commands, so asking for a run is a yes to these. Commands for a
person only are not among them: `run resume`, `run user-fix-complete`, `run stop`. Nor are `run
check-user-fix`, which runs a command that the agent named, `run rollback-to-checkpoint`, and `run
remove-story`, after which a run may end without it. Nor are the files of `.claude/core/`: whoever edits one
would run what they like.
"""

_WORKFLOW_VERBS = """
start advance block skip fail retry complete phase show list guidance todos history template
"""

WORKFLOW_PERMISSIONS = _rules("workflow ", _WORKFLOW_VERBS)
"""Further permissions for an agent that follows a workflow, added only with workflows.

A gate runs the project's own checks, so asking for a workflow is a yes to these. Only a person passes or
skips a person's gate, whatever is allowed here. `scripts/workflow_state.py` is not among them: whoever
edits it could run anything.
"""

PARTS = {"stages": STAGE_PERMISSIONS, "run": RUN_PERMISSIONS, "workflow": WORKFLOW_PERMISSIONS}
"""The parts that `init` adds if it is asked for them, each with its further permissions."""

EVER_PUT = frozenset((*PERMISSIONS, *STAGE_PERMISSIONS, *RUN_PERMISSIONS, *WORKFLOW_PERMISSIONS))
"""Every permission that `init` may add."""

CAP = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
"""How often the client lets a Stop hook continue a turn without a tool call in between.

Source: https://code.claude.com/docs/en/hooks.
"""

DEFAULT_CAP = 8
"""The client's default for the cap."""


Form = Callable[[str], dict[str, Any]]
"""Makes the part of a hook entry that names a script, from the script's name."""

_SIGNED = "# lifecycle init"
"""The end of each entry's command line, which nobody writes by hand; the scripts take no arguments."""

_OWN = re.compile(rf"(?s)(?:\A/.*/|exec lifecycle hook ){_ANY_NAME}(?:; exit 0)? {_SIGNED}\Z")


def local_form(folder: Path) -> Form:
    """The form of entries for one person on one machine: scripts by absolute paths below `folder`."""
    return lambda name: {"command": str(folder / name), "args": [_SIGNED]}


def shared_form(name: str) -> dict[str, Any]:
    """The form of shared entries: a command without a personal path, which ends if lifecycle is missing.

    It reads the scripts' place from the user's own folder (see `user_folder.py`). It is a shell command
    line without `args`: a client that does not know `args` would start a bare `sh`, which would read the
    event as its script.
    """
    place = "case ${XDG_CONFIG_HOME-} in /*) d=$XDG_CONFIG_HOME ;; *) d=${HOME-}/.config ;; esac"
    read = 'h=; { read -r h <"$d/lifecycle/hooks"; } 2>/dev/null'
    script = f'[ -n "$h" ] && [ -x "$h/{name}" ] && exec "$h/{name}"'
    command = f"command -v lifecycle >/dev/null 2>&1 && exec lifecycle hook {name}"
    return {"command": f"{place}; {read}; {script}; {command}; exit 0 {_SIGNED}"}


def entry(wire: Wire, form: Form) -> dict[str, Any]:
    """One hook entry in the form of settings and hooks.json."""
    rewake = {"asyncRewake": True} if wire.is_rewake else {}
    return {"type": "command", **form(wire.name), "timeout": wire.timeout, **rewake}


def groups(event: str, form: Form, wires: Iterable[Wire] = WIRES) -> list[dict[str, Any]]:
    """The groups of an event's entries for these wires, one for each matcher."""
    by_matcher: dict[str, dict[str, Any]] = {}
    for wire in wires:
        if wire.event == event:
            empty = {**({"matcher": wire.matcher} if wire.matcher else {}), "hooks": []}
            by_matcher.setdefault(wire.matcher, empty)["hooks"].append(entry(wire, form))
    return [*by_matcher.values()]


_SHAPE: dict[str, Any] = {
    "hooks": {event: [{"hooks": []}] for event in EVENTS},
    "permissions": {"allow": []},
    "env": {},
}
"""The objects and lists of settings in which we look, each with what is looked at in it."""


def misshapen(value: object, where: str, name: str = "", shape: Any = _SHAPE) -> str:
    """The part of a settings file that has the wrong form, in words; "" if all is well.

    Args:
        value: the settings, or a part of them.
        where: the file, for sentences.
        name: the part; "" for the whole.
        shape: the part's wanted form.
    """
    if not isinstance(value, type(shape)):
        kind = "an object" if isinstance(shape, dict) else "a list"
        return f"{f'{name} in ' if name else ''}{where} is not {kind}"
    if isinstance(value, dict):
        there = [key for key in shape if key in value]
        pairs = [(f"{name}.{key}".lstrip("."), value[key], shape[key]) for key in there]
    else:
        pairs = [(f"{name}[{n}]", item, part) for n, item in enumerate(value) for part in shape]
    problems = (misshapen(part, where, inner, wanted) for inner, part, wanted in pairs)
    return next(filter(None, problems), "")


def own_name(hook: object) -> str | None:
    """The script that a hook entry runs if it is as `init` writes one, or once did, else None."""
    if not isinstance(hook, dict):
        return None
    command, args = str(hook.get("command")), hook.get("args")
    # Before there was a signature, an entry had no arguments, and its script was the package's own.
    folder = Path(command).parent
    is_packages = folder.parts[-2:] == ("lifecycle", "_hooks") or folder == top_folder("hooks")
    is_older = args == [] and is_packages
    signed = f" {_SIGNED}" if is_older or args == [_SIGNED] else ""
    match = _OWN.search(f"{command}{signed}")
    return match[1] if match else None


def run_name(line: str) -> str | None:
    """Our script that a hook entry's command line names, also inside another command; else None."""
    match = re.search(rf"(?:\blifecycle hook |hooks/){_ANY_NAME}(?![\w.-])", line)
    return match[1] if match else None
