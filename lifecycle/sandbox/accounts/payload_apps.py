"""The JSON of GitHub Apps, installations and their tokens in REST's answers."""

from __future__ import annotations

from typing import Any

from lifecycle.sandbox.accounts import payload as accounts
from lifecycle.sandbox.accounts.state import App, Installation, Token
from lifecycle.sandbox.base.times import attributes, stamp
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.wire.call import Call


def app(call: Call, github_app: App) -> dict[str, Any]:
    """The JSON of an App for itself."""
    count = sum(1 for entry in call.world.installations.values() if entry.app is github_app)
    return {
        **attributes(github_app, "id slug client_id node_id"),
        "owner": accounts.user(call, github_app.owner),
        "name": github_app.name,
        "description": None,
        "external_url": f"{call.web}/apps/{github_app.slug}",
        "html_url": f"{call.web}/apps/{github_app.slug}",
        "created_at": stamp(github_app.owner.created_at),
        "updated_at": stamp(github_app.owner.created_at),
        "permissions": dict(github_app.permissions),
        "events": [],
        "installations_count": count,
    }


def installation(call: Call, app_installation: Installation) -> dict[str, Any]:
    """The JSON of an App's installation on an account."""
    url = f"{call.base}/app/installations/{app_installation.id}"
    account = app_installation.account
    kind = "orgs" if account.kind == "organization" else "users"
    return {
        "id": app_installation.id,
        "client_id": app_installation.app.client_id,
        "account": accounts.user(call, account),
        "repository_selection": "selected" if app_installation.repositories else "all",
        "access_tokens_url": f"{url}/access_tokens",
        "repositories_url": f"{call.base}/installation/repositories",
        "html_url": f"{call.web}/{kind}/{account.login}/settings/installations/{app_installation.id}",
        "app_id": app_installation.app.id,
        "app_slug": app_installation.app.slug,
        "target_id": account.id,
        "target_type": "Organization" if account.kind == "organization" else "User",
        "permissions": dict(app_installation.app.permissions),
        "events": [],
        "created_at": stamp(account.created_at),
        "updated_at": stamp(account.created_at),
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": accounts.user(call, account) if app_installation.suspended_at else None,
        "suspended_at": stamp(app_installation.suspended_at),
    }


def installation_token(call: Call, token: Token, permissions: dict[str, str]) -> dict[str, Any]:
    """The JSON of a new token of an installation."""
    answer: dict[str, Any] = {
        "token": token.value,
        "expires_at": stamp(token.expires_at),
        "permissions": permissions,
        "repository_selection": "selected" if token.repositories else "all",
    }
    if token.repositories and call.body.get("repositories"):
        chosen = [call.world.repositories[key] for key in sorted(token.repositories)]
        answer["repositories"] = [repositories.repository(call, repo) for repo in chosen]
    return answer
