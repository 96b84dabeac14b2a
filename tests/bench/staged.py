"""Stops that the staged workflow sees, set up so that they can be timed."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from lifecycle.settings.resources import hook_script
from lifecycle.storage import regular_files, workflow_marks
from lifecycle.storage.workflow_files import WorkflowFiles
from tests.bench.timing import Probe
from tests.stages.bare_world import wanted
from tests.stages.written import Written

INACTIVE = "staged, no labelled task: hooks/on-stop"
START = "an installed script that does nothing"
DETECTED = "staged, 50 MB transcript: hooks/on-stop"

MEGABYTES = 50
MOST_NO_OPS = 1.5
"""A stop with the workflow inactive takes what the claim's no-op takes, but for the machine's noise."""

MOST_STARTS = 2.0
"""An active detection takes less than so many starts of the installed command."""

LOG = ".claude/workflow_orchestrator.log"
_DAY = 86_400.0
_LINE = 10_000


def staged_probes(folder: Path, seen: Mapping[str, str]) -> list[Probe]:
    """A stop with the workflow inactive; a bare start of an installed script; a stop with it active.

    Args:
        folder: an empty one.
        seen: the environment of the timed processes, but for the worktree.
    """
    inactive, active = _worktree(folder / "inactive"), _worktree(folder / "active")
    # As it is left when the tracker had no open labelled task; the bench takes longer than that is kept.
    WorkflowFiles(inactive).set_due(time.time() + _DAY)
    event = folder / "event.json"
    event.write_text(json.dumps(_event(_transcript(folder))))
    script = str(hook_script("on-stop"))
    return [
        Probe(INACTIVE, (script,), _within(seen, inactive), stdin=str(event)),
        Probe(START, (str(_bare_script(folder)),), dict(seen)),
        Probe(DETECTED, (script,), _within(seen, active), stdin=str(event)),
    ]


def judge_staged(quiet: Mapping[str, float], no_op: str) -> list[str]:
    """What is too slow, in words; empty if all is well.

    Args:
        quiet: the median seconds of every probe.
        no_op: the probe of the claim's no-op.
    """
    found = []
    inactive, detected = quiet[INACTIVE] / quiet[no_op], quiet[DETECTED] / quiet[START]
    if inactive > MOST_NO_OPS:
        found.append(f"{INACTIVE} takes {inactive:.2f} of {no_op}")
    if detected >= MOST_STARTS:
        found.append(f"{DETECTED} takes {detected:.2f} of {START}")
    return found


def _worktree(root: Path) -> Path:
    """A worktree with the workflow on, as the first look leaves it."""
    (root / ".git").mkdir(parents=True)
    path = root / regular_files.CONFIG_FILE
    path.write_text('[stages]\nuse = true\ntest = ["make test"]\nreview = "/oracle-review"\n')
    moment = time.time() - _DAY
    os.utime(path, (moment, moment))
    if wanted(root) is None or not workflow_marks.is_known(str(root)):
        raise RuntimeError("the workflow is not on: its stops cannot be measured")
    return root


def _within(seen: Mapping[str, str], root: Path) -> dict[str, str]:
    return {**seen, "CLAUDE_PROJECT_DIR": str(root)}


def _event(transcript: str) -> dict[str, object]:
    said = "I am still at it; the parser is next."
    return {
        "hook_event_name": "Stop",
        "session_id": "bench",
        "transcript_path": transcript,
        "stop_hook_active": False,
        "last_assistant_message": said,
    }


def _transcript(folder: Path) -> str:
    """A long session: a prompt, much work, and an agent that is in the middle of it."""
    begun = Written().human("Work on the task.").edit().bytes()
    block = Written().bash("cat a.py", "x = 1\n" * (_LINE // 6)).edit().bytes()
    last = (
        Written().bash("git status", "clean").says("I am still at it; the parser is next.").bytes()
    )
    path = folder / "transcript.jsonl"
    with path.open("wb") as file:
        file.write(begun)
        while file.tell() < MEGABYTES * 1_000_000:
            file.write(block)
        file.write(last)
    return str(path)


def _bare_script(folder: Path) -> Path:
    """The installed command with everything of ours taken out: what its start costs anybody."""
    installed = Path(sys.executable).with_name("lifecycle").read_text()
    ours = "from lifecycle.__main__ import command\n"
    if ours not in installed:
        raise RuntimeError(
            "the installed command does not look as it should: nothing to compare with"
        )
    path = folder / "bare"
    path.write_text(installed.replace(ours, "command = int\n"))
    path.chmod(0o755)
    return path
