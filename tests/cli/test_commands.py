"""Hand off, nudge, close, tick, status: as people and agents use them."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.api import Wake, Worktree
from lifecycle.claim.commands import moves
from lifecycle.cli.claims import claim
from lifecycle.core.light_dataclass import replace
from lifecycle.core.plan import Hooks
from lifecycle.core.values.model import Hold, Look, Observation
from lifecycle.evidence.checks import check_engine
from lifecycle.evidence.checks.known_checks import KnownCheck
from lifecycle.git import lease
from lifecycle.github.pulls.forge import GitHubForge
from lifecycle.sandbox.control.faults import Fault
from tests.bare_pytest import BARE
from tests.cli.outcome import ok, refused
from tests.clones import clone
from tests.conftest import COMMAND, ManualClock, Place, environment_of
from tests.factories import record
from tests.repeated import soaked

SOAKED = pytest.mark.soak(
    "cli/test_commands.py::test_handoff_validates_pushes_and_sets_the_phase",
    "claim/test_walk.py::test_a_command_walks_the_cell",
)


def test_handoff_validates_pushes_and_sets_the_phase(place: Place) -> None:
    """The configured commands run first; a failing one pushes nothing and changes nothing.

    A tag of the branch's name, and one of the base's as the remote has it, are neither.
    """
    ok(place.cli("claim", "42"))
    for name in (place.claim()["branch"], "origin/main"):
        place.git("tag", name)
    (place.root / ".lifecycle.toml").write_text('validate = ["test -f valid"]\n')
    ok(place.cli("trust", "--yes"))
    place.work(place.claim()["branch"], push=False)
    sentence = refused(place.cli("handoff", "--summary", "Fix"))
    assert "`test -f valid` exited 1; nothing was pushed" in sentence  # and not: (exit status 1)
    assert place.claim()["phase"] == "coding"
    branch = f"refs/heads/{place.claim()['branch']}"
    assert branch not in place.control.world()["refs"]
    (place.root / "valid").touch()
    changed, *_ = place.git("ls-files").splitlines()
    (place.root / changed).write_text("Not finished.\n")
    said = ok(place.cli("handoff", "--summary", "Fix"))
    assert f"uncommitted changes, which are not part of the PR: {changed}.\n" in said
    assert place.claim()["phase"] == "ready_for_pr"
    assert place.claim()["summary"] == "Fix"
    assert place.control.world()["refs"][branch] == place.git("rev-parse", branch)


@pytest.mark.parametrize("is_single", [False, True])
def test_a_branch_that_was_amended_after_its_push_is_a_persons_to_replace(
    place: Place, *, is_single: bool
) -> None:
    """Only a pull was named, which brings back what was amended; that person's command then suffices.

    In a clone of a single branch, a lease without its value is refused as stale: git knows the value by the
    remote's settings alone. Source: https://git-scm.com/docs/git-push#Documentation/git-push.txt---force-with-lease
    """
    if is_single:
        place.git("config", "remote.origin.fetch", "+refs/heads/main:refs/remotes/origin/main")
    ok(place.cli("claim", "42"))
    branch = place.claim()["branch"]
    place.work(branch, push=False)
    ok(place.cli("handoff", "--summary", "Fix"))
    place.git("commit", "--quiet", "--amend", "--message", "Better")
    force = f"git push --force-with-lease={branch}:refs/remotes/origin/{branch} origin {branch}"
    assert f"a person runs: {force}" in refused(place.cli("handoff", "--summary", "Fix"))
    place.run(*shlex.split(force))
    ok(place.cli("handoff", "--summary", "Fix"))


def test_what_handoff_validates_is_evidence(place: Place) -> None:
    """Its runs are kept as those of `check`, on the very tree: tests as `test`, others as `validate`."""
    ok(place.cli("claim", "42"))
    code = "import unittest\n\nclass T(unittest.TestCase):\n    def test_one(self): pass\n"
    (place.root / "test_it.py").write_text(code)
    python = json.dumps(f"{sys.executable} -PB -m unittest discover")
    shell = json.dumps("test -f test_it.py && echo 'both there'")
    (place.root / ".lifecycle.toml").write_text(f"validate = [{python}, {shell}]\n")
    ok(place.cli("trust", "--yes"))
    place.work(place.claim()["branch"], push=False)
    assert "both there" not in ok(place.cli("handoff", "--summary", "Fix", "--json"))
    path = place.root / ".lifecycle" / "evidence" / "records.json"
    tests, other = json.loads(path.read_text())["records"]
    assert (tests["name"], tests["outcome"], tests["counts"]["passed"]) == ("test", "passed", 1)
    assert (other.get("name"), other["outcome"], other["status"]) == ("validate", "passed", 0)
    assert tests["tree"] == other["tree"] != ""
    listed = json.loads(ok(place.cli("check", "--list", "--json")))["checks"]
    assert {"test": "green", "validate": "green"}.items() <= {
        check["name"]: check["standing"] for check in listed
    }.items()


@pytest.mark.parametrize(
    ("command", "tests", "name"),
    [
        ("pytest", (), "test"),
        ("pytest", ("make api",), "test"),
        ("pytest", ("pytest tests", "make api"), "validate"),
        ("make api", ("pytest tests", "make api"), "test"),
        ("ruff check", (), "validate"),
    ],
)
def test_of_several_test_commands_only_one_of_them_validates_as_tests(
    monkeypatch: pytest.MonkeyPatch, command: str, tests: tuple[str, ...], name: str
) -> None:
    """A run of tests that is none of them shows nothing of any."""
    kept: list[str] = []

    def run(*given: Any, **_: Any) -> Any:
        kept.extend(one.name for one in given if isinstance(one, KnownCheck))
        ended = SimpleNamespace(signal=None, record=SimpleNamespace(status=0), remarks=())
        return SimpleNamespace(result=lambda: ended)

    monkeypatch.setattr(check_engine, "CheckRun", run)
    settings = SimpleNamespace(stages=SimpleNamespace(test=tests), evidence_runners=())
    world: Any = SimpleNamespace(root=Path(), environment={}, clock=None, settings=settings)
    moves._validate(world, command, "")
    assert kept == [name]


@pytest.mark.soak(
    "cli/test_commands.py::test_what_handoff_validates_is_evidence",
    "cli/test_commands.py::test_of_several_test_commands_only_one_of_them_validates_as_tests",
    "evidence/test_suite_runs.py::test_which_of_the_projects_own_commands_a_line_runs",
)
def test_what_handoff_validates_stands_for_no_other_test_command(place: Place) -> None:
    """Of several in `stages.test` a line that is one shows that one; a line that is none shows nothing."""
    ok(place.cli("claim", "42"))
    (place.root / "test_it.py").write_text(
        "import unittest\n\nclass T(unittest.TestCase):\n    def test_one(self): pass\n"
    )
    mine = f"{sys.executable} -PB -m unittest discover"
    none = shlex.join([sys.executable, "-B", "-m", "pytest", "-q", *BARE])
    (place.root / ".lifecycle.toml").write_text(
        f"validate = {json.dumps([mine, none])}\n[stages]\ntest = {json.dumps([mine, 'make api'])}\n"
    )
    ok(place.cli("trust", "--yes"))
    place.work(place.claim()["branch"], push=False)
    ok(place.cli("handoff", "--summary", "Fix", "--json"))
    path = place.root / ".lifecycle" / "evidence" / "records.json"
    runs = json.loads(path.read_text())["records"]
    shown = [(run.get("name"), run["outcome"], run.get("suites")) for run in runs]
    assert shown == [("test", "passed", [mine]), ("validate", "passed", None)]


@SOAKED
def test_handoff_refuses_what_would_make_no_pull_request(place: Place) -> None:
    """No claim, an empty summary, no commit, the wrong branch: each is one sentence."""
    assert "no claim" in refused(place.cli("handoff", "--summary", "Fix"))
    ok(place.cli("claim", "42"))
    assert "summary is empty" in refused(place.cli("handoff", "--summary", " "))
    assert "no commit" in refused(place.cli("handoff", "--summary", "Fix"))
    place.git("switch", "--quiet", "main")
    assert "git switch claude/" in refused(place.cli("handoff", "--summary", "Fix"))
    assert place.claim()["phase"] == "coding"


def test_a_worktree_without_a_claim_names_the_one_around_it_that_has_one(place: Place) -> None:
    """An agent that went into a submodule is led back, and not only told to claim once more.

    For another worktree of the clone, which the client puts into the main one, that claim is a stranger's.
    """
    inner = replace(place, root=place.root / "libs" / "inner")
    beside = replace(place, root=place.root / ".claude" / "worktrees" / "beside")
    place.git("worktree", "add", "--quiet", "--detach", str(beside.root))
    place.git("clone", "--quiet", place.info.git_url, str(inner.root))
    for command in ("release", "close"):
        assert str(place.root) not in refused(inner.cli(command))
    place.write(issue_number=42)
    for command in ("release", "close"):
        assert f"but {place.root}, in which it lies, has one" in refused(inner.cli(command))
        assert str(place.root) not in refused(beside.cli(command))
    for command in ("status", "tick"):
        assert f"but {place.root}, in which it lies, has one" in ok(inner.cli(command))
        assert f"{place.root}, in" not in ok(beside.cli(command))


def other_takes(place: Place, tmp_path: Path) -> str:
    """Somebody else, in a clone of their own, takes #42 over by force; their agent's name."""
    root = tmp_path / "other"
    environment = environment_of(place.info, root)
    clone(place.info.git_url, root, environment)
    clock = ManualClock()
    clock.sleep(5)  # agents of one account are told apart by the second
    with Worktree(root, environment=environment, clock=clock, seconds=None) as tree:
        return tree.claim(42, force=True).record.claim.agent_id


