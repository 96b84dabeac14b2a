"""The part of a pull request's text that a worktree's run has, whoever opens it, finished or not."""

from __future__ import annotations

from lifecycle.core.world import World
from lifecycle.git.process import GitRepository
from lifecycle.run.checkpoints.worktree_files import opened
from lifecycle.run.finish.completion import final_of
from lifecycle.run.finish.key_changes import changed_files
from lifecycle.run.finish.pull_text import body_of, with_section
from lifecycle.run.finish.review_cover import with_unread
from lifecycle.run.gates.work_facts import WorkFacts, facts_of
from lifecycle.run.run_store import RunStore
from lifecycle.run.state import Run

_MOST = 65_000
"""Characters of a whole text; GitHub takes 65,536."""


def facts_for(world: World, run: Run) -> WorkFacts:
    """The facts of a worktree, with what no review has read; raises GitFailed, Transient."""
    upstream = f"{world.settings.remote}/{world.settings.base or 'HEAD'}"
    known = world.git.run("rev-parse", "--verify", "--quiet", upstream, check=False)
    facts = facts_of(world.root, world.deadline, world.environment)
    return with_unread(facts, _git(world), run, known)


def _git(world: World) -> GitRepository:
    return opened(world.root, world.deadline, world.environment)


def section_for(world: World, run: Run, facts: WorkFacts) -> str:
    """The run's part as its records have it; raises GitFailed, Transient."""
    files = changed_files(_git(world), run)
    return body_of(run, final_of(run, facts.tree), files, world.clock.now(), facts)


def with_run(world: World, body: str, branch: str) -> str:
    """A text with the part of the run that goes on, waits or was stopped on this branch; else as it was.

    Raises:
        LifecycleError: the run or the files cannot be read.
    """
    run = RunStore(world.root, world.environment, world.deadline).load()
    if run is None or run.is_over or world.git.current_branch() != branch:
        return body
    text = with_section(body, run, section_for(world, run, facts_for(world, run)))
    return text if len(text) <= _MOST else body
