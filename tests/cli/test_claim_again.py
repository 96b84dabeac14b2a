"""A task that was given back from afar: its holder hears it, and `lifecycle claim` takes it again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lifecycle.claim.commands import unfinished_claims
from lifecycle.claim.record.claim_file import message, sentence
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.claim.record.sections import Releasing
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.values.survey import parse_lease
from lifecycle.git import lease
from lifecycle.sandbox.control.faults import Fault
from lifecycle.storage.store import Folder
from tests.cli.outcome import ok, refused
from tests.clones import clone
from tests.conftest import Place, environment_of
from tests.repeated import soaked

SOAKED = pytest.mark.soak(
    "cli/test_claim_again.py::test_claim_takes_it_again_and_the_work_goes_on",
    "claim/test_given_back.py::test_what_people_do_by_hand_is_no_giving_back",
)

LEASE = "refs/agent-claims/42"
RELEASED = "<!-- lifecycle:released issue=42 "
QUIET = ("--release", "--silent-hours", "0.0000001", "--issue", "42")
HEARD = "#42 was released or closed, or its lease was deleted, while this claim was quiet"


@pytest.fixture
def quiet(place: Place) -> Place:
    """A claimed task with a commit that is only here, which nobody has given back yet."""
    ok(place.cli("claim", "42"))
    place.work(place.claim()["branch"], push=False)
    return place


@pytest.fixture
def lost(quiet: Place) -> Place:
    """The same, given back from afar; nothing of it has reached the worktree."""
    give_back(quiet)
    return quiet


def give_back(place: Place) -> None:
    """As the Action does it: by what GitHub shows alone, and not a word to the worktree."""
    claim = (place.root / ".agent-claim.json").read_bytes()
    assert "silent" in ok(place.cli("reconcile", *QUIET))
    assert LEASE not in place.control.world()["refs"]
    assert place.issue()["assignees"] == []
    assert (place.root / ".agent-claim.json").read_bytes() == claim
    place.clear()


def released(place: Place) -> int:
    """How often the issue was told that the task was given back."""
    return sum(RELEASED in comment["body"] for comment in place.issue()["comments"])


def lease_of(place: Place) -> str:
    """The commit that the lease's ref holds, or empty."""
    return str(place.control.world()["refs"].get(LEASE, ""))


@SOAKED
def test_the_next_look_tells_it_and_writes_nothing(lost: Place) -> None:
    """tick says it with the way back, and says nothing of a card that was moved by hand."""
    shown = ok(lost.cli("tick"))
    assert HEARD in shown
    assert "lifecycle claim 42" in shown
    assert "moved" not in shown
    assert "handoff" not in shown
    assert lost.writes() == []
    assert (lost.card()["Status"], lost.card().get("Agent")) == ("Todo", None)


def test_each_place_that_speaks_of_the_claim_says_it(lost: Place) -> None:
    """The agent once at its next stop; each session's start, status and doctor until it is taken again."""
    ok(lost.cli("tick"))
    stopped = json.loads(lost.hook("on-stop").stdout)
    assert stopped["decision"] == "block"
    assert HEARD in stopped["reason"]
    assert lost.hook("on-stop").stdout == ""
    assert HEARD in lost.hook("session-start", {"source": "startup"}).stdout
    assert HEARD in ok(lost.cli("status"))
    found = json.loads(lost.cli("doctor", "--json").stdout)["findings"]
    (claim,) = [one for one in found if one["name"] == "worktree.claim"]
    assert (claim["level"], claim["fix"]) == ("fail", "lifecycle claim 42")
    assert HEARD in claim["says"]
    ok(lost.cli("claim", "42"))
    assert HEARD not in ok(lost.cli("status"))
    assert HEARD not in lost.hook("session-start", {"source": "startup"}).stdout


@pytest.mark.soak(
    "cli/test_claim_again.py::test_each_place_that_speaks_of_the_claim_says_it",
    "views/overview/test_overview_words.py::test_what_waits_is_said_once",
)
def test_the_view_says_a_loss_once(lost: Place) -> None:
    """What comes next says it, so it is not listed as waiting to be said as well."""
    ok(lost.cli("tick"))
    shown = ok(lost.cli("watch", "--once"))
    assert shown.count("was released or closed, or its lease") == 1


