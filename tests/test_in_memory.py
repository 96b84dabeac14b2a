"""Where the suite's temporary files lie."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.bare_pytest import BARE
from tests.in_memory import LOCK, MEMORY, PREFIX, folder_of_run, has_room, remove_left

ROOT = Path(__file__).parents[1]


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
        f_flag=os.ST_NOEXEC, f_bavail=system.f_bavail, f_frsize=system.f_frsize, f_files=0
    )
    monkeypatch.setattr(os, "statvfs", lambda _: closed)
    assert not has_room(tmp_path, 1)


def test_a_folder_for_few_files_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems limit files apart from bytes; where the limit is 0 they have none."""
    system = os.statvfs(tmp_path)
    for files, free, expected in ((1_000_000, 10, False), (0, 0, True), (10**9, 10**9, True)):
        known = SimpleNamespace(
            f_flag=0, f_bavail=system.f_bavail, f_frsize=system.f_frsize,
            f_files=files, f_favail=free,
        )  # fmt: skip
        monkeypatch.setattr(os, "statvfs", lambda _, known=known: known)
        assert has_room(tmp_path, 1) is expected


def test_what_a_run_that_is_over_left_is_removed(tmp_path: Path) -> None:
    """A run's folder is known by its lock, which its process holds; others' folders are left alone."""
    running = folder_of_run(tmp_path)
    over = tmp_path / f"{PREFIX}over"
    over.mkdir()
    (over / LOCK).touch()
    (over / "file").touch()
    others = [tmp_path / "lifecycle-sandbox-1", tmp_path / "pytest-of-me"]
    for other in others:
        other.mkdir()
    remove_left(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([running, *others])


@pytest.mark.parametrize(("outcome", "remains"), [("passes", False), ("fails", True)])
def test_a_run_that_passes_leaves_nothing(tmp_path: Path, outcome: str, *, remains: bool) -> None:
    """What a failed one left is there to be looked at, until the next run."""
    if not has_room(MEMORY):
        pytest.skip("needs room in memory")
    noted = tmp_path / "noted"
    (tmp_path / "test_one.py").write_text(
        "import os, pathlib\n"
        "def test_one(tmp_path):\n"
        f"    pathlib.Path({str(noted)!r}).write_text(os.environ['TMPDIR'])\n"
        f"    assert {outcome == 'passes'}\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "TMPDIR"}
    command = [sys.executable, "-m", "pytest", *BARE, "-p", "tests.in_memory"]
    command += ["--rootdir", str(tmp_path), "-c", os.devnull, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    folder = Path(noted.read_text())
    assert folder.parent == MEMORY
    assert (done.returncode, folder.exists()) == (int(remains), remains)
    shutil.rmtree(folder, ignore_errors=True)


def test_temporary_files_are_there() -> None:
    """In memory where it has room, and wherever TMPDIR says."""
    assert Path(tempfile.gettempdir()) == Path(os.environ.get("TMPDIR", tempfile.gettempdir()))
    assert os.environ.get("TMPDIR") or not has_room(MEMORY)
