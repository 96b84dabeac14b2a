"""Shared by mutations: find the object of an id, check permissions, register the mutation."""

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
"""The answer of a mutation."""


def unprocessable(message: str) -> Refusal:
    """An UNPROCESSABLE error: the present world does not allow the mutation."""
    return Refusal("UNPROCESSABLE", message)


def meant(call: Call, global_id: str, kind: type[T]) -> T:
    """The object with that global id, if it has that type.

    Raises:
        Refusal: NOT_FOUND, also for an object of another type.
    """
    entity = node(call, global_id)
    if not isinstance(entity, kind):
        raise no_node(global_id)
    return entity


def all_meant(call: Call, ids: Iterable[str], kind: type[T]) -> list[T]:
    """The objects of that type with these global ids, each as by `meant`."""
    return [meant(call, global_id, kind) for global_id in ids]


def half_meant(call: Call, global_id: str) -> tuple[Issue, Issue | PullRequest]:
    """Find an issue or pull request by global id; return its issue half and the object itself."""
    entity: Any = node(call, global_id)
    if isinstance(entity, PullRequest):
        return entity.issue, entity
    if not isinstance(entity, Issue):
        raise no_node(global_id)
    return entity, entity


def half_to_triage(call: Call, global_id: str) -> tuple[Issue, Issue | PullRequest]:
    """The same as `half_meant`, if the viewer may label, assign or lock it."""
    issue, whole = half_meant(call, global_id)
    demand(call, issue.repository, may=issue.repository.can_triage(call.viewer))
    return issue, whole


def demand(
    call: Call, repo: Repository, *, may: bool = True, permission: str = "issues:write"
) -> None:
    """Raise FORBIDDEN for a token that lacks the permission, or a viewer whose role is not sufficient.

    The sentence is GitHub's: https://github.com/cli/cli/issues/9489 shows one.
    """
    if not call.token.may(permission) or not access.covers(call.token, repo):
        raise forbidden(call.token)
    if repo.archived:
        raise unprocessable("Repository was archived so is read-only.")
    if not may:
        raise no_permission(call)


def doing(act: Callable[[], T]) -> T:
    """Call `act`; raise the world's refusal as an error of the field, in the same words."""
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
"""The tables of all mutations (see `support.py`): resolvers, fields of payloads, fields of inputs."""


def mutation(gives: str = "clientMutationId", *, takes: str = "") -> Callable[[Act], Act]:
    """Register the decorated function, of the call and the input, as the mutation of its name.

    Args:
        gives: The fields of its payload, separated by spaces; `clientMutationId` may be omitted.
        takes: The optional fields of its input.
    """

    def register(act: Act) -> Act:
        name = camel(act.__name__)
        title = name[0].upper() + name[1:]
        RESOLVERS["Mutation"][name] = lambda call, _, **arguments: act(
            replace(call, mutation=title), arguments["input"]
        )
        PLAIN[f"{title}Payload"] = gives
        if takes:
            INPUTS[f"{title}Input"] = takes
        return act

    return register
