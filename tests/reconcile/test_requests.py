"""What a run asks of GitHub: counted at the server, one request at a time, and writes with pauses."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from math import ceil
from typing import Any

import pytest

from lifecycle.reconcile.repair import FREE, PAUSE
from lifecycle.reconcile.scope import Policy, Shard
from lifecycle.sandbox.seed import SeedToken
from lifecycle.sandbox.wire.app import Application
from tests.conftest import ManualClock
from tests.reconcile.conftest import Make
from tests.reconcile.ground import ALL, HOME, Given, Ground, numbered, scope_of
from tests.repeated import soaked
from tests.worlds import TOKEN

REVIEWED = Given(pull="open", status="In Review", set_at=7.9)
MERGED = replace(REVIEWED, pull="merged")
OLD = Given(taken=72.0, set_at=71.9)


def spread(count: int, repositories: int) -> list[Given]:
    """So many tasks that are in step, over so many repositories."""
    return [
        Given(number=n // repositories + 1, repository=f"octo-org/service-{n % repositories}")
        for n in range(count)
    ]


def names_of(tasks: Iterable[Given]) -> list[str]:
    """Their repositories."""
    return list(dict.fromkeys(task.repository for task in tasks))


@pytest.mark.parametrize(
    ("count", "repositories"),
    [(1, 1), (101, 1), (60, 26), *(soaked(*more) for more in ((100, 1), (101, 2), (120, 25)))],
)
def test_reading_costs_a_request_for_100_cards_and_one_for_25_repositories(
    make: Make, count: int, repositories: int
) -> None:
    """Nothing drifted: N/100 and R/25, both rounded up; one more for more than 100 leases in one."""
    tasks = spread(count, repositories)
    one = make(*tasks)
    report = one.run(ALL, scope=scope_of(*names_of(tasks)))
    assert report.findings == ()
    assert (report.tasks, report.repositories) == (count, repositories)
    asked = one.control.requests()
    more_leases = count / repositories > 100
    assert len(asked) == ceil(count / 100) + ceil(repositories / 25) + more_leases
    assert report.requests == len(asked)
    assert report.points == sum(one.points or 0 for one in asked)


@pytest.mark.parametrize("way", ["labels", soaked("shard")])
def test_reading_without_the_board_costs_the_same(make: Make, way: str) -> None:
    """Runs that share the work, and those with labels, read the repositories' issues: as many requests.

    Labels cost one more, by which the token is seen not to show the board.
    """
    tasks = [replace(task, labels=("status: in progress",)) for task in spread(120, 20)]
    blind = {"tokens": [SeedToken(TOKEN, "octocat", ["repo"])]} if way == "labels" else {}
    one = make(*tasks, **blind)
    shard = Shard(1, 1) if way == "shard" else None
    report = one.run(ALL, scope=scope_of(*names_of(tasks), shard=shard))
    assert report.findings == ()
    assert report.tasks == 120
    assert len(one.control.requests()) == 2 + 1 + (way == "labels")


LOOK = ["ObserveClaim", "SurveyHolding"]
"""What is looked at once more before a task is ended, or left work is shown: the lease too."""

COSTS: dict[str, tuple[Given, list[str]]] = {
    "a card": (Given(agent=""), ["ObserveClaim", "SetBoardFields"]),
    "onto the board": (Given(has_card=False), ["ObserveClaim", "AddBoardItem", "SetBoardFields"]),
    "a link": (replace(REVIEWED, body="hm"), ["ObserveClaim", "GET pulls", "PATCH pulls"]),
    "a draft": (
        replace(OLD, pushed=48.0),
        [*LOOK, "POST pulls", "SetBoardFields"],
    ),
    "closing": (
        MERGED,
        [*LOOK, "POST comments", "PATCH issues", "SetBoardFields", *["git"] * 2],
    ),
    "giving back": (
        OLD,
        [*LOOK, "POST comments", "DELETE assignees", "SetBoardFields", *["git"] * 2],
    ),
}  # fmt: skip
"""What one repair asks, by what is repaired; the second of its kind, when the board's ids are known."""


def names(one: Ground) -> list[str]:
    """What was asked for, in short."""
    short = []
    for request in one.control.requests():
        parts = [part for part in request.path.split("/") if part and not part.isdecimal()]
        short.append(
            "git" if request.kind == "git" else request.operation or f"{request.method} {parts[-1]}"
        )
    return short


@pytest.mark.parametrize(("given", "expected"), COSTS.values(), ids=COSTS)
def test_a_repair_costs_one_look_and_its_writes(
    make: Make, given: Given, expected: list[str]
) -> None:
    """The second task of a kind asks for exactly this; git talks twice for a lease."""
    policy = Policy(closes=True, releases=given == OLD)
    one, two = make(*numbered([given])), make(*numbered([given, given]))
    one.run(policy)
    two.run(policy)
    first, both = names(one), names(two)
    for name in first:
        both.remove(name)
    assert sorted(both) == sorted(expected)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many requests were under way at the server, noted whenever one comes."""
    answer: Callable[..., Any] = Application.__call__
    noted: list[int] = []
    running, lock = [0], threading.Lock()

    def count(application: Application, environ: dict[str, Any], start: Any) -> Any:
        if environ["PATH_INFO"].startswith("/_sandbox/"):
            return answer(application, environ, start)
        with lock:
            running[0] += 1
            noted.append(running[0])
        try:
            return answer(application, environ, start)
        finally:
            with lock:
                running[0] -= 1

    monkeypatch.setattr(Application, "__call__", count)
    return noted


def test_one_request_at_a_time(make: Make, at_once: list[int]) -> None:
    """As GitHub asks for it: however many repositories and tasks there are, never two at once."""
    tasks = [
        replace(given, repository=f"octo-org/service-{n % 3}", number=n + 1)
        for n, given in enumerate([MERGED, Given(agent=""), Given(has_card=False)] * 3)
    ]
    one = make(*tasks)
    report = one.run(Policy(closes=True), scope=scope_of(HOME, *names_of(tasks)))
    assert report.failed == 0
    assert len(at_once) > 25
    assert set(at_once) == {1}


class StillClock(ManualClock):
    """A clock on which nothing takes time but sleeping, which it notes."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []

    def monotonic(self) -> float:
        """What was slept so far."""
        return self.offset

    def sleep(self, seconds: float) -> None:
        """Note it."""
        self.slept.append(seconds)
        super().sleep(seconds)


@pytest.mark.parametrize("more", [0, 1, 3])
def test_after_ten_writes_each_waits_a_second(make: Make, more: int) -> None:
    """A few writes come at once; a large number of them one a second, as GitHub asks for it."""
    one = make(*numbered([Given(agent="")] * (FREE + more)))
    one.clock = clock = StillClock()
    report = one.run()
    assert report.failed == 0
    assert len(one.written()) == FREE + more
    assert clock.slept == [PAUSE] * more
