"""What stands between green checks and the merge, over the wire: rules, queue, forks, renames.

Each look is one request of one point, whatever it finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import requests
from msgspec.structs import replace

from lifecycle.core.errors import Moved, NotFound
from lifecycle.core.timing import Deadline
from lifecycle.core.values.checks import Verdict
from lifecycle.core.values.model import Look, PullRequest, QueueEntry, Repository
from lifecycle.github.operations.ensure_merge import MergeOperations
from lifecycle.sandbox.checks.state import PlannedCheck
from lifecycle.sandbox.seed import default_seed
from lifecycle.sandbox.seed.form import SeedProtection, SeedRepository, SeedToken
from lifecycle.sandbox.server import Sandbox
from tests.github.hub import Hub, forge_over

BASE = "octo-org/hello-service"
FORK = "visitor/hello-service"
TOKENS = [
    SeedToken(token="sandbox-token", user="octocat", scopes=["project", "repo"]),
    SeedToken(token="marias", user="maria", scopes=["project", "repo"]),
    SeedToken(token="visitors", user="visitor", scopes=["repo"]),
]

MARIA = {"Authorization": "Bearer marias"}
Opens = Callable[..., Hub]


@pytest.fixture
def opened(deadline: Deadline) -> Iterator[Opens]:
    """Makes a hub on a sandbox whose main branch demands what is given; there is a fork, too."""
    with ExitStack() as stack:

        def make(**protection: Any) -> Hub:
            seed = default_seed()
            demands = [SeedProtection(pattern="main", **protection)] if protection else []
            home = replace(seed.repositories[0], protections=demands)
            fork = SeedRepository(name=FORK, fork_of=BASE)
            seed = replace(seed, repositories=[home, fork], tokens=TOKENS)
            hub = Hub(stack.enter_context(Sandbox(seed)).info, deadline)
            stack.callback(hub.graph.close)
            stack.callback(hub.rest.close)
            return hub

        yield make


def look(hub: Hub, number: int) -> PullRequest:
    """The pull request as one look shows it: one request, one point."""
    hub.control.clear_requests()
    found = hub.forge.observe(
        Look(issue=42, branch="work", pr_number=number, checks=True, comments=True, board=True)
    )
    (request,) = hub.control.requests()
    assert (request.operation, request.points) == ("ObserveClaim", 1)
    assert found.by_number is not None
    return found.by_number


def graphql(hub: Hub, mutation: str, number: int) -> None:
    """A mutation that Maria makes on a pull request."""

    def ask(text: str) -> dict[str, Any]:
        found = requests.post(
            hub.info.graphql_url, json={"query": text}, headers=MARIA, timeout=10
        ).json()
        assert "errors" not in found, found
        data: dict[str, Any] = found["data"]
        return data

    owner, name = BASE.split("/")
    pull = f"pullRequest(number: {number}) {{ id }}"
    found = ask(f'{{ repository(owner: "{owner}", name: "{name}") {{ {pull} }} }}')
    node = found["repository"]["pullRequest"]["id"]
    ask(f'mutation {{ {mutation}(input: {{ pullRequestId: "{node}" }}) {{ clientMutationId }} }}')


@pytest.mark.parametrize("ruleset", [None, 7])
def test_a_required_check_that_never_reported(opened: Opens, ruleset: int | None) -> None:
    """By classic protection and by a ruleset: pending by name, and green once it reports."""
    hub = opened(contexts=["test", "deploy"], ruleset_id=ruleset)
    hub.pushed("work")
    number = hub.control.open_pull("work", "Fix")
    hub.control.set_check(number, "test")
    checks = look(hub, number).checks
    assert checks is not None
    assert (checks.verdict, checks.missing) == (Verdict.PENDING, ("deploy",))
    hub.control.set_status(number, "deploy")
    checks = look(hub, number).checks
    assert checks is not None
    assert (checks.verdict, checks.missing) == (Verdict.GREEN, ())


def test_a_workflow_that_has_more_jobs_to_come(opened: Opens) -> None:
    """One job of two is listed and green; the workflow still runs, so nothing is green."""
    hub = opened()
    hub.pushed("work")
    number = hub.control.open_pull("work", "Fix")
    hub.control.set_check(number, "plan")
    hub.control.set_check(number, "test", status="in_progress", conclusion=None)
    checks = look(hub, number).checks
    assert checks is not None
    assert (checks.verdict, checks.unfinished) == (Verdict.PENDING, ("CI",))
    hub.control.set_check(number, "test")
    checks = look(hub, number).checks
    assert checks is not None
    assert (checks.verdict, checks.unfinished) == (Verdict.GREEN, ())


def test_the_merge_queue_and_what_it_gives_back(opened: Opens) -> None:
    """In the queue with a place; thrown out of it with GitHub's reason, and still open."""
    hub = opened(contexts=["test"], merge_queue=True)
    hub.pushed("work")
    number = hub.control.open_pull("work", "Fix")
    hub.control.set_check(number, "test")
    assert look(hub, number).queue is None
    graphql(hub, "enqueuePullRequest", number)
    queued = look(hub, number)
    ((group, commit),) = [
        one for one in hub.world()["refs"].items() if "gh-readonly-queue" in one[0]
    ]
    assert queued.queue == QueueEntry("AWAITING_CHECKS", 1, commit)
    assert queued.has_queue
    assert queued.ejection is None
    hub.control.set_check(
        group.removeprefix("refs/heads/"), "test", conclusion="failure", event="merge_group"
    )
    given_back = look(hub, number)
    assert given_back.queue is None
    assert given_back.ejection is not None
    assert (given_back.ejection.reason, given_back.ejection.commit) == ("failed_checks", commit)
    assert given_back.checks is not None
    assert given_back.checks.is_green, "the pull request's own checks know nothing of it"


