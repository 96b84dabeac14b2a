"""Several documents, one of them perhaps many times, as one operation: how a sweep asks.

A sweep wants the same of many repositories or issues. Each gets the same text under an alias of its own,
with variables of its own, so that one request shows all of them.
Source: https://spec.graphql.org/October2021/#sec-Field-Alias
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, lru_cache

from graphql import (
    DefinitionNode,
    DocumentNode,
    FieldNode,
    NameNode,
    Node,
    OperationDefinitionNode,
    OperationType,
    SelectionNode,
    SelectionSetNode,
    VariableDefinitionNode,
    VariableNode,
    Visitor,
    visit,
)

from lifecycle.github.client.documents import Document, both, definitions, document, name_of, united


@lru_cache(maxsize=64)
def repeated(*names: str) -> Document:
    """Several documents, one of them perhaps many times, as one operation.

    Part N's field of the root is called `pN`, and its variables `pN_NAME`. What asks for nothing of
    its own (`rateLimit`) is there once, and so are fragments; variables that only fragments use are
    common to all parts and keep their names.

    Raises:
        TypeError: a document is a mutation.
        ValueError: a document has not exactly one field with variables at its root, or the documents
            do not fit together, as for `document`.
    """
    variables: dict[str, VariableDefinitionNode] = {}
    bare = SelectionSetNode(selections=())
    asking: list[SelectionNode] = []
    fragments: list[DefinitionNode] = []
    for name in dict.fromkeys(names):
        part = _part(name)
        bare = both(bare, SelectionSetNode(selections=part.bare))
        fragments = united(fragments, part.fragments)
        variables |= {name_of(one): one for one in united(variables.values(), part.shared)}
    for number, name in enumerate(names):
        part, renaming = _part(name), _Renaming(f"p{number}_")
        variables |= {f"p{number}_{name_of(one)}": visit(one, renaming) for one in part.own}
        asking.append(replace(visit(part.asking, renaming), alias=NameNode(value=f"p{number}")))
    selections = SelectionSetNode(selections=(*bare.selections, *asking))
    operation = OperationDefinitionNode(
        operation=OperationType.QUERY,
        name=NameNode(value=document(names[0]).operation),
        variable_definitions=tuple(variables.values()),
        directives=(),
        selection_set=selections,
    )
    node = DocumentNode(definitions=(operation, *fragments))
    return Document(node, document(names[0]).operation, False, frozenset(variables))


@dataclass(frozen=True, slots=True)
class _RepeatedPart:
    """A document that is repeated.

    Attributes:
        bare: fields of the root that use no variable.
        asking: the one field of the root that does.
        own, shared: the variables that it uses, and those that only fragments use.
    """

    bare: tuple[SelectionNode, ...]
    asking: FieldNode
    own: tuple[VariableDefinitionNode, ...]
    shared: tuple[VariableDefinitionNode, ...]
    fragments: tuple[DefinitionNode, ...]


@cache
def _part(name: str) -> _RepeatedPart:
    operation, *fragments = definitions(name)
    if not isinstance(operation, OperationDefinitionNode) or document(name).is_mutation:
        raise TypeError("only queries can be repeated")
    own = _variables(operation.selection_set)
    every = operation.selection_set.selections
    bare = tuple(one for one in every if not _variables(one))
    asking = [one for one in every if isinstance(one, FieldNode) and _variables(one)]
    if len(asking) != 1:
        raise ValueError(f"{len(asking)} fields with variables where one is needed")
    known = operation.variable_definitions or ()
    return _RepeatedPart(
        bare,
        asking[0],
        tuple(one for one in known if name_of(one) in own),
        tuple(one for one in known if name_of(one) not in own),
        tuple(fragments),
    )


class _Renaming(Visitor):
    """Puts a prefix before the name of every variable; what it is used on is left as it is."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def enter_variable(self, node: VariableNode, *_: object) -> VariableNode:
        """The variable under its new name."""
        return VariableNode(name=NameNode(value=f"{self._prefix}{node.name.value}"))


def _variables(node: Node) -> frozenset[str]:
    """The names of the variables that are used below a node."""
    found = _Variables()
    visit(node, found)
    return frozenset(found.found)


class _Variables(Visitor):
    """Collects the names of variables."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def enter_variable(self, node: VariableNode, *_: object) -> None:
        """One use of a variable."""
        self.found.add(node.name.value)
