"""The grounds on which the conformance suite runs: memory, and the embedded GitHub in three ways."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from lifecycle.app.wiring import WorktreeWorld
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.core.tracker import Tracker
from lifecycle.sandbox.control import Control
from lifecycle.sandbox.seed import Seed, SeedToken, default_seed
from lifecycle.sandbox.server import Sandbox, SandboxInfo
from lifecycle.storage.state_file import MemoryCache
from lifecycle.trackers.conformance.case import Factory
from lifecycle.trackers.memory import MemoryTasks, MemoryTracker
from tests.clones import clone

MARIA = "maria-token"
VISITOR = "visitor-token"


class HurriedClock(SystemClock):
    """The system's clock, by which what is asked again is asked at once."""

    def sleep(self, seconds: float) -> None:
        """Wait for nothing."""


@dataclass
class MemoryGround:
    """Tasks in memory, on a clock that the suite moves."""

    moment: float = 1_700_000_000.0
    tasks: MemoryTasks = field(init=False)

    def __post_init__(self) -> None:
        self.tasks = MemoryTasks(lambda: self.moment)

    def tracker(self, actor: str) -> Tracker:
        """A tracker on the same tasks."""
        return MemoryTracker(self.tasks, actor)

    def holder(self, actor: str) -> str:
        """The actor's own name."""
        return actor

    def writes(self) -> int:
        """As the tasks count them."""
        return self.tasks.writes

    def later(self, seconds: float) -> bool:
        """Move the clock."""
        self.moment += seconds
        return True


@contextmanager
def memory() -> Iterator[MemoryGround]:
    """A fresh memory."""
    yield MemoryGround()


@dataclass
class GitHubGround:
    """A clone of the sandbox's repository, and agents in it.

    Attributes:
        info: the sandbox.
        root: the clone.
        tokens: whose token an actor has; the sandbox's own for all others.
        logins: whose account that is.
    """

    info: SandboxInfo
    root: Path
    tokens: Mapping[str, str] = field(default_factory=dict)
    logins: Mapping[str, str] = field(default_factory=dict)
    control: Control = field(init=False)

    def __post_init__(self) -> None:
        self.control = Control(self.info.control_url)

    def world(self, actor: str = "", **environment: str) -> WorktreeWorld:
        """The worktree's world, in the name of this actor."""
        token = self.tokens.get(actor, self.info.token)
        given = variables(self.info, self.root, token)
        given |= {"LIFECYCLE_ACTOR": actor} if actor else {}
        clock = HurriedClock()
        return WorktreeWorld(
            self.root, {**given, **environment}, clock, Deadline(clock, None), MemoryCache()
        )

    def tracker(self, actor: str) -> Tracker:
        """The issues, in the name of this actor."""
        return self.world(actor).tracker

    def holder(self, actor: str) -> str:
        """The account that is assigned."""
        return self.logins.get(actor, "octocat")

    def writes(self) -> int:
        """What was sent to REST and changes something, and what was pushed."""
        return sum(
            request.method != "GET" and (request.kind == "rest" or "receive-pack" in request.path)
            for request in self.control.requests()
        )

    def later(self, _seconds: float) -> bool:
        """GitHub's time is its own."""
        return False


def seed() -> Seed:
    """The built-in world, and tokens of a second person who may push, and of one who may not."""
    given = default_seed()
    more = [
        SeedToken(token=token, user=user, scopes=["project", "repo"])
        for token, user in {MARIA: "maria", VISITOR: "visitor"}.items()
    ]
    return replace(given, tokens=[*given.tokens, *more])


def variables(info: SandboxInfo, root: Path, token: str) -> dict[str, str]:
    """What a process in the clone sees: the sandbox, and nothing of the developer's own."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return kept | {
        "GITHUB_API_URL": info.api_url,
        "GITHUB_GRAPHQL_URL": info.graphql_url,
        "GH_TOKEN": token,
        "LIFECYCLE_REPOSITORY": info.repository,
        "XDG_CONFIG_HOME": str(root.parent / "config"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "NO_PROXY": "127.0.0.1",
    }


@contextmanager
def github(*, has_leases: bool = True, has_two: bool = False) -> Iterator[GitHubGround]:
    """A fresh sandbox and a clone of its repository.

    Args:
        has_leases: the clone has the remote to which leases are pushed.
        has_two: the second actor has an account of its own.
    """
    with Sandbox(seed()) as running, tempfile.TemporaryDirectory() as folder:
        info, root = running.info, Path(folder) / "clone"
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "NO_PROXY": "127.0.0.1"}
        clone(info.git_url, root, environment)
        if not has_leases:
            subprocess.run(["git", "remote", "remove", "origin"], cwd=root, check=True)
        (root / ".lifecycle.toml").write_text('tracker.use = "github"\n')
        tokens = {"agent-2": MARIA} if has_two else {}
        logins = {"agent-2": "maria"} if has_two else {}
        yield GitHubGround(info, root, tokens, logins)


@contextmanager
def github_alone() -> Iterator[GitHubGround]:
    """Agents of one account, with leases."""
    with github() as ground:
        yield ground


@contextmanager
def github_two() -> Iterator[GitHubGround]:
    """Agents of two accounts, with leases."""
    with github(has_two=True) as ground:
        yield ground


@contextmanager
def github_advisory() -> Iterator[GitHubGround]:
    """Agents of one account, where no lease can be written."""
    with github(has_leases=False) as ground:
        yield ground


@contextmanager
def github_advisory_two() -> Iterator[GitHubGround]:
    """Agents of two accounts, where no lease can be written."""
    with github(has_leases=False, has_two=True) as ground:
        yield ground


GROUNDS: dict[str, Factory] = {
    "memory": memory,
    "github": github_alone,
    "github, two accounts": github_two,
    "github without leases": github_advisory,
    "github without leases, two accounts": github_advisory_two,
}
"""Each is what somebody names on the command line."""
