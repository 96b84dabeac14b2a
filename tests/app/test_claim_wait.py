"""Waiting for the claim's pull request: a story in one worktree, with a clock that the test moves."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.api import NotFound, Refused, Report, Transient, Wake
from lifecycle.app.waiting import wait_loop
from lifecycle.app.waiting.claim_wait import SLICE_SECONDS, ClaimWait
from lifecycle.app.waiting.pull_wait import BranchWait, Waited, states_of
from lifecycle.app.waiting.wait_loop import look_seconds
from lifecycle.claim.commands.moves import move
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.engine import look
from lifecycle.claim.record.claim_store import Listener
from lifecycle.claim.record.sections import PullRecord
from lifecycle.core.timing import Deadline, DeadlineReached
from lifecycle.core.values.configured import HOOK_SECONDS, Settings
from lifecycle.feedback.reviews.review_ledger import QUIET_SECONDS
from lifecycle.feedback.waiting.endings import Ending, WaitFor
from lifecycle.sandbox.checks.state import PlannedCheck
from lifecycle.sandbox.control.faults import Fault
from lifecycle.storage import signs_of_life
from tests.conftest import BRANCH, ManualClock, Place

LOG = "2026-01-31T10:00:04.0000000Z ##[error]FAILED tests/test_shop.py::test_total\n"


@dataclass
class EventfulClock(ManualClock):
    """A clock that sleeps at once, and lets happen what was to happen in that time."""

    events: list[tuple[float, Callable[[], object]]] = field(default_factory=list)
    deadline: Deadline | None = None

    def __post_init__(self) -> None:
        super().__init__()

    def at(self, seconds: float, event: Callable[[], object]) -> None:
        """Let this happen when so much time was slept from the beginning."""
        self.events.append((seconds, event))

    def sleep(self, seconds: float) -> None:
        """Let the time pass, and what is due in it; while it passes no look's time is counted."""
        if seconds == SLICE_SECONDS and self.deadline is not None:
            assert self.deadline.at is None
        super().sleep(seconds)
        due = [event for at, event in self.events if at <= self.offset]
        self.events = [one for one in self.events if one[0] > self.offset]
        for event in due:
            event()


@pytest.fixture
def clock(place: Place) -> EventfulClock:
    """The place's clock."""
    place.clock = EventfulClock()
    return place.clock


def wait(
    place: Place, wanted: WaitFor = WaitFor.ANY, seconds: float = 1800.0, **environment: str
) -> Waited:
    """One wait for the claim's pull request, as a command begins it."""
    tree = place.tree(**environment)
    if isinstance(place.clock, EventfulClock):
        place.clock.deadline = tree.world.deadline
    return ClaimWait(
        tree.world, tree.claim_store, wanted=wanted, seconds=seconds, within=nullcontext
    ).run()


@pytest.mark.parametrize(
    ("left", "seconds"), [(-5.0, 2.0), (1.0, 2.0), (7.0, 7.0), (900.0, HOOK_SECONDS)]
)
def test_a_look_has_the_time_that_its_wait_has_left(left: float, seconds: float) -> None:
    """At least what it needs for itself, and at most what a hook's has."""
    assert look_seconds(left) == seconds


def test_each_look_of_a_wait_has_that_time(tmp_path: Path) -> None:
    """Of a wait by number as of one for the claim; a look that hangs costs no hook's whole time."""
    given: list[float] = []

    def renewed(seconds: float) -> AbstractContextManager[None]:
        given.append(seconds)
        raise DeadlineReached

    how: dict[str, Any] = {"wanted": WaitFor.ANY, "seconds": 7.0, "within": nullcontext}
    clock = SimpleNamespace(now=lambda: 0.0, monotonic=lambda: 0.0)
    deadline = SimpleNamespace(renewed=renewed)
    parts = {"clock": clock, "deadline": deadline, "environment": {}, "root": tmp_path}
    world: Any = SimpleNamespace(**parts, settings=Settings())
    BranchWait(world, 46, **how)._look()
    ClaimWait(world, world, **how)._ticked(world, Listener("wait", (), ""))
    assert given == [7.0, 7.0]


