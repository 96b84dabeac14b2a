"""Users, and the limits of a token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifecycle.sandbox.errors import ApiError
from lifecycle.sandbox.payloads import accounts as payloads
from lifecycle.sandbox.rest.routing import Route
from lifecycle.sandbox.wire.call import LIMIT, Reply

if TYPE_CHECKING:
    from lifecycle.sandbox.wire.call import Call


def get_viewer(call: Call) -> Reply:
    """GET /user, which only a user's token may ask."""
    if call.token.is_integration:
        documentation = "https://docs.github.com/rest/users/users#get-the-authenticated-user"
        raise ApiError(403, call.token.refusal, documentation=documentation)
    return Reply(200, payloads.viewer(call))


def get_rate_limit(call: Call) -> Reply:
    """GET /rate_limit, for every token, and without counting against it."""
    core = {"limit": LIMIT, "remaining": LIMIT - call.token.used.get("core", 0)}
    return Reply(200, {"resources": {"core": core}, "rate": core})


ROUTES = (
    Route("GET", "/user", get_viewer),
    Route("GET", "/rate_limit", get_rate_limit),
)
