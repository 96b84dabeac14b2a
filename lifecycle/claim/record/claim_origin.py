"""Where a claim was taken, and that nothing of it is done anywhere else.

The remote and the repository come from settings, and those from a file of the tree: another checkout may
name others. A lease would then stay where it is, and another repository's issue of the same number be
closed. So both are kept with the claim, and a checkout that says otherwise is refused.
"""

from __future__ import annotations

from dataclasses import replace

from lifecycle.claim.record.state import Record
from lifecycle.core.errors import NotFound, Refused
from lifecycle.core.values.model import Look, Repository
from lifecycle.core.world import World


def demand(world: World, record: Record) -> Record:
    """The record, if the settings here lead to where it was taken; else nothing may be done for it.

    A repository that has another name on GitHub by now is the same one: that costs a request, and only
    where the names differ. So is a remote that the user has renamed: its old name is not listed any more.

    Returns:
        The record with the names as they are now; one of which nothing is known stays as it is.

    Raises:
        Refused: they lead elsewhere; the sentence says how to go back.
        BadConfig: the settings cannot be used.
        Transient, Rejected: GitHub does not say what the repository is called now.
    """
    if record.remote:
        wanted = world.settings.remote
        if wanted != record.remote and record.remote in world.git.remotes():
            raise _elsewhere(record, "remote", record.remote, wanted)
        record = replace(record, remote=wanted)
    if record.repository:
        base = str(world.base)
        if base.casefold() != record.repository.casefold() and not _is_renamed(world, record, base):
            raise _elsewhere(record, "repository", record.repository, base)
        record = replace(record, repository=base)
    return record


def noted(world: World, record: Record) -> Record:
    """The record with where it was taken: one that was written by hand, where it is first looked at.

    Raises:
        Refused, Transient, Rejected: as `demand`.
    """
    record = demand(world, record)
    return replace(record, remote=record.remote or world.remote, repository=str(world.base))


def _is_renamed(world: World, record: Record, base: str) -> bool:
    owner, _, name = record.repository.partition("/")
    look = Look(issue=record.claim.issue_number or 0, branch="")
    try:
        found = world.forge_of(Repository(owner, name)).observe(look).repository
    except NotFound:
        return False
    return found.casefold() == base.casefold()


def _elsewhere(record: Record, what: str, taken: str, named: str) -> Refused:
    claim = record.claim
    way = f", or go back to its branch: git switch {claim.branch}" if claim.branch else ""
    return Refused(
        f"#{claim.issue_number} was taken with {taken} as {what}, and the settings here say {named}: "
        f'nothing was done for it, and the claim was kept. Set {what} = "{taken}" in .lifecycle.toml{way}'
    )
