"""lifecycle.github.client.rest: one request each, sent again only where that is harmless."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any, Literal

import pytest
import requests
import responses

from lifecycle.core.errors import (
    BadCredentials,
    HeadMissing,
    LifecycleError,
    Moved,
    NoPermission,
    NotFound,
    NothingToMerge,
    PullRequestExists,
    Rejected,
    Transferred,
    Transient,
)
from lifecycle.core.timing import Deadline
from lifecycle.core.values.checks import Bucket
from lifecycle.core.values.model import PullState
from lifecycle.github.client.client_common import Keeper, Sending, Token
from lifecycle.github.client.rest import Calls, RestClient
from lifecycle.github.pulls import rest_checks
from lifecycle.github.pulls.issue_calls import IssueCalls
from lifecycle.sandbox.control.faults import Fault
from tests.github.hub import REPOSITORY, TOKEN, Hub, PatientClock, forge_over, sending
from tests.github.made_up import BOTH

# PyGithub names the port in every URL.
BASE = "https://api.github.com:443/repos/octo-org/hello-service"
SHA = "a" * 40


@pytest.fixture
def mock() -> Iterator[responses.RequestsMock]:
    """Answers made up for api.github.com."""
    with responses.RequestsMock() as found:
        yield found


def issue_json(number: int = 7, **changes: Any) -> dict[str, Any]:
    """An issue as REST shows it."""
    url = f"https://api.github.com/repos/octo-org/hello-service/issues/{number}"
    node = {
        "id": 1000 + number,
        "node_id": f"I_{number}",
        "number": number,
        "url": url,
        "html_url": f"https://github.com/octo-org/hello-service/issues/{number}",
        "title": "Do it",
        "state": "open",
        "state_reason": None,
        "assignees": [{"login": "maria", "url": "https://api.github.com/users/maria"}],
    }
    return {**node, **changes}


def refusal(rest: RestClient, *, write: bool) -> LifecycleError:
    """The error that a read or a comment ends in; it is checked for the token."""
    issues = IssueCalls(Calls(rest, REPOSITORY))
    ask = partial(issues.create_comment, 7, "hi") if write else partial(forge_over(rest).issue, 7)
    with pytest.raises(LifecycleError) as caught:
        ask()
    error = caught.value
    assert TOKEN not in f"{error} {error!r} {error.__dict__} {error.__cause__}"
    return error


def test_each_verb_is_one_request(hub: Hub) -> None:
    """No object is fetched before it is acted on, and none is completed afterwards."""
    hub.pushed("work")
    hub.asked()
    forge = hub.forge
    assert forge.viewer() == "octocat"
    assert forge.issue(42).title == "Fix race condition in task queue"
    made = forge.create_pull_request(
        title="Fix", body="Refs #42", head="octo-org:work", base="main"
    )
    comment = forge.comment(42, "on it")
    assert forge.assign(42, "octocat").assignees == ("octocat",)
    hub.control.assign(42, "sam")
    assert forge.unassign(42, "sam") == ("octocat",)
    closed = forge.close_issue(42)
    assert hub.asked() == [
        "GET /user",
        "GET /issues/42",
        "POST /pulls",
        "POST /issues/42/comments",
        "POST /issues/42/assignees",
        "DELETE /issues/42/assignees",
        "PATCH /issues/42",
    ]
    assert (made.number, made.state, made.head_owner) == (46, PullState.OPEN, "octo-org")
    assert (made.branch, made.base, made.body) == ("work", "main", "Refs #42")
    assert made.opened_at is not None
    assert (made.updated_at, made.closed_at) == (made.opened_at, None)
    assert (closed.is_open, closed.state_reason, closed.assignees) == (
        False,
        "completed",
        ("octocat",),
    )
    said = hub.world()["issues"]["42"]["comments"]
    assert [(one["id"], one["body"]) for one in said] == [(comment.id, "on it")]


def test_closing_what_is_closed_is_no_error(hub: Hub) -> None:
    """The issue is shown closed, whoever closed it."""
    assert not hub.forge.close_issue(36).is_open
    assert not hub.forge.close_issue(36).is_open


def test_unassigning_twice_is_unassigning_once(hub: Hub) -> None:
    """Who is left is shown, also if nothing changed; an answer that was lost is asked for again."""
    hub.control.assign(42, "sam", "octocat")
    lost = Fault("status", method="DELETE", path="/assignees$", when="after")
    hub.control.add_fault(lost)
    assert hub.forge.unassign(42, "octocat") == ("sam",)
    assert hub.asked() == ["DELETE /issues/42/assignees"] * 2
    assert hub.forge.unassign(42, "octocat") == ("sam",)
    with pytest.raises(NoPermission, match="issue #999"):
        hub.forge.unassign(999, "sam")


def test_an_assignee_that_github_ignores_is_missing_from_the_answer(hub: Hub) -> None:
    """GitHub answers 201 for a stranger; only the list of assignees tells."""
    assert hub.forge.assign(42, "nobody-at-all").assignees == ()


def test_the_number_of_a_pull_request_is_no_issue(hub: Hub) -> None:
    """Issues and pull requests share their numbers; asking for an issue means an issue."""
    hub.pushed("work")
    number = hub.control.open_pull("work", "Fix")
    with pytest.raises(NotFound, match="is a pull request"):
        hub.forge.issue(number)


@BOTH
def test_open_issues_are_read_to_the_last_page_in_one_request_a_page(
    rest: RestClient, mock: responses.RequestsMock
) -> None:
    """Pull requests are left out without asking for each issue again; the order is a tracker's."""
    order = {"sort": "created", "direction": "asc"}
    api = "https://api.github.com/repositories/9/issues"
    last = {"Link": f'<{api}?state=open&per_page=100&page=2>; rel="next"'}
    mock.get(
        f"{BASE}/issues",
        json=[issue_json(7), issue_json(8, pull_request={"url": "x"})],
        headers=last,
        match=[
            responses.matchers.query_param_matcher({"state": "open", "per_page": "100", **order})
        ],
    )
    mock.get(
        f"{BASE}/issues",
        json=[issue_json(9)],
        match=[
            responses.matchers.query_param_matcher(
                {"state": "open", "per_page": "100", "page": "2", **order}
            )
        ],
    )
    found = forge_over(rest).open_issues()
    assert [one.number for one in found] == [7, 9]
    assert found[0].assignees == ("maria",)
    assert len(mock.calls) == 2


