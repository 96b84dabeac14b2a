"""What git tracks of a few names: read off the index where that is certain, else asked of git."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lifecycle.core.errors import Refused
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.git import process, tracked_files
from lifecycle.storage.regular_files import StrangeFileError

NAMES = (".agent-claim.json", ".agent-claim.json.*.tmp", ".lifecycle", "CLAUDE/Plan")


class Repository:
    """A worktree with one file in it, and how often git was asked of it."""

    def __init__(self, root: Path) -> None:
        self.root, self.asked, self.variables = root, 0, dict[str, str]()
        self.git("init", "--quiet")
        self.add("README.md")

    def git(self, *words: str) -> None:
        """Run git here."""
        subprocess.run(["git", *words], cwd=self.root, check=True)

    def add(self, name: str) -> None:
        """Have git track a file of this name."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
        self.git("add", "--force", "--", name)

    def answer(self) -> tuple[list[str], int]:
        """What is tracked under the names, and how many processes that took."""
        self.asked = 0
        tracked = tracked_files.tracked_paths(
            self.root, Deadline(SystemClock(), None), self.variables, NAMES
        )
        return sorted(tracked), self.asked


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository; each process of git that the product starts is counted."""
    made = Repository(tmp_path)
    run = process.GitRepository.run

    def counted(self: process.GitRepository, *words: str, **how: object) -> str:
        made.asked += 1
        return run(self, *words, **how)  # type: ignore[arg-type]  # as they came

    monkeypatch.setattr(process.GitRepository, "run", counted)
    return made


@pytest.mark.parametrize("version", ["2", "3"])
def test_an_index_without_the_names_needs_no_git(here: Repository, version: str) -> None:
    """Names that only begin or end alike are others'; version 3 is what a file added by intent makes."""
    for name in (".lifecycle.toml", "x.lifecycles/a", "CLAUDE/Planning.md", "my.agent-claim.jso"):
        here.add(name)
    if version == "3":
        (here.root / "later").write_text("x")
        here.git("add", "--intent-to-add", "later")
    assert (here.root / ".git/index").read_bytes()[7:8] == bytes([int(version)])
    assert here.answer() == ([], 0)


@pytest.mark.parametrize(
    ("name", "is_ours"),
    [
        (".agent-claim.json", True),
        (".agent-claim.json/x", True),
        (".agent-claim.json.1.tmp", True),
        (".Agent-Claim.JSON", True),
        (".lifecycle", True),
        (".lifecycle/state.json", True),
        (".LIFECYCLE/a/b", True),
        ("CLAUDE/Plan/1/PLAN.md", True),
        ("docs/.lifecycle/x", False),
        ("a/.agent-claim.json", False),
        (".agent-claim.json.md", False),
    ],
)
def test_what_the_index_may_mean_is_asked_of_git(
    here: Repository, name: str, is_ours: bool
) -> None:
    """In any case of letters, as a file and as a folder; of one somewhere else git says that it is not."""
    here.add(name)
    assert here.answer() == ([name] if is_ours else [], 1)


def _shared(here: Repository) -> None:
    here.git("update-index", "--split-index")


def _compressed(here: Repository) -> None:
    here.git("update-index", "--index-version", "4")


def _sparse(here: Repository) -> None:
    """A sparse index has a folder for all that is in it."""
    here.git("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", "One")
    here.git("sparse-checkout", "init", "--cone", "--sparse-index")


def _broken(here: Repository) -> None:
    (here.root / ".git/index").write_bytes(b"DIRC")


def _linked(here: Repository) -> None:
    index = here.root / ".git/index"
    index.rename(here.root / ".git/other")
    index.symlink_to("other")


@pytest.mark.parametrize("change", [_shared, _compressed, _sparse, _linked])
def test_an_index_that_does_not_spell_each_path_out_is_left_to_git(
    here: Repository, change: Callable[[Repository], None]
) -> None:
    """A shared part, compressed paths, folders in the place of files, a link: what is tracked is found."""
    here.add(".lifecycle.toml")  # version 4 keeps of the next path what is not in this one
    here.add(".lifecycle/a/b")
    change(here)
    assert here.answer()[0]
    assert here.asked == 1


def test_an_index_that_is_none_is_left_to_git(here: Repository) -> None:
    """What git does not say counts as tracked; without any, or without a repository, nothing is."""
    _broken(here)
    assert here.answer() == (["*"], 1)
    (here.root / ".git/index").unlink()
    assert here.answer() == ([], 1)
    (here.root / ".git/HEAD").unlink()
    here.variables["GIT_CEILING_DIRECTORIES"] = str(here.root.parent)
    assert here.answer() == ([], 1)


def test_of_another_users_repository_nothing_is_read(
    here: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git refuses to answer there, and what it does not say is not believed.

    Source: https://git-scm.com/docs/git-config#Documentation/git-config.txt-safedirectory
    """
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    here.variables["GIT_TEST_ASSUME_DIFFERENT_OWNER"] = "1"
    assert here.answer() == (["*"], 1)
    with pytest.raises(Refused, match="git does not say what it tracks here"):
        tracked_files.refuse(here.root, Deadline(SystemClock(), None), here.variables)


def test_each_worktree_has_an_index_of_its_own(here: Repository) -> None:
    """A linked worktree's is read for it, not that of the clone."""
    here.git("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", "One")
    here.git("worktree", "add", "--quiet", "linked")
    here.add(".lifecycle/x")
    assert here.answer() == ([".lifecycle/x"], 1)
    main, here.root = here.root, here.root / "linked"
    assert here.answer() == ([], 0)
    here.add(".lifecycle/y")
    assert here.answer() == ([".lifecycle/y"], 1)
    assert (main / ".git/index").read_bytes().count(b".lifecycle/y") == 0


def test_a_pipe_in_place_of_gits_exclude_is_told_and_not_waited_for(tmp_path: Path) -> None:
    """No writer ever comes; a link to a person's own file is followed."""
    Repository(tmp_path)
    exclude = tmp_path / ".git/info/exclude"
    exclude.rename(tmp_path / "mine")
    exclude.symlink_to(tmp_path / "mine")
    tracked_files.exclude_own_files(tmp_path)
    assert (tmp_path / "mine").read_text().endswith("/.lifecycle/\n")
    exclude.unlink()
    os.mkfifo(exclude)
    with pytest.raises(StrangeFileError, match="is a named pipe"):
        tracked_files.exclude_own_files(tmp_path)
