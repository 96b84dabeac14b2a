"""A claim that was begun and has no claim file yet: note it, continue it, or undo it.

Taking a task writes in several places (the lease, the assignee, the card) before the claim file exists,
and may end at any moment between two of them. A note in state.json names the task, the agent and the
attempt. The next `lifecycle claim` of the same task continues the attempt; a claim of another task, or
`lifecycle release`, undoes what this attempt holds, but nothing that somebody else holds by then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from lifecycle.claim.commands.admission import TaskAsked
from lifecycle.claim.decisions.derive import assigned, is_issue_gone, login_of
from lifecycle.claim.engine import observing
from lifecycle.claim.linked import linked_writes
from lifecycle.claim.record.claim_file import sentence
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.claim.record.sections import Attempt
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import GitFailed, LifecycleError, Refused, Rejected, Transient
from lifecycle.core.light_dataclass import asdict, dataclass, from_json, replace
from lifecycle.core.messages.messages import forcing
from lifecycle.core.values.model import Look
from lifecycle.core.values.priorities import Status
from lifecycle.core.world import World
from lifecycle.git import lease
from lifecycle.storage.state_file import CLAIMING


@dataclass(frozen=True, slots=True)
class Begun:
    """One attempt to take a task, as state.json keeps it.

    Attributes:
        issue: the task.
        agent: the agent in whose name the task is taken.
        nonce: the attempt's random word, which is also in its lease commit.
        is_held: the lease was taken (or none can be), so that assignee and card may be written.
        assigns: the account was not assigned to the issue before.
        status: the card's Status before, "" without a card.
        remote, repository: where the task is taken, as the claim's record keeps them.
        instead_of: the sha of the lease that was taken over, or ""; undoing the attempt restores it.
    """

    issue: int
    agent: str
    nonce: str
    is_held: bool = False
    assigns: bool = False
    status: str = ""
    remote: str = ""
    repository: str = ""
    instead_of: str = ""

    @property
    def record(self) -> Record:
        """A record with the remote and repository of the attempt, for `observing.demand_same_place`."""
        values = {"issue_number": self.issue, "agent_id": self.agent}
        return Record(values).with_ownership(remote=self.remote, repository=self.repository)


def of(state: Mapping[str, Any]) -> Begun | None:
    """The attempt that was begun, as state.json has it, or None."""
    begun: Begun | None = from_json(Begun, state.get(CLAIMING), is_whole=False)
    return begun


def is_begun(state: Mapping[str, Any], number: int) -> bool:
    """True if, according to state.json, taking the task was begun and not finished."""
    begun = of(state)
    return begun is not None and begun.issue == number


def note(world: World, claim_store: ClaimStore, task: TaskAsked, attempt: Attempt) -> None:
    """Save a note of the attempt before it writes anything else.

    An attempt that continues an interrupted run keeps that run's note: the issue already shows its writes.
    """
    before, item = of(claim_store.state), task.seen.item
    if before is not None and before.nonce == attempt.nonce:
        return
    assigns = assigned(task.issue.assignees, login_of(attempt.agent)) is None
    status = (item.status or "") if item is not None else ""
    begun = Begun(task.issue.number, attempt.agent, attempt.nonce, assigns=assigns, status=status)
    begun = replace(begun, remote=world.remote, repository=str(world.base))
    claim_store.state[CLAIMING] = asdict(begun)
    claim_store.save()


def former(world: World, claim_store: ClaimStore) -> lease.Lease | None:
    """The lease that the attempt took over, or None; it was fetched when it was read."""
    begun = of(claim_store.state)
    with suppress(GitFailed):  # no ref keeps it here: after two weeks git may have removed it
        return lease.known(world.git, begun.instead_of) if begun and begun.instead_of else None
    return None


def amend(claim_store: ClaimStore, **changes: Any) -> None:
    """Note a change of the attempt: its lease was taken, or is about to be taken over."""
    claim_store.state[CLAIMING] |= changes
    claim_store.save()


def over(claim_store: ClaimStore) -> None:
    """Delete the note: the claim file exists, or the attempt holds nothing."""
    if claim_store.state.pop(CLAIMING, None) is not None:
        claim_store.save()


def undo(world: World, claim_store: ClaimStore) -> str:
    """Undo what the attempt holds, the lease last: from then on anybody may claim the task.

    Each step may be repeated, and what belongs to somebody else by now is left alone. The caller holds the
    lock.

    Returns:
        The sentence about it; "" if there is no attempt.

    Raises:
        LifecycleError: a step failed; the note stays, and the steps after it are not done.
    """
    begun = of(claim_store.state)
    if begun is None:
        return ""
    observing.demand_same_place(world, begun.record)
    try:
        holder = lease.read(world.git, world.remote, begun.issue)
    except GitFailed:
        holder = None  # if leases cannot be read, none was taken
    is_ours = holder is not None and holder.nonce == begun.nonce
    # The closing of a closed issue found our lease, so nobody else ends the former holder's.
    is_over = begun.is_held and (is_ours or holder is None) and not _free(world, begun)
    linked_writes.finish(world, claim_store, None)
    if holder is not None and is_ours:
        before = None if is_over else former(world, claim_store)
        back_to = before.sha if before is not None else ""
        lease.release(world.git, world.remote, begun.issue, holder.sha, back_to=back_to)
    over(claim_store)
    return f"The unfinished claim on #{begun.issue} was released; it no longer holds anything."


def _free(world: World, begun: Begun) -> bool:
    """Restore card and assignee, unless somebody else has changed them since; False for a closed issue."""
    look = Look(issue=begun.issue, branch="", board=world.settings.has_board, insists=True)
    observed = world.forge.observe(look)
    item = observed.item
    if item is not None and item.agent == begun.agent and not item.is_archived:
        world.cards.write(begun.issue, item.id, status=begun.status or Status.TODO, agent="")
    login, issue = login_of(begun.agent), observed.issue
    if begun.assigns and issue is not None and assigned(issue.assignees, login):
        world.forge.unassign(begun.issue, login)
    return issue is not None and issue.is_open


def left(claim_store: ClaimStore) -> str:
    """The sentence about an attempt that is neither finished nor undone, or a deleted claim file; or ""."""
    begun, last = of(claim_store.state), without_file(claim_store)
    if begun is not None:
        command = forcing(begun.issue) if begun.instead_of else f"lifecycle claim {begun.issue}"
        return sentence("begun", number=begun.issue, command=command)
    return sentence("file-deleted", number=last.claim.issue_number) if last is not None else ""


def without_file(claim_store: ClaimStore) -> Record | None:
    """The claim whose file was deleted while it held its task, or while it was being released; or None."""
    last = claim_store.remembered()
    if last is None or last.ending.outcome or claim_store.disk.path.exists():
        return None
    is_held = last.ownership.lease and not (last.is_lost or is_issue_gone(last))
    return last if is_held or last.ending.releasing is not None else None


@contextmanager
def answered_for(world: World, claim_store: ClaimStore, undone: str) -> Iterator[None]:
    """Context for taking a task: on failure, undo the attempt or say in the error what is still held.

    A refusal undoes the attempt. After an error that may pass by itself the attempt stays for the next run
    to continue, and the error says how. After anything else (a signal, a full disk) `status` says it.

    Args:
        world: where the task is taken.
        claim_store: the open claim, with the attempt in its state.
        undone: the sentence about another task's attempt that was undone before; the error says it first.

    Raises:
        LifecycleError: what was raised within; what is still held is added to its sentence.
    """
    try:
        yield
    except (Refused, Rejected, Transient) as error:
        if not isinstance(error, Transient):
            with suppress(LifecycleError):
                undo(world, claim_store)
        error.sentence = " ".join(filter(None, [undone, error.sentence, left(claim_store)]))
        raise
