"""The notes that a session is given of a run beside where it stands."""

from __future__ import annotations

from lifecycle.run.state import Run, UserFix
from lifecycle.run.table import RunStatus
from lifecycle.run.texts.standing import brake_note

NOW = 1_800_000_000.0
FIX = UserFix("B1", "Add the key", NOW - 100, completed_at=NOW - 50)
RUN = Run("abc12345", "Take payments", NOW - 600, fix=FIX)


def test_that_something_was_fixed_is_news_until_a_session_goes_on() -> None:
    """Once a session was led on after it, no later one is told to resume from that blocker."""
    assert "is fixed" in brake_note(RUN.but(led_on_at=NOW - 200))
    assert brake_note(RUN.but(led_on_at=NOW - 50)) == ""


def test_a_run_that_waits_again_says_for_what() -> None:
    """However long ago it was led on."""
    waits = RUN.but(status=RunStatus.AWAITING_USER, fix=FIX.but(completed_at=0.0), led_on_at=NOW)
    assert "waits for a person" in brake_note(waits)
