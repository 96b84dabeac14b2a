"""A `bd` for tests: a program of ours that answers as real builds did, with a database of its own.

`install` puts it into a folder, which goes first on PATH; `workspace` makes a database in a
worktree. What was run is in `calls`, and `fault` lets the next run go wrong. That it answers as the
recordings in `recorded/` do is held by `test_simulated.py`.

What the product asks is always a process: a fork (`tests/e2e/forked.py`), and a Python of its own where
nothing is forked. What a person does by hand (`workspace`, `run`, `create`) is the same code called here:
it is in no `calls`, and no fault meets it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lifecycle.settings import user_folder
from lifecycle.storage import store
from tests.e2e.forked import Forked
from tests.trackers.beads.program import database
from tests.trackers.beads.program.answers import Build
from tests.trackers.beads.program.main import answer

PROFILES = ("0.30.7", "0.49.6-direct", "0.49.6-daemon", "1.0.5")
"""The builds on which most tests run."""

RECORDINGS = (*PROFILES, "1.3.0")
"""All recorded builds; the last one has leases."""

RECORDED = Path(__file__).with_name("recorded")
LONGEST_HEAD = 250
"""Bytes of a script's first line that Linux reads, a few less."""
_TOP = Path(__file__).parents[3]


def install(folder: Path, profile: str = "1.0.5") -> Path:
    """Put an executable `bd` of a build into a folder, and return its path.

    Args:
        folder: is made if it is not there; calls.jsonl and faults.json lie beside the program.
        profile: one of PROFILES.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "profile").write_text(profile)
    program = folder / "bd"
    asking = f"#!{Forked.bd} {folder}\n"
    program.write_text(
        asking if Forked.bd and len(asking) < LONGEST_HEAD else
        f"#!{sys.executable} -IS\n"
        "import sys\n"
        f"sys.path.insert(0, {str(_TOP)!r})\n"
        "from tests.trackers.beads.program.main import main\n"
        f"main({profile!r}, {str(folder)!r})\n"
    )  # fmt: skip
    program.chmod(0o755)
    return program


def environment(folder: Path, **more: str) -> dict[str, str]:
    """This process's variables with the folder first on PATH, and nothing that speaks to a real bd."""
    ours = ("BEADS_DIR", "BEADS_ACTOR", "BD_ACTOR", "BEADS_DB", "BD_JSON", "BD_JSON_ENVELOPE")
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return kept | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"} | more


def workspace(root: Path, folder: Path, prefix: str = "demo", ids: tuple[str, ...] = ()) -> Path:
    """Make a database in `root`, as the `bd` in `folder` does; returns its `.beads`.

    Args:
        root: a worktree's root, or any folder.
        folder: where `install` put the program.
        prefix: what ids begin with.
        ids: what the first issues are called.
    """
    root.mkdir(parents=True, exist_ok=True)
    assert (folder / "profile").exists(), "install comes first"
    database.Database(str(root / ".beads")).create(prefix, list(ids))
    return root / ".beads"


def allow(root: Path, environment: Mapping[str, str]) -> None:
    """The user whose environment this is lets bd run in this worktree's clone."""
    user_folder.allow(environment, store.clone_of(root), programs=["bd"])


def run(folder: Path, root: Path, *arguments: str, actor: str = "a-person") -> Any:
    """What somebody does by hand in the worktree: the parsed answer, None if it printed none."""
    around = environment(folder, BEADS_ACTOR=actor, BD_ACTOR=actor)
    around["BEADS_DIR"] = database.find(str(root), around)
    assert around["BEADS_DIR"], f"no workspace at {root}"
    build = Build((folder / "profile").read_text())
    code, out, err = answer(build, [*arguments, "--json"], around)
    assert code == 0, err or out
    return json.loads(out) if out else None


def create(folder: Path, root: Path, title: str, *labels: str, priority: int = 2) -> str:
    """Somebody writes an issue; its id."""
    marks = [f"--labels={','.join(labels)}"] if labels else []
    said = run(folder, root, "create", f"--title={title}", f"--priority={priority}", *marks)
    return str(said["id"])


def calls(folder: Path) -> list[dict[str, Any]]:
    """Every run so far, the oldest first: argv, env, cwd, stdin_is_null, leads (its process group)."""
    path = folder / "calls.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def forget(folder: Path) -> None:
    """Forget the runs so far."""
    (folder / "calls.jsonl").unlink(missing_ok=True)


def fault(folder: Path, on: str, do: str, times: int = 1) -> None:
    """Let runs go wrong.

    Args:
        folder: where `install` put the program.
        on: words that the command line has, all of them.
        do: hang-before, hang-after, die-before, die-after (the write), die-half (a create, before its
            labels), garbage, empty, noise, hold-pipe (a child keeps the pipes open), busy, gone
            (the task was deleted meanwhile), or none (nothing: so that the next entry waits for a
            later run).
        times: how many runs.
    """
    path = folder / "faults.json"
    there = json.loads(path.read_text()) if path.exists() else []
    path.write_text(json.dumps([*there, {"on": on, "do": do, "times": times}]))
