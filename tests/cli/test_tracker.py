"""`lifecycle tracker`: the same commands on each tracker, and one sentence for each failure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lifecycle.cli.tracker.tracker_values import text_from
from lifecycle.core.errors import Refused
from lifecycle.core.tracker import TaskStatus
from tests.cli.outcome import ok, refused
from tests.cli.tracker_ground import made, told, with_beads
from tests.conftest import Place

SOAKED = pytest.mark.soak(
    "cli/test_tracker.py::test_a_task_is_made_shown_changed_and_closed_alike",
    "trackers/test_conformance.py::test_each_tracker_keeps_each_rule",
)

KEYS = {
    "id", "title", "description", "status", "raw_status", "priority", "labels", "assignee", "author",
    "blocked_by", "external", "url", "close_reason", "created_at", "updated_at", "closed_at",
}  # fmt: skip


@pytest.fixture(params=["github", "beads"])
def either(request: pytest.FixtureRequest, place: Place, tmp_path: Path) -> Place:
    """A worktree whose tasks are GitHub's issues, or a database beside the code."""
    return place if request.param == "github" else with_beads(place, tmp_path)


def test_a_task_is_made_shown_changed_and_closed_alike(either: Place) -> None:
    """Each verb gives the same shape on each tracker, and says what is true now."""
    task = told(
        either, "create", "New", "task", "--description", "First\nsecond", "--label", "later"
    )
    assert set(task) == {"tracker", "task"}
    assert set(task["task"]) == KEYS
    name = task["task"]["id"]
    assert task["task"]["title"] == "New task"
    assert task["task"]["description"] == "First\nsecond"
    changed = told(
        either, "edit", name, "--title", "Newer", "--description", "-", stdin=b"Third\r\n"
    )
    assert (changed["task"]["title"], changed["task"]["description"]) == ("Newer", "Third")
    labels = told(either, "label", name, "--add", "auto-workflow", "--remove", "later", "--create")
    assert labels["task"]["labels"] == ["auto-workflow"]
    listed = told(either, "list", "--label", "auto-workflow")
    assert set(listed) == {"tracker", "total", "tasks"}
    assert [one["id"] for one in listed["tasks"]] == [name]
    assert told(either, "ready", "--label", "auto-*")["total"] == 1
    closed = told(either, "close", name, "--reason", "Not wanted.")
    assert set(closed) == {"tracker", "task", "claim", "notes"}
    assert closed["task"]["status"] == TaskStatus.CLOSED
    assert closed["claim"] is None
    assert told(either, "list", "--label", "auto-workflow")["total"] == 0
    assert told(either, "list", "--label", "auto-workflow", "--status", "all")["total"] == 1
    again = told(either, "close", name, "--reason", "Another reason.")
    assert again["task"]["close_reason"] == "Not wanted."
    assert told(either, "reopen", name)["task"]["status"] == TaskStatus.OPEN


@SOAKED
def test_a_repeated_command_makes_nothing_twice(either: Place) -> None:
    """The same words are the same task and the same comment; a key of its own makes another."""
    first = made(either, "Once", "--description", "text")
    assert made(either, "Once", "--description", "text") == first
    assert made(either, "Once", "--description", "text", "--key", "two") != first
    for _ in range(2):
        said = told(
            either, "comment", first, "--file", "-", stdin="Größe ✓\n\n-- no option".encode()
        )
    assert set(said) == {"tracker", "task", "comment"}
    told(either, "comment", first, "Another")
    notes = told(either, "comments", first)
    assert set(notes) == {"tracker", "task", "comments"}
    assert [note["text"] for note in notes["comments"]] == ["Größe ✓\n\n-- no option", "Another"]
    shown = ok(either.cli("tracker", "comments", first))
    assert "  | Größe ✓\n  |\n  | -- no option\n" in shown


@SOAKED
def test_a_task_that_waits_is_not_ready(either: Place) -> None:
    """What waits for an open task is shown as such, is not ready and cannot be claimed."""
    task, blocker = made(either, "Second", "--label", "z"), made(either, "First", "--label", "z")
    assert told(either, "dep", task, blocker)["task"]["blocked_by"] == [blocker]
    assert f"waits for: {blocker}" in ok(either.cli("tracker", "show", task))
    assert [one["id"] for one in told(either, "ready", "--label", "z")["tasks"]] == [blocker]
    sentence = refused(either.cli("tracker", "claim", task))
    assert blocker in sentence
    assert "not claimed" in sentence or "nothing was claimed" in sentence


@SOAKED
def test_lines_and_limits(either: Place) -> None:
    """A pipe gets a line for each task; what a limit leaves out is counted."""
    for number in range(3):
        made(either, f"Task {number}", "--label", "many", "--priority", str(number))
    lines = ok(either.cli("tracker", "list", "--label", "many", "--limit", "2")).splitlines()
    assert [line.split("  ")[1:4] for line in lines[:2]] == [
        ["P0", "open", '"Task 0"'],
        ["P1", "open", '"Task 1"'],
    ]
    assert lines[2:] == ["… and 1 more"]
    limited = told(either, "list", "--label", "many", "--limit", "1")
    assert (limited["total"], len(limited["tasks"])) == (3, 1)
    empty = ok(either.cli("tracker", "ready", "--label", "nobody"))
    assert empty.startswith("No task with the label nobody is ready ")


