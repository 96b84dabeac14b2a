"""Taking, giving back and closing through the tracker: nobody gets around the claim's rules."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.cli.tracker import tracker_hold, tracker_rules
from lifecycle.core.errors import AlreadyClaimed
from lifecycle.core.tracker import Task
from lifecycle.git import lease
from tests.cli.outcome import ok, refused
from tests.cli.tracker_ground import made, told, with_beads
from tests.conftest import Place
from tests.trackers.beads import simulated

SOAKED = pytest.mark.soak(
    "cli/test_tracker_hold.py::test_a_linked_task_is_taken_and_closed_with_its_issue",
    "trackers/test_conformance.py::test_each_tracker_keeps_each_rule",
)


@pytest.fixture
def beads(place: Place, tmp_path: Path) -> Place:
    """A worktree with a database of beads."""
    return with_beads(place, tmp_path)


def leases(place: Place) -> list[str]:
    """The leases on the remote."""
    return [ref for ref in place.control.world()["refs"] if ref.startswith("refs/agent-claims/")]


def failed(place: Place, *arguments: str) -> dict[str, Any]:
    """What a command that does not succeed says as JSON."""
    done = place.cli("tracker", *arguments, "--json")
    assert done.returncode == 1, done.stderr
    data: dict[str, Any] = json.loads(done.stdout)
    return data


def merge(place: Place) -> int:
    """The worktree's claim is handed off and its PR merged; the PR's number."""
    place.work(place.claim()["branch"])
    ok(place.cli("handoff", "--summary", "Fix the race"))
    place.tree().tick()
    number = place.pull()
    place.control.merge_pull(number)
    return number


def test_an_issue_is_claimed_as_lifecycle_claim_does(place: Place) -> None:
    """Lease, branch, assignee, card and claim file; a second time changes nothing."""
    first = told(place, "claim", "42")
    assert set(first) == {"tracker", "task", "claim", "notes"}
    assert first["task"]["id"] == "42"
    assert first["claim"] == {**first["claim"], **place.claim()}
    assert leases(place) == ["refs/agent-claims/42"]
    assert place.card()["Agent"] == place.claim()["agent_id"]
    assert '#42 "Fix race condition in task queue" is yours already' in ok(
        place.cli("tracker", "claim", "42")
    )


@SOAKED
def test_an_issue_that_somebody_holds_is_not_taken_given_back_or_closed(place: Place) -> None:
    """Exit code 4 for each, who holds it and since when; the issue and its lease stay."""
    lease.take(place.tree().world.git, "origin", 42, "maria-1")
    for verb in ("claim", "release", "close"):
        sentence = refused(place.cli("tracker", verb, "42"), 4)
        assert "held by maria-1" in sentence
    assert place.issue()["state"] == "open"
    assert leases(place) == ["refs/agent-claims/42"]


@SOAKED
def test_what_another_worktree_of_the_clone_claims_is_left_to_it(
    place: Place, tmp_path: Path
) -> None:
    """The sentence names the folder to go to."""
    other = tmp_path / "other"
    ok(place.cli("claim", "42", "--worktree", str(other)))
    assert str(other) in refused(place.cli("tracker", "close", "42"), 4)
    assert str(other) in refused(place.cli("tracker", "release", "42"), 4)


@SOAKED
def test_closing_the_claims_issue_needs_its_merge(place: Place) -> None:
    """Without a merge it stays open, whatever reason is given; after it, it closes as the claim closes."""
    told(place, "claim", "42")
    data = failed(place, "close", "42", "--reason", "done, believe me")
    assert place.issue()["state"] == "open"
    assert data["task"]["status"] == "in_progress"
    assert any("--reason was not used" in note for note in data["notes"])
    number = merge(place)
    closed = told(place, "close", "42")
    assert closed["task"]["status"] == "closed"
    assert place.issue()["comments"][-1]["body"].startswith(f"Completed in #{number}")
    assert not place.has_claim()
    assert leases(place) == []


@SOAKED
def test_giving_the_claims_issue_back_is_the_claims_release(place: Place) -> None:
    """Comment with the reason, card, lease and file, as by lifecycle release."""
    told(place, "claim", "42")
    given = told(place, "release", "42", "--reason", "too large")
    assert given["task"]["assignee"] is None
    assert "Reason: too large" in place.issue()["comments"][-1]["body"]
    assert place.card()["Status"] == "Todo"
    assert leases(place) == []
    assert not place.has_claim()


@SOAKED
def test_an_issue_that_nobody_holds_is_closed_plainly(place: Place) -> None:
    """No claim has a say: the issue is closed with the reason, and a claim for another one stays."""
    told(place, "claim", "42")
    told(place, "close", "44", "--reason", "Not wanted.")
    assert place.issue(44)["state"] == "closed"
    assert place.claim()["issue_number"] == 42


@SOAKED
def test_next_takes_the_most_urgent_issue(place: Place) -> None:
    """By the board's order, through the claim; what is held meanwhile is passed over."""
    place.control.close_issue(38)  # #43 depends on it
    lease.take(place.tree().world.git, "origin", 43, "maria-1")
    first = told(place, "ready")["tasks"][0]["id"]
    assert first == "43"
    taken = told(place, "next")
    assert taken["task"]["id"] == "42"
    assert place.claim()["issue_number"] == 42
    assert "already holds #42" in refused(place.cli("tracker", "next"))


