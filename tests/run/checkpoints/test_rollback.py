"""Checkpoints are refs, and going back to one loses nothing: with git itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from lifecycle.core.errors import GitFailed, Refused
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.git.process import GitRepository
from lifecycle.run import kept_work
from lifecycle.run.kept_work import Return, prefix_of
from lifecycle.run.state import Checkpoint, Run, Story, new_run
from lifecycle.run.table import StoryStatus
from tests.run.run_ground import RunGround

AT = 1_800_000_000.0


class Marked:
    """A run in a repository with checkpoints."""

    def __init__(self, ground: RunGround) -> None:
        self.ground, self.root, self.now = ground, ground.root, AT
        self.run = new_run("Implement payment processing", AT)

    def write(self, path: str, text: str) -> None:
        """Write a file."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def commit(self, path: str, text: str) -> str:
        """Commit a file; returns the commit."""
        self.write(path, text)
        self.git("add", "-A")
        self.git("commit", "-qm", f"Write {path}")
        return self.git("rev-parse", "HEAD")

    def git(self, *words: str) -> str:
        """Run git there."""
        return self.ground.git("-C", str(self.root), *words)

    @property
    def own_git(self) -> GitRepository:
        """The product's git there."""
        return GitRepository(self.root, self.deadline, self.ground.environment)

    def mark(self, story: str = "") -> Checkpoint:
        """Make a checkpoint."""
        self.now += 10
        self.run = kept_work.marked(self.own_git, self.run, self.now, story)
        return self.run.checkpoints[-1]

    def back(self, name: str = "") -> Return:
        """Go back."""
        self.now += 10
        back = kept_work.go_back(self.own_git, self.run, name, self.now)
        self.run = kept_work.rolled_back(self.run, back.checkpoint, back.record)
        return back

    @property
    def deadline(self) -> Deadline:
        """Time enough."""
        return Deadline.after(SystemClock(), 60)

    def files(self) -> dict[str, str]:
        """Every file but git's."""
        return {
            str(path.relative_to(self.root)): path.read_text()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and ".git" not in path.relative_to(self.root).parts
        }


@pytest.fixture
def marked(ground: RunGround) -> Marked:
    """A repository with one commit."""
    there = Marked(ground)
    there.commit("a file.py", "1\n")
    return there


def everything(marked: Marked) -> tuple[str, ...]:
    """What git and the worktree show, but for refs of ours."""
    status = marked.git("--no-optional-locks", "status", "--porcelain", "-uall")
    refs = marked.git("for-each-ref", "refs/heads", "refs/tags")
    index = (marked.root / ".git" / "index").read_bytes()
    return (index.hex(), refs, status, repr(marked.files()))


def test_what_was_shown_of_the_stories_comes_back_with_the_files(marked: Marked) -> None:
    """Also where git keeps messages in an encoding that lacks a story's letters."""
    marked.git("config", "i18n.commitEncoding", "latin1")
    story = Story("S1", "Zahlung € \u2028 merken", started=AT + 15, status=StoryStatus.REVIEW)
    marked.mark()
    before = marked.run = replace(marked.run, stories=(story,))
    marked.back()
    assert marked.run.stories[0].status is StoryStatus.PENDING
    marked.back("saved-1")
    assert marked.run == before


def test_a_checkpoint_touches_neither_index_nor_files_nor_branch(marked: Marked) -> None:
    """Staged, changed, deleted and new files are in it, and all is as before."""
    marked.commit("gone.py", "g\n")
    (marked.root / "gone.py").unlink()
    marked.write("staged.py", "s\n")
    marked.git("add", "staged.py")
    marked.write("a file.py", "2\n")
    marked.write("new.py", "n\n")
    before = everything(marked)
    kept = marked.mark()
    assert everything(marked) == before
    assert kept.ref == "mark-1"
    listed = marked.git("ls-tree", "-r", "--name-only", prefix_of(marked.run) + "mark-1")
    assert listed.splitlines() == ["a file.py", "new.py", "staged.py"]
    assert marked.git("rev-parse", f"{kept.commit}^") == marked.git("rev-parse", "HEAD")


