"""What the person in front of the client sees, told from what the client sends."""

from __future__ import annotations

import pytest

from tests.clients.claude_code.screen import ROWS, Screen

PAINTED = [
    ("Sorry I know\x1b[2Ghall\x1b[3Cgo?\x1b[K", "Shall I go?"),
    ("one\r\ntwo\x1b[1A\rO", "One\ntwo"),
    ("one\r\ntwo\x1b[1;2Hn\x1b[2dN", "one\ntwN"),
    ("a long line\x1b[6D\x1b[K.", "a lon."),
    ("one\r\ntwo\r\nthree\x1b[2F\x1b[0Jdone", "done"),
    ("one\r\ntwo\x1b[1K!", "one\n   !"),
    ("one\r\n\x1b[?25l\x1b]0;a title\x07two\x1b[38;5;1mred", "one\ntwored"),
    ("ab\bc\x1b[1Ee", "ac\ne"),
]


@pytest.mark.parametrize(("sent", "shown"), PAINTED)
def test_a_line_is_shown_as_it_was_painted(sent: str, shown: str) -> None:
    """Cells that are painted over, left out or erased are what they are on the screen."""
    screen = Screen()
    screen.feed(sent)
    assert screen.text.strip("\n") == shown.strip("\n")


def test_what_was_scrolled_away_stays_and_is_not_painted_over() -> None:
    """The first line of the screen is counted from its top, not from the beginning."""
    screen = Screen()
    screen.feed("\r\n".join(str(number) for number in range(ROWS + 5)) + "\x1b[1;1Htop")
    assert screen.text.split("\n")[4:7] == ["4", "top", "6"]
