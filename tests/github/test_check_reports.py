"""What failed checks say of themselves: one request for all, one for each log, and what a token lacks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar

import pytest
import responses
from msgspec.structs import replace

from lifecycle.core.errors import LogExpired, NoPermission, NotFound, Rejected, Transient
from lifecycle.core.timing import Deadline
from lifecycle.core.values.failed_checks import CheckRemark, JobStep
from lifecycle.github.client.graph import GraphClient
from lifecycle.github.client.rest import Calls, RestClient
from lifecycle.github.pulls.check_reports import GitHubCheckReports
from lifecycle.sandbox.accounts.state import TokenKind
from lifecycle.sandbox.checks.state import Annotation, Step
from lifecycle.sandbox.control.faults import Fault
from lifecycle.sandbox.seed import SeedToken, default_seed
from lifecycle.sandbox.server import Sandbox
from tests.github.hub import REPOSITORY, TOKEN, Hub, PatientClock, sending

GRAPH = "https://api.github.com/graphql"
BEGAN = datetime(2026, 1, 31, 10, 0, tzinfo=UTC)
STEPS = (
    Step(1, "Set up job", "success", BEGAN, BEGAN + timedelta(seconds=2)),
    Step(2, "Run tests", "failure", BEGAN + timedelta(seconds=2), BEGAN + timedelta(seconds=9)),
    Step(3, "Upload", "skipped"),
)
REMARK = Annotation("shop.py", 7, 7, "failure", "assert 13 == 12", title="test_total")


@pytest.fixture
def number(hub: Hub) -> int:
    """An open pull request."""
    return opened(hub)


def opened(hub: Hub) -> int:
    """An open pull request."""
    hub.pushed()
    return hub.control.open_pull("work", "Work")


def reports(hub: Hub) -> GitHubCheckReports:
    """What is asked."""
    return GitHubCheckReports(hub.graph, Calls(hub.rest, hub.repository))


def lines(hub: Hub, job: int | None) -> list[str]:
    """A whole log."""
    assert job is not None
    with reports(hub).job_log(job) as found:
        return list(found)


def test_one_request_shows_what_failed_and_why(hub: Hub, number: int) -> None:
    """The job with its steps and remarks, another app's status, and nothing that passed or runs."""
    control = hub.control
    job = control.set_check(
        number, "test", conclusion="failure", steps=STEPS, annotations=[REMARK], log="boom\n"
    )
    control.set_check(number, "lint")
    control.set_check(number, "slow", status="in_progress")
    control.set_status(number, "ci/other", "failure", description="2 of 9 failed")
    control.set_status(number, "ci/fine", "success")
    hub.asked()
    head = reports(hub).failed_head(number)
    assert hub.asked() == ["FailedChecks"]
    assert (head.pull, head.left, head.unseen) == (number, 0, ())
    test, other = head.checks
    assert (test.name, test.word, test.workflow, test.job) == ("test", "FAILURE", "CI", job)
    assert test.failed_step == JobStep(
        2, "Run tests", "FAILURE", BEGAN.timestamp() + 2, BEGAN.timestamp() + 9
    )
    assert test.remarks == (CheckRemark("shop.py", 7, "FAILURE", "assert 13 == 12", "test_total"),)
    assert (other.name, other.word, other.job) == ("ci/other", "FAILURE", None)
    assert other.summary == "2 of 9 failed"


def test_what_failed_on_a_commit_of_the_queue_is_asked_by_that_commit(
    hub: Hub, number: int
) -> None:
    """Not what its head has: one request; the newest run of the queue for it names the commit."""
    assert reports(hub).queue_commit(number) == ""
    hub.control.set_check(number, "test")
    branch = f"gh-readonly-queue/main/pr-{number}-{'0' * 40}"
    for name in (branch, branch.replace(f"pr-{number}", f"pr-{number}1")):
        sha = hub.control.push_commit(name, {f"{len(name)}.txt": "x\n"}, "Group")
        hub.control.set_check(name, "test", conclusion="failure", event="merge_group", steps=STEPS)
    group = hub.world()["refs"][f"refs/heads/{branch}"]
    assert sha != group
    assert reports(hub).queue_commit(number) == group
    hub.asked()
    found = reports(hub).failed_head(number, group)
    assert hub.asked() == ["FailedChecks"]
    assert (found.pull, found.sha) == (number, group)
    assert [(one.name, one.event) for one in found.checks] == [("test", "merge_group")]
    assert reports(hub).failed_head(number).checks == ()


