"""Queries over many things at once: what they cost, what is too heavy, and what git has to do."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.sandbox.control import Control
from lifecycle.sandbox.git.store.repository import BareRepository
from lifecycle.sandbox.pulls.state import PullTables
from lifecycle.sandbox.seed.founding.world import make_world
from lifecycle.sandbox.wire.graph.run import weight_of
from tests.sandbox.everything import ask, data, refusal
from tests.worlds import AGENT, STATUSES, TOKEN, branch_of, claimed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lifecycle.sandbox.repositories.state import World

    Graph = Callable[..., Any]

PARTS = """fragment Parts on Repository { nameWithOwner isEmpty defaultBranchRef { name }
  leases: refs(refPrefix: "refs/agent-claims/", first: 100) { totalCount nodes { name
    target { oid ... on Commit { message messageHeadline committedDate } } } }
  branches: refs(refPrefix: "refs/heads/claude/", first: 100) { nodes { name
    target { oid ... on Commit { committedDate } } } }
  pullRequests(states: [OPEN], first: 100) { nodes { number body headRefName headRefOid } }
  issues(filterBy: {assignee: "*", states: [OPEN]}) { totalCount } }"""
TASKS, REPOSITORIES = 200, 25


def holdings(names: list[str]) -> str:
    """One document that asks for several repositories by alias."""
    asked = " ".join(
        f'r{n}: repository(owner: "octo-org", name: "{name}") {{ ...Parts }}'
        for n, name in enumerate(names)
    )
    return f"query Holdings {{ {asked} rateLimit {{ cost nodeCount }} }} {PARTS}"


MANY = holdings([f"service-{n}" for n in range(REPOSITORIES)])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Two hundred claimed tasks in twenty-five repositories, on one board."""
    return make_world(claimed(TASKS, REPOSITORIES), tmp_path_factory.mktemp("world"))


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often each git command was run, counted at the one place that runs git."""
    counted: Counter[str] = Counter()
    real = BareRepository.run

    def run(self: BareRepository, *args: str, **given: Any) -> Any:
        counted[args[0]] += 1
        return real(self, *args, **given)

    monkeypatch.setattr(BareRepository, "run", run)
    yield counted
    monkeypatch.undo()


def test_refs_of_many_repositories_cost_one_git_process_each(
    world: World, processes: Counter[str]
) -> None:
    """It reads all of their commits, and nothing has to be read again for the next request."""
    for repo in world.repositories.values():
        repo.git.commits_read.clear()
    found = data(world, MANY, token=TOKEN)
    assert processes == {"cat-file": REPOSITORIES}
    processes.clear()
    assert data(world, MANY, token=TOKEN) == found
    assert not processes


def test_what_a_look_at_many_repositories_shows(world: World) -> None:
    """Leases with their words and dates, branches with their tips, open pull requests, a count."""
    one = data(world, MANY, token=TOKEN)["r7"]
    assert one["nameWithOwner"] == "octo-org/service-7"
    assert one["leases"]["totalCount"] == one["issues"]["totalCount"] == TASKS // REPOSITORIES
    lease = one["leases"]["nodes"][0]
    assert lease["name"] == "1"
    assert f'"agent": "{AGENT}", "issue": 1' in lease["target"]["message"]
    assert lease["target"]["messageHeadline"].startswith("lease {")
    tips = {node["name"]: node["target"]["oid"] for node in one["branches"]["nodes"]}
    assert sorted(tips) == [branch_of(n) for n in (1, 2, 3, 5, 6, 7)]
    pulls = one["pullRequests"]["nodes"]
    assert [pull["body"] for pull in pulls] == ["Done.\n\nRefs #1", "Done.\n\nRefs #5"]
    assert [tips[pull["headRefName"]] for pull in pulls] == [pull["headRefOid"] for pull in pulls]


def test_a_look_makes_no_git(tmp_path: Path, processes: Counter[str]) -> None:
    """A repository whose git nobody asked for has its default branch and no other ref; none is made."""
    seed = claimed(0, 3)
    world = make_world(seed, tmp_path)
    processes.clear()
    answer = data(world, holdings(["service-1", "service-2"]), token=TOKEN)
    assert answer["r0"]["leases"] == {"totalCount": 0, "nodes": []}
    assert (answer["r1"]["defaultBranchRef"], answer["r1"]["isEmpty"]) == ({"name": "main"}, False)
    assert processes == {}
    assert [path.name for path in tmp_path.glob("*.git")] == [f"{world.home.id}.git"]


def test_the_price_of_many_aliases(world: World) -> None:
    """Four connections of each of 25 are one point; three pages of a hundred each are 7,500 nodes."""
    assert data(world, MANY, token=TOKEN)["rateLimit"] == {"cost": 1, "nodeCount": 7500}
    assert weight_of({"query": MANY}) == {"nodes": 7500, "points": 1, "fields": REPOSITORIES + 1}


@pytest.mark.parametrize("size", [0, 101])
def test_pages_of_an_alias_are_bounded_like_all(world: World, size: int) -> None:
    """`first` beyond a hundred is refused wherever it stands, with the alias in its path."""
    answer = ask(world, MANY.replace("first: 100", f"first: {size}"), token=TOKEN)
    paths = [error["path"] for error in answer.get("errors", ())]
    assert len(paths) == (3 * REPOSITORIES if size > 100 else 0)
    assert all(path[0].startswith("r") for path in paths)


def test_half_a_million_nodes_by_aliases(world: World) -> None:
    """Pages in pages by alias are counted together, and refused before anything runs."""
    inner = "issues(first: 100) { nodes { comments(first: 100) { nodes { body } } } }"
    aliases = " ".join(
        f'a{n}: repository(owner: "octo-org", name: "service-{n}") {{ {inner} }}' for n in range(50)
    )
    kind, words = refusal(ask(world, f"{{ {aliases} }}", token=TOKEN))
    assert kind == "MAX_NODE_LIMIT_EXCEEDED"
    assert words.startswith("This query requests up to 505,000 possible nodes")


HEAVY = """query($first: Int!) { viewer { login } rateLimit { cost }
    repository(owner: "octo-org", name: "hello-service") { issues(first: $first) { nodes { number
    comments(first: 100) { nodes { body } } } } } }"""


def test_a_fault_for_heavy_queries_only(graphql: Graph, control: Control) -> None:
    """What asks for no more than the bound works, what asks for more is 502, each time."""
    control.add_fault("heavy-bad-gateway", above={"nodes": 5_000})
    assert graphql(HEAVY, first=49)["data"]["viewer"]
    for _ in range(2):
        with pytest.raises(AssertionError, match="502"):
            graphql(HEAVY, first=50)
    assert graphql(HEAVY, first=49)["data"]["viewer"]


def test_a_heavy_query_loses_parts(graphql: Graph, control: Control) -> None:
    """Each field of the data is null with an error of its own, but for as many as are spared."""
    control.add_fault("heavy-resource-limits", above={"fields": 2}, spared=1)
    answer = graphql(HEAVY, first=1)
    assert answer["data"] == {
        "viewer": {"login": "octocat"}, "rateLimit": None, "repository": None,
    }  # fmt: skip
    assert [(one["type"], one["path"]) for one in answer["errors"]] == [
        ("RESOURCE_LIMITS_EXCEEDED", ["rateLimit"]),
        ("RESOURCE_LIMITS_EXCEEDED", ["repository"]),
    ]
    assert graphql("{ viewer { login } }")["data"]["viewer"]


def test_by_points_too_and_never_what_is_no_query(graphql: Graph, control: Control) -> None:
    """A bound on points counts as GitHub bills; REST and documents that do not run weigh nothing."""
    control.add_fault("heavy-bad-gateway", above={"points": 1}, path=None)
    assert graphql(HEAVY, first=100)["data"]["viewer"]
    deep = HEAVY.replace("comments(", "labels(first: 1) { nodes { name } } comments(")
    with pytest.raises(AssertionError, match="502"):
        graphql(deep, first=100)
    assert graphql("{ viewer { shoeSize } }")["errors"]
    assert control.world()["issues"]["42"]
    assert weight_of({"query": "{"}) == weight_of({}) == {"nodes": 0, "points": 0, "fields": 0}


def test_every_card_of_a_large_board_is_met_once(world: World) -> None:
    """Pages of a hundred hold all cards, each with its issue, its values and what refers to it."""
    query = """query($after: String) { organization(login: "octo-org") { projectV2(number: 1) {
        items(first: 100, after: $after) { totalCount pageInfo { hasNextPage endCursor } nodes {
        status: fieldValueByName(name: "Status") {
          ... on ProjectV2ItemFieldSingleSelectValue { name updatedAt } }
        content { ... on Issue { url assignees(first: 1) { nodes { login } }
          timelineItems(last: 5, itemTypes: [CROSS_REFERENCED_EVENT]) { nodes {
            ... on CrossReferencedEvent { source { ... on PullRequest { body } } } } } } }
        } } } } }"""
    met: list[Any] = []
    after = None
    while True:
        answer = data(world, query, token=TOKEN, after=after)
        page = answer["organization"]["projectV2"]["items"]
        met += page["nodes"]
        if not page["pageInfo"]["hasNextPage"]:
            break
        after = page["pageInfo"]["endCursor"]
    assert len({one["content"]["url"] for one in met}) == len(met) == page["totalCount"] == TASKS
    assert {one["status"]["name"] for one in met} == set(STATUSES[1:3])
    mentioned = [one for one in met if one["content"]["timelineItems"]["nodes"]]
    assert all(one["status"]["name"] == "In Review" for one in mentioned)
    assert len(mentioned) == sum(
        len(PullTables.of(repo).pulls) for repo in world.repositories.values()
    )


def test_what_a_program_wrote_is_in_the_next_answer(graphql: Graph, control: Control) -> None:
    """What was read of git is remembered for one request at most, and across its mutations not at all."""
    ref = """query { repository(owner: "octo-org", name: "hello-service") { id
        refs(refPrefix: "refs/heads/", first: 10) { nodes { name target { oid } } } } }"""
    before = graphql(ref)["data"]["repository"]
    control.push_commit("late", {"a.txt": "a"}, "Late")
    names = [one["name"] for one in graphql(ref)["data"]["repository"]["refs"]["nodes"]]
    assert names == ["late", "main"]
    oid = before["refs"]["nodes"][0]["target"]["oid"]
    made = """mutation($a: CreateRefInput!, $b: CreateRefInput!) {
        a: createRef(input: $a) { ref { repository { refs(refPrefix: "refs/heads/", first: 10) {
          nodes { name } } } } }
        b: createRef(input: $b) { ref { repository { refs(refPrefix: "refs/heads/", first: 10) {
          nodes { name } } } } } }"""
    given = {
        key: {"repositoryId": before["id"], "name": f"refs/heads/{key}", "oid": oid} for key in "ab"
    }
    answer = graphql(made, **given)["data"]
    seen = [len(answer[key]["ref"]["repository"]["refs"]["nodes"]) for key in "ab"]
    assert seen == [3, 4]


def test_repositories_of_an_owner_by_what_they_are(tmp_path: Path) -> None:
    """Each argument leaves out what is otherwise; pages go on, and the owner's kind does not matter."""
    world = make_world(claimed(0, 6), tmp_path)
    first, second, third, fourth, *_ = world.repositories.values()
    first.archived, second.has_issues, third.visibility = True, False, "private"
    fourth.parent = first
    query = """query($archived: Boolean, $fork: Boolean, $locked: Boolean, $issues: Boolean,
        $privacy: RepositoryPrivacy, $visibility: RepositoryVisibility, $after: String) {
      repositoryOwner(login: "octo-org") { repositories(first: 4, after: $after, isArchived: $archived,
        isFork: $fork, isLocked: $locked, hasIssuesEnabled: $issues, privacy: $privacy,
        visibility: $visibility, ownerAffiliations: [OWNER], orderBy: {field: NAME, direction: ASC}) {
        pageInfo { endCursor hasNextPage } nodes { name } } } }"""

    def listed(**given: Any) -> list[int]:
        page = data(world, query, token=TOKEN, **given)["repositoryOwner"]["repositories"]
        names = [int(one["name"].removeprefix("service-")) for one in page["nodes"]]
        if not page["pageInfo"]["hasNextPage"]:
            return names
        return names + listed(**{**given, "after": page["pageInfo"]["endCursor"]})

    assert listed() == [0, 1, 2, 3, 4, 5]
    assert (listed(archived=True), listed(archived=False)) == ([0], [1, 2, 3, 4, 5])
    assert (listed(issues=False), listed(fork=True), listed(locked=True)) == ([1], [3], [])
    assert listed(privacy="PRIVATE") == listed(visibility="PRIVATE") == [2]
    assert listed(archived=False, fork=False, visibility="PUBLIC") == [1, 4, 5]
