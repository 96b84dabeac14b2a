"""Is the workflow on here? From the settings, for the guards, and without a word where it is not."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from lifecycle.evidence.runners import runner_table
from lifecycle.stages.session import activation
from lifecycle.storage import regular_files, workflow_marks
from lifecycle.storage.regular_files import StrangeFileError
from lifecycle.storage.workflow_files import WorkflowFiles
from tests.stages.bare_world import wanted

ON = "[stages]\nuse = true\n"


def written(root: Path, text: str) -> None:
    """The settings, as old as after a minute."""
    path = root / regular_files.CONFIG_FILE
    path.write_text(text)
    moment = time.time() - 60
    os.utime(path, (moment, moment))


def test_on_off_and_on_again(tmp_path: Path) -> None:
    """Each change of the file is read once, and the guards are told."""
    assert not wanted(tmp_path)
    assert not (tmp_path / ".lifecycle").exists()
    written(tmp_path, ON + 'test = ["make verify"]\nreview = "/look"\n')
    assert wanted(tmp_path)
    assert workflow_marks.is_known(str(tmp_path))
    assert workflow_marks.is_due(str(tmp_path), workflow_marks.DUE, time.time())
    said = json.loads((tmp_path / ".lifecycle/staged").read_text())
    assert said == {"use": True, "test": ["make verify"], "review": "/look"}
    assert "make verify\n" in (tmp_path / ".lifecycle/stage-words").read_text()
    written(tmp_path, "[stages]\nuse = false\n")
    assert not workflow_marks.is_known(str(tmp_path)) or not wanted(tmp_path)
    assert not wanted(tmp_path)
    assert not (tmp_path / ".lifecycle/stage-due").exists()


def test_switched_off_here_it_stays_off_whatever_the_settings_say(tmp_path: Path) -> None:
    """`stage off` outlives an edit of the settings."""
    written(tmp_path, ON)
    assert wanted(tmp_path)
    WorkflowFiles(tmp_path).switch(off=True)
    written(tmp_path, ON + "max_blocks = 3\n")
    assert not wanted(tmp_path)
    assert not (tmp_path / ".lifecycle/stage-due").exists()
    WorkflowFiles(tmp_path).switch(off=False)
    assert wanted(tmp_path)


@pytest.mark.parametrize("text", ["[stages]\nuse = 7\n", "{", "[stages]\nnosuch = 1\n", "\x00"])
def test_settings_that_cannot_be_used_switch_it_off_and_are_read_once(
    tmp_path: Path, text: str
) -> None:
    """Other hooks say why; a stop costs nothing until they are mended."""
    written(tmp_path, text)
    assert not wanted(tmp_path)
    assert workflow_marks.is_known(str(tmp_path))
    written(tmp_path, ON)
    os.utime(tmp_path / regular_files.CONFIG_FILE)
    assert wanted(tmp_path)


def test_a_link_in_place_of_our_folder_is_not_written_through(tmp_path: Path) -> None:
    """It leads to what is not ours."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".lifecycle").symlink_to(tmp_path / "elsewhere")
    written(tmp_path, ON)
    with pytest.raises(StrangeFileError):
        wanted(tmp_path)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_every_known_runner_and_every_configured_command_has_a_word() -> None:
    """The guard lets each of them through, as it stands in JSON; what it cannot tell, it lets through."""
    commands = ("./verify --all", 'sh -c "make \\"x\\" y"', "tests\\run.cmd")
    words = activation.words_of(commands)
    for command in (*runner_table.names(), *commands):
        sent = json.dumps(command)
        assert any(word in sent for word in words), command
    assert activation.words_of(("\N{SNOWMAN}",)) == [":"]
    assert all(word == word.strip() and len(word) > 1 for word in words)
