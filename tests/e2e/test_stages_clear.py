"""`/clear` between two tasks: a turn of its own begins with the next one's instruction, once."""

from __future__ import annotations

import json
import re

import pytest

from lifecycle.core.stage_names import Detected
from lifecycle.settings.resources import top_folder
from lifecycle.setup.init.hook_table import WIRES, groups, local_form
from tests.e2e.agent import Agent
from tests.e2e.client import Heard, ended, heard
from tests.e2e.staged import Ground, marker
from tests.factories import client

SOAKED = pytest.mark.soak(
    "e2e/test_stages_clear.py::test_a_turn_begins_with_the_next_task",
    "stages/test_decide.py::test_a_completed_stage_gives_the_next_ones_instruction",
)

SITS = client()
"""What hooks see in a client in front of which a person sits."""

PRINTS = client(attended=False)
"""What they see with `-p`."""


UNSAID = {**client(), "CLAUDE_CODE_SESSION_ATTENDED": "", "CLAUDE_CODE_ENTRYPOINT": ""}
"""What they see in a client that says nothing of it."""


def wired(ground: Ground, *names: str) -> None:
    """The person's own settings have these scripts at SessionStart."""
    wires = [wire for wire in WIRES if wire.name in names]
    hooks = {"SessionStart": groups("SessionStart", local_form(top_folder("hooks")), wires)}
    path = ground.root / ".claude/settings.local.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"hooks": hooks}))


@pytest.fixture
def both(ground: Ground) -> Ground:
    """A worktree with both hooks of a start."""
    wired(ground, "session-start", "on-clear")
    return ground


def led(ground: Ground, task: str, **environment: str) -> Agent:
    """An agent that closed this task, and was told that the session may be cleared."""
    agent = ground.agent()
    agent.environment |= environment
    agent.prompt(f"/bd-start {task}")
    assert "CURRENT STAGE: COMMIT_CLOSE" in agent.stops(marker(Detected.ORACLE_APPROVED)).model
    ground.bd("close", task)
    agent.runs(f"bd close {task} --reason done", f"Closed {task}: done")
    assert "CURRENT STAGE: NEXT_TASK" in agent.stops(marker(Detected.ISSUE_CLOSED)).model
    return agent


def wakes(agent: Agent, source: str = "clear") -> Heard:
    """The hook in the background, at this start."""
    return agent.session.run("on-clear", "SessionStart", source=source)


def taken_in(agent: Agent, reply: Heard) -> None:
    """What the client makes of a wake: a prompt of its own, with which a turn begins."""
    agent.wakes(f'Stop hook blocking error from command "SessionStart:clear": {reply.model}')


@pytest.mark.parametrize("is_first", [True, False])
def test_a_turn_begins_with_the_next_task(both: Ground, is_first: bool) -> None:
    """Whichever of the two hooks is first, the wake has the instruction, and session-start is silent."""
    first, second = both.task("First", priority=1), both.task("Second")
    again = led(both, first, **SITS).cleared()
    said = [again.starts("clear")] if is_first else []
    reply = wakes(again)
    said += [] if is_first else [again.starts("clear")]
    assert (reply.code, reply.woke) == (2, True)
    assert reply.model.startswith("Session cleared. Ready for next task.")
    assert "\nCURRENT STAGE: CODING\n" in reply.model
    assert second in reply.model
    assert "CURRENT STAGE" not in said[0].model
    taken_in(again, reply)
    again.edits("code.py", "two = 2\n")
    told = again.stops(marker(Detected.CODING_COMPLETE)).model
    assert "CURRENT STAGE: REQUIREMENTS_REVIEW" in told
    assert f"bd show {second}" in told


