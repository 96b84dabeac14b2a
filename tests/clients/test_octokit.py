"""octokit, GitHub's own client for programs: its REST and GraphQL packages and their plugins."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lifecycle.sandbox.control import Control
from lifecycle.sandbox.control.faults import Fault
from lifecycle.sandbox.server import Sandbox
from tests.clients.git import Git
from tests.clients.node import Node
from tests.clients.world import MARIA, ROBOT
from tests.needed import ROOT, demand_program, from_npm, lack

OCTOKIT = ROOT / ".cache" / "clients" / "node_modules"


@pytest.fixture(scope="module")
def node(github: Sandbox, folder: Path) -> Node:
    """The scenarios beside their packages."""
    if not OCTOKIT.is_dir():
        lack("octokit", from_npm("clients"))
    demand_program("node", "clients")
    return Node.beside(OCTOKIT, folder / "scenarios", github.info)


def refused(found: dict[str, Any], status: int, *words: str) -> None:
    """A RequestError as octokit makes it: status, GitHub's sentence, and where it is documented."""
    assert found["failed"], found
    assert (found["name"], found["status"]) == ("HttpError", status), found
    assert found["data"]["documentation_url"].startswith("https://docs.github.com/"), found
    assert found["data"]["status"] == str(status), found
    for word in words:
        assert word in json.dumps(found["data"]), found["data"]


def test_an_issue_from_its_creation_to_its_end(node: Node, control: Control) -> None:
    """Issues, comments, labels, milestones and assignees do what octokit's methods say."""
    told = node.tell("issues")
    assert told["label"] == {"name": "kit", "color": "ffffff", "description": "By octokit"}
    assert told["made"] == {"author": "octocat", "labels": ["kit"], "assignees": ["sam"]}
    assert told["labels"] == ["bug"]
    assert told["assignable"] == 204
    assert told["comments"] == ["Edited"]
    closed = {"state": "closed", "reason": "not_planned", "by": "octocat", "milestone": "v2"}
    assert told["closed"] == closed
    assert told["counts"] == {"open": 0, "closed": 1}
    assert told["found"] == [told["number"]]
    assert told["reopened"] == {"state": "open", "reason": "reopened", "closed_at": None}
    assert told["after"] == {"milestone": None, "body": "Second", "assignees": ["maria"]}
    issue = control.world()["issues"][str(told["number"])]
    assert (issue["labels"], issue["assignees"], issue["state"]) == (["bug"], ["maria"], "open")


def test_pages_follow_the_links(node: Node, control: Control) -> None:
    """The paginator finds everything once, stops when told, and unpacks lists with a count."""
    for number in range(5):
        control.set_check("main", f"check-{number}")
    told = node.tell("paging", ref="main")
    world = control.world()
    every = sorted(map(int, [*world["issues"], *world["pulls"]]), reverse=True)
    assert told["whole"] == every
    assert [page["numbers"] for page in told["pages"]] == [
        every[start : start + 3] for start in range(0, len(every), 3)
    ]
    assert 'rel="next"' in told["pages"][0]["link"]
    assert 'rel="last"' in told["pages"][0]["link"]
    assert 'rel="next"' not in told["pages"][-1]["link"]
    assert told["early"] == 3
    assert sorted(told["runs"]) == [f"check-{number}" for number in range(5)]
    assert told["beyond"] == []


def test_a_pull_request_from_its_branch_to_its_merge(node: Node, control: Control) -> None:
    """Made of git objects, drafted, reviewed, refused where GitHub refuses, merged by its sha."""
    told = node.tell("pulls", reviewer=MARIA)
    assert told["made"] == {"draft": True, "head": told["sha"], "base": "main", "state": "open"}
    refused(told["twice"], 422, "A pull request already exists for octo-org:octokit-one.")
    refused(told["empty"], 422, "No commits between main and main")
    refused(told["draft"], 405, "draft")
    assert told["files"] == [["one.txt", "added", 1]]
    assert told["commits"] == [told["sha"]]
    assert "+one" in told["diff"]
    assert (told["asked"], told["answered"]) == (["maria"], [])
    refused(told["own"], 422, "approve your own pull request")
    assert told["review"] == "APPROVED"
    assert told["reviews"] == [["maria", "APPROVED"]]
    assert told["ready"] == {"mergeable": True, "state": "clean", "draft": False, "changed": 1}
    refused(told["moved"], 409, "Head branch was modified. Review and try the merge again.")
    refused(told["before"], 404)
    assert told["merged"]["merged"] is True
    assert told["after"] == {"status": 204, "failed": False}
    refused(told["again"], 405, "Pull Request is not mergeable")
    assert told["tip"] == {"sha": told["merged"]["sha"], "title": "One, squashed"}
    refused(told["gone"], 404)
    assert control.world()["pulls"][str(told["number"])]["merge_sha"] == told["merged"]["sha"]


