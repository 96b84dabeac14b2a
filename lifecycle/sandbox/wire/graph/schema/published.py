"""The schema that documents run on."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from graphql import GraphQLSchema, build_ast_schema, parse


@cache
def schema() -> GraphQLSchema:
    """The pruned schema, built once in a process."""
    text = (
        files("lifecycle.sandbox.wire.graph.schema").joinpath("schema.graphql").read_text("utf-8")
    )
    # That it is valid is tested where it is made; checking it here would slow every start.
    return build_ast_schema(parse(text, no_location=True), assume_valid=True)
