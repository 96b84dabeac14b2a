"""The pruned schema: enough for every document, no more, and stable."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from graphql import GraphQLObjectType, GraphQLSchema, build_schema, parse, validate, validate_schema

from lifecycle.sandbox.wire.graph.support import FieldTables, put_together
from tests.batches import each_row
from tests.conformance.sources import need
from tests.graphql_texts import graphql_documents
from tests.sandbox.wire.graph.prune_schema import main, prune
from tests.sandbox.wire.graph.schema_needs import SupportError

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

SCHEMA = files("lifecycle.sandbox.wire.graph.schema").joinpath("schema.graphql").read_text("utf-8")
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


@cache
def _packaged() -> GraphQLSchema:
    return build_schema(SCHEMA)


@each_row("path", graphql_documents(), ids=lambda path: path.stem)
def test_every_document_is_valid(path: Path) -> None:
    """Each document of the product validates against the schema that the sandbox runs."""
    assert validate(_packaged(), parse(path.read_text(encoding="utf-8"))) == []


def test_pruning_again_changes_nothing(tmp_path: Path) -> None:
    """The packaged schema is what its own pruning gives, to the byte: nothing is missing or left."""
    source = tmp_path / "in.graphql"
    source.write_text(SCHEMA)
    (tmp_path / "graph").mkdir()
    assert main([str(source), VERSION, str(tmp_path)]) == 0
    assert (tmp_path / "schema.graphql").read_text() == SCHEMA


def test_schema_is_what_the_tables_and_documents_need(tmp_path: Path) -> None:
    """The packaged schema and the list of known names are what pruning GitHub's own gives today."""
    sdl = need("sdl")
    (tmp_path / "graph").mkdir()
    assert main([str(sdl), VERSION, str(tmp_path)]) == 0
    assert (tmp_path / "schema.graphql").read_text() == SCHEMA
    known = files("lifecycle.sandbox.wire.graph.schema").joinpath("known.txt").read_text("utf-8")
    assert (tmp_path / "known.txt").read_text() == known


def test_the_schema_is_valid() -> None:
    """Interfaces are kept, unions have members, inputs have fields: what GraphQL demands."""
    assert validate_schema(_packaged()) == []


def test_header_says_where_it_is_from() -> None:
    """The package, its version and its licence are named."""
    assert "@octokit/graphql-schema" in SCHEMA
    assert "MIT" in SCHEMA
    assert VERSION[0].isdecimal()


def test_only_what_is_used_is_kept() -> None:
    """Unused fields, arguments, types, descriptions go, directives but one; whole enums stay."""
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
    assert "TWO @deprecated" in text
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
    assert [one.name for one in user.interfaces] == ["Node", "Actor"]
    assert set(getattr(given, "fields", {})) == {"name", "deep"}
    assert set(getattr(kept.type_map["Deep"], "fields", {})) == {"a"}


def anything(_call: object, thing: object, **_given: object) -> object:
    """A resolver that takes whatever its key says."""
    return thing


def somebody(_call: object, _thing: object, login: str) -> object:
    """A resolver that names its argument."""
    return login


def _tables(**given: Any) -> FieldTables:
    return put_together([cast("ModuleType", SimpleNamespace(**given))])


def test_tables_say_what_is_kept() -> None:
    """A resolver's own arguments, those of its key, plain fields and inputs; a page is whole."""
    tables = _tables(
        RESOLVERS={
            "Query": {
                "users(kind)": anything,
                "user": somebody,
            }
        },
        PLAIN={"User": "bio"},
        INPUTS={"Filter": "kind"},
    )
    full = """
    type Query { users(kind: Kind, filter: Filter, first: Int, after: String): UserConnection!
      user(login: String!, deep: Int): User unused: Int }
    type UserConnection { edges: [UserEdge] nodes: [User] pageInfo: PageInfo! totalCount: Int! odd: Int }
    type UserEdge { cursor: String! node: User }
    type PageInfo { endCursor: String hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String }
    type User { bio: String name: String }
    enum Kind { ONE }
    input Filter { kind: Kind other: Int }
    """
    kept: Any = build_schema(prune(full, "1", [], tables)).type_map
    assert set(kept["Query"].fields) == {"users", "user"}
    assert set(kept["Query"].fields["users"].args) == {"kind", "first", "after"}
    assert set(kept["Query"].fields["user"].args) == {"login"}
    assert set(kept["UserConnection"].fields) == {"edges", "nodes", "pageInfo", "totalCount"}
    assert set(kept["User"].fields) == {"bio"}
    assert set(kept["Filter"].fields) == {"kind"}


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"PLAIN": {"User": "shoeSize"}}, "GitHub's type 'User' has no field 'shoeSize'"),
        ({"PLAIN": {"Shoe": "size"}}, "no type 'Shoe' with fields"),
        (
            {"RESOLVERS": {"User": {"friend(shoe)": anything}}},
            "GitHub's User.friend has no argument 'shoe'",
        ),
        ({"INPUTS": {"Filter": "shoe"}}, "GitHub's input 'Filter' has no field 'shoe'"),
    ],
)
def test_tables_that_github_contradicts(tables: dict[str, Any], words: str) -> None:
    """What a table names and GitHub's schema has not is an error that names it."""
    with pytest.raises(SupportError, match=words):
        prune(FULL, "1", [], _tables(**tables))


def test_a_key_that_is_no_field() -> None:
    """A table's key is a name, with or without arguments."""
    with pytest.raises(ValueError, match="'no field!' is no field"):
        _tables(RESOLVERS={"User": {"no field!": anything}})


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """Without its three arguments it says how it is used, exit code 2."""
    assert main([]) == 2
    assert capsys.readouterr().err.startswith(
        "Usage: python -m tests.sandbox.wire.graph.prune_schema"
    )
