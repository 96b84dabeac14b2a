"""What can go wrong at a stop of the staged workflow: the agent may always stop, and the log says why."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lifecycle.core.stage_names import Detected
from lifecycle.settings.resources import hook_script
from tests.e2e.staged import LABEL, Ground, marker
from tests.repeated import soaked

SOAKED = pytest.mark.soak(
    "e2e/test_stages_errors.py::test_row_tracker_program_not_found",
    "stages/test_transcript_broken.py::test_what_cannot_be_read_gives_nothing",
    "hooks/test_client_contract.py::test_stdin_that_never_comes_is_not_waited_for",
)

CODED = marker(Detected.CODING_COMPLETE)
CHOSEN = (("stages/tasks.json", False), ("stages/tasks.json", True), ("stages.lock", False))
"""Of our own files the one that is read as JSON, and the lock; `test_our_files.py` has the marks."""


def inner(ground: Ground) -> list[str]:
    """The product's own log."""
    path = ground.here / "log"
    return path.read_text().splitlines() if path.exists() else []


@SOAKED
@pytest.mark.parametrize("kind", ["missing", "empty name", "folder", "pipe", "unreadable"])
def test_row_invalid_transcript_path(ground: Ground, kind: str, tmp_path: Path) -> None:
    """No file, a folder, a pipe: the agent may stop, and nobody is asked anything."""
    ground.task("First")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    paths = {
        "missing": "/nowhere/at/all.jsonl",
        "empty name": "",
        "folder": str(tmp_path),
        "pipe": str(pipe),
        "unreadable": "\0",
    }
    before = ground.calls()
    for _ in range(2):
        assert ground.agent().stops(CODED, transcript_path=paths[kind]).is_silent
    assert ground.calls() == before
    assert ground.log()[-2:] == [
        "There is no transcript that could be read",
        "The agent may stop",
    ]


def test_row_tracker_program_not_found(ground: Ground) -> None:
    """Configured and not installed: the agent may stop, and both logs have the sentence."""
    ground.task("First")
    ground.settings('[tracker]\nuse = "beads"\n')
    (ground.bin / "bd").unlink()
    agent = ground.agent()
    agent.prompt("Do the first one")
    assert agent.stops(CODED).is_silent
    assert "bd" in ground.log()[-1]
    assert ground.log()[-1].endswith("The agent may stop.")
    assert any("on-stop: stages: " in line for line in inner(ground))


def test_tasks_of_a_tracker_whose_program_is_gone_are_not_looked_for_on_github(
    ground: Ground,
) -> None:
    """A PATH without bd in the middle of the work: the log says so, and bd leads on once it is there again.

    GitHub, which has no such task, would have ended the workflow for five minutes.
    """
    task = ground.task("First")
    agent = ground.agent()
    agent.prompt(f"/bd-start {task}")
    assert task in agent.stops(CODED).model
    (ground.bin / "bd").rename(ground.bin / "gone")
    assert agent.stops(marker(Detected.REQUIREMENTS_REVIEWED)).is_silent
    why = ".beads is here, and bd is not on PATH, so no task was read or changed; install it"
    assert why in ground.log()[-1]
    assert any(f"on-stop: stages: {why}" in line for line in inner(ground))
    (ground.bin / "gone").rename(ground.bin / "bd")
    assert "TESTING" in agent.stops(marker(Detected.REQUIREMENTS_REVIEWED)).model


@SOAKED
def test_row_no_workflow_issues(ground: Ground) -> None:
    """No task has the label: the agent may stop, and the next stops end in the shell."""
    ground.task("Other", "bug")
    agent = ground.agent()
    agent.prompt("Do something")
    assert agent.stops(CODED).is_silent
    assert ground.log()[-2:] == ["No workflow issues", "The agent may stop"]
    lines, calls = len(ground.log()), ground.calls()
    assert agent.stops(CODED).is_silent
    assert (len(ground.log()), ground.calls()) == (lines, calls)


