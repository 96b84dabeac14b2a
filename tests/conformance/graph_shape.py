"""The GraphQL oracle: documents and answers held against the schema that GitHub publishes.

An answer is walked along the document that asked for it: every field asked for and no other, null
only where the type allows it or an error says why, lists where lists are promised, known enum
values, and scalars in their written forms.
Sources: https://spec.graphql.org/October2021/#sec-Response, https://docs.github.com/graphql/reference/scalars
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLEnumType,
    GraphQLError,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    OperationDefinitionNode,
    OverlappingFieldsCanBeMergedRule,
    build_ast_schema,
    parse,
    specified_rules,
    validate,
    value_from_ast_untyped,
)

from tests.conformance.exchange import Exchange, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from graphql import DirectiveNode, DocumentNode, GraphQLOutputType, SelectionSetNode

# GitHub does not enforce the merging of overlapping fields; its own `gh` violates the rule.
RULES = [rule for rule in specified_rules if rule is not OverlappingFieldsCanBeMergedRule]
FORMS = {
    "DateTime": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"),
    "PreciseDateTime": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"),
    "GitTimestamp": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)"),
    "Date": re.compile(r"\d{4}-\d\d-\d\d"),
    "GitObjectID": re.compile(r"[0-9a-f]{40}"),
    "URI": re.compile(r"[a-z][a-z0-9+.-]*:\S+|/\S*", re.IGNORECASE),
    "GitSSHRemote": re.compile(r"\S+@\S+:\S+"),
    "X509Certificate": re.compile(r"(?s)-----BEGIN.*"),
    "BigInt": re.compile(r"-?\d+"),
    "Base64String": re.compile(r"[A-Za-z0-9+/=\s]*"),
    "HTML": re.compile(r"(?s).*"),
    "String": re.compile(r"(?s).*"),
    "ID": re.compile(r"\S+"),
    "GitRefname": re.compile(r"\S+"),
    "EnterpriseSlug": re.compile(r"\S+"),
}
"""How each scalar that is written as a string looks."""
LIMIT = 2**31


@dataclass(frozen=True, slots=True)
class Asked:
    """What a document asks for, ready to be walked.

    Attributes:
        errors: Why GitHub would refuse the document; empty if it would not.
    """

    document: DocumentNode
    fragments: Mapping[str, FragmentDefinitionNode]
    errors: tuple[str, ...]

    def operation(self, name: str | None) -> OperationDefinitionNode | None:
        """The operation that a request is for."""
        found = [d for d in self.document.definitions if isinstance(d, OperationDefinitionNode)]
        if name:
            found = [one for one in found if one.name and one.name.value == name]
        return found[0] if found else None


@dataclass(slots=True)
class Walk:
    """One answer on its way along the selection of its document."""

    schema: GraphQLSchema
    asked: Asked
    variables: Mapping[str, Any]
    where: str
    found: list[Finding] = field(default_factory=list)

    def say(self, path: tuple[str | int, ...], what: str) -> None:
        """Note what is wrong at a place."""
        self.found.append(Finding(self.where, "".join(f"/{step}" for step in path), what))


DESCRIPTION = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"""', re.DOTALL)
"""Two thirds of the published text, and of the time that it takes to read."""


@cache
def published(path: Path) -> GraphQLSchema:
    """The schema of a file, without its descriptions, made once in a process; half a second."""
    document = parse(DESCRIPTION.sub("", path.read_text(encoding="utf-8")), no_location=True)
    # The published text has a duplicate field, which strict building refuses.
    return build_ast_schema(document, assume_valid=True, assume_valid_sdl=True)


