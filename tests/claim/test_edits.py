"""What the agent and people edit, on a real embedded GitHub."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from lifecycle.api import Phase, Wake
from lifecycle.storage import store
from tests.conftest import BRANCH, Place, environment_of
from tests.factories import texts


def test_an_edited_pr_number_is_confirmed_by_github_or_put_back(place: Place) -> None:
    """A number that is not this branch's PR is refused with a word; the right one is taken."""
    place.ready()
    place.tree().tick(Wake.STOP)
    number = place.pull()
    place.write(pr_number=36)
    report = place.tree().tick(Wake.IDLE)
    assert "was edited to 36" in texts(report)
    assert place.claim()["pr_number"] == number
    place.control.close_pull(number)
    other = place.control.open_pull(BRANCH, "Another", body="Refs #42")
    place.write(pr_number=other)
    place.tree().tick(Wake.TICK)
    assert place.claim()["pr_number"] == other


def test_a_pull_request_that_a_person_opened_in_place_of_a_closed_one_is_the_claims(
    place: Place,
) -> None:
    """Opened and merged between two looks: the merge is seen, and not that the first one was closed."""
    place.ready()
    place.tree().tick(Wake.STOP)
    place.control.close_pull(place.pull())
    number = place.control.open_pull(BRANCH, "Another", body="Refs #42")
    place.control.merge_pull(number)
    assert "Should I close issue #42?" in texts(place.tree().tick(Wake.TICK))
    assert (place.claim()["pr_number"], place.claim()["phase"]) == (number, "merged_detected")


@pytest.mark.parametrize("is_named", [False, True])
def test_a_reverted_merge_that_its_branch_alone_shows_is_asked_about(
    place: Place, is_named: bool
) -> None:
    """The claim names no pull request, or one that was closed: `close = "auto"` closes nothing."""
    place.ready()
    (place.root / ".lifecycle.toml").write_text('close = "auto"\n')
    if is_named:
        place.tree().tick(Wake.STOP)
        place.control.close_pull(place.pull())
    number = place.control.open_pull(BRANCH, "Another", body="Refs #42")
    place.control.merge_pull(number)
    place.control.push_commit("revert", {"more.txt": "less\n"}, "Revert", by="maria")
    text = f"Reverts octo-org/hello-service#{number}"
    revert = place.control.open_pull("revert", 'Revert "Another"', body=text, by="maria")
    place.control.merge_pull(revert)
    asked = texts(place.tree().tick(Wake.TICK))
    assert f"Should I close issue #42? PR #{revert} reverted PR #{number}." in asked
    assert (place.claim()["pr_number"], place.issue()["state"]) == (number, "open")


def test_an_edited_issue_number_is_put_back(place: Place) -> None:
    """A typo does not lead to closing somebody else's issue."""
    place.ready()
    place.tree().tick(Wake.STOP)
    place.write(issue_number=43)
    report = place.tree().tick(Wake.TICK)
    assert "was edited to 43" in texts(report)
    assert place.claim()["issue_number"] == 42


def test_an_issue_number_that_was_missing_begins_the_claim(place: Place) -> None:
    """The sentence asks for it, and once it is there nothing is asked any more."""
    place.write(branch="work", phase="coding", status="In Progress")
    assert "has no usable issue_number" in texts(place.tree().tick(Wake.TICK))
    place.write(issue_number=42)
    report = place.tree().tick(Wake.TICK)
    assert (report.record and report.record.claim.issue_number, report.problem) == (42, None)
    assert "issue_number" not in texts(report)
    assert place.card()["Status"] == "In Progress"


def test_a_copied_claim_of_another_agent_leaves_the_task_that_is_held(place: Place) -> None:
    """The stop tells it, and what is released then is this worktree's own task, not the other's."""
    assert place.cli("claim", "42").returncode == 0
    place.write(issue_number=45, branch="claude/other-45", agent_id="maria-1")
    assert "it is a claim on #45, but this worktree holds #42" in place.hook("on-stop").stdout
    assert place.claim()["issue_number"] == 42
    assert "Issue #42 released." in place.cli("release").stdout
    assert place.issue(45)["comments"] == []


def test_why_a_claim_is_refused_is_said_once_until_it_is_over_and_then_again(place: Place) -> None:
    """A look that can act takes the refusal back, so that the same obstacle is told when it returns."""
    assert place.cli("claim", "42").returncode == 0
    own = place.claim()["schema_version"]
    heard: list[bool] = []
    for version in (99, 99, own, 99):
        place.write(schema_version=version)
        heard.append("99" in texts(place.tree().tick(Wake.STOP)))
    assert heard == [True, False, False, True]


