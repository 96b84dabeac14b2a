"""How files of ours are opened: regular, no link, bounded, never waited for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lifecycle.storage import regular_files, store
from lifecycle.storage.regular_files import StrangeFileError

NOT_ROOT = "giving a folder to another user needs root, which runs no tests here"


def lie(path: Path, kind: str) -> None:
    """Put something that is no file of ours in a file's place."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "link":
        (path.parent / "precious").write_bytes(b"precious")
        path.symlink_to(path.parent / "precious")
    else:
        path.symlink_to(path.parent / "nowhere")


KINDS = ["pipe", "device", "link", "dangling"]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_of_ours_is_neither_read_nor_written_nor_waited_for(
    tmp_path: Path, kind: str
) -> None:
    """A pipe that nobody writes to, a device without an end, links: refused by every way to a file."""
    path = tmp_path / "file"
    lie(path, kind)
    before = path.lstat()
    ways: dict[str, Callable[[], object]] = {
        "content": lambda: regular_files.content(str(path)),
        "fill": lambda: regular_files.fill(str(path), b"ours"),
        "append": lambda: regular_files.append(str(path), b"ours", most=100),
        "mark": lambda: regular_files.mark(str(path), 1),
        "locked": lambda: store.locked(path, 0.1, "").__enter__(),
    }
    for name, way in ways.items():
        with pytest.raises(StrangeFileError) as caught:
            way()
        assert str(path) in caught.value.sentence, name
    assert regular_files.mtime_ns(str(path)) == -1
    assert (path.lstat().st_ino, path.lstat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert not (tmp_path / "nowhere").exists()
    if kind == "link":
        assert (tmp_path / "precious").read_bytes() == b"precious"


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_persons_own_file_may_be_a_link_but_has_to_be_a_file(tmp_path: Path, kind: str) -> None:
    """Settings are linked by those who keep them elsewhere; a link to a pipe or a device hangs nobody."""
    lie(tmp_path / "strange", kind)
    (tmp_path / "settings").symlink_to("strange")
    with pytest.raises(StrangeFileError):
        store.read(tmp_path / "settings")
    (tmp_path / "strange").unlink()
    (tmp_path / "strange").write_bytes(b"mine")
    found = store.read(tmp_path / "settings")
    assert found is not None
    assert found.content == b"mine"


def test_of_a_file_without_measure_no_more_is_read_than_shows_it(tmp_path: Path) -> None:
    """Ten gigabytes that take no room on the disk: so many bytes as are asked for, and one more."""
    path = tmp_path / "file"
    with path.open("wb") as file:
        file.truncate(10_000_000_000)
    found = regular_files.content(str(path), limit=1000)
    assert found is not None
    assert len(found[0]) == 1001


def test_what_is_written_has_one_name(tmp_path: Path) -> None:
    """A hard link to somebody's file: that keeps its content, and ours is another file from then on."""
    precious = tmp_path / "precious"
    writes: tuple[Callable[[str], None], ...] = (
        lambda path: regular_files.fill(path, b"ours"),
        lambda path: regular_files.append(path, b"ours", most=100),
        lambda path: regular_files.mark(path, 1),
    )
    for write in writes:
        precious.write_bytes(b"precious")
        path = tmp_path / "file"
        path.unlink(missing_ok=True)
        path.hardlink_to(precious)
        write(str(path))
        assert precious.read_bytes() == b"precious"
        assert precious.stat().st_mtime_ns != 1
        assert path.stat().st_ino != precious.stat().st_ino


def test_what_another_process_put_there_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is replaced or taken away once it was opened: nothing is deleted, nothing fails."""
    path = tmp_path / "file"
    opening = os.open
    moves: tuple[Callable[[], object], ...] = (
        path.unlink,
        lambda: (tmp_path / "new").replace(path),
    )
    for move in moves:
        path.write_bytes(b"old")
        (tmp_path / "new").write_bytes(b"theirs")

        def meanwhile(*args: Any, move: Callable[[], object] = move) -> int:
            descriptor = opening(*args)
            move()
            return descriptor

        with monkeypatch.context() as patch:
            patch.setattr(os, "open", meanwhile)
            regular_files.mark(str(path), 1)
    assert path.read_bytes() == b"theirs"
    assert path.stat().st_mtime_ns != 1


def test_a_log_keeps_two_that_are_full(tmp_path: Path) -> None:
    """The lines go on in a new file, and no more than three are kept."""
    path = tmp_path / "log"
    for number in range(5):
        regular_files.append(str(path), b"%d......\n" % number, most=10)
    assert [one.read_bytes()[:1] for one in (path, tmp_path / "log.1", tmp_path / "log.2")] == [
        b"4",
        b"3",
        b"2",
    ]
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("inner", ["", "stages"])
@pytest.mark.parametrize("kind", ["link", "pipe", "theirs"])
def test_a_folder_that_is_not_ours_is_not_used(tmp_path: Path, kind: str, inner: str) -> None:
    """A link, no folder, another user's: whatever is asked of it is refused, and nothing in it changes."""
    if kind == "theirs" and os.geteuid() != 0:
        pytest.skip(NOT_ROOT)
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "state.json").write_text("precious")
    bad = tmp_path / ".lifecycle" / inner
    if inner:
        bad.parent.mkdir()
    if kind == "link":
        bad.symlink_to(victim)
    elif kind == "pipe":
        os.mkfifo(bad)
    else:
        victim.rename(bad)
        victim = bad
        os.chown(bad, 12345, -1)
    folder = store.Folder(tmp_path, inner)
    ways: tuple[Callable[[], object], ...] = (
        folder.make,
        lambda: folder.read("state.json"),
        lambda: folder.write("state.json", b"ours"),
        lambda: folder.mark("state.json", 1),
        lambda: folder.mtime_ns("state.json"),
        lambda: folder.remove("state.json"),
        lambda: folder.locked(0.1).__enter__(),
    )
    for way in ways:
        with pytest.raises(StrangeFileError):
            way()
    names = [] if kind == "pipe" else ["state.json"]
    assert [path.name for path in (bad.iterdir() if names else ())] == names
    assert (victim / "state.json").read_text() == "precious"


