"""What a reviewer gets: what was asked for, the diff's place, red and green; and nobody's account."""

from __future__ import annotations

from msgspec.structs import replace

from lifecycle.run import state
from lifecycle.run.state import Criterion, Story
from lifecycle.run.texts.report_text import review_lines

RED = state.TestProof(
    at=1.0,
    tests=("tests/test_greet.py::test_it_greets",),
    command="pytest",
    log=".lifecycle/checks/red.log",
    failed=1,
    total=4,
)
GREEN = replace(RED, log=".lifecycle/checks/green.log", failed=0, changed=("tests/test_greet.py",))
STORY = Story(
    "S1",
    "Greet",
    security=True,
    criteria=(Criterion("It greets"), Criterion("It greets nobody without a name")),
    design="One function.",
    red=RED,
    green=GREEN,
)


def test_a_reviewer_gets_all_that_is_judged() -> None:
    """Criteria by number, the design, where the diff and both logs are, and the test that was changed."""
    lines = review_lines(STORY, ".lifecycle/review-S1.diff", "2 files changed")
    assert lines[2:5] == [
        "**Story:** S1 - Greet (security-sensitive)",
        "**Design:** One function.",
        "**Diff:** .lifecycle/review-S1.diff (2 files changed)",
    ]
    text = "\n".join(lines)
    assert "1. It greets\n2. It greets nobody without a name" in text
    assert "### RED\nRun: pytest, 4 tests, 1 failed\nLog: .lifecycle/checks/red.log\n" in text
    assert "### GREEN\nRun: pytest, 4 tests, 0 failed\nLog: .lifecycle/checks/green.log\n" in text
    assert "- tests/test_greet.py::test_it_greets" in text
    assert text.endswith("changed between RED and GREEN\n- tests/test_greet.py")


def test_what_was_not_shown_is_said() -> None:
    """No proof, a waiver, a runner without names, no change: each in a line of its own."""
    bare = review_lines(Story("S2", "Tidy"), "d", "")
    assert "**Diff:** nothing was changed since it began." in bare
    assert (bare.count("None was recorded."), bare.count("Nothing was shown.")) == (1, 2)
    waived = review_lines(replace(STORY, red=None, green=None, waived="only words"), "d", "1 file")
    assert waived.count("Waived: only words") == 2
    counted = replace(RED, tests=(), total=-1, note="the runner names none")
    lines = review_lines(replace(STORY, red=counted), "d", "1 file")
    assert "Run: pytest, nobody counted its tests" in lines
    assert "The runner names no tests; the counts decided." in lines
    assert "Note: the runner names none" in lines


def test_many_tests_are_counted() -> None:
    """The prompt of an agent stays short."""
    tests = tuple(f"test_{number}" for number in range(25))
    lines = review_lines(replace(STORY, red=replace(RED, tests=tests)), "d", "1 file")
    assert "- and 5 more" in lines
    assert "- test_20" not in lines
