"""lifecycle.github.pulls.forge: one look at a claim, and what is missing from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
import responses

from lifecycle.core.errors import BadCredentials, MissingScope, NoPermission, NotFound, Transient
from lifecycle.core.ports import Forge
from lifecycle.core.timing import Deadline
from lifecycle.core.values.checks import Bucket, Verdict
from lifecycle.core.values.model import Conversations, Hold, Look, PullState, Repository
from lifecycle.github.board.board_client import GitHubBoard, ProjectRef
from lifecycle.github.client.graph import GraphClient
from lifecycle.github.client.rest import RestClient
from lifecycle.github.pulls.forge import GitHubForge
from lifecycle.sandbox.control.faults import Fault
from lifecycle.sandbox.seed import SeedToken, default_seed
from lifecycle.sandbox.server import Sandbox
from tests.github.answers import SHA, problem, pull, seen
from tests.github.hub import Hub, MemoryCache, forge_on, sending

LOOK = Look(issue=42, branch="work", board=True, comments=True, checks=True)
WRITING = Look(issue=42, branch="work", board=True, writes=True)
URL = "https://api.github.com/graphql"
REST = "https://api.github.com:443/repos/octo-org/hello-service"


@pytest.fixture
def mock() -> Iterator[responses.RequestsMock]:
    """Answers made up for api.github.com."""
    with responses.RequestsMock() as found:
        yield found


@pytest.fixture
def forge(graph: GraphClient, rest: RestClient) -> GitHubForge:
    """On api.github.com, with project 1 of octo-org."""
    return forge_on(graph, rest, ProjectRef("octo-org", 1))


def test_the_adapter_fits_its_port(hub: Hub) -> None:
    """What the engine may ask of a forge, this one has."""
    forge: Forge = hub.forge
    assert forge.viewer() == "octocat"


def test_one_request_shows_a_whole_claim(hub: Hub) -> None:
    """Issue, comments, board, pull request and checks come with one GraphQL request."""
    sha = hub.pushed("work")
    number = hub.control.open_pull("work", "Fix")
    hub.control.set_check(number, "test", conclusion="failure")
    hub.control.comment(42, "hello")
    hub.control.assign(42, "octocat")
    hub.asked()
    found = hub.forge.observe(replace(LOOK, pr_number=number))
    assert hub.asked() == ["ObserveClaim"]
    assert (found.repository, found.default_branch) == ("octo-org/hello-service", "main")
    assert found.issue is not None
    assert found.issue.comments is not None
    assert [one.body for one in found.issue.comments] == ["hello"]
    assert found.issue.assignees == ("octocat",)
    assert found.item is not None
    assert (found.item.status, found.item.agent, found.board_problem) == ("Todo", None, None)
    assert found.by_number is not None
    assert (found.by_number.number, found.by_number.head_sha) == (number, sha)
    assert found.by_number.checks is not None
    assert [one.bucket for one in found.by_number.checks.failed] == [Bucket.FAIL]
    assert [one.number for one in found.by_branch] == [number]


def test_a_comment_that_was_posted_here_is_shown_before_github_shows_it(hub: Hub) -> None:
    """Once, behind what GitHub shows, as GitHub shows it, until it is deleted; on its own issue only."""
    forge = hub.forge

    def shown(issue: int) -> list[str]:
        seen_issue = forge.observe(replace(LOOK, issue=issue)).issue
        assert seen_issue is not None
        return [comment.body for comment in seen_issue.comments or ()]

    hub.control.comment(42, "theirs")
    hub.control.set_lag(comments=1)
    posted = forge.comment(42, "ours")
    assert (shown(42), shown(41)) == (["theirs", "ours"], [])
    assert shown(42) == ["theirs", "ours"]
    forge._issues.edit_comment(posted.id, "by somebody")
    assert shown(42) == ["theirs", "by somebody"]
    forge.delete_comment(posted.id)
    assert shown(42) == ["theirs"]


def test_requested_changes_come_with_the_claim(hub: Hub) -> None:
    """Who may write and asks for changes now is shown, in the same request, at the same cost."""
    sha = hub.pushed("work")
    number = hub.control.open_pull("work", "Fix", by="octocat")
    hub.control.review(number, "CHANGES_REQUESTED", login="visitor")
    hub.control.review(number, "CHANGES_REQUESTED", login="sam")
    asked = hub.control.review(number, "CHANGES_REQUESTED", body="Please lock.")
    hub.control.review(number, "APPROVED", login="sam")
    hub.control.clear_requests()
    found = hub.forge.observe(replace(LOOK, pr_number=number)).by_number
    (request,) = hub.control.requests()
    assert (request.operation, request.points) == ("ObserveClaim", 1)
    assert found is not None
    (review,) = found.changes_requested
    assert (review.id, review.author, review.state) == (asked, "maria", "CHANGES_REQUESTED")
    assert (review.sha, review.submitted_at is not None) == (sha, True)
    assert review.url.startswith(f"{found.url}#pullrequestreview-")
    assert found.review_decision == ""
    hub.control.require_reviews()
    hub.control.review(number, "APPROVED")
    found = hub.forge.observe(replace(LOOK, pr_number=number)).by_number
    assert found is not None
    assert (found.changes_requested, found.review_decision) == ((), "APPROVED")


def test_conversations_come_with_the_claim_without_their_words(hub: Hub) -> None:
    """In the same request: how many are open and unanswered, and a digest that any change changes."""
    control = hub.control
    control.push_commit("work", {"a.txt": "one\ntwo\n"}, "Work", by="octocat")
    number = control.open_pull("work", "Fix", by="octocat")
    look = replace(LOOK, pr_number=number, reviews=True)

    def shown() -> Conversations:
        hub.asked()
        found = hub.forge.observe(look).by_number
        assert hub.asked() == ["ObserveClaim"]
        assert found is not None
        assert found.conversations is not None
        return found.conversations

    assert shown() == Conversations("")
    remarks = [{"path": "a.txt", "line": 1, "body": f"Why {n}?"} for n in range(3)]
    control.review(number, "COMMENTED", login="sam", comments=remarks)
    first = shown()
    assert (first.unresolved, first.unanswered) == (3, 3)
    assert shown() == first
    control.comment(number, "And docs?", by="sam")
    second = shown()
    assert second.digest not in ("", first.digest)
    assert (second.unresolved, second.unanswered) == (3, 3)
    unread = hub.forge.observe(replace(look, reviews=False)).by_number
    assert unread is not None
    assert unread.conversations is None


def test_a_conflict_is_seen_once_github_has_computed_it(hub: Hub) -> None:
    """Unknown right after each push to either side, then what git says of the two."""

    def mergeable() -> list[str]:
        looks = [hub.forge.observe(replace(LOOK, pr_number=number)).by_number for _ in range(3)]
        return [one.mergeable if one else "" for one in looks]

    hub.control.push_commit("work", {"README.md": "mine"}, "Mine")
    number = hub.control.open_pull("work", "Fix")
    assert mergeable() == ["UNKNOWN", "MERGEABLE", "MERGEABLE"]
    hub.control.push_commit("main", {"README.md": "theirs"}, "Theirs")
    assert mergeable() == ["UNKNOWN", "CONFLICTING", "CONFLICTING"]
    hub.control.push_commit("work", {"README.md": "theirs"}, "As theirs")
    assert mergeable() == ["UNKNOWN", "MERGEABLE", "MERGEABLE"]


def test_how_long_checks_took(hub: Hub) -> None:
    """The end of a run comes over GraphQL and over REST; what still runs has none."""
    sha = hub.pushed("work")
    number = hub.control.open_pull("work", "Fix")
    began = datetime(2026, 1, 31, 10, 0, tzinfo=UTC)
    ended = began + timedelta(minutes=7)
    hub.control.set_check(number, "test", started_at=began, completed_at=ended)
    hub.control.set_check(number, "lint", status="in_progress", started_at=began)
    hub.control.set_status(number, "ci/x")
    seen_pull = hub.forge.observe(replace(LOOK, pr_number=number)).by_number
    assert seen_pull is not None
    assert seen_pull.checks is not None
    for runs in (seen_pull.checks.runs, hub.forge.checks(sha).runs):
        status, lint, test = runs
        assert (status.ended_at, lint.ended_at) == (None, None)
        assert (test.started_at, test.ended_at) == (began.timestamp(), ended.timestamp())


def test_what_was_not_asked_for_is_unknown(hub: Hub) -> None:
    """A small look brings neither comments, nor checks, nor the board, nor its problems."""
    hub.pushed("work")
    hub.control.open_pull("work", "Fix")
    hub.control.set_scopes(["repo"])
    found = hub.forge.observe(Look(issue=42, branch="work"))
    assert found.issue is not None
    assert found.issue.comments is None
    assert found.by_branch[0].checks is None
    assert (found.item, found.board_problem, found.by_number) == (None, None, None)


def test_what_does_not_exist_is_none(hub: Hub) -> None:
    """A missing issue and a missing pull request are facts, not errors."""
    found = hub.forge.observe(Look(issue=999, branch="none", pr_number=998, checks=True))
    assert (found.issue, found.by_number, found.by_branch) == (None, None, ())
    assert hub.asked() == ["ObserveClaim"]


def test_a_missing_repository_is_named(hub: Hub) -> None:
    """The sentence names the repository, for both kinds of look."""
    forge = forge_on(hub.graph, hub.rest, None, Repository("octo-org", "gone"))
    with pytest.raises(NotFound, match="octo-org/gone"):
        forge.observe(LOOK)
    with pytest.raises(NotFound, match="octo-org/gone"):
        forge.pull_requests_of("work")


def test_pull_requests_of_a_branch_come_newest_first(hub: Hub) -> None:
    """Closed ones too: a reused branch has a history."""
    hub.pushed("work")
    first = hub.control.open_pull("work", "First")
    hub.control.close_pull(first)
    second = hub.control.open_pull("work", "Second")
    hub.asked()
    found = hub.forge.pull_requests_of("work")
    assert [(one.number, one.state) for one in found] == [
        (second, PullState.OPEN),
        (first, PullState.CLOSED),
    ]
    assert hub.asked() == ["ObserveBranch"]


def test_a_token_without_the_scope_sees_everything_but_the_board(hub: Hub) -> None:
    """The look goes on without the board, says how to mend it, and asks for it once only."""
    hub.control.set_scopes(["repo"])
    found = hub.forge.observe(LOOK)
    assert found.issue is not None
    assert found.item is None
    assert found.board_problem is not None
    assert "gh auth refresh -s project" in found.board_problem
    assert hub.asked() == ["ObserveClaim", "ObserveClaim"]
    assert hub.forge.observe(LOOK).board_problem == found.board_problem
    assert hub.asked() == ["ObserveClaim"]


@pytest.mark.parametrize("data", [None, {"repository": seen()}])
def test_a_missing_scope_is_raised_if_the_board_is_not_to_blame(
    forge: GitHubForge, mock: responses.RequestsMock, data: object
) -> None:
    """Without the board there is nothing to leave out."""
    mock.post(URL, json={"data": data, "errors": [problem("INSUFFICIENT_SCOPES")]})
    with pytest.raises(MissingScope):
        forge.observe(Look(issue=42, branch="work"))
    assert len(mock.calls) == 1


@pytest.mark.parametrize("kind", ["INSUFFICIENT_SCOPES", "FORBIDDEN"])
def test_an_unreadable_board_leaves_the_rest_in_use(
    forge: GitHubForge, mock: responses.RequestsMock, kind: str
) -> None:
    """If the rest came with the first answer, nothing is asked twice."""
    errors = [problem(kind, "repository", "issue", "projectItems", "nodes", 0, "project")]
    issue = {**seen()["issue"], "projectItems": {"nodes": [None]}}
    mock.post(URL, json={"data": {"repository": seen(issue=issue)}, "errors": errors})
    found = forge.observe(LOOK)
    assert found.issue is not None
    assert found.board_problem is not None
    assert found.item is None
    assert len(mock.calls) == 1


@pytest.mark.parametrize(
    ("look", "is_known", "asks"),
    [
        (WRITING, False, True),
        (WRITING, True, False),
        (replace(WRITING, board=False), False, False),
        (replace(WRITING, writes=False), False, False),
    ],
)
def test_ids_of_the_board_are_asked_for_where_a_write_may_need_them(
    graph: GraphClient,
    rest: RestClient,
    mock: responses.RequestsMock,
    look: Look,
    *,
    is_known: bool,
    asks: bool,
) -> None:
    """With the look, whose worth does not depend on them; a board that shows none is not learnt."""
    project = ProjectRef("octo-org", 1)
    fields: dict[str, Any] = {"pageInfo": {"hasNextPage": False}, "nodes": []}
    shown = {"projectV2": {"id": "PVT_1", "fields": fields}}
    board = GitHubBoard(project, graph, MemoryCache())
    if is_known:
        board.learn({"repositoryOwner": shown})
    forge = forge_on(graph, rest, project, board=board)
    for kind in ("FORBIDDEN", "INSUFFICIENT_SCOPES", "NOT_FOUND"):
        data = {"repository": seen(), "repositoryOwner": None}
        why = problem(kind, "repositoryOwner", "projectV2")
        mock.post(URL, json={"data": data, "errors": [why] if asks else []})
        found = forge.observe(look)
        assert (found.issue is not None, found.board_problem) == (True, None)
        assert ("projectV2(" in str(mock.calls[-1].request.body)) == asks
    assert (board.known is not None) == is_known


def test_an_issue_that_the_board_took_along_is_asked_for_again(
    forge: GitHubForge, mock: responses.RequestsMock
) -> None:
    """A null that spread from the board to the issue does not say that there is no issue."""
    errors = [problem("FORBIDDEN", "repository", "issue", "projectItems")]
    mock.post(URL, json={"data": {"repository": seen(issue=None)}, "errors": errors})
    mock.post(URL, json={"data": {"repository": seen()}})
    found = forge.observe(LOOK)
    assert found.issue is not None
    assert found.board_problem is not None
    assert len(mock.calls) == 2


@pytest.mark.parametrize("field", ["byBranch", ""])
def test_another_hole_is_an_error(
    forge: GitHubForge, mock: responses.RequestsMock, field: str
) -> None:
    """What may not be missing is not taken for absent, and is named: a field, or the repository."""
    errors = [problem("FORBIDDEN", "repository", *filter(None, [field]))]
    whole = seen(byBranch=None) if field else None
    mock.post(URL, json={"data": {"repository": whole}, "errors": errors})
    about = f"permission for {f'{field} of ' * bool(field)}repository octo-org/hello-service "
    with pytest.raises(NoPermission, match=about):
        forge.observe(LOOK)


@pytest.mark.parametrize("look", [LOOK, replace(LOOK, board=False)])
def test_no_repository_without_a_reason_is_no_answer(
    forge: GitHubForge, mock: responses.RequestsMock, look: Look
) -> None:
    """A null that nobody explains is unknown, never "there is nothing"."""
    mock.post(URL, json={"data": {"repository": None}})
    with pytest.raises(Transient):
        forge.observe(look)
    with pytest.raises(Transient):
        forge.pull_requests_of("work")


def test_more_checks_than_a_page_are_read_over_rest(hub: Hub) -> None:
    """A hundred and one contexts: the hundred that GraphQL shows are not all."""
    hub.pushed("work")
    number = hub.control.open_pull("work", "Fix")
    for index in range(101):
        hub.control.set_status(number, f"ci/{index:03}", state="success")
    hub.asked()
    found = hub.forge.observe(replace(LOOK, pr_number=number))
    assert found.by_number is not None
    assert found.by_number.checks is not None
    assert found.by_number.checks.is_complete
    assert found.by_number.checks.count(Bucket.PASS) == 101
    sha = found.by_number.head_sha
    assert hub.asked() == [
        "ObserveClaim",
        f"GET /commits/{sha}/check-runs",
        f"GET /commits/{sha}/status",
        f"GET /commits/{sha}/status",
    ]


def test_hidden_checks_are_read_over_rest_for_open_pull_requests_only(
    forge: GitHubForge, mock: responses.RequestsMock
) -> None:
    """A token that may not see contexts gets partial data; a merged pull request needs none."""
    hidden = {"commit": {"oid": SHA}, "contexts": {"pageInfo": {}, "nodes": [None]}}
    nodes = [
        pull(8, statusCheckRollup=hidden),
        pull(7, "MERGED", statusCheckRollup=None, headRefOid="b" * 40),
    ]
    path = ("repository", "byBranch", "nodes", 0, "statusCheckRollup", "contexts", "nodes", 0)
    errors = [problem("FORBIDDEN", *path)]
    data = {"repository": seen(byBranch={"nodes": nodes})}
    mock.post(URL, json={"data": data, "errors": errors})
    run = {"id": 1, "name": "test", "status": "completed", "conclusion": "success"}
    run |= {"started_at": "2026-01-31T10:00:00Z", "details_url": "u", "check_suite": {"id": 5}}
    run |= {"completed_at": "2026-01-31T10:02:00Z"}
    mock.get(f"{REST}/commits/{SHA}/check-runs", json={"total_count": 1, "check_runs": [run]})
    mock.get(f"{REST}/commits/{SHA}/status", json={"statuses": [], "total_count": 0})
    found = forge.observe(replace(LOOK, board=False))
    assert found.by_branch[0].checks is not None
    assert found.by_branch[0].checks.is_green
    assert found.by_branch[1].checks is not None
    assert not found.by_branch[1].checks.is_complete
    assert len(mock.calls) == 3


@pytest.mark.parametrize(
    ("verdict", "merge", "is_green"),
    [("SUCCESS", "CLEAN", True), ("SUCCESS", "BLOCKED", False), ("PENDING", "CLEAN", False)],
)
def test_githubs_own_verdict_counts_where_everything_else_is_hidden(
    forge: GitHubForge, mock: responses.RequestsMock, verdict: str, merge: str, *, is_green: bool
) -> None:
    """All that registered passed, and GitHub finds all there that is demanded: only both are green."""
    rollup = {"state": verdict, "commit": {"oid": SHA}, "contexts": None}
    path = ("repository", "byBranch", "nodes", 0, "statusCheckRollup", "contexts")
    # What the base demands are jobs, which such a token sees no names of.
    demands = {"refUpdateRule": {"requiredStatusCheckContexts": ["test (3.12)"]}}
    node = pull(8, statusCheckRollup=rollup, baseRef=demands, mergeStateStatus=merge)
    data = {"repository": seen(byBranch={"nodes": [node]})}
    mock.post(URL, json={"data": data, "errors": [problem("FORBIDDEN", *path)]})
    mock.get(f"{REST}/commits/{SHA}/check-runs", status=403, json={"message": "Not accessible"})
    run = {"id": 1, "name": "CI", "event": "push", "workflow_id": 3, "status": "completed"}
    run |= {"conclusion": "success", "run_started_at": "2026-01-31T10:00:00Z", "html_url": "u"}
    run |= {"head_sha": SHA, "updated_at": "2026-01-31T10:02:00Z"}
    mock.get(f"{REST}/actions/runs", json={"total_count": 1, "workflow_runs": [run]})
    mock.get(f"{REST}/commits/{SHA}/status", json={"statuses": [], "total_count": 0})
    checks = forge.observe(replace(LOOK, board=False)).by_branch[0].checks
    assert checks is not None
    assert checks.is_green is is_green


def test_a_held_workflow_is_not_outvoted_by_bots(
    forge: GitHubForge, mock: responses.RequestsMock
) -> None:
    """Everything that ran passed, by GitHub's own word, and the real checks wait for an approval.

    As in https://github.com/apache/magpie/pull/1299, seen with a token that may not see checks.
    """
    rollup = {"state": "SUCCESS", "commit": {"oid": SHA}, "contexts": None}
    path = ("repository", "byBranch", "nodes", 0, "statusCheckRollup", "contexts")
    data = {"repository": seen(byBranch={"nodes": [pull(8, statusCheckRollup=rollup)]})}
    mock.post(URL, json={"data": data, "errors": [problem("FORBIDDEN", *path)]})
    mock.get(f"{REST}/commits/{SHA}/check-runs", status=403, json={"message": "Not accessible"})
    run = {"id": 1, "name": "Tests", "event": "pull_request", "workflow_id": 3}
    run |= {"status": "completed", "conclusion": "action_required", "html_url": "u"}
    run |= {"head_sha": SHA, "run_started_at": "2026-01-31T10:00:00Z"}
    mock.get(f"{REST}/actions/runs", json={"total_count": 1, "workflow_runs": [run]})
    status = {"context": "DCO", "state": "success", "target_url": None}
    status |= {"created_at": "2026-01-31T10:00:00Z"}
    mock.get(f"{REST}/commits/{SHA}/status", json={"statuses": [status], "total_count": 1})
    checks = forge.observe(replace(LOOK, board=False)).by_branch[0].checks
    assert checks is not None
    assert (checks.held, [one.name for one in checks.runs]) == (("Tests",), ["DCO"])
    assert checks.verdict is Verdict.PENDING


def test_what_the_base_demands_is_kept_where_checks_are_read_over_rest(
    forge: GitHubForge, mock: responses.RequestsMock
) -> None:
    """REST shows the checks; that one which is required is missing is what GraphQL showed."""
    contexts = {"pageInfo": {"hasNextPage": True}, "nodes": []}
    rollup = {"state": "SUCCESS", "commit": {"oid": SHA}, "contexts": contexts}
    rule = {"requiredStatusCheckContexts": ["deploy"]}
    suite: dict[str, Any] = {"status": "COMPLETED", "conclusion": "STARTUP_FAILURE"}
    suite |= {"workflowRun": {"url": "u", "event": "push", "workflow": {"name": "Broken"}}}
    commit: dict[str, Any] = {"oid": SHA, "checkSuites": {"nodes": [suite]}}
    node = pull(8, statusCheckRollup=rollup, baseRef={"refUpdateRule": rule})
    node["commits"] = {"nodes": [{"commit": commit}]}
    mock.post(URL, json={"data": {"repository": seen(byBranch={"nodes": [node]})}})
    run = {"id": 1, "name": "test", "status": "completed", "conclusion": "success"}
    run |= {"started_at": "2026-01-31T10:00:00Z", "details_url": "u", "check_suite": {"id": 5}}
    mock.get(f"{REST}/commits/{SHA}/check-runs", json={"total_count": 1, "check_runs": [run]})
    mock.get(f"{REST}/commits/{SHA}/status", json={"statuses": [], "total_count": 0})
    checks = forge.observe(replace(LOOK, board=False)).by_branch[0].checks
    assert checks is not None
    assert checks.missing == ("deploy",)
    assert [(one.name, one.bucket) for one in checks.runs] == [
        ("test", Bucket.PASS),
        ("Broken", Bucket.FAIL),
    ]


@pytest.mark.parametrize(
    "path",
    [
        ("byNumber", "baseRef", "refUpdateRule"),
        ("byNumber", "commits", "nodes", 0, "commit", "checkSuites"),
        ("byNumber", "mergeQueueEntry"),
        ("byBranch", "nodes", 0, "timelineItems"),
    ],
)
def test_what_only_adds_to_a_look_may_be_refused(
    forge: GitHubForge, mock: responses.RequestsMock, path: tuple[str | int, ...]
) -> None:
    """A token that may not see the base's rules or the queue sees the rest all the same."""
    data = {"repository": seen(byNumber=pull(7), byBranch={"nodes": [pull(7)]})}
    mock.post(URL, json={"data": data, "errors": [problem("FORBIDDEN", "repository", *path)]})
    found = forge.observe(replace(LOOK, board=False, pr_number=7))
    assert found.by_number is not None
    assert found.by_number.number == 7
    assert len(mock.calls) == 1