@pytest.mark.parametrize("has_board", [True, soaked(False)])
def test_a_task_that_was_taken_over_is_not_pushed(
    place: Place, tmp_path: Path, *, has_board: bool
) -> None:
    """The lease says so, board or not: who, since when, exit 4; work and claim are as they were."""
    if not has_board:
        place.environment.pop("LIFECYCLE_PROJECT_NUMBER")
    ok(place.cli("claim", "42"))
    branch = str(place.claim()["branch"])
    place.work(branch, push=False)
    agent = other_takes(place, tmp_path)
    before, claim = place.control.world()["refs"], place.claim()
    sentence = refused(place.cli("handoff", "--summary", "Fix"), 4)
    assert f"#42 is held by {agent} since 20" in sentence
    assert "nothing was pushed" in sentence
    assert place.control.world()["refs"] == before
    assert place.claim() == claim


@pytest.mark.parametrize("words", [("tick",), ("tick", "--dry-run"), ("wait", "--timeout", "9s")])
def test_a_look_at_what_another_has_by_now_exits_so(place: Place, words: tuple[str, ...]) -> None:
    """Whether it is looked at, planned or waited for: exit 4 and whose it is; once it is ours, 0."""
    place.ready(phase="coding")
    ok(place.cli("tick"))
    place.control.set_field(42, "Agent", "maria-1")
    assert place.cli("tick").returncode == 4
    done = place.cli(*words)
    assert (done.returncode, "maria-1" in done.stdout + done.stderr) == (4, True)
    place.control.set_field(42, "Agent", place.claim()["agent_id"])
    ok(place.cli("tick"))


