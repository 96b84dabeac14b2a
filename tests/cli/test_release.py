"""`lifecycle release`: real processes against the embedded GitHub."""

from __future__ import annotations

import json
import os
import shutil
import threading
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lifecycle.api import Refused, Wake, Worktree
from lifecycle.claim.commands import release
from lifecycle.claim.commands.task_branch import switch
from lifecycle.claim.engine.look import Report
from lifecycle.cli.claims.claim_look import finish_release
from lifecycle.cli.command_session import Session
from lifecycle.core.errors import Transient
from lifecycle.sandbox.control.faults import Fault
from lifecycle.sandbox.seed import default_seed
from lifecycle.sandbox.seed.form import SeedRepository, SeedToken, SeedUser
from lifecycle.sandbox.server import Sandbox, SandboxInfo
from lifecycle.sandbox.wire.app import Application
from tests.cli.outcome import ok, refused
from tests.clones import clone
from tests.conftest import BRANCH, Place, environment_of
from tests.repeated import soaked

SOAKED = pytest.mark.soak(
    "cli/test_release.py::test_a_task_is_given_back_whole_and_the_work_is_kept",
    "claim/test_releasing.py::test_a_claim_is_given_back_step_by_step_whatever_its_phase",
)

LEASE = "refs/agent-claims/42"
MARKER = "<!-- lifecycle:released issue=42 "
HELLO = "octo-org/hello-service"
ADMIN = "token-of-the-admin-0123456789"


@pytest.fixture
def sandbox() -> Iterator[SandboxInfo]:
    """A fresh embedded GitHub, whose repository has an admin with a token."""
    seed = default_seed()
    users = [*seed.users, SeedUser("ada", role="admin")]
    tokens = [*seed.tokens, SeedToken(ADMIN, "ada", ["repo"])]
    others = [*seed.repositories, SeedRepository("octo-org/other")]
    with Sandbox(replace(seed, users=users, tokens=tokens, repositories=others)) as running:
        yield running.info


def claimed(place: Place, *, push: bool = True) -> str:
    """A task that was taken and worked on; its branch."""
    ok(place.cli("claim", "42"))
    branch = str(place.claim()["branch"])
    place.work(branch, push=push)
    return branch


def is_free(place: Place) -> bool:
    """True if GitHub and the remote show the task as one that anybody may take."""
    card = place.card()
    is_held = bool(card.get("Agent")) or LEASE in place.control.world()["refs"]
    return card["Status"] == "Todo" and not is_held and place.issue()["assignees"] == []


def released(place: Place) -> list[str]:
    """The comments that say that the task was given back."""
    return [c["body"] for c in place.issue()["comments"] if MARKER in c["body"]]


def planned(place: Place) -> list[str]:
    """The steps that a dry run of the release names."""
    lines = ok(place.cli("release", "--dry-run")).splitlines()
    return [line for line in lines if line.startswith("would ")]


def test_what_a_clone_of_a_single_branch_pushed_is_told_as_pushed(place: Place) -> None:
    """A plain git push leaves its remote-tracking ref as it was: the remote is asked.

    Source: https://git-scm.com/docs/git-clone (`--single-branch`); refs are followed as `fetch` says.
    """
    place.git("config", "remote.origin.fetch", "+refs/heads/main:refs/remotes/origin/main")
    branch = claimed(place)
    head = place.git("rev-parse", "HEAD")
    assert place.run("git", "rev-parse", f"refs/remotes/origin/{branch}").returncode
    said = ok(place.cli("release", "--reason", "enough"))
    assert "only here" not in said
    (body,) = (comment["body"] for comment in place.issue()["comments"])
    assert f"Branch `{branch}`: 1 commit, pushed up to {head[:7]}, phase coding." in body


def test_what_a_clone_of_a_single_branch_pushed_before_is_told_beside_what_it_did_not(
    place: Place,
) -> None:
    """The issue's comment must not say that nothing was pushed, nor the note that all is only here."""
    place.git("config", "remote.origin.fetch", "+refs/heads/main:refs/remotes/origin/main")
    branch = claimed(place)
    head = place.git("rev-parse", "HEAD")
    place.work(branch, push=False)
    assert f"1 commit of {branch} only here" in ok(place.cli("release"))
    (body,) = (comment["body"] for comment in place.issue()["comments"])
    assert f"2 commits, pushed up to {head[:7]}, 1 not pushed, phase coding." in body


