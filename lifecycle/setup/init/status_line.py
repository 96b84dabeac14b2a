"""Puts our status line into a person's own client settings, beside another one, and takes it out again.

The client shows one status line, that of the nearest settings file. Where another one is set, ours is
started with its command as an argument, and calls it first. What was there comes back to the byte.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lifecycle.core.light_dataclass import dataclass
from lifecycle.settings.resources import hook_script
from lifecycle.setup.init.client_settings import read
from lifecycle.setup.init.found_hooks import ClientSettings
from lifecycle.setup.init.init_mark import Put
from lifecycle.setup.init.jsonc import (
    JsonEdit,
    Layout,
    Node,
    applied,
    insertion,
    removal,
    replacement,
)
from lifecycle.setup.init.planned_files import unwritten

LINE_MARK = ".claude/lifecycle-statusline.json"
"""The mark of `init --statusline`, for `init --remove`."""

KEY = "statusLine"
_SCRIPT = "statusline"


@dataclass(frozen=True, slots=True)
class OwnStatusLine:
    """A status line of ours: the script, and the command that the script calls first, or ""."""

    script: Path
    above: str


def own_status_line(value: object) -> OwnStatusLine | None:
    """Read a `statusLine` of the settings; None if it is not ours."""
    command = command_of(value)
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    script = Path(words[0]) if words else Path()
    is_ours = script.name == _SCRIPT and script.parent.name in ("hooks", "_hooks")
    if not is_ours or len(words) > 2:
        return None
    return OwnStatusLine(script, words[1] if len(words) == 2 else "")


def command_of(value: object) -> str:
    """The command of a `statusLine`; "" if it has none."""
    is_command = isinstance(value, dict) and value.get("type", "command") == "command"
    command = value.get("command") if isinstance(value, dict) and is_command else None
    return command if isinstance(command, str) else ""


def other_status_line(files: Iterable[ClientSettings]) -> Mapping[str, Any]:
    """The status line that counts among these files, of which a later one wins; empty without one."""
    set_lines = [file.object(KEY) for file in files if command_of(file.object(KEY))]
    others = [value for value in set_lines if own_status_line(value) is None]
    return others[-1] if others else {}


def put_in(text: str, where: str, before: Put, others: Iterable[ClientSettings]) -> tuple[str, Put]:
    """Put our status line into the settings; text and `Put` stay as they are if it is there already.

    Args:
        text: of the settings file, "" if there is none.
        where: its name, for sentences.
        before: what an earlier run put in.
        others: the settings files that this one overrides.

    Raises:
        Refused: the settings cannot be read, or their status line is no command.
    """
    bare = take_out(text, where, before)
    root, layout = read(bare, where), Layout.of(bare)
    current = root.get(KEY) if root is not None else None
    if current is not None and not command_of(current.value):
        raise unwritten(f"{KEY} in {where} is no command, so ours cannot stand beside it")
    value = current.value if current is not None else other_status_line(others)
    edit = _edit(layout, root, current, {"type": "command", **value, "command": _called(value)})
    put = Put(pieces=((edit.old, edit.new),))
    settings = read(text, where)
    own = own_status_line(_value(settings))
    wanted = own_status_line({"command": _called(value)})
    return (text, before) if own is not None and own == wanted else (applied(bare, [edit]), put)


def _edit(
    layout: Layout, root: Node | None, current: Node | None, value: Mapping[str, Any]
) -> JsonEdit:
    command = current.get("command") if current is not None else None
    if command is not None:
        return replacement(layout, command, value["command"])
    return insertion(layout, root, [(KEY, value)])


def _called(value: Mapping[str, Any]) -> str:
    """Our command line, with the command of the other status line if there is one."""
    words = [str(hook_script(_SCRIPT).absolute()), command_of(value)]
    return " ".join(shlex.quote(word) for word in words if word)


def take_out(text: str, where: str, put: Put) -> str:
    """Take our status line out of the settings: as before to the byte, if nobody edited around it.

    Raises:
        Refused: the settings cannot be read.
    """
    root = read(text, where)
    own = own_status_line(_value(root))
    if root is None or own is None:
        return text
    for old, new in put.pieces:
        if text.count(new) == 1:
            return text.replace(new, old)
    node = root.get(KEY)
    command = node.get("command") if node is not None else None
    is_theirs = any('"command":' not in new for _, new in put.pieces)
    if command is not None and own.above and is_theirs:
        return applied(text, [replacement(Layout.of(text), command, own.above)])
    index = max(at for at, member in enumerate(root.members) if member.key == KEY)
    return applied(text, [removal(text, root, index)])


def _value(root: Node | None) -> object:
    node = root.get(KEY) if root is not None else None
    return node.value if node is not None else None


def is_lost(line: OwnStatusLine) -> bool:
    """True if the script of the status line is not there any more, or cannot be started."""
    return not os.access(line.script, os.X_OK)
