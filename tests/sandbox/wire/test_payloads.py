"""PyGithub reads the answers: what it has, it does not ask for again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from github import Auth, Github, GithubException

if TYPE_CHECKING:
    from collections.abc import Iterator

    from github.Repository import Repository

    from lifecycle.sandbox.control import Control
    from lifecycle.sandbox.server import Sandbox


@pytest.fixture
def hub(sandbox: Sandbox) -> Iterator[Github]:
    """PyGithub, lazy, as the product makes it."""
    client = Github(
        auth=Auth.Token(sandbox.info.token),
        base_url=sandbox.info.api_url,
        lazy=True,
        retry=None,
        seconds_between_requests=None,
        seconds_between_writes=None,
        timeout=10,
    )
    yield client
    client.close()


@pytest.fixture
def repo(hub: Github, control: Control) -> Repository:
    """The repository, not yet asked for, and an empty log."""
    control.clear_requests()
    return hub.get_repo("octo-org/hello-service")


def paths(control: Control) -> list[str]:
    """What was asked, without the repository's prefix."""
    return [
        f"{one.method} {one.path.removeprefix('/repos/octo-org/hello-service')}"
        for one in control.requests()
    ]


def test_an_issue_closes_in_one_request(repo: Repository, control: Control) -> None:
    """edit() reads everything that it needs from the answer."""
    issue = repo.get_issue(42)
    issue.edit(state="closed", state_reason="completed")
    assert (issue.state, issue.state_reason) == ("closed", "completed")
    assert issue.closed_by is not None
    assert issue.closed_by.login == "octocat"
    assert issue.closed_at is not None
    assert issue.html_url.endswith("/octo-org/hello-service/issues/42")
    assert [label.name for label in issue.labels] == ["bug"]
    assert paths(control) == ["PATCH /issues/42"]


def test_comments_and_assignees(repo: Repository, control: Control) -> None:
    """Each write is one request, and lists follow their pages."""
    issue = repo.get_issue(42)
    for number in range(31):
        assert issue.create_comment(f"Comment {number}").user.login == "octocat"
    issue.add_to_assignees("maria")
    assert [user.login for user in issue.assignees] == ["maria"]
    control.clear_requests()
    assert len(list(issue.get_comments())) == 31
    assert len(control.requests()) == 2


def test_a_pull_request_from_start_to_end(repo: Repository, control: Control) -> None:
    """Made, listed, read, merged: PyGithub follows, in the fewest requests."""
    sha = control.push_commit("work", {"a.txt": "a"}, "Work")
    pull = repo.create_pull(base="main", head="work", title="Work", body="Refs #42")
    assert (pull.head.sha, pull.base.ref, pull.merged) == (sha, "main", False)
    assert not pull.mergeable
    assert (pull.commits, pull.comments, pull.user.login) == (1, 0, "octocat")
    assert pull.head.repo.full_name == "octo-org/hello-service"
    assert paths(control) == ["POST /pulls"]
    (found,) = repo.get_pulls(state="all", head="octo-org:work")
    assert (found.number, found.state) == (pull.number, "open")
    control.merge_pull(pull.number, delete_branch=True)
    pull.update()
    assert (pull.merged, pull.merged_by.login, pull.head.sha) == (True, "maria", sha)
    with pytest.raises(GithubException) as caught:
        repo.create_pull(base="main", head="work", title="Again", body="")
    assert caught.value.status == 422
    assert caught.value.data["errors"][0]["field"] == "head"


def test_checks_of_a_commit(repo: Repository, control: Control) -> None:
    """Check runs and the combined status are read from a commit that was never asked for."""
    sha = control.push_commit("work", {"a.txt": "a"}, "Work")
    control.set_check(sha, "lint", conclusion="failure")
    control.set_status(sha, "ci/x", "pending")
    commit = repo.get_commit(sha)
    (run,) = commit.get_check_runs()
    assert (run.name, run.status, run.conclusion) == ("lint", "completed", "failure")
    assert run.started_at is not None
    assert run.app.slug == "github-actions"
    combined = commit.get_combined_status()
    assert (combined.state, [one.context for one in combined.statuses]) == ("pending", ["ci/x"])
    assert paths(control) == [f"GET /commits/{sha}/check-runs", f"GET /commits/{sha}/status"]


def test_lists_of_issues(repo: Repository, control: Control) -> None:
    """Open issues come with what a task picker needs, pull requests marked."""
    control.push_commit("work", {"a.txt": "a"}, "Work")
    number = control.open_pull("work", "Work")
    found = {issue.number: issue for issue in repo.get_issues(state="open")}
    assert found[number].pull_request is not None
    assert found[42].pull_request is None
    assert [user.login for user in found[38].assignees] == ["sam"]
    assert repo.get_issue(42).title == "Fix race condition in task queue"


def test_who_and_where(hub: Github, control: Control) -> None:
    """The viewer and the repository's default branch."""
    assert (hub.get_user().login, hub.get_user().name) == ("octocat", "The Octocat")
    repo = hub.get_repo("octo-org/hello-service")
    assert (repo.default_branch, repo.permissions.push, repo.owner.type) == (
        "main", True, "Organization",
    )  # fmt: skip
    assert {one.path for one in control.requests()} == {"/user", "/repos/octo-org/hello-service"}
