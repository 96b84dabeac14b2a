"""Green only with evidence: what a look is not shown is never taken for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import responses

from lifecycle.claim.engine.briefing import claim_lines
from lifecycle.core.errors import NoPermission
from lifecycle.core.values.checks import Checks, Verdict
from lifecycle.core.values.model import Look, PullRequest
from lifecycle.github.client.graph import GraphClient, fields_of
from lifecycle.github.client.rest import Calls, RestClient
from lifecycle.github.pulls import rest_checks, translate
from lifecycle.github.pulls.forge import GitHubForge
from tests.batches import each_row
from tests.github.answers import problem, seen
from tests.github.cases_checks import SHA, Case, classic, ruleset, run, status, suite
from tests.github.hub import REPOSITORY, forge_on
from tests.github.test_checks import looked, node

URL = "https://api.github.com/graphql"
REST = "https://api.github.com:443/repos/octo-org/hello-service"
PULL = ("repository", "byBranch", "nodes", 0)
FIELDS = sorted(set().union(*(fields_of(name, "PullRequest") for name in translate.MERGING)))
GREEN, FAILED, PENDING = Verdict.GREEN, Verdict.FAILED, Verdict.PENDING


@pytest.fixture
def mock() -> Iterator[responses.RequestsMock]:
    """Answers made up for api.github.com."""
    with responses.RequestsMock() as found:
        yield found


@pytest.fixture
def forge(graph: GraphClient, rest: RestClient) -> GitHubForge:
    """A forge without a board."""
    return forge_on(graph, rest, None)


def case(*contexts: dict[str, Any], **changes: Any) -> Case:
    """A case that nobody has to have met."""
    return replace(Case("", "", contexts, GREEN), **changes)


def checks_of(found: Case) -> Checks:
    """The checks of a case."""
    checks = translate.pull_request(node(found)).checks
    assert checks is not None
    return checks


def observed(
    forge: GitHubForge, mock: responses.RequestsMock, found: dict[str, Any] | None, *path: str | int
) -> PullRequest:
    """The pull request as a look shows it that was refused something."""
    data = {"repository": seen(byBranch={"nodes": [found]})}
    errors = [problem("FORBIDDEN", *path)] if path else []
    mock.post(URL, json={"data": data, **({"errors": errors} if errors else {})})
    return forge.observe(Look(issue=42, branch="work", checks=True)).by_branch[0]


def flow(name: str, conclusion: str, suite_id: int, *, at: str = "10:00:00") -> dict[str, Any]:
    """A run of a workflow, as REST lists it."""
    made = f"2026-01-31T{at}Z"
    found: dict[str, Any] = {
        "id": suite_id,
        "name": name,
        "event": "pull_request",
        "workflow_id": 3,
    }
    found |= {"status": "completed", "conclusion": conclusion, "html_url": "u", "head_sha": SHA}
    return {**found, "check_suite_id": suite_id, "created_at": made, "run_started_at": made}


def job(name: str, conclusion: str, suite_id: int, *, at: str, slug: str) -> dict[str, Any]:
    """A check run, as REST lists it."""
    found = {"id": 1, "name": name, "status": "completed", "conclusion": conclusion}
    found |= {"started_at": f"2026-01-31T{at}Z", "completed_at": None, "details_url": "u"}
    return {**found, "check_suite": {"id": suite_id}, "app": {"id": len(slug), "slug": slug}}


def lists_flows(mock: responses.RequestsMock, *flows: dict[str, Any]) -> None:
    """REST's list of a head's runs of workflows."""
    mock.get(f"{REST}/actions/runs", json={"total_count": len(flows), "workflow_runs": list(flows)})


def test_two_apps_with_a_check_of_one_name() -> None:
    """They are two checks: the later success of one does not take the place of the other's failure."""
    first = run("lint", "FAILURE", workflow=None, app=1)
    second = run("lint", workflow=None, app=2, at="10:05:00")
    assert checks_of(case(first, second)).verdict is FAILED
    passed = run("lint", workflow=None, app=1)
    demands = ruleset(("lint", 1))
    assert checks_of(case(passed, second, demands=demands)).verdict is GREEN


ENDED = {
    "CANCELLED": FAILED,
    "TIMED_OUT": FAILED,
    "FAILURE": FAILED,
    "STALE": PENDING,
    "A_WORD_OF_TOMORROW": PENDING,
    None: PENDING,
    "SUCCESS": GREEN,
    "SKIPPED": GREEN,
    "NEUTRAL": GREEN,
}


