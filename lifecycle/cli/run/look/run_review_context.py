"""`lifecycle run review-context`: what a reviewer gets, with the diff in a file that can be read."""

from __future__ import annotations

from lifecycle.cli.run.run_session import RunSession
from lifecycle.run.checkpoints import checkpoint_refs
from lifecycle.run.checkpoints.worktree_files import files_aside
from lifecycle.run.finish.review_cover import read_from
from lifecycle.run.texts.review_context import review_lines
from lifecycle.storage.store import FOLDER

_PLAIN = ("diff", "--no-color", "--no-ext-diff", "--no-textconv")


def review_context(given: RunSession, *, story: str) -> None:
    """Print what a reviewer of STORY gets: criteria, design, and the logs of RED and GREEN.

    The diff since the story began, new files with it, is written to .lifecycle/review-STORY.diff, where an
    agent that runs nothing can read it. Files that are named like secrets are left out.
    """
    run = given.store.demanded()
    one = run.story(story)
    with files_aside(*given.place) as aside:
        base = read_from(aside.git, run, one) or checkpoint_refs.head_of(aside.git)
        # Without a commit there is nothing to compare with but the empty tree.
        base = base or aside.git.run("hash-object", "-t", "tree", "/dev/null")
        stat = aside.git.run(*_PLAIN, "--shortstat", base, aside.tree).strip()
        diff = aside.git.run(*_PLAIN, base, aside.tree)
    name = f"review-{one.id}.diff"
    given.store.folder.make()
    given.store.folder.write(name, f"{diff}\n".encode("utf-8", "replace"))
    path = f"{FOLDER}/{name}"
    lines = review_lines(one, path, stat)
    given.show(lines, {"story": one.id, "diff": path, "stat": stat, "base": base, "text": lines})
