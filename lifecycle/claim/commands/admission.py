"""Read a task before it is taken, and decide whether it may be: refuse with the way out.

It finds out which task is meant, what GitHub shows of it, its pull request, and who else holds it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from lifecycle.claim.commands.next_task import cards_of
from lifecycle.claim.decisions import card_and_link, derive
from lifecycle.claim.engine import observing
from lifecycle.claim.linked import linked_writes
from lifecycle.claim.record.claim_file import Claim, sentence
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.claim.record.sections import Attempt
from lifecycle.claim.record.state import Record
from lifecycle.core import errors, redact, tracker
from lifecycle.core.errors import HeldByAnother, NotFound, Refused
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.messages.messages import forcing
from lifecycle.core.timing import SystemClock, parse_time
from lifecycle.core.values import branch_names, priorities
from lifecycle.core.values.model import Card, Issue, Look, Observation, PullRequest, PullState
from lifecycle.core.values.priorities import READY_FOR_AGENT, Status
from lifecycle.core.world import World
from lifecycle.git import lease
from lifecycle.settings import config

_SHOWN_MATCHES = 5
"""How many tasks are named when a query fits several."""

NAMED_IN_FULL = re.compile(r"https?://\S+|[\w.-]+/[\w.-]+#\d+")
"""A query that names a repository as well: an address, or `owner/name#42`."""


def is_lost(world: World, mine: Record, observed: Observation, notes: list[str]) -> bool:
    """True if this worktree's claim does not hold its task any more; asks the remote once.

    Args:
        world: what may be touched.
        mine: the claim.
        observed: what GitHub shows of the task now.
        notes: gets a remark if the remote cannot be read; then the claim counts as in order.
    """
    issue = observed.issue
    if issue is None or mine.ending.lease_done:
        return False  # the claim's own ending released the lease
    if not issue.is_open:
        # Who closed it may have ended the lease, and the claim ends by its own closing.
        notes.append(sentence("closed-here", number=issue.number))
        return mine.is_lost
    try:
        stands = observing.standing(world, mine, issue.number)
    except (errors.GitFailed, errors.Transient) as error:
        notes.append(f"It is not known whether this claim still holds the lease. {error.sentence}")
        return False
    return stands.is_gone or stands.other is not None


def write(claim_store: ClaimStore, lost: Record | None, record: Record) -> Record:
    """Write the record to file and state; drop a claim that was lost, with its queued notices."""
    if lost is None:
        return claim_store.create(record)
    inherited = replace(record, past=lost.past).with_pull(durations=lost.pull.durations)
    committed = claim_store.commit(inherited, {})
    written = claim_store.create(record) if committed.is_gone else committed.record
    claim_store.ledger.retire(written.claim_key)
    claim_store.save()
    return written


@dataclass(frozen=True, slots=True)
class ListedWorktree:
    """A worktree as git lists it.

    `branch` is "" if HEAD is detached, `lock` is the reason of its lock. The main one `is_bare` if there is
    only its git folder.
    """

    path: Path
    branch: str = ""
    lock: str | None = None
    is_bare: bool = False


def list_places(world: World) -> list[ListedWorktree]:
    """Every worktree of this repository, the main one first."""
    places = []
    for block in world.git.run("worktree", "list", "--porcelain").split("\n\n"):
        fields = dict(line.partition(" ")[::2] for line in block.splitlines())
        branch = fields.get("branch", "").removeprefix("refs/heads/")
        path, lock = Path(fields["worktree"]), fields.get("locked")
        places.append(ListedWorktree(path, branch, lock, is_bare="bare" in fields))
    if not (places[0].is_bare or (places[0].path / ".git").exists()):
        # git lists the git folder in its place if that is elsewhere, as that of a submodule.
        places[0] = replace(places[0], path=world.root)
    return places


def record_in(root: Path) -> Record | None:
    """The claim of a worktree, or None if it has none that can be read."""
    try:
        return ClaimStore(root, SystemClock()).load(repair=False).record
    except (errors.ClaimRefused, OSError):
        return None  # the commands in that worktree say what is wrong with its claim


def claimed(root: Path) -> int | None:
    """The issue that a worktree's claim is for, or None."""
    record = record_in(root)
    return record.claim.issue_number if record is not None else None