def test_a_parameter_that_is_no_unicode_is_sent_all_the_same(hub: Hub) -> None:
    """A word of a command line may be any bytes: no label is called so, which is no defect."""
    calls = IssueCalls(Calls(hub.rest, REPOSITORY))
    assert list(calls.listed("open", label="\udcff")) == []
    assert list(calls.listed("open")) != []


def page(number: int) -> Any:
    """Matches the request for one page of a hundred."""
    more = {"page": str(number)} if number > 1 else {}
    return responses.matchers.query_param_matcher({"per_page": "100", **more})


def linked(url: str) -> dict[str, str]:
    """The header of a first page that has a second one."""
    return {"Link": f'<{url}?per_page=100&page=2>; rel="next"'}


@BOTH
def test_checks_are_read_to_the_last_page(rest: RestClient, mock: responses.RequestsMock) -> None:
    """Runs and statuses of all pages; of two runs of one suite the newest counts."""
    old = {"id": 1, "name": "test", "status": "completed", "conclusion": "failure"}
    old |= {"started_at": "2026-01-31T10:00:00Z", "details_url": "https://ci/1"}
    old |= {"check_suite": {"id": 5}, "completed_at": None}
    new = {**old, "id": 2, "conclusion": "success", "started_at": "2026-01-31T11:00:00Z"}
    waits = {**old, "id": 3, "status": "queued", "conclusion": None, "started_at": None}
    waits |= {"check_suite": {"id": 6}, "details_url": None}
    runs, states = f"{BASE}/commits/{SHA}/check-runs", f"{BASE}/commits/{SHA}/status"
    first = {"total_count": 3, "check_runs": [old, new]}
    mock.get(runs, json=first, headers=linked(runs), match=[page(1)])
    mock.get(runs, json={"total_count": 3, "check_runs": [waits]}, match=[page(2)])
    status = {"context": "ci/x", "state": "success", "target_url": None}
    status |= {"created_at": "2026-01-31T10:00:00Z"}
    other = {**status, "context": "ci/y", "state": "error"}
    first = {"statuses": [status], "total_count": 2}
    mock.get(states, json=first, headers=linked(states), match=[page(1)])
    mock.get(states, json={"statuses": [other], "total_count": 2}, match=[page(2)])
    checks = rest_checks.read(Calls(rest, REPOSITORY), SHA)
    assert [(one.name, one.bucket) for one in checks.runs] == [
        ("ci/x", Bucket.PASS),
        ("ci/y", Bucket.FAIL),
        ("test", Bucket.PASS),
        ("test", Bucket.PENDING),
    ]
    assert checks.is_complete
    assert len(mock.calls) == 4