@pytest.mark.soak(
    "claim/test_admission.py::test_a_claim_elsewhere_that_lost_its_task_leads_nobody_there",
    "cli/test_tracker_hold.py::test_next_passes_over_a_task_whose_branch_another_worktree_has",
    "cli/test_claim_again.py::test_a_closed_task_is_said_to_be_closed",
)
def test_another_worktree_of_the_clone_is_not_told_that_it_is_claimed(
    lost: Place, tmp_path: Path
) -> None:
    """Its claim file says so, and the lease is gone: the branch is there, or else the task can be taken."""
    other = replace(lost, root=tmp_path / "other")
    lost.git("worktree", "add", "--quiet", "--detach", str(other.root))
    for command in ("claim", "takeover"):
        said = refused(other.cli(command, "42"))
        assert (
            f"#42 already has a worktree, {lost.root}; nothing was claimed. Continue there" in said
        )
    assert lease_of(lost) == ""
    assert "42 is nobody's now" in ok(other.cli("tracker", "release", "42"))
    lost.git("switch", "--quiet", "--detach")
    assert "Claimed #42" in ok(other.cli("takeover", "42"))
    assert "#42 was taken over by" in lost.cli("tick").stdout


def test_what_was_lost_is_not_to_be_finished_before_another_task(lost: Place) -> None:
    """Who takes another task hears to leave the one that this worktree does not hold any more.

    A session beside the one that had it hears from the release whose it is.
    """
    first, second = ({"CLAUDE_CODE_SESSION_ID": f"{number}" * 8} for number in (1, 2))
    ok(lost.cli("tick", **first))
    said = refused(lost.cli("claim", "44", **first))
    assert "has a claim on #42 that was lost; leave it with: lifecycle release, or take" in said
    assert "finish" not in said
    assert "is held by another session (11111111" in refused(lost.cli("release", **second))
    ok(lost.cli("claim", "44", "--worktree", **second))


@pytest.mark.soak(
    "cli/test_claim_again.py::test_each_place_that_speaks_of_the_claim_says_it",
    "claim/test_release_steps.py::test_what_was_released_before_only_loses_its_lease",
)
def test_a_refused_close_leaves_the_way_out_that_it_names(lost: Place) -> None:
    """The sentence says "leave the task with: lifecycle release", and that works, whatever the phase."""
    assert "leave the task with: lifecycle release" in lost.cli("close").stdout
    lost.clear()
    assert "only the claim here was deleted" in ok(lost.cli("release"))
    assert lost.writes() == []
    assert not (lost.root / ".agent-claim.json").exists()


@pytest.mark.soak(
    "cli/test_commands.py::test_a_look_at_what_another_has_by_now_exits_so",
    "claim/test_given_back.py::test_who_took_it_afterwards_is_named_instead",
)
def test_a_session_s_start_does_not_go_on_with_what_another_has(place: Place) -> None:
    """The board's card names another agent: the look at the start says so."""
    ok(place.cli("claim", "42"))
    place.git("push", "--quiet", "origin", f":{LEASE}")
    place.control.set_field(42, "Agent", "maria-2")
    assert "taken over by maria-2" in place.hook("session-start", {"source": "startup"}).stdout
    looked = place.cli("tick")
    assert looked.returncode == 4
    assert "#42 was taken over by maria-2" in looked.stdout
    found = json.loads(place.cli("doctor", "--json").stdout)["findings"]
    (claim,) = [one for one in found if one["name"] == "worktree.claim"]
    assert (claim["level"], claim["fix"]) == ("fail", "lifecycle release")
    assert "#42 was taken over by maria-2" in claim["says"]


@pytest.mark.once("a hand-off looks before it pushes: claim/test_given_back has what is told then")
@pytest.mark.parametrize("verb", [("handoff", "--summary", "Fix"), ("tick",)])
def test_of_a_task_that_another_has_nothing_of_its_pull_request_is_said(
    quiet: Place, verb: tuple[str, ...]
) -> None:
    """Who merges it and what reviewers say is its holder's to hear, however the loss was found out."""
    ok(quiet.cli("handoff", "--summary", "Fix"))
    ok(quiet.cli("tick"))
    quiet.control.review(quiet.pull(), "CHANGES_REQUESTED", login="maria", body="Rename it.")
    ok(quiet.cli("tick"))
    assert "Read the review, change what it asks for" in ok(quiet.cli("status"))
    world = quiet.tree().world
    lease.take(world.git, "origin", 42, "maria-1", instead_of=lease_of(quiet))
    assert quiet.cli(*verb).returncode == 4
    shown = ok(quiet.cli("status"))
    assert "maria-1" in shown
    assert "Read the review" not in shown
    assert "to merge" not in shown


