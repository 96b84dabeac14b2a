"""Which platform a worktree is of, and what commands that gives it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lifecycle.platforms import selection
from lifecycle.platforms.discovery import Place


def put(folder: Path, name: str, **more: Any) -> Path:
    """A platform's file in a folder of its name below this one."""
    path = folder / name / "platform.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"name": name, "markers": ["marker"], **more}))
    return path


def test_commands_say_where_they_come_from_and_whether_they_need_the_yes(tmp_path: Path) -> None:
    """A project's own commands need the yes; those of the user's own folder do not."""
    root, home = tmp_path / "root", tmp_path / "home"
    (root / "sub").mkdir(parents=True)
    (root / "marker").touch()
    environment = {"HOME": str(home)}
    path = put(
        root / "Workflows/platforms", "mine", commands={"test": "x -q", "lint": [["a"], ["b"]]}
    )
    commands = selection.commands_of(root, environment)
    assert commands["test"].argvs == (("x", "-q"),)
    assert commands["lint"].argvs == (("a",), ("b",))
    assert commands["test"].path == path
    assert {one.needs_trust for one in commands.values()} == {True}
    own = home / ".config/lifecycle/platforms"
    put(own, "own", priority=1, commands={"test": ["y"]})
    (test,) = selection.commands_of(root, environment).values()
    assert (test.argvs, test.platform, test.place) == ((("y",),), "own", Place.USER)
    assert not test.needs_trust
