"""An authenticated request (`Call`), its answer (`Reply`), and the routes of REST."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlencode

from lifecycle.sandbox.accounts import appjwt
from lifecycle.sandbox.accounts.state import Token, User
from lifecycle.sandbox.base.errors import ApiError
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.repositories.state import World

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reply:
    """A JSON answer; a body of None means no body, bytes are sent unchanged.

    With bytes, `headers` gives their type.
    """

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


def created(answer: dict[str, Any]) -> Reply:
    """201 with the new object; its `url` is also the Location."""
    return Reply(201, answer, {"Location": answer["url"]})


def links(url: str, names: str) -> dict[str, str]:
    """The `NAME_url` keys of an object at `url`, for each of the names, separated by spaces."""
    return {f"{name}_url": f"{url}/{name}" for name in names.split()}


@dataclass(frozen=True, slots=True)
class Call:
    """An authenticated request.

    Attributes:
        base: `http://host:port` as the client wrote it: URLs in answers have to match it.
        query: The query parameters.
        body: The decoded JSON body, {} if there is none.
        seen: What this request has counted as read already: one request is one read.
        listed: The decoded body if it is a JSON array, which some endpoints of labels accept.
        accept: The media types that the client accepts.
        reset: The end of the token's hour, in seconds since the epoch.
        memo: Values computed once for this request, such as a repository's payload.
        mutation: The name, with a capital, of the running GraphQL mutation, for refusals.
    """

    world: World
    token: Token
    base: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    seen: set[object] = field(default_factory=set)
    listed: list[Any] | None = None
    accept: str = ""
    reset: int = 0
    memo: dict[object, Any] = field(default_factory=dict)
    mutation: str = ""

    @property
    def viewer(self) -> User:
        """The token's owner."""
        return self.token.user

    @property
    def web(self) -> str:
        """The beginning of addresses of pages: `base` without `api.` before the host or `/api/v3`."""
        return self.base.removesuffix("/api/v3").replace("://api.", "://", 1)

    def page(self, entries: Sequence[T], *, default: int = 30) -> tuple[list[T], dict[str, str]]:
        """The page for the query, and its Link header if there are others.

        Source: https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api
        """
        # Zero, a negative number or a text that is not a number counts as if the parameter were missing:
        # https://derrickscottux-collab.github.io/github-issues-openapi-portfolio/guides/pagination-and-filters.html
        size = min(self._number("per_page", default) or default, max(default, 100))
        page = max(self._number("page", 1), 1)
        last = max(math.ceil(len(entries) / size), 1)
        targets: dict[str, int] = {}
        if page > 1:
            targets |= {"prev": min(page - 1, last)}
        if page < last:
            targets |= {"next": page + 1, "last": last}
        if page > 1:
            targets |= {"first": 1}
        links = [
            f'<{self.base}{self.path}?{urlencode({**self.query, "page": n})}>; rel="{name}"'
            for name, n in targets.items()
        ]
        headers = {"Link": ", ".join(links)} if links else {}
        return list(entries[(page - 1) * size : page * size]), headers

    def once(self, key: object, make: Callable[[], T]) -> T:
        """The result of `make`, which is called once for each key in this request."""
        if key not in self.memo:
            self.memo[key] = make()
        value: T = self.memo[key]
        return value

    def paged(
        self, entries: Sequence[T], show: Callable[..., Any], *context: object, counted: str = ""
    ) -> Reply:
        """200 with the page for the query.

        Args:
            entries: The whole list, in order.
            show: Makes the payload of an entry, called with the call, the context, and the entry.
            *context: Further arguments of `show`, such as the repository.
            counted: The key of the page in an object that also has the total.
        """
        shown, headers = self.page(entries)
        page = [show(self, *context, entry) for entry in shown]
        return Reply(
            200, {"total_count": len(entries), counted: page} if counted else page, headers
        )

    def _number(self, name: str, default: int) -> int:
        text = self.query.get(name, "")
        return int(text) if text.isdecimal() else default


def credential(header: str | None) -> str | None:
    """The token in an Authorization header: `token`, `Bearer`, or Basic with the token as password."""
    scheme, _, secret = (header or "").partition(" ")
    if scheme.lower() in {"token", "bearer"}:
        return secret.strip()
    if scheme.lower() != "basic":
        return None
    try:
        user, _, password = base64.b64decode(secret, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return user if password in {"", "x-oauth-basic"} else password


def authenticate(world: World, header: str | None) -> Token | None:
    """The token in an Authorization header; None if there is none.

    Raises:
        ApiError: 401, the token is not one of ours.
    """
    value = credential(header)
    if value is None:
        return None
    token = world.tokens.get(value)
    if token is None and appjwt.is_jwt(value):
        return appjwt.authenticate(world, value)
    if token is None or (token.expires_at and token.expires_at <= now()):
        raise ApiError(401, "Bad credentials")
    return token


REPO = "/repos/<owner>/<name>"


@dataclass(frozen=True, slots=True)
class Route:
    """A call: its handler, and the permission that a token needs for it.

    Below `REPO` the handler gets the repository after the call, then the parts of the path. An error that
    it raises names the page `docs`, or if that is empty, the call's page in `wire/rest/pages.txt`.
    """

    method: str
    path: str
    handler: Callable[..., Reply]
    permission: str = "metadata:read"
    docs: str = ""


ROUTES: dict[str, list[Route]] = {}
"""The calls of each module, in the module's order."""
Handler = TypeVar("Handler", bound=Callable[..., Reply])


def route(
    method: str, path: str, permission: str = "metadata:read", *, docs: str = ""
) -> Callable[[Handler], Handler]:
    """Register the decorated function as the handler of a `Route`."""

    def register(handler: Handler) -> Handler:
        listed = ROUTES.setdefault(handler.__module__, [])
        listed.append(Route(method, path, handler, permission, docs))
        return handler

    return register
