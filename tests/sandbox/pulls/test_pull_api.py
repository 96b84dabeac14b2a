"""Pull requests as clients read and edit them, over REST and GraphQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.sandbox.control import Control
from lifecycle.sandbox.seed import SeedPull, default_seed
from lifecycle.sandbox.server import Sandbox
from tests.sandbox.crowd import FORK, crowd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from requests import Response

    Api = Callable[..., Response]
    Ask = Callable[..., Any]


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """The built-in world with everybody's tokens."""
    with Sandbox(crowd()) as running:
        yield running


@pytest.fixture
def number(control: Control) -> int:
    """An open pull request of octocat's from `work`, of two commits."""
    control.push_commit("work", {"a.txt": "a\n", "README.md": None}, "First", by="octocat")
    control.push_commit("work", {"b.txt": "b\nb\n"}, "Second\n\nWhy.", by="octocat")
    return control.open_pull("work", "Work", body="Fixes #42", by="octocat")


def node_of(control: Control, number: int) -> str:
    """Its global id."""
    return str(control.world()["pulls"][str(number)]["node_id"])


def test_files_and_commits(api: Api, control: Control, number: int) -> None:
    """What it changes, with the hunks, and how often; the sums are in the pull request."""
    files = {one["filename"]: one for one in api("GET", f"pulls/{number}/files").json()}
    assert {name: one["status"] for name, one in files.items()} == {
        "README.md": "removed",
        "a.txt": "added",
        "b.txt": "added",
    }
    assert files["b.txt"]["patch"] == "@@ -0,0 +1,2 @@\n+b\n+b"
    commits = api("GET", f"pulls/{number}/commits").json()
    assert [one["commit"]["message"] for one in commits] == ["First", "Second\n\nWhy."]
    shown = api("GET", f"pulls/{number}").json()
    assert (shown["commits"], shown["changed_files"], shown["additions"]) == (2, 3, 3)
    assert shown["deletions"] == files["README.md"]["deletions"]
    of_head = api("GET", f"commits/{shown['head']['sha']}/pulls").json()
    assert [one["number"] for one in of_head] == [number]


@pytest.mark.parametrize(
    ("accept", "begins"),
    [
        ("application/vnd.github.v3.diff", "diff --git"),
        ("application/vnd.github.diff", "diff --git"),
        ("application/vnd.github.patch", "From "),
    ],
)
def test_as_a_text(api: Api, number: int, accept: str, begins: str) -> None:
    """For who accepts a diff or a patch."""
    answer = api("GET", f"pulls/{number}", headers={"Accept": accept})
    assert answer.text.startswith(begins)
    assert answer.headers["Content-Type"].startswith("application/vnd.github.")


def test_editing(api: Api, control: Control, number: int) -> None:
    """Title, body, base and state; by its author or who may write; the head stays."""
    control.push_commit("next", {"n.txt": "n"}, "Next")
    body = {"title": "Better", "body": None, "base": "next"}
    edited = api("PATCH", f"pulls/{number}", json=body).json()
    assert (edited["title"], edited["body"], edited["base"]["ref"]) == ("Better", None, "next")
    assert api("PATCH", f"pulls/{number}", json={"base": "none"}).status_code == 422
    assert api("PATCH", f"pulls/{number}", json={"state": "x"}).status_code == 422
    assert api("PATCH", f"pulls/{number}", json={"title": "x"}, token="visitor").status_code == 403
    closed = api("PATCH", f"pulls/{number}", json={"state": "closed"}).json()
    assert (closed["state"], closed["merged"]) == ("closed", False)
    assert api("PATCH", f"pulls/{number}", json={"state": "open"}).json()["state"] == "open"
    api("PATCH", f"pulls/{number}", json={"state": "closed"})
    control.delete_branch("work")
    refused = api("PATCH", f"pulls/{number}", json={"state": "open"})
    assert "state cannot be changed" in refused.json()["errors"][0]["message"]


def test_lists(api: Api, control: Control, number: int) -> None:
    """By state, head, base; sorted by creation, change or comments, either way."""
    control.push_commit("other", {"o.txt": "o"}, "Other")
    second = control.open_pull("other", "Other", draft=True)
    control.comment(number, "Hello")
    for query, numbers in (
        ({}, [second, number]),
        ({"direction": "asc"}, [number, second]),
        ({"sort": "popularity", "direction": "desc"}, [number, second]),
        ({"sort": "updated"}, sorted([number, second])),
        ({"head": "octo-org:work"}, [number]),
        ({"head": "visitor:work"}, []),
        ({"base": "none"}, []),
        ({"state": "closed"}, []),
    ):
        found = [one["number"] for one in api("GET", "pulls", params=query).json()]
        assert (sorted(found) if query.get("sort") == "updated" else found) == numbers, query
    assert api("GET", "pulls", params={"state": "x"}).status_code == 422
    assert [one["draft"] for one in api("GET", "pulls").json()] == [True, False]