@each_row(("conclusion", "jobs"), product(ENDED, [(), (run("plan", workflow="CI"),)]))
def test_a_workflow_that_ended_without_saying_so_in_a_job(
    conclusion: str | None, jobs: tuple[dict[str, Any], ...]
) -> None:
    """It did not pass although each of its jobs did, or it has none: that is no pass."""
    verdict = ENDED[conclusion]
    suites = (suite("CI", conclusion=conclusion), suite("Preview"))
    found = case(run("preview", workflow="Preview"), *jobs, suites=suites)
    assert checks_of(found).verdict is verdict
    assert ("CI passed" in "".join(say.text for say in looked(found)[0])) is (verdict is GREEN)


def test_a_failed_job_is_told_once() -> None:
    """Where a job's failure is listed, the failure of its workflow is no second one."""
    found = case(run("test", "FAILURE"), suites=(suite("CI", conclusion="FAILURE"),))
    assert [one.name for one in checks_of(found).failed] == ["test"]


def test_workflows_that_are_refused_are_read_over_rest(
    forge: GitHubForge, mock: responses.RequestsMock
) -> None:
    """One of them waits for an approval: what is listed is green, and the head is not."""
    found = node(case(run("DCO", workflow=None, app=7)))
    found["commits"]["nodes"][0]["commit"]["checkSuites"] = None
    lists_flows(mock, flow("Tests", "action_required", 5))
    path = (*PULL, "commits", "nodes", 0, "commit", "checkSuites")
    checks = observed(forge, mock, found, *path).checks
    assert checks is not None
    assert (checks.verdict, checks.held) == (PENDING, ("Tests",))


@pytest.mark.parametrize("is_more", [True, False])
def test_workflows_that_are_shown_nowhere(
    forge: GitHubForge, mock: responses.RequestsMock, *, is_more: bool
) -> None:
    """Neither here nor there, refused or beyond the first page: pending, and the person is told."""
    found = node(case(run("test")))
    suites = {"pageInfo": {"hasNextPage": True}, "nodes": [suite("CI")]} if is_more else None
    found["commits"]["nodes"][0]["commit"]["checkSuites"] = suites
    mock.get(f"{REST}/actions/runs", status=403, json={"message": "Not accessible"})
    checks = observed(forge, mock, found).checks
    assert checks is not None
    assert (checks.verdict, checks.hidden) == (PENDING, ("the workflows of this head",))


def test_workflows_that_rest_shows_are_evidence(
    forge: GitHubForge, mock: responses.RequestsMock
) -> None:
    """All runs of the head passed, those of other heads do not count: green."""
    found = node(case(run("test")))
    found["commits"] = None
    other = {**flow("CI", "failure", 6, at="12:00:00"), "head_sha": "b" * 40}
    lists_flows(mock, flow("CI", "success", 5), other)
    checks = observed(forge, mock, found, *PULL, "commits").checks
    assert checks is not None
    assert checks.verdict is GREEN


@pytest.mark.parametrize(
    ("merge", "verdict"),
    [
        ("CLEAN", GREEN),
        ("HAS_HOOKS", GREEN),
        ("UNSTABLE", GREEN),
        ("BLOCKED", PENDING),
        ("UNKNOWN", PENDING),
        ("BEHIND", PENDING),
        ("DIRTY", PENDING),
        (None, PENDING),
    ],
)
@pytest.mark.parametrize(
    ("base", "path"),
    [
        (None, ("baseRef",)),
        ({"refUpdateRule": None, "rules": {"nodes": []}}, ("baseRef", "refUpdateRule")),
        ({"refUpdateRule": None, "rules": None}, ("baseRef", "rules")),
        ({"rules": {"pageInfo": {"hasNextPage": True}, "nodes": []}}, ()),
    ],
)
def test_demands_that_are_hidden(
    forge: GitHubForge,
    mock: responses.RequestsMock,
    merge: str | None,
    verdict: Verdict,
    base: dict[str, Any] | None,
    path: tuple[str, ...],
) -> None:
    """What the base demands is not known: green only if GitHub finds all of it there."""
    found = {**node(case(run("test"))), "baseRef": base, "mergeStateStatus": merge}
    where: tuple[str | int, ...] = (*PULL, *path) if path else ()
    checks = observed(forge, mock, found, *where).checks
    assert checks is not None
    assert checks.verdict is verdict
    assert len(mock.calls) == 1


