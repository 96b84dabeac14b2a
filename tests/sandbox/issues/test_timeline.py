"""What GraphQL tells of an issue's past: who mentioned it, who was assigned, what closed it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.sandbox.issues import actions as issues
from lifecycle.sandbox.issues import moving
from lifecycle.sandbox.issues.state import IssueTables
from lifecycle.sandbox.pulls import closing
from lifecycle.sandbox.pulls.state import PullTables
from lifecycle.sandbox.seed import parse_seed
from lifecycle.sandbox.seed.dumping import as_yaml, seed_of
from lifecycle.sandbox.seed.founding.world import make_world
from tests.sandbox.everything import ask, data, refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lifecycle.sandbox.control import Control
    from lifecycle.sandbox.repositories.state import World

    Api = Callable[..., Any]

SEED = """
users: [{login: ada, role: admin}, {login: sam}, {login: eve, role: read}]
tokens: [{token: t, user: ada, scopes: [repo]}, {token: e, user: eve, scopes: [repo]}]
repositories:
- name: ada/app
  branches: [{name: work, commits: [{message: Work, files: {a.txt: a}}]}]
  issues:
  - {number: 1, title: One, created_at: 2026-01-01T00:00:00Z, assignees: [sam],
     assigned_at: 2026-01-02T00:00:00Z}
  - {number: 2, title: Two, state: closed, closed_at: 2026-01-05T00:00:00Z, closed_by: sam,
     created_at: 2026-01-01T00:00:00Z}
  pulls:
  - {number: 3, title: Three, head: work, body: "Refs #1, closes #2",
     created_at: 2026-01-03T00:00:00Z, author: sam}
- name: ada/secret
  visibility: private
  issues: [{number: 1, title: Hidden, body: "Like ada/app#1", created_at: 2026-01-04T00:00:00Z}]
"""
TIMELINE = """query($number: Int!, $kinds: [IssueTimelineItemsItemType!], $since: DateTime,
    $first: Int = 50, $after: String) {
  repository(owner: "ada", name: "app") { issue(number: $number) { updatedAt
    timelineItems(first: $first, after: $after, itemTypes: $kinds, since: $since) {
      totalCount filteredCount pageCount pageInfo { hasNextPage endCursor }
      nodes { __typename
        ... on AssignedEvent { id createdAt actor { login } assignee { ... on User { login } } }
        ... on UnassignedEvent { createdAt assignee { ... on User { login } } }
        ... on ClosedEvent { createdAt actor { login } stateReason url
          closer { __typename ... on PullRequest { number } ... on Commit { oid } } }
        ... on ReopenedEvent { actor { login } }
        ... on CrossReferencedEvent { createdAt referencedAt actor { login } willCloseTarget
          isCrossRepository url source { __typename ... on Issue { number }
          ... on PullRequest { number } } target { ... on Issue { number } } }
        ... on ConnectedEvent { subject { ... on PullRequest { number } } }
      } } } } }"""
KNOWN = ["ASSIGNED_EVENT", "UNASSIGNED_EVENT", "CLOSED_EVENT", "REOPENED_EVENT",
         "CROSS_REFERENCED_EVENT", "CONNECTED_EVENT", "DISCONNECTED_EVENT"]  # fmt: skip


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A repository with a pull request that mentions both of its issues, and a private one."""
    return make_world(parse_seed(SEED), tmp_path)


def timeline(world: World, number: int = 1, **given: Any) -> Any:
    """An issue's timeline, of everything that is known unless kinds are named."""
    given.setdefault("kinds", KNOWN)
    return data(world, TIMELINE, number=number, **given)["repository"]["issue"]["timelineItems"]


def references(world: World, number: int = 1, **given: Any) -> list[tuple[str, int]]:
    """Who mentions an issue: the sort and the number."""
    found = timeline(world, number, kinds=["CROSS_REFERENCED_EVENT"], **given)["nodes"]
    return [(one["source"]["__typename"], one["source"]["number"]) for one in found]


