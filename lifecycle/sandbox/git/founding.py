"""The first commit of a repository, made when somebody asks for its git for the first time.

So a world of two hundred repositories costs no more than those that are touched.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from lifecycle.sandbox.git.repository import BareRepository, Signature
from lifecycle.sandbox.state.times import now

if TYPE_CHECKING:
    from datetime import datetime

    from lifecycle.sandbox.state.accounts import User
    from lifecycle.sandbox.state.repositories import Repository


def signature(user: User, when: datetime | None = None) -> Signature:
    """How a user signs commits, by default now."""
    mail = user.email or f"{user.id}+{user.login}@users.noreply.github.com"
    return Signature(user.name, mail, when or now())


def found(repo: Repository) -> BareRepository:
    """Open the bare repository, which is made with its first commit if it is not there.

    One without files stays without a commit; a fork begins with its parent's branches.

    Raises:
        SandboxError: git is missing or too old.
    """
    path = repo.world.folder / f"{repo.id}.git"
    git = BareRepository(path, default_branch=repo.default_branch)
    if not git.is_new:
        return git
    if repo.bundle:
        git.unbundle(base64.b64decode(repo.bundle))
        repo.bundle = None
        return git
    if repo.parent is not None:  # a fork begins with what its parent has
        source = str(repo.parent.git.path)
        git.text(
            "fetch", "--quiet", source, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"
        )
        return git
    if not repo.files:
        return git
    git.commit_files(
        repo.default_branch, repo.files, "Initial commit", signature(_author(repo)), parent=None
    )
    return git


def _author(repo: Repository) -> User:
    """The owner, or for an organization the first person of the world."""
    if repo.owner.kind == "user":
        return repo.owner
    people = (user for user in repo.world.users.values() if user.kind == "user")
    return next(people, repo.owner)