def test_next_tries_no_task_that_is_held_by_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """For one lost attempt, one look at the leases."""
    tried: list[str] = []

    def claimed(_: Any, task: Task, **__: Any) -> Any:
        tried.append(task.id)
        raise AlreadyClaimed("")

    monkeypatch.setattr(tracker_hold, "_claimed", claimed)
    monkeypatch.setattr(tracker_rules, "has_remote", lambda _: True)
    monkeypatch.setattr(lease, "held", lambda *_: frozenset(range(1, 12)))
    world = SimpleNamespace(git=None, remote="origin")
    session: Any = SimpleNamespace(tracker=SimpleNamespace(name="github"), world=world)
    assert tracker_hold._first(session, tuple(Task(str(one), "") for one in range(1, 13))) is None
    assert tried == ["1", "12"]


@pytest.mark.soak(
    "cli/test_tracker_hold.py::test_next_passes_over_a_task_whose_branch_another_worktree_has",
    "cli/test_tracker_hold.py::test_next_tries_no_task_that_is_held_by_now",
    "trackers/test_github_claims.py::test_the_next_one_goes_past_what_is_held",
)
def test_next_goes_on_until_a_task_is_free(place: Place) -> None:
    """However many were taken since they were listed, for one lost attempt; and none left is no failure."""
    git = place.tree().world.git
    for count in range(12):
        told(place, "create", f"Task {count}", "--label", "many")
    ready = [int(task["id"]) for task in told(place, "ready", "--label", "many")["tasks"]]
    taken = lease.take(git, "origin", ready[0], "maria-1")
    refs = [f"{taken}:{lease.ref_of(number)}" for number in ready[1:-1]]
    git.run("push", "-q", "origin", *refs, remote="origin")
    place.control.clear_requests()
    assert told(place, "next", "--label", "many")["task"]["id"] == str(ready[-1])
    assert len(place.control.requests()) < 40
    ok(place.cli("release"))
    lease.take(git, "origin", ready[-1], "maria-1")
    said = ok(place.cli("tracker", "next", "--label", "many"))
    assert said == (
        "No task with the label many is ready on GitHub any more: all 12 were taken by others; "
        "nothing was claimed.\n"
    )


def test_next_passes_over_a_task_whose_branch_another_worktree_has(
    place: Place, tmp_path: Path
) -> None:
    """A released task leaves its branch there: claim and takeover name the way, and hold nothing."""
    place.control.close_issue(38)  # #43 depends on it
    other = replace(place, root=tmp_path / "other")
    place.git("worktree", "add", "--quiet", "--detach", str(other.root))
    assert told(other, "next")["task"]["id"] == "43"
    ok(other.cli("release"))
    for words in (["claim", "43"], ["tracker", "claim", "43"], ["takeover", "43"]):
        sentence = refused(place.cli(*words))
        assert sentence.endswith(
            f"#43 already has a worktree, {other.root}; nothing was claimed. Continue there "
            "with: lifecycle claim 43\n"
        )
    assert (place.issue(43)["assignees"], leases(place)) == ([], [])
    assert told(place, "next")["task"]["id"] == "42"
    ok(other.cli("claim", "43"))


