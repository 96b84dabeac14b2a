"""Puts our entries into one of Claude Code's settings files, renews them and takes them out.

Entries are known by what they say and taken out one by one. Where that would not leave the very bytes
that were there before (an empty object on one line became several), the pieces of text that changed
are remembered. Taking out then undoes these, and believes the result only if its values are what they
should be: somebody may have edited around them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lifecycle.core.errors import Refused
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.setup.init.hook_table import (
    FORMER_PERMISSIONS,
    WIRES,
    Form,
    entry,
    events,
    groups,
    own_name,
    run_name,
)
from lifecycle.setup.init.init_mark import ENV, Extra, Put, Route
from lifecycle.setup.init.jsonc import (
    JsoncError,
    JsonEdit,
    Layout,
    Node,
    applied,
    insertion,
    parse,
    removal,
    replacement,
)
from lifecycle.setup.init.planned_files import unwritten

ALLOW = ("permissions", "allow")
"""The keys that lead to the rules of what the agent runs unasked."""


@dataclass(frozen=True, slots=True)
class OwnEntry:
    """One hook entry of ours in a text: event, script, the entries of its group, and its index there."""

    event: str
    name: str
    hooks: Node
    index: int


def read(text: str, where: str) -> Node | None:
    """The settings' object, or None if the file holds nothing but space and comments.

    Raises:
        Refused: it is no JSON with comments, or not of the shape that settings have.
    """
    try:
        root = parse(text)
    except JsoncError as error:
        raise unwritten(f"{where} is no valid JSON ({error})") from None
    if root is None:
        return None
    _need(root, dict, "It", where)
    for key in ("hooks", "permissions"):
        _need(root.get(key), dict, key, where)
    _need(_at(root, ALLOW), list, "permissions.allow", where)
    for event in events():
        groups = _at(root, ("hooks", event))
        _need(groups, list, f"hooks.{event}", where)
        for group in groups.items if groups else ():
            _need(group, dict, f"An entry of hooks.{event}", where)
            _need(group.get("hooks"), list, f"hooks in an entry of hooks.{event}", where)
    return root


def wire(
    text: str, where: str, form: Form | None, before: Put, extra: Extra | None = None
) -> tuple[str, Put]:
    """Put every entry, permission and variable of ours into a text, each once; also what was put in so far.

    A second run returns text and `Put` as they are. A variable that somebody else set stays as it is.

    Args:
        text: the settings file's content, "" if there is none.
        where: its name, for sentences.
        form: makes the part of an entry that names its script; None for no hooks at all.
        before: what an earlier run put in.
        extra: permissions and variables beside the hooks; by default the permissions from claim to close.

    Raises:
        Refused: the text cannot be read, or is of another shape.
    """
    extra = extra or Extra()
    text, put = _renewed(text, where, form, before) if form is not None else (text, before)
    text, put = _renewed_variables(text, where, put, extra.variables)
    text, put = _without_former(text, where, put)
    root, layout = read(text, where), Layout.of(text)
    edits = list(_missing_names(layout, root, form, put)) if form is not None else []
    allow, env = _at(root, ALLOW), _at(root, ENV)
    allowed = allow.value if allow is not None else []
    lacking = [rule for rule in extra.permissions if rule not in allowed]
    wired_events = {own.event for own in _found(root, put)}
    lacking_events = [event for event in events() if event not in wired_events]
    members: dict[str, dict[str, Any]] = {
        "env": dict(extra.variables),
        "permissions": {"allow": lacking} if lacking else {},
        "hooks": {event: groups(event, form) for event in lacking_events} if form else {},
    }
    additions = {key: value for key, value in members.items() if value}
    added, routes = _additions(layout, root, (), additions)
    edits += added
    routes = routes if root is not None else [(), *routes]
    rules = [rule for rule in lacking if rule not in put.permissions]
    new_ones = [
        (name, value)
        for name, value in extra.variables.items()
        if env is None or env.get(name) is None
    ]
    wired = [(script.event, entry(script, form)) for script in WIRES] if form is not None else []
    new = replace(
        put,
        hooks=tuple((event, hook["command"]) for event, hook in wired if own_name(hook) is None),
        permissions=(*put.permissions, *rules),
        containers=(*put.containers, *(route for route in routes if route not in put.containers)),
        variables=(*put.variables, *new_ones),
    )
    after = applied(text, edits)
    pieces = [piece for edit in edits if (piece := (edit.old, edit.new)) not in put.pieces]
    if put.pieces or unwire(after, where, new) != unwire(text, where, put):
        new = replace(new, pieces=(*put.pieces, *pieces))
    return after, new


def _unbraced(text: str, put: Put) -> str:
    """The text; "" if the file was empty before and only our braces are left in it."""
    return "" if () in put.containers and not text.strip("{} \t\r\n") else text


def _additions(
    layout: Layout, node: Node | None, route: Route, members: Mapping[str, Any]
) -> tuple[list[JsonEdit], list[Route]]:
    """The edits that put members into an object, and the routes of containers that come in with them.

    An object that is there gets what it lacks, a list that is there all items; any other value stays.
    """
    edits: list[JsonEdit] = []
    routes: list[Route] = []
    lacking: list[tuple[str | None, Any]] = []
    for key, value in members.items():
        member, way = _at(node, (key,)), (*route, key)
        if member is None:
            lacking.append((key, value))
            routes += _containers(way, value)
        elif isinstance(value, dict):
            below, ways = _additions(layout, member, way, value)
            edits += below
            routes += ways
        elif isinstance(value, list):
            edits.append(insertion(layout, member, [(None, item) for item in value]))
    if lacking:
        edits.append(insertion(layout, node, lacking))
    return edits, routes


def _containers(route: Route, value: object) -> list[Route]:
    """The routes of a container and of the containers below it; those in a list are left out."""
    parts = value.items() if isinstance(value, dict) else ()
    ways = [way for key, part in parts for way in _containers((*route, key), part)]
    return [route, *ways] if isinstance(value, dict | list) else []


def _renewed_variables(
    text: str, where: str, put: Put, wanted: Mapping[str, str]
) -> tuple[str, Put]:
    """Give our variables the values of now; forget those that somebody changed or took out."""
    if wanted:
        _need(_at(read(text, where), ENV), dict, "env", where)
    kept = []
    for name, value in put.variables:
        node = _at(read(text, where), (*ENV, name))
        if node is None or node.value != value:
            continue
        new = wanted.get(name, value)
        if new != value:
            text, put = _edited(text, put, replacement(Layout.of(text), node, new))
        kept.append((name, new))
    return text, replace(put, variables=tuple(kept))


def _without_former(text: str, where: str, put: Put) -> tuple[str, Put]:
    """Take out permissions that an earlier version put in and this one does not."""
    for rule in [rule for rule in put.permissions if rule in FORMER_PERMISSIONS]:
        allow = _at(read(text, where), ALLOW)
        values = [item.value for item in allow.items] if allow is not None else []
        if allow is not None and rule in values:
            text, put = _edited(text, put, removal(text, allow, values.index(rule)))
        put = replace(put, permissions=tuple(kept for kept in put.permissions if kept != rule))
    return text, put


def _missing_names(layout: Layout, root: Node | None, form: Form, put: Put) -> Iterator[JsonEdit]:
    """Edits that add missing scripts to events with entries of ours: to a matcher's group, or a new one."""
    own = list(_found(root, put))
    for event in dict.fromkeys(own_entry.event for own_entry in own):
        ours = [own_entry for own_entry in own if own_entry.event == event]
        names = {own_entry.name for own_entry in ours}
        lacking = [script for script in WIRES if script.event == event and script.name not in names]
        matchers = {script.name: script.matcher for script in WIRES if script.event == event}
        new: list[str] = []
        for matcher in dict.fromkeys(script.matcher for script in lacking):
            beside = [own_entry for own_entry in ours if matchers.get(own_entry.name) == matcher]
            same = [script for script in lacking if script.matcher == matcher]
            if beside:
                yield insertion(
                    layout, beside[0].hooks, [(None, entry(script, form)) for script in same]
                )
            else:
                new += [script.name for script in same]
        node = _at(root, ("hooks", event))
        if new and node is not None:
            yield insertion(layout, node, [(None, group) for group in groups(event, form, new)])


