"""Which clones are known: one small file of the user's for each, and no trace of a clone that is gone."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from lifecycle.settings.user_folder import known_clones, note_clone, worktrees_of
from lifecycle.storage import store
from lifecycle.storage.regular_files import StrangeFileError


def git(*words: str | Path) -> None:
    """Run git, as somebody who can commit."""
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *words], check=True, capture_output=True)


def clone(path: Path) -> Path:
    """A repository with one commit, and its root."""
    git("init", "--quiet", path)
    git("-C", path, "commit", "--quiet", "--allow-empty", "--message=first")
    return path.resolve()


def me(tmp_path: Path) -> dict[str, str]:
    """The variables of a user without anything."""
    return {"HOME": str(tmp_path / "me"), "PATH": os.environ["PATH"]}


def folder_of(tmp_path: Path) -> Path:
    """Where that user's clones are kept."""
    return tmp_path / "me/.config/lifecycle/clones"


def test_a_clone_is_known_once_and_to_its_user_alone(tmp_path: Path) -> None:
    """However often it is noted, from each of its worktrees: one file that nobody else can read."""
    root, environment = clone(tmp_path / "hello"), me(tmp_path)
    git("-C", root, "worktree", "add", "--quiet", tmp_path / "second")
    assert known_clones(environment) == ()
    for _ in range(2):
        note_clone(root, environment)
        note_clone(tmp_path / "second", environment)
    (entry,) = folder_of(tmp_path).iterdir()
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600
    assert stat.S_IMODE(entry.parent.stat().st_mode) == 0o700
    (found,) = known_clones(environment)
    assert found.git == root / ".git"
    assert worktrees_of(found) == (root, (tmp_path / "second").resolve())


def test_what_is_known_is_not_written_again(tmp_path: Path) -> None:
    """The second time costs a look, and no write."""
    root, environment = clone(tmp_path / "hello"), me(tmp_path)
    note_clone(root, environment)
    (entry,) = folder_of(tmp_path).iterdir()
    os.utime(entry, (1, 1))
    note_clone(root, environment)
    assert entry.stat().st_mtime == 1


def test_a_clone_that_vanished_is_dropped(tmp_path: Path) -> None:
    """Its file goes as soon as somebody looks; the others stay."""
    environment = me(tmp_path)
    one, other = clone(tmp_path / "one"), clone(tmp_path / "other")
    note_clone(one, environment)
    note_clone(other, environment)
    shutil.rmtree(one)
    assert [found.git for found in known_clones(environment)] == [other / ".git"]
    assert len(list(folder_of(tmp_path).iterdir())) == 1


def test_worktrees_are_those_that_are_there(tmp_path: Path) -> None:
    """A worktree that was deleted without git is none of it, whatever stands in its place by now.

    That may be another clone, or a link that leads to itself; nor is a path that no folder can have.
    """
    root, environment = clone(tmp_path / "hello"), me(tmp_path)
    for name in ("gone", "taken", "turned", "kept"):
        git("-C", root, "worktree", "add", "--quiet", tmp_path / name)
        if name != "kept":
            shutil.rmtree(tmp_path / name)
    clone(tmp_path / "taken")
    (tmp_path / "turned").symlink_to("turned")
    (root / ".git/worktrees/gone/gitdir").write_bytes(b"/a\0b/.git\n")
    assert store.places_of(root, "kept") == [(tmp_path / "kept").resolve()]
    note_clone(root, environment)
    (found,) = known_clones(environment)
    assert worktrees_of(found) == (root, (tmp_path / "kept").resolve())


def test_a_clone_without_a_folder_of_its_own_has_its_worktrees(tmp_path: Path) -> None:
    """Of a bare clone the linked ones are found; of one whose git folder lies elsewhere its main one."""
    environment = me(tmp_path)
    root = clone(tmp_path / "hello")
    git("clone", "--quiet", "--bare", root, tmp_path / "bare.git")
    git("-C", tmp_path / "bare.git", "worktree", "add", "--quiet", tmp_path / "linked")
    git("clone", "--quiet", f"--separate-git-dir={tmp_path / 'apart'}", root, tmp_path / "main")
    note_clone(tmp_path / "linked", environment)
    note_clone(tmp_path / "main", environment)
    found = {one.git.name: worktrees_of(one) for one in known_clones(environment)}
    assert found == {
        "bare.git": ((tmp_path / "linked").resolve(),),
        "apart": ((tmp_path / "main").resolve(),),
    }


def test_a_path_may_hold_anything(tmp_path: Path) -> None:
    """Line breaks and bytes that are no text are kept."""
    environment = me(tmp_path)
    root = clone(tmp_path / os.fsdecode(b"a\nb\xff"))
    note_clone(root, environment)
    (found,) = known_clones(environment)
    assert worktrees_of(found) == (root,)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"version": 2}', b"\xff", b'{"version":1}']
)
def test_a_file_that_is_none_of_ours_is_dropped(tmp_path: Path, content: bytes) -> None:
    """It costs no other clone, and does not stay; what has another name is not touched."""
    root, environment = clone(tmp_path / "hello"), me(tmp_path)
    note_clone(root, environment)
    (folder_of(tmp_path) / ("0" * 32)).write_bytes(content)
    (folder_of(tmp_path) / "README").write_bytes(content)
    assert len(known_clones(environment)) == 1
    names = {path.name for path in folder_of(tmp_path).iterdir()}
    assert "README" in names
    assert "0" * 32 not in names


def test_a_folder_that_leads_elsewhere_is_not_used(tmp_path: Path) -> None:
    """A link in its place is refused: what is written or dropped would be somebody else's."""
    environment, elsewhere = me(tmp_path), tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ("0" * 32)).write_bytes(b"{")
    folder_of(tmp_path).parent.mkdir(parents=True)
    folder_of(tmp_path).symlink_to(elsewhere)
    note_clone(clone(tmp_path / "hello"), environment)
    with pytest.raises(StrangeFileError):
        known_clones(environment)
    assert [path.name for path in elsewhere.iterdir()] == ["0" * 32]


def test_nothing_is_noted_where_nothing_can_be(tmp_path: Path) -> None:
    """Outside of a clone, without a home, and where the folder cannot be made, work goes on in silence."""
    root, environment = clone(tmp_path / "hello"), me(tmp_path)
    note_clone(tmp_path, environment)
    note_clone(root, {})
    (tmp_path / "me").write_text("no folder")
    note_clone(root, environment)
    assert (tmp_path / "me").read_text() == "no folder"
    assert known_clones({}) == ()