def test_a_task_is_given_back_whole_and_the_work_is_kept(place: Place) -> None:
    """Board, assignee, Agent, lease, one comment, file gone; branch and commits stay everywhere."""
    branch = claimed(place)
    head = place.git("rev-parse", "HEAD")
    place.clear()
    out = ok(place.cli("release", "--reason", "  waits for\n the design "))
    assert out.splitlines()[-1] == (
        f"Issue #42 released. Board → Todo. Nothing of branch {branch} was deleted. The "
        "claim file was deleted."
    )
    assert is_free(place)
    (body,) = released(place)
    assert f"Branch `{branch}`: 1 commit, pushed up to {head[:7]}, phase coding." in body
    assert "Reason: waits for the design" in body
    assert not place.has_claim()
    assert place.issue()["state"] == "open"
    assert place.git("rev-parse", "HEAD", branch).split() == [head, head]
    assert place.control.world()["refs"][f"refs/heads/{branch}"] == head
    assert len(place.requests()) == 5, (
        "one look, comment, assignee (its answer is read), lease, board"
    )


@SOAKED
def test_a_task_that_stays_assigned_is_not_called_free(place: Place) -> None:
    """Taken over and released: whom it stays assigned to is said, here and on the issue, and it is so."""
    ok(place.cli("takeover", "38"))
    said = ok(place.cli("release"))
    assert "#38 stays assigned to sam; anybody else takes it with: lifecycle takeover 38" in said
    (body,) = [one["body"] for one in place.issue(38)["comments"] if "Released by" in one["body"]]
    assert "it stays assigned to sam, and nothing of the work was deleted" in body
    again = place.cli("claim", "38")
    assert (again.returncode, "lifecycle takeover 38" in again.stderr) == (4, True)


def test_giving_back_twice_says_so_and_writes_nothing(place: Place) -> None:
    """The second time there is nothing left to do, and that is no failure."""
    claimed(place)
    ok(place.cli("release"))
    before = place.control.world()
    assert "was already released" in ok(place.cli("release"))
    data = json.loads(ok(place.cli("release", "--json")))
    assert data["claim"]["outcome"] == "released"
    assert place.control.world() == before
    assert "already released" in ok(place.cli("release", "--dry-run"))


@SOAKED
def test_without_a_claim_there_is_nothing_to_give_back(place: Place) -> None:
    """One sentence, exit 1."""
    assert "no claim" in refused(place.cli("release"))
    assert "no claim" in refused(place.cli("release", "--dry-run"))


def test_the_plan_is_printed_and_nothing_is_written(place: Place) -> None:
    """--dry-run names each step as it will be done, and leaves every file and GitHub as they are."""
    claimed(place)
    place.clear()
    claim = (place.root / ".agent-claim.json").read_bytes()
    state = (place.root / ".lifecycle/state.json").read_bytes()
    out = ok(place.cli("release", "--dry-run", "--reason", "later"))
    steps = planned(place)
    assert [step.split()[1] for step in steps] == [
        "comment",
        "unassign",
        "release",
        "set",
        "delete",
    ]
    assert "would unassign octocat from #42" in steps
    assert "released" not in out, "nothing is told as done that was not"
    assert out.splitlines()[-1] == "Nothing was written."
    said = json.loads(ok(place.cli("release", "--dry-run", "--json")))["said"]
    assert said == []
    assert (place.root / ".agent-claim.json").read_bytes() == claim
    assert (place.root / ".lifecycle/state.json").read_bytes() == state
    assert place.writes() == []
    assert not is_free(place)


