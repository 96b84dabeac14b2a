"""The first commit of a repository, made when somebody asks for its git for the first time.

So a world of two hundred repositories costs no more than those that are touched.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.git.store.importing import NewCommit, import_all, import_new
from lifecycle.sandbox.git.store.repository import BareRepository, Signature

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from lifecycle.sandbox.accounts.state import User
    from lifecycle.sandbox.git.store.importing import NewRef
    from lifecycle.sandbox.repositories.state import Repository


def signature(user: User, when: datetime | None = None) -> Signature:
    """How a user signs commits, by default now."""
    mail = user.email or f"{user.id}+{user.login}@users.noreply.github.com"
    return Signature(user.name, mail, when or now())


def found(
    repo: Repository, wanted: Sequence[NewCommit | NewRef] = ()
) -> tuple[BareRepository, dict[str, str] | None]:
    """Open the bare repository, which is made with its first commit if it is not there.

    One without files stays without a commit; a fork begins with its parent's branches. Where it is
    new, what its refs point to comes with it.

    Args:
        repo: Whose it is.
        wanted: What is to be in it besides.

    Raises:
        SandboxError: git is missing or too old.
        ActionRefused: git does not take what is wanted.
    """
    path = repo.world.folder / f"{repo.id}.git"
    git = BareRepository(path, default_branch=repo.default_branch)
    if git.is_new and not repo.bundle and repo.parent is None:
        return git, import_new(git, [*_first(repo), *wanted])
    if git.is_new and repo.bundle:
        git.unbundle(base64.b64decode(repo.bundle))
        repo.bundle = None
    elif git.is_new and repo.parent is not None:  # a fork begins with what its parent has
        source = str(repo.parent.git.path)
        git.text(
            "fetch", "--quiet", source, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"
        )
    import_all(git, wanted)
    return git, None


def _first(repo: Repository) -> list[NewCommit]:
    """What is in a repository since it was made."""
    who = signature(_author(repo), repo.created_at)
    ref = f"refs/heads/{repo.default_branch}"
    return [NewCommit(ref, "Initial commit", who, repo.files)] if repo.files else []


def _author(repo: Repository) -> User:
    """The owner, or for an organization the first person of the world."""
    if repo.owner.kind == "user":
        return repo.owner
    people = (user for user in repo.world.users.values() if user.kind == "user")
    return next(people, repo.owner)
