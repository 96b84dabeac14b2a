"""What is read beside the logs, and what a look hears of it: runs, the base, and what was pushed since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lifecycle.app.news_packets import judged
from lifecycle.app.waiting.wait_loop import watched
from lifecycle.app.wiring import WorktreeWorld
from lifecycle.claim.engine import briefing
from lifecycle.claim.engine.look import tick
from lifecycle.claim.record.claim_store import Listener
from lifecycle.core.light_dataclass import asdict
from lifecycle.core.plan import Audience, FailuresHeard, Wake
from lifecycle.core.timing import Deadline
from lifecycle.core.values.checks import Bucket, Check, Checks
from lifecycle.core.values.model import PullRequest
from lifecycle.feedback.checks.packet import MOST_JOBS
from lifecycle.feedback.failures.ladder import RedHead
from lifecycle.sandbox.checks.state import PlannedCheck
from lifecycle.sandbox.control.faults import Fault
from lifecycle.storage.state_file import MemoryCache
from tests.conftest import BRANCH, Place

HELD = ("failed",)
LOST = "Error: No space left on device\n"
WEAK = "jobs:\n  test:\n    continue-on-error: true\n"


@pytest.fixture
def world(place: Place) -> Iterator[WorktreeWorld]:
    """The world of a worktree whose deadline never comes."""
    deadline = Deadline.after(place.clock, 30)
    made = WorktreeWorld(place.root, place.environment, place.clock, deadline, MemoryCache())
    yield made
    made.close()


@pytest.fixture
def pull(place: Place, world: WorktreeWorld) -> PullRequest:
    """An open pull request whose only check failed by what it ran on."""
    place.work()
    number = place.control.open_pull(BRANCH, "Work")
    began = datetime.now(UTC) - timedelta(minutes=1)
    place.control.set_check(number, "test", conclusion="failure", log=LOST, started_at=began)
    tip = place.git("rev-parse", "origin/main")
    return replace(world.forge.pull_request(number), base_tip=tip, base="main")


def heard(
    world: WorktreeWorld,
    pull: PullRequest,
    known: Mapping[str, Any],
    *,
    reads: bool = True,
    may_fetch: bool = True,
) -> FailuresHeard:
    """What a look hears, after what failed was read."""
    if reads:
        assert world.failures.explained(pull.number, pull.head_sha, 20.0)
    return world.failures.heard(pull, known, may_read=True, may_fetch=may_fetch)


def checks(pull: PullRequest, bucket: Bucket) -> PullRequest:
    """The same with its check in this state."""
    run = Check("test", bucket, "CI", "pull_request")
    return replace(pull, checks=Checks(pull.head_sha, (run,)))


def test_a_run_that_is_not_over_is_waited_for(
    place: Place, world: WorktreeWorld, pull: PullRequest
) -> None:
    """Nobody is told; it is read again at the next look that shows checks, and then run again.

    Who looks and reads no logs afterwards leaves that to whoever does.
    """
    place.control.set_check(pull.number, "slow", status="in_progress")
    first = heard(world, pull, {})
    assert (first.is_settled, first.is_due, first.notices, first.reruns) == (True, False, (), ())
    bare = heard(world, pull, first.known, reads=False)
    assert (bare.is_due, bare.known) == (False, first.known)
    blind = world.failures.heard(
        checks(pull, Bucket.FAIL), first.known, may_read=False, may_fetch=True
    )
    assert (blind.is_due, blind.known) == (False, first.known)
    again = heard(world, checks(pull, Bucket.FAIL), first.known, reads=False)
    assert again.is_due
    assert not heard(world, checks(pull, Bucket.FAIL), again.known, reads=False).is_due
    place.control.set_check(pull.number, "slow")
    last = heard(world, pull, again.known)
    ((run, attempt),) = last.reruns
    assert (attempt, last.is_settled) == (1, True)
    assert [one.audience for one in last.notices] == [Audience.NOTE]
    place.control.plan_checks(PlannedCheck(name="test"))
    world.reports.run_again(run, attempt)
    # Another process, which knows nothing, finds the second attempt, and leaves it to the agent.
    place.control.set_check(pull.number, "test", conclusion="failure", log=LOST)
    fresh = heard(world, pull, {})
    assert (fresh.is_settled, fresh.reruns, fresh.notices) == (False, (), ())


def test_what_cannot_be_read_beside_the_logs_is_the_agents(
    place: Place, world: WorktreeWorld, pull: PullRequest
) -> None:
    """The wake goes out as it would without: nothing is run again that nobody knows."""
    place.control.add_fault(Fault("status", path="/actions/runs/", status=403, count=99))
    found = heard(world, pull, {})
    assert (found.is_settled, found.reruns, found.notices) == (False, (), ())


def test_what_there_is_no_room_for_may_be_anything(
    place: Place, world: WorktreeWorld, pull: PullRequest
) -> None:
    """Of the sixteenth failed check only the name is read: nothing is run again for the others."""
    for number in range(MOST_JOBS):
        place.control.set_check(pull.number, f"t{number}", conclusion="failure", log=LOST)
    found = heard(world, pull, {})
    assert (found.is_settled, found.reruns) == (False, ())


def test_of_another_head_than_the_present_nothing_is_told(
    world: WorktreeWorld, pull: PullRequest
) -> None:
    """What failed there is not what was spoken of, and decides nothing."""
    assert world.failures.explained(pull.number, "0" * 40, 20.0) == ()
    seen = world.failures.heard(pull, {}, may_read=True, may_fetch=False)
    assert seen.known["red"] == ""


def test_a_flake_is_heard_once(world: WorktreeWorld, pull: PullRequest) -> None:
    """With what had failed in it; a run that is under way again, or skipped, has not passed."""
    known = heard(world, pull, {}).known
    waits = heard(world, checks(pull, Bucket.PENDING), known, reads=False)
    assert waits.flakes == ()
    twin = replace(checks(pull, Bucket.FAIL), checks=Checks(pull.head_sha, (
        Check("test", Bucket.FAIL, "CI", "pull_request"), Check("test", Bucket.PASS, "CI", "push"),
    )))  # fmt: skip
    assert heard(world, twin, known, reads=False).flakes == ()  # each tests another tree
    for word in ("SKIPPED", "NEUTRAL"):
        run = Check("test", Bucket.PASS, "CI", "pull_request", word=word)
        skipped = replace(pull, checks=Checks(pull.head_sha, (run,)))
        assert heard(world, skipped, known, reads=False).flakes == ()
    passed = heard(world, checks(pull, Bucket.PASS), known, reads=False)
    assert passed.flakes == (("test", "Error: No space left on device"),)
    assert heard(world, checks(pull, Bucket.PASS), passed.known, reads=False).flakes == ()


def test_a_green_head_ends_what_failed_before_it(world: WorktreeWorld, pull: PullRequest) -> None:
    """Whatever fails after it counts anew; one that is not green yet ends nothing."""
    red = RedHead("0" * 40, ("test adds",), ("test adds",), "packet.txt")
    reds = (asdict(red),)
    known = {**heard(world, pull, {}, reads=False).known, "reds": reds, "stopped": ("test adds",)}
    for bucket in (Bucket.PENDING, Bucket.FAIL):
        left = heard(world, checks(pull, bucket), known, reads=False).known
        assert (left["reds"], left["stopped"]) == (reds, ("test adds",))
    after = heard(world, checks(pull, Bucket.PASS), known, reads=False).known
    assert after["reds"] == (asdict(replace(red, identities=(), trace=())),)
    assert after["stopped"] == ()


def test_what_came_from_the_base_is_not_the_fixs(
    place: Place, world: WorktreeWorld, pull: PullRequest
) -> None:
    """A base that weakened its own checks is merged: nothing is said. What the branch does is named.

    A tag that is called as the base is here is not the base.
    """
    known = heard(world, pull, {}).known
    place.git("tag", "origin/main")
    path = ".github/workflows/theirs.yml"
    place.control.push_commit("main", {path: WEAK}, "Theirs")
    place.git("fetch", "--quiet", "origin")
    place.git("merge", "--quiet", "--no-edit", "refs/remotes/origin/main")
    merged = replace(pull, head_sha=place.git("rev-parse", "HEAD"))
    clean = heard(world, merged, known, reads=False)
    assert (clean.tampering, clean.notices, clean.known["compared"]) == ((), (), merged.head_sha)
    assert (
        heard(world, merged, clean.known, reads=False).tampering is None
    )  # nothing new to be seen
    own = place.root / ".github" / "workflows" / "ours.yml"
    own.write_text(WEAK)
    place.git("add", ".github")
    place.git("commit", "--quiet", "-m", "Ours")
    weak = replace(pull, head_sha=place.git("rev-parse", "HEAD"))
    found = heard(world, weak, clean.known, reads=False)
    (said,) = found.tampering or ()
    assert said.startswith("lets a step or a job fail in .github/workflows/ours.yml")
    assert [one.audience for one in found.notices] == [Audience.NEWS, Audience.NOTE]
    assert heard(world, weak, found.known, reads=False).tampering is None
    place.work()
    later = replace(pull, head_sha=place.git("rev-parse", "HEAD"))
    still = heard(world, later, found.known, reads=False)
    assert still.tampering == found.tampering
    keys = [[one.key for one in news.notices] for news in (found, still)]
    assert keys[0] == keys[1]  # it was named already
    nowhere = replace(weak, base="nowhere")
    unknown = heard(world, nowhere, clean.known, reads=False).tampering
    assert {*(found.tampering or ())} < {
        *(unknown or ())
    }  # what the base brought nobody can tell then
    # A head that is not here cannot be looked through, and is again once it is.
    strange = heard(world, replace(pull, head_sha="1" * 40), known, reads=False)
    assert (strange.tampering, strange.known["compared"]) == (None, "")
    own.unlink()
    place.git("commit", "--quiet", "-am", "Take it back")
    back = replace(pull, head_sha=place.git("rev-parse", "HEAD"))
    assert heard(world, back, still.known, reads=False).tampering == ()
    assert (
        heard(world, pull, still.known, reads=False).tampering == ()
    )  # or goes back to the red head
    # In another pull request of the branch it is still there.
    other = replace(later, number=47)
    assert heard(world, other, still.known, reads=False).tampering == found.tampering


def test_what_somebody_else_pushed_is_looked_through_as_well(
    place: Place, world: WorktreeWorld, pull: PullRequest
) -> None:
    """A person's push, or another clone's, is fetched, not by a hook in a hurry; no ref keeps it."""
    known = heard(world, pull, {}).known
    place.git("push", "--quiet", "origin", f"HEAD:refs/heads/{BRANCH}")
    theirs = place.control.push_commit(BRANCH, {".github/workflows/x.yml": WEAK}, "Theirs")
    elsewhere, before = replace(pull, head_sha=theirs), place.git("show-ref")
    quick = heard(world, elsewhere, known, reads=False, may_fetch=False)
    assert (quick.tampering, quick.known["compared"]) == (None, "")
    found = heard(world, elsewhere, known, reads=False)
    (said,) = found.tampering or ()
    assert said.startswith("lets a step or a job fail in .github/workflows/x.yml")
    assert found.known["compared"] == theirs
    assert place.git("show-ref") == before


def test_a_failure_whose_run_is_not_over_is_told_to_nobody_until_it_is(place: Place) -> None:
    """The look takes the sentence back, and says it again at the next poll; then the jobs run again."""
    place.ready()
    tree = place.tree()
    tree.tick(Wake.TICK)
    began = datetime.now(UTC) - timedelta(minutes=1)
    place.control.set_check(46, "test", conclusion="failure", log=LOST, started_at=began)
    place.control.set_check(46, "slow", status="in_progress")

    news = (Audience.NEWS,)

    def look() -> list[str]:
        place.clock.sleep(200.0)
        tree.world.deadline.renew(None)
        told = tick(
            tree.world,
            tree.claim_store,
            Wake.IDLE,
            to=Listener("cli", news, held=HELD),
            may_read=True,
        )
        waiting = tree.claim_store.ledger.waiting()
        if not judged(tree.world, waiting, nullcontext()):
            return [one.text for one in told.said]
        assert "1 FAILED" in waiting[-1].text
        after = tick(tree.world, tree.claim_store, Wake.IDLE, to=Listener("cli", news))
        return [one.text for one in (*told.said, *after.said)]

    assert look() == look() == []
    assert not any(one.path.endswith("/rerun-failed-jobs") for one in place.requests())
    place.control.set_check(46, "slow")
    place.control.plan_checks(PlannedCheck(name="test"))
    assert look() == []
    assert sum(one.path.endswith("/rerun-failed-jobs") for one in place.requests()) == 1
    look()  # a read brings the other attempt on
    (green,) = look() or look()
    assert green.startswith("CI passed!")
    # Quiet again, it is looked at together with others', and by itself while the base matters.
    record = tree.claim_store.remembered()
    assert record is not None
    watching = watched(tree.world, tree.claim_store, record)
    assert watching is not None
    assert tree.world.looks is not None
    tree.world.deadline.renew(10.0)
    assert tree.world.looks.ask(*watching) is not None
    for failures in ({"base": "abc"}, {"is_due": True}):
        red = replace(record, pull=replace(record.pull, failures=failures))
        assert watched(tree.world, tree.claim_store, red) is None
    red = replace(record, pull=replace(record.pull, reruns=((7, 1),)))
    assert watched(tree.world, tree.claim_store, red) is None
    tree.world.close()


def test_a_refused_rerun_is_told_while_it_is_true_and_nobody_is_told_to_fix_it(
    place: Place,
) -> None:
    """The next step does not contradict it.

    Once a person ran the jobs again, or another head is there, GitHub is asked for nothing more.
    """
    place.ready()
    tree = place.tree()
    tree.tick(Wake.TICK)

    def breaks(minutes: int = 5) -> None:
        began = datetime.now(UTC) - timedelta(minutes=minutes)
        place.control.set_check(46, "test", conclusion="failure", log=LOST, started_at=began)

    def look() -> str:
        place.clock.sleep(200.0)
        tree.world.deadline.renew(None)
        for _ in range(2):
            tick(tree.world, tree.claim_store, Wake.IDLE, to=Listener("cli", ()), may_read=True)
            judged(tree.world, tree.claim_store.ledger.waiting(), nullcontext())
        record = tree.claim_store.remembered()
        assert record is not None
        waiting = tree.claim_store.ledger.waiting()
        return "\n".join((*briefing.claim_lines(record), *(one.text for one in waiting)))

    def asked() -> int:
        return sum(one.path.endswith("/rerun-failed-jobs") for one in place.requests())

    breaks()
    place.control.add_fault("no-permission", path="rerun")
    refused = look()
    assert refused.count("ask the user to run them again") == 2  # the briefing, and the queue
    assert "Fix, commit" not in refused
    assert asked() == 1
    place.control.clear_faults()
    place.control.set_check(46, "test")
    passed = look()
    assert "is ready to merge" in passed
    assert "not run again" not in passed
    breaks(minutes=1)  # another run of it
    place.control.add_fault("no-permission", path="rerun")
    assert "ask the user to run them again" in look()
    place.control.clear_faults()
    place.control.push_commit(BRANCH, {"more.txt": "more\n"}, "More")
    before = asked()
    assert "not run again" not in look()
    assert asked() == before
    tree.world.close()
