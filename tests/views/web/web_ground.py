"""Clones and worktrees of a user who has a page open, and the page's server."""

from __future__ import annotations

import http.client
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from lifecycle.settings import user_folder
from lifecycle.views.web.all_worktrees import AllWorktrees
from lifecycle.views.web.web_server import WatchServer
from tests.conftest import ManualClock
from tests.views.overview.overview_ground import OverviewGround, worktree


class StillClock(ManualClock):
    """A clock that stands still but when the test moves it."""

    def __init__(self) -> None:
        super().__init__()
        self.begin = float(int(time.time()))

    def now(self) -> float:
        """Seconds since the epoch."""
        return self.begin + self.offset

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return self.offset


class QuickServer(WatchServer):
    """The server, which notices in a moment that it is to end."""

    def serve_forever(self, poll_interval: float = 0.01) -> None:
        """Serve until it is to end."""
        super().serve_forever(poll_interval)


@dataclass
class WebGround:
    """A user, below whose folder the clones lie."""

    folder: Path
    clock: ManualClock = field(default_factory=StillClock)

    @property
    def environment(self) -> dict[str, str]:
        """The variables of that user."""
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder / "home")}

    def clone(self, name: str) -> OverviewGround:
        """A clone that is known, and its main worktree, in which nothing is in use."""
        path = self.folder / "home/src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        made = worktree(path)
        user_folder.note_clone(path, self.environment)
        return OverviewGround(made.root.resolve(), self.clock)

    def linked(self, main: OverviewGround, name: str) -> OverviewGround:
        """Another worktree of that clone."""
        path = main.root.parent / name
        git = ("git", "-C", str(main.root), "-c", "user.name=a", "-c", "user.email=a@example.org")
        has_commit = (main.root / ".git/refs/heads/main").exists()
        if not has_commit:
            subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
        subprocess.run([*git, "worktree", "add", "-q", "-b", f"claude/{name}", path], check=True)
        return OverviewGround(path.resolve(), self.clock)

    def worktrees(self, here: Path | None = None) -> AllWorktrees:
        """All of the user's worktrees, by this ground's clock."""
        return AllWorktrees(self.environment, self.clock, here)

    @contextmanager
    def served(self, here: Path | None = None) -> Iterator[WatchServer]:
        """The server, by a clock that runs."""
        worktrees = AllWorktrees(self.environment, ManualClock(), here)
        with QuickServer(worktrees) as server:
            yield server


@dataclass(frozen=True)
class WebAnswer:
    """What the server answered."""

    status: int
    headers: dict[str, str]
    text: str


def ask(
    server: WatchServer, name: str = "", method: str = "GET", *, path: str = "", **headers: str
) -> WebAnswer:
    """Ask the server for this name below its token, or for a path as it is."""
    where = urlsplit(server.address)
    connection = http.client.HTTPConnection("127.0.0.1", where.port or 0, timeout=20)
    try:
        given = {key.replace("_", "-"): value for key, value in headers.items()}
        connection.request(method, path or f"{where.path}{name}", headers=given)
        answer = connection.getresponse()
        text = answer.read().decode()
        return WebAnswer(answer.status, dict(answer.getheaders()), text)
    finally:
        connection.close()
