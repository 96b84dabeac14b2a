"""Choose the next task, and suggest it after the merge of a branch without a claim.

So those who work without `lifecycle claim` also hear of the merge, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lifecycle.claim.record.claim_file import message
from lifecycle.core.errors import LifecycleError
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.redact import quoted
from lifecycle.core.values import priorities
from lifecycle.core.values.model import Card, PullState, Repository
from lifecycle.core.values.priorities import Status
from lifecycle.storage import log

if TYPE_CHECKING:
    from lifecycle.core.world import World

_DONE_WITH = "branch_merged"


def free(cards: Iterable[Card], repository: Repository) -> Iterator[Card]:
    """The open Todo cards of this repository that wait for no other card, by Priority."""
    mine = cards_of(cards, repository)
    numbers = {card.number for card in mine if card.is_open}
    for card in todo_of(mine, repository):
        if numbers.isdisjoint(priorities.numbers(card.dependencies)):
            yield card


def todo_of(cards: Iterable[Card], repository: Repository) -> list[Card]:
    """The open Todo cards of this repository by Priority (see `priorities`), then in the board's order."""
    opened = (card for card in cards_of(cards, repository) if card.is_open)
    return sorted((card for card in opened if card.item.status == Status.TODO), key=_urgency)


def cards_of(cards: Iterable[Card], repository: Repository) -> list[Card]:
    """The cards of this repository's issues."""
    name = str(repository).casefold()
    return [card for card in cards if card.repository.casefold() == name]


def _urgency(card: Card) -> tuple[int, str]:
    """The sort key of a card: the rank of its Priority, then the Priority's name."""
    return priorities.order_of(priorities.rank_of(card.priority or ""), card.priority)


def suggest(world: World) -> Notice | None:
    """The notice that the current branch's pull request was merged, with the next task; None if it was not.

    It makes one request while the pull request is not merged, three once it is, and one for each card that
    waits; none on the default branch, or for a branch whose merge was told before.
    """
    branch = world.git.current_branch()
    if branch is None or branch in ("main", "master", world.settings.base):
        return None
    tip = f"{branch}@{world.git.head_of(branch)}"
    if world.cache.get(_DONE_WITH) == tip:
        return None
    owner, shown = world.head.owner.casefold(), world.forge.pull_requests_of(branch)
    pulls = [pull for pull in shown if pull.head_owner.casefold() == owner]
    is_open = any(pull.state is PullState.OPEN for pull in pulls)
    if is_open or not pulls or pulls[0].state is not PullState.MERGED:
        return None
    text = _sentence(world, branch)
    world.cache.put(_DONE_WITH, tip)
    return Notice(f"branch-merged:{pulls[0].number}", text, Audience.NEWS)


def _sentence(world: World, branch: str) -> str:
    """The sentence about the merge, with the next task that a claim would take, if that can be known."""
    merged = message("branch-merged", branch=branch)
    try:
        cards = world.board.cards() if world.board is not None else None
        todo = free(cards or (), world.base)
        card = next((card for card in todo if not world.forge.blockers(card.number)), None)
    except LifecycleError as error:
        log.write(world.root, f"on-idle: {error.sentence}")
        cards = card = None
    # If no issue has a label, nobody knows which tasks are left.
    if cards is None or (not cards and world.choice.uses_labels):
        return merged
    if card is None:
        return f"{merged} No task is left in Todo."
    return f"{merged} {message('next-task', title=quoted(card.title), number=card.number)}"