def quoted(path: Path) -> str:
    """The path in quotes, for a shell command that somebody copies."""
    text = shlex.quote(str(path))
    return text if text.startswith("'") else f"'{text}'"


@dataclass(frozen=True, slots=True)
class TaskAsked:
    """What is known of the task before it is taken.

    Attributes:
        issue, seen: the issue, and everything that GitHub shows of the task.
        card: the issue's card, or None if it has none.
        cards: all cards of this repository.
        has_board: True if there is a board that can be read.
        blockers: the open issues that block this one on GitHub, as `ports.Forge.blockers` names them.
        branch: the branch whose pull requests are in `seen`; "" if it was not known yet.
        before: this worktree's claim on the task, even if its file was deleted; or None.
        lost: the claim on the task that this worktree had and lost, or None.
    """

    issue: Issue
    seen: Observation
    card: Card | None
    cards: Sequence[Card]
    has_board: bool
    branch: str = ""
    before: Record | None = None
    lost: Record | None = None
    blockers: tuple[str, ...] = ()


def which_task(
    world: World, cards: Sequence[Card], query: str, notes: list[str]
) -> tuple[int, tracker.Task | None]:
    """The issue's number, and the linked task if `query` is its id."""
    number = _number(world, query)
    if number is not None:
        return number, None
    linked = linked_writes.named(world, query, notes)
    return linked if linked is not None else (_find(world, cards, query, notes), None)


def _number(world: World, query: str) -> int | None:
    """The issue number in a query (`42`, `#42`, `owner/name#42`, an issue's address), or None.

    Raises:
        Refused: the number is impossible, or the query names something else than an issue here.
    """
    text = query.strip()
    if NAMED_IN_FULL.fullmatch(text):
        host = config.web_host(world.addresses.api_url)
        number = card_and_link.issue_of(text, str(world.base), host)
        if number is None:
            raise Refused(sentence("no-issue-of-here", query=redact.quoted(text), world=world))
        return number
    match = re.fullmatch(r"#?(-?\d+)", text)
    if match is not None and not 0 < int(match[1]) < 2**31:
        raise Refused(sentence("no-number", number=match[1]))
    return int(match[1]) if match else None


def cards_here(world: World, notes: list[str]) -> tuple[Card, ...]:
    """The board's cards of this repository; none, with a remark, if the board cannot be read."""
    if not world.settings.has_board or world.board is None:
        return ()
    try:
        return tuple(cards_of(world.board.cards(), world.base))
    except errors.LifecycleError as error:
        notes.append(f"The board was skipped: {error.sentence}")
        return ()


def _find(world: World, cards: Sequence[Card], query: str, notes: list[str]) -> int:
    """The number of the one open issue with `query` in its title: in Todo, on the board, or anywhere.

    `notes` say why a tracker, which might have a task of that id, or the board was not asked.
    """
    part = query.casefold().strip()
    titles: dict[int, str] = {}
    if part:
        on_board = [card for card in cards if card.is_open and part in card.title.casefold()]
        todo = [card for card in on_board if card.item.status in (Status.TODO, None)]
        titles = {card.number: card.title for card in todo or on_board}
        if not titles:
            everywhere = {issue.number: issue.title for issue in world.forge.open_issues()}
            titles = {n: title for n, title in everywhere.items() if part in title.casefold()}
    if not titles:
        raise NotFound(" ".join([sentence("not-in-a-title", query=query, world=world), *notes]))
    if len(titles) > 1:
        first = list(titles.items())[:_SHOWN_MATCHES]
        shown = [f"#{number} {redact.quoted(title)}" for number, title in first]
        raise Refused(sentence("several-titles", query=query, count=len(titles), shown=shown))
    return next(iter(titles))


