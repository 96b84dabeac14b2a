"""Publish a run: push its branch, and ensure one pull request with the run's part in its text.

A pull request that a claim opens has that part in its text, too (`with_run`).
"""

from __future__ import annotations

import shlex
from collections.abc import Callable

from lifecycle.core.errors import GitFailed, LifecycleError, NothingToMerge
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import redact, visible
from lifecycle.core.values.model import PullState
from lifecycle.core.world import World
from lifecycle.git.process import GitRepository, default_branch, is_no_github, parse_remote, push
from lifecycle.git.worktree_files import opened
from lifecycle.github.operations.ensure_pulls import PullOperations
from lifecycle.run.finish.completion import with_unread
from lifecycle.run.finish.pull_text import body_of, changed_files, title_of, with_section
from lifecycle.run.gates.work_facts import WorkFacts, facts_of
from lifecycle.run.run_store import RunStore
from lifecycle.run.state import Run
from lifecycle.run.texts.told import refused, sentence

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
    remote, branch = world.remote, _branch(world, run)
    place = parse_remote(world.git.remote_url(remote) or "")
    if place is None or is_no_github(place.host):
        return Destination(remote, branch)
    owner, head = world.head.owner, world.git.head_of(branch)
    shown = world.forge.pull_requests_of(branch)
    own = [pull for pull in shown if pull.head_owner.casefold() == owner.casefold()]
    same = [pull for pull in own if pull.state is PullState.OPEN or pull.head_sha == head]
    if same and all(pull.ended_with(head) for pull in same):
        raise refused("pull-closed", pull=same[0], branch=visible(branch))
    base = world.settings.base or default_branch(world.git, world.settings.remote, is_asked=True)
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
    _push(world, to.remote, to.branch)
    if to.pulls is None:
        return Published(why=f"{to.branch} was pushed, and the remote {to.remote} is no GitHub")
    try:
        title, body = world.public(title_of(run), "title"), with_section("", run, section)
        base = world.settings.base or ""
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
        error.sentence = (
            f"{error.sentence} Before that {to.branch} was pushed, and the run continues. {AGAIN}"
        )
        raise
    return Published(outcome.now.url, outcome.changed)


def _branch(world: World, run: Run) -> str:
    branch = world.git.current_branch()
    fresh = f"git switch -c run-{run.id}"
    if branch is None:
        raise refused("no-branch", fresh=fresh)
    if redact(branch, {}) != branch:
        raise refused("branch-is-secret")
    default = default_branch(world.git, world.settings.remote, is_asked=True)
    if branch in (world.settings.base, default):
        raise refused("branch-is-base", branch=visible(branch), fresh=fresh)
    return branch


def _push(world: World, remote: str, branch: str) -> None:
    try:
        push(world.git, remote, f"HEAD:refs/heads/{branch}")
    except GitFailed as error:
        words = {"remote": remote, "quoted": shlex.quote(branch)}
        why = sentence("push-failed", branch=branch, error=error, **words)
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
    files = changed_files(_git(world), run)
    return body_of(run, files, world.clock.now(), facts)


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