def test_an_edited_issue_number_moves_no_claim_that_holds_its_task(place: Place) -> None:
    """#42's lease would stay behind and nobody hold #45: the edit is undone, with a word on the way."""
    assert place.cli("claim", "42").returncode == 0
    place.write(issue_number=45)
    said = place.hook("on-stop").stdout
    assert "was edited to 45; this claim stays on #42. For another task, finish this one" in said
    assert place.claim()["issue_number"] == 42
    assert place.card(45)["Status"] == "Todo"
    place.work(place.claim()["branch"])
    place.write(phase="ready_for_pr", summary="Fix it")
    assert "PR #46 created" in place.hook("on-stop").stdout
    assert "#42" in place.pulls()[46]["body"]


def test_a_claim_that_was_copied_into_another_worktree_is_not_believed_there(
    place: Place, tmp_path: Path
) -> None:
    """It names the task's agent, so a release would give the task up; where the branch is, the claim is."""
    assert place.cli("claim", "42").returncode == 0
    root = tmp_path / "other"
    other = replace(place, root=root, environment=environment_of(place.info, root))
    place.git("worktree", "add", "--quiet", "--detach", str(other.root))
    copied = (place.root / ".agent-claim.json").read_bytes()
    (other.root / ".agent-claim.json").write_bytes(copied)
    why = f"it is a copy of the claim in {place.root}, where its branch is checked out"
    refused = other.cli("handoff", "--summary", "Fix it")
    assert (refused.returncode, why in refused.stderr) == (1, True)
    assert why in other.hook("on-stop").stdout
    assert not other.has_claim()
    assert other.cli("release").returncode == 1
    assert place.issue(42)["assignees"] == ["octocat"]
    # The work is moved: who has the branch goes on.
    branch = place.claim()["branch"]
    place.git("switch", "--quiet", "--detach")
    other.git("switch", "--quiet", branch)
    (other.root / ".agent-claim.json").write_bytes(copied)
    assert why not in other.hook("on-stop").stdout
    assert other.has_claim()
    # A link of git's that is relative, as newer ones write it, leads there as well.
    git = place.root / ".git" / "worktrees" / root.name
    (git / "gitdir").write_text(f"{os.path.relpath(root / '.git', git)}\n")
    assert store.places_of(place.root, branch) == [root.resolve()]


def test_what_has_to_be_corrected_is_shown_until_it_is(place: Place) -> None:
    """Status and a session's start have it from the record, also behind stops that read nothing."""
    place.ready(branch="main")
    for _ in range(2):
        place.hook("on-stop")
        shown = place.cli("status").stdout
        assert "No PR yet: the claim's branch is main" in shown
        assert "The PR is opened" not in shown
    assert "No PR yet" in place.hook("session-start", {"source": "startup"}).stdout
    assert "No PR yet" in json.loads(place.cli("status", "--json").stdout)["claim"]["next"]
    place.write(branch=BRANCH)
    assert "No PR yet" not in place.cli("status").stdout
    place.hook("on-stop")
    assert place.claim()["pr_number"] == place.pull()
    place.control.close_issue(42)
    place.cli("tick")
    place.hook("on-stop")
    shown = place.cli("status").stdout
    assert shown.count("Issue #42 was closed on GitHub in the meantime") == 1
    place.control.reopen_issue(42)
    place.cli("tick")
    assert "was closed" not in place.cli("status").stdout


def test_a_merge_is_of_its_own_issue_whatever_number_is_written_then(place: Place) -> None:
    """Yes was said to closing #42: an agent that writes another number does not close that one."""
    place.ready()
    place.tree().tick(Wake.STOP)
    place.control.merge_pull(place.pull())
    place.tree().tick(Wake.TICK)
    place.write(issue_number=45, phase="done")
    report = place.tree().tick(Wake.STOP)
    assert "was edited to 45" in texts(report)
    place.tree().tick(Wake.STOP)
    assert place.issue(45)["state"] == "open"


def test_a_whole_file_write_from_an_old_copy_restores_the_engines_fields(place: Place) -> None:
    """The agent writes done over the copy it read at the hand-off: number and sync stay."""
    place.ready()
    old = place.claim()
    place.tree().tick(Wake.STOP)
    number = place.pull()
    place.control.merge_pull(number)
    (place.root / ".agent-claim.json").write_text(json.dumps({**old, "phase": "done"}))
    report = place.tree().tick(Wake.STOP)
    assert "Issue #42 closed." in texts(report)


def test_a_card_moved_by_hand_is_reported_once_and_left(place: Place) -> None:
    """A person moved the card after the PR was opened: it stays there, and is said once."""
    place.ready()
    assert "created" in texts(place.tree().tick(Wake.STOP))
    place.control.advance(5)
    place.control.set_field(42, "Status", "Todo")
    assert 'moved to "Todo"' in texts(place.tree().tick(Wake.IDLE))
    for _ in range(3):
        place.clock.sleep(130)
        assert "moved" not in texts(place.tree().tick(Wake.IDLE))
    assert place.card()["Status"] == "Todo"


