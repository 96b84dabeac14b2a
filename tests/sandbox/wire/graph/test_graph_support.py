"""What the schema promises is kept: every field reads, every mutation runs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from graphql import (
    GraphQLLeafType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    get_named_type,
    is_abstract_type,
    is_leaf_type,
    is_required_argument,
)

from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.issues.events.graph import ISSUE_KINDS, ITEM_TYPES
from lifecycle.sandbox.issues.state import IssueTables
from lifecycle.sandbox.wire.graph.pages import Refusal
from lifecycle.sandbox.wire.graph.run import run
from lifecycle.sandbox.wire.graph.schema.known import schema
from lifecycle.sandbox.wire.graph.types import TABLES, resolve_field, resolve_type
from lifecycle.sandbox.wire.graph.walk import Findings
from tests.sandbox import everything

if TYPE_CHECKING:
    from pathlib import Path

    from lifecycle.sandbox.repositories.state import World

GIVEN: dict[str, Any] = {
    "first": 50, "owner": "org", "name": "app", "login": "ada", "number": 1,
    "Repository.issueOrPullRequest.number": 3, "Repository.pullRequest.number": 3,
    "Query.organization.login": "org", "ProjectV2.field.name": "Status",
    "ProjectV2Item.fieldValueByName.name": "Status", "Repository.label.name": "bug",
    "Query.search.query": "repo:org/app", "type": "ISSUE", "qualifiedName": "refs/tags/v1",
    "refPrefix": "refs/heads/", "headRef": "main", "expression": "main", "slug": "none",
    "Query.resource.url": "http://here/org/app/issues/1",
    "Issue.timelineItems.itemTypes": [one for one, kind in ITEM_TYPES.items() if kind in ISSUE_KINDS],
    "PullRequest.timelineItems.itemTypes": list(ITEM_TYPES),
}  # fmt: skip
"""Arguments, by their name or by type, field and name."""
NEVER = {
    "Project": "classic projects are gone", "ProjectCard": "classic projects are gone",
    "ProjectColumn": "classic projects are gone", "ProjectEdge": "classic projects are gone",
    "ProjectCardEdge": "classic projects are gone",
    "ProjectCardConnection": "classic projects are gone",
    "Language": "the sandbox counts no languages", "LanguageEdge": "the same",
    "License": "the sandbox knows no licences",
    "ReactingUserEdge": "nobody reacts in the sandbox",
    "Team": "the sandbox has no teams", "TeamEdge": "the sandbox has no teams",
    "Mannequin": "the sandbox imports nobody",
    "Release": "the sandbox has no releases", "ReleaseEdge": "the sandbox has no releases",
}  # fmt: skip
"""Types that clients name and of which the sandbox has no thing, with the reason."""
REFUSED = {("Issue", "projectCards"), ("PullRequest", "projectCards")}
"""Fields that GitHub itself refuses."""
PAGE = "totalCount pageInfo { endCursor } edges { cursor node { __typename } } nodes { __typename }"
MOST = 30


@dataclass
class Crawl:
    """Reads every field of everything that can be reached."""

    world: World
    seen: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    read: set[tuple[str, str]] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)

    def run(self) -> None:
        """Start at the root and go on until nothing new is found."""
        waiting = [("Query", Findings())]
        while waiting:
            name, thing = waiting.pop()
            known = self.seen[name]
            if len(known) >= MOST or any(thing is one for one in known):
                continue
            known.append(thing)
            kind = schema().type_map[name]
            assert isinstance(kind, GraphQLObjectType)
            for key, definition in kind.fields.items():
                waiting += self._read(kind, thing, key, definition)

    def _read(self, kind: Any, thing: Any, key: str, definition: Any) -> list[tuple[str, Any]]:
        call = everything.call_in(self.world)
        info: Any = SimpleNamespace(
            parent_type=kind, field_name=key, context=call, schema=schema(),
            return_type=definition.type,
        )  # fmt: skip
        try:
            value = resolve_field(thing, info, **self._arguments(kind.name, key, definition))
            found = self._complete(definition.type, value, info)
        except (Refusal, ActionRefused):
            return []
        except Exception as error:  # noqa: BLE001  whatever it is, it is named
            self.wrong.append(f"{kind.name}.{key} of {thing!r}: {error!r}")
            return []
        self.read.add((kind.name, key))
        return found

    def _arguments(self, kind: str, key: str, definition: Any) -> dict[str, Any]:
        given: dict[str, Any] = {}
        for name, argument in definition.args.items():
            value = GIVEN.get(f"{kind}.{key}.{name}", GIVEN.get(name))
            is_given = f"{kind}.{key}.{name}" in GIVEN
            if name == "first" or is_given or is_required_argument(argument):
                given[name] = self._ids().get(name, value)
        return given

    def _ids(self) -> dict[str, Any]:
        issue = IssueTables.of(self.world.home).issues[1]
        return {
            "id": issue.node_id,
            "ids": sorted(self.world.nodes),
            "oid": self.world.home.git.refs()["refs/heads/main"],
        }

    def _complete(self, kind: Any, value: Any, info: Any) -> list[tuple[str, Any]]:
        """Check a value against its type; what is to be read next."""
        if isinstance(kind, GraphQLNonNull):
            assert value is not None, "null where the schema forbids it"
            return self._complete(kind.of_type, value, info)
        if value is None or isinstance(value, (Refusal, ActionRefused)):
            return []
        if isinstance(kind, GraphQLList):
            return [one for part in value for one in self._part(kind.of_type, part, info)]
        if is_leaf_type(kind):
            self._write(kind, value)
            return []
        return [(resolve_type(value, info, kind) if is_abstract_type(kind) else kind.name, value)]

    def _part(self, kind: Any, value: Any, info: Any) -> list[tuple[str, Any]]:
        """One of a list; a refused one is null and an error of its own."""
        try:
            return self._complete(kind, value, info)
        except Refusal:
            return []

    def _write(self, kind: GraphQLLeafType, value: Any) -> None:
        serialized = kind.serialize(value)
        if kind.name in {"DateTime", "Date", "URI", "HTML", "GitObjectID", "BigInt"}:
            assert isinstance(serialized, str), f"{serialized!r} is no text"


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """Everything read once."""
    made = Crawl(everything.everything(tmp_path_factory.mktemp("world")))
    made.run()
    return made


def objects() -> list[GraphQLObjectType]:
    """The types of what a query may come to, without those of which there is nothing."""
    found: dict[str, Any] = {}
    waiting: list[Any] = [schema().query_type]
    while waiting:
        kind = waiting.pop()
        if kind.name in found:
            continue
        found[kind.name] = kind
        waiting += [get_named_type(one.type) for one in getattr(kind, "fields", {}).values()]
        waiting += schema().get_possible_types(kind) if is_abstract_type(kind) else ()
    return [
        kind
        for name, kind in found.items()
        if isinstance(kind, GraphQLObjectType) and name not in NEVER
    ]


def test_no_field_fails(crawl: Crawl) -> None:
    """Every field of everything gives a value of its type, or a refusal in GitHub's words."""
    assert crawl.wrong == []