@SOAKED
def test_what_exists_only_here_is_told_to_the_person_alone(place: Place) -> None:
    """Unpushed commits and uncommitted work: counted on the issue, named by no file, kept."""
    branch = claimed(place, push=False)
    (place.root / "secret-plan.txt").write_text("draft\n")
    out = ok(place.cli("release"))
    assert f"Note: 1 commit of {branch} only here; to share: git push origin {branch}" in out
    assert "Uncommitted work is only here: secret-plan.txt; commit" in out
    (body,) = released(place)
    assert "1 commit, nothing pushed, phase coding." in body
    assert "secret-plan" not in body
    assert (place.root / "secret-plan.txt").exists()
    assert place.git("rev-parse", branch)


@SOAKED
def test_a_repository_in_a_folder_here_is_no_uncommitted_work(place: Place) -> None:
    """A worktree inside of this one, the client's folder and our own documents: no commit takes them."""
    claimed(place)
    place.git("worktree", "add", "--quiet", "--detach", "wt/other")
    for name in (".claude/settings.local.json", "untracked/workflow-state/x/state.md"):
        (place.root / name).parent.mkdir(parents=True)
        (place.root / name).write_text("{}")
    assert "Uncommitted work" not in ok(place.cli("release"))


@SOAKED
def test_an_open_pull_request_stays_open_and_is_named(place: Place) -> None:
    """Giving back in review: the comment names the PR, which nobody closes."""
    place.ready(summary="Fix race condition")
    place.tree().tick(Wake.STOP)
    number = place.pull()
    report = place.tree().release()
    assert report.record is not None
    assert report.record.ending.outcome == "released"
    (body,) = released(place)
    assert f"PR #{number} stays open." in body
    assert f"PR #{number} stays open." in report.said[-1].text, "and so does who gave it back"
    assert place.pulls()[number]["state"] == "open"
    assert place.card()["Status"] == "Todo"


@SOAKED
def test_without_settings_or_token_nothing_is_begun(place: Place) -> None:
    """A bad key and a missing token are one sentence each; the claim is as it was."""
    claimed(place)
    (place.root / ".lifecycle.toml").write_text("projct = 1\n")
    assert 'unknown key "projct"' in refused(place.cli("release"))
    (place.root / ".lifecycle.toml").unlink()
    place.environment.pop("GH_TOKEN")
    done = place.cli("release")
    assert done.returncode == 1
    assert "GH_TOKEN" in done.stdout + done.stderr
    assert place.has_claim()
    assert released(place) == []


@SOAKED
@pytest.mark.parametrize("is_known", [False, True])
def test_a_merged_task_is_closed_and_not_given_back(place: Place, *, is_known: bool) -> None:
    """Known here or found out by the look: refused with the way out, and nothing was written."""
    place.ready()
    place.tree().tick(Wake.STOP)
    number = place.pull()
    place.control.merge_pull(number)
    if is_known:
        place.tree().tick()
    place.clear()
    done = place.cli("release")
    assert done.returncode == 1
    said = done.stdout + done.stderr
    assert "not released" in said
    assert "lifecycle close" in said
    assert ("a task whose PR is merged is closed instead" in said) is is_known
    assert place.writes() == []
    assert place.card()["Status"] == "In Review"
    assert "Issue #42 closed" in ok(place.cli("close"))


@SOAKED
def test_in_phase_done_it_is_refused(place: Place) -> None:
    """Somebody wrote it, and no look has seen the merge: the sentence says so, and how to look."""
    place.merged()
    said = refused(place.cli("release"))
    assert "GitHub does not show a merge yet; to look now: lifecycle tick" in said
    assert released(place) == []


