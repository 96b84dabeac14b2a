"""The REST oracle: answers held against the OpenAPI description that GitHub publishes.

GitHub's description is OpenAPI 3.0, whose schemas are almost JSON Schema: `nullable` is rewritten,
and `example` and the like mean nothing to a validator.
Sources: https://spec.openapis.org/oas/v3.0.3#schema-object, https://github.com/github/rest-api-description
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import jsonschema_rs

from tests.conformance.exchange import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.conformance.exchange import Exchange

METHODS = ("get", "post", "put", "patch", "delete")
BASE = "urn:github"
COMPOSED = ("oneOf", "anyOf", "allOf", "$ref")
OTHER_KIND = ("type", "enum", "additionalProperties")
ANNOTATIONS = ("example", "examples", "description", "title", "externalDocs", "discriminator")

# What any call may be answered with, whether its own page names it or not: GitHub describes them once.
# https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api (400, 401, 403, 404, 415,
# 422, and 5xx for what took too long), https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
# (301, 302, 307) and https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api (429)
ANYWHERE = frozenset({301, 302, 307, 400, 401, 403, 404, 415, 422, 429, 500, 502, 503, 504})
REPORTED = {"GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs 410"}
"""Answers that no page has, and people quote: a log that is not kept any more.
Source: https://github.com/rust-lang/triagebot/issues/2241"""
ALIAS = re.compile(r"^/repositories/\d+(?=/|$)")
"""A repository by its number, as redirects and `Link` headers name it.
Source: https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api"""
NOT_IMITATED = 501
"""The sandbox's own word for a call that it does not know. GitHub never says it."""


