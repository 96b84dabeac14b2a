"""Any number of tasks as a sweep shows them, made while they are read: what is kept of them is the run's.

Pages are as the adapter's: 25 repositories or 100 cards are there at once, and gone with the next ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha1

from lifecycle.core.values.model import (
    BoardItem,
    Hold,
    Issue,
    Observation,
    PullRequest,
    PullState,
    Repository,
)
from lifecycle.core.values.survey import Holding, Swept, Tip
from tests.conftest import ManualClock

OWNER = "octo-org"
DAY = 86_400.0
NOW = ManualClock().now()
EACH = 20
"""Tasks of a repository."""
TEXT = "What was done, and why it was done in this way.\n" * 80
"""Of a pull request."""


@dataclass(frozen=True)
class Stream:
    """Fits `ports.Survey`. Of four tasks one has a pull request, two more a branch; all are in step."""

    tasks: int

    def holdings_of(self, owner: str, waits: int = 0) -> Iterator[Holding]:
        """All repositories, 25 at once."""
        del owner, waits
        for first in range(0, self.tasks // EACH, 25):
            last = min(first + 25, self.tasks // EACH)
            yield from [_holding(f"{OWNER}/service-{n}") for n in range(first, last)]

    def repositories_of(self, owner: str) -> Iterator[Repository]:
        """Nothing: nobody shares the work here."""
        del owner
        return iter(())

    def holdings(self, repositories: Sequence[Repository], waits: int = 0) -> Iterator[Holding]:
        """These repositories."""
        del waits
        return iter([_holding(str(one)) for one in repositories])

    def cards(self, at_most: int | None = None) -> Iterator[Swept]:
        """All tasks, 100 at once; each repository's are all over the board."""
        del at_most
        count = max(self.tasks // EACH, 1)
        for first in range(0, self.tasks, 100):
            places = (divmod(n, count) for n in range(first, min(first + 100, self.tasks)))
            yield from [_swept(f"{OWNER}/service-{repo}", number + 1) for number, repo in places]

    def issues_of(self, holdings: Iterable[Holding], since: float) -> Iterator[Swept]:
        """Nothing: the board has all."""
        del holdings, since
        return iter(())

    def issues(self, wanted: Iterable[tuple[str, int]]) -> Iterator[Swept]:
        """Nothing, since nothing is left to ask for."""
        assert not list(wanted)
        return iter(())


def _sha(*words: object) -> str:
    return sha1(repr(words).encode(), usedforsecurity=False).hexdigest()


def _branch(number: int) -> str:
    return f"claude/task-{number}"


def _holding(repository: str) -> Holding:
    numbers = range(1, EACH + 1)
    return Holding(
        repository,
        f"https://github.com/{repository}",
        "main",
        {n: _hold(repository, n) for n in numbers},
        {_branch(n): _tip(repository, n) for n in numbers if n % 4},
        tuple(_pull(repository, n) for n in numbers if n % 4 == 1),
        EACH,
    )


def _hold(repository: str, number: int) -> Hold:
    since = NOW - 3 * DAY + number
    return Hold(number, _sha(repository, number), f"octocat-{17}", since, _branch(number))


def _tip(repository: str, number: int) -> Tip:
    return Tip(_branch(number), _sha(repository, number, "tip"), NOW - DAY + number)


def _pull(repository: str, number: int) -> PullRequest:
    return PullRequest(
        EACH + number,
        f"https://github.com/{repository}/pull/{EACH + number}",
        f"Task {number}",
        PullState.OPEN,
        _branch(number),
        OWNER,
        _sha(repository, number, "tip"),
        "main",
        f"{number} {TEXT}\nRefs #{number}",
        opened_at=NOW - DAY + number,
        updated_at=NOW - DAY + number,
    )


def _swept(repository: str, number: int) -> Swept:
    pulls = (_pull(repository, number),) if number % 4 == 1 else ()
    status = "In Review" if pulls else "In Progress"
    observation = Observation(
        repository,
        "",
        Issue(number, f"I_{number}", f"Task {number}", "", True, assignees=("octocat",)),
        by_branch=pulls,
        item=BoardItem(f"PVTI_{number}", status, f"octocat-{17}", status_at=NOW - DAY),
    )
    return Swept(repository, observation, NOW - 3 * DAY)
