"""GraphQL's timelines of issues and pull requests: the items and their fields.

Source: https://docs.github.com/graphql/reference/unions#issuetimelineitems and
https://docs.github.com/graphql/reference/unions#pullrequesttimelineitems
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lifecycle.sandbox.base.times import stamp
from lifecycle.sandbox.git.graph import branch_ref, commit_at
from lifecycle.sandbox.issues.events.payload import may_see
from lifecycle.sandbox.issues.payload import issue_page
from lifecycle.sandbox.issues.state import Issue, IssueEvent
from lifecycle.sandbox.pulls import closing
from lifecycle.sandbox.pulls.state import PullRequest, pull_of
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.pages import Refusal, connection

ISSUE_KINDS = (
    "assigned", "unassigned", "closed", "reopened", "cross-referenced", "connected", "disconnected",
)  # fmt: skip
KINDS = (*ISSUE_KINDS, "merged", "added_to_merge_queue", "removed_from_merge_queue")
"""The kinds of events that have a type here."""
ITEM_TYPES = {f"{kind.replace('-', '_').upper()}_EVENT": kind for kind in KINDS}
NAMES = {
    kind: "".join(word.capitalize() for word in re.split("[-_]", kind)) + "Event" for kind in KINDS
}
"""The two GraphQL names of each kind: in the argument `itemTypes`, and as an object's type."""


@dataclass(frozen=True, slots=True)
class Happening:
    """An event of one issue, or of the issue half of a pull request."""

    subject: Issue
    event: IssueEvent

    @property
    def thing(self) -> Issue | PullRequest:
        """The issue or the pull request that it happened to."""
        return _whole(self.subject)

    @property
    def about(self) -> dict[str, Any]:
        """The event's data: an assignee, a source, a commit."""
        return self.event.about


def _whole(issue: Issue) -> Issue | PullRequest:
    return pull_of(issue) or issue


def _items(
    call: Call, subject: Issue, arguments: dict[str, Any], kinds: Iterable[str] = KINDS
) -> dict[str, Any]:
    """A page of the events of an issue or pull request, oldest first, by `itemTypes` and `since`.

    `since` keeps events of that time and later. An event that comes from a repository that the reader
    cannot see is left out.

    Raises:
        Refusal: NOT_IMITATED: a type in `itemTypes`, or without it the type of an event, is not
            supported here.
    """
    item_types, since = arguments.pop("itemTypes", None), arguments.pop("since", None)
    if item_types is None:
        unknown = sorted({event.kind for event in subject.events} - NAMES.keys())
        unknown += ["comments"] if subject.comments else []
    else:
        unknown = sorted(name for name in item_types if ITEM_TYPES.get(name, "") not in kinds)
    if unknown:
        raise Refusal("NOT_IMITATED", f"The sandbox does not show {unknown[0]} in a timeline.")
    wanted = NAMES.keys() if item_types is None else {ITEM_TYPES[name] for name in item_types}
    happenings = [
        Happening(subject, event)
        for event in subject.events
        if event.kind in wanted
        and (since is None or (stamp(event.created_at) or "") >= str(since))
        and may_see(call, event)
    ]
    page = connection(happenings, **arguments)
    within = {**arguments, "first": None, "last": None}
    page["filteredCount"] = lambda: len(connection(happenings, **within)["nodes"])
    page["pageCount"] = len(page["nodes"])
    page["updatedAt"] = stamp(subject.updated_at)
    return page


def _of_issue(call: Call, issue: Issue, **arguments: Any) -> dict[str, Any]:
    return _items(call, issue, arguments, ISSUE_KINDS)


def _of_pull(call: Call, pull: PullRequest, **arguments: Any) -> dict[str, Any]:
    return _items(call, pull.issue, arguments)


def _closes(_call: Call, entry: Happening) -> bool:
    """Whether the source is a pull request into the default branch whose text closes this issue."""
    source: Issue = entry.about["source"]
    pull = pull_of(source)
    if pull is None or pull.base != pull.repository.default_branch:
        return False
    return entry.subject in closing.named(source.repository, source.body)


def _closer(_call: Call, entry: Happening) -> object:
    """The pull request or the commit that closed it; None if a person did."""
    by: Issue | None = entry.about.get("closer")
    if by is not None:
        return _whole(by)
    sha = entry.about.get("commit")
    return commit_at(entry.subject.repository, str(sha)) if sha else None


def _reason(_call: Call, entry: Happening) -> str | None:
    reason = entry.about.get("state_reason")
    return str(reason).upper() if reason else None


def _page(call: Call, entry: Happening) -> str:
    return f"{issue_page(call, entry.subject)}#event-{entry.event.id}"


OF_A_PULL: dict[str, Any] = {"pullRequest": lambda _, entry: entry.thing}
CLOSABLE: dict[str, Any] = {"closable": lambda _, entry: entry.thing, "stateReason": _reason}
ASSIGNMENT: dict[str, Any] = {
    "assignable": lambda _, entry: entry.thing,
    "assignee": lambda _, entry: entry.about.get("assignee"),
    "user": lambda _, entry: entry.about.get("assignee"),
}
LINK: dict[str, Any] = {
    "source": lambda _, entry: entry.thing,
    "subject": lambda _, entry: _whole(entry.about["issue"]),
    "isCrossRepository": lambda _, entry: (
        entry.about["issue"].repository is not entry.subject.repository
    ),
}
TYPES = {Happening: lambda entry: NAMES[entry.event.kind]}
RESOLVERS: dict[str, dict[str, Any]] = {
    "Issue": {"timelineItems(itemTypes, since)": _of_issue},
    "PullRequest": {"timelineItems(itemTypes, since)": _of_pull},
    "AssignedEvent": ASSIGNMENT,
    "UnassignedEvent": ASSIGNMENT,
    "ClosedEvent": {**CLOSABLE, "url": _page, "closer": _closer},
    "ReopenedEvent": CLOSABLE,
    "CrossReferencedEvent": {
        "url": _page,
        "referencedAt": lambda _, entry: stamp(entry.event.created_at),
        "source": lambda _, entry: _whole(entry.about["source"]),
        "target": lambda _, entry: entry.thing,
        "isCrossRepository": lambda _, entry: (
            entry.about["source"].repository is not entry.subject.repository
        ),
        "willCloseTarget": _closes,
    },
    "ConnectedEvent": LINK,
    "DisconnectedEvent": LINK,
    "MergedEvent": {
        **OF_A_PULL,
        "url": _page,
        "commit": lambda _, entry: commit_at(entry.subject.repository, entry.about.get("commit")),
        "mergeRef": lambda _, entry: branch_ref(entry.subject.repository, entry.thing.base),
        "mergeRefName": lambda _, entry: entry.thing.base,
    },
    "AddedToMergeQueueEvent": OF_A_PULL,
    "RemovedFromMergeQueueEvent": {
        **OF_A_PULL,
        "reason": lambda _, entry: entry.about.get("reason"),
        "beforeCommit": lambda _, entry: commit_at(
            entry.subject.repository, entry.about.get("tested")
        ),
    },
}
PAGED = ("ClosedEvent", "CrossReferencedEvent", "MergedEvent")
_COUNTS = "filteredCount pageCount updatedAt"
PLAIN = {
    "IssueTimelineItemsConnection": _COUNTS,
    "PullRequestTimelineItemsConnection": _COUNTS,
    **dict.fromkeys(NAMES.values(), "id createdAt actor"),
    **dict.fromkeys(PAGED, "id createdAt actor resourcePath"),
}
