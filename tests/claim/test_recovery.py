"""What a claim comes back from: refusals, interruptions, edits at the worst moment."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Literal

import pytest

from lifecycle.api import Phase, Wake
from lifecycle.claim.commands.release import release_claim
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.core.errors import GitFailed
from lifecycle.core.timing import DeadlineReached
from lifecycle.git import lease
from lifecycle.sandbox.control.faults import Fault
from tests.claim.steps import go
from tests.conftest import BRANCH, STARTED, Place
from tests.factories import texts
from tests.repeated import soaked

SOAKED = pytest.mark.soak(
    "claim/test_recovery.py::test_a_board_that_was_unreadable_a_moment_ago_is_tried_at_closing",
    "claim/test_closing_steps.py::test_the_card_keeps_no_claim_alive",
    "claim/test_recovery.py::test_what_is_refused_is_sent_once_in_a_look",
    "claim/test_opening_steps.py::test_what_failed_is_held_back_for_a_while",
)

CLOSE: dict[str, Any] = {"method": "PATCH", "path": r"/issues/42$"}
STOP = {"hook_event_name": "Stop"}


@pytest.mark.parametrize("wake", [Wake.STOP, soaked(Wake.TICK)])
def test_what_is_refused_is_sent_once_in_a_look(
    place: Place, wake: Wake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A close that GitHub refuses costs one request, is not listed as done, and is said."""
    go(monkeypatch, is_joined=False)
    place.merged()
    place.control.add_fault(Fault("status", status=403, count=99, **CLOSE))
    place.clear()
    report = place.tree().tick(wake)
    assert [r.method for r in place.requests()].count("PATCH") == 1
    assert [type(action).__name__ for action in report.actions] == ["PostComment"]
    assert "not closed" in texts(report)
    place.clear()
    assert "not closed" in texts(place.tree().tick(Wake.TICK)), "who asks is answered again"


def test_an_unpushed_branch_is_asked_about_once_in_a_tick(place: Place) -> None:
    """One POST, one sentence."""
    place.ready(branch="claude/never-pushed")
    place.clear()
    report = place.tree().tick()
    assert len([r for r in place.requests() if r.path.endswith("/pulls")]) == 1
    assert "not opened" in texts(report)
    assert [type(action).__name__ for action in report.actions] == ["SetBoard"]


