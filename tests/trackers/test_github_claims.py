"""Who has an issue: leases, marks where none can be written, and steps that were cut off."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace

import pytest

from lifecycle.core.errors import AlreadyClaimed, NotFound, Rejected, Transient
from lifecycle.core.timing import parse_time
from lifecycle.core.tracker import Atomicity, TaskStatus
from lifecycle.core.values.shapes import IssueFacts
from lifecycle.git import lease
from lifecycle.github.pulls.issue_calls import IssueCalls
from lifecycle.sandbox.control.faults import Fault
from tests.conftest import COMMAND, ManualClock
from tests.trackers.grounds import MARIA, VISITOR, GitHubGround, github, variables
from tests.trackers.issues import ONE, TWO, asked, issue, pushed_by, refs, tracker

RIVALS = 4
HELD = "Claimed by `agent-1`. No lease could be written, so this comment says who was first."


@pytest.fixture
def ground() -> Iterator[GitHubGround]:
    """A fresh sandbox and a clone."""
    with github() as made:
        yield made


@pytest.fixture
def alone() -> Iterator[GitHubGround]:
    """The same, without a remote for leases."""
    with github(has_leases=False) as made:
        yield made


# Who has it.


def test_a_claim_is_a_lease_and_an_assignee(ground: GitHubGround) -> None:
    """Both are there, the lease names the agent, and again nothing is asked twice or written."""
    issues = tracker(ground)
    assert len(asked(ground, issues.abilities)) == 1
    assert asked(ground, issues.abilities) == []
    assert issues.abilities().claim_atomicity is Atomicity.SHARED_CAS
    issues.claim("44")  # whose token it is was asked then
    assert asked(ground, lambda: issues.claim("42")) == [
        "GET /issues/42", "GET /issues/42", "POST /issues/42/assignees", "GET /issues/42/comments"
    ]  # fmt: skip
    assert refs(ground) == {"refs/agent-claims/42", "refs/agent-claims/44"}
    assert issue(ground, 42)["assignees"] == ["octocat"]
    world = ground.world(ONE)
    held = lease.read(world.git, "origin", 42)
    assert held is not None
    assert held.agent == ONE
    assert asked(ground, lambda: issues.claim("42")) == ["GET /issues/42"]
    assert asked(ground, lambda: issues.release("42")) == [
        "GET /issues/42", "GET /issues/42", "DELETE /issues/42/assignees"
    ]  # fmt: skip


def test_a_lease_has_githubs_time_if_this_machines_clock_is_wrong(
    ground: GitHubGround, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that of `lifecycle claim`: the time comes with the answers that the claim needs anyway."""
    world, clock = ground.world(ONE), ManualClock()
    world.clock, clock.offset = clock, 25_200.0
    monkeypatch.setattr(lease, "time", SimpleNamespace(time=clock.now))
    world.tracker.claim("42")
    held = lease.read(world.git, "origin", 42)
    assert held is not None
    assert abs((parse_time(held.since) or 0.0) - time.time()) < 60


def test_an_agent_of_the_same_account_is_told(ground: GitHubGround) -> None:
    """The assignee is the same: the lease tells who, and since when."""
    tracker(ground).claim("42")
    with pytest.raises(AlreadyClaimed) as refused:
        tracker(ground, TWO).claim("42")
    assert refused.value.by == ONE
    assert refused.value.sentence.startswith("#42 is held by agent-1 since 20")
    with pytest.raises(AlreadyClaimed):
        tracker(ground, TWO).release("42")


def test_whoever_else_has_it_is_known_by_lease_assignee_and_comment(ground: GitHubGround) -> None:
    """One request for the issue, git's own for the lease; comments only where no lease says it."""
    one, two = tracker(ground), tracker(ground, TWO)
    assert one.get("42", holders=True).held_by == ()
    one.claim("42")
    two.get("41", holders=True)  # whose token it is was asked then
    assert asked(ground, lambda: two.get("42", holders=True)) == ["GET /issues/42"]
    assert two.get("42", holders=True).held_by == (ONE,)
    assert (two.get("42").held_by, one.get("42", holders=True).held_by) == ((), ())
    ground.control.assign(42, "maria")
    assert one.get("42", holders=True).held_by == (), "it is assigned to this account as well"
    ground.control.unassign(42, "octocat")
    assert one.get("42", holders=True).held_by == ("maria",)
    assert two.get("42", holders=True).held_by == (ONE, "maria")
    ground.control.close_issue(42)
    assert two.get("42", holders=True).held_by == ()
    # Without a lease the oldest comment of those who are assigned says it.
    pushed_by(ground, VISITOR)
    one.claim("44")
    assert refs(ground) == {"refs/agent-claims/42"}
    assert asked(ground, lambda: two.get("44", holders=True)) == [
        "GET /issues/44", "GET /issues/44/comments"
    ]  # fmt: skip
    assert two.get("44", holders=True).held_by == (ONE,)
    assert one.get("44", holders=True).held_by == ()


