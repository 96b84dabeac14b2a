"""What a row is: an operation of GitHub's, and what to ask it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.clients.scene import Scene
from tests.clients.world import MARIA

Arguments = Callable[[Scene], dict[str, Any]]


def nothing(_scene: Scene) -> dict[str, Any]:
    """No arguments but owner and repo."""
    return {}


@dataclass(frozen=True, slots=True)
class Row:
    """An operation by GitHub's own id, its arguments, the status that is right, and who asks.

    Attributes:
        parsed: Whether there is a body for a model; there is none at 204 and behind a redirect.
    """

    operation: str
    arguments: Arguments = nothing
    status: int = 200
    token: str = MARIA
    parsed: bool = True


def gone(operation: str, arguments: Arguments, token: str = MARIA) -> Row:
    """A row whose answer is 204, without a body."""
    return Row(operation, arguments, 204, token, parsed=False)
