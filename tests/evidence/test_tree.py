"""The working tree's fingerprint: the same before and after a commit, another after any edit."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from lifecycle.core.errors import GitFailed, Transient
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.evidence import tree_hash
from lifecycle.evidence.tree_hash import fingerprint, is_own, seen
from lifecycle.git import tracked_files
from lifecycle.git.process import GitRepository
from lifecycle.run import run_store
from lifecycle.storage.log import STAGED_LINES
from lifecycle.workflow.store import document_files

VARIABLES = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


class Clone:
    """A repository with one commit."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet")
        (root / "code.py").write_text("one = 1\n")
        (root / ".gitignore").write_text("ignored/\n")
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", "Begin")

    def git(self, *arguments: str) -> str:
        """Run git here; it must succeed."""
        environment = {**os.environ, **VARIABLES}
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, env=environment, capture_output=True, check=True
        )
        return done.stdout.decode()

    def word(self) -> str:
        """The fingerprint as it is now."""
        return fingerprint(self.root, Deadline.after(SystemClock(), 30), VARIABLES)

    def inside(self) -> dict[str, bytes]:
        """Every file of git's own; the date of an object that is needed again may become newer."""
        return {
            str(path): path.read_bytes()
            for path in (self.root / ".git").rglob("*")
            if path.is_file()
        }


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """The repository."""
    return Clone(tmp_path / "a folder: with, strange \N{GREEK SMALL LETTER ALPHA} names")


def edit(clone: Clone) -> None:
    """A file that git knows is changed."""
    (clone.root / "code.py").write_text("one = 2\n")


def add(clone: Clone) -> None:
    """A file that git does not know yet."""
    (clone.root / "new.py").write_text("")


def delete(clone: Clone) -> None:
    """A file goes."""
    (clone.root / "code.py").unlink()


def make_runnable(clone: Clone) -> None:
    """A file's mode counts."""
    (clone.root / "code.py").chmod(0o755)


def test_an_edit_in_the_second_of_the_index_is_seen(clone: Clone) -> None:
    """As long as before, at the time of the index: git reads such a file again, and so does this.

    Source: https://git-scm.com/docs/racy-git.
    """
    code, index = clone.root / "code.py", clone.root / ".git" / "index"
    clone.git("config", "core.trustctime", "false")
    os.utime(code, (1_700_000_000, 1_700_000_000))
    clone.git("add", "code.py")
    before = clone.word()
    edit(clone)
    os.utime(code, (1_700_000_000, 1_700_000_000))
    os.utime(index, (1_700_000_000, 1_700_000_000))
    assert clone.word() != before


@pytest.mark.parametrize("change", [edit, add, delete, make_runnable])
def test_any_edit_makes_it_another_and_its_commit_does_not(
    clone: Clone, change: Callable[[Clone], None]
) -> None:
    """Edited: another word. Staged, committed, on a branch: the same one. Taken back: the first one."""
    before = clone.word()
    assert before == clone.git("rev-parse", "HEAD^{tree}").strip()
    change(clone)
    edited = clone.word()
    assert edited != before
    clone.git("add", "--all")
    assert clone.word() == edited
    clone.git("switch", "--quiet", "-c", "other")
    clone.git("commit", "--quiet", "-m", "Change")
    assert clone.word() == edited
    clone.git("revert", "--no-edit", "HEAD")
    assert clone.word() == before


def test_nothing_is_written_into_the_repository(clone: Clone) -> None:
    """Not one object, no index, no lock: also with files that git has never seen."""
    for number in range(20):
        (clone.root / f"new-{number}.txt").write_text(str(number))
    before = clone.inside()
    assert clone.word()
    assert clone.inside() == before


def test_a_tree_that_did_not_change_is_not_listed_again(clone: Clone) -> None:
    """What was seen before a run is seen after it; any edit, also of our own files, is looked at anew."""
    whole = Deadline.after(SystemClock(), 30)
    before = seen(GitRepository(clone.root, whole, VARIABLES), {})
    assert before.name == before.full == before.raw == clone.word()
    assert seen(GitRepository(clone.root, whole, VARIABLES), {}, before=before) is before
    (clone.root / ".agent-claim.json").write_text("{}")
    ours = seen(GitRepository(clone.root, whole, VARIABLES), {}, before=before)
    assert (ours.name, ours.full) == (before.name, before.full)
    assert ours.raw != before.raw
    edit(clone)
    after = seen(GitRepository(clone.root, whole, VARIABLES), {}, before=before)
    assert after.name == clone.word() != before.name
    assert {path for path in after.files if after.files[path] != before.files[path]} == {"code.py"}


