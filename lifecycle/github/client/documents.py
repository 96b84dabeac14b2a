"""The documents in `graphql/`, alone or several as one operation, and which of them a server lacks.

What not every server knows lies in a document of its own. It is sent together with the one that it
adds to, in one request, and left out once the server has said that it does not know it: so an older
GitHub Enterprise Server costs a part of an answer, never all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar

from graphql import (
    DefinitionNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    Node,
    OperationDefinitionNode,
    OperationType,
    SelectionNode,
    SelectionSetNode,
    Visitor,
    parse,
    print_ast,
    visit,
)

from lifecycle.settings.resources import graphql_document

N = TypeVar("N", bound=Node)


@dataclass(frozen=True, slots=True)
class Document:
    """One operation, ready to be sent.

    Attributes:
        node: the operation and its fragments.
        operation: its name, that of the first document.
        is_mutation: it changes something.
        variables: the names of its variables.
    """

    node: DocumentNode
    operation: str
    is_mutation: bool
    variables: frozenset[str]


@cache
def document(name: str, *others: str) -> Document:
    """`graphql/NAME.graphql`, with what other documents ask for besides; built once per process.

    Fields that several documents ask for with the same arguments become one field, as GraphQL has
    it for one document, so that the others add no request.

    Raises:
        ValueError: the documents do not fit together: one variable, fragment or field with two
            meanings. That is a defect of the documents.
    """
    operation, *fragments = definitions(name)
    for other in others:
        added, *more = definitions(other)
        operation = _merged(operation, added)
        fragments = united(fragments, more)
    if not isinstance(operation, OperationDefinitionNode):
        raise TypeError(f"{name}.graphql begins with something else than its operation")
    return Document(
        DocumentNode(definitions=(operation, *fragments)),
        operation.name.value if operation.name else name,
        operation.operation is OperationType.MUTATION,
        frozenset(one.variable.name.value for one in operation.variable_definitions or ()),
    )


def text(name: str, *others: str) -> str:
    """The same as GraphQL text."""
    return print_ast(document(name, *others).node)


@cache
def fields_of(name: str, kind: str) -> frozenset[str]:
    """The keys that the fragments of `graphql/NAME.graphql` on the type `kind` add to its objects."""
    of_kind = (
        one
        for one in definitions(name)
        if isinstance(one, FragmentDefinitionNode) and one.type_condition.name.value == kind
    )
    return frozenset(_key(field) for one in of_kind for field in one.selection_set.selections)


def blamed(name: str, others: Sequence[str], words: str) -> tuple[str, ...]:
    """Which of the added documents a server means that says it does not know something.

    Args:
        name: the document that has to be answered.
        others: what was added to it.
        words: the path and the message of the server's error.

    Returns:
        Those that have one of the words for themselves; all of them if nobody can tell.
    """
    said = set(re.findall(r"\w+", words))
    base = _names(name)
    return tuple(one for one in others if said & (_names(one) - base)) or tuple(others)


def definitions(name: str) -> tuple[DefinitionNode, ...]:
    """The operation, then its fragments."""
    found = parse(graphql_document(name), no_location=True).definitions
    return tuple(sorted(found, key=lambda one: isinstance(one, FragmentDefinitionNode)))


def _merged(one: DefinitionNode, other: DefinitionNode) -> OperationDefinitionNode:
    if not isinstance(one, OperationDefinitionNode) or not isinstance(
        other, OperationDefinitionNode
    ):
        raise TypeError("only operations can be merged")
    if one.operation is not other.operation:
        raise ValueError("a query and a mutation are not one operation")
    variables = united(one.variable_definitions or (), other.variable_definitions or ())
    selections = both(one.selection_set, other.selection_set)
    return replace(one, variable_definitions=tuple(variables), selection_set=selections)


def both(one: SelectionSetNode, other: SelectionSetNode) -> SelectionSetNode:
    """Every selection of both, with the fields of one name made one."""
    selections: list[SelectionNode] = list(one.selections)
    keys = [_key(node) for node in selections]
    for node in other.selections:
        key = _key(node)
        if key not in keys:
            selections.append(node)
            keys.append(key)
            continue
        at = keys.index(key)
        selections[at] = _one_field(selections[at], node)
    return SelectionSetNode(selections=tuple(selections))


def _one_field(one: SelectionNode, other: SelectionNode) -> SelectionNode:
    if not isinstance(one, FieldNode) or not isinstance(other, FieldNode):
        return one  # the same spread, or the same inline fragment
    if _head(one) != _head(other) or (one.selection_set is None) != (other.selection_set is None):
        raise ValueError(f"{_key(one)} is asked for in two ways")
    if one.selection_set is None or other.selection_set is None:
        return one
    return replace(one, selection_set=both(one.selection_set, other.selection_set))


def _key(node: SelectionNode) -> str:
    """What makes two selections one: a field's name in the answer, else all of it."""
    if isinstance(node, FieldNode):
        return (node.alias or node.name).value
    return print_ast(node)


def _head(node: FieldNode) -> tuple[str, list[str]]:
    """A field without its selections."""
    parts = (*(node.arguments or ()), *(node.directives or ()))
    return node.name.value, sorted(print_ast(part) for part in parts)


def united(ones: Iterable[N], others: Iterable[N]) -> list[N]:
    """Variables or fragments by name; two of one name have to be the same."""
    found = {name_of(node): node for node in ones}
    for node in others:
        known = found.setdefault(name_of(node), node)
        if print_ast(known) != print_ast(node):
            raise ValueError(f"{name_of(node)} is defined in two ways")
    return list(found.values())


def name_of(node: Node) -> str:
    """The name of a variable's definition or of a fragment."""
    named: Node = getattr(node, "variable", node)
    return str(named.name.value)  # type: ignore[attr-defined]  # variables and fragments have one


class _Names(Visitor):
    """Collects every name in a document."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def enter_name(self, node: Node, *_: object) -> None:
        """One name of a field, an argument, a type, a fragment or a variable."""
        self.found.update(_value(node))


def _value(node: Node) -> Iterator[str]:
    value = getattr(node, "value", None)
    if isinstance(value, str):
        yield value


@cache
def _names(name: str) -> frozenset[str]:
    names = _Names()
    visit(document(name).node, names)
    return frozenset(names.found - {document(name).operation})
