"""Inspect a document before it runs: scopes, page sizes, number of nodes, cost.

GitHub checks a classic token's scopes on the document itself: each selected field that needs a missing one
is a separate error, without a path, and nothing runs, so the answer has no data
(https://github.com/cli/cli/issues/11308 and https://github.com/github/docs/issues/19712 show
answers). Fields with `@include(if: false)` do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    Node,
    OperationDefinitionNode,
    SelectionSetNode,
    get_named_type,
    is_composite_type,
    is_leaf_type,
    value_from_ast_untyped,
)

from lifecycle.sandbox.accounts.state import Token

READ, WRITE = ("read:project", "project"), ("project",)
WAYS_IN = {"projectV2", "projectsV2"}
PAGE_PARTS = {"nodes", "edges", "pageInfo"}
NODE_LIMIT = 500_000


@dataclass(slots=True)
class Findings:
    """The result of inspecting a document: errors, and the numbers that GitHub limits."""

    errors: list[dict[str, Any]] = field(default_factory=list)
    requests: int = 0
    nodes: int = 0
    roots: int = 0
    """Fields at the root."""

    @property
    def points(self) -> int:
        """The cost: a hundredth of the connections to fetch, at least one.

        Source: https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
        """
        return max(1, round(self.requests / 100))

    def refuse_nodes(self, path: list[str] | None = None, nodes: int = 0) -> None:
        """Refuse more than 500,000 possible nodes: of one connection, or of the whole query.

        Both sentences are in public: https://github.com/flutter/cocoon/pull/644 and
        https://github.com/semantic-release/github/issues/911.
        """
        asked = (
            f"By the time this query traverses to the {path[-1]} connection, it is requesting up "
            f"to {nodes:,} possible nodes"
            if path
            else f"This query requests up to {self.nodes:,} possible nodes"
        )
        error: dict[str, Any] = {"type": "MAX_NODE_LIMIT_EXCEEDED"}
        if path:
            error["path"] = path
        error["message"] = f"{asked} which exceeds the maximum limit of {NODE_LIMIT:,}."
        self.errors.append(error)


@dataclass(slots=True)
class Walk:
    """One inspection of a document."""

    schema: GraphQLSchema
    fragments: Mapping[str, FragmentDefinitionNode]
    variables: Mapping[str, Any]
    token: Token | None
    findings: Findings = field(default_factory=Findings)

    def down(
        self,
        selection: SelectionSetNode | None,
        parent: GraphQLNamedType,
        path: list[str],
        fan: int,
    ) -> None:
        """Inspect each field of a selection, recursively; `fan` is the possible number of parents."""
        for node, owner in self._fields(selection, parent):
            definition = owner.fields.get(node.name.value)
            if definition is None:
                continue  # __typename
            self.findings.roots += not path
            kind = get_named_type(definition.type)
            field_path = [*path, (node.alias or node.name).value]
            self._demand_scope(node, owner, kind)
            size = fan
            if kind.name.endswith("Connection"):
                self.findings.requests += fan
                size = fan * self._page(node, field_path, kind)
                if size > NODE_LIMIT >= fan:
                    self.findings.refuse_nodes(field_path, size)
                self.findings.nodes += size
            elif node.name.value == "nodes" and owner.name == "Query":
                size = fan * len(self._arguments(node).get("ids") or ())
                self.findings.nodes += size
            self.down(node.selection_set, kind, field_path, max(size, fan))

    def _arguments(self, node: FieldNode) -> dict[str, Any]:
        return {
            a.name.value: value_from_ast_untyped(a.value, dict(self.variables))
            for a in node.arguments or ()
        }

    def _fields(
        self, selection: SelectionSetNode | None, parent: GraphQLNamedType
    ) -> Iterator[tuple[FieldNode, GraphQLObjectType | GraphQLInterfaceType]]:
        """The fields that will run, each with the type that it is selected on."""
        for node in selection.selections if selection else ():
            if not self._included(node):
                continue
            if isinstance(node, FieldNode):
                if isinstance(parent, (GraphQLObjectType, GraphQLInterfaceType)):
                    yield node, parent
                continue
            target: InlineFragmentNode | FragmentDefinitionNode | None = None
            if isinstance(node, InlineFragmentNode):
                target = node
            elif isinstance(node, FragmentSpreadNode):
                target = self.fragments[node.name.value]
            if target is not None:
                yield from self._fields(target.selection_set, self._narrowed(target, parent))

    def _narrowed(
        self, node: InlineFragmentNode | FragmentDefinitionNode, parent: GraphQLNamedType
    ) -> GraphQLNamedType:
        condition = node.type_condition
        kind = self.schema.get_type(condition.name.value) if condition else None
        return kind if kind is not None and is_composite_type(kind) else parent

    def _included(self, node: Any) -> bool:
        for directive in node.directives or ():
            value = value_from_ast_untyped(directive.arguments[0].value, dict(self.variables))
            if (directive.name.value == "skip") is bool(value):
                return False
        return True

    def _demand_scope(self, node: FieldNode, owner: GraphQLNamedType, kind: Any) -> None:
        """Note an error if the token lacks the scope for a field about boards or values on them."""
        name = node.name.value
        needed: tuple[str, ...] = ()
        if owner.name == "Mutation" and "ProjectV2" in name:
            needed = WRITE
        elif name in WAYS_IN or (owner.name.startswith("ProjectV2") and is_leaf_type(kind)):
            needed = READ
        token = self.token
        if not needed or token is None or token.kind != "classic" or token.scopes & set(needed):
            return
        self.findings.errors.append(
            {
                "type": "INSUFFICIENT_SCOPES",
                "locations": [_place(node)],
                "message": "Your token has not been granted the required scopes to execute this "
                f"query. The '{name}' field requires one of the following scopes: "
                f"['{needed[0]}'], but your token has only been granted the: "
                f"{sorted(token.scopes)} scopes. Please modify your token's scopes at: "
                "https://github.com/settings/tokens.",
            }
        )

    def _page(self, node: FieldNode, path: list[str], kind: GraphQLNamedType) -> int:
        """The size of the page that a connection asks for, at most 100.

        A client that asks only for the total needs no size, or gives 0, as `gh project` does:
        https://github.com/cli/cli/blob/v2.46.0/pkg/cmd/project/shared/queries/queries.go
        """
        arguments = self._arguments(node)
        name = node.name.value
        bound = next((b for b in ("first", "last") if arguments.get(b) is not None), None)
        if bound is None:
            asked = {field.name.value for field, _ in self._fields(node.selection_set, kind)}
            if not asked & PAGE_PARTS:
                return 0
            self._refuse_page(
                node, path, "MISSING_PAGINATION_BOUNDARIES",
                f"You must provide a `first` or `last` value to properly paginate the `{name}` connection.",
            )  # fmt: skip
            return 1
        size = int(arguments[bound])
        if size > 100:
            self._refuse_page(
                node, path, "EXCESSIVE_PAGINATION",
                f"Requesting {size} records on the `{name}` connection exceeds the `{bound}` limit "
                "of 100 records.",
            )  # fmt: skip
        elif size < 0:
            self._refuse_page(
                node, path, "INVALID_CURSOR_ARGUMENTS",
                f"`{bound}` on the `{name}` connection cannot be less than zero.",
            )  # fmt: skip
        return max(size, 1)

    def _refuse_page(self, node: FieldNode, path: list[str], kind: str, message: str) -> None:
        self.findings.errors.append(
            {"type": kind, "path": path, "locations": [_place(node)], "message": message}
        )


def _place(node: Node) -> dict[str, int]:
    if node.loc is None:
        return {"line": 1, "column": 1}
    token = node.loc.start_token
    return {"line": token.line, "column": token.column}


def inspect(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Mapping[str, Any],
    token: Token | None,
) -> Findings:
    """Inspect an operation of a valid document; without a token, scopes are not checked."""
    fragments = {
        d.name.value: d for d in document.definitions if isinstance(d, FragmentDefinitionNode)
    }
    walk = Walk(schema, fragments, variables, token)
    root = schema.get_root_type(operation.operation)
    if root is not None:
        walk.down(operation.selection_set, root, [], 1)
    if walk.findings.nodes > NODE_LIMIT and not walk.findings.errors:
        walk.findings.refuse_nodes()
    return walk.findings
