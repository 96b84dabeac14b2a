"""What no review has read of the pull request: every file that changed after the last one."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.git.process import GitRepository
from lifecycle.run.finish.completion import lacks, read_from, with_unread
from lifecycle.run.gates.work_facts import WorkFacts, facts_of
from lifecycle.run.state import ReviewRecord, Run, Story
from lifecycle.run.table import ReviewVerdict, StoryCheck, StoryStatus
from tests.run.run_ground import RunGround

REVIEW = (StoryCheck.REVIEW_APPROVED, ReviewVerdict.APPROVED)
CLEARED = (StoryCheck.SECURITY_CLEARED, ReviewVerdict.CLEARED)


def repository(ground: RunGround) -> GitRepository:
    """Git in the worktree."""
    return GitRepository(ground.root, Deadline.after(SystemClock(), 30), ground.environment)


def written(ground: RunGround, name: str, text: str) -> str:
    """A commit with this file; its name."""
    (ground.root / name).write_text(text)
    ground.git("add", "-A")
    ground.git("commit", "-qm", name)
    return ground.git("rev-parse", "HEAD")


def completed(name: str, base: str, commit: str, at: float, **more: Any) -> Story:
    """A story that was completed with this commit."""
    done = StoryStatus.COMPLETED
    return Story(name, "One", base=base, commit=commit, completed=at, status=done, **more)


def unread(ground: RunGround, *stories: Story, upstream: str = "") -> WorkFacts:
    """The facts of the worktree with what no review has read."""
    facts = facts_of(
        GitRepository(ground.root, Deadline.after(SystemClock(), 30), ground.environment)
    )
    run = Run("abc12345", "Pay", 1.0, stories=stories)
    return with_unread(facts, repository(ground), run, upstream)


def approved(story: Story, facts: WorkFacts, what: tuple[StoryCheck, ReviewVerdict]) -> Story:
    """The story with a review of the files as they are."""
    return replace(story, reviews=(*story.reviews, ReviewRecord(*what, 9.0, facts.tree)))


def test_later_stories_change_the_tree_and_void_nothing(ground: RunGround) -> None:
    """Each is reviewed with its own change; what comes after the last one is named, with the command."""
    first = written(ground, "pay.py", "1\n")
    one = completed("S1", first, written(ground, "pay.py", "2\n"), 1.0)
    two = completed("S2", one.commit, written(ground, "pay.py", "3\n"), 2.0)
    clean = unread(ground, one, two)
    assert (clean.late, clean.unread, clean.uncleared) == ((), (), ())
    written(ground, "more.py", "1\n")
    facts = unread(ground, one, two)
    assert facts.late == ("more.py",)
    (clause,) = lacks(Run("abc12345", "Pay", 1.0, stories=(one, two)), facts)
    assert clause.startswith("more.py changed after the last review by reviewer")
    assert "lifecycle run review S2 --by reviewer" in clause
    assert unread(ground, approved(one, facts, REVIEW), two).unread, "it is the last one's review"
    again = unread(ground, one, approved(two, facts, REVIEW))
    assert (again.unread, again.late) == ((), ("more.py",))


def test_a_commit_that_nobody_knows_covers_nothing(ground: RunGround) -> None:
    """A record without its commit shows no review of any file."""
    written(ground, "pay.py", "1\n")
    assert unread(ground, completed("S1", "", "", 1.0)).late == ("pay.py",)


def test_what_lies_between_two_stories_is_read_with_the_second(ground: RunGround) -> None:
    """Its review begins where the last one ended; where its own work began earlier, there."""
    first = written(ground, "pay.py", "1\n")
    one = completed("S1", first, written(ground, "pay.py", "2\n"), 1.0)
    between = written(ground, "more.py", "1\n")
    run = Run("abc12345", "Pay", 1.0, stories=(one, Story("S2", "Two", base=between)))
    assert read_from(repository(ground), run, run.stories[1]) == one.commit
    assert read_from(repository(ground), run, one) == first
    early = Story("S3", "Three", base=first)
    assert read_from(repository(ground), run, early) == first


def test_what_security_cleared_is_cleared_again_when_it_changes(ground: RunGround) -> None:
    """By a story that nobody flagged, too; what that one changes elsewhere is no matter of security."""
    first = written(ground, "keep.py", "1\n")
    safe = completed("S1", first, written(ground, "keep.py", "2\n"), 1.0, security=True)
    other = completed("S2", safe.commit, written(ground, "pay.py", "1\n"), 2.0)
    assert unread(ground, safe, other).uncleared == ()
    third = completed("S3", other.commit, written(ground, "keep.py", "3\n"), 3.0)
    facts = unread(ground, safe, other, third)
    assert facts.unread == ()
    (clause,) = facts.uncleared
    assert clause.startswith("keep.py changed after the last review by security")
    assert "lifecycle run review S1 --by security" in clause
    assert unread(ground, approved(safe, facts, CLEARED), other, third).uncleared == ()
    flagged = completed("S3", other.commit, third.commit, 3.0, security=True)
    assert unread(ground, safe, other, flagged).uncleared == ()
    written(ground, "keep.py", "4\n")
    clauses = unread(ground, safe, other, flagged).uncleared
    assert [text.rpartition("lifecycle run review ")[2][:2] for text in clauses] == ["S3", "S1"]


def test_what_the_branch_beneath_brought_was_read_there(ground: RunGround) -> None:
    """A merge of main after the last story; what is changed of it besides is named."""
    first = written(ground, "pay.py", "1\n")
    ground.git("branch", "main2")
    one = completed("S1", first, written(ground, "pay.py", "2\n"), 1.0)
    here = ground.git("branch", "--show-current")
    ground.git("switch", "-q", "main2")
    written(ground, "theirs.py", "1\n")
    written(ground, "both.py", "1\n")
    ground.git("switch", "-q", here)
    ground.git("merge", "-q", "--no-edit", "main2")
    assert unread(ground, one, upstream="main2").late == ()
    assert unread(ground, one).late == ("both.py", "theirs.py")
    written(ground, "both.py", "2\n")
    assert unread(ground, one, upstream="main2").late == ("both.py",)


def test_what_a_story_did_is_there_still(ground: RunGround) -> None:
    """On another branch, or reset, it is named; what was rebased, or changed by a later story, is not."""
    first = written(ground, "pay.py", "1\n")
    one = completed("S1", first, written(ground, "keep.py", "1\n"), 1.0)
    here = ground.git("branch", "--show-current")
    ground.git("switch", "-qc", "other", first)
    two = completed("S2", first, written(ground, "show.py", "1\n"), 2.0)
    (clause,) = lacks(Run("abc12345", "Pay", 1.0, stories=(one, two)), unread(ground, one, two))
    assert clause.startswith("what S1 changed in keep.py is not on this branch (bring back ")
    assert "lifecycle run update-story S1 pending" in clause
    ground.git("cherry-pick", one.commit)
    assert ground.git("rev-parse", "HEAD") != one.commit
    facts = unread(ground, one, two)
    assert (facts.late, len(facts.unread)) == (("keep.py",), 1)
    ground.git("switch", "-q", here)
    ground.git("rm", "-q", "keep.py")
    ground.git("commit", "-qm", "Without")
    later = completed("S2", one.commit, ground.git("rev-parse", "HEAD"), 2.0)
    assert unread(ground, one, later).unread == ()


def test_of_work_that_this_clone_never_had_the_reviewer_says_whether_it_is_here(
    ground: RunGround,
) -> None:
    """As where a run's file was copied from another clone, in which nothing had been pushed."""
    first = written(ground, "pay.py", "1\n")
    one = completed("S1", first, "c" * 40, 1.0)
    two = completed("S2", first, written(ground, "show.py", "1\n"), 2.0)
    facts = unread(ground, one, two)
    (clause,) = facts.unread
    assert clause.startswith("cccccccccc, with which S1 was completed, is not in this clone")
    assert "lifecycle run review S1 --by reviewer" in clause
    assert unread(ground, approved(one, facts, REVIEW), two).unread == ()
    lone = unread(ground, one).unread
    assert len(lone) == 1, "of the last one every file is to be read, which is said once"


def test_a_file_of_a_story_that_is_another_one_here_is_read_again(ground: RunGround) -> None:
    """It was reset, and a later story changed the same file: its reviewer says whether all is in it."""
    lines = "".join(f"{number}\n" for number in range(9))
    first = written(ground, "pay.py", lines)
    ground.git("switch", "-qc", "mine")
    one = completed("S1", first, written(ground, "pay.py", f"{lines}one\n"), 1.0)
    ground.git("switch", "-qc", "other", first)
    two = completed("S2", first, written(ground, "pay.py", f"two\n{lines}"), 2.0)
    facts = unread(ground, one, two)
    (clause,) = facts.unread
    assert clause.startswith("pay.py changed after the last review by reviewer")
    assert "lifecycle run review S1 --by reviewer" in clause
    assert unread(ground, approved(one, facts, REVIEW), two).unread == ()
    assert len(unread(ground, one).unread) == 1, "it is named once"
    ground.git("switch", "-q", "mine")
    ground.git("rebase", "-q", "other")
    later = completed("S2", two.base, ground.git("rev-parse", "HEAD"), 2.0)
    assert unread(ground, one, later).unread == ()
