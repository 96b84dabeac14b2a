"""What mutations ask before they change something: what is meant, and whether it may be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from lifecycle.sandbox.issues.state import Issue
from lifecycle.sandbox.pulls.state import PullRequest
from lifecycle.sandbox.repositories import access
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.nodes import node
from lifecycle.sandbox.wire.graph.pages import Refusal, forbidden, no_node

T = TypeVar("T")


def unprocessable(message: str) -> Refusal:
    """A mutation that the world as it is does not let happen."""
    return Refusal("UNPROCESSABLE", message)


def meant(call: Call, global_id: str, kind: type[T]) -> T:
    """The thing of that kind with that id, or NOT_FOUND."""
    found = node(call, global_id)
    if not isinstance(found, kind):
        raise no_node(global_id)
    return found


def all_meant(call: Call, ids: Iterable[str], kind: type[T]) -> list[T]:
    """The same for several."""
    return [meant(call, one, kind) for one in ids]


def half_meant(call: Call, global_id: str) -> tuple[Issue, Issue | PullRequest]:
    """An issue or the issue half of a pull request, and the thing that the id is of."""
    found: Any = node(call, global_id)
    if isinstance(found, PullRequest):
        return found.issue, found
    if not isinstance(found, Issue):
        raise no_node(global_id)
    return found, found


def demand(
    call: Call, repo: Repository, action: str, *, may: bool, permission: str = "issues:write"
) -> None:
    """FORBIDDEN for a token that lacks the permission, and for somebody whose role is not enough.

    The sentence is GitHub's: https://github.com/cli/cli/issues/9489 shows one.
    """
    if not call.token.may(permission) or not access.covers(call.token, repo):
        raise forbidden(call.token)
    if repo.archived:
        raise unprocessable("Repository was archived so is read-only.")
    if not may:
        login = call.viewer.login
        words = f"{login} does not have the correct permissions to execute `{action}`"
        raise Refusal("FORBIDDEN", words)


def mutations(
    actions: Mapping[str, Callable[[Call, Mapping[str, Any]], dict[str, Any]]],
) -> dict[str, Any]:
    """Resolvers of mutations from functions of the call and the input."""

    def resolver(act: Callable[[Call, Mapping[str, Any]], dict[str, Any]]) -> Any:
        return lambda call, _, **given: act(call, given["input"])

    return {name: resolver(act) for name, act in actions.items()}
