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
"""Field types of REST that GraphQL's published schema lacks."""
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
"""The middle of the name of a value's GraphQL type, by the field's type; others have no values."""
FIELD_TYPES: dict[FieldType, str] = {
    "SINGLE_SELECT": "ProjectV2SingleSelectField",
    "ITERATION": "ProjectV2IterationField",
}


@dataclass(frozen=True, slots=True)
class Value:
    """A card's value in a field.

    `what` is a text, a number, an Option or an Iteration; or, from the content, users, labels, pull
    requests, reviewers, a milestone or a repository.
    """

    item: Item
    field: Field
    what: Any

    @property
    def mark(self) -> Mark:
        """Who set the value and when; for a value of the content, the card's creator and times."""
        card = self.item
        mark = card.marks.get(self.field.id)
        return mark or Mark(card.creator, card.created_at, card.updated_at)


def value_in(call: Call, item: Item, field: Field) -> Value | None:
    """A card's value in a field of its board; None if it has none, or the token cannot see it."""
    kind = field.data_type
    if kind not in VALUE_TYPES or not is_open(call.token, item):
        return None
    raw = item.values.get(field.id)
    if kind in {"TEXT", "DATE"}:
        what: Any = raw
    elif kind == "NUMBER":
        what = None if raw is None else float(raw)
    elif kind == "SINGLE_SELECT":
        what = next((option for option in field.options if option.id == raw), None)
    elif kind == "ITERATION":
        what = next((iteration for iteration in field.iterations if iteration.id == raw), None)
    else:
        what = _told(call, item.content, kind)
    return None if what is None or what == [] else Value(item, field, what)


def _told(call: Call, content: Issue | DraftIssue, kind: FieldType) -> Any:
    """The content's own value for a type of field; None if it has none."""
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
    """The users who were asked for a review or gave one, without duplicates."""
    people = [*pull.requested_reviewers, *(review.author for review in pull.reviews)]
    return list(dict.fromkeys(people))


def linked_pulls(call: Call, issue: Issue) -> list[PullRequest]:
    """The pull requests of the issue's repository that would close it; looked up once a request."""
    repo = issue.repository
    pulls_by_issue = call.once(("linked pulls", repo.id), lambda: _linked_pulls(repo))
    return pulls_by_issue.get(issue.id, [])


def _linked_pulls(repo: Repository) -> dict[int, list[PullRequest]]:
    pulls_by_issue: dict[int, list[PullRequest]] = {}
    for pull in PullTables.of(repo).pulls.values():
        for target in closing.named(repo, pull.issue.body):
            pulls_by_issue.setdefault(target.id, []).append(pull)
    return pulls_by_issue


def value_of(call: Call, item: Item, name: str) -> Value | None:
    """A card's value in the field of that name; None without a value or such a field."""
    field = item.project.field_named(name)
    return value_in(call, item, field) if field else None


def values_of(call: Call, item: Item, **arguments: Any) -> dict[str, Any]:
    """A page of a card's values, in the order of the board's fields."""
    is_backward = (arguments.pop("orderBy", None) or {}).get("direction") == "DESC"
    values = [value_in(call, item, field) for field in item.project.fields]
    shown = [value for value in values if value]
    return connection(shown[::-1] if is_backward else shown, **arguments)


def value_type(value: Value) -> str:
    """The GraphQL type of a card's value."""
    return f"ProjectV2ItemField{VALUE_TYPES[value.field.data_type]}Value"


def _own(prefix: str, **fields: Any) -> dict[str, Any]:
    """The resolvers of a type of values that the board stores."""
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
    """The resolvers of a type of values that are a list from the content, under `name`."""
    return {
        "field": lambda _, value: value.field,
        name: lambda _, value, **arguments: connection(value.what, **arguments),
    }


def _one(name: str) -> dict[str, Any]:
    """The resolvers of a type of values that are one object from the content, under `name`."""
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
