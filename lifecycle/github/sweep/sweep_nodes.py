"""Shared by the parts of a sweep: documents as values, and the size of requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from lifecycle.core import timing
from lifecycle.core.errors import LifecycleError, Transient
from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.core.values.model import BoardItem, Hold, Observation
from lifecycle.core.values.survey import LEASES, Holding, Swept, Tip
from lifecycle.github.client.client_common import Json, nodes, number, part, text, texts
from lifecycle.github.pulls import translate

if TYPE_CHECKING:
    from lifecycle.github.failures import AnswerProblem

LISTS = ("leases", "tips", "pulls")
"""The aliases of a repository's lists in the fragment Holding."""
_HEADS = "refs/heads/"


@dataclass(slots=True)
class SweptRepository:
    """A repository while it is read.

    Attributes:
        name: `owner/name`.
        node: the object of the fragment Holding.
        lists: the entries of its lists, by alias, from all pages read so far.
        problem: why it could not be read.
        waits: the open pull requests with whom they wait for; None if that was not requested.
    """

    name: str
    node: Json = field(default_factory=dict)
    lists: dict[str, list[Json]] = field(default_factory=dict)
    problem: LifecycleError | None = None
    waits: list[Json] | None = None

    @property
    def variables(self) -> dict[str, Any]:
        """The variables that name it in a document."""
        owner, _, name = self.name.partition("/")
        return {"owner": owner, "name": name}

    @property
    def claimed(self) -> int:
        """How many open issues have an assignee."""
        return number(part(self.node, "claimed").get("totalCount")) or 0

    def holding(self) -> Holding:
        """The repository as a value; only its problem if it has one."""
        if self.problem is not None:
            return Holding(self.name, problem=self.problem)
        waits = {pull.get("number"): pull for pull in self.waits or ()}
        pulls = ({**pull, **waits.get(pull.get("number"), {})} for pull in self.lists["pulls"])
        return Holding(
            repository=self.name,
            **texts(self.node, url="url", default_branch="defaultBranchRef.name"),
            is_archived=bool(self.node.get("isArchived")),
            leases=holds(self.lists["leases"]),
            tips=tips(self.lists["tips"]),
            pulls=tuple(map(translate.pull_request, pulls)),
            claimed=self.claimed,
        )


def is_hidden_mention(problem: AnswerProblem) -> bool:
    """True if one mention of an issue is not shown, but the issue itself is.

    If a field may not be null, a null also removes its parent: here the entry of the list.
    Source: https://spec.graphql.org/October2021/#sec-Handling-Field-Errors
    """
    path = problem.path
    return "mentions" in path and path[path.index("mentions") + 1 :][:1] == ("nodes",)


def holds(refs: Iterable[Json]) -> dict[int, Hold]:
    """The leases of a page, by issue; refs that belong to no issue are left out."""
    by_issue: dict[int, Hold] = {}
    for ref in refs:
        name = full_name(ref)
        number = name.removeprefix(LEASES)
        if name.startswith(LEASES) and number.isdecimal() and number.isascii():
            by_issue[int(number)] = translate.hold(int(number), part(ref, "target"))
    return by_issue


def tips(refs: Iterable[Json]) -> dict[str, Tip]:
    """The branches of a page, by name."""
    by_branch: dict[str, Tip] = {}
    for ref in refs:
        branch, commit = full_name(ref).removeprefix(_HEADS), part(ref, "target")
        at = timing.parse_time(commit.get("committedDate"))
        by_branch[branch] = Tip(branch, text(commit, "oid"), at)
    return by_branch


def full_name(ref: Json) -> str:
    """A ref's full name: GitHub gives its namespace (`refs/heads/`) and the rest separately.

    Source: https://docs.github.com/graphql/reference/objects#ref
    """
    name = text(ref, "name")
    return name if name.startswith("refs/") else f"{text(ref, 'prefix')}{name}"


