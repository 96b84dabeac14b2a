"""The quick path of a stop: what it settles, what it leaves to others, and how little it loads."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lifecycle.core.stage_names import Stage
from lifecycle.hooks import quick_stop
from lifecycle.stages.decisions.decide import Memory
from lifecycle.stages.session.session_record import SessionRecord
from lifecycle.stages.session.session_record import save as keep
from lifecycle.stages.transcript import stop_input
from lifecycle.storage.workflow_files import WorkflowFiles

SESSION = "11111111-aaaa-4bbb-8ccc-000000000001"
HEAVY = {
    *(
        "dataclasses",
        "pathlib",
        "typing",
        "logging",
        "tomllib",
        "subprocess",
        "hashlib",
        "tempfile",
    ),
    *("inspect", "ast", "urllib", "sqlite3", "click", "filelock", "contextlib"),
    *(
        "lifecycle.hooks.wake",
        "lifecycle.hooks.client_contract",
        "lifecycle.settings.running_client",
        "lifecycle.core.plan",
        "lifecycle.storage.store",
        "lifecycle.settings.config",
    ),
}
"""What would cost as much as the look itself."""


@dataclass
class Scene:
    """A worktree in which the workflow is active, and a transcript."""

    root: Path
    lines: list[dict[str, Any]] = field(default_factory=list)

    @property
    def transcript(self) -> Path:
        """The file."""
        return self.root.parent / "transcript.jsonl"

    def says(self, text: str) -> None:
        """The agent says something."""
        message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
        self.lines.append({"type": "assistant", "uuid": str(len(self.lines)), "message": message})

    def hears(self, text: str, **more: Any) -> None:
        """The agent is told something."""
        message = {"role": "user", "content": text}
        entry = {"type": "user", "uuid": str(len(self.lines)), "message": message, **more}
        self.lines.append(entry)

    def works(self) -> None:
        """The agent uses a tool."""
        name = f"t{len(self.lines)}"
        use = {"type": "tool_use", "id": name, "name": "Edit", "input": {"file_path": "x.py"}}
        message = {"role": "assistant", "content": [use]}
        self.lines.append({"type": "assistant", "uuid": str(len(self.lines)), "message": message})

    def event(self, last: str = "", **more: Any) -> dict[str, Any]:
        """A Stop, with the transcript as it is now."""
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in self.lines)
        self.transcript.write_text(text)
        return {
            "session_id": SESSION,
            "transcript_path": str(self.transcript),
            "hook_event_name": "Stop",
            "last_assistant_message": last,
            **more,
        }

    def run(self, event: dict[str, Any]) -> tuple[str, set[str]]:
        """What the quick path says of the event, and which modules it loaded."""
        code = (
            "import sys\nfrom lifecycle.hooks import quick_stop\nfound = quick_stop.run()\n"
            "print('settled' if found == 0 else 'nothing' if found is None else 'event')\n"
            "print(*sys.modules)"
        )
        done = subprocess.run(
            [
                sys.executable,
                "-I",
                "-c",
                f"sys_path = {str(_TOP)!r}\nimport sys\nsys.path.insert(0, sys_path)\n{code}",
            ],
            cwd=self.root,
            env={"PATH": os.environ["PATH"], "CLAUDE_PROJECT_DIR": str(self.root)},
            input=json.dumps(event).encode(),
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert done.stderr == b""
        said, modules = done.stdout.decode().splitlines()
        return said, set(modules.split())

    def date(self, name: str, moment: float) -> None:
        """Put a mark there."""
        path = self.root / ".lifecycle" / name
        path.touch()
        os.utime(path, (moment, moment))


_TOP = Path(quick_stop.__file__).parents[2]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Active, with no session."""
    root = tmp_path / "tree"
    (root / ".git").mkdir(parents=True)
    (root / ".lifecycle.toml").write_text("[stages]\nuse = true\n")
    moment = time.time_ns() - 60_000_000_000
    os.utime(root / ".lifecycle.toml", ns=(moment, moment))
    found = Scene(root)
    said = {"use": True, "test": [], "review": ""}
    WorkflowFiles(root).note_settings(said, ["test"], moment, time.time())
    found.date("stage-due", 1)
    return found


def test_an_agent_at_work_is_settled_and_little_is_loaded(scene: Scene) -> None:
    """Tools and no completion: exit code 0, four lines in the log, and no machinery."""
    scene.hears("go")
    scene.works()
    scene.says("I go on.")
    said, modules = scene.run(scene.event("I go on."))
    assert said == "settled"
    assert {
        "lifecycle.stages.detection.detect_stage",
        "lifecycle.stages.transcript.stop_input",
    } <= modules
    started = _modules_of_a_bare_start()
    assert not modules - started & HEAVY
    assert all(importlib.util.find_spec(name) for name in HEAVY), "a name that is no module's"
    log = (scene.root / ".claude/workflow_orchestrator.log").read_text()
    assert [line.partition("] ")[2] for line in log.splitlines()][-1] == "The agent may stop"