def test_commits_that_a_merge_does_not_have_are_told_and_get_another_pull_request(
    place: Place,
) -> None:
    """Handed off while a person merges: the question names them, a hand-off brings them in."""
    place.ready()
    ok(place.cli("tick"))
    first, branch = place.pull(), str(place.claim()["branch"])
    place.work(branch, push=False)
    place.control.merge_pull(first)
    assert "or says why that is too late" in ok(place.cli("handoff", "--summary", "y"))
    asked = ok(place.cli("tick"))
    sentence = (
        f"1 commit of {branch} is not in PR #{first}; for another PR, first run: lifecycle handoff"
    )
    assert sentence in asked
    assert sentence in ok(place.cli("status"))
    way = "(phase merged_detected); close it first, once the user agrees (lifecycle close), or take"
    assert way in refused(place.cli("claim", "41"))
    ok(place.cli("handoff", "--summary", "The rest"))
    ok(place.cli("tick"))
    second = place.claim()["pr_number"]
    assert (second != first, place.issue()["state"]) == (True, "open")
    place.control.merge_pull(second)
    assert "is not in PR" not in ok(place.cli("tick"))
    pushed = refused(place.cli("handoff", "--summary", "Once more"))
    assert f"no commit that PR #{second} lacks, and that is merged; nothing was pushed" in pushed
    assert place.claim()["phase"] == "merged_detected"
    place.write(phase="coding")
    place.hook("on-stop")
    assert f"no commit that PR #{second} lacks" in refused(
        place.cli("handoff", "--summary", "Once more")
    )
    place.write(phase="merged_detected")
    place.control.push_commit("main", {"theirs.txt": "x"}, "Theirs")
    place.git("pull", "--quiet", "--rebase", "origin", "main")
    assert "is not in PR" not in ok(place.cli("tick")), "what came from the base is not left out"
    place.work(branch, push=False)
    assert f"1 commit of {branch} is not in PR #{second}, and stays on" in ok(place.cli("close"))


def test_a_commit_that_was_never_pushed_is_told_though_the_merged_head_is_not_here(
    place: Place,
) -> None:
    """A person pushed onto the branch and merged that: git here cannot compare with what it lacks."""
    place.ready()
    ok(place.cli("tick"))
    number, branch = place.pull(), str(place.claim()["branch"])
    place.work(branch, push=False)
    place.control.push_commit(branch, {"theirs.txt": "x"}, "Theirs", by="maria")
    place.control.merge_pull(number)
    assert f"1 commit of {branch} is not in PR #{number}" in ok(place.cli("tick"))


def test_what_a_hand_off_says_of_the_next_step_has_one_full_stop() -> None:
    """Some next steps are a sentence and some are a command's line."""
    handed = replace(record(phase="ready_for_pr"), conditions={"closed-elsewhere": "Reopen it."})
    assert "Reopen it. No hook" in claim._next(handed, Hooks.UNSEEN)