@SOAKED
def test_a_hand_off_pushes_nothing_and_opens_nothing(lost: Place) -> None:
    """The lease is asked before the push, so not even a first look is needed to stop it."""
    said = refused(lost.cli("handoff", "--summary", "Fix"))
    assert "#42 is no longer held by this claim" in said
    assert "lifecycle claim 42" in said
    assert lost.claim()["phase"] == "coding"
    assert lost.git("ls-remote", "--heads", "origin", lost.claim()["branch"]) == ""
    ok(lost.cli("tick"))
    assert "no longer held by this claim" in refused(lost.cli("handoff", "--summary", "Fix"))
    assert lost.writes() == []


@SOAKED
@pytest.mark.parametrize("kept", ["board", "labels", "nothing"])
def test_a_phase_written_by_hand_opens_no_pull_request(place: Place, kept: str) -> None:
    """on-stop looks before it opens: by the card, or by the issue's comments, it sees and opens none."""
    if kept == "nothing":
        place.environment.pop("LIFECYCLE_PROJECT_NUMBER")
    if kept == "labels":
        (place.root / ".lifecycle.toml").write_text('[labels]\nuse = "always"\n')
    ok(place.cli("claim", "42"))
    branch = place.claim()["branch"]
    give_back(place)
    place.work(branch)
    before = place.pulls()
    place.write(phase="ready_for_pr", summary="Fix race condition", status="In Review")
    reason = json.loads(place.hook("on-stop").stdout)["reason"]
    assert HEARD in reason
    assert place.pulls() == before
    assert place.writes() == []


def test_claim_takes_it_again_and_the_work_goes_on(lost: Place) -> None:
    """Lease, assignee and card as at the first time; what waited to be said of the loss is over."""
    ok(lost.cli("tick"))
    before = lost.claim()
    taken = ok(lost.cli("claim", "42"))
    assert '#42 "Fix race condition in task queue" was no longer held here' in taken
    claim = lost.claim()
    assert (claim["phase"], claim["branch"]) == ("coding", before["branch"])
    assert lease_of(lost)
    assert lost.issue()["assignees"] == ["octocat"]
    assert (lost.card()["Status"], lost.card()["Agent"]) == ("In Progress", claim["agent_id"])
    assert lost.hook("on-stop").stdout == ""
    assert HEARD not in ok(lost.cli("tick"))
    lost.write(phase="codng")
    assert "codng" in lost.hook("on-stop").stdout  # it speaks where there is something to say
    lost.write(phase="coding")
    ok(lost.cli("handoff", "--summary", "Fix race condition"))
    ok(lost.cli("tick"))
    assert lost.card()["Status"] == "In Review"
    assert released(lost) == 1


@SOAKED
def test_it_is_taken_again_without_a_look_before(lost: Place) -> None:
    """Nobody has told the worktree: the lease that is gone is enough, and --json says what it came to."""
    data = json.loads(ok(lost.cli("claim", "42", "--json")))
    assert (data["new"], data["claim"]["phase"]) == (True, "coding")
    assert lease_of(lost)
    assert lost.card()["Status"] == "In Progress"
    assert json.loads(ok(lost.cli("claim", "42", "--json")))["new"] is False


@SOAKED
def test_it_goes_on_where_github_shows_its_pull_request(quiet: Place) -> None:
    """An open PR of its branch: phase, number and the card's column follow from that."""
    ok(quiet.cli("handoff", "--summary", "Fix race condition"))
    ok(quiet.cli("tick"))
    number = quiet.pull()
    quiet.control.set_field(42, "Status", "Todo")
    quiet.control.set_field(42, "Agent", None)
    quiet.control.unassign(42, "octocat")
    quiet.git("push", "--quiet", "origin", f":{LEASE}")
    assert HEARD in ok(quiet.cli("tick"))
    ok(quiet.cli("claim", "42"))
    claim = quiet.claim()
    assert (claim["phase"], claim["pr_number"]) == ("checks_running", number)
    assert (quiet.card()["Status"], quiet.card()["Agent"]) == ("In Review", claim["agent_id"])
    assert ok(quiet.cli("tick", "--dry-run")).strip().endswith("Nothing to do.")


