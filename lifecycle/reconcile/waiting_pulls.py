"""Whom the open pull requests of a repository wait for, as a sweep shows them. Pure.

Whom one waits for the claim decides (`awaited`). Its author is the agent that holds the task, as far as the
task was read: a draft that a run opened is the run's account's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from lifecycle.claim.decisions.pull.merge_standing import awaited
from lifecycle.claim.record.sections import Whom
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.values.survey import Holding


@dataclass(frozen=True, slots=True)
class WaitingPull:
    """An open pull request, and whom it waits for.

    Attributes:
        repository: `owner/name`.
        names: of whom it waits for: the agent or its author, reviewers, teams; () if nobody is named.
        why: how it stands, as a verb phrase.
    """

    repository: str
    number: int
    title: str
    url: str
    whom: Whom
    names: tuple[str, ...]
    why: str


def waiting_pulls(holding: Holding) -> Iterator[WaitingPull]:
    """The open pull requests of a repository, without those of which it was not read; with authors."""
    for pull in holding.pulls:
        if pull.merge_state:
            waits = awaited(pull)
            place = holding.repository, pull.number, pull.title, pull.url
            yield WaitingPull(*place, waits.whom, waits.names, waits.why)


def in_order(
    pulls: Iterable[WaitingPull], agents: Mapping[tuple[str, int], str]
) -> tuple[WaitingPull, ...]:
    """Those first for which somebody has to do something, then by repository, the newest first.

    `agents`: who holds the task of a pull request, by its repository and number.
    """
    order = [*Whom]

    def known(pull: WaitingPull) -> WaitingPull:
        agent = agents.get((pull.repository, pull.number))
        return replace(pull, names=(agent,)) if agent and pull.whom is Whom.AUTHOR else pull

    def urgency(pull: WaitingPull) -> tuple[int, str, int]:
        return order.index(pull.whom), pull.repository.casefold(), -pull.number

    return tuple(sorted(map(known, pulls), key=urgency))
