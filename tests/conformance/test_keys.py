"""Keys and headers of every call that the sandbox serves, compared with recorded real answers.

What differs stands in lifecycle/sandbox/FIDELITY.md with its reason; nothing else may differ, and
what no longer differs may not stand there.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import pytest
from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, Rule

from lifecycle.sandbox.server import Sandbox
from lifecycle.sandbox.wire.rest import router
from tests.conformance import keys, tour
from tests.conformance.keys import Difference, Row, Shape
from tests.conformance.lies import LIES
from tests.conformance.steps import STEPS

if TYPE_CHECKING:
    from tests.conformance.exchange import Exchange
    from tests.conformance.keys import Seen
    from tests.conformance.openapi import RestOracle
    from tests.conformance.recordings import Recorded

ENDS = "github-authentication-token-expiration"
pytestmark = pytest.mark.xdist_group("conformance")  # one process builds the oracles


@pytest.fixture(scope="module")
def answers() -> list[Exchange]:
    """What the sandbox answers to every call that it serves."""
    with Sandbox(tour.seed()) as sandbox:
        return tour.walk(sandbox.info, STEPS)


@pytest.fixture(scope="module")
def real(rest: RestOracle, recordings: list[Recorded]) -> dict[str, Seen]:
    """What real answers consist of, by call and status."""
    return keys.of_recordings(rest, recordings)


@pytest.fixture(scope="module")
def found(rest: RestOracle, real: dict[str, Seen], answers: list[Exchange]) -> list[Difference]:
    """Every difference, from recordings and from what is described."""
    compared = keys.differences(rest, real, keys.of_answers(rest, answers))
    return sorted({*compared, *keys.invented(rest, real, answers)})


@pytest.fixture(scope="module")
def listed() -> list[Row]:
    """The table in FIDELITY.md."""
    text = files("lifecycle.sandbox").joinpath("FIDELITY.md").read_text("utf-8")
    return keys.rows(text)


def test_every_route_is_walked(answers: list[Exchange]) -> None:
    """No call is served that is not compared; a new one needs a step in tests/conformance/steps."""
    urls = Map([Rule(r.path, methods=[r.method], endpoint=r) for r in router.ROUTES]).bind("s")
    walked = set()
    for exchange in answers:
        try:
            walked.add(urls.match(exchange.path, method=exchange.method)[0])
        except HTTPException:
            continue
    missing = [f"{r.method} {r.path}" for r in router.ROUTES if r not in walked]
    assert missing == [], "\n".join(missing)


def test_every_answer_is_as_published(rest: RestOracle, answers: list[Exchange]) -> None:
    """GitHub's description allows each of them."""
    found = [finding for one in answers for finding in rest.findings(one)]
    wrong = {str(one) for one in found if not any(lie.excuses(one) for lie in LIES)}
    assert wrong == set(), "\n".join(sorted(wrong))


def test_a_token_has_scopes_or_permissions(answers: list[Exchange]) -> None:
    """A classic token's answers name scopes and its end, an installation's what is accepted."""
    classic = {f"token {one.token}" for one in tour.TOKENS.values()}
    named = set()
    for one in answers:
        if one.status < 400:
            credential = one.asked["authorization"]
            kind = "classic" if credential in classic else credential.split(" ")[0]
            held = tuple(sorted(keys.OF_TOKEN & one.headers.keys()))
            named.add((kind, held))
    ends = {one.headers.get(ENDS) for one in answers} - {None}
    assert ends == {"2099-01-02 03:04:05 UTC"}
    assert named == {
        ("classic", (ENDS, "x-accepted-oauth-scopes", "x-oauth-scopes")),
        ("token", ("x-accepted-github-permissions",)),
        ("Bearer", ()),
    }


def test_what_differs_is_listed(found: list[Difference], listed: list[Row]) -> None:
    """Each key or header that only one side has is in FIDELITY.md, with its reason."""
    silent = [one for one in found if not any(row.covers(one) for row in listed)]
    assert silent == [], "\n".join(f"{one.call} | {one.kind} | {one.name}" for one in silent)


def test_what_is_listed_differs(found: list[Difference], listed: list[Row]) -> None:
    """Nothing in FIDELITY.md has been mended, and each line gives a reason."""
    assert all(row.why.endswith(".") for row in listed)
    idle = [row for row in listed if not any(row.covers(one) for one in found)]
    assert idle == [], "\n".join(f"{row.call} | {row.kind} | {row.name}" for row in idle)


def test_a_missing_and_an_invented_key_are_seen(
    rest: RestOracle, real: dict[str, Seen], answers: list[Exchange]
) -> None:
    """Without a key that real answers have, and with one of nobody's, the comparison says so."""
    call = "GET /repos/{owner}/{repo}/issues/{issue_number} 200"
    whole = [one for one in answers if one.method == "GET" and one.path.endswith("/issues/42")]
    ours = keys.of_answers(rest, whole)
    ours[call].recent.keys -= {("user", "login"), ("reactions",)}
    ours[call].recent.keys |= {("mood",), ("user", "mood")}
    ours[call].headers -= {"x-ratelimit-used"}
    ours[call].headers |= {"x-mood"}
    found = set(keys.differences(rest, real, ours))
    for kind, name in (
        ("lacks", "user/login"), ("lacks", "reactions"), ("adds", "mood"), ("adds", "user/mood"),
        ("lacks header", "x-ratelimit-used"), ("adds header", "x-mood"),
    ):  # fmt: skip
        assert Difference(call, kind, name) in found  # type: ignore[arg-type]  # one of its words


def test_shapes_are_paths() -> None:
    """A body is the paths of its keys, with a star for the items of lists."""
    shape = Shape()
    shape.add([{"a": 1, "b": [{"c": None}]}, {"a": {"d": 2}}])
    assert {"/".join(key) for key in shape.keys} == {"*/a", "*/b", "*/b/*/c", "*/a/d"}
    assert {"/".join(key) for key in shape.objects} == {"*", "*/b/*", "*/a"}


def test_a_row_covers_what_it_names() -> None:
    """A line is for a call with any status or one, and for a key with all that is in it."""
    one = Difference("GET /repos/{owner}/{repo} 200", "lacks", "organization/id")
    for call, name in (
        ("GET /repos/{owner}/{repo}", "organization"), ("*", "organization/*"), ("* 200", "*/id"),
    ):  # fmt: skip
        assert Row(call, "lacks", name, "why.").covers(one)
    for call, kind, name in (
        ("* 404", "lacks", "*"), ("*", "adds", "*"), ("GET /repos/{owner}", "lacks", "source"),
    ):  # fmt: skip
        assert not Row(call, kind, name, "why.").covers(one)
    table = "| a | b | c | d |\n|---|---|---|---|\n| `*` | lacks | `k` | w. |\n"
    text = f"x\n<!-- differences -->\n{table}<!-- /differences -->"
    assert keys.rows(text) == [Row("*", "lacks", "k", "w.")]
