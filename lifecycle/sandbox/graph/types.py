"""How each GraphQL type reads the world: one table of fields, put together from the subjects'."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifecycle.sandbox.graph import boards, checks, issues, pulls, repositories
from lifecycle.sandbox.state.accounts import User
from lifecycle.sandbox.state.boards import DraftIssue, Field, Item, Option, Project
from lifecycle.sandbox.state.checks import CheckRun, CommitStatus
from lifecycle.sandbox.state.issues import Comment, Issue, Label, Milestone
from lifecycle.sandbox.state.pulls import PullRequest, Review, ReviewComment, ReviewThread
from lifecycle.sandbox.state.repositories import Repository

if TYPE_CHECKING:
    from graphql import GraphQLAbstractType, GraphQLResolveInfo

SUBJECTS = (repositories, issues, pulls, checks, boards)
RESOLVERS: dict[str, dict[str, Any]] = {}
for _subject in SUBJECTS:
    for _name, _fields in _subject.RESOLVERS.items():
        RESOLVERS.setdefault(_name, {}).update(_fields)


def resolve_field(source: Any, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
    """Read one field: by the table above, else the key or attribute of the same name."""
    resolver = RESOLVERS.get(info.parent_type.name, {}).get(info.field_name)
    if resolver is not None:
        return resolver(info.context, source, **arguments)
    if isinstance(source, dict):
        return source[info.field_name]
    return getattr(source, info.field_name)


NAMES: dict[type, str] = {
    Issue: "Issue",
    PullRequest: "PullRequest",
    Project: "ProjectV2",
    Item: "ProjectV2Item",
    DraftIssue: "DraftIssue",
    Option: "ProjectV2SingleSelectFieldOption",
    CheckRun: "CheckRun",
    CommitStatus: "StatusContext",
    Comment: "IssueComment",
    Label: "Label",
    Milestone: "Milestone",
    Review: "PullRequestReview",
    ReviewComment: "PullRequestReviewComment",
    ReviewThread: "PullRequestReviewThread",
    Repository: "Repository",
}
ACCOUNTS = {"organization": "Organization", "bot": "Bot", "user": "User"}


def resolve_type(
    source: Any, _info: GraphQLResolveInfo[Any], _kind: GraphQLAbstractType
) -> str | None:
    """The name of the type that a value has, where the schema leaves it open."""
    if isinstance(source, User):
        return ACCOUNTS[source.kind]
    if isinstance(source, Field):
        return boards.field_type(source)
    if isinstance(source, boards.Value):
        return boards.value_type(source)
    return NAMES.get(type(source))
