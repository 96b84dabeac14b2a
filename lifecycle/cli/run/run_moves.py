"""`lifecycle run update-story` and `update-phase`: the moves of stories and of the run."""

from __future__ import annotations

from typing import Any

import click

from lifecycle.cli.command_session import option
from lifecycle.cli.run.run_session import RunSession, in_run
from lifecycle.platforms import selection
from lifecycle.platforms.command_argv import as_line
from lifecycle.run.checkpoints.checkpoint_refs import make, with_checkpoint
from lifecycle.run.gates.phase_moves import moved_phase
from lifecycle.run.gates.story_moves import moved_story
from lifecycle.run.table import MAX_RETRIES, RunPhase, StoryStatus
from lifecycle.run.tdd.tdd_moves import remembered
from lifecycle.run.tdd.test_proofs import look
from lifecycle.run.trouble.escalation import escalation_lines
from lifecycle.run.trouble.story_failures import attempts

LINT_FIX = "lintFix"
"""The platform's command that mends lint by itself."""


@click.command("update-story", short_help="Move a story to another status.")
@click.argument("story", metavar="STORY")
@click.argument("status", type=click.Choice([one.value for one in StoryStatus]))
@option("--no-change REASON", "With completed: why nothing had to change.", "unneeded", default="")
@in_run
def update_story(given: RunSession, *, story: str, status: str, unneeded: str) -> None:
    """Move STORY to another status, as far as the records show that it is there.

    completed: every criterion, RED and GREEN, the gates, and the reviews have to be shown on the files as
    they are, and these committed; whatever is missing is named.
    """
    world = given.world
    base = given.store.demanded().story(story).base
    facts = given.facts_since(base)
    runs = None
    if status == StoryStatus.COMPLETED:
        runs = look(world.root, world.environment, world.deadline)
    with given.store.changing() as change:
        before = change.run
        seen = before.story(story)
        after = moved_story(
            before if runs is None else before.with_story(remembered(seen, runs)),
            story,
            StoryStatus(status),
            facts,
            given.now,
            unneeded=unneeded,
            asked=given.can_ask,
        )
        change.run = after
        one = after.story(story)
        if after != before:
            change.note(f"Story {one.id}: {one.status}")
        if one.status is StoryStatus.COMPLETED and before.story(story).is_open:
            where = (world.root, world.deadline, world.environment)
            made = make(*where, after, given.now, one.id)
            change.run = after = with_checkpoint(after, made)
        told = escalation_lines(before, after)
        change.note(*told)
    lines = [f"Updated story {one.id}: {one.status}"]
    if one.status is StoryStatus.IN_PROGRESS:
        lines.append(f"Iteration: {attempts(one)}/{MAX_RETRIES}")
    following = after.current
    if one.status is StoryStatus.COMPLETED and (following or not after.open_stories):
        way = f"update-story {following.id} in_progress" if following else "gate G7"
        lines.append(f"Next: lifecycle run {way}")
    lines += told
    data: dict[str, Any] = {"story": one.id, "status": one.status, "iteration": one.iteration}
    given.show(lines, {**data, "phase": after.phase})


@click.command("update-phase", short_help="Move the run to another phase.")
@click.argument("phase", type=click.Choice([one.value for one in RunPhase]))
@in_run
def update_phase(given: RunSession, *, phase: str) -> None:
    """Move the run to another phase, if what that needs is shown: whatever is missing is named."""
    wanted = RunPhase(phase)
    given.store.demanded()
    tree = given.tree_if_known
    with given.store.changing() as change:
        before = change.run
        change.run = run = moved_phase(before, wanted, tree, given.now, asked=given.can_ask)
        if run != before:
            change.note(f"Phase: {run.phase}")
    lines = [f"Updated phase: {run.phase}"]
    fix = None
    if run.phase is RunPhase.LINT_FIX:
        commands = selection.commands_of(given.root, given.world.environment)
        fix = as_line(commands[LINT_FIX].argvs) if LINT_FIX in commands else None
        lines.append("Formatting only: no logic, no new tests, no refactoring.")
        lines += [f"The platform mends lint by itself: {fix}"] if fix else []
        lines.append("After each fix: lifecycle run gate G7")
    given.show(lines, {"phase": run.phase, "lint_fix": fix})
