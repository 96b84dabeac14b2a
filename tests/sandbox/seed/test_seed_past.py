"""Worlds that began days ago: dates in seeds, refs that are no branches, and a clock that moves."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.sandbox.base.errors import SeedError
from lifecycle.sandbox.boards.state import BoardTables
from lifecycle.sandbox.control import Control, ControlError
from lifecycle.sandbox.issues.state import IssueTables
from lifecycle.sandbox.pulls.state import PullTables
from lifecycle.sandbox.seed import parse_seed
from lifecycle.sandbox.seed.dumping import as_yaml, seed_of
from lifecycle.sandbox.seed.founding.world import make_world
from lifecycle.sandbox.server import Sandbox
from tests.sandbox.everything import board, data, field

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lifecycle.sandbox.repositories.state import World

    Git = Callable[..., subprocess.CompletedProcess[str]]

SEED = """
users: [{login: ada, role: admin}, {login: sam}]
tokens: [{token: t, user: ada, scopes: [repo, project]}]
repositories:
- name: ada/app
  created_at: 2026-01-01T00:00:00Z
  branches:
  - name: claude/one
    commits:
    - {message: Work, files: {a.txt: a}, author: sam, date: 2026-01-03T00:00:00Z}
    - {message: More, files: {a.txt: b}, date: 2026-01-04T00:00:00Z}
  - {name: claude/two, start: claude/one}
  refs:
  - {name: refs/agent-claims/1, message: "lease {}", author: sam, date: 2026-01-02T00:00:00Z}
  issues: [{number: 1, title: One}]
  pulls: [{number: 2, title: Two, head: claude/one}]
projects:
- number: 1
  title: Plan
  fields:
  - {name: Status, type: SINGLE_SELECT, options: [Todo, Done]}
  - {name: Agent, type: TEXT}
  items:
  - issue: 1
    values: {Status: Todo, Agent: ada-1}
    created_at: 2026-01-01T00:00:00Z
    updated_at: 2026-01-06T00:00:00Z
    marks: {Status: {creator: sam, created_at: 2026-01-02T00:00:00Z, updated_at: 2026-01-03T00:00:00Z}}
"""
CARD = """{ repository(owner: "ada", name: "app") { issue(number: 1) { projectItems(first: 1) {
    nodes { updatedAt
      status: fieldValueByName(name: "Status") { ... on ProjectV2ItemFieldSingleSelectValue {
        name createdAt updatedAt creator { login } } }
      agent: fieldValueByName(name: "Agent") { ... on ProjectV2ItemFieldTextValue {
        text createdAt updatedAt creator { login } } } } } } } }"""
REFS = """query($prefix: String!) { repository(owner: "ada", name: "app") {
    refs(refPrefix: $prefix, first: 10) { nodes { name prefix target { oid ... on Commit {
      message committedDate author { name } parents(first: 2) { totalCount } } } } } } }"""


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A repository, its board and its refs, all in the past."""
    return make_world(parse_seed(SEED), tmp_path)


def card(world: World) -> Any:
    """The one card, as GraphQL shows it."""
    found = data(world, CARD)["repository"]["issue"]["projectItems"]["nodes"]
    return found[0]


def refs(world: World, prefix: str) -> list[Any]:
    """The refs below a prefix."""
    return list(data(world, REFS, prefix=prefix)["repository"]["refs"]["nodes"])


def test_refs_and_commits_have_their_dates(world: World) -> None:
    """A ref that is no branch has a commit without parents; branches go on from one another."""
    (lease,) = refs(world, "refs/agent-claims/")
    assert (lease["prefix"] + lease["name"], lease["target"]["message"]) == (
        "refs/agent-claims/1",
        "lease {}",
    )
    assert lease["target"]["committedDate"] == "2026-01-02T00:00:00Z"
    assert lease["target"]["author"] == {"name": "sam"}
    assert lease["target"]["parents"] == {"totalCount": 0}
    one, two = refs(world, "refs/heads/claude/")
    assert one["target"] == two["target"]
    assert one["target"]["committedDate"] == "2026-01-04T00:00:00Z"
    (main,) = refs(world, "refs/heads/main")[:1] or refs(world, "refs/heads/")[-1:]
    assert main["target"]["committedDate"] == "2026-01-01T00:00:00Z"
    assert world.home.git.refs()["refs/pull/2/head"] == one["target"]["oid"]


def test_git_agrees_with_what_was_written_for_it(world: World) -> None:
    """A repository that was made in one go is whole: its objects, its refs, its history."""
    git = world.home.git
    assert git.run("fsck", "--full", "--strict").returncode == 0
    assert git.text("rev-list", "--count", "refs/heads/claude/two") == "3"
    assert git.text("show", "refs/heads/claude/one:a.txt") == "b"
    assert git.refs() == world.home.heads


@pytest.mark.parametrize(
    "ref",
    ["agent-claims/1", "refs/a b", "refs/x..y", "refs/x.lock", "refs/x/", "refs/x/.y", "refs/"],
)
def test_a_ref_that_git_would_not_take(ref: str) -> None:
    """Is a mistake with its place, before anything is made."""
    with pytest.raises(SeedError, match="which git would not take"):
        parse_seed(SEED.replace("refs/agent-claims/1", f"'{ref}'"))


def test_a_ref_below_another_is_a_mistake() -> None:
    """Git has no ref whose name is the folder of another one."""
    with pytest.raises(SeedError, match="and others below it"):
        parse_seed(
            SEED.replace("  refs:\n", "  refs:\n  - {name: refs/agent-claims, message: x}\n")
        )


