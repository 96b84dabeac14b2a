"""Platforms that tests put somewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

WORKFLOWS = "Workflows/platforms"
"""Where a project, or the folder beside it, has its platforms."""

OWN = ".config/lifecycle/platforms"
"""Where a user has theirs, below the home folder."""


def put(folder: Path, name: str, **more: Any) -> Path:
    """A platform's file in a folder of its name below this one."""
    return put_text(folder, name, json.dumps({"name": name, "markers": ["marker"], **more}))


def put_text(folder: Path, name: str, text: str) -> Path:
    """A file of this content in the place of a platform's."""
    path = folder / name / "platform.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