def test_no_identity_is_needed_and_no_push_takes_it_along(marked: Marked, tmp_path: Path) -> None:
    """A checkpoint is neither branch nor tag."""
    marked.mark()
    marked.git("init", "-q", "--bare", str(tmp_path / "remote"))
    marked.git("push", "-q", "--all", str(tmp_path / "remote"))
    marked.git("push", "-q", "--tags", str(tmp_path / "remote"))
    there = marked.ground.git("-C", str(tmp_path / "remote"), "for-each-ref", "--format=%(refname)")
    assert "lifecycle" not in there


def test_going_back_restores_files_and_branch_and_one_command_brings_all_back(
    marked: Marked,
) -> None:
    """Commits and uncommitted work from before are under one name; what git ignores was never touched."""
    marked.write(".gitignore", "ignored/\n")
    first = marked.commit("one.py", "1\n")
    marked.mark()
    second = marked.commit("two.py", "2\n")
    marked.write("one.py", "edited\n")
    marked.write("dir/new.py", "n\n")
    marked.write("ignored/kept", "k\n")
    before = marked.files()
    back = marked.back()
    assert (back.former, back.head) == (second, first)
    assert marked.git("rev-parse", "HEAD") == first
    assert marked.git("status", "--porcelain") == ""
    assert marked.files() == {
        ".gitignore": "ignored/\n",
        "a file.py": "1\n",
        "one.py": "1\n",
        "ignored/kept": "k\n",
    }
    assert back.saved.ref == "saved-1"
    again = marked.back("saved-1")
    assert marked.files() == before
    assert marked.git("rev-parse", "HEAD") == second
    assert set(marked.git("status", "--porcelain", "-uall").splitlines()) >= {"?? dir/new.py"}
    assert again.saved.ref == "saved-2"


def test_uncommitted_work_at_the_checkpoint_is_uncommitted_again(marked: Marked) -> None:
    """What was no commit then is none now."""
    marked.write("a file.py", "2\n")
    marked.mark()
    marked.git("commit", "-qam", "Two")
    marked.back()
    assert marked.files() == {"a file.py": "2\n"}
    assert "a file.py" in marked.git("diff", "--name-only")


def test_the_last_one_is_the_last_that_still_counts(marked: Marked) -> None:
    """After going back to the first, the second is no goal any more unless it is named."""
    marked.mark()
    marked.commit("b.py", "1\n")
    marked.mark()
    marked.commit("c.py", "1\n")
    assert marked.back().checkpoint.ref == "mark-2"
    assert marked.back("mark-1").checkpoint.ref == "mark-1"
    assert marked.back().checkpoint.ref == "mark-1"
    assert marked.back("mark-2").checkpoint.ref == "mark-2"
    assert "b.py" in marked.files()


def test_a_name_that_was_deleted_from_git_is_given_again(marked: Marked) -> None:
    """The checkpoint that has it now is the last one."""
    marked.run = Run("abc", "G", AT, stories=(Story("S1", "One"),))
    marked.mark()
    marked.mark("S1")
    marked.git("update-ref", "-d", f"{prefix_of(marked.run)}mark-1")
    marked.commit("b.py", "1\n")
    again = marked.mark()
    assert again.ref == "mark-1"
    assert kept_work.find(marked.own_git, marked.run, "") == again


def test_a_story_is_gone_back_to_by_its_id(marked: Marked) -> None:
    """Its last checkpoint counts, and a second one has another name."""
    marked.run = Run("abc", "G", AT, stories=(Story("S1", "One"),))
    marked.mark("S1")
    marked.commit("b.py", "1\n")
    assert marked.mark("S1").ref == "S1-2"
    marked.commit("c.py", "1\n")
    assert marked.back("s1").checkpoint.ref == "S1-2"
    assert "b.py" in marked.files()
    assert "c.py" not in marked.files()