@BOTH
def test_fewer_runs_than_announced_are_incomplete(
    rest: RestClient, mock: responses.RequestsMock
) -> None:
    """A page that came without its runs must not read as "no failures"."""
    mock.get(f"{BASE}/commits/{SHA}/check-runs", json={"total_count": 2, "check_runs": []})
    mock.get(f"{BASE}/commits/{SHA}/status", json={"statuses": []})
    assert not rest_checks.read(Calls(rest, REPOSITORY), SHA).is_complete


@BOTH
def test_a_token_without_checks_falls_back_to_actions(
    rest: RestClient, mock: responses.RequestsMock
) -> None:
    """A fine-grained token sees workflow runs and statuses, which are never all checks."""
    mock.get(
        f"{BASE}/commits/{SHA}/check-runs",
        status=403,
        json={"message": "Resource not accessible by personal access token"},
    )
    run = {"id": 1, "name": "CI", "event": "push", "workflow_id": 3, "status": "completed"}
    run |= {"conclusion": "failure", "run_started_at": "2026-01-31T10:00:00Z", "html_url": "u"}
    run |= {"head_sha": SHA, "updated_at": "2026-01-31T11:05:00Z"}
    # A redirect lost the query: the newest of all is another commit's.
    other = {**run, "id": 3, "head_sha": "b" * 40, "run_started_at": "2026-01-31T12:00:00Z"}
    newer = {**run, "id": 2, "conclusion": "success", "run_started_at": "2026-01-31T11:00:00Z"}
    mock.get(
        f"{BASE}/actions/runs",
        json={"total_count": 3, "workflow_runs": [newer, run, other]},
        match=[responses.matchers.query_param_matcher({"head_sha": SHA, "per_page": "100"})],
    )
    mock.get(f"{BASE}/commits/{SHA}/status", json={"statuses": []})
    checks = rest_checks.read(Calls(rest, REPOSITORY), SHA)
    assert [(one.name, one.event, one.bucket) for one in checks.runs] == [
        ("CI", "push", Bucket.PASS)
    ]
    assert [one.ended_at for one in checks.runs if one.workflow] == [1769857500.0]
    assert not checks.is_complete


@pytest.mark.parametrize(
    ("head", "base", "leaf"),
    [
        ("octo-org:taken", "main", PullRequestExists),
        ("octo-org:work", "work", NothingToMerge),
        ("octo-org:never-pushed", "main", HeadMissing),
    ],
)
def test_a_pull_request_that_cannot_be_has_its_leaf(
    hub: Hub, head: str, base: str, leaf: type[LifecycleError]
) -> None:
    """GitHub's three 422s are told apart, and each is asked once."""
    hub.pushed("work")
    hub.pushed("taken")
    hub.control.open_pull("taken", "First")
    hub.asked()
    with pytest.raises(leaf):
        hub.forge.create_pull_request(title="Fix", body="", head=head, base=base)
    assert hub.asked() == ["POST /pulls"]


