"""The paths that a hook can take, set up so that they can be timed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from lifecycle.api import Worktree
from lifecycle.sandbox.checks.state import PlannedCheck
from lifecycle.sandbox.control import Control
from lifecycle.sandbox.server import Sandbox, SandboxInfo
from lifecycle.settings.resources import hook_script
from lifecycle.storage import signs_of_life
from lifecycle.storage.signs_of_life import IDLE_DUE
from lifecycle.storage.store import CLAIM_FILE, Folder
from tests.bench.checked import check_probe
from tests.bench.staged import INACTIVE, staged_probes
from tests.bench.starts import start_probes
from tests.bench.timing import Probe, age, seconds_of
from tests.bench.views import LINE, LINE_NONE, view_probes
from tests.factories import client

TRUE = "/bin/true"
PYTHON = "python3 -I -S -c pass"
NO_CLAIM = "no claim: hooks/on-stop"
NO_CLAIM_SH = "no claim: sh hooks/on-stop"
UNCHANGED = "claim unchanged: hooks/on-stop"
UNCHANGED_SH = "claim unchanged: sh hooks/on-stop"
WAITED = "a waiter lives: hooks/ci-waiter"
NOTHING_WAITS = "empty queue: hooks/user-prompt-submit"
QUIET = "claim looked at, no stamp: Python"

NO_OPS = (
    NO_CLAIM, NO_CLAIM_SH, UNCHANGED, UNCHANGED_SH, WAITED, NOTHING_WAITS, INACTIVE, LINE, LINE_NONE,
)  # fmt: skip
"""Probes that must end before Python could have started."""

BUDGET = {
    "status changed": 1,
    "poll of the checks": 1,
    "opening the pull request": 2,
    "seeing the merge": 1,
    "closing": 3,
    "a session's start": 2,
    "a session's start, the board known": 1,
}
"""The active paths, and how many requests each may take with the board's ids known."""

_CLAIM: dict[str, Any] = {
    "schema_version": 1,
    "item_id": "",
    "issue_number": 42,
    "branch": "claude/bench-42",
    "agent_id": "bench-1",
    "phase": "coding",
    "summary": "",
    "status": "In Progress",
    "pr_number": None,
    "last_check_poll": None,
    "last_synced_status": "In Progress",
}