@SOAKED
def test_what_a_claim_would_refuse_is_not_offered(place: Place) -> None:
    """The board's Dependencies name an open issue: neither ready nor next names that task."""
    assert "#43 depends on #38" in refused(place.cli("tracker", "claim", "43"))
    assert "43" not in {task["id"] for task in told(place, "ready")["tasks"]}
    assert told(place, "next")["task"]["id"] == "42"


@SOAKED
def test_next_passes_over_what_an_open_pull_request_is_for(place: Place) -> None:
    """Somebody's work on the first task is open: it is not ready, and the one after it is taken.

    Where no other is left, the sentence names that reason, and the way to take the task.
    """
    ok(place.cli("tracker", "label", "42", "--add", "now", "--create"))
    place.control.push_commit("fix-race", {"q.py": "x"}, "Fix", by="sam")
    place.control.open_pull("fix-race", "Fix the race", body="Closes #42", by="sam")
    assert told(place, "ready", "--label", "now")["tasks"] == []
    sentence = ok(place.cli("tracker", "next", "--label", "now"))
    assert "Tasks that an open PR closes do not count; to take one: lifecycle claim" in sentence
    assert not place.has_claim()
    taken = told(place, "next")["task"]["id"]
    assert taken != "42"
    assert str(place.claim()["issue_number"]) == taken


def test_next_without_a_ready_task(place: Place) -> None:
    """Nothing to take is no failure, what was asked for is named, and a machine reads null."""
    assert told(place, "next", "--label", "nobody")["task"] is None
    for verb in ("next", "ready"):
        said = ok(place.cli("tracker", verb, "--label", "nobody"))
        assert said.startswith("No task with the label nobody is ready on GitHub.")


def test_next_without_a_ready_task_of_bd_asks_once(beads: Place, tmp_path: Path) -> None:
    """Which tasks are ready; bd's own choice would be asked for and made of none."""
    made(beads, "Taken")
    ok(beads.cli("tracker", "next"))
    before = len(simulated.calls(tmp_path / "bin"))
    assert ok(beads.cli("tracker", "next")).startswith("No task is ready in beads.")
    asked = [call["argv"][0] for call in simulated.calls(tmp_path / "bin")[before:]]
    assert asked == ["ready"]


@SOAKED
def test_a_task_of_its_own_is_held_by_one(beads: Place) -> None:
    """Without a link there is no claim file: the tracker alone says who has it, exit code 4 for others."""
    task = made(beads, "Alone")
    mine = told(beads, "claim", task)
    assert mine["claim"] is None
    assert mine["task"]["status"] == "in_progress"
    assert not beads.has_claim()
    other = replace(beads, environment={**beads.environment, "LIFECYCLE_ACTOR": "maria"})
    for verb in ("claim", "release", "close"):
        refused(other.cli("tracker", verb, task), 4)
    assert told(beads, "release", task, "--reason", "too large")["task"]["assignee"] is None
    (said,) = told(beads, "comments", task)["comments"]
    assert said["text"] == "Released: too large"
    assert told(other, "next")["task"]["assignee"] == "maria"


def test_a_linked_task_is_taken_and_closed_with_its_issue(beads: Place) -> None:
    """By its id through the tracker: both are held, and both end when the PR was merged."""
    task = made(beads, "Linked", "--external", "gh-42")
    assert "both are closed together" in refused(beads.cli("tracker", "close", task))
    taken = told(beads, "claim", task)
    assert taken["task"]["assignee"] == beads.claim()["agent_id"]
    assert leases(beads) == ["refs/agent-claims/42"]
    failed(beads, "close", task)
    assert beads.issue()["state"] == "open"
    number = merge(beads)
    closed = told(beads, "close", task)
    assert closed["task"]["status"] == "closed"
    assert f"PR #{number}" in closed["task"]["close_reason"]
    assert beads.issue()["state"] == "closed"
    assert not beads.has_claim()


