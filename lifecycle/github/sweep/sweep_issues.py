"""Issues of a sweep: the claimed ones of many repositories, and single ones; 100 a request.

How many there are is known before: open ones from what the repository holds, further pages from the list
itself. So a request takes what is left of several repositories, and cuts a list where it is full.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from lifecycle.core import timing
from lifecycle.core.errors import LifecycleError, MissingScope, Transient
from lifecycle.core.values.model import Observation
from lifecycle.core.values.survey import Holding, Swept
from lifecycle.github.client.batches import Batches
from lifecycle.github.client.nodes import Json, part
from lifecycle.github.failures.failures import AnswerProblem, AskedRequest
from lifecycle.github.sweep.sweep_nodes import is_hidden_mention, next_page

if TYPE_CHECKING:
    from lifecycle.github.client.graph import GraphClient, GraphReply
    from lifecycle.github.sweep.sweep_status import Sight

AT_ONCE = 100
"""Issues in one request."""
LOOK = 4
"""How many closed issues the first look at a repository asks for: mostly there are none."""
_LOOKS = 25
"""First looks at closed issues in one request, which count as nothing."""
_OPEN, _CLOSED, _ONE = "survey_open_issues", "survey_closed_issues", "survey_issue"


@dataclass(frozen=True, slots=True)
class _SweepPart:
    """One document of a request.

    Attributes:
        repository: `owner/name`.
        document: which.
        variables: its own, besides the repository's names.
        left: how many issues are thought to be there, from where it begins.
        taken: how many came before that.
    """

    repository: str
    document: str
    variables: dict[str, Any]
    left: int = 1
    taken: int = 0

    @property
    def is_look(self) -> bool:
        """True if it is the first look at a repository's closed issues."""
        return self.document == _CLOSED and self.variables.get("after") is None

    def sent(self, size: int) -> tuple[str, dict[str, Any]]:
        """What is sent of it if there is room for `size` issues."""
        owner, _, name = self.repository.partition("/")
        first = {} if self.document == _ONE else {"first": min(self.left, size)}
        return self.document, {"owner": owner, "name": name, **first, **self.variables}

    def swept(self, problem: LifecycleError) -> Swept:
        """What stands for issues that could not be read."""
        return Swept(self.repository, Observation(self.repository, "", None), problem=problem)


