"""Read the repositories of a sweep: their leases, branches and open pull requests; 25 a request.

Lists of more than a hundred are continued, those of several repositories in one request.
Source: https://docs.github.com/graphql/guides/using-pagination-in-the-graphql-api

Whom pull requests wait for is requested at the same time, by a separate part for each repository: if a part
of it is missing, or the server does not know one of its fields, nothing else is lost. Three lists for each
of a hundred pull requests cost three points, however few there are, so not all of many repositories are
asked. Source: https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from lifecycle.core.errors import NotFound, Rejected, Transient, Unsupported
from lifecycle.core.timing import reading
from lifecycle.core.values.model import Repository
from lifecycle.core.values.survey import LEASES, Holding
from lifecycle.github.client.client_common import Json, nodes, part
from lifecycle.github.client.rest import Calls
from lifecycle.github.failures import AnswerProblem, AskedRequest, sentence
from lifecycle.github.sweep.sweep_nodes import LISTS, Batches, SweptRepository

if TYPE_CHECKING:
    from lifecycle.github.client.graph import GraphClient, GraphReply
    from lifecycle.github.client.rest import RestClient

_COMMITS_AT_ONCE = 100
_Ref = tuple[str, str]
"""A ref's full name, and the object that it points to."""


class HiddenLeases:
    """Knows whether GraphQL hides leases, and reads them over REST if it does.

    Whether `Repository.refs` shows a separate namespace is not documented; REST lists everything below a
    prefix. So if GraphQL shows no lease at all although tasks are claimed, REST is asked once.
    Source: https://docs.github.com/rest/git/refs#list-matching-references

    Args:
        graph: for the commits, by their sha.
        rest: for the refs.
    """

    def __init__(self, graph: GraphClient, rest: RestClient) -> None:
        self._graph = graph
        self._rest = rest
        self._commits = Batches(graph.deadline, _COMMITS_AT_ONCE)
        self._are_hidden = self._is_settled = False

    def begin(self) -> None:
        """Begin another sweep: REST may be asked once more."""
        self._is_settled = self._are_hidden

    def unhide(self, repositories: Sequence[SweptRepository]) -> None:
        """Add to repositories the leases that GraphQL did not show, if it hides them.

        One request the first time that a task is claimed somewhere and no lease was shown; if leases are
        hidden, one more for each repository from then on, and one for each hundred commits.
        """
        if any(repository.lists["leases"] for repository in repositories):
            self._is_settled = True  # they are shown
        suspect = next((repository for repository in repositories if repository.claimed), None)
        if not self._is_settled and suspect is not None:
            self._is_settled = True
            with suppress(Rejected):  # a token that may not list them shows nothing about GraphQL
                self._are_hidden = bool(self._refs(suspect))
        if self._are_hidden:
            self._read(repositories)

    def _read(self, repositories: Sequence[SweptRepository]) -> None:
        waiting: deque[tuple[SweptRepository, _Ref]] = deque()
        for repository in repositories:
            try:
                waiting.extend((repository, ref) for ref in self._refs(repository))
            except (Rejected, Transient) as error:
                if isinstance(error, Transient) and error.retry_after is not None:
                    raise
                repository.problem = error
        for batch, reply in self._commits.through(waiting, self._asked_commits):
            if isinstance(reply, Transient):
                batch[0][0].problem = reply
                continue
            for number, (repository, (name, sha)) in enumerate(batch):
                commit = part(part(reply.data, f"p{number}"), "object")
                target = {"oid": sha, **commit}  # nothing is noted about hidden commits
                repository.lists["leases"].append({"name": name, "target": target})

    def _refs(self, repository: SweptRepository) -> list[_Ref]:
        """The lease refs of a repository, over REST; empty if none was ever pushed."""
        if not part(repository.node, "defaultBranchRef"):
            return []
        calls = Calls(self._rest, Repository(**repository.variables))
        path = f"git/matching-refs/{LEASES.removeprefix('refs/').rstrip('/')}"
        names = calls.values(path, "the leases", lambda ref: (ref["ref"], ref["object"]["sha"]))
        return [(name, sha) for name, sha in names if name.startswith(LEASES)]

    def _asked_commits(self, batch: Sequence[tuple[SweptRepository, _Ref]]) -> GraphReply:
        named = [{**repository.variables, "oid": sha} for repository, (_, sha) in batch]
        parts = [("survey_commit", variables) for variables in named]
        return self._graph.execute_all(parts, subject=f"{len(batch)} leases")


AT_ONCE = 25
"""Repositories, or pages of their lists, in one request."""
NAMES_AT_ONCE = 100
_NAMES, _WAITS = "survey_owner_names", "survey_waits"
OWNER, OWNER_WAITS = "survey_owner", "survey_owner_waits"
_DOCUMENTS = {"leases": "survey_leases", "tips": "survey_tips", "pulls": "survey_pulls"}
"""Each list of a repository, and the document that continues it."""
_Page = tuple[SweptRepository, str, str]
"""A page to read: its repository, its list, and its cursor."""
_Problems = Sequence[AnswerProblem]


