"""GitHub Apps, installations and their tokens over REST."""

from __future__ import annotations

from typing import Any

from lifecycle.sandbox.accounts import payload as accounts
from lifecycle.sandbox.accounts.state import App, Installation, Token
from lifecycle.sandbox.base.times import attributes, stamp
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.wire.call import Call


def app(call: Call, made: App) -> dict[str, Any]:
    """An App as it sees itself."""
    count = sum(1 for one in call.world.installations.values() if one.app is made)
    return {
        **attributes(made, "id slug client_id node_id"),
        "owner": accounts.user(call, made.owner),
        "name": made.name,
        "description": None,
        "external_url": f"{call.web}/apps/{made.slug}",
        "html_url": f"{call.web}/apps/{made.slug}",
        "created_at": stamp(made.owner.created_at),
        "updated_at": stamp(made.owner.created_at),
        "permissions": dict(made.permissions),
        "events": [],
        "installations_count": count,
    }


def installation(call: Call, made: Installation) -> dict[str, Any]:
    """An App on an account."""
    url = f"{call.base}/app/installations/{made.id}"
    account = made.account
    kind = "orgs" if account.kind == "organization" else "users"
    return {
        "id": made.id,
        "client_id": made.app.client_id,
        "account": accounts.user(call, account),
        "repository_selection": "selected" if made.repositories else "all",
        "access_tokens_url": f"{url}/access_tokens",
        "repositories_url": f"{call.base}/installation/repositories",
        "html_url": f"{call.web}/{kind}/{account.login}/settings/installations/{made.id}",
        "app_id": made.app.id,
        "app_slug": made.app.slug,
        "target_id": account.id,
        "target_type": "Organization" if account.kind == "organization" else "User",
        "permissions": dict(made.app.permissions),
        "events": [],
        "created_at": stamp(account.created_at),
        "updated_at": stamp(account.created_at),
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": accounts.user(call, account) if made.suspended_at else None,
        "suspended_at": stamp(made.suspended_at),
    }


def installation_token(call: Call, token: Token, permissions: dict[str, str]) -> dict[str, Any]:
    """A new token of an installation."""
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