def environment(root: Path, **more: str) -> dict[str, str]:
    """What the timed processes see: nothing of the developer's own settings."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return kept | {
        "CLAUDE_PROJECT_DIR": str(root),
        **client(),
        "LIFECYCLE_BIN": str(Path(sys.executable).with_name("lifecycle")),
        "XDG_CONFIG_HOME": str(root.parent / "config"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "NO_PROXY": "127.0.0.1",
        **more,
    }


def quiet_probes(folder: Path) -> list[Probe]:
    """Probes for hooks that have nothing to do, and what they are held against."""
    empty, kept, waited = folder / "empty", folder / "kept", folder / "waited"
    for root in (empty, kept, waited):
        root.mkdir()
    claim, stamp = kept / CLAIM_FILE, kept / ".lifecycle" / "stamp"
    script = str(hook_script("on-stop"))
    claim.write_text(json.dumps(_CLAIM))
    without, within = environment(empty), environment(kept)
    for _ in range(2):  # the first look writes the file, the second one finds it as it should be
        age(claim)
        seconds_of((script,), within)
    if not stamp.exists():
        raise RuntimeError("the look left no stamp: the quiet paths cannot be measured")
    bare = (sys.executable, "-I", "-S", "-c", "pass")
    true = next(path for path in ("/bin/true", "/usr/bin/true") if Path(path).exists())
    _let_a_waiter_live(waited)
    waiter, prompt = str(hook_script("ci-waiter")), str(hook_script("user-prompt-submit"))
    line, line_none, *commands = view_probes(folder / "views", without, _CLAIM)
    inactive, start, detected = staged_probes(folder / "staged", without)
    return [
        Probe(TRUE, (true,), without),
        Probe(NO_CLAIM, (script,), without),
        Probe(NO_CLAIM_SH, ("/bin/sh", script), without),
        # Each run of the last probe sets the stamp anew, so these find it.
        Probe(UNCHANGED, (script,), within),
        Probe(UNCHANGED_SH, ("/bin/sh", script), within),
        Probe(WAITED, (waiter,), environment(waited)),
        Probe(NOTHING_WAITS, (prompt,), within),
        line,
        line_none,
        inactive,
        Probe(PYTHON, bare, without),
        *start_probes(without),
        start,
        detected,
        *commands,
        check_probe(folder / "checks", without),
        Probe(QUIET, (script,), within, prepare=stamp.unlink),
    ]


def _let_a_waiter_live(root: Path) -> None:
    """A claim in review, and the sign of a waiter: this process, which lives as long as the bench."""
    (root / CLAIM_FILE).write_text(json.dumps({**_CLAIM, "phase": "checks_running"}))
    folder = Folder(root)
    folder.make()
    (folder.path / IDLE_DUE).touch()
    signs_of_life.promise(folder, "bench", time.time() + 86400)


@dataclass(frozen=True, slots=True)
class Took:
    """What one active path came to: median seconds, and requests as GitHub counted them."""

    name: str
    seconds: float
    requests: int


@dataclass(slots=True)
class _Task:
    """One task on a GitHub of its own, from claim to close."""

    control: Control
    root: Path
    environment: Mapping[str, str]
    samples: dict[str, tuple[float, int]] = field(default_factory=dict)

    def edit(self, **changes: object) -> None:
        """Edit the claim as an agent does."""
        path = self.root / CLAIM_FILE
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    def time(self, name: str, hook: str, *codes: int) -> None:
        """Run a hook; keep its seconds and the requests that it made."""
        self.control.clear_requests()
        seconds = seconds_of((str(hook_script(hook)),), self.environment, *codes)
        asked = [one for one in self.control.requests() if one.kind != "git"]
        self.samples[name] = (seconds, len(asked))

    def git(self, *arguments: str) -> None:
        """Run git in the worktree."""
        command = ["git", "-c", "user.name=Bench", "-c", "user.email=bench@example.com"]
        subprocess.run([*command, *arguments], cwd=self.root, env=self.environment, check=True)


def active_paths(folder: Path, cycles: int) -> list[Took]:
    """Time each path that does something, once a cycle, each cycle on a fresh GitHub."""
    cycled: list[dict[str, tuple[float, int]]] = []
    for number in range(cycles):
        with Sandbox() as sandbox:
            cycled.append(_live(sandbox.info, folder / f"cycle-{number}"))
    return [
        Took(
            name,
            median(samples[name][0] for samples in cycled),
            max(samples[name][1] for samples in cycled),
        )
        for name in BUDGET
    ]


def _live(info: SandboxInfo, root: Path) -> dict[str, tuple[float, int]]:
    task = _Task(
        Control(info.control_url),
        root,
        environment(
            root,
            GITHUB_API_URL=info.api_url,
            GITHUB_GRAPHQL_URL=info.graphql_url,
            GH_TOKEN=info.token,
            LIFECYCLE_PROJECT_NUMBER=str(info.project_number),
        ),
    )
    subprocess.run(["git", "clone", "--quiet", info.git_url, root], check=True)
    (root / ".lifecycle.toml").write_text("[checks]\npoll_seconds = 0.001\n")
    tree = Worktree(root, environment=task.environment)
    tree.claim(42)
    task.control.plan_checks(PlannedCheck(name="test", status="in_progress"))
    (root / "work.txt").write_text("work\n")
    task.git("add", "work.txt")
    task.git("commit", "--quiet", "-m", "Work")

    task.time("a session's start", "session-start")
    task.time("a session's start, the board known", "session-start")
    task.edit(status="Todo")
    task.time("status changed", "on-stop")
    task.edit(status="In Progress")
    task.time("status changed", "on-stop")  # the first one warmed git and the sandbox
    tree.hand_off("Fix race condition")
    task.time("opening the pull request", "on-stop")
    task.time("poll of the checks", "on-idle")
    (number,) = [int(n) for n, p in task.control.world()["pulls"].items() if p["state"] == "open"]
    task.control.merge_pull(number)
    task.time("seeing the merge", "on-idle", 2)
    task.edit(phase="done")
    task.time("closing", "on-stop")
    if task.control.world()["issues"]["42"]["state"] != "closed":
        raise RuntimeError("the bench's task did not end closed: its times say nothing")
    return task.samples
