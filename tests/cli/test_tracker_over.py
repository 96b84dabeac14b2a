"""What somebody else holds: left to them, unless a person says otherwise or their session is over."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lifecycle.git import lease
from lifecycle.stages.session import session_record as sessions
from lifecycle.stages.session.session_record import SessionRecord
from lifecycle.storage.workflow_files import WorkflowFiles
from tests.cli.outcome import ok, refused
from tests.cli.tracker_ground import made, told, with_beads
from tests.conftest import Place
from tests.trackers.beads import simulated

SOAKED = pytest.mark.soak(
    "cli/test_tracker_over.py::test_by_force_a_task_is_taken_over",
    "trackers/test_conformance.py::test_each_tracker_keeps_each_rule",
)

SESSION = "CLAUDE_CODE_SESSION_ID"


@pytest.fixture
def beads(place: Place, tmp_path: Path) -> Place:
    """A worktree with a database of beads."""
    return with_beads(place, tmp_path)


def known_as(place: Place, **environment: str) -> Place:
    """The same worktree for another agent."""
    return replace(place, environment={**place.environment, **environment})


def gone() -> int:
    """The id of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def kept(place: Place, session: str, client: int) -> None:
    """What a stop leaves of a session whose client is this process."""
    shelf = WorkflowFiles(place.root)
    with shelf.locked():
        sessions.save(shelf, SessionRecord(session, client=client, at=1.0))


def holder(place: Place, task: str) -> str | None:
    """Who has the task."""
    found: str | None = told(place, "show", task)["task"]["assignee"]
    return found


def test_what_another_agent_holds_is_not_closed(beads: Place) -> None:
    """Exit code 4 says who has it and how it is taken over; a word on it and a label stay allowed."""
    task = made(beads, "Maria's")
    told(known_as(beads, LIFECYCLE_ACTOR="maria"), "claim", task)
    sentence = refused(beads.cli("tracker", "close", task, "--reason", "done"), 4)
    assert f"{task} is held by maria; nothing was closed." in sentence
    assert f"lifecycle tracker takeover {task}" in sentence
    assert told(beads, "show", task)["task"]["status"] == "in_progress"
    told(beads, "edit", task, "--title", "Still Maria's")
    told(beads, "label", task, "--add", "late")
    told(beads, "comment", task, "How is it going?")
    closed = told(known_as(beads, LIFECYCLE_ACTOR="maria"), "close", task)
    assert closed["task"]["status"] == "closed"
    released = told(beads, "release", task)  # it holds nobody up any more
    assert released["task"]["status"] == "closed"


@SOAKED
def test_an_issue_of_another_account_is_not_closed(place: Place) -> None:
    """Assigned to a person, without any lease: it is hers; one that is this account's as well is not."""
    place.control.assign(44, "maria")
    sentence = refused(place.cli("tracker", "close", "44"), 4)
    assert "#44 is assigned to maria; nothing was closed." in sentence
    assert "lifecycle takeover 44" in sentence
    assert place.issue(44)["state"] == "open"
    place.control.assign(44, "octocat")
    assert told(place, "close", "44")["task"]["status"] == "closed"


@SOAKED
def test_a_closed_task_is_nobodys_to_refuse(beads: Place) -> None:
    """It keeps its holder's name, and closing or giving it back once more is no error."""
    task = made(beads, "Done")
    maria = known_as(beads, LIFECYCLE_ACTOR="maria")
    told(maria, "claim", task)
    told(maria, "close", task)
    assert told(beads, "close", task)["task"]["status"] == "closed"
    assert told(beads, "release", task)["task"]["status"] == "closed"


def test_by_force_a_task_is_taken_over(beads: Place) -> None:
    """Without it the way is named; with it the holder is said, here and on the task."""
    task = made(beads, "Left behind")
    told(known_as(beads, **{SESSION: "gone"}), "claim", task)
    before = holder(beads, task)
    sentence = refused(beads.cli("tracker", "claim", task), 4)
    assert f"{task} is held by {before}; nothing was changed." in sentence
    assert f"lifecycle tracker takeover {task}" in sentence
    taken = told(beads, "takeover", task)
    assert taken["notes"] == [f"{task} was held by {before}."]
    assert taken["task"]["assignee"] not in (before, None)
    (said,) = told(beads, "comments", task)["comments"]
    assert said["text"].startswith(f"Taken over from {before} by {taken['task']['assignee']}.")