@BOTH
@pytest.mark.parametrize(
    ("status", "message", "leaf"),
    [
        (401, "Bad credentials", BadCredentials),
        (403, "Resource not accessible by integration", NoPermission),
        (404, "Not Found", NotFound),
        (410, "This issue was deleted", NotFound),
        (451, "Repository access blocked", Rejected),
    ],
)
def test_a_refusal_has_its_leaf_and_is_asked_once(
    rest: RestClient,
    mock: responses.RequestsMock,
    status: int,
    message: str,
    leaf: type[LifecycleError],
) -> None:
    """PyGithub's exceptions become ours, without their traceback."""
    mock.get(f"{BASE}/issues/7", status=status, json={"message": message})
    error = refusal(rest, write=False)
    assert type(error) is leaf
    assert error.__cause__ is None
    assert len(mock.calls) == 1


@BOTH
def test_what_a_token_may_not_write_is_a_404(
    rest: RestClient, mock: responses.RequestsMock
) -> None:
    """GitHub hides it; the sentence speaks of permission and names what would be needed."""
    mock.post(
        f"{BASE}/issues/7/comments",
        status=404,
        json={"message": "Not Found"},
        headers={"X-Accepted-GitHub-Permissions": "issues=write"},
    )
    error = refusal(rest, write=True)
    assert type(error) is NoPermission
    assert "issues=write" in str(error)


@BOTH
@pytest.mark.parametrize(
    "answer",
    [
        {"status": 502, "body": "<html>Unicorn!</html>"},
        {"status": 503, "json": {"message": "Service Unavailable"}},
        {"status": 500, "body": ""},
        {"status": 502, "json": ["odd"]},
        {"status": 200, "body": "<html>hello</html>"},
        {"status": 200, "body": ""},
        {"status": 200, "body": "null"},
        {"status": 200, "json": ["odd"]},
        {"status": 200, "json": {}},
        {"status": 200, "json": {"number": "seven", "id": "seven"}},
        {"status": 200, "body": '{"number": 7, "ti'},
        {"body": requests.ReadTimeout("read timed out")},
        {"body": requests.ConnectionError("Connection aborted.")},
        {"body": requests.exceptions.ChunkedEncodingError("cut")},
    ],
    ids=repr,
)
def test_no_answer_is_asked_again_for_reads_only(
    rest: RestClient, mock: responses.RequestsMock, clock: PatientClock, answer: dict[str, Any]
) -> None:
    """A read is tried three times; a comment is sent once, and may have landed."""
    mock.get(f"{BASE}/issues/7", **answer)
    mock.post(f"{BASE}/issues/7/comments", **answer)
    read, write = refusal(rest, write=False), refusal(rest, write=True)
    assert type(read) is Transient
    assert type(write) is Transient
    assert (read.is_ambiguous, write.is_ambiguous) == (False, True)
    methods = [call.request.method for call in mock.calls]
    assert methods == ["GET", "GET", "GET", "POST"]
    assert len(clock.naps) == 2


@BOTH
def test_a_limit_is_waited_for_if_there_is_time(
    rest: RestClient, mock: responses.RequestsMock, clock: PatientClock
) -> None:
    """Retry-After is slept on the deadline's clock, and the read then succeeds."""
    limit = {"message": "You have exceeded a secondary rate limit."}
    mock.get(f"{BASE}/issues/7", status=403, json=limit, headers={"Retry-After": "6"})
    mock.get(f"{BASE}/issues/7", json=issue_json())
    assert forge_over(rest).issue(7).number == 7
    assert clock.naps == [6]


@BOTH
def test_a_limit_beyond_the_deadline_is_raised_at_once(
    rest: RestClient, mock: responses.RequestsMock, clock: PatientClock
) -> None:
    """PyGithub would sleep up to an hour; nobody sleeps here."""
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(clock.now()) + 3600)}
    message = {"message": "API rate limit exceeded for user ID 1."}
    mock.get(f"{BASE}/issues/7", status=403, json=message, headers=headers)
    error = refusal(rest, write=False)
    assert isinstance(error, Transient)
    assert error.retry_after == 3600
    assert (clock.naps, len(mock.calls)) == ([], 1)


RENAMED = {"full_name": "octo-org/better-name"}


