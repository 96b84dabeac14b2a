"""Decide whether a task may be taken: read what is known of it, refuse with the way out."""

from __future__ import annotations

import shlex
from pathlib import Path

from lifecycle.claim.decisions import card_and_link, derive
from lifecycle.claim.decisions.derive import login_of
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import ClaimRefused, GitFailed, HeldByAnother, Refused, Transient
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.messages.loss_messages import forcing
from lifecycle.core.ports import Git
from lifecycle.core.redact import named
from lifecycle.core.values import priorities
from lifecycle.core.values.model import Card, Issue, Observation
from lifecycle.core.values.priorities import READY_FOR_AGENT, Status
from lifecycle.core.world import World
from lifecycle.git import lease


def is_lost(world: World, mine: Record, observed: Observation, notes: list[str]) -> bool:
    """True if this worktree's claim does not hold its task any more; asks the remote once.

    Args:
        world: what may be touched.
        mine: the claim.
        observed: what GitHub shows of it now.
        notes: gets a remark where the remote cannot tell; the claim counts as in order then.
    """
    issue = observed.issue
    if issue is None or not issue.is_open or mine.ending.lease_done:
        return False  # the claim's own ending released the lease
    shown = derive.apply_loss(mine, card_and_link.apply_card(mine, observed), observed)
    if shown.ownership.is_released:
        return True
    try:
        stands = standing(world, mine, issue.number)
    except (GitFailed, Transient) as error:
        notes.append(f"Whether the lease is still this claim's could not be read. {error.sentence}")
        return False
    return stands.is_gone or stands.other is not None


def standing(world: World, record: Record, number: int) -> lease.LeaseStanding:
    """How the claim's lease stands on the remote, which is asked; raises GitFailed, Transient."""
    sha, agent = record.ownership.lease, record.claim.agent_id
    return lease.standing(world.git, world.remote, number, sha=sha, agent=agent)


def write(claim_store: ClaimStore, lost: Record, record: Record) -> Record:
    """Write the record in place of the lost claim's, file and state; drop that claim's queued notices."""
    inherited = replace(record, past=lost.past).with_pull(durations=lost.pull.durations)
    committed = claim_store.commit(inherited, {})
    written = claim_store.create(record) if committed.is_gone else committed.record
    claim_store.ledger.retire(written.claim_key)
    claim_store.save()
    return written


@dataclass(frozen=True, slots=True)
class ListedWorktree:
    """One worktree, as git lists it; `branch` is empty if HEAD is on none, `lock` is its lock's reason."""

    path: Path
    branch: str = ""
    lock: str | None = None


def list_places(git: Git) -> list[ListedWorktree]:
    """Every worktree of this repository, the main one first."""
    places = []
    for block in git.run("worktree", "list", "--porcelain").split("\n\n"):
        fields = dict(line.partition(" ")[::2] for line in block.splitlines())
        branch = fields.get("branch", "").removeprefix("refs/heads/")
        places.append(ListedWorktree(Path(fields["worktree"]), branch, fields.get("locked")))
    return places


def record_in(root: Path) -> Record | None:
    """The claim of a worktree, or None if it has none that can be read."""
    from lifecycle.core.timing import SystemClock

    try:
        return ClaimStore(root, SystemClock()).load(repair=False).record
    except (ClaimRefused, OSError):
        return None  # the commands in that worktree say what is wrong with its claim


def claimed(root: Path) -> int | None:
    """The issue that a worktree's claim is for, or None."""
    record = record_in(root)
    return record.claim.issue_number if record is not None else None


def quoted(path: Path) -> str:
    """The path, always in quotes, for a shell line that somebody copies."""
    text = shlex.quote(str(path))
    return text if text.startswith("'") else f"'{text}'"


@dataclass(frozen=True, slots=True)
class Attempt:
    """Who takes the task, and by which attempt.

    Attributes:
        agent: in whose name it is taken.
        nonce: the attempt's random word, which its lease commit has.
        resumes: it goes on with an attempt that was begun here, or with a claim whose file was lost.
        held: the sha of that claim's lease, or "".
    """

    agent: str
    nonce: str
    resumes: bool
    held: str = ""

    @property
    def login(self) -> str:
        """The account that takes it."""
        return login_of(self.agent)

    def made(self, holder: lease.Lease) -> bool:
        """True if the lease is this worktree's own."""
        return holder.nonce == self.nonce or holder.sha == self.held


