"""Worktrees of one user that wait, and what that costs: for tests of shared looks, and for the bench."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lifecycle.core.timing import Deadline
from lifecycle.feedback.waiting.look_rounds import MOST
from lifecycle.feedback.waiting.shared_looks import SharedLooks, place
from lifecycle.github.client.graph import GraphClient
from lifecycle.sandbox.control import Control
from lifecycle.sandbox.seed import Seed
from lifecycle.sandbox.server import SandboxInfo
from tests.github.hub import PatientClock, sending
from tests.worlds import EVERY as OF_TASKS
from tests.worlds import claimed

if TYPE_CHECKING:
    from pathlib import Path

EVERY = 120.0


@dataclass
class Worktree:
    """One that waits: it looks whole when it is told to, and asks again when it is told to."""

    looks: SharedLooks
    ids: tuple[str, ...]
    looked: float
    again: float = 0.0
    whole: list[float] = field(default_factory=list)

    def wake(self, now: float) -> None:
        """Ask if that is due."""
        if now < self.again:
            return
        answer = self.looks.ask(self.ids, self.looked)
        self.again = answer.again
        if answer.is_whole:
            self.looked = now
            self.again = now + EVERY
            self.whole.append(now)


class Machine:
    """Worktrees of one user, and what their waiting costs."""

    def __init__(self, info: SandboxInfo, home: Path, clock: PatientClock) -> None:
        self.control = Control(info.control_url)
        self.clock = clock
        self.root = home / "work"
        self.root.mkdir()
        (self.root / ".lifecycle").mkdir()
        path = place({"XDG_CONFIG_HOME": str(home)}, info.graphql_url, info.token)
        assert path is not None
        self.path = path
        self.graph = graph = GraphClient(
            info.graphql_url, sending(info.token, Deadline(clock, None))
        )
        self.numbers = {one["node_id"]: int(one["number"]) for one in pulls(info)}
        # The file is shared, and nothing else: each worktree has a reader of its own.
        self.worktrees = [
            Worktree(SharedLooks(path, lambda: graph, clock, self.root, EVERY), (one,), clock.now())
            for one in self.numbers
        ]

    def join(self) -> None:
        """Let all begin to wait, as they do before their first look is due."""
        for one in self.worktrees:
            one.looks.join(one.ids, one.looked)

    def spend(self, seconds: float) -> tuple[int, int]:
        """Let so much time pass; how many requests for digests were made, and how many whole looks."""
        end = self.clock.now() + seconds
        before = sum(len(one.whole) for one in self.worktrees)
        self.control.clear_requests()
        while self.clock.now() < end:
            for one in self.worktrees:
                one.wake(self.clock.now())
            due = min(one.again for one in self.worktrees)
            self.clock.sleep(max(min(due, end) - self.clock.now(), 1.0))
        digests = [one for one in self.control.requests() if one.operation == "DigestPulls"]
        return len(digests), sum(len(one.whole) for one in self.worktrees) - before

    @property
    def log(self) -> str:
        """What went wrong."""
        file = self.root / ".lifecycle" / "log"
        return file.read_text() if file.exists() else ""


def pulls(info: SandboxInfo) -> list[dict[str, Any]]:
    """The open pull requests."""
    request = urllib.request.Request(
        f"{info.api_url}/repos/{info.repository}/pulls?per_page=100",
        headers={"Authorization": f"Bearer {info.token}"},
    )
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
        loaded: list[dict[str, Any]] = json.load(answer)
        return loaded


def many_pulls() -> Seed:
    """A GitHub with as many open pull requests as one request of digests takes."""
    return claimed(MOST * OF_TASKS, 1)