def test_a_rerun_supersedes_the_job_before_it(hub: Hub, number: int) -> None:
    """Only the newest attempt of a job counts: what passed by now is no failure."""
    hub.control.set_check(number, "test", conclusion="failure")
    assert [one.name for one in reports(hub).failed_head(number).checks] == ["test"]
    hub.control.set_check(number, "test", rerun=True)
    assert reports(hub).failed_head(number).checks == ()


def test_the_newest_suite_of_a_workflow_counts_wherever_it_is_listed(
    graph: GraphClient, rest: RestClient
) -> None:
    """GitHub promises no order: what was red before the last run is no failure."""
    run = {"databaseId": 1, "event": "push", "workflow": {"name": "CI"}}
    failed = {"nodes": [{"name": "test", "conclusion": "FAILURE", "databaseId": 7}]}
    made = [("2026-01-31T10:05:00Z", {"nodes": []}), ("2026-01-31T10:00:00Z", failed)]
    for suites, names in ((made, []), (made[1:], ["test"])):
        listed = [{"createdAt": at, "workflowRun": run, "checkRuns": runs} for at, runs in suites]
        commit = {"oid": "a" * 40, "checkSuites": {"nodes": listed}}
        pull = {"headRefOid": "a" * 40, "commits": {"nodes": [{"commit": commit}]}}
        with responses.RequestsMock() as mock:
            mock.post(GRAPH, json={"data": {"repository": {"pullRequest": pull}}})
            head = GitHubCheckReports(graph, Calls(rest, REPOSITORY)).failed_head(7)
        assert [check.name for check in head.checks] == names


def test_a_workflow_that_could_not_start_is_told_without_a_job(hub: Hub, number: int) -> None:
    """Its run is named, and there is no log to ask for."""
    run = hub.control.break_workflow(number, "Release")
    (broken,) = reports(hub).failed_head(number).checks
    assert (broken.name, broken.word, broken.job, broken.run) == (
        "Release",
        "STARTUP_FAILURE",
        None,
        run,
    )


def test_a_pull_request_that_is_not_there_is_a_sentence(hub: Hub) -> None:
    """Not a traceback, and not an empty report."""
    with pytest.raises(NotFound, match="sees no checks of pull request #4711"):
        reports(hub).failed_head(4711)


def test_a_log_costs_one_request_and_its_storage_sees_no_token(hub: Hub, number: int) -> None:
    """The storage refuses an Authorization header, so the log's arrival proves that none was sent.

    The run goes on meanwhile: a job that is over is enough.
    """
    job = hub.control.set_check(number, "test", conclusion="failure", log="one\ntwo\r\nthrée\n")
    hub.control.set_check(number, "slow", status="in_progress")
    hub.asked()
    before = hub.rest.requests
    assert lines(hub, job) == ["one", "two\r", "thrée"]
    asked = hub.asked()
    assert asked[0] == f"GET /actions/jobs/{job}/logs"
    assert [one.startswith("GET /_downloads/") for one in asked] == [False, True]
    assert hub.rest.requests - before == 1


def test_a_log_that_is_not_kept_any_more_says_so(hub: Hub, number: int) -> None:
    """410, and not the sentence about issues that are disabled."""
    job = hub.control.set_check(number, "test", conclusion="failure")
    hub.control.expire_logs()
    with pytest.raises(LogExpired, match="older than the repository keeps logs"):
        lines(hub, job)


