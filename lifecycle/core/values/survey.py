"""What a sweep over many repositories shows: values only, read a hundred at a time.

A sweep reads a little of every task; before a write, the task is read once more, as by the hooks.
"""

from __future__ import annotations

from collections.abc import Mapping

from lifecycle.core.errors import LifecycleError
from lifecycle.core.light_dataclass import dataclass, field, object_in, text_in
from lifecycle.core.values.model import Hold, Observation, PullRequest

LEASES = "refs/agent-claims/"
"""The beginning of the leases' refs; the issue's number follows."""


@dataclass(frozen=True, slots=True)
class Tip:
    """The newest commit of a branch, and its committer's date."""

    branch: str
    sha: str
    at: float | None = None


@dataclass(frozen=True, slots=True)
class Holding:
    """One repository: its leases, its pushed branches and its open pull requests.

    Attributes:
        repository: `owner/name`, as GitHub has it now.
        url: its page, to which `.git` is added for git.
        leases: its leases, by issue.
        tips: the branches that claims make (`claude/…`), by name.
        pulls: the open pull requests, newest first, with their bodies; `merge_state` is "" if it was not
            asked whom they wait for.
        is_archived: GitHub takes no writes there.
        claimed: how many open issues have an assignee.
        problem: why it could not be read; everything else is empty then.
    """

    repository: str
    url: str = ""
    default_branch: str = ""
    leases: Mapping[int, Hold] = field(default_factory=dict)
    tips: Mapping[str, Tip] = field(default_factory=dict)
    pulls: tuple[PullRequest, ...] = ()
    claimed: int = 0
    is_archived: bool = False
    problem: LifecycleError | None = None


@dataclass(frozen=True, slots=True)
class Swept:
    """One issue of the sweep.

    Attributes:
        repository: `owner/name`.
        observation: as `Forge.observe` gives it, with one difference: `by_branch` are the pull
            requests of the same repository that mention the issue, whatever their branch, newest
            first. Checks, reviews, comments and `default_branch` are not read.
        assigned_at: when somebody was last assigned (and may be unassigned by now); None if nobody ever
            was, or GitHub did not say.
        closed_by: the numbers of those pull requests that say that they close the issue.
        lacks_agent: its board has no field for an agent, so a card without a name means nothing.
        problem: why issues of this repository could not be read; then `observation` is empty.
    """

    repository: str
    observation: Observation
    assigned_at: float | None = None
    closed_by: frozenset[int] = frozenset()
    problem: LifecycleError | None = None
    lacks_agent: bool = False


class BoardTooLarge(Exception):
    """The board has more cards than are worth reading; `cards` says how many."""

    def __init__(self, cards: int) -> None:
        super().__init__(f"the board has {cards} cards")
        self.cards = cards


_LEASE = "lease "


def parse_lease(message: str) -> tuple[str, str, str, str]:
    """Agent, nonce, branch and `began` from a lease's commit message, "" for what it lacks.

    The message is `lease {"agent": …, "issue": …, "nonce": …, "branch": …}`, written when a lease is taken;
    a takeover adds `began`, when the work began that it continues.
    A ref of that name may also point to anybody's commit.
    """
    values = object_in(message.partition("\n")[0].strip().removeprefix(_LEASE))
    agent, nonce = text_in(values, "agent"), text_in(values, "nonce")
    return agent, nonce, text_in(values, "branch"), text_in(values, "began")