@pytest.mark.parametrize(
    ("has_board", "is_merged", "branch"),
    [
        *((True, False, ""), (True, True, "feature/race")),
        *(soaked(False, False, ""), soaked(True, True, ""), soaked(False, True, "")),
        soaked(True, False, "feature/race"),
    ],
)
def test_a_takeover_goes_on_with_the_pull_request(
    quiet: Place, tmp_path: Path, *, has_board: bool, is_merged: bool, branch: str
) -> None:
    """Whoever takes the task over has its PR from then on, open or merged; the card stays.

    It is found on a branch of the other agent's own, too, which its lease names, and where that is gone.
    """
    if branch:
        quiet.git("branch", "-m", branch)
        quiet.write(branch=branch)
    ok(quiet.cli("handoff", "--summary", "Fix race condition"))
    ok(quiet.cli("tick"))
    number = quiet.pull()
    if not has_board:
        quiet.environment.pop("LIFECYCLE_PROJECT_NUMBER")
    root = tmp_path / "other"
    environment = {**quiet.environment, **environment_of(quiet.info, root)}
    environment |= {"CLAUDE_PROJECT_DIR": str(root)}
    if not has_board:
        environment.pop("LIFECYCLE_PROJECT_NUMBER")
    clone(quiet.info.git_url, root, environment)
    other = Place(quiet.info, quiet.control, root, environment)
    if is_merged:
        other.control.merge_pull(number)
        other.git("push", "--quiet", "origin", f":{quiet.claim()['branch']}")
    first = quiet.git("show", "-s", "--format=%cI", lease_of(quiet))
    said = ok(other.cli("takeover", "42"))
    assert parse_lease(other.git("show", "-s", "--format=%B", lease_of(other)))[3] == first
    claim = other.claim()
    phase = "merged_detected" if is_merged else "checks_running"
    assert f"which has PR #{number} (phase {phase})" in said
    assert (claim["phase"], claim["pr_number"]) == (phase, number)
    assert claim["branch"] == quiet.claim()["branch"]
    assert other.card()["Status"] == "In Review"
    if not is_merged:
        assert "Nothing to do" in ok(other.cli("tick", "--dry-run"))
        other.control.merge_pull(number)
    assert "Should I close issue #42?" in ok(other.cli("tick"))


def test_a_claim_file_that_cannot_be_read_is_none_that_was_deleted(quiet: Place) -> None:
    """Only where none lies is one said to be gone that may still hold its task."""
    claim_store, deleted = ClaimStore(quiet.root, quiet.clock), "was deleted before the claim ended"
    claim_store.load()
    (quiet.root / ".agent-claim.json").write_text("{")
    assert unfinished_claims.left(claim_store) == ""
    (quiet.root / ".agent-claim.json").unlink()
    assert deleted in unfinished_claims.left(claim_store)


def test_a_release_whose_claim_file_was_deleted_half_way_is_told(quiet: Place) -> None:
    """Even without a lease: nobody knows how far it got, and the same command finishes it."""
    claim_store = ClaimStore(quiet.root, quiet.clock)
    record = claim_store.load().record
    assert record is not None
    releasing = record.with_ending(releasing=Releasing(1.0)).with_ownership(lease="")
    (quiet.root / ".agent-claim.json").unlink()
    claim_store.remember(releasing)
    assert "was deleted before the claim ended" in unfinished_claims.left(claim_store)
    claim_store.remember(releasing.with_ending(outcome="released"))
    assert unfinished_claims.left(claim_store) == ""


