"""What the commit of a lease says, and what nobody's commit says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core.values.survey import BoardTooLarge, parse_lease


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ('lease {"agent": "a", "issue": 1, "nonce": "n"}\n\n[skip ci]', ("a", "n", "", "")),
        ('lease {"agent": "a", "nonce": "n", "branch": "b"}', ("a", "n", "b", "")),
        (
            'lease {"agent": "a", "began": "2026-01-02T03:04:05Z"}',
            ("a", "", "", "2026-01-02T03:04:05Z"),
        ),
        ('lease {"agent": 1, "nonce": null, "branch": ["x"]}', ("", "", "", "")),
        ("lease 7", ("", "", "", "")),
        ("lease {", ("", "", "", "")),
        ("Fix it", ("", "", "", "")),
        ("", ("", "", "", "")),
        ("lease " + "[" * 100_000, ("", "", "", "")),
    ],
)
def test_a_lease_says_what_it_says(message: str, said: tuple[str, str, str, str]) -> None:
    """Agent, nonce, branch and when the work began; whatever else a commit says is nobody's lease."""
    assert parse_lease(message) == said


@given(st.text())
def test_no_message_breaks_a_sweep(message: str) -> None:
    """Anybody who may push writes these commits."""
    assert all(isinstance(part, str) for part in parse_lease(f"lease {message}"))


def test_a_board_that_is_too_large_says_how_large_it_is() -> None:
    """Who catches it tells the person; in a log it stands with the number as well."""
    too_large = BoardTooLarge(5_000)
    assert (too_large.cards, str(too_large)) == (5_000, "the board has 5000 cards")
