"""Where the suite's temporary files lie."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.in_memory import MEMORY, has_room


def test_a_folder_has_room_where_so_much_is_free(tmp_path: Path) -> None:
    """More than a whole disk is in none, and what is not there has nothing."""
    assert has_room(tmp_path, 1)
    assert not has_room(tmp_path, 2**62)
    assert not has_room(tmp_path / "missing", 1)


def test_a_folder_that_runs_no_programs_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests write commands and run them: what is mounted noexec, as by Docker, is no place for them."""
    system = os.statvfs(tmp_path)
    closed = SimpleNamespace(
        f_flag=os.ST_NOEXEC, f_bavail=system.f_bavail, f_frsize=system.f_frsize
    )
    monkeypatch.setattr(os, "statvfs", lambda _: closed)
    assert not has_room(tmp_path, 1)


def test_temporary_files_are_there() -> None:
    """In memory where it has room, and wherever TMPDIR says."""
    assert Path(tempfile.gettempdir()) == Path(os.environ.get("TMPDIR", tempfile.gettempdir()))
    assert os.environ.get("TMPDIR") or not has_room(MEMORY)