def json_schema(schema: Any) -> Any:
    """An OpenAPI 3.0 schema as JSON Schema: `nullable` becomes a type, annotations go."""
    if isinstance(schema, list):
        return [json_schema(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":  # its keys are names, whatever they look like
            made[key] = {name: json_schema(one) for name, one in value.items()}
        elif key == "$ref":
            made[key] = f"{BASE}{value}"
        elif key not in ANNOTATIONS and key != "nullable":
            made[key] = json_schema(value) if key not in {"enum", "default", "required"} else value
    if schema.get("nullable") is True:
        return _or_null(made)
    return made


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    if any(key in schema for key in COMPOSED):
        return {"anyOf": [schema, {"type": "null"}]}
    if isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
    if "enum" in schema and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    return schema


@dataclass(slots=True)
class Node:
    """A place in the tree of path templates."""

    literals: dict[str, Node] = field(default_factory=dict)
    parameter: Node | None = None
    tail: list[tuple[Node, int]] = field(default_factory=list)
    template: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """A documented call: its template, method and the schemas of its answers by status.

    `answers` maps a status to the schema of its JSON, or to None where nothing is said of a body.
    """

    template: str
    method: str
    answers: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.method} {self.template}"


class Routes:
    """Finds the documented template that a path belongs to; literal segments win over parameters."""

    def __init__(self, templates: Mapping[str, frozenset[str]]) -> None:
        """Take templates, each with the names of its parameters that may hold slashes."""
        self.root = Node()
        for template, wide in templates.items():
            node = self.root
            for segment in template.strip("/").split("/"):
                node = self._step(node, segment, wide)
            node.template = template

    @staticmethod
    def _step(node: Node, segment: str, wide: frozenset[str]) -> Node:
        if "{" not in segment:
            return node.literals.setdefault(segment, Node())
        if segment[1:-1] in wide:
            if not node.tail:
                node.tail.append((Node(), 1))
            return node.tail[0][0]
        if node.parameter is None:
            node.parameter = Node()
        return node.parameter

    def match(self, path: str) -> str | None:
        """The template of a path, or None."""
        return self._search(self.root, path.removeprefix("/").split("/"))

    def _search(self, node: Node, rest: list[str]) -> str | None:
        if not rest:
            return node.template or None
        if (known := node.literals.get(rest[0])) and (found := self._search(known, rest[1:])):
            return found
        if node.parameter and rest[0] and (found := self._search(node.parameter, rest[1:])):
            return found
        for after, least in node.tail:
            for count in range(least, len(rest) + 1):
                if found := self._search(after, rest[count:]):
                    return found
        return None


class RestOracle:
    """Says what is wrong with an answer, by GitHub's own description."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        schemas = {n: json_schema(s) for n, s in document["components"]["schemas"].items()}
        self.schemas: Mapping[str, Any] = schemas
        resource = {"$id": BASE, "components": {"schemas": schemas}}
        self.registry = jsonschema_rs.Registry([(BASE, resource)], draft=jsonschema_rs.Draft202012)
        self.routes = Routes({path: self._wide(item) for path, item in document["paths"].items()})
        self.operation = lru_cache(maxsize=None)(self._operation)
        self.match = lru_cache(maxsize=4096)(self.routes.match)
        self.validator = lru_cache(maxsize=None)(self._validator)

    @classmethod
    def load(cls, path: Path) -> RestOracle:
        """Read the description; about a second."""
        return cls(json.loads(path.read_bytes()))

    def resolved(self, thing: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a reference leads to, or the thing itself."""
        while "$ref" in thing:
            _, *steps = thing["$ref"].split("/")
            thing = self.document
            for step in steps:
                thing = thing[step]
        return thing

    def _wide(self, item: Mapping[str, Any]) -> frozenset[str]:
        return frozenset(
            found["name"]
            for method in METHODS
            for one in item.get(method, {}).get("parameters", ())
            if (found := self.resolved(one)).get("x-multi-segment")
        )

    def _operation(self, template: str, method: str) -> Operation | None:
        described = self.document["paths"][template].get(method.lower())
        if described is None:
            return None
        answers = {}
        for status, response in described["responses"].items():
            content = self.resolved(response).get("content", {})
            answers[status] = {kind: one.get("schema", {}) for kind, one in content.items()}
        return Operation(template, method, answers)

    def find(self, method: str, path: str) -> Operation | None:
        """The documented call of a request, or None; a HEAD is a GET without a body."""
        path = ALIAS.sub("/repos/by/number", path, count=1)
        template = self.match(f"{path}/" if path.endswith("/contents") else path)  # of the root
        if template is None:
            return None
        return self.operation(template, "GET" if method == "HEAD" else method)

    def schema(self, operation: Operation, status: int) -> Any:
        """The schema of the JSON of an answer, or None where nothing is said of one."""
        content = operation.answers.get(str(status))
        if content is None:
            # Described once for all calls: https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api
            return {"$ref": "#/components/schemas/basic-error"} if status in ANYWHERE else None
        for kind, schema in content.items():
            if kind.startswith("application/json") or kind.endswith("+json"):
                return schema
        return None

    def _validator(self, template: str, method: str, status: int) -> Any:
        operation = self.operation(template, method)
        schema = None if operation is None else self.schema(operation, status)
        if schema is None:
            return None
        return jsonschema_rs.Draft202012Validator(
            json_schema(schema),
            registry=self.registry,
            validate_formats=True,
            ignore_unknown_formats=True,
        )

    def findings(self, exchange: Exchange) -> list[Finding]:
        """What is wrong with an answer; empty if nothing is."""
        if exchange.status == NOT_IMITATED:
            return []
        operation = self.find(exchange.method, exchange.path)
        if operation is None:
            if exchange.status == 404:  # GitHub's word for a path that there is not
                return []
            where = f"{exchange.method} {exchange.path} {exchange.status}"
            return [Finding(where, "", "GitHub documents no such call")]
        return list(self._against(operation, exchange))

    def _against(self, operation: Operation, exchange: Exchange) -> Iterator[Finding]:
        where, status = f"{operation} {exchange.status}", exchange.status
        if status == 304:
            if not exchange.is_conditional:
                yield Finding(where, "", "304 without a condition in the request")
            if exchange.text:
                yield Finding(where, "", "a 304 has no body")
            return
        if where in REPORTED:
            return
        if str(status) not in operation.answers and status not in ANYWHERE:
            known = ", ".join(operation.answers)
            yield Finding(where, "", f"undocumented status; documented are {known}")
            return
        if status == 204 or exchange.method == "HEAD":
            if exchange.text:
                yield Finding(where, "", f"a {status} to {exchange.method} has no body")
            return
        yield from self._content(operation, exchange, where)

    def _content(self, operation: Operation, exchange: Exchange, where: str) -> Iterator[Finding]:
        content = operation.answers.get(str(exchange.status), {})
        if not exchange.is_json:
            kinds = [kind for kind in content if "json" in kind]
            if kinds and exchange.status < 300 and not _asks_otherwise(exchange):
                yield Finding(where, "", "JSON was documented, and something else came")
            return
        try:
            body = exchange.body()
        except ValueError:
            yield Finding(where, "", "the body says that it is JSON and is not")
            return
        validator = self.validator(operation.template, operation.method, exchange.status)
        if validator is None:
            return
        for top in validator.iter_errors(body):
            for error in _plain(top):
                pointer = "".join(f"/{step}" for step in error.instance_path)
                yield Finding(where, pointer, _sentence(error.message))


def _plain(error: Any) -> Iterator[Any]:
    """An error, or for a choice of schemas that nothing fits, what keeps it from the nearest one."""
    branches = list(getattr(error.kind, "context", ()))
    alike = [branch for branch in branches if not _is_other_kind(error, branch)]
    if not branches or not alike:  # more than one schema fits, or none is even of this kind
        yield error
        return
    for one in min(alike, key=len):
        yield from _plain(one)


def _is_other_kind(choice: Any, branch: list[Any]) -> bool:
    """Whether a branch wants another type than the value has, as null for an object."""
    return any(
        one.kind.name in OTHER_KIND and one.instance_path == choice.instance_path for one in branch
    )


def _asks_otherwise(exchange: Exchange) -> bool:
    """Whether the client asked for a diff, a patch or the like."""
    accept = exchange.asked.get("accept", "")
    return any(kind in accept for kind in ("diff", "patch", "raw", "sha", "html"))


def _sentence(message: str) -> str:
    """A validator's words; what it quotes of a long body is left out in the middle."""
    return message if len(message) <= 240 else f"{message[:120]} … {message[-110:]}"
