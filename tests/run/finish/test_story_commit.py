"""The commit of a story: its words, what it takes, and what it never takes."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from lifecycle.core.errors import GitFailed, Refused
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.evidence.outcomes import Outcome
from lifecycle.evidence.records import EvidenceRoom, RunRecord
from lifecycle.git.process import GitRepository
from lifecycle.git.worktree_files import Uncommitted
from lifecycle.run.gates.work_facts import facts_of
from lifecycle.run.kept_work import commit_story, subject_of, with_commit
from lifecycle.run.state import Run, Story
from lifecycle.run.table import StoryStatus
from tests.run.run_ground import RunGround

IDENTITY = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


SECRET = "AKIA" + "ABCDEFGHIJKLMNOP"


def commit(ground: RunGround, message: str = "feat: Pay (S1)") -> tuple[str, Uncommitted]:
    """Commit what is there."""
    environment = {**ground.environment, **IDENTITY}
    deadline = Deadline.after(SystemClock(), 60)
    return commit_story(GitRepository(ground.root, deadline, environment), message)


def write(ground: RunGround, path: str, text: str = "x\n") -> Path:
    """Write a file of the worktree."""
    file = ground.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def committed(ground: RunGround) -> list[str]:
    """The files of the last commit."""
    return ground.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()


@pytest.mark.parametrize(
    ("conventions", "subject"),
    [
        ({}, "feat: Pay by card (S1)"),
        ({"commits": "Conventional Commits"}, "feat: Pay by card (S1)"),
        ({"commitFormat": "[{id}] {title}"}, "[S1] Pay by card"),
        ({"commit_format": "{type}({story}): {title} {other}"}, "feat(S1): Pay by card {other}"),
        ({"commitFormat": ["{title}"]}, "feat: Pay by card (S1)"),
        ({"branches": "work/{title}"}, "feat: Pay by card (S1)"),
        ({"commits": "{title}\n\nEvil: trailer"}, "Pay by card Evil: trailer"),
    ],
)
def test_the_subject_has_the_platforms_format(conventions: dict[str, Any], subject: str) -> None:
    """A convention counts where it is a form; it stays one line."""
    assert subject_of(Story("S1", "Pay by card"), conventions) == subject


def test_everything_of_the_story_is_in_it(ground: RunGround) -> None:
    """Changed, deleted, staged and new files, also in a repository without a commit."""
    write(ground, "a.py")
    write(ground, "gone.py")
    _, first = commit(ground)
    assert first.paths == ("a.py", "gone.py")
    write(ground, "a.py", "y\n")
    (ground.root / "gone.py").unlink()
    write(ground, "a new one.py")
    write(ground, "staged.py")
    write(ground, "staged away.py")
    ground.git("add", "staged.py", "staged away.py")
    (ground.root / "staged away.py").unlink()
    made, _ = commit(ground)
    assert committed(ground) == ["a new one.py", "a.py", "staged.py"]
    assert made == ground.git("rev-parse", "HEAD")
    assert ground.git("log", "-1", "--format=%s") == "feat: Pay (S1)"
    made, rest = commit(ground)
    assert (made, rest.paths, rest.secrets) == ("", (), ())


def test_a_staged_deletion_is_taken(ground: RunGround) -> None:
    """Neither index nor worktree has the file any more."""
    write(ground, "a.py")
    write(ground, "b.py")
    commit(ground)
    ground.git("rm", "-q", "a.py")
    assert commit(ground)[1].paths == ("a.py",)
    assert committed(ground) == ["b.py"]


def test_ours_and_secrets_are_left_out(ground: RunGround) -> None:
    """A file that is named like a secret is named, and stays as it is; so does what a check left."""
    ground.begun()
    write(ground, ".env", "A=1\n")
    write(ground, "report.xml")
    write(ground, "a.py")
    left = {"report.xml": ground.git("hash-object", "report.xml")}
    EvidenceRoom(ground.root).add(RunRecord(1.0, "pytest", Outcome.PASSED, ""), left)
    _, found = commit(ground)
    assert committed(ground) == ["a.py"]
    assert found.secrets == (".env",)


def test_what_is_staged_and_never_taken_is_refused(ground: RunGround) -> None:
    """Whoever staged it takes it out; nothing is committed meanwhile."""
    write(ground, ".env", "A=1\n")
    write(ground, "a.py")
    ground.git("add", "-f", ".env")
    with pytest.raises(Refused, match=r"git restore --staged -- \.env"):
        commit(ground)


def test_what_looks_like_a_secret_is_not_committed(ground: RunGround) -> None:
    """It is looked for in what is new, and the index is left as it was."""
    write(ground, "settings.py", f"KEY = '{SECRET}'\n")
    with pytest.raises(Refused, match=r"settings\.py contains what looks like a secret"):
        commit(ground)
    assert ground.git("diff", "--cached", "--name-only") == ""


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", f"++ b/other\n{SECRET}\n"),
        ("a.py", f"one\r{SECRET}\r"),
        ("a.py", f"one\r@ two\r--- three\r{SECRET}\r"),
        ("a.py", f"one\f{SECRET}\n"),
        ("a.py", f"one\u2028{SECRET}\n"),
        ('quo"te.py', f"{SECRET}\n"),
        ("a\ttab.py", f"{SECRET}\n"),
        ("back\\slash.py", f"{SECRET}\n"),
    ],
)
def test_no_form_of_a_file_hides_a_secret(ground: RunGround, path: str, text: str) -> None:
    """Neither what reads like the head of a difference, nor another end of a line, nor a strange name."""
    (ground.root / path).write_bytes(text.encode())
    with pytest.raises(Refused, match="contains what looks like a secret"):
        commit(ground)


def test_a_secret_that_is_there_already_hinders_nothing(ground: RunGround) -> None:
    """Only what is new counts: neither what goes, nor what stands above a change."""
    write(ground, "a.py", f"def f(): '{SECRET}'\n    1\n    2\n{SECRET}\n")
    ground.git("add", "a.py")
    ground.git("commit", "-qm", "By hand")
    write(ground, "a.py", f"def f(): '{SECRET}'\n    1\n    3\n")
    assert commit(ground)[1].paths == ("a.py",)


def test_a_secret_in_the_message_is_starred(ground: RunGround) -> None:
    """A message goes wherever its commit goes."""
    write(ground, "a.py")
    commit(ground, message=f"fix: take {SECRET} out")
    assert ground.git("log", "-1", "--format=%s") == "fix: take *** out"


def test_the_hooks_of_the_project_have_their_say(ground: RunGround) -> None:
    """What a hook refuses is told in its words; what was to be committed stays."""
    hook = write(ground, ".git/hooks/pre-commit", "#!/bin/sh\necho too long a line >&2\nexit 1\n")
    hook.chmod(0o755)
    write(ground, "a.py")
    with pytest.raises(GitFailed, match=r"too long a line.*nothing was committed"):
        commit(ground)
    assert (ground.root / "a.py").read_text() == "x\n"
    hook.unlink()
    assert commit(ground)[1].paths == ("a.py",)


def test_the_commit_of_a_completed_story_is_the_one_that_was_reviewed() -> None:
    """What is committed under its name later moves nothing: no review has read it."""
    begun = Story("S1", "Pay", status=StoryStatus.IN_PROGRESS, commit="a")
    done = Story("S2", "Keep", status=StoryStatus.COMPLETED, commit="b")
    run = Run("abc12345", "Pay", 1.0, stories=(begun, done))
    assert with_commit(run, "S1", "c").story("S1").commit == "c"
    assert with_commit(run, "S2", "c") == run


def test_a_merge_is_ended_by_whoever_began_it(ground: RunGround) -> None:
    """A story's commit concludes no merge."""
    write(ground, "a.py")
    commit(ground)
    write(ground, "b.py")
    (ground.root / ".git" / "MERGE_HEAD").write_text(ground.git("rev-parse", "HEAD"))
    with pytest.raises(Refused, match="A merge is in progress"):
        commit(ground)