def test_what_is_hidden_is_said_and_promises_no_merge() -> None:
    """The person hears what the token is not shown; the session's lines promise no merge."""
    found = case(run("test"), pull={"baseRef": None, "mergeStateStatus": "BLOCKED"})
    says, record = looked(found)
    (said,) = [say.text for say in says]
    assert "the token is not shown all that the base branch demands" in said
    lines = claim_lines(record)
    assert not any("waits for a person to merge it" in line for line in lines)


def test_a_status_by_somebody_is_not_an_apps_check() -> None:
    """GitHub does not say which app set a status: only an unblocked merge tells that it was the one."""
    demands = ruleset(("Vercel", 8329))
    blocked = case(
        status("Vercel", "SUCCESS"), demands=demands, pull={"mergeStateStatus": "BLOCKED"}
    )
    checks = checks_of(blocked)
    assert (checks.verdict, checks.missing, checks.doubted) == (PENDING, (), ("Vercel",))
    assert "not shown which app set Vercel" in looked(blocked)[0][0].text
    assert checks_of(replace(blocked, pull={"mergeStateStatus": "CLEAN"})).verdict is GREEN


@pytest.mark.parametrize("context", ["lint", "ext/security"])
def test_demands_of_which_only_statuses_can_be_seen(
    forge: GitHubForge, mock: responses.RequestsMock, context: str
) -> None:
    """A fine-grained token: a status meets its demand; a job that is demanded may not have reported."""
    found = node(case(demands=classic("ext/security"), pull={"mergeStateStatus": "BLOCKED"}))
    found["statusCheckRollup"] = {"state": "SUCCESS", "commit": {"oid": SHA}, "contexts": None}
    mock.get(f"{REST}/commits/{SHA}/check-runs", status=403, json={"message": "Not accessible"})
    lists_flows(mock, flow("CI", "success", 5))
    shown = {"context": context, "state": "success", "created_at": "2026-01-31T10:00:00Z"}
    mock.get(f"{REST}/commits/{SHA}/status", json={"statuses": [shown], "total_count": 1})
    checks = observed(forge, mock, found, *PULL, "statusCheckRollup", "contexts").checks
    assert checks is not None
    is_met = context == "ext/security"
    assert checks.verdict is (GREEN if is_met else PENDING)
    assert checks.hidden == (() if is_met else ("whether ext/security reported",))


@pytest.mark.parametrize(
    ("workflows", "found"),
    [
        (("CI", "CI"), [("build", "SUCCESS")]),
        (("CI", "Windows"), [("build", "FAILURE"), ("build", "SUCCESS")]),
        ((), [("build", "FAILURE"), ("build", "SUCCESS")]),
    ],
)
def test_a_run_again_in_another_suite_over_rest(
    rest: RestClient,
    mock: responses.RequestsMock,
    workflows: tuple[str, ...],
    found: list[tuple[str, str]],
) -> None:
    """The newest of one workflow counts, as in GraphQL; who may not see workflows takes no risk."""
    jobs = [
        job("build", "failure", 1, at="10:00:00", slug="github-actions"),
        job("build", "success", 2, at="11:00:00", slug="github-actions"),
    ]
    mock.get(f"{REST}/commits/{SHA}/check-runs", json={"total_count": 2, "check_runs": jobs})
    mock.get(f"{REST}/commits/{SHA}/status", json={"statuses": [], "total_count": 0})
    if workflows:
        ends = ("failure", "success")
        lists_flows(
            mock, *(flow(w, e, i) for i, (w, e) in enumerate(zip(workflows, ends, strict=True), 1))
        )
    else:
        mock.get(f"{REST}/actions/runs", status=403, json={"message": "Not accessible"})
    checks = rest_checks.read(Calls(rest, REPOSITORY), SHA)
    assert [(one.name, one.word) for one in checks.runs] == found


def test_checks_of_other_apps_over_rest(rest: RestClient, mock: responses.RequestsMock) -> None:
    """An app's newest check of a name counts, in whatever suite; no request is needed to know it."""
    jobs = [
        job("scan", "failure", 1, at="10:00:00", slug="scanner"),
        job("scan", "success", 2, at="11:00:00", slug="scanner"),
        job("scan", "neutral", 3, at="09:00:00", slug="another-scanner"),
    ]
    mock.get(f"{REST}/commits/{SHA}/check-runs", json={"total_count": 3, "check_runs": jobs})
    mock.get(f"{REST}/commits/{SHA}/status", json={"statuses": [], "total_count": 0})
    words = [one.word for one in rest_checks.read(Calls(rest, REPOSITORY), SHA).runs]
    assert sorted(words) == ["NEUTRAL", "SUCCESS"]