@pytest.mark.parametrize(("seconds", "held"), [(300.0, [300.0]), (None, [])])
def test_a_limit_that_a_look_met_holds_all_waiters_of_this_machine(
    place: Place, monkeypatch: pytest.MonkeyPatch, seconds: float | None, held: list[float]
) -> None:
    """For as long as GitHub names; an outage without a time is for each to try again."""
    given: list[float] = []
    looks: Any = SimpleNamespace(hold=given.append)
    error = Transient("Not now.", retry_after=seconds)
    monkeypatch.setattr(wait_loop, "tick", lambda *_, **__: Report(None, problem=error))
    monkeypatch.setattr(ClaimWait, "_with_looks", lambda _, call: call(looks))
    tree = place.tree()
    how: dict[str, Any] = {"wanted": WaitFor.ANY, "seconds": 7.0, "within": nullcontext}
    waiting = ClaimWait(tree.world, tree.claim_store, **how)
    assert waiting._ticked(tree.claim_store, Listener("wait", (), "")).problem is error
    assert given == held


@pytest.mark.parametrize(("sha", "is_held"), [("a1", True), ("b2", False)])
def test_what_waits_for_a_person_holds_only_the_head_that_it_was_seen_at(
    sha: str, *, is_held: bool
) -> None:
    """What the last look recorded of its checks is nothing of another head."""
    checks = {"sha": sha, "verdict": "FAILED", "waits": ["license/cla"], "is_unchecked": True}
    states = states_of(PullRecord(head="a1", checks=checks))
    assert states == ({"held", "unchecked"} if is_held else set())


@pytest.mark.parametrize(
    ("seen_at", "count", "is_over"), [(-5.0, 0, True), (5.0, 0, False), (-5.0, 1, False)]
)
def test_a_failure_from_before_the_wait_that_is_over_is_looked_at_again(
    monkeypatch: pytest.MonkeyPatch, seen_at: float, count: int, *, is_over: bool
) -> None:
    """Somebody ran it again since: it ends no wait before a look of the wait's own."""
    clock = SimpleNamespace(now=lambda: 0.0, monotonic=lambda: 0.0)
    ledger = SimpleNamespace(waiting=list)
    both: Any = SimpleNamespace(clock=clock, ledger=ledger, environment={})
    packet: Any = SimpleNamespace(count=count, unseen=())
    red = Waited(Ending.RED, 46, packet=packet)
    monkeypatch.setattr(ClaimWait, "_seen_at", seen_at)
    answers = {"_waiting": [], "_is_beside": True, "_explained": red}
    for name, answer in answers.items():
        monkeypatch.setattr(ClaimWait, name, lambda *_, answer=answer: answer)
    waiting = ClaimWait(both, both, wanted=WaitFor.CI, seconds=60.0, within=nullcontext)
    assert waiting._told(both, Ending.RED) == (None if is_over else red)
    assert waiting.is_doubted is is_over


@pytest.mark.soak(
    "app/test_claim_wait.py::test_what_a_look_told_before_is_looked_at_by_its_kind_all_the_same",
    "feedback/test_endings.py::test_news_ends_the_waits_that_it_is_for",
)
def test_what_the_runner_broke_ends_no_wait(place: Place, clock: EventfulClock) -> None:
    """It is run again, as by the waiter of a session, and what comes of that ends the wait."""
    place.ready()
    began = datetime.now(UTC) - timedelta(minutes=1)
    lost = "Error: No space left on device\n"

    def breaks() -> None:
        place.control.set_check(46, "test", conclusion="failure", log=lost, started_at=began)
        place.control.plan_checks(PlannedCheck(name="test"))

    clock.at(30, breaks)
    green = wait(place)
    assert green.ending is Ending.GOOD
    assert sum(one.path.endswith("/rerun-failed-jobs") for one in place.requests()) == 1


def test_a_rerun_that_was_refused_waits_for_a_person_also_later(
    place: Place, clock: EventfulClock
) -> None:
    """Nothing goes on before somebody runs the jobs again: red is no news, and not the agent's to mend."""
    place.ready()
    began, lost = datetime.now(UTC) - timedelta(minutes=1), "Error: No space left on device\n"
    place.control.add_fault("no-permission", path="rerun")

    def breaks() -> None:
        place.control.set_check(46, "test", conclusion="failure", log=lost, started_at=began)

    clock.at(30, breaks)
    assert wait(place).ending is Ending.PERSON
    later = wait(place)
    assert (later.ending, later.said) == (Ending.PERSON, ())


