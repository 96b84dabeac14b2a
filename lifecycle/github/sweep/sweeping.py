"""Read many repositories at once: 25 of them, or 100 issues or cards, in one GraphQL request.

Requests are sent one after the other, as GitHub demands.
Source:
https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#avoid-concurrent-requests

The number of issues is known before: for open ones from the repository's holding, for further pages from
the list itself. So a request combines the rest of several repositories, and cuts a list when it is full.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lifecycle.core import errors, timing
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.values.model import Observation
from lifecycle.core.values.survey import BoardTooLarge, Holding, Swept
from lifecycle.github.board.board_client import ProjectRef, project_in
from lifecycle.github.board.status_fallback import BLIND, Choice
from lifecycle.github.client.client_common import Json, part
from lifecycle.github.failures import AnswerProblem, AskedRequest
from lifecycle.github.pulls import translate
from lifecycle.github.sweep.sweep_holdings import Holdings
from lifecycle.github.sweep.sweep_nodes import Batches, is_hidden_mention, swept

if TYPE_CHECKING:
    from lifecycle.github.client.graph import GraphClient, GraphReply
    from lifecycle.github.client.rest import RestClient

AT_ONCE = 100
"""Issues, or cards, in one request."""
LOOK = 4
"""How many closed issues the first look at a repository asks for; mostly there are none."""
_LOOKS = 25
"""How many first looks at closed issues one request may also contain; they do not count as issues."""
_CARDS = ("repositoryOwner", "projectV2", "items", "nodes")
_OPEN, _CLOSED, _ONE = "survey_open_issues", "survey_closed_issues", "survey_issue"


@dataclass(frozen=True, slots=True)
class _SweepPart:
    """One document of a request.

    Attributes:
        repository: `owner/name`.
        document: the document's name.
        variables: its own, besides the repository's names.
        left: the expected number of issues from its beginning.
        taken: the number of issues before its beginning.
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
        """The document and its variables to send, for at most `size` issues."""
        owner, _, name = self.repository.partition("/")
        first = {} if self.document == _ONE else {"first": min(self.left, size)}
        return self.document, {"owner": owner, "name": name, **first, **self.variables}

    def swept(self, problem: errors.LifecycleError) -> Swept:
        """The value for issues that could not be read."""
        return Swept(self.repository, Observation(self.repository, "", None), problem=problem)


_Packed = list[tuple[_SweepPart, int]]


