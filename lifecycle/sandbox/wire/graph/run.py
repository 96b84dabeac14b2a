"""The GraphQL half: graphql-core runs documents on the sandbox's part of GitHub's schema.

The order is GitHub's: parse, validate, scopes (a classic token without one is refused field by field,
before anything runs), pagination, then execution, in which a failed field is null and an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from graphql import (
    DocumentNode,
    GraphQLError,
    OperationDefinitionNode,
    OverlappingFieldsCanBeMergedRule,
    execute_sync,
    parse,
    specified_rules,
    validate,
)
from graphql.execution.values import get_variable_values

from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.control.faults import LIGHT, Weight
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph import wording
from lifecycle.sandbox.wire.graph.pages import Refusal
from lifecycle.sandbox.wire.graph.schema.known import schema
from lifecycle.sandbox.wire.graph.types import resolve_field, resolve_type
from lifecycle.sandbox.wire.graph.walk import inspect

RULES = [rule for rule in specified_rules if rule is not OverlappingFieldsCanBeMergedRule]


@dataclass(frozen=True, slots=True)
class GraphReply:
    """A GraphQL answer and what it cost."""

    body: dict[str, Any]
    points: int


@lru_cache(maxsize=512)
def _checked(query: str) -> tuple[DocumentNode | None, tuple[GraphQLError, ...]]:
    """Parse and validate a document; returns it and its errors. Cached, since clients repeat documents."""
    try:
        document = parse(query)
    except GraphQLError as error:
        return None, (error,)
    return document, tuple(validate(schema(), document, RULES))


def operation_of(body: Mapping[str, Any]) -> str | None:
    """The name of a request's operation; None if it has none or does not parse."""
    name = body.get("operationName")
    if isinstance(name, str) and name:
        return name
    document, _ = _checked(str(body.get("query", "")))
    if document is None:
        return None
    operations = [d for d in document.definitions if isinstance(d, OperationDefinitionNode)]
    return operations[0].name.value if operations and operations[0].name else None


def weight_of(body: Mapping[str, Any]) -> Weight:
    """A request's size, as GitHub counts it; `LIGHT` (zeros) if it cannot run."""
    document, errors = _checked(str(body.get("query", "")))
    variables = body.get("variables") or {}
    if errors or document is None or not isinstance(variables, dict):
        return LIGHT
    operation = _chosen(document, body.get("operationName"))
    if operation is None:
        return LIGHT
    coerced: Any = get_variable_values(schema(), operation.variable_definitions or (), variables)
    if isinstance(coerced, list):
        return LIGHT
    findings = inspect(schema(), document, operation, getattr(coerced, "coerced", coerced), None)
    return {"nodes": findings.nodes, "points": findings.points, "fields": findings.roots}


def run(call: Call) -> GraphReply:
    """Run the request's document; the answer's status is 200, even if it has only errors."""
    query = call.body.get("query")
    if not isinstance(query, str):
        message = "A query attribute must be specified and must be a string."
        return GraphReply({"errors": [{"message": message}]}, 1)
    document, errors = _checked(query)
    if errors or document is None:
        return GraphReply({"errors": [wording.of_document(e, document) for e in errors]}, 1)
    return _run_valid(call, document)


def _run_valid(call: Call, document: DocumentNode) -> GraphReply:
    operation = _chosen(document, call.body.get("operationName"))
    if operation is None:
        return GraphReply({"errors": [{"message": "No operation named that."}]}, 1)
    raw = call.body.get("variables") or {}
    if not isinstance(raw, dict):
        return GraphReply({"errors": [{"message": "Variables must be an object."}]}, 1)
    coerced: Any = get_variable_values(schema(), operation.variable_definitions or (), raw)
    if isinstance(coerced, list):
        wrong = [wording.of_variable(error, operation, raw) for error in coerced]
        return GraphReply({"errors": wrong}, 1)
    findings = inspect(
        schema(), document, operation, getattr(coerced, "coerced", coerced), call.token
    )
    if findings.errors:
        return GraphReply({"errors": findings.errors}, findings.points)
    result = execute_sync(
        schema(),
        document,
        root_value=findings,
        context_value=call,
        variable_values=raw,
        operation_name=call.body.get("operationName"),
        field_resolver=resolve_field,
        type_resolver=resolve_type,
    )
    answer: dict[str, Any] = {"data": result.data}
    if result.errors:
        answer["errors"] = [_error(error) for error in result.errors]
    return GraphReply(answer, findings.points)


def _chosen(document: DocumentNode, name: str | None) -> OperationDefinitionNode | None:
    operations = [d for d in document.definitions if isinstance(d, OperationDefinitionNode)]
    if name:
        return next((o for o in operations if o.name and o.name.value == name), None)
    return operations[0] if len(operations) == 1 else None


def _error(error: GraphQLError) -> dict[str, Any]:
    """The error of a failed field, in GitHub's form: a type, a path, and a message."""
    cause = error.original_error
    answer: dict[str, Any] = {}
    if isinstance(cause, ActionRefused):
        answer["type"] = getattr(cause, "kind", "UNPROCESSABLE")
    elif isinstance(cause, Refusal):
        answer["type"] = cause.kind
        if cause.kind == "FORBIDDEN":
            answer["extensions"] = {"saml_failure": False}
    elif cause is not None and not isinstance(cause, GraphQLError):
        raise cause  # a defect of the sandbox, not of the document
    if error.path:
        answer["path"] = list(error.path)
    answer["locations"] = wording.places(error)
    answer["message"] = error.message
    return answer
