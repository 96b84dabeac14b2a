"""Repositories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifecycle.sandbox.payloads import repositories as payloads
from lifecycle.sandbox.rest.routing import REPO, Route
from lifecycle.sandbox.wire.call import Reply

if TYPE_CHECKING:
    from lifecycle.sandbox.state.repositories import Repository
    from lifecycle.sandbox.wire.call import Call


def get_repository(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R."""
    return Reply(200, payloads.repository(call, repo))


ROUTES = (Route("GET", REPO, get_repository),)
