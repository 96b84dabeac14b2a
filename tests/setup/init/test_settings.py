"""Settings files are merged with and unmerged from, and nobody else's byte is touched."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lifecycle.core.errors import Refused
from lifecycle.setup.init import client_settings
from lifecycle.setup.init.client_settings import unwire
from lifecycle.setup.init.hook_table import (
    EVENTS,
    PERMISSIONS,
    WIRES,
    entry,
    groups,
    local_form,
    own_name,
    shared_form,
)
from lifecycle.setup.init.init_mark import Put
from lifecycle.setup.init.jsonc import parse
from tests.setup.init.jsonc_texts import texts

WHERE = ".claude/settings.local.json"
FORM = local_form(Path("/opt/lifecycle/_hooks"))
wire = partial(client_settings.wire, extra=Put(permissions=PERMISSIONS))
FORMS = st.sampled_from([FORM, shared_form, local_form(Path("/a b/é/lifecycle/_hooks"))])


def values(text: str) -> dict[str, Any]:
    """What the text says."""
    node = parse(text)
    return dict(node.value) if node is not None else {}


def others(settings: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """The settings without anything of ours, and without containers that were not there before."""
    copy = json.loads(json.dumps(settings))
    rules = before.get("permissions", {}).get("allow", [])
    allow = copy.get("permissions", {}).get("allow", [])
    allow[:] = [rule for rule in allow if rule in rules or rule not in PERMISSIONS]
    for event, there in copy.get("hooks", {}).items():
        for one in there:
            one["hooks"] = [hook for hook in one["hooks"] if own_name(hook) is None]
        old = len(before.get("hooks", {}).get(event, []))
        there[old:] = [one for one in there[old:] if one["hooks"]]
    hooks = copy.get("hooks", {})
    for event in [e for e, there in hooks.items() if not there]:
        if event not in before.get("hooks", {}):
            del hooks[event]
    if "allow" not in before.get("permissions", {}):
        copy.get("permissions", {}).pop("allow", None)
    for name in ("permissions", "hooks"):
        if not copy.get(name, True) and name not in before:
            del copy[name]
    return dict(copy)


def is_within(part: str, whole: str) -> bool:
    """True if every character of `part` is in `whole`, in this order."""
    rest = iter(whole)
    return all(character in rest for character in part)


@given(texts(), FORMS)
@example(("", {}), FORM)
@example(("{}", {}), FORM)
@example(('{"hooks": {}}', {"hooks": {}}), FORM)
@example(('{\n  "permissions": {"allow": []} // c\n}', {"permissions": {"allow": []}}), FORM)
def test_what_was_put_in_is_taken_out_to_the_byte(made: tuple[str, Any], form: Any) -> None:
    """In and out again leaves the very same bytes, whatever the file looked like."""
    text, _ = made
    wired, put = wire(text, WHERE, form, Put())
    assert unwire(wired, WHERE, put) == text


@given(texts(), FORMS)
def test_nobody_elses_value_and_byte_is_touched(made: tuple[str, Any], form: Any) -> None:
    """Every foreign value is equal afterwards, every foreign character still there and in order."""
    text, value = made
    wired, _ = wire(text, WHERE, form, Put())
    assert others(values(wired), value) == value
    assert is_within(text, wired)


@given(texts(), FORMS)
def test_everything_of_ours_is_there_once(made: tuple[str, Any], form: Any) -> None:
    """Each script at its event, as the table says, and each permission."""
    wired, _ = wire(made[0], WHERE, form, Put())
    settings = values(wired)
    assert set(PERMISSIONS) <= set(settings["permissions"]["allow"])
    for one in WIRES:
        hooks = [hook for group in settings["hooks"][one.event] for hook in group["hooks"]]
        assert hooks.count(entry(one, form)) == 1
    for event in EVENTS:
        for own in groups(event, form):
            assert own in settings["hooks"][event]


@given(texts(), FORMS)
def test_twice_is_once(made: tuple[str, Any], form: Any) -> None:
    """A second run changes neither the text nor what is remembered."""
    once = wire(made[0], WHERE, form, Put())
    assert wire(once[0], WHERE, form, once[1]) == once


@given(texts(), FORMS)
def test_without_the_pieces_the_entries_are_still_taken_out(
    made: tuple[str, Any], form: Any
) -> None:
    """Where the pieces of text cannot be found, what is ours goes all the same, and no more."""
    text, value = made
    wired, put = wire(text, WHERE, form, Put())
    blind = Put(put.permissions, put.containers)
    assert values(unwire(wired, WHERE, blind)) == value


@given(texts(), FORMS, st.data())
def test_what_others_wrote_since_stays(made: tuple[str, Any], form: Any, data: Any) -> None:
    """Somebody adds a hook of their own behind ours: it stays, and ours go."""
    wired, put = wire(made[0], WHERE, form, Put())
    event = data.draw(st.sampled_from(EVENTS))
    theirs = {"hooks": [{"type": "command", "command": "theirs"}]}
    from lifecycle.setup.init.jsonc import NOTHING, Layout, applied, at, insertion

    there = at(parse(wired), "hooks", event)
    assert there is not NOTHING
    edited = applied(wired, [insertion(Layout(wired), there, [(None, theirs)])])
    left = values(unwire(edited, WHERE, put))
    assert left["hooks"][event][-1] == theirs
    del left["hooks"][event][-1]
    want = json.loads(json.dumps(made[1]))
    want.setdefault("hooks", {}).setdefault(event, [])
    assert left == want


@given(texts(), st.sampled_from([shared_form, local_form(Path("/new/lifecycle/_hooks"))]))
def test_an_older_entry_is_renewed(made: tuple[str, Any], form: Any) -> None:
    """Another path or form comes in its place, and out again leaves the same bytes."""
    text, _ = made
    first, put = wire(text, WHERE, FORM, Put())
    second, renewed = wire(first, WHERE, form, put)
    fresh, _ = wire(text, WHERE, form, Put())
    assert values(second) == values(fresh)
    assert list(values(second)["hooks"]) == list(values(first)["hooks"])
    assert unwire(second, WHERE, renewed) == text


def test_an_entry_below_another_matcher_goes_back_below_its_own() -> None:
    """As it is it would not run where its script has work, or run where that has none."""
    wired, put = wire("", WHERE, FORM, Put())
    for before, after in (('"idle_prompt"', '"other"'), ('"matcher": "Bash",', '"matcher": "",')):
        again, _ = wire(wired.replace(before, after), WHERE, FORM, put)
        assert values(again) == values(wired)


def test_it_looks_as_if_a_person_had_written_it() -> None:
    """Indentation, line ends and comments are those of the file; a comment stays by its value."""
    text = '{\r\n\t"model": "x", // mine\r\n\t"permissions": {\r\n\t\t"allow": ["Read"]\r\n\t}\r\n}\r\n'
    wired, _ = wire(text, WHERE, FORM, Put())
    lines = wired.split("\r\n")
    assert lines[1] == '\t"model": "x", // mine'
    assert lines[3].startswith('\t\t"allow": ["Read", "Bash(lifecycle claim:*)", ')
    assert lines[4:7] == ["\t},", '\t"hooks": {', '\t\t"SessionStart": [']
    assert "\n" not in wired.replace("\r\n", "")


def test_a_comment_in_an_object_of_ours_outlives_a_renewal_and_the_removal() -> None:
    """What a person wrote keeps the object, though `init` made it; around it nothing of ours is left."""
    wired, put = wire("", WHERE, FORM, Put())
    theirs = wired.replace('"hooks": {', '"hooks": { // mine').replace("[", "[ // why", 1)
    renewed, put = wire(theirs, WHERE, shared_form, put)
    assert '"hooks": { // mine\n    "SessionStart"' in renewed
    assert '"allow": [ // why\n      "Bash(' in renewed
    left = unwire(renewed, WHERE, put)
    assert values(left) == {"permissions": {"allow": []}, "hooks": {}}
    assert "// mine" in left
    assert "// why" in left


@pytest.mark.parametrize(
    "command",
    [
        "/x/hooks/on-stop",
        "/opt/lifecycle/_hooks/on-stop",
        "lifecycle hook on-stop",
        "nice /opt/lifecycle/_hooks/on-stop",
        "lifecycle hook on-stop && notify",
        "echo lifecycle hook on-stop",
        "hooks/on-stop",
        "/opt/lifecycle/_hooks/other",
    ],
)
def test_what_only_looks_like_ours_is_somebody_elses(command: str) -> None:
    """A script of the same name, or ours in a command of somebody's own, is not touched."""
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})
    wired, put = wire(text, WHERE, FORM, Put())
    assert values(wired)["hooks"]["Stop"][0]["hooks"][0]["command"] == command
    assert unwire(wired, WHERE, put) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", f"{WHERE} is not an object"),
        ('{"hooks": []}', "hooks in"),
        ('{"hooks": {"Stop": {}}}', "hooks.Stop in"),
        ('{"hooks": {"Stop": [1]}}', "hooks.Stop[0] in"),
        ('{"hooks": {"Stop": [{"hooks": {}}]}}', "hooks.Stop[0].hooks in"),
        ('{"permissions": 1}', "permissions in"),
        ('{"permissions": {"allow": "Read"}}', "permissions.allow in"),
        ('{"a": 1,\n "b" 2}', "line 2, column 6"),
    ],
)
def test_settings_of_another_shape_are_refused(text: str, said: str) -> None:
    """What cannot be merged with is named, with the file."""
    with pytest.raises(Refused) as refusal:
        wire(text, WHERE, FORM, Put())
    assert said in refusal.value.sentence
    assert WHERE in refusal.value.sentence