@pytest.mark.parametrize("is_merged", [soaked(False), True])
def test_the_task_of_an_issue_that_was_deleted_is_left_with_its_lease(
    place: Place, *, is_merged: bool
) -> None:
    """As it is told, also after its merge: no claim and no lease stays behind."""
    branch = claimed(place)
    if is_merged:
        ok(place.cli("handoff", "--summary", "Fix it"))
        ok(place.cli("tick"))
        place.control.merge_pull(place.pull())
    graph(
        place, f'mutation{{deleteIssue(input:{{issueId:"{node_id(place)}"}}){{clientMutationId}}}}'
    )
    advice = ok(place.cli("tick"))
    assert "leave the task with: lifecycle release" in advice
    assert ("PR #46 merged." in advice) is is_merged
    assert "Should I close" not in advice + ok(place.cli("status"))
    if is_merged:
        advice = place.cli("close").stdout
        assert "leave the task with: lifecycle release" in advice
    assert "project" not in place.hook("on-stop").stdout
    swept, where = place.cli("reconcile", "--dry-run").stdout, f"{place.info.api_url}/{HELLO}.git"
    assert f"issues that GitHub does not show were left: {HELLO}#42." in swept
    assert f"To end one: git push {where} :refs/agent-claims/N" in swept
    out = ok(place.cli("release"))
    assert (
        "GitHub shows no issue #42 to this token, so nothing more was written there; the claim"
        in out
    )
    assert (LEASE in place.control.world()["refs"], place.has_claim()) == (False, False)
    assert place.git("rev-parse", branch)


def test_an_issue_that_was_transferred_is_said_to_be_where_it_is(place: Place) -> None:
    """By each command that names its number: another's is not taken. A look says that it may have moved."""
    claimed(place)
    target = graph(place, '{repository(owner:"octo-org",name:"other"){id}}')["repository"]["id"]
    given = f'{{issueId:"{node_id(place)}",repositoryId:"{target}"}}'
    moved = graph(place, f"mutation{{transferIssue(input:{given}){{issue{{url}}}}}}")
    address = moved["transferIssue"]["issue"]["url"]
    assert address.endswith("/octo-org/other/issues/1")
    for words in (["tick"], ["status"], ["handoff", "--summary", "Fix it"]):
        said = ok(place.cli(*words))
        assert "GitHub shows no issue #42 to this token: it was deleted or moved" in said
        assert "leave the task with: lifecycle release" in said
    assert "so nothing more was written there" in ok(place.cli("release"))
    for words in (["claim", "42"], ["tracker", "show", "42"], ["tracker", "claim", "42"]):
        assert f"#42 of octo-org/hello-service was transferred to {address}" in refused(
            place.cli(*words)
        )
    assert not place.has_claim()


def node_id(place: Place) -> str:
    """The id of issue 42."""
    owner, name = place.info.repository.split("/")
    asked = f'{{repository(owner:"{owner}",name:"{name}"){{issue(number:42){{id}}}}}}'
    return str(graph(place, asked)["repository"]["issue"]["id"])


