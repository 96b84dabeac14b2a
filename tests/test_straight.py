"""A push that is put straight into the embedded GitHub leaves all that git's own push leaves."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
from msgspec.structs import replace

from lifecycle.sandbox.base import times
from lifecycle.sandbox.checks.state import PlannedCheck
from lifecycle.sandbox.control import Control
from lifecycle.sandbox.git.store.repository import content_of
from lifecycle.sandbox.repositories.state import World
from lifecycle.sandbox.seed import SeedProtection, default_seed
from lifecycle.sandbox.seed.dumping import as_yaml, seed_of
from lifecycle.sandbox.server import Sandbox
from tests.clones import clone
from tests.conftest import Place, environment_of
from tests.straight import pushed_straight

DATES = {"GIT_AUTHOR_DATE": "1790000000 +0000", "GIT_COMMITTER_DATE": "1790000000 +0000"}
VARYING = re.compile(r"127\.0\.0\.1:\d+|(?<=> )\d{10} [+-]\d{4}(?=\t)")
"""Ports, and moments in git's log of refs: what differs from one world to the next."""
QUERY = """query { repository(owner: "octo-org", name: "hello-service") {
  refs(refPrefix: "refs/heads/", first: 9) { nodes { name target { oid } } }
  issue(number: 42) { state timelineItems(first: 50) { nodes { __typename } } }
  pullRequests(first: 9) { nodes {
    number state headRefOid merged mergeable reviewDecision
    commits(first: 9) { nodes { commit { oid statusCheckRollup { state } } } }
    timelineItems(first: 50) { nodes { __typename } }
  } } } }"""
READ = (
    *("branches", "commits?sha=work", "commits/work/check-suites", "commits/work/check-runs"),
    *("actions/runs", "pulls?state=all", "pulls/46", "pulls/46/commits", "issues/46/timeline"),
)


@dataclass(frozen=True)
class Side:
    """One of two GitHubs that begin alike, and a clone of its repository."""

    place: Place
    sandbox: Sandbox

    def commit(self, text: str, *options: str) -> None:
        """Commit a file; the same text is the same commit on both sides."""
        (self.place.root / "work.txt").write_text(text)
        self.git("add", "work.txt")
        self.git("commit", "--quiet", "-m", f"Say {text}", *options)

    def git(self, *arguments: str) -> str:
        """Run git in the clone, at the one moment of all commits."""
        done = self.place.run("git", *arguments, stdin=b"", **DATES)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    @property
    def world(self) -> World:
        """The inside of the embedded GitHub."""
        assert self.sandbox.site is not None
        return self.sandbox.site.world

    def read(self, path: str) -> tuple[int, Any]:
        """What REST answers."""
        url = f"{self.place.info.api_url}/repos/{self.place.info.repository}/{path}"
        answer = requests.get(url, headers=self._headers(), timeout=10)
        return answer.status_code, answer.json()

    def seen(self) -> dict[str, Any]:
        """Everything: files on both ends, the world, and what is seen of it by REST and GraphQL."""
        ours, theirs = content_of(self.place.root / ".git"), content_of(self.world.home.git.path)
        ours.pop("index")  # it knows files by their times
        ours = {name: data for name, data in ours.items() if not name.endswith(".sample")}
        asked = requests.post(
            self.place.info.graphql_url, json={"query": QUERY}, headers=self._headers(), timeout=10
        )
        return {
            "clone": _alike(ours),
            "repository": _alike(theirs),
            "status": self.git("status", "--short", "--branch"),
            "whole": self.git("fsck", "--strict"),
            "world": _alike(self.place.control.world()),
            "all": _alike(as_yaml(seed_of(self.world, with_git=False))),
            "rest": {path: _alike(self.read(path)) for path in READ},
            "graphql": _alike(asked.json()),
        }

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"token {self.place.info.token}"}


