"""The real bd at each version that `make bd` builds: what it answers, who wins, and what a kill leaves.

Some recorded steps are in every run, with the newest: the simulated one is held to them, and `make test`
asks that one everything else. `make soak` asks the real one for all recorded steps, the whole suite, races,
kills, and leases.
"""

from __future__ import annotations

import contextlib
import shlex
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from lifecycle.core.errors import AlreadyClaimed, NotClaimable, Transient
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.core.tracker import Capability
from lifecycle.trackers.beads import bd_process
from lifecycle.trackers.beads.bd_tracker import BeadsTracker
from lifecycle.trackers.conformance.__main__ import CHECKS, CheckOutcome, run
from tests.trackers.beads import real

pytestmark = pytest.mark.timeout(900)

SOME_STEPS = {
    *("create", "create2", "dep_add", "dep_cycle", "list_bad_status", "show_missing"),
    "close_blocked",
}
"""Of the recorded steps, those that the product's verbs are made of, and that need none of the others.

What a task is shown as, a claim, and its refusal to another are asked of the product below.
"""

OF_THE_MACHINE = {
    "stats": "0.49.6 counts the repository's commits, if git is there and there are any",
    "export": "0.49.6 writes issues in the order of a table of Go's, which is another each time",
    "doctor": "0.49.6 names the address of its own repository",
}
"""Recorded steps that say something about the machine, and that nobody asks for."""

KNOWN = ".git/lifecycle"
"""Where the product has noted what this bd can."""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is not what is tested: nothing is ended because it is slow."""
    monkeypatch.setattr(bd_process, "READ_SECONDS", 120.0)
    monkeypatch.setattr(bd_process, "WRITE_SECONDS", 120.0)


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[[str], real.Workspace]:
    """Makes an empty workspace of a version."""

    def make(version: str) -> real.Workspace:
        real.demand(version)
        return real.made(version, tmp_path / "space")

    return make


each_version = pytest.mark.parametrize("version", real.VERSIONS)
newest = pytest.mark.parametrize("version", real.VERSIONS[-1:])


def _different(wanted: list[dict[str, Any]], got: list[dict[str, Any]]) -> list[str]:
    """What differs between recorded steps and what came now: exit code, stdout or stderr."""
    different = []
    for then, now in zip(wanted, got, strict=True):
        for key in ("rc", "stdout", "stderr"):
            old, new = (real.shape(str(step[key])) for step in (then, now))
            if old != new and then["name"] not in OF_THE_MACHINE:
                different.append(f"{then['name']}: {key} is {new!r}\n  and was {old!r}")
    return different


@newest
def test_the_recordings_are_what_it_says_now(
    version: str, fresh: Callable[[str], real.Workspace]
) -> None:
    """The same exit codes, and JSON or words where there were JSON or words."""
    steps = [s for s in real.steps_of(real.PROFILES[version]) if s["name"] in SOME_STEPS]
    answers = real.replay(fresh(version), steps)
    assert len(answers) == len(SOME_STEPS)
    # What came before is not all there, so that an answer may show less.
    codes = [(step["name"], step["rc"]) for step in steps]
    assert [(step["name"], step["rc"]) for step in answers] == codes
    for then, now in zip(steps, answers, strict=True):
        for key in ("stdout", "stderr"):
            assert type(real.shape(now[key])) is type(real.shape(then[key])), then["name"]


@pytest.mark.soak("trackers/beads/test_real.py::test_the_recordings_are_what_it_says_now")
@each_version
def test_every_recorded_step_is_what_it_says_now(version: str, tmp_path: Path) -> None:
    """All 75 of them, to the letter but for times and made-up ids; the simulated one is held to them."""
    real.demand(version)
    steps = real.steps_of(real.PROFILES[version])
    answers = real.replay(real.bare(version, tmp_path / "space"), steps)
    different = _different(steps, answers)
    assert not different, "\n".join(different)


def _failed(space: real.Workspace, checks: Any) -> list[str]:
    results = list(run(space, checks))
    assert any(result.outcome is CheckOutcome.PASSED for result in results)
    return [f"{r.check}: {r.words}" for r in results if r.outcome is CheckOutcome.FAILED]


@pytest.mark.soak(
    "trackers/beads/test_conformance.py::test_the_suite_holds",
    "trackers/beads/test_real.py::test_the_recordings_are_what_it_says_now",
)
@each_version
def test_the_whole_suite_holds(version: str, fresh: Callable[[str], real.Workspace]) -> None:
    """Every rule of every tracker."""
    failed = _failed(fresh(version), CHECKS)
    assert not failed, "\n".join(failed)


def _race(space: real.Workspace, folder: Path, rivals: int) -> None:
    """Some agents, each in a clone of its own so that no lock of ours is between them, want one task."""
    name = space.create("Wanted")
    gate = Barrier(rivals)

    def claim(number: int) -> str:
        actor, root = f"agent-{number}", folder / f"clone-{number}"
        (root / ".git" / "objects").mkdir(parents=True, exist_ok=True)
        (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        shutil.copytree(space.root / KNOWN, root / KNOWN)
        around = real.environment(space.version, space.home, actor)
        database = str(space.root / ".beads")
        deadline = Deadline(SystemClock(), None)
        tracker = BeadsTracker(root, around, actor, deadline, database)
        gate.wait(120)
        while True:
            try:
                return tracker.claim(name).assignee
            except AlreadyClaimed as refused:
                return f"refused by {refused.by}"
            except Transient:
                continue  # the database was in use, and says so: again

    with ThreadPoolExecutor(rivals) as pool:
        answers = list(pool.map(claim, range(1, rivals + 1)))
    winner = str(space.answer("show", name)[0]["assignee"])
    number = int(winner.removeprefix("agent-"))
    assert answers[number - 1] == winner
    others = answers[: number - 1] + answers[number:]
    assert others == [f"refused by {winner}"] * (rivals - 1)


@pytest.mark.soak(
    "trackers/beads/test_real.py::test_the_recordings_are_what_it_says_now",
    "trackers/beads/test_probe.py::test_the_words_are_bd_s_own",
)
@newest
def test_what_the_holder_is_told_to_type_closes_the_task(
    version: str, fresh: Callable[[str], real.Workspace]
) -> None:
    """In a shell in which bd takes the agent for somebody else."""
    space = fresh(version)
    task = space.tracker("root-1").claim(space.create("One"))
    wording = space.tracker("root-1").wording()
    _, *words = shlex.split(wording.close.replace("{id}", task.id))
    assert space.bd(*words, actor="unknown")[0] == 1
    assert space.bd(*words, *shlex.split(wording.as_holder), actor="unknown")[0] == 0
    assert not space.tracker("root-1").get(task.id).is_open


@pytest.mark.soak(
    "trackers/beads/test_real.py::test_the_recordings_are_what_it_says_now",
    "trackers/beads/test_race.py::test_one_of_two_processes_wins",
)
@newest
def test_one_of_several_processes_wins(
    version: str, fresh: Callable[[str], real.Workspace], tmp_path: Path
) -> None:
    """bd alone decides, and all others are told who has it."""
    _race(fresh(version), tmp_path, rivals=2)


@pytest.mark.soak("trackers/beads/test_race.py::test_one_of_two_processes_wins")
@each_version
def test_one_of_many_processes_wins_again_and_again(
    version: str, fresh: Callable[[str], real.Workspace], tmp_path: Path
) -> None:
    """Eight at once, five times."""
    space = fresh(version)
    for number in range(5):
        _race(space, tmp_path / str(number), rivals=8)


def _killed(space: real.Workspace, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A create is killed after so long; another one with its key gives the one task."""
    key = f"killed/{seconds}"
    tracker = space.tracker("agent-1")
    with monkeypatch.context() as hurried:
        hurried.setattr(bd_process, "WRITE_SECONDS", seconds)
        with contextlib.suppress(Transient):  # the only error that a kill may become
            tracker.create(key, title="Killed", labels=("a", "b"))
    after = space.tracker("agent-2").create(key, title="Killed", labels=("a", "b"))
    assert set(after.labels) == {"a", "b"}
    same = [row for row in space.answer("list", "--limit=0") if row["description"].count(key)]
    assert [row["id"] for row in same] == [after.id]