@pytest.mark.once("feedback/test_endings has which wait a kind of news ends")
@pytest.mark.parametrize("wanted", [WaitFor.ANY, WaitFor.CI])
def test_what_a_look_told_before_is_looked_at_by_its_kind_all_the_same(
    place: Place, clock: EventfulClock, wanted: WaitFor
) -> None:
    """The agent's own tick said that CI failed: the wait finds that the runner did, and runs it again."""
    place.ready()
    tree = place.tree()
    tree.tick(Wake.TICK)
    began = datetime.now(UTC) - timedelta(minutes=1)
    place.control.set_check(
        46, "test", conclusion="failure", log="Error: No space left on device\n", started_at=began
    )
    place.control.plan_checks(PlannedCheck(name="test"))
    assert any("1 FAILED" in one.text for one in tree.tick(Wake.TICK).said)
    assert wait(place, wanted).ending is Ending.GOOD
    assert sum(one.path.endswith("/rerun-failed-jobs") for one in place.requests()) == 1


def test_a_wait_tells_each_news_once_and_ends_with_what_leaves_nothing_to_wait_for(
    place: Place, clock: EventfulClock
) -> None:
    """Hand-off, red with its log, a fix, green, a review after its quiet time, the merge.

    What was told is no news to the next wait, nor to a hook. A failure ends the next wait all the same, and
    green does for whom it was CI; a head that is not the pushed one ends nothing.
    """
    place.ready()
    clock.at(30, lambda: place.control.set_check(46, "test", conclusion="failure", log=LOG))
    red = wait(place)
    assert (red.ending, red.pull) == (Ending.RED, 46)
    assert red.packet is not None
    assert "FAILED tests/test_shop.py::test_total" in red.packet.failures[0].first_error
    assert ["1 FAILED — test on PR #46" in one.text for one in red.said] == [False, True]
    assert place.tree().tick(Wake.IDLE).said == ()
    again = wait(place)
    assert (again.ending, again.said) == (Ending.RED, ())

    # As after a push that GitHub does not show yet: after a minute its head counts.
    place.git("update-ref", f"refs/remotes/origin/{BRANCH}", "HEAD~1")
    assert wait(place, seconds=30).ending is Ending.TIME_OUT
    assert wait(place).ending is Ending.RED

    place.work()
    before = clock.offset
    place.control.set_check(46, "test")
    green = wait(place)
    assert green.ending is Ending.GOOD
    assert "CI passed" in green.said[0].text
    assert clock.offset - before < 200
    assert wait(place, WaitFor.CI).ending is Ending.GOOD

    clock.at(
        clock.offset + 60,
        lambda: place.control.review(46, "CHANGES_REQUESTED", body="Why?"),
    )
    before = clock.offset
    review = wait(place, WaitFor.REVIEW)
    assert review.ending is Ending.REVIEW
    assert "Why?" in review.said[0].text
    assert clock.offset - before > QUIET_SECONDS

    clock.at(clock.offset + 300, lambda: place.control.merge_pull(46))
    merged = wait(place, WaitFor.MERGE)
    assert merged.ending is Ending.GOOD
    assert "PR #46 merged!" in merged.said[0].text
    assert wait(place).ending is Ending.GOOD


@pytest.mark.soak(
    "app/test_claim_wait.py::test_a_failure_that_runs_again_before_anybody_heard_ends_no_wait",
    "app/test_claim_wait.py::test_what_waits_for_a_person_holds_only_the_head_that_it_was_seen_at",
    "feedback/test_endings.py::test_a_state_ends_a_wait_that_nothing_can_come_of",
)
def test_what_needed_a_person_ends_no_wait_once_it_does_not(
    place: Place, clock: EventfulClock
) -> None:
    """A check that only a person brings on ends a wait with that, and its pass with good.

    What was said of the head before does not count any more.
    """
    place.ready()
    place.tree().tick(Wake.STOP)
    for word in ("stale", "action_required"):
        place.control.set_check(46, "license/cla", conclusion=word, workflow=None)
        clock.offset += 200
        place.tree().tick(Wake.TICK)
        needed = wait(place, WaitFor.CI, seconds=5)
        assert (needed.ending, needed.packet) == (Ending.PERSON, None)
    assert "1 failed at" in needed.state[1]
    place.control.set_check(46, "license/cla", workflow=None)
    clock.offset += 200
    assert "CI passed" in place.tree().tick(Wake.TICK).said[-1].text
    assert wait(place, WaitFor.CI, seconds=5).ending is Ending.GOOD
    assert wait(place, seconds=5).ending is Ending.TIME_OUT


