"""What a sweep over many repositories costs: requests, points, time and memory of `lifecycle reconcile`."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lifecycle.sandbox.control import Control
from lifecycle.sandbox.server import SandboxInfo
from tests.bench import measured
from tests.bench.hub import hub
from tests.bench.paths import environment

SIZES = {100: 2, 1_000: 20, 10_000: 200}
"""How many tasks in how many repositories."""

LIMIT = 1.3
"""Requests for each of the floor, at most."""

PAGE, REPOSITORIES = 100, 25
"""Issues or cards, and repositories, in one request: what the floor is made of."""

EVERY = 100
"""Of so many cards one is behind."""

MOST_OWN = 14.0
"""CPU time of 10,000 tasks of which none drifted, as a multiple of a run's that finds no task at all."""

LATENCY = 0.1
FAR = 1_000
"""The size at which a request also takes that many seconds."""

SHARD, SHARDS = 1, 4
HOURS = "1000"
"""`--silent-hours`: the world's tasks are days old, and are not to count as silent."""

LOOK_AND_WRITE = 2
DRY, MENDED, STILL, SHARDED, LABELS, REMOTE = (
    f"{1 / EVERY:.0%} behind, dry run",
    f"{1 / EVERY:.0%} behind, repaired",
    "nothing behind",
    f"shard {SHARD}/{SHARDS}",
    "labels, no board",
    f"{LATENCY * 1e3:.0f} ms a request",
)


@dataclass(frozen=True, slots=True)
class Swept:
    """One run.

    Attributes:
        tasks, repositories: of the world.
        floor: the requests that it cannot do without: pages of tasks and of repositories, and for
            what is repaired a look and a write each.
        requests, points: as GitHub counted them.
        seconds: from the start of the process to its end.
        cpu: seconds that the process itself computed; the rest it waited for GitHub.
        peak: bytes of memory, at the most.
        paused: seconds that a run which repairs also waits between writes; not in `seconds`.
        found: findings.
    """

    name: str
    tasks: int
    repositories: int
    floor: int
    requests: int
    points: int
    seconds: float
    cpu: float
    peak: int
    paused: float
    found: int

    @property
    def ratio(self) -> float:
        """Requests for each of the floor."""
        return self.requests / self.floor

    @property
    def waited(self) -> float:
        """Seconds that went by while the process did not compute: GitHub's share."""
        return max(self.seconds - self.cpu, 0.0)


def large_rows(folder: Path, sizes: Sequence[int]) -> list[Swept]:
    """Measure every case at these sizes, and first a run where there is nothing."""
    return [row for size in (0, *sizes) for row in _rows(folder / f"tasks-{size}", size)]


def _rows(folder: Path, size: int) -> Iterator[Swept]:
    """The cases of one size, each in a state that the one before left: behind, then repaired."""
    with hub(size, SIZES.get(size, 1), EVERY) as info:
        place = _Place(info, folder, size, SIZES.get(size, 1))
        if not size:
            yield place.swept(STILL)
            return
        yield place.swept(DRY)
        yield place.mended()
        yield place.swept(STILL)
        yield place.swept(SHARDED, "--shard", f"{SHARD}/{SHARDS}")
        yield place.swept(LABELS)
        if size == FAR:
            place.control.set_latency(LATENCY)
            yield place.swept(REMOTE)