def test_a_status_is_shown_in_the_word_that_lists_it(either: Place) -> None:
    """What is taken stands as in_progress on each tracker, as in --json, and is found under that word."""
    task = made(either, "Taken", "--label", "many")
    ok(either.cli("tracker", "claim", task))
    for arguments in (("show", task), ("list", "--status", "in_progress", "--label", "many")):
        lines = ok(either.cli("tracker", *arguments)).splitlines()
        assert ("in_progress" in "".join(lines[:2]), " open" in "".join(lines[:2])) == (True, False)
    none = ok(either.cli("tracker", "list", "--status", "open", "--label", "many"))
    assert none.startswith("No task with the label many is open ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("edit", "1"), "Name what to change"),
        (("label", "1"), "Name a label"),
        (("comment", "1"), "Give the text"),
        (("create", "T", "--description", "a", "--file", "b"), "not both"),
        (("create",), "Missing argument"),
        (("list", "--status", "odd"), "is not one of"),
        (("list", "--limit", "0"), "--limit"),
        (("create", "T", "--priority", "9"), "--priority"),
        (("nothing",), "No such command"),
        (("lable", "1"), "Did you mean 'label'"),
    ],
)
def test_a_wrong_command_line_is_told_before_anybody_is_asked(
    place: Place, arguments: tuple[str, ...], words: str
) -> None:
    """Exit code 2, one error, and not one request."""
    done = place.cli("tracker", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert place.requests() == []


@SOAKED
def test_a_task_that_is_not_there(either: Place) -> None:
    """One sentence, exit code 1, and as JSON the kind of error."""
    name = "987654" if not (either.root / ".beads").exists() else "demo-none"
    refused(either.cli("tracker", "show", name))
    done = either.cli("tracker", "show", name, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["kind"] == "NotFound"


@SOAKED
def test_what_a_tracker_cannot_do_is_said(either: Place) -> None:
    """There is nothing to send: one sentence, exit code 1."""
    assert "nothing was " in refused(either.cli("tracker", "publish"))


@SOAKED
def test_no_token_no_program_no_workspace_no_such_tracker(place: Place, tmp_path: Path) -> None:
    """What is missing is named in one sentence, each with its way out."""
    assert "token" in refused(place.cli("tracker", "ready", GH_TOKEN="")).casefold()
    config = place.root / ".lifecycle.toml"
    config.write_text('[tracker]\nuse = "beads"\n')
    refused(place.cli("tracker", "ready"))
    simulated = with_beads(place, tmp_path)
    (place.root / ".beads").rename(tmp_path / "away")
    refused(simulated.cli("tracker", "ready"))
    config.write_text('[tracker]\nuse = "jira"\n')
    sentence = refused(place.cli("tracker", "ready"))
    assert '"jira"' in sentence
    assert '"github"' in sentence
    config.write_text("[tracker]\nuse = 3\n")
    assert "tracker.use" in refused(place.cli("tracker", "ready"))


@SOAKED
def test_a_text_that_cannot_be_read_is_said(place: Place, tmp_path: Path) -> None:
    """A file that is not there, and bytes that are no text: one sentence, and nothing is made."""
    assert "No such file" in refused(place.cli("tracker", "create", "T", "--file", "nowhere.md"))
    odd = tmp_path / "odd"
    odd.write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8 text" in refused(place.cli("tracker", "create", "T", "--file", str(odd)))
    assert place.writes() == []


@SOAKED
def test_outside_of_a_worktree(place: Place, tmp_path: Path) -> None:
    """No worktree, no tasks: the sentence says where to go."""
    from dataclasses import replace

    assert "no git worktree" in refused(replace(place, root=tmp_path).cli("tracker", "ready"))


@SOAKED
def test_nothing_of_a_stranger_moves_the_cursor(place: Place) -> None:
    """A title and a text with control characters are shown with escapes, on one line each."""
    name = made(place, "Odd", "--description", "one\x1b[2Jtwo\nthree")
    shown = ok(place.cli("tracker", "show", name))
    assert "\x1b" not in shown
    assert shown.endswith("  | one\\x1b[2Jtwo\n  | three\n")


def test_every_command_has_help(place: Place) -> None:
    """Each command explains itself, and takes --json."""
    listed = ok(place.cli("tracker", "--help"))
    names = [
        line.split()[0] for line in listed.partition("Commands:")[2].split("\n") if line.strip()
    ]
    assert len(names) == 17
    for name in names:
        shown = ok(place.cli("tracker", name, "--help"))
        assert "--json" in shown


@SOAKED
def test_a_database_without_its_program_is_said_first(place: Place) -> None:
    """GitHub's issues take its place, and stderr says so at each command; stdout stays what it is."""
    (place.root / ".beads").mkdir()
    done = place.cli("tracker", "list", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["tracker"] == "github"
    assert done.stderr.startswith(
        "Note: .beads is here, and bd is not on PATH, so tasks are GitHub's "
    )
    assert done.stderr.count("\n") == 1
    sentence = refused(place.cli("tracker", "list", GH_TOKEN="", LIFECYCLE_TOKEN=""))
    assert ".beads is here, and bd is not on PATH, so no task was read or changed" in sentence


@SOAKED
def test_a_label_that_is_nearly_one_asks_for_create(place: Place) -> None:
    """A misspelt label is refused with the nearest one and the option that makes a new one."""
    name = made(place, "Task")
    sentence = refused(place.cli("tracker", "label", name, "--add", "enhancment"))
    assert 'Did you mean "enhancement"? To make a new one, add --create.' in sentence
    assert told(place, "show", name)["task"]["labels"] == []
    assert told(place, "label", name, "--add", "new-one", "--create")["task"]["labels"] == [
        "new-one"
    ]


def test_a_closed_standard_input_gives_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a text is to come from there that is a sentence, and no defect."""
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(Refused, match="Standard input is closed; nothing was done"):
        text_from(None, "-", "TEXT", "--file")