@SOAKED
def test_by_force_a_task_is_given_back(beads: Place) -> None:
    """For whoever had it; the refusal without it names the way."""
    task = made(beads, "Left behind")
    told(known_as(beads, LIFECYCLE_ACTOR="maria"), "claim", task)
    assert f"lifecycle tracker release {task} --force" in refused(
        beads.cli("tracker", "release", task), 4
    )
    assert f"Note: {task} was held by maria." in ok(
        beads.cli("tracker", "release", task, "--force")
    )
    assert holder(beads, task) is None


@SOAKED
def test_a_linked_task_of_a_claim_is_not_freed_by_force(beads: Place) -> None:
    """Its claim lives in another worktree: that one's rules hold, whatever is said here."""
    task = made(beads, "Linked", "--external", "gh-42")
    other = beads.root.parent / "other"
    ok(beads.cli("claim", "42", "--worktree", str(other)))
    assert str(other) in refused(beads.cli("tracker", "release", task, "--force"), 4)


@SOAKED
def test_whoever_is_quicker_has_it(beads: Place, tmp_path: Path) -> None:
    """Somebody claims it between the giving back and the claim: exit code 4, and it stays theirs."""
    task = made(beads, "Wanted by two")
    told(known_as(beads, LIFECYCLE_ACTOR="maria"), "claim", task)
    quick = tmp_path / "quick"
    quick.mkdir()
    bd = tmp_path / "bin" / "bd"
    (quick / "bd").write_text(
        "#!/bin/sh\n"
        f'case "$*" in *--claim*) BEADS_ACTOR=zoe BD_ACTOR=zoe {bd} update {task} --claim >/dev/null;; '
        f'esac\nexec {bd} "$@"\n'
    )
    (quick / "bd").chmod(0o755)
    path = f"{quick}{os.pathsep}{beads.environment['PATH']}"
    sentence = refused(known_as(beads, PATH=path).cli("tracker", "takeover", task), 4)
    assert "zoe" in sentence
    assert holder(beads, task) == "zoe"


@SOAKED
def test_the_task_of_a_session_that_is_over_is_the_next_ones(beads: Place) -> None:
    """Its client is gone: the next session of this worktree claims it without force, and is told."""
    task = made(beads, "Under way")
    told(known_as(beads, **{SESSION: "first"}), "claim", task)
    kept(beads, "first", gone())
    taken = told(known_as(beads, **{SESSION: "second"}), "claim", task)
    assert taken["notes"][0].startswith(f"{task} was held by ")
    assert holder(beads, task) == taken["task"]["assignee"]


@SOAKED
def test_the_same_client_goes_on_after_it_was_cleared(beads: Place) -> None:
    """It leads another session now, so the one before it is over, although its process is there."""
    task = made(beads, "Under way")
    told(known_as(beads, **{SESSION: "first"}), "claim", task)
    kept(beads, "first", os.getpid())
    kept(beads, "second", os.getpid())
    assert told(known_as(beads, **{SESSION: "second"}), "claim", task)["task"]["assignee"]


@SOAKED
def test_the_task_of_a_session_that_lives_is_left(beads: Place) -> None:
    """Two clients in one worktree: the other's session is named, and only a person's word takes it."""
    task = made(beads, "Under way")
    told(known_as(beads, **{SESSION: "first"}), "claim", task)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as other:
        kept(beads, "first", other.pid)
        for verb in ("claim", "release", "close"):
            sentence = refused(known_as(beads, **{SESSION: "second"}).cli("tracker", verb, task), 4)
            assert "a session of this worktree (first) whose client still runs" in sentence


@SOAKED
def test_what_another_worktree_left_needs_a_word(beads: Place, tmp_path: Path) -> None:
    """The same session's name in another folder is another agent, whatever is kept of it here."""
    task = made(beads, "Elsewhere")
    folder = str(beads.root / ".beads")
    other = tmp_path / "other"
    beads.git("worktree", "add", "--quiet", str(other))
    (other / ".lifecycle.toml").write_text(f'tracker.use = "beads"\ntracker.folder = "{folder}"\n')
    told(replace(known_as(beads, **{SESSION: "first"}), root=other), "claim", task)
    kept(beads, "first", gone())
    refused(beads.cli("tracker", "claim", task), 4)


@SOAKED
def test_a_name_that_cannot_be_said_is_left(beads: Place, tmp_path: Path) -> None:
    """A stranger's database may call a holder anything: in such a name nothing is given back."""
    task = made(beads, "Strange")
    simulated.run(tmp_path / "bin", beads.root, "update", task, "--assignee=a\nb")
    refused(beads.cli("tracker", "takeover", task), 4)


