"""What happened to a pull request, as far as GraphQL is asked for it: its way through the merge queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lifecycle.sandbox.graph.pages import connection
from lifecycle.sandbox.graph.refusals import Refusal
from lifecycle.sandbox.state.times import stamp

if TYPE_CHECKING:
    from lifecycle.sandbox.state.issues import IssueEvent
    from lifecycle.sandbox.state.pulls import PullRequest
    from lifecycle.sandbox.wire.call import Call

KINDS = {
    "ADDED_TO_MERGE_QUEUE_EVENT": ("added_to_merge_queue", "AddedToMergeQueueEvent"),
    "REMOVED_FROM_MERGE_QUEUE_EVENT": ("removed_from_merge_queue", "RemovedFromMergeQueueEvent"),
}
"""Each item type that is shown: the event's kind, and its GraphQL type."""


@dataclass(frozen=True, slots=True)
class QueueEvent:
    """An event of one pull request."""

    pull: PullRequest
    event: IssueEvent


def _items(
    _call: Call, pull: PullRequest, *, itemTypes: list[str] | None = None, **page: Any  # noqa: N803 -- GraphQL's
) -> dict[str, Any]:  # fmt: skip
    """The events of these types, oldest first; without types, all if it can show them all.

    Source: https://docs.github.com/graphql/reference/objects#pullrequest
    """
    if itemTypes is None:
        shown = {kind for kind, _ in KINDS.values()}
        unknown = sorted({one.kind for one in pull.issue.events} - shown)
    else:
        unknown = sorted(set(itemTypes) - KINDS.keys())
    if unknown:
        raise Refusal("NOT_IMITATED", f"The sandbox does not show {unknown[0]} in a timeline.")
    wanted = {KINDS[name][0] for name in KINDS if itemTypes is None or name in itemTypes}
    found = [QueueEvent(pull, one) for one in pull.issue.events if one.kind in wanted]
    return connection(found, **page)


def _shared() -> dict[str, Any]:
    return {
        "id": lambda _, one: one.event.node_id,
        "createdAt": lambda _, one: stamp(one.event.created_at),
        "actor": lambda _, one: one.event.actor,
        "pullRequest": lambda _, one: one.pull,
    }


NAMES = dict(KINDS.values())
TYPES = {QueueEvent: lambda one: NAMES[one.event.kind]}
RESOLVERS: dict[str, dict[str, Any]] = {
    "PullRequest": {"timelineItems": _items},
    "AddedToMergeQueueEvent": _shared(),
    "RemovedFromMergeQueueEvent": {
        **_shared(),
        "reason": lambda _, one: one.event.about.get("reason"),
    },
}
