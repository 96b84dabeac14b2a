"""`lifecycle run mark-working-state|rollback-to-checkpoint|commit`: checkpoints, and a story's commit."""

from __future__ import annotations

from lifecycle.cli.run.run import RunSession
from lifecycle.core.messages import figures
from lifecycle.evidence.records import EvidenceRoom
from lifecycle.platforms.selection import detect
from lifecycle.run.checkpoints import go_back, make, prefix_of, rolled_back, with_checkpoint
from lifecycle.run.finish.story_commit import commit_story, subject_of, with_commit
from lifecycle.run.texts.told import filled, refused


def mark_working_state(session: RunSession) -> None:
    """Keep all files as they are, uncommitted and new ones too, as a checkpoint of the run.

    It is a ref of git (refs/lifecycle/checkpoints/…), no branch, and no push takes it along. Index, files
    and branch stay as they are. What git ignores is not in it, nor is what is named like a secret.
    """
    with session.store.changing() as change:
        checkpoint = make(session.git, change.run, session.now)
        change.run = with_checkpoint(change.run, checkpoint)
        change.note(f"Checkpoint {checkpoint.ref}: {checkpoint.commit[:10]}")
    ref = f"{prefix_of(change.run)}{checkpoint.ref}"
    way = f"Go back to it with: lifecycle run rollback-to-checkpoint {checkpoint.ref}"
    data = {"checkpoint": checkpoint.ref, "ref": ref, "commit": checkpoint.commit}
    session.show([f"Marked working state: {checkpoint.ref} ({checkpoint.commit[:10]})", way], data)


def rollback_to_checkpoint(session: RunSession, *, name: str) -> None:
    """Put files, index and branch back as they were at a checkpoint: a story's, a named or the last one.

    What is here now, uncommitted work and the branch's head, is saved as a checkpoint first, and one
    command brings it back. Stories that came later are pending again; failures, clarifications and the
    count of iterations stay. Refused during a merge, a rebase and the like. What git ignores is left.
    """
    with session.store.changing() as change:
        before = change.run
        if before.is_over:
            raise refused("run-over-not-moved", before=before)
        back = go_back(session.git, before, name, session.now)
        change.run = rolled_back(before, back.checkpoint)
        pairs = zip(before.stories, change.run.stories, strict=True)
        reopened = [story.id for old, story in pairs if story.status is not old.status]
        change.note(f"Went back to {back.checkpoint.ref}; saved as {back.saved.ref}")
    lines = filled(
        "rolled-back",
        back=back,
        where=f"the branch {back.branch}" if back.branch else "HEAD",
        head=back.head[:10] or "no commit",
        former=back.former[:10] or "none",
        again=", ".join(reopened) or "none",
        notes=[f"Note: {note}" for note in back.notes],
    )
    heads = {"head": back.head, "former_head": back.former}
    saved = {"pending": reopened, "saved": back.saved.ref, "undo": back.undo}
    session.show(lines, {"checkpoint": back.checkpoint.ref, **heads, **saved})


def commit(session: RunSession, *, story: str, message: str) -> None:
    """Commit what is not committed, as STORY's work, in the platform's commit format.

    The format is the platform's convention commitFormat, with {type}, {title} and {id}; without one it is
    feat: TITLE (S1). Hooks of git run as always. Never committed: files of lifecycle, what is named like
    a secret, and what looks like one. The time that hooks take is not counted.
    """
    world = session.world
    target = session.store.demanded().story(story)
    if not target.started:
        raise refused("story-not-begun", story=target)
    selected = detect(world.root, world.environment).selected
    text = message.strip() or subject_of(target, selected.about.conventions if selected else {})
    with world.deadline.standing_still():
        saved = commit_story(session.git, text, EvidenceRoom(world.root).outputs())
    notes = [f"Note: left out, since it is named like a secret: {path}" for path in saved.secrets]
    ids = {"story": target.id, "commit": saved.commit}
    data = {**ids, "files": saved.paths, "left": saved.secrets}
    if not saved.commit:
        session.show(["Nothing is uncommitted, so nothing was committed.", *notes], data)
        return
    done = f"Committed {target.id}: {saved.commit[:10]} {saved.subject}"
    with session.store.changing() as change:
        change.run = with_commit(change.run, target.id, saved.commit)
        change.note(done)
    count = figures.count(len(saved.paths), "file")
    session.show([f"{done} ({count})", *notes], data)
