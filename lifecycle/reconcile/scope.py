"""What a run looks at, and what it may do about it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from lifecycle.core.values.configured import SILENT_HOURS
from lifecycle.core.values.model import Repository


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several runs that share the work: `index` of `count`, counted from 1."""

    index: int
    count: int

    def has(self, repository: str) -> bool:
        """True if this run looks at the repository: by its name, so that every run agrees."""
        digest = hashlib.sha256(repository.casefold().encode()).digest()
        return int.from_bytes(digest[:8], "big") % self.count == self.index - 1


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a run looks.

    Attributes:
        repositories: these, or none if `owner` is given.
        owner: all repositories of this user or organisation, "" if `repositories` are given.
        issues: only these numbers of the one repository; all of its tasks if empty.
        pulls: the issues that these pull requests of the one repository belong to.
        shard: this part of the repositories, or None for all.
    """

    repositories: tuple[Repository, ...] = ()
    owner: str = ""
    issues: tuple[int, ...] = ()
    pulls: tuple[int, ...] = ()
    shard: Shard | None = None

    def has(self, repository: str) -> bool:
        """True if the repository (`owner/name`) is among those that are looked at."""
        if self.shard is not None and not self.shard.has(repository):
            return False
        if self.owner:
            return repository.partition("/")[0].casefold() == self.owner.casefold()
        return repository.casefold() in {str(one).casefold() for one in self.repositories}


@dataclass(frozen=True, slots=True)
class Policy:
    """What a run may do besides what is always safe.

    Attributes:
        closes: an issue whose claim's pull request merged is closed.
        releases: a claim without a sign of life is given back, and a closed issue's lease ended.
        silent_seconds: how long nothing may have happened before a claim counts as silent.
    """

    closes: bool = False
    releases: bool = False
    silent_seconds: float = SILENT_HOURS * 3600