def test_who_holds_the_lease_comes_with_the_claim(
    forge: GitHubForge, mock: responses.RequestsMock
) -> None:
    """Where it has one, in the same request; a token that may not read refs sees the rest all the same."""
    word = 'lease {"agent": "maria-2", "issue": 42, "nonce": "x", "branch": "b"}\n\n[skip ci]'
    commit = {"oid": SHA, "message": word, "committedDate": "2026-01-01T00:00:00Z"}
    mock.post(URL, json={"data": {"repository": seen(lease={"target": commit})}})
    asked = Look(issue=42, branch="work", lease=True)
    assert forge.observe(asked).hold == Hold(42, SHA, "maria-2", 1767225600.0, "b")
    sent = msgspec.json.decode(mock.calls[0].request.body or b"")["variables"]
    assert (sent["lease"], sent["leased"]) == ("refs/agent-claims/42", True)
    data = {"repository": seen(lease=None)}
    mock.replace(
        "POST", URL, json={"data": data, "errors": [problem("FORBIDDEN", "repository", "lease")]}
    )
    assert forge.observe(asked).hold is None


def test_no_checks_yet_are_read_once(hub: Hub) -> None:
    """A head on which nothing has registered is complete and empty: no fallback, not green."""
    hub.pushed("work")
    number = hub.control.open_pull("work", "Fix")
    hub.asked()
    found = hub.forge.observe(replace(LOOK, pr_number=number))
    assert found.by_number is not None
    assert found.by_number.checks is not None
    assert (found.by_number.checks.runs, found.by_number.checks.is_complete) == ((), True)
    assert not found.by_number.checks.is_green
    assert hub.asked() == ["ObserveClaim"]


