"""The staged workflow is switched on in somebody's TOML, and off again, and nothing else changes."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lifecycle.core.errors import Refused
from lifecycle.setup.init.init_mark import PutPiece
from lifecycle.setup.init.stages_switch import switch_off, switch_on

WHERE = ".lifecycle.toml"
VALUES = {"review": "/oracle-review", "start": "/begin"}

NAMES = st.sampled_from(["remote", "use", "review", "stages", "a.b", '"stages"', "label"])
WRITTEN = st.sampled_from(
    [
        '"x"',
        "false",
        "true",
        "1",
        "[1, 2] # stages",
        '"""\n[stages]\nuse = false\n"""',
        "'''\nstages.use = false'''",
        "{ use = false }",
        "{ label = 'x' }",
        "{ review = '/r' }",
        "{}",
        "nan",
        "2026-01-01T00:00:00Z",
    ]
)
HEADERS = st.sampled_from(
    [
        "[stages]",
        "[ 'stages' ] # on",
        "[stages.workflows]",
        "[other]",
        "[[many]]",
        "[labels.stages]",
    ]
)
LINES = st.one_of(
    st.tuples(NAMES, WRITTEN).map(lambda pair: f"{pair[0]} = {pair[1]}"),
    st.tuples(NAMES, WRITTEN).map(lambda pair: f"stages.{pair[0]}={pair[1]}"),
    HEADERS,
    st.sampled_from(["", "# use = false", "   # [stages]", "\t"]),
)
TEXTS = st.tuples(st.lists(LINES, max_size=9), st.sampled_from(["\n", "\r\n"]), st.booleans()).map(
    lambda made: made[1].join(made[0]) + (made[1] if made[2] else "")
)


def is_valid(text: str) -> bool:
    """True if it is TOML."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


@given(TEXTS.filter(is_valid))
@example("")
@example("# only a comment")
@example('remote = "fork"')
@example("[stages]")
@example("[stages]\r\nuse = false # no\r\n[other]\r\nuse = false\r\n")
@example('text = """\n[stages]\n"""\n[stages]\nlabel = "x"\n')
@example('[stages.workflows]\n"auto-workflow:x" = ["CODING"]\n')
@example("stages.use=true")
@example('stages.use="x"')
def test_on_says_what_was_wanted_and_off_is_as_before(text: str) -> None:
    """On, everything else means what it meant and every byte is still there; off, no byte differs."""
    before = tomllib.loads(text)
    table = before.get("stages", {})
    try:
        after = text + switch_on(text, WHERE, VALUES)
    except Refused:
        assert "stages" in before
        assert not isinstance(table, dict) or "use" not in table
        return
    if after == text:
        assert "use" in table
        return
    assert repr(tomllib.loads(after)) == repr({**before, "stages": {"use": True, **VALUES}})
    assert switch_on(after, WHERE, VALUES) == ""
    assert switch_off(after, WHERE, (PutPiece("", after.removeprefix(text)),)) == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", '[stages]\nuse = true\nreview = "/oracle-review"\nstart = "/begin"\n'),
        (
            'remote = "fork" # mine',
            'remote = "fork" # mine\n\n[stages]\nuse = true\nreview = "/oracle-review"\nstart = "/begin"\n',
        ),
    ],
)
def test_it_looks_as_if_a_person_had_written_it(text: str, wanted: str) -> None:
    """All is at the end, behind an empty line."""
    assert text + switch_on(text, WHERE, VALUES) == wanted


def test_what_was_edited_since_is_left() -> None:
    """Off, a value that somebody changed stays, and None says that nothing was undone."""
    after = switch_on("", WHERE, VALUES)
    pieces = (PutPiece("", after),)
    assert switch_off(after.replace("/begin", "/mine"), WHERE, pieces) is None
    assert switch_off(f"{after}label = 'x'\n", WHERE, pieces) is None
    before = "[project]\nnumber = 1\n"
    added = switch_on(before, WHERE, VALUES)
    off = switch_off(f"{before}{added}number = 2\n", WHERE, (PutPiece("", added),))
    assert off is None, "the number would be there twice"


def test_what_an_earlier_init_put_into_a_table_is_taken_out() -> None:
    """It put its lines below the head of a table that somebody had; no other value may change with them."""
    ours = PutPiece("[stages]\n", "[stages]\nuse = true\nreview = '/ours'\n")
    assert switch_off(f"{ours.after}label = 'x'\n", WHERE, (ours,)) == "[stages]\nlabel = 'x'\n"
    strange = PutPiece("label = 'y'\n", "label = 'x'\n")
    assert switch_off(f"{ours.after}label = 'x'\n", WHERE, (ours, strange)) is None


def test_lines_around_ours_may_change() -> None:
    """Off, what somebody wrote before and behind our lines stays."""
    added = switch_on("remote = 'x'\n", WHERE, VALUES)
    edited = f"# new\nremote = 'x'\n{added}[run]\nmax_hours = 9\n"
    off = switch_off(edited, WHERE, (PutPiece("", added),))
    assert off == "# new\nremote = 'x'\n[run]\nmax_hours = 9\n"


@pytest.mark.parametrize(
    "text",
    [
        "use = ",
        "stages = 1",
        "stages = []",
        "[[stages]]\nuse = true\n",
        "stages.label = 'x'\n",
        "stages = { label = 'x' }",
        "[stages]\nlabel = 'x'\n",
        "[stages.workflows]\n'auto-workflow:x' = ['CODING']\n",
    ],
)
def test_what_cannot_be_edited_is_refused(text: str) -> None:
    """One sentence with the file's name, and nothing is changed."""
    with pytest.raises(
        Refused, match=r"\.lifecycle\.toml.*nothing was written anywhere"
    ) as refusal:
        switch_on(text, WHERE, VALUES)
    is_lacking = "says nothing" in refusal.value.sentence
    assert is_lacking is ('use = true, review = "/oracle-review"' in refusal.value.sentence)