@pytest.mark.soak(
    "trackers/beads/test_real.py::test_the_recordings_are_what_it_says_now",
    "trackers/beads/test_faults.py::test_what_was_done_is_seen",
)
@newest
def test_a_write_that_was_killed_is_done_once(
    version: str, fresh: Callable[[str], real.Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in the middle, the database can be used, and who asks again makes no second task."""
    _killed(fresh(version), 0.12, monkeypatch)


@pytest.mark.soak("trackers/beads/test_faults.py::test_what_was_done_is_seen")
@each_version
def test_writes_that_were_killed_at_any_moment_are_done_once(
    version: str, fresh: Callable[[str], real.Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From its start to beyond its end."""
    space = fresh(version)
    for step in range(1, 16):
        _killed(space, step * 0.04, monkeypatch)


@pytest.mark.soak(
    "trackers/beads/test_real.py::test_the_recordings_are_what_it_says_now",
    "trackers/beads/test_conformance.py::test_leases_are_renewed_where_there_are_any",
)
def test_a_lease_is_renewed_by_its_holder_alone(fresh: Callable[[str], real.Workspace]) -> None:
    """1.3.0: a heartbeat moves the end of the claim, of a claim only, and of one's own only."""
    space = fresh("1.3.0")
    name = space.create("Mine")
    mine, other = space.tracker("agent-1"), space.tracker("agent-2")
    assert mine.abilities().has(Capability.LEASES)
    with pytest.raises(NotClaimable):
        mine.renew(name)
    mine.claim(name)
    before = space.answer("show", name)[0]
    assert before["lease_expires_at"] > before["heartbeat_at"]
    with pytest.raises(AlreadyClaimed):
        other.renew(name)
    assert mine.renew(name).assignee == "agent-1"
    after = space.answer("show", name)[0]
    assert after["heartbeat_at"] >= before["heartbeat_at"]
    assert space.answer("reclaim")["count"] == 0
    code, _, err = space.bd("close", name, actor="agent-2")
    assert (code, "agent-1" in err) == (1, True)