@dataclass(frozen=True, slots=True)
class TaskAsked:
    """What is known of the task before it is taken.

    Attributes:
        issue, seen: the issue, and all that GitHub shows of the task.
        card: its card, or None without one.
        cards: all cards of this repository.
        has_board: there is a board that can be read.
        blockers: the open issues that GitHub says it waits for, as `ports.Forge.blockers` names them.
        branch: the task's branch, whose pull requests `seen` has; "" if it was not known yet.
        before: the claim on the task which this worktree has, or had before its file was deleted, or None.
        lost: the claim on the task which this worktree had and lost, or None.
    """

    issue: Issue
    seen: Observation
    card: Card | None
    cards: tuple[Card, ...]
    has_board: bool
    branch: str = ""
    before: Record | None = None
    lost: Record | None = None
    blockers: tuple[str, ...] = ()


def admit(world: World, task: TaskAsked, attempt: Attempt, *, force: bool) -> list[str]:
    """Check that the task may be taken; return remarks for the person.

    Raises:
        Refused, HeldByAnother: it may not; the sentence says why. Nothing was claimed.
        NotFound, Transient, Rejected: an issue that it depends on could not be read.
    """
    issue, item = task.issue, task.seen.item
    if not issue.is_open:
        raise Refused(f"#{issue.number} is closed; nothing was claimed. Choose another task.")
    # git would not check its branch out twice, and by then the lease of the claim there would be gone.
    there = other_place(world, issue.number) if force and not attempt.resumes else None
    if there is not None:
        raise there
    status = item.status if item is not None else None
    is_ours = attempt.resumes and item is not None and item.agent == attempt.agent
    if status not in (None, Status.TODO) and not is_ours and not force:
        if item is not None and item.agent:
            raise _held_as_the_card_says(world, issue.number, status or "", item.agent)
        raise Refused(
            f'#{issue.number} has Status "{status}", not "{Status.TODO}"; nothing was claimed. '
            f"Move it to Todo, or take it all the same: {forcing(issue.number)}"
        )
    others = [name for name in issue.assignees if name.casefold() != attempt.login.casefold()]
    if others and not force:
        raise HeldByAnother(
            f"#{issue.number} is assigned to {', '.join(others)}; nothing was claimed. "
            f"Choose another task, or if they are gone: {forcing(issue.number)}"
        )
    if not force:
        _need_dependencies(world, task)
    card = task.card
    # Whether the board has that field its other cards show.
    is_said = any(card.readiness for card in task.cards)
    if card is None or card.item.is_labels or not is_said or card.readiness == READY_FOR_AGENT:
        return []
    shown = f'"{card.readiness}"' if card.readiness else "not set"
    return [f'Readiness is {shown}, not "{READY_FOR_AGENT}".']


def _held_as_the_card_says(world: World, number: int, status: str, agent: str) -> HeldByAnother:
    """The refusal with who holds the task: the worktree of this clone, or the agent and since when."""
    refusal = other_place(world, number, agent)
    if refusal is not None:
        return refusal
    holder = holder_of(world, number)
    since = f" since {holder.since}" if holder is not None and holder.agent == agent else ""
    return HeldByAnother(
        f"#{number} is {status}, held by {named(agent)}{since}; nothing was claimed. Choose another task, "
        f"or if that agent is gone, take it over: {forcing(number)}"
    )


def holder_of(world: World, number: int) -> lease.Lease | None:
    """Who has the lease; None if nobody, or if it cannot be read: it only makes a refusal clearer."""
    try:
        return lease.read(world.git, world.remote, number)
    except (GitFailed, Transient):
        return None


def other_place(world: World, number: int, agent: str | None = None) -> HeldByAnother | None:
    """The refusal with the way there if another worktree of this clone holds this claim; or None.

    It is the agent's claim; without one, any that did not lose the task.
    """
    for place in list_places(world.git):
        record = record_in(place.path)
        if record is None or place.path.resolve() == world.root.resolve():
            continue
        is_meant = not record.is_lost if agent is None else record.claim.agent_id == agent
        if is_meant and record.claim.issue_number == number:
            return HeldByAnother(
                f"#{number} is claimed in {place.path} already; nothing was claimed here. Go on there: "
                f"cd {quoted(place.path)}"
            )
    return None


def _need_dependencies(world: World, task: TaskAsked) -> None:
    """Refuse a task that depends on open issues, as its card says, or as GitHub does."""
    states = {card.number: card.is_open for card in task.cards}
    numbers = priorities.numbers(task.card.dependencies if task.card else None)
    for number in numbers:
        if number not in states:
            states[number] = world.forge.issue(number).is_open
    waits = [str(number) for number in numbers if states[number]]
    still_open = [
        name if "#" in name else f"#{name}" for name in dict.fromkeys((*waits, *task.blockers))
    ]
    if still_open:
        pronoun = "them" if len(still_open) > 1 else "it"
        raise Refused(
            f"#{task.issue.number} depends on {', '.join(still_open)}, still open; nothing was "
            f"claimed. Close {pronoun} first, or take it all the same: {forcing(task.issue.number)}"
        )
