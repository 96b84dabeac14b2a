"""All routes, and who answers a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from werkzeug.exceptions import MethodNotAllowed, NotFound
from werkzeug.routing import Map, Rule

from lifecycle.sandbox.errors import ApiError
from lifecycle.sandbox.rest import accounts, checks, issues, pulls, repositories
from lifecycle.sandbox.rest.asking import not_found

if TYPE_CHECKING:
    from lifecycle.sandbox.state.repositories import Repository
    from lifecycle.sandbox.wire.call import Call, Reply

SUBJECTS = (accounts, repositories, issues, pulls, checks)
ROUTES = tuple(route for subject in SUBJECTS for route in subject.ROUTES)
URLS = Map([Rule(r.path, methods=[r.method], endpoint=r) for r in ROUTES], merge_slashes=False)


def answer(call: Call, method: str) -> Reply:
    """Answer a request.

    Raises:
        ApiError: Any answer other than success.
    """
    try:
        route, matched = URLS.bind("sandbox").match(call.path, method=method)
    except (NotFound, MethodNotAllowed):
        raise ApiError(501, f"The sandbox does not imitate {method} {call.path}.") from None
    found = dict(matched)
    owner, name = found.pop("owner", None), found.pop("name", "")
    repo = _repository(call, owner, name) if owner is not None else None
    _demand(call, route.permission)
    reply: Reply = (
        route.handler(call, **found) if repo is None else route.handler(call, repo, **found)
    )
    return reply


def _repository(call: Call, owner: str, name: str) -> Repository:
    """The repository of a path, or GitHub's 404, which is also for who may not see it."""
    repo = call.world.repository(f"{owner}/{name}")
    if repo is None or repo.role_of(call.viewer) is None:
        raise not_found("https://docs.github.com/rest/repos/repos#get-a-repository")
    return repo


def _demand(call: Call, permission: str) -> None:
    """Refuse a token that may not: 403 for those of permissions; for classic ones GitHub says 404."""
    if call.token.may(permission):
        return
    if call.token.kind != "classic":
        raise ApiError(
            403,
            call.token.refusal,
            headers={"x-accepted-github-permissions": permission.replace(":", "=")},
        )
    raise not_found("https://docs.github.com/rest")