def test_our_folder_is_the_users_alone(tmp_path: Path) -> None:
    """Whoever else may write in the worktree may not put anything into it."""
    old = os.umask(0o002)
    try:
        store.Folder(tmp_path, "stages").make()
    finally:
        os.umask(old)
    for path in (tmp_path / ".lifecycle", tmp_path / ".lifecycle/stages"):
        assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(("code", "head"), [(0, "ref: refs/heads/topic"), (1, "")])
def test_what_head_says_where_refs_are_kept_in_a_reftable_git_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, head: str
) -> None:
    """The file names a branch that nobody can have (https://git-scm.com/docs/reftable); no other asks."""
    script = tmp_path / "git"
    script.write_text(
        f"#!/bin/sh\n[ $1 = --git-dir={tmp_path} ] && echo refs/heads/topic\nexit {code}\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    for line in ("ref: refs/heads/main", "0" * 40):
        (tmp_path / "HEAD").write_text(f"{line}\n")
        assert regular_files.head_of(str(tmp_path)) == line
    (tmp_path / "HEAD").write_text("ref: refs/heads/.invalid\n")
    assert regular_files.head_of(str(tmp_path)) == head


def test_a_line_longer_than_the_whole_log_is_written_all_the_same(tmp_path: Path) -> None:
    """It has a file of its own; the one before it is kept."""
    log = tmp_path / "log"
    for text in (b"short", b"x" * 50, b"last"):
        regular_files.append(str(log), text, most=20)
    assert log.read_bytes() == b"last"
    assert (tmp_path / "log.1").read_bytes() == b"x" * 50
    assert (tmp_path / "log.2").read_bytes() == b"short"