@SOAKED
def test_a_linked_task_whose_issue_somebody_holds_is_theirs(beads: Place) -> None:
    """GitHub says held: exit code 4, and the task inside is as it was."""
    task = made(beads, "Linked", "--external", "octo-org/hello-service#42")
    lease.take(beads.tree().world.git, "origin", 42, "maria-1")
    for verb in ("claim", "release", "close"):
        refused(beads.cli("tracker", verb, task), 4)
    shown = told(beads, "show", task)["task"]
    assert (shown["status"], shown["assignee"]) == ("open", None)


@SOAKED
def test_giving_back_a_linked_task_gives_both_back(beads: Place) -> None:
    """The lease is free, and so is the task."""
    task = made(beads, "Linked", "--external", "gh-42")
    ok(beads.cli("claim", task))
    given = told(beads, "release", task)
    assert (given["task"]["status"], given["task"]["assignee"]) == ("open", None)
    assert leases(beads) == []
    assert not beads.has_claim()


def test_a_linked_task_that_another_has_is_released_without_the_claim(beads: Place) -> None:
    """By force alone, and for its holder: the worktree's claim, which the task is linked to, goes on."""
    task = made(beads, "Linked", "--external", "gh-42")
    ok(beads.cli("claim", task))
    assert beads.run("bd", "update", task, "--assignee=maria").returncode == 0
    assert "held by maria; nothing was released" in refused(
        beads.cli("tracker", "release", task), 4
    )
    for verb in ("claim", "takeover"):
        done = beads.cli("tracker", verb, task)
        assert done.returncode == 4
        assert f"{task} and #42" not in done.stdout
        assert f"{task} is held by maria; nothing was taken." in done.stdout
        assert f"lifecycle tracker release {task} --force" in done.stdout
    given = told(beads, "release", task, "--force")
    assert (given["task"]["status"], given["task"]["assignee"]) == ("open", None)
    assert leases(beads) == ["refs/agent-claims/42"]
    assert beads.has_claim()
    for free in (
        [],
        ["--status=in_progress"],
    ):  # which somebody did by hand, who only unassigned it
        assert not free or beads.run("bd", "update", task, "--assignee=", *free).returncode == 0
        said = ok(beads.cli("tracker", "claim", task))  # which is what to do now
        assert said.startswith(f"{task} and #42 ")
        assert told(beads, "show", task)["task"]["assignee"] == beads.claim()["agent_id"]


@SOAKED
def test_a_linked_task_of_a_closed_issue_is_closed_alone(beads: Place) -> None:
    """The issue was closed elsewhere: nothing stands against closing what is left of it."""
    task = made(beads, "Linked", "--external", "gh-42")
    beads.control.close_issue(42)
    assert told(beads, "close", task, "--reason", "with #42")["task"]["status"] == "closed"


@SOAKED
def test_next_takes_a_linked_task_with_its_issue(beads: Place) -> None:
    """The most urgent one is linked: the claim has both."""
    task = made(beads, "Linked", "--external", "gh-42", "--priority", "0")
    made(beads, "Alone", "--priority", "3")
    assert told(beads, "next")["task"]["id"] == task
    assert beads.claim()["issue_number"] == 42


@SOAKED
def test_a_task_that_was_taken_alone_becomes_the_claims(beads: Place) -> None:
    """Taken before it was linked, under this worktree's own name: the claim takes it over from itself."""
    task = made(beads, "Alone first")
    told(beads, "claim", task)
    done = beads.run("bd", "update", task, "--external-ref=gh-42")
    assert done.returncode == 0, done.stderr
    ok(beads.cli("claim", "42"))
    assert told(beads, "show", task)["task"]["assignee"] == beads.claim()["agent_id"]
