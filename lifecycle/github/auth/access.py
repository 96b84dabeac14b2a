"""What a token is and what it may do, read from its first letters and from GitHub's answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifecycle.core import timing
from lifecycle.core.values.model import RepositoryAccess, TokenFacts
from lifecycle.github.auth.tokens import kind_of

_ACTIONS_LIMIT = 1000
"""Requests an hour and repository; an app has 5,000 at least.

Source: https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#primary-rate-limit-for-github_token-in-github-actions
"""


def token_facts(token: str, login: str, headers: Mapping[str, Any]) -> TokenFacts:
    """The facts about a token, which is looked at and not kept.

    Args:
        token: only its first letters count.
        login: whose it is, "" if nobody's.
        headers: of an answer, with names in lower case.
    """
    scopes = _scopes(headers.get("x-oauth-scopes"))
    limit = _number(headers.get("x-ratelimit-limit"))
    kind = kind_of(token)
    if token.startswith("ghs_") and limit == _ACTIONS_LIMIT:
        kind = "actions"
    if kind == "unknown" and scopes is not None:
        kind = "classic"  # made before tokens had prefixes, or on a server that has none
    return TokenFacts(
        login=login,
        kind=kind,
        scopes=scopes,
        server_time=timing.parse_time(headers.get("date")),
        limit=limit,
        remaining=_number(headers.get("x-ratelimit-remaining")),
        permissions=str(headers.get("x-accepted-github-permissions") or ""),
        expires_at=timing.parse_time(headers.get("github-authentication-token-expiration")),
        server_version=str(headers.get("x-github-enterprise-version") or ""),
    )


def repository_access(found: Mapping[str, Any]) -> RepositoryAccess:
    """A repository as REST shows it, as far as it says what may be done there."""
    permissions = found.get("permissions") or {}
    return RepositoryAccess(
        name=str(found["full_name"]),
        default_branch=str(found.get("default_branch") or ""),
        can_push=permissions.get("push"),
        can_triage=permissions.get("triage"),
        is_private=bool(found.get("private")),
        has_issues=bool(found.get("has_issues", True)),
        is_archived=bool(found.get("archived")),
    )


def _scopes(header: object) -> tuple[str, ...] | None:
    """The scopes in their order; an empty header is a token without any, none is no such token."""
    if not isinstance(header, str):
        return None
    return tuple(scope.strip() for scope in header.split(",") if scope.strip())


def _number(header: object) -> int | None:
    return int(header) if isinstance(header, str) and header.isdecimal() else None