@SOAKED
def test_row_timeout_on_stdin_read(ground: Ground) -> None:
    """A client that sends nothing and closes nothing: empty input, after a second, and exit 0."""
    ground.task("First")
    ground.agent().stops("A first look.")
    agent = ground.agent()
    process = subprocess.Popen(
        [str(hook_script("on-stop"))],
        cwd=ground.root,
        env=agent.session.variables(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.wait(30) == 0
    assert process.stdin is not None
    process.stdin.close()
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        assert (process.stdout.read(), process.stderr.read()) == (b"", b"")
    assert ground.log()[-1] == "The agent may stop"


@SOAKED
def test_row_stage_detection_fails(ground: Ground) -> None:
    """An answer to an instruction that says nothing of a stage: asked once, until something changes."""
    ground.task("First")
    agent = ground.agent()
    agent.prompt("Do the first one")
    assert "REQUIREMENTS_REVIEW" in agent.stops(CODED).model
    asked = agent.stops("I am not sure about this.")
    assert asked.model.startswith("Unable to determine current workflow stage.")
    assert agent.stops("Still not sure.").is_silent
    agent.runs("ls", "code.py")
    agent.prompt("So what?")
    assert agent.stops("I do not know.").is_silent  # a person is answered


@SOAKED
def test_row_agent_actively_working(ground: Ground) -> None:
    """Tools were used and nothing is complete: the agent may stop, and the tracker is not asked."""
    ground.task("First")
    agent = ground.agent()
    agent.prompt("Do the first one")
    agent.stops("A first look.")
    calls = ground.calls()
    agent.edits("code.py", "one = 1\n")
    for _ in range(3):
        agent.runs("ls", "code.py")
        assert agent.stops("I go on with the second half.").is_silent
        assert "IN_PROGRESS" in ground.log()[-2]
    assert ground.calls() == calls


@SOAKED
def test_path_the_tracker_dies_in_the_middle(ground: Ground) -> None:
    """bd goes between two stages: the agent may stop; with bd back the same stop goes on."""
    ground.task("First")
    agent = ground.agent()
    agent.prompt("Do the first one")
    assert "REQUIREMENTS_REVIEW" in agent.stops(CODED).model
    ground.settings('[tracker]\nuse = "beads"\n')
    program = (ground.bin / "bd").read_text()
    (ground.bin / "bd").write_text("#!/bin/sh\nkill -9 $$\n")
    ground.forget_the_minute()
    text = marker(Detected.REQUIREMENTS_REVIEWED)
    assert agent.stops(text).is_silent
    assert ground.log()[-1].endswith("The agent may stop.")
    (ground.bin / "bd").write_text(program)
    assert "CURRENT STAGE: TESTING" in agent.stops(text).model


@SOAKED
def test_path_all_labels_are_removed(ground: Ground) -> None:
    """Nobody has the label any more: within a minute the workflow is inactive, and says nothing."""
    task = ground.task("First")
    agent = ground.agent()
    agent.prompt("Do the first one")
    assert "REQUIREMENTS_REVIEW" in agent.stops(CODED).model
    ground.bd("label", "remove", task, LABEL)
    ground.forget_the_minute()
    assert agent.stops(marker(Detected.REQUIREMENTS_REVIEWED)).is_silent
    assert "No workflow issues" in ground.log()
    calls = ground.calls()
    assert agent.stops("Something else.").is_silent
    assert ground.calls() == calls
    ground.bd("label", "add", task, LABEL)
    assert "Active" in ground.place.cli("stage", "status", **agent.environment).stdout
    assert "CURRENT STAGE: TESTING" in agent.stops(marker(Detected.REQUIREMENTS_REVIEWED)).model


@SOAKED
@pytest.mark.parametrize("state", [Detected.REQUIREMENTS_REVIEWED, Detected.ISSUE_CLOSED])
def test_path_the_label_of_this_task_is_removed(ground: Ground, state: Detected) -> None:
    """Other tasks have it still: this session is led no more, which `stage status` says; others are.

    That the task is in no list of labelled ones does not show that it is closed.
    """
    first, second = ground.task("First"), ground.task("Second")
    agent, other = ground.agent(), ground.agent()
    for who, task in ((agent, first), (other, second)):
        who.prompt(f"Do {task}")
        who.runs(f"bd update {task} --claim")
        assert f"bd show {task}" in who.stops(CODED).model
    ground.bd("label", "remove", first, LABEL)
    ground.forget_the_minute()
    assert agent.stops(marker(state)).is_silent
    names = {**agent.environment, "CLAUDE_CODE_SESSION_ID": agent.id}
    shown = ground.place.cli("stage", "status", **names).stdout
    assert f"is no longer led: {first} no longer has the label {LABEL}." in shown
    assert "It ends with" not in shown
    assert "CURRENT STAGE: TESTING" in other.stops(marker(Detected.REQUIREMENTS_REVIEWED)).model


@SOAKED
@pytest.mark.parametrize(
    "content",
    [b"\x00\xff" * 500, b"{" * 100_000, b"not json\n" * 50, b"[1]\n7\nnull\n", b'{"type":"user"'],
)
def test_path_the_transcript_is_corrupt(ground: Ground, content: bytes) -> None:
    """Whatever lies there: exit 0, nothing that is not known is said, and the log says why."""
    ground.task("First")
    agent = ground.agent()
    agent.transcript.write_bytes(content)
    agent.is_lagging = True
    reply = agent.stops("Hello.")
    assert reply.is_silent
    assert ground.log() == [
        "Hook triggered",
        "There is no transcript that could be read",
        "The agent may stop",
    ]


@pytest.mark.parametrize(
    ("name", "as_folder"),
    [
        (pytest.param if (name, as_folder) in CHOSEN else soaked)(name, as_folder)
        for name in (
            *("stages/tasks.json", "staged", "stage-due", "stage-words", "stage-off"),
            *("stages", "stages.lock"),
        )
        for as_folder in (False, True)
    ],
)
def test_broken_files_of_our_own_are_survived(
    ground: Ground, name: str, *, as_folder: bool
) -> None:
    """Garbage, or a folder, in place of anything that is kept: exit 0 at each event.

    Once it is gone the next session is led as ever: a hook that does nothing does not survive this.
    """
    ground.task("First")
    path = ground.here / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if as_folder:
        path.mkdir()
    else:
        path.write_bytes(b"\x00garbage")
    agent = ground.agent()
    agent.starts("startup")
    agent.prompt("Do the first one")
    agent.runs("pytest", "1 passed")
    for _ in range(2):
        assert agent.stops(CODED).code == 0
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    ground.forget_the_minute()
    agent = ground.agent()
    agent.starts("startup")
    agent.prompt("Do the first one")
    assert "REQUIREMENTS_REVIEW" in agent.stops(CODED).model