def test_a_card_moved_before_the_hand_off_follows_the_hand_off(place: Place) -> None:
    """Where somebody put the card holds until the next thing happens to the task: its PR opens."""
    place.ready(phase="coding", status="In Progress")
    place.tree().tick(Wake.STOP)
    place.control.set_field(42, "Status", "Todo")
    place.control.advance(5)
    place.write(phase="ready_for_pr", status="In Review")
    said = texts(place.tree().tick(Wake.STOP))
    assert "created" in said
    assert "moved" not in said
    assert place.card()["Status"] == "In Review"


def test_fault_6_an_unknown_status_names_the_ones_that_exist(place: Place) -> None:
    """An unknown status is no option: said with the list, not recorded as synced, not tried for ever."""
    place.ready(phase="coding", status="In Progress")
    place.tree().tick(Wake.STOP)
    place.write(status="Blokced")
    said = texts(place.tree().tick(Wake.STOP))
    assert "Blokced" in said
    assert "In Review" in said
    assert place.claim()["last_synced_status"] == "In Progress"
    place.clear()
    place.tree().tick(Wake.STOP)
    assert place.requests() == []


def test_renamed_options_refresh_the_cached_ids_once(place: Place) -> None:
    """The cached option id went stale: the fields are read again and the write is made."""
    place.ready(phase="coding", status="In Progress")
    place.tree().tick(Wake.STOP)
    place.control.rename_option("Status", "In Review", "Reviewing")
    place.control.add_option("Status", "In Review")
    place.clear()
    place.write(status="In Review")
    place.tree().tick(Wake.STOP)
    assert place.card()["Status"] == "In Review"
    assert [r.operation for r in place.requests()] == [
        "SetBoardFields",
        "DiscoverBoard",
        "SetBoardFields",
    ]


def test_a_renamed_option_is_told_once_as_what_it_is(place: Place) -> None:
    """Behind the PR as well: that ids were stale is no news, and stood beside what was wrong."""
    place.ready(phase="coding", status="In Progress")
    place.tree().tick(Wake.TICK)
    place.control.rename_option("Status", "In Review", "Reviewing")
    place.write(phase="ready_for_pr", summary="Fix")
    said = texts(place.tree().tick(Wake.STOP))
    assert 'Status has no option "In Review"' in said
    assert "read anew" not in said


@pytest.mark.parametrize("away", ["archive_item", "remove_item"])
def test_a_card_that_cannot_be_written_is_told_once(place: Place, away: str) -> None:
    """The next stop looks for it first: it wrote blindly, and told the same in other words."""
    place.ready(phase="coding", status="In Progress")
    place.tree().tick(Wake.TICK)
    getattr(place.control, away)(42)
    place.write(phase="ready_for_pr", summary="Fix")
    assert "is archived" in (said := texts(place.tree().tick(Wake.STOP))) or "is not on" in said
    place.clear()
    place.write(note="x")
    assert "card" not in texts(place.tree().tick(Wake.STOP))
    assert "SetBoardFields" not in [request.operation for request in place.requests()]


def test_a_summary_of_any_length_makes_a_pull_request(place: Place) -> None:
    """GitHub takes 256 characters of title and 65,536 of body: both are cut, the link stays."""
    place.ready(summary="word " * 20_000)
    place.tree().tick(Wake.STOP)
    pull = place.pulls()[place.pull()]
    assert len(pull["title"]) == 256
    assert pull["title"].endswith("…")
    assert len(pull["body"]) <= 65_536
    assert "Refs #42" in pull["body"]


def test_fault_11_clearing_agent_really_clears(place: Place) -> None:
    """An empty text does nothing on GitHub; the clearing mutation does."""
    place.merged()
    assert place.card()["Agent"] == "octocat-1"
    place.tree().tick(Wake.STOP)
    assert "Agent" not in place.card() or place.card()["Agent"] is None


def test_a_dry_run_plans_everything_and_writes_nothing(place: Place) -> None:
    """The plan of closing is listed in order; no request writes, and no byte changes on disk."""
    place.merged()
    before = {p: p.read_bytes() for p in (place.root / ".lifecycle").iterdir() if p.is_file()}
    assert before
    claim = (place.root / ".agent-claim.json").read_bytes()
    place.clear()
    report = place.tree().rehearse()
    kinds = [type(action).__name__ for action in report.actions]
    assert kinds == ["PostComment", "CloseIssue", "SetBoard", "ForgetClaim"]
    assert place.writes() == []
    assert claim == (place.root / ".agent-claim.json").read_bytes()
    for path, content in before.items():
        assert path.read_bytes() == content
    assert place.claim()["phase"] == Phase.DONE
