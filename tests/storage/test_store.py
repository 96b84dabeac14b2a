"""Files that two parties write: exchange instead of rename, and nothing lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lifecycle.core.errors import LockBusy
from lifecycle.storage import store
from lifecycle.storage.state_file import StateFile


def test_replace_if_replaces_what_was_expected(tmp_path: Path) -> None:
    """With the expected content there, the new content is put in and None returned."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    assert store.replace_if(path, b"old", b"new") is None
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("can_exchange", [True, False])
def test_replace_if_gives_back_what_it_found_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, can_exchange: bool
) -> None:
    """Another content is returned and left in place, with and without an exchanging file system."""
    if not can_exchange:
        monkeypatch.setattr(store, "_exchanger", lambda: None)
    path = tmp_path / "file"
    path.write_bytes(b"theirs")
    assert store.replace_if(path, b"old", b"new") == b"theirs"
    assert path.read_bytes() == b"theirs"
    assert list(tmp_path.iterdir()) == [path]
    assert store.replace_if(path, b"theirs", b"new") is None
    assert path.read_bytes() == b"new"


def test_replace_if_does_not_bring_a_deleted_file_back(tmp_path: Path) -> None:
    """A file that is gone stays gone."""
    path = tmp_path / "file"
    assert store.replace_if(path, b"old", b"new") == b""
    assert not path.exists()


@pytest.mark.timeout(20)
def test_a_pipe_in_the_place_of_gits_file_is_not_waited_for(tmp_path: Path) -> None:
    """Another user may leave a `.git` in a folder that all share: it is no clone, and nobody hangs."""
    os.mkfifo(tmp_path / ".git")
    assert store.common_folder(tmp_path) is None


def test_set_aside_takes_the_next_free_name(tmp_path: Path) -> None:
    """Two set-aside copies never overwrite each other."""
    path = tmp_path / "file"
    for content in (b"one", b"two"):
        path.write_bytes(content)
        store.set_aside(path, "corrupt")
    assert (tmp_path / "file.corrupt").read_bytes() == b"one"
    assert (tmp_path / "file.corrupt-2").read_bytes() == b"two"


def test_the_lock_is_one_for_the_worktree(tmp_path: Path) -> None:
    """Who finds it taken gives up after its time with LockBusy."""
    other = store.Folder(tmp_path)
    with store.Folder(tmp_path).locked(1), pytest.raises(LockBusy), other.locked(0.05):
        raise AssertionError("two held the lock")
    with store.Folder(tmp_path).locked(0.05):
        assert (tmp_path / ".lifecycle" / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"version": 99}', b"\xff"])
def test_an_unreadable_state_is_set_aside_and_begins_anew(tmp_path: Path, content: bytes) -> None:
    """state.json can be learned again; the bad one is kept under a clear name, and the person is told."""
    folder = store.Folder(tmp_path)
    folder.make()
    (folder.path / "state.json").write_bytes(content)
    file = StateFile(folder)
    (notice,) = file.reload()["queue"]
    assert ("state.json.unreadable" in notice["text"], notice["tone"]) == (True, "note")
    assert (folder.path / "state.json.unreadable").read_bytes() == content
    file.content = {"said": {}}
    file.save()
    assert StateFile(folder).reload()["said"] == {}


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The folder, which can be mended; not the file that would have become the other."""
    with pytest.raises(FileNotFoundError) as error:
        store.write(tmp_path / "gone/settings.json", b"")
    assert error.value.filename == str(tmp_path / "gone")
