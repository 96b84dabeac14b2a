"""`lifecycle claim`: real processes against the embedded GitHub."""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from lifecycle.api import Worktree
from lifecycle.claim.record.claim_file import actions
from lifecycle.cli.claims.claim_look import describe, said_data
from lifecycle.core import plan
from lifecycle.core.timing import parse_time
from lifecycle.git import lease
from lifecycle.sandbox.control.faults import Fault
from tests.cli.outcome import ok, refused
from tests.clones import clone
from tests.conftest import COMMAND, Place, environment_of
from tests.e2e.killer import AHEAD

SOAKED = pytest.mark.soak(
    "cli/test_claim.py::test_fault_16_claim_by_number_does_all_of_it",
    "claim/test_lease.py::test_of_many_that_take_at_once_one_wins",
)

TITLE = "Fix race condition in task queue"


def test_a_lease_has_githubs_time_if_this_machines_clock_is_wrong(place: Place) -> None:
    """With a clock that is hours ahead a merge would be one before the lease, and no sweep would close."""
    before = int(time.time())
    ok(place.cli("claim", "42", **{AHEAD: "25200"}))
    held = lease.read(place.tree().world.git, "origin", 42)
    assert held is not None
    taken_at = parse_time(held.since)
    assert taken_at is not None
    assert before <= taken_at <= time.time() + 1
    assert held.agent == place.claim()["agent_id"]
    place.work(place.claim()["branch"])
    ok(place.cli("handoff", "--summary", "Fix it"))
    ok(place.cli("tick"))
    place.control.merge_pull(46)
    ok(place.cli("reconcile", "--close"))
    assert place.issue()["state"] == "closed"


def test_fault_16_claim_by_number_does_all_of_it(place: Place) -> None:
    """Lease, branch from the fresh default branch, assignee, board, file, exclude; twice is once."""
    place.control.push_commit("main", {"new.txt": "x"}, "Meanwhile")
    data = json.loads(ok(place.cli("claim", "42", "--json")))
    claim = place.claim()
    assert data["claim"]["issue_number"] == 42
    assert data["new"] is True
    assert claim["phase"] == "coding"
    assert claim["branch"] == "claude/fix-race-condition-in-task-queue-42"
    assert claim["agent_id"].startswith("octocat-")
    assert claim["item_id"] == place.item_id()
    assert (place.root / "new.txt").exists(), "the branch starts from the fresh default branch"
    assert place.issue()["assignees"] == ["octocat"]
    assert place.card()["Status"] == "In Progress"
    assert place.card()["Agent"] == claim["agent_id"]
    assert "refs/agent-claims/42" in place.control.world()["refs"]
    assert place.git("status", "--porcelain") == ""
    before = place.claim()
    page = f"{place.info.api_url}/octo-org/hello-service/issues/42#issuecomment-7"
    for query in ("#42", "octo-org/hello-service#42", page):
        assert json.loads(ok(place.cli("claim", query, "--json")))["new"] is False
        assert place.claim() == before


@SOAKED
def test_claim_by_a_part_of_the_title(place: Place) -> None:
    """Words of the title are enough if one task has them; several are listed."""
    assert "Claimed #42" in ok(place.cli("claim", "race", "condition"))
    place.git("switch", "--quiet", "main")
    (place.root / ".agent-claim.json").unlink()
    sentence = refused(place.cli("claim", "e"))
    assert "fits" in sentence
    assert "Claim by number" in sentence
    assert "No open issue" in refused(place.cli("claim", "no such words"))


def test_blanks_are_no_task(place: Place) -> None:
    """As no word at all: every title has them, and GitHub is not asked."""
    place.control.clear_requests()
    done = place.cli("claim", "", " ")
    assert (done.returncode, "Missing argument" in done.stderr) == (2, True)
    assert place.requests() == []


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [
        ("36", 1, "closed"),
        ("38", 4, "held by"),
        ("39", 1, 'not "Todo"'),
        ("43", 1, "depends on #38"),
        ("999", 1, "no issue #999"),
        (
            "octo-org/other#42",
            1,
            "names an issue of a repository other than octo-org/hello-service",
        ),
        (
            "https://github.com/octo-org/hello-service/issues/42",
            1,
            "names an issue of a repository other than octo-org/",
        ),
    ],
)
def test_claim_refuses_what_may_not_be_taken(
    place: Place, number: str, code: int, word: str
) -> None:
    """Closed, held, not in Todo, with open dependencies, not there, elsewhere: one sentence, no trace."""
    place.control.clear_requests()
    place.control.unassign(39, "maria", "sam", "octocat")
    place.control.set_field(39, "Agent", None)
    sentence = refused(place.cli("claim", number), code)
    assert word in sentence
    assert not place.has_claim()
    assert place.writes() == []
    assert not [ref for ref in place.control.world()["refs"] if "agent-claims" in ref]