def test_a_lease_that_cannot_be_read_is_no_evidence(ground: GitHubGround) -> None:
    """The issue itself can: nobody is taken for its holder, and the log says what is left out."""
    tracker(ground).claim("42")
    two = tracker(ground, TWO)
    assert two._has_leases
    subprocess.run(
        ["git", "remote", "set-url", "origin", f"{ground.info.git_url}/gone"],
        cwd=ground.root,
        check=True,
    )
    assert two.get("42", holders=True).held_by == ()


def test_a_person_who_assigned_herself_has_it(ground: GitHubGround) -> None:
    """No lease is taken from under her, and her name is told."""
    ground.control.assign(42, "maria")
    with pytest.raises(AlreadyClaimed) as refused:
        tracker(ground).claim("42")
    assert refused.value.by == "maria"
    assert refs(ground) == set()


def test_where_nobody_can_be_assigned_nothing_is_held(ground: GitHubGround) -> None:
    """GitHub says no: the lease is given back, and the error is GitHub's."""
    ground.control.add_fault(
        Fault("status", method="POST", path="/assignees$", status=422, body='{"message": "No"}')
    )
    with pytest.raises(Rejected):
        tracker(ground).claim("42")
    assert refs(ground) == set()
    assert issue(ground, 42)["assignees"] == []


def test_a_claim_that_was_cut_off_is_finished_by_the_next(ground: GitHubGround) -> None:
    """The lease is there and nobody is assigned: the same agent goes on, another is told."""
    ground.control.add_fault(
        Fault("status", method="POST", path="/assignees$", status=502, count=9)
    )
    with pytest.raises(Transient):
        tracker(ground).claim("42")
    ground.control.clear_faults()
    assert refs(ground) == {"refs/agent-claims/42"}
    with pytest.raises(AlreadyClaimed):
        tracker(ground, TWO).claim("42")
    assert tracker(ground).claim("42").status is TaskStatus.IN_PROGRESS
    assert issue(ground, 42)["assignees"] == ["octocat"]


def test_the_next_one_goes_past_what_is_held(ground: GitHubGround) -> None:
    """An issue that shows no assignee may be held by a lease: the one after it is claimed."""
    world = ground.world(TWO)
    lease.take(world.git, "origin", 41, TWO)
    found = tracker(ground).claim_next(labels=("enhancement",))
    assert found is not None
    assert found.id == "43"


def test_closing_ends_the_lease(ground: GitHubGround) -> None:
    """The agent's own goes, also where the first call was cut off behind the closing; others' stay."""
    issues = tracker(ground)
    issues.claim("42")
    world = ground.world(TWO)
    lease.take(world.git, "origin", 41, TWO)
    issues.close("42", reason="Done")
    issues.close("41")
    assert refs(ground) == {"refs/agent-claims/41"}
    lease.take(ground.world(ONE).git, "origin", 42, ONE)
    issues.close("42")
    assert refs(ground) == {"refs/agent-claims/41"}


def test_reopening_ends_every_lease(ground: GitHubGround) -> None:
    """What an agent left that never came back holds nobody up."""
    tracker(ground, TWO).claim("42")
    ground.control.close_issue(42)
    found = tracker(ground).reopen("42")
    assert (found.status, found.assignee) == (TaskStatus.OPEN, "")
    assert refs(ground) == set()
    assert tracker(ground).claim("42").assignee == "octocat"


@pytest.mark.parametrize(
    ("method", "path"), [("PATCH", "/issues/42$"), ("DELETE", "/issues/42/assignees$")]
)
def test_a_reopening_that_was_cut_off_is_finished_by_the_next(
    ground: GitHubGround, method: str, path: str
) -> None:
    """Assignees go before it is open: a second call sees it closed and does all of it."""
    issues = tracker(ground)
    issues.claim("42")
    issues.close("42")
    ground.control.add_fault(Fault("status", method=method, path=path, status=502, count=9))
    with pytest.raises(Transient):
        issues.reopen("42")
    ground.control.clear_faults()
    found = issues.reopen("42")
    assert (found.status, found.assignee) == (TaskStatus.OPEN, "")


