"""Taking a task anew in the worktree that had it: whether its claim was lost, and where it goes on."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lifecycle.claim.decisions import card, derive
from lifecycle.claim.decisions.ending import lost_task
from lifecycle.claim.decisions.table import CLAIM, Phase
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import GitFailed, Transient
from lifecycle.core.values.model import Observation, PullRequest
from lifecycle.core.values.priorities import Status
from lifecycle.core.world import World
from lifecycle.git import lease


@dataclass(frozen=True, slots=True)
class Start:
    """Where a claim begins: a new one at coding, one that is taken anew where GitHub shows its work.

    `pull` is the pull request that it had, or None.
    """

    phase: Phase = CLAIM.initial
    summary: str = ""
    pull: PullRequest | None = None

    @property
    def status(self) -> str:
        """The Status that goes with the phase."""
        is_shown = self.phase in (Phase.CHECKS_RUNNING, Phase.MERGED_DETECTED)
        return Status.IN_REVIEW if is_shown else Status.IN_PROGRESS


def is_lost(world: World, mine: Record, seen: Observation, notes: list[str]) -> bool:
    """True if the task of this worktree's claim is not held by it any more: one question to the remote.

    Args:
        world: what may be touched.
        mine: the claim.
        seen: what GitHub shows of it now.
        notes: gets a remark where the remote cannot tell; the claim counts as in order then.
    """
    issue = seen.issue
    if issue is None or not issue.is_open or mine.lease_done:
        return False  # an ending gave the lease back itself
    if lost_task.apply_observation(mine, card.apply_observation(mine, seen), seen).given_back:
        return True
    remote = world.remote
    try:
        stands = lease.standing(
            world.git, remote, issue.number, sha=mine.lease, agent=mine.claim.agent_id
        )
    except (GitFailed, Transient) as error:
        notes.append(f"Whether the lease is still this claim's could not be read. {error.sentence}")
        return False
    return stands.is_gone or stands.other is not None


def start_of(world: World, lost: Record | None, seen: Observation) -> Start:
    """Where a claim begins that takes the place of the lost one, if there is such."""
    if lost is None:
        return Start()
    pull = derive.pull_request_of(lost, seen, world.head.owner)
    return Start(derive.phase_of(pull), lost.claim.summary, pull)


def write(claim_store: ClaimStore, lost: Record, record: Record) -> Record:
    """The record in the lost one's place, file and memory; what waited to be said of that one is over."""
    committed = claim_store.commit(replace(record, past=lost.past, durations=lost.durations), {})
    made = claim_store.create(record) if committed.is_gone else committed.record
    claim_store.ledger.retire(made.claim_key)
    claim_store.save()
    return made
