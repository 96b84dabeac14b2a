"""The moves of stories, of their cycle, and of the run; checkpoints, and a story's commit.

`lifecycle run update-story|update-phase|tdd-phase|tdd-validate|tdd-status`, and `tdd waive`;
`mark-working-state|rollback-to-checkpoint|commit`.
"""

from __future__ import annotations

import json

from lifecycle.cli.run.run import RunSession
from lifecycle.core.light_dataclass import fields_of
from lifecycle.core.messages import figures
from lifecycle.platforms import command_argv, selection
from lifecycle.run import kept_work, tdd_moves
from lifecycle.run.gates.run_moves import moved_phase, moved_story
from lifecycle.run.gates.work_facts import files_of
from lifecycle.run.table import MAX_RETRIES, NEXT, WORK, RunPhase, StoryStatus, TddPhase
from lifecycle.run.texts.told import drawn, refused
from lifecycle.run.trouble.story_failures import attempts

LINT_FIX = "lintFix"
"""The platform's command that fixes lint problems automatically."""


def update_story(session: RunSession, *, story: str, status: StoryStatus, unneeded: str) -> None:
    """Move STORY to another status, if the records show that it has reached it.

    For completed, every criterion, RED and GREEN, the gates, and the reviews have to be shown on the
    present files, and these committed; the error names what is missing.
    """
    facts = session.facts(session.store.demanded().story(story))
    runs = files_of(session.world.git) if status is StoryStatus.COMPLETED else None
    with session.store.changing() as change:
        run, old_story = change.run, change.run.story(story)
        if runs is not None:
            run = run.with_story(tdd_moves.remembered(old_story, runs))
        change.run = after = moved_story(run, story, status, facts, session.now, unneeded=unneeded)
        moved = after.story(story)
        if after != change.before:
            change.note(f"Story {moved.id}: {moved.status}")
        if not moved.is_open and old_story.is_open:
            change.run = after = kept_work.marked(session.world.git, after, session.now, moved.id)
        escalations = change.told()
    lines = [f"Updated story {moved.id}: {moved.status}"]
    if moved.status is StoryStatus.IN_PROGRESS:
        lines.append(f"Iteration: {attempts(moved)}/{MAX_RETRIES}")
    following = after.current
    if not moved.is_open and (following or not after.open_stories):
        way = f"update-story {following.id} in_progress" if following else "gate G7"
        lines.append(f"Next: lifecycle run {way}")
    data = {"story": moved.id, **fields_of(moved, "status", "iteration"), "phase": after.phase}
    session.show([*lines, *escalations], data)


def update_phase(session: RunSession, *, phase: RunPhase) -> None:
    """Move the run to another phase, if its demands are shown; the error names what is missing."""
    tree = session.tree
    with session.store.changing() as change:
        change.run = run = moved_phase(change.run, phase, tree, session.now, asked=session.can_ask)
        if run != change.before:
            change.note(f"Phase: {run.phase}")
    lines, fix = [f"Updated phase: {run.phase}"], None
    if run.phase is RunPhase.LINT_FIX:
        commands = selection.detect(session.root, session.world.environment).commands
        fix = command_argv.as_line(commands[LINT_FIX]) if LINT_FIX in commands else None
        lines.append("Formatting only: no logic, no new tests, no refactoring.")
        lines += [f"The platform's command that fixes lint: {fix}"] if fix else []
        lines.append("After each fix: lifecycle run gate G7")
    session.show(lines, {"phase": run.phase, "lint_fix": fix})


def tdd_phase(session: RunSession, *, story: str, phase: TddPhase) -> int:
    """Move a story to a phase of its cycle; only runs show what the phase demands, never words.

    green needs a run since the story began in which a named test failed by its assertion; refactor and
    verify need that test to pass on the present files. Exits 1 if that is not so.
    """
    runs = files_of(session.world.git)
    try:
        with session.store.changing() as change:
            change.run = run = tdd_moves.moved_phase(change.run, story, phase, runs, session.now)
            moved = run.story(story)
            change.note(f"{moved.id} TDD: {phase}")
    except tdd_moves.TddViolation as refused:
        steps = {"current": refused.current, "expected": refused.expected, "why": refused.why}
        data = {"valid": False, **steps, "violation": refused.sentence}
        return session.show(refused.lines, data, code=1)
    lines = [f"{moved.id} TDD phase: {phase} ({WORK[phase]})"]
    if moved.red is not None or moved.waived:
        lines += drawn("cycle", story=moved)
    return session.show([*lines, NEXT[phase]], tdd_moves.cycle_data(moved))


def tdd_validate(session: RunSession, *, story: str, phase: TddPhase) -> None:
    """Say whether a story may go to a phase: {"valid": true}, or {"valid": false, "expected": "red"}."""
    asked_story = session.store.demanded().story(story)
    violation = tdd_moves.expected_of(asked_story, phase, files_of(session.world.git))
    expected = {"expected": violation.expected} if violation is not None else {}
    why = {"why": violation.why} if violation is not None and violation.why else {}
    answer = {"valid": violation is None, **expected}
    session.show([json.dumps(answer)], {**answer, **why})


