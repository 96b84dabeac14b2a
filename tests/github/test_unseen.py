"""A token that is not shown every check: Actions' runs, statuses, and GitHub's own word."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import responses

from lifecycle.core.values.model import Look
from lifecycle.github.client.graph import GraphClient
from lifecycle.github.client.rest import RestClient
from tests.github.answers import SHA, problem, pull, seen
from tests.github.hub import forge_on

URL = "https://api.github.com/graphql"
REST = "https://api.github.com:443/repos/octo-org/hello-service"
PATH = ("repository", "byBranch", "nodes", 0, "statusCheckRollup", "contexts")


@pytest.fixture
def mock() -> Iterator[responses.RequestsMock]:
    """Answers made up for api.github.com."""
    with responses.RequestsMock() as found:
        yield found


@pytest.mark.parametrize(
    ("verdict", "is_green", "unseen", "overall"),
    [
        ("SUCCESS", True, "", ""),
        ("PENDING", False, "checks of other apps than GitHub Actions", "PENDING"),
        ("FAILURE", False, "checks of other apps than GitHub Actions", "FAILURE"),
    ],
)
def test_what_could_not_be_seen_is_told(
    graph: GraphClient,
    rest: RestClient,
    mock: responses.RequestsMock,
    *,
    verdict: str,
    is_green: bool,
    unseen: str,
    overall: str,
) -> None:
    """Contexts and check runs are forbidden: runs of Actions, statuses, and the word over all of it."""
    rollup = {"state": verdict, "commit": {"oid": SHA}, "contexts": None}
    data = {"repository": seen(byBranch={"nodes": [pull(8, statusCheckRollup=rollup)]})}
    mock.post(URL, json={"data": data, "errors": [problem("FORBIDDEN", *PATH)]})
    words = "Resource not accessible by personal access token"
    mock.get(f"{REST}/commits/{SHA}/check-runs", status=403, json={"message": words})
    run = {"id": 1, "name": "CI", "event": "push", "workflow_id": 3, "status": "completed"}
    run |= {"conclusion": "success", "run_started_at": "2026-01-31T10:00:00Z", "html_url": "u"}
    run |= {"head_sha": SHA, "updated_at": "2026-01-31T10:02:00Z"}
    mock.get(f"{REST}/actions/runs", json={"total_count": 1, "workflow_runs": [run]})
    mock.get(f"{REST}/commits/{SHA}/status", json={"statuses": [], "total_count": 0})
    forge = forge_on(graph, rest, None)
    checks = forge.observe(Look(issue=42, branch="work", checks=True)).by_branch[0].checks
    assert checks is not None
    assert (checks.is_green, checks.unseen, checks.overall) == (is_green, unseen, overall)
    assert [one.name for one in checks.runs] == ["CI"]
    assert f"head_sha={SHA}" in str(mock.calls[2].request.url)
