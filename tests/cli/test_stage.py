"""`lifecycle stage`: detecting, showing, setting, switching."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from lifecycle.storage import workflow_marks
from tests.cli.outcome import ok, refused
from tests.conftest import COMMAND, Place
from tests.trackers.beads import simulated

SOAKED = pytest.mark.soak(
    "cli/test_stage.py::test_the_designs_own_examples",
    "stages/test_activation.py::test_on_off_and_on_again",
)

SESSION = "11111111-aaaa-4bbb-8ccc-000000000001"


@pytest.fixture
def tree(place: Place, tmp_path: Path) -> Place:
    """A worktree whose tasks are in the simulated bd, with the workflow on."""
    simulated.install(tmp_path / "bin")
    simulated.workspace(place.root, tmp_path / "bin")
    simulated.allow(place.root, place.environment)
    (place.root / ".lifecycle.toml").write_text("[stages]\nuse = true\n")
    moment = time.time() - 60
    os.utime(place.root / ".lifecycle.toml", (moment, moment))
    place.environment["PATH"] = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return place


def task(place: Place, title: str, *labels: str) -> str:
    """Somebody writes a task down."""
    return simulated.create(place.root.parent / "bin", place.root, title, *labels)


DESIGN = [
    ("some text ::: WORKFLOW_STAGE: CODING_COMPLETE :::", "CODING_COMPLETE"),
    ("ran bd close with success", "ISSUE_CLOSED"),
    ("working on implementation", "UNKNOWN"),
]
"""The design's own unit tests, word for word."""


@pytest.mark.parametrize(("text", "stage"), DESIGN)
def test_the_designs_own_examples(tmp_path: Path, text: str, stage: str) -> None:
    """What comes in on stdin, in any folder, is told in one word; as JSON with the reason."""
    command = f'echo "{text}" | "{COMMAND}" stage detect'
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{stage}\n", "")
    done = subprocess.run(
        [COMMAND, "stage", "detect", "--json"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["stage"] == stage


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff" * 5_000,
        b"x" * 20_000_000,
        b"[" * 100_000,
        "\ud800".encode("utf-16", "surrogatepass"),
    ],
    ids=["empty", "binary", "huge", "deep", "surrogate"],
)
def test_any_input_is_survived(content: bytes) -> None:
    """Nothing that is known: UNKNOWN, exit 0."""
    done = subprocess.run(
        [COMMAND, "stage", "detect"], input=content, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"UNKNOWN\n", b"")


@SOAKED
def test_a_marker_at_the_end_of_much_text_is_found() -> None:
    """The end is what counts, however much comes before."""
    content = b"word " * 2_000_000 + b"\n::: WORKFLOW_STAGE: TESTS_PASSING :::\n"
    done = subprocess.run(
        [COMMAND, "stage", "detect"], input=content, capture_output=True, check=False
    )
    assert done.stdout == b"TESTS_PASSING\n"


@SOAKED
def test_status_says_why_it_is_not_active(tree: Place) -> None:
    """No task, switched off, not configured, a tracker that is not there: a sentence each, exit 0."""
    assert ok(tree.cli("stage", "status")) == (
        "Not active: there is no open task with the label auto-workflow.\n"
    )
    task(tree, "Other", "bug")
    data = json.loads(ok(tree.cli("stage", "status", "--json")))
    assert (data["active"], data["tasks"]) == (False, [])
    ok(tree.cli("stage", "off"))
    assert "lifecycle stage on" in ok(tree.cli("stage", "status"))
    ok(tree.cli("stage", "on"))
    (tree.root.parent / "bin/bd").unlink()
    (tree.root / ".lifecycle.toml").write_text('[stages]\nuse = true\n[tracker]\nuse = "beads"\n')
    assert "the tracker does not answer" in ok(tree.cli("stage", "status"))
    (tree.root / ".lifecycle.toml").unlink()
    assert "lifecycle init --stages" in ok(tree.cli("stage", "status"))