@SOAKED
def test_an_agent_keeps_what_it_had_under_its_other_name(beads: Place) -> None:
    """Taken under a claim and alone, the claim over or begun since: it is the same worktree's."""
    under, alone = made(beads, "Under a claim"), made(beads, "Before it")
    told(beads, "claim", alone)
    ok(beads.cli("claim", "42"))
    told(beads, "claim", under)
    assert told(beads, "close", alone)["task"]["status"] == "closed"
    ok(beads.cli("release"))
    told(beads, "claim", under)
    assert told(beads, "release", under)["task"]["assignee"] is None


@SOAKED
def test_what_somebodys_claim_holds_is_not_reopened(place: Place) -> None:
    """Closed on GitHub, its lease still there: exit code 4 names the way, and --force goes it."""
    lease.take(place.tree().world.git, "origin", 42, "maria-1")
    place.control.close_issue(42)
    sentence = refused(place.cli("tracker", "reopen", "42"), 4)
    assert "#42 is held by maria-1" in sentence
    assert "nothing was reopened" in sentence
    assert "lifecycle tracker reopen 42 --force" in sentence
    assert place.issue()["state"] == "closed"
    assert told(place, "reopen", "42", "--force")["task"]["status"] == "open"
    assert "refs/agent-claims/42" not in place.control.world()["refs"]


@SOAKED
def test_the_claims_own_issue_stays_the_claims_when_it_is_reopened(place: Place) -> None:
    """Lease and assignee stay, so nobody else takes it, and the claim goes on."""
    ok(place.cli("claim", "42"))
    place.control.close_issue(42)
    shown = told(place, "reopen", "42")["task"]
    assert (shown["status"], shown["assignee"]) == ("in_progress", "octocat")
    assert "refs/agent-claims/42" in place.control.world()["refs"]
    assert place.has_claim()


@SOAKED
def test_the_claims_linked_task_stays_the_claims_when_it_is_reopened(beads: Place) -> None:
    """It is open and held by the claim's agent again."""
    task = made(beads, "Linked", "--external", "gh-42")
    ok(beads.cli("claim", task))
    assert beads.run("bd", "close", task).returncode == 0
    shown = told(beads, "reopen", task)["task"]
    assert (shown["status"], shown["assignee"]) == ("in_progress", beads.claim()["agent_id"])


def test_where_no_issue_can_be_claimed_the_trackers_own_command_is_named(beads: Place) -> None:
    """No remote, and a database beside the code: nobody is sent to add a remote, to claim an issue."""
    task = made(beads, "Local")
    assert "claim a task with: lifecycle claim <number>" in ok(beads.cli("status"))
    beads.git("remote", "remove", "origin")
    assert "claim a task with: lifecycle tracker claim <id>" in ok(beads.cli("status"))
    assert "Next: lifecycle tracker claim <id>. Undo" in ok(beads.cli("init"))
    for words in (["nudge", "coding", "--reason", "x"], ["release"], ["release", "--dry-run"]):
        assert "claim a task with: lifecycle tracker claim <id>" in refused(beads.cli(*words))
    for verb in ("claim", "takeover"):
        sentence = refused(beads.cli(verb, task))
        assert f": lifecycle tracker {verb} <id>" in sentence
    named = known_as(beads, LIFECYCLE_REPOSITORY="octo-org/hello-service")
    assert "lifecycle claim <number>" in ok(named.cli("status"))


@SOAKED
def test_without_a_remote_the_trackers_own_claim_is_the_way(place: Place) -> None:
    """There are no leases then: assignee and comment say whose the issue is, for each of the verbs."""
    place.git("remote", "rename", "origin", "upstream")
    here = known_as(place, LIFECYCLE_REPOSITORY="octo-org/hello-service")
    assert told(here, "claim", "42")["task"]["assignee"] == "octocat"
    assert "Claimed by `octocat-" in place.issue()["comments"][-1]["body"]
    assert told(here, "release", "42")["task"]["assignee"] is None
    told(here, "claim", "41")
    assert told(here, "close", "41")["task"]["status"] == "closed"
    place.control.assign(44, "maria")
    for verb in ("claim", "release", "close"):
        assert "maria" in refused(here.cli("tracker", verb, "44"), 4)


@SOAKED
def test_renewing_where_claims_do_not_run_out(beads: Place, tmp_path: Path) -> None:
    """A sentence says so; a build whose claims do run out renews."""
    task = made(beads, "Long")
    told(beads, "claim", task)
    assert "nothing to renew" in refused(beads.cli("tracker", "renew", task))
    simulated.install(tmp_path / "bin", "1.3.0")
    os.utime(tmp_path / "bin" / "bd", (1, 1))
    assert told(beads, "renew", task)["task"]["status"] == "in_progress"
