"""Checkpoints as refs: `refs/lifecycle/checkpoints/<run>/<name>`, which no push of a branch takes along.

Each is a commit whose tree is the worktree's files and whose parent is the commit that HEAD was on, so that
both can be gone back to. As in git's stash, a second parent has the index, where that is
neither that commit's nor that of the files. Sources: https://git-scm.com/docs/git-commit-tree,
https://git-scm.com/docs/git-update-ref, https://git-scm.com/docs/git-stash#_discussion.
"""

from __future__ import annotations

import re

from lifecycle.core.errors import GitFailed, did_you_mean
from lifecycle.core.redact import redact, visible
from lifecycle.evidence.tree_hash import is_own
from lifecycle.git.commits import commit_at, head_of
from lifecycle.git.process import GitRepository
from lifecycle.git.worktree_files import AUTHOR, Aside, files_aside
from lifecycle.run.state import Checkpoint, Run
from lifecycle.run.texts.told import refused, sentence, there

NAMESPACE = "refs/lifecycle/checkpoints"
MARK, SAVED = "mark", "saved"
"""What the names begin with of those made by hand, and of what a rollback saved."""

_BRANCH, _AT = "Branch: ", "At: "
_TRIES = 5


def prefix_of(run: Run) -> str:
    """What the refs of a run's checkpoints begin with."""
    return f"{NAMESPACE}/{run.id}/"


def make(git: GitRepository, run: Run, now: float, story: str = "") -> Checkpoint:
    """Keep the worktree as it is under the next free name: the story's, else a mark by hand.

    Raises:
        GitFailed, Transient: git cannot keep it.
    """
    with files_aside(git, is_own) as aside:
        about = f"Story {story}" if story else "Marked by hand"
        return keep(aside, run, now, story or MARK, about, story)


def keep(aside: Aside, run: Run, now: float, kind: str, about: str, story: str = "") -> Checkpoint:
    """Commit the files of a temporary index, and give that commit the next free name of its kind."""
    date = f"{int(now)} +0000"
    names = {**AUTHOR, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    git = GitRepository(aside.git.root, aside.git.deadline, {**aside.git.environment, **names})
    parent = head_of(git)
    words = ["-p", parent] if parent else []
    branch = git.current_branch() or ""
    subject = visible(redact(f"{about}, run {run.id}: {' '.join(run.goal.split())[:80]}"))
    text = f"{subject}\n\n{_BRANCH}{branch}\n{_AT}{now!r}\n"
    held = (aside.tree, git.run("rev-parse", f"{parent}^{{tree}}") if parent else aside.staged)
    if aside.staged and aside.staged not in held:
        words += ["-p", git.run("commit-tree", aside.staged, *words, stdin=f"Index: {text}")]
    commit = git.run("commit-tree", aside.tree, *words, stdin=text)
    for _ in range(_TRIES):
        ref = _next_name(git, run, kind)
        place = f"{prefix_of(run)}{ref}"
        try:
            git.run("update-ref", "-m", "lifecycle: checkpoint", place, commit, "0" * len(commit))
        except GitFailed:
            if not commit_at(git, place):
                raise
            continue  # somebody was quicker: the next name
        return Checkpoint(ref, commit, now, story, aside.tree)
    raise GitFailed(sentence("no-free-name"))


def base_of(git: GitRepository, commit: str) -> str:
    """The commit that HEAD was on when a checkpoint was made; "" if there was none."""
    return commit_at(git, f"{commit}^1")


def index_of(git: GitRepository, commit: str) -> str:
    """The commit that has the index as it was when a checkpoint was made; "" if none is needed."""
    return commit_at(git, f"{commit}^2")


def branch_of(git: GitRepository, commit: str) -> str:
    """The branch that a checkpoint was made on; "" for none."""
    return _noted(git, commit, _BRANCH)


def _noted(git: GitRepository, commit: str, key: str) -> str:
    lines = git.run("log", "-1", "--format=%B", commit).splitlines()
    return next((line.removeprefix(key) for line in lines if line.startswith(key)), "")


def listed(git: GitRepository, run: Run) -> dict[str, str]:
    """Every checkpoint of a run that git has: its name, and its commit; the oldest first."""
    words = ("--sort=creatordate", "--format=%(refname) %(objectname)", prefix_of(run))
    lines = [line.rpartition(" ") for line in git.run("for-each-ref", *words).splitlines()]
    return {ref.removeprefix(prefix_of(run)): commit for ref, _, commit in lines}


def find(git: GitRepository, run: Run, name: str) -> Checkpoint:
    """The checkpoint of this name: a story's id, or a ref; without a name the last one of the run.

    Raises:
        Refused: there is none such; the sentence says which there are.
    """
    kept = listed(git, run)
    wanted = name.removeprefix(prefix_of(run)) or next(
        (one.ref for one in reversed(run.checkpoints) if one.ref in kept), ""
    )
    of_story = [
        one.ref for one in run.checkpoints if one.story == wanted.upper() and one.ref in kept
    ]
    ref = of_story[-1] if of_story else wanted
    if ref in kept:
        known = next((one for one in run.checkpoints if one.ref == ref), None)
        if known is not None:
            return known.but(commit=kept[ref])
        return Checkpoint(ref, kept[ref], float(_noted(git, kept[ref], _AT) or 0.0))
    stands = there([*kept], "make one with: lifecycle run mark-working-state")
    what = f'no checkpoint "{visible(name)}"' if name else "no checkpoint yet"
    raise refused("no-checkpoint", what=what, there=stands, near=did_you_mean(name, kept))


def with_checkpoint(run: Run, checkpoint: Checkpoint) -> Run:
    """The run with one checkpoint more; its story knows its name."""
    run = run.but(checkpoints=(*run.checkpoints, checkpoint))
    if not checkpoint.story:
        return run
    return run.with_story(run.story(checkpoint.story).but(checkpoint=checkpoint.ref))


def _next_name(git: GitRepository, run: Run, kind: str) -> str:
    """`mark-1`, `mark-2` and so on; of a story its id, then `S1-2`."""
    taken = [
        name for name in listed(git, run) if re.fullmatch(rf"{re.escape(kind)}(?:-\d+)?", name)
    ]
    if kind not in (MARK, SAVED) and kind not in taken:
        return kind
    numbers = [int(name.rpartition("-")[2]) if "-" in name else 1 for name in taken]
    return f"{kind}-{max(numbers, default=0) + 1}"
