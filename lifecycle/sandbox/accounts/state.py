"""The state of users, organizations, bots, and their tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.base.times import now

Role = Literal["admin", "maintain", "write", "triage", "read"]
TokenKind = Literal["classic", "fine-grained", "app", "actions", "jwt"]
AccountKind = Literal["user", "organization", "bot"]


@dataclass(slots=True, eq=False)
class User:
    """An account: it owns, writes and merges; an organization only owns.

    `role` is its role in repositories that give it no other.
    """

    id: int
    login: str
    name: str
    kind: AccountKind
    role: Role = "read"
    members: list[User] = field(default_factory=list, repr=False)
    email: str | None = None
    created_at: datetime = field(default_factory=now)

    @property
    def node_id(self) -> str:
        """The global id: `U_…`, `O_…` or `BOT_…`."""
        prefix = {"organization": "O", "bot": "BOT", "user": "U"}[self.kind]
        return node_id(prefix, 0, self.id)


@dataclass(slots=True, eq=False)
class Token:
    """A credential. `scopes` are OAuth scopes (classic) or `name:level` permissions.

    A token of kind `app` or `actions` belongs to no person: `user` is the bot that acts. `repositories`
    are the repositories' full names, in lower case, that a token with permissions was made for; none
    means all.
    """

    value: str = field(repr=False)
    user: User
    kind: TokenKind
    scopes: frozenset[str]
    repositories: frozenset[str] = frozenset()
    expires_at: datetime | None = None
    limit: int | None = None
    """Requests, and points, per hour; None for GitHub's number for its kind."""
    used: dict[str, int] = field(default_factory=dict)
    reset: int = 0
    """The end of the hour for which `used` is counted, in seconds since the epoch."""
    app: App | None = None
    """The App, for a token of kind `jwt` and those of its installations."""

    @property
    def is_integration(self) -> bool:
        """Whether an app acts with it, not a person."""
        return self.kind in {"app", "actions", "jwt"}

    @property
    def refusal(self) -> str:
        """GitHub's words for a token without a permission."""
        name = "integration" if self.is_integration else "personal access token"
        return f"Resource not accessible by {name}"

    def may(self, permission: str, *, is_private: bool = False) -> bool:
        """Whether it grants a permission such as `issues:write`; every token reads a public repository.

        Every token with permissions has `metadata:read`.
        """
        name, level = permission.split(":")
        if self.kind != "classic":
            is_free = level == "read" and (not is_private or name == "metadata")
            return f"{name}:write" in self.scopes or is_free or permission in self.scopes
        return level == "read" or bool(self.scopes & {"repo", "public_repo"})


@dataclass(slots=True, eq=False)
class App:
    """A GitHub App, which makes check runs, and whose installations have tokens.

    `public_key` is the PEM text with which its JWTs are verified.
    """

    id: int
    slug: str
    name: str
    owner: User
    client_id: str = ""
    public_key: str | None = None
    permissions: dict[str, str] = field(default_factory=dict)
    bot: User | None = None

    @property
    def node_id(self) -> str:
        """The global id, `A_…`."""
        return node_id("A", 0, self.id)


@dataclass(slots=True, eq=False)
class Installation:
    """An app on an account; empty `repositories` (full names in lower case) means all of them."""

    id: int
    app: App
    account: User
    repositories: frozenset[str] = frozenset()
    suspended_at: datetime | None = None
