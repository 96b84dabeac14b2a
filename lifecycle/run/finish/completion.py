"""The end of a run: what it lacks, what no review has read, its pull request, and its closing block.

A story is completed on a reviewed tree, and the review of the next one begins where that ended
(`read_from`). So everything is reviewed up to the commit of the last completed story; later changes are
not, until a review of the current files approves them. Changes to what security cleared need a new
security review. And each story's changes still have to be present.

Its branch is pushed, and one pull request has the run's part in its text; a pull request that a claim opens
has that part, too (`with_run`).
"""

from __future__ import annotations

import shlex
from collections.abc import Callable

from lifecycle.core.errors import GitFailed, LifecycleError, NothingToMerge
from lifecycle.core.light_dataclass import dataclass, fields_of, replace
from lifecycle.core.redact import listed, redact, visible
from lifecycle.core.values.model import PullState
from lifecycle.core.world import World
from lifecycle.evidence.tree_hash import is_own
from lifecycle.git.commits import commit_at, head_of
from lifecycle.git.process import GitRepository, default_branch, is_no_github, parse_remote, push
from lifecycle.git.worktree_files import opened
from lifecycle.github.operations.ensure_pulls import PullOperations
from lifecycle.run.gates import gate_rules
from lifecycle.run.gates.gate_rules import review_state
from lifecycle.run.gates.run_moves import moved_phase
from lifecycle.run.gates.work_facts import WorkFacts, facts_of
from lifecycle.run.long_run import spent
from lifecycle.run.run_store import RunStore
from lifecycle.run.state import Run, Story, data_of, newest
from lifecycle.run.table import COMPLETE, REVIEWERS, CheckState, Gate, RunPhase, RunStatus
from lifecycle.run.texts.report_text import body_of, summary_of, with_section
from lifecycle.run.texts.told import Answer, drawn, refused, sentence


def lacks(run: Run, facts: WorkFacts) -> tuple[str, ...]:
    """What a run lacks before its last gate, one clause each; () if nothing."""
    missing = [] if run.stories else [gate_rules.WITHOUT_STORY]
    missing += [f"{story.id} is {story.status}" for story in run.open_stories[:20]]
    missing += gate_rules.open_questions(run)
    if facts.uncommitted:
        missing.append(sentence("uncommitted", paths=listed(facts.uncommitted), story="STORY"))
    unmended = [  # completed stories' refused reviews that no later review has approved
        f"{by} refused {story.id} (fix it, then: lifecycle run review {story.id} --by {by} …)"
        for story in run.completed_stories
        for by, (check, *_) in REVIEWERS.items()
        if review_state(story, check, facts.tree) is CheckState.FAIL
        or any(review.check is check for review in story.standing_reviews)
    ]
    return (*missing, *facts.unread, *facts.uncleared, *unmended)


def _all_lacks(run: Run, facts: WorkFacts) -> tuple[str, ...]:
    """`lacks`, and whether the last gate passed on the current files; one clause each."""
    missing = lacks(run, facts)
    final = newest(run.gates, Gate.G7, facts.tree)
    if final is not None and final.state in gate_rules.HOLDS:
        return missing
    stands = "has no PASSED record" if final is None else f"is {final.state}"
    return (*missing, f"G7 {stands} on the current tree (lifecycle run gate G7)")


def at_completion(run: Run, facts: WorkFacts, now: float) -> Run:
    """The run in its last phase, ready for its pull request.

    Args:
        run: as it is.
        facts: the worktree as it is.
        now: the present.

    Raises:
        Refused: the run is not active, or something is missing; the sentence names everything.
    """
    run.demand_active()
    missing = _all_lacks(run, facts)
    if missing:
        raise refused("not-published", missing=missing)
    return moved_phase(run, RunPhase.COMPLETION, facts.tree, now, asked=True)


def published(run: Run, url: str, head: str, why: str = "") -> Run:
    """Note a run's pull request and the commit that was pushed; without a URL, why there is none."""
    return run.but(pull_request=url, unpublished="" if url else visible(why), published=head)


def completed(run: Run, facts: WorkFacts, now: float) -> Run:
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
    run = at_completion(run, facts, now)
    return run.but(status=RunStatus.COMPLETED, completed=now, why="")


