"""Users, organizations, Apps and tokens of a seed."""

from __future__ import annotations

from datetime import datetime

import msgspec

from lifecycle.sandbox.accounts.state import AccountKind, Role, TokenKind


class Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of a seed. An unknown key is a mistake: to ignore it would give another world."""


class SeedUser(Form, frozen=True):
    """Somebody. `role` is what they may do where a repository says nothing of its own."""

    login: str
    name: str | None = None
    role: Role = "write"
    kind: AccountKind = "user"
    email: str | None = None
    id: int | None = None
    created_at: datetime | None = None


class SeedOrganization(Form, frozen=True):
    """An organization; its members see its private repositories."""

    login: str
    name: str | None = None
    members: list[str] = []
    id: int | None = None
    created_at: datetime | None = None


class SeedToken(Form, frozen=True):
    """A token of a user: OAuth scopes if classic, else `name:level` permissions.

    One of kind `app` is an installation's and one of kind `actions` a workflow's: `user` is the bot
    that acts, and nobody logs in. `repositories` limits a token of permissions.
    """

    token: str
    user: str
    scopes: list[str]
    kind: TokenKind = "classic"
    repositories: list[str] = []
    expires_at: datetime | None = None
    limit: int | None = None
    app: str | None = None


class SeedApp(Form, frozen=True):
    """A GitHub App. Its JWTs are verified with `public_key`, a PEM text."""

    slug: str
    id: int
    owner: str
    name: str | None = None
    client_id: str = ""
    public_key: str | None = None
    permissions: dict[str, str] = {}
    bot: str | None = None


class SeedInstallation(Form, frozen=True):
    """An app on an account; no repositories means all of them."""

    id: int
    app: str
    account: str
    repositories: list[str] = []
    suspended_at: datetime | None = None