class _Place:
    """Where the runs of one size are made."""

    def __init__(self, info: SandboxInfo, folder: Path, tasks: int, repositories: int) -> None:
        self.info = info
        self.tasks = tasks
        self.repositories = repositories
        self.control = Control(info.control_url)
        self._root = folder
        self._labelled = folder / "labelled"
        self._labelled.mkdir(parents=True)
        (self._labelled / ".lifecycle.toml").write_text('[labels]\nuse = "always"\n')

    def swept(self, name: str, *options: str) -> Swept:
        """A dry run of the command."""
        words = ["reconcile", "--org", str(self.info.project_owner), "--dry-run", "--json"]
        program = str(Path(sys.executable).with_name("lifecycle"))
        return self._run(name, program, *words, "--silent-hours", HOURS, *options)

    def mended(self) -> Swept:
        """A run that repairs."""
        module = ["-m", "tests.bench.unhurried", str(self.info.project_owner), HOURS]
        return self._run(MENDED, sys.executable, *module)

    def _run(self, name: str, *command: str) -> Swept:
        is_labelled = name == LABELS
        root = self._labelled if is_labelled else self._root
        board = {} if is_labelled else self._board
        seen = environment(
            root,
            GITHUB_API_URL=self.info.api_url,
            GITHUB_GRAPHQL_URL=self.info.graphql_url,
            GH_TOKEN=self.info.token,
            PYTHONPATH=str(Path(__file__).parents[2]),
            **board,
        )
        self.control.clear_requests()
        output = self._root / "output.json"
        small = [sys.executable, "-I", "-S", str(measured.__file__), str(output), *command]
        ran = subprocess.run(small, cwd=root, env=seen, check=True, capture_output=True, text=True)
        took, report = json.loads(ran.stdout), json.loads(output.read_text())
        if took["code"] or report["counts"]["failed"]:
            raise RuntimeError(f"{name}: {report}")
        return self._row(name, took, report)

    @property
    def _board(self) -> dict[str, str]:
        return {
            "LIFECYCLE_PROJECT_NUMBER": str(self.info.project_number),
            "LIFECYCLE_PROJECT_OWNER": str(self.info.project_owner),
        }

    def _row(self, name: str, took: dict[str, Any], report: dict[str, Any]) -> Swept:
        asked = [one for one in self.control.requests() if one.kind != "git"]
        counts = report["counts"]
        pages = max(math.ceil(counts["tasks"] / PAGE), 1)
        floor = pages + math.ceil(counts["repositories"] / REPOSITORIES)
        if name == SHARDED:
            floor += math.ceil(self.repositories / PAGE)  # the names of all, to know its own
        return Swept(
            name=name,
            tasks=self.tasks,
            repositories=self.repositories,
            floor=floor + LOOK_AND_WRITE * counts["applied"],
            requests=len(asked),
            points=sum(one.points or 0 for one in asked),
            seconds=took["seconds"],
            cpu=took["cpu"],
            peak=took["peak"],
            paused=report.get("paused", 0.0),
            found=counts["findings"],
        )


def judge_large(rows: Sequence[Swept]) -> list[str]:
    """Which run asks too much, finds what it should not, or needs memory as fast as tasks come."""
    faults = [
        f"reconcile, {row.tasks:,} tasks, {row.name}: {row.requests} requests, {row.ratio:.2f} of the floor"
        for row in rows
        if row.ratio > LIMIT and row.tasks
    ]
    behind = (DRY, MENDED)
    faults += [
        f"reconcile, {row.tasks:,} tasks, {row.name}: {row.found} findings, and there should be {wanted}"
        for row in rows
        if row.found != (wanted := row.tasks // EVERY if row.name in behind else 0)
    ]
    still = [row for row in rows if row.name == STILL]
    none = next((row.peak for row in still if not row.tasks), 0)
    begun = next((row.cpu for row in still if not row.tasks), 0.0)
    for row in still:
        if begun and row.tasks == max(SIZES) and row.cpu >= MOST_OWN * begun:
            own = f"{row.cpu / begun:.1f} times what one without any does"
            faults.append(f"reconcile, {row.tasks:,} tasks computes {own}")
    for less, more in itertools.pairwise(still[1:]):
        grown, tasks = (more.peak - none) / max(less.peak - none, 1), more.tasks / less.tasks
        if less.tasks >= FAR and grown >= tasks:  # below that one page of everything is most of it
            faults.append(f"reconcile, {more.tasks:,} tasks: memory grew {grown:.1f} times")
    return faults
