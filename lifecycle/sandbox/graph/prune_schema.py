"""Cuts GitHub's published GraphQL schema down to what the product's documents use.

    python -m lifecycle.sandbox.graph.prune_schema SDL VERSION OUT

SDL is `schema.graphql` of the npm package @octokit/graphql-schema, VERSION the package's. Kept are
the types, fields, arguments and input fields that a document names, whole enums, what interfaces
demand of the types that are kept, and nothing else; pruning what is pruned changes nothing.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from graphql import (
    DocumentNode,
    EnumTypeDefinitionNode,
    FieldDefinitionNode,
    FieldNode,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    InputObjectTypeDefinitionNode,
    InterfaceTypeDefinitionNode,
    NamedTypeNode,
    ObjectFieldNode,
    ObjectTypeDefinitionNode,
    TypeInfo,
    TypeInfoVisitor,
    UnionTypeDefinitionNode,
    Visitor,
    build_ast_schema,
    get_named_type,
    is_required_argument,
    is_required_input_field,
    parse,
    print_ast,
    visit,
)

from lifecycle.resources import graphql_documents

HEADER = """\
# GitHub's GraphQL schema, cut down to what graphql/*.graphql uses. Generated; do not edit:
#     python -m lifecycle.sandbox.graph.prune_schema SDL VERSION OUT
# From schema.graphql of the npm package @octokit/graphql-schema {version}, MIT licence,
# https://github.com/octokit/graphql-schema
"""
BUILT_IN = {"String", "Int", "Float", "Boolean", "ID"}


class Needs(Visitor):
    """Collects what documents use: fields by type, arguments by field, and bare types."""

    def __init__(self, schema: GraphQLSchema, info: TypeInfo) -> None:
        super().__init__()
        self.schema = schema
        self.info = info
        self.types: set[str] = {"Query"}
        self.fields: dict[str, set[str]] = defaultdict(set)
        self.arguments: dict[tuple[str, str], set[str]] = defaultdict(set)

    def enter_field(self, node: FieldNode, *_: Any) -> None:
        """A field: it, its type, the arguments given and the ones that have to be."""
        parent, definition = self.info.get_parent_type(), self.info.get_field_def()
        if parent is None or definition is None or node.name.value.startswith("__"):
            return
        key = (parent.name, node.name.value)
        self.fields[key[0]].add(key[1])
        self.types |= {parent.name, get_named_type(definition.type).name}
        given = {argument.name.value for argument in node.arguments or ()}
        needed = {n for n, argument in definition.args.items() if is_required_argument(argument)}
        for name in (given | needed) & definition.args.keys():
            self.arguments[key].add(name)
            self._input(get_named_type(definition.args[name].type).name)

    def enter_inline_fragment(self, node: InlineFragmentNode, *_: Any) -> None:
        """A type condition keeps its type, whatever is asked of it."""
        if node.type_condition:
            self.types.add(node.type_condition.name.value)

    def enter_named_type(self, node: NamedTypeNode, *_: Any) -> None:
        """The type of a variable or a fragment; an input object as a variable is kept whole."""
        kind = self.schema.get_type(node.name.value)
        self.types.add(node.name.value)
        if isinstance(kind, GraphQLInputObjectType):
            self._input(kind.name)
            for name, field in kind.fields.items():
                self.fields[kind.name].add(name)
                self._input(get_named_type(field.type).name)

    def enter_object_field(self, node: ObjectFieldNode, *_: Any) -> None:
        """A field of an input object that is written out."""
        parent = get_named_type(self.info.get_parent_input_type())
        if isinstance(parent, GraphQLInputObjectType) and node.name.value in parent.fields:
            self.fields[parent.name].add(node.name.value)
            self._input(get_named_type(parent.fields[node.name.value].type).name)

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
        """Give every kept type the fields that its kept interfaces have, until nothing changes."""
        before = -1
        while before != (before := sum(map(len, self.fields.values())) + len(self.types)):
            for name in sorted(self.types):
                kind = self.schema.get_type(name)
                self._furnish(kind)
                for interface in getattr(kind, "interfaces", ()):
                    if interface.name in self.types:
                        self._inherit(name, interface)

    def _furnish(self, kind: GraphQLNamedType | None) -> None:
        """Give a type that is only spread upon (`... on Node`) the one field that it needs."""
        if isinstance(kind, (GraphQLObjectType, GraphQLInterfaceType)) and (
            not self.fields[kind.name]
        ):
            name = "id" if "id" in kind.fields else next(iter(kind.fields))
            self.fields[kind.name].add(name)
            self.types.add(get_named_type(kind.fields[name].type).name)

    def _inherit(self, name: str, interface: GraphQLInterfaceType) -> None:
        for field in self.fields[interface.name]:
            self.fields[name].add(field)
            self.arguments[name, field] |= self.arguments[interface.name, field]
            self.types.add(get_named_type(interface.fields[field].type).name)


def full_schema(sdl: str) -> GraphQLSchema:
    """Build a schema from GitHub's SDL, which a strict build refuses for a repeated field."""
    return build_ast_schema(parse(sdl, no_location=True), assume_valid=True, assume_valid_sdl=True)


