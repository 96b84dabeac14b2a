"""A claim that was interrupted: the next `claim` or `release` of the worktree finishes or undoes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lifecycle.api import HeldByAnother, Wake
from lifecycle.claim.commands import unfinished_claims
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.core.errors import Refused, Transient
from lifecycle.git import lease
from lifecycle.github.pulls.forge import GitHubForge
from lifecycle.sandbox.control.faults import Fault
from lifecycle.storage import store
from lifecycle.storage.state_file import CLAIMING, StateFile, StateSections
from tests.claim.test_crashes import CrashError, crash_at
from tests.cli.outcome import ok, refused
from tests.conftest import ManualClock, Place
from tests.repeated import soaked

SOAKED = pytest.mark.soak(
    "cli/test_claim_begun.py::test_what_is_held_is_said_and_release_gives_it_back",
    "claim/test_lease.py::test_a_lost_answer_is_settled_by_reading",
)

WRITES: tuple[tuple[Any, str], ...] = (
    (lease, "take"),
    (GitHubForge, "assign"),
    (ClaimStore, "create"),
)


def lease_of(place: Place, number: int = 42) -> str:
    """The lease on the remote, or empty."""
    return str(place.control.world()["refs"].get(f"refs/agent-claims/{number}", ""))


def is_free(place: Place) -> bool:
    """True if nothing of a claim is anywhere: no lease, no assignee, the card as it was."""
    card, issue = place.card(), place.issue()
    is_held = bool(lease_of(place) or issue["assignees"] or card.get("Agent"))
    return not is_held and card["Status"] == "Todo" and not place.has_claim()


def begin(place: Place) -> None:
    """A claim whose assignment GitHub does not answer: the lease and the branch are there."""
    fault = Fault("status", path=r"/assignees$", status=500, count=9)
    place.control.add_fault(fault)
    refused(place.cli("claim", "42"))
    place.control.clear_faults()
    assert lease_of(place)


@SOAKED
@pytest.mark.parametrize("way", ["claim", "other", "release"])
def test_killed_at_any_write_the_next_command_finishes_or_undoes(
    place: Place, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Killed after each write, before the next: the same claim is made whole, the others free it."""
    moment = 0
    while True:
        moment += 1
        place.clock.sleep(1000)
        with monkeypatch.context() as patch:
            seen = crash_at(patch, moment, after=True, more=WRITES)
            try:
                place.tree().claim(42)
            except CrashError:
                pass
            else:
                assert {"take", "assign", "set_fields", "create"} <= set(seen)
                break
        told, had_claim = len(_released(place)), place.has_claim()
        if way == "claim":
            agent = place.tree().claim(42).record.claim.agent_id
            assert place.claim()["agent_id"] == place.card()["Agent"] == agent
            assert place.issue()["assignees"] == ["octocat"], (moment, seen)
        elif way == "release" or had_claim:
            if had_claim or unfinished_claims.of(_state(place)):
                place.tree().release()
            assert is_free(place), (moment, seen)
            is_told = len(_released(place)) > told
            assert is_told == had_claim, "nobody is told of a claim that never was"
        else:
            assert place.tree().claim(45).record.claim.issue_number == 45
            assert not lease_of(place), (moment, seen)
            assert place.issue()["assignees"] == []
            assert place.card().get("Status") == "Todo"
        assert unfinished_claims.of(_state(place)) is None, (moment, seen)
        if place.has_claim():
            place.tree().release()
    assert moment > 5


def _state(place: Place) -> StateSections:
    return StateFile(store.Folder(place.root)).reload(repair=False)


def _released(place: Place) -> list[str]:
    return [c["body"] for c in place.issue()["comments"] if "lifecycle:released" in c["body"]]


