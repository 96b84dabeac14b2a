"""Rate limits: how many requests a token has in an hour, and the answer if none is left.

Secondary limits (concurrency, requests a minute, writes a minute) are faults that a test sets, since
GitHub does not promise their numbers. Sources:
https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api and
https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
"""

from __future__ import annotations

from typing import Any

from lifecycle.sandbox.accounts.state import Token
from lifecycle.sandbox.base.errors import ApiError

RESOURCES = {
    "core": 5000, "graphql": 5000, "search": 30, "code_search": 10,
    "integration_manifest": 5000, "source_import": 100, "dependency_snapshots": 100,
    "code_scanning_upload": 1000, "code_scanning_autofix": 10, "scim": 15000,
    "actions_runner_registration": 10000, "audit_log": 1750, "audit_log_streaming": 15,
}  # fmt: skip
"""The numbers in recorded answers to `GET /rate_limit`; only the first three are used up here."""
ACTIONS_LIMIT = 1000
"""Requests per hour of a workflow's own token, in each repository."""
DOCUMENTATION = (
    "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api"
    "#primary-rate-limit-for-authenticated-users"
)


def resource_of(kind: str, path: str) -> str:
    """The name of the budget for a request of this kind and path."""
    if kind == "graphql":
        return "graphql"
    return "search" if path.startswith("/search/") else "core"


def limit_of(token: Token, resource: str) -> int:
    """A token's budget of a resource for an hour (for `search`: a minute)."""
    if token.limit is not None and resource != "search":
        return token.limit
    return ACTIONS_LIMIT if token.kind == "actions" and resource == "core" else RESOURCES[resource]


def left(token: Token, resource: str) -> int:
    """A token's remaining budget of a resource in its hour."""
    return max(limit_of(token, resource) - token.used.get(resource, 0), 0)


def begin(token: Token, reset: int) -> None:
    """Set a token's usage to zero if a new hour has begun for it."""
    if token.reset != reset:
        token.reset = reset
        token.used.clear()


def spend(token: Token, resource: str, cost: int) -> None:
    """Add a cost to a token's usage of a resource; readers cut the sum at the limit."""
    token.used[resource] = token.used.get(resource, 0) + cost


def headers(token: Token, resource: str, reset: int) -> dict[str, str]:
    """GitHub's five headers about a budget; `reset` is its end, in seconds since the epoch."""
    return {
        "x-ratelimit-limit": str(limit_of(token, resource)),
        "x-ratelimit-remaining": str(left(token, resource)),
        "x-ratelimit-used": str(min(token.used.get(resource, 0), limit_of(token, resource))),
        "x-ratelimit-reset": str(reset),
        "x-ratelimit-resource": resource,
    }


def exceeded(token: Token, resource: str) -> str | None:
    """GitHub's sentence for a token whose budget is used up, or None."""
    if left(token, resource):
        return None
    whose = (
        f"installation ID {token.user.id}" if token.is_integration else f"user ID {token.user.id}"
    )
    already = " already" if resource == "graphql" else ""
    return f"API rate limit{already} exceeded for {whose}."


def refusal(message: str) -> ApiError:
    """The REST answer, a 403, with the sentence of `exceeded`."""
    return ApiError(
        403,
        f"{message} If you reach out to GitHub Support for help, please include the request ID.",
        documentation=DOCUMENTATION,
    )


def graphql_refusal(message: str) -> dict[str, Any]:
    """The body of the GraphQL answer, a 200, with the sentence of `exceeded`."""
    error = {"type": "RATE_LIMIT", "code": "graphql_rate_limit", "message": message}
    return {"errors": [error]}


def budgets(token: Token, reset: int) -> dict[str, Any]:
    """All budgets of a token, as `GET /rate_limit` lists them."""
    resources = {
        name: {
            "limit": limit_of(token, name),
            "used": min(token.used.get(name, 0), limit_of(token, name)),
            "remaining": left(token, name),
            "reset": reset,
        }
        for name in RESOURCES
    }
    return {"resources": resources, "rate": resources["core"]}
