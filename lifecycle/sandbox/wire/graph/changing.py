"""What mutations ask first: which object an id names, and whether the sender may change it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from lifecycle.sandbox.base.errors import ActionRefused, ApiError
from lifecycle.sandbox.issues.state import Issue
from lifecycle.sandbox.pulls.state import PullRequest
from lifecycle.sandbox.repositories import access
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.nodes import node
from lifecycle.sandbox.wire.graph.pages import Refusal, camel, forbidden, no_node, no_permission

T = TypeVar("T")
Given = Mapping[str, Any]
"""The input of a mutation."""
Payload = dict[str, Any]
"""What a mutation answers."""


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


def half_to_triage(call: Call, global_id: str) -> tuple[Issue, Issue | PullRequest]:
    """The same, to be labelled, assigned or locked by who may do that."""
    issue, whole = half_meant(call, global_id)
    demand(call, issue.repository, may=issue.repository.can_triage(call.viewer))
    return issue, whole


def demand(
    call: Call, repo: Repository, *, may: bool = True, permission: str = "issues:write"
) -> None:
    """FORBIDDEN for a token that lacks the permission, and for somebody whose role is not enough.

    The sentence is GitHub's: https://github.com/cli/cli/issues/9489 shows one.
    """
    if not call.token.may(permission) or not access.covers(call.token, repo):
        raise forbidden(call.token)
    if repo.archived:
        raise unprocessable("Repository was archived so is read-only.")
    if not may:
        raise no_permission(call)


def doing(act: Callable[[], T]) -> T:
    """Do it; what the world refuses becomes an error of the field, in the same words."""
    try:
        return act()
    except ActionRefused as refused:
        raise unprocessable(str(refused)) from None
    except ApiError as error:
        raise unprocessable(_words(error)) from None


def _words(error: ApiError) -> str:
    first = error.errors[0] if error.errors else None
    if isinstance(first, dict):
        return str(first.get("message") or f"{first.get('field')} is {first.get('code')}")
    return str(first or error.message)


Act = Callable[[Call, Given], Payload]
RESOLVERS: dict[str, dict[str, Any]] = {"Mutation": {}}
PLAIN: dict[str, str] = {}
INPUTS: dict[str, str] = {}
"""Of every subject's mutations: who answers, what the answers have, what may be given."""


def mutation(gives: str = "clientMutationId", *, takes: str = "") -> Callable[[Act], Act]:
    """Let a function of the call and the input be the mutation that it is named after.

    Args:
        gives: The fields of its payload, parted by spaces; `clientMutationId` need not be said.
        takes: The fields of its input that may be left out.
    """

    def register(act: Act) -> Act:
        name = camel(act.__name__)
        title = name[0].upper() + name[1:]
        RESOLVERS["Mutation"][name] = lambda call, _, **given: act(
            replace(call, mutation=title), given["input"]
        )
        PLAIN[f"{title}Payload"] = gives
        if takes:
            INPUTS[f"{title}Input"] = takes
        return act

    return register
