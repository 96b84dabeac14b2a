"""Who counts as a person, for brakes of runs and gates of workflows."""

from __future__ import annotations

import pytest

from lifecycle.core.errors import Refused
from lifecycle.settings.persons import PROMPT, TERMINAL, Presence, person

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("seen", "by"),
    [
        (Presence(is_inside=False), TERMINAL),
        (Presence(is_inside=False, prompted_at=NOW + 1), TERMINAL),
        (Presence(is_inside=True, prompted_at=NOW + 1), PROMPT),
        (Presence(is_inside=True, prompted_at=NOW), ""),
        (Presence(is_inside=True, prompted_at=NOW - 1), ""),
        (Presence(is_inside=True), ""),
    ],
)
def test_who_is_a_person(seen: Presence, by: str) -> None:
    """Whoever is outside of the client, and inside of it a prompt after the question."""
    assert Presence(is_inside=True) == Presence(is_inside=True, prompted_at=0.0)
    if by:
        assert person(seen, NOW, "lifecycle run resume") == by
        return
    with pytest.raises(Refused, match="terminal of their own: lifecycle run resume"):
        person(seen, NOW, "lifecycle run resume")
