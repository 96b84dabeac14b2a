"""The schema on which documents run, and all names in GitHub's, to tell "not imitated" from "unknown".

`known.txt` has a line for each type with fields: its name, then each field, with its arguments in
parentheses except those of a page; a line with only a name is a union, an enum or a scalar.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from graphql import GraphQLSchema, build_ast_schema, parse

HEADER = """\
# The names in GitHub's GraphQL schema. Generated; do not edit: make schema
# From schema.graphql of the npm package @octokit/graphql-schema, MIT licence,
# https://github.com/octokit/graphql-schema
"""
PART = re.compile(r"(\w+)(?:\(([\w,]*)\))?")


@cache
def _known() -> dict[str, dict[str, frozenset[str]]]:
    """The arguments in GitHub's schema by type and field, read from `known.txt` at the first call."""
    text = files("lifecycle.sandbox.wire.graph.schema").joinpath("known.txt").read_text("utf-8")
    types = {}
    for line in text.removeprefix(HEADER).splitlines():
        (name, _), *fields = PART.findall(line)
        types[name] = {field: frozenset(arguments.split(",")) for field, arguments in fields}
    return types


def is_type(name: str) -> bool:
    """Whether GitHub has a type of that name."""
    return name in _known()


def is_field(kind: str, name: str) -> bool:
    """Whether GitHub's type has that field; for an input type, whether it accepts it."""
    return name in _known().get(kind, {})


def is_argument(kind: str, name: str, argument: str) -> bool:
    """Whether GitHub's field accepts that argument."""
    return argument in _known().get(kind, {}).get(name, frozenset())


@cache
def schema() -> GraphQLSchema:
    """The pruned schema, built once in a process."""
    text = (
        files("lifecycle.sandbox.wire.graph.schema").joinpath("schema.graphql").read_text("utf-8")
    )
    # Its validity is tested where it is made; checking it here would slow every start.
    return build_ast_schema(parse(text, no_location=True), assume_valid=True)