def tdd_status(session: RunSession, *, story: str) -> None:
    """Print the phase of a story's cycle, as "green"; with --json also what was shown."""
    asked_story = session.store.demanded().story(story)
    session.show([json.dumps(asked_story.tdd)], tdd_moves.cycle_data(asked_story))


def tdd(session: RunSession, *, action: str, story: str, reason: str) -> None:
    """Leave red and green out of a story: documents, configuration, pure refactoring.

    The reason is recorded and goes into the pull request. The other gates stay. For a story that changes
    code, do this before the first change, and after lifecycle check test passed on the unchanged files.
    """
    del action  # its only value is "waive"
    target = session.store.demanded().story(story)
    runs, facts = files_of(session.world.git), session.facts(target)
    changed = facts.changed if target.base else facts.uncommitted
    with session.store.changing() as change:
        change.run = run = tdd_moves.waived(change.run, story, reason, runs, changed)
        waived_story = run.story(story)
        done = change.note(f"{waived_story.id} TDD waived: {waived_story.waived}")
    session.show([done], tdd_moves.cycle_data(waived_story))


def mark_working_state(session: RunSession) -> None:
    """Save all files as they are, including uncommitted and new ones, as a checkpoint of the run.

    It is a git ref (refs/lifecycle/checkpoints/…), not a branch, and no push includes it. Index, files and
    branch stay unchanged. Ignored files, and files that are named like secrets, are not saved.
    """
    with session.store.changing() as change:
        change.run = kept_work.marked(session.world.git, change.run, session.now)
        checkpoint = change.run.checkpoints[-1]
        change.note(f"Checkpoint {checkpoint.ref}: {checkpoint.commit[:10]}")
    ref = f"{kept_work.prefix_of(change.run)}{checkpoint.ref}"
    way = f"Go back to it with: lifecycle run rollback-to-checkpoint {checkpoint.ref}"
    data = {"checkpoint": checkpoint.ref, "ref": ref, "commit": checkpoint.commit}
    session.show([f"Marked working state: {checkpoint.ref} ({checkpoint.commit[:10]})", way], data)


def rollback_to_checkpoint(session: RunSession, *, name: str) -> None:
    """Restore files, index and branch from a checkpoint: a story's, a named or the last one.

    The present state, with uncommitted work and the branch's head, is saved as a checkpoint first, and one
    command brings it back. Later stories become pending again; failures, clarifications and the count of
    iterations stay. Refused during a merge, a rebase and the like. Ignored files stay unchanged.
    """
    with session.store.changing() as change:
        before = change.run
        if before.is_over:
            raise refused("run-over-not-moved", before=before)
        back = kept_work.go_back(session.world.git, before, name, session.now)
        change.run = kept_work.rolled_back(before, back.checkpoint, back.record)
        pairs = zip(before.stories, change.run.stories, strict=True)
        pending = StoryStatus.PENDING
        reopened = [s.id for old, s in pairs if s.status is pending is not old.status]
        change.note(f"Went back to {back.checkpoint.ref}; saved as {back.saved.ref}")
    undo = f"lifecycle run rollback-to-checkpoint {back.saved.ref}"
    lines = drawn("rolled_back", back=back, undo=undo, again=reopened)
    heads = {"head": back.head, "former_head": back.former}
    saved = {"pending": reopened, "saved": back.saved.ref, "undo": undo}
    session.show(lines, {"checkpoint": back.checkpoint.ref, **heads, **saved})


def commit(session: RunSession, *, story: str, message: str) -> int:
    """Commit all uncommitted changes as STORY's work, in the platform's commit format.

    The format is the platform's convention commitFormat, with {type}, {title} and {id}; without one it is
    feat: TITLE (S1). Git's hooks run as always. Never committed: lifecycle's files, files that are named
    like a secret, and content that looks like one. The time for hooks is not counted.
    """
    world = session.world
    run = session.store.demanded()
    session.store.refuse_held(run)
    run.demand_open()
    target = run.story(story)
    if not target.started:
        raise refused("story-not-begun", story=target)
    selected = selection.detect(world.root, world.environment).selected
    conventions = selected.about.conventions if selected else {}
    text = message.strip() or kept_work.subject_of(target, conventions)
    with world.deadline.standing_still():
        made, changes = kept_work.commit_story(session.world.git, text)
    notes = [f"Note: left out, since it is named like a secret: {path}" for path in changes.secrets]
    data = {"story": target.id, "commit": made, "files": changes.paths, "left": changes.secrets}
    if not made:
        return session.show(["Nothing is uncommitted, so nothing was committed.", *notes], data)
    done = f"Committed {target.id}: {made[:10]} {text.splitlines()[0]}"
    with session.store.changing() as change:
        change.run = kept_work.with_commit(change.run, target.id, made)
        change.note(done)
    return session.show([f"{done} ({figures.count(len(changes.paths), 'file')})", *notes], data)
