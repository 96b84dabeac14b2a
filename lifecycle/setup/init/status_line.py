"""Adds our status line to a person's own client settings, beside another one, and removes it again.

The client shows one status line, that of the nearest settings file. If another one is set, ours gets its
command as an argument, and calls it first. Removal restores the former text to the byte.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lifecycle.core.light_dataclass import dataclass
from lifecycle.settings.resources import hook_script
from lifecycle.setup.init.client_settings import read
from lifecycle.setup.init.found_hooks import ClientSettings
from lifecycle.setup.init.init_mark import Put, PutPiece, undone
from lifecycle.setup.init.jsonc import NOTHING, Layout, applied, at, insertion, removal, replacement
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
    try:
        words = shlex.split(command_of(value))
    except ValueError:
        return None
    script = Path(words[0]) if words else Path()
    is_ours = script.name == _SCRIPT and script.parent.name in ("hooks", "_hooks")
    if not is_ours or len(words) > 2:
        return None
    return OwnStatusLine(script, words[1] if len(words) == 2 else "")


def command_of(value: object) -> str:
    """The command of a `statusLine`; "" if it has none."""
    if not isinstance(value, dict) or value.get("type", "command") != "command":
        return ""
    command = value.get("command")
    return command if isinstance(command, str) else ""


def other_status_line(files: Iterable[ClientSettings]) -> Mapping[str, Any]:
    """The status line that counts among these files, of which a later one wins; empty without one."""
    set_lines = [file.object(KEY) for file in files if command_of(file.object(KEY))]
    others = [value for value in set_lines if own_status_line(value) is None]
    return others[-1] if others else {}


def put_in(text: str, where: str, before: Put, others: Iterable[ClientSettings]) -> tuple[str, Put]:
    """Add our status line to the settings; text and `Put` are unchanged if it is there already.

    Args:
        text: the settings file's content, "" if there is none.
        where: its name, for sentences.
        before: the additions of an earlier run.
        others: the settings files that this one overrides.

    Raises:
        Refused: the settings cannot be read, or their status line is not a command.
    """
    bare = take_out(text, where, before)
    root = read(bare, where)
    current = at(root, KEY)
    if current is not NOTHING and not command_of(current.value):
        raise unwritten(f"{KEY} in {where} is no command, so ours cannot stand beside it")
    value = current.value or other_status_line(others)
    # Ours, with the other status line's command if there is one.
    words = [str(hook_script(_SCRIPT).absolute()), command_of(value)]
    command = " ".join(shlex.quote(word) for word in words if word)
    own = own_status_line(at(read(text, where), KEY).value)
    if own is not None and own == own_status_line({"command": command}):
        return text, before
    if current is not NOTHING:
        edit = replacement(bare, at(current, "command"), command)
    else:
        line = {"type": "command", **value, "command": command}
        edit = insertion(Layout(bare), root, [(KEY, line)])
    return applied(bare, [edit]), Put(pieces=(PutPiece(edit.old, edit.new),))


def take_out(text: str, where: str, put: Put) -> str:
    """Remove our status line from the settings: as before to the byte, if nobody edited around it.

    Raises:
        Refused: the settings cannot be read.
    """
    root = read(text, where)
    node = at(root, KEY)
    own = own_status_line(node.value)
    if root is None or own is None:
        return text
    if put.pieces and (before := undone(text, put.pieces)) is not None:
        return before
    # Without a mark it is not known whether the other one was in this file: then it is left here.
    if own.above:
        return applied(text, [replacement(text, at(node, "command"), own.above)])
    return applied(text, [removal(text, root, root.index(KEY))])