def test_graphql_knows_a_pull_request(graphql: Ask, control: Control, number: int) -> None:
    """Its sums, commits, files, refs, and the issues that it closes."""
    text = """query P($n: Int!) { repository(owner: "octo-org", name: "hello-service") {
      pullRequest(number: $n) { additions changedFiles isCrossRepository maintainerCanModify
        author { login } headRef { name target { oid } } headRepository { nameWithOwner }
        commits(last: 1) { totalCount nodes { commit { messageHeadline messageBody
          authors(first: 1) { nodes { user { login } } } } } }
        files(first: 9) { nodes { path changeType } }
        closingIssuesReferences(first: 9) { nodes { number } } potentialMergeCommit { oid } } } }"""
    found = graphql(text, n=number)["data"]["repository"]["pullRequest"]
    assert (found["additions"], found["changedFiles"]) == (3, 3)
    assert (found["author"], found["isCrossRepository"]) == ({"login": "octocat"}, False)
    assert found["commits"] == {
        "totalCount": 2,
        "nodes": [
            {
                "commit": {
                    "messageHeadline": "Second",
                    "messageBody": "Why.",
                    "authors": {"nodes": [{"user": {"login": "octocat"}}]},
                }
            }
        ],
    }
    assert {one["path"]: one["changeType"] for one in found["files"]["nodes"]} == {
        "README.md": "DELETED",
        "a.txt": "ADDED",
        "b.txt": "ADDED",
    }
    assert found["closingIssuesReferences"] == {"nodes": [{"number": 42}]}
    assert found["headRef"]["name"] == "work"


OPEN = """mutation C($r: ID!, $h: String!, $d: Boolean, $f: ID) { createPullRequest(input: {
  repositoryId: $r, baseRefName: "main", headRefName: $h, title: "T", draft: $d,
  headRepositoryId: $f}) { pullRequest { id number isDraft headRepository { nameWithOwner } } } }"""


def test_graphql_opens_and_edits(graphql: Ask, control: Control) -> None:
    """Created as a draft, made ready, edited, closed, reopened, merged: each answers with it."""
    control.push_commit("work", {"a.txt": "a"}, "Work")
    repo = graphql('query { repository(owner: "octo-org", name: "hello-service") { id } }')
    repo_id = repo["data"]["repository"]["id"]
    made = graphql(OPEN, r=repo_id, h="work", d=True)["data"]["createPullRequest"]["pullRequest"]
    assert made["isDraft"] is True
    twice = graphql(OPEN, r=repo_id, h="work")
    assert twice["errors"][0]["message"] == "A pull request already exists for octo-org:work."
    missing = graphql(OPEN, r=repo_id, h="nowhere")
    assert "Head ref must be a branch" in missing["errors"][0]["message"]
    for name, extra, fields in (
        ("markPullRequestReadyForReview", "", {"isDraft": False}),
        ("convertPullRequestToDraft", "", {"isDraft": True}),
        ("markPullRequestReadyForReview", "", {"isDraft": False}),
        ("updatePullRequest", ', title: "New", body: "B"', {"title": "New", "body": "B"}),
        ("closePullRequest", "", {"state": "CLOSED"}),
        ("reopenPullRequest", "", {"state": "OPEN"}),
        ("mergePullRequest", ", mergeMethod: REBASE", {"state": "MERGED"}),
    ):
        text = (
            f"mutation M($p: ID!) {{ {name}(input: {{pullRequestId: $p{extra}}}) "
            f"{{ clientMutationId pullRequest {{ {' '.join(fields)} }} }} }}"
        )
        answer = graphql(text, p=made["id"])
        assert answer["data"][name]["pullRequest"] == fields, answer
    late = graphql(
        "mutation M($p: ID!) { mergePullRequest(input: {pullRequestId: $p}) { clientMutationId } }",
        p=made["id"],
    )
    assert late["errors"][0]["type"] == "UNPROCESSABLE"
    assert late["errors"][0]["message"] == "Pull Request is not mergeable"


def test_graphql_opens_from_a_fork(graphql: Ask, control: Control) -> None:
    """By `owner:branch`, or by the head's repository."""
    fork = control.at(FORK)
    fork.push_commit("fix", {"f.txt": "f"}, "Fix", by="visitor")
    ids = graphql("""query { repository(owner: "octo-org", name: "hello-service") { id }
      fork: repository(owner: "visitor", name: "hello-service") { id } }""")["data"]
    variables = {"r": ids["repository"]["id"], "h": "fix", "f": ids["fork"]["id"]}
    made = graphql(OPEN, token="visitor", **variables)["data"]["createPullRequest"]["pullRequest"]
    assert made["headRepository"] == {"nameWithOwner": FORK}
    again = graphql(OPEN, token="visitor", r=ids["repository"]["id"], h="visitor:fix")
    assert "already exists" in again["errors"][0]["message"]
    other = graphql(OPEN, token="sam", r=ids["repository"]["id"], h="visitor:fix")
    assert other["errors"][0]["type"] == "FORBIDDEN"


def test_a_push_leaves_alone_what_git_never_had() -> None:
    """A seed may tell of pull requests without commits; only a branch that goes closes its own."""
    made = SeedPull(900, "Told of", "nowhere", head_sha="a" * 40, base_sha="b" * 40)
    with Sandbox(default_seed().with_home(pulls=[made])) as running:
        control = Control(running.info.control_url)
        control.push_commit("work", {"a.txt": "a"}, "Work")
        number = control.open_pull("work", "Work")
        control.delete_branch("work")
        states = {n: one["state"] for n, one in control.world()["pulls"].items()}
    assert states == {"900": "open", str(number): "closed"}