def test_a_branch_that_was_renamed_gets_a_pull_request_of_its_own(place: Place) -> None:
    """A hand-off does not say that the old branch's PR has what went to another branch."""
    place.ready()
    ok(place.cli("tick"))
    assert place.claim()["pr_number"] == 46
    place.git("branch", "-m", "claude/renamed")
    place.write(branch="claude/renamed")
    said = ok(place.cli("handoff", "--summary", "Fix"))
    assert "Pushed claude/renamed for #42." in said
    assert "adds it to PR" not in said
    ok(place.cli("tick"))
    opened = place.claim()["pr_number"]
    assert place.control.world()["pulls"][str(opened)]["head"] == "claude/renamed"


@pytest.mark.soak("cli/test_commands.py::test_a_named_command_holds_whatever_a_branch_is_called")
def test_a_branch_that_was_renamed_gets_its_name_back(place: Place) -> None:
    """`git switch` would make the old name anew from the remote, without what is to be handed off."""
    place.ready()
    ok(place.cli("tick"))
    branch = place.claim()["branch"]
    place.git("branch", "-m", "mine")
    place.work("mine", push=False)
    advice = f"git branch -m mine {branch}"
    assert advice in refused(place.cli("handoff", "--summary", "Fix"))
    place.git(*advice.split()[1:])
    ok(place.cli("handoff", "--summary", "Fix"))
    assert place.pulls()[place.pull()]["head_sha"] == place.git("rev-parse", "HEAD")


def test_a_named_command_holds_whatever_a_branch_is_called(place: Place) -> None:
    """git allows names that a shell reads as commands: what is to be run does what it says, and no more."""
    odd = "fix&touch${IFS}pwned"
    ok(place.cli("claim", "42"))
    branch = place.claim()["branch"]
    place.work(branch, push=False)
    place.git("branch", "-m", odd)
    said = refused(place.cli("handoff", "--summary", "Fix"))
    advice = said.partition("rename it back: ")[2].partition("; if not")[0]
    assert place.run("sh", "-c", advice).returncode == 0
    assert place.git("branch", "--show-current") == branch
    place.git("branch", "-m", odd)
    place.write(branch=odd)
    place.git("switch", "--quiet", "main")
    advice = refused(place.cli("handoff", "--summary", "Fix")).partition("Switch with: ")[2]
    assert place.run("sh", "-c", advice).returncode == 0
    assert place.git("branch", "--show-current") == odd
    out = ok(place.cli("release"))
    assert place.run("sh", "-c", out.partition("to share: ")[2].partition("\n")[0]).returncode == 0
    assert f"refs/heads/{odd}" in place.control.world()["refs"]
    place.work(odd, push=False)
    place.control.push_commit(odd, {"theirs.txt": "x"}, "Theirs")
    lease.take(place.tree().world.git, "origin", 42, "maria-1", branch=odd)
    advice = ok(place.cli("takeover", "42")).partition("them together with: ")[2].partition("\n")[0]
    assert place.run("sh", "-c", advice).returncode == 0
    assert (place.root / "theirs.txt").exists()
    assert not (place.root / "pwned").exists()


def test_a_branch_that_was_deleted_here_is_switched_to_from_the_remote(place: Place) -> None:
    """Whatever is checked out then was not renamed, and keeps its name."""
    place.ready()
    ok(place.cli("tick"))
    branch = place.claim()["branch"]
    place.git("switch", "--quiet", "main")
    head = place.git("rev-parse", branch)
    place.git("branch", "--quiet", "-D", branch)
    said = ok(place.cli("release", "--dry-run"))
    assert f"Branch {branch} is not in this clone, but origin last had it at {head[:7]}." in said
    said = refused(place.cli("handoff", "--summary", "Fix"))
    advice = f"git switch {branch}"
    assert said.endswith(f"Switch with: {advice}\n")
    place.git("switch", "--quiet", "-c", "mine")
    said = refused(place.cli("handoff", "--summary", "Fix"))
    assert f"; if not, switch with: {advice}" in said
    place.git(*advice.split()[1:])
    ok(place.cli("handoff", "--summary", "Fix"))


def test_a_branch_that_is_nowhere_is_made_anew_and_the_base_keeps_its_name(place: Place) -> None:
    """Never pushed, and deleted here: git has nothing to switch to, and the base is not the branch.

    Nor is it pushed where the agent wrote that it is.
    """
    ok(place.cli("claim", "42"))
    branch = place.claim()["branch"]
    place.git("switch", "--quiet", "main")
    place.git("branch", "--quiet", "-D", branch)
    advice = f"git switch -c {branch}"
    said = refused(place.cli("handoff", "--summary", "Fix"))
    assert said.endswith(f"Switch with: {advice}\n")
    said = ok(place.cli("release", "--dry-run"))
    assert f"Branch {branch} is not in this clone, and not known on origin." in said
    place.git(*advice.split()[1:])
    assert "has no commit that main lacks" in refused(place.cli("handoff", "--summary", "Fix"))
    place.work("main", push=False)
    place.write(branch="main")
    said = refused(place.cli("handoff", "--summary", "Fix"))
    assert "branch is main, which is also the PR's base; nothing was pushed" in said
    assert place.git("rev-list", "origin/main..main")


