"""One place to work in: an embedded GitHub, a clone of its repository, and the real entrypoints."""

from __future__ import annotations

import gc
import importlib.metadata
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import tests.compiled
import tests.in_memory  # noqa: F401 -- both before all others
from lifecycle.api import Wake, Worktree
from lifecycle.sandbox.control import Control, LoggedRequest
from lifecycle.sandbox.server import Sandbox, SandboxInfo
from lifecycle.sandbox.wire.recorder import VARIABLE as RECORD
from lifecycle.settings.resources import PLUGIN, hook_script, packaged, top_folder
from lifecycle.storage.store import CLAIM_FILE
from tests.clones import clone
from tests.e2e.forked import Forked
from tests.factories import client

IN_CI = bool(os.environ.get("CI"))
settings.register_profile("suite", deadline=None, derandomize=IN_CI, max_examples=10)
settings.register_profile("ci", deadline=None, derandomize=IN_CI, max_examples=30)
settings.register_profile("soak", deadline=None, max_examples=300)
settings.load_profile("suite")

pytest_plugins = [
    "tests.compiled",
    "tests.in_memory",
    "tests.asserted",
    "tests.needed",
    "tests.conformance.plugin",
    "tests.repeated",
    "tests.timeouts",
    "tests.told_once",
]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Half as many again as there are cores, and one: of a test's time a third is spent waiting."""
    return 3 * (os.cpu_count() or 1) // 2 + 1


def pytest_sessionstart(session: pytest.Session) -> None:
    """What tests do in their own process meets nothing of the developer's.

    These are no fixtures: three that all tests have would cost each of them a twentieth of a millisecond.
    """
    patch, folder = pytest.MonkeyPatch(), tempfile.TemporaryDirectory(prefix="config-")
    session.config.add_cleanup(folder.cleanup)
    session.config.add_cleanup(patch.undo)
    for name in ("http_proxy", "https_proxy", "all_proxy"):  # a test's server is on loopback
        patch.delenv(name, raising=False)
        patch.delenv(name.upper(), raising=False)
    patch.setenv("XDG_CONFIG_HOME", folder.name)
    # Each embedded GitHub asks for Werkzeug's version, an eighth of its start: it is read once.
    patch.setattr(importlib.metadata, "version", cache(importlib.metadata.version))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with more time than others begin first: at the end one of them would run alone."""
    items.sort(key=lambda item: -_seconds(item))


def _seconds(item: pytest.Item) -> float:
    """How much longer than usual a test may take."""
    mark = item.get_closest_marker("timeout")
    return max(mark.args[0] - float(item.config.getini("timeout")), 0) if mark else 0


def pytest_collection_finish() -> None:
    """Let the garbage collector look at what tests leave, and at nothing that was there before."""
    gc.freeze()
    # After 700 new objects, as it is unless told, it takes a twentieth of all CPU time.
    gc.set_threshold(20_000)
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Behind pytest's own look for what the run left: it looks twice, and would find as little again."""
    gc.freeze()


STARTED = Path(sys.executable).with_name("lifecycle")
"""The installed command, which starts a Python of its own: where that start is what a test is about."""
FORKED = Forked()
COMMAND = FORKED.command if sys.platform == "linux" else STARTED
"""The `lifecycle` of all other tests: a fork of a process that has imported it, see `e2e/forked.py`."""
DEVELOPERS = dict(os.environ)
"""The variables of whoever runs the tests, as they were before any test."""
BRANCH = "claude/fix-42"
GIT_CONFIG = Path(__file__).with_name("gitconfig")
"""git's settings in every test, not the developer's: it neither tidies up nor waits for the disk."""
GIT_VARIABLES = {"GIT_CONFIG_GLOBAL": str(GIT_CONFIG), "GIT_CONFIG_NOSYSTEM": "1"}
os.environ |= GIT_VARIABLES


class ManualClock:
    """A clock that the test moves; it starts at the real time, since files have real mtimes."""

    def __init__(self) -> None:
        self.offset = 0.0

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time() + self.offset

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic() + self.offset

    def sleep(self, seconds: float) -> None:
        """Let the time pass without waiting."""
        self.offset += seconds


