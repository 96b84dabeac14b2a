"""Create, move and delete refs through the API, one or several at once.

Moving a branch here has the same consequences as a push.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.git.store import objects
from lifecycle.sandbox.git.store.repository import is_ref_name
from lifecycle.sandbox.pulls import actions as pulls
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.rules import actions as rules

NOTHING = "0" * 40
BRANCHES = "refs/heads/"


@dataclass(frozen=True, slots=True)
class Move:
    """A ref's new target (None deletes it); `force` also allows moves that lose commits."""

    ref: str
    new: str | None
    force: bool = False


def create(repo: Repository, user: User, ref: str, sha: str) -> None:
    """Make a new ref.

    Raises:
        ActionRefused: In GitHub's words: it exists, its name is invalid, or the object does not exist.
    """
    _demand_name(ref)
    if objects.kind(repo.git, sha) is None:
        raise ActionRefused("Object does not exist")
    if repo.git.refs().get(ref) is not None:
        raise ActionRefused("Reference already exists")
    move(repo, user, [Move(ref, sha)])


def _demand_name(ref: str) -> None:
    """Refuse a text that is not a ref's full name, or a name that only GitHub itself writes."""
    if not ref.startswith("refs/") or ref.count("/") < 2:
        raise ActionRefused(f"Reference name must start with 'refs/' and hold two slashes: {ref}")
    if not is_ref_name(ref):
        raise ActionRefused(f"{ref} is not a valid ref name.")
    if ref.startswith("refs/pull/"):
        raise ActionRefused(f"{ref} is a hidden ref and cannot be updated.")


def update(repo: Repository, user: User, ref: str, sha: str, *, force: bool) -> None:
    """Move an existing ref.

    Raises:
        ActionRefused: In GitHub's words: there is no such ref or object, or the ref would lose commits
            and `force` is not given.
    """
    if repo.git.refs().get(ref) is None:
        raise ActionRefused("Reference does not exist")
    if objects.kind(repo.git, sha) is None:
        raise ActionRefused("Object does not exist")
    move(repo, user, [Move(ref, sha, force)])


def delete(repo: Repository, user: User, ref: str) -> None:
    """Delete an existing ref.

    Raises:
        ActionRefused: There is no such ref, or it is the default branch.
    """
    if repo.git.refs().get(ref) is None:
        raise ActionRefused("Reference does not exist")
    move(repo, user, [Move(ref, None)])


def move(repo: Repository, user: User, moves: Sequence[Move]) -> None:
    """Move refs, all or none, then update the world.

    Raises:
        ActionRefused: One of them may not be moved like this; none was.
    """
    git = repo.git
    lines = []
    for wanted in moves:
        old = git.refs().get(wanted.ref)
        _demand_rules(repo, user, wanted, old)
        if wanted.new is None:
            lines.append(f"delete {wanted.ref} {old or NOTHING}\n")
        else:
            lines.append(f"update {wanted.ref} {wanted.new} {old or NOTHING}\n")
    git.text("update-ref", "--stdin", stdin="".join(lines).encode())
    if any(wanted.ref.startswith(BRANCHES) for wanted in moves):
        repo.pushed_at = now()
    pulls.refresh(repo, user)


def _demand_rules(repo: Repository, user: User, wanted: Move, old: str | None) -> None:
    """Raise ActionRefused for a move that would also be refused as a push."""
    _demand_name(wanted.ref)
    is_branch = wanted.ref.startswith(BRANCHES)
    if is_branch and wanted.new and objects.kind(repo.git, wanted.new) != "commit":
        raise ActionRefused("Object is not a commit")
    if wanted.new is None and wanted.ref == f"{BRANCHES}{repo.default_branch}":
        raise ActionRefused("Cannot delete the default branch")
    loses = bool(old and wanted.new and not _contains(repo, old, wanted.new))
    if loses and not wanted.force:
        raise ActionRefused("Update is not a fast forward")
    push = rules.Push(wanted.ref, old, wanted.new, forced=loses)
    unmet = rules.push_refusal(repo, user, push)
    if unmet is not None:
        raise ActionRefused(unmet.message())


def _contains(repo: Repository, old: str, new: str) -> bool:
    kinds = objects.kinds(repo.git, {old, new})
    return set(kinds.values()) == {"commit"} and repo.git.is_ancestor(old, new)