@pytest.mark.soak(
    "cli/test_claim_again.py::test_a_claim_file_that_cannot_be_read_is_none_that_was_deleted",
    "cli/test_claim_again.py::test_a_claim_whose_file_was_deleted_goes_on_where_it_was",
)
def test_a_claim_file_that_cannot_be_read_now_is_not_said_to_be_lost(quiet: Place) -> None:
    """While another process looks, a start mends nothing: it tells of no deleted file where one lies."""
    (quiet.root / ".agent-claim.json").write_text("{")
    with Folder(quiet.root).locked(0):
        begun = quiet.hook("session-start", {"session_id": "s", "source": "startup"}).stdout
    assert "Board" in begun
    assert "was deleted before the claim ended" not in begun


@pytest.mark.once("claim/test_derive has the phase of each state of a pull request")
@pytest.mark.parametrize("is_merged", [True, False])
def test_a_claim_whose_file_was_deleted_goes_on_where_it_was(
    quiet: Place, *, is_merged: bool
) -> None:
    """`claim` after the file was lost, as looks and starts say: its PR is that of state.json and GitHub."""
    ok(quiet.cli("handoff", "--summary", "Fix race condition"))
    ok(quiet.cli("tick"))
    before, number = quiet.claim(), quiet.pull()
    (quiet.root / ".agent-claim.json").unlink()
    if is_merged:
        quiet.control.merge_pull(number)
    quiet.clear()
    begun = quiet.hook("session-start", {"session_id": "s", "source": "startup"}).stdout
    for said in (begun, ok(quiet.cli("status")), ok(quiet.cli("tick"))):
        assert "#42 may still be held. To continue, run: lifecycle claim 42" in said
    ok(quiet.cli("claim", "42"))
    claim = quiet.claim()
    phase = "merged_detected" if is_merged else "checks_running"
    assert (claim["phase"], claim["pr_number"]) == (phase, number)
    assert (claim["summary"], claim["branch"]) == (before["summary"], before["branch"])
    assert quiet.card()["Status"] == "In Review"
    assert ("Should I close issue #42?" in ok(quiet.cli("tick"))) == is_merged


@pytest.mark.once("test_a_closed_task_is_said_to_be_closed has the refusal")
@pytest.mark.parametrize("is_closed", [False, True])
def test_a_claim_whose_file_was_deleted_is_given_up_as_it_is_told(
    quiet: Place, *, is_closed: bool
) -> None:
    """`release` ends it without its file: of a closed issue it cannot be claimed again before that."""
    (quiet.root / ".agent-claim.json").unlink()
    if is_closed:
        quiet.control.close_issue(42)
        assert "to give it up, run: lifecycle release" in refused(quiet.cli("claim", "42"))
    quiet.clear()
    assert "would release the lease on #42" in ok(quiet.cli("release", "--dry-run"))
    assert (quiet.writes(), quiet.has_claim()) == ([], False)
    assert "Issue #42 released." in ok(quiet.cli("release"))
    assert "refs/agent-claims/42" not in quiet.control.world()["refs"]
    assert not quiet.has_claim()
    assert "may still be held" not in ok(quiet.cli("tick"))


def test_what_waits_of_a_claim_whose_file_was_deleted_is_not_said_of_the_next(place: Place) -> None:
    """Its advice, to delete the file, would mean the next claim; how it ended is the person's to know."""
    ok(place.cli("claim", "45"))
    claim_store = ClaimStore(place.root, place.clock)
    record = claim_store.load().record
    assert record is not None
    for notice in (
        Notice("no-such-issue:45", message("issue-gone", issue=45), Audience.ACT, stands=True),
        Notice("closed", message("closed", issue=45, board=""), Audience.NOTE),
    ):
        claim_store.ledger.queue(replace(notice, key=f"{record.claim_key}/{notice.key}"))
    claim_store.save()
    assert "shows no issue #45" in ok(place.cli("status"))
    (place.root / ".agent-claim.json").unlink()
    for command in (["status"], ["claim", "42"], ["status"], ["status", "--json"]):
        text = ok(place.cli(*command))
        assert "shows no issue #45" not in text
        assert ("Issue #45 closed." in text) == (command[0] == "status")


