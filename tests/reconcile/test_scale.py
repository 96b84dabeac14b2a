"""What many tasks cost: requests, memory and decisions. No clock is asked."""

from __future__ import annotations

import gc
import math
import threading
import tracemalloc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.app.wiring import WorktreeWorld
from lifecycle.claim.decisions import decide
from lifecycle.claim.decisions.snapshot import Decision, Snapshot
from lifecycle.core.timing import Deadline
from lifecycle.core.values.model import Repository
from lifecycle.reconcile.finding import SweepReport
from lifecycle.reconcile.reconcile_run import reconcile
from lifecycle.reconcile.scope import Policy, Scope, Shard
from lifecycle.sandbox.server import Sandbox
from lifecycle.sandbox.wire.app import CONTROL, Application
from lifecycle.storage.state_file import MemoryCache
from tests.bench.hub import world as many
from tests.bench.large import EVERY, LIMIT, PAGE, REPOSITORIES
from tests.conftest import ManualClock
from tests.reconcile.ground import Ground
from tests.reconcile.stream import EACH, OWNER, Stream
from tests.repeated import soaked

SOAKED = pytest.mark.soak(
    "reconcile/test_reviewed.py::test_the_shards_of_an_owner_cover_everything_once",
    "reconcile/test_requests.py::test_a_repair_costs_one_look_and_its_writes",
    "reconcile/test_requests.py::test_reading_costs_a_request_for_100_cards_and_one_for_25_repositories",
    "reconcile/test_requests.py::test_one_request_at_a_time",
)

if TYPE_CHECKING:
    from wsgiref.types import StartResponse

LONG = Policy(silent_seconds=1000 * 3600.0)
"""The worlds' tasks are days old, and are not to count as silent."""
ORGANISATION = Scope(owner=OWNER)


@contextmanager
def large(folder: Path, tasks: int, repositories: int) -> Iterator[Ground]:
    """So many tasks on a GitHub of their own; one card of a hundred is behind."""
    folder.mkdir()
    with Sandbox(many(tasks, repositories, EVERY)) as sandbox:
        yield Ground(sandbox, folder)


def _floor(tasks: int, repositories: int) -> int:
    return math.ceil(tasks / PAGE) + math.ceil(repositories / REPOSITORIES)


