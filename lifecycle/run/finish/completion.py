"""The end of a run: what it lacks, what no review has read, its completion, and its closing block.

A story is completed on a reviewed tree, and the review of the next one begins where that ended
(`read_from`). So everything is reviewed up to the commit of the last completed story; later changes are
not, until a review of the current files approves them. Changes to what security cleared need a new
security review. And each story's changes still have to be present.
"""

from __future__ import annotations

from lifecycle.core.light_dataclass import fields_of, replace
from lifecycle.core.redact import listed, visible
from lifecycle.evidence.tree_hash import is_own
from lifecycle.git.commits import commit_at
from lifecycle.git.process import GitRepository
from lifecycle.run.gates.gate_rules import HOLDS, lint_left, open_questions, review_state
from lifecycle.run.gates.run_moves import moved_phase
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.long_run import spent
from lifecycle.run.state import Run, Story, data_of, newest
from lifecycle.run.table import COMPLETE, REVIEWERS, CheckState, Gate, RunPhase, RunStatus
from lifecycle.run.texts.standing import elapsed
from lifecycle.run.texts.told import Answer, filled, refused, sentence


def lacks(run: Run, facts: WorkFacts) -> tuple[str, ...]:
    """What a run lacks before its last gate, one clause each; () if nothing."""
    missing = [] if run.stories else ["there is no story (lifecycle run add-story)"]
    missing += [f"{story.id} is {story.status}" for story in run.open_stories[:20]]
    missing += open_questions(run)
    if facts.uncommitted:
        missing.append(sentence("uncommitted", paths=listed(facts.uncommitted), story="STORY"))
    return (*missing, *facts.unread, *facts.uncleared, *_refused(run, facts.tree))


def _refused(run: Run, tree: str) -> list[str]:
    """Completed stories' refused reviews that no later review has approved, one clause each."""
    return [
        f"{by} refused {story.id} (fix it, then: lifecycle run review {story.id} --by {by} …)"
        for story in run.completed_stories
        for by, (check, *_) in REVIEWERS.items()
        if review_state(story, check, tree) is CheckState.FAIL
        or any(review.check is check for review in story.standing_reviews)
    ]


def _all_lacks(run: Run, facts: WorkFacts) -> tuple[str, ...]:
    """`lacks`, and whether the last gate passed on the current files; one clause each."""
    missing = lacks(run, facts)
    final = newest(run.gates, Gate.G7, facts.tree)
    if final is not None and final.state in HOLDS:
        return missing
    stands = "has no PASSED record" if final is None else f"is {final.state}"
    return (*missing, f"G7 {stands} on the current tree (lifecycle run gate G7)")


def at_completion(run: Run, facts: WorkFacts, now: float, *, asked: bool) -> Run:
    """The run in its last phase, ready for its pull request.

    Args:
        run: as it is.
        facts: the worktree as it is.
        now: the present.
        asked: a person is present who can be asked.

    Raises:
        Refused: the run is not active, or something is missing; the sentence names everything.
    """
    run.demand_active()
    missing = _all_lacks(run, facts)
    if missing:
        raise refused("not-published", missing=missing)
    return moved_phase(run, RunPhase.COMPLETION, facts.tree, now, asked=asked)


def published(run: Run, url: str, head: str, why: str = "") -> Run:
    """Note a run's pull request and the commit that was pushed; without a URL, why there is none."""
    return run.but(pull_request=url, unpublished="" if url else visible(why), published=head)


def completed(run: Run, facts: WorkFacts, now: float, *, asked: bool) -> Run:
    """The completed run; unchanged if it was completed already.

    Raises:
        Refused: something is missing; the sentence names everything.
    """
    if run.is_over:
        return run
    lack = "it has no pull request"
    if run.pull_request or run.unpublished:
        lack = "" if run.published == facts.head else "its pull request lacks the last commits"
    if lack:
        missing = (*_all_lacks(run, facts), f"{lack} (lifecycle run finish)")
        raise refused("not-completed", missing=missing)
    run = at_completion(run, facts, now, asked=asked)
    return run.but(status=RunStatus.COMPLETED, completed=now, why="")


def closing(run: Run) -> Answer:
    """The block with which a completed run ends; the stop hook looks for its head."""
    last = "Pull request created." if run.pull_request else f"No pull request: {run.unpublished}."
    lint, done, took = lint_left(run), len(run.completed_stories), spent(run, run.completed)
    lines = filled(
        "complete",
        run=run,
        goal=" ".join(run.goal.split()),
        url=run.pull_request or "none",
        runtime=elapsed(took.seconds),
        done=done,
        stories=len(run.stories),
        last=f"{lint}. {last}" if lint else last,
    )
    return lines, {
        "marker": COMPLETE,
        **fields_of(run, status="status", goal="goal", workflow_id="id"),
        **fields_of(run, "unpublished?", pr_url="pull_request?"),
        "stories_completed": done,
        "stories": len(run.stories),
        "spent": data_of(took),
    }