def needs_of(schema: GraphQLSchema, documents: list[DocumentNode]) -> Needs:
    """What these documents use of a schema."""
    info = TypeInfo(schema)
    needs = Needs(schema, info)
    for document in documents:
        visit(document, TypeInfoVisitor(info, needs))
    needs.close()
    return needs


def prune(sdl: str, version: str, documents: list[str]) -> str:
    """The text of the pruned schema, in the order of the type's names."""
    needs = needs_of(full_schema(sdl), [parse(text) for text in documents])
    kept = [
        definition
        for definition in parse(sdl, no_location=True).definitions
        if getattr(getattr(definition, "name", None), "value", None) in needs.types - BUILT_IN
    ]
    kept.sort(key=lambda definition: str(definition.name.value))  # type: ignore[attr-defined]  # every type definition has a name
    parts = [_cut(node, needs) for node in kept]
    return "\n\n".join([HEADER.format(version=version).rstrip(), *parts]) + "\n"


def _cut(node: Any, needs: Needs) -> str:
    """One definition without what nobody uses."""
    name = node.name.value
    changes: dict[str, Any] = {"description": None, "directives": ()}
    if isinstance(node, (ObjectTypeDefinitionNode, InterfaceTypeDefinitionNode)):
        fields = [f for f in _unique(node.fields or ()) if f.name.value in needs.fields[name]]
        changes["fields"] = tuple(_cut_field(name, field, needs) for field in fields)
        changes["interfaces"] = tuple(
            i for i in node.interfaces or () if i.name.value in needs.types
        )
    elif isinstance(node, InputObjectTypeDefinitionNode):
        given = [f for f in node.fields or () if f.name.value in needs.fields[name]]
        changes["fields"] = tuple(_bare(field) for field in given)
    elif isinstance(node, UnionTypeDefinitionNode):
        members = [t for t in node.types or () if t.name.value in needs.types]
        changes["types"] = tuple(members)
    elif isinstance(node, EnumTypeDefinitionNode):
        changes["values"] = tuple(_bare(value) for value in node.values or ())
    return print_ast(_with(node, **changes))


def _unique(fields: tuple[FieldDefinitionNode, ...]) -> list[FieldDefinitionNode]:
    return list({field.name.value: field for field in fields}.values())


def _cut_field(owner: str, field: FieldDefinitionNode, needs: Needs) -> Any:
    wanted = needs.arguments[owner, field.name.value]
    arguments = [_bare(a) for a in field.arguments or () if a.name.value in wanted]
    return _with(field, description=None, directives=(), arguments=tuple(arguments))


def _bare(node: Any) -> Any:
    return _with(node, description=None, directives=())


def _with(node: Any, **changes: Any) -> Any:
    """A copy of a syntax node with some of its parts replaced."""
    return type(node)(**{**{key: getattr(node, key) for key in node.keys}, **changes})


def main(argv: list[str]) -> int:
    """Write the pruned schema; exit code 2 on wrong usage."""
    if len(argv) != 3:
        sys.stderr.write("Usage: python -m lifecycle.sandbox.graph.prune_schema SDL VERSION OUT\n")
        return 2
    sdl, version, out = Path(argv[0]).read_text(encoding="utf-8"), argv[1], Path(argv[2])
    documents = [path.read_text(encoding="utf-8") for path in graphql_documents()]
    out.write_text(prune(sdl, version, documents), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