def read_task(world: World, number: int, cards: Sequence[Card], before: Record | None) -> TaskAsked:
    """Read the issue, and what else GitHub shows of the task; NotFound if there is no such issue."""
    has_board = world.settings.has_board
    card = next((card for card in cards if card.number == number), None)
    made = branch_names.branch_name(card.title, number) if card is not None else ""
    claim, is_again = before.claim if before is not None else Claim(), before is not None
    branch, pull = claim.branch or made, claim.pr_number
    look = Look(number, branch, pull, comments=is_again, board=has_board, writes=True)
    observed = world.forge.observe(look)
    world.refuse_renamed(observed.repository, "so nothing was claimed")
    if observed.issue is None:
        world.forge.issue(number)  # if it was transferred, this says where it is now
        raise NotFound(sentence("no-issue", number=number, world=world))
    is_read = has_board and observed.board_problem is None
    return TaskAsked(observed.issue, observed, card, cards, is_read, branch, before)


def pull_request_of(
    world: World, task: TaskAsked, branch: str, base: str, former: lease.Lease | None
) -> PullRequest | None:
    """The pull request that the task begins with: the earlier claim's, else the branch's open one.

    `former`: the lease that was taken over, or None; a merge while its holder, or whoever had the task
    before them, was at work counts, too.
    """
    seen, owner = task.seen, world.head.owner
    # The work that was taken over may be merged, and its branch deleted.
    is_pushed = former is not None or world.git.remote_head_of(branch, world.remote)
    if task.branch != branch and is_pushed:
        seen = replace(seen, by_branch=world.forge.pull_requests_of(branch))
    if task.before is not None:
        return derive.pull_of(task.before, seen, owner, base)
    opened = derive.open_pull_request_of(Claim(branch=branch), seen, owner, base)
    if opened is not None or former is None:
        return opened
    values, since = {"issue_number": task.issue.number, "branch": branch}, parse_time(former.began)
    theirs = Record(values, created_at=since or 0.0, is_taken=True)
    pull = derive.pull_of(theirs, seen, owner, base)
    return pull if pull is not None and pull.state is PullState.MERGED else None


def rivals(task: TaskAsked, pull: PullRequest | None) -> str:
    """A clause on open pull requests for the issue besides the task's own; "" if GitHub shows none."""
    issue, seen, name = task.issue, task.seen, task.seen.repository
    opened = [other for other in seen.by_branch if other.state is PullState.OPEN]
    referring = [other.number for other in opened if derive.refers(other, issue.number, name)]
    own = pull.number if pull is not None else None
    numbers = sorted({*seen.closers, *referring} - {own})
    listed = ", ".join(f"#{number}" for number in numbers)
    return f"There is already an open PR for #{issue.number}: {listed}" if numbers else ""


def admit(world: World, task: TaskAsked, attempt: Attempt) -> list[str]:
    """Check that the task may be taken; return remarks for the person.

    Raises:
        Refused, HeldByAnother: the task may not be taken; the sentence says why. Nothing was claimed.
        NotFound, Transient, Rejected: an issue that it depends on could not be read.
    """
    issue, item, force = task.issue, task.seen.item, attempt.force
    if not issue.is_open:
        raise Refused(sentence("closed", number=issue.number))
    # git checks out a branch only once, and by then the lease of the claim over there would be gone.
    if force and not attempt.resumes:
        refuse_elsewhere(world, issue.number)
    # An archived card keeps what it said: nobody can write it, so a release does not free it either.
    status = item.status if item is not None and not item.is_archived else None
    words = {"number": issue.number, "forcing": forcing(issue.number)}
    if item is not None and status not in (None, Status.TODO) and not force:
        agent = item.agent
        if item.is_labels:  # labels name no agent
            holder = holder_of(world, issue.number)
            agent = holder.agent if holder is not None else ""
        if not agent:
            raise Refused(sentence("not-todo", status=status, todo=Status.TODO, **words))
        if not (attempt.resumes and agent == attempt.agent):
            _refuse_held(world, issue.number, status or "", agent)
    login = derive.login_of(attempt.agent).casefold()
    others = [name for name in issue.assignees if name.casefold() != login]
    if others and not force:
        raise HeldByAnother(sentence("assigned", others=", ".join(others), **words))
    if not force:
        _need_dependencies(world, task)
    card = task.card
    # The other cards show whether the board has that field.
    is_said = any(card.readiness for card in task.cards)
    if card is None or card.item.is_labels or not is_said or card.readiness == READY_FOR_AGENT:
        return []
    shown = f'"{card.readiness}"' if card.readiness else "not set"
    return [f'Readiness is {shown}, not "{READY_FOR_AGENT}".']


