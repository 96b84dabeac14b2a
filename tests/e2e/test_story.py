"""Claim to close, through the real entrypoints: processes, HTTP, git."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from lifecycle.claim.commands.moves import move
from lifecycle.claim.decisions.table import Phase
from lifecycle.sandbox.checks.state import PlannedCheck
from tests.conftest import BRANCH, Place
from tests.github.operations.ground import hub_on
from tests.repeated import soaked

SOAKED = pytest.mark.soak(
    "e2e/test_story.py::test_the_whole_life_of_a_task",
    "claim/test_walk.py::test_the_engine_walks_the_cell",
    "claim/test_sentences.py::test_a_board_of_the_wrong_number_is_said_once",
    "claim/test_consent.py::test_a_recorded_yes_counts_since_the_merge_was_seen_or_in_a_command",
    "storage/test_ledger.py::test_nothing_is_said_twice_and_nothing_is_lost",
)

STOP = {"hook_event_name": "Stop", "session_id": "s", "stop_hook_active": False}
IDLE = {"hook_event_name": "Notification", "notification_type": "idle_prompt", "session_id": "s"}


def stop(place: Place) -> dict[str, Any]:
    """Run on-stop; its reply."""
    done = place.hook("on-stop", STOP)
    assert done.returncode == 0
    assert done.stderr == ""
    reply: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
    return reply


def idle(place: Place) -> str:
    """Run on-idle; what it woke the session with, or nothing."""
    done = place.hook("on-idle", IDLE)
    assert done.stdout == ""
    assert done.returncode == (2 if done.stderr else 0)
    return str(done.stderr)


def says_yes(place: Place) -> None:
    """The person answers, and the agent writes `done`."""
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "yes, close it"}
    answered = place.hook("user-prompt-submit", event)
    assert (answered.returncode, answered.stderr) == (0, "")
    mark = place.root / ".lifecycle/answered"
    moment = mark.stat().st_mtime + 2  # nobody answers within the second of the merge
    os.utime(mark, (moment, moment))
    place.write(phase="done")


def elapse(place: Place) -> None:
    """Let the polling backoff pass: two minutes ago is written where the last poll stands."""
    state = json.loads((place.root / ".lifecycle/state.json").read_text())
    record = state["record"]
    record["values"]["last_check_poll"] = record["past"][-1]["last_check_poll"] = None
    (place.root / ".lifecycle/state.json").write_text(json.dumps(state))
    place.write(last_check_poll=None)


@pytest.mark.started
def test_the_whole_life_of_a_task(place: Place) -> None:
    """Claimed, coded, handed off, polled red and green, merged, confirmed, closed.

    At each step: what the agent or the person hears, where board and file stand, what it cost.
    """
    place.control.plan_checks(
        PlannedCheck(name="lint", after_reads=1),
        PlannedCheck(name="test", conclusion="failure", after_reads=1),
    )
    done = place.cli("claim", "42", "--json")
    assert done.returncode == 0, done.stderr
    claim = place.claim()
    branch = "claude/fix-race-condition-in-task-queue-42"
    assert (claim["phase"], claim["branch"], claim["status"]) == ("coding", branch, "In Progress")
    assert place.git("branch", "--show-current") == branch
    assert place.card()["Status"] == "In Progress"
    assert place.card()["Agent"] == claim["agent_id"]
    assert place.issue()["assignees"] == ["octocat"]
    assert place.git("status", "--porcelain") == ""

    place.clear()
    assert stop(place) == {}
    assert place.requests() == []

    place.work(branch, push=False)
    done = place.cli("handoff", "--summary", "Fix race condition in the queue")
    assert done.returncode == 0, done.stderr
    assert place.claim()["phase"] == "ready_for_pr"
    assert place.requests() == []

    reply = stop(place)
    number = place.pull()
    context = reply["hookSpecificOutput"]
    assert context["hookEventName"] == "Stop"
    url = f"{place.info.api_url}/{place.info.repository}/pull/{number}"
    assert context["additionalContext"] == f"PR #{number} created: {url}"
    assert len(place.requests()) <= 3
    pull = place.pulls()[number]
    assert pull["title"] == "Fix race condition in the queue"
    assert pull["base"] == "main"
    assert "Refs #42" in pull["body"]
    assert pull["body"].count("- [ ]") >= 5
    assert "[x]" not in pull["body"]
    assert place.card()["Status"] == "In Review"
    assert (place.claim()["phase"], place.claim()["pr_number"]) == ("pr_created", number)
    assert stop(place) == {}

    place.clear()
    assert idle(place) == ""  # nothing has registered: neither green nor red
    assert len(place.requests()) == 1
    assert place.claim()["phase"] == "checks_running"
    place.clear()
    elapse(place)
    assert "1 FAILED — test" in idle(place)
    assert len(place.requests()) == 1
    elapse(place)
    assert idle(place) == ""  # said once for this head

    place.control.plan_checks(PlannedCheck(name="lint"), PlannedCheck(name="test"))
    place.work(branch)
    elapse(place)
    text = f"CI passed! All 2 checks green. PR #{number} is ready to merge"
    assert idle(place) == f"{text}, if GitHub finds no conflict.\n"  # just pushed: not computed yet
    elapse(place)
    assert idle(place) == ""

    place.control.merge_pull(number, method="squash", delete_branch=True)
    assert idle(place).startswith(f"PR #{number} merged! Should I close issue #42?")
    assert idle(place) == ""
    assert place.claim()["phase"] == "merged_detected"
    assert place.issue()["state"] == "open"

    says_yes(place)
    place.clear()
    assert stop(place) == {
        "systemMessage": "Issue #42 closed. Board → Done. The claim file was deleted."
    }
    assert len(place.requests()) <= 4
    assert not place.has_claim()
    assert place.issue()["state"] == "closed"
    assert place.issue()["state_reason"] == "completed"
    (comment,) = place.issue()["comments"]
    assert comment["body"].startswith(f"Completed in #{number}\n")
    assert place.card()["Status"] == "Done"
    assert not place.card().get("Agent")
    assert not [ref for ref in place.control.world()["refs"] if "agent-claims" in ref]
    place.clear()
    assert stop(place) == {}
    assert place.requests() == []


def test_the_designs_manual_runs_work(place: Place) -> None:
    """The hand-written file with item_id TEST, and the hooks run by hand with the old variable."""
    place.work("claude/test")
    text = (
        '{"schema_version":1,"item_id":"TEST","issue_number":42,"branch":"claude/test",'
        '"agent_id":"test","phase":"ready_for_pr","summary":"Test PR","status":"In Review",'
        '"pr_number":null,"last_check_poll":null,"last_synced_status":null}'
    )
    (place.root / ".agent-claim.json").write_text(text + "\n")
    for variable in ("LIFECYCLE_PROJECT_NUMBER", "LIFECYCLE_PROJECT_OWNER"):
        place.environment.pop(variable, None)
    by_hand = {"CLAUDE_PROJECT_DIR": ".", "MOLTNET_PROJECT_NUMBER": "1"}
    done = place.hook("on-stop", {}, **by_hand)
    assert done.returncode == 0
    number = place.pull()
    assert f"PR #{number} created" in done.stdout
    assert place.claim()["item_id"] == place.item_id()
    assert place.card()["Status"] == "In Review"
    assert place.card()["Agent"] == "test"
    assert len(place.requests()) <= 4  # cold: the board's ids are one more

    place.control.set_check(number, "test", conclusion="failure")
    done = place.hook("on-idle", {}, **by_hand)
    assert (done.returncode, done.stdout) == (2, "")
    assert "1 FAILED — test" in done.stderr

    place.control.merge_pull(number)
    place.write(phase="done")
    done = place.hook("on-stop", {}, **by_hand)
    assert "Issue #42 closed." in done.stdout
    assert place.issue()["state"] == "closed"


@SOAKED
def test_fault_7_the_pull_request_is_made_although_the_board_is_not_there(place: Place) -> None:
    """A board failure after the PR must not lose the message about the PR."""
    place.ready()
    done = place.hook("on-stop", STOP, LIFECYCLE_PROJECT_NUMBER="99")
    assert done.returncode == 0
    reply = json.loads(done.stdout)
    assert f"PR #{place.pull()} created" in reply["hookSpecificOutput"]["additionalContext"]
    assert "99" in reply["systemMessage"]
    assert place.claim()["last_synced_status"] is None
    place.clear()
    for _ in range(3):
        assert place.hook("on-stop", STOP, LIFECYCLE_PROJECT_NUMBER="99").stdout == ""


@SOAKED
def test_without_the_project_scope_issue_and_pr_work_alone(place: Place) -> None:
    """The default token of gh cannot read the board: said once, with the command that mends it."""
    place.control.set_scopes(["repo"])
    place.ready()
    reply = stop(place)
    assert f"PR #{place.pull()} created" in reply["hookSpecificOutput"]["additionalContext"]
    assert "gh auth refresh -s project" in reply["systemMessage"]
    place.control.merge_pull(place.pull())
    says_yes(place)
    reply = stop(place)
    assert reply["systemMessage"].startswith("Issue #42 closed.")
    assert place.issue()["state"] == "closed"


@SOAKED
def test_fault_13_nothing_is_said_twice(place: Place) -> None:
    """Green and the merge question came back at every idle; here each is said once, in all."""
    place.control.plan_checks(PlannedCheck(name="test"))
    place.ready()
    stop(place)
    number = place.pull()
    heard = []
    for _ in range(3):
        elapse(place)
        heard.append(idle(place))
    place.control.merge_pull(number)
    heard += [idle(place) for _ in range(3)]
    told = [text for text in heard if text]
    assert len(told) == 2
    assert "CI passed!" in told[0]
    assert "Should I close issue #42?" in told[1]


@SOAKED
def test_a_refused_done_continues_the_turn_once_and_says_why(place: Place) -> None:
    """Fault 14, through the hook: decision block with the reason; a second done is silent."""
    place.ready()
    stop(place)
    place.write(phase="done")
    reply = stop(place)
    assert reply["decision"] == "block"
    assert "still open" in reply["reason"]
    assert place.claim()["phase"] == "checks_running"
    place.write(phase="done")
    assert stop(place) == {}
    assert place.claim()["phase"] == "checks_running"
    assert place.issue()["state"] == "open"


@SOAKED
def test_nothing_to_merge_tells_the_agent_to_commit_and_push(place: Place) -> None:
    """A branch without commits is refused by GitHub; the agent hears it once, then its push helps."""
    place.git("switch", "--quiet", "-c", BRANCH)
    place.git("push", "--quiet", "origin", BRANCH)
    place.write(
        schema_version=1,
        item_id=place.item_id(),
        issue_number=42,
        branch=BRANCH,
        agent_id="octocat-1",
        phase="ready_for_pr",
        summary="Nothing yet",
        status="In Progress",
        pr_number=None,
        last_check_poll=None,
        last_synced_status="In Progress",
    )
    reply = stop(place)
    assert reply["decision"] == "block"
    assert "commit" in reply["reason"].lower()
    place.clear()
    assert stop(place) == {}
    assert place.requests() == []
    place.work()
    assert "created" in stop(place)["hookSpecificOutput"]["additionalContext"]


@SOAKED
def test_closes_link_lets_github_close_the_issue_and_the_claim_copes(place: Place) -> None:
    """With issue_link = "Closes" the merge closes the issue: that is told, and the claim's end asked.

    Who reopens it is asked about the issue, as ever.
    """
    (place.root / ".lifecycle.toml").write_text('issue_link = "Closes"\n')
    place.ready()
    stop(place)
    number = place.pull()
    assert "Closes #42" in place.pulls()[number]["body"]
    place.control.merge_pull(number)
    assert place.issue()["state"] == "closed"
    question = f"PR #{number} merged! Issue #42 is already closed"
    assert idle(place).startswith(question)
    assert question in place.cli("status").stdout
    place.control.advance(2)
    place.control.reopen_issue(42)
    asked = f"PR #{number} merged! Issue #42 was reopened after that. Should I close issue #42?"
    assert asked in place.cli("tick").stdout
    place.control.close_issue(42)
    assert question in place.cli("tick").stdout
    says_yes(place)
    assert stop(place)["systemMessage"].startswith("Issue #42 closed. Board → Done.")
    assert len(place.issue()["comments"]) == 1


def test_open_sub_issues_are_named_before_and_after_closing(place: Place) -> None:
    """In the question, the status and the word on the end: for no request more."""
    with hub_on(place.info, place.info.token) as hub:
        hub.relations.ensure_sub_issue(42, 43)
        hub.relations.ensure_sub_issue(42, 44)
    place.ready()
    stop(place)
    number = place.pull()
    place.control.merge_pull(number)
    place.clear()
    asked = f"PR #{number} merged! Should I close issue #42? 2 of #42's sub-issues are still open."
    assert idle(place).startswith(asked)
    assert len(place.requests()) == 1
    assert asked in place.cli("status").stdout
    place.control.close_issue(43)
    assert "1 of #42's sub-issues is still open." in place.cli("tick").stdout
    says_yes(place)
    assert "file was deleted. 1 of #42's sub-issues is still open." in stop(place)["systemMessage"]
    assert (place.issue(42)["state"], place.issue(44)["state"]) == ("closed", "open")


@SOAKED
def test_a_close_that_was_killed_before_its_look_is_no_yes_to_a_later_merge(place: Place) -> None:
    """The next hook asks, and an agent that repeats its `done` is refused; another `close` is a yes."""
    place.ready()
    stop(place)
    number = place.pull()
    tree = place.tree()
    move(tree.world, tree.claim_store, Phase.DONE, force=True, consent="close")
    place.control.merge_pull(number)
    assert f"nobody has said yes. PR #{number} merged!" in stop(place)["reason"]
    place.write(phase="done")
    assert "nobody has said yes" in stop(place)["reason"]
    assert place.issue()["state"] == "open"
    assert place.cli("close").returncode == 0
    assert place.issue()["state"] == "closed"


def test_the_card_of_a_closed_issue_is_not_put_among_those_that_are_worked_on(place: Place) -> None:
    """The look that opens the pull request saw the issue closed: what it sets, nobody has moved there."""
    place.ready()
    place.control.set_field(42, "Status", "In Progress")
    place.control.close_issue(42)
    stop(place)
    assert place.card()["Status"] == "In Progress"
    place.cli("reconcile")
    assert place.card()["Status"] == "Done"


@SOAKED
def test_the_projects_own_template_is_the_body(place: Place) -> None:
    """`.github/pull_request_template.md` is used, its boxes unchecked, summary and link in front."""
    folder = place.root / ".github"
    folder.mkdir()
    (folder / "pull_request_template.md").write_text("## Why\n\n- [x] I ticked this\n")
    place.git("add", ".github")
    place.git("commit", "--quiet", "-m", "A template")
    place.ready()
    stop(place)
    body = place.pulls()[place.pull()]["body"]
    assert body.startswith("Fix race condition\n\nRefs #42\n\n## Why")
    assert "- [ ] I ticked this" in body


@SOAKED
def test_a_link_is_no_template(place: Place, tmp_path: Path) -> None:
    """What it leads to stands in no pull request, whether the link is to a file or to its folder."""
    private = tmp_path / "private"
    private.mkdir()
    (private / "pull_request_template.md").write_text("what nobody else may read\n")
    (place.root / ".github").symlink_to(private)
    (place.root / "PULL_REQUEST_TEMPLATE.md").symlink_to(private / "pull_request_template.md")
    place.git("add", ".github", "PULL_REQUEST_TEMPLATE.md")
    place.git("commit", "--quiet", "-m", "Links")
    place.ready()
    stop(place)
    body = place.pulls()[place.pull()]["body"]
    assert "what nobody else may read" not in body
    assert "## Mission integrity" in body


@SOAKED
def test_fault_10_without_a_claim_the_merge_is_told_and_the_next_task_named(place: Place) -> None:
    """The design's sentence, once; the first Todo by priority, and never "null (#?)"."""
    place.work("feature/x")
    number = place.control.open_pull("feature/x", "By hand")
    assert idle(place) == ""
    place.control.merge_pull(number)
    (place.root / ".lifecycle/idle-due").unlink()
    # #43 is more urgent, but depends on #38, which is open: it is not available.
    assert place.card(43)["Priority"] == "P0: Critical"
    assert idle(place) == (
        'Your PR on branch feature/x was merged! Next available task: "Fix race condition in task '
        'queue" (#42). Use /claim to pick it up.\n'
    )
    (place.root / ".lifecycle/idle-due").unlink()
    place.clear()
    assert idle(place) == ""
    assert place.requests() == []