def test_status_shows_the_line_with_the_stage_in_it(tree: Place) -> None:
    """Set by hand it is shown at once: the task, the line, the marker, the counts."""
    one = task(tree, "First thing", "auto-workflow")
    shown = ok(tree.cli("stage", "status"))
    assert shown.splitlines()[0] == "Active: 1 open task with the label auto-workflow."
    assert "No session has been led here yet" in shown
    said = ok(tree.cli("stage", "set", "TESTING", "--task", one, CLAUDE_CODE_SESSION_ID=SESSION))
    assert (
        said
        == f"At its next stop, session {SESSION} will be told that it is at TESTING of {one}.\n"
    )
    for asks in ({}, {"CLAUDE_CODE_SESSION_ID": SESSION}):
        assert ok(tree.cli("stage", "status", **asks)).splitlines()[1:] == [
            f'Session {SESSION}, task {one} "First thing".',
            "CODING → REQUIREMENTS_REVIEW → [TESTING] → ORACLE_REVIEW → COMMIT_CLOSE → NEXT_TASK",
            "It ends with ::: WORKFLOW_STAGE: TESTS_PASSING :::",
            "Told to go on 0 of 50 times.",
            "Note: no hook is set up here, so no session is led; run: lifecycle init --stages",
        ]
    data = json.loads(ok(tree.cli("stage", "status", "--json")))
    assert (data["task"], data["stage"], data["blocks"]) == (one, "TESTING", 0)


@SOAKED
def test_a_stage_that_a_person_sets_waits_for_the_next_session(tree: Place) -> None:
    """On a terminal, where no session was led yet."""
    task(tree, "First", "auto-workflow")
    said = ok(tree.cli("stage", "set", "ORACLE_REVIEW"))
    assert (
        said
        == "At its next stop, the session that stops next will be told that it is at ORACLE_REVIEW.\n"
    )
    assert (tree.root / ".lifecycle/stages" / f"{workflow_marks.ANY}.json").exists()
    transcript = tree.root.parent / "t.jsonl"
    line = {"type": "user", "uuid": "1", "message": {"role": "user", "content": "go"}}
    transcript.write_text(json.dumps(line, separators=(",", ":")) + "\n")
    event = {
        "hook_event_name": "Stop",
        "session_id": SESSION,
        "transcript_path": str(transcript),
        "last_assistant_message": "",
    }
    told = json.loads(tree.hook("on-stop", event).stdout)["reason"]
    assert "CURRENT STAGE: ORACLE_REVIEW" in told
    assert not (tree.root / ".lifecycle/stages" / f"{workflow_marks.ANY}.json").exists()
    assert tree.hook("on-stop", event).stdout == ""


@SOAKED
def test_what_cannot_be_set_is_refused_with_a_sentence(tree: Place) -> None:
    """An unknown task, one without the label, a workflow that is off; a stage that there is not: usage."""
    other = task(tree, "Other", "bug")
    assert "nothing was changed" in refused(tree.cli("stage", "set", "TESTING", "--task", other))
    refused(tree.cli("stage", "set", "TESTING", "--task", "demo-nosuch"))
    assert tree.cli("stage", "set", "DANCING").returncode == 2
    ok(tree.cli("stage", "off"))
    assert "lifecycle stage on" in refused(tree.cli("stage", "set", "TESTING"))
    (tree.root / ".lifecycle.toml").unlink()
    assert "init --stages" in refused(tree.cli("stage", "set", "TESTING"))
    assert "nothing was changed" in refused(tree.cli("stage", "on"))
    assert "if lifecycle init --stages has set it up" in ok(tree.cli("stage", "off"))
    assert (tree.root / ".lifecycle/stage-off").exists()


@SOAKED
def test_a_folder_that_came_with_the_repository_is_not_written_to(tree: Place) -> None:
    """A `.lifecycle/` that git tracks is nobody's here."""
    (tree.root / ".lifecycle").mkdir()
    (tree.root / ".lifecycle/stage-off").write_text("")
    tree.git("add", "-f", ".lifecycle/stage-off")
    for verb in (["off"], ["on"], ["set", "TESTING"]):
        assert "tracked by git" in refused(tree.cli("stage", *verb))


def test_outside_of_a_worktree(tree: Place, tmp_path: Path) -> None:
    """One sentence, exit 1; only `detect` needs none."""
    for verb in ("status", "off", "on"):
        done = subprocess.run(
            [COMMAND, "stage", verb], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert "is in no git worktree" in refused(done)
