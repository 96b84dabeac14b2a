"""Reads and writes the mark `.claude/lifecycle.json`: what `init` put into a project, to take it out by.

It also tells the plugin's copies of the hooks to stay quiet here, so that nothing runs twice. Shared,
it is committed with the settings; so what it says may be a stranger's word, and taking out believes
it only where the text itself bears it out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lifecycle.core.errors import Refused
from lifecycle.core.light_dataclass import asdict, dataclass, field
from lifecycle.settings.config import CONFIG_FILE
from lifecycle.setup.init import hook_table
from lifecycle.setup.init.planned_files import PutLines, sentence
from lifecycle.setup.init.stages_switch import Piece
from lifecycle.setup.init.supplies import is_one, is_section

Route = tuple[str, ...]
ENV = ("env",)


@dataclass(frozen=True, slots=True)
class Extra:
    """What is put into settings beside the hooks: permissions, and variables for sessions."""

    permissions: tuple[str, ...] = hook_table.PERMISSIONS
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Put:
    """What was put into one settings file.

    Attributes:
        pieces: (text before, text after) of each changed place, where only they restore the bytes.
        hooks: (event, command) of each entry that does not show by itself that it is ours.
        permissions: the rules that were not there before.
        containers: the route of each object and array that was not there before; () is the whole.
        variables: (name, value) of each variable that was not there before.
    """

    pieces: tuple[tuple[str, str], ...] = ()
    hooks: tuple[tuple[str, str], ...] = ()
    permissions: tuple[str, ...] = ()
    containers: tuple[Route, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()

    def own_name(self, event: str, hook: object) -> str | None:
        """The script that an entry runs, if the entry is ours."""
        commands = [command for own_event, command in self.hooks if own_event == event]
        return hook_table.own_name(hook, commands)


MARK = ".claude/lifecycle.json"
PERMITS = ".claude/lifecycle-permissions.json"
"""The mark of `init --permissions`; it does not silence the plugin's hooks."""
LOCAL = "local"
SHARED = "shared"
SETTINGS = {LOCAL: ".claude/settings.local.json", SHARED: ".claude/settings.json"}
IGNORE = ".gitignore"
EXCLUDE = "info/exclude"

_VERSION = 1


@dataclass(slots=True)
class InitMark:
    """What `init` put into one project; a plan notes in it what it will put in.

    Attributes:
        mode: for one person ("local") or for everybody in the repository ("shared").
        settings: into the settings file of that mode.
        lines: into files of lines, by name: `.gitignore`, `info/exclude`.
        created: files and folders that were not there before, by name.
        sha256: of files that were written whole, by name.
        stages: the staged workflow was put in as well.
        switched: into `.lifecycle.toml`, if it was there before.
        run: what autonomous runs need was put in as well.
        workflow: what workflows need was put in as well.
        section: what was put into CLAUDE.md, to the byte; "" if nothing was.
    """

    mode: str
    settings: Put = field(default_factory=Put)
    lines: dict[str, PutLines] = field(default_factory=dict)
    created: tuple[str, ...] = ()
    sha256: dict[str, str] = field(default_factory=dict)
    stages: bool = False
    switched: tuple[Piece, ...] = ()
    run: bool = False
    workflow: bool = False
    section: str = ""

    def note_created(self, name: str, *, is_new: bool) -> None:
        """Add a file or folder to `created` if it is new."""
        if is_new and name not in self.created:
            self.created += (name,)


def render(mark: InitMark) -> bytes:
    """The mark as the bytes of its file."""
    put = mark.settings
    data = {
        "about": "Written by `lifecycle init`; `lifecycle init --remove` takes out what is listed here.",
        "version": _VERSION,
        **asdict(mark),
        "settings": {
            "hooks": [{"event": event, "command": command} for event, command in put.hooks],
            "permissions": put.permissions,
            "containers": [".".join(route) for route in put.containers],
            "pieces": [{"before": old, "after": new} for old, new in put.pieces],
            "variables": dict(put.variables),
        },
    }
    return json.dumps(data, indent=2).encode("ascii") + b"\n"


def parse(content: bytes) -> InitMark:
    """The mark in the content of its file.

    Raises:
        Refused: it is none of ours, or was broken by hand.
    """
    try:
        return _mark(json.loads(content))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise Refused(sentence("unreadable-mark", name=MARK)) from None


def _mark(data: Any) -> InitMark:
    if data["version"] != _VERSION or data["mode"] not in SETTINGS:
        raise ValueError("another version or mode")
    lines = {
        name: PutLines(_texts(put["lines"]), _text(put["piece"]))
        for name, put in data["lines"].items()
    }
    sha256 = {name: _text(value) for name, value in data["sha256"].items()}
    if lines.keys() - {IGNORE, EXCLUDE} or not all(map(is_one, sha256.keys() - {CONFIG_FILE})):
        raise ValueError("a file that is never written to")
    section = _text(data.get("section", ""))
    if section and not is_section(section):
        raise ValueError("nothing else is ever taken out")
    return InitMark(
        data["mode"],
        _put(data["settings"]),
        lines,
        _texts(data["created"]),
        sha256,
        data.get("stages") is True,  # an earlier version's mark knows nothing of them
        tuple(map(_piece, data.get("switched", []))),
        data.get("run") is True,
        data.get("workflow") is True,
        section,
    )


def _put(data: Any) -> Put:
    return Put(
        tuple((_text(piece["before"]), _text(piece["after"])) for piece in data["pieces"]),
        tuple((_text(hook["event"]), _text(hook["command"])) for hook in data["hooks"]),
        # Nobody else's rule is taken out, whatever a stranger's mark says.
        tuple(rule for rule in _texts(data["permissions"]) if rule in hook_table.EVER_PUT),
        tuple(tuple(route.split(".")) if route else () for route in _texts(data["containers"])),
        tuple(
            (name, _text(value))
            for name, value in data.get("variables", {}).items()
            if name == hook_table.CAP
        ),
    )


def _piece(data: Any) -> Piece:
    before = _text(data["before"])
    if before not in ("", "false"):
        raise ValueError("nothing else is ever replaced")
    return Piece(before, _text(data["after"]), _texts(data["keys"]), data["has_header"] is True)


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("no list")
    return tuple(_text(text) for text in value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value