def _modules_of_a_bare_start() -> set[str]:
    done = subprocess.run(
        [sys.executable, "-I", "-c", "import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_a_completion_and_an_answer_to_us_are_for_others(scene: Scene) -> None:
    """The event is handed on as it was read."""
    scene.hears("go")
    scene.says("::: WORKFLOW_STAGE: CODING_COMPLETE :::")
    assert scene.run(scene.event())[0] == "event"
    scene.lines.clear()
    scene.hears("Stop hook feedback:\nX\n\nCURRENT STAGE: TESTING\n", isMeta=True)
    scene.says("Well.")
    assert scene.run(scene.event("Well."))[0] == "event"


def test_what_waits_in_the_background_is_settled(scene: Scene) -> None:
    """A running task of the client's: the agent is woken when it ends."""
    scene.hears("Stop hook feedback:\nX\n\nCURRENT STAGE: TESTING\n", isMeta=True)
    scene.says("Well.")
    running = [{"id": "b", "type": "shell", "status": "running"}]
    assert scene.run(scene.event("Well.", background_tasks=running))[0] == "settled"
    ended = [{"id": "b", "type": "shell", "status": "completed"}]
    assert scene.run(scene.event("Well.", background_tasks=ended))[0] == "event"


@pytest.mark.parametrize("session", [SESSION, ""])
def test_a_stage_that_was_set_by_hand_is_told(scene: Scene, session: str) -> None:
    """For this session, or for whichever stops next: not settled here, whatever the agent does."""
    scene.hears("go")
    scene.works()
    shelf = WorkflowFiles(scene.root)
    with shelf.locked():
        keep(shelf, SessionRecord(session, memory=Memory(set_stage=Stage.TESTING), at=time.time()))
    assert scene.run(scene.event())[0] == "event"
    with shelf.locked():
        keep(shelf, SessionRecord(session, at=time.time()))
    assert scene.run(scene.event())[0] == "settled"


def test_a_stage_that_was_set_by_hand_before_an_upgrade_is_told(scene: Scene) -> None:
    """An earlier version kept it among the session's own fields."""
    scene.hears("go")
    scene.works()
    shelf = WorkflowFiles(scene.root)
    with shelf.locked():
        shelf.save(f"{SESSION}.json", {"session": SESSION, "set_stage": Stage.TESTING})
    assert scene.run(scene.event())[0] == "event"


def test_what_is_not_the_workflows_alone_is_not_even_read(scene: Scene) -> None:
    """A changed claim, something due, changed or strange settings, an inactive workflow: stdin is left."""
    scene.hears("go")
    scene.works()
    event = scene.event()
    assert scene.run(event)[0] == "settled"
    (scene.root / ".agent-claim.json").write_text("{}")
    assert scene.run(event)[0] == "nothing"
    moment = (scene.root / ".agent-claim.json").stat().st_mtime
    scene.date("stamp", moment)
    os.utime(scene.root / ".agent-claim.json", (moment, moment))
    assert scene.run(event)[0] == "settled"
    scene.date("due", 1)
    assert scene.run(event)[0] == "nothing"
    (scene.root / ".lifecycle/due").unlink()
    scene.date("stage-due", time.time() + 600)
    assert scene.run(event)[0] == "nothing"
    scene.date("stage-due", 1)
    path = scene.root / ".lifecycle/staged"
    kept = path.stat().st_mtime_ns
    for content in ("", "[]", '{"use": false}', '{"use": true}', '{"use": true, "test": [1]}'):
        path.write_text(content)
        os.utime(path, ns=(kept, kept))
        assert scene.run(event)[0] == "nothing", content


def test_another_event_is_settled_without_a_look(scene: Scene) -> None:
    """A subagent's stop is not the agent's."""
    scene.says("::: WORKFLOW_STAGE: CODING_COMPLETE :::")
    assert scene.run(scene.event(hook_event_name="SubagentStop"))[0] == "settled"


def test_a_transcript_behind_the_session_is_given_time(scene: Scene) -> None:
    """Until the last text is there; a text that never comes costs a tenth of a second."""
    scene.hears("Stop hook feedback:\nX\n\nCURRENT STAGE: TESTING\n", isMeta=True)
    event = scene.event("::: WORKFLOW_STAGE: TESTS_PASSING :::")
    pauses: list[float] = []

    def write(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            scene.works()
            scene.says("::: WORKFLOW_STAGE: TESTS_PASSING :::")
            scene.event()

    turn = stop_input.turn_of(event, sleep=write)
    assert len(pauses) == 2
    assert turn.has_worked
    pauses.clear()
    turn = stop_input.turn_of(
        {**event, "last_assistant_message": "Never there"}, sleep=pauses.append
    )
    assert sum(pauses) == pytest.approx(0.1)
    assert turn.texts[-1] == "Never there"
    assert stop_input.turn_of({}).is_there is False


def test_a_worktree_with_marks_of_a_strangers_hears_nothing(scene: Scene) -> None:
    """Garbage in place of a transcript or of anything kept: settled or handed on, never an error."""
    event = scene.event("x")
    for path in ("", "\0", "/", str(scene.root), 7, None):
        assert scene.run({**event, "transcript_path": path, "last_assistant_message": ""})[0] in (
            "settled",
            "event",
        )
