"""What GitHub asks of every request to its API before it looks at what is wanted.

Sources: https://docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api#user-agent,
https://docs.github.com/rest/about-the-rest-api/api-versions,
https://github.com/expipiplus1/update-nix-fetchgit/issues/79 (the words about a version) and
https://github.com/devspace-sh/devspace/pull/282 (those about a media type).
"""

from __future__ import annotations

from werkzeug.wrappers import Request

from lifecycle.sandbox.base.errors import ApiError

SERVED = "2022-11-28"
"""The version of the REST API that is answered, also where none is named."""
NEWEST = "2026-03-10"
"""The other one that GitHub has; its answers have other keys, so it is refused rather than imitated."""
NAMELESS = (
    "\r\nRequest forbidden by administrative rules. Please make sure your request has a User-Agent "
    "header (https://docs.github.com/en/rest/overview/resources-in-the-rest-api#user-agent-required). "
    "Check https://developer.github.com for other possible causes.\r\n"
)
"""What a client that does not say what it is gets, as text and with status 403."""
_JSON = ("*/*", "application/*", "application/json")


def is_nameless(request: Request) -> bool:
    """True if the request does not say what program it is from."""
    return not request.headers.get("User-Agent", "").strip()


def demand_rest(request: Request) -> None:
    """Refuse a version or a media type that the REST API does not have.

    Raises:
        ApiError: 400 for a version that GitHub lacks, 501 for one that only this sandbox lacks, 415 for
            media types that are none of GitHub's.
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
