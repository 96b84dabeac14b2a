"""The pruned schema: enough for every document, no more, and stable."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import pytest
from graphql import GraphQLObjectType, build_schema, parse, validate

from lifecycle.resources import graphql_documents
from lifecycle.sandbox.graph.prune_schema import main, prune

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = files("lifecycle.sandbox").joinpath("schema.graphql").read_text("utf-8")
VERSION = SCHEMA.split("@octokit/graphql-schema ")[1].split(",")[0]
FULL = '''
"""The root."""
type Query { viewer: User! @preview(toggledBy: "x") "Unused." rest: Rest node(id: ID!): Node
  search(query: String!, first: Int, kind: Kind): [Result] }
interface Node { id: ID! }
interface Actor { login: String! }
type User implements Node & Actor { id: ID! login: String! bio: String friend(of: Filter): User
  friend(of: Filter): User }
type Team implements Node { id: ID! name: String! }
type Rest { id: ID! }
union Result = User | Team | Rest
enum Kind { "One." ONE TWO @deprecated }
input Filter { name: String! kind: Kind deep: Deep }
input Deep { a: Int! b: Int }
type Mutation { set(input: Filter!): User }
'''


@pytest.mark.parametrize("path", graphql_documents(), ids=lambda path: path.stem)
def test_every_document_is_valid(path: Path) -> None:
    """Each document of the product validates against the schema that the sandbox runs."""
    assert validate(build_schema(SCHEMA), parse(path.read_text(encoding="utf-8"))) == []


def test_pruning_again_changes_nothing(tmp_path: Path) -> None:
    """The packaged schema is what its own pruning gives, to the byte: nothing is missing or left."""
    source = tmp_path / "in.graphql"
    source.write_text(SCHEMA)
    assert main([str(source), VERSION, str(tmp_path / "out.graphql")]) == 0
    assert (tmp_path / "out.graphql").read_text() == SCHEMA


def test_header_says_where_it_is_from() -> None:
    """The package, its version and its licence are named."""
    assert "@octokit/graphql-schema" in SCHEMA
    assert "MIT" in SCHEMA
    assert VERSION[0].isdecimal()


def test_only_what_is_used_is_kept() -> None:
    """Unused fields, arguments, types, descriptions and directives go; whole enums stay."""
    text = prune(
        FULL, "1", ['query Q($k: Kind) { search(query: "x", kind: $k) { ... on Team { name } } }']
    )
    kept = build_schema(text)
    query, team = kept.type_map["Query"], kept.type_map["Team"]
    assert isinstance(query, GraphQLObjectType)
    assert isinstance(team, GraphQLObjectType)
    assert set(query.fields) == {"search"}
    assert set(query.fields["search"].args) == {"query", "kind"}
    assert "Filter" not in kept.type_map
    assert "User" not in kept.type_map
    assert "ONE" in text
    assert "TWO" in text
    assert "deprecated" not in text
    assert "preview" not in text
    assert '"""' not in text


def test_interfaces_and_inputs_are_completed() -> None:
    """A kept type has what its kept interfaces have; an input, what it cannot be without."""
    text = prune(
        FULL,
        "1",
        [
            '{ node(id: 1) { ... on User { friend(of: {name: "x", deep: {a: 1}}) { login } } } }',
        ],
    )
    kept = build_schema(text)
    user, given = kept.type_map["User"], kept.type_map["Filter"]
    assert isinstance(user, GraphQLObjectType)
    assert set(user.fields) == {"id", "login", "friend"}
    assert [one.name for one in user.interfaces] == ["Node"]
    assert set(getattr(given, "fields", {})) == {"name", "deep"}
    assert set(getattr(kept.type_map["Deep"], "fields", {})) == {"a"}


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """Without its three arguments it says how it is used, exit code 2."""
    assert main([]) == 2
    assert capsys.readouterr().err.startswith(
        "Usage: python -m lifecycle.sandbox.graph.prune_schema"
    )
