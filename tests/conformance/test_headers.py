"""The oracle of headers: real answers pass, and each kind of wrong one is caught."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.conformance import headers, reasons
from tests.conformance.exchange import Exchange
from tests.conformance.judge import Judge

if TYPE_CHECKING:
    from tests.conformance.graph_shape import GraphOracle
    from tests.conformance.openapi import RestOracle
    from tests.conformance.recordings import Recorded

pytestmark = pytest.mark.xdist_group("conformance")  # one process builds the oracles

# Alerts and some older answers come without ETag; four answers were cut by hand.
RECORDED = {
    "pass": 710,
    "a 200 without ETag": 11,
    "the header x-github-request-id is missing": 4,
    "not a Link header": 1,
}
RIGHT = Exchange(
    "GET",
    "/repos/o/r/issues",
    200,
    headers={
        "content-type": "application/json; charset=utf-8",
        "etag": 'W/"1"',
        "x-github-request-id": "A:B",
        "x-oauth-scopes": "repo",
        "x-accepted-oauth-scopes": "repo",
        "link": '<http://h/repositories/1/issues?page=2>; rel="next", <http://h/x?page=9>; rel="last"',
        **dict.fromkeys(headers.LIMITS, "1"),
    },
    text="[]",
)


def test_recorded_headers_pass_at_the_known_rate(recordings: list[Recorded]) -> None:
    """Nearly all answers since 2022 have them as demanded; the others are counted."""
    counted: Counter[str] = Counter()
    for one in recordings:
        if one.is_api and one.year >= reasons.RECENT:
            found = headers.findings(one.exchange)
            counted.update([finding.what.partition(":")[0] for finding in found] or ["pass"])
    assert dict(counted) == RECORDED


@pytest.mark.parametrize(
    ("less", "more", "words"),
    [
        ("x-github-request-id", {}, "x-github-request-id is missing"),
        ("x-ratelimit-used", {}, "without the header x-ratelimit-used"),
        ("", {"x-ratelimit-remaining": "many"}, "is no number"),
        ("x-accepted-oauth-scopes", {}, "come together"),
        ("", {"x-accepted-github-permissions": "issues=read"}, "scopes or permissions, not both"),
        ("etag", {}, "a 200 without ETag"),
        ("", {"link": "<http://h/x>; rel=next"}, "not a Link header"),
        ("content-type", {}, "a body without Content-Type"),
    ],
)
def test_a_wrong_header_is_caught(less: str, more: dict[str, str], words: str) -> None:
    """Right headers pass; without one, or with another one, there is one finding that says so."""
    assert headers.findings(RIGHT) == []
    changed = {name: value for name, value in RIGHT.headers.items() if name != less} | more
    (finding,) = headers.findings(replace(RIGHT, headers=changed))
    assert words in finding.what


def test_a_redirect_says_where() -> None:
    """A redirect without Location leads nowhere."""
    assert "a 301 without Location" in str(headers.findings(replace(RIGHT, status=301)))


def test_faults_may_be_what_github_is_not(rest: RestOracle, graph: GraphOracle) -> None:
    """A fault's status and form are the test's wish; an answer without one is held to GitHub."""
    judge = Judge(rest, graph)
    edge = Exchange("GET", "/user", 502, headers={"content-type": "text/html"}, text="<html>")
    strange = Exchange("GET", "/user", 409, headers=RIGHT.headers, text='{"message": "m"}')
    assert judge.findings(replace(edge, fault="before")) == []
    assert judge.findings(replace(strange, fault="after")) == []
    assert "undocumented status" in str(judge.findings(strange))
    assert "x-github-request-id" in str(judge.findings(edge))


def test_an_answer_is_judged_once(rest: RestOracle, graph: GraphOracle) -> None:
    """A right answer is remembered; a wrong one is a finding each time."""
    judge = Judge(rest, graph)
    assert judge.findings(RIGHT) == []
    assert len(judge.right) == 1
    wrong = replace(RIGHT, text='[{"id": 1}]')
    assert judge.findings(wrong) == judge.findings(wrong) != []
    assert len(judge.right) == 1