@SOAKED
def test_fault_10_with_no_task_left_it_says_so(place: Place) -> None:
    """An empty Todo column is a sentence, not "null"."""
    place.work("feature/x")
    place.control.merge_pull(place.control.open_pull("feature/x", "By hand"))
    for number in place.control.world()["issues"]:
        place.control.set_field(int(number), "Status", "Done")
    assert idle(place) == "Your PR on branch feature/x was merged! No task is left in Todo.\n"


@SOAKED
def test_the_session_starts_with_claim_question_and_board(place: Place) -> None:
    """Four counts, the first five Todo, who works on what; the open question from state."""
    place.ready()
    stop(place)
    number = place.pull()
    place.control.merge_pull(number)
    idle(place)
    for _ in range(2):  # rendered from state: however often a session starts
        done = place.hook("session-start", {"hook_event_name": "SessionStart", "source": "resume"})
        output = json.loads(done.stdout)["hookSpecificOutput"]
        assert output["hookEventName"] == "SessionStart"
        text = output["additionalContext"]
        assert f"PR #{number} merged! Should I close issue #42?" in text
        assert "4 Todo, 1 In Progress, 2 In Review, 1 Done" in text
        assert "- #43 " in text
        assert "(octocat-1)" in text


@pytest.mark.parametrize("hook", ["on-stop", soaked("on-idle"), "session-start"])
def test_a_repository_that_never_asked_is_left_alone(place: Place, hook: str) -> None:
    """No claim, no config, no project variable: no network, no file, no output; with a claim there are."""
    number = place.environment.pop("LIFECYCLE_PROJECT_NUMBER")
    before = sorted(place.root.iterdir())
    done = place.hook(hook, {})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sorted(place.root.iterdir()) == before
    assert place.requests() == []
    place.ready(pr_number=None)
    place.hook(hook, {}, LIFECYCLE_PROJECT_NUMBER=number)
    assert (place.root / ".lifecycle").is_dir()
    assert place.requests() != []
