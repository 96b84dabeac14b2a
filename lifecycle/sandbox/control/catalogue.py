"""Named faults: failures of GitHub that were seen in public.

Each is a `Fault` whose route, count, chance and moment may be changed: `named("bad-gateway",
path="/comments$", when="after")`. Lists that lag are not a fault but the world's `lag`, and a renamed
repository redirects by itself.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.control.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Mapping

REST_LIMITS = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"
ALWAYS = 1_000_000_000
EXHAUSTED = {
    "x-ratelimit-limit": "5000",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-used": "5000",
    "x-ratelimit-reset": "+60",
    "x-ratelimit-resource": "core",
}
SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. "
    "If you reach out to GitHub Support for help, please include the request ID."
)


def _refused(status: int, message: str, documentation: str, **headers: str) -> Fault:
    """A fault that answers with an error in GitHub's words, before the request has any effect."""
    answer = {"message": message, "documentation_url": documentation, "status": str(status)}
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fault("status", status=status, body=json.dumps(answer), headers=fields)


def _partial(kind: str, message: str, *path: str | int) -> Fault:
    """A fault that makes the part of the data at `path` null, with an error for it."""
    return Fault(
        "graphql_error", path="^/graphql$", when="after", error_type=kind, message=message,
        null_paths=[list(path)],
    )  # fmt: skip


CATALOGUE: Mapping[str, Fault] = {
    # Limits. Source: https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
    "primary-limit": _refused(
        403, "API rate limit exceeded for user ID 583231.", REST_LIMITS, **EXHAUSTED
    ),
    "primary-limit-429": _refused(
        429, "API rate limit exceeded for user ID 583231.", REST_LIMITS, **EXHAUSTED
    ),
    "secondary-limit": _refused(403, SECONDARY, REST_LIMITS, retry_after="60"),
    "secondary-limit-without-a-wait": _refused(403, SECONDARY, REST_LIMITS),
    "submitted-too-quickly": _refused(
        403, "was submitted too quickly", "https://docs.github.com/rest/issues/comments"
    ),
    "graphql-rate-limited": Fault(
        "graphql_error", path="^/graphql$", error_type="RATE_LIMITED",
        message="API rate limit exceeded for user ID 583231.",
    ),
    "graphql-rate-limit": Fault(
        "graphql_error", path="^/graphql$", error_type="RATE_LIMIT",
        message="API rate limit already exceeded for user ID 583231.",
    ),
    # A broken backend, before the request had any effect or after it had all.
    "bad-gateway": Fault("status", status=502),
    "bad-gateway-after": Fault("status", status=502, when="after"),
    "bad-gateway-json": Fault(
        "status", status=502, path="^/graphql$",
        body=json.dumps({
            "data": None,
            "errors": [{"message": "Something went wrong while executing your query. This may be "
                        "the result of a timeout, or it could be a GitHub bug."}],
        }),
    ),
    "unavailable": _refused(503, "Service Unavailable", "https://www.githubstatus.com"),
    "gateway-timeout": Fault("status", status=504),
    # Parts of a GraphQL answer.
    "partial-not-found": _partial(
        "NOT_FOUND", "Could not resolve to a Repository with the name 'octo-org/gone'.", "repository"
    ),
    "partial-forbidden": _partial(
        "FORBIDDEN", "Resource not accessible by personal access token", "repository"
    ),
    "insufficient-scopes": Fault(
        "graphql_error", path="^/graphql$", error_type="INSUFFICIENT_SCOPES",
        message="Your token has not been granted the required scopes to execute this query. The "
        "'projectV2' field requires one of the following scopes: ['read:project'], but your token "
        "has only been granted the: ['repo'] scopes. Please modify your token's scopes at: "
        "https://github.com/settings/tokens.",
    ),
    "resource-limits": _partial(
        "RESOURCE_LIMITS_EXCEEDED",
        "Resource limits for this query exceeded.", "repository", "pullRequests",
    ),
    # Queries that ask for too much: parts of the answer are null, or a gateway gives up. Sources:
    # https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api,
    # https://github.com/yoshi389111/github-profile-3d-contrib/issues/163 and
    # https://github.com/travisbrown/octocrabby/pull/21
    "heavy-resource-limits": replace(
        _partial("RESOURCE_LIMITS_EXCEEDED", "Resource limits for this query exceeded.", "*"),
        above={"nodes": 5_000}, count=ALWAYS,
    ),
    "heavy-bad-gateway": Fault(
        "status", status=502, path="^/graphql$", above={"nodes": 5_000}, count=ALWAYS
    ),
    # Two clients that add to a board at once. Sources: https://github.com/gr2m/github-project/issues/89
    # and https://github.com/actions/add-to-project/issues/89
    "card-exists": Fault(
        "graphql_error", path="^/graphql$", error_type="UNPROCESSABLE",
        message="Content already exists in this project",
    ),
    "card-priority": Fault(
        "graphql_error", path="^/graphql$", error_type="UNPROCESSABLE",
        message="Prioritization The priority you are attempting to set for this record is not unique",
    ),
    # Refusals.
    "bad-credentials": _refused(401, "Bad credentials", "https://docs.github.com/rest"),
    "no-permission": _refused(
        404, "Not Found", "https://docs.github.com/rest", x_accepted_github_permissions="issues=write"
    ),
    "merge-not-allowed": _refused(
        405, "Pull Request is not mergeable",
        "https://docs.github.com/rest/pulls/pulls#merge-a-pull-request",
    ),
    "merge-base-modified": _refused(
        405, "Base branch was modified. Review and try the merge again.",
        "https://docs.github.com/rest/pulls/pulls#merge-a-pull-request",
    ),
    "merge-head-moved": _refused(
        409, "Head branch was modified. Review and try the merge again.",
        "https://docs.github.com/rest/pulls/pulls#merge-a-pull-request",
    ),
    "gone": _refused(
        410, "Issues are disabled for this repo", "https://docs.github.com/v3/issues/"
    ),
    # The connection.
    "connection-cut": Fault("cut"),
    "connection-cut-after": Fault("cut", when="after"),
    "connection-reset": Fault("reset"),
    "connection-reset-after": Fault("reset", when="after"),
    "never-answers": Fault("hang"),
    "never-ends": Fault("trickle"),
    "empty-body": Fault("status", status=200, body="", when="after"),
    "truncated-body": Fault("truncate", when="after"),
}  # fmt: skip


def named(name: str, **changes: Any) -> Fault:
    """The fault of that name in the catalogue, with these parts changed.

    Raises:
        ActionRefused: There is no such name, or a fault has no such part.
    """
    if name not in CATALOGUE:
        known = ", ".join(CATALOGUE)
        raise ActionRefused(f"There is no fault {name!r}; there are {known}.")
    try:
        return replace(CATALOGUE[name], **changes)
    except TypeError:
        raise ActionRefused(f"A fault has no part {sorted(changes)}; nothing was set.") from None
