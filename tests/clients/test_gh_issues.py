"""`gh issue`: listing by every filter, and an issue's life."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.sandbox.control import Control
from tests.clients.gh import CLASSIC_PROJECTS, Gh

# Every field that this gh knows, but for projectCards, which GitHub refuses.
FIELDS = (
    "assignees,author,body,closed,closedAt,comments,createdAt,id,labels,milestone,number,"
    "reactionGroups,state,title,updatedAt,url"
)


def numbers(gh: Gh, *options: str) -> set[int]:
    """What `gh issue list` finds."""
    return {one["number"] for one in gh.json("issue", "list", *options, fields="number")}


def issue(control: Control, number: int) -> Any:
    """An issue as GitHub has it."""
    return control.world()["issues"][str(number)]


def test_the_list_is_the_worlds(gh: Gh, control: Control) -> None:
    """Without filters: what is open; `--state` chooses, `--limit` cuts, newest first."""
    world = control.world()["issues"]
    still_open = {int(n) for n, one in world.items() if one["state"] == "open"}
    assert numbers(gh) == still_open
    assert numbers(gh, "--state", "all") == set(map(int, world))
    assert numbers(gh, "--state", "closed") == set(map(int, world)) - still_open
    first = gh.json("issue", "list", "--limit", "2", fields="number,title,state,labels")
    assert [one["number"] for one in first] == sorted(still_open, reverse=True)[:2]
    for one in first:
        assert one["title"] == world[str(one["number"])]["title"]
        assert [label["name"] for label in one["labels"]] == world[str(one["number"])]["labels"]
    assert "Fix race condition in task queue" in gh.run("issue", "list")


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--label", "bug"), {42}),
        (("--label", "enhancement", "--state", "all"), {36, 38, 41, 43}),
        (("--assignee", "sam"), {38, 39}),
        (("--author", "sam"), {39, 44}),
        (("--author", "maria", "--label", "documentation"), {45}),
        (("--assignee", "sam", "--label", "enhancement"), {38}),
        (("--search", "race in:title"), {42}),
        (("--search", "no:assignee sort:created-asc -label:enhancement"), {42, 44, 45}),
        (("--search", "health endpoint", "--state", "open"), {38, 43}),
        (("--label", "no such label"), set()),
    ],
)
def test_every_filter_finds_what_it_should(
    gh: Gh, options: tuple[str, ...], found: set[int]
) -> None:
    """By label, assignee, author, words and qualifiers, alone and together."""
    seeded = set(range(36, 46))
    assert numbers(gh, *options) & seeded == found


def test_everything_that_view_can_tell(gh: Gh, control: Control) -> None:
    """All of the fields of `--json`, each as the world has it."""
    control.comment(38, "Port 8080?", by="sam")
    told, world = gh.json("issue", "view", "38", fields=FIELDS), issue(control, 38)
    assert (told["number"], told["title"], told["body"]) == (38, world["title"], world["body"])
    assert (told["state"], told["closed"], told["closedAt"]) == ("OPEN", False, None)
    assert told["id"] == world["node_id"]
    assert told["author"]["login"] == "maria"
    assert [one["login"] for one in told["assignees"]] == world["assignees"] == ["sam"]
    assert [one["name"] for one in told["labels"]] == world["labels"]
    assert told["milestone"] is None
    assert [one["body"] for one in told["comments"]] == ["Port 8080?"]
    assert told["comments"][0]["author"]["login"] == "sam"
    assert told["url"] == "http://github.localhost/octo-org/hello-service/issues/38"


def test_what_asks_for_classic_projects_fails_as_on_github(gh: Gh) -> None:
    """This gh's `issue view` asks for project cards, which GitHub refuses since their sunset.

    Source: https://github.com/cli/cli/issues/12640 (gh 2.46.0 as Debian packages it).
    """
    said = gh.refused("issue", "view", "42")
    assert said.strip() == f"GraphQL: {CLASSIC_PROJECTS} (repository.issue.projectCards)"


def test_an_issue_from_its_creation_to_its_reopening(gh: Gh, control: Control) -> None:
    """create, edit, comment, close with a reason, reopen: the world has each of them."""
    gh.run(
        "api",
        "repos/{owner}/{repo}/milestones",
        "-f",
        "title=v1",
        "-f",
        "due_on=2030-01-01T00:00:00Z",
    )
    number = gh.number(
        "issue", "create", "--title", "By gh", "--body", "First", "--label", "bug,enhancement",
        "--assignee", "@me", "--milestone", "v1",
    )  # fmt: skip
    made = issue(control, number)
    assert (made["title"], made["body"], made["state"]) == ("By gh", "First", "open")
    assert (sorted(made["labels"]), made["assignees"]) == (["bug", "enhancement"], ["octocat"])
    assert gh.json("issue", "view", str(number), fields="milestone")["milestone"]["title"] == "v1"
    assert number in numbers(gh, "--milestone", "v1")
    assert number in numbers(gh, "--assignee", "@me")

    gh.run(
        "issue", "edit", str(number), "--title", "Edited", "--body", "Second", "--add-label",
        "documentation", "--remove-label", "enhancement", "--add-assignee", "sam",
        "--remove-assignee", "@me", "--milestone", "",
    )  # fmt: skip
    edited = issue(control, number)
    assert (edited["title"], edited["body"], edited["assignees"]) == ("Edited", "Second", ["sam"])
    assert sorted(edited["labels"]) == ["bug", "documentation"]
    assert gh.json("issue", "view", str(number), fields="milestone")["milestone"] is None

    assert "#issuecomment-" in gh.run("issue", "comment", str(number), "--body", "One")
    gh.run("issue", "comment", str(number), "--edit-last", "--body", "One, edited")
    gh.run("issue", "close", str(number), "--reason", "not planned", "--comment", "Not now")
    closed = issue(control, number)
    assert (closed["state"], closed["state_reason"]) == ("closed", "not_planned")
    assert [one["body"] for one in closed["comments"]] == ["One, edited", "Not now"]
    assert "already closed" in gh.tried("issue", "close", str(number)).stderr
    gh.run("issue", "reopen", str(number))
    assert issue(control, number)["state"] == "open"


def test_status_lock_and_pin(gh: Gh) -> None:
    """What is mine is listed; a conversation is locked and opened; an issue is pinned."""
    number = str(gh.number("issue", "create", "--title", "Mine", "--body", "", "--assignee", "@me"))
    here = f"repos/{{owner}}/{{repo}}/issues/{number}"
    assert number in gh.run("issue", "status").split("Issues opened by you")[0]
    gh.run("issue", "lock", number, "--reason", "resolved")
    assert gh.json("api", here)["active_lock_reason"] == "resolved"
    gh.run("issue", "unlock", number)
    assert gh.json("api", here)["locked"] is False
    gh.run("issue", "pin", number)
    gh.run("issue", "unpin", number)


def test_what_is_not_there(gh: Gh) -> None:
    """A number, a label, an assignee and a milestone that do not exist: gh says which."""
    assert "Could not resolve to an issue or pull request" in gh.refused("issue", "close", "9999")
    create = ("issue", "create", "--title", "Nothing", "--body", "")
    assert "'nope' not found" in gh.refused(*create, "--label", "nope")
    said = gh.refused(*create, "--assignee", "nobody")
    assert "Could not resolve to a User with the login of 'nobody'." in said
    assert "'v99' not found" in gh.refused(*create, "--milestone", "v99")
