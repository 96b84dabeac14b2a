"""What goes into the pull request and no review has read.

A story is completed on a tree that was reviewed, and the review of the next one begins where that ended
(`read_from`). So all is read up to the commit of the story that was completed last; what came later is not,
until a review of the files as they are approves it. Security reads again what it cleared once.
"""

from __future__ import annotations

from dataclasses import replace

from lifecycle.git.process import GitRepository
from lifecycle.run.checkpoints.worktree_files import is_own
from lifecycle.run.gates.gate_rules import review_state
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import Run, Story
from lifecycle.run.table import CheckState, StoryCheck
from lifecycle.run.texts.told import listed


def read_from(git: GitRepository, run: Run, story: Story) -> str:
    """The commit that a review of a story begins with, so that nothing lies between two reviews.

    It is the story's own, or that of the story which was completed before, whichever is older; "" if the
    story has none.
    """
    others = (one for one in run.completed_stories if one.id != story.id and one.commit)
    before = [one for one in others if story.is_open or one.completed < story.completed]
    if not before or not story.base:
        return story.base
    last = max(before, key=lambda one: one.completed).commit
    return git.run("merge-base", story.base, last, check=False) or story.base


def with_unread(facts: WorkFacts, git: GitRepository, run: Run, upstream: str = "") -> WorkFacts:
    """The facts with what no review has read, of a worktree in which all is committed.

    Args:
        facts: of the worktree.
        git: the worktree's.
        run: whose stories were reviewed.
        upstream: the branch that the pull request goes into, as git names it: what came with it since was
            read there. "" if there is none.

    Raises:
        GitFailed, Transient: git cannot say.
    """
    done = run.completed_stories
    if not done or not facts.head:
        return facts
    last = max(done, key=lambda one: one.completed)
    late = _later(git, last.commit, facts.head, upstream)
    unread = set() if _holds(last, StoryCheck.REVIEW_APPROVED, facts) else late
    clauses, cleared = list[str](), set[str]()
    # The last one first: what it cleared needs no second look by an earlier one.
    for story in sorted((one for one in done if one.security), key=lambda one: -one.completed):
        own = _between(git, story.base, story.commit)
        void = own & _later(git, story.commit, facts.head, upstream) - cleared
        if _holds(story, StoryCheck.SECURITY_CLEARED, facts):
            void = set()
        clauses += _clause(story, "security", void)
        cleared |= own - void
    read = tuple(_clause(last, "reviewer", unread))
    return replace(facts, late=tuple(sorted(late)), unread=read, uncleared=tuple(clauses))


def _clause(story: Story, by: str, paths: set[str]) -> list[str]:
    way = f"lifecycle run review-context {story.id}, then: lifecycle run review {story.id} --by {by} …"
    what = f"{listed(sorted(paths))} changed after the last review by {by} ({way})"
    return [what] if paths else []


def _holds(story: Story, check: StoryCheck, facts: WorkFacts) -> bool:
    return review_state(story, check, facts.tree) is CheckState.PASS


def _later(git: GitRepository, commit: str, head: str, upstream: str) -> set[str]:
    """What changed between a commit and HEAD, but for what is as the upstream branch brought it since."""
    changed = _between(git, commit, head)
    old, new = (
        git.run("merge-base", one, upstream, check=False) if upstream else ""
        for one in (commit, head)
    )
    if changed and old and new != old:
        changed -= _between(git, old, new) - _between(git, new, head)
    return changed


def _between(git: GitRepository, first: str, second: str) -> set[str]:
    """The paths that differ between two commits; all of the second where the first is not known."""
    known = first and git.run(
        "rev-parse", "--verify", "--quiet", f"{first}^{{commit}}", check=False
    )
    words: tuple[str, ...] = ("diff", "--no-renames", "--name-only", "-z", known, second)
    words = words if known else ("ls-tree", "-r", "--name-only", "-z", second)
    return {path for path in git.run(*words).split("\0") if path and not is_own(path)}
