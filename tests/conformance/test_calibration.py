"""The oracles themselves, held against recorded traffic with the real GitHub."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance import reasons
from tests.conformance.exchange import Exchange
from tests.conformance.lies import LIES
from tests.conformance.recordings import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.graph_shape import GraphOracle
    from tests.conformance.lies import Lie
    from tests.conformance.openapi import RestOracle
    from tests.conformance.recordings import Recorded

pytestmark = pytest.mark.xdist_group("conformance")  # one process builds the oracles

# By reason, how many recorded answers show it; see reasons.py. 46 of 100 conform, of recent ones 83.
WHOLE = {
    "pass": 1047, "fail": 1242, "retired": 155, "shortened": 55, "status": 9, "no JSON": 6,
    "older": 947, "younger": 30, "null": 49, "format": 66, "enum": 6, "type": 33,
}  # fmt: skip
RECENT = {
    "pass": 560, "fail": 117, "retired": 12, "shortened": 45, "younger": 30, "null": 13,
    "format": 15, "enum": 4, "type": 2,
}  # fmt: skip
EXCHANGES = 2381


def _of_rest(recordings: list[Recorded]) -> list[Recorded]:
    return [one for one in recordings if one.is_api and one.exchange.path != "/graphql"]


@pytest.fixture(scope="module")
def passing(rest: RestOracle, recordings: list[Recorded]) -> dict[str, Exchange]:
    """For each call and status, a recent recorded answer that conforms and has a JSON object."""
    found: dict[str, Exchange] = {}
    for one in _of_rest(recordings):
        exchange = one.exchange
        operation = rest.find(exchange.method, exchange.path)
        is_fit = one.year >= reasons.RECENT and exchange.text.startswith("{")
        if is_fit and operation and not rest.findings(exchange):
            found.setdefault(f"{operation} {exchange.status}", exchange)
    return found


def test_recordings_are_read_whole(recordings: list[Recorded]) -> None:
    """The parser finds every exchange of the pinned recordings, with its method and status."""
    assert len(recordings) == EXCHANGES
    assert all(one.exchange.method.isupper() for one in recordings)
    assert Counter(one.exchange.status for one in recordings)[304] == 28


def test_a_streamed_answer_ends_with_the_next_request() -> None:
    """Lines of base64 after an answer are not taken for an exchange."""
    one = ["https", "GET", "h", "None", "/p?q=1", "{}", "None", "200", "[('ETag', 'x')]", "QUJD"]
    lines = [*one, "REVG", "", "", *one, ""]
    found = list(parse("f", "\n".join(lines)))
    assert [(r.exchange.path, r.exchange.query, r.exchange.headers) for r in found] == [
        ("/p", "q=1", {"etag": "x"})
    ] * 2


def test_rest_passes_at_the_known_rate(rest: RestOracle, recordings: list[Recorded]) -> None:
    """As many real answers conform as always have, and each other one fails for a known reason."""
    counted = reasons.classes(rest, _of_rest(recordings))
    assert dict(counted) == WHOLE


def test_recent_rest_passes_at_the_known_rate(rest: RestOracle, recordings: list[Recorded]) -> None:
    """Since 2022 five of six real answers conform; each other one fails for a known reason."""
    recent = [one for one in _of_rest(recordings) if one.year >= reasons.RECENT]
    assert dict(reasons.classes(rest, recent)) == RECENT


def test_every_recorded_graphql_answer_passes(
    graph: GraphOracle, recordings: list[Recorded]
) -> None:
    """All recorded documents are valid on the published schema, and all answers have their shape."""
    found = [one.exchange for one in recordings if one.exchange.path == "/graphql"]
    assert len(found) == 49
    assert [finding for one in found for finding in graph.findings(one)] == []


def test_a_missing_key_is_always_seen(rest: RestOracle, passing: dict[str, Exchange]) -> None:
    """Without a key that its description requires, no real answer passes."""
    missed = []
    for name, exchange in passing.items():
        body = exchange.body()
        operation = rest.find(exchange.method, exchange.path)
        assert operation
        for key in _required(rest, rest.schema(operation, exchange.status)) & body.keys():
            less = {k: v for k, v in body.items() if k != key}
            if not rest.findings(replace(exchange, text=json.dumps(less))):
                missed.append(f"{name} {key}")
    assert missed == []
    assert len(passing) >= 60


def _required(rest: RestOracle, schema: Any) -> set[str]:
    """The keys that a schema of an object requires, by itself or by what it is composed of."""
    if schema is None:
        return set()
    while "$ref" in schema:
        schema = rest.schemas[schema["$ref"].rpartition("/")[2]]
    composed = [_required(rest, one) for one in schema.get("allOf", ())]
    return set(schema.get("required", ())).union(*composed)


ISSUE = "GET /repos/{owner}/{repo}/issues/{issue_number} 200"
PULL = "GET /repos/{owner}/{repo}/pulls/{pull_number} 200"
RUN = "GET /repos/{owner}/{repo}/actions/runs/{run_id} 200"


def _with(**changes: Any) -> Callable[[Exchange], Exchange]:
    def change(exchange: Exchange) -> Exchange:
        body = exchange.body()
        for path, value in changes.items():
            *steps, last = path.split("__")
            place = body
            for step in steps:
                place = place[int(step) if step.isdecimal() else step]
            place[last] = value
        return replace(exchange, text=json.dumps(body))

    return change


MUTANTS: list[tuple[str, str, Callable[[Exchange], Exchange], str]] = [
    ("a number as text", ISSUE, _with(number="7"), '/number: "7" is not of type "integer"'),
    ("null for an object", ISSUE, _with(user__login=None), "/user"),
    ("an unknown word", PULL, _with(state="merged"), '/state: "merged" is not one of'),
    ("a time without a date", ISSUE, _with(created_at="12:00"), '/created_at: "12:00" is not a'),
    ("a URL with a space", ISSUE, _with(html_url="no url"), '/html_url: "no url" is not a "uri"'),
    ("an object for a list", ISSUE, _with(labels={}), "/labels: {} is not of type"),
    ("a wrong thing deep inside", PULL, _with(base__repo__owner__id="1"), "/base/repo/owner/id"),
    ("one wrong thing in a list", ISSUE, _with(assignees=[{}]), "/assignees/0"),
    ("a list for an object", ISSUE, lambda e: replace(e, text="[]"), "(whole answer): [] is not"),
    ("half of it", ISSUE, lambda e: replace(e, text=e.text[:99]), "says that it is JSON and is not"),
    ("HTML", ISSUE, lambda e: replace(e, headers={"content-type": "text/html"}), "JSON was documented"),
    ("a strange status", ISSUE, lambda e: replace(e, status=202), "undocumented status"),
    ("a 304 out of the blue", ISSUE, lambda e: replace(e, status=304), "304 without a condition"),
    ("a call of nobody's", ISSUE, lambda e: replace(e, path="/repos/o/r/tasks/1"), "no such call"),
    ("a method of nobody's", ISSUE, lambda e: replace(e, method="DELETE"), "no such call"),
    ("a text for an error", ISSUE, lambda e: replace(e, status=404, text='"no"'), "is not of type"),
    ("an error without a code", ISSUE, lambda e: replace(
        e, method="PATCH", status=422, text='{"message": "no", "documentation_url": "", "errors": [{}]}'
     ), '/errors/0: "code" is a required property'),
]  # fmt: skip


@pytest.mark.parametrize(("name", "call", "change", "words"), MUTANTS, ids=[m[0] for m in MUTANTS])
def test_a_broken_answer_is_caught(
    rest: RestOracle,
    passing: dict[str, Exchange],
    name: str,
    call: str,
    change: Callable[[Exchange], Exchange],
    words: str,
) -> None:
    """A real answer, broken in one way, is found out, and the finding names the place."""
    broken = change(passing[call])
    found = [str(finding) for finding in rest.findings(broken)]
    assert any(words in one for one in found), (name, found[:5])


def test_a_204_has_no_body(rest: RestOracle) -> None:
    """What has no content must have none, and a HEAD is a GET without its body."""
    path = "/repos/o/r/git/refs/heads/b"
    assert rest.findings(Exchange("DELETE", path, 204)) == []
    assert "has no body" in str(rest.findings(Exchange("DELETE", path, 204, text="{}")))
    assert rest.findings(Exchange("HEAD", "/repos/o/r", 200)) == []


@pytest.mark.parametrize(
    ("path", "template"),
    [
        ("/repos/o/r/git/ref/heads/claude/x", "/repos/{owner}/{repo}/git/ref/{ref}"),
        (
            "/repos/o/r/commits/claude/x/check-runs",
            "/repos/{owner}/{repo}/commits/{ref}/check-runs",
        ),
        ("/repos/o/r/commits/claude/x", "/repos/{owner}/{repo}/commits/{ref}"),
        ("/repos/o/r/issues/comments/1", "/repos/{owner}/{repo}/issues/comments/{comment_id}"),
        ("/repositories/12/issues", "/repos/{owner}/{repo}/issues"),
        ("/repositories/12", "/repos/{owner}/{repo}"),
        ("/repos/o/r/issues/", None),
        ("/repos/o", None),
    ],
)
def test_a_path_finds_its_call(rest: RestOracle, path: str, template: str | None) -> None:
    """Names in a path win over parameters, some parameters hold slashes, a repository has a number."""
    found = rest.find("GET", path)
    assert (found.template if found else None) == template


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.pointer)
def test_every_excuse_has_its_witness(
    rest: RestOracle, recordings: list[Recorded], lie: Lie
) -> None:
    """Where GitHub's description is said to be wrong, a recording shows it, or a thread is named."""
    if lie.witness.startswith("https:"):
        assert re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+", lie.witness)
        return
    shown = [one.exchange for one in recordings if one.file == lie.witness and one.is_api]
    assert any(lie.excuses(finding) for one in shown for finding in rest.findings(one))
