"""Where a sequence happens: an embedded GitHub, the agents' clones, and what was seen of each step."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lifecycle.sandbox.control import Control, LoggedRequest
from lifecycle.sandbox.control.snapshot import snapshot
from lifecycle.sandbox.server import Sandbox
from lifecycle.storage.store import CLAIM_FILE, FOLDER
from tests.conftest import Place, environment_of
from tests.e2e.client import Session
from tests.e2e.forked import STAGE
from tests.e2e.killer import KILL_AT, KILL_NOTE, KILL_WITH
from tests.soak import staged
from tests.soak.past import age_machine, age_worktree, age_world
from tests.soak.sequence import Step

SECONDS = 60
"""How long a process may take on a machine with much else to do."""
SHORT = "3"
"""LIFECYCLE_HOOK_SECONDS of a hook that meets a GitHub that does not answer."""
SESSIONS = "11111111-aaaa-4bbb-8ccc-{:012d}"
SETTINGS = "[checks]\npoll_seconds = 2\n"
TOKENS = {"octocat": "sandbox-token", "sam": "sam-token"}
"""The accounts that agents work with, and their tokens."""


@dataclass(frozen=True)
class Said:
    """What a process of ours printed, and how it ended.

    Attributes:
        name: the hook, or the command's arguments.
        code: its exit code; below zero if a signal ended it.
        seconds: how long it took, by the wall clock.
    """

    name: str
    code: int
    stdout: str
    stderr: str
    seconds: float
    is_hook: bool

    @property
    def heard(self) -> str:
        """What reached model or person, if this was a hook with a reply as the client takes it."""
        if not self.is_hook or self.code == 2:
            return self.stderr if self.is_hook else ""
        try:
            reply = json.loads(self.stdout or "{}")
        except ValueError:
            return ""
        context = reply.get("hookSpecificOutput", {}).get("additionalContext", "")
        return "\n".join(t for t in (reply.get("reason"), context, reply.get("systemMessage")) if t)


@dataclass
class Clone:
    """One worktree, and the client's session in it."""

    place: Place
    number: int
    sessions: int = 1
    kept: list[bytes] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)
    life: int = 0
    renumbered: int = 0

    @property
    def claim_path(self) -> Path:
        """The claim file, there or not."""
        return self.place.root / CLAIM_FILE

    @property
    def content(self) -> bytes | None:
        """What the claim file holds."""
        try:
            return self.claim_path.read_bytes()
        except FileNotFoundError:
            return None

    @property
    def claim(self) -> dict[str, Any]:
        """The claim as far as it can be read; empty if it cannot."""
        try:
            found = json.loads(self.content or b"{}")
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def state(self) -> dict[str, Any]:
        """`.lifecycle/state.json`, empty if there is none."""
        path = self.place.root / FOLDER / "state.json"
        found: dict[str, Any] = json.loads(path.read_bytes()) if path.exists() else {}
        return found

    @property
    def ownership(self) -> dict[str, Any]:
        """What the engine remembers of whose the task is."""
        return (self.state.get("record") or {}).get("ownership", {})  # type: ignore[no-any-return]

    @property
    def is_lost(self) -> bool:
        """True if the engine knows that somebody took the claim's task away."""
        return any(self.ownership.get(name) for name in ("taken_by", "is_leaseless"))

    @property
    def session(self) -> Session:
        """The client's present session."""
        return Session(self.place, SESSIONS.format(100 * self.number + self.sessions))


