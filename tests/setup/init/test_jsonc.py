"""JSON with comments is read as it is meant, and what is none is refused with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from lifecycle.setup.init.jsonc import NOTHING, JsoncError, Node, at, parse
from tests.batches import each_row
from tests.setup.init.jsonc_texts import VALUES, texts


@given(texts(VALUES))
def test_what_was_written_is_what_is_read(made: tuple[str, Any]) -> None:
    """Comments, commas and layout change no value; every offset cuts out that value's own text."""
    text, value = made
    node = parse(text)
    assert node is not None
    assert json.dumps(node.value) == json.dumps(value)
    for start, end in node.spans:
        assert text[start:end].strip(" \t\r\n,") == text[start:end]


def test_of_members_with_one_name_the_last_counts() -> None:
    """As in JavaScript, which reads these files too."""
    node = parse('{"a": 1, "a": {"b": 2}}')
    assert node is not None
    inner = at(node, "a")
    assert (node.value, inner.value) == ({"a": {"b": 2}}, {"b": 2})
    assert (at(node, "b"), at(inner, "b")) == (NOTHING, Node(20, 21, 2))
    assert (len(node.spans), node.index("a")) == (2, 1)
    several = parse('{"a": 1, "b": 2}')
    assert several is not None
    assert (at(several, "a"), several.index("a")) == (Node(6, 7, 1), 0)


def test_every_value_has_its_place() -> None:
    """Of containers also what they hold, by name or in order, and whether a comma is behind the last."""
    text = '// c\n{"a":1, "b" : [true,/* d */{},], "c": [] , }'
    items, places = (Node(20, 24, value=True), Node(32, 34, {})), ((20, 24), (32, 34))
    members = {
        "a": Node(10, 11, 1),
        "b": Node(19, 36, [True, {}], items, spans=places, is_trailed=True),
        "c": Node(43, 45, []),
    }
    spans = ((6, 11), (13, 36), (38, 45))
    value = {"a": 1, "b": [True, {}], "c": []}
    assert parse(text) == Node(5, len(text), value, (), members, spans, is_trailed=True)
    assert parse("\ufeff 1 ") == Node(2, 3, 1)


def test_no_name_leads_into_an_array() -> None:
    """Not even the empty one, by which an object's member is found."""
    node = parse('{"": 1, "a": ["b"]}')
    assert at(node, "") == Node(5, 6, 1)
    assert at(node, "a", "") is NOTHING


@pytest.mark.parametrize("text", ["", " \n", "\ufeff", "// c", "/* c */\n// d\n"])
def test_nothing_but_space_and_comments_is_no_value(text: str) -> None:
    """Such a file is empty, not broken."""
    assert parse(text) is None


@each_row(
    ("text", "where", "what"),
    [
        ('{"a": 1', "line 1, column 8", "the end of the file"),
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3", 'expected "," or "}"'),
        ('{"a" 1}', "line 1, column 6", 'expected ":"'),
        ("{'a': 1}", "line 1, column 2", "a name in quotes"),
        ("{a: 1}", "line 1, column 2", "a name in quotes"),
        ("[1 2]", "line 1, column 4", 'expected "," or "]"'),
        ("[,]", "line 1, column 2", "a value"),
        ("{,}", "line 1, column 2", "a name"),
        ("[1,,2]", "line 1, column 4", "a value"),
        ("[01]", "line 1, column 3", 'expected ","'),
        ("[.5]", "line 1, column 2", "a value"),
        ("[NaN]", "line 1, column 2", "a value"),
        ("[tru]", "line 1, column 2", "a value"),
        ("{} x", "line 1, column 4", "something follows"),
        ("{}{}", "line 1, column 3", "something follows"),
        ('"a\nb"', "line 1, column 1", "a value"),
        ('"\\x"', "line 1, column 1", "a value"),
        ("/* no end {}", "line 1, column 1", "a value"),
        ("{}\r\n\r\n#", "line 3, column 1", "something follows"),
        ("[" * 300, "line 1, column 202", "nested too deeply"),
        ("[" + "9" * 5000 + "]", "line 1, column 2", "too long"),
        ('"' + "a" * 1_000_000 + '"', "line 1, column 1000001", "more than 1,000,000 characters"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(text: str, where: str, what: str) -> None:
    """Line and column count from 1, as editors show them."""
    with pytest.raises(JsoncError) as refusal:
        parse(text)
    assert str(refusal.value).startswith(f"{where}: ")
    assert what in str(refusal.value)


def test_what_was_expected_and_what_stands_there_is_told() -> None:
    """One sign of it, as it is written; and behind a line break the line is the second."""
    texts = ('{"a" 1}', "[éa]", "[1", "\n[1 2]", "{1}", "[1] [")
    refused = []
    for text in texts:
        with pytest.raises(JsoncError) as refusal:
            parse(text)
        refused.append(str(refusal.value))
    assert refused == [
        'line 1, column 6: expected ":", found "1"',
        'line 1, column 2: expected a value, found "é"',
        'line 1, column 3: expected "," or "]", found the end of the file',
        'line 2, column 4: expected "," or "]", found "2"',
        'line 1, column 2: expected a name in quotes or "}", found "1"',
        "line 1, column 5: something follows the value",
    ]