def test_a_log_that_is_not_there_yet_says_so(hub: Hub, number: int) -> None:
    """A job that runs has none."""
    job = hub.control.set_check(number, "test", status="in_progress")
    with pytest.raises(NotFound, match="not ready yet"):
        lines(hub, job)


def test_an_outage_of_the_logs_is_asked_again(hub: Hub, number: int) -> None:
    """One 502 costs a second request, and the log comes."""
    job = hub.control.set_check(number, "test", conclusion="failure", log="boom\n")
    hub.control.add_fault(Fault("status", status=502, path="/logs$"))
    assert lines(hub, job) == ["boom"]


@contextmanager
def other_token(kind: TokenKind, *scopes: str) -> Iterator[tuple[Hub, int]]:
    """Adapters with another token, on a private repository that has a failed check with a log."""
    seed = default_seed()
    home = replace(seed.repositories[0], visibility="private")
    token = SeedToken(TOKEN, "octocat", [*scopes], kind)
    with Sandbox(replace(seed, repositories=[home], tokens=[token])) as sandbox:
        made = Hub(sandbox.info, Deadline.after(PatientClock(), 30))
        number = opened(made)
        made.control.set_check(number, "test", conclusion="failure", steps=STEPS, log="boom\n")
        made.control.set_check(number, "lint")
        made.asked()
        yield made, number
        made.graph.close()
        made.rest.close()


def test_a_fine_grained_token_is_told_the_jobs_of_actions() -> None:
    """It sees no checks: the jobs and their steps take their place, their logs are read, and it is said."""
    with other_token("fine-grained", "actions:read", "pull_requests:read") as (made, number):
        head = reports(made).failed_head(number)
        (test,) = head.checks
        assert (test.name, test.word) == ("test", "FAILURE")
        assert test.failed_step is not None
        assert test.failed_step.name == "Run tests"
        assert test.remarks == ()
        (unseen,) = head.unseen
        assert unseen.startswith("The token is shown no checks but those of GitHub Actions")
        assert lines(made, test.job) == ["boom"]


def test_a_token_without_actions_is_told_which_permission_it_lacks() -> None:
    """The log is refused by name; what failed is still told where the token sees checks."""
    with other_token("fine-grained", "pull_requests:read") as (made, number):
        head = reports(made).failed_head(number)
        assert head.checks == ()
        assert "it needs actions=read" in " ".join(head.unseen)
    with other_token("app", "checks:read", "pull_requests:read") as (made, number):
        head = reports(made).failed_head(number)
        (test,) = head.checks
        assert (test.name, head.unseen) == ("test", ())
        with pytest.raises(NoPermission, match="it needs actions=read"):
            lines(made, test.job)


SECRET = "ghp_" + "a1B2" * 9
LONG_LINE = b"".join(b"x" * 4_051 + f" {SECRET} ".encode() for _ in range(50))