@pytest.mark.parametrize("name", ["S9", "mark-7", "", "refs/heads/main"])
def test_what_is_no_checkpoint_is_refused(marked: Marked, name: str) -> None:
    """The sentence says what there is, or how one is made."""
    before = everything(marked)
    with pytest.raises(Refused, match="mark-working-state"):
        marked.back(name)
    assert everything(marked) == before


def test_an_ignored_file_in_the_way_is_kept_and_told(marked: Marked) -> None:
    """Git refuses before it changes any file; branch and files are as before."""
    marked.write("built", "old\n")
    marked.mark()
    (marked.root / "built").unlink()
    marked.commit(".gitignore", "built\n")
    marked.write("built", "precious\n")
    before = everything(marked)
    with pytest.raises(GitFailed, match="saved-1"):
        marked.back()
    assert everything(marked) == before


def test_what_is_named_like_a_secret_is_neither_kept_nor_removed(marked: Marked) -> None:
    """No secret becomes an object of git, and none is deleted."""
    marked.write(".env", "A=1\n")
    kept = marked.mark()
    assert ".env" not in marked.git("ls-tree", "-r", "--name-only", kept.commit)
    marked.write("later.pem", "p\n")
    marked.back()
    assert marked.files() == {".env": "A=1\n", "a file.py": "1\n", "later.pem": "p\n"}


def test_the_files_of_a_tracker_stay_as_they_are(marked: Marked) -> None:
    """Tasks are not rolled back with the code."""
    marked.commit(".beads/issues.jsonl", "1\n")
    marked.mark()
    marked.write("b.py", "1\n")
    marked.commit(".beads/issues.jsonl", "2\n")
    marked.back()
    assert marked.files() == {"a file.py": "1\n", ".beads/issues.jsonl": "2\n"}


def test_a_merge_or_a_conflict_is_ended_first(marked: Marked) -> None:
    """Nothing is moved and nothing is saved meanwhile."""
    marked.mark()
    marked.git("checkout", "-qb", "other")
    marked.commit("a file.py", "other\n")
    marked.git("checkout", "-q", "-")
    marked.commit("a file.py", "mine\n")
    merge = ["git", "-C", str(marked.root), "merge", "other"]
    subprocess.run(merge, check=False, capture_output=True)
    with pytest.raises(Refused, match="A merge is in progress"):
        marked.back()
    (marked.root / ".git" / "MERGE_HEAD").unlink()
    with pytest.raises(Refused, match="unmerged paths"):
        marked.back()
    assert "saved" not in marked.git("for-each-ref", prefix_of(marked.run))


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("rebase-merge", "A rebase"),
        ("rebase-apply", "A rebase"),
        ("rebase-apply/applying", "A git am"),
        ("CHERRY_PICK_HEAD", "A cherry-pick"),
        ("REVERT_HEAD", "A revert"),
        ("BISECT_LOG", "A bisect"),
        ("index.lock", "Another git command"),
    ],
)
def test_whatever_git_is_in_the_middle_of_is_ended_first(
    marked: Marked, name: str, what: str
) -> None:
    """Each is known by git's own file."""
    marked.mark()
    (marked.root / ".git" / name).mkdir(parents=True)
    with pytest.raises(Refused, match=f"{what} is in progress"):
        marked.back()


def test_another_branch_is_not_moved(marked: Marked) -> None:
    """The default branch must not go to where the run's was."""
    marked.git("checkout", "-qb", "run")
    marked.mark()
    marked.git("checkout", "-q", "-")
    with pytest.raises(Refused, match="git switch run"):
        marked.back()


def test_a_renamed_branch_is_the_same_one(marked: Marked) -> None:
    """It is known by its commits."""
    marked.mark()
    later = marked.commit("b.py", "1\n")
    marked.git("branch", "-m", "renamed")
    back = marked.back()
    assert back.branch == "renamed"
    assert back.former == later
    assert marked.git("rev-parse", "renamed") == back.head


