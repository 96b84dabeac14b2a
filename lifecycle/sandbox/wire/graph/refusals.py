"""What GraphQL fields refuse, with the type that GitHub gives to each error."""

from __future__ import annotations

from lifecycle.sandbox.accounts.state import Token, User


class Refusal(Exception):
    """A field that fails: it becomes null, and this becomes an error beside the data."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def not_found(message: str) -> Refusal:
    """Nothing is there, or the token may not see it."""
    return Refusal("NOT_FOUND", message)


def no_node(node_id: str) -> Refusal:
    """Nothing has that global id."""
    return not_found(f"Could not resolve to a node with the global id of '{node_id}'.")


def forbidden(token: Token) -> Refusal:
    """A token of permissions that lacks the one needed."""
    return Refusal("FORBIDDEN", token.refusal)


def no_permission(user: User, mutation: str) -> Refusal:
    """Somebody who sees a thing and may not change it, in the words that `gh` prints in reports.

    Args:
        user: Who asks.
        mutation: Its name with a capital: `UpdateProjectV2`.
    """
    words = f"{user.login} does not have the correct permissions to execute `{mutation}`"
    return Refusal("FORBIDDEN", words)


def rejected(message: str) -> Refusal:
    """A mutation whose input makes no sense for what is there."""
    return Refusal("VALIDATION", message)
