"""Tokens of other people of the world, for tests that need more than one hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifecycle.sandbox.accounts.state import Token

if TYPE_CHECKING:
    from lifecycle.sandbox.accounts.state import TokenKind
    from lifecycle.sandbox.server import Sandbox


def grant(
    sandbox: Sandbox,
    login: str,
    *scopes: str,
    kind: TokenKind = "classic",
    repositories: tuple[str, ...] = (),
) -> str:
    """A token for somebody; without scopes a classic one with all that tests need."""
    assert sandbox.site
    world = sandbox.site.world
    value = f"{login}-{kind}-{'-'.join(scopes)}"
    chosen = frozenset(scopes or ("repo", "project", "delete_repo"))
    world.tokens[value] = Token(value, world.human(login), kind, chosen, frozenset(repositories))
    return value
