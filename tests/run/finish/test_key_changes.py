"""What a run changed begins with the commit that the run began on: with git itself."""

from __future__ import annotations

from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.git.process import GitRepository
from lifecycle.run.finish.completion import changed_paths
from lifecycle.run.state import Run, Story
from tests.run.run_ground import RunGround


def commit(ground: RunGround, path: str) -> str:
    """Commit a file; returns the commit."""
    (ground.root / path).write_text("one = 1\n")
    ground.git("add", "-A")
    ground.git("commit", "-qm", f"Write {path}")
    return ground.git("rev-parse", "HEAD")


def changed(ground: RunGround, run: Run) -> list[str]:
    """The paths that differ."""
    git = GitRepository(ground.root, Deadline.after(SystemClock(), 30), ground.environment)
    return sorted(changed_paths(git, run))


def test_it_is_what_differs_from_the_commit_that_the_run_began_on(ground: RunGround) -> None:
    """What came between that and the first story is the run's, too."""
    commit(ground, "there.py")
    ground.said("init", "Take payments")
    run = ground.store.demanded()
    assert run.base == ground.git("rev-parse", "HEAD")
    base = commit(ground, "design.md")
    commit(ground, "pay.py")
    story = Story("S1", "Pay", started=1.0, base=base)
    assert changed(ground, run.but(stories=(story,))) == ["design.md", "pay.py"]


def test_a_story_that_was_rolled_back_does_not_make_all_files_new(ground: RunGround) -> None:
    """No story has a commit that it began on any more, and the run still has its own."""
    base = commit(ground, "there.py")
    commit(ground, "pay.py")
    run = Run("abc12345", "Take payments", 1.0, stories=(Story("S1", "Pay"),))
    assert changed(ground, run.but(base=base)) == ["pay.py"]
    assert changed(ground, run) == ["pay.py", "there.py"]  # nobody knows where it began


def test_a_commit_that_git_has_no_more_is_passed_over(ground: RunGround) -> None:
    """The story's that began first tells; the end of a run does not fail on it."""
    base = commit(ground, "there.py")
    later = commit(ground, "pay.py")
    stories = (
        Story("S1", "Pay", started=2.0, base=later),
        Story("S2", "Design", started=1.0, base=base),
    )
    run = Run("abc12345", "Take payments", 1.0, base="f" * 40, stories=stories)
    assert changed(ground, run) == ["pay.py"]
