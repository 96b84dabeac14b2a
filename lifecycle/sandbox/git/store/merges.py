"""Merge two lines of work without a working tree: by a merge commit, a squash or a rebase."""

from __future__ import annotations

from dataclasses import dataclass

from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.git.store.objects import commit, write_commit
from lifecycle.sandbox.git.store.repository import BareRepository, Signature


@dataclass(frozen=True, slots=True)
class Merge:
    """The commits to merge, and the names for the merge."""

    base: str
    base_sha: str
    head_sha: str
    title: str
    message: str
    author: Signature
    committer: Signature


def merge(git: BareRepository, wanted: Merge, method: str) -> str:
    """Merge into the base branch by `merge`, `squash` or `rebase`; return the new tip.

    Raises:
        ActionRefused: It conflicts, or the base branch has moved.
    """
    if method == "rebase":
        tip = _rebased(git, wanted)
    else:
        tree = _clean_tree(git, wanted.base_sha, wanted.head_sha)
        parents = [wanted.base_sha, *([wanted.head_sha] if method == "merge" else [])]
        text = f"{wanted.title}\n\n{wanted.message}".strip()
        tip = write_commit(
            git, tree, parents, text, author=wanted.author, committer=wanted.committer
        )
    git.update(f"refs/heads/{wanted.base}", tip, wanted.base_sha)
    return tip


def _clean_tree(git: BareRepository, base_sha: str, head_sha: str) -> str:
    tree = git.merged_tree(base_sha, head_sha)
    if tree is None:
        raise ActionRefused("Pull Request is not mergeable: it conflicts with its base branch.")
    return tree


def _rebased(git: BareRepository, wanted: Merge) -> str:
    """Replay the commits on the base, each as a merge whose only common ancestor is its parent.

    `merge-tree --merge-base` came with git 2.40; for 2.38, a temporary commit with the tip's tree on top
    of the replayed commit's parent has the same effect.
    """
    tip, who = wanted.base_sha, wanted.committer
    for sha in git.commits(wanted.base_sha, wanted.head_sha):
        replayed, onto = commit(git, sha), commit(git, tip)
        if replayed is None or onto is None or len(replayed.parents) != 1:
            continue
        stand_in = write_commit(
            git, onto.tree, replayed.parents, "stand-in", author=who, committer=who
        )
        tree = _clean_tree(git, stand_in, sha)
        tip = write_commit(
            git, tree, [tip], replayed.message, author=replayed.author, committer=who
        )
    return tip
