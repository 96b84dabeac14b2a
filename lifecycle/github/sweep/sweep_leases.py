"""Leases that GraphQL may hide: refs outside of branches and tags, read over REST in that case.

Whether `Repository.refs` shows a namespace of one's own is documented nowhere; REST lists whatever is below
a prefix. So where GraphQL shows no lease at all although tasks are claimed, REST is asked once.
Source: https://docs.github.com/rest/git/refs#list-matching-references
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lifecycle.core.errors import Rejected, Transient
from lifecycle.github.client.batches import Batches
from lifecycle.github.client.nodes import part
from lifecycle.github.client.rest import PAGE
from lifecycle.github.client.rest_paths import following
from lifecycle.github.failures.failures import AskedRequest
from lifecycle.github.sweep.sweep_nodes import LEASES, SweptRepository

if TYPE_CHECKING:
    from lifecycle.github.client.graph import GraphClient
    from lifecycle.github.client.rest import RestClient

_COMMITS_AT_ONCE = 100
_Ref = tuple[str, str]
"""A ref's whole name, and the object that it points to."""


class HiddenLeases:
    """Knows whether GraphQL hides leases, and reads them over REST if it does.

    Args:
        graph: for the commits, which it shows by their sha.
        rest: for the refs.
    """

    def __init__(self, graph: GraphClient, rest: RestClient) -> None:
        self._graph = graph
        self._rest = rest
        self._calls = Batches(graph.deadline, 1)
        self._commits = Batches(graph.deadline, _COMMITS_AT_ONCE)
        self._are_hidden = False
        self._is_settled = False

    def begin(self) -> None:
        """Another sweep: REST may be asked once more."""
        self._is_settled = self._are_hidden

    def unhide(self, found: Sequence[SweptRepository]) -> None:
        """Give repositories the leases that GraphQL did not show, if it hides them.

        One request the first time that a task is claimed somewhere and no lease was shown; if leases
        are hidden, one for each repository from then on, and one for each hundred commits.
        """
        if any(one.lists["leases"] for one in found):
            self._is_settled = True  # they are shown
        suspect = next((one for one in found if one.claimed), None)
        if not self._is_settled and suspect is not None:
            self._is_settled = True
            self._are_hidden = self._has_any(suspect)
        if self._are_hidden:
            self._read(found)

    def _has_any(self, suspect: SweptRepository) -> bool:
        try:
            return bool(self._refs(suspect))
        except Rejected:
            return False  # what the token may not list is no word against GraphQL

    def _read(self, found: Sequence[SweptRepository]) -> None:
        waiting: deque[tuple[SweptRepository, _Ref]] = deque()
        for one in found:
            try:
                waiting.extend((one, ref) for ref in self._refs(one))
            except (Rejected, Transient) as error:
                if isinstance(error, Transient) and error.retry_after is not None:
                    raise
                one.problem = error
        while waiting:
            batch = [waiting.popleft() for _ in range(min(self._commits.size, len(waiting)))]
            if not self._read_commits(batch):
                waiting.extendleft(reversed(batch))

    def _refs(self, one: SweptRepository) -> list[_Ref]:
        """The lease refs of a repository, over REST; none if nothing was ever pushed there."""
        if not part(one.node, "defaultBranchRef"):
            return []
        asked = AskedRequest(f"the leases of {one.name}")
        path = f"/repos/{one.name}/git/matching-refs/{LEASES.removeprefix('refs/').rstrip('/')}"
        found: list[_Ref] = []
        query: dict[str, Any] | None = {"per_page": PAGE}
        while query is not None:
            ask = partial(self._rest.exchange, asked, "GET", path, query=query)
            answer = self._calls.attempt(1, ask)
            if isinstance(answer, Transient):
                raise answer
            headers, refs = answer
            try:
                found += [(str(ref["ref"]), str(ref["object"]["sha"])) for ref in refs]
            except (KeyError, TypeError):
                raise self._rest.nonsense(asked) from None
            query = following(headers, query)
        return [ref for ref in found if ref[0].startswith(LEASES)]

    def _read_commits(self, batch: Sequence[tuple[SweptRepository, _Ref]]) -> bool:
        """Note what the leases' commits say, nothing where GitHub does not; False if it was too much."""
        parts: list[tuple[str, dict[str, Any]]] = [
            ("survey_commit", {**one.variables, "oid": sha}) for one, (_, sha) in batch
        ]
        ask = partial(self._graph.execute_all, parts, subject=f"{len(batch)} leases")
        reply = self._commits.attempt(len(batch), ask)
        if isinstance(reply, Transient):
            if len(batch) == 1:
                batch[0][0].problem = reply
            return len(batch) == 1
        for number, (one, (name, sha)) in enumerate(batch):
            commit = part(part(reply.data, f"p{number}"), "object")
            one.lists["leases"].append({"name": name, "target": {"oid": sha, **commit}})
        return True