def test_claim_refuses_what_github_says_waits_for_another(place: Place) -> None:
    """A dependency that no card names stands in the way as well, and not in a takeover's."""
    ok(place.cli("tracker", "dep", "44", "42"))
    sentence = refused(place.cli("claim", "44"))
    assert "#44 depends on #42, still open; nothing was claimed." in sentence
    assert not place.has_claim()
    ok(place.cli("takeover", "44"))
    assert place.claim()["issue_number"] == 44


def test_the_case_of_a_boards_options_matters_to_nobody(place: Place) -> None:
    """GitHub's own template writes "In progress": tasks are listed, counted, claimed and moved."""
    for old, new in (("Todo", "TODO"), ("In Progress", "In progress"), ("In Review", "In review")):
        place.control.rename_option("Status", old, new)
    assert "42  P1" in ok(place.cli("tracker", "ready"))
    event = {"hook_event_name": "SessionStart", "session_id": "one", "source": "startup"}
    context = json.loads(place.hook("session-start", event).stdout)["hookSpecificOutput"]
    assert "5 Todo, 1 In Progress, 1 In Review" in context["additionalContext"]
    ok(place.cli("claim", "42"))
    assert place.card(42)["Status"] == "In progress"


def test_a_card_that_cannot_be_set_at_the_end_is_told_once(place: Place) -> None:
    """With the end, and not that issue and PR go on, which are over."""
    place.merged()
    place.control.rename_option("Status", "Done", "Shipped")
    done = place.cli("close")
    lines = [line for line in (done.stdout + done.stderr).splitlines() if "Shipped" in line]
    (line,) = lines
    assert line.startswith("Issue #42 closed. The board was not set to Done: ")
    assert "go on" not in done.stdout + done.stderr


@SOAKED
def test_claim_names_the_open_pull_requests_that_are_for_the_task_already(place: Place) -> None:
    """One that closes it, whatever its branch is called; it costs no request, and the claim stands."""
    place.control.push_commit("fix-race", {"q.py": "x"}, "Fix", by="sam")
    number = place.control.open_pull("fix-race", "Fix the race", body="Closes #42", by="sam")
    place.clear()
    said = place.cli("claim", "42")
    assert f"There is already an open PR for #42: #{number}." in said.stdout + said.stderr
    assert [asked.operation for asked in place.requests()].count("ObserveClaim") == 1
    assert place.claim()["pr_number"] is None
    ok(place.cli("release"))
    place.control.close_pull(number)
    assert "An open PR" not in ok(place.cli("claim", "42"))


@pytest.mark.soak(
    "cli/test_claim.py::test_fault_16_claim_by_number_does_all_of_it",
    "claim/test_admission.py::test_a_free_task_is_taken_with_a_remark_at_most",
)
def test_claim_warns_unless_ready_for_agent(place: Place) -> None:
    """Readiness is a warning, not a refusal."""
    out = ok(place.cli("claim", "44"))
    assert 'Warning: Readiness is "Needs Refinement"' in out
    assert place.claim()["issue_number"] == 44


@SOAKED
def test_claim_takes_a_task_whose_dependencies_are_closed(place: Place) -> None:
    """#41 depends on #36, which is closed."""
    ok(place.cli("claim", "41"))
    assert place.claim()["issue_number"] == 41


@SOAKED
def test_one_worktree_holds_one_claim(place: Place) -> None:
    """A second task is refused while the first lives."""
    ok(place.cli("claim", "42"))
    for command in ("claim", "takeover"):
        said = refused(place.cli(command, "45"))
        assert "already holds #42" in said
        assert f"take the other with: lifecycle {command} 45 --worktree" in said


