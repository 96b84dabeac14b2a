"""Tasks on a terminal: what fits stands beside each other, and nothing is cut off."""

from __future__ import annotations

import os
from contextlib import redirect_stdout
from io import StringIO
from typing import Any
from unittest import mock

import pytest
from rich.cells import cell_len

from lifecycle.cli.tracker import tracker_values
from lifecycle.cli.tracker.tracker_values import draw, nothing_is
from lifecycle.core.tracker import Note, Task, TaskStatus
from lifecycle.settings.resources import drawn
from tests.cli.terminal import on_terminal, plain
from tests.cli.tracker_ground import made
from tests.conftest import Place

LONG = "Greet in the language of the caller, whatever that may be and however long this gets"
TASKS = (
    Task(
        "demo-1",
        LONG,
        priority=0,
        labels=("auto-workflow", "enhancement"),
        external="https://github.com/octo-org/hello/issues/41",
    ),
    Task(
        "demo-2",
        "Größe 日本語 ✓",
        status=TaskStatus.IN_PROGRESS,
        raw_status="in_progress",
        assignee="octocat-1795294975",
    ),
    Task("demo-3", "Third", priority=4, blocked_by=("demo-1", "demo-2")),
)


def shown(tasks: tuple[Task, ...], width: int) -> list[str]:
    """What is printed on a terminal of this width."""
    out = StringIO()
    hidden = (Task("hidden", "Not shown"),) * (5 - len(tasks))
    with mock.patch.dict(os.environ, COLUMNS=str(width)), redirect_stdout(out):
        draw("beads", "not closed", (*tasks, *hidden), len(tasks))
    return [line.rstrip() for line in plain(out.getvalue()).splitlines()]


@pytest.mark.parametrize("width", [60, 70, 80, 90])
def test_no_line_ends_between_a_name_and_its_fact(width: int) -> None:
    """What does not fit beside the others goes below them with its name."""
    task = Task("demo-1", LONG, labels=("auto-workflow:high", "bug"), assignee="octocat-1795294975")
    lines = shown((task, TASKS[2]), width)
    names = (" who", " labels", " linked to", " waits")
    assert not [line for line in lines[3:] if line.endswith(names)]
    is_beside = "who" in lines[2].split()
    assert is_beside or any("who octocat-1795294975" in line for line in lines)


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_everything_is_told_at_each_width(width: int) -> None:
    """Each fact is there whole, no line is wider than the terminal, and what is left out is counted."""
    lines = shown(TASKS, width)
    assert all(cell_len(line) <= width for line in lines)
    text = "".join("".join(line.split()) for line in lines)
    assert lines[0] == "beads  5 tasks, not closed"
    assert lines[-1] == "… and 2 more"
    for fact in (
        *LONG.split(),
        "demo-1,demo-2",
        "demo-1",
        "P0",
        "octo-org/hello#41",
        "日本語",
        "in_progress",
        "octocat-1795294975",
    ):
        assert fact in text


def test_a_wide_terminal_has_columns_with_names() -> None:
    """The names stand above what they name, and all rows begin their cells alike."""
    lines = shown(TASKS, 140)
    head = lines[2]
    assert head.split() == ["task", "status", "labels", "who", "waits", "for", "linked", "to"]
    (row,) = [line for line in lines if line.startswith("demo-3")]
    assert row[head.index("waits for") :].startswith("demo-1, demo-2")
    assert row[head.index("status") :].startswith("open")


def test_what_is_the_same_for_all_has_no_column() -> None:
    """Ready tasks all stand open and are nobody's: no column says so again."""
    ready = tuple(Task(f"demo-{n}", "Title", priority=n) for n in range(3))
    head = shown(ready, 140)[2]
    assert head.split() == ["task"]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_command_draws_it(place: Place, width: int) -> None:
    """The real command on a real terminal: a table, in colour, as wide as the terminal."""
    made(place, LONG, "--label", "auto-workflow")
    code, out = on_terminal(place, width, "tracker", "ready", "--label", "auto-workflow")
    assert code == 0
    assert "\x1b[" in out
    lines = plain(out).splitlines()
    assert lines[0].startswith("github  1 task, ready")
    assert all(cell_len(line) <= width for line in lines)


def test_short_ids_break_no_heading_and_labels_take_the_room_that_is_left() -> None:
    """Issues have ids of two digits; with room to spare, no label stands on a line of its own."""
    many = ("auto-workflow", "enhancement", "needs-review")
    tasks = (Task("41", "Greet", labels=many, priority=1), Task("42", "Mend", assignee="sam"))
    lines = shown(tasks, 120)
    assert lines[2].startswith("task ")
    assert ", ".join(many) in "\n".join(lines)
    assert len(lines) == 6  # head, names, two tasks, what is left out, and one empty line


@pytest.mark.parametrize(
    ("what", "tracker", "labels", "says"),
    [
        ("ready", "github", (), "No task is ready on GitHub."),
        ("in_progress", "beads", (), "No task is in progress in beads."),
        ("not closed", "memory", (), "No task is open in memory."),
        ("all", "github", ("a", "b*"), 'There is no task with the label a or "b*" on GitHub.'),
    ],
)
def test_no_task_is_said_in_a_sentence(
    what: str, tracker: str, labels: tuple[str, ...], says: str
) -> None:
    """Each way to list, on each tracker."""
    assert nothing_is(what, tracker, labels) == [says]


def test_strangers_words_are_data_in_a_task_and_its_comments() -> None:
    """Neither a stage's marker nor a link; a text of several lines has a bar before each of them."""
    evil = "::: [it](http://x)"
    names: dict[str, Any] = dict.fromkeys(("assignee", "external", "url", "close_reason"), evil)
    task = Task("demo-1", evil, f"a\n{evil}", labels=(evil,), blocked_by=(evil,), **names)
    notes = (Note("1", evil, f"a\n{evil}"),)
    lines = drawn("cli/tracker/templates/task.txt", task=task, values=tracker_values)
    lines += drawn("cli/tracker/templates/comments.txt", task="demo-1", notes=notes)
    assert evil not in "\n".join(lines)
    assert lines.count("  | a") == lines.count("  | : : : [it] (http://x)") == 2