def _renewed(text: str, where: str, form: Form, put: Put) -> tuple[str, Put]:
    """Replace our entries that differ from those of now, in their place; take out duplicates."""
    entries = {(script.event, script.name): entry(script, form) for script in WIRES}
    while True:
        keys: set[tuple[str, str]] = set()
        edit = None
        for own in _found(read(text, where), put):
            key = (own.event, own.name)
            if key not in entries or key in keys:
                edit = _entry_removal(text, read(text, where), own)
            elif (node := own.hooks.items[own.index]).value != entries[key]:
                edit = replacement(Layout.of(text), node, entries[key])
            if edit is not None:
                break
            keys.add(key)
        if edit is None:
            return text, put
        text, put = _edited(text, put, edit)
        # A renewed entry is known by its command for the rest of this run.
        commands = [(event, str(hook["command"])) for (event, _), hook in entries.items()]
        put = replace(put, hooks=tuple(dict.fromkeys([*put.hooks, *commands])))


def _edited(text: str, put: Put, edit: JsonEdit) -> tuple[str, Put]:
    """Make an edit in the text, and in those pieces of `put` that contain it."""
    pieces = [
        (old, new.replace(edit.old, edit.new) if edit.old else new) for old, new in put.pieces
    ]
    return applied(text, [edit]), replace(put, pieces=tuple(pieces))


