"""Read a task before it is taken: which one is asked for, what GitHub shows of it, and its pull request."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lifecycle.claim.commands.admission import TaskAsked
from lifecycle.claim.commands.next_task import cards_of
from lifecycle.claim.commands.task_branch import branch_name
from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.snapshot import Rules
from lifecycle.claim.linked import linked_writes
from lifecycle.claim.record.claim_file import Claim
from lifecycle.claim.record.state import Record
from lifecycle.core import tracker
from lifecycle.core.errors import LifecycleError, NotFound, Refused
from lifecycle.core.light_dataclass import replace
from lifecycle.core.redact import quoted
from lifecycle.core.timing import parse_time
from lifecycle.core.values.model import Card, Look, PullRequest, PullState
from lifecycle.core.values.priorities import Status
from lifecycle.core.world import World
from lifecycle.git.lease import Lease

_SHOWN_MATCHES = 5


def named(world: World, query: str) -> tuple[int, tracker.Task | None]:
    """The issue's number for `query`, found as `take` finds it; and the linked task if `query` is its id.

    Raises:
        Refused: `query` fits several tasks, or is no issue number.
        NotFound, Transient, Rejected: no task has it in its title, or GitHub could not be asked.
    """
    return which_task(world, cards_here(world, []), query, [])


def which_task(
    world: World, cards: Sequence[Card], query: str, notes: list[str]
) -> tuple[int, tracker.Task | None]:
    """The issue's number, and the linked task if `query` is its id."""
    number = _number(query)
    if number is not None:
        return number, None
    linked = linked_writes.named(world, query, notes)
    return linked if linked is not None else (_find(world, cards, query), None)


def _number(query: str) -> int | None:
    """The issue number in a query (`42`, `#42`, an issue URL), or None."""
    match = re.fullmatch(r"#?(\d+)", query.strip()) or re.search(r"/issues/(\d+)$", query.strip())
    if match is not None and not 0 < int(match[1]) < 2**31:
        raise Refused(f"{match[1]} is no issue number; nothing was claimed.")
    return int(match[1]) if match else None


def cards_here(world: World, notes: list[str]) -> tuple[Card, ...]:
    """The board's cards of this repository; none, with a remark, if the board cannot be read."""
    if not world.settings.has_board or world.board is None:
        return ()
    try:
        return tuple(cards_of(world.board.cards(), world.base))
    except LifecycleError as error:
        notes.append(f"The board is left out: {error.sentence}")
        return ()


def _find(world: World, cards: Sequence[Card], query: str) -> int:
    """The number of the one open issue with `query` in its title: in Todo, on the board, or anywhere."""
    part = query.casefold().strip()
    titles: dict[int, str] = {}
    if part:
        on_board = [card for card in cards if card.is_open and part in card.title.casefold()]
        todo = [card for card in on_board if card.item.status in (Status.TODO, None)]
        titles = {card.number: card.title for card in todo or on_board}
        if not titles:
            everywhere = world.forge.open_issues()
            issues = [issue for issue in everywhere if part in issue.title.casefold()]
            titles = {issue.number: issue.title for issue in issues}
    if not titles:
        raise NotFound(f'No open issue of {world.base} has "{query}" in its title.')
    if len(titles) > 1:
        first = list(titles.items())[:_SHOWN_MATCHES]
        shown = [f"#{number} {quoted(title)}" for number, title in first]
        raise Refused(f'"{query}" fits {len(titles)} issues: {"; ".join(shown)}. Claim by number.')
    return next(iter(titles))


def read_task(
    world: World, number: int, cards: tuple[Card, ...], before: Record | None
) -> TaskAsked:
    """Read the issue, and what else of the task GitHub shows; NotFound without such an issue."""
    has_board = world.settings.has_board
    card = next((card for card in cards if card.number == number), None)
    branch = branch_name(card.title, number) if card is not None else ""
    look = Look(issue=number, branch=branch, board=has_board, writes=True)
    if before is not None:
        claim = before.claim
        branch = claim.branch or branch
        look = replace(look, branch=branch, pr_number=claim.pr_number, comments=True)
    observed = world.forge.observe(look)
    world.refuse_renamed(observed.repository)
    if observed.issue is None:
        raise NotFound(f"{world.base} has no issue #{number}, or the token may not see it.")
    is_read = has_board and observed.board_problem is None
    return TaskAsked(observed.issue, observed, card, cards, is_read, branch, before)


def pull_request_of(
    world: World, task: TaskAsked, branch: str, base: str, former: Lease | None
) -> PullRequest | None:
    """The pull request that the task begins with: the earlier claim's, else the branch's open one.

    `former`: the lease that was taken over, or None; what merged while its holder had the task counts, too.
    """
    seen, owner = task.seen, world.head.owner
    if task.branch != branch and world.git.remote_head_of(branch, world.remote):
        seen = replace(seen, by_branch=world.forge.pull_requests_of(branch))
    if task.before is not None:
        return derive.pull_request_of(task.before, seen, Rules(owner, base))
    opened = derive.open_pull_request_of(Claim(branch=branch), seen, owner, base)
    if opened is not None or former is None:
        return opened
    values, since = {"issue_number": task.issue.number, "branch": branch}, parse_time(former.since)
    theirs = Record(values, created_at=since or 0.0, is_taken=True)
    pull = derive.pull_request_of(theirs, seen, Rules(owner, base))
    return pull if pull is not None and pull.state is PullState.MERGED else None


def rivals(task: TaskAsked, pull: PullRequest | None) -> str:
    """A clause on open pull requests for the issue besides the task's own; "" if GitHub shows none."""
    issue, seen = task.issue, task.seen
    referring = [
        other.number
        for other in seen.by_branch
        if other.state is PullState.OPEN and derive.refers(other, issue.number, seen.repository)
    ]
    own = pull.number if pull is not None else None
    numbers = sorted({*seen.closers, *referring} - {own})
    listed = ", ".join(f"#{number}" for number in numbers)
    return f"An open PR is for #{issue.number} already: {listed}" if numbers else ""
