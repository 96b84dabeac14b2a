"""How each GraphQL type reads the world: one table of fields, combined from the subjects'."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache
from typing import Any

from graphql import GraphQLAbstractType, GraphQLResolveInfo, get_named_type, is_enum_type

from lifecycle.sandbox.accounts import graph as accounts
from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.times import stamp
from lifecycle.sandbox.boards import graph as boards
from lifecycle.sandbox.boards import graph_changes as board_changes
from lifecycle.sandbox.boards import graph_values as board_values
from lifecycle.sandbox.checks import graph as checks
from lifecycle.sandbox.git import graph as git
from lifecycle.sandbox.git import graph_changes as git_changes
from lifecycle.sandbox.issues import graph as issues
from lifecycle.sandbox.issues import graph_changes as issue_changes
from lifecycle.sandbox.issues.events import graph as timeline
from lifecycle.sandbox.issues.labels import graph as label_changes
from lifecycle.sandbox.issues.search import graph as search
from lifecycle.sandbox.issues.state import Comment, Issue, Label, Milestone
from lifecycle.sandbox.pulls import graph as pulls
from lifecycle.sandbox.pulls import graph_changes as pull_changes
from lifecycle.sandbox.pulls.reviews import graph as reviews
from lifecycle.sandbox.pulls.reviews import graph_changes as review_changes
from lifecycle.sandbox.repositories import graph as repositories
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.rules import graph as rules
from lifecycle.sandbox.wire.graph import changing, nodes
from lifecycle.sandbox.wire.graph.pages import Refusal, connection
from lifecycle.sandbox.wire.graph.support import put_together

SUBJECTS = (
    accounts, repositories, git, git_changes, issues, issue_changes, label_changes, search, pulls,
    pull_changes, review_changes, reviews, rules, checks, boards,
    board_values, board_changes, nodes, timeline, changing,
)  # fmt: skip
TABLES = put_together(SUBJECTS)


def resolve_field(source: Any, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
    """Resolve one field: by the subjects' tables, else the key or attribute of that name.

    A mutation's answer gets the `clientMutationId` of its input.
    """
    call, resolvers = info.context, TABLES.resolvers.get(info.parent_type.name, {})
    resolver = resolvers.get(info.field_name)
    if resolver is not None:
        value = resolver(call, source, **arguments)
        if info.parent_type.name == "Mutation":
            call.memo.clear()  # the mutation may have changed remembered values
            return {**value, "clientMutationId": arguments["input"].get("clientMutationId")}
        return value
    if isinstance(source, dict):
        entry = source[info.field_name]
        return entry() if callable(entry) else entry
    if info.field_name == "resourcePath":  # GitHub's pages, without the host
        return resolvers["url"](call, source).removeprefix(call.web)
    return _shown(_attribute(source, info.field_name), info, arguments)


HALVES = ("issue", "pull", "thread", "rule", "event")
"""Attributes that hold an object's other half: missing values are read from the first that it has."""
MISSING = object()


@cache
def _snake(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def _attribute(entity: Any, field: str) -> Any:
    """An object's attribute for a field's name: `id` is the global id, `databaseId` its number."""
    if field == "fullDatabaseId":
        return str(_attribute(entity, "databaseId"))
    name = _snake(field)
    if hasattr(entity, "node_id"):
        name = {"id": "node_id", "database_id": "id"}.get(name, name)
    value = getattr(entity, name, MISSING)
    if value is not MISSING:
        return value
    half = next((getattr(entity, key) for key in HALVES if hasattr(entity, key)), None)
    if half is None:
        raise AttributeError(f"{type(entity).__name__} has no {name}, and no half that may have it")
    return _attribute(half, field)


def _shown(value: Any, info: GraphQLResolveInfo[Any], arguments: dict[str, Any]) -> Any:
    """A value in GraphQL's form: GitHub's form of times, an enum's words in capitals, lists as pages."""
    if isinstance(value, datetime):
        return stamp(value)
    kind = get_named_type(info.return_type)
    if isinstance(value, str) and is_enum_type(kind):
        return value.upper()
    return connection(value, **arguments) if kind.name.endswith("Connection") else value


ACCOUNTS = {"organization": "Organization", "bot": "Bot", "user": "User"}
NAMES: dict[type, Any] = {
    User: lambda user: ACCOUNTS[user.kind],
    Issue: "Issue",
    Comment: "IssueComment",
    Label: "Label",
    Milestone: "Milestone",
    Repository: "Repository",
}
for _subject in SUBJECTS:
    NAMES.update(getattr(_subject, "TYPES", {}))


def resolve_type(source: Any, info: GraphQLResolveInfo[Any], _kind: GraphQLAbstractType) -> str:
    """The name of a value's type, if the schema has an interface or a union.

    A subject's file gives it for its own classes in `TYPES`: a name, or a function of the value. A dict
    has it under `__typename`.

    Raises:
        Refusal: GraphQL does not show such objects here, even if GitHub does.
    """
    naming = NAMES.get(type(source))
    if isinstance(source, dict):
        naming = source["__typename"]
    name = naming(source) if callable(naming) else naming
    if name is None or info.schema.get_type(name) is None:
        title = name or type(source).__name__
        raise Refusal("NOT_IMITATED", f"The sandbox does not show {title} by GraphQL.")
    return str(name)
