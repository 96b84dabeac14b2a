"""What workflows refuse is said in a sentence."""

from __future__ import annotations

from lifecycle.core.errors import Refused
from lifecycle.workflow.table import refused


def test_a_refusal_is_one_line() -> None:
    """However the file breaks it; and a person's braces are no words of ours."""
    error = refused("no-gate", gate='"{gate}"')
    assert isinstance(error, Refused)
    assert error.sentence.startswith(
        '"{gate}" is not a gate, so nothing was done. A gate is check:NAME'
    )
    assert "\n" not in error.sentence