@BOTH
def test_a_write_to_a_renamed_repository_is_refused_with_the_new_name(
    rest: RestClient, mock: responses.RequestsMock
) -> None:
    """GitHub names the id alone: one read more finds the name, and nothing is written."""
    url = "https://api.github.com/repositories/9/issues/7"
    moved = {"message": "Moved Permanently", "url": url, "documentation_url": "https://docs"}
    mock.post(f"{BASE}/issues/7/comments", status=307, json=moved)
    mock.patch(f"{BASE}/issues/7", status=307, json=moved)
    mock.get(BASE, json=RENAMED)
    by_comment = refusal(rest, write=True)
    with pytest.raises(Moved) as caught:
        IssueCalls(Calls(rest, REPOSITORY)).edit(7, state="closed")
    for error in (by_comment, caught.value):
        assert type(error) is Moved
        assert "is called octo-org/better-name on GitHub now" in str(error)
        assert "lifecycle doctor has the command" in str(
            error
        )  # which remote it is, nobody knows here
    methods = [call.request.method for call in mock.calls]
    assert methods == ["POST", "GET", "PATCH", "GET"]


@BOTH
@pytest.mark.parametrize(
    "answer", [{"status": 404, "json": {"message": "Not Found"}}, {"json": {}}, {"json": ["odd"]}]
)
def test_a_rename_whose_name_cannot_be_read_is_refused_all_the_same(
    rest: RestClient, mock: responses.RequestsMock, answer: dict[str, Any]
) -> None:
    """The refusal is what counts: without the name it has the address that GitHub gave."""
    url = "https://api.github.com/repositories/9/issues/7/comments"
    mock.post(f"{BASE}/issues/7/comments", status=307, json={"message": "Moved", "url": url})
    mock.get(BASE, **answer)
    error = refusal(rest, write=True)
    assert type(error) is Moved
    assert url in str(error)


@BOTH
@pytest.mark.parametrize("number", [3, 7])
def test_a_write_to_an_issue_that_was_transferred_says_where_it_is(
    rest: RestClient, mock: responses.RequestsMock, number: int
) -> None:
    """Its repository has its name still: a clone whose remote is changed would be another one's.

    It may have the same number there, as an issue of a renamed repository has.
    """
    url = f"https://api.github.com/repositories/10/issues/{number}"
    mock.post(f"{BASE}/issues/7/comments", status=307, json={"message": "Moved", "url": url})
    mock.get(BASE, json={"full_name": "Octo-org/hello-service"})
    mock.get("https://api.github.com:443/repositories/10", json={"full_name": "octo-org/other"})
    error = refusal(rest, write=True)
    assert type(error) is Transferred
    words = f"The issue was transferred on GitHub and is octo-org/other#{number} now, so a comment"
    assert words in str(error)
    assert "remote" not in str(error)
    assert [call.request.method for call in mock.calls] == ["POST", "GET", "GET"]


@BOTH
def test_a_write_is_not_sent_again_to_where_a_repository_moved(
    rest: RestClient, mock: responses.RequestsMock
) -> None:
    """A 301 to a write is refused like a 307: one POST, and the name where the repository is now."""
    target = "https://api.github.com/repositories/9/issues/7/comments"
    mock.post(f"{BASE}/issues/7/comments", status=301, headers={"Location": target})
    mock.get(BASE, json=RENAMED)
    error = refusal(rest, write=True)
    assert type(error) is Moved
    assert "is called octo-org/better-name on GitHub now" in str(error)
    assert [call.request.method for call in mock.calls] == ["POST", "GET"]


@BOTH
@pytest.mark.parametrize("where", ["https://storage.example/log", "http://storage.example/log"])
def test_a_file_has_an_encrypted_address_if_the_api_has_one(
    rest: RestClient, mock: responses.RequestsMock, where: str
) -> None:
    """Whoever has a log's address may read it. Nothing is asked there; no other read is redirected."""
    path, subject = "actions/jobs/7/logs", "the log of job 7"
    mock.get(f"{BASE}/{path}", status=302, headers={"Location": where})
    calls = Calls(rest, REPOSITORY)
    if where.startswith("https:") or rest.url.startswith("http:"):
        assert calls.address_of(path, subject, lambda _: None) == where
    else:
        with pytest.raises(Rejected, match="no safe address for the log of job 7"):
            calls.address_of(path, subject, lambda _: None)
    with pytest.raises(Moved):
        calls.read(path, subject, dict)
    assert [call.request.url for call in mock.calls] == [f"{BASE}/{path}"] * 2


