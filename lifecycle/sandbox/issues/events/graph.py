"""What happened to issues and pull requests, as far as GraphQL shows it.

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
"""The kinds of events that are shown."""
ITEM_TYPES = {f"{kind.replace('-', '_').upper()}_EVENT": kind for kind in KINDS}
NAMES = {
    kind: "".join(word.capitalize() for word in re.split("[-_]", kind)) + "Event" for kind in KINDS
}
"""What each is called in GraphQL: as a type of items, and as a type of objects."""


@dataclass(frozen=True, slots=True)
class Happening:
    """An event of one issue, or of the issue half of a pull request."""

    subject: Issue
    event: IssueEvent

    @property
    def thing(self) -> Issue | PullRequest:
        """Whose it is, whole."""
        return _whole(self.subject)

    @property
    def about(self) -> dict[str, Any]:
        """What it is about."""
        return self.event.about


def _whole(issue: Issue) -> Issue | PullRequest:
    return pull_of(issue) or issue


def _items(
    call: Call, subject: Issue, given: dict[str, Any], kinds: Iterable[str] = KINDS
) -> dict[str, Any]:
    """The events of these types, oldest first; without types, all if it can show them all.

    What a reader may not see refers to nothing for them. `since` takes what is as old or younger.
    """
    item_types, since = given.pop("itemTypes", None), given.pop("since", None)
    if item_types is None:
        unknown = sorted({one.kind for one in subject.events} - NAMES.keys())
        unknown += ["comments"] if subject.comments else []
    else:
        unknown = sorted(one for one in item_types if ITEM_TYPES.get(one, "") not in kinds)
    if unknown:
        raise Refusal("NOT_IMITATED", f"The sandbox does not show {unknown[0]} in a timeline.")
    wanted = NAMES.keys() if item_types is None else {ITEM_TYPES[name] for name in item_types}
    found = [
        Happening(subject, one)
        for one in subject.events
        if one.kind in wanted
        and (since is None or (stamp(one.created_at) or "") >= str(since))
        and may_see(call, one)
    ]
    page = connection(found, **given)
    within = {**given, "first": None, "last": None}
    page["filteredCount"] = lambda: len(connection(found, **within)["nodes"])
    page["pageCount"] = len(page["nodes"])
    page["updatedAt"] = stamp(subject.updated_at)
    return page


def _of_issue(call: Call, issue: Issue, **given: Any) -> dict[str, Any]:
    return _items(call, issue, given, ISSUE_KINDS)


def _of_pull(call: Call, pull: PullRequest, **given: Any) -> dict[str, Any]:
    return _items(call, pull.issue, given)


def _closes(_call: Call, one: Happening) -> bool:
    """Whether its source is a pull request that says it closes this, where that would happen."""
    source: Issue = one.about["source"]
    pull = pull_of(source)
    if pull is None or pull.base != pull.repository.default_branch:
        return False
    return one.subject in closing.named(source.repository, source.body)


def _closer(_call: Call, one: Happening) -> object:
    """What closed it, where that was no person: a commit, or a pull request."""
    by: Issue | None = one.about.get("closer")
    if by is not None:
        return _whole(by)
    sha = one.about.get("commit")
    return commit_at(one.subject.repository, str(sha)) if sha else None


def _reason(_call: Call, one: Happening) -> str | None:
    reason = one.about.get("state_reason")
    return str(reason).upper() if reason else None


def _page(call: Call, one: Happening) -> str:
    return f"{issue_page(call, one.subject)}#event-{one.event.id}"


OF_A_PULL: dict[str, Any] = {"pullRequest": lambda _, one: one.thing}
CLOSABLE: dict[str, Any] = {"closable": lambda _, one: one.thing, "stateReason": _reason}
ASSIGNMENT: dict[str, Any] = {
    "assignable": lambda _, one: one.thing,
    "assignee": lambda _, one: one.about.get("assignee"),
    "user": lambda _, one: one.about.get("assignee"),
}
LINK: dict[str, Any] = {
    "source": lambda _, one: one.thing,
    "subject": lambda _, one: _whole(one.about["issue"]),
    "isCrossRepository": lambda _, one: one.about["issue"].repository is not one.subject.repository,
}
TYPES = {Happening: lambda one: NAMES[one.event.kind]}
RESOLVERS: dict[str, dict[str, Any]] = {
    "Issue": {"timelineItems(itemTypes, since)": _of_issue},
    "PullRequest": {"timelineItems(itemTypes, since)": _of_pull},
    "AssignedEvent": ASSIGNMENT,
    "UnassignedEvent": ASSIGNMENT,
    "ClosedEvent": {**CLOSABLE, "url": _page, "closer": _closer},
    "ReopenedEvent": CLOSABLE,
    "CrossReferencedEvent": {
        "url": _page,
        "referencedAt": lambda _, one: stamp(one.event.created_at),
        "source": lambda _, one: _whole(one.about["source"]),
        "target": lambda _, one: one.thing,
        "isCrossRepository": lambda _, one: (
            one.about["source"].repository is not one.subject.repository
        ),
        "willCloseTarget": _closes,
    },
    "ConnectedEvent": LINK,
    "DisconnectedEvent": LINK,
    "MergedEvent": {
        **OF_A_PULL,
        "url": _page,
        "commit": lambda _, one: commit_at(one.subject.repository, one.about.get("commit")),
        "mergeRef": lambda _, one: branch_ref(one.subject.repository, one.thing.base),
        "mergeRefName": lambda _, one: one.thing.base,
    },
    "AddedToMergeQueueEvent": OF_A_PULL,
    "RemovedFromMergeQueueEvent": {
        **OF_A_PULL,
        "reason": lambda _, one: one.about.get("reason"),
        "beforeCommit": lambda _, one: commit_at(one.subject.repository, one.about.get("tested")),
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
