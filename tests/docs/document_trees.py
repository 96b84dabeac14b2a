"""Merge GraphQL documents, each field asked for once: for `ready.json`, which `make docs` writes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import TypeVar

import graphql

from tests.graphql_texts import graphql_document

N = TypeVar("N", bound=graphql.Node)
Fragment = graphql.FragmentDefinitionNode


def merged(name: str, *others: str) -> str:
    """`graphql/NAME.graphql`, with what other documents ask for besides, as one text.

    Fields that several documents ask for with the same arguments become one field, as GraphQL has
    it for one document, so that the others add no request.

    Raises:
        ValueError: the documents do not fit together: one variable, fragment or field with two
            meanings. That is a defect of the documents.
    """
    operation, fragments = _parsed(name)
    for other in others:
        added, added_fragments = _parsed(other)
        if operation.operation is not added.operation:
            raise ValueError("a query and a mutation are not one operation")
        variables = united(operation.variable_definitions or (), added.variable_definitions or ())
        selections = both(operation.selection_set, added.selection_set)
        operation = replace(
            operation, variable_definitions=tuple(variables), selection_set=selections
        )
        fragments = united(fragments, added_fragments)
    return _printed(operation, fragments)


@cache
def fields_of(name: str, kind: str) -> frozenset[str]:
    """The keys that the fragments of `graphql/NAME.graphql` on the type `kind` add to its objects."""
    fragments = _parsed(name)[1]
    of_kind = (node for node in fragments if node.type_condition.name.value == kind)
    return frozenset(_key(field) for node in of_kind for field in node.selection_set.selections)


def _parsed(name: str) -> tuple[graphql.OperationDefinitionNode, list[Fragment]]:
    """The operation of `graphql/NAME.graphql`, and its fragments; ValueError unless there is one."""
    nodes = graphql.parse(graphql_document(name), no_location=True).definitions
    (operation,) = (node for node in nodes if isinstance(node, graphql.OperationDefinitionNode))
    return operation, [node for node in nodes if isinstance(node, Fragment)]


def _printed(operation: graphql.OperationDefinitionNode, fragments: list[Fragment]) -> str:
    return graphql.print_ast(graphql.DocumentNode(definitions=(operation, *fragments)))


def both(
    first: graphql.SelectionSetNode, second: graphql.SelectionSetNode
) -> graphql.SelectionSetNode:
    """All selections of two sets; those of the same field become one."""
    selections: list[graphql.SelectionNode] = list(first.selections)
    keys = [_key(node) for node in selections]
    for node in second.selections:
        key = _key(node)
        if key not in keys:
            selections.append(node)
            keys.append(key)
            continue
        at = keys.index(key)
        selections[at] = _one_field(selections[at], node)
    return graphql.SelectionSetNode(selections=tuple(selections))


def _one_field(
    first: graphql.SelectionNode, second: graphql.SelectionNode
) -> graphql.SelectionNode:
    if not isinstance(first, graphql.FieldNode) or not isinstance(second, graphql.FieldNode):
        return first  # the same spread, or the same inline fragment
    if _head(first) != _head(second):
        raise ValueError(f"{_key(first)} is asked for in two ways")
    if first.selection_set is None or second.selection_set is None:
        return first
    return replace(first, selection_set=both(first.selection_set, second.selection_set))


def _key(node: graphql.SelectionNode) -> str:
    """The key of a selection: a field's name in the answer, else its whole text."""
    if isinstance(node, graphql.FieldNode):
        return (node.alias or node.name).value
    return graphql.print_ast(node)


def _head(node: graphql.FieldNode) -> tuple[str, bool, list[str]]:
    """What two fields of one key have to share: name, whether they hold fields, arguments, directives."""
    parts = (*(node.arguments or ()), *(node.directives or ()))
    texts = sorted(graphql.print_ast(part) for part in parts)
    return node.name.value, node.selection_set is None, texts


def united(ones: Iterable[N], others: Iterable[N]) -> list[N]:
    """All variables or fragments of two lists, one for each name; ValueError if two of a name differ."""
    by_name = {name_of(node): node for node in ones}
    for node in others:
        defined = by_name.setdefault(name_of(node), node)
        if graphql.print_ast(defined) != graphql.print_ast(node):
            raise ValueError(f"{name_of(node)} is defined in two ways")
    return list(by_name.values())


def name_of(node: graphql.Node) -> str:
    """The name of a variable's definition, of a fragment or of an operation."""
    named: graphql.Node = getattr(node, "variable", node)
    return str(named.name.value)  # type: ignore[attr-defined]  # each of these has one