def test_what_git_ignores_and_what_is_ours_does_not_count(clone: Clone) -> None:
    """An ignored file, the claim, `.lifecycle/` and the workflow's log are no part of what was tested.

    Whether git ignores ours, as it does after `init` or a claim, or not.
    """
    before = clone.word()
    for name in (
        "ignored/cache",
        ".agent-claim.json",
        ".lifecycle/state.json",
        ".claude/workflow_orchestrator.log",
        ".claude/workflow_orchestrator.log.1",
    ):
        path = clone.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    assert clone.word() == before
    with (clone.root / ".git/info/exclude").open("a") as file:
        file.write("/.agent-claim.json*\n/.claude/workflow_orchestrator.log*\n")
    (clone.root / ".lifecycle/.gitignore").write_text("*\n")
    assert clone.word() == before
    (clone.root / ".claude/settings.json").write_text("{}")
    assert clone.word() != before


@pytest.mark.parametrize(
    "lines", [tracked_files.OWN_LINES, run_store.LINES, STAGED_LINES, document_files.LINES]
)
def test_what_any_system_of_ours_has_git_ignore_is_no_part_of_the_tree(
    clone: Clone, lines: tuple[str, ...]
) -> None:
    """Else each record would void its own evidence, where somebody took the patterns out of git's file."""
    before = clone.word()
    assert lines
    for line in lines:
        path = clone.root / f"{line.strip('/*')}{'/one' if line.endswith('/') else ''}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
        assert is_own(str(path.relative_to(clone.root)))
    assert clone.word() == before


def test_it_is_told_in_a_linked_worktree_and_under_gits_own_variables(clone: Clone) -> None:
    """A worktree beside the clone has a word of its own; a caller's GIT_INDEX_FILE is not followed."""
    before = clone.word()
    beside = clone.root.parent / "beside"
    clone.git("worktree", "add", "--quiet", str(beside))
    deadline = Deadline.after(SystemClock(), 30)
    strange = {**VARIABLES, "GIT_INDEX_FILE": "/nowhere/index", "GIT_DIR": "/nowhere"}
    assert fingerprint(beside, deadline, strange) == before
    (beside / "code.py").write_text("one = 3\n")
    assert fingerprint(beside, deadline, strange) != before
    assert clone.word() == before


def test_a_repository_without_a_commit_and_a_folder_without_a_repository(tmp_path: Path) -> None:
    """The first has a word like any other; the second has none."""
    deadline = Deadline.after(SystemClock(), 30)
    assert fingerprint(tmp_path, deadline, {**VARIABLES, "GIT_CEILING_DIRECTORIES": "/"}) == ""
    subprocess.run(["git", "init", "--quiet", str(tmp_path / "fresh")], check=True)
    (tmp_path / "fresh/a").write_text("a")
    assert len(fingerprint(tmp_path / "fresh", deadline, VARIABLES)) in (40, 64)


def test_what_git_cannot_read_is_a_sentence(clone: Clone) -> None:
    """A repository inside that has no commit stops git: a sentence names it, and nothing is left behind."""
    subprocess.run(["git", "init", "--quiet", str(clone.root / "inner")], check=True)
    before = clone.inside()
    with pytest.raises(
        GitFailed, match=r"'inner/' does not have a commit.*no test run counts for them"
    ):
        clone.word()
    assert clone.inside() == before


