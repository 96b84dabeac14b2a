"""What the doctor says of the client's status line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lifecycle.settings.resources import hook_script
from tests.setup.doctor.conftest import LOCAL, SHARED, Patient

SCRIPT = str(hook_script("statusline").absolute())


def line(command: str) -> dict[str, Any]:
    """Settings with a status line."""
    return {"statusLine": {"type": "command", "command": command}}


def set_in(patient: Patient, name: str, command: str) -> None:
    """Give one of the project's settings files a status line beside what it has."""
    path = patient.root / name
    data = json.loads(path.read_text()) if path.exists() else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**data, **line(command)}))


def said(patient: Patient) -> dict[str, tuple[str, str]]:
    """Level and fix of each finding about it."""
    found = patient.findings()
    return {
        name: (one["level"], one.get("fix") or "")
        for name, one in found.items()
        if name.startswith("statusline.")
    }


def test_outside_of_any_worktree_nothing_is_said_of_it(patient: Patient, tmp_path: Path) -> None:
    """It shows a worktree, and the one problem there is that there is none."""
    patient.place.root = tmp_path / "outside"
    set_in(patient, LOCAL, SCRIPT)
    patient.is_process = True
    assert said(patient) == {}
    patient.only("worktree.git", "fail")


def test_a_status_line(patient: Patient) -> None:
    """None is no finding; ours is said; one that is lost, hidden or calls an old one has its command."""
    fix = "lifecycle init --statusline"
    assert said(patient) == {}
    set_in(patient, SHARED, "theirs")
    assert said(patient) == {}
    set_in(patient, LOCAL, f"{SCRIPT} theirs")
    assert said(patient) == {"statusline.set": ("ok", "")}
    set_in(patient, LOCAL, f"{SCRIPT} former")
    assert said(patient) == {"statusline.other": ("warn", fix)}
    set_in(patient, LOCAL, "/gone/hooks/statusline theirs")
    assert said(patient) == {"statusline.lost": ("warn", fix)}
    set_in(patient, SHARED, SCRIPT)
    set_in(patient, LOCAL, "theirs")
    assert said(patient) == {"statusline.hidden": ("warn", fix)}