class _Storage(BaseHTTPRequestHandler):
    """Redirects to itself, once, and has a log there of which a part breaks a character."""

    where: ClassVar[str] = ""

    def do_GET(self) -> None:
        if self.path == "/refused":
            self.send_error(403)
            return
        if self.path != "/log":
            self.send_response(302)
            self.send_header("Location", self.where)
            self.end_headers()
            return
        body = b"caf\xc3\xa9\n" + LONG_LINE + b"\nend"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def storage() -> Iterator[tuple[GitHubCheckReports, str]]:
    """Reports whose GitHub is one that this test wrote, and its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Storage)
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    deadline = Deadline.after(PatientClock(), 30)
    rest = RestClient(url, sending(TOKEN, deadline))
    graph = GraphClient(url, sending(TOKEN, deadline))
    try:
        yield GitHubCheckReports(graph, Calls(rest, REPOSITORY)), url
    finally:
        rest.close()
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_line_without_an_end_comes_in_pieces() -> None:
    """No piece is longer than what is held at once; no character is broken at an edge, and no token."""
    with storage() as (asked, url):
        _Storage.where = f"{url}/log"
        with asked.job_log(7) as found:
            whole = list(found)
    assert whole[0] == "café"
    assert max(map(len, whole)) <= 2 * 65_536
    assert "".join(whole[1:]) == LONG_LINE.decode() + "end"
    assert len(whole) > 3
    assert sum(piece.count(SECRET) for piece in whole) == 50


def test_a_storage_that_refuses_is_no_log() -> None:
    """Its status is told, and the address, which is as good as the log, is not."""
    with storage() as (asked, url):
        _Storage.where = f"{url}/refused"
        with pytest.raises(Transient, match="answered 403") as caught, asked.job_log(7) as found:
            list(found)
    assert "refused" not in str(caught.value)


def test_a_log_is_read_in_the_clear_only_where_the_api_is() -> None:
    """An address of another kind is not followed: neither a file's, nor none at all."""
    with storage() as (asked, _):
        for where in ("file:///etc/passwd", "", "ftp://127.0.0.1/log"):
            _Storage.where = where
            with (
                pytest.raises((Rejected, Transient)) as caught,
                asked.job_log(7) as found,
            ):
                list(found)
            assert "root:" not in str(caught.value)


@pytest.fixture
def red(hub: Hub, number: int) -> int:
    """An open pull request with a failed job."""
    hub.control.set_check(number, "test", conclusion="failure", log="Error: a\n")
    return number


def run_number(hub: Hub, number: int) -> int:
    """The run of the failed job."""
    (check,) = reports(hub).failed_head(number).checks
    assert check.run is not None
    return check.run


def test_a_run_names_its_attempt_and_the_base_that_it_was_tested_with(hub: Hub, red: int) -> None:
    """And whether it is over: a job of it that still runs is enough to say no."""
    run = run_number(hub, red)
    found = reports(hub).run(run)
    main = hub.control.world()["refs"]["refs/heads/main"]
    assert (found.number, found.attempt, found.is_over, found.base) == (run, 1, True, main)
    hub.control.set_check(red, "slow", status="in_progress")
    assert not reports(hub).run(run).is_over
    with pytest.raises(NotFound):
        reports(hub).run(1)


def test_failed_jobs_are_run_again_once_for_an_attempt(hub: Hub, red: int) -> None:
    """Whoever asks after somebody else was quicker does nothing, since the attempt is another one."""
    run = run_number(hub, red)
    reports(hub).run_again(run, 1)
    reports(hub).run_again(run, 1)
    assert reports(hub).run(run).attempt == 2
    with pytest.raises(Rejected, match="already running"):
        reports(hub).run_again(run, 2)
    hub.control.set_check(red, "test")
    with pytest.raises(Rejected, match="no failed jobs"):
        reports(hub).run_again(run, 2)
    assert reports(hub).run(run).attempt == 2


def test_a_token_that_may_not_run_jobs_again_is_told_what_it_needs() -> None:
    """A 403 about the token is another than one about the run."""
    with other_token("fine-grained", "actions:read", "pull_requests:read") as (made, number):
        run = run_number(made, number)
        with pytest.raises(NoPermission, match="actions=write"):
            reports(made).run_again(run, 1)
        assert reports(made).run(run).attempt == 1


def test_what_failed_on_a_commit_is_known_by_its_newest_runs(hub: Hub, red: int) -> None:
    """And of which workflows that is all: one that still runs is not among them."""
    assert (reports(hub).failed_on("main").failed, reports(hub).failed_on("main").workflows) == (
        (),
        (),
    )
    main = hub.control.world()["refs"]["refs/heads/main"]
    hub.control.set_check("main", "test", conclusion="failure", event="push")
    hub.control.set_check("main", "docs", workflow="Docs", event="push")
    hub.control.set_check("main", "slow", status="queued", workflow="Slow", event="push")
    found = reports(hub).failed_on(main)
    assert [(one.workflow, one.name) for one in found.failed] == [("CI", "test")]
    assert found.workflows == ("CI", "Docs")