@dataclass
class Place:
    """A worktree of the sandbox's repository, and what people and processes do in it."""

    info: SandboxInfo
    control: Control
    root: Path
    environment: dict[str, str]
    clock: ManualClock = field(default_factory=ManualClock)
    command: Path = COMMAND

    def tree(self, **environment: str) -> Worktree:
        """The public API on this worktree, with the test's clock."""
        return Worktree(
            self.root,
            environment={**self.environment, **environment},
            clock=self.clock,
            seconds=None,
        )

    def run(self, *command: str, stdin: bytes = b"", **environment: str) -> Any:
        """Run a process here, as bytes in and text out."""
        env = {**self.environment, **environment}
        if command[0] == str(FORKED.command):
            done = FORKED.run(command[1:], cwd=self.root, env=env, stdin=stdin)
        else:
            done = subprocess.run(
                command,
                cwd=self.root,
                env=env,
                input=stdin,
                capture_output=True,
                timeout=60,
                check=False,
            )
        return subprocess.CompletedProcess(
            command, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    def git(self, *arguments: str) -> str:
        """Run git here; it must succeed."""
        done = self.run("git", *arguments)
        assert done.returncode == 0, done.stderr
        return str(done.stdout.strip())

    def cli(self, *arguments: str, **environment: str) -> Any:
        """Run the `lifecycle` command."""
        return self.run(str(self.command), *arguments, stdin=b"", **environment)

    def hook(self, name: str, event: dict[str, Any] | bytes | None = None, **env: str) -> Any:
        """Run a hook script as the client does, with the event's JSON on stdin."""
        stdin = event if isinstance(event, bytes) else json.dumps(event or {}).encode()
        return self.run(str(hook_script(name)), stdin=stdin, **env)

    def claim(self) -> dict[str, Any]:
        """The claim file."""
        loaded: dict[str, Any] = json.loads((self.root / CLAIM_FILE).read_text())
        return loaded

    def has_claim(self) -> bool:
        """True if the claim file is there."""
        return (self.root / CLAIM_FILE).exists()

    def write(self, **changes: Any) -> None:
        """Write the claim file by hand, whole, as an agent does."""
        before = self.claim() if self.has_claim() else {}
        (self.root / CLAIM_FILE).write_text(json.dumps({**before, **changes}))

    def work(self, branch: str = BRANCH, *, push: bool = True) -> None:
        """Commit something on a branch, and push it."""
        if self.run("git", "switch", "--quiet", "--no-guess", branch).returncode:
            self.git("switch", "--quiet", "-c", branch)
        (self.root / "work.txt").write_text(f"{secrets.token_hex()}\n")
        self.git("add", "work.txt")
        self.git("commit", "--quiet", "-m", "Work")
        if push:
            self.git("push", "--quiet", "origin", branch)

    def ready(self, **changes: Any) -> None:
        """A pushed branch and a hand-written claim that asks for its PR."""
        self.work()
        self.write(
            **{
                "schema_version": 1,
                "item_id": self.item_id(),
                "issue_number": 42,
                "branch": BRANCH,
                "agent_id": "octocat-1",
                "phase": "ready_for_pr",
                "summary": "Fix race condition",
                "status": "In Review",
                "pr_number": None,
                "last_check_poll": None,
                "last_synced_status": None,
                **changes,
            }
        )

    def knows_board(self) -> None:
        """Read the board's ids, as a look does that sets a card, and forget all else."""
        self.ready(phase="coding", status="Todo")
        self.tree().tick(Wake.STOP)
        self.forget()

    def forget(self) -> None:
        """Forget the claim, but not the board's ids."""
        state = self.root / ".lifecycle/state.json"
        cache = json.loads(state.read_text())["cache"]
        state.write_text(json.dumps({"version": 1, "cache": cache}))
        (self.root / CLAIM_FILE).unlink(missing_ok=True)

    def merged(self) -> int:
        """A hand-written claim whose PR was merged and whose user said yes; the PR's number."""
        self.ready()
        self.tree().tick(Wake.STOP)
        number = self.pull()
        self.control.merge_pull(number)
        self.write(phase="done")
        return number

    def item_id(self, issue: int = 42) -> str:
        """The id of an issue's item on the board."""
        return str(self.control.world()["board"][str(issue)]["id"])

    def issue(self, number: int = 42) -> dict[str, Any]:
        """An issue as GitHub has it."""
        found: dict[str, Any] = self.control.world()["issues"][str(number)]
        return found

    def card(self, number: int = 42) -> dict[str, Any]:
        """An issue's board fields."""
        found: dict[str, Any] = self.control.world()["board"][str(number)]["values"]
        return found

    def pulls(self) -> dict[int, dict[str, Any]]:
        """Every pull request."""
        return {int(number): pull for number, pull in self.control.world()["pulls"].items()}

    def pull(self) -> int:
        """The number of the one open pull request."""
        (number,) = [n for n, p in self.pulls().items() if p["state"] == "open"]
        return number

    def requests(self) -> list[LoggedRequest]:
        """What GitHub's API was asked since the last `clear`; git's own traffic left out."""
        return [request for request in self.control.requests() if request.kind != "git"]

    def writes(self) -> list[LoggedRequest]:
        """Requests that change something."""
        return [r for r in self.requests() if r.method in ("POST", "PATCH", "PUT") and _is_write(r)]

    def clear(self) -> None:
        """Forget the request log."""
        self.control.clear_requests()


def _is_write(request: LoggedRequest) -> bool:
    changes = ("SetBoardFields", "AddBoardItem", "OpenPullRequest", "CommentAndClose")
    return request.kind == "rest" or request.operation in changes


def installed_plugin(root: Path) -> Path:
    """A copy of the plugin, of the version under test, as the client installs it."""
    for name in PLUGIN:
        shutil.copytree(top_folder(name), root / name)
    (root / "lifecycle").mkdir()
    (root / "lifecycle/__init__.py").write_text(packaged("__init__.py"))
    return root


def environment_of(info: SandboxInfo, root: Path, command: Path = COMMAND) -> dict[str, str]:
    """What processes see: the sandbox, and nothing of the developer's own settings."""
    kept = ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV", "SYSTEMROOT", RECORD)
    return {name: os.environ[name] for name in kept if name in os.environ} | {
        "GITHUB_API_URL": info.api_url,
        "GITHUB_GRAPHQL_URL": info.graphql_url,
        "GH_TOKEN": info.token,
        "LIFECYCLE_PROJECT_NUMBER": str(info.project_number),
        "LIFECYCLE_BIN": str(command),
        "CLAUDE_PROJECT_DIR": str(root),
        **client(),
        "XDG_CONFIG_HOME": str(root.parent / "home" / "config"),
        **GIT_VARIABLES,
        "GIT_AUTHOR_NAME": "Agent",
        "GIT_AUTHOR_EMAIL": "agent@example.com",
        "GIT_COMMITTER_NAME": "Agent",
        "GIT_COMMITTER_EMAIL": "agent@example.com",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C and the end of a terminal reach what is started here, however the tests were started.

    A shell ignores SIGINT in what it puts into the background, `nohup` ignores SIGHUP, and both are
    inherited.
    """
    interrupt = signal.signal(signal.SIGINT, signal.default_int_handler)
    hangup = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGHUP, hangup)


@pytest.fixture
def sandbox() -> Iterator[SandboxInfo]:
    """A fresh embedded GitHub."""
    with Sandbox() as running:
        yield running.info


@pytest.fixture(autouse=True, scope="session")
def forked() -> Iterator[Forked]:
    """Runs the command's processes without the start of Python; one for all tests of a process."""
    with nullcontext() if os.environ.get("LIFECYCLE_LIVE") else FORKED:  # live tests run no command
        yield FORKED


@pytest.fixture
def command(request: pytest.FixtureRequest) -> Path:
    """The `lifecycle` of `place`; a test marked `started` has the one that starts a Python of its own."""
    return STARTED if request.node.get_closest_marker("started") else COMMAND


@pytest.fixture
def place(
    sandbox: SandboxInfo, tmp_path: Path, command: Path, monkeypatch: pytest.MonkeyPatch
) -> Place:
    """A clone of the sandbox's repository."""
    root = tmp_path / "clone"
    environment = environment_of(sandbox, root, command)
    for name, value in environment.items():
        # git runs in this process's environment too, when a test uses the library directly
        if name.startswith("GIT_"):
            monkeypatch.setenv(name, value)
    clone(sandbox.git_url, root, environment)
    return Place(sandbox, Control(sandbox.control_url), root, environment, command=command)