def test_checks_and_statuses(node: Node, control: Control) -> None:
    """An App writes check runs, anybody who may push writes statuses; the newest status counts."""
    sha = control.push_commit("checked", {"checked.txt": "1"}, "Checked")
    told = node.tell("checks", app=ROBOT, sha=sha)
    refused(told["denied"], 403, "GitHub App")
    assert told["made"] == {"status": "in_progress", "conclusion": None, "external": "7"}
    done = {"status": "completed", "conclusion": "failure", "annotations": 1, "ended": True}
    assert told["done"] == done
    assert told["read"] == {"id": True, "title": "One fault", "sha": sha}
    assert told["annotations"] == [["greeting.py", 1, "failure", "Odd"]]
    assert told["listed"] == [1, ["lint"]]
    assert told["suites"] == [sha]
    assert told["combined"] == {"state": "success", "contexts": [["deploy", "success"]]}
    assert told["every"] == [["deploy", "success"], ["deploy", "pending"]]


def test_graphql_queries_mutations_and_errors(node: Node, control: Control) -> None:
    """The graphql package: aliases, two mutations in one, partial data, pages by cursor."""
    told = node.tell("graphql")
    assert (told["viewer"], told["repository"]) == ("octocat", "octo-org/hello-service")
    assert told["rateLimit"]["cost"] == 1
    assert told["made"]["labels"]["nodes"] == [{"name": "bug"}]
    assert told["both"]["comment"]["commentEdge"]["node"]["author"] == {"login": "octocat"}
    assert told["both"]["close"]["issue"] == {"state": "CLOSED", "stateReason": "NOT_PLANNED"}
    assert told["absent"]["name"] == "GraphqlResponseError"
    assert told["absent"]["data"] == {"repository": {"there": {"number": 42}, "gone": None}}
    (error,) = told["absent"]["errors"]
    assert (error["type"], error["path"]) == ("NOT_FOUND", ["repository", "gone"])
    assert error["message"] == "Could not resolve to an Issue with the number of 99999."
    (error,) = told["wrong"]["errors"]
    assert error["extensions"]["code"] == "undefinedField"
    assert (told["nobody"]["status"], told["nobody"]["name"]) == (401, "HttpError")
    assert told["all"] == sorted(map(int, control.world()["issues"]))


def test_conditional_requests(node: Node) -> None:
    """An ETag that still holds is a 304, which costs nothing; one that does not is a 200."""
    told = node.tell("conditional")
    assert (told["same"]["status"], told["same"]["failed"]) == (304, True)
    assert told["cost"] == 0
    assert told["changed"] == [200, True]


def test_errors_say_what_and_where_it_is_documented(node: Node, clones: Callable[..., Git]) -> None:
    """Each refusal has its status, GitHub's words, the field that is wrong, and a page."""
    clone = clones("unrelated")
    clone.run("switch", "-q", "--orphan", "unrelated")
    sha = clone.commit("unrelated.txt")
    clone.run("push", "-q", "origin", "unrelated")
    told = node.tell("errors", unrelated=sha)
    refused(told["credentials"], 401, "Bad credentials")
    for name in ("issue", "elsewhere"):
        refused(told[name], 404, "Not Found")
    refused(told["nameless"], 422, "Validation Failed", '"missing_field"', '"title"')
    refused(told["state"], 422)
    refused(told["label"], 422, '"already_exists"', '"name"')
    refused(told["head"], 422, '"invalid"', '"head"')
    refused(told["ref"], 422, "Reference already exists")
    refused(told["sha"], 422, "Object does not exist")
    refused(told["behind"], 422, "Update is not a fast forward")
    refused(told["commit"], 422, "No commit found for SHA: no-such-ref")


def test_throttling_waits_as_the_headers_say(node: Node, github: Sandbox, control: Control) -> None:
    """A secondary limit, a primary one and a 502: the plugins understand each and try again."""
    here = f"/repos/{github.info.repository}"
    secondary = "You have exceeded a secondary rate limit. Please wait a few minutes."
    primary = "API rate limit exceeded for user ID 1."
    for path, status, headers, message in (
        ("/labels", 403, {"retry-after": "7"}, secondary),
        ("/milestones", 403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1"}, primary),
        ("/branches", 502, {}, "Server Error"),
    ):
        body = json.dumps({"message": message, "documentation_url": "https://docs.github.com/rest"})
        whole = {"content-type": "application/json; charset=utf-8", **headers}
        control.add_fault(Fault("status", path=path, status=status, headers=whole, body=body))
    told = node.tell(
        "throttling", paths=[f"{here}{p}" for p in ("/labels", "/milestones", "/branches")]
    )
    assert told["answers"] == [200, 200, 200]
    assert told["told"] == [
        ["secondary", "GET", f"{here}/labels", 7, 0],
        ["primary", "GET", f"{here}/milestones", told["told"][1][3], 0],
    ]