@pytest.mark.soak(
    "cli/test_claim.py::test_where_labels_keep_the_status_the_lease_names_who_has_the_task",
    "claim/test_admission.py::test_who_was_quicker_since_the_task_was_read_has_it",
    "claim/test_lease.py::test_of_many_that_take_at_once_one_wins",
)
def test_fault_15_of_two_agents_of_one_account_exactly_one_wins(
    place: Place, tmp_path: Path
) -> None:
    """Two worktrees claim the same task at once: one holds it, the other is told who (exit 4)."""
    running = []
    for name in ("one", "two", "three"):
        root = tmp_path / name
        environment = environment_of(place.info, root)
        clone(place.info.git_url, root, environment)
        running.append(
            subprocess.Popen(
                [str(COMMAND), "claim", "45"],
                cwd=root,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    outputs = [process.communicate(timeout=60) for process in running]
    codes = sorted(process.returncode for process in running)
    assert codes == [0, 4, 4], outputs
    for process, (_, err) in zip(running, outputs, strict=True):
        assert process.returncode == 0 or "held by" in err or "is In Progress" in err
    holders = [root for root in ("one", "two", "three") if _has_claim(tmp_path / root)]
    assert len(holders) == 1


def test_where_labels_keep_the_status_the_lease_names_who_has_the_task(
    place: Place, tmp_path: Path
) -> None:
    """A label has no agent: the refusal named nobody, and the way to take the task over.

    Who lost the claim's file goes on with it there, too.
    """
    agent = ""
    for name in ("one", "two"):
        root = tmp_path / name
        environment = environment_of(place.info, root)
        clone(place.info.git_url, root, environment)
        (root / ".lifecycle.toml").write_text('[labels]\nuse = "always"\n')
        other = replace(place, root=root, environment=environment)
        if not agent:
            ok(other.cli("claim", "42"))
            agent = other.claim()["agent_id"]
            (root / ".agent-claim.json").unlink()
            assert f"as {agent}." in ok(other.cli("claim", "42"))
        else:
            sentence = refused(other.cli("claim", "42"), 4)
            assert f"#42 is In Progress, held by {agent} since " in sentence


def _has_claim(root: Path) -> bool:
    return (root / ".agent-claim.json").exists()


@SOAKED
def test_an_interrupted_claim_goes_on(place: Place) -> None:
    """The assignment failed half-way: claiming again takes up the same lease and agent id."""
    place.control.add_fault(Fault("status", path=r"/assignees$", status=500, count=9))
    refused(place.cli("claim", "42"))
    assert not place.has_claim()
    (lease,) = [r for r in place.control.world()["refs"] if "agent-claims" in r]
    sha = place.control.world()["refs"][lease]
    place.control.clear_faults()
    ok(place.cli("claim", "42"))
    assert place.control.world()["refs"][lease] == sha
    assert place.card()["Agent"] == place.claim()["agent_id"]


@SOAKED
def test_the_loser_of_a_race_does_not_take_over_by_trying_again(
    place: Place, tmp_path: Path
) -> None:
    """Two worktrees of one account, claiming in one second: names are equal, attempts are not."""
    from lifecycle.api import HeldByAnother, Worktree
    from tests.conftest import ManualClock

    class Stopped(ManualClock):
        def now(self) -> float:
            return 1_800_000_000.0

    trees = []
    for name in ("one", "two"):
        root = tmp_path / name
        environment = environment_of(place.info, root)
        clone(place.info.git_url, root, environment)
        trees.append(Worktree(root, environment=environment, clock=Stopped(), seconds=None))
    first, second = trees
    taken = first.claim(45)
    for _ in range(2):
        with pytest.raises(HeldByAnother):
            second.claim(45)
    place.control.set_field(45, "Status", "Todo")
    with pytest.raises(HeldByAnother):
        second.claim(45)
    assert first.status() == taken.record
    for tree in trees:
        tree.disconnect()


@pytest.mark.soak(
    "cli/test_claim.py::test_who_was_taken_over_is_off_the_issue",
    "claim/test_lease.py::test_the_holder_is_named_with_the_time",
    "claim/test_admission.py::test_what_stands_in_the_way_is_said_with_the_way_out",
)
def test_a_takeover_takes_what_another_holds(place: Place) -> None:
    """Lease included; the refusal of a mere claim names the command."""
    ok(place.cli("claim", "42"))
    (place.root / ".agent-claim.json").unlink()
    (place.root / ".lifecycle/state.json").unlink()
    place.control.set_field(42, "Status", "Todo")
    sentence = refused(place.cli("claim", "42"), 4)
    assert "held by" in sentence
    assert sentence.rstrip().endswith("take it over: lifecycle takeover 42")
    ok(place.cli("takeover", "42"))
    assert place.claim()["issue_number"] == 42


def test_who_was_taken_over_is_off_the_issue(place: Place) -> None:
    """As after a release of their own; else it would be theirs alone when it is released, and nobody's."""
    lease.take(place.tree().world.git, "origin", 42, "sam-1")
    place.control.assign(42, "sam", "maria")
    said = ok(place.cli("takeover", "42"))
    assert "sam, who had it before, is no longer assigned to #42." in said
    assert sorted(place.issue()["assignees"]) == ["maria", "octocat"]


@pytest.mark.parametrize(
    "words",
    [
        ("claim", "42", "--force"),
        ("claim", "--force", "42"),
        ("claim", "42", "--worktree", "--force"),
        ("claim", "--forc", "42"),
        ("claim", "42", "-f"),
        ("tracker", "claim", "42", "--force"),
        ("tracker", "claim", "--force", "42"),
        ("tracker", "claim", "42", "--forc"),
    ],
)
def test_what_is_allowed_unasked_cannot_be_forced(place: Place, words: tuple[str, ...]) -> None:
    """Wherever the option stands and however it is cut, nothing is taken."""
    place.control.assign(42, "maria")
    done = place.cli(*words)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert not (place.root / ".agent-claim.json").exists()
    assert place.issue()["assignees"] == ["maria"]


@SOAKED
def test_a_takeover_names_itself_where_it_helps(place: Place) -> None:
    """Another Status, another assignee, an open dependency: each refusal ends with it, and it does it."""
    place.control.assign(42, "maria")
    place.control.set_field(42, "Status", "Done")
    assert "take it anyway: lifecycle takeover 42" in refused(place.cli("claim", "42"))
    place.control.set_field(42, "Status", "Todo")
    assert "if they are gone: lifecycle takeover 42" in refused(place.cli("claim", "42"), 4)
    place.control.unassign(42, "maria")
    place.control.set_field(42, "Dependencies", "#44")
    assert "take it anyway: lifecycle takeover 42" in refused(place.cli("claim", "42"))
    ok(place.cli("takeover", "42"))
    assert place.claim()["issue_number"] == 42


@SOAKED
def test_claim_without_a_board_works_on_issues_alone(place: Place) -> None:
    """No project configured: found by title over REST, assigned, leased, claimed."""
    place.environment.pop("LIFECYCLE_PROJECT_NUMBER")
    ok(place.cli("claim", TITLE.split(" in ", maxsplit=1)[0]))
    assert place.claim()["item_id"] == ""
    assert place.issue()["assignees"] == ["octocat"]
    assert place.card()["Status"] == "Todo"


@SOAKED
@pytest.mark.parametrize("number", ["0", "#-1", "2147483648"])
def test_a_number_that_github_never_gives_is_refused(place: Place, number: str) -> None:
    """It is looked for in no title, and nothing is claimed."""
    assert f"{number.strip('#')} is not an issue number" in refused(
        place.cli("claim", "--", number)
    )
    assert place.writes() == []


@SOAKED
def test_a_renamed_repository_is_not_claimed_in(place: Place) -> None:
    """The new name and the command are said before anything is held: no lease, branch, assignee."""
    place.control.rename_repository("better-name")
    before = place.git("branch")
    said = refused(place.cli("claim", "42"))
    assert "is called octo-org/better-name on GitHub now, so nothing was claimed" in said
    assert "git remote set-url origin" in said
    control = place.control.at("octo-org/better-name")
    assert not [ref for ref in control.world()["refs"] if "agent-claims" in ref]
    assert control.world()["issues"]["42"]["assignees"] == []
    assert place.git("branch") == before


@SOAKED
def test_claim_leaves_uncommitted_work_alone(place: Place) -> None:
    """Changes that the switch would overwrite stop it; nothing is claimed, the lease is returned."""
    place.control.push_commit("main", {"README.md": "theirs\n"}, "Meanwhile")
    (place.root / "README.md").write_text("mine\n")
    sentence = refused(place.cli("claim", "42"))
    assert ": README.md; nothing was claimed" in sentence
    assert "Commit or stash them" in sentence
    assert "--worktree" in sentence
    assert (place.root / "README.md").read_text() == "mine\n"
    assert not place.has_claim()
    assert not [ref for ref in place.control.world()["refs"] if "agent-claims" in ref]
    assert place.card()["Status"] == "Todo"


def test_a_hook_that_fails_behind_the_switch_stops_no_claim(place: Place) -> None:
    """As that of git-lfs where git-lfs is missing: git says no and has switched, which is told."""
    hook = place.root / ".git/hooks/post-checkout"
    hook.write_text("#!/bin/sh\necho no git-lfs here >&2\nexit 2\n")
    hook.chmod(0o755)
    said = ok(place.cli("claim", "42"))
    assert (
        "failed after the switch to claude/fix-race-condition-in-task-queue-42 (no git-lfs" in said
    )
    assert place.git("branch", "--show-current") == place.claim()["branch"]
    ok(place.cli("release"))
    assert "failed after the switch" in ok(place.cli("claim", "42")), (
        "to a branch that is here, too"
    )
    ok(place.cli("release"))
    assert place.run("git", "switch", "main").returncode, "it has switched all the same"
    assert "failed after the switch" in ok(place.cli("claim", "42", "--worktree"))


@SOAKED
def test_a_folder_in_the_claims_place_is_named_before_anything_is_done(place: Place) -> None:
    """No claim could be kept there: nothing is asked of GitHub, nothing is taken, every command says it."""
    (place.root / ".agent-claim.json").mkdir()
    for words in (("claim", "42"), ("status",), ("tick",), ("release",)):
        assert ".agent-claim.json is a folder" in refused(place.cli(*words)), words
    assert place.requests() == []
    assert not [ref for ref in place.control.world()["refs"] if "agent-claims" in ref]


@SOAKED
def test_a_server_that_is_gone_is_named_with_what_was_asked_for(place: Place) -> None:
    """A task that has no branch yet is asked for alone, and the sentence names nothing empty."""
    place.control.add_fault("unavailable", count=9)
    assert " issue #42 in octo-org/hello-service" in refused(place.cli("takeover", "42"))


@SOAKED
def test_of_many_files_in_the_way_five_are_named(place: Place) -> None:
    """Files that git does not track stand in the way as well; the rest is counted."""
    names = [f"file-{number}.txt" for number in range(7)]
    place.control.push_commit("main", dict.fromkeys(names, "theirs\n"), "Meanwhile")
    for name in names:
        (place.root / name).write_text("mine\n")
    sentence = refused(place.cli("claim", "42"))
    assert f": {', '.join(names[:5])} (+2 more); nothing was claimed" in sentence


def test_commits_that_are_only_here_are_named_for_the_branch_lacks_them(place: Place) -> None:
    """The person hears what to do; from another branch, and in a worktree of its own, nothing is said."""
    (place.root / "own.py").write_text("mine = 1\n")
    place.git("add", "own.py")
    place.git("commit", "--quiet", "-m", "Mine")
    said = "lacks commits of the local main that were not pushed: "
    shown = ok(place.cli("claim", "42"))
    assert said in shown
    assert (
        ' Mine". If the task needs them, push them: git push origin main; then: git merge main'
        in shown
    )
    assert not (place.root / "own.py").exists()
    assert said not in ok(place.cli("claim", "41", "--worktree"))


def test_a_claim_that_would_take_away_what_the_worktree_needs_is_refused(place: Place) -> None:
    """Settings, hooks or tasks that came with commits that were not pushed; once they were, it is taken."""
    names = (".beads/metadata.json", ".claude/settings.json", ".lifecycle.toml")
    for name in names:
        path = place.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("# mine\n" if name.endswith("toml") else "{}\n")
        place.git("add", "--force", name)
    place.git("commit", "--quiet", "-m", "Mine")
    for words in (("claim", "42"), ("claim", "42", "--worktree")):
        sentence = refused(place.cli(*words))
        assert f"{', '.join(names)} came with commits that were not pushed" in sentence
        assert "nothing was claimed. Push them there first: git push origin main" in sentence
        assert all((place.root / name).exists() for name in names)
        assert not place.has_claim()
    assert place.git("ls-remote", "origin", "refs/agent-claims/42") == ""
    place.git("push", "--quiet", "origin", "main")
    ok(place.cli("claim", "42"))
    assert all((place.root / name).exists() for name in names)


@SOAKED
def test_a_card_that_is_held_says_since_when(place: Place, tmp_path: Path) -> None:
    """With a board the card stops it first; the lease still tells the moment."""
    root = tmp_path / "other"
    environment = environment_of(place.info, root)
    clone(place.info.git_url, root, environment)
    with Worktree(root, environment=environment, seconds=None) as tree:
        agent = tree.claim(42).record.claim.agent_id
    sentence = refused(place.cli("claim", "42"), 4)
    assert f"#42 is In Progress, held by {agent} since 20" in sentence
    place.control.add_fault(Fault("status", status=403, path=r"upload-pack", count=9))
    assert f"held by {agent}; nothing" in refused(place.cli("claim", "42"), 4)


@SOAKED
@pytest.mark.parametrize("has_board", [True, False])
def test_a_task_of_another_worktree_of_the_clone_names_the_way(
    place: Place, tmp_path: Path, *, has_board: bool
) -> None:
    """The holder is this user's own worktree: the sentence says where, with a command to copy."""
    if not has_board:
        place.environment.pop("LIFECYCLE_PROJECT_NUMBER")
    root = tmp_path / "the other"
    ok(place.cli("claim", "42", "--worktree", str(root)))
    sentence = refused(place.cli("claim", "42"), 4)
    assert f"#42 is already claimed in {root}" in sentence
    assert f"cd '{root}'" in sentence
    assert not place.has_claim()
    lease = place.git("ls-remote", "origin", "refs/agent-claims/42")
    assert refused(place.cli("takeover", "42"), 4) == sentence
    assert lease
    assert place.git("ls-remote", "origin", "refs/agent-claims/42") == lease


@SOAKED
def test_a_takeover_that_comes_to_nothing_leaves_the_lease_where_it_was(
    place: Place, tmp_path: Path
) -> None:
    """The branch cannot be switched to: whoever held the task holds it still, by the very same lease."""
    ok(place.cli("claim", "42"))
    branch = place.claim()["branch"]
    place.work(branch)
    committed = place.git("show", "--format=", "--name-only", branch).splitlines()[0]
    lease = place.git("ls-remote", "origin", "refs/agent-claims/42")
    root = tmp_path / "another"
    place.run("git", "clone", "--quiet", place.info.git_url, str(root))
    (root / committed).write_text("something of mine that no commit has\n")
    environment = {**place.environment, "CLAUDE_PROJECT_DIR": str(root)}
    another = replace(place, root=root, environment=environment)
    refused(another.cli("takeover", "42"))
    assert place.git("ls-remote", "origin", "refs/agent-claims/42") == lease
    assert not another.has_claim()


def test_a_repository_without_a_commit_begins_at_the_remotes(place: Place, tmp_path: Path) -> None:
    """`git init` and `git remote add` are enough: the branch starts where that of a clone would."""
    url, new = place.git("remote", "get-url", "origin"), replace(place, root=tmp_path / "new")
    place.git("init", "--quiet", "--initial-branch=main", str(new.root))
    new.git("remote", "add", "origin", url)
    ok(new.cli("claim", "42"))
    assert new.git("log", "--format=%H") == place.git("log", "--format=%H", "origin/main")


def test_each_kind_of_action_has_its_words() -> None:
    """What a look did, or would do, is told whatever it is: by a row, or by the fields that it has."""
    composed = {
        plan.OpenPullRequest,
        plan.AdvancePullRequest,
        plan.SetBoard,
        plan.PostComment,
        plan.SetLinked,
    }
    told = {kind for kind in get_args(plan.Action) if "does" in actions()[kind.__name__]}
    assert composed | told == set(get_args(plan.Action))
    assert not composed & told
    assert describe(plan.CloseIssue(42)) == "close #42"
    assert describe(plan.Unassign(42, "maria")) == "unassign maria from #42"
    assert describe(plan.ForgetClaim()) == "delete .agent-claim.json"


def test_a_notice_has_the_words_of_the_api() -> None:
    """`--json` calls a notice's parts as `lifecycle.api` does."""
    notice = plan.Notice("merged:42", "PR #46 merged!", plan.Audience.ASK)
    (said,) = said_data([notice])
    assert said == {name: getattr(notice, name) for name in ("key", "text", "audience")}
