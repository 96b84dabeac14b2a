"""REST's operations on GitHub Apps, their installations, and the installations' tokens.

Source: https://docs.github.com/rest/apps/apps
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

from lifecycle.sandbox.accounts import payload_apps as payloads
from lifecycle.sandbox.accounts.state import App, Installation, Token, User
from lifecycle.sandbox.base.errors import ApiError, invalid
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import REPO, Call, Reply, route
from lifecycle.sandbox.wire.rest.asking import not_found

APPS = "https://docs.github.com/rest/apps"
LEVELS = ("read", "write", "admin")
LASTS = timedelta(hours=1)
INSTALLATION = "/app/installations/<int:number>"


def _self(call: Call) -> App:
    """The App whose own JWT sent the request, or 401."""
    if call.token.app is None:
        raise ApiError(401, "A JSON web token could not be decoded", documentation=APPS)
    return call.token.app


def _installation(call: Call, number: int) -> Installation:
    app = _self(call)
    installation = call.world.installations.get(number)
    if installation is None or installation.app is not app:
        raise not_found(f"{APPS}/apps#get-an-installation-for-the-authenticated-app")
    return installation


@route("GET", "/app")
def get_app(call: Call) -> Reply:
    return Reply(200, payloads.app(call, _self(call)))


@route("GET", "/app/installations")
def list_installations(call: Call) -> Reply:
    app = _self(call)
    installations = call.world.installations.values()
    own = [installation for installation in installations if installation.app is app]
    return call.paged(own, payloads.installation)


@route("GET", INSTALLATION)
def get_installation(call: Call, number: int) -> Reply:
    return Reply(200, payloads.installation(call, _installation(call, number)))


@route(
    "GET",
    f"{REPO}/installation",
)
def find_installation(call: Call, repo: Repository) -> Reply:
    app = _self(call)
    for installation in call.world.installations.values():
        is_chosen = not installation.repositories or repo.key in installation.repositories
        if installation.app is app and installation.account is repo.owner and is_chosen:
            return Reply(200, payloads.installation(call, installation))
    raise not_found()


@route(
    "POST",
    f"{INSTALLATION}/access_tokens",
)
def create_token(call: Call, number: int) -> Reply:
    """POST /app/installations/ID/access_tokens: a new token each time."""
    installation = _installation(call, number)
    if installation.suspended_at:
        raise ApiError(403, "This installation has been suspended", documentation=APPS)
    permissions = _narrowed(call, installation.app) or dict(installation.app.permissions)
    serial = next(call.world.serial)
    secret = hashlib.sha256(f"{installation.app.slug} {number} {serial}".encode()).hexdigest()[:36]
    token = Token(
        f"ghs_{secret}",
        _bot(call, installation.app),
        "app",
        frozenset(f"{name}:{level}" for name, level in permissions.items()),
        _chosen(call, installation),
        now() + LASTS,
        app=installation.app,
    )
    call.world.tokens[token.value] = token
    return Reply(201, payloads.installation_token(call, token, permissions))


def _narrowed(call: Call, app: App) -> dict[str, str]:
    """The requested permissions, which may not exceed the App's.

    `metadata` is added for reading if the App has it; {} if none are requested.
    """
    wanted = call.body.get("permissions") or {}
    if not isinstance(wanted, dict):
        raise ApiError(
            422, "Invalid request.\n\nFor 'properties/permissions', it is not an object.")  # fmt: skip
    more = [name for name, level in wanted.items() if not _covers(app.permissions.get(name), level)]
    if more:
        raise invalid(
            message="The permissions requested are not granted to this installation.",
        )
    always = {"metadata": "read"} if wanted and "metadata" in app.permissions else {}
    return always | {str(name): str(level) for name, level in wanted.items()}


def _covers(has: str | None, wants: Any) -> bool:
    """Whether level `has` includes level `wants`: admin, write, read."""
    return has in LEVELS and wants in LEVELS and LEVELS.index(has) >= LEVELS.index(wants)


def _chosen(call: Call, installation: Installation) -> frozenset[str]:
    """The repositories of a token: the requested ones, by name, or the installation's."""
    names = call.body.get("repositories")
    if not names:
        return installation.repositories
    wanted = {f"{installation.account.login}/{name}".lower() for name in names}
    allowed = installation.repositories or set(call.world.repositories)
    if not wanted <= set(allowed):
        raise invalid(
            message="There is at least one repository that does not exist or is not accessible to "
            "the parent installation.",
        )
    return frozenset(wanted)


def _bot(call: Call, app: App) -> User:
    """The bot that acts with an App's tokens, `SLUG[bot]`; it is made with the first token."""
    if app.bot is None:
        login = f"{app.slug}[bot]"
        app.bot = User(next(call.world.serial), login, app.name, "bot", "write")
        call.world.users[login.lower()] = app.bot
        call.world.register(app.bot.node_id, app.bot)
    return app.bot


@route(
    "GET",
    "/installation/repositories",
)
def list_own_repositories(call: Call) -> Reply:
    """GET /installation/repositories, only for an installation's token."""
    if call.token.kind != "app":
        raise ApiError(
            403,
            "You must authenticate with an installation access token in order to list repositories "
            "for an installation.",
        )
    repos = call.world.repositories
    mine = [repo for key, repo in repos.items() if key in (call.token.repositories or repos)]
    shown, headers = call.page(mine)
    body = {
        "total_count": len(mine),
        "repository_selection": "selected" if call.token.repositories else "all",
        "repositories": [repositories.repository(call, repo) for repo in shown],
    }
    return Reply(200, body, headers)
