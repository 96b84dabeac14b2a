"""How far one staged Stop goes through the product: a stage was completed, and the agent is told the next.

Counted as in `test_one_way`. There is no claim: the walk is the staged workflow's alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lifecycle.core.stage_names import Detected
from lifecycle.hooks import wake
from tests.app.test_one_way import Way, here, walked  # noqa: F401 -- `here` is a fixture
from tests.conftest import Place
from tests.e2e.staged import LABEL, marker
from tests.stages.written import Written
from tests.trackers.beads import simulated

Stop = Callable[[Detected], Way]
"""Ends a response with the marker of a completed stage, and tells how far that went."""


@pytest.fixture
def stop(
    request: pytest.FixtureRequest,
    here: Place,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Stop:
    """A session of Claude Code's that claimed a task of the tracker that the test names."""
    path = here.root / ".lifecycle.toml"
    path.write_text(f'[stages]\nuse = true\n[tracker]\nuse = "{request.param}"\n')
    minute_ago = time.time() - 60  # its date says all that the guards need
    os.utime(path, (minute_ago, minute_ago))
    for name, value in {"CLAUDECODE": "1", "CLAUDE_PID": str(os.getppid())}.items():
        monkeypatch.setenv(name, value)
    if request.param == "beads":
        programs = tmp_path / "bin"
        simulated.install(programs)
        simulated.workspace(here.root, programs)
        simulated.allow(here.root, here.environment)
        monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
        task = simulated.create(programs, here.root, "Fix the race", LABEL)
        claim = f"bd update {task} --claim"
    else:
        task = here.tree().world.tracker.create("key", title="Fix the race", labels=(LABEL,)).id
        claim = f"lifecycle tracker claim {task}"
    session = Written().human("Do it").bash(claim, "claimed")

    def run(completed: Detected) -> Way:
        text = marker(completed)
        event = {
            "hook_event_name": "Stop",
            "session_id": "session",
            "transcript_path": session.says(text).at(here.root.parent),
            "last_assistant_message": text,
        }
        return walked(lambda: wake.run("on-stop", event), monkeypatch)

    return run


COUNTED = {"memory": 53, "beads": 55}
"""By tracker: the most modules of ours of which a function runs."""

TO_TESTING = {"memory": 54, "beads": 58}
"""The same where TESTING comes next: its instruction names what runs the tests, as platforms may tell,
whose patterns are judged before they are used."""


@pytest.mark.parametrize(("stop", "most"), COUNTED.items(), indirect=["stop"])
def test_the_stop_after_the_settings_were_changed(stop: Stop, most: int) -> None:
    """Settings are read once and kept for the guards; the tracker is asked, and the answer is kept."""
    way = stop(Detected.CODING_COMPLETE)
    assert way.calls("settings.config", "load") == 1
    assert way.written == ["stage-words", "staged", "tasks.json", "session.json"]
    assert [program for program in way.programs if program.startswith("git ")] == []
    assert len(way.modules) <= most
    assert len(way.deepest) <= 12


@pytest.mark.parametrize(("stop", "most"), TO_TESTING.items(), indirect=["stop"])
def test_the_next_stop(stop: Stop, most: int) -> None:
    """What was kept is believed: one task is asked for, one file is written, no git is started."""
    stop(Detected.CODING_COMPLETE)
    way = stop(Detected.REQUIREMENTS_REVIEWED)
    assert way.calls("settings.config", "load") == 1
    assert way.written == ["session.json"]
    assert [program for program in way.programs if program.startswith("git ")] == []
    assert len(way.programs) <= 2  # a task of bd's, and whether its database has a remote
    assert len(way.modules) <= most
    assert len(way.deepest) <= 11