def test_a_reason_is_posted_once_however_often_closing_is_tried(ground: GitHubGround) -> None:
    """The comment comes first; what is left of a call that was cut off is used by the next."""
    ground.control.add_fault(
        Fault("status", method="PATCH", path="/issues/42$", status=502, count=9)
    )
    with pytest.raises(Transient):
        tracker(ground).close("42", reason="Done")
    ground.control.clear_faults()
    assert tracker(ground).close("42", reason="Done").close_reason == "Done"
    assert [note.text for note in tracker(ground).list_comments("42")] == ["Done"]


def test_an_old_reason_is_not_told_again(ground: GitHubGround) -> None:
    """Closed with a reason, reopened, closed without one: nobody said why."""
    issues = tracker(ground)
    issues.close("42", reason="Too early")
    issues.reopen("42")
    assert issues.close("42").close_reason == "completed"


# Where no lease can be written.


def test_without_a_lease_a_comment_says_who_was_first(alone: GitHubGround) -> None:
    """Assigned, marked, and told as advisory; released, both are gone."""
    issues = tracker(alone)
    assert issues.abilities().claim_atomicity is Atomicity.ADVISORY
    issues.claim("42")
    assert [note.text for note in issues.list_comments("42")] == [HELD]
    assert issue(alone, 42)["assignees"] == ["octocat"]
    with pytest.raises(AlreadyClaimed) as refused:
        tracker(alone, TWO).claim("42")
    assert refused.value.by == ONE
    issues.release("42")
    assert issues.list_comments("42") == ()
    assert issue(alone, 42)["assignees"] == []


def test_where_the_push_is_refused_a_comment_does(ground: GitHubGround) -> None:
    """git's own credentials may not push, while the token may: the claim is advisory, and is held.

    Nobody else of the account takes it, also not one who could write a lease.
    """
    pushed_by(ground, VISITOR)
    issues = tracker(ground)
    assert issues.claim("42").assignee == "octocat"
    assert refs(ground) == set()
    assert [note.text for note in issues.list_comments("42")] == [HELD]
    assert issues.claim("42").assignee == "octocat"
    with pytest.raises(AlreadyClaimed) as refused:
        tracker(ground, TWO).claim("42")
    assert refused.value.by == ONE
    with pytest.raises(AlreadyClaimed):
        tracker(ground, TWO).release("42")
    pushed_by(ground, ground.info.token)
    with pytest.raises(AlreadyClaimed):
        tracker(ground, TWO).claim("42")
    assert refs(ground) == set()
    issues.release("42")
    assert issues.get("42").assignee == ""
    assert issues.list_comments("42") == ()


def test_whoever_may_not_write_claims_nothing(ground: GitHubGround) -> None:
    """Abilities say so before, the error is told, and nothing is left of the attempt."""
    pushed_by(ground, VISITOR)
    issues = tracker(ground, GH_TOKEN=VISITOR)
    assert issues.abilities().claim_atomicity is Atomicity.ADVISORY
    with pytest.raises(Rejected):
        issues.claim("42")
    assert issues.list_comments("42") == ()
    assert refs(ground) == set()


def test_a_lease_in_a_fork_is_none(ground: GitHubGround) -> None:
    """Where branches are pushed elsewhere, nobody who works here would see it."""
    issues = tracker(ground, LIFECYCLE_REPOSITORY="octo-org/elsewhere")
    with pytest.raises(NotFound):
        issues.claim("42")
    assert issues._has_leases is False


def test_a_person_who_came_between_has_it(alone: GitHubGround) -> None:
    """She assigned herself while the agent did: what the agent wrote is taken back."""
    issues = tracker(alone)
    _ = issues.abilities()
    alone.control.add_fault(
        Fault("status", method="POST", path="/issues/42/comments$", status=502, when="before")
    )
    with pytest.raises(Transient):
        issues.claim("42")
    alone.control.assign(42, "maria")
    with pytest.raises(AlreadyClaimed) as refused:
        tracker(alone).claim("42")
    assert refused.value.by == "maria"
    assert tracker(alone).list_comments("42") == ()


