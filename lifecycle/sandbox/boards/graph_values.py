"""The values of a card's fields: those set on the card, and those of its issue or pull request.

Source: https://docs.github.com/issues/planning-and-tracking-with-projects/understanding-fields
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.times import stamp
from lifecycle.sandbox.boards.access import is_open
from lifecycle.sandbox.boards.state import DraftIssue, Field, FieldType, Item, Mark
from lifecycle.sandbox.issues.state import Issue
from lifecycle.sandbox.pulls import closing
from lifecycle.sandbox.pulls.state import PullRequest, PullTables, pull_of
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.pages import connection

UNKNOWN_TO_GRAPHQL: set[FieldType] = {"ISSUE_TYPE"}
"""Types that REST's fields have and GraphQL's published schema has not."""
VALUE_TYPES: dict[FieldType, str] = {
    "TITLE": "Text",
    "TEXT": "Text",
    "NUMBER": "Number",
    "DATE": "Date",
    "SINGLE_SELECT": "SingleSelect",
    "ITERATION": "Iteration",
    "ASSIGNEES": "User",
    "LABELS": "Label",
    "LINKED_PULL_REQUESTS": "PullRequest",
    "MILESTONE": "Milestone",
    "REPOSITORY": "Repository",
    "REVIEWERS": "Reviewer",
}
"""The middle of the name of a value's GraphQL type; other fields' values have none."""
FIELD_TYPES: dict[FieldType, str] = {
    "SINGLE_SELECT": "ProjectV2SingleSelectField",
    "ITERATION": "ProjectV2IterationField",
}


@dataclass(frozen=True, slots=True)
class Value:
    """What a card has in a field.

    `what` is a text, a number, an Option, an Iteration, or what the content says: users, labels,
    pull requests, reviewers, a milestone, a repository.
    """

    item: Item
    field: Field
    what: Any

    @property
    def mark(self) -> Mark:
        """Whose it is and since when; a title is as old as its card."""
        card = self.item
        known = card.marks.get(self.field.id)
        return known or Mark(card.creator, card.created_at, card.updated_at)


def value_in(call: Call, item: Item, field: Field) -> Value | None:
    """What a card has in a field of its board; None if nothing."""
    kind = field.data_type
    if kind not in VALUE_TYPES or not is_open(call.token, item):
        return None
    raw = item.values.get(field.id)
    if kind in {"TEXT", "DATE"}:
        what: Any = raw
    elif kind == "NUMBER":
        what = None if raw is None else float(raw)
    elif kind == "SINGLE_SELECT":
        what = next((one for one in field.options if one.id == raw), None)
    elif kind == "ITERATION":
        what = next((one for one in field.iterations if one.id == raw), None)
    else:
        what = _told(call, item.content, kind)
    return None if what is None or what == [] else Value(item, field, what)


def _told(call: Call, content: Issue | DraftIssue, kind: FieldType) -> Any:
    """What the content says about itself."""
    if kind == "TITLE":
        return content.title
    if kind == "ASSIGNEES":
        return content.assignees
    if isinstance(content, DraftIssue):
        return None
    pull = pull_of(content)
    if kind == "LABELS":
        return content.labels
    if kind == "MILESTONE":
        return content.milestone
    if kind == "REPOSITORY":
        return content.repository
    if kind == "REVIEWERS":
        return reviewers_of(pull) if pull else None
    return None if pull else linked_pulls(call, content)


def reviewers_of(pull: PullRequest) -> list[User]:
    """Who was asked for a review or gave one, each once."""
    people = [*pull.requested_reviewers, *(review.author for review in pull.reviews)]
    return list(dict.fromkeys(people))


def linked_pulls(call: Call, issue: Issue) -> list[PullRequest]:
    """The pull requests of its repository that would close an issue; looked up once a request."""
    repo = issue.repository
    known = call.once(("linked pulls", repo.id), lambda: _linked_pulls(repo))
    return known.get(issue.id, [])


def _linked_pulls(repo: Repository) -> dict[int, list[PullRequest]]:
    found: dict[int, list[PullRequest]] = {}
    for pull in PullTables.of(repo).pulls.values():
        for target in closing.named(repo, pull.issue.body):
            found.setdefault(target.id, []).append(pull)
    return found


def value_of(call: Call, item: Item, name: str) -> Value | None:
    """What a card has in the field of that name; None if nothing, or there is no such field."""
    field = item.project.field_named(name)
    return value_in(call, item, field) if field else None


def values_of(call: Call, item: Item, **given: Any) -> dict[str, Any]:
    """All that a card has in its fields, in their order."""
    is_backward = (given.pop("orderBy", None) or {}).get("direction") == "DESC"
    found = [value_in(call, item, field) for field in item.project.fields]
    shown = [value for value in found if value]
    return connection(shown[::-1] if is_backward else shown, **given)


def value_type(value: Value) -> str:
    """The GraphQL type of a card's value."""
    return f"ProjectV2ItemField{VALUE_TYPES[value.field.data_type]}Value"


def _own(prefix: str, **fields: Any) -> dict[str, Any]:
    """How a value that the board itself keeps is read."""
    return {
        "id": lambda _, value: f"{prefix}_{value.item.id}_{value.field.id}",
        "field": lambda _, value: value.field,
        "item": lambda _, value: value.item,
        "creator": lambda _, value: value.mark.creator,
        "createdAt": lambda _, value: stamp(value.mark.created_at),
        "updatedAt": lambda _, value: stamp(value.mark.updated_at),
        **fields,
    }


def _page(name: str) -> dict[str, Any]:
    """How a value is read that is several things of the content."""
    return {
        "field": lambda _, value: value.field,
        name: lambda _, value, **given: connection(value.what, **given),
    }


def _one(name: str) -> dict[str, Any]:
    """How a value is read that is one thing of the content."""
    return {"field": lambda _, value: value.field, name: lambda _, value: value.what}


TYPES: dict[type, Any] = {Value: value_type}
RESOLVERS: dict[str, dict[str, Any]] = {
    "ProjectV2ItemFieldTextValue": _own("PVTFTV", text=lambda _, value: value.what),
    "ProjectV2ItemFieldNumberValue": _own("PVTFNV", number=lambda _, value: value.what),
    "ProjectV2ItemFieldDateValue": _own("PVTFDV", date=lambda _, value: value.what),
    "ProjectV2ItemFieldSingleSelectValue": _own(
        "PVTFSV",
        name=lambda _, value: value.what.name,
        nameHTML=lambda _, value: value.what.name,
        optionId=lambda _, value: value.what.id,
        color=lambda _, value: value.what.color,
        description=lambda _, value: value.what.description,
    ),
    "ProjectV2ItemFieldIterationValue": _own(
        "PVTFIV",
        title=lambda _, value: value.what.title,
        titleHTML=lambda _, value: value.what.title,
        iterationId=lambda _, value: value.what.id,
        startDate=lambda _, value: value.what.start,
        duration=lambda _, value: value.what.duration,
    ),
    "ProjectV2ItemFieldUserValue": _page("users"),
    "ProjectV2ItemFieldLabelValue": _page("labels"),
    "ProjectV2ItemFieldPullRequestValue": _page("pullRequests"),
    "ProjectV2ItemFieldReviewerValue": _page("reviewers"),
    "ProjectV2ItemFieldMilestoneValue": _one("milestone"),
    "ProjectV2ItemFieldRepositoryValue": _one("repository"),
}
