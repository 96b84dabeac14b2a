"""Which tasks a session took up: commands that start, show, claim or close them, and nothing else."""

from __future__ import annotations

import pytest

from lifecycle.stages.transcript.tasks_taken import (
    begun_in,
    ids_in,
    is_about_others,
    taken_by,
    told_in,
)
from tests.batches import each_row

STARTS = ("/bd-start", "make begin ID={id}", "tasks go {id}", "/our:begin")


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("/bd-start bd-1", ["bd-1"]),
        ("/lifecycle:bd-start bd-1", ["bd-1"]),
        ("/lifecycle:claim 42", ["42"]),
        ("bd show bd-1", ["bd-1"]),
        ("cd x && bd close bd-1 --reason done | tail -1", ["bd-1"]),
        ("bd update bd-1 --claim", ["bd-1"]),
        ("lifecycle tracker show '#42'", ["42"]),
        ("gh issue view https://github.com/o/r/issues/42", ["42"]),
        ("make begin ID=42", ["42"]),
        ("tasks go 42", ["42"]),
        ("/our:begin 42", ["42"]),
    ],
)
def test_commands_that_take_a_task_up(text: str, ids: list[str]) -> None:
    """The tracker's own, the slash commands, and the project's own start command."""
    assert list(ids_in([text], STARTS)) == ids


@each_row(
    "text",
    [
        "run the tests of 42",
        "/oracle-review 42",
        "/oracle-review 42; bd close 42",
        "/plan\nbd update 42 --claim",
        "sed -n 42p code.py",
        "git commit -m 'Fix #42'",
        "echo bd show bd-1",
        "bd list",
        "make begin",
        "make test ID=42",
        "make begin X=42",
        "make",
        "/other:begin 42",
        "tasks stop 42",
        "tasks going 42",
        "",
    ],
)
def test_a_task_that_is_only_mentioned_is_not_meant(text: str) -> None:
    """Prose, other commands and other slash commands name no task."""
    assert list(ids_in([text], STARTS)) == []


def test_what_is_only_looked_at_is_not_begun() -> None:
    """Claims and start commands begin a task; showing and closing one do not."""
    texts = [
        "/bd-start bd-1",
        "bd show bd-2",
        "bd update bd-3 --claim",
        "make begin ID=4",
        "bd close bd-5",
    ]
    assert begun_in(texts, STARTS) == ("bd-1", "bd-3", "4")
    assert ids_in(texts, STARTS) == ("bd-1", "bd-2", "bd-3", "4", "bd-5")
    for text in ("git log -n 42", "head -n 42 x.py", "git log --grep bd-2", "gh issue view 42"):
        assert begun_in([text], STARTS) == ()


def test_the_task_that_an_instruction_names() -> None:
    """By its own commands, in backticks; words around them name none."""
    assert told_in("CURRENT STAGE: X\n- Re-read with `bd show bd-7`\n- see bd-8") == "bd-7"
    assert told_in("- Otherwise: Start work with `/bd-start bd-9`", STARTS) == "bd-9"
    assert told_in('- Close issue: `lifecycle tracker close 43 --reason "x"`') == "43"
    assert told_in("- See `bd show bd-7`, and `bd close bd-8`") == "bd-8"
    assert told_in("- Run `pytest`") == ""


@pytest.mark.parametrize(
    ("text", "task", "is_other"),
    [
        ("Issue demo-3 is closed.", "demo-1", True),
        ("Issues demo-3 and demo-1 are closed.", "demo-1", False),
        ("The issue is closed.", "demo-1", False),
        ("It is well-known.", "demo-1", False),
        ("#43 is closed.", "42", True),
        ("#42 is closed.", "42", False),
        ("Closed in 43 seconds.", "42", False),
    ],
)
def test_words_about_another_task(text: str, task: str, is_other: bool) -> None:
    """Tasks that are spelled as trackers do, and this one is not among them."""
    assert is_about_others(text, task) is is_other


@pytest.mark.parametrize(
    ("line", "output", "task"),
    [
        ("bd update bd-1 --claim", "", "bd-1"),
        ("bd update bd-1 --claim && bd update bd-2 --claim", "", "bd-2"),
        ("bd update bd-1 bd-2 --claim", "", "bd-2"),
        ("lifecycle claim", "", "?"),
        ("lifecycle claim && bd update bd-2 --claim", "", "bd-2"),
        ("bd update bd-1 --claim && lifecycle claim", "", "?"),
        ("bd show bd-1", "", ""),
        ("ls", "", ""),
        ("bd update bd-1 --claim", "Error: already claimed by bob", ""),
    ],
)
def test_the_task_that_a_command_line_took(line: str, output: str, task: str) -> None:
    """The last one; none if it took none, or was refused."""
    assert taken_by(line, output) == task