@SOAKED
def test_a_refused_close_is_tried_again_when_done_is_written_again_or_later(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent writes done again, or ten minutes pass: another attempt, by the hook alone."""
    go(monkeypatch, is_joined=False)
    place.merged()
    place.control.add_fault(Fault("status", status=403, count=2, **CLOSE))
    place.tree().tick(Wake.STOP)
    place.clear()
    place.tree().tick(Wake.STOP)
    assert place.requests() == [], "nothing changed: held back"
    place.write(phase="done")
    place.tree().tick(Wake.STOP)
    assert place.issue()["state"] == "open"
    place.clock.sleep(601)
    place.tree().tick(Wake.STOP)
    assert place.issue()["state"] == "closed"
    assert not place.has_claim()


@SOAKED
def test_a_board_that_waits_does_not_hold_done_back(place: Place) -> None:
    """The board was rate-limited for an hour; closing does not wait for that."""
    place.ready()
    limited = Fault(
        "status", status=403, headers={"Retry-After": "3000"}, operation="DiscoverBoard"
    )
    place.control.add_fault(limited)
    place.tree().tick(Wake.STOP)
    place.control.merge_pull(place.pull())
    place.write(phase="done")
    place.tree().tick(Wake.STOP)
    assert place.issue()["state"] == "closed"


def test_a_board_that_was_unreadable_a_moment_ago_is_tried_at_closing(place: Place) -> None:
    """Nothing comes after closing that would set the card: it is tried for certain."""
    place.ready()
    place.tree().tick(Wake.STOP)
    place.control.set_scopes(["repo"])
    place.tree().tick(Wake.IDLE)
    place.control.set_scopes(["repo", "project"])
    place.control.merge_pull(place.pull())
    place.write(phase="done")
    assert "Board → Done." in texts(place.tree().tick(Wake.STOP))
    assert place.card()["Status"] == "Done"


def test_a_release_that_is_killed_behind_its_beginning_lets_every_hook_through(
    place: Place,
) -> None:
    """Its look is the command's next step; without it a stop or a waiter's look goes on with it."""
    place.ready(phase="coding")
    place.tree().tick(Wake.STOP)
    marks = [place.root / ".lifecycle" / name for name in ("due", "idle-due")]
    for mark in marks:
        mark.unlink(missing_ok=True)
    tree = place.tree()
    release_claim(tree.world, tree.claim_store, "")
    assert all(mark.stat().st_mtime < 10 for mark in marks)


def test_an_open_pull_request_lets_on_idle_through_and_no_stop(place: Place) -> None:
    """On-idle looks at it from here on; a stop has nothing to do with it."""
    place.ready()
    place.tree().tick(Wake.STOP)
    assert (place.root / ".lifecycle/idle-due").stat().st_mtime < 10
    assert not (place.root / ".lifecycle/due").exists()


def test_a_deadline_at_any_moment_leaves_the_guard_open(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time is up between reading and writing: the next wake is let through and goes on."""

    def late(*_: object) -> None:
        raise DeadlineReached

    place.ready()
    with monkeypatch.context() as patch:
        patch.setattr("lifecycle.claim.decisions.decide.decide", late)
        place.tree().tick(Wake.STOP)
    assert not (place.root / ".lifecycle/stamp").exists()
    assert (place.root / ".lifecycle/due").stat().st_mtime < 10
    assert "created" in place.hook("on-stop", STOP).stdout


@pytest.mark.parametrize("kind", ["hang", soaked("trickle")])
def test_a_hung_board_does_not_cost_the_session_its_question(place: Place, kind: Any) -> None:
    """Claim and question come from the files; the board is missing, and that is said."""
    place.ready()
    place.tree().tick(Wake.STOP)
    number = place.pull()
    place.control.merge_pull(number)
    place.tree().tick(Wake.IDLE)
    place.control.add_fault(Fault(kind, operation="BriefBoard", count=9))
    # A started command: it waits between two attempts, and the last one would begin too late.
    variables = {"LIFECYCLE_BIN": str(STARTED), "LIFECYCLE_HOOK_SECONDS": "4.5"}
    done = place.hook("session-start", {}, **variables)
    assert done.returncode == 0
    text = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert f"PR #{number} merged! Should I close issue #42?" in text
    assert "Todo:" not in text
    assert "answer" in text


def test_a_first_claim_that_is_no_claim_is_kept_out_of_git(place: Place) -> None:
    """What is set aside before anything was ours here does not show in git, like all of ours."""
    (place.root / ".agent-claim.json").write_text("no claim")
    os.utime(place.root / ".agent-claim.json", (1_700_000_000, 1_700_000_000))  # as above
    assert place.hook("on-stop", STOP).returncode == 0
    assert [path.name[:26] for path in place.root.glob(".agent-claim*")] == [
        ".agent-claim.json.corrupt-"
    ]
    assert place.git("status", "--porcelain") == ""


def test_half_a_surrogate_pair_does_not_make_the_file_corrupt(place: Place) -> None:
    """What some editors leave of an emoji is written back so that it can be read."""
    place.ready()
    path = place.root / ".agent-claim.json"
    path.write_text(json.dumps({**place.claim(), "summary": "Fix \ud83d it", "phase": "coding"}))
    for _ in range(2):
        place.tree().tick(Wake.STOP)
    assert place.claim()["summary"] == "Fix \ud83d it"
    assert not list(place.root.glob(".agent-claim.json.corrupt*"))


def test_two_edits_during_one_commit_end_with_the_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent writes done, then thinks better of it, both while the engine commits."""
    from lifecycle.storage import store
    from tests.conftest import ManualClock
    from tests.factories import values

    path = tmp_path / ".agent-claim.json"
    path.write_text(json.dumps(values(phase="pr_created")))
    claim_store = ClaimStore(tmp_path, ManualClock())
    record = claim_store.load().record
    assert record is not None
    record = claim_store.commit(record, {}).record
    edits = ["done", "pr_created"]
    real = store.replace_if

    def meanwhile(target: Path, expected: bytes, content: bytes, keep: Any) -> bytes | None:
        if edits:
            path.write_text(json.dumps({**json.loads(path.read_text()), "phase": edits.pop(0)}))
        return real(target, expected, content, keep)

    monkeypatch.setattr(store, "replace_if", meanwhile)
    claim_store.commit(record.with_values({"last_check_poll": "2026-01-01T00:00:00Z"}), {})
    content = json.loads(path.read_text())
    assert content["phase"] == "pr_created"
    assert content["last_check_poll"] == "2026-01-01T00:00:00Z"


def test_a_task_that_is_taken_again_is_not_closed_by_its_old_pull_request(place: Place) -> None:
    """Reopened and claimed anew: the merge of the earlier claim closes nothing now."""
    assert place.cli("claim", "42").returncode == 0
    branch = place.claim()["branch"]
    place.work(branch)
    number = place.control.open_pull(branch, "First", body="Refs #42")
    place.control.merge_pull(number)
    place.write(phase="done")
    place.tree().tick(Wake.STOP)
    assert place.issue()["state"] == "closed"
    place.control.reopen_issue(42)
    place.control.set_field(42, "Status", "Todo")
    state = place.root / ".lifecycle/state.json"
    assert place.cli("claim", "42").returncode == 0, state.read_text()
    data = json.loads(state.read_text())
    data["record"]["created_at"] += (
        3600  # the sandbox's clock is ours: let an hour lie between them
    )
    state.write_text(json.dumps(data))
    place.write(phase="done")
    report = place.tree().tick(Wake.STOP)
    assert "no merged PR" in texts(report)
    assert place.issue()["state"] == "open"
    assert len(place.issue()["comments"]) == 1


def test_who_claims_what_was_squashed_hears_how_to_begin_at_the_base(place: Place) -> None:
    """Its branch has commits that the base lacks, and nothing else; their next change would conflict.

    After the command that is named, the branch differs from the base in nothing.
    """
    assert place.cli("claim", "42").returncode == 0
    branch = place.claim()["branch"]
    place.work(branch)
    assert place.cli("release").returncode == 0
    assert "in other commits" not in place.cli("claim", "42").stdout
    place.control.merge_pull(place.control.open_pull(branch, "A", body="Refs #42"), method="squash")
    place.write(phase="done")
    place.tree().tick(Wake.STOP)
    place.control.reopen_issue(42)
    place.control.set_field(42, "Status", "Todo")
    claimed = place.cli("claim", "42").stdout
    command = "git pull --no-rebase origin main"
    assert f"origin's main has all of {branch} already, in other commits, as after a sq" in claimed
    assert claimed.count(f"begin with: {command}\n") == 1
    assert place.git("rev-list", "--count", "HEAD..origin/main") == "1"
    place.git(*command.split()[1:])
    assert place.git("rev-list", "--count", "HEAD..origin/main") == "0"
    assert place.git("diff", "origin/main") == ""


@pytest.mark.parametrize("method", ["merge", soaked("squash")])
def test_a_reopened_task_is_handed_off_with_new_commits_alone(
    place: Place, method: Literal["merge", "squash"]
) -> None:
    """Its branch goes on from the base if that has it; the agent is told to commit, and a new PR opens."""
    assert place.cli("claim", "42").returncode == 0
    branch = place.claim()["branch"]
    place.work(branch)
    first = place.control.open_pull(branch, "First", body="Refs #42")
    place.control.merge_pull(first, method=method)
    place.write(phase="done")
    place.tree().tick(Wake.STOP)
    place.control.reopen_issue(42)
    place.control.set_field(42, "Status", "Todo")
    assert place.cli("claim", "42").returncode == 0
    state = place.root / ".lifecycle/state.json"
    data = json.loads(state.read_text())
    data["record"]["created_at"] += 3600  # as above
    state.write_text(json.dumps(data))
    handed = place.cli("handoff", "--summary", "Second")
    if method == "merge":
        assert place.git("rev-parse", "HEAD") == place.git("rev-parse", "origin/main")
        assert "has no commit that main lacks" in handed.stderr
        assert "if main already has the work, the user may close with" in handed.stderr
    else:
        for _ in range(2):  # the same again is told again
            assert handed.returncode == 0, handed.stderr
            assert "was merged in" not in handed.stdout
            # Written longer ago than a late edit takes, so that the guard is told of the look.
            os.utime(place.root / ".agent-claim.json", (1_700_000_000, 1_700_000_000))
            assert f"was merged in PR #{first}, before this claim" in place.hook("on-stop").stdout
            handed = place.cli("handoff", "--summary", "Second")
    assert place.claim()["pr_number"] is None
    place.work(branch, push=False)
    assert place.cli("handoff", "--summary", "Second").returncode == 0
    place.hook("on-stop")
    assert place.claim()["pr_number"] == place.pull() != first


def test_an_override_lives_no_longer_than_its_done(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It failed, the work went on: a later done by the agent is judged by GitHub again."""
    go(monkeypatch, is_joined=False)
    place.ready()
    place.tree().tick(Wake.STOP)
    place.control.add_fault(Fault("status", status=403, count=99, **CLOSE))
    tree = place.tree()
    tree.close(override="ship it")
    assert place.issue()["state"] == "open"
    place.control.clear_faults()
    place.write(phase="coding")
    place.tree().tick(Wake.STOP)
    place.write(phase="done")
    assert "still open" in texts(place.tree().tick(Wake.STOP))
    assert place.issue()["state"] == "open"


def test_an_override_of_a_merged_pull_request_is_no_override(place: Place) -> None:
    """The comment says what is true: it was completed in the PR."""
    number = place.merged()
    place.tree().close(override="just in case")
    (comment,) = place.issue()["comments"]
    assert comment["body"].startswith(f"Completed in #{number}")


def test_what_was_merged_is_not_opened_again(place: Place) -> None:
    """After a squash, a hand-off of the same commits leads to the question, not to a second PR."""
    place.ready()
    before = place.claim()
    place.tree().tick(Wake.STOP)
    number = place.pull()
    place.control.merge_pull(number, method="squash")
    (place.root / ".agent-claim.json").write_text(json.dumps(before))
    report = place.tree().tick(Wake.STOP)
    assert len(place.pulls()) == 1
    assert place.claim()["phase"] == Phase.MERGED_DETECTED
    assert report.actions == ()


def test_a_condition_is_said_again_when_it_comes_back(place: Place) -> None:
    """Missing summary: once while it lasts; mended and missing again: once more."""
    place.ready(summary="")
    assert "summary is missing" in texts(place.tree().tick(Wake.STOP))
    assert texts(place.tree().tick(Wake.STOP)) == ""
    place.write(phase="coding", summary="Fix")
    place.tree().tick(Wake.STOP)
    place.write(phase="ready_for_pr", summary="")
    assert "summary is missing" in texts(place.tree().tick(Wake.STOP))


def test_a_note_that_idle_could_not_say_is_said_at_the_next_stop(place: Place) -> None:
    """The card was moved; on-idle has no channel for a note, and the stop's guard is opened."""
    place.ready()
    place.hook("on-stop", STOP)
    place.control.set_field(42, "Status", "Todo")
    assert place.hook("on-idle", {}).returncode == 0
    reply = json.loads(place.hook("on-stop", STOP).stdout)
    assert 'moved to "Todo"' in reply["systemMessage"]
    assert place.hook("on-stop", STOP).stdout == ""


def test_a_trouble_that_nobody_needs_any_more_is_forgotten(place: Place) -> None:
    """A refused PR, then back to coding: no wake is let through for it."""
    place.ready(branch="claude/never-pushed")
    place.tree().tick(Wake.STOP)
    assert (place.root / ".lifecycle/due").exists()
    place.write(phase="coding", status="In Progress")
    place.tree().tick(Wake.STOP)
    assert not (place.root / ".lifecycle/due").exists()


def test_a_deletion_that_was_interrupted_is_finished(place: Place) -> None:
    """Killed between putting the file aside and deleting it; another claim's file comes back."""
    place.ready()
    tree = place.tree()
    tree.tick(Wake.STOP)
    path = place.root / ".agent-claim.json"
    aside = place.root / ".lifecycle/closing.json"
    path.rename(aside)
    assert place.tree().tick(Wake.STOP).record is None
    assert not aside.exists()
    aside.write_text(json.dumps({"schema_version": 1, "issue_number": 45, "branch": "x"}))
    place.tree().tick(Wake.STOP)
    assert place.claim()["issue_number"] == 45


def test_a_servers_rule_is_not_somebody_elses_lease(place: Place, tmp_path: Path) -> None:
    """A hook on the server declines the lease's ref: that is a refusal, not a race."""
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(bare)], check=True)
    place.git("remote", "add", "strict", str(bare))
    place.git("push", "--quiet", "strict", "HEAD:refs/heads/main")
    hook = bare / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'no custom refs here' >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(GitFailed, match="declined"):
        lease.take(place.tree().world.git, "strict", 42, "octocat-1")


