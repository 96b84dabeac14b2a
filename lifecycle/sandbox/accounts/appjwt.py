"""Find the App that signed a JSON web token with its key, or refuse the token.

Source:
https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
"""

from __future__ import annotations

import time
from typing import Any

from lifecycle.sandbox.accounts.state import App, Token
from lifecycle.sandbox.base.errors import ApiError
from lifecycle.sandbox.repositories.state import World

LONGEST = 600
"""The longest life of a JWT in seconds."""
LEEWAY = 60
"""Seconds by which an App's clock may be ahead before its token is refused."""


def is_jwt(value: str) -> bool:
    """Whether a credential has the form of a JSON web token."""
    return value.count(".") == 2 and value.startswith("ey")


def authenticate(world: World, value: str) -> Token:
    """The token, of kind `jwt`, for the App that signed this JSON web token.

    Raises:
        ApiError: 401, in GitHub's words: it is signed with another key, expired, from the future, or
            valid for too long; 404 for an App that does not exist.
    """
    import jwt  # half of a sandbox's start-up time, for a credential that few worlds have

    claims = _claims(value)
    app = _app(world, str(claims.get("iss")))
    if app is None:
        raise ApiError(404, "Integration not found")
    try:
        jwt.decode(
            value, app.public_key or "", algorithms=["RS256"],
            options={"verify_exp": False, "verify_iat": False},
        )  # fmt: skip
    except (jwt.PyJWTError, ValueError, TypeError):
        raise _undecodable() from None
    return Token(value, app.bot or app.owner, "jwt", frozenset(), app=app)


def _claims(value: str) -> dict[str, Any]:
    import jwt

    try:
        claims: dict[str, Any] = jwt.decode(value, options={"verify_signature": False})
    except jwt.PyJWTError:
        raise _undecodable() from None
    now = time.time()
    issued, ends = claims.get("iat"), claims.get("exp")
    if not isinstance(issued, (int, float)) or issued > now + LEEWAY:
        raise ApiError(
            401,
            "'Issued at' claim ('iat') must be an Integer representing the time that the assertion "
            "was issued",
        )
    if not isinstance(ends, (int, float)) or ends < now:
        raise ApiError(
            401,
            "'Expiration time' claim ('exp') must be a numeric value representing the future time "
            "at which the assertion expires",
        )
    if ends > now + LONGEST + LEEWAY:
        raise ApiError(401, "'Expiration time' claim ('exp') is too far in the future")
    return claims


def _undecodable() -> ApiError:
    return ApiError(401, "A JSON web token could not be decoded")


def _app(world: World, issuer: str) -> App | None:
    """The App with that id or client id; None if there is none."""
    apps = world.apps.values()
    return next((app for app in apps if issuer in {str(app.id), app.client_id or None}), None)