class IssueSweep:
    """Reads issues.

    Args:
        graph: GraphQL.
        sight: what is asked for besides the issue.
    """

    def __init__(self, graph: GraphClient, sight: Sight) -> None:
        self._graph = graph
        self._sight = sight
        self._batches = Batches(graph.deadline, AT_ONCE)

    def of(self, holdings: Iterable[Holding], since: float) -> Iterator[Swept]:
        """The open ones that are assigned, and those that were closed and changed since then."""
        readable = [one for one in holdings if one.problem is None]
        first: dict[str, Any] = {"after": None}
        closed = {**first, "since": timing.render_time(since)}
        yield from self._all(
            deque(
                _SweepPart(one.repository, _OPEN, first, one.claimed)
                for one in readable
                if one.claimed
            ),
            deque(_SweepPart(one.repository, _CLOSED, closed, LOOK) for one in readable),
        )

    def named(self, wanted: Iterable[tuple[str, int]]) -> Iterator[Swept]:
        """These issues; those that GitHub does not know are left out."""
        parts = (_SweepPart(name, _ONE, {"number": number}) for name, number in wanted)
        yield from self._all(deque(parts), deque())

    def _all(self, waiting: deque[_SweepPart], looks: deque[_SweepPart]) -> Iterator[Swept]:
        while waiting or looks:
            batch, sizes = self._packed(waiting, looks)
            sent = [one.sent(size) for one, size in zip(batch, sizes, strict=True)]
            count = min(sum(sizes), self._batches.size)
            reply = self._batches.attempt(count, partial(self._asked, sent))
            if isinstance(reply, Transient) and count == 1:
                yield batch[0].swept(reply)
                continue
            if isinstance(reply, Transient):
                waiting.extendleft(one for one in reversed(batch) if not one.is_look)
                looks.extendleft(one for one in reversed(batch) if one.is_look)
                continue
            for number, (one, size) in enumerate(zip(batch, sizes, strict=True)):
                found, more = self._read(reply, number, one, size)
                yield from found
                waiting.extend([more] if more is not None else [])

    def _packed(
        self, waiting: deque[_SweepPart], looks: deque[_SweepPart]
    ) -> tuple[list[_SweepPart], list[int]]:
        """What the next request asks for, and how many issues of each."""
        room = self._batches.size
        batch: list[_SweepPart] = []
        sizes: list[int] = []
        while waiting and room:
            batch.append(waiting.popleft())
            sizes.append(min(batch[-1].left, room))
            room -= sizes[-1]
        share = self._batches.size * _LOOKS // AT_ONCE
        for _ in range(min(max(share, not batch), len(looks))):
            batch.append(looks.popleft())
            sizes.append(min(LOOK, self._batches.size))
        return batch, sizes

    def _asked(self, sent: list[tuple[str, dict[str, Any]]]) -> GraphReply:
        """One request; one more if it shows that the board cannot be seen."""
        found = self._look(sent)
        if isinstance(found, LifecycleError):
            self._sight.learn(found)
            found = self._look(sent)
        if isinstance(found, LifecycleError):
            raise found
        return found

    def _look(self, sent: list[tuple[str, dict[str, Any]]]) -> GraphReply | LifecycleError:
        """What one request shows, or why it does not show the board."""
        count = len({(own["owner"], own["name"]) for _, own in sent})
        subject = "issues of a repository" if count == 1 else f"issues of {count} repositories"
        asks_board = self._sight.asks_items
        try:
            reply = self._graph.execute_all(sent, self._sight.variables, subject=subject)
        except MissingScope as error:
            if not asks_board:
                raise
            return error
        if not asks_board:
            return reply
        error_of_board = self._sight.error_of(reply.problems, self._graph.failures)
        shown = [node for n in range(len(sent)) for node in _issues(part(reply.data, f"p{n}"))]
        return error_of_board or self._sight.blindness(shown) or reply

    def _read(
        self, reply: GraphReply, number: int, one: _SweepPart, size: int
    ) -> tuple[list[Swept], _SweepPart | None]:
        """The issues of one part, and what is left of it."""
        alias = f"p{number}"
        shown = part(reply.data, alias)
        wrong = [
            own for own in reply.problems if own.path[:1] == (alias,) and not _is_bearable(own)
        ]
        spoilt = {own.path[3] for own in wrong if own.path[1:3] == ("issues", "nodes")}
        found = [
            self._sight.swept(node)
            for n, node in enumerate(_issues(shown))
            if node and n not in spoilt
        ]
        if wrong:
            asked = AskedRequest(
                f"an issue of {one.repository}" if shown else f"repository {one.repository}"
            )
            found.append(one.swept(self._graph.failures.of_problems(wrong, asked)))
        return found, self._more(one, size, part(shown, "issues"))

    def _more(self, one: _SweepPart, size: int, page: Json) -> _SweepPart | None:
        after = next_page(page, self._graph.failures, f"issues of {one.repository}")
        if after is None:
            return None
        taken, total = one.taken + size, page.get("totalCount")
        left = total - taken if isinstance(total, int) else AT_ONCE
        variables = {**one.variables, "after": after}
        return replace(one, variables=variables, taken=taken, left=max(left, 1))


def _issues(repository: Json) -> list[Json]:
    """The issues of one part, a hole as {}."""
    if "issues" in repository:
        return [one or {} for one in part(repository, "issues").get("nodes") or []]
    return [part(repository, "issue")]


def _is_bearable(problem: AnswerProblem) -> bool:
    """True if the problem costs no issue: there is none of that number, or a mention is hidden."""
    is_absent = problem.type == "NOT_FOUND" and problem.path[1:] == ("issue",)
    return is_absent or is_hidden_mention(problem)
