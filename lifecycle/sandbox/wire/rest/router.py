"""All routes of REST, and how a request reaches its handler."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from werkzeug.exceptions import MethodNotAllowed, NotFound
from werkzeug.routing import Map, Rule

from lifecycle.sandbox.accounts import rest as accounts
from lifecycle.sandbox.accounts import rest_apps as apps
from lifecycle.sandbox.base.errors import ApiError, Moved
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.boards import rest as projects
from lifecycle.sandbox.checks import rest as checks
from lifecycle.sandbox.checks import rest_runs as actions_runs
from lifecycle.sandbox.git import rest_branches as branches
from lifecycle.sandbox.git import rest_contents as contents
from lifecycle.sandbox.git import rest_objects as gitdata
from lifecycle.sandbox.issues import rest as issues
from lifecycle.sandbox.issues.events import rest as events
from lifecycle.sandbox.issues.labels import rest as labels
from lifecycle.sandbox.issues.milestones import rest as milestones
from lifecycle.sandbox.issues.relations import rest as relations
from lifecycle.sandbox.issues.search import rest as search
from lifecycle.sandbox.pulls import rest as pulls
from lifecycle.sandbox.pulls.reviews import rest as reviews
from lifecycle.sandbox.repositories import access
from lifecycle.sandbox.repositories import rest as repositories
from lifecycle.sandbox.repositories import rest_people as people
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.rules import rest as rules
from lifecycle.sandbox.wire import call as call_
from lifecycle.sandbox.wire.call import Call, Reply, Route
from lifecycle.sandbox.wire.rest import meta
from lifecycle.sandbox.wire.rest.asking import not_found

SUBJECTS = (
    meta, accounts, apps, repositories, people, issues, labels, milestones, relations, events,
    branches, gitdata, contents, search, pulls, reviews,
    checks, actions_runs, rules,
    projects,
)  # fmt: skip
ROUTES = tuple(route for subject in SUBJECTS for route in call_.ROUTES[subject.__name__])
URLS = Map([Rule(r.path, methods=[r.method], endpoint=r) for r in ROUTES], merge_slashes=False)
NUMBERED = re.compile(r"/repositories/(?P<id>\d+)(?P<rest>(?:/.*)?)", re.DOTALL)
NAMED = re.compile(r"/repos/[^/]+/[^/]+(?P<rest>(?:/.*)?)", re.DOTALL)
JSON = "https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api#invalid-json-when-making-requests"
REPOSITORY = "https://docs.github.com/rest/repos/repos#get-a-repository"
REDIRECTS = (
    "https://docs.github.com/rest/guides/best-practices-for-using-the-rest-api#follow-redirects"
)


def answer(call: Call, method: str) -> Reply:
    """Answer a request; a HEAD is a GET whose body is not sent.

    Raises:
        ApiError: Any answer other than success.
    """
    reading = method in {"GET", "HEAD"}
    try:
        route, matched = URLS.bind("sandbox").match(
            _named(call), method="GET" if reading else method
        )
    except (NotFound, MethodNotAllowed):
        raise ApiError(501, f"The sandbox does not imitate {method} {call.path}.") from None
    try:
        reply = _answer(call, route, dict(matched), reading=reading)
    except Moved as moved:
        return _redirect(call, moved.path, reading=reading)
    if call.token.kind in {"classic", "jwt"}:
        return reply
    accepted = {"x-accepted-github-permissions": route.permission.replace(":", "=")}
    return replace(reply, headers={**accepted, **reply.headers})


@cache
def _pages() -> dict[str, str]:
    """GitHub's page about each call, by its method and path."""
    text = files("lifecycle.sandbox.wire.rest").joinpath("pages.txt").read_text("utf-8")
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: page for name, _, page in lines}


def _named(call: Call) -> str:
    """The call's path, with the repository's name instead of its number (`/repositories/N`).

    GitHub's links and redirects use the number, since the name may change.
    """
    numbered = NUMBERED.fullmatch(call.path)
    if numbered is None:
        return call.path
    repo = call.world.nodes.get(node_id("R", 0, int(numbered["id"])))
    if repo is None:
        raise not_found(REPOSITORY)
    return f"/repos/{repo.full_name}{numbered['rest']}"


def _answer(call: Call, route: Route, parts: dict[str, str], *, reading: bool) -> Reply:
    if call.token.kind == "jwt" and route not in call_.ROUTES[apps.__name__]:
        raise ApiError(403, call.token.refusal)  # an App's JWT opens only the calls about the App
    if call.listed is not None and route.handler not in labels.TAKE_LISTS:
        raise ApiError(400, "Body should be a JSON object", documentation=JSON)
    owner, name = parts.pop("owner", None), parts.pop("name", "")
    if owner is None:
        _demand(call, route.permission)
        return _handled(route, call, **parts)
    repo = _repository(call, owner, name)
    _demand(call, route.permission, repo)
    if repo.archived and not reading and route.path != "/repos/<owner>/<name>":
        raise ApiError(403, "Repository was archived so is read-only.", documentation=REPOSITORY)
    tail = (NAMED.fullmatch(call.path) or NUMBERED.fullmatch(call.path) or {"rest": ""})["rest"]
    by_number = replace(call, path=f"/repositories/{repo.id}{tail}")
    return _handled(route, by_number, repo, **parts)


def _handled(route: Route, *context: Any, **parts: str) -> Reply:
    """Call the handler; an error without a documentation page gets the page of the call.

    A 501 gets none: it is about the sandbox, and none of GitHub's pages explains it.
    """
    try:
        return route.handler(*context, **parts)
    except ApiError as error:
        if error.status != 501:
            page = route.docs or _pages().get(f"{route.method} {route.path}", "")
            error.documentation = error.documentation or page
        raise


def _repository(call: Call, owner: str, name: str) -> Repository:
    """The repository of a path; GitHub's 404 if there is none, or if the token cannot see it.

    Raises:
        Moved: It has another name now.
    """
    repo = access.repository(call.world, call.token, f"{owner}/{name}")
    if repo is None:
        raise not_found(REPOSITORY)
    if call.world.repository(f"{owner}/{name}") is None:
        tail = NAMED.fullmatch(call.path)
        raise Moved(f"/repositories/{repo.id}{tail['rest'] if tail else ''}")
    return repo


def _redirect(call: Call, path: str, *, reading: bool) -> Reply:
    """301 for a read; 307 for a write, since it keeps the method and the body.

    Source:
    https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
    """
    url = f"{call.base}{path}"
    status, message = (301, "Moved Permanently") if reading else (307, "Temporary Redirect")
    body = {"message": message, "url": url, "documentation_url": REDIRECTS}
    return Reply(status, body, {"Location": url})


def _demand(call: Call, permission: str, repo: Repository | None = None) -> None:
    """Raise ApiError for a token without the permission: 404 for a classic one, as on GitHub, else 403."""
    is_write = permission.endswith(":write")
    covered = repo is None or not is_write or access.covers(call.token, repo)
    is_private = repo is not None and repo.is_private
    if call.token.may(permission, is_private=is_private) and covered:
        return
    if call.token.kind != "classic":
        raise ApiError(
            403,
            call.token.refusal,
            headers={"x-accepted-github-permissions": permission.replace(":", "=")},
        )
    raise not_found("https://docs.github.com/rest")