class GitHubSurvey(Holdings):
    """Reads many repositories' holdings, their issues, and the board's cards; fits `ports.Survey`.

    If a request is too large for GitHub, it is halved. A limit of a few seconds is waited out; a longer
    one, an outage and the deadline raise Transient, with the seconds to wait if GitHub names them.
    Everything read until then has been yielded.

    Args:
        graph: GraphQL, for nearly everything; it counts requests and points.
        rest: REST, for leases that GraphQL hides.
        choice: which board, and whether labels take the place of one that cannot be seen.
    """

    def __init__(self, graph: GraphClient, rest: RestClient, choice: Choice) -> None:
        super().__init__(graph, rest)
        self._choice = choice
        self._issues = Batches(graph.deadline, AT_ONCE)
        self._cards = Batches(graph.deadline, AT_ONCE)

    def cards(self, at_most: int | None = None) -> Iterator[Swept]:
        """Every issue on the board, without archived cards, page by page in the board's order.

        Drafts, pull requests and hidden items are left out.
        Source: https://docs.github.com/graphql/reference/objects#projectv2itemcontent

        Args:
            at_most: the most cards to read, including drafts; None for all.

        Raises:
            BoardTooLarge: there are more; one page was read, and nothing was yielded.
            NotFound, MissingScope, NoPermission, Unsupported: the board cannot be read; if labels may take
                its place, `issues_of` and `issues` read those from then on.
            ValueError: no board is configured.
        """
        board = self._choice.project
        if board is None:
            raise ValueError("no board is configured, so it has no cards")
        after: str | None = None
        while True:
            size = self._cards.size
            try:
                page = self._cards.attempt(size, partial(self._page_of_cards, board, size, after))
            except (*BLIND, errors.NotFound) as error:
                self._choice.learn(error)
                raise
            if isinstance(page, errors.Transient):
                if size == 1:
                    raise page
                continue
            self._choice.shown()
            cards, after, total = page
            if at_most is not None and total > at_most:
                raise BoardTooLarge(total)
            yield from cards
            if after is None:
                return

    def issues_of(self, holdings: Iterable[Holding], since: float) -> Iterator[Swept]:
        """The open issues that are assigned, and those that were closed and changed since then.

        Holdings with a problem are skipped. If a part of a repository could not be read, it is one value
        with its `problem`.
        """
        readable = [holding for holding in holdings if holding.problem is None]
        first: dict[str, Any] = {"after": None}
        closed = {**first, "since": timing.render_time(since)}
        claimed = [holding for holding in readable if holding.claimed]
        assigned = (_SweepPart(each.repository, _OPEN, first, each.claimed) for each in claimed)
        looks = (_SweepPart(each.repository, _CLOSED, closed, LOOK) for each in readable)
        yield from self._swept(deque(assigned), deque(looks))

    def issues(self, wanted: Iterable[tuple[str, int]]) -> Iterator[Swept]:
        """Issues by repository and number; those that GitHub does not know are left out."""
        # GraphQL's Int ends there; anybody may push a lease with a larger number.
        parts = (_SweepPart(name, _ONE, {"number": n}) for name, n in wanted if n < 2**31)
        yield from self._swept(deque(parts), deque())

    def _swept(self, waiting: deque[_SweepPart], looks: deque[_SweepPart]) -> Iterator[Swept]:
        while waiting or looks:
            batch = self._packed(waiting, looks)
            sent = [piece.sent(size) for piece, size in batch]
            count = min(sum(size for _, size in batch), self._issues.size)
            reply = self._issues.attempt(count, partial(self._seeing, sent))
            if isinstance(reply, errors.Transient) and count == 1:
                yield batch[0][0].swept(reply)
                continue
            if isinstance(reply, errors.Transient):
                waiting.extendleft(piece for piece, _ in reversed(batch) if not piece.is_look)
                looks.extendleft(piece for piece, _ in reversed(batch) if piece.is_look)
                continue
            for number, (piece, size) in enumerate(batch):
                yield from self._read(reply, number, piece)
                waiting.extend(self._more(piece, size, part(reply.data, f"p{number}.issues")))

    def _packed(self, waiting: deque[_SweepPart], looks: deque[_SweepPart]) -> _Packed:
        """The parts of the next request, and the number of issues of each."""
        room = self._issues.size
        batch: _Packed = []
        while waiting and room:
            size = min(waiting[0].left, room)
            batch.append((waiting.popleft(), size))
            room -= size
        share = self._issues.size * _LOOKS // AT_ONCE
        for _ in range(min(max(share, not batch), len(looks))):
            batch.append((looks.popleft(), min(LOOK, self._issues.size)))
        return batch

    def _seeing(self, sent: list[tuple[str, dict[str, Any]]]) -> GraphReply:
        """The answer to one request; if that does not show the board, to one more without it."""
        count = len({(own["owner"], own["name"]) for _, own in sent})
        subject = "issues of a repository" if count == 1 else f"issues of {count} repositories"
        asks_board = self._choice.asks_board()
        shared = {"items": asks_board, "labels": self._choice.uses_labels}
        try:
            reply = self._graph.execute_all(sent, shared, subject=subject)
            unseen = self._unseen(reply, len(sent)) if asks_board else None
        except errors.MissingScope as error:
            if not asks_board:
                raise
            unseen = error
        if unseen is None:
            return reply
        self._choice.learn(unseen)
        return self._seeing(sent)

    def _unseen(self, reply: GraphReply, count: int) -> errors.LifecycleError | None:
        """Why an answer of so many parts does not show the board; None if it may."""
        for problem in reply.problems:
            if problem.type == "INSUFFICIENT_SCOPES" or "projectItems" in problem.path:
                return self._choice.error_of(problem, self._graph.failures)
        shown = (node for n in range(count) for node in _issues(part(reply.data, f"p{n}")))
        return self._choice.blindness(shown)

    def _read(self, reply: GraphReply, number: int, piece: _SweepPart) -> list[Swept]:
        """The issues of one part."""
        alias = f"p{number}"
        shown = part(reply.data, alias)
        mine = (problem for problem in reply.problems if problem.path[:1] == (alias,))
        wrong = [own for own in mine if not _is_bearable(own)]
        spoilt = {own.path[3] for own in wrong if own.path[1:3] == ("issues", "nodes")}
        tasks = [
            swept(node, self._choice.item(node), self._choice.problem, self._choice.note)
            for n, node in enumerate(_issues(shown))
            if node and n not in spoilt
        ]
        if wrong:
            asked = AskedRequest(f"{'an issue of' if shown else 'repository'} {piece.repository}")
            tasks.append(piece.swept(self._graph.failures.of_problems(wrong, asked)))
        return tasks

    def _more(self, piece: _SweepPart, size: int, page: Json) -> Sequence[_SweepPart]:
        """The rest of a part, if there is any."""
        after = self._graph.next_page(page, f"issues of {piece.repository}")
        if after is None:
            return ()
        taken, total = piece.taken + size, page.get("totalCount")
        left = total - taken if isinstance(total, int) else AT_ONCE
        variables = {**piece.variables, "after": after}
        return (replace(piece, variables=variables, taken=taken, left=max(left, 1)),)

    def _page_of_cards(
        self, board: ProjectRef, size: int, after: str | None
    ) -> tuple[list[Swept], str | None, int]:
        """The next cards, the cursor after them, and the total."""
        subject = f"the cards of {board}"
        variables = {"owner": board.owner, "number": board.number, "first": size, "after": after}
        reply = self._graph.execute("survey_cards", variables, subject=subject)
        problems = tuple(problem for problem in reply.problems if not _is_bearable_card(problem))
        cleared = replace(reply, problems=problems)
        project = project_in(board, self._graph.failures, cleared, subject)
        if problems or not isinstance(part(project, "items").get("nodes"), list):
            raise self._graph.failures.of_problems(problems, AskedRequest(subject))
        items = part(project, "items")
        cards = [
            swept(part(card, "content"), translate.board_item(card), None, None)
            for card in items["nodes"]
            if card and "number" in part(card, "content") and not card.get("isArchived")
        ]
        return cards, self._graph.next_page(items, subject), int(items.get("totalCount") or 0)


def _issues(repository: Json) -> list[Json]:
    """The issues of one part; a missing one is {}."""
    if "issues" in repository:
        return [issue or {} for issue in part(repository, "issues").get("nodes") or []]
    return [part(repository, "issue")]


def _is_bearable(problem: AnswerProblem) -> bool:
    """True if the problem costs no issue: there is no such number, or a mention is hidden."""
    is_absent = problem.type == "NOT_FOUND" and problem.path[1:] == ("issue",)
    return is_absent or is_hidden_mention(problem)


def _is_bearable_card(problem: AnswerProblem) -> bool:
    """True if only a card's content, or a mention of it, is hidden: nobody can repair that here."""
    is_content = problem.path[:4] == _CARDS and problem.path[5:] == ("content",)
    return is_content or is_hidden_mention(problem)
