"""Variables and further permissions in settings files: in, renewed, out again to the byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given

from lifecycle.core.errors import Refused
from lifecycle.setup.init.client_settings import unwire, wire
from lifecycle.setup.init.hook_table import CAP, PERMISSIONS, STAGE_PERMISSIONS, local_form
from lifecycle.setup.init.init_mark import Put
from lifecycle.setup.init.jsonc import parse
from tests.setup.init.jsonc_texts import texts

WHERE = ".claude/settings.local.json"
FORM = local_form(Path("/opt/lifecycle/_hooks"))
RULES = (*PERMISSIONS, *STAGE_PERMISSIONS)
STAGED = Put(permissions=RULES, variables={CAP: "58"})


def values(text: str) -> dict[str, Any]:
    """What the text says."""
    node = parse(text)
    return dict(node.value) if node is not None else {}


@given(texts())
@example(("", {}))
@example(('{"env": {}}', {"env": {}}))
@example(('{"env": {"A": "1"}, "permissions": {"allow": []}}', {"env": {"A": "1"}}))
def test_what_was_put_in_is_taken_out_to_the_byte(made: tuple[str, Any]) -> None:
    """The variable goes in with the rest, and out again without a trace."""
    text, _ = made
    wired, put = wire(text, WHERE, FORM, Put(), STAGED)
    assert values(wired)["env"][CAP] == "58"
    assert set(RULES) <= set(values(wired)["permissions"]["allow"])
    assert wire(wired, WHERE, FORM, put, STAGED) == (wired, put)
    assert unwire(wired, WHERE, put) == text


@given(texts())
@example(("{}", {}))
@example(('{"permissions": {}}', {"permissions": {}}))
@example(('{"permissions": {"allow": []} // c\n}', {"permissions": {"allow": []}}))
@example(('{"env": {} /* c */}', {"env": {}}))
def test_the_workflow_put_in_later_goes_with_the_rest(made: tuple[str, Any]) -> None:
    """First claim to close, then the stages as well: one removal takes both out, to the byte."""
    text, _ = made
    first, put = wire(text, WHERE, FORM, Put(), Put(permissions=PERMISSIONS))
    second, put = wire(first, WHERE, FORM, put, STAGED)
    assert unwire(second, WHERE, put) == text


def test_a_variable_of_somebodys_own_stays() -> None:
    """Whatever it says: it is not changed by putting in and not taken away by taking out."""
    text = json.dumps({"env": {CAP: "3", "A": "1"}}, indent=2)
    wired, put = wire(text, WHERE, FORM, Put(), STAGED)
    assert values(wired)["env"] == {CAP: "3", "A": "1"}
    assert put.variables == {}
    assert unwire(wired, WHERE, put) == text


@pytest.mark.parametrize("text", ["", '{"env": {"A": "1"}}', '{\n  "env": {}\n}\n'])
def test_another_value_of_today_takes_the_place_of_ours(text: str) -> None:
    """More blocks are allowed than before: the variable follows, and out again leaves the same bytes."""
    wired, put = wire(text, WHERE, FORM, Put(), STAGED)
    renewed, put = wire(wired, WHERE, FORM, put, Put(permissions=RULES, variables={CAP: "108"}))
    assert values(renewed)["env"][CAP] == "108"
    assert put.variables == {CAP: "108"}
    assert unwire(renewed, WHERE, put) == text


def test_what_somebody_changed_since_is_theirs() -> None:
    """The variable got another value by hand: it is kept by the next run and by the removal."""
    wired, put = wire("{}\n", WHERE, FORM, Put(), STAGED)
    edited = wired.replace('"58"', '"200"')
    again, put = wire(edited, WHERE, FORM, put, Put(permissions=RULES, variables={CAP: "108"}))
    assert again == edited
    assert put.variables == {}
    assert values(unwire(again, WHERE, put)) == {"env": {CAP: "200"}}


def test_variables_of_another_shape_are_refused() -> None:
    """`env` that is no object is named, with the file."""
    with pytest.raises(Refused, match=r"env in \.claude/settings\.local\.json is not an object"):
        wire('{"env": []}', WHERE, FORM, Put(), STAGED)