def test_each_value_of_a_card_has_its_own_time(world: World) -> None:
    """What a seed marks is as marked, the rest as the card; to set one leaves the other's time."""
    before = card(world)
    assert before["status"] == {
        "name": "Todo",
        "createdAt": "2026-01-02T00:00:00Z",
        "updatedAt": "2026-01-03T00:00:00Z",
        "creator": {"login": "sam"},
    }
    assert before["agent"]["createdAt"] == "2026-01-01T00:00:00Z"
    assert before["agent"]["updatedAt"] == "2026-01-06T00:00:00Z"
    item, ada = board(world).items[0], world.users["ada"]
    item.give(field(world, "Agent").id, "ada-2", ada)
    after = card(world)
    assert after["status"] == before["status"]
    assert after["agent"]["updatedAt"] == after["updatedAt"] > before["updatedAt"]
    assert after["agent"]["createdAt"] == before["agent"]["createdAt"]


def test_the_same_value_again_keeps_its_time(world: World) -> None:
    """And one that was cleared begins anew, with who gave it."""
    item, status = board(world).items[0], field(world, "Status")
    before = card(world)["status"]
    item.give(status.id, status.options[0].id, world.users["ada"])
    assert card(world)["status"] == before
    item.drop(status.id)
    assert card(world)["status"] is None
    item.give(status.id, status.options[0].id, world.users["ada"])
    again = card(world)["status"]
    assert (again["name"], again["creator"]) == ("Todo", {"login": "ada"})
    assert again["createdAt"] == again["updatedAt"] > before["updatedAt"]


def test_a_dump_gives_it_all_back(world: World, tmp_path: Path) -> None:
    """Refs, dates and marks of the world made of a dump are those of the dumped one."""
    item = board(world).items[0]
    item.give(field(world, "Agent").id, "ada-2", world.users["ada"])
    world.ahead = 3600.0
    (tmp_path / "again").mkdir()
    again = make_world(parse_seed(as_yaml(seed_of(world))), tmp_path / "again")
    assert again.home.git.refs() == world.home.git.refs()
    assert card(again) == card(world)
    assert refs(again, "refs/agent-claims/") == refs(world, "refs/agent-claims/")
    assert again.ahead == 3600.0


def test_what_a_seed_says_of_its_end(tmp_path: Path) -> None:
    """A merged pull request was closed when it was merged; both were events, and the last change.

    A time without a zone is one of UTC.
    """
    merged = (
        "{number: 2, title: Two, head: claude/one, state: closed, merged_at: 2026-01-07T00:00:00,\
        created_at: 2026-01-03T00:00:00Z}"
    )
    world = make_world(
        parse_seed(SEED.replace("{number: 2, title: Two, head: claude/one}", merged)), tmp_path
    )
    pull = PullTables.of(world.home).pulls[2]
    end = datetime(2026, 1, 7, tzinfo=UTC)
    assert (pull.merged_at, pull.issue.closed_at, pull.issue.updated_at) == (end, end, end)
    assert [(one.kind, one.created_at) for one in pull.issue.events] == [
        ("merged", end),
        ("closed", end),
    ]


def test_time_passes_for_the_whole_sandbox(tmp_path: Path, git: Git) -> None:
    """Three days later issues, values, events and the sandbox's own commits are three days younger.

    What was before stays, another sandbox of the same process does not move, and whoever pushes
    writes their own dates.
    """
    with Sandbox() as sandbox, Sandbox() as other:
        people = Control(sandbox.info.control_url)
        began = datetime.now(UTC).replace(microsecond=0)
        moment = datetime.fromisoformat(people.advance(3 * 86_400))
        assert moment >= began + timedelta(days=3)
        people.set_field(42, "Status", "Done")
        people.close_issue(42)
        people.push_commit("late", {"a.txt": "a"}, "Late")
        assert sandbox.site is not None
        assert other.site is not None
        home = sandbox.site.world.home
        assert IssueTables.of(home).issues[42].updated_at >= moment
        assert IssueTables.of(home).issues[42].events[-1].created_at >= moment
        assert IssueTables.of(home).issues[43].updated_at < moment
        marks = (
            BoardTables.of(sandbox.site.world).projects[0].item_of(IssueTables.of(home).issues[42])
        )
        assert marks is not None
        assert max(mark.updated_at for mark in marks.marks.values()) >= moment
        assert int(home.git.text("show", "-s", "--format=%ct", "late")) >= moment.timestamp()
        Control(other.info.control_url).close_issue(42)
        closed = IssueTables.of(other.site.world.home).issues[42].closed_at
        assert closed is not None
        assert closed < moment
        git("clone", "--quiet", sandbox.info.git_url, "clone")
        git("commit", "--quiet", "--allow-empty", "-m", "Mine", cwd=tmp_path / "clone")
        git("push", "--quiet", "origin", "HEAD:mine", cwd=tmp_path / "clone")
        assert int(home.git.text("show", "-s", "--format=%ct", "mine")) < moment.timestamp()
        assert home.pushed_at >= moment


def test_time_does_not_go_back() -> None:
    """A step back is refused in one sentence."""
    with Sandbox() as sandbox, pytest.raises(ControlError, match="does not go back"):
        Control(sandbox.info.control_url).advance(-1)


def test_a_kept_world_keeps_its_clock(tmp_path: Path) -> None:
    """A sandbox that goes on from a file is as far ahead as it was."""
    with Sandbox(db=tmp_path / "w.db") as sandbox:
        first = Control(sandbox.info.control_url).advance(86_400)
    with Sandbox(db=tmp_path / "w.db") as sandbox:
        people = Control(sandbox.info.control_url)
        people.close_issue(42)
        assert sandbox.site is not None
        closed = IssueTables.of(sandbox.site.world.home).issues[42].closed_at
        assert closed is not None
        assert closed >= datetime.fromisoformat(first)
