"""Cuts GitHub's published GraphQL schema down to what the sandbox answers.

    python -m tests.sandbox.wire.graph.prune_schema SDL VERSION FOLDER

SDL is `schema.graphql` of the npm package @octokit/graphql-schema, VERSION the package's. FOLDER
gets `schema.graphql`, which is what the sandbox's tables support (`wire/graph/support.py`) and what the
product's documents use, and `known.txt`, the names of everything that GitHub has
(`schema/known.py`). Pruning what is pruned changes nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from graphql import (
    DocumentNode,
    EnumTypeDefinitionNode,
    FieldDefinitionNode,
    GraphQLSchema,
    InputObjectTypeDefinitionNode,
    InterfaceTypeDefinitionNode,
    ObjectTypeDefinitionNode,
    UnionTypeDefinitionNode,
    parse,
    print_ast,
)

from lifecycle.sandbox.wire.graph.schema import known
from lifecycle.sandbox.wire.graph.support import PAGING, FieldTables
from lifecycle.sandbox.wire.graph.types import TABLES
from tests.sandbox.wire.graph.schema_needs import Needs, SupportError, full_schema, needs_of

DOCUMENTS = Path(__file__).parents[4] / "graphql"
"""What the product asks for; `make schema` runs this in a checkout."""

HEADER = """\
# GitHub's GraphQL schema, cut down to what the sandbox answers. Generated; do not edit:
#     python -m tests.sandbox.wire.graph.prune_schema SDL VERSION FOLDER
# From schema.graphql of the npm package @octokit/graphql-schema {version}, MIT licence,
# https://github.com/octokit/graphql-schema
"""
BUILT_IN = {"String", "Int", "Float", "Boolean", "ID"}


def prune(sdl: str, version: str, documents: list[str], tables: FieldTables | None = None) -> str:
    """The text of the pruned schema, in the order of the type's names.

    Raises:
        SupportError: The tables name something that GitHub's schema does not have.
    """
    whole = parse(sdl, no_location=True)
    return _pruned(whole, full_schema(whole), version, documents, tables or FieldTables())


def _pruned(
    whole: DocumentNode,
    schema: GraphQLSchema,
    version: str,
    documents: list[str],
    tables: FieldTables,
) -> str:
    needs = needs_of(schema, [parse(text) for text in documents], tables)
    kept = [
        definition
        for definition in whole.definitions
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
    name = field.name.value
    wanted = needs.arguments[owner, name]
    arguments = [_bare(a) for a in field.arguments or () if a.name.value in wanted]
    cut = _with(_bare(field), arguments=tuple(arguments))
    # GitHub deprecates fields that interfaces demand (Project.id of Node), which GraphQL forbids.
    demanded = any(
        name in interface.fields and interface.fields[name].deprecation_reason is None
        for interface in getattr(needs.schema.get_type(owner), "interfaces", ())
    )
    return _with(cut, directives=()) if demanded else cut


def _bare(node: Any) -> Any:
    """A node without its description; that it is deprecated stays, since clients ask for it."""
    told = tuple(d for d in node.directives or () if d.name.value == "deprecated")
    return _with(node, description=None, directives=told)


def _with(node: Any, **changes: Any) -> Any:
    """A copy of a syntax node with some of its parts replaced."""
    return type(node)(**{**{key: getattr(node, key) for key in node.keys}, **changes})


def names_of(schema: GraphQLSchema) -> str:
    """The text of `known.txt` for a schema."""
    lines = []
    for name, kind in sorted(schema.type_map.items()):
        if name.startswith("__"):
            continue
        parts = [name]
        for field, definition in getattr(kind, "fields", {}).items():
            arguments = [a for a in getattr(definition, "args", {}) if a not in PAGING]
            parts.append(f"{field}({','.join(arguments)})" if arguments else field)
        lines.append(" ".join(parts))
    return known.HEADER + "\n".join(lines) + "\n"


def main(argv: list[str]) -> int:
    """Write both files; exit code 2 on wrong usage, 1 if the tables and the SDL disagree."""
    if len(argv) != 3:
        sys.stderr.write(
            "Usage: python -m tests.sandbox.wire.graph.prune_schema SDL VERSION FOLDER\n"
        )
        return 2
    version, folder = argv[1], Path(argv[2])
    whole = parse(Path(argv[0]).read_text(encoding="utf-8"), no_location=True)
    schema = full_schema(whole)
    documents = [path.read_text(encoding="utf-8") for path in sorted(DOCUMENTS.glob("*.graphql"))]
    try:
        pruned = _pruned(whole, schema, version, documents, TABLES)
    except SupportError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    (folder / "schema.graphql").write_text(pruned, encoding="utf-8")
    (folder / "known.txt").write_text(names_of(schema), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