def test_in_the_middle_of_a_rebase_nothing_is_claimed_or_pushed(place: Place) -> None:
    """Git switches no branch then: the way out is the rebase's end. No lease stays behind.

    In that of a merge not even the branch that the worktree is on can be claimed, or handed off: what the
    merge brings would not be part of it.
    """
    ok(place.cli("claim", "42"))
    branch = place.claim()["branch"]
    place.work(branch, push=False)
    place.git("switch", "--quiet", "-c", "other", "main")
    (place.root / "work.txt").write_text("other\n")
    place.git("add", "work.txt")
    place.git("commit", "--quiet", "-m", "Other work")
    place.git("switch", "--quiet", branch)
    assert place.run("git", "rebase", "other").returncode
    said = refused(place.cli("handoff", "--summary", "Fix"))
    assert "A rebase is in progress here, so nothing was pushed; end it first" in said
    place.git("rebase", "--abort")
    assert place.run("git", "merge", "other").returncode
    said = refused(place.cli("handoff", "--summary", "Fix"))
    assert "A merge is in progress here, so nothing was pushed; end it first" in said
    place.git("merge", "--abort")
    place.git("bisect", "start")
    ok(place.cli("handoff", "--summary", "Fix"))  # nobody ended it before going back to the branch
    place.git("switch", "-q", "--detach")
    said = refused(place.cli("handoff", "--summary", "Fix"))
    assert "A bisect is in progress here, so nothing was pushed; end it first" in said
    place.git("bisect", "reset")
    place.git("switch", "-q", branch)
    assert place.run("git", "rebase", "other").returncode
    ok(place.cli("release"))
    said = refused(place.cli("claim", "41"))
    assert "A rebase is in progress here, so nothing was claimed; end it first" in said
    assert not place.has_claim()
    assert "agent-claims" not in place.git("ls-remote", "origin")
    place.git("rebase", "--abort")
    assert place.run("git", "merge", "other").returncode
    said = refused(place.cli("claim", "42"))
    assert "A merge is in progress here, so nothing was claimed; end it first" in said
    assert "agent-claims" not in place.git("ls-remote", "origin")
    place.git("merge", "--abort")
    left = place.root / ".git" / "index.lock"
    left.touch()
    said = refused(place.cli("claim", "42"))
    assert "a killed process left .git/index.lock: delete it" in said
    left.unlink()
    ok(place.cli("claim", "41"))


def test_who_lost_a_task_without_a_board_closes_and_frees_nothing(
    place: Place, tmp_path: Path
) -> None:
    """Its lease tells: whoever had it writes nothing, and may leave after the merge, too."""
    place.environment.pop("LIFECYCLE_PROJECT_NUMBER")
    ok(place.cli("claim", "42"))
    place.work(place.claim()["branch"], push=False)
    ok(place.cli("handoff", "--summary", "Fix"))
    ok(place.cli("tick"))
    agent = other_takes(place, tmp_path)
    place.control.merge_pull(46)
    before = place.control.world()
    assert f"#42 was taken over by {agent}" in place.cli("close").stdout
    assert place.control.world() == before
    assert f"Issue #42 is held by {agent} now" in ok(place.cli("release"))
    assert place.control.world() == before
    assert not (place.root / ".agent-claim.json").exists()


def test_a_takeover_is_seen_whatever_the_clocks_say(place: Place) -> None:
    """By its date the other's lease is years older: git says once whose it is, and that counts."""
    place.environment.pop("LIFECYCLE_PROJECT_NUMBER")
    ok(place.cli("claim", "42"))
    world = place.tree().world
    mine = lease.read(world.git, "origin", 42)
    assert mine is not None
    lease.take(world.git, "origin", 42, "maria-1", instead_of=mine.sha, at=1_577_836_800.0)
    for git in (True, False):
        place.clear()
        assert "#42 was taken over by maria-1" in place.cli("tick").stdout
        assert any(request.kind == "git" for request in place.control.requests()) is git


