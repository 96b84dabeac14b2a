"""What a sweep's documents show, as values: pure functions, no client in sight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lifecycle.core import timing
from lifecycle.core.errors import LifecycleError
from lifecycle.core.values.lease_message import parse_lease
from lifecycle.core.values.model import BoardItem, Observation
from lifecycle.core.values.survey import Hold, Holding, Swept, Tip
from lifecycle.github.client.nodes import Json, nodes, part, text
from lifecycle.github.failures.failures import AnswerProblem, AskedRequest
from lifecycle.github.pulls import translate

if TYPE_CHECKING:
    from lifecycle.github.failures.failures import Failures

LISTS = ("leases", "tips", "pulls")
"""The aliases of a repository's lists in the fragment Holding."""
LEASES = "refs/agent-claims/"
_HEADS = "refs/heads/"


@dataclass(slots=True)
class SweptRepository:
    """A repository while it is read.

    Attributes:
        name: `owner/name`.
        node: as the fragment Holding shows it.
        lists: the entries of its lists, by alias, of all pages that were read.
        problem: why it could not be read.
    """

    name: str
    node: Json = field(default_factory=dict)
    lists: dict[str, list[Json]] = field(default_factory=dict)
    problem: LifecycleError | None = None

    @property
    def variables(self) -> dict[str, Any]:
        """What names it in a document."""
        owner, _, name = self.name.partition("/")
        return {"owner": owner, "name": name}

    @property
    def claimed(self) -> int:
        """How many open issues have an assignee."""
        count = part(self.node, "claimed").get("totalCount")
        return count if isinstance(count, int) else 0

    def holding(self) -> Holding:
        """The value; its problem alone if it has one."""
        if self.problem is not None:
            return Holding(self.name, problem=self.problem)
        return Holding(
            repository=self.name,
            url=text(self.node, "url"),
            default_branch=text(part(self.node, "defaultBranchRef"), "name"),
            leases=holds(self.lists["leases"]),
            tips=tips(self.lists["tips"]),
            pulls=tuple(translate.pull_request(one) for one in self.lists["pulls"]),
            claimed=self.claimed,
        )


def next_page(connection: Json, failures: Failures, subject: str) -> str | None:
    """The cursor of the next page, None on the last one; Transient if GitHub names none."""
    page = part(connection, "pageInfo")
    if not page.get("hasNextPage"):
        return None
    if not text(page, "endCursor"):
        raise failures.of_nonsense(AskedRequest(subject))
    return text(page, "endCursor")


def is_hidden_mention(problem: AnswerProblem) -> bool:
    """True if one mention of an issue is not shown, and the issue itself is.

    A null where GraphQL allows none takes what is around it along: here the entry of the list.
    Source: https://spec.graphql.org/October2021/#sec-Handling-Field-Errors
    """
    path = problem.path
    return "mentions" in path and path[path.index("mentions") + 1 :][:1] == ("nodes",)


def hold(name: str, commit: Json) -> Hold | None:
    """A lease by its ref's full name and the object that it points to; None if it is no issue's."""
    number = name.removeprefix(LEASES)
    if not name.startswith(LEASES) or not number.isdecimal() or not number.isascii():
        return None
    agent, _, branch = parse_lease(text(commit, "message"))
    since = timing.parse_time(commit.get("committedDate"))
    return Hold(int(number), text(commit, "oid"), agent, since, branch)


def holds(refs: Iterable[Json]) -> dict[int, Hold]:
    """The leases of a page, by issue."""
    found = (hold(full_name(one), part(one, "target")) for one in refs)
    return {one.issue: one for one in found if one is not None}


def tips(refs: Iterable[Json]) -> dict[str, Tip]:
    """The branches of a page, by name."""
    found: dict[str, Tip] = {}
    for one in refs:
        branch, commit = full_name(one).removeprefix(_HEADS), part(one, "target")
        at = timing.parse_time(commit.get("committedDate"))
        found[branch] = Tip(branch, text(commit, "oid"), at)
    return found


def full_name(ref: Json) -> str:
    """A ref's whole name: GitHub gives its namespace (`refs/heads/`) and the rest apart.

    Source: https://docs.github.com/graphql/reference/objects#ref
    """
    name = text(ref, "name")
    return name if name.startswith("refs/") else f"{text(ref, 'prefix')}{name}"


def swept(node: Json, item: BoardItem | None, problem: str | None, note: str | None) -> Swept:
    """An issue of a sweep, with its item on the board and what is to be said of that."""
    repository = text(part(node, "repository"), "nameWithOwner")
    issue = translate.issue(node)
    near = [one for one in nodes(node, "mentions") if not one.get("isCrossRepository", True)]
    mentions = [one for one in near if part(one, "source")]  # an issue that mentions it is {}
    pulls = {int(one["source"]["number"]): one["source"] for one in mentions}
    observation = Observation(
        repository=repository,
        default_branch="",
        issue=issue,
        by_branch=tuple(translate.pull_request(pulls[one]) for one in sorted(pulls, reverse=True)),
        item=item,
        board_problem=problem,
        board_note=note,
    )
    return Swept(
        repository,
        observation,
        _last(node, "assigned"),
        frozenset(int(one["source"]["number"]) for one in mentions if one.get("willCloseTarget")),
        reopened_at=_last(node, "reopened"),
    )


def _last(node: Json, events: str) -> float | None:
    found = nodes(node, events)
    return timing.parse_time(found[-1].get("createdAt")) if found else None
