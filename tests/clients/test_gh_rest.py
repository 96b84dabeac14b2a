"""`gh api`, `label`, `repo`, `run`, `search` and `auth`."""

from __future__ import annotations

import json
from pathlib import Path

from lifecycle.sandbox.control import Control
from tests.clients.gh import Gh
from tests.clients.world import VISITOR

PAGES = """
query($endCursor: String) {
  repository(owner: "octo-org", name: "hello-service") {
    issues(first: 3, after: $endCursor) { nodes { number } pageInfo { hasNextPage endCursor } }
  }
}
"""


def test_who_is_logged_in(gh: Gh) -> None:
    """The token is good, whose it is, and its scopes are enough for gh."""
    done = gh.tried("auth", "status", "--hostname", "github.localhost")
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "Logged in to github.localhost" in said
    assert "octocat" in said
    assert "Missing required token scopes" not in said
    bad = gh.tried("auth", "status", "--hostname", "github.localhost", token="wrong")
    assert "valid" in bad.stdout + bad.stderr  # "no longer valid", "invalid": by its version
    assert "octocat" not in bad.stdout + bad.stderr


def test_every_page_over_rest_and_graphql(gh: Gh, control: Control) -> None:
    """`--paginate` follows `Link`, and cursors."""
    every = set(map(int, control.world()["issues"]))
    path = "repos/{owner}/{repo}/issues?per_page=3&state=all"
    rest = gh.run("api", "--paginate", path, "--jq", ".[].number").split()
    assert set(map(int, rest)) == every
    assert len(rest) == len(every)
    graph = gh.run(
        "api", "graphql", "--paginate", "-f", f"query={PAGES}",
        "--jq", ".data.repository.issues.nodes[].number",
    )  # fmt: skip
    assert set(map(int, graph.split())) == every


def test_an_error_over_rest_and_graphql(gh: Gh) -> None:
    """gh shows GitHub's sentence and status, and prints the body."""
    done = gh.tried("api", "repos/{owner}/{repo}/issues/9999")
    assert done.returncode == 1
    assert "gh: Not Found (HTTP 404)" in done.stderr
    assert json.loads(done.stdout)["message"] == "Not Found"
    query = 'query={repository(owner:"octo-org",name:"nope"){id}}'
    said = gh.refused("api", "graphql", "-f", query)
    assert "Could not resolve to a Repository with the name 'octo-org/nope'." in said
    denied = gh.refused("api", "repos/{owner}/{repo}/labels", "-f", "name=x", token=VISITOR)
    assert "HTTP 40" in denied


def test_headers_as_a_person_sees_them(gh: Gh) -> None:
    """`-i` shows the limits, the request's id and what it accepts."""
    head = gh.run("api", "-i", "user").lower()
    for name in ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset",
                 "x-ratelimit-used", "x-ratelimit-resource", "x-github-request-id",
                 "x-oauth-scopes", "etag"):  # fmt: skip
        assert f"\n{name}: " in head, name


def test_labels(gh: Gh) -> None:
    """list, create, create again (refused, or forced), edit, delete."""
    create = ("label", "create", "by-gh", "--color", "ff0000")
    gh.run(*create, "--description", "First")
    assert "already exists" in gh.refused(*create)
    gh.run(*create, "--force", "--description", "Second")
    gh.run("label", "edit", "by-gh", "--name", "by-gh-too", "--color", "00ff00")
    found = {one["name"]: one for one in gh.json("label", "list", fields="name,color,description")}
    assert found["by-gh-too"]["color"] == "00ff00"
    assert found["by-gh-too"]["description"] == "Second"
    assert {"bug", "enhancement", "documentation"} <= found.keys()
    searched = gh.json("label", "list", "--search", "gh-too", fields="name")
    assert searched == [{"name": "by-gh-too"}]
    gh.run("label", "delete", "by-gh-too", "--yes")
    assert "by-gh-too" not in gh.run("label", "list")


def test_the_repository(gh: Gh, folder: Path) -> None:
    """view, view as JSON, list, clone."""
    fields = (
        "name,nameWithOwner,owner,description,defaultBranchRef,isPrivate,isFork,isArchived,isEmpty,"
        "isInOrganization,url,sshUrl,viewerPermission,mergeCommitAllowed,squashMergeAllowed,"
        "rebaseMergeAllowed,hasIssuesEnabled,issues,pullRequests,labels,assignableUsers,createdAt"
    )
    told = gh.json("repo", "view", "octo-org/hello-service", fields=fields)
    assert (told["nameWithOwner"], told["owner"]["login"]) == ("octo-org/hello-service", "octo-org")
    assert (told["defaultBranchRef"]["name"], told["isEmpty"]) == ("main", False)
    assert (told["isInOrganization"], told["viewerPermission"]) == (True, "WRITE")
    assert told["url"] == "http://github.localhost/octo-org/hello-service"
    assert {"maria", "octocat", "sam"} <= {one["login"] for one in told["assignableUsers"]}
    assert "Takes names from a queue" in gh.run("repo", "view", "octo-org/hello-service")
    assert "octo-org/hello-service" in gh.run("repo", "list", "octo-org")
    gh.run("repo", "clone", "octo-org/hello-service", str(folder / "cloned"))
    assert "def greet" in (folder / "cloned" / "greeting.py").read_text()


def test_workflow_runs(gh: Gh, control: Control) -> None:
    """The runs behind the checks: listed, viewed, run again."""
    sha = control.push_commit("running", {"run.txt": "1"}, "Run")
    control.set_check("running", "test", conclusion="failure", event="push")
    fields = "databaseId,conclusion,headBranch,headSha,event,status,workflowName"
    (run,) = gh.json("run", "list", "--branch", "running", fields=fields)
    assert (run["conclusion"], run["headSha"], run["event"]) == ("failure", sha, "push")
    assert (run["status"], run["workflowName"]) == ("completed", "CI")
    number = str(run["databaseId"])
    (job,) = gh.json("run", "view", number, fields="jobs")["jobs"]
    assert (job["name"], job["conclusion"]) == ("test", "failure")
    assert gh.tried("run", "view", number, "--exit-status").returncode == 1
    assert "test" in gh.run("run", "view", number)
    assert "CI" in gh.run("workflow", "list")
    assert gh.json("run", "list", "--workflow", "CI", fields="databaseId")
    gh.run("run", "rerun", number)
    (again,) = gh.json("run", "list", "--branch", "running", fields="databaseId,status")
    assert (str(again["databaseId"]), again["status"] != "completed") == (number, True)


def test_search(gh: Gh, control: Control) -> None:
    """Issues and pull requests by words and filters, repositories by name."""
    control.push_commit("searched", {"search.txt": "1"}, "Search")
    number = control.open_pull("searched", "Greet in a race")
    fields = "number,title,repository,state,isPullRequest"
    here = ("--repo", "octo-org/hello-service")
    (found,) = gh.json("search", "issues", "race", *here, "--label", "bug", fields=fields)
    assert (found["number"], found["state"], found["isPullRequest"]) == (42, "open", False)
    assert found["repository"]["nameWithOwner"] == "octo-org/hello-service"
    (found,) = gh.json("search", "prs", "race", *here, fields="number")
    assert found["number"] == number
    (found,) = gh.json("search", "repos", "hello-service", fields="fullName")
    assert found["fullName"] == "octo-org/hello-service"
