"""Whose a claim is, and where it was taken.

Two sessions may run in one worktree. The one that claimed the task or handed it off is woken with its
news, and no other takes a sentence that is meant for it; another is told at its start that the claim is
held. A session that ended, whose client is gone, or (if nobody knows its client) that gave no sign of
life for an hour, holds nothing: who comes next goes on with the claim.

Remote and repository come from settings, and those from a file of the tree: another checkout may name
others. Then the lease would stay where it is, and another repository's issue of the same number be closed.
So both are kept with the claim, and a checkout with others is refused.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from lifecycle.core.errors import NotFound, Refused
from lifecycle.core.plan import Audience
from lifecycle.core.values import model
from lifecycle.storage import signs_of_life

if TYPE_CHECKING:
    from lifecycle.claim.record.claim_store import ClaimStore
    from lifecycle.claim.record.state import Record
    from lifecycle.core.world import World
    from lifecycle.git.lease import LeaseStanding


def is_mine(record: Record, session: str) -> bool:
    """True if this session owns the claim; an unknown one on either side counts as the owner."""
    return not record.ownership.session or not session or record.ownership.session == session


def is_held(record: Record, session: str, signs: signs_of_life.Signs, now: float) -> bool:
    """True if another session that seems to be alive holds the claim.

    Args:
        record: the claim.
        session: who asks.
        signs: the signs of life of the session that the claim belongs to.
        now: seconds since the epoch.
    """
    if is_mine(record, session):
        return False
    since = max(record.created_at, record.ownership.session_at)
    return signs_of_life.seems_alive(signs, since, now)


def adopt(record: Record, session: str, signs: signs_of_life.Signs, now: float) -> Record:
    """The record with this session as owner, unless another that is alive holds it.

    The claim of another session is inherited: this session has not heard what that one was told.
    """
    if not session or record.ownership.session == session or is_held(record, session, signs, now):
        return record
    inherited = session if record.ownership.session else ""
    return record.with_ownership(session=session, session_at=now, inherited=inherited)


def owned(claim_store: ClaimStore, record: Record, session: str) -> Record:
    """The record with this session as owner, unless another session that is alive holds it."""
    return adopt(record, session, claim_store.signs(record), claim_store.clock.now())


def deliverable(
    record: Record, session: str, audiences: Collection[Audience]
) -> Collection[Audience]:
    """The audiences that this session may be told of: news of a claim goes to its owner alone."""
    return [each for each in audiences if each is Audience.NOTE or is_mine(record, session)]


def standing(world: World, record: Record, number: int) -> LeaseStanding:
    """How the claim's lease stands on the remote, which is asked; raises GitFailed, Transient."""
    from lifecycle.git import lease  # where somebody else may have the task

    sha, agent = record.ownership.lease, record.claim.agent_id
    return lease.standing(world.git, world.remote, number, sha=sha, agent=agent)


def demand_same_place(world: World, record: Record) -> Record:
    """The record, if remote and repository here are those with which it was taken; else Refused.

    A repository that was renamed on GitHub is the same one; to find that out costs a request, only if the
    names differ. So is a remote that the user has renamed: git does not list its old name any more.

    Returns:
        The record with the names as they are now; a name that the record does not have is not added.

    Raises:
        Refused: they lead elsewhere; the sentence says how to go back.
        BadConfig: the settings cannot be used.
        Transient, Rejected: GitHub does not say what the repository is called now.
    """
    if record.ownership.remote:
        remote = world.settings.remote
        if remote != record.ownership.remote and record.ownership.remote in world.git.remotes():
            raise _elsewhere(record, "remote", record.ownership.remote, remote)
        record = record.with_ownership(remote=remote)
    if record.ownership.repository:
        base = str(world.base)
        is_same = base.casefold() == record.ownership.repository.casefold()
        if not (is_same or _is_renamed(world, record, base)):
            raise _elsewhere(record, "repository", record.ownership.repository, base)
        record = record.with_ownership(repository=base)
    return record


def with_place(world: World, record: Record) -> Record:
    """The record with remote and repository; a claim written by hand gets them at its first look.

    Raises:
        Refused, Transient, Rejected: as `demand_same_place`.
    """
    record = demand_same_place(world, record)
    remote = record.ownership.remote or world.remote
    return record.with_ownership(remote=remote, repository=str(world.base))


def _is_renamed(world: World, record: Record, base: str) -> bool:
    """True if GitHub calls the repository of the claim `base` by now."""
    owner, _, name = record.ownership.repository.partition("/")
    request = model.Look(issue=record.claim.issue, branch="")
    try:
        name_now = world.forge_of(model.Repository(owner, name)).observe(request).repository
    except NotFound:
        return False
    return name_now.casefold() == base.casefold()


def _elsewhere(record: Record, kind: str, taken: str, named: str) -> Refused:
    """The refusal: the remote or repository is `named` here, and was `taken` at the claim."""
    claim = record.claim
    way = f", or go back to its branch: git switch {claim.branch}" if claim.branch else ""
    return Refused(
        f"#{claim.issue_number} was taken with {taken} as {kind}, and the settings here say {named}: "
        f'nothing was done for it, and the claim was kept. Set {kind} = "{taken}" in .lifecycle.toml{way}'
    )
