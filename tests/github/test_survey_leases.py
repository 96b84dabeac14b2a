"""lifecycle.github.sweep.sweep_holdings: leases that GraphQL does not show."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import responses

from lifecycle.core.errors import NoPermission
from lifecycle.core.timing import Deadline
from lifecycle.core.values.model import Repository
from lifecycle.core.values.survey import Holding
from lifecycle.github.client.graph import GraphClient
from lifecycle.github.client.rest import RestClient
from lifecycle.github.sweep.sweeping import GitHubSurvey
from tests.github.hub import survey_on
from tests.github.survey_world import hub_of, issue, lease, repository, seed, survey_of

GRAPH = "https://api.github.com/graphql"
REST = re.compile(r"https://api\.github\.com:443/repos/o/(\w+)/git/matching-refs/agent-claims")
COMMITTED = "2026-01-31T09:00:00Z"


class HidingHub:
    """A GitHub that shows leases over REST alone: what each repository has, and what was asked."""

    def __init__(self, mock: responses.RequestsMock, **leases: int) -> None:
        self.leases = leases
        self.claimed = dict.fromkeys(leases, 1)
        self.refused: set[str] = set()
        self.asked: list[str] = []
        mock.add_callback(responses.POST, GRAPH, self.graph)
        mock.add_callback(responses.GET, REST, self.rest)
        mock.assert_all_requests_are_fired = False

    def graph(self, request: Any) -> tuple[int, dict[str, str], str]:
        """Repositories without leases, and commits."""
        sent = json.loads(request.body)
        operation, values = sent["operationName"], sent["variables"]
        self.asked.append(operation)
        aliases = sorted({name.partition("_")[0] for name in values}, key=lambda one: int(one[1:]))
        parts = {one: {k[len(one) + 1 :]: v for k, v in values.items() if k.startswith(f"{one}_")}
                 for one in aliases}  # fmt: skip
        make = self.commit if operation == "SurveyCommit" else self.repository
        data = {alias: make(own) for alias, own in parts.items()}
        return 200, {}, json.dumps({"data": {"rateLimit": {"cost": 1}, **data}})

    def repository(self, own: dict[str, str]) -> dict[str, Any]:
        """As GraphQL has it."""
        page = {"pageInfo": {"hasNextPage": False}, "nodes": []}
        return {
            "nameWithOwner": f"o/{own['name']}", "url": f"https://github.com/o/{own['name']}",
            "defaultBranchRef": {"name": "main"} if self.leases[own["name"]] >= 0 else None,
            "claimed": {"totalCount": self.claimed[own["name"]]},
            "leases": page, "tips": page, "pulls": page,
        }  # fmt: skip

    def commit(self, own: dict[str, str]) -> dict[str, Any]:
        """The commit of a lease; one of them is not shown."""
        number = int(own["oid"], 16)
        if number == 13:
            return {"object": None}
        word = json.dumps({"agent": f"a{number}", "issue": number, "nonce": "n"})
        return {
            "object": {"oid": own["oid"], "message": f"lease {word}", "committedDate": COMMITTED}
        }

    def rest(self, request: Any) -> tuple[int, dict[str, str], str]:
        """The refs below the prefix, whatever else begins like it among them."""
        found = REST.match(request.url)
        assert found
        self.asked.append(f"refs of {found[1]}")
        if found[1] in self.refused:
            return 403, {}, json.dumps({"message": "Resource not accessible by integration"})
        page = int(request.params.get("page", 1))
        numbers = range(1, self.leases[found[1]] + 1)
        shown = numbers[(page - 1) * 100 : page * 100]
        refs = [
            {"ref": f"refs/agent-claims/{n}", "object": {"sha": f"{n:040x}", "type": "commit"}}
            for n in shown
        ]
        refs.append({"ref": "refs/agent-claims-of-others/1", "object": {"sha": "f" * 40}})
        more = f'<{request.url.partition("?")[0]}?page={page + 1}>; rel="next"'
        return 200, {"Link": more} if numbers[page * 100 :] else {}, json.dumps(refs)


@pytest.fixture
def mock() -> Iterator[responses.RequestsMock]:
    """Answers made up for api.github.com."""
    with responses.RequestsMock() as found:
        yield found


@pytest.fixture
def survey(graph: GraphClient, rest: RestClient) -> GitHubSurvey:
    """A sweep of api.github.com."""
    return survey_on(graph, rest)


def read(survey: GitHubSurvey, *names: str) -> list[Holding]:
    """The holdings of repositories of o."""
    return list(survey.holdings([Repository("o", name) for name in names]))


def test_leases_that_graphql_hides_are_read_over_rest(
    mock: responses.RequestsMock, survey: GitHubSurvey
) -> None:
    """One question tells; then every repository's refs, and the commits a hundred a request."""
    hub = HidingHub(mock, a=1, b=120, c=0)
    a, b, c = read(survey, "a", "b", "c")
    assert (list(a.leases), list(b.leases), list(c.leases)) == ([1], [*range(1, 121)], [])
    assert (a.leases[1].agent, a.leases[1].since is None) == ("a1", False)
    assert (b.leases[13].agent, b.leases[13].since, b.leases[13].sha) == ("", None, f"{13:040x}")
    assert hub.asked == [
        "SurveyHolding", "refs of a", "refs of a", "refs of b", "refs of b", "refs of c",
        "SurveyCommit", "SurveyCommit",
    ]  # fmt: skip