@dataclass
class Ground:
    """The embedded GitHub, the clones, and what the last step brought.

    Attributes:
        said: what processes of ours printed in the last step.
        before, after: the world before and after it.
        requests: what GitHub was asked in it.
        index: its number, from 1 on.
        struck: how many faults struck in it.
        counts: how often each thing happened, for the summary.
        known: what the rules remember from step to step.
        defect: of the product, on purpose (`staged.DEFECTS`).
        machines: of a team: how far each clock is ahead, and its account; the first one sweeps.
        passed: seconds by which all of their clocks were set on.
        held: commands that stopped at a moment, and go on later, by who runs them.
    """

    sandbox: Sandbox
    folder: Path
    command: Path
    clones: dict[int, Clone] = field(default_factory=dict)
    said: list[Said] = field(default_factory=list)
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)
    requests: tuple[LoggedRequest, ...] = ()
    index: int = 0
    struck: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    known: dict[str, Any] = field(default_factory=dict)
    defect: str = ""
    machines: tuple[tuple[int, str], ...] = ()
    passed: int = 0
    held: dict[int, tuple[str, subprocess.Popen[bytes], float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.control = Control(self.sandbox.info.control_url)
        self.clone(1)
        self.after = self.world()

    def clone(self, number: int) -> Clone:
        """An agent's clone, made when it is first asked for; in a team each is on a machine of its own."""
        if number not in self.clones:
            root = self.folder / (f"machine-{number}/clone" if self.machines else f"clone-{number}")
            info = self.sandbox.info
            token = TOKENS[self.machines[number][1]] if self.machines else info.token
            environment = environment_of(info, root, self.command) | {STAGE: staged.__name__}
            environment |= {"GH_TOKEN": token}
            environment |= {staged.DEFECT: self.defect} if self.defect else {}
            subprocess.run(
                ["git", "clone", "--quiet", self.bare, root], env=environment, check=True
            )
            place = Place(info, self.control, root, environment, command=self.command)
            place.git("remote", "set-url", "origin", info.git_url.replace(info.token, token))
            (root / ".lifecycle.toml").write_text(SETTINGS)
            with (root / ".git/info/exclude").open("a") as exclude:
                exclude.write(".lifecycle.toml\n")
            self.clones[number] = Clone(place, number)
        return self.clones[number]

    @property
    def bare(self) -> Path:
        """The folder of the embedded GitHub's repository."""
        assert self.sandbox.site is not None
        return Path(self.sandbox.site.world.home.git.path)

    def world(self) -> dict[str, Any]:
        """All that GitHub has."""
        assert self.sandbox.site is not None
        with self.sandbox.site.world.lock:
            return snapshot(self.sandbox.site.world.home)

    def pass_time(self, seconds: int) -> None:
        """Everything becomes so much older."""
        assert self.sandbox.site is not None
        if self.machines:
            self.passed += seconds
            self.control.advance(seconds)
            for clone in self.clones.values():
                age_machine(clone.place.root.parent, seconds)
        elif seconds:
            age_world(self.sandbox.site.world, seconds)
            for clone in self.clones.values():
                age_worktree(clone.place.root, seconds)

    def hook(self, step: Step, name: str, event: str, **more: Any) -> None:
        """Run a hook to its end, as the client does."""
        session = self.clone(step.by).session
        session.environment.update(self._trouble(step))
        if name == "ci-waiter":
            session.environment[staged.ONE_LOOK] = "yes"
        with self._slow(step):
            began = time.monotonic()
            self._ended(name, session.launch(name, event, **more), began, is_hook=True)

    def cli(self, step: Step, *arguments: str, is_person: bool = False) -> None:
        """Run a command to its end, in the agent's session or on a person's terminal."""
        clone = self.clone(step.by)
        session = {} if is_person else {"CLAUDE_CODE_SESSION_ID": clone.session.id}
        self._command(step, arguments, clone.place.root, clone.place.environment | session)

    def sweep(self, step: Step, *arguments: str) -> None:
        """Run `lifecycle reconcile` on a machine that has no clone."""
        root = self.folder / "runner"
        root.mkdir(exist_ok=True)
        environment = environment_of(self.sandbox.info, root, self.command)
        environment |= {
            STAGE: staged.__name__,
            "LIFECYCLE_REPOSITORY": self.sandbox.info.repository,
        }
        environment |= {staged.DEFECT: self.defect} if self.defect else {}
        self._command(step, ("reconcile", *arguments), root, environment)

    def _command(
        self, step: Step, arguments: tuple[str, ...], root: Path, environment: dict[str, str]
    ) -> None:
        began = time.monotonic()
        process = subprocess.Popen(
            [str(self.command), *arguments],
            cwd=root,
            env=environment | self._trouble(step),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        if step.kill and step.kill[0] == "SIGSTOP" and self._is_held(process, step.kill[1]):
            self.held[step.by] = " ".join(arguments), process, began
            self.said.append(Said(" ".join(arguments), 0, "", "held", 0.0, is_hook=False))
        else:
            self._ended(" ".join(arguments), process, began, is_hook=False)

    def _is_held(self, process: subprocess.Popen[bytes], moment: int) -> bool:
        """Wait until the process stops at this moment, True, or has ended before it."""
        note = self.folder / "moments"
        while process.poll() is None:
            if note.exists() and note.read_text().count("\n") >= moment:
                return True
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.02)
        return False

    def go_on(self, by: int) -> None:
        """Let the command that was held go on to its end."""
        name, process, began = self.held.pop(by)
        held, end = int((self.folder / staged.HELD).read_text()), time.monotonic() + SECONDS
        while process.poll() is None and time.monotonic() < end:
            with contextlib.suppress(ProcessLookupError):  # it ends, or its command does at once
                os.kill(held, signal.SIGCONT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.1)
        self._ended(name, process, began, is_hook=False)

    def _trouble(self, step: Step) -> dict[str, str]:
        """The variables by which a step's process is killed, has little time, or its machine's clock."""
        found = {"LIFECYCLE_HOOK_SECONDS": SHORT} if step.under else {}
        if self.machines:
            found[staged.CLOCK] = str(self.passed + self.machines[step.by][0])
        if step.kill is not None:
            note = self.folder / "moments"
            note.unlink(missing_ok=True)
            found |= {KILL_AT: str(step.kill[1]), KILL_WITH: step.kill[0], KILL_NOTE: str(note)}
        return found

    @contextlib.contextmanager
    def _slow(self, step: Step) -> Iterator[None]:
        if not step.under:
            yield
            return
        self.control.add_fault(step.under, count=9)
        try:
            yield
        finally:
            self.control.clear_faults()

    def _ended(
        self, name: str, process: subprocess.Popen[bytes], began: float, *, is_hook: bool
    ) -> None:
        try:
            stdout, stderr = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate()
            stderr += b"it did not end"
        took = time.monotonic() - began
        out, err = (text.decode(errors="replace") for text in (stdout, stderr))
        self.said.append(Said(name, process.returncode, out, err, took, is_hook))
        if process.returncode < 0 or process.returncode == 130:
            self.counts["killed"] += 1