def _alike(value: Any) -> Any:
    """A value without what differs from one world to the next."""
    if isinstance(value, dict):
        return {key: _alike(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_alike(inner) for inner in value]
    if isinstance(value, bytes):
        return VARYING.sub("", value.decode(errors="backslashreplace"))
    return VARYING.sub("", value) if isinstance(value, str) else value


class _Still:
    """A clock's distance from the machine's, so that both worlds are at one moment."""

    def get(self) -> float:
        """The seconds from now to that moment."""
        return 1_790_000_000.5 - time.time()

    def set(self, _: object) -> None:
        """Stay there."""

    def reset(self, _: object) -> None:
        """Stay there."""


@pytest.fixture(autouse=True)
def one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second that passes between two pushes would be in what GitHub makes of them."""
    monkeypatch.setattr(times, "_ahead", _Still())


Sides = Callable[..., tuple[Side, Side]]


@pytest.fixture
def sides(tmp_path: Path) -> Iterator[Sides]:
    """Makes two GitHubs alike: into the first is pushed straight, into the second by git."""
    with ExitStack() as stack:

        def make(*protections: SeedProtection) -> tuple[Side, Side]:
            seed = default_seed()
            home = replace(seed.repositories[0], protections=[*protections])
            seed = replace(seed, repositories=[home, *seed.repositories[1:]])
            straight, other = (
                _side(stack.enter_context(Sandbox(seed)), tmp_path / name)
                for name in ("straight", "by-git")
            )
            straight.place.world = straight.world
            return straight, other

        yield make


def _side(sandbox: Sandbox, root: Path) -> Side:
    info = sandbox.info
    environment = environment_of(info, root)
    clone(info.git_url, root, environment)
    return Side(Place(info, Control(info.control_url), root, environment), sandbox)


def _pushes(side: Side) -> int:
    """How often git itself has pushed since it was last asked."""
    paths = [one.path for one in side.place.control.requests()]
    side.place.clear()
    return sum(path.endswith("git-receive-pack") for path in paths)


def _push(both: tuple[Side, Side], branch: str = "work") -> None:
    """Push on both sides: all is the same afterwards, and git itself pushed on the second only."""
    for side in both:
        side.place.clear()
        side.place.push(branch)
    assert [_pushes(side) for side in both] == [0, 1]
    straight, other = (side.seen() for side in both)
    for part, held in straight.items():
        assert held == other[part], part


def _do(both: tuple[Side, Side], what: Callable[[Side], object]) -> None:
    for side in both:
        what(side)


def test_what_is_pushed_straight_is_what_git_pushes(sides: Sides) -> None:
    """A new branch, a pull request's next head, several commits, a merge, its arrival in main."""
    both = sides()
    plans = [PlannedCheck("build"), PlannedCheck(context="lint", state="failure")]
    _do(both, lambda side: side.place.control.plan_checks(*plans))
    _do(both, lambda side: side.git("switch", "--quiet", "-c", "work"))
    _do(both, lambda side: side.commit("one"))
    _push(both)
    _do(both, lambda side: side.place.control.open_pull("work", "Work", body="Fixes #42"))
    _do(both, lambda side: side.commit("two"))
    _push(both)
    _do(both, lambda side: side.git("switch", "--quiet", "-c", "claude/other", "main"))
    _do(both, lambda side: side.git("commit", "--quiet", "--allow-empty", "-m", "Other"))
    _push(both, "claude/other")
    _do(both, lambda side: side.git("switch", "--quiet", "work"))
    _do(both, lambda side: side.git("merge", "--quiet", "-m", "Merge", "claude/other"))
    _do(both, lambda side: side.commit("three"))
    _push(both)
    _do(both, lambda side: side.git("switch", "--quiet", "main"))
    _do(both, lambda side: side.git("merge", "--quiet", "--ff-only", "work"))
    _do(both, lambda side: side.git("commit", "--quiet", "--allow-empty", "-m", "Closes #38"))
    _push(both, "main")
    world = both[0].place.control.world()
    closed = [world["issues"]["42"]["state"], world["issues"]["38"]["state"]]
    assert (world["pulls"]["46"]["state"], closed) == ("merged", ["closed", "closed"])


def _hooked(side: Side) -> None:
    (side.place.root / ".git/hooks/pre-push").write_text("#!/bin/sh\n")


def _lose(side: Side) -> None:
    side.git("reset", "--quiet", "--soft", "main")
    side.git("commit", "--quiet", "-m", "One instead of two")


OTHERWISE: dict[str, Callable[[Side], object]] = {
    "another way": lambda side: side.git("config", "remote.origin.pushurl", "https://x.invalid"),
    "another token": lambda side: side.git("remote", "set-url", "origin", side.place.info.api_url),
    "a hook": _hooked,
    "hooks elsewhere": lambda side: side.git("config", "core.hooksPath", ".hooks"),
    "lost commits": _lose,
    "nothing new": lambda side: side.git("reset", "--quiet", "--hard", "HEAD~1"),
    "a pack": lambda side: side.git("repack", "-adq"),
    "no branch": lambda side: side.git("branch", "--quiet", "-m", "work", "other"),
    "no right": lambda side: side.place.control.set_scopes([]),
    "a rule": lambda side: side.git("branch", "--quiet", "--force", "main", "work"),
}
"""Where a push may fail, or do more than a push does: git's own is taken."""


@pytest.mark.parametrize("why", OTHERWISE)
def test_what_may_end_otherwise_is_left_to_git(sides: Sides, why: str) -> None:
    """Nothing is pushed straight, and nothing has changed here or there."""
    side, _ = sides(SeedProtection("main", requires_pull=True))
    side.git("switch", "--quiet", "-c", "work")
    side.commit("one")
    side.place.push("work")
    side.commit("two")
    OTHERWISE[why](side)
    before = side.seen()
    assert side.place.world is not None
    branch, who = "main" if why == "a rule" else "work", "Agent <agent@example.com>"
    assert not pushed_straight(side.world, side.place.info, side.place.root, branch, who)
    assert side.seen() == before
