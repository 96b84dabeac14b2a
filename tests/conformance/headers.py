"""The headers of an answer, held against what every answer of GitHub's REST API carries.

Sources: https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api (five headers),
https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api (Link),
https://docs.github.com/apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps (scopes),
https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api (accepted permissions);
and recorded answers, which never carry scopes and permissions at once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.conformance.exchange import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.conformance.exchange import Exchange

LIMITS = frozenset(f"x-ratelimit-{n}" for n in ("limit", "remaining", "used", "reset", "resource"))
LINK = re.compile(r'<(?P<url>[^>]+)>; rel="(?P<rel>first|prev|next|last)"')
SCOPES = ("x-oauth-scopes", "x-accepted-oauth-scopes")
PERMISSIONS = "x-accepted-github-permissions"
REDIRECTS = frozenset({301, 302, 307})


def findings(exchange: Exchange) -> list[Finding]:
    """What is wrong with the headers of an answer of GitHub's own, not of its edge."""
    where = f"{exchange.method} {exchange.path} {exchange.status}"
    return [Finding(where, "", what) for what in _wrong(exchange)]


def _wrong(exchange: Exchange) -> Iterator[str]:
    headers, status = exchange.headers, exchange.status
    if not headers.get("x-github-request-id"):
        yield "the header x-github-request-id is missing"
    yield from _of_token(headers)
    if status in REDIRECTS and "location" not in headers:
        yield f"a {status} without Location"
    if "etag" not in headers and _is_tagged(exchange):
        yield f"a {status} without ETag"
    if "link" in headers and not all(map(LINK.fullmatch, headers["link"].split(", "))):
        yield f"not a Link header: {headers['link']}"
    if exchange.text and status != 304 and "content-type" not in headers:
        yield "a body without Content-Type"


def _of_token(headers: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with what an answer says of its token: its limits, scopes and permissions."""
    limits = LIMITS & headers.keys()
    if limits and limits != LIMITS:
        yield f"without the header {', '.join(sorted(LIMITS - limits))}"
    numbers = [name for name in limits if name != "x-ratelimit-resource"]
    if any(not headers[name].isdecimal() for name in numbers):
        yield "a header of the rate limit is no number"
    if (SCOPES[0] in headers) != (SCOPES[1] in headers):
        yield f"{SCOPES[0]} and {SCOPES[1]} come together"
    if SCOPES[0] in headers and PERMISSIONS in headers:
        yield "a token has scopes or permissions, not both"


def _is_tagged(exchange: Exchange) -> bool:
    """Whether GitHub gives an answer an ETag; recorded answers of these calls have none."""
    untagged = exchange.path == "/rate_limit" or exchange.path.startswith("/search/")
    return exchange.method == "GET" and exchange.status in {200, 304} and not untagged
