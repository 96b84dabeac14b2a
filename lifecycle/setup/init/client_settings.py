"""Adds our entries, or our status line, to one of Claude Code's settings files, and removes them.

Entries are recognised by their content, renewed, and removed one by one. If that would not restore the very
bytes that were there before (an empty object on one line became several), the changed pieces of text are
remembered. Removal then undoes these, and accepts the result only if its values are as they should be:
somebody may have edited around them.

The client shows one status line, that of the nearest settings file. If another one is set, ours gets its
command as an argument, and calls it first. Removal restores the former text to the byte.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.settings.resources import hook_script
from lifecycle.setup.init import hook_table, jsonc
from lifecycle.setup.init.found_hooks import ClientSettings, hooks_in
from lifecycle.setup.init.hook_table import EVENTS, Form, groups, own_name
from lifecycle.setup.init.init_mark import Put, PutPiece, undone
from lifecycle.setup.init.jsonc import NOTHING, JsonEdit, Layout, Node, at, insertion, removal
from lifecycle.setup.init.planned_files import unwritten

ALLOW = ("permissions", "allow")
"""The keys that lead to the rules for commands that the agent runs without asking."""


def read(text: str, where: str) -> Node | None:
    """The settings' object, or None if the file has only space and comments.

    Raises:
        Refused: it is not JSON with comments, or does not have the form of settings.
    """
    try:
        root = jsonc.parse(text)
    except jsonc.JsoncError as error:
        raise unwritten(f"{where} is no valid JSON ({error})") from None
    if root is not None and (problem := hook_table.misshapen(root.value, where)):
        raise unwritten(f"{problem}, which settings must have there")
    return root


def wire(text: str, where: str, form: Form | None, before: Put, extra: Put) -> tuple[str, Put]:
    """Add each of our entries, permissions and variables to a text once; also returns the additions.

    If all are there in the wanted form, the text is unchanged. Else ours are removed and added again. A
    variable that somebody else set stays as it is.

    Args:
        text: the settings file's content, "" if there is none.
        where: its name, for sentences.
        form: makes the part of an entry that names its script; None for no hooks at all.
        before: the additions of an earlier run.
        extra: permissions and variables beside the hooks.

    Raises:
        Refused: the text cannot be read, or has another form.
    """
    root = read(text, where)
    # A variable that somebody changed or removed is theirs now.
    ours = {n: val for n, val in before.variables.items() if at(root, "env", n).value == val}
    known = replace(before, variables=ours)
    bare, wired = unwire(text, where, known), _wired(root)
    root, layout = read(bare, where), Layout(bare)
    allowed, env = at(root, *ALLOW).value or (), at(root, "env")
    lacking = [rule for rule in extra.permissions if rule not in allowed]
    members: dict[str, dict[str, Any]] = {
        "env": dict(extra.variables),
        "permissions": {"allow": lacking} if lacking else {},
        "hooks": {event: groups(event, form) for event in EVENTS} if form else {},
    }
    additions = {key: value for key, value in members.items() if value}
    edits = [*_additions(layout, root, additions)]
    routes = [way for way in _containers((), additions) if at(root, *way) is NOTHING]
    variables = {name: val for name, val in extra.variables.items() if name not in env.members}
    new = Put(tuple(lacking), tuple(map(".".join, routes)), variables=variables)
    after = jsonc.applied(bare, edits)
    if _wired(read(after, where)) == wired:
        return text, known
    if unwire(after, where, new) != bare:
        new = replace(new, pieces=tuple(PutPiece(edit.old, edit.new) for edit in edits))
    return after, new


def _wired(root: Node | None) -> tuple[list[str], ...]:
    """What the settings have of hooks, permissions and variables, whatever the order and the groups."""
    allowed, env = at(root, *ALLOW).value or (), at(root, "env").value or {}
    parts = (hooks_in(root), allowed, env.items())
    return tuple(sorted(json.dumps(part, sort_keys=True) for part in of_kind) for of_kind in parts)


def _additions(layout: Layout, node: Node | None, members: Mapping[str, Any]) -> Iterator[JsonEdit]:
    """The edits that add members to an object.

    An existing object gets the members that it lacks, an existing list all items; other values stay.
    """
    existing = {key: at(node, key) for key in members}
    for key, value in members.items():
        if isinstance(value, dict) and existing[key] is not NOTHING:
            yield from _additions(layout, existing[key], value)
        elif isinstance(value, list) and existing[key] is not NOTHING:
            yield insertion(layout, existing[key], [(None, item) for item in value])
    lacking = [(key, members[key]) for key in members if existing[key] is NOTHING]
    if lacking:
        yield insertion(layout, node, lacking)


def _containers(route: tuple[str, ...], value: object) -> list[tuple[str, ...]]:
    """The routes of a container and of the containers below it; without those in a list."""
    parts = value.items() if isinstance(value, dict) else ()
    ways = [way for key, part in parts for way in _containers((*route, key), part)]
    return [route, *ways] if isinstance(value, dict | list) else []


def unwire(text: str, where: str, put: Put) -> str:
    """The text without our parts: as before, byte for byte, if nobody touched our pieces.

    An object or array that was added is removed with its last entry; everybody else's text stays.

    Raises:
        Refused: the text cannot be read, or has another form.
    """
    root = read(text, where)
    after = undone(text, put.pieces) if root is not None and put.pieces else None
    bare = text
    while place := next(_places(bare, read(bare, where), put), None):
        bare = jsonc.applied(bare, [removal(bare, *place)])
    if "" in put.containers and not bare.strip("{} \t\r\n"):  # only our braces are left in it
        bare = ""
    try:
        return after if after is not None and _value(after) == _value(bare) else bare
    except jsonc.JsoncError:
        return bare


def _value(text: str) -> Any:
    """The value of the text; an empty one counts as an empty object."""
    node = jsonc.parse(text)
    return node.value if node is not None else {}


def _places(text: str, root: Node | None, put: Put) -> Iterator[tuple[Node, int]]:
    """The container and the index of each part of ours, as the text is now."""
    yield from _found(root)
    allow, env = at(root, *ALLOW), at(root, "env")
    for index, item in reversed([*enumerate(allow.items)]):
        if item.value in put.permissions:
            yield allow, index
    for name, value in put.variables.items():
        if at(env, name).value == value:
            yield env, env.index(name)
    ways = [tuple(dotted.split(".")) for dotted in put.containers if dotted]
    for *way, name in sorted(ways, key=len, reverse=True):
        parent = at(root, *way)
        node = at(parent, name)
        if node.value in ({}, []) and not text[node.start : node.end].strip("{}[] \t\r\n"):
            yield parent, parent.index(name)


def _found(root: Node | None) -> Iterator[tuple[Node, int]]:
    """The place of each entry of ours, also at events that we no longer use, or that of its group."""
    for listed in at(root, "hooks").members.values():
        for place, group in enumerate(listed.items):
            entries = at(group, "hooks")
            for index, item in enumerate(entries.items):
                if own_name(item.value):
                    yield (entries, index) if len(entries.items) > 1 else (listed, place)


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
    set_lines = [file.value(KEY) for file in files if command_of(file.value(KEY))]
    others = [value for value in set_lines if own_status_line(value) is None]
    return others[-1] if others else {}


def line_in(
    text: str, where: str, before: Put, others: Iterable[ClientSettings]
) -> tuple[str, Put]:
    """Add our status line to the settings; text and `Put` are unchanged if it is there already.

    Args:
        text: the settings file's content, "" if there is none.
        where: its name, for sentences.
        before: the additions of an earlier run.
        others: the settings files that this one overrides.

    Raises:
        Refused: the settings cannot be read, or their status line is not a command.
    """
    bare = line_out(text, where, before)
    root = read(bare, where)
    current = at(root, KEY)
    if current is not NOTHING and not command_of(current.value):
        raise unwritten(f"{KEY} in {where} is no command, so ours cannot stand beside it")
    value = current.value or other_status_line(others)
    # Ours, with the other status line's command if there is one.
    words = [str(hook_script(_SCRIPT).absolute()), command_of(value)]
    command = " ".join(shlex.quote(word) for word in words if word)
    if own_status_line(at(read(text, where), KEY).value) == own_status_line({"command": command}):
        return text, before
    if current is not NOTHING:
        edit = jsonc.replacement(bare, at(current, "command"), command)
    else:
        line = {"type": "command", **value, "command": command}
        edit = insertion(Layout(bare), root, [(KEY, line)])
    return jsonc.applied(bare, [edit]), Put(pieces=(PutPiece(edit.old, edit.new),))


def line_out(text: str, where: str, put: Put) -> str:
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
        return jsonc.applied(text, [jsonc.replacement(text, at(node, "command"), own.above)])
    return jsonc.applied(text, [removal(text, root, root.index(KEY))])
