"""The runner's expressions mean what GitHub's documentation says, and what it does not know is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.actions.expressions import Scope, UnknownExpressionError
from tests.batches import each_row

CONTEXTS = {
    "github": {"event_name": "issues", "event": {"sender": {"login": "Maria"}, "count": 3}},
    "inputs": {"dry-run": True, "empty": "", "nothing": None},
    "vars": {},
    "steps": {"one": {"outputs": {"failed": "0"}}},
}
SCOPE = Scope(CONTEXTS)


@each_row(
    ("expression", "value"),
    [
        ("github.event_name", "issues"),
        ("github.event.sender.login == 'maria'", True),
        ("github.event.sender.login != 'maria'", False),
        ("github.event.sender.login != vars.NOBODY", True),
        ("github.event.pull_request.head.repo.full_name", None),
        ("github['event_name']", "issues"),
        ("inputs.dry-run", True),
        ("!inputs.dry-run", False),
        ("inputs.nothing == 0 && inputs.empty == false", True),
        ("inputs.empty || 'other'", "other"),
        ("inputs.dry-run && 'yes' || 'no'", "yes"),
        ("true || false && false", True),
        ("(true || false) && false", False),
        ("'It''s' == 'it''S'", True),
        ("github.event.count == '3'", True),
        ("steps.one.outputs.failed == 0", True),
        ('contains(fromJSON(\'["push", "issues"]\'), github.event_name)', True),
        ("contains('Hello', 'ELL')", True),
        ("startsWith('Hello', 'he')", True),
        ("null == ''", True),
        ("'x' == 0", False),
        ("-2.5", -2.5),
    ],
)
def test_what_expressions_come_to(expression: str, value: Any) -> None:
    """Texts have no case, what is not there is empty, values of two kinds are compared as numbers."""
    assert SCOPE.value(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "hashFiles('x')",
        "unknown.thing",
        "github.event.*.login",
        "1 < 2",
        '"double"',
        "github.",
        "a b",
        "(true",
        "",
        "github.event_name)",
        "contains('a', 'b'",
    ],
)
def test_what_is_not_known_is_refused(expression: str) -> None:
    """A runner that guesses would make a wrong workflow pass."""
    with pytest.raises(UnknownExpressionError):
        Scope({"github": {}}).value(expression)


def test_texts_are_filled_in() -> None:
    """Expressions in text become text; true is `true`, and nothing is nothing."""
    assert SCOPE.text("a ${{ inputs.dry-run }} b${{ inputs.nothing }}") == "a true b"
    assert SCOPE.text(True) == "true"
    with pytest.raises(UnknownExpressionError):
        SCOPE.text("${{ github.event }}")


@pytest.mark.parametrize(
    ("condition", "before", "after"),
    [
        (None, True, False),
        ("true", True, False),
        ("${{ always() }}", True, True),
        ("failure() && github.event_name == 'issues'", False, True),
        ("success()", True, False),
        ("!cancelled()", True, True),
    ],
)
def test_a_failure_stops_what_does_not_ask(
    condition: str | None, *, before: bool, after: bool
) -> None:
    """A condition without a status function demands that nothing failed before."""
    assert SCOPE.holds(condition) is before
    assert Scope(CONTEXTS, has_failed=True).holds(condition) is after