def test_a_lease_is_released_although_the_first_push_fails(place: Place) -> None:
    """One lost connection does not leave the task held for ever."""
    assert place.cli("claim", "42").returncode == 0
    place.work(place.claim()["branch"])
    place.write(phase="ready_for_pr", summary="Fix")
    place.tree().tick(Wake.STOP)
    place.control.merge_pull(place.pull())
    place.write(phase="done")
    place.control.add_fault(Fault("status", path=r"git-receive-pack|service=git-rec", count=2))
    place.control.add_fault(Fault("status", path=r"info/refs", count=1))
    place.control.add_fault(Fault("status", operation="MoveRef"))
    place.tree().tick(Wake.STOP)
    assert place.issue()["state"] == "closed"
    assert place.has_claim()
    place.control.clear_faults()
    place.clock.sleep(61)
    place.tree().tick(Wake.STOP)
    assert not place.has_claim()
    assert not [ref for ref in place.control.world()["refs"] if "agent-claims" in ref]


def test_a_dry_run_repairs_nothing(place: Place) -> None:
    """A corrupt claim is named and left as it is by commands that promise to write nothing."""
    place.ready()
    place.tree().tick(Wake.STOP)
    path = place.root / ".agent-claim.json"
    path.write_text("{")
    os.utime(path, (1_700_000_000, 1_700_000_000))  # nobody writes into it any more
    for arguments in (["nudge", "coding", "--dry-run"], ["tick", "--dry-run"], ["status"]):
        done = place.cli(*arguments)
        assert done.returncode == 1
        assert "cannot be read" in done.stderr
        assert path.read_text() == "{"


