"""Whose a claim is: which of the client's sessions it belongs to, and where it was taken.

Two sessions may run in one worktree. The one that claimed the task or handed it off is woken with its
news, and no other takes a sentence that is meant for it; another is told at its start that the claim is
held. A session that ended, whose client is gone, or (if nobody knows its client) that gave no sign of
life for an hour, holds nothing: who comes next goes on with the claim.

The remote and the repository come from settings, and those from a file of the tree: another checkout may
name others. A lease would then stay where it is, and another repository's issue of the same number be
closed. So both are kept with the claim, and a checkout that says otherwise is refused.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from lifecycle.core.errors import NotFound, Refused
from lifecycle.core.light_dataclass import replace
from lifecycle.core.plan import Audience
from lifecycle.core.values.model import Look, Repository
from lifecycle.storage import signs_of_life

if TYPE_CHECKING:
    from lifecycle.claim.record.state import Record
    from lifecycle.core.world import World
    from lifecycle.storage.signs_of_life import Signs


def is_mine(record: Record, session: str) -> bool:
    """True if this session owns the claim; an unknown one on either side counts as the owner."""
    return not record.ownership.session or not session or record.ownership.session == session


def is_held(record: Record, session: str, signs: Signs, now: float) -> bool:
    """True if another session that seems to be alive holds the claim.

    Args:
        record: the claim.
        session: who asks.
        signs: of the session that the claim belongs to.
        now: seconds since the epoch.
    """
    if is_mine(record, session):
        return False
    since = max(record.created_at, record.ownership.session_at)
    return signs_of_life.seems_alive(signs, since, now)


def adopt(record: Record, session: str, signs: Signs, now: float) -> Record:
    """The record as this session's own, unless another that is alive holds it.

    What another session began is inherited: what that one heard of it, this one did not.
    """
    if not session or record.ownership.session == session or is_held(record, session, signs, now):
        return record
    inherited = session if record.ownership.session else ""
    return replace(
        record,
        ownership=replace(record.ownership, session=session, session_at=now, inherited=inherited),
    )


def deliverable(
    record: Record, session: str, audiences: Collection[Audience]
) -> Collection[Audience]:
    """The audiences that this session may be told of: news of a claim goes to its owner alone."""
    return (
        audiences
        if is_mine(record, session)
        else [audience for audience in audiences if audience is Audience.NOTE]
    )


def demand(world: World, record: Record) -> Record:
    """The record, if remote and repository here are those it was taken with; else Refused.

    A repository that has another name on GitHub by now is the same one: that costs a request, and only
    where the names differ. So is a remote that the user has renamed: its old name is not listed any more.

    Returns:
        The record with the names as they are now; one of which nothing is known stays as it is.

    Raises:
        Refused: they lead elsewhere; the sentence says how to go back.
        BadConfig: the settings cannot be used.
        Transient, Rejected: GitHub does not say what the repository is called now.
    """
    if record.ownership.remote:
        wanted = world.settings.remote
        if wanted != record.ownership.remote and record.ownership.remote in world.git.remotes():
            raise _elsewhere(record, "remote", record.ownership.remote, wanted)
        record = replace(record, ownership=replace(record.ownership, remote=wanted))
    if record.ownership.repository:
        base = str(world.base)
        if base.casefold() != record.ownership.repository.casefold() and not _is_renamed(
            world, record, base
        ):
            raise _elsewhere(record, "repository", record.ownership.repository, base)
        record = replace(record, ownership=replace(record.ownership, repository=base))
    return record


def noted(world: World, record: Record) -> Record:
    """The record with remote and repository; a claim written by hand gets them at its first look.

    Raises:
        Refused, Transient, Rejected: as `demand`.
    """
    record = demand(world, record)
    return replace(
        record,
        ownership=replace(
            record.ownership,
            remote=record.ownership.remote or world.remote,
            repository=str(world.base),
        ),
    )


def _is_renamed(world: World, record: Record, base: str) -> bool:
    owner, _, name = record.ownership.repository.partition("/")
    look = Look(issue=record.claim.issue, branch="")
    try:
        name_now = world.forge_of(Repository(owner, name)).observe(look).repository
    except NotFound:
        return False
    return name_now.casefold() == base.casefold()


def _elsewhere(record: Record, what: str, taken: str, named: str) -> Refused:
    claim = record.claim
    way = f", or go back to its branch: git switch {claim.branch}" if claim.branch else ""
    return Refused(
        f"#{claim.issue_number} was taken with {taken} as {what}, and the settings here say {named}: "
        f'nothing was done for it, and the claim was kept. Set {what} = "{taken}" in .lifecycle.toml{way}'
    )