def test_a_failure_that_runs_again_before_anybody_heard_ends_no_wait(
    place: Place, clock: EventfulClock
) -> None:
    """What waits to be told of it is not so any more; the second failure is told, with its packet."""
    place.ready()
    tree = place.tree()
    tree.tick(Wake.STOP)
    place.control.set_check(46, "test", conclusion="failure", log=LOG)
    clock.offset += 200
    nobody = Listener(audiences=())
    look.tick(tree.world, tree.claim_store, Wake.TICK, to=nobody)
    assert any("1 FAILED" in notice.text for notice in tree.claim_store.ledger.waiting())
    place.control.set_check(46, "test", status="in_progress", conclusion=None)
    clock.offset += 200
    assert wait(place, WaitFor.CI, seconds=5).ending is Ending.TIME_OUT
    place.control.set_check(46, "test", conclusion="failure")
    clock.offset += 200
    failed = wait(place, WaitFor.CI, seconds=5)
    assert (failed.ending, len(failed.said)) == (Ending.RED, 1)
    assert failed.packet is not None
    assert [failure.name for failure in failed.packet.failures] == ["test"]


@pytest.mark.soak(
    "app/test_claim_wait.py::test_a_failure_that_runs_again_before_anybody_heard_ends_no_wait",
    "app/test_claim_wait.py::test_a_failure_from_before_the_wait_that_is_over_is_looked_at_again",
    "feedback/test_endings.py::test_a_state_ends_a_wait_that_nothing_can_come_of",
)
def test_who_runs_a_failure_again_and_waits_at_once_waits_for_that_run(
    place: Place, clock: EventfulClock
) -> None:
    """What was seen to have failed moments before the wait has not failed any more: it looks again."""
    place.ready()
    tree = place.tree()
    tree.tick(Wake.STOP)
    place.control.set_check(46, "test", conclusion="failure", log=LOG)
    clock.offset += 200
    tree.tick(Wake.TICK)
    place.control.set_check(46, "test", status="in_progress", conclusion=None)
    clock.at(clock.offset + 60, lambda: place.control.set_check(46, "test"))
    clock.offset += 5
    passed = wait(place, WaitFor.CI)
    assert (passed.ending, passed.packet) == (Ending.GOOD, None)
    assert clock.offset < 500


@pytest.mark.parametrize(
    ("kind", "ending"), [("stopped", Ending.PERSON), ("inherited", Ending.RED)]
)
def test_what_the_user_was_asked_about_waits_for_the_user(
    place: Place, clock: EventfulClock, kind: str, ending: Ending
) -> None:
    """An agent that waits again is not sent to mend what it is not to mend before the answer."""
    place.ready()
    tree = place.tree()
    tree.tick(Wake.STOP)
    place.control.set_check(46, "test", conclusion="failure", log=LOG)
    clock.offset += 200
    tree.tick(Wake.TICK)
    path = place.root / ".lifecycle/state.json"
    state = json.loads(path.read_text())
    pull = state["record"]["pull"]
    pull["failures"] = {**pull["failures"], "red": pull["head"], "kind": kind}
    path.write_text(json.dumps(state))
    assert wait(place, WaitFor.CI, seconds=1).ending is ending


@pytest.mark.once("test_a_pull_request_without_a_claim_is_waited_for_by_the_same_rules")
@pytest.mark.parametrize("has_claim", [True, False], ids=["claim", "number"])
def test_a_conflict_ends_a_wait_with_its_files(
    place: Place, clock: EventfulClock, has_claim: bool
) -> None:
    """What the waiter's wake has, a wait prints too: files, both sides' commits, the command."""
    place.ready()
    tree = place.tree()
    tree.tick(Wake.STOP)

    clock.at(30, lambda: place.control.push_commit("main", {"work.txt": "theirs\n"}, "Theirs"))
    alone = BranchWait(tree.world, 46, wanted=WaitFor.ANY, seconds=900, within=nullcontext)
    done = wait(place) if has_claim else alone.run()
    assert done.ending is Ending.CONFLICT
    assert done.why[1:3] == ("In conflict:", "  | work.txt")
    assert "In the worktree: git fetch origin main && git merge origin/main" in done.why