def test_a_command_keeps_an_edit_that_github_has_not_judged(place: Place) -> None:
    """Nudge does not wipe an edited PR number; the next look judges it."""
    place.ready()
    place.tree().tick(Wake.STOP)
    place.control.close_pull(place.pull())
    other = place.control.open_pull(BRANCH, "Another", body="Refs #42")
    place.write(pr_number=other)
    assert place.cli("nudge", "coding", "--reason", "unreadable").returncode == 0
    assert place.claim()["pr_number"] == other


def test_another_issues_number_moves_no_other_card(place: Place) -> None:
    """Another number is put back: the claim's own card follows it, and the other issue's stays."""
    place.ready(phase="coding", status="In Progress")
    place.tree().tick(Wake.STOP)
    place.write(issue_number=45)
    place.tree().tick(Wake.STOP)
    place.write(status="In Review")
    place.tree().tick(Wake.STOP)
    assert (place.claim()["issue_number"], place.claim()["item_id"]) == (42, place.item_id(42))
    assert place.card(42)["Status"] == "In Review"
    assert place.card(45)["Status"] == "Todo"


def test_a_corrupt_claim_comes_back_as_it_was_last_accepted(place: Place) -> None:
    """A correction that a quiet stop has seen stands in what is restored, and not what was before it."""
    place.ready(phase="coding", status="In Progress", summary="Frist")
    place.hook("on-stop", STOP)
    place.write(summary="First")
    assert place.hook("on-stop", STOP).stdout == ""
    path = place.root / ".agent-claim.json"
    path.write_text('{"summary": "Sec')
    os.utime(path, (1, 1))
    assert "kept as" in place.cli("tick").stdout
    assert place.claim()["summary"] == "First"