def test_a_detached_head_goes_back_without_any_branch(marked: Marked) -> None:
    """HEAD itself moves; branches stay."""
    marked.git("checkout", "-q", "--detach")
    marked.mark()
    marked.commit("b.py", "1\n")
    branches = marked.git("for-each-ref", "refs/heads")
    back = marked.back()
    assert back.branch == ""
    assert marked.files() == {"a file.py": "1\n"}
    assert marked.git("for-each-ref", "refs/heads") == branches


def test_a_repository_without_a_commit_can_be_gone_back_to(ground: RunGround) -> None:
    """The branch is unborn again, and the commit that was made meanwhile is kept."""
    marked = Marked(ground)
    marked.write("a.py", "1\n")
    marked.mark()
    made = marked.commit("b.py", "1\n")
    back = marked.back()
    assert (back.former, back.head) == (made, "")
    assert marked.files() == {"a.py": "1\n"}
    assert marked.git("status", "--porcelain") == "?? a.py"
    marked.back("saved-1")
    assert marked.git("rev-parse", "HEAD") == made


def test_a_linked_worktree_goes_back_alone(marked: Marked, tmp_path: Path) -> None:
    """The main one and its branch are not touched."""
    marked.git("worktree", "add", "-q", "-b", "run", str(tmp_path / "linked tree"))
    main, marked.root = marked.root, tmp_path / "linked tree"
    marked.mark()
    marked.commit("b.py", "1\n")
    marked.back()
    assert marked.files() == {"a file.py": "1\n"}
    assert marked.git("rev-parse", "HEAD") == marked.ground.git(
        "-C", str(main), "rev-parse", "HEAD"
    )


def test_a_submodule_that_was_moved_is_named(marked: Marked) -> None:
    """Its folder is left; going back says which one it is."""
    other = marked.root.parent / "other"
    marked.git("init", "-q", str(other))
    marked.ground.git("-C", str(other), "commit", "-qm", "One", "--allow-empty")
    marked.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "lib")
    marked.git("commit", "-qm", "A module")
    marked.mark()
    marked.ground.git("-C", str(marked.root / "lib"), "commit", "-qm", "Two", "--allow-empty")
    marked.git("commit", "-qam", "Another commit of it")
    marked.write("lib/inside.py", "kept\n")
    back = marked.back()
    assert back.notes == [
        "the submodule lib was left as it was; move it with: git submodule update -- lib"
    ]
    assert marked.files()["lib/inside.py"] == "kept\n"


def test_what_is_staged_alone_is_kept_and_staged_again(marked: Marked) -> None:
    """A version that is in the index and in no file comes back with the one command."""
    marked.mark()
    for path in ("a file.py", "staged away.py"):
        marked.write(path, "staged\n")
        marked.git("add", path)
    marked.write("a file.py", "edited\n")
    (marked.root / "staged away.py").unlink()
    before = marked.git("status", "--porcelain")
    marked.back()
    assert marked.git("status", "--porcelain") == ""
    marked.back("saved-1")
    assert marked.git("status", "--porcelain") == before
    assert marked.git("show", ":a file.py") == marked.git("show", ":staged away.py") == "staged"
    assert marked.files() == {"a file.py": "edited\n"}


def test_work_in_a_submodule_is_not_replaced_by_a_file(marked: Marked) -> None:
    """What lies in its folder is in the way, and named; no file is changed."""
    marked.commit("lib", "a file\n")
    marked.mark()
    other = marked.root.parent / "other"
    marked.git("init", "-q", str(other))
    marked.ground.git("-C", str(other), "commit", "-qm", "One", "--allow-empty")
    marked.git("rm", "-q", "lib")
    marked.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "lib")
    marked.git("commit", "-qm", "A module")
    marked.write("lib/inside.py", "precious\n")
    before = everything(marked)
    with pytest.raises(GitFailed, match=r"lib/.* is in the way.*saved-1"):
        marked.back()
    assert everything(marked) == before


