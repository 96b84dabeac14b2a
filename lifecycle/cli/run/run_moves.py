"""`lifecycle run update-story` and `update-phase`: the moves of stories and of the run."""

from __future__ import annotations

from lifecycle.cli.run.run_session import RunSession
from lifecycle.platforms import selection
from lifecycle.platforms.command_argv import as_line
from lifecycle.run.checkpoints.checkpoint_refs import make, with_checkpoint
from lifecycle.run.gates.phase_moves import moved_phase
from lifecycle.run.gates.story_moves import moved_story
from lifecycle.run.state import fields_of
from lifecycle.run.table import MAX_RETRIES, RunPhase, StoryStatus
from lifecycle.run.tdd.tdd_moves import remembered
from lifecycle.run.tdd.test_proofs import look
from lifecycle.run.trouble.escalation import escalation_lines
from lifecycle.run.trouble.story_failures import attempts

LINT_FIX = "lintFix"
"""The platform's command that mends lint by itself."""


def update_story(given: RunSession, *, story: str, status: StoryStatus, unneeded: str) -> None:
    """Move STORY to another status, as far as the records show that it is there.

    completed: every criterion, RED and GREEN, the gates, and the reviews have to be shown on the files as
    they are, and these committed; whatever is missing is named.
    """
    facts = given.facts_since(given.store.demanded().story(story).base)
    runs = look(*given.place) if status is StoryStatus.COMPLETED else None
    with given.store.changing() as change:
        run, seen = change.run, change.run.story(story)
        if runs is not None:
            run = run.with_story(remembered(seen, runs))
        change.run = after = moved_story(
            run, story, status, facts, given.now, unneeded=unneeded, asked=given.can_ask
        )
        one = after.story(story)
        if after != change.before:
            change.note(f"Story {one.id}: {one.status}")
        if not one.is_open and seen.is_open:
            made = make(*given.place, after, given.now, one.id)
            change.run = after = with_checkpoint(after, made)
        told = escalation_lines(change.before, after)
        change.note(*told)
    lines = [f"Updated story {one.id}: {one.status}"]
    if one.status is StoryStatus.IN_PROGRESS:
        lines.append(f"Iteration: {attempts(one)}/{MAX_RETRIES}")
    following = after.current
    if not one.is_open and (following or not after.open_stories):
        way = f"update-story {following.id} in_progress" if following else "gate G7"
        lines.append(f"Next: lifecycle run {way}")
    data = {"story": one.id, **fields_of(one, "status", "iteration"), "phase": after.phase}
    given.show([*lines, *told], data)


def update_phase(given: RunSession, *, phase: RunPhase) -> None:
    """Move the run to another phase, if what that needs is shown: whatever is missing is named."""
    given.store.demanded()
    tree = given.tree_if_known
    with given.store.changing() as change:
        change.run = run = moved_phase(change.run, phase, tree, given.now, asked=given.can_ask)
        if run != change.before:
            change.note(f"Phase: {run.phase}")
    lines, fix = [f"Updated phase: {run.phase}"], None
    if run.phase is RunPhase.LINT_FIX:
        commands = selection.commands_of(given.root, given.world.environment)
        fix = as_line(commands[LINT_FIX].argvs) if LINT_FIX in commands else None
        lines.append("Formatting only: no logic, no new tests, no refactoring.")
        lines += [f"The platform mends lint by itself: {fix}"] if fix else []
        lines.append("After each fix: lifecycle run gate G7")
    given.show(lines, {"phase": run.phase, "lint_fix": fix})