def test_of_two_members_with_one_name_the_one_that_counts_is_wired() -> None:
    """The client reads the last: ours go there, and the text is as before when they are out."""
    stop = json.dumps({"Stop": groups("Stop", FORM)})
    text = f'{{"hooks": {stop[:-1]}, "Stop": []}}, "model": 1}}'
    wired, put = wire(text, WHERE, FORM, Put())
    assert [one["hooks"] for one in values(wired)["hooks"]["Stop"]] == [
        one["hooks"] for one in groups("Stop", FORM)
    ]
    assert unwire(wired, WHERE, put) == text


@given(texts(), FORMS)
def test_a_script_that_came_later_gets_a_group_of_its_own_matcher(
    made: tuple[str, Any], form: Any
) -> None:
    """Wired by a version without on-clear: it comes in beside the others, and goes out again."""
    text = made[0]
    wired, put = wire(text, WHERE, form, Put())
    older = values(wired)
    starts = older["hooks"]["SessionStart"]
    (late,) = [one for one in groups("SessionStart", form) if one.get("matcher") == "clear"]
    starts.remove(late)
    before = json.dumps(older, indent=2)
    again, renewed = wire(before, WHERE, form, put)
    assert values(again)["hooks"]["SessionStart"].count(late) == 1
    assert wire(again, WHERE, form, renewed) == (again, renewed)
    assert late not in values(unwire(again, WHERE, renewed)).get("hooks", {}).get(
        "SessionStart", []
    )
