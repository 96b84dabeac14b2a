"""Worktrees whose tasks are kept in one tracker or another, in tests."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.cli.outcome import ok
from tests.conftest import Place
from tests.trackers.beads import simulated


def with_beads(place: Place, tmp_path: Path, profile: str = "1.0.5") -> Place:
    """The worktree with a database of beads, and a `bd` that answers as a real build."""
    folder = tmp_path / "bin"
    simulated.install(folder, profile)
    path = f"{folder}{os.pathsep}{place.environment['PATH']}"
    simulated.workspace(place.root, folder)
    simulated.allow(place.root, place.environment)
    exclude = place.root / ".git/info/exclude"
    exclude.write_text(f"{exclude.read_text()}.beads/\n")
    return replace(place, environment={**place.environment, "PATH": path})


def told(place: Place, *arguments: str, stdin: bytes = b"") -> dict[str, Any]:
    """What `lifecycle tracker ARGUMENTS --json` says; it must succeed."""
    done = place.run(
        place.environment["LIFECYCLE_BIN"], "tracker", *arguments, "--json", stdin=stdin
    )
    data: dict[str, Any] = json.loads(ok(done))
    return data


def made(place: Place, title: str, *arguments: str) -> str:
    """The id of a new task."""
    return str(told(place, "create", title, *arguments)["task"]["id"])
