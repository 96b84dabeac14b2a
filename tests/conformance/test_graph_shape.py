"""The GraphQL oracle: right answers pass, and each kind of wrong one is caught."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance.exchange import Exchange

if TYPE_CHECKING:
    from tests.conformance.graph_shape import GraphOracle

pytestmark = pytest.mark.xdist_group("conformance")  # one process builds the oracles

QUERY = """
query Look($owner: String!, $name: String!, $cards: Boolean = false) {
  repository(owner: $owner, name: $name) {
    id
    issue(number: 1) {
      ...Face
      labels(first: 1) { nodes { name } }
      projectItems(first: 1) @include(if: $cards) { totalCount }
      author { login ... on User { name } }
      bodyHTML
    }
  }
  node(id: "I_1") { __typename ... on Issue { title } ... on PullRequest { merged } }
}
fragment Face on Issue { number state closedAt createdAt stateReason issueUrl: url }
"""
ISSUE: dict[str, Any] = {
    "number": 1,
    "state": "OPEN",
    "closedAt": None,
    "createdAt": "2026-01-02T03:04:05Z",
    "stateReason": None,
    "issueUrl": "https://github.com/o/r/issues/1",
    "labels": {"nodes": [{"name": "bug"}, None]},
    "author": {"login": "ghost"},
    "bodyHTML": "<p>",
}
NODE = {"__typename": "Issue", "title": "t"}


def _answer(body: Any, query: str = QUERY, **variables: Any) -> Exchange:
    sent = {"query": query, "variables": {"owner": "o", "name": "r", **variables}}
    return Exchange("POST", "/graphql", 200, sent=sent, text=json.dumps(body))


def _data(issue: Any = None, node: Any = None, **more: Any) -> dict[str, Any]:
    found = {"id": "R_1", "issue": {**ISSUE, **(issue or {})}}
    return {"data": {"repository": found, "node": node or NODE, **more}}


def _told(graph: GraphOracle, exchange: Exchange) -> list[str]:
    return [str(finding).removeprefix("graphql Look ") for finding in graph.findings(exchange)]


def test_a_right_answer_passes(graph: GraphOracle) -> None:
    """What was asked for, in the types of the schema, is right: aliases, fragments, variables too."""
    assert _told(graph, _answer(_data())) == []
    assert _told(graph, _answer(_data({"projectItems": {"totalCount": 0}}), cards=True)) == []
    assert _told(graph, _answer({"data": None, "errors": [{"message": "no"}]})) == []
    assert _told(graph, _answer(_data(node={"__typename": "PullRequest", "merged": True}))) == []


def test_a_user_has_more_than_an_actor(graph: GraphOracle) -> None:
    """An interface without its type's name is right if it is right for one of its types."""
    assert _told(graph, _answer(_data({"author": {"login": "o", "name": None}}))) == []
    assert _told(graph, _answer(_data({"author": {"login": "o", "nick": "x"}}))) == [
        "/repository/issue/author: answered and not asked for: nick"
    ]


WRONG: list[tuple[str, Any, str]] = [
    ("null", _data({"number": None}), "/repository/issue/number: null, though its type is Int!"),
    ("text for a number", _data({"number": "1"}), "/repository/issue/number: '1' is no Int"),
    ("too large", _data({"number": 2**31}), "/repository/issue/number: 2147483648 is no Int"),
    ("enum", _data({"state": "open"}), "/repository/issue/state: 'open' is no IssueState"),
    ("time", _data({"createdAt": "today"}), "/repository/issue/createdAt: 'today' is no DateTime"),
    ("URL", _data({"issueUrl": "x y"}), "/repository/issue/issueUrl: 'x y' is no URI"),
    ("no list", _data({"labels": {"nodes": {}}}),
     "/repository/issue/labels/nodes: not a list, though its type is [Label]"),
    ("in a list", _data({"labels": {"nodes": [{"name": None}]}}),
     "/repository/issue/labels/nodes/0/name: null, though its type is String!"),
    ("left out", _data({"projectItems": {"totalCount": 0}}),
     "/repository/issue: answered and not asked for: projectItems"),
    ("unasked", _data(viewer={}), "(whole answer): answered and not asked for: viewer"),
    ("scalar for object", {"data": {"repository": 7, "node": NODE}},
     "/repository: not an object, though Repository is one"),
    ("missing", {"data": {"node": None}},
     "(whole answer): asked for and not answered: repository"),
    ("other type", _data(node={"__typename": "Sprint"}), "/node: 'Sprint' is no Node"),
    ("part of another type", _data(node={"__typename": "Issue", "merged": True}),
     "/node: asked for and not answered: title"),
    ("neither", {}, "(whole answer): neither data nor errors"),
    ("no errors", {"data": None, "errors": []},
     "/errors: errors are a list that is not empty"),
    ("silent error", {"errors": [{"type": "X"}]}, "/errors/0: an error without a message"),
    ("strange key", {"data": None, "status": 200}, "(whole answer): unknown keys: status"),
    ("strange error", {"errors": [{"message": "m", "hint": 1}]},
     "/errors/0: unknown keys: hint"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "body", "words"), WRONG, ids=[one[0] for one in WRONG])
def test_a_wrong_answer_is_caught(graph: GraphOracle, name: str, body: Any, words: str) -> None:
    """Each way of being wrong is found, at its place."""
    assert words in _told(graph, _answer(body)), name


def test_a_document_that_github_refuses_must_be_refused(graph: GraphOracle) -> None:
    """Data for a field that GitHub does not have is a finding; errors for it are none."""
    query = "query Look { viewer { shoeSize } }"
    assert _told(graph, _answer({"data": {"viewer": {"shoeSize": 42}}}, query)) == [
        "(whole answer): answered what GitHub refuses: Cannot query field 'shoeSize' on type 'User'."
    ]
    assert _told(graph, _answer({"errors": [{"message": "no such field"}]}, query)) == []


def test_no_json_is_caught(graph: GraphOracle) -> None:
    """A body that is not JSON, or no object, is a finding; a document without an operation, too."""
    exchange = Exchange("POST", "/graphql", 200, sent={"query": QUERY}, text="<html>")
    assert _told(graph, exchange) == ["(whole answer): the body is not JSON"]
    assert _told(graph, _answer([])) == ["(whole answer): the body is not an object"]
