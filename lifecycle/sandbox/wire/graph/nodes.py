"""Find objects by global id or by the address of their page; answer `rateLimit`.

Source: https://docs.github.com/graphql/guides/using-global-node-ids and
https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from lifecycle.sandbox.base.times import stamp
from lifecycle.sandbox.boards.access import board_of, readable, role_in
from lifecycle.sandbox.git import graph as git
from lifecycle.sandbox.issues.state import IssueTables
from lifecycle.sandbox.pulls.state import PullTables
from lifecycle.sandbox.repositories.access import sees
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.pages import Refusal, no_node
from lifecycle.sandbox.wire.graph.walk import Findings
from lifecycle.sandbox.wire.limits import left, limit_of

MOST_IDS = 100
PAGE = re.compile(r"/([^/]+)(?:/([^/]+)(?:/(?:issues|pull)/(\d+))?)?/?")
"""The path of the page of an account, a repository, an issue or a pull request."""
UPWARDS = ("repository", "issue", "pull", "thread", "suite")
"""Attributes that lead from an object towards its repository."""


def node(call: Call, node_id: str) -> Any:
    """The object with that global id, if the token may see it.

    Raises:
        Refusal: NOT_FOUND in GitHub's words; FORBIDDEN for a board that the token does not reach.
    """
    entity = call.world.nodes.get(node_id) or git.by_id(call, node_id)
    if entity is None:
        raise no_node(node_id)
    project = board_of(call, entity)
    if project is not None:
        if role_in(call.token, project) is None:
            raise no_node(node_id)
        readable(call, project)
        return entity
    repo = _repository_of(entity)
    if repo is not None and not sees(call.token, repo):
        raise no_node(node_id)
    return entity


def _repository_of(entity: Any) -> Repository | None:
    for _ in range(len(UPWARDS)):
        if isinstance(entity, Repository) or entity is None:
            return entity
        entity = next((getattr(entity, up) for up in UPWARDS if hasattr(entity, up)), None)
    return None


def nodes(call: Call, ids: list[str]) -> list[Any]:
    """The objects with these global ids; for a missing one its error, which becomes null.

    At most a hundred: https://github.com/sourcecred/sourcecred/pull/908 shows the answer.
    """
    if len(ids) > MOST_IDS:
        words = f"You may not provide more than {MOST_IDS} node ids; you provided {len(ids)}."
        raise Refusal("ARGUMENT_LIMIT", words)
    return [_or_error(call, node_id) for node_id in ids]


def _or_error(call: Call, node_id: str) -> Any:
    try:
        return node(call, node_id)
    except Refusal as error:
        return error


def _resource(call: Call, url: str) -> Any:
    """The account, repository, issue or pull request whose page is at `url`; None if there is none.

    Also None if the token may not see it.

    Source: https://docs.github.com/graphql/reference/queries#resource
    """
    page = PAGE.fullmatch(url.removeprefix(call.web)) if url.startswith(f"{call.web}/") else None
    if page is None:
        return None
    owner, name, number = page.groups()
    if name is None:
        return call.world.user(owner)
    repo = call.world.repository(f"{owner}/{name}")
    if repo is None or not sees(call.token, repo):
        return None
    if number is None:
        return repo
    return PullTables.of(repo).pulls.get(int(number)) or IssueTables.of(repo).issues.get(
        int(number)
    )


def _rate_limit(call: Call, findings: Findings) -> dict[str, Any]:
    """The fields of `rateLimit`: this query's cost, and the hour's remaining budget after it."""
    limit, before = limit_of(call.token, "graphql"), left(call.token, "graphql")
    remaining = max(before - findings.points, 0)
    return {
        "cost": findings.points,
        "limit": limit,
        "nodeCount": findings.nodes,
        "remaining": remaining,
        "resetAt": stamp(datetime.fromtimestamp(call.reset, UTC)),
        "used": call.token.used.get("graphql", 0) + findings.points,
    }


PLAIN = {"RateLimit": "cost limit nodeCount remaining resetAt used"}
RESOLVERS: dict[str, dict[str, Any]] = {
    "Query": {
        "id": lambda *_: "Query",
        "node": lambda call, _, id: node(call, id),  # noqa: A006  the schema's name
        "nodes": lambda call, _, ids: nodes(call, ids),
        "resource": lambda call, _, url: _resource(call, url),
        "rateLimit": _rate_limit,
    },
}