@SOAKED
def test_a_branch_that_has_a_claim_in_git_is_not_taken_and_nothing_is_held(place: Place) -> None:
    """Its file came with the repository: refused before it is checked out, the lease given back."""
    branch = "claude/fix-race-condition-in-task-queue-42"
    place.git("switch", "--quiet", "-c", branch)
    (place.root / ".agent-claim.json").write_text("{}")
    place.git("add", "-f", ".agent-claim.json")
    place.git("commit", "--quiet", "-m", "Work")
    place.git("push", "--quiet", "origin", branch)
    place.git("switch", "--quiet", "main")
    for _ in range(2):
        sentence = refused(place.cli("claim", "42"))
        assert f"{branch} has .agent-claim.json in git" in sentence
        assert "nothing was claimed" in sentence
        assert is_free(place)
        assert place.git("branch", "--show-current") == "main"
    assert "no claim" in refused(place.cli("release"))
    ok(place.cli("claim", "45"))


def test_a_push_that_is_refused_while_nobody_has_the_task_is_tried_again(place: Place) -> None:
    """The remote said no and shows no lease: both ways out are said, here and later."""
    place.control.add_fault(Fault("status", status=403, path="git-receive-pack", count=99))
    said = refused(place.cli("claim", "42"))
    assert "The lease on #42 could not be taken" in said
    way = "may still hold #42: lifecycle claim 42 continues it, and lifecycle release undoes it"
    for text in (said, ok(place.cli("status"))):
        assert way in text
    assert ok(place.cli("release", "--dry-run")) == "would release the unfinished claim on #42\n"
    place.control.clear_faults()
    assert "Claimed #42" in ok(place.cli("claim", "42"))


@pytest.mark.parametrize(
    ("begun", "says"),
    [
        ({}, ": lifecycle claim 42 continues it, and"),
        ({"is_held": True, "instead_of": "c" * 40}, ": lifecycle takeover 42 continues it, and"),
    ],
)
def test_what_may_be_held_is_named(tmp_path: Path, begun: dict[str, Any], says: str) -> None:
    """With the command that goes on."""
    claim_store = ClaimStore(tmp_path, ManualClock())
    claim_store.state[CLAIMING] = {"issue": 42, "agent": "octocat-1", "nonce": "n", **begun}
    assert says in unfinished_claims.left(claim_store)


@pytest.mark.once(
    "test_a_push_that_is_refused_while_nobody_has_the_task_is_tried_again has no lease, too"
)
@pytest.mark.parametrize("has_lease", [True, False])
def test_what_is_held_is_said_and_release_gives_it_back(place: Place, *, has_lease: bool) -> None:
    """The sentence of the failure, and `status`: what is held and both ways out. No comment is left."""
    fault = Fault("status", path=r"/assignees$", status=500, count=9)
    place.control.add_fault(fault)
    if not has_lease:
        place.control.add_fault(Fault("status", status=403, path="info/refs"))
    said = refused(place.cli("claim", "42"))
    shown = ok(place.cli("status"))
    started = place.hook("session-start", {"source": "startup"}).stdout
    for text in (said, shown, started):
        assert (
            "may still hold #42: lifecycle claim 42 continues it, and lifecycle release undoes it"
            in text
        )
    place.control.clear_faults()
    before = place.control.world()
    assert "would release the unfinished claim on #42" in ok(place.cli("release", "--dry-run"))
    assert place.control.world() == before
    out = ok(place.cli("release"))
    assert "was released; it no longer holds anything" in out
    assert is_free(place)
    assert place.issue()["comments"] == []
    assert "no claim" in refused(place.cli("release"))


def test_a_claim_that_github_refuses_holds_nothing(place: Place) -> None:
    """The lease was taken and the branch made before the assignee was refused: the lease is given back."""
    place.control.add_fault("no-permission", path=r"/assignees$", count=9)
    said = refused(place.cli("claim", "42"))
    assert "no permission for the assignees of issue #42" in said
    assert is_free(place)


def test_a_claim_of_a_task_that_is_not_there_leaves_the_unfinished_one(place: Place) -> None:
    """Nothing of #42 was given back, so that it can still be continued."""
    begin(place)
    assert "#999" in refused(place.cli("claim", "999"))
    assert lease_of(place)
    ok(place.cli("claim", "42"))


