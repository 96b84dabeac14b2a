"""Headers: those in every answer of GitHub's API, and those that it demands of requests.

Seen in 726 recorded answers of 2022 to 2026 (tests/conformance reads them). For what browsers may do with
an answer:
https://docs.github.com/rest/using-the-rest-api/using-cors-and-jsonp-to-make-cross-origin-requests
and for its time of change:
https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api.

What GitHub checks in every request before it looks at its content:
https://docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api#user-agent,
https://docs.github.com/rest/about-the-rest-api/api-versions,
https://github.com/expipiplus1/update-nix-fetchgit/issues/79 (the words about a version) and
https://github.com/devspace-sh/devspace/pull/282 (those about a media type).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from werkzeug.http import http_date
from werkzeug.wrappers import Request

from lifecycle.sandbox.accounts.state import Token
from lifecycle.sandbox.base.errors import ApiError
from lifecycle.sandbox.wire.requestlog import Entry

EXPOSED = (
    "ETag, Link, Location, Retry-After, X-GitHub-OTP, X-RateLimit-Limit, X-RateLimit-Remaining, "
    "X-RateLimit-Used, X-RateLimit-Resource, X-RateLimit-Reset, X-OAuth-Scopes, X-Accepted-OAuth-Scopes, "
    "X-Poll-Interval, X-GitHub-Media-Type, X-GitHub-SSO, X-GitHub-Request-Id, Deprecation, Sunset"
)
EVERYWHERE: Mapping[str, str] = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": EXPOSED,
    "content-security-policy": "default-src 'none'",
    "referrer-policy": "origin-when-cross-origin, strict-origin-when-cross-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "deny",
    "x-xss-protection": "0",
}
VARIES = "Accept-Encoding, Accept, X-Requested-With"
DATED = re.compile(
    r"/(repos/[^/]+/[^/]+(/(issues|pulls|milestones)/\d+|/pulls/comments/\d+)?|user|(users|orgs)/[^/]+)"
)
"""Paths whose answers have Last-Modified; lists, comments of issues, runs and apps do not."""


def standing(kind: str, path: str, status: int, *, is_known: bool) -> dict[str, str]:
    """The headers of an answer that do not depend on its token's limits.

    Args:
        kind: `rest` or `graphql`.
        path: The request's.
        status: The answer's.
        is_known: Whether the request came with a token.
    """
    headers = dict(EVERYWHERE)
    if kind == "graphql":
        return headers | {"x-github-media-type": "github.v4; format=json", "vary": VARIES}
    headers["x-github-api-version-selected"] = SERVED
    headers["vary"] = VARIES
    if status != 302:
        headers["x-github-media-type"] = "github.v3; format=json"
    if status in {200, 201} and path == "/rate_limit":
        headers["cache-control"] = "no-cache"
    elif status in {200, 201}:
        headers["cache-control"] = f"{'private' if is_known else 'public'}, max-age=60, s-maxage=60"
        who = "Authorization, Cookie, X-GitHub-OTP, " if is_known else ""
        headers["vary"] = f"Accept, {who}{VARIES}"
    return headers


def last_modified(method: str, path: str, status: int, body: Any) -> str:
    """The Last-Modified of an answer, from its `updated_at`; "" if GitHub sends none."""
    changed = body.get("updated_at") if isinstance(body, dict) else None
    if method == "GET" and status == 200 and changed and DATED.fullmatch(path):
        return http_date(datetime.fromisoformat(changed))
    return ""


def of_token(token: Token) -> dict[str, str]:
    """The headers about a request's token: a classic one's scopes, and a personal one's expiry.

    Source:
    https://docs.github.com/authentication/keeping-your-account-and-data-secure/token-expiration-and-revocation
    """
    headers: dict[str, str] = {}
    if token.kind == "classic":
        headers["x-oauth-scopes"] = ", ".join(sorted(token.scopes))
        headers["x-accepted-oauth-scopes"] = "repo"
    if token.expires_at and not token.is_integration:
        ends = token.expires_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        headers["github-authentication-token-expiration"] = ends
    return headers


def is_tagged(entry: Entry) -> bool:
    """Whether a successful answer has an ETag; recorded ones of GraphQL, limits and search have none."""
    untagged = entry.path == "/rate_limit" or entry.path.startswith("/search/")
    return entry.kind == "rest" and not untagged


SERVED = "2022-11-28"
"""The supported version of the REST API, also used if a request names none."""
NEWEST = "2026-03-10"
"""GitHub's other version; its answers have other keys, so it is refused, not imitated."""
NAMELESS = (
    "\r\nRequest forbidden by administrative rules. Please make sure your request has a User-Agent "
    "header (https://docs.github.com/en/rest/overview/resources-in-the-rest-api#user-agent-required). "
    "Check https://developer.github.com for other possible causes.\r\n"
)
"""The body of the 403 for a request without a User-Agent."""
_JSON = ("*/*", "application/*", "application/json")


def is_nameless(request: Request) -> bool:
    """Whether the request has no User-Agent, which names the program that sent it."""
    return not request.headers.get("User-Agent", "").strip()


def demand_rest(request: Request) -> None:
    """Refuse a version or a media type that the REST API does not have.

    Raises:
        ApiError: 400 for a version that GitHub lacks, 501 for one that only this sandbox lacks, 415 for
            media types that are not GitHub's.
    """
    version = request.headers.get("X-GitHub-Api-Version", SERVED)
    if version == NEWEST:
        raise ApiError(501, f"The sandbox does not imitate version {NEWEST} of the API.")
    if version != SERVED:
        raise ApiError(
            400,
            "Bad Request",
            errors='The version you specified in the "X-GitHub-API-Version" request header, '
            f'"{version}", is not a supported version. The following versions are currently supported: '
            f'"{NEWEST}" (most recent) and "{SERVED}".',
        )
    wanted = request.headers.get("Accept", "")
    if wanted.strip() and not any(_is_known(kind) for kind in request.accept_mimetypes.values()):
        raise ApiError(
            415,
            f"Unsupported 'Accept' header: '{wanted}'. Must accept 'application/json'.",
            documentation="https://docs.github.com/v3/media",
        )


def _is_known(media_type: str) -> bool:
    kind = media_type.partition(";")[0].strip().lower()
    return kind in _JSON or kind.startswith("application/vnd.github")