def test_a_claim_that_is_closed_without_a_pull_request_is_not_waited_for(
    place: Place, clock: EventfulClock
) -> None:
    """Where closing is refused for now, no news can come: that is said at once, and asks nobody."""
    place.ready(phase="coding")
    tree = place.tree()
    move(tree.world, tree.claim_store, Phase.DONE, force=True, override="No", consent="close")
    place.clear()
    with pytest.raises(
        Refused, match="is being closed without a pull request, so there is nothing"
    ):
        wait(place)
    assert (clock.offset, place.requests()) == (0.0, [])


def test_a_task_that_was_released_from_afar_is_not_held_by_another(place: Place) -> None:
    """Nobody has it: the refusal is not the one that says who does."""
    tree = place.tree()
    tree.claim(42)
    place.control.unassign(42, "octocat")
    place.control.set_field(42, "Status", "Todo")
    place.control.set_field(42, "Agent", None)
    place.git("push", "--quiet", "origin", ":refs/agent-claims/42")
    tree.tick(Wake.TICK)
    with pytest.raises(Refused, match="was released") as refused:
        wait(place)
    assert type(refused.value) is Refused


def test_a_wait_without_news_ends_with_its_time_and_what_it_knows(
    place: Place, clock: EventfulClock
) -> None:
    """Nothing happened; nothing can come; the token is refused; nobody answers: each by its own end.

    However short it is, what happened since somebody looked before it is seen.
    """
    place.ready(phase="coding")
    with pytest.raises(Refused, match="has no pull request yet"):
        wait(place)
    place.write(phase="ready_for_pr")
    late = wait(place, seconds=240)
    assert (late.ending, late.pull, late.problem) == (Ending.TIME_OUT, 46, "")
    assert clock.offset == pytest.approx(240, abs=60)
    assert "PR #46" in late.state[0]

    place.control.set_check(46, "test", status="in_progress", conclusion=None)
    place.control.add_fault(Fault("status", status=502))
    assert wait(place, seconds=600).ending is Ending.TIME_OUT
    clock.offset += 200
    clock.at(clock.offset + 1, lambda: place.control.add_fault(Fault("cut", count=10_000)))
    cut = wait(place, seconds=600)
    assert cut.ending is Ending.TIME_OUT  # it answered once, in the wait's first second
    assert "broke off" in cut.problem
    with pytest.raises(Transient, match="broke off the connection"):
        wait(place, seconds=600)
    place.control.clear_faults()
    place.control.add_fault(Fault("status", status=401, operation="ObserveClaim", count=2))
    refused = wait(place, seconds=600)
    assert refused.ending is Ending.CREDENTIALS
    assert "does not accept the token" in refused.problem
    short = wait(place, seconds=5)
    assert (short.ending, short.problem) == (Ending.TIME_OUT, refused.problem)
    assert wait(place, seconds=20).ending is Ending.CREDENTIALS  # no poll's time later, but at once
    assert wait(place, seconds=600).ending is Ending.TIME_OUT  # it is asked again, and not believed
    place.tree().tick(Wake.TICK)
    place.control.set_check(46, "test")
    clock.offset += 20
    assert wait(place, WaitFor.CI, seconds=5).ending is Ending.GOOD


def test_what_another_token_was_refused_holds_no_wait_back(
    place: Place, clock: EventfulClock
) -> None:
    """With a token that GitHub takes it is asked within seconds, and not a minute after the refusal."""
    place.ready()
    place.tree().tick(Wake.TICK)
    place.control.set_check(46, "test")
    clock.offset += 200
    assert wait(place, seconds=30, GH_TOKEN="ghp_revoked").ending is Ending.CREDENTIALS
    assert wait(place, WaitFor.CI, seconds=5).ending is Ending.GOOD