def test_a_finished_task_that_is_nobodys_is_left_as_it_is_told(quiet: Place) -> None:
    """Closed from afar and reopened: `release` is the way out that a look names, and writes nothing."""
    ok(quiet.cli("handoff", "--summary", "Fix race condition"))
    ok(quiet.cli("tick"))
    quiet.control.merge_pull(quiet.pull())
    assert "Should I close issue #42?" in ok(quiet.cli("tick"))
    ok(quiet.cli("reconcile", "--issue", "42", "--close"))
    quiet.control.reopen_issue(42)
    assert "otherwise leave the task with: lifecycle release" in ok(quiet.cli("tick"))
    quiet.clear()
    assert "does not hold issue #42 any more" in ok(quiet.cli("release"))
    assert (quiet.writes(), quiet.has_claim()) == ([], False)


@SOAKED
def test_only_the_lease_is_gone(quiet: Place) -> None:
    """The card still names the claim: it is taken again under the same name, and nothing is refused."""
    agent = quiet.claim()["agent_id"]
    quiet.git("push", "--quiet", "origin", f":{LEASE}")
    assert "it was claimed again" in ok(quiet.cli("claim", "42"))
    assert lease_of(quiet)
    assert quiet.claim()["agent_id"] == agent
    shown = ok(quiet.cli("claim", "42"))
    assert "is already claimed here" in shown
    assert f"Its branch is {quiet.claim()['branch']}." in shown  # it switches to none


@SOAKED
@pytest.mark.parametrize("has_board", [True, False])
def test_who_took_it_meanwhile_keeps_it(lost: Place, tmp_path: Path, *, has_board: bool) -> None:
    """Exit 4 with who and since when; the claim here is kept as it is, and theirs is not touched."""
    if not has_board:
        lost.environment.pop("LIFECYCLE_PROJECT_NUMBER")
    root = tmp_path / "other"
    environment = {**environment_of(lost.info, root), "CLAUDE_PROJECT_DIR": str(root)}
    clone(lost.info.git_url, root, environment)
    other = Place(lost.info, lost.control, root, environment)
    ok(other.cli("claim", "42"))
    theirs, mine = lease_of(lost), (lost.root / ".agent-claim.json").read_bytes()
    said = refused(lost.cli("claim", "42"), 4)
    assert "held by octocat-" in said
    assert "deleted" not in said  # the claim's file is there
    assert lease_of(lost) == theirs
    assert (lost.root / ".agent-claim.json").read_bytes() == mine
    assert lost.card()["Agent"] == other.claim()["agent_id"]


@SOAKED
def test_a_claim_in_order_costs_one_question_to_the_remote(quiet: Place) -> None:
    """Nothing is pushed, written or said but that it is here already."""
    before, state = quiet.claim(), lease_of(quiet)
    quiet.clear()
    assert "#42 is already claimed here, in phase coding" in ok(quiet.cli("claim", "42"))
    git = [request for request in quiet.control.requests() if request.kind == "git"]
    assert git
    assert all("receive-pack" not in request.path for request in git)
    assert quiet.writes() == []
    assert (quiet.claim(), lease_of(quiet)) == (before, state)


@SOAKED
def test_a_remote_that_does_not_answer_is_no_loss(quiet: Place) -> None:
    """Whether the lease stands is not known: the claim stays as it is, and that is said."""
    quiet.control.add_fault(Fault("status", status=500, path=r"upload-pack", count=99))
    shown = ok(quiet.cli("claim", "42"))
    assert "It is not known whether this claim still holds the lease" in shown
    assert "is already claimed here" in shown


def test_a_closed_task_is_said_to_be_closed(quiet: Place, tmp_path: Path) -> None:
    """The claim here stays, and what becomes of it a look says; one that was taken over is none."""
    quiet.control.close_issue(42)
    for command in ("claim", "takeover"):
        shown = ok(quiet.cli(command, "42"))
        assert "Warning: #42 is closed. What becomes of its claim says" in shown
        assert "is already claimed here" in shown
    assert "Issue #42 was closed on GitHub in the meantime" in ok(quiet.cli("tick"))
    quiet.control.reopen_issue(42)
    root = tmp_path / "other"
    environment = {**environment_of(quiet.info, root), "CLAUDE_PROJECT_DIR": str(root)}
    clone(quiet.info.git_url, root, environment)
    ok(Place(quiet.info, quiet.control, root, environment).cli("takeover", "42"))
    assert "#42 was taken over by" in quiet.cli("tick").stdout
    quiet.control.close_issue(42)
    assert refused(quiet.cli("claim", "42")) == f"lifecycle: {sentence('closed', number=42)}\n"