def closing(run: Run) -> Answer:
    """The block with which a completed run ends; the stop hook looks for its head."""
    took = spent(run, run.completed)
    return drawn("complete", run=run, took=took, lint=gate_rules.lint_left(run)), {
        "marker": COMPLETE,
        **fields_of(run, status="status", goal="goal", workflow_id="id"),
        **fields_of(run, "unpublished?", pr_url="pull_request?"),
        "stories_completed": len(run.completed_stories),
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
    is_known = is_there and commit_at(git, base)
    is_in = not is_known or git.run("merge-base", commit, head, check=False) == commit
    if is_in or "+" not in git.run("cherry", head, commit, base):
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
        old, new = (git.run("merge-base", end, upstream, check=False) for end in (commit, head))
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


AGAIN = "Run it again then: lifecycle run finish"


@dataclass(frozen=True, slots=True)
class Published:
    """The result of `publish`: the pull request's URL, whether it was opened now, or why there is none."""

    url: str = ""
    is_new: bool = False
    why: str = ""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a run's work goes: a branch of a remote, and on GitHub the head of a pull request there."""

    remote: str
    branch: str
    head: str = ""
    pulls: PullOperations | None = None


def destination(
    world: World, pulls: Callable[[], PullOperations], run: Run
) -> Destination | Published:
    """Where the work would go, or the result if it has to go nowhere; determined before anything is run.

    Args:
        world: the worktree's world.
        pulls: gives the repository's pull requests; called only if there is a GitHub.
        run: the run to publish.

    Raises:
        Refused: HEAD is on no branch, or on the one that pull requests go into, or somebody closed the pull
            request of these very commits.
        NoToken, BadConfig: there is no token, or the remote cannot be used.
        Rejected, Transient: GitHub does not show the branch's pull requests.
    """
    if not world.git.remotes():
        return Published(why="there is no remote")
    remote, branch = world.remote, world.git.current_branch()
    fresh = f"git switch -c run-{run.id}"
    if branch is None:
        raise refused("no-branch", fresh=fresh)
    if redact(branch, {}) != branch:
        raise refused("branch-is-secret")
    default = default_branch(world.git, world.settings.remote, is_asked=True)
    if branch in (world.settings.base, default):
        raise refused("branch-is-base", branch=visible(branch), fresh=fresh)
    place = parse_remote(world.git.remote_url(remote) or "")
    if place is None or is_no_github(place.host):
        return Destination(remote, branch)
    owner, head = world.head.owner, world.git.head_of(branch)
    shown = world.forge.pull_requests_of(branch)
    own = [pull for pull in shown if pull.head_owner.casefold() == owner.casefold()]
    same = [pull for pull in own if pull.state is PullState.OPEN or pull.head_sha == head]
    if same and all(pull.ended_with(head) for pull in same):
        raise refused("pull-closed", pull=same[0], branch=visible(branch))
    base = world.settings.base or default
    merged = [pull.url for pull in same if pull.state is PullState.MERGED and pull.base == base]
    if merged and not any(pull.state is PullState.OPEN for pull in same):
        return Published(merged[-1])  # GitHub would open another one after a squash
    return Destination(remote, branch, f"{owner}:{branch}", pulls())


def publish(world: World, to: Destination | Published, run: Run, section: str) -> Published:
    """Push the branch, and ensure one open pull request for it with this section in its text.

    Args:
        world: the worktree's world.
        to: the destination, or the result if the work has to go nowhere.
        run: the run to publish.
        section: the run's part of the text.

    Raises:
        GitFailed, Rejected, Transient: the push or GitHub failed; the sentence says what was done.
    """
    if isinstance(to, Published):
        return to
    _push(world, to)
    if to.pulls is None:
        return Published(why=f"{to.branch} was pushed, and the remote {to.remote} is no GitHub")
    try:
        title = world.public(f"[Feature] {summary_of(run)}", "title")
        body, base = with_section("", run, section), world.settings.base or ""
        outcome = to.pulls.ensure_pull_request(
            to.head, title=title, body=body, base=base, update=False
        )
        if not outcome.changed:
            text = with_section(outcome.now.body, run, section)
            to.pulls.ensure_text(outcome.now.number, body=text)
    except NothingToMerge:
        # If there was one and it was merged meanwhile, that is the run's pull request.
        return Published(run.pull_request, why=f"{to.branch} has no commit that its base lacks")
    except LifecycleError as error:
        before = f"Before that {to.branch} was pushed, and the run continues."
        error.sentence = f"{error.sentence} {before} {AGAIN}"
        raise
    return Published(outcome.now.url, outcome.changed)


def _push(world: World, to: Destination) -> None:
    try:
        push(world.git, to.remote, f"HEAD:refs/heads/{to.branch}")
    except GitFailed as error:
        why = sentence("push-failed", to=to, error=error, quoted=shlex.quote(to.branch))
        raise GitFailed(why, evidence=error.evidence) from None
    except LifecycleError as error:
        error.sentence = f"{error.sentence} No pull request was opened. {AGAIN}"
        raise


_MOST = 65_000
"""Characters of a whole text; GitHub takes 65,536."""


def facts_for(world: World, run: Run) -> WorkFacts:
    """The facts of a worktree, with the changes that no review has read; raises GitFailed, Transient."""
    upstream = f"refs/remotes/{world.settings.remote}/{world.settings.base or 'HEAD'}"  # and no tag
    commit = world.git.run("rev-parse", "--verify", "--quiet", upstream, check=False)
    git = _git(world)
    return with_unread(facts_of(git), git, run, commit)


def _git(world: World) -> GitRepository:
    return opened(GitRepository(world.root, world.deadline, world.environment))


def section_for(world: World, run: Run, facts: WorkFacts) -> str:
    """The run's part of a pull request's text, from its records; raises GitFailed, Transient."""
    return body_of(run, changed_paths(_git(world), run), world.clock.now(), facts)


def changed_paths(git: GitRepository, run: Run) -> set[str]:
    """The paths that differ between the commit that the run began on and HEAD.

    If that commit was not recorded or git has lost it, the first story's base is used; else all is new.

    Raises:
        GitFailed, Transient: git cannot say.
    """
    head, begun = head_of(git), sorted((story.started, story.base) for story in run.stories)
    bases = filter(None, (run.base, *(base for _, base in begun)))
    base = next((commit for commit in bases if commit_at(git, commit)), "")
    return _between(git, base, head) if head else set()


def with_run(world: World, body: str, branch: str) -> str:
    """A pull request's text with the part of this branch's unfinished run; unchanged if there is none.

    Raises:
        LifecycleError: the run or the files cannot be read.
    """
    run = RunStore(world.root, world.environment, world.deadline).load()
    if run is None or run.is_over or world.git.current_branch() != branch:
        return body
    text = with_section(body, run, section_for(world, run, facts_for(world, run)))
    return text if len(text) <= _MOST else body