class GraphOracle:
    """Says what is wrong with a document or an answer, by GitHub's own schema."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self.schema = schema
        self.asked = lru_cache(maxsize=512)(self._asked)

    @classmethod
    def load(cls, path: Path) -> GraphOracle:
        """Read the schema."""
        return cls(published(path))

    def _asked(self, query: str) -> Asked | None:
        try:
            document = parse(query)
        except GraphQLError:
            return None
        fragments = {
            one.name.value: one
            for one in document.definitions
            if isinstance(one, FragmentDefinitionNode)
        }
        errors = tuple(error.message for error in validate(self.schema, document, RULES))
        return Asked(document, fragments, errors)

    def findings(self, exchange: Exchange) -> list[Finding]:
        """What is wrong with the answer to a POST of a document; empty if nothing is.

        A document that GitHub would refuse must be refused. One that it would run may be refused
        here too, since the sandbox knows a part of the schema only.
        """
        if exchange.status != 200 or exchange.method != "POST":
            return []
        sent = exchange.sent if isinstance(exchange.sent, dict) else {}
        asked = self.asked(str(sent.get("query", "")))
        name = sent.get("operationName")
        operation = asked.operation(name) if asked else None
        where = f"graphql {_name(operation) or name or 'without a name'}"
        try:
            body = exchange.body()
        except ValueError:
            return [Finding(where, "", "the body is not JSON")]
        if not isinstance(body, dict):
            return [Finding(where, "", "the body is not an object")]
        wrong = list(_envelope(where, body))
        data = body.get("data")
        if wrong or data is None or asked is None:
            return wrong
        if asked.errors:
            return [Finding(where, "", f"answered what GitHub refuses: {asked.errors[0]}")]
        if operation is None:
            return [Finding(where, "", "answered a document without such an operation")]
        return self._walked(where, asked, operation, sent, body)

    def _walked(
        self,
        where: str,
        asked: Asked,
        operation: OperationDefinitionNode,
        sent: Mapping[str, Any],
        body: Mapping[str, Any],
    ) -> list[Finding]:
        root = self.schema.get_root_type(operation.operation)
        assert root is not None  # the document is valid
        variables = {
            one.variable.name.value: value_from_ast_untyped(one.default_value)
            for one in operation.variable_definitions or ()
            if one.default_value
        } | dict(sent.get("variables") or {})
        walk = Walk(self.schema, asked, variables, where)
        _object(walk, root, [operation.selection_set], body["data"], ())
        return walk.found


def _name(operation: OperationDefinitionNode | None) -> str | None:
    return operation.name.value if operation and operation.name else None


def _envelope(where: str, body: Mapping[str, Any]) -> Iterator[Finding]:
    """The outermost object: data, errors, extensions, and what an error consists of."""
    if extra := sorted(body.keys() - {"data", "errors", "extensions"}):
        yield Finding(where, "", f"unknown keys: {', '.join(extra)}")
    if not body.keys() & {"data", "errors"}:
        yield Finding(where, "", "neither data nor errors")
    errors = body.get("errors", [])
    if "errors" in body and (not isinstance(errors, list) or not errors):
        yield Finding(where, "/errors", "errors are a list that is not empty")
        return
    for n, error in enumerate(errors):
        if not isinstance(error, dict) or not isinstance(error.get("message"), str):
            yield Finding(where, f"/errors/{n}", "an error without a message")
            continue
        known = {"message", "type", "path", "locations", "extensions", "code"}
        if extra := sorted(error.keys() - known):
            yield Finding(where, f"/errors/{n}", f"unknown keys: {', '.join(extra)}")
        for place in error.get("locations", ()):
            if not {"line", "column"} <= place.keys():
                yield Finding(where, f"/errors/{n}/locations", "a location is line and column")


def _object(
    walk: Walk,
    kind: GraphQLObjectType,
    selections: list[SelectionSetNode],
    value: Any,
    path: tuple[str | int, ...],
) -> None:
    if not isinstance(value, dict):
        walk.say(path, f"not an object, though {kind.name} is one")
        return
    fields: dict[str, list[FieldNode]] = {}
    for selection in selections:
        _collect(walk, kind, selection, fields)
    if missing := [name for name in fields if name not in value]:
        walk.say(path, f"asked for and not answered: {', '.join(missing)}")
    if extra := [name for name in value if name not in fields]:
        walk.say(path, f"answered and not asked for: {', '.join(extra)}")
    for key, nodes in fields.items():
        if key not in value:
            continue
        name = nodes[0].name.value
        if name == "__typename":
            if value[key] != kind.name:
                walk.say((*path, key), f"{value[key]!r} is not the type {kind.name}")
        elif not name.startswith("__"):
            inner = [node.selection_set for node in nodes if node.selection_set]
            _value(walk, kind.fields[name].type, inner, value[key], (*path, key))


def _collect(
    walk: Walk,
    kind: GraphQLObjectType,
    selection: SelectionSetNode,
    into: dict[str, list[FieldNode]],
) -> None:
    """The fields that a selection asks of a type, by their name in the answer."""
    for node in selection.selections:
        if not _is_included(walk, node.directives):
            continue
        if isinstance(node, FieldNode):
            key = node.alias.value if node.alias else node.name.value
            into.setdefault(key, []).append(node)
            continue
        if isinstance(node, FragmentSpreadNode):
            fragment: Any = walk.asked.fragments[node.name.value]
        else:
            fragment = node
        condition = fragment.type_condition
        if condition is None or _fits(walk.schema, kind, condition.name.value):
            _collect(walk, kind, fragment.selection_set, into)


def _is_included(walk: Walk, directives: tuple[DirectiveNode, ...] | None) -> bool:
    for directive in directives or ():
        if directive.name.value not in {"include", "skip"}:
            continue
        (condition,) = directive.arguments or ()
        wanted = value_from_ast_untyped(condition.value, dict(walk.variables))
        if bool(wanted) is (directive.name.value == "skip"):
            return False
    return True


def _fits(schema: GraphQLSchema, kind: GraphQLObjectType, condition: str) -> bool:
    wanted = schema.type_map[condition]
    if isinstance(wanted, (GraphQLInterfaceType, GraphQLUnionType)):
        return schema.is_sub_type(wanted, kind)
    return wanted is kind


def _value(
    walk: Walk,
    kind: GraphQLOutputType,
    selections: list[SelectionSetNode],
    value: Any,
    path: tuple[str | int, ...],
) -> None:
    if isinstance(kind, GraphQLNonNull):
        if value is None:
            walk.say(path, f"null, though its type is {kind}")
            return
        kind = kind.of_type
    if value is None:
        return
    if isinstance(kind, GraphQLList):
        _list(walk, kind, selections, value, path)
    elif isinstance(kind, GraphQLObjectType):
        _object(walk, kind, selections, value, path)
    elif isinstance(kind, (GraphQLInterfaceType, GraphQLUnionType)):
        _abstract(walk, kind, selections, value, path)
    elif what := _leaf(kind, value):
        walk.say(path, what)


def _list(
    walk: Walk,
    kind: GraphQLList[Any],
    selections: list[SelectionSetNode],
    value: Any,
    path: tuple[str | int, ...],
) -> None:
    if not isinstance(value, list):
        walk.say(path, f"not a list, though its type is {kind}")
        return
    for n, one in enumerate(value):
        _value(walk, kind.of_type, selections, one, (*path, n))


def _abstract(
    walk: Walk,
    kind: GraphQLInterfaceType | GraphQLUnionType,
    selections: list[SelectionSetNode],
    value: Any,
    path: tuple[str | int, ...],
) -> None:
    """An interface or union: as its `__typename` says, or else as any type that it may be."""
    possible = walk.schema.get_possible_types(kind)
    named = value.get("__typename") if isinstance(value, dict) else None
    if isinstance(named, str):
        chosen = [one for one in possible if one.name == named]
        if not chosen:
            walk.say(path, f"{named!r} is no {kind.name}")
            return
        _object(walk, chosen[0], selections, value, path)
        return
    best: list[Finding] | None = None
    for one in possible:
        attempt = Walk(walk.schema, walk.asked, walk.variables, walk.where)
        _object(attempt, one, selections, value, path)
        if not attempt.found:
            return
        if best is None or len(attempt.found) < len(best):
            best = attempt.found
    walk.found += best or []


def _leaf(kind: GraphQLOutputType, value: Any) -> str | None:
    """What is wrong with an enum or a scalar; None if nothing is."""
    if isinstance(kind, GraphQLEnumType):
        is_known = isinstance(value, str) and value in kind.values
        return None if is_known else f"{value!r} is no {kind.name}"
    name = str(kind)
    if name == "Boolean":
        return None if isinstance(value, bool) else f"{value!r} is no Boolean"
    if name == "Int":
        is_int = isinstance(value, int) and not isinstance(value, bool)
        return None if is_int and -LIMIT <= value < LIMIT else f"{value!r} is no Int"
    if name == "Float":
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return None if is_number else f"{value!r} is no Float"
    form = FORMS.get(name)
    if form is None:
        return f"a scalar that the oracle does not know: {name}"
    if not isinstance(value, str) or not form.fullmatch(value):
        return f"{str(value)[:80]!r} is no {name}"
    return None