def test_an_older_silence_holds_no_wait_back(place: Place, clock: EventfulClock) -> None:
    """GitHub is there again: it is asked at once, and what was wrong before is not said of now.

    A limit that it named is kept to.
    """
    place.ready()
    place.tree().tick(Wake.TICK)
    place.control.set_check(46, "test")
    place.control.add_fault(Fault("cut", count=10_000))
    clock.offset += 200
    assert place.tree().tick(Wake.TICK).problem is not None
    place.control.clear_faults()
    clock.offset += 16
    began = clock.offset
    back = wait(place, WaitFor.CI, seconds=20)
    assert (back.ending, back.problem) == (Ending.GOOD, "")
    assert clock.offset - began < 5

    place.control.add_fault("secondary-limit", count=10_000)
    clock.offset += 200
    assert place.tree().tick(Wake.TICK).problem is not None
    place.control.clear_faults()
    clock.offset += 16
    before = len(place.requests())
    assert wait(place, seconds=20).ending is Ending.TIME_OUT
    assert len(place.requests()) == before


def test_a_short_wait_looks_before_its_time_is_up(place: Place, clock: EventfulClock) -> None:
    """Somebody looked just before it, and then it was closed: it does not say that there is no news.

    It is the waiter from its beginning, so that a stop starts no other.
    """
    place.ready()
    tree = place.tree()
    tree.tick(Wake.STOP)
    tree.tick(Wake.TICK)
    folder, is_waited = tree.claim_store.folder, list[bool]()
    clock.at(
        clock.offset + 2,
        lambda: is_waited.append(signs_of_life.is_live(folder, clock.now())),
    )
    clock.at(clock.offset + 10, lambda: place.control.close_pull(place.pull()))
    began = clock.offset
    assert wait(place, seconds=30).ending is Ending.CLOSED
    assert began + 27 <= clock.offset <= began + 31
    assert is_waited == [True]
    told = [wait(place, wanted, seconds=5) for wanted in WaitFor]
    assert [(again.ending, again.said) for again in told] == [(Ending.CLOSED, ())] * len(WaitFor)


def test_a_pull_request_without_a_claim_is_waited_for_by_the_same_rules(
    place: Place, clock: EventfulClock
) -> None:
    """What the claim's own rules tell, on a record that lives as long as the wait: red, green, merged."""
    place.work()
    number = place.control.open_pull(BRANCH, "Work", by="octocat")

    def waited(wanted: WaitFor = WaitFor.ANY, seconds: float = 1800.0) -> Waited:
        world = place.tree().world
        return BranchWait(world, number, wanted=wanted, seconds=seconds, within=nullcontext).run()

    assert waited(seconds=300).ending is Ending.TIME_OUT
    clock.at(
        clock.offset + 200,
        lambda: place.control.set_check(number, "test", conclusion="failure", log=LOG),
    )
    red = waited()
    assert (red.ending, red.packet is not None) == (Ending.RED, True)
    place.control.set_check(number, "test")
    assert waited().ending is Ending.GOOD
    clock.at(
        clock.offset + 200, lambda: place.control.review(number, "CHANGES_REQUESTED", body="Why?")
    )
    review = waited(WaitFor.MERGE)
    assert (review.ending, "Why?" in review.said[0].text) == (Ending.REVIEW, True)
    place.control.close_pull(number)
    assert waited(WaitFor.REVIEW).ending is Ending.CLOSED
    place.control.reopen_pull(number)
    place.control.merge_pull(number)
    assert waited(WaitFor.REVIEW).ending is Ending.GOOD
    with pytest.raises(NotFound):
        BranchWait(place.tree().world, 999, wanted=WaitFor.ANY, seconds=9, within=nullcontext).run()


@pytest.mark.parametrize("has_claim", [True, False], ids=["claim", "number"])
def test_a_clock_that_is_set_back_does_not_stop_a_wait(
    place: Place, clock: EventfulClock, monkeypatch: pytest.MonkeyPatch, has_claim: bool
) -> None:
    """The shared looks name the next moment by that clock: then they are asked anew."""
    place.ready()
    tree = place.tree()
    tree.tick(Wake.STOP)
    place.control.set_check(46, "test", status="in_progress")
    ahead, began = clock.now, clock.offset

    def set_back() -> None:
        monkeypatch.setattr(clock, "now", lambda: ahead() - 3600.0)
        place.control.set_check(46, "test", conclusion="failure", log=LOG)

    clock.at(began + 500, set_back)
    alone = BranchWait(tree.world, 46, wanted=WaitFor.CI, seconds=7200, within=nullcontext)
    done = wait(place, WaitFor.CI, seconds=7200) if has_claim else alone.run()
    assert done.ending is Ending.RED
    assert clock.offset < began + 1000
