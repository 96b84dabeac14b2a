"""The real bd at the versions that `make bd` builds: where they lie, and workspaces of them.

Each workspace is a copy of one that is kept beside the program: `bd init` costs seconds. HOME is a folder
of the test's, and bd's usage metrics are off, so that nothing leaves the machine.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.trackers.beads.bd_tracker import BeadsTracker
from tests import needed
from tests.trackers.beads import simulated

TOP = Path(__file__).parents[3]
VERSIONS = tuple(
    re.findall(
        r"^\S+ v([\d.]+) h1:", (TOP / "requirements" / "bd" / "go.sum").read_text(), re.MULTILINE
    )
)
"""What `make bd` builds."""

PROFILES = {"0.49.6": "0.49.6-direct", "1.0.5": "1.0.5", "1.3.0": "1.3.0"}
"""The recording, and the simulated build, of each version."""

BUILT = TOP / ".cache" / "bd"
PRODUCT = TOP / "lifecycle" / "trackers" / "beads"

_GITCONFIG = "[user]\n\tname = T\n\temail = t@example.com\n[beads]\n\trole = maintainer\n"
_OTHERS = ("BEADS_", "BD_", "GIT_")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_REVISION = re.compile(r'"revision": "-?\d+"')
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def demand(version: str) -> None:
    """End a test that needs this version, where it is not built."""
    if (BUILT / version / "bd").exists():
        return
    if shutil.which("go") is None:
        pytest.skip("of the real bd: Go is not installed, which builds it (`make bd`)")
    # Six minutes of two cores: required where CI has time for it.
    if os.environ.get("GITHUB_ACTIONS") != "true":
        pytest.skip("of the real bd: `make bd` builds it, in some minutes; CI requires it")
    needed.lack("the real bd", "`make bd` builds it")


def environment(version: str, home: Path, actor: str = "agent-1", **more: str) -> dict[str, str]:
    """Variables for this version in this home, and nothing of the user's own bd and git."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OTHERS)}
    return {
        **kept,
        "PATH": f"{BUILT / version}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "BEADS_ACTOR": actor,
        "BD_ACTOR": actor,
        "BD_NON_INTERACTIVE": "1",
        "BD_DISABLE_METRICS": "1",
        "BD_DISABLE_EVENT_FLUSH": "1",
        "BEADS_NO_DAEMON": "1",
        "GOGC": "off",  # a command ends before its garbage is in anybody's way
        **more,
    }


@dataclass(frozen=True, slots=True)
class Workspace:
    """A repository with a database of this version's own, and a home for bd beside it."""

    version: str
    root: Path

    @property
    def home(self) -> Path:
        """Where bd finds the user's settings: git's name and e-mail."""
        return self.root.parent / "home"

    def bd(self, *words: str, actor: str = "agent-1", **more: str) -> tuple[int, str, str]:
        """Run one command by hand: exit code, stdout, stderr."""
        around = environment(self.version, self.home, actor, **more)
        done = subprocess.run(
            ["bd", *words],
            executable=str(BUILT / self.version / "bd"),
            cwd=self.root,
            env=around,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def answer(self, *words: str, actor: str = "agent-1") -> Any:
        """What a command prints as JSON, which must succeed."""
        code, out, err = self.bd(*words, "--json", actor=actor)
        assert code == 0, f"{words}: {out}{err}"
        return json.loads(out)

    def create(self, title: str) -> str:
        """A new issue; its id."""
        return str(self.answer("create", f"--title={title}")["id"])

    def runner(self, actor: str) -> BeadsTracker:
        """What runs bd for the product, in the name of this actor, without a limit in all."""
        around = environment(self.version, self.home, actor)
        return BeadsTracker(self.root, around, actor, Deadline(SystemClock(), None))

    def tracker(self, actor: str) -> BeadsTracker:
        """A tracker in the name of this actor."""
        return self.runner(actor)

    def holder(self, actor: str) -> str:
        """The actor's own name."""
        return actor

    def writes(self) -> int | None:
        """Nobody counts them: the suite compares the tasks."""
        return None

    def later(self, _seconds: float) -> bool:
        """Its time is its own."""
        return False


def bare(version: str, folder: Path) -> Workspace:
    """A repository without a database; `folder` has it and the home."""
    root, home = folder / "demo", folder / "home"
    root.mkdir(parents=True)
    home.mkdir()
    (home / ".gitconfig").write_text(_GITCONFIG)
    made = ["git", "init", "--quiet", "--initial-branch=main", str(root)]
    subprocess.run(made, check=True, env=environment(version, home))
    return Workspace(version, root)


def made(version: str, folder: Path) -> Workspace:
    """A repository with an empty database, and with what the product knows of this bd.

    It is a copy of one that is kept beside the program that made it.
    """
    program = (BUILT / version / "bd").stat()
    words = ["init", "--prefix=demo", "--quiet", "--skip-hooks"]
    words += [] if version.startswith("0.") else ["--skip-agents"]
    # These modules say how it is made: one that was made in another way is not taken.
    sources = b"".join(
        path.read_bytes() for path in (Path(__file__), *sorted(PRODUCT.glob("*.py")))
    )
    made_by = f"{program.st_mtime_ns} {program.st_size}".encode() + sources
    kept = BUILT / version / f"made-{hashlib.sha256(made_by).hexdigest()[:12]}"
    if not kept.exists():
        with tempfile.TemporaryDirectory(dir=BUILT / version) as apart:
            space = bare(version, Path(apart, "made"))
            code, out, err = space.bd(*words)
            assert code == 0, out + err
            space.tracker("agent-1").abilities()
            with contextlib.suppress(OSError):  # there is one by now: another run was faster
                Path(apart, "made").rename(kept)
    shutil.copytree(kept, folder, symlinks=True)
    return Workspace(version, folder / "demo")


def steps_of(profile: str) -> list[dict[str, Any]]:
    """The recorded steps of a build."""
    lines = (simulated.RECORDED / f"{profile}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def replay(space: Workspace, steps: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run recorded steps on the real one, and give them as it answers now, with the recorded ids and place.

    Args:
        space: without a database, if the first steps make it.
        steps: in their order; ids of issues are made the real ones where they stand in a command.
    """
    ids: dict[str, str] = {}
    place = str(space.root)
    answers = []
    for step in steps:
        words = [_swapped(word, ids) for word in step["argv"][1:]]
        code, out, err = space.bd(*words, **step["env"])
        back = {real: recorded for recorded, real in ids.items()}
        if step["name"] in ("create", "create2", "create3") and code == 0:
            recorded, real = json.loads(step["stdout"])["id"], json.loads(out)["id"]
            ids[recorded], back[real] = real, recorded
        out, err = (_swapped(text.replace(place, "/demo"), back) for text in (out, err))
        answers.append({**step, "rc": code, "stdout": out, "stderr": err})
    return answers


def _swapped(text: str, names: dict[str, str]) -> str:
    for old, new in names.items():
        text = text.replace(old, new)
    return text


def shape(text: str) -> Any:
    """What is the same in two runs of one command: JSON's keys and values without times and made-up ids."""
    text = _REVISION.sub('"revision": ""', _UUID.sub("UUID", _TIME.sub("TIME", text)))
    try:
        return json.loads(text)
    except ValueError:
        return text
