"""Makes a repository's first commit, when its git is needed for the first time.

So a world of two hundred repositories costs no more than those that are touched.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.git.store.importing import NewCommit, NewRef, import_all, import_new
from lifecycle.sandbox.git.store.repository import BareRepository, Signature


def signature(user: User, when: datetime | None = None) -> Signature:
    """How a user signs commits, by default now."""
    mail = user.email or f"{user.id}+{user.login}@users.noreply.github.com"
    return Signature(user.name, mail, when or now())


@dataclass(frozen=True, slots=True)
class Origin:
    """What a new repository begins with: at most one of the three, or nothing.

    Attributes:
        bundle: The whole of its git, as base64 of a git bundle.
        parent: The repository that it is a fork of, whose branches and tags it has.
        first: The commit that holds its first files.
    """

    bundle: str | None = None
    parent: BareRepository | None = None
    first: NewCommit | None = None


def found(
    path: Path, default_branch: str, origin: Origin, wanted: Sequence[NewCommit | NewRef] = ()
) -> tuple[BareRepository, dict[str, str] | None]:
    """Open the bare repository, which is made from its origin if it is not there.

    Args:
        path: Where it is.
        default_branch: What HEAD names in a new one.
        origin: What a new one begins with.
        wanted: What is to be in it besides.

    Returns:
        The repository and, where it is new and all of it was imported, what each ref points to.

    Raises:
        SandboxError: git is missing or too old.
        ActionRefused: git does not take what is wanted.
    """
    git = BareRepository(path, default_branch=default_branch)
    if git.is_new and not origin.bundle and origin.parent is None:
        return git, import_new(git, [*([origin.first] if origin.first else []), *wanted])
    if git.is_new and origin.bundle:
        git.unbundle(base64.b64decode(origin.bundle))
    elif git.is_new and origin.parent is not None:
        source = str(origin.parent.path)
        git.text(
            "fetch", "--quiet", source, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"
        )
    import_all(git, wanted)
    return git, None