@BOTH
def test_an_etag_is_sent_with_the_token_that_it_was_given_to(
    api: str, by_library: tuple[str, ...], deadline: Deadline, mock: responses.RequestsMock
) -> None:
    """Another token may be shown something else; the first one's answer is known for when it is back."""
    mock.get(f"{BASE}/labels", json=["a"], headers={"ETag": '"1"'})
    # Each is over at once; the first one is asked for when the client is made, too.
    values = iter(("first", "first", "second", "first"))
    tokens = Keeper(lambda: Token(next(values), "GH_TOKEN", 0.0), deadline.clock)
    rest = RestClient(api, Sending(tokens, deadline, by_library=by_library))
    for _ in range(3):
        Calls(rest, REPOSITORY).read("labels", "labels", list)
    rest.close()
    conditions = [call.request.headers.get("If-None-Match") for call in mock.calls]
    assert conditions == [None, None, '"1"']


FOLLOWING = """
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from lifecycle.core.timing import SystemClock
from lifecycle.core.timing import Deadline
from lifecycle.github.client.client_common import Keeper, Sending, Token
from lifecycle.github.client.rest import RestClient
from lifecycle.core.values.model import Repository

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        moved = self.path.startswith("/repos/")
        self.send_response_only(301 if moved else 200)
        if moved:
            self.send_header("Location", f"{url}/repositories/9")
        body = b'{"full_name": "octo-org/better-name"}'
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
url = f"http://127.0.0.1:{server.server_port}"
Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
tokens = Keeper(lambda: Token("made-up", "GH_TOKEN"), SystemClock())
rest = RestClient(url, Sending(tokens, Deadline.after(SystemClock(), 20)))
print(rest.repository_access(Repository("octo-org", "hello-service")).name)
rest.close()
server.shutdown()
"""


def test_a_redirect_is_followed_in_silence() -> None:
    """Nothing but our own sentences is on stderr, whatever the library would like to tell."""
    done = subprocess.run(
        [sys.executable, "-c", FOLLOWING],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "octo-org/better-name\n", "")


@BOTH
def test_a_read_of_a_renamed_repository_follows(
    rest: RestClient, mock: responses.RequestsMock
) -> None:
    """A 301 on the same host is followed with the token."""
    target = "https://api.github.com/repositories/9/issues/7"
    mock.get(f"{BASE}/issues/7", status=301, headers={"Location": target})
    mock.get("https://api.github.com:443/repositories/9/issues/7", json=issue_json())
    assert forge_over(rest).issue(7).number == 7


@BOTH
def test_a_list_of_a_renamed_repository_keeps_its_parameters(
    rest: RestClient, mock: responses.RequestsMock
) -> None:
    """GitHub's address has no parameters; without them the list would be another one."""
    target = "https://api.github.com/repositories/9/actions/runs"
    refused = {"message": "Resource not accessible by personal access token"}
    mock.get(f"{BASE}/commits/{SHA}/check-runs", status=403, json=refused)
    mock.get(f"{BASE}/actions/runs", status=301, headers={"Location": target})
    mock.get(
        "https://api.github.com:443/repositories/9/actions/runs",
        json={"total_count": 0, "workflow_runs": []},
        match=[responses.matchers.query_param_matcher({"head_sha": SHA, "per_page": "100"})],
    )
    mock.get(f"{BASE}/commits/{SHA}/status", json={"statuses": []})
    assert rest_checks.read(Calls(rest, REPOSITORY), SHA).runs == ()
    assert len(mock.calls) == 4