NAME = "my lib"


def test_what_changed_in_a_submodule_is_committed_there_first(
    ground: RunGround, tmp_path: Path
) -> None:
    """It holds the story, and no commit here takes it; what is new there does not, nor what is ignored.

    The command that is named runs as it is, whatever the submodule is called.
    """
    other = tmp_path / "other"
    ground.git("init", "--quiet", str(other))
    (other / "a.py").write_text("1\n")
    ground.git("-C", str(other), "add", ".")
    ground.git("-C", str(other), "commit", "--quiet", "-m", "One")
    ground.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), NAME)
    ground.git("commit", "--quiet", "-m", "With a submodule")
    git = GitRepository(ground.root, Deadline.after(SystemClock(), 60), ground.environment)
    write(ground, f"{NAME}/built.o")
    assert facts_of(git).uncommitted == ()
    write(ground, f"{NAME}/a.py", "2\n")
    assert facts_of(git).uncommitted == (NAME,)
    with pytest.raises(Refused, match="nothing was committed") as caught:
        commit(ground)
    way = caught.value.sentence.partition("there (")[2].partition(")")[0]
    ground.git("config", f"submodule.{NAME}.ignore", "dirty")
    assert facts_of(git).uncommitted == ()
    ground.git("config", "--unset", f"submodule.{NAME}.ignore")
    subprocess.run(["sh", "-c", way], cwd=ground.root, check=True, capture_output=True)
    assert commit(ground)[1].paths == (NAME,)
    assert facts_of(git).uncommitted == ()
