"""What git shows of a worktree when a gate or a move is judged, and the runs of checks."""

from __future__ import annotations

from collections.abc import Mapping

from lifecycle.core.light_dataclass import dataclass
from lifecycle.evidence.records import EvidenceRoom, RunRecord
from lifecycle.evidence.tree_hash import fingerprint, is_own, seen
from lifecycle.git.commits import commit_at, head_of
from lifecycle.git.process import GitRepository
from lifecycle.git.worktree_files import CLIENT, opened, uncommitted, under_way


@dataclass(frozen=True, slots=True)
class WorkFacts:
    """The files of a worktree, compared with its commits.

    Attributes:
        tree: the name of the current files; "" outside of a repository.
        head: the commit that is checked out; "" if there is none yet.
        uncommitted: paths that a story's commit would take.
        changed: those, and paths that differ from the requested commit; all if it is not known.
        late: paths that changed after the last story was completed.
        modules: submodules in `uncommitted`: a stash does not include their content.
        under_way: an operation of git's in which nothing is committed here, as "A rebase"; "" for none.
        records: the runs of checks that are remembered, oldest first.
        files: by path, the name of each file's content, if that was asked for.
        unread, uncleared: parts of the pull request not read by a reviewer, or by security, as clauses.
    """

    tree: str = ""
    head: str = ""
    uncommitted: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    uncleared: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    under_way: str = ""
    records: tuple[RunRecord, ...] = ()
    files: Mapping[str, str] | None = None

    @property
    def is_left(self) -> bool:
        """True if a stash would take more than the client's hook settings, without which no hook works."""
        return any(not path.startswith(CLIENT) for path in {*self.uncommitted} - {*self.modules})


UNSEEN = WorkFacts()
"""The facts if git does not say what the files are: no record matches them."""


def tree_of(git: GitRepository) -> str:
    """The name of the current files, without those that checks wrote; raises as `facts_of`."""
    return fingerprint(git.root, git.deadline, git.environment)


def facts_of(git: GitRepository, base: str = "") -> WorkFacts:
    """The facts of a worktree, without files that the product itself or checks wrote there.

    Args:
        git: the worktree's git, with its deadline.
        base: the commit from which `changed` counts.

    Raises:
        GitFailed: git cannot say what the files are.
        Transient: the deadline passed.
    """
    tree, room = tree_of(git), EvidenceRoom(git.root)
    records = room.records()
    if not tree:
        return WorkFacts(records=records)
    git = opened(git)
    changes = uncommitted(git, is_own, room.outputs())
    dirty = (*changes.paths, *changes.modules)
    known = base and commit_at(git, base)
    words = ("diff", "--no-renames", "--ignore-submodules=dirty", "--name-only", base)
    paths = git.run(*(words if known else ("ls-files",)), "-z").split("\0")
    since = {path for path in paths if path and not is_own(path)}
    changed, head = tuple(sorted(since.union(dirty))), head_of(git)
    modules = tuple(path for path in dirty if (git.root / path / ".git").exists())
    busy = under_way(git, git.root) if dirty else ""
    return WorkFacts(tree, head, dirty, changed, under_way=busy, modules=modules, records=records)


def files_of(git: GitRepository) -> WorkFacts:
    """The runs of checks, the tree, and the files with their contents; raises GitFailed, Transient."""
    room = EvidenceRoom(git.root)
    snapshot = seen(git, room.outputs())
    files = {path: about.rpartition(" ")[2] for path, about in snapshot.files.items()}
    known = files if snapshot.name else None
    return WorkFacts(snapshot.name, records=room.records(), files=known)