@SOAKED
def test_hooks_that_are_installed_twice_wake_once(both: Ground) -> None:
    """Four copies at the same start: one wake."""
    first = both.task("First", priority=1)
    both.task("Second")
    again = led(both, first, **SITS).cleared()
    more = [
        again.session.launch("on-clear", "SessionStart", source="clear", transcript_path="/none")
        for _ in range(4)
    ]
    with ended(*more):
        replies = [heard(process) for process in more]
    assert sorted(reply.code for reply in replies) == [0, 0, 0, 2]
    assert sum(not reply.is_silent for reply in replies) == 1


@SOAKED
def test_where_it_prints_session_start_says_it(both: Ground) -> None:
    """With `-p`, and where the client does not say who uses it: context as ever, and no exit 2."""
    first = both.task("First", priority=1)
    second = both.task("Second")
    for environment in (PRINTS, UNSAID):
        again = led(both, first, **environment).cleared()
        assert (wakes(again).code, wakes(again).is_silent) == (0, True)
        told = again.starts("clear").model
        assert told.startswith("Session cleared. Ready for next task.")
        assert second in told
        both.bd("update", first, "--status", "open")
        both.forget_the_minute()


@SOAKED
def test_a_session_that_was_not_led_is_left_alone(both: Ground) -> None:
    """Cleared, a stranger's session begins nothing; it reads the one line of any start."""
    both.task("First")
    agent = both.agent()
    agent.environment |= SITS
    agent.prompt("What is in this repository?")
    agent.stops("Code.")
    again = agent.cleared()
    assert wakes(again).is_silent
    told = again.starts("clear").model
    assert "CURRENT STAGE" not in told
    assert "1 task is ready with the label auto-workflow" in told


@SOAKED
def test_in_the_middle_of_a_task_no_turn_begins(both: Ground) -> None:
    """Who clears there has something in mind: the stage is context for what the person says next."""
    task = both.task("First", priority=1)
    both.task("Second")
    agent = both.agent()
    agent.environment |= SITS
    agent.prompt(f"/bd-start {task}")
    agent.stops(marker(Detected.CODING_COMPLETE))
    again = agent.cleared()
    assert wakes(again).is_silent
    assert "CURRENT STAGE: REQUIREMENTS_REVIEW" in again.starts("clear").model
    assert wakes(again).is_silent


@SOAKED
def test_with_no_task_left_or_at_another_start_no_turn_begins(both: Ground) -> None:
    """Nothing is ready; or the session was resumed, compacted or is new: silence and exit 0."""
    first, second = both.task("First", priority=1), both.task("Second")
    again = led(both, first, **SITS).cleared()
    for source in ("startup", "resume", "compact", "fork", ""):
        assert wakes(again, source).is_silent
    both.bd("close", second)
    both.forget_the_minute()
    assert wakes(again).is_silent


@pytest.mark.parametrize("how", ["off", "no settings", "never asked for"])
def test_where_the_workflow_is_off_it_ends_in_the_shell(both: Ground, how: str) -> None:
    """No Python is started: the command would fail loudly."""
    loud = both.root.parent / "loud"
    loud.write_text("#!/bin/sh\necho started >&2\nexit 2\n")
    loud.chmod(0o755)
    both.task("First")
    agent = both.agent()
    agent.stops("A first look.")
    if how == "off":
        assert both.place.cli("stage", "off", **agent.environment).returncode == 0
    else:
        (both.root / ".lifecycle.toml").unlink()
    if how == "never asked for":
        (both.here / "staged").unlink()
    agent.environment |= {**SITS, "LIFECYCLE_BIN": str(loud)}
    assert wakes(agent).is_silent
    both.settings("max_blocks = 7\n")
    assert wakes(agent).woke, "changed settings are read"


def test_the_wake_is_one_that_the_client_takes(both: Ground) -> None:
    """All on stderr, no more than a hook may say, and no tag that would end the client's own frame."""
    first = both.task("First", priority=1)
    both.task("Second")
    reply = wakes(led(both, first, **SITS).cleared())
    assert len(reply.model) < 9_000
    assert not re.search(r"</?(?:task-notification|system-reminder)", reply.model)