@pytest.mark.soak(
    "cli/test_claim_again.py::test_a_closed_task_is_said_to_be_closed",
    "claim/test_consent.py::test_of_an_issue_that_is_closed_already_only_the_end_of_the_claim_is_asked",
    "claim/test_given_back.py::test_a_hand_off_finds_an_open_task_alone_free",
    "claim/test_given_back.py::test_a_task_that_its_new_holder_closed_stays_lost",
)
def test_a_hand_off_of_a_closed_task_tells_nobody_that_it_is_free(quiet: Place) -> None:
    """The sweep closed it and ended the lease: no hook says that anybody may take it."""
    ok(quiet.cli("handoff", "--summary", "Fix it"))
    quiet.hook("on-stop")
    quiet.control.merge_pull(quiet.pull())
    ok(quiet.cli("reconcile", "--close", "--issue", "42"))
    assert lease_of(quiet) == ""
    assert "Issue #42 is already closed" in ok(quiet.cli("tick"))
    quiet.work(quiet.claim()["branch"], push=False)
    assert "released or closed in the meantime" in refused(
        quiet.cli("handoff", "--summary", "More")
    )
    assert "no longer writes" not in quiet.hook("on-stop").stdout
    assert "Should I end the claim on #42?" in ok(quiet.cli("status"))
    assert "Issue #42 closed." in ok(quiet.cli("close"))


@SOAKED
def test_taking_it_again_goes_on_where_it_stopped(lost: Place) -> None:
    """The assignment failed behind the lease: the same command takes up the same lease."""
    lost.control.add_fault(Fault("status", path=r"/assignees$", status=500, count=9))
    refused(lost.cli("claim", "42"))
    sha = lease_of(lost)
    assert sha
    lost.control.clear_faults()
    ok(lost.cli("claim", "42"))
    assert lease_of(lost) == sha
    assert lost.card()["Agent"] == lost.claim()["agent_id"]


@SOAKED
def test_release_after_it_posts_no_second_comment(lost: Place) -> None:
    """Giving back what was given back: the file goes, and the issue hears nothing twice."""
    said = ok(lost.cli("release"))
    assert "does not hold issue" in said
    assert not lost.has_claim()
    assert released(lost) == 1
    assert lost.writes() == []


@SOAKED
def test_a_closed_issue_is_not_called_free(quiet: Place) -> None:
    """Released on an issue that somebody closed: the comment says that it is closed."""
    quiet.control.close_issue(42)
    ok(quiet.cli("release"))
    (body,) = [c["body"] for c in quiet.issue()["comments"] if RELEASED in c["body"]]
    assert "the issue is closed" in body
    assert "free again" not in body


@SOAKED
def test_a_person_who_takes_the_agent_off_alone_hears_no_alarm(quiet: Place) -> None:
    """Only the assignee, or only the card's Agent: the claim goes on, and the card is kept."""
    quiet.control.unassign(42, "octocat")
    assert "released" not in ok(quiet.cli("tick"))
    quiet.control.set_field(42, "Agent", None)
    assert "released" not in ok(quiet.cli("tick"))


def test_a_hand_off_makes_a_draft_of_left_work_its_own(quiet: Place) -> None:
    """Title, text, ready for review, and one pull request, as if it had opened it."""
    quiet.work(quiet.claim()["branch"])
    ok(quiet.cli("reconcile", "--silent-hours", "0.0000001", "--issue", "42"))
    number = quiet.pull()
    draft = quiet.pulls()[number]
    assert (draft["draft"], "nobody works on it" in draft["body"]) == (True, True)
    ok(quiet.cli("handoff", "--summary", "Fix the thing properly"))
    assert f"make draft PR #{number} ready for review" in ok(quiet.cli("tick", "--dry-run"))
    heard = ok(quiet.cli("tick"))
    pull = quiet.pulls()[quiet.pull()]
    assert (pull["draft"], pull["title"]) == (False, "Fix the thing properly")
    assert "nobody works on it" not in pull["body"]
    assert "Fix the thing properly\n\nRefs #42" in pull["body"]
    assert "was already open" not in heard