class Holdings:
    """Reads repositories' holdings.

    Args:
        graph: GraphQL.
        rest: asked for leases that GraphQL hides.
    """

    def __init__(self, graph: GraphClient, rest: RestClient) -> None:
        self._graph = graph
        self._batches = Batches(graph.deadline, AT_ONCE)
        self._pages = Batches(graph.deadline, AT_ONCE)
        self._hidden = HiddenLeases(graph, rest)
        self._waits = 0

    def holdings(self, repositories: Sequence[Repository], waits: int = 0) -> Iterator[Holding]:
        """Each repository's holding, in their order; one that cannot be read has its `problem`.

        For about the first `waits`, the same requests also show whom pull requests wait for.
        """
        self._hidden.begin()
        self._waits = waits
        waiting = deque(repositories)
        for batch, reply in self._batches.through(waiting, self._asked_repositories):
            if not isinstance(reply, Transient):
                swept = [self._in(reply, n, str(repository)) for n, repository in enumerate(batch)]
                _note_waits(reply, swept, len(batch))
                self._waits -= len(batch)
                yield from self._whole(swept)
            elif self._waits > 0:
                self._ask_less()
                waiting.extendleft(batch)
            else:
                yield Holding(str(batch[0]), problem=reply)

    def holdings_of(self, owner: str, waits: int = 0) -> Iterator[Holding]:
        """The holding of each repository of a user or organisation, without archived ones and forks.

        For about the first `waits`, the same requests also show whom pull requests wait for.

        Source: https://docs.github.com/graphql/reference/interfaces#repositoryowner

        Raises:
            NotFound: GitHub shows no such owner.
        """
        self._hidden.begin()
        self._waits = waits
        after: str | None = None
        while True:
            size = self._batches.size
            repositories: list[SweptRepository]
            page = self._batches.attempt(size, partial(self._page_of, owner, size, after))
            if not isinstance(page, Transient):
                repositories, after = page
                self._waits -= size
            elif size > 1:
                continue
            elif self._waits > 0:
                self._ask_less()
                continue
            else:
                named, after = self._page_of(owner, 1, after, _NAMES)
                repositories = [SweptRepository(each.name, problem=page) for each in named]
            yield from self._whole(repositories)
            if after is None:
                return

    def repositories_of(self, owner: str) -> Iterator[Repository]:
        """The names of the repositories that `holdings_of` reads, a hundred in one request.

        Raises:
            NotFound: GitHub shows no such owner.
        """
        after: str | None = None
        while True:
            ask = partial(self._page_of, owner, NAMES_AT_ONCE, after, _NAMES)
            repositories, after = reading(self._graph.deadline, ask)
            yield from (Repository(**each.variables) for each in repositories if "/" in each.name)
            if after is None:
                return

    def _page_of(
        self, owner: str, size: int, after: str | None, name: str = OWNER
    ) -> tuple[list[SweptRepository], str | None]:
        """The next repositories of an owner, and the cursor after them."""
        subject = f"the repositories of {owner}"
        variables = {"owner": owner, "first": size, "after": after}
        added = (OWNER_WAITS,) if name == OWNER and self._waits > 0 else ()
        reply = self._graph.execute(name, variables, subject=subject, added=added)
        where = ("repositoryOwner", "repositories", "nodes")
        outside = [problem for problem in reply.problems if problem.path[:3] != where]
        if outside and outside[0].type != "NOT_FOUND":
            raise self._graph.failures.of_problem(outside[0], AskedRequest(subject))
        if not reply.data.get("repositoryOwner"):
            raise NotFound(sentence("no-owner", owner=owner))
        connection = part(reply.data, "repositoryOwner.repositories")
        entries = connection.get("nodes")
        if not isinstance(entries, list):
            raise self._graph.failures.of_problems(reply.problems, AskedRequest(subject))
        repositories = []
        for number, node in enumerate(entries):
            whose = str((node or {}).get("nameWithOwner") or owner)
            own = [problem for problem in reply.problems if problem.path[:4] == (*where, number)]
            mine = [problem for problem in own if "waits" not in problem.path]
            repositories.append(self._found(whose, node, mine))
            repositories[-1].waits = _waits_of(node, own) if "waits" in (node or {}) else None
        return repositories, self._graph.next_page(connection, f"repository {owner}")

    def _in(self, reply: GraphReply, number: int, name: str) -> SweptRepository:
        """The repository in part N of an answer."""
        alias = f"p{number}"
        mine = [problem for problem in reply.problems if problem.path[:1] in ((alias,), ())]
        return self._found(name, reply.data.get(alias), mine)

    def _found(self, name: str, node: Json | None, problems: _Problems) -> SweptRepository:
        if node and not problems:
            whose = str(node.get("nameWithOwner") or name)
            return SweptRepository(whose, node, {key: nodes(node, key) for key in LISTS})
        absent = [problem for problem in problems if problem.type == "NOT_FOUND" and not node]
        if absent:
            unseen = NotFound(sentence("no-swept", name=name), evidence=absent[0].message)
            return SweptRepository(name, problem=unseen)
        asked = AskedRequest(f"repository {name}")
        return SweptRepository(name, problem=self._graph.failures.of_problems(problems, asked))

    def _whole(self, repositories: Sequence[SweptRepository]) -> Iterator[Holding]:
        """The repositories' holdings, with all pages of their lists."""
        waiting = deque[_Page]()
        for repository, key in product(repositories, LISTS):
            waiting += self._next(repository, key, repository.node)
        for batch, reply in self._pages.through(waiting, self._asked_pages):
            waiting.extendleft(reversed(self._continued(batch, reply)))
        readable = [repository for repository in repositories if repository.problem is None]
        self._hidden.unhide(readable)
        yield from (repository.holding() for repository in repositories)

    def _asked_repositories(self, batch: Sequence[Repository]) -> GraphReply:
        named = [repository.variables for repository in batch]
        parts = [("survey_holding", variables) for variables in named]
        also = [{**variables, "after": None} for variables in named] if self._waits > 0 else []
        return self._asked(parts, also, str(batch[0]))

    def _asked_pages(self, batch: Sequence[_Page]) -> GraphReply:
        parts = [(_DOCUMENTS[key], {**its.variables, "after": at}) for its, key, at in batch]
        waits = [{**page[0].variables, "after": page[2]} for page in batch if _shows_waits(page)]
        return self._asked(parts, waits, batch[0][0].name)

    def _continued(self, batch: Sequence[_Page], reply: GraphReply | Transient) -> Sequence[_Page]:
        """Keep these pages; return the pages after them, or one that has to be requested again."""
        if isinstance(reply, Transient):
            repository = batch[0][0]
            if _shows_waits(batch[0]):
                self._ask_less()
                repository.waits = None
                return batch
            repository.problem = reply
            return []
        _note_waits(reply, [page[0] for page in batch if _shows_waits(page)], len(batch))
        next_pages: list[_Page] = []
        for number, (repository, key, _) in enumerate(batch):
            page = self._in(reply, number, repository.name)
            repository.problem = repository.problem or page.problem
            repository.lists[key] += page.lists.get(key, [])
            next_pages += self._next(repository, key, page.node)
        return next_pages

    def _ask_less(self) -> None:
        """After a request for one repository that was too large, leave out all later `waits`."""
        self._waits = 0
        self._batches.forgive()
        self._pages.forgive()

    def _asked(
        self, parts: Sequence[tuple[str, Any]], waits: Sequence[dict[str, Any]], first: str
    ) -> GraphReply:
        """Send one request; if the server does not know `waits`, send another one without them.

        After that, none are requested any more.
        """
        count = len(parts)
        several = f"{count} repositories, {first} and others"
        subject = f"repository {first}" if count == 1 else several
        all_parts = [*parts, *((_WAITS, own) for own in waits)]
        try:
            return self._graph.execute_all(all_parts, subject=subject)
        except Unsupported:
            if not waits:
                raise
        self._waits = 0
        return self._graph.execute_all(parts, subject=subject)

    def _next(self, repository: SweptRepository, key: str, node: Json) -> list[_Page]:
        """The page of a list that follows what was shown of the repository, if there is one."""
        after = self._graph.next_page(part(node, key), f"repository {repository.name}")
        return [(repository, key, after)] if after is not None else []


def _shows_waits(page: _Page) -> bool:
    """True if this page also requests whom pull requests wait for."""
    repository, key, _ = page
    return key == "pulls" and repository.waits is not None


def _note_waits(reply: GraphReply, repositories: Sequence[SweptRepository], first: int) -> None:
    """Keep whom pull requests wait for, from the parts from `first` on; a missing part shows none."""
    for number, repository in enumerate(repositories, first):
        if f"p{number}" in reply.data:
            mine = [own for own in reply.problems if own.path[:1] == (f"p{number}",)]
            shown = _waits_of(part(reply.data, f"p{number}"), mine)
            repository.waits = [*(repository.waits or ()), *shown]


def _waits_of(node: Json | None, problems: _Problems) -> list[Json]:
    """A repository's pull requests that were shown completely: a hidden part does not count as empty.

    Of the base's rules, only the names come from a part that may be hidden.
    """
    whole = [problem.path for problem in problems if "waits" in problem.path]
    paths = [path[path.index("waits") :] for path in whole]
    spoilt = {path[2] for path in paths if len(path) > 2 and "baseRef" not in path}
    shown = part(node or {}, "waits").get("nodes") or []
    return [pull for number, pull in enumerate(shown) if pull and number not in spoilt]