def test_a_refused_claim_says_that_the_unfinished_one_was_given_back(place: Place) -> None:
    """Else its user would go on to believe that #42 is held."""
    begin(place)
    place.control.assign(45, "maria")
    error = refused(place.cli("claim", "45"), 4)
    assert (
        "lifecycle: The unfinished claim on #42 was released; it no longer holds anything. #45"
        in error
    )
    assert is_free(place)


@SOAKED
def test_what_somebody_else_has_by_now_is_left(place: Place, tmp_path: Any) -> None:
    """Taken over meanwhile: lease, card and assignee are that agent's, and stay so."""
    begin(place)
    place.git("push", "--quiet", "origin", ":refs/agent-claims/42")
    other = place.git("commit-tree", "-m", 'lease {"agent": "maria-2", "issue": 42, "nonce": "x"}',
                      place.git("rev-parse", "HEAD^{tree}"))  # fmt: skip
    place.git("push", "--quiet", "origin", f"{other}:refs/agent-claims/42")
    place.control.set_field(42, "Agent", "maria-2")
    ok(place.cli("release"))
    assert lease_of(place) == other
    assert place.card()["Agent"] == "maria-2"


@SOAKED
def test_a_card_goes_back_to_where_it_stood(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Taken by force out of another column, and undone: the column is the one of before."""
    place.control.set_field(42, "Status", "In Review")
    with monkeypatch.context() as patch, place.tree() as tree:
        patch.setattr(ClaimStore, "create", _killed)
        with pytest.raises(CrashError):
            tree.claim(42, force=True)
    assert place.card()["Status"] == "In Progress"
    ok(place.cli("release"))
    assert place.card()["Status"] == "In Review"
    assert not place.card().get("Agent")


def test_a_takeover_that_is_undone_leaves_the_other_agent_assigned(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has the lease again is on the issue as before, and does not take the task for released."""
    theirs = lease.take(place.tree().world.git, "origin", 42, "sam-1")
    place.control.assign(42, "sam")
    with monkeypatch.context() as patch, place.tree() as tree:
        patch.setattr(ClaimStore, "create", _killed)
        with pytest.raises(CrashError):
            tree.claim(42, force=True)
    ok(place.cli("release"))
    assert (lease_of(place), place.issue()["assignees"]) == (theirs, ["sam"])


@pytest.mark.once(
    "test_a_takeover_that_is_undone_leaves_the_other_agent_assigned has the lease of before"
)
@pytest.mark.parametrize("is_held", [True, False])
def test_a_task_that_is_closed_while_it_is_taken_is_not_taken(
    place: Place, monkeypatch: pytest.MonkeyPatch, *, is_held: bool
) -> None:
    """Its holder closes it between the look and the lease: nobody holds it, and the card is as it was.

    The closing ended no lease, since it found another's.
    """
    if is_held:
        lease.take(place.tree().world.git, "origin", 42, "sam-1")
    real = lease.take

    def closed_before(*args: Any, **named: Any) -> str:
        place.control.close_issue(42)
        return real(*args, **named)

    with monkeypatch.context() as patch, place.tree() as tree:
        patch.setattr(lease, "take", closed_before)
        with pytest.raises(Refused, match="#42 is closed; nothing was claimed"):
            tree.claim(42, force=True)
    assert (lease_of(place), place.issue()["assignees"]) == ("", [])
    assert (place.card()["Status"], place.has_claim()) == ("Todo", False)
    assert not place.card().get("Agent")


@pytest.mark.parametrize("killed", ["take", *map(soaked, ["create", "unassign"])])
def test_a_takeover_that_was_killed_unassigns_whoever_had_the_task(
    place: Place, monkeypatch: pytest.MonkeyPatch, killed: str
) -> None:
    """The next run knows them by the lease that was taken over: the task must not stay theirs."""
    lease.take(place.tree().world.git, "origin", 42, "sam-1")
    place.control.assign(42, "sam")
    owner, name = {one: (where, one) for where, one in (*WRITES, (GitHubForge, "unassign"))}[killed]
    with monkeypatch.context() as patch, place.tree() as tree:
        real = getattr(owner, name)
        patch.setattr(owner, name, lambda *args, **named: _killed(real(*args, **named)))
        with pytest.raises(CrashError):
            tree.claim(42, force=True)
    if killed == "take":
        assert "lifecycle takeover 42 continues it" in ok(place.cli("status"))
    taken = place.tree().claim(42, force=True)
    assert place.issue()["assignees"] == ["octocat"]
    assert place.claim()["agent_id"] == place.card()["Agent"] == taken.record.claim.agent_id
    assert unfinished_claims.of(_state(place)) is None


@pytest.mark.parametrize("way", ["takeover", soaked("release")])
def test_a_takeover_goes_on_or_is_undone_though_git_removed_the_former_lease_here(
    place: Place, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """No ref keeps that commit, and what it cannot be given back to is free: nothing is stuck."""
    lease.take(place.tree().world.git, "origin", 42, "sam-1")
    with monkeypatch.context() as patch, place.tree() as tree:
        patch.setattr(ClaimStore, "create", _killed)
        with pytest.raises(CrashError):
            tree.claim(42, force=True)
    place.git("prune", "--expire=now")
    ok(place.cli(way, *["42"] * (way == "takeover")))
    assert unfinished_claims.of(_state(place)) is None
    assert (bool(lease_of(place)), place.has_claim()) == ((way == "takeover"),) * 2


def _killed(*_: Any) -> None:
    """The end of the process is staged."""
    raise CrashError


@SOAKED
def test_a_push_that_lands_behind_the_look_is_this_attempts_own(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The killed run's lease arrives between the next run's look and its push: it is taken up."""
    begin(place)
    sha = lease_of(place)
    place.git("fetch", "--quiet", "origin", "refs/agent-claims/42")
    monkeypatch.setattr(lease, "read", _blind_once(lease.read))
    taken = place.tree().claim(42)
    assert taken.record.ownership.lease == sha == lease_of(place)


def _blind_once(real: Any) -> Any:
    looks: list[int] = []

    def read(*args: Any) -> Any:
        looks.append(1)
        return None if len(looks) == 1 else real(*args)

    return read


@SOAKED
def test_a_clear_no_on_the_way_gives_back_what_an_earlier_run_held(place: Place) -> None:
    """The issue was closed meanwhile: the second run is refused, and nothing is held after it."""
    begin(place)
    place.control.close_issue(42)
    assert "is closed; nothing was claimed" in refused(place.cli("claim", "42"))
    assert not lease_of(place)
    assert unfinished_claims.of(_state(place)) is None


@SOAKED
def test_an_undoing_that_fails_is_done_by_the_next_command(place: Place) -> None:
    """GitHub does not answer while it is given back: said, kept, and done later."""
    begin(place)
    place.control.add_fault(Fault("status", operation="ObserveClaim", status=500, count=9))
    with pytest.raises(Transient, match="may still hold #42"):
        place.tree().release()
    assert lease_of(place), "freed for others last"
    place.control.clear_faults()
    place.tree().release()
    assert is_free(place)


def test_another_agents_lease_is_no_ones_to_finish(place: Place) -> None:
    """Held by another before anything was begun: nothing is noted, and nothing is left."""
    ok(place.cli("claim", "42"))
    claim = json.loads((place.root / ".agent-claim.json").read_text())
    (place.root / ".agent-claim.json").unlink()
    (place.root / ".lifecycle/state.json").unlink()
    place.control.set_field(42, "Status", "Todo")
    with pytest.raises(HeldByAnother):
        place.tree().claim(42)
    assert unfinished_claims.of(_state(place)) is None
    assert lease_of(place)
    assert claim["agent_id"] == place.card()["Agent"]
    assert not place.tree().tick(Wake.STOP).actions