def test_a_linked_claim_is_nobodys(place: Place, tmp_path: Path) -> None:
    """A symlink stays one, the file that it points to stays as it is, and nothing is done for it."""
    place.ready()
    path, target = place.root / ".agent-claim.json", tmp_path / "shared.json"
    path.rename(target)
    path.symlink_to(target)
    before = target.read_bytes()
    report = place.tree().tick(Wake.STOP)
    assert "is a link" in str(report.problem)
    assert path.is_symlink()
    assert target.read_bytes() == before
    assert place.pulls() == {}


def test_an_unreadable_board_does_not_hide_the_merge(place: Place) -> None:
    """Without a claim: the branch's merge is told, with no next task."""
    place.work("feature/x")
    place.control.merge_pull(place.control.open_pull("feature/x", "By hand"))
    place.control.set_scopes(["repo"])
    done = place.hook("on-idle", {})
    assert done.stderr == "Your PR on branch feature/x was merged!\n"


def test_a_misspelt_hook_does_not_block_the_agent(place: Place) -> None:
    """Exit 2 of a hook blocks: a typo in somebody's settings must not."""
    for arguments in (["hook", "on-stopp"], ["hook", "on-stop", "--nope"], ["hook"]):
        assert place.cli(*arguments).returncode in (0, 1)


def test_handoff_prints_only_json_where_json_is_asked(place: Place) -> None:
    """The validation's own output goes to stderr."""
    assert place.cli("claim", "42").returncode == 0
    (place.root / ".lifecycle.toml").write_text('validate = "echo checking"\n')
    assert place.cli("trust", "--yes").returncode == 0
    place.work(place.claim()["branch"], push=False)
    done = place.cli("handoff", "--summary", "Fix", "--json")
    assert json.loads(done.stdout)["claim"]["phase"] == "ready_for_pr"
    assert "checking" in done.stderr