@BOTH
def test_an_answer_that_is_nested_without_end_is_no_answer(
    rest: RestClient, mock: responses.RequestsMock
) -> None:
    """Python gives up on it with an error of its own, which nobody is shown."""
    mock.get(f"{BASE}/issues/7", body="[" * 100_000)
    assert type(refusal(rest, write=False)) is Transient


@BOTH
def test_a_redirect_that_leads_in_a_circle_ends(
    rest: RestClient, mock: responses.RequestsMock
) -> None:
    """Two addresses that point at each other are no answer, and no endless one."""
    for here, there in (("issues", "pulls"), ("pulls", "issues")):
        target = f"https://api.github.com/repos/octo-org/hello-service/{there}"
        mock.get(f"{BASE}/{here}", status=301, headers={"Location": target})
    with pytest.raises(Rejected, match="redirects"):
        forge_over(rest).open_issues()
    assert len(mock.calls) <= 7


@BOTH
def test_a_transferred_issue_is_not_taken_for_the_one_that_was_asked_for(
    rest: RestClient, mock: responses.RequestsMock
) -> None:
    """GitHub redirects to where it is now, in another repository; a renamed one's is the same issue."""
    target = "https://api.github.com/repositories/10/issues/{}"
    there = issue_json(3, html_url="https://github.com/octo-org/other/issues/3")
    mock.get(f"{BASE}/issues/7", status=301, headers={"Location": target.format(3)})
    mock.get("https://api.github.com:443/repositories/10/issues/3", json=there)
    error = refusal(rest, write=False)
    with pytest.raises(Transferred, match="of octo-org/hello-service was transferred"):
        IssueCalls(Calls(rest, REPOSITORY)).issue(7)
    assert type(error) is Transferred
    assert error.evidence == there["html_url"]
    assert "transferred to https://github.com/octo-org/other/issues/3" in str(error)
    same = issue_json(8, html_url="https://github.com/octo-org/other/issues/8")
    mock.get(f"{BASE}/issues/8", status=301, headers={"Location": target.format(8)})
    mock.get("https://api.github.com:443/repositories/10/issues/8", json=same)
    mock.get(BASE, json={"full_name": "octo-org/hello-service"})
    calls = IssueCalls(Calls(rest, REPOSITORY))
    with pytest.raises(Transferred, match=r"transferred to .*other/issues/8"):
        calls.issue(8)
    mock.replace(responses.GET, BASE, json={"full_name": "octo-org/Other"})
    assert calls.issue(8).number == 8


@BOTH
def test_a_redirect_to_another_host_is_refused(
    rest: RestClient, mock: responses.RequestsMock
) -> None:
    """The token is carried to no other host, nor shown if the address has it; the person is told."""
    mock.get(f"{BASE}/issues/7", status=301, headers={"Location": f"https://evil.example/{TOKEN}"})
    error = refusal(rest, write=False)
    assert type(error) is Rejected
    assert len(mock.calls) == 1


@BOTH
def test_a_next_page_on_another_host_is_not_followed(
    rest: RestClient, mock: responses.RequestsMock
) -> None:
    """Nor is it by the Link header of a list."""
    link = {"Link": '<https://evil.example/issues?page=2>; rel="next"'}
    mock.get(f"{BASE}/issues", json=[issue_json()], headers=link)
    with pytest.raises(Transient):
        forge_over(rest).open_issues()
    assert {call.request.url.split("/")[2] for call in mock.calls if call.request.url} == {
        "api.github.com:443"
    }


@pytest.mark.parametrize("kind", ["status", "cut", "truncate"])
def test_a_pull_request_whose_answer_is_lost_is_not_sent_again(
    hub: Hub, kind: Literal["status", "cut", "truncate"]
) -> None:
    """Committed, then 502 or cut: one POST, one pull request, and an ambiguous error."""
    hub.pushed("work")
    hub.asked()
    hub.control.add_fault(Fault(kind, method="POST", path="/pulls$", when="after", count=9))
    with pytest.raises(Transient) as caught:
        hub.forge.create_pull_request(title="Fix", body="", head="octo-org:work", base="main")
    assert caught.value.is_ambiguous
    assert hub.asked() == ["POST /pulls"]
    assert len(hub.world()["pulls"]) == 1