def test_an_old_lease_that_github_still_shows_takes_nothing_over(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The read lags: the remote has the claim's own lease, so nobody has the task instead."""
    ok(place.cli("claim", "42"))
    observe = GitHubForge.observe

    def lagging(forge: GitHubForge, wanted: Look) -> Observation:
        return replace(observe(forge, wanted), hold=Hold(42, "c" * 40, "maria-2", 0.0))

    monkeypatch.setattr(GitHubForge, "observe", lagging)
    with Worktree(place.root, environment=place.environment, seconds=None) as tree:
        record = tree.tick().record
    assert record is not None
    assert not record.is_lost


@SOAKED
def test_a_card_that_names_another_stops_a_hand_off_too(place: Place) -> None:
    """Without a lease the Agent on the card says whose it is: nothing is pushed until that is settled."""
    place.ready(phase="coding")
    ok(place.cli("tick"))
    place.work(place.claim()["branch"], push=False)
    before = place.control.world()["refs"]
    place.control.set_field(42, "Agent", "maria-1")
    place.cli("tick")
    sentence = refused(place.cli("handoff", "--summary", "Fix"), 4)
    assert "#42 is held by maria-1, as its lease or its card says" in sentence
    assert place.control.world()["refs"] == before
    place.control.set_field(42, "Agent", place.claim()["agent_id"])
    ok(place.cli("tick"))
    ok(place.cli("handoff", "--summary", "Fix"))


@pytest.mark.soak(
    "cli/test_commands.py::test_a_takeover_is_seen_whatever_the_clocks_say",
    "claim/test_card.py::test_a_name_beside_our_lease_is_written_over",
)
def test_a_card_that_names_another_is_written_over_by_who_has_the_lease(place: Place) -> None:
    """Somebody edited the Agent: the lease outweighs it, the look mends it, and the claim goes on."""
    ok(place.cli("claim", "42"))
    agent = place.claim()["agent_id"]
    place.work(place.claim()["branch"], push=False)
    place.control.set_field(42, "Agent", "me")
    ok(place.cli("tick"))
    assert place.card()["Agent"] == agent
    ok(place.cli("handoff", "--summary", "Fix"))


@SOAKED
def test_a_claim_without_a_lease_hands_off_unless_somebody_has_one(
    place: Place, tmp_path: Path
) -> None:
    """Written by hand: no lease is no other holder; somebody's lease is."""
    place.ready(phase="coding")
    ok(place.cli("handoff", "--summary", "Fix"))
    agent = other_takes(place, tmp_path)
    assert f"held by {agent}" in refused(place.cli("handoff", "--summary", "Fix"), 4)


def test_a_name_that_no_branch_can_have_is_refused_and_stops_no_later_claim(place: Place) -> None:
    """An agent wrote it: a hand-off says so, and what is claimed again goes on at a branch's name."""
    ok(place.cli("claim", "42"))
    own = place.claim()["branch"]
    place.work(own, push=False)
    place.write(branch="my branch")
    assert "is not a valid branch name; nothing" in refused(
        place.cli("handoff", "--summary", "Fix")
    )
    (place.root / ".agent-claim.json").unlink()
    ok(place.cli("claim", "42"))
    assert place.claim()["branch"] == own
    place.write(branch=f"refs/heads/{own}")
    ok(place.cli("handoff", "--summary", "Fix"))
    assert "PR #46 created" in ok(place.cli("tick"))
    assert place.pulls()[46]["head"] == own


@pytest.mark.parametrize("way", ["handoff", *map(soaked, ["by hand", "own PR"])])
def test_a_sweep_follows_the_agent_to_a_branch_of_its_own(place: Place, way: str) -> None:
    """The lease names it once its PR is out: a sweep took the task for one without, and moved its card."""
    ok(place.cli("claim", "42"))
    place.work("feature/race", push=way != "handoff")
    place.write(branch="feature/race")
    if way == "handoff":
        ok(place.cli("handoff", "--summary", "Fix"))
    elif way == "by hand":
        place.write(phase="ready_for_pr", summary="Fix")
    else:
        place.control.open_pull(title="Fix", head="feature/race", base="main", body="Refs #42")
        place.write(phase="pr_created", status="In Review")
    assert "PR #46" in ok(place.cli("tick"))
    assert "#42" not in ok(place.cli("reconcile", "--dry-run")).partition("waits:")[0]
    place.control.merge_pull(46)
    assert "#42 merged-open: PR #46 (feature/race) merged" in ok(place.cli("reconcile", "--close"))
    assert place.issue()["state"] == "closed"
    assert not [ref for ref in place.control.world()["refs"] if "agent-claims" in ref]


@pytest.mark.soak(
    "cli/test_commands.py::test_a_sweep_follows_the_agent_to_a_branch_of_its_own",
    "claim/test_lease.py::test_a_lease_that_is_led_to_another_branch_is_the_same_claims",
)
def test_a_kill_behind_the_lead_leaves_no_lease_behind_the_close(place: Place) -> None:
    """The look that had the lease name the branch noted nothing of it: the close left it for ever."""
    ok(place.cli("claim", "42"))
    (name,) = (ref for ref in place.control.world()["refs"] if "agent-claims" in ref)
    old = place.control.world()["refs"][name]
    place.work("feature/race")
    place.write(branch="feature/race", phase="ready_for_pr", summary="Fix")
    ok(place.cli("tick"))
    new, state = place.control.world()["refs"][name], place.root / ".lifecycle/state.json"
    assert new != old
    state.write_text(state.read_text().replace(new, old))
    place.control.merge_pull(46)
    ok(place.cli("close"))
    assert place.issue()["state"] == "closed"
    assert name not in place.control.world()["refs"]


@SOAKED
def test_a_lease_whose_state_was_lost_is_known_by_its_agent(place: Place) -> None:
    """state.json is gone: the lease that names this claim's agent is this claim's."""
    ok(place.cli("claim", "42"))
    place.work(place.claim()["branch"], push=False)
    (place.root / ".lifecycle/state.json").unlink()
    ok(place.cli("handoff", "--summary", "Fix"))
    assert place.claim()["phase"] == "ready_for_pr"
    assert f"refs/heads/{place.claim()['branch']}" in place.control.world()["refs"]


@SOAKED
def test_leases_that_cannot_be_read_stop_no_hand_off(place: Place) -> None:
    """The remote does not answer the read: unknown, so the push decides, and the log tells it."""
    ok(place.cli("claim", "42"))
    place.work(place.claim()["branch"], push=False)
    place.control.add_fault(Fault("status", status=403, path=r"upload-pack", count=1))
    ok(place.cli("handoff", "--summary", "Fix"))
    assert f"refs/heads/{place.claim()['branch']}" in place.control.world()["refs"]
    assert "who holds #42 could not be read" in (place.root / ".lifecycle/log").read_text()


@SOAKED
def test_nudge_makes_only_legal_moves(place: Place) -> None:
    """An illegal move names the legal ones and changes nothing; --force makes it."""
    ok(place.cli("claim", "42"))
    sentence = refused(place.cli("nudge", "done", "--reason", "try"))
    assert "ready_for_pr" in sentence
    assert place.claim()["phase"] == "coding"
    before = (place.root / ".agent-claim.json").read_bytes()
    assert "would move #42 from coding to ready_for_pr" in ok(
        place.cli("nudge", "ready_for_pr", "--dry-run")
    )
    assert (place.root / ".agent-claim.json").read_bytes() == before
    assert place.cli("nudge", "merged", "--reason", "try").returncode == 2


def test_close_is_the_users_yes(place: Place) -> None:
    """Refused while the PR is open, however often it is asked; done once it merged.

    One that nobody could judge is not kept: what merges after it is asked about.
    """
    place.ready()
    ok(place.cli("tick"))
    number = place.pull()
    place.control.add_fault(Fault("status", path=r"/graphql$", status=502, count=99))
    unseen = place.cli("close")
    assert unseen.returncode == 1
    assert (
        "the yes was not kept: GitHub could not be asked whether its PR is merged" in unseen.stdout
    )
    assert place.claim()["phase"] == "pr_created"
    place.control.clear_faults()
    for _ in range(2):
        done = place.cli("close")
        assert done.returncode == 1
        assert f"PR #{number} is still open" in done.stdout
    assert place.issue()["state"] == "open"
    place.control.merge_pull(number)
    assert f"PR #{number} merged! Should I close issue #42?" in ok(place.cli("tick"))
    place.control.add_fault(Fault("status", path=r"/graphql$", status=502, count=99))
    assert place.cli("close").returncode == 1
    place.control.clear_faults()
    assert "Issue #42 closed. Board → Done." in ok(place.cli("tick"))
    assert place.issue()["state"] == "closed"
    assert "#42 was already closed; nothing was done." in ok(place.cli("close"))
    place.forget()
    assert "no claim" in refused(place.cli("close"))


def test_a_claim_that_cannot_be_read_is_restored_and_closed(place: Place) -> None:
    """Half a file is set aside with a word, and the yes is for the claim as it was last accepted."""
    place.ready()
    ok(place.cli("tick"))
    place.control.merge_pull(place.pull())
    ok(place.cli("tick"))
    (place.root / ".agent-claim.json").write_text('{"summary": "Sec')
    assert "Issue #42 closed." in ok(place.cli("close"))
    assert place.issue()["state"] == "closed"


def test_an_override_that_is_typed_after_a_reopening_closes(place: Place) -> None:
    """It is for the issue as it is now, also if the last look saw it closed."""
    place.ready()
    ok(place.cli("tick"))
    place.control.close_issue(42)
    ok(place.cli("tick"))
    place.control.reopen_issue(42)
    ok(place.cli("close", "--override", "a duplicate"))
    assert place.issue()["state"] == "closed"


@SOAKED
def test_close_by_override_is_recorded_on_the_issue(place: Place) -> None:
    """--override closes without a merge, and the comment says why."""
    place.ready()
    ok(place.cli("tick"))
    said = ok(place.cli("close", "--override", "shipped by other means"))
    assert f"PR #{place.pull()} stays open." in said
    (comment,) = place.issue()["comments"]
    assert "shipped by other means" in comment["body"]
    assert place.issue()["state"] == "closed"


def test_tick_shows_the_plan_and_then_does_it(place: Place) -> None:
    """--dry-run prints what tick then does."""
    place.ready()
    plan = ok(place.cli("tick", "--dry-run"))
    assert "would open a PR from octo-org:claude/fix-42 into main" in plan
    assert place.pulls() == {}
    out = ok(place.cli("tick"))
    assert f"PR #{place.pull()} created" in out
    data = json.loads(ok(place.cli("tick", "--json")))
    assert data["actions"] == []
    assert data["claim"]["phase"] == "checks_running"


def test_a_look_that_reaches_nobody_says_so_once(place: Place) -> None:
    """Nothing else is said of what was kept, and a plan that is not known is not called empty."""
    place.ready()
    place.tree().tick(Wake.STOP)
    place.control.add_fault(Fault("cut", count=1000))
    for words in ((), ("--dry-run",)):
        done = place.cli("tick", *words)
        assert (done.returncode, done.stderr) == (1, "")
        assert done.stdout.count("nothing was changed. Try again later.") == 1
        assert "Nothing to do" not in done.stdout


def test_status_asks_nothing_and_shows_the_question(place: Place) -> None:
    """Where the claim stands, from the files alone; the open question each time."""
    assert "has no claim" in ok(place.cli("status"))
    place.ready()
    ok(place.cli("tick"))
    number = place.pull()
    place.control.merge_pull(number)
    ok(place.cli("tick"))
    place.clear()
    for _ in range(2):
        assert f"PR #{number} merged! Should I close issue #42?" in ok(place.cli("status"))
    data = json.loads(ok(place.cli("status", "--json")))
    assert data["claim"]["phase"] == "merged_detected"
    assert place.requests() == []
    (place.root / "sub").mkdir()
    below = subprocess.run(
        [str(COMMAND), "status"],
        cwd=place.root / "sub",
        env=place.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"PR #{number}" in below.stdout


HARD = 'Fix `run` in "queue" of $HOME, it\'s $(done) & <here>'
"""A summary in which a shell would find much to do."""


def by_shell(place: Place, script: str) -> subprocess.CompletedProcess[str]:
    """What becomes of a command line that an agent writes; `lifecycle` is on its PATH."""
    path = f"{place.command.parent}{os.pathsep}{place.environment['PATH']}"
    return subprocess.run(
        ["sh", "-c", script],
        cwd=place.root,
        env={**place.environment, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@SOAKED
def test_a_summary_that_a_shell_would_choke_on_arrives(place: Place) -> None:
    """In the form that agents are told, on standard input or from a file, every character is kept."""
    ok(place.cli("claim", "42"))
    place.work(place.claim()["branch"], push=False)
    ok(by_shell(place, f"lifecycle handoff --summary-file - <<'EOF'\n{HARD}\nEOF\n"))
    assert place.claim()["summary"] == HARD
    (place.root / "summary").write_text("Fix it,\n  once more\n")
    ok(place.cli("handoff", "--summary-file", "summary"))
    assert place.claim()["summary"] == "Fix it, once more"


@SOAKED
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b" \n", "The summary is empty"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"x" * 5000, "has 5000 characters"),
        (b"x" * 257, "has 257 characters"),
        (b"x" * 1_000_001, "summary has more than 1,000,000 bytes; nothing was done. Shorten it."),
    ],
)
def test_a_summary_that_is_none_is_refused(place: Place, content: bytes, why: str) -> None:
    """Empty, no text, or longer than a title: one sentence, and nothing is pushed."""
    ok(place.cli("claim", "42"))
    place.work(place.claim()["branch"], push=False)
    (place.root / "summary").write_bytes(content)
    assert why in refused(place.cli("handoff", "--summary-file", "summary"))
    assert place.claim()["phase"] == "coding"
    assert f"refs/heads/{place.claim()['branch']}" not in place.control.world()["refs"]


@SOAKED
@pytest.mark.parametrize(
    "words", [("handoff", "--summary-file"), ("tracker", "comment", "42", "--file")]
)
def test_a_file_from_elsewhere_is_not_sent_unasked(place: Place, words: tuple[str, ...]) -> None:
    """The client allows these with any option: only a file of the worktree is read, no link out of it."""
    ok(place.cli("claim", "42"))
    place.work(place.claim()["branch"], push=False)
    secret = place.root.parent / "secret"
    secret.write_text("not for others")
    (place.root / "link").symlink_to(secret)
    for name in (str(secret), "../secret", "link"):
        assert "is outside this worktree" in refused(place.cli(*words, name))
    assert place.issue()["comments"] == []
    assert place.claim()["phase"] == "coding"
    (place.root / "mine").write_text("Fix it")
    ok(place.cli(*words, "mine"))


@SOAKED
def test_a_summary_is_given_once(place: Place) -> None:
    """Both ways, or neither, is a usage error; a file that is not there is named."""
    ok(place.cli("claim", "42"))
    both = place.cli("handoff", "--summary", "x", "--summary-file", "-")
    assert (both.returncode, "not both" in both.stderr) == (2, True)
    neither = place.cli("handoff")
    assert (neither.returncode, "--summary-file" in neither.stderr) == (2, True)
    assert "lost: No such file" in refused(place.cli("handoff", "--summary-file", "lost"))