def test_a_seed_by_hand_has_a_past(world: World) -> None:
    """Assignees were assigned, closed issues were closed, and who mentions one shows, in order."""
    assigned, pulled, hidden = timeline(world)["nodes"]
    assert assigned.pop("id")
    assert assigned == {
        "__typename": "AssignedEvent",
        "createdAt": "2026-01-02T00:00:00Z",
        "actor": {"login": "sam"},
        "assignee": {"login": "sam"},
    }
    assert pulled["source"] == {"__typename": "PullRequest", "number": 3}
    assert (pulled["createdAt"], pulled["referencedAt"]) == ("2026-01-03T00:00:00Z",) * 2
    assert (pulled["actor"], pulled["target"]) == ({"login": "sam"}, {"number": 1})
    assert (pulled["willCloseTarget"], pulled["isCrossRepository"]) == (False, False)
    assert (hidden["source"]["__typename"], hidden["isCrossRepository"]) == ("Issue", True)
    closed = timeline(world, 2, kinds=["CLOSED_EVENT"])["nodes"][0]
    assert (closed["createdAt"], closed["actor"]) == ("2026-01-05T00:00:00Z", {"login": "sam"})
    assert (closed["stateReason"], closed["closer"]) == ("COMPLETED", None)


def test_whether_a_pull_request_would_close_it(world: World) -> None:
    """A closing word counts, if the base is the default branch; a mere mention never does."""
    (one,) = timeline(world, 2, kinds=["CROSS_REFERENCED_EVENT"])["nodes"]
    assert one["willCloseTarget"] is True
    PullTables.of(world.home).pulls[3].base = "work"
    (one,) = timeline(world, 2, kinds=["CROSS_REFERENCED_EVENT"])["nodes"]
    assert one["willCloseTarget"] is False


def test_pull_requests_that_close_it(world: World) -> None:
    """`closedByPullRequestsReferences` has open ones, with `includeClosedPrs` the others as well."""
    query = """query($all: Boolean) { repository(owner: "ada", name: "app") { issue(number: 2) {
        closedByPullRequestsReferences(first: 5, includeClosedPrs: $all) { nodes { number } } } } }"""

    def listed(**given: Any) -> list[int]:
        issue = data(world, query, **given)["repository"]["issue"]
        return [one["number"] for one in issue["closedByPullRequestsReferences"]["nodes"]]

    assert listed() == [3]
    issues.close(IssueTables.of(world.home).issues[3], world.users["ada"], None)
    assert (listed(), listed(all=True)) == ([], [3])


def test_who_may_not_see_the_source_sees_no_reference(world: World, api: Api) -> None:
    """A mention from a private repository is told to its people only, over GraphQL and REST."""
    assert references(world) == [("PullRequest", 3), ("Issue", 1)]
    assert references(world, token="e") == [("PullRequest", 3)]
    assert api("GET", "issues/42/timeline").status_code == 200


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("See #2", True),
        ("See GH-2.", True),
        ("ada/app#2", True),
        ("https://github.com/ada/app/issues/2", True),
        ("http://127.0.0.1:1/ada/app/pull/2 and more", True),
        ("`#2` is code", False),
        ("```\n#2\n```", False),
        ("color #2ab", False),
        ("other/app#2", False),
        ("", False),
    ],
)
def test_what_counts_as_a_mention(world: World, text: str, counts: bool) -> None:
    """Numbers, `GH-`, full names and addresses do; code, colours and other repositories do not."""
    made = issues.new_issue(world.home, world.users["ada"], "New", text)
    found = [number for _, number in references(world, 2)]
    assert (made.number in found) is counts


def test_a_source_mentions_once(world: World) -> None:
    """Body, edit and comments of one source are one reference, of the first time; none of its own."""
    repo, ada = world.home, world.users["ada"]
    made = issues.new_issue(repo, ada, "New", None)
    assert made.number not in [number for _, number in references(world)]
    issues.rewrite(made, ada, f"Now #1 and myself #{made.number}")
    first = timeline(world)["nodes"][-1]
    issues.comment(made, ada, "Again #1")
    issues.rewrite(made, ada, "And once more #1")
    assert timeline(world)["nodes"][-1] == first
    assert [n for _, n in references(world)].count(made.number) == 1
    assert references(world, made.number) == []


def test_a_comment_mentions_too(world: World) -> None:
    """The source is the issue that is commented, and the actor is who wrote."""
    issues.comment(IssueTables.of(world.home).issues[2], world.users["sam"], "Like #1")
    last = timeline(world)["nodes"][-1]
    assert (last["source"]["number"], last["actor"]) == (2, {"login": "sam"})


def test_a_mention_is_no_update_of_what_is_mentioned(world: World) -> None:
    """The issue's own `updatedAt` stays: josegonzalez/python-github-backup#528."""
    before = IssueTables.of(world.home).issues[1].updated_at
    issues.new_issue(world.home, world.users["ada"], "New", "#1")
    assert IssueTables.of(world.home).issues[1].updated_at == before