def test_check_runs_are_shown_where_statuses_are_refused(
    rest: RestClient, mock: responses.RequestsMock
) -> None:
    """A token with "Checks: read" alone: what failed is told, and nothing is green without the rest."""
    jobs = [job("test", "failure", 1, at="10:00:00", slug="scanner")]
    mock.get(f"{REST}/commits/{SHA}/check-runs", json={"total_count": 1, "check_runs": jobs})
    mock.get(f"{REST}/commits/{SHA}/status", status=403, json={"message": "Not accessible"})
    checks = rest_checks.read(Calls(rest, REPOSITORY), SHA)
    assert [check.name for check in checks.failed] == ["test"]
    assert checks.unseen == "commit statuses (Commit statuses: read)"
    assert not checks.is_complete


@pytest.mark.parametrize("field", FIELDS)
def test_each_field_of_the_merge_may_be_refused(
    forge: GitHubForge, mock: responses.RequestsMock, field: str
) -> None:
    """Every field that the documents of the merge add is done without, and makes nothing green."""
    found = {**node(case(run("test", "FAILURE"))), field: None}
    pull = observed(forge, mock, found, *PULL, field)
    assert pull.number == 7
    assert pull.checks is not None
    assert pull.checks.verdict is FAILED
    assert (pull.merge_state == "UNKNOWN") is (field == "mergeStateStatus")


def test_a_refusal_that_takes_the_pull_request_along(
    forge: GitHubForge, mock: responses.RequestsMock
) -> None:
    """It is not told as a pull request that does not exist."""
    with pytest.raises(NoPermission):
        observed(forge, mock, None, *PULL, "mergeStateStatus")


@pytest.mark.parametrize(
    ("left_out", "found"),
    [
        ((), set()),
        (("observe_board", "observe_queue"), set()),
        (("observe_rules",), {"sees_demands"}),
        (("observe_merge",), {"sees_workflows", "sees_demands"}),
    ],
)
def test_what_a_server_does_not_know_is_hidden(left_out: tuple[str, ...], found: set[str]) -> None:
    """A document that was left out says nothing of workflows and demands."""
    assert translate.hidden((), left_out) == found


def test_a_context_whose_workflow_is_refused_is_read_over_rest(
    forge: GitHubForge, mock: responses.RequestsMock
) -> None:
    """Two jobs of one name cannot be told apart without it: the list is not complete."""
    nodes = [run("test", "FAILURE", workflow=None), run("test", workflow=None, at="11:00:00")]
    found = node(case(*nodes))
    jobs = [
        job("test", "failure", 1, at="10:00:00", slug="github-actions"),
        job("test", "success", 2, at="11:00:00", slug="github-actions"),
    ]
    mock.get(f"{REST}/commits/{SHA}/check-runs", json={"total_count": 2, "check_runs": jobs})
    mock.get(f"{REST}/commits/{SHA}/status", json={"statuses": [], "total_count": 0})
    mock.get(f"{REST}/actions/runs", status=403, json={"message": "Not accessible"})
    path = (*PULL, "statusCheckRollup", "contexts", "nodes", 0, "checkSuite", "workflowRun")
    checks = observed(forge, mock, found, *path).checks
    assert checks is not None
    assert checks.verdict is FAILED


def test_a_demand_of_one_app_that_nobody_reported() -> None:
    """It is missing, and not doubted."""
    checks = checks_of(case(run("test"), demands=ruleset(("deploy", 5))))
    assert (checks.missing, checks.doubted) == (("deploy",), ())


def test_a_failed_job_beyond_the_first_page_is_told_once(
    forge: GitHubForge, mock: responses.RequestsMock
) -> None:
    """GraphQL's page shows only that the workflow failed; REST shows the job: that one is named."""
    found = node(case(run("a"), suites=(suite("CI", conclusion="FAILURE"),), more=True))
    jobs = [
        job("a", "success", 1, at="10:00:00", slug="github-actions"),
        job("z", "failure", 1, at="10:00:00", slug="github-actions"),
    ]
    mock.get(f"{REST}/commits/{SHA}/check-runs", json={"total_count": 2, "check_runs": jobs})
    mock.get(f"{REST}/commits/{SHA}/status", json={"statuses": [], "total_count": 0})
    checks = observed(forge, mock, found).checks
    assert checks is not None
    assert [one.name for one in checks.failed] == ["z"]
