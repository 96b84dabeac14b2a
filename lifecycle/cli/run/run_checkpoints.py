"""`lifecycle run mark-working-state`, `rollback-to-checkpoint`, `commit`: keep what is there."""

from __future__ import annotations

import click

from lifecycle.cli.command_session import option
from lifecycle.cli.run.run_session import RunSession, in_run
from lifecycle.core.errors import Refused


@click.command("mark-working-state", short_help="Keep the worktree as it is, as a checkpoint.")
@in_run
def mark_working_state(given: RunSession) -> None:
    """Keep all files as they are, uncommitted and new ones too, as a checkpoint of the run.

    It is a ref of git (refs/lifecycle/checkpoints/…), no branch, and no push takes it along. Index, files
    and branch stay as they are. What git ignores is not in it, nor is what is named like a secret.
    """
    from lifecycle.run.checkpoints.checkpoint_refs import make, prefix_of, with_checkpoint

    world = given.world
    with given.store.changing() as change:
        made = make(world.root, world.deadline, world.environment, change.run, given.now)
        change.run = with_checkpoint(change.run, made)
        change.notes.append(f"Checkpoint {made.ref}: {made.commit[:10]}")
        ref = f"{prefix_of(change.run)}{made.ref}"
    given.show(
        [
            f"Marked working state: {made.ref} ({made.commit[:10]})",
            f"Go back to it with: lifecycle run rollback-to-checkpoint {made.ref}",
        ],
        {"checkpoint": made.ref, "ref": ref, "commit": made.commit},
    )


@click.command("rollback-to-checkpoint", short_help="Go back to a checkpoint; nothing is lost.")
@click.argument("name", metavar="[S1|NAME]", default="")
@in_run
def rollback_to_checkpoint(given: RunSession, name: str) -> None:
    """Put files, index and branch back as they were at a checkpoint: a story's, a named or the last one.

    What is here now, uncommitted work and the branch's head, is saved as a checkpoint first, and one
    command brings it back. Stories that came later are pending again; failures, clarifications and the
    count of iterations stay. Refused during a merge, a rebase and the like. What git ignores is left.
    """
    from lifecycle.run.checkpoints.rollback import go_back, rolled_back

    world = given.world
    with given.store.changing() as change:
        if change.run.is_over:
            raise Refused(
                f"The run {change.run.id} is completed, so nothing was moved; its checkpoints are refs: "
                f"git for-each-ref refs/lifecycle/checkpoints/{change.run.id}"
            )
        back = go_back(world.root, world.deadline, world.environment, change.run, name, given.now)
        before = {story.id: story.status for story in change.run.stories}
        change.run = rolled_back(change.run, back.checkpoint)
        again = [story.id for story in change.run.stories if story.status is not before[story.id]]
        change.notes.append(f"Went back to {back.checkpoint.ref}; saved as {back.saved.ref}")
    where = f"the branch {back.branch}" if back.branch else "HEAD"
    lines = [
        f"Rolled back to checkpoint: {back.checkpoint.ref}",
        f"Now {where} is at {back.head[:10] or 'no commit'}; it was at {back.former[:10] or 'none'}.",
        f"Pending again: {', '.join(again) or 'none'}",
        f"What was here is saved as {back.saved.ref}; bring it back with: {back.undo}",
    ]
    lines += [
        f"Note: the submodule {path} was left as it is; move it with: git submodule update -- {path}"
        for path in back.modules
    ]
    data = {
        "checkpoint": back.checkpoint.ref,
        "head": back.head,
        "former_head": back.former,
        "pending": again,
        "saved": back.saved.ref,
        "undo": back.undo,
    }
    given.show(lines, data)


@click.command("commit", short_help="Commit what a story changed.")
@click.argument("story", metavar="STORY")
@option(
    "-m TEXT", "The commit's message, in place of the platform's format.", "message", default=""
)
@in_run
def commit(given: RunSession, story: str, message: str) -> None:
    """Commit what is not committed, as STORY's work, in the platform's commit format.

    The format is the platform's convention commitFormat, with {type}, {title} and {id}; without one it is
    feat: TITLE (S1). Hooks of git run as always. Never committed: files of lifecycle, what is named like
    a secret, and what looks like one. The time that hooks take is not counted.
    """
    from lifecycle.evidence.records import EvidenceRoom
    from lifecycle.platforms.selection import detect
    from lifecycle.run.finish.story_commit import commit_story, subject_of, with_commit

    world = given.world
    wanted = given.store.demanded().story(story)
    selected = detect(world.root, world.environment).selected
    conventions = selected.about.conventions if selected is not None else {}
    text = message.strip() or subject_of(wanted, conventions)
    with world.deadline.standing_still():
        outputs = EvidenceRoom(world.root).outputs()
        made = commit_story(world.root, world.deadline, world.environment, text, outputs)
    notes = [f"Note: left out, since it is named like a secret: {path}" for path in made.secrets]
    data = {
        "story": wanted.id,
        "commit": made.commit,
        "files": [*made.paths],
        "left": [*made.secrets],
    }
    if not made.commit:
        given.show(["Nothing is uncommitted, so nothing was committed.", *notes], data)
        return
    with given.store.changing() as change:
        change.run = with_commit(change.run, wanted.id, made.commit)
        change.notes.append(f"Committed {wanted.id}: {made.commit[:10]} {made.subject}")
    count = "1 file" if len(made.paths) == 1 else f"{len(made.paths)} files"
    given.show(
        [f"Committed {wanted.id}: {made.commit[:10]} {made.subject} ({count})", *notes], data
    )
