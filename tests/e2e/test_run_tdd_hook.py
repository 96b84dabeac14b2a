"""Edits of code before red, as the client asks for them: let through, told, or refused."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from lifecycle.evidence.outcomes import Counts, Outcome
from lifecycle.evidence.records import EvidenceRoom, RunRecord
from lifecycle.run.state import Led, Story
from lifecycle.run.table import RunStatus, StoryStatus
from tests.conftest import Place
from tests.e2e.client import Heard, Session
from tests.run.run_ground import RunGround

SOAKED = pytest.mark.soak(
    "e2e/test_run_tdd_hook.py::test_an_edit_of_code_is_refused_until_a_test_was_red",
    "run/test_tdd_moves.py::test_what_is_no_red",
)

ONE = "11111111-aaaa-4bbb-8ccc-000000000001"
TWO = "22222222-aaaa-4bbb-8ccc-000000000002"
STOP = (
    "STOP. TDD violation detected.\nCurrent phase: none\nExpected: red (write failing test first)\n"
    "Developer must write a failing test before implementation.\n"
)


def enforced(place: Place, how: str, **story: Any) -> RunGround:
    """A run that session ONE leads, with a story at work, where red is enforced so."""
    ground = RunGround(place.root)
    given = {"status": StoryStatus.IN_PROGRESS, "started": 10.0, **story}
    run = replace(ground.begun(), stories=(Story("S1", "a", **given),), led=(Led(ONE, 1.0),))
    ground.kept(run)
    (place.root / ".lifecycle.toml").write_text(f'[tdd]\nenforce = "{how}"\n')
    return ground


def edit(place: Place, path: str = "src/app.py", session: str = ONE, tool: str = "Edit") -> Heard:
    """What the client hears before it edits a file."""
    key = "notebook_path" if tool == "NotebookEdit" else "file_path"
    given = {key: str(place.root / path)}
    return Session(place, session).run(
        "pre-tool-use", "PreToolUse", tool_name=tool, tool_input=given, tool_use_id="t1"
    )


def test_an_edit_of_code_is_refused_until_a_test_was_red(place: Place) -> None:
    """In the design's words; after a test failed by its assertion nothing is said any more.

    This is so, too, if the clock was set back since the story began.
    """
    enforced(place, "deny")
    for tool in ("Write", "Edit", "MultiEdit", "NotebookEdit"):
        heard = edit(place, tool=tool)
        assert heard.denied.startswith(STOP)
        assert "lifecycle run tdd waive S1 --reason" in heard.denied
        assert (heard.model, heard.person) == ("", "")
    red = RunRecord(20.0, "pytest", Outcome.FAILED, "tree", counts=Counts(0, 1))
    EvidenceRoom(place.root).add(red)
    assert edit(place).is_silent
    enforced(place, "deny", started=30.0)
    assert edit(place).is_silent


@SOAKED
def test_a_warning_is_told_and_the_edit_goes_on(place: Place) -> None:
    """As context for the agent."""
    enforced(place, "warn")
    heard = edit(place)
    assert heard.model.startswith(STOP)
    assert heard.denied == ""


@SOAKED
@pytest.mark.parametrize(
    "path", ["tests/test_app.py", "src/app.test.ts", "README.md", "pyproject.toml", "../other.py"]
)
def test_tests_documents_and_configuration_are_free(place: Place, path: str) -> None:
    """And what lies outside of the worktree is nobody's business here."""
    enforced(place, "deny")
    assert edit(place, path).is_silent


@SOAKED
@pytest.mark.parametrize(
    ("how", "story", "session"),
    [
        ("off", {}, ONE),
        ("deny", {"status": StoryStatus.PENDING}, ONE),
        ("deny", {"waived": "documents"}, ONE),
        ("deny", {}, TWO),
        ("deny", {}, ""),
    ],
)
def test_who_is_not_led_to_red_edits_as_ever(
    place: Place, how: str, story: dict[str, Any], session: str
) -> None:
    """Where it is off, where no story is at work or none needs red, and a session that leads no run."""
    enforced(place, how, **story)
    assert edit(place, session=session).is_silent


@SOAKED
def test_a_run_that_was_stopped_refuses_no_edit(place: Place) -> None:
    """Nobody works on its story: what the user asks for meanwhile is another matter."""
    ground = enforced(place, "deny")
    ground.kept(replace(ground.store.demanded(), status=RunStatus.STOPPED))
    assert edit(place).is_silent


@SOAKED
def test_a_run_that_cannot_be_read_lets_the_edit_through(place: Place) -> None:
    """A hook never keeps the agent from its work because of a broken file."""
    ground = enforced(place, "deny")
    ground.state.write_text("{")
    assert edit(place).is_silent