def wrapped(folder: Path, script: str) -> dict[str, str]:
    """Variables with which another `git` comes first."""
    folder.mkdir()
    path = folder / "git"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return {**VARIABLES, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def test_what_takes_too_long_is_given_up_with_a_sentence(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that git does not get to the end of: said with what to do, and nothing is left behind."""
    real = shutil.which("git")
    hangs = f'case "$*" in *" add "*) exec sleep 60 ;; esac\nexec {real} "$@"'
    variables = wrapped(clone.root.parent / "bin", hangs)
    left = clone.root.parent / "temporary"
    left.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(left))
    before = clone.inside()
    monkeypatch.setattr(tree_hash, "SECONDS", 1.0)
    deadline = Deadline.after(SystemClock(), 30)
    with pytest.raises(Transient, match=r"no test run counts for them.* in \.gitignore"):
        fingerprint(clone.root, deadline, variables)
    assert deadline.left > 5
    with pytest.raises(Transient, match=r"took too long|The time for this look is up"):
        fingerprint(
            clone.root, Deadline.after(SystemClock(), 0.3), variables
        )  # in a git, or between
    assert (clone.inside(), list(left.iterdir())) == (before, [])


def test_nothing_is_made_small_that_is_thrown_away(clone: Clone) -> None:
    """Every git that writes is told so: 700 MB would take half a minute."""
    note = clone.root.parent / "note"
    variables = wrapped(
        clone.root.parent / "bin", f'echo "$*" >>{note}\nexec {shutil.which("git")} "$@"'
    )
    (clone.root / "new.txt").write_text("x" * 100_000)
    word = fingerprint(clone.root, Deadline.after(SystemClock(), 30), variables)
    assert word == clone.word()
    (line,) = [line for line in note.read_text().splitlines() if " add " in line]
    assert "-c core.compression=0 -c core.looseCompression=0 " in line


@pytest.mark.parametrize("told", ["--assume-unchanged", "--skip-worktree"])
def test_what_git_was_told_to_pass_over_is_a_part_of_the_tree(clone: Clone, told: str) -> None:
    """An edit that git does not see changes the word, also while something runs; the user's index stays."""
    before = clone.word()
    clone.git("update-index", told, "code.py")
    assert clone.word() == before
    look = seen(GitRepository(clone.root, Deadline.after(SystemClock(), 30), VARIABLES), {})
    index = (clone.root / ".git/index").read_bytes()
    edit(clone)
    assert clone.git("status", "--short") == ""
    assert clone.word() != before
    again = seen(
        GitRepository(clone.root, Deadline.after(SystemClock(), 30), VARIABLES), {}, before=look
    )
    assert again.name == clone.word() != look.name
    assert {p for p in again.files if again.files[p] != look.files[p]} == {"code.py"}
    assert (clone.root / ".git/index").read_bytes() == index
    delete(clone)
    assert (clone.word() != before) == (told == "--assume-unchanged")


def test_what_a_sparse_checkout_leaves_out_is_as_it_was_committed(clone: Clone) -> None:
    """Its files are not there, and that is no change."""
    (clone.root / "far").mkdir()
    (clone.root / "far/away.py").write_text("")
    clone.git("add", ".")
    clone.git("commit", "--quiet", "-m", "Far")
    before = clone.word()
    clone.git("sparse-checkout", "set", "--no-cone", "/*", "!/far")
    assert not (clone.root / "far").exists()
    assert clone.word() == before


def test_another_worktree_within_this_one_is_no_part_of_the_tree(clone: Clone) -> None:
    """The client makes one for an agent that works apart: its files are another branch's."""
    before = clone.word()
    other = clone.root / ".claude/worktrees/side"
    clone.git("worktree", "add", "--quiet", str(other), "-b", "side")
    assert clone.word() == before
    (other / "code.py").write_text("two = 2\n")
    clone.git("-C", str(other), "commit", "--quiet", "--all", "-m", "Two")
    look = seen(GitRepository(clone.root, Deadline.after(SystemClock(), 30), VARIABLES), {})
    assert (look.name, look.full) == (before, before)
    assert ".claude/worktrees/side" not in look.files


def test_what_is_changed_within_a_submodule_changes_the_tree(clone: Clone, tmp_path: Path) -> None:
    """Its edits and its new files count, at any depth; an untouched one is its commit, as git has it."""
    inner, outer = Clone(tmp_path / "inner"), Clone(tmp_path / "outer")
    allow = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    outer.git(*allow, str(inner.root), "inner")
    outer.git("commit", "--quiet", "-m", "With inner")
    clone.git(*allow, str(outer.root), "outer")
    clone.git(
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "update",
        "--init",
        "--recursive",
    )
    clone.git("commit", "--quiet", "-m", "With outer")
    before = clone.word()
    assert before == clone.git("rev-parse", "HEAD^{tree}").strip()
    look = seen(GitRepository(clone.root, Deadline.after(SystemClock(), 30), VARIABLES), {})
    words = {before}
    for path in ("outer/code.py", "outer/new.py", "outer/inner/code.py"):
        (clone.root / path).write_text("two = 2\n")
        words.add(clone.word())
    assert len(words) == 4
    again = seen(
        GitRepository(clone.root, Deadline.after(SystemClock(), 30), VARIABLES), {}, before=look
    )
    assert {p for p in again.files if again.files[p] != look.files[p]} == {"outer"}
    assert again.name == clone.word()
