"""The documents in graphql/, against the whole schema that GitHub publishes.

The schema is the npm package @octokit/graphql-schema, which `make sdl` keeps in `.cache/`;
LIFECYCLE_GITHUB_SDL names another copy.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from graphql import (
    FragmentDefinitionNode,
    GraphQLSchema,
    OperationDefinitionNode,
    OverlappingFieldsCanBeMergedRule,
    parse,
    print_ast,
    specified_rules,
    validate,
)

from tests.batches import each_row
from tests.conformance import sources
from tests.conformance.graph_shape import published
from tests.graphql_texts import graphql_documents

# GitHub does not enforce the merging of overlapping fields; its own `gh` violates the rule.
RULES = [rule for rule in specified_rules if rule is not OverlappingFieldsCanBeMergedRule]


@pytest.fixture(scope="module")
def schema() -> GraphQLSchema:
    """GitHub's schema."""
    named = os.environ.get("LIFECYCLE_GITHUB_SDL")
    return published(Path(named) if named else sources.need("sdl"))


@pytest.mark.parametrize("path", graphql_documents(), ids=lambda path: path.stem)
def test_a_document_is_valid_on_github(schema: GraphQLSchema, path: Path) -> None:
    """Every field, argument and variable exists in GitHub's schema, with a type that fits."""
    assert validate(schema, parse(path.read_text(encoding="utf-8")), RULES) == []


@each_row("path", graphql_documents(), ids=lambda path: path.stem)
def test_a_document_is_named_for_its_operation(path: Path) -> None:
    """One operation a file, and the file's name is the operation's."""
    operations = [
        one
        for one in parse(path.read_text(encoding="utf-8")).definitions
        if isinstance(one, OperationDefinitionNode)
    ]
    names = [one.name.value for one in operations if one.name]
    assert names == ["".join(word.title() for word in path.stem.split("_"))]


def test_a_fragment_has_one_name() -> None:
    """What two documents ask alike they call alike: so it is seen that one reader reads both."""
    bodies: dict[str, set[str]] = {}
    for path in graphql_documents():
        for one in parse(path.read_text(encoding="utf-8"), no_location=True).definitions:
            if isinstance(one, FragmentDefinitionNode):
                bodies.setdefault(print_ast(one).partition(" on ")[2], set()).add(one.name.value)
    assert len(bodies) > 10
    assert [names for names in bodies.values() if len(names) > 1] == []


def test_a_mistake_is_found(schema: GraphQLSchema) -> None:
    """The schema in use is GitHub's: what it does not have is refused."""
    wrong = parse('{ repository(owner: "o", name: "r") { isAgentic } }')
    assert [error.message for error in validate(schema, wrong, RULES)] == [
        "Cannot query field 'isAgentic' on type 'Repository'."
    ]