def test_a_fine_grained_token_reads_checks_over_rest(deadline: Deadline) -> None:
    """Contexts and cards are hidden from it: checks come over REST, the board is said to be."""
    token = SeedToken("fine", "octocat", ["issues:write", "checks:read"], "fine-grained")
    with Sandbox(msgspec.structs.replace(default_seed(), tokens=[token])) as sandbox:
        hub = Hub(sandbox.info, deadline)
        hub.pushed("work")
        number = hub.control.open_pull("work", "Fix")
        hub.control.set_check(number, "test")
        hub.asked()
        found = hub.forge.observe(replace(LOOK, pr_number=number))
        asked = hub.asked()
        hub.graph.close()
        hub.rest.close()
    assert found.by_number is not None
    assert found.by_number.checks is not None
    assert found.by_number.checks.is_green
    assert found.board_problem is not None
    assert "project 1 of octo-org" in found.board_problem
    sha = found.by_number.head_sha
    assert asked == ["ObserveClaim", f"GET /commits/{sha}/check-runs", f"GET /commits/{sha}/status"]


def test_a_look_is_asked_again_after_an_outage(hub: Hub) -> None:
    """Reads are repeated: two bad gateways do not blind a look."""
    hub.control.add_fault(Fault("status", operation="ObserveClaim", count=2))
    assert hub.forge.observe(LOOK).issue is not None
    assert hub.asked() == ["ObserveClaim"] * 3


def test_a_bad_token_is_said(hub: Hub) -> None:
    """401 is not asked again, and the sentence names the variable."""
    graph = GraphClient(
        hub.info.graphql_url, sending("wrong", hub.graph.deadline, source="GITHUB_TOKEN")
    )
    forge = forge_on(graph, hub.rest, None, hub.repository)
    with pytest.raises(BadCredentials, match="GITHUB_TOKEN"):
        forge.observe(LOOK)
    graph.close()
    assert len(hub.asked()) == 1