def _refuse_held(world: World, number: int, status: str, agent: str) -> NoReturn:
    """Refuse; say who holds the task: a worktree of this clone, or an agent, and since when."""
    refuse_elsewhere(world, number, agent)
    holder = holder_of(world, number)
    since = f" since {holder.since}" if holder is not None and holder.agent == agent else ""
    words = {"number": number, "status": status, "agent": redact.named(agent), "since": since}
    raise HeldByAnother(sentence("held", forcing=forcing(number), **words))


def holder_of(world: World, number: int) -> lease.Lease | None:
    """The task's lease; None if nobody has it or it cannot be read: it only makes a refusal clearer."""
    try:
        return lease.read(world.git, world.remote, number)
    except (errors.GitFailed, errors.Transient):
        return None


def refuse_elsewhere(world: World, number: int, agent: str | None = None) -> None:
    """Refuse a task that another worktree of this clone holds (see `place_of`), and lead there."""
    place = place_of(world, number, agent)
    if place is not None:
        words = {"number": number, "place": place, "quoted": quoted(place)}
        raise HeldByAnother(sentence("claimed-there", **words))


def place_of(world: World, number: int, agent: str | None = None) -> Path | None:
    """The other worktree of this clone that holds this claim, or None.

    With `agent`, only that agent's claim counts; without, any that did not lose the task (see `_holds`).
    """
    for place in list_places(world):
        record = record_in(place.path) if place.path.resolve() != world.root.resolve() else None
        if record is None or record.claim.issue_number != number:
            continue
        if _holds(world, record) if agent is None else record.claim.agent_id == agent:
            return place.path
    return None


def _holds(world: World, record: Record) -> bool:
    """False if the claim lost its task: its record says so, or its lease is gone or another agent's."""
    try:
        stands = observing.standing(world, record, record.claim.issue)
    except (errors.BadConfig, errors.GitFailed, errors.Transient):
        return not record.is_lost
    return not (record.is_lost or stands.is_gone or stands.other)


def has_place(path: Path, number: int) -> Refused:
    """The refusal of a task that has a worktree; for git a worktree exists even if its folder is gone."""
    way = f"Continue there with: lifecycle claim {number}"
    if not path.exists():
        way = f"Its folder is gone, so free the branch with: git worktree remove --force {quoted(path)}"
    return Refused(sentence("has-worktree", number=number, path=path, way=way))


def _need_dependencies(world: World, task: TaskAsked) -> None:
    """Refuse a task that depends on open issues, according to its card or to GitHub."""
    states = {card.number: card.is_open for card in task.cards}
    numbers = priorities.numbers(task.card.dependencies if task.card else None)
    unseen = [number for number in numbers if number not in states]
    states |= {number: world.forge.issue(number).is_open for number in unseen}
    waits = [str(number) for number in numbers if states[number]]
    names = dict.fromkeys((*waits, *task.blockers))
    still_open = [name if "#" in name else f"#{name}" for name in names]
    if still_open:
        pronoun, number = "them" if len(still_open) > 1 else "it", task.issue.number
        words = {"names": ", ".join(still_open), "pronoun": pronoun, "forcing": forcing(number)}
        raise Refused(sentence("depends", number=number, **words))
