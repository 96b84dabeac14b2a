"""One edit of JSON text at a time: what goes in fits in, what goes out takes its own along."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.setup.init.jsonc import (
    JsonEdit,
    Layout,
    applied,
    at,
    insertion,
    parse,
    removal,
    replacement,
)
from tests.batches import each_row
from tests.setup.init.jsonc_texts import VALUES, texts


def edited(text: str, edit: JsonEdit) -> str:
    """The text with an edit, which says what stands in its place."""
    assert text[edit.start :].startswith(edit.old)
    return applied(text, [edit])


def inserted(text: str, value: Any, name: str | None = None) -> str:
    """The text with a value at the end of its outermost container."""
    return edited(text, insertion(Layout(text), parse(text), [(name, value)]))


def removed(text: str, index: int) -> str:
    """The text without one item or member of its outermost container."""
    node = parse(text)
    assert node is not None
    return edited(text, removal(text, node, index))


@each_row(
    ("before", "after"),
    [
        ("[]", "[\n  9\n]"),
        ("[ ]", "[\n  9\n ]"),
        ("[\n]", "[\n  9\n]"),
        ("[1]", "[1, 9]"),
        ("[1, 2]", "[1, 2, 9]"),
        ("[1,]", "[1, 9,]"),
        ("[\n\t1\n]", "[\n\t1,\n\t9\n]"),
        ("[\n\t1,\n]", "[\n\t1,\n\t9,\n]"),
        ("[\r\n 1\r\n]", "[\r\n 1,\r\n 9\r\n]"),
        ("[\n  1 // why\n]", "[\n  1, // why\n  9\n]"),
        ("[\n  1, // why\n]", "[\n  1, // why\n  9,\n]"),
        ("[\r\n  1 // why\r\n]", "[\r\n  1, // why\r\n  9\r\n]"),
        ("[\r\n  1, // why\r\n]", "[\r\n  1, // why\r\n  9,\r\n]"),
        ("[\n  1 /* a */ /* b */\n]", "[\n  1, /* a */ /* b */\n  9\n]"),
        ("[\n  1\n  // 2\n]", "[\n  1,\n  9\n  // 2\n]"),
        ("[ // none yet\n]", "[ // none yet\n  9\n]"),
        ("[ // none yet\r\n]", "[ // none yet\r\n  9\r\n]"),
        ("[\n  // none yet\n]", "[\n  // none yet\n  9\n]"),
    ],
)
def test_an_item_goes_where_a_person_would_put_it(before: str, after: str) -> None:
    """In the layout around it; a comment stays behind the value that it explains."""
    assert inserted(before, 9) == after


@each_row(
    ("before", "index", "after"),
    [
        ("[1]", 0, "[]"),
        ("[ 1, ]", 0, "[]"),
        ("[1, 2, 3]", 0, "[2, 3]"),
        ("[1, 2, 3]", 1, "[1, 3]"),
        ("[1, 2, 3]", 2, "[1, 2]"),
        ("[1, 2,]", 1, "[1,]"),
        ("[\n  1,\n  2\n]", 0, "[\n  2\n]"),
        ("[\n  1,\n  2\n]", 1, "[\n  1\n]"),
        ("[\n  1,\n  2,\n]", 1, "[\n  1,\n]"),
        ("[\n  1, // one\n  2\n]", 1, "[\n  1 // one\n]"),
        ("[\n  1, // one\n  2, // two\n  3\n]", 1, "[\n  1, // one\n // two\n  3\n]"),
        ("[1, // one\n2]", 1, "[1 // one\n]"),
        ("[1,// one\n2]", 1, "[1// one\n]"),
        ("[ // none\n1]", 0, "[ // none\n]"),
        ("[// none\n1, 2]", 0, "[// none\n 2]"),
        ("[1, 2 /* two */, 3]", 1, "[1, /* two */ 3]"),
        ('{"a": 1, "b": 2}', 0, '{"b": 2}'),
    ],
)
def test_what_goes_out_takes_its_comma_along(before: str, index: int, after: str) -> None:
    """Its line too; no comment goes, and none swallows what comes behind it."""
    assert removed(before, index) == after


@given(texts(st.lists(VALUES, min_size=1, max_size=4)), st.data())
def test_any_item_of_any_text_can_go(made: tuple[str, Any], data: Any) -> None:
    """The others are the same afterwards, and no comment of theirs is broken."""
    text, values = made
    index = data.draw(st.integers(0, len(values) - 1))
    node = parse(removed(text, index))
    assert node is not None
    assert node.value == values[:index] + values[index + 1 :]


@given(texts(st.lists(VALUES, max_size=4)), VALUES)
def test_any_value_fits_into_any_text(made: tuple[str, Any], value: Any) -> None:
    """It is the last one then, and nothing else changed."""
    node = parse(inserted(made[0], value))
    assert node is not None
    assert node.value == [*made[1], value]


@given(texts(st.lists(VALUES, min_size=1, max_size=4)), st.text())
def test_any_text_can_stand_in_a_values_place(made: tuple[str, Any], word: str) -> None:
    """Only that one is another afterwards."""
    text, values = made
    node = parse(text)
    assert node is not None
    after = parse(edited(text, replacement(text, node.items[0], word)))
    assert after is not None
    assert after.value == [word, *values[1:]]


NAMED: dict[str, Any] = {"ü": [1]}


@each_row(
    ("before", "after"),
    [
        ("", '{\n  "n": {\n    "ü": [\n      1\n    ]\n  }\n}\n'),
        ("\n", '\n{\n  "n": {\n    "ü": [\n      1\n    ]\n  }\n}\n'),
        ("\ufeff", '\ufeff{\n  "n": {\n    "ü": [\n      1\n    ]\n  }\n}\n'),
        ("// c", '// c\n{\n  "n": {\n    "ü": [\n      1\n    ]\n  }\n}'),
        ("// c\n", '// c\n{\n  "n": {\n    "ü": [\n      1\n    ]\n  }\n}\n'),
        ("\ufeff{}", '\ufeff{\n  "n": {\n    "ü": [\n      1\n    ]\n  }\n}'),
        ("{ /* a */ }", '{ /* a */\n  "n": {\n    "ü": [\n      1\n    ]\n  }\n }'),
        ("{\n}", '{\n  "n": {\n    "ü": [\n      1\n    ]\n  }\n}'),
        ("\t{}", '\t{\n\t  "n": {\n\t    "ü": [\n\t      1\n\t    ]\n\t  }\n\t}'),
        ("\n  {}", '\n  {\n    "n": {\n      "ü": [\n        1\n      ]\n    }\n  }'),
        ("  {\n  }", '  {\n    "n": {\n      "ü": [\n        1\n      ]\n    }\n  }'),
        ('{"a": 1}', '{"a": 1, "n": {"ü": [1]}}'),
        ('{"a": 1,}', '{"a": 1, "n": {"ü": [1]},}'),
        (
            '{\r\n\t"a": 1\r\n}',
            '{\r\n\t"a": 1,\r\n\t"n": {\r\n\t\t"ü": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}',
        ),
        ('{\n"a": 1\n}', '{\n"a": 1,\n"n": {\n  "ü": [\n    1\n  ]\n}\n}'),
        ('{ "a":\n 1 }', '{ "a":\n 1, "n": {\n  "ü": [\n    1\n  ]\n} }'),
        ('\ufeff  {"a": [\n1]}', '\ufeff  {"a": [\n1], "n": {\n  "ü": [\n    1\n  ]\n}}'),
    ],
)
def test_a_member_goes_where_a_person_would_put_it(before: str, after: str) -> None:
    """Also as the first of all, behind comments and a byte order mark, in the indentation that is there."""
    assert inserted(before, NAMED, "n") == after
    assert inserted(before, NAMED, "ü") == after.replace('"n"', '"ü"')


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a": []}', '{"a": [9, 9]}'),
        ('{"a": [1,]}', '{"a": [1, 9, 9,]}'),
        ('{\n  "a": []\n}', '{\n  "a": [\n    9,\n    9\n  ]\n}'),
        ('{\n  "a": [\n  ]\n}', '{\n  "a": [\n    9,\n    9\n  ]\n}'),
        ('{\n  "a": [1]\n}', '{\n  "a": [1, 9, 9]\n}'),
        ('{\n  "a": [\n    1\n  ]\n}', '{\n  "a": [\n    1,\n    9,\n    9\n  ]\n}'),
        ('{"b": {\n  }, "a": []}', '{"b": {\n  }, "a": [\n    9,\n    9\n  ]}'),
    ],
)
def test_items_go_into_an_inner_list_in_its_own_layout(before: str, after: str) -> None:
    """Several at once: in one line, or each in its own, as deep as those around them."""
    node = parse(before)
    made = insertion(Layout(before), at(node, "a"), [(None, 9), (None, 9)])
    assert edited(before, made) == after


@pytest.mark.parametrize(
    ("before", "index", "after"),
    [
        ("[ // a\n1,\n2]", 0, "[ // a\n2]"),
        ("[1 // a\n, 2]", 1, "[1 // a\n\n]"),
        ("[1, // a\n2 // b\n, 3]", 1, "[1, // a // b\n 3]"),
        ("[  1, 2]", 0, "[  2]"),
        ("[ 1 ]", 0, "[]"),
        ("[ 1, /* a */ ]", 0, "[ /* a */ ]"),
        ("[\n  1 // a\n]", 0, "[ // a\n]"),
        ("[1 /* a */, 2]", 0, "[ /* a */2]"),
    ],
)
def test_what_goes_out_leaves_every_comment(before: str, index: int, after: str) -> None:
    """Also one that stands before its comma, and space that belongs to nothing goes."""
    assert removed(before, index) == after


def test_edits_are_made_at_once() -> None:
    """In whatever order they are named: each means the text as it was."""
    edits = [JsonEdit(1, "b", ""), JsonEdit(4, "e", "EE"), JsonEdit(2, "", "xx")]
    assert applied("abcdef", edits) == "axxcdEEf"


@pytest.mark.parametrize(
    ("text", "newline", "unit", "is_flat"),
    [
        ("", "\n", "  ", False),
        ("// c\r\n", "\r\n", "  ", False),
        ("{}", "\n", "  ", False),
        ("[1]", "\n", "  ", True),
        ("\n[1]\n", "\n", "  ", True),
        ("[\n\t1,\n  2\n]", "\n", "\t", False),
        ("[1,\n    2\n]", "\n", "  ", False),
        ("[\n1\r\n]", "\n", "  ", False),
    ],
)
def test_the_layout_of_a_text_is_read_off_it(
    text: str, newline: str, unit: str, *, is_flat: bool
) -> None:
    """By its first line's end, the indentation of its first member, and whether it has but one line."""
    layout = Layout(text)
    assert (layout.newline, layout.unit, layout.is_flat) == (newline, unit, is_flat)