def test_what_closed_an_issue(world: World) -> None:
    """A pull request, a commit, or nobody but the person; reopened and assigned are told as well."""
    repo, ada, sam = world.home, world.users["ada"], world.users["sam"]
    sha = repo.git.refs()["refs/heads/work"]
    closing.close_named(repo, "Closes #1", ada, closer=IssueTables.of(repo).issues[3])
    issues.reopen(IssueTables.of(repo).issues[1], sam)
    closing.close_named(repo, "Fixes #1", ada, commit=sha)
    issues.unassign(IssueTables.of(repo).issues[1], ["sam"], ada)
    found = timeline(world)["nodes"]
    kinds = [one["__typename"] for one in found if one["__typename"] != "CrossReferencedEvent"]
    assert kinds == [
        "AssignedEvent", "ClosedEvent", "ReopenedEvent", "ClosedEvent", "UnassignedEvent",
    ]  # fmt: skip
    by_pull, by_commit = [one for one in found if one["__typename"] == "ClosedEvent"]
    assert by_pull["closer"] == {"__typename": "PullRequest", "number": 3}
    assert by_commit["closer"] == {"__typename": "Commit", "oid": sha}
    assert "/ada/app/issues/1#event-" in by_pull["url"]


def test_a_merged_pull_request_is_the_closer(api: Api, control: Control) -> None:
    """Over REST the closing event has no commit then; one by a commit's message has it."""
    control.push_commit("work", {"a.txt": "a"}, "Work")
    number = control.open_pull("work", "Work", body="Closes #42")
    control.merge_pull(number)
    control.push_commit("main", {"b.txt": "b"}, "Fixes #43")
    head = control.world()["refs"]["refs/heads/main"]
    last = [api("GET", f"issues/{n}/events").json()[-1] for n in (42, 43)]
    assert [one["event"] for one in last] == ["closed", "closed"]
    assert [one["commit_id"] for one in last] == [None, head]


def test_pages_and_since(world: World) -> None:
    """Pages go on where they ended; `since` leaves out what is older; the counts say of what."""
    whole = timeline(world)
    first = timeline(world, first=2)
    rest = timeline(world, first=2, after=first["pageInfo"]["endCursor"])
    assert first["nodes"] + rest["nodes"] == whole["nodes"]
    assert [p["pageInfo"]["hasNextPage"] for p in (first, rest)] == [True, False]
    assert [(p["totalCount"], p["filteredCount"], p["pageCount"]) for p in (first, rest)] == [
        (3, 3, 2),
        (3, 1, 1),
    ]
    late = timeline(world, since="2026-01-03T00:00:00Z")
    assert late["nodes"] == whole["nodes"][1:]


def test_what_is_not_shown_is_said(world: World) -> None:
    """A kind of the schema that the sandbox lacks is an error that names it, never an empty page."""
    answer = ask(world, TIMELINE, number=1, kinds=["PINNED_EVENT"])
    words = "The sandbox does not show PINNED_EVENT in a timeline."
    assert refusal(answer) == ("NOT_IMITATED", words)


def test_a_dump_has_the_past_and_adds_nothing(world: World, tmp_path: Path) -> None:
    """Also where a later issue has the number that an older text named in vain."""
    repo, ada = world.home, world.users["ada"]
    issues.new_issue(repo, ada, "Early", "Will it be #5?")
    issues.new_issue(repo, ada, "Fifth", None)
    closing.close_named(repo, "Closes #1", ada, closer=IssueTables.of(repo).issues[3])
    text = as_yaml(seed_of(world))
    (tmp_path / "again").mkdir()
    again = make_world(parse_seed(text), tmp_path / "again")
    assert references(again, 5) == references(world, 5) == []
    assert timeline(again) == timeline(world)
    told = [seed_of(one, with_git=False).repositories[0].issues for one in (again, world)]
    assert told[0] == told[1]


def test_a_deleted_issue_is_in_no_timeline(world: World, tmp_path: Path) -> None:
    """What mentioned others and is gone mentions nobody, and the world can still be dumped."""
    made = issues.new_issue(world.home, world.users["ada"], "New", "#1")
    moving.delete(made, world.users["ada"])
    assert made.number not in [number for _, number in references(world)]
    (tmp_path / "again").mkdir()
    again = make_world(parse_seed(as_yaml(seed_of(world))), tmp_path / "again")
    assert made.number not in IssueTables.of(again.home).issues