def test_closing_is_sent_again_because_it_may_be(hub: Hub, clock: PatientClock) -> None:
    """The first answer is lost after the issue was closed; the second says that it is closed."""
    hub.control.add_fault(Fault("status", method="PATCH", path="/issues/42$", when="after"))
    assert not hub.forge.close_issue(42).is_open
    assert hub.asked() == ["PATCH /issues/42"] * 2
    assert len(clock.naps) == 1


def test_a_server_that_hangs_is_left_in_time(hub: Hub, clock: PatientClock) -> None:
    """PyGithub is given what is left of the deadline, as a fraction of a second if need be."""
    hub.control.add_fault(Fault("hang", path="/user$"))
    clock.sleep(29.8)
    with pytest.raises(Transient, match="did not answer in time"):
        hub.rest.viewer()
    assert hub.asked() == ["GET /user"]


@BOTH
def test_nothing_is_sent_after_the_deadline(
    rest: RestClient, mock: responses.RequestsMock, clock: PatientClock
) -> None:
    """A request for which no time is left is not begun."""
    clock.sleep(31)
    assert "time for this look is up" in str(refusal(rest, write=True))
    assert len(mock.calls) == 0


@BOTH
def test_a_port_that_refuses_is_no_answer(deadline: Deadline, by_library: tuple[str, ...]) -> None:
    """Nobody listens, so a write that got no answer was certainly not done."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        client = RestClient(url, sending(TOKEN, deadline, by_library=by_library))
        error = refusal(client, write=True)
        client.close()
    assert isinstance(error, Transient)
    assert not error.is_ambiguous


def test_what_did_not_change_costs_nothing_of_the_hour(hub: Hub) -> None:
    """A second look at the checks is answered 304: the same checks, and no request is counted."""
    sha = hub.pushed("work")
    number = hub.control.open_pull("work", "Fix")
    hub.control.set_check(number, "test")
    first = rest_checks.read(Calls(hub.rest, hub.repository), sha)
    left = hub.rest.token_facts().remaining
    hub.control.clear_requests()
    assert rest_checks.read(Calls(hub.rest, hub.repository), sha) == first
    assert [one.status for one in hub.control.requests()] == [304, 304]
    assert first.runs[0].name == "test"
    hub.control.set_check(number, "test", conclusion="failure")
    assert rest_checks.read(Calls(hub.rest, hub.repository), sha).failed
    assert [one.status for one in hub.control.requests()][2:] == [200, 304]
    assert left is not None


@BOTH
def test_an_etag_is_of_one_address_and_one_client(
    rest: RestClient,
    api: str,
    by_library: tuple[str, ...],
    deadline: Deadline,
    mock: responses.RequestsMock,
) -> None:
    """Another page, and another client with another token, are asked for in full."""
    found = {"full_name": "octo-org/hello-service", "permissions": {}}
    mock.get(BASE, json=found, headers={"ETag": 'W/"1"'})
    other = RestClient(api, sending("another-token", deadline, by_library=by_library))
    for client in (rest, rest, other):
        client.repository_access(REPOSITORY)
    other.close()
    sent = [call.request.headers.get("If-None-Match") for call in mock.calls]
    assert sent == [None, 'W/"1"', None]


@BOTH
def test_an_answer_without_an_etag_is_not_kept(
    rest: RestClient, mock: responses.RequestsMock
) -> None:
    """There is nothing to ask by; and a 304 to a question that had no condition is no answer."""
    found = {"full_name": "octo-org/hello-service"}
    mock.get(BASE, json=found)
    for _ in range(2):
        rest.repository_access(REPOSITORY)
    assert [call.request.headers.get("If-None-Match") for call in mock.calls] == [None, None]
    mock.replace("GET", BASE, status=304)
    with pytest.raises(LifecycleError):
        rest.repository_access(REPOSITORY)


@BOTH
def test_the_client_does_not_show_the_token(rest: RestClient) -> None:
    """A repr in a log line must not hold the token."""
    assert TOKEN not in repr(rest)