def test_that_they_are_hidden_is_remembered(
    mock: responses.RequestsMock, survey: GitHubSurvey
) -> None:
    """The next sweep of the same object asks REST at once; one without leases ends no doubt of it."""
    hub = HidingHub(mock, a=1, b=0, c=1)
    read(survey, "a")
    hub.asked.clear()
    read(survey, "b")
    assert hub.asked == ["SurveyHolding", "refs of b"]
    hub.claimed["c"] = 0
    (found,) = read(survey, "c")
    assert list(found.leases) == [1]


def test_where_rest_shows_none_either_there_are_none(
    mock: responses.RequestsMock, survey: GitHubSurvey
) -> None:
    """One request for a whole sweep, however many repositories it has; none if nothing is claimed."""
    names = [f"r{n}" for n in range(30)]
    hub = HidingHub(mock, **dict.fromkeys(names, 0))
    assert not any(one.leases for one in read(survey, *names))
    assert hub.asked == ["SurveyHolding", "refs of r0", "SurveyHolding"]
    hub.asked.clear()
    hub.claimed = dict.fromkeys(names, 0)
    read(survey, *names)
    assert hub.asked == ["SurveyHolding", "SurveyHolding"]


def test_a_refusal_of_rest_is_no_word_about_graphql(
    mock: responses.RequestsMock, survey: GitHubSurvey
) -> None:
    """A token that may not list refs reads what GraphQL shows."""
    hub = HidingHub(mock, a=1)
    hub.refused.add("a")
    (found,) = read(survey, "a")
    assert (found.problem, found.leases) == (None, {})


def test_refs_that_are_refused_are_their_repositorys_problem(
    mock: responses.RequestsMock, survey: GitHubSurvey
) -> None:
    """Where leases are hidden, one repository's refusal does not cost the others theirs."""
    hub = HidingHub(mock, a=1, b=1, empty=-1)
    hub.refused.add("b")
    a, b, empty = read(survey, "a", "b", "empty")
    assert (list(a.leases), list(empty.leases), empty.problem) == ([1], [], None)
    assert isinstance(b.problem, NoPermission)
    assert "refs of empty" not in hub.asked


def test_leases_that_graphql_shows_cost_no_question(deadline: Deadline) -> None:
    """One lease anywhere is enough; without any, one question, to which REST says the same."""
    with hub_of(seed([repository(issues=[issue(1)], refs=[lease(1)])]), deadline) as hub:
        list(survey_of(hub).holdings([hub.repository]))
        assert hub.asked() == ["SurveyHolding"]
    with hub_of(seed([repository(issues=[issue(1)])]), deadline) as hub:
        list(survey_of(hub).holdings([hub.repository]))
        assert hub.asked() == ["SurveyHolding", "GET /git/matching-refs/agent-claims"]
