"""What a route is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lifecycle.sandbox.wire.call import Reply

REPO = "/repos/<owner>/<name>"


@dataclass(frozen=True, slots=True)
class Route:
    """A call: its handler, and the permission that a token needs for it.

    Below `REPO` the handler gets the repository after the call; then come the parts of the path.
    """

    method: str
    path: str
    handler: Callable[..., Reply]
    permission: str = "metadata:read"