@pytest.mark.once("test_requests.py counts each way by itself")
@pytest.mark.parametrize(
    ("tasks", "repositories", "way"),
    [
        (100, 2, "an organisation"),
        (100, 2, "its repositories by name"),
        (100, 2, "labels"),
        (1_000, 20, "an organisation"),
        (1_000, 20, "labels"),
    ],
)
def test_a_sweep_stays_near_the_floor(
    tmp_path: Path, tasks: int, repositories: int, way: str
) -> None:
    """A page of tasks and a page of repositories each a request, with a board and without.

    Ten thousand are `make bench`'s, which takes a while.
    """
    names = tuple(Repository(OWNER, f"service-{n}") for n in range(repositories))
    scope = Scope(repositories=names) if way.startswith("its") else ORGANISATION
    has_board = way != "labels"
    with large(tmp_path / "ground", tasks, repositories) as ground:
        if not has_board:
            ground.folder.joinpath(".lifecycle.toml").write_text('[labels]\nuse = "always"\n')
        number = "1" if has_board else ""
        report = ground.run(LONG, scope=scope, dry_run=True, LIFECYCLE_PROJECT_NUMBER=number)
        assert report.tasks == tasks
        assert _asked(ground) == report.requests <= LIMIT * _floor(tasks, repositories)
        assert len(report.findings) == (tasks // EVERY if has_board else 0)


@SOAKED
def test_each_shard_stays_near_its_floor(tmp_path: Path) -> None:
    """A shard asks for all names, to know which are its own, and for its own tasks alone."""
    met = 0
    with large(tmp_path / "ground", 600, 30) as ground:
        for index in (1, 2, 3):
            ground.clear()
            scope = Scope(owner=OWNER, shard=Shard(index, 3))
            report = ground.run(LONG, scope=scope, dry_run=True)
            assert 0 < report.tasks < 600
            names = 1
            assert _asked(ground) <= LIMIT * (names + _floor(report.tasks, report.repositories))
            met += report.tasks
    assert met == 600


def _asked(ground: Ground) -> int:
    return len(ground.control.requests())


@SOAKED
def test_a_repair_looks_once_at_what_is_behind_and_writes_it_once(tmp_path: Path) -> None:
    """Of a hundred tasks in step nothing more is asked; the next run asks for the pages alone."""
    with large(tmp_path / "ground", 200, 4) as ground:
        report = ground.run(LONG, scope=ORGANISATION)
        assert [str(one.state) for one in report.findings] == ["applied"] * (200 // EVERY)
        looks_and_writes = 2 * (200 // EVERY)
        assert report.requests <= LIMIT * (_floor(200, 4) + looks_and_writes)
        again = ground.run(LONG, scope=ORGANISATION)
        assert not again.findings
        assert again.requests == _floor(200, 4)


@dataclass
class Crowd:
    """How many requests the server has at once: counted where they come in and go out."""

    now: int = 0
    most: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """One request."""
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            yield
        finally:
            with self.lock:
                self.now -= 1


@pytest.fixture
def crowd(monkeypatch: pytest.MonkeyPatch) -> Crowd:
    """Counts at the server's one entrance; the remote control's own requests are left out."""
    counted, real = Crowd(), Application.__call__

    def call(self: Application, environ: dict[str, Any], start: StartResponse) -> Iterable[bytes]:
        if str(environ["PATH_INFO"]).startswith(CONTROL):
            return real(self, environ, start)
        with counted.inside():
            return real(self, environ, start)

    monkeypatch.setattr(Application, "__call__", call)
    return counted


@SOAKED
def test_one_request_at_a_time(tmp_path: Path, crowd: Crowd) -> None:
    """GitHub asks for no two at once, and a sweep with its repairs never has two under way.

    Source: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#avoid-concurrent-requests
    """
    with large(tmp_path / "ground", 300, 6) as ground:
        ground.control.set_latency(0.01)
        report = ground.run(LONG, scope=ORGANISATION)
    assert len(report.findings) == 300 // EVERY
    assert report.requests > _floor(300, 6)
    assert crowd.most == 1


def _world(tmp_path: Path, tasks: int) -> WorktreeWorld:
    clock = ManualClock()
    environment = {
        "GH_TOKEN": "a-token",
        "LIFECYCLE_REPOSITORY": f"{OWNER}/service-0",
        "LIFECYCLE_PROJECT_NUMBER": "1",
    }
    world = WorktreeWorld(tmp_path, environment, clock, Deadline.after(clock, None), MemoryCache())
    world.__dict__["survey"] = Stream(tasks)  # a cached property, given before it is asked for
    return world


def _peak(tmp_path: Path, tasks: int) -> tuple[int, SweepReport]:
    """The most memory that Python held during a sweep, above what it held before."""
    world = _world(tmp_path, tasks)
    gc.collect()
    tracemalloc.start()
    try:
        report = reconcile(world, ORGANISATION, LONG, dry_run=True)
        return tracemalloc.get_traced_memory()[1], report
    finally:
        tracemalloc.stop()


@pytest.mark.soak(
    "bench/test_large.py::test_memory_that_grows_with_the_tasks_is_a_fault",
    "reconcile/test_scale.py::test_a_sweep_stays_near_the_floor",
)
@pytest.mark.parametrize("tasks", [200, soaked(500)])
def test_memory_grows_slower_than_the_tasks(tmp_path: Path, tasks: int) -> None:
    """Ten times the tasks need less than five times the memory: of what is in step little is kept.

    A lease, a branch and the numbers of its pull request are, until the board's pages name the task:
    less than a kilobyte of each, whatever is written in pull requests.
    """
    _peak(tmp_path, EACH)  # what is imported and compiled once is nobody's
    less, few = _peak(tmp_path, tasks)
    more, many = _peak(tmp_path, 10 * tasks)
    assert (few.tasks, many.tasks) == (tasks, 10 * tasks)
    assert (few.findings, many.findings) == ((), ())
    assert more < less * 10 / 2
    assert (more - less) / (9 * tasks) < 1_000


def test_a_task_in_step_costs_one_decision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What everything allowed would do is not rehearsed again where the policy makes no difference."""
    made: list[Decision] = []
    real = decide.decide

    def counted(snapshot: Snapshot) -> Decision:
        made.append(real(snapshot))
        return made[-1]

    monkeypatch.setattr(decide, "decide", counted)  # what a rehearsal asks
    report = reconcile(_world(tmp_path, 400), ORGANISATION, LONG, dry_run=True)
    assert (report.tasks, len(report.findings)) == (400, 0)
    assert len(made) == 400
