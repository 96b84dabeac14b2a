"""What documents and tables need of GitHub's GraphQL schema.

Kept are the types, fields, arguments and input fields that they name, whole enums, pages as a
whole, what interfaces demand of the types that are kept, and nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    NamedTypeNode,
    ObjectFieldNode,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    build_ast_schema,
    get_named_type,
    is_required_argument,
    is_required_input_field,
    visit,
)

from lifecycle.sandbox.wire.graph.support import PAGING, FieldTables

PAGE = {
    "Connection": {"nodes", "edges", "pageInfo", "totalCount"},
    "Edge": {"cursor", "node"},
    "PageInfo": {"hasNextPage", "hasPreviousPage", "startCursor", "endCursor"},
    "Payload": {"clientMutationId"},
    "Input": {"clientMutationId"},
}
"""What every type whose name ends so has, as far as GitHub gives it."""


class SupportError(ValueError):
    """A table names what GitHub's schema does not have; the text says which."""


class Needs(Visitor):
    """Collects what is used: fields by type, arguments by field, and bare types."""

    def __init__(self, schema: GraphQLSchema, info: TypeInfo) -> None:
        super().__init__()
        self.schema = schema
        self.info = info
        self.types: set[str] = {"Query"}
        self.fields: dict[str, set[str]] = defaultdict(set)
        self.arguments: dict[tuple[str, str], set[str]] = defaultdict(set)

    def enter_field(self, node: FieldNode, *_: Any) -> None:
        """A field of a document, with the arguments that it gives."""
        parent, definition = self.info.get_parent_type(), self.info.get_field_def()
        if parent is None or definition is None or node.name.value.startswith("__"):
            return
        given = {argument.name.value for argument in node.arguments or ()}
        self.keep(parent.name, node.name.value, given & definition.args.keys())

    def enter_inline_fragment(self, node: InlineFragmentNode, *_: Any) -> None:
        """A type condition keeps its type, whatever is asked of it."""
        if node.type_condition:
            self.types.add(node.type_condition.name.value)

    def enter_named_type(self, node: NamedTypeNode, *_: Any) -> None:
        """The type of a variable or a fragment; an input object as a variable is kept whole."""
        kind = self.schema.get_type(node.name.value)
        self.types.add(node.name.value)
        if isinstance(kind, GraphQLInputObjectType):
            self.keep_input(kind.name, kind.fields)

    def enter_object_field(self, node: ObjectFieldNode, *_: Any) -> None:
        """A field of an input object that is written out."""
        parent = get_named_type(self.info.get_parent_input_type())
        if isinstance(parent, GraphQLInputObjectType) and node.name.value in parent.fields:
            self.keep_input(parent.name, [node.name.value])

    def keep(self, kind: str, name: str, arguments: Iterable[str] = ()) -> None:
        """Keep a field, its type, these of its arguments and the ones that have to be."""
        definition = self._fields_of(kind).get(name)
        if definition is None:
            raise SupportError(f"GitHub's type {kind!r} has no field {name!r}.")
        self.types |= {kind, get_named_type(definition.type).name}
        self.fields[kind].add(name)
        needed = {n for n, argument in definition.args.items() if is_required_argument(argument)}
        if get_named_type(definition.type).name.endswith("Connection"):
            needed |= PAGING & definition.args.keys()
        for argument in needed | set(arguments):
            if argument not in definition.args:
                raise SupportError(f"GitHub's {kind}.{name} has no argument {argument!r}.")
            self.arguments[kind, name].add(argument)
            self._input(get_named_type(definition.args[argument].type).name)

    def keep_input(self, kind: str, names: Iterable[str]) -> None:
        """Keep these fields of an input type."""
        fields = getattr(self.schema.get_type(kind), "fields", {})
        self._input(kind)
        for name in names:
            if name not in fields:
                raise SupportError(f"GitHub's input {kind!r} has no field {name!r}.")
            self.fields[kind].add(name)
            self._input(get_named_type(fields[name].type).name)

    def _fields_of(self, kind: str) -> Any:
        found = self.schema.get_type(kind)
        if not isinstance(found, (GraphQLObjectType, GraphQLInterfaceType)):
            raise SupportError(f"GitHub's schema has no type {kind!r} with fields.")
        return found.fields

    def _input(self, name: str) -> None:
        """Keep an input type, and of an input object the fields that cannot be left out."""
        kind = self.schema.get_type(name)
        if name in self.types or kind is None:
            return
        self.types.add(name)
        if isinstance(kind, GraphQLInputObjectType):
            for field_name, field in kind.fields.items():
                if is_required_input_field(field):
                    self.fields[name].add(field_name)
                    self._input(get_named_type(field.type).name)

    def close(self) -> None:
        """Add what follows from what is kept, until nothing changes.

        Raises:
            SupportError: A union or an input type would have nothing in it.
        """
        before = -1
        while before != (before := self._size()):
            for name in sorted(self.types):
                self._complete(name)
            for kind in self.schema.type_map.values():
                if isinstance(kind, GraphQLInterfaceType):
                    self._share(kind)
            for name in sorted(self.types):
                for interface in getattr(self.schema.get_type(name), "interfaces", ()):
                    if interface.name in self.types:
                        self._inherit(name, interface)
        for name in sorted(self.types):
            self._demand_content(name)

    def _size(self) -> int:
        counted = [*self.fields.values(), *self.arguments.values(), self.types]
        return sum(map(len, counted))

    def _complete(self, name: str) -> None:
        """Give a page all that pages have, and a type that is only named one field."""
        kind = self.schema.get_type(name)
        for ending, parts in PAGE.items():
            if not name.endswith(ending):
                continue
            if isinstance(kind, GraphQLInputObjectType):
                self.keep_input(name, parts & kind.fields.keys())
            elif isinstance(kind, GraphQLObjectType):
                for part in parts & kind.fields.keys():
                    self.keep(name, part)
        if isinstance(kind, (GraphQLObjectType, GraphQLInterfaceType)) and not self.fields[name]:
            self.keep(name, "id" if "id" in kind.fields else next(iter(kind.fields)))

    def _share(self, interface: GraphQLInterfaceType) -> None:
        """Keep of an interface what all kept types that have it support; `id` alone is nothing."""
        having = [
            kind.name
            for kind in self.schema.get_implementations(interface).objects
            if kind.name in self.types
        ]
        if not having:
            return
        common = set.intersection(*(self.fields[name] for name in having))
        common &= interface.fields.keys()
        if interface.name not in self.types and not common - {"id"}:
            return
        for field in common:
            arguments = set.intersection(*(self.arguments[name, field] for name in having))
            self.keep(interface.name, field, arguments & interface.fields[field].args.keys())

    def _inherit(self, name: str, interface: GraphQLInterfaceType) -> None:
        for field in list(self.fields[interface.name]):
            self.keep(name, field, self.arguments[interface.name, field])

    def _demand_content(self, name: str) -> None:
        kind: GraphQLNamedType | None = self.schema.get_type(name)
        members = getattr(kind, "types", None)
        if members is not None and not any(member.name in self.types for member in members):
            raise SupportError(f"The sandbox supports no type of the union {name!r}.")
        if isinstance(kind, GraphQLInputObjectType) and not self.fields[name]:
            raise SupportError(f"The sandbox takes no field of the input {name!r}: see INPUTS.")


def full_schema(whole: DocumentNode) -> GraphQLSchema:
    """Build a schema from GitHub's SDL, which a strict build refuses for a repeated field."""
    return build_ast_schema(whole, assume_valid=True, assume_valid_sdl=True)


def needs_of(schema: GraphQLSchema, documents: list[DocumentNode], tables: FieldTables) -> Needs:
    """What these documents and tables use of a schema.

    Raises:
        SupportError: The tables name something that is not in it.
    """
    info = TypeInfo(schema)
    needs = Needs(schema, info)
    for document in documents:
        visit(document, TypeInfoVisitor(info, needs))
    for kind, fields in tables.fields.items():
        for name, arguments in fields.items():
            needs.keep(kind, name, arguments)
    for kind, names in tables.inputs.items():
        needs.keep_input(kind, names)
    needs.close()
    return needs
