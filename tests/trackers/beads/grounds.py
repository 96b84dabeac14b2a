"""The grounds on which the conformance suite meets bd: a fresh workspace of each simulated build."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lifecycle.core.light_dataclass import replace
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.trackers.beads.bd_process import NAME
from lifecycle.trackers.beads.bd_tracker import BeadsTracker
from tests.trackers.beads import simulated

WRITES = ("create", "update", "close", "reopen", "label", "dep", "comments add", "ready --claim")


@dataclass(frozen=True, slots=True)
class Build:
    """The version that a build reports, and what it has beside what all have."""

    version: str
    claims: bool = False
    claims_next: bool = False
    pushes: bool = False
    leases: bool = False


BUILDS = {
    "0.30.7": Build("0.30.7"),
    "0.49.6-direct": Build("0.49.6", claims=True),
    "0.49.6-daemon": Build("0.49.6", claims=True),
    "1.0.5": Build("1.0.5", claims=True, claims_next=True, pushes=True),
    "1.3.0": Build("1.3.0", claims=True, claims_next=True, pushes=True, leases=True),
}
"""What each build has, which `test_probe.py` holds to what the programs say."""


@dataclass(frozen=True, slots=True)
class BeadsGround:
    """A workspace, and actors in it.

    Attributes:
        root: a clone's folder, with the workspace.
        folder: where the program lies.
    """

    root: Path
    folder: Path

    def tracker(self, actor: str) -> BeadsTracker:
        """A tracker in the name of this actor."""
        return self.runner(actor)

    def runner(
        self, actor: str, *, seconds: float | None = None, is_hook: bool = False
    ) -> BeadsTracker:
        """What runs bd in the name of this actor, for so long in all."""
        deadline = Deadline.after(SystemClock(), seconds)
        around = {"PATH": simulated.environment(self.folder)["PATH"]}
        return BeadsTracker(self.root, around, actor, deadline, is_hook=is_hook)

    def holder(self, actor: str) -> str:
        """The actor's own name."""
        return actor

    def writes(self) -> int:
        """How many commands were run that write, whatever came of them."""
        lines = (" ".join(call["argv"]) for call in simulated.calls(self.folder))
        return sum(line.startswith(WRITES) for line in lines)

    def later(self, _seconds: float) -> bool:
        """The simulated leases have no end."""
        return False


@contextmanager
def build(profile: str) -> Iterator[BeadsGround]:
    """A fresh workspace of this build, in something that looks like a clone."""
    with tempfile.TemporaryDirectory() as given:
        root, folder = Path(given) / "clone", Path(given) / "bin"
        (root / ".git" / "objects").mkdir(parents=True)
        (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        simulated.install(folder, profile)
        simulated.workspace(root, folder)
        yield BeadsGround(root, folder)


def probe(runner: BeadsTracker) -> str:
    """The version that a process finds that has not asked yet."""
    return replace(runner).version


def know(runner: BeadsTracker, found: Build) -> None:
    """Let it be known of the runner's program what `probe` would ask of it first, in a process."""
    program = Path(runner.program)
    about = program.stat()
    key = [str(program), about.st_mtime_ns, about.st_size]
    (runner.shared / NAME).write_text(json.dumps({"program": key, "version": found.version}))


@contextmanager
def known(profile: str) -> Iterator[BeadsGround]:
    """A fresh workspace of this build, which is known already."""
    with build(profile) as ground:
        know(ground.runner(""), BUILDS[profile])
        yield ground