@pytest.mark.parametrize("has_two", [False, True], ids=["one account", "two accounts"])
def test_without_leases_no_two_keep_a_task(*, has_two: bool) -> None:
    """Agents that begin at once: at most one is told that it has it, and the others left nothing.

    Of one account exactly one has it; of two each may give way to the other.
    """
    with github(has_leases=False, has_two=has_two) as ground:
        for number in ("41", "42", "43"):
            start = Barrier(RIVALS)

            def attempt(actor: str, number: str = number, start: Barrier = start) -> str:
                issues = tracker(ground, actor)
                issues.get(number)
                start.wait(timeout=60)
                try:
                    issues.claim(number)
                except AlreadyClaimed:
                    return ""
                return actor

            names = [f"agent-{one}" for one in range(1, RIVALS + 1)]
            with ThreadPoolExecutor(RIVALS) as pool:
                winners = [name for name in pool.map(attempt, names) if name]
            assert len(winners) <= 1
            assert winners or has_two
            notes = tracker(ground).list_comments(number)
            assert [note.text for note in notes] == [HELD.replace(ONE, name) for name in winners]
            held_by = [ground.holder(name) for name in winners]
            assert issue(ground, int(number))["assignees"] == held_by


def test_who_gives_way_leaves_the_assignee_to_who_came_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An agent of the same account claims after the last look of one that gives way: it has all of it."""
    with github(has_leases=False, has_two=True) as ground:
        issues, maria, third = (tracker(ground, name) for name in (ONE, TWO, "agent-3"))
        issues.get("42")
        begun: list[str] = []
        send = IssueCalls.assignees

        def late(
            calls: IssueCalls, method: str, number: int, logins: tuple[str, ...]
        ) -> IssueFacts:
            if method == "POST" and not begun:
                begun.append("maria")
                maria.claim("42")
            if method == "DELETE" and begun == ["maria"]:
                begun.append("third")
                ground.control.unassign(42, "maria")  # a person took it from her
                third.claim("42")
            return send(calls, method, number, logins)

        monkeypatch.setattr(IssueCalls, "assignees", late)
        with pytest.raises(AlreadyClaimed):
            issues.claim("42")
        assert begun == ["maria", "third"]
        assert issue(ground, 42)["assignees"] == ["octocat"]
        assert tracker(ground, "agent-4").get("42", holders=True).held_by == ("agent-3",)
        assert third.get("42", holders=True).held_by == ()


@pytest.mark.parametrize("token", ["", MARIA], ids=["one account", "two accounts"])
def test_a_lease_does_not_win_over_who_marked_it_meanwhile(
    ground: GitHubGround, tmp_path: Path, token: str
) -> None:
    """An agent whose clone has no remote claims between the look and the lease: one of the two has it."""
    other = tmp_path / "other"
    subprocess.run(["git", "clone", "--quiet", str(ground.root), str(other)], check=True)
    subprocess.run(["git", "remote", "remove", "origin"], cwd=other, check=True)
    around = variables(ground.info, other, token or ground.info.token)
    words = [f"export {name}={shlex.quote(value)}" for name, value in around.items()]
    claim = f"{COMMAND} tracker claim 42 >{tmp_path}/said 2>&1"
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text(
        f'#!/bin/sh\ncase " $* " in *" push "*)\n'
        f"(cd {other}; {'; '.join(words)}; export LIFECYCLE_ACTOR={TWO}; {claim});; esac\n"
        f'exec {shutil.which("git")} "$@"\n'
    )
    (folder / "git").chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    with pytest.raises(AlreadyClaimed) as refused:
        tracker(ground, ONE, PATH=path).claim("42")
    assert f"is yours, as {TWO}" in (tmp_path / "said").read_text()
    assert refused.value.by == TWO
    assert refs(ground) == set()
    assert issue(ground, 42)["assignees"] == ["maria" if token else "octocat"]


def test_marks_of_claims_that_are_over_count_nothing(alone: GitHubGround) -> None:
    """An agent's claim ended with the merge, and the issue was reopened: another one claims it."""
    tracker(alone, TWO).claim("42")
    alone.control.close_issue(42)
    alone.control.unassign(42, "octocat")
    alone.control.reopen_issue(42)
    assert tracker(alone).claim("42").assignee == "octocat"
    assert [note.text for note in tracker(alone).list_comments("42")] == [HELD]


def test_a_strangers_mark_counts_nothing(alone: GitHubGround) -> None:
    """Anybody may write such a comment; only those who are assigned have claimed."""
    mark = "Claimed by `evil`.\n\n<!-- lifecycle:held:0123456789abcdef -->"
    alone.control.comment(42, mark, by="visitor")
    assert tracker(alone).claim("42").assignee == "octocat"