def swept(node: Json, item: BoardItem | None, problem: str | None, note: str | None) -> Swept:
    """An issue of a sweep, with its item on the board and a problem or note about that."""
    repository = text(node, "repository.nameWithOwner")
    issue = translate.issue(node)
    near = [event for event in nodes(node, "mentions") if not event.get("isCrossRepository", True)]
    mentions = [event for event in near if part(event, "source")]  # an issue that mentions it is {}
    pulls = {int(event["source"]["number"]): event["source"] for event in mentions}
    shown = tuple([translate.pull_request(pulls[n]) for n in sorted(pulls, reverse=True)])
    observation = Observation(
        repository, "", issue, by_branch=shown, item=item, board_problem=problem, board_note=note
    )
    closing = [event["source"] for event in mentions if event.get("willCloseTarget")]
    closed_by = frozenset([int(pull["number"]) for pull in closing])
    return Swept(repository, observation, translate.newest(node, "assigned"), closed_by)


T = TypeVar("T")
W = TypeVar("W")

LONGEST_WAIT = 10.0
"""The longest limit in seconds that is waited out; a longer one ends the sweep."""
_WAITS = 3
_GROWS_AFTER = 4
_ALONE = 2
"""After this many things in a row that cannot be read even alone, it is an outage."""
_NOTHING_LEFT = 0.05


class Batches:
    """The size of the next request: halved if GitHub does not manage it, and slowly increased again.

    GitHub ends a request after ten seconds and leaves out the slowest parts; the possible size depends on
    the repositories and on the hour, so it is found by trial. Sources:
    https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api and
    https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api#timeouts

    Args:
        deadline: the time by which all has to be over; its clock does the waiting.
        most: the size to begin with, and the maximum.

    Attributes:
        size: how many things the next request should ask for.
    """

    def __init__(self, deadline: timing.Deadline, most: int) -> None:
        self.size = self.most = most
        self._deadline = deadline
        self._good = 0
        self._failed_alone = 0

    def attempt(self, count: int, ask: Callable[[], T]) -> T | Transient:
        """The result of `ask`, or why GitHub did not manage it: then `size` is smaller than `count`.

        The same size is not tried twice, except a single thing, which is tried up to three times; then the
        result is why it cannot be read.

        Args:
            count: the number of things in the request.
            ask: sends one request.

        Raises:
            Transient: a limit that lasts longer than a few seconds, the deadline, or an outage: several
                things in a row could not be read alone.
            Rejected: as `ask` raises it.
        """
        try:
            alone = partial(timing.reading, self._deadline, ask, LONGEST_WAIT)
            reply = self._patiently(ask) if count > 1 else alone()
        except Transient as error:
            self._failed_alone += count == 1
            is_outage = self._failed_alone >= _ALONE or self._deadline.left <= _NOTHING_LEFT
            if is_outage or error.retry_after is not None:
                raise
            self._good = 0
            self.size = max(min(count, self.size) // 2, 1)
            return error
        self._failed_alone = 0
        self._good += 1
        if self._good >= _GROWS_AFTER:
            self.size = min(self.size + max(self.size // 4, 1), self.most)
            self._good = 0
        return reply

    def through(
        self, waiting: deque[W], ask: Callable[[list[W]], T]
    ) -> Iterator[tuple[list[W], T | Transient]]:
        """Request everything in `waiting`, batch by batch; a batch that was too large is split.

        Args:
            waiting: the things to request; more may be added during the iteration.
            ask: sends one request for a batch.

        Yields:
            each batch with its answer; for one thing that cannot be read even alone, the reason.

        Raises:
            Transient, Rejected: as `attempt`.
        """
        while waiting:
            batch = [waiting.popleft() for _ in range(min(self.size, len(waiting)))]
            reply = self.attempt(len(batch), partial(ask, batch))
            if isinstance(reply, Transient) and len(batch) > 1:
                waiting.extendleft(reversed(batch))
            else:
                yield batch, reply

    def forgive(self) -> None:
        """Do not count things that could not be read alone: a request with less data may work."""
        self._failed_alone = 0

    def _patiently(self, ask: Callable[[], T]) -> T:
        """Ask, and wait out a short limit."""
        for _ in range(_WAITS):
            try:
                return ask()
            except Transient as error:
                wait = error.retry_after
                if wait is None or wait > LONGEST_WAIT or wait >= self._deadline.left:
                    raise
                self._deadline.clock.sleep(wait)
        return ask()
