"""The kinds of tokens, and what an answer of GitHub says of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifecycle.core import timing
from lifecycle.core.values.model import RepositoryAccess, TokenFacts
from lifecycle.github.client.client_common import part, read_as, text

# Source: https://docs.github.com/authentication/keeping-your-account-and-data-secure/about-authentication-to-github#githubs-token-formats
_KINDS = {"ghp_": "classic", "github_pat_": "fine-grained", "gho_": "oauth"}
_KINDS |= dict.fromkeys(("ghu_", "ghs_"), "app")
PEOPLES = frozenset({"classic", "oauth", "unknown"})
"""Kinds of tokens that see everything that their owner sees, if they have the scope for it."""


def kind_of(token: str) -> str:
    """The kind of a token, from its first letters."""
    return next((name for letters, name in _KINDS.items() if token.startswith(letters)), "unknown")


_ACTIONS_LIMIT = 1000
"""Requests per hour and repository; an app has at least 5,000.

Source:
https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#primary-rate-limit-for-github_token-in-github-actions
"""


def token_facts(token: str, login: str, headers: Mapping[str, Any]) -> TokenFacts:
    """The facts about a token in its first letters and an answer's headers; the token is not kept.

    Args:
        token: only its first letters are used.
        login: its owner, "" if it has none.
        headers: an answer's, with names in lower case.
    """
    named, scopes = headers.get("x-oauth-scopes"), None  # None for a kind of token without scopes
    if isinstance(named, str):
        scopes = tuple(scope.strip() for scope in named.split(",") if scope.strip())
    limit = _decimal(headers.get("x-ratelimit-limit"))
    kind = "actions" if token.startswith("ghs_") and limit == _ACTIONS_LIMIT else kind_of(token)
    if kind == "unknown" and scopes is not None:
        kind = "classic"  # made before tokens had prefixes, or on a server that has none
    return TokenFacts(
        login=login,
        kind=kind,
        scopes=scopes,
        server_time=timing.parse_time(headers.get("date")),
        limit=limit,
        remaining=_decimal(headers.get("x-ratelimit-remaining")),
        permissions=str(headers.get("x-accepted-github-permissions") or ""),
        expires_at=timing.parse_time(headers.get("github-authentication-token-expiration")),
        server_version=str(headers.get("x-github-enterprise-version") or ""),
    )


def repository_access(repository: Mapping[str, Any]) -> RepositoryAccess:
    """What the token's owner may do in a repository, from REST's JSON of the repository."""
    push, parent = part(repository, "permissions").get("push"), text(repository, "parent.full_name")
    named = {"name": repository["full_name"], "can_push": push, "parent": parent}
    kinds = {"is_private": repository.get("private"), "is_archived": repository.get("archived")}
    return read_as(RepositoryAccess, {**repository, **named, **kinds})


def _decimal(header: object) -> int | None:
    return int(header) if isinstance(header, str) and header.isdecimal() else None
