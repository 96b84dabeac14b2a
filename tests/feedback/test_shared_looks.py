"""Worktrees that wait share their looks: against the embedded GitHub, with a clock that the test moves."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest

from lifecycle.feedback.waiting.look_rounds import MOST, REFRESH, RETRY, SETTLES
from lifecycle.feedback.waiting.shared_looks import BUSY_SECONDS, place
from lifecycle.sandbox.control.faults import Fault
from lifecycle.sandbox.server import Sandbox, SandboxInfo
from lifecycle.storage import store
from tests.feedback.waiting_machine import EVERY, Machine, many_pulls
from tests.github.hub import PatientClock
from tests.worlds import TOKEN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def hub() -> Iterator[SandboxInfo]:
    """A GitHub with fifty open pull requests."""
    with Sandbox(many_pulls()) as running:
        yield running.info


@pytest.fixture
def machine(hub: SandboxInfo, tmp_path: Path) -> Iterator[Machine]:
    """Fifty worktrees that wait for them, as they are once nothing is new."""
    made = Machine(hub, tmp_path, PatientClock())
    assert len(made.worktrees) == MOST
    yield made
    made.control.clear_faults()


def test_fifty_waiting_worktrees_cost_two_requests_in_two_minutes(machine: Machine) -> None:
    """One for all digests, and one whole look at the most; what changed is looked at whole, and that alone.

    A change is seen within one poll, and looked at again until it had time to settle.
    """
    machine.join()
    assert machine.spend(3 * EVERY)[0] <= 3
    for _ in range(2):
        assert machine.spend(EVERY) == (1, 0)

    changed = machine.worktrees[7]
    number = len(changed.whole)
    machine.control.comment(machine.numbers[changed.ids[0]], "Look at this.")
    before = machine.clock.now()
    asked, whole = machine.spend(3 * EVERY)
    assert (asked <= 3, whole) == (True, len(changed.whole) - number)
    assert changed.whole[number] - before <= EVERY
    assert changed.whole[-1] >= before + SETTLES
    assert whole <= 3

    machine.clock.sleep(REFRESH)
    for _ in range(3):
        asked, whole = machine.spend(EVERY)
        assert asked + whole <= 2
    assert whole == 1


def test_what_is_too_much_is_asked_in_halves(machine: Machine) -> None:
    """After a 502: nobody asks for a moment, then half as many are asked for; all are shown after two."""
    machine.join()
    machine.control.add_fault(Fault("status", status=502, operation="DigestPulls"))
    assert machine.spend(1) == (1, 0)
    assert "GitHub has an internal problem (502)" in machine.log
    assert machine.spend(RETRY - 2) == (0, 0)
    assert machine.spend(5) == (2, MOST)


def test_a_limit_holds_all_of_them(machine: Machine) -> None:
    """One was told to wait: none asks before that, whoever heard it."""
    machine.join()
    limit = Fault("status", status=403, headers={"retry-after": "300"}, operation="DigestPulls")
    machine.control.add_fault(limit)
    assert machine.spend(1) == (1, 0)
    assert machine.spend(298) == (0, 0)
    assert machine.spend(5) == (1, MOST)
    machine.worktrees[3].looks.hold(600)
    assert machine.spend(590) == (0, 0)


def test_an_hour_that_is_nearly_spent_is_left_to_people(machine: Machine) -> None:
    """With less than a tenth of the points left, waiters wait until GitHub begins to count anew."""
    machine.worktrees[0].wake(machine.clock.now())
    assert json.loads(machine.path.read_text())["hold"] == 0


def test_a_file_is_for_this_user_alone_and_tells_no_token(machine: Machine) -> None:
    """One that cannot be read is begun anew, with a line in the log; one of another token is another."""
    first = machine.worktrees[0]
    first.wake(machine.clock.now())
    assert stat.S_IMODE(machine.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(machine.path.parent.stat().st_mode) == 0o700
    assert TOKEN not in machine.path.read_text() + str(machine.path)
    home = {"XDG_CONFIG_HOME": "/home/dev/.config"}
    assert place(home, "https://a", "t") not in (
        place(home, "https://a", "u"),
        place(home, "https://b", "t"),
    )
    assert place({}, "https://a", "t") is None
    machine.path.write_text("{ no json")
    machine.clock.sleep(EVERY)
    first.wake(machine.clock.now())
    assert "could not be read and is begun anew" in machine.log
    assert set(json.loads(machine.path.read_text())["pulls"]) == {first.ids[0]}


def test_whoever_asks_is_waited_for_and_followed_when_gone(machine: Machine) -> None:
    """While another process asks nobody else does; its lock goes with it, and the next asks."""
    first = machine.worktrees[0]
    machine.path.parent.mkdir(parents=True)
    with store.locked(machine.path.with_suffix(".asking"), 1, "busy"):
        answer = first.looks.ask(first.ids, first.looked)
        assert (answer.is_whole, answer.is_same) == (False, False)
        assert answer.again == machine.clock.now() + BUSY_SECONDS
    assert first.looks.ask(first.ids, first.looked).is_whole


def test_a_server_without_digests_and_a_part_that_is_hidden_let_each_look_for_itself(
    machine: Machine,
) -> None:
    """Nothing is quiet that nobody saw; what the server does not know is not asked for an hour."""
    first, second = machine.worktrees[:2]
    hole: list[list[str | int]] = [["nodes", 0, "statusCheckRollup"]]
    fault = Fault("graphql_error", when="after", error_type="FORBIDDEN", null_paths=hole)
    machine.control.add_fault(fault)
    first.wake(machine.clock.now())
    machine.clock.sleep(2 * EVERY)
    assert machine.spend(1)[1] == MOST
    unknown = Fault(
        "graphql_error", error_type="undefinedField", message="Field 'x' doesn't exist", count=9
    )
    machine.clock.sleep(2 * EVERY)
    machine.control.add_fault(unknown)
    machine.control.clear_requests()
    for one in (first, second):
        answer = one.looks.ask(one.ids, machine.clock.now())
        assert answer.is_whole
    assert len(machine.control.requests()) <= 1
    assert "looks are not shared" in machine.log