def read_from(git: GitRepository, run: Run, story: Story) -> str:
    """The commit that a review of a story begins with, so that no change is between two reviews.

    It is the story's base, or the commit of the story that was completed before, whichever is older; "" if
    the story has no base.
    """
    others = (other for other in run.completed_stories if other.id != story.id and other.commit)
    before = [other for other in others if story.is_open or other.completed < story.completed]
    if not before or not story.base:
        return story.base
    last = max(before, key=lambda other: other.completed).commit
    return git.run("merge-base", story.base, last, check=False) or story.base


def with_unread(facts: WorkFacts, git: GitRepository, run: Run, upstream: str = "") -> WorkFacts:
    """The facts, with the changes that no review has read, of a worktree with everything committed.

    Args:
        facts: the worktree's facts.
        git: the worktree's git.
        run: the run with the reviewed stories.
        upstream: git's name for the branch that the pull request goes into: changes that came from it
            were reviewed there. "" if there is none.

    Raises:
        GitFailed, Transient: git cannot say.
    """
    done = run.completed_stories
    if not done or not facts.head:
        return facts
    # The last story first: what its review cleared need not be checked against an earlier one.
    last, *_ = latest = sorted(done, key=lambda candidate: -candidate.completed)
    late = _later(git, last.commit, facts.head, upstream)
    clauses, cleared = list[str](), set[str]()
    for story in (candidate for candidate in latest if candidate.security):
        own = _between(git, story.base, story.commit)
        void = own & _later(git, story.commit, facts.head, upstream) - cleared
        lacks_look = _unread(story, "security", void, facts.tree)
        clauses += lacks_look
        cleared |= own - void if lacks_look else own
    gone = [clause for story in done for clause in _gone(git, story, facts, is_last=story is last)]
    read = (*gone, *_unread(last, "reviewer", late, facts.tree))
    return replace(facts, late=tuple(sorted(late)), unread=read, uncleared=tuple(clauses))


def _gone(git: GitRepository, story: Story, facts: WorkFacts, *, is_last: bool) -> list[str]:
    """Clauses on a completed story's changes that are not in HEAD: on another branch, or reset.

    The change counts, not the commit: a rebase gives it another name, and a squash has its files. If a file
    has other changes here, or the commit is not in this clone, its reviewer says whether the story's change
    is still in it; for the last completed story the reviewer is asked anyway.
    """
    base, commit, head = story.base, story.commit, facts.head
    is_there = bool(base and commit and commit_at(git, commit))
    is_read = review_state(story, REVIEWERS["reviewer"][0], facts.tree) is CheckState.PASS
    if base and commit and not (is_there or is_last or is_read):
        return [sentence("commit-is-elsewhere", story=story, commit=commit[:10])]
    is_known = is_there and base and commit_at(git, base)
    if not is_known or git.run("merge-base", commit, head, check=False) == commit:
        return []
    if "+" not in git.run("cherry", head, commit, base):
        return []
    own, here = _between(git, base, commit), _between(git, base, head)
    others = set() if is_last else own & here & _between(git, commit, head)
    unclear = _unread(story, "reviewer", others, facts.tree)
    if own <= here:
        return unclear
    about = {"story": story, "paths": listed(sorted(own - here)), "commit": commit[:10]}
    return [sentence("work-is-gone", **about), *unclear]


def _unread(story: Story, by: str, paths: set[str], tree: str) -> list[str]:
    """A clause on the paths that a reviewer has not read, unless a review of this tree approves them."""
    if not paths or review_state(story, REVIEWERS[by][0], tree) is CheckState.PASS:
        return []
    return [sentence("changed-unread", paths=listed(sorted(paths)), story=story, by=by)]


def _later(git: GitRepository, commit: str, head: str, upstream: str) -> set[str]:
    """The paths that changed from a commit to HEAD, without those that the upstream branch brought."""
    changed = _between(git, commit, head)
    if changed and upstream:
        ends = (commit, head)
        old, new = (git.run("merge-base", end, upstream, check=False) for end in ends)
        if old and new != old:
            changed -= _between(git, old, new) - _between(git, new, head)
    return changed


def _between(git: GitRepository, first: str, second: str) -> set[str]:
    """The paths that differ between two commits; all of the second if the first is not known."""
    start = first and commit_at(git, first)
    words = ["diff", "--no-renames"] if start else ["ls-tree", "-r"]
    ends = [start, second] if start else [second]
    paths = git.run(*words, "--name-only", "-z", *ends).split("\0")
    return {path for path in paths if path and not is_own(path)}
