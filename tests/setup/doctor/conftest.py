"""A project in which everything is as it should be, to be broken in one place."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lifecycle.core.timing import SystemClock
from lifecycle.sandbox.control import Control
from lifecycle.sandbox.git.store.repository import content_of, put
from lifecycle.sandbox.seed import Seed
from lifecycle.sandbox.server import Sandbox
from lifecycle.setup.doctor.examination import examine
from tests.asserted import check
from tests.cli.outcome import ok
from tests.clones import clone
from tests.conftest import COMMAND, Place, environment_of

LOCAL = ".claude/settings.local.json"
SHARED = ".claude/settings.json"


@dataclass
class Patient:
    """A place, what the doctor says of it, and hands to break and mend it.

    `is_process`: the doctor runs as a process of its own, as in `cli/test_doctor.py`; in this one
    it takes a third.
    """

    place: Place
    is_process: bool = False

    @property
    def root(self) -> Path:
        """The worktree."""
        return self.place.root

    @property
    def home(self) -> Path:
        """The user's home folder."""
        return Path(self.place.environment["HOME"])

    def report(self, **environment: str) -> dict[str, Any]:
        """What `lifecycle doctor --json` prints; exit code and `ok` have to agree."""
        if not self.is_process:
            seen = {**self.place.environment, **environment}
            return examine(self.root, seen, SystemClock()).as_json()
        done = self.place.cli("doctor", "--json", **environment)
        assert "Traceback" not in done.stdout + done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        assert (done.returncode, done.stderr) == (0 if found["ok"] else 1, "")
        return found

    def findings(self, **environment: str) -> dict[str, dict[str, Any]]:
        """All findings by name."""
        return {one["name"]: one for one in self.report(**environment)["findings"]}

    def wrong(self, **environment: str) -> list[dict[str, Any]]:
        """What is not as it should be."""
        return [one for one in self.report(**environment)["findings"] if one["level"] != "ok"]

    @check
    def only(self, name: str, level: str, **environment: str) -> dict[str, Any]:
        """The one finding that is not as it should be."""
        wrong = self.wrong(**environment)
        assert [(one["name"], one["level"]) for one in wrong] == [(name, level)], wrong
        return wrong[0]

    def unset(self, name: str) -> None:
        """Take a variable out of the environment of all that follows."""
        del self.place.environment[name]

    def settings(self, name: str = LOCAL) -> dict[str, Any]:
        """A settings file of the project."""
        found: dict[str, Any] = json.loads((self.root / name).read_text())
        return found

    def write_settings(self, data: dict[str, Any], path: Path | None = None) -> None:
        """Write a settings file, by default the person's own for the project."""
        path = path or self.root / LOCAL
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data))

    def change_hook(self, name: str, **changes: Any) -> None:
        """Change the entry of one script; None takes a key out."""
        data = self.settings()
        for entry in entries(data):
            if entry["command"].endswith(f"/{name}"):
                entry.update(changes)
                for key in [key for key, value in entry.items() if value is None]:
                    del entry[key]
        self.write_settings(data)


def entries(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Every hook entry of a settings file."""
    return [one for groups in data["hooks"].values() for group in groups for one in group["hooks"]]


Admit = Callable[[Place], Patient]


@pytest.fixture
def patient(place: Place, tmp_path: Path) -> Patient:
    """Wired by `lifecycle init`, and healthy."""
    return _wired(place, tmp_path)


@pytest.fixture
def seeded(tmp_path: Path, command: Path) -> Iterator[Callable[[Seed], Patient]]:
    """Makes a healthy project of another world."""
    with ExitStack() as stack:

        def make(seed: Seed) -> Patient:
            info = stack.enter_context(Sandbox(seed)).info
            root = tmp_path / "seeded"
            environment = environment_of(info, root)
            clone(info.git_url, root, environment)
            control = Control(info.control_url)
            return _wired(Place(info, control, root, environment, command=command), tmp_path)

        yield make


_WRITTEN: list[dict[str, bytes | None]] = []
"""What `init` writes into a worktree and into the user's settings: for each of these projects the same."""


def _wired(place: Place, tmp_path: Path) -> Patient:
    home = tmp_path / "user"
    home.mkdir(exist_ok=True)
    path = f"{COMMAND.parent}:{place.environment['PATH']}"
    # What is looked at is an installed command, whoever looks.
    place.environment |= {"HOME": str(home), "PATH": path, "LIFECYCLE_BIN": str(COMMAND)}
    folders = (place.root, Path(place.environment["XDG_CONFIG_HOME"]))
    if not _WRITTEN:
        before = [content_of(folder) for folder in folders]
        ok(place.cli("init"))
        for folder, kept in zip(folders, before, strict=True):
            after = content_of(folder).items()
            _WRITTEN.append({n: data for n, data in after if n not in kept or kept[n] != data})
    for folder, written in zip(folders, _WRITTEN, strict=True):
        folder.mkdir(parents=True, exist_ok=True)
        put(written, folder)
    return Patient(place)
