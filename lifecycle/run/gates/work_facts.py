"""What git shows of a worktree when a gate or a move is judged."""

from __future__ import annotations

from dataclasses import dataclass

from lifecycle.evidence import tree_hash
from lifecycle.evidence.records import EvidenceRoom
from lifecycle.git.process import GitRepository
from lifecycle.run.checkpoints.checkpoint_refs import commit_at, head_of
from lifecycle.run.checkpoints.worktree_files import is_own, opened, uncommitted


@dataclass(frozen=True, slots=True)
class WorkFacts:
    """The files of a worktree, held against its commits.

    Attributes:
        tree: the name of the files as they are; "" outside of a repository.
        head: the commit that is checked out; "" if there is none yet.
        uncommitted: paths that a story's commit would take.
        changed: those, and paths that differ from the commit that was asked for; all if it is not known.
        late: paths that changed after the story that was completed last.
        unread, uncleared: what no reviewer, and what security has not read of the pull request, as clauses.
    """

    tree: str = ""
    head: str = ""
    uncommitted: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    uncleared: tuple[str, ...] = ()


UNSEEN = WorkFacts()
"""Where git does not say what the files are: no record is about them."""


def facts_of(git: GitRepository, base: str = "") -> WorkFacts:
    """The facts of a worktree; what the product itself and checks wrote there is no part of them.

    Args:
        git: the worktree's, with the time that it has.
        base: the commit that `changed` begins with.

    Raises:
        GitFailed: git cannot say what the files are.
        Transient: the deadline passed.
    """
    outputs = EvidenceRoom(git.root).outputs()
    tree = tree_hash.fingerprint(git.root, git.deadline, git.environment, outputs)
    if not tree:
        return UNSEEN
    git = opened(git)
    dirty = uncommitted(git, outputs).paths
    known = base and commit_at(git, base)
    words = ("diff", "--no-renames", "--ignore-submodules=dirty", "--name-only", base)
    listed = git.run(*(words if known else ("ls-files",)), "-z").split("\0")
    since = {path for path in listed if path and not is_own(path)}
    return WorkFacts(tree, head_of(git), dirty, tuple(sorted(since.union(dirty))))