def unwire(text: str, where: str, put: Put) -> str:
    """The text without anything of ours: as before, byte for byte, if nobody touched our pieces.

    An object or array that was put in goes with its last entry; everybody else's text stays.

    Raises:
        Refused: the text cannot be read, or is of another shape.
    """
    root = read(text, where)
    after, is_whole = text, True
    for old, new in reversed(put.pieces):
        is_whole = is_whole and after.count(new) == 1
        if after.count(new) == 1:
            after = after.replace(new, old)
    text = _unbraced(_taken_out(text, where, put), put)
    if root is None or not put.pieces:
        return text
    expected = _value(text)
    try:
        # What an earlier run put in may have left no pieces: it is taken out by what it says.
        candidates = [after, _unbraced(_taken_out(after, where, put), put)] if is_whole else [after]
        return next((candidate for candidate in candidates if _value(candidate) == expected), text)
    except (JsoncError, Refused):
        return text


def left(text: str, where: str) -> list[tuple[str, str]]:
    """(event, script) of entries that run a script of ours and are not as `init` writes them."""
    hooks = _at(read(text, where), ("hooks",))
    return [
        (event, name)
        for event in events()
        for group in (hooks.value.get(event, []) if hooks is not None else [])
        for hook in group.get("hooks", [])
        if (name := run_name(hook)) is not None
    ]


def _value(text: str) -> Any:
    """The value of the text; an empty one counts as an empty object."""
    node = parse(text)
    return node.value if node is not None else {}


def _taken_out(text: str, where: str, put: Put) -> str:
    while (root := read(text, where)) is not None and (edits := _removals(text, root, put)):
        text = applied(text, edits)
    return text


def _removals(text: str, root: Node, put: Put) -> list[JsonEdit]:
    """Edits that take out one part of ours from each list and object: so they cannot overlap."""
    edits: dict[Route, JsonEdit] = {}
    for own in _found(root, put):
        if ("hooks", own.event) not in edits:
            edits["hooks", own.event] = _entry_removal(text, root, own)
    allow, env = _at(root, ALLOW), _at(root, ENV)
    for index, item in enumerate(allow.items if allow is not None else ()):
        if item.value in put.permissions:
            edits[ALLOW] = removal(text, _sure(allow), index)
    for name, value in put.variables:
        node = _at(env, (name,))
        if env is not None and node is not None and node.value == value:
            edits[ENV] = removal(text, env, _index(env, name))
    for route in sorted(put.containers, key=len, reverse=True):
        node, way = _at(root, route), route[:-1]
        if route and node is not None and not node.spans and way not in edits:
            parent = _sure(_at(root, way))
            edits[way] = removal(text, parent, _index(parent, route[-1]))
    return list(edits.values())


def _index(node: Node, key: str) -> int:
    """The index of an object's member; of several with one name the last, which is the one that counts."""
    return max(index for index, member in enumerate(node.members) if member.key == key)


def _entry_removal(text: str, root: Node | None, own: OwnEntry) -> JsonEdit:
    """The edit that takes an entry out, with its group if it is the only one in it."""
    if len(own.hooks.items) > 1:
        return removal(text, own.hooks, own.index)
    groups = _sure(_at(root, ("hooks", own.event)))
    (index,) = [at for at, group in enumerate(groups.items) if group.get("hooks") == own.hooks]
    return removal(text, groups, index)


def _found(root: Node | None, put: Put) -> Iterator[OwnEntry]:
    """Every entry of ours, in the text's order; an event that we no longer wire counts too."""
    hooks = _at(root, ("hooks",))
    for member in hooks.members if hooks is not None else ():
        if _sure(hooks).get(member.key) is not member.node:
            continue  # a later member of the same name is the one that counts
        for group in member.node.items:
            entries = group.get("hooks")
            for index, item in enumerate(entries.items if entries else ()):
                name = put.own_name(member.key, item.value)
                if name is not None:
                    yield OwnEntry(member.key, name, _sure(entries), index)


def _at(root: Node | None, route: Sequence[str]) -> Node | None:
    for key in route:
        root = root.get(key) if root is not None else None
    return root


def _need(node: Node | None, kind: type, what: str, where: str) -> None:
    if node is None or isinstance(node.value, kind):
        return
    expected = "an object" if kind is dict else "a list"
    raise unwritten(f"{what} in {where} is not {expected}, which settings must have there")


def _sure(node: Node | None) -> Node:
    assert node is not None  # noqa: S101 -- found a moment ago in the same text
    return node