def test_every_field_is_read(crawl: Crawl) -> None:
    """Each field of each type is answered at least once in a world with one of everything."""
    missing = {
        f"{kind.name}.{key}"
        for kind in objects()
        for key in kind.fields
        if (kind.name, key) not in crawl.read | REFUSED
    }
    assert sorted(missing) == []


def test_what_the_sandbox_never_has_is_never_met(crawl: Crawl) -> None:
    """The list of types without things is true."""
    assert set(NEVER) & {name for name, found in crawl.seen.items() if found} == set()


def test_every_table_entry_is_in_the_schema() -> None:
    """`make schema` was run after the last change of a table."""
    missing = [
        f"{name}.{key}({argument})" if argument else f"{name}.{key}"
        for name, fields in TABLES.fields.items()
        for key, arguments in fields.items()
        for argument in (None, *arguments)
        if name not in schema().type_map
        or key not in schema().type_map[name].fields  # type: ignore[attr-defined]  # tables name object types
        or (argument and argument not in schema().type_map[name].fields[key].args)  # type: ignore[attr-defined]  # as above
    ]
    assert missing == []


def test_there_is_an_example_of_every_mutation() -> None:
    """The examples are those of the schema, no more and no fewer."""
    root = schema().mutation_type
    assert root is not None
    assert set(everything.MUTATIONS) == set(root.fields)


@pytest.mark.parametrize("name", sorted(everything.MUTATIONS))
def test_every_mutation_runs(name: str, tmp_path: Path) -> None:
    """A mutation with a sensible input answers with all fields of its payload, and no error."""
    root = schema().mutation_type
    assert root is not None
    if name not in root.fields:
        pytest.fail(f"{name} is no mutation of the schema")
    payload = get_named_type(root.fields[name].type)
    given = get_named_type(root.fields[name].args["input"].type).name
    world = everything.everything(tmp_path)
    query = f"mutation($input: {given}!) {{ {name}(input: $input) {{ {_selection(payload)} }} }}"
    variables = {"input": {**everything.MUTATIONS[name](world), "clientMutationId": "mine"}}
    answer = run(everything.call_in(world, query=query, variables=variables)).body
    assert "errors" not in answer, answer["errors"]
    assert answer["data"][name]["clientMutationId"] == "mine"


def _selection(payload: Any) -> str:
    parts = []
    for key, definition in payload.fields.items():
        kind = get_named_type(definition.type)
        paged = "(first: 5)" if "first" in definition.args else ""
        inner = "" if is_leaf_type(kind) else f" {{ {PAGE if paged else '__typename'} }}"
        parts.append(f"{key}{paged}{inner}")
    return " ".join(parts)