def test_a_pull_request_is_taken_out_of_the_queue_once(opened: Opens) -> None:
    """Two requests, then one; where its answer is lost it is looked for, and no place is no error.

    Nor is a place that the token is not shown: a push of the branch goes on, and says if it is queued.
    """
    hub = opened(contexts=["test"], merge_queue=True)
    hub.pushed("work")
    number = hub.control.open_pull("work", "Fix")
    hub.control.set_check(number, "test")
    merging = MergeOperations(hub.forge)
    for fault in ("", "after"):
        graphql(hub, "enqueuePullRequest", number)
        assert look(hub, number).queue is not None
        if fault:
            hub.control.add_fault("bad-gateway", operation="Dequeue", when="after")
        hub.asked()
        assert merging.ensure_not_queued(number).changed
        assert hub.asked()[:2] == ["QueueEntry", "Dequeue"]
        assert not merging.ensure_not_queued(number).changed
        assert hub.asked() == ["QueueEntry"]
        assert look(hub, number).queue is None
    path = ["repository", "pullRequest", "mergeQueueEntry"]
    hub.control.add_fault("partial-forbidden", operation="QueueEntry", null_paths=[path])
    assert not merging.ensure_not_queued(number).changed
    with pytest.raises(NotFound):
        merging.ensure_not_queued(4711)


def test_auto_merge_is_seen(opened: Opens) -> None:
    """Somebody has told GitHub to merge it by itself; what it waits for is missing by name."""
    hub = opened(contexts=["test"])
    hub.pushed("work")
    number = hub.control.open_pull("work", "Fix")
    assert not look(hub, number).is_auto_merge
    graphql(hub, "enablePullRequestAutoMerge", number)
    found = look(hub, number)
    assert found.is_auto_merge
    assert found.merge_state == "BLOCKED"


def test_a_branch_that_is_behind(opened: Opens) -> None:
    """The base demands its newest commit in the branch, and has got another one meanwhile."""
    hub = opened(contexts=["test"], strict=True)
    hub.pushed("work")
    number = hub.control.open_pull("work", "Fix")
    hub.control.set_check(number, "test")
    hub.control.push_commit("main", {"meanwhile.txt": "x"}, "Meanwhile")
    look(hub, number)  # GitHub computes what is asked for when it is asked
    assert look(hub, number).merge_state == "BEHIND"


def test_a_strangers_workflows_wait_for_an_approval(opened: Opens) -> None:
    """A fork's pull request: head owner and checks are the fork's, and nothing runs unapproved."""
    hub = opened()
    hub.control.plan_checks(PlannedCheck(name="test"))
    sha = hub.control.at(FORK).push_commit("work", {"f.txt": "f"}, "Fix", by="visitor")
    answer = requests.post(
        f"{hub.info.api_url}/repos/{BASE}/pulls",
        json={"title": "Fix", "head": "visitor:work", "base": "main"},
        headers={"Authorization": "Bearer visitors"},
        timeout=10,
    )
    number = int(answer.json()["number"])
    found = look(hub, number)
    assert (found.head_owner, found.head_sha) == ("visitor", sha)
    assert found.checks is not None
    assert (found.checks.runs, found.checks.held) == ((), ("CI",))
    (run,) = requests.get(
        f"{hub.info.api_url}/repos/{BASE}/actions/runs",
        headers=MARIA,
        timeout=10,
    ).json()["workflow_runs"]
    approved = requests.post(
        f"{hub.info.api_url}/repos/{BASE}/actions/runs/{run['id']}/approve",
        headers=MARIA,
        timeout=10,
    )
    assert approved.ok, approved.text
    look(hub, number)
    checks = look(hub, number).checks
    assert checks is not None
    assert (checks.verdict, checks.held) == (Verdict.GREEN, ())


def test_a_renamed_repository_is_followed_and_not_written_to(opened: Opens) -> None:
    """Reads under the old name see everything; a write is refused with the new one and the command."""
    hub = opened()
    sha = hub.pushed("work")
    number = hub.control.open_pull("work", "Fix")
    for index in range(101):
        hub.control.set_status(number, f"ci/{index:03}")
    renamed = requests.patch(
        f"{hub.info.api_url}/repos/{BASE}",
        json={"name": "better-name"},
        headers=MARIA,
        timeout=10,
    )
    assert renamed.ok, renamed.text
    found = hub.forge.observe(Look(issue=42, branch="work", pr_number=number))
    assert found.repository == "octo-org/better-name"
    assert hub.forge.issue(42).number == 42
    assert hub.forge.repository_access().name == "octo-org/better-name"
    assert len(hub.forge.checks(sha).runs) == 101
    numbers = {one.number for one in hub.forge.open_issues()}
    hub.asked()
    for write in (
        lambda: hub.forge.comment(42, "hi"),
        lambda: hub.forge.close_issue(42),
        lambda: hub.forge.assign(42, "sam"),
        lambda: hub.forge.create_pull_request(
            title="x", body="", head="octo-org:work", base="main"
        ),
    ):
        with pytest.raises(Moved, match="octo-org/better-name") as caught:
            write()
        assert "lifecycle doctor has the command" in str(caught.value)
    world = hub.world()["issues"]["42"]
    assert (world["state"], world["comments"], world["assignees"]) == ("open", [], [])
    under_its_name = Repository("octo-org", "better-name")
    assert numbers == {one.number for one in forge_over(hub.rest, under_its_name).open_issues()}
