"""`core.hidden_marker`: what is hidden in a text, and when it counts as ours."""

from __future__ import annotations

import pytest

from lifecycle.core import hidden_marker
from lifecycle.core.errors import Refused

MARK = "<!-- lifecycle:link issue=42 -->"


def test_a_marker_says_its_kind_and_its_facts() -> None:
    """In the order given: texts that are on GitHub already are found by exactly these."""
    assert hidden_marker.of("link", issue=42) == MARK
    assert hidden_marker.of("step", issue=42, at="x") == "<!-- lifecycle:step issue=42 at=x -->"
    assert hidden_marker.of("plain") == "<!-- lifecycle:plain -->"


@pytest.mark.parametrize(
    ("text", "word"),
    [("octo-org/hello", "octo-org-hello"), ("a -->b", "a-b"), ("v1.2_x", "v1.2_x"), ("--", "-")],
)
def test_any_text_becomes_a_word_that_ends_no_comment(text: str, word: str) -> None:
    """Whatever is no letter, digit, dot or _ is one hyphen, however much of it there is."""
    assert hidden_marker.word(text) == word


@pytest.mark.parametrize("key", ["deploy", "a-b.c:d/e#f=g_1", "42"])
def test_a_callers_key_is_hidden_as_it_is(key: str) -> None:
    """Letters, digits, and single signs between them."""
    assert hidden_marker.keyed(key) == f"<!-- lifecycle:{key} -->"


@pytest.mark.parametrize("key", ["", "a b", "a--b", "-a", "a-", "a>b", "a~", "a\n"])
def test_a_key_that_could_end_the_comment_is_refused(key: str) -> None:
    """Nothing is written, and the sentence names the key."""
    with pytest.raises(Refused) as refused:
        hidden_marker.keyed(key)
    assert repr(key) in refused.value.sentence


@pytest.mark.parametrize(
    ("body", "text"),
    [("Text.\n\n", f"Text.\n\n{MARK}"), ("Text.", f"Text.\n\n{MARK}"), (" \n", MARK), ("", MARK)],
)
def test_a_text_has_its_marker_below_it(body: str, text: str) -> None:
    """After an empty line, so that Markdown keeps it apart; a text that is empty is the marker alone."""
    assert hidden_marker.signed(body, MARK) == text
    assert hidden_marker.is_signed(text, MARK) is True


@pytest.mark.parametrize(
    ("body", "is_ours"),
    [
        (f"One.\nTwo.\n{MARK}  \n\n", True),
        (f"See {MARK}", False),
        (f"> {MARK}", False),
        (f"{MARK}\nMore.", False),
        ("Text.", False),
        ("", False),
    ],
)
def test_a_marker_counts_as_the_last_line_alone(body: str, *, is_ours: bool) -> None:
    """Anybody may quote one: within a line, or above other words, it is what somebody says about us."""
    assert hidden_marker.is_signed(body, MARK) is is_ours