def test_an_ignored_link_to_a_folder_is_in_the_way(marked: Marked) -> None:
    """It is a file for git, whatever it leads to."""
    marked.commit("d", "a file\n")
    marked.mark()
    marked.git("rm", "-q", "d")
    marked.write(".gitignore", "link\n")
    marked.commit("d/x", "1\n")
    (marked.root / "elsewhere").mkdir()
    (marked.root / "d" / "link").symlink_to("../elsewhere")
    with pytest.raises(GitFailed, match="d/link is in the way"):
        marked.back()
    assert (marked.root / "d" / "link").is_symlink()


def test_a_branch_that_cannot_be_moved_says_what_was_kept(marked: Marked) -> None:
    """The files were put back by then; the same command again, and the named one, end it."""
    marked.mark()
    later = marked.commit("b.py", "1\n")
    hook = marked.root / ".git" / "hooks" / "reference-transaction"
    marked.write(str(hook), "#!/bin/sh\ngrep -q ' refs/heads/' && exit 1\nexit 0\n")
    hook.chmod(0o755)
    with pytest.raises(GitFailed, match=r"is saved as saved-1\..*rollback-to-checkpoint mark-1"):
        marked.back()
    hook.unlink()
    marked.back("mark-1")
    assert marked.files() == {"a file.py": "1\n"}
    marked.back("saved-1")
    assert marked.git("rev-parse", "HEAD") == later


def test_a_checkpoint_that_git_cannot_write_says_what_was_kept(marked: Marked) -> None:
    """One sentence around git's own words, and the next command, whichever step of git's failed."""
    hook = marked.root / ".git" / "hooks" / "reference-transaction"
    marked.write(str(hook), "#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    before = everything(marked)
    kept = (
        r"^git could not save the files as they are \(.+\), so nothing was done; files, index and"
    )
    with pytest.raises(GitFailed, match=kept):
        marked.mark()
    assert everything(marked) == before


def test_a_name_that_is_no_utf_8_is_kept_and_put_back(marked: Marked) -> None:
    """Names of files are bytes: what git lists is handed back to it as it is."""
    strange = marked.root / os.fsdecode(b"caf\xe9.txt")
    strange.write_text("one\n")
    marked.mark()
    strange.write_text("two\n")
    back = marked.back()
    assert strange.read_text() == "one\n"
    strange.unlink()
    marked.back(back.saved.ref)
    assert strange.read_text() == "two\n"
    marked.back("mark-1")
    assert strange.read_text() == "one\n"


def test_what_lies_outside_of_a_sparse_checkout_is_kept_and_put_back(marked: Marked) -> None:
    """A new file there is in the checkpoint, and what is not checked out stays so."""
    marked.commit("in/one.py", "one = 1\n")
    marked.commit("out/two.py", "two = 2\n")
    marked.git("sparse-checkout", "set", "in")
    assert not (marked.root / "out").exists()
    marked.write("out/new.py", "new = 1\n")
    marked.write("in/one.py", "one = 2\n")
    kept = marked.mark()
    names = marked.git("ls-tree", "-r", "--name-only", kept.commit).splitlines()
    assert {"in/one.py", "out/new.py", "out/two.py"} <= {*names}
    marked.write("out/new.py", "new = 2\n")
    marked.write("in/one.py", "one = 3\n")
    marked.back()
    assert (marked.root / "out/new.py").read_text() == "new = 1\n"
    assert (marked.root / "in/one.py").read_text() == "one = 2\n"
    assert not (marked.root / "out/two.py").exists()
    assert "S out/two.py" in marked.git("ls-files", "-v").splitlines()
    assert " D out/two.py" not in marked.git("status", "--porcelain").splitlines()