def graph(place: Place, query: str) -> Any:
    """What GraphQL answers to the admin."""
    headers = {"Authorization": f"bearer {ADMIN}", "Content-Type": "application/json"}
    body = json.dumps({"query": query}).encode()
    request = urllib.request.Request(place.info.graphql_url, body, headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["data"]


@SOAKED
def test_what_another_took_over_is_left_to_them(place: Place, tmp_path: Path) -> None:
    """Their lease, their card, their assignment stay; only the claim here ends, as a dry run says."""
    claimed(place)
    other = another(place, tmp_path / "other")
    place.clock.sleep(5)
    other.clock.sleep(5)
    taken = other.tree().claim(42, force=True).record
    before = place.control.world()
    assert planned(place) == ["would delete .agent-claim.json"]
    out = ok(place.cli("release"))
    assert f"held by {taken.claim.agent_id} now" in out
    assert place.control.world() == before
    assert not place.has_claim()
    assert other.has_claim()


@pytest.mark.soak(
    "cli/test_commands.py::test_who_lost_a_task_without_a_board_closes_and_frees_nothing",
    "claim/test_releasing.py::test_a_task_that_another_agent_holds_is_left_to_it",
)
def test_who_lost_a_task_does_not_close_it_after_the_one_who_took_it(
    place: Place, tmp_path: Path
) -> None:
    """A refused close leaves no yes behind, and the issue has one closing comment, from its holder."""
    branch = claimed(place)
    ok(place.cli("handoff", "--summary", "Fix it"))
    ok(place.cli("tick"))
    other = another(place, tmp_path / "other")
    place.clock.sleep(5)
    other.clock.sleep(5)
    ok(other.cli("takeover", "42"))
    phase = place.claim()["phase"]
    assert (place.cli("close").returncode, place.claim()["phase"]) == (4, phase)
    other.work(branch)
    ok(other.cli("handoff", "--summary", "Fix it"))
    ok(other.cli("tick"))
    place.control.merge_pull(place.pull())
    ok(other.cli("close"))
    closed = place.control.world()
    for command in ("tick", "close"):
        assert "taken over by" in place.cli(command).stdout + place.cli(command).stderr
    assert place.control.world() == closed
    assert len(place.issue()["comments"]) == 1
    ok(place.cli("release"))
    assert (place.control.world(), place.has_claim()) == (closed, False)


@pytest.mark.soak(
    "cli/test_commands.py::test_who_lost_a_task_without_a_board_closes_and_frees_nothing",
    "claim/test_release_steps.py::test_what_was_released_before_only_loses_its_lease",
)
def test_who_lost_a_task_does_not_release_it_after_the_one_who_took_it(
    place: Place, tmp_path: Path
) -> None:
    """The issue has one release comment, from its last holder; here only the claim is deleted."""
    claimed(place)
    other = another(place, tmp_path / "other")
    ok(other.cli("takeover", "42"))
    ok(other.cli("release"))
    free = place.control.world()
    place.cli("tick")
    assert planned(place) == ["would delete .agent-claim.json"]
    out = ok(place.cli("release"))
    assert "any more, so only the claim here was deleted" in out
    assert "release the lease" not in out
    assert (place.control.world(), place.has_claim()) == (free, False)
    assert len(released(place)) == 1


@SOAKED
def test_a_card_that_somebody_moved_stays_where_it_is(place: Place) -> None:
    """The column is theirs; our name on the card is ours to take off."""
    claimed(place)
    place.control.set_field(42, "Status", "Done")
    out = ok(place.cli("release"))
    assert 'The card stays in "Done"' in out
    assert place.card()["Status"] == "Done"
    assert not place.card().get("Agent")


@SOAKED
def test_without_a_board_the_rest_is_given_back(place: Place) -> None:
    """Issue, assignee and lease work alone."""
    place.environment.pop("LIFECYCLE_PROJECT_NUMBER")
    claimed(place)
    assert "No board is configured." in ok(place.cli("release"))
    assert place.issue()["assignees"] == []
    assert LEASE not in place.control.world()["refs"]
    assert len(released(place)) == 1


@SOAKED
def test_a_lost_state_file_loses_no_lease(place: Place) -> None:
    """The lease names the agent of the claim file, so it is this claim's to return."""
    claimed(place)
    (place.root / ".lifecycle/state.json").unlink()
    ok(place.cli("release"))
    assert is_free(place)


def test_offline_it_says_that_it_goes_on_and_any_hook_finishes_it(place: Place) -> None:
    """Exit 1 with the way out; the next stop of the agent gives the task back, in any phase."""
    claimed(place)
    place.tree().tick(Wake.STOP)
    place.control.add_fault(Fault("status", path=r"/graphql$", status=502, count=99))
    planned = place.cli("release", "--dry-run")
    assert planned.returncode == 1
    assert planned.stdout.splitlines()[-1] == "Nothing was written."
    done = place.cli("release", "--reason", "enough")
    assert done.returncode == 1
    assert "the next look does the rest" in done.stdout
    assert "being released" in refused(place.cli("claim", "42"))
    assert "being released" in refused(place.cli("nudge", "ready_for_pr", "--reason", "x"))
    place.control.clear_faults()
    place.write(phase="done")  # a hand edit meanwhile
    place.clock.sleep(120)
    place.tree().tick(Wake.STOP)
    assert is_free(place)
    assert not place.has_claim()
    assert place.issue()["state"] == "open"
    assert len(released(place)) == 1


@SOAKED
def test_the_guards_let_a_release_through_that_was_only_asked_for(place: Place) -> None:
    """Killed right behind the flag: the claim file is unchanged, and on-stop starts all the same."""
    claimed(place)
    path = place.root / ".agent-claim.json"
    long_ago = place.clock.now() - 60
    os.utime(path, (long_ago, long_ago))
    place.tree().tick(Wake.STOP)
    stamp = place.root / ".lifecycle/stamp"
    assert stamp.stat().st_mtime_ns == path.stat().st_mtime_ns, "the guard ends on-stop at once"
    assert not (place.root / ".lifecycle/due").exists()
    tree = place.tree()
    release.release_claim(tree.world, tree.claim_store, "")
    done = place.hook("on-stop", {"hook_event_name": "Stop"})
    assert done.returncode == 0
    assert "Issue #42 released." in done.stdout
    assert is_free(place)


@SOAKED
def test_a_claim_file_that_was_deleted_half_way_does_not_stop_a_release(place: Place) -> None:
    """Asked for again, the rest is done: the lease would keep everybody out otherwise."""
    claimed(place)
    place.control.add_fault(Fault("status", path=r"/assignees$", status=502, count=99))
    assert place.cli("release").returncode == 1
    place.control.clear_faults()
    (place.root / ".agent-claim.json").unlink()
    assert "released." in ok(place.cli("release"))
    assert is_free(place)
    assert len(released(place)) == 1
    assert not place.has_claim()


@SOAKED
@pytest.mark.parametrize("cut", [r"/comments$", r"/assignees$"])
def test_a_lost_answer_is_looked_for(place: Place, cut: str) -> None:
    """The write landed and its answer did not come: it is found, and not made again."""
    claimed(place)
    place.control.add_fault(Fault("cut", path=cut, when="after", count=9))
    place.cli("release")
    place.control.clear_faults()
    for _ in range(3):
        place.clock.sleep(130)
        place.tree().tick(Wake.STOP)
    assert is_free(place)
    assert not place.has_claim()
    assert len(released(place)) == 1


@SOAKED
def test_a_rate_limit_is_waited_for(place: Place) -> None:
    """Refused for a while in the middle: what was done is kept, and the rest comes later."""
    claimed(place)
    place.control.add_fault(
        Fault("status", path=r"/assignees$", status=403, headers={"Retry-After": "60"}, count=9)
    )
    assert place.cli("release").returncode == 1
    place.control.clear_faults()
    place.tree().tick(Wake.STOP)
    assert place.has_claim(), "not before its time"
    place.clock.sleep(61)
    place.tree().tick(Wake.STOP)
    assert is_free(place)
    assert len(released(place)) == 1


@pytest.mark.parametrize("is_here", [False, True])
def test_a_task_s_branch_has_what_was_pushed_meanwhile(place: Place, *, is_here: bool) -> None:
    """Where nobody worked on it before, and where its earlier commits are."""
    place.work()
    place.work()
    first, pushed = place.git("rev-parse", "HEAD~1", "HEAD").split()
    place.git("switch", "--quiet", "main")
    place.git("branch", *(["-f", BRANCH, first] if is_here else ["-D", BRANCH]))
    assert switch(place.tree().world, BRANCH, "main") == []
    assert (place.git("branch", "--show-current"), place.git("rev-parse", "HEAD")) == (
        BRANCH,
        pushed,
    )


@pytest.mark.soak(
    "cli/test_release.py::test_a_task_is_given_back_whole_and_the_work_is_kept",
    "cli/test_release.py::test_a_task_s_branch_has_what_was_pushed_meanwhile",
    "cli/test_claim_again.py::test_a_takeover_goes_on_with_the_pull_request",
    "claim/test_admission.py::test_a_free_task_is_taken_with_a_remark_at_most",
)
def test_the_story_of_a_task_that_changes_hands(place: Place, tmp_path: Path) -> None:
    """Claim, work, release; another agent takes it and goes on with the same commits; and back."""
    branch = claimed(place)
    first = place.git("rev-parse", "HEAD")
    ok(place.cli("release", "--reason", "over to you"))
    other = another(place, tmp_path / "other")
    ok(other.cli("claim", "42"))
    assert other.claim()["branch"] == branch
    assert other.git("rev-parse", "HEAD") == first
    other.work(branch)
    second = other.git("rev-parse", "HEAD")
    ok(other.cli("release"))
    assert len(released(place)) == 2
    ok(place.cli("claim", "42"))
    assert place.git("rev-parse", "HEAD") == second, "what was pushed meanwhile is here"
    assert place.claim()["phase"] == "coding"
    ok(place.cli("handoff", "--summary", "Fix it"))
    ok(place.cli("tick"))
    assert place.pulls()[place.pull()]["head"].endswith(branch)


@SOAKED
def test_branches_that_went_different_ways_are_left_to_a_person(place: Place) -> None:
    """Commits here and other commits there: the claim stands, with a remark, and none is lost."""
    branch = claimed(place, push=False)
    mine = place.git("rev-parse", "HEAD")
    ok(place.cli("release"))
    place.control.push_commit(branch, {"theirs.txt": "x"}, "Theirs")
    out = ok(place.cli("claim", "42"))
    assert f"git pull --rebase origin {branch}" in out
    assert place.git("rev-parse", "HEAD") == mine


@SOAKED
def test_a_tracked_claim_is_nobodys(place: Place) -> None:
    """A claim file that came with the repository is not acted on."""
    place.write(schema_version=1, issue_number=42, phase="coding", branch="main", agent_id="x-1")
    place.git("add", "--force", ".agent-claim.json")
    assert "tracked by git" in refused(place.cli("release"))
    assert "tracked by git" in refused(place.cli("claim", "42"))
    with pytest.raises(Refused, match="tracked by git"):
        place.tree().hand_off("Fix")


def another(place: Place, root: Path) -> Place:
    """Another agent's clone of the same repository."""
    shutil.rmtree(root, ignore_errors=True)
    environment = environment_of(place.info, root)
    clone(place.info.git_url, root, environment)
    return Place(place.info, place.control, root, environment)


COMMENTS, ASSIGNEES = (f"/repos/{HELLO}/issues/42/{name}" for name in ("comments", "assignees"))


@pytest.mark.parametrize("path", [COMMENTS, soaked(ASSIGNEES), "/graphql"])
def test_who_takes_a_task_over_in_the_midst_of_its_release_keeps_it(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """A laptop may sleep between two writes: the lease tells, and the card is left to its new holder.

    The comment that called the task free is deleted, nothing says that it was released, and the next look
    ends the claim here.
    """
    claimed(place)
    other, answer = another(place, tmp_path / "other"), Application.__call__
    paths: list[str] = []

    def wait(application: Application, environ: dict[str, Any], start: Any) -> Any:
        paths.append(environ["PATH_INFO"])
        written = [each for each in (COMMENTS, ASSIGNEES) if each in paths]
        # Behind the comment and the assignee, the first request of GraphQL ends the lease.
        is_next = paths[-1] == path and (path != "/graphql" or len(written) == 2)
        if is_next and "taken" not in paths:
            paths.append("taken")
            ok(other.cli("takeover", "42"))
        return answer(application, environ, start)

    monkeypatch.setattr(Application, "__call__", wait)
    done = place.cli("release")
    holder = other.claim()["agent_id"]
    assert (done.returncode, "Issue #42 released" in done.stdout) == (1, False)
    assert "The lease on #42 changed in the meantime" in done.stdout
    assert (place.card()["Status"], place.card()["Agent"]) == ("In Progress", holder)
    assert released(place) == []
    place.clock.sleep(2)
    report = place.tree().tick(Wake.STOP)
    assert f"Issue #42 is held by {holder} now" in report.said[-1].text
    assert (place.card()["Agent"], place.has_claim()) == (holder, False)


def test_a_laptop_that_sleeps_behind_the_end_of_its_lease_leaves_the_card_to_who_came_meanwhile(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written by what was read before the sleep: the time is up, and the next look reads."""
    claimed(place)
    other, answer = another(place, tmp_path / "other"), Application.__call__
    paths: list[str] = []

    def sleep(application: Application, environ: dict[str, Any], start: Any) -> Any:
        paths.append(environ["PATH_INFO"])
        answered = answer(application, environ, start)
        # Behind the comment and the assignee, the first request of GraphQL ends the lease.
        if paths[-1] == "/graphql" and {COMMENTS, ASSIGNEES} < {*paths} and "taken" not in paths:
            paths.append("taken")
            place.clock.sleep(3600)
            ok(other.cli("takeover", "42"))
        return answered

    with monkeypatch.context() as patch:
        patch.setattr(Application, "__call__", sleep)
        with Worktree(place.root, environment=place.environment, clock=place.clock) as tree:
            assert isinstance(tree.release("over to you").problem, Transient)
    holder = other.claim()["agent_id"]
    assert (place.card()["Status"], place.card()["Agent"]) == ("In Progress", holder)
    said = place.tree().tick(Wake.STOP).said
    assert f"Issue #42 is held by {holder} now" in said[-1].text
    assert (place.card()["Agent"], place.has_claim()) == (holder, False)


@pytest.mark.parametrize("has_lease", [True, False])
def test_of_copies_of_a_claim_that_are_released_at_once_one_comments(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_lease: bool
) -> None:
    """Both comment before either ends the lease: the oldest comment stays, with the reason that it tells.

    So does that of an earlier claim of this name. The one that ended the lease reads nothing more; without
    a lease each reads the comments at the end.
    """
    if has_lease:
        claimed(place)
    else:  # written by hand
        place.ready(phase="coding", status="In Progress")
        place.tree().tick(Wake.STOP)
    old = f"Old.\n\n{MARKER}by={place.claim()['agent_id']} at=1 -->"
    place.control.comment(42, old, by="octocat")
    copied = replaced(place, root=shutil.copytree(place.root, tmp_path / "copied", symlinks=True))
    answer: Callable[..., Any] = Application.__call__
    together = threading.Barrier(2)

    def wait(application: Application, environ: dict[str, Any], start: Any) -> Any:
        if environ["REQUEST_METHOD"] == "POST" and environ["PATH_INFO"].endswith("/comments"):
            together.wait(30)
        return answer(application, environ, start)

    monkeypatch.setattr(Application, "__call__", wait)
    place.clear()
    with ThreadPoolExecutor() as pool:
        ended = pool.map(
            lambda one: ok(one.cli("release", "--reason", str(one.root))), (place, copied)
        )
    assert all("Issue #42 released" in said for said in ended)
    assert is_free(place)
    assert released(place)[:-1] == [old]
    requests = [request.method for request in place.control.requests()]
    # Two assignees, of whom one was gone, and a comment; or one, which each may try to delete.
    assert requests.count("DELETE") in ((3,) if has_lease else (1, 2))


@SOAKED
def test_the_public_api_gives_back_too(place: Place) -> None:
    """`Worktree.release` reports the outcome, and again that it was so already."""
    claimed(place)
    with Worktree(place.root, environment=place.environment, clock=place.clock) as tree:
        report = tree.release("by program")
        assert report.record is not None
        assert report.record.ending.outcome == "released"
        again = tree.release()
        assert again.actions == ()


def test_a_planned_release_that_leaves_nothing_but_a_problem_is_not_finished() -> None:
    """The exit code says so: what was foreseen without a look may come otherwise."""
    problem = Transient("GitHub could not be asked.")
    session = Session(as_json=False)
    for planned, is_left in ((Report(problem=problem), True), (Report(), False)):
        _, lines, left = finish_release(session, ("a note",), planned)
        assert left is is_left
        assert lines == [
            "Note: a note",
            *([problem.sentence] if is_left else []),
            "Nothing was written.",
        ]


def test_a_release_of_which_a_part_failed_is_no_success(place: Place) -> None:
    """The claim file goes, the sentence says what was left, and the exit code says that something was."""
    claimed(place)
    body = json.dumps({"message": "Repository was archived so is read-only."})
    refusal = Fault("status", method="DELETE", path="/assignees", status=403, body=body, count=9)
    place.control.add_fault(refusal)
    done = place.cli("release")
    assert done.returncode == 1
    assert not place.has_claim()
    assert "archived" in done.stdout
