"""What each command takes, by build; and how a command line is read."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BOOL, TEXT, LIST = "bool", "string", "strings"

GLOBAL = {"json": BOOL, "actor": TEXT, "db": TEXT, "quiet": BOOL, "readonly": BOOL, "help": BOOL}
OLD_GLOBAL = {"no-daemon": BOOL, "no-db": BOOL, "lock-timeout": TEXT}

READY = {"assignee": TEXT, "label": LIST, "label-any": LIST, "limit": TEXT, "priority": TEXT,
         "sort": TEXT, "type": TEXT, "unassigned": BOOL}  # fmt: skip
LIST_FLAGS = {"status": TEXT, "assignee": TEXT, "label": LIST, "label-any": LIST, "limit": TEXT,
              "all": BOOL, "desc-contains": TEXT, "no-assignee": BOOL, "sort": TEXT}  # fmt: skip
CREATE = {"title": TEXT, "description": TEXT, "type": TEXT, "priority": TEXT, "labels": LIST,
          "assignee": TEXT, "external-ref": TEXT, "id": TEXT, "force": BOOL}  # fmt: skip
UPDATE = {"status": TEXT, "title": TEXT, "description": TEXT, "priority": TEXT, "assignee": TEXT,
          "external-ref": TEXT, "add-label": LIST, "remove-label": LIST, "notes": TEXT}  # fmt: skip
SHORT = {"t": "type", "p": "priority", "d": "description", "l": "label", "s": "status",
         "a": "assignee", "n": "limit", "r": "reason", "u": "unassigned", "q": "quiet",
         "f": "force", "h": "help"}  # fmt: skip

COMMANDS: dict[str, dict[str, str]] = {
    "init": {"prefix": TEXT, "skip-agents": BOOL},
    "version": {},
    "where": {},
    "info": {},
    "ready": READY,
    "list": LIST_FLAGS,
    "create": CREATE,
    "show": {},
    "update": UPDATE,
    "close": {"reason": TEXT, "force": BOOL},
    "reopen": {"reason": TEXT},
    "blocked": {},
    "status": {},
    "label add": {},
    "label remove": {},
    "label list": {},
    "label list-all": {},
    "dep add": {"type": TEXT},
    "dep list": {},
    "comments": {},
    "comments add": {"author": TEXT},
    "delete": {"force": BOOL},
    "sync": {"flush-only": BOOL, "message": TEXT},
    "dolt push": {},
    "dolt remote list": {},
    "heartbeat": {},
}
"""Every command that has a state; anything else is answered as it was recorded."""


class Unknown(Exception):
    """The command line has something that this build does not know: `flag`, or "" for the command."""

    def __init__(self, name: str, flag: str = "") -> None:
        super().__init__(name)
        self.name = name
        self.flag = flag


def known(build: str) -> dict[str, dict[str, str]]:
    """The commands of a build, with their flags."""
    commands = {name: dict(flags) for name, flags in COMMANDS.items()}
    lacking: tuple[str, ...]
    if build == "0.30.7":
        lacking = ("where", "dolt push", "dolt remote list", "heartbeat", "dep list")
    elif build.startswith("0.49"):
        lacking = ("dolt push", "dolt remote list", "heartbeat")
    else:
        lacking = () if build.startswith("1.3") else ("sync", "heartbeat")
        commands["sync"] = {}
        commands["ready"]["claim"] = BOOL
    if build != "0.30.7":
        commands["update"]["claim"] = BOOL
    return {name: flags for name, flags in commands.items() if name not in lacking}


def parse(build: str, arguments: list[str]) -> tuple[str, list[str], dict[str, Any]]:
    """A command line's command, what stands behind it, and its flags.

    Raises:
        Unknown: this build has no such command or no such flag.
    """
    commands = known(build)
    words = [word for word in arguments[:3] if not word.startswith("-")]
    for length in (3, 2, 1):
        name = " ".join(words[:length])
        if len(words) >= length and name in commands:
            break
    else:
        raise Unknown(words[0] if words else "")
    flags = commands[name] | GLOBAL | ({} if build[0] == "1" else OLD_GLOBAL)
    return name, *_read(name, flags, arguments[length:])


def _read(name: str, flags: dict[str, str], rest: list[str]) -> tuple[list[str], dict[str, Any]]:
    plain: list[str] = []
    given: dict[str, Any] = {}
    while rest:
        word, *rest = rest
        if word == "--":
            plain += rest
            break
        if not word.startswith("-") or word == "-":
            plain.append(word)
            continue
        flag, equals, value = word.lstrip("-").partition("=")
        full = SHORT.get(flag, flag) if not word.startswith("--") else flag
        if name == "create" and full == "label":
            full = "labels"
        if full not in flags:
            raise Unknown(name, word.partition("=")[0])
        if flags[full] == BOOL:
            given[full] = value != "false"
            continue
        if not equals:
            value, *rest = rest or [""]
        given[full] = [*given.get(full, []), *_csv(value)] if flags[full] == LIST else value
    return plain, given


def _csv(text: str) -> list[str]:
    if '"' not in text:
        return text.split(",") if text else []
    import csv

    return next(csv.reader([text]))


def help_text(build: str, name: str) -> str:
    """What `--help` prints: of one command its flags, of none the commands."""
    if not name:
        names = sorted({command.partition(" ")[0] for command in known(build)})
        listed = "".join(f"  {command:<12}{command} something\n" for command in names)
        return f"Issues.\n\nUsage:\n  bd [command]\n\nAvailable Commands:\n{listed}"
    flags = known(build).get(name, {})
    listed = "".join(
        f"      --{flag} {kind}   about {flag}\n" for flag, kind in sorted(flags.items())
    )
    return f"About {name}\n\nUsage:\n  bd {name} [flags]\n\nFlags:\n{listed}"
