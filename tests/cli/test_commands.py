"""The command line as people and agents use it: real processes against the embedded GitHub."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lifecycle.sandbox.faults import Fault
from tests.conftest import COMMAND, Place, environment_of

TITLE = "Fix race condition in task queue"


def ok(done: subprocess.CompletedProcess[str]) -> str:
    """The output of a command that must succeed."""
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def refused(done: subprocess.CompletedProcess[str], code: int = 1) -> str:
    """The one sentence of a command that must not succeed."""
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr + done.stdout
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


# --- claim --------------------------------------------------------------------------------------


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
    assert json.loads(ok(place.cli("claim", "#42", "--json")))["new"] is False
    assert place.claim() == before


def test_claim_by_a_part_of_the_title(place: Place) -> None:
    """Words of the title are enough if one task has them; several are listed."""
    assert "Claimed #42" in ok(place.cli("claim", "race", "condition"))
    place.git("switch", "--quiet", "main")
    (place.root / ".agent-claim.json").unlink()
    sentence = refused(place.cli("claim", "e"))
    assert "fits" in sentence
    assert "Claim by number" in sentence
    assert "No open issue" in refused(place.cli("claim", "no such words"))


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [
        ("36", 1, "closed"),
        ("38", 4, "held by"),
        ("39", 1, 'not "Todo"'),
        ("43", 1, "depends on #38"),
        ("999", 1, "no issue #999"),
    ],
)
def test_claim_refuses_what_may_not_be_taken(
    place: Place, number: str, code: int, word: str
) -> None:
    """Closed, held, not in Todo, with open dependencies, or not there: one sentence, no trace."""
    place.control.clear_requests()
    place.control.unassign(39, "maria", "sam", "octocat")
    place.control.set_field(39, "Agent", None)
    sentence = refused(place.cli("claim", number), code)
    assert word in sentence
    assert not place.has_claim()
    assert place.writes() == []
    assert not [ref for ref in place.control.world()["refs"] if "agent-claims" in ref]


def test_claim_warns_unless_ready_for_agent(place: Place) -> None:
    """Readiness is a warning, not a refusal."""
    out = ok(place.cli("claim", "44"))
    assert 'Warning: Readiness is "Needs Refinement"' in out
    assert place.claim()["issue_number"] == 44


def test_claim_takes_a_task_whose_dependencies_are_closed(place: Place) -> None:
    """#41 depends on #36, which is closed."""
    ok(place.cli("claim", "41"))
    assert place.claim()["issue_number"] == 41


def test_one_worktree_holds_one_claim(place: Place) -> None:
    """A second task is refused while the first lives."""
    ok(place.cli("claim", "42"))
    assert "already holds #42" in refused(place.cli("claim", "45"))


def test_fault_15_of_two_agents_of_one_account_exactly_one_wins(
    place: Place, tmp_path: Path
) -> None:
    """Two worktrees claim the same task at once: one holds it, the other is told who (exit 4)."""
    running = []
    for name in ("one", "two", "three"):
        root = tmp_path / name
        environment = environment_of(place.info, root)
        subprocess.run(
            ["git", "clone", "--quiet", place.info.git_url, str(root)], env=environment, check=True
        )
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


def _has_claim(root: Path) -> bool:
    return (root / ".agent-claim.json").exists()


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


def test_claim_force_takes_over(place: Place) -> None:
    """--force takes a task that another holds, lease included."""
    ok(place.cli("claim", "42"))
    (place.root / ".agent-claim.json").unlink()
    (place.root / ".lifecycle/state.json").unlink()
    place.control.set_field(42, "Status", "Todo")
    assert "held by" in refused(place.cli("claim", "42"), 4)
    ok(place.cli("claim", "42", "--force"))
    assert place.claim()["issue_number"] == 42


def test_claim_without_a_board_works_on_issues_alone(place: Place) -> None:
    """No project configured: found by title over REST, assigned, leased, claimed."""
    place.environment.pop("LIFECYCLE_PROJECT_NUMBER")
    ok(place.cli("claim", TITLE.split(" in ", maxsplit=1)[0]))
    assert place.claim()["item_id"] == ""
    assert place.issue()["assignees"] == ["octocat"]
    assert place.card()["Status"] == "Todo"


def test_claim_leaves_uncommitted_work_alone(place: Place) -> None:
    """Changes that the switch would overwrite stop it; nothing is claimed, the lease is returned."""
    place.control.push_commit("main", {"README.md": "theirs\n"}, "Meanwhile")
    (place.root / "README.md").write_text("mine\n")
    sentence = refused(place.cli("claim", "42"))
    assert "git switch failed" in sentence
    assert (place.root / "README.md").read_text() == "mine\n"
    assert not place.has_claim()
    assert not [ref for ref in place.control.world()["refs"] if "agent-claims" in ref]
    assert place.card()["Status"] == "Todo"


# --- handoff ------------------------------------------------------------------------------------


def test_handoff_validates_pushes_and_sets_the_phase(place: Place) -> None:
    """The configured commands run first; a failing one pushes nothing and changes nothing."""
    ok(place.cli("claim", "42"))
    (place.root / ".lifecycle.toml").write_text('validate = ["test -f valid"]\n')
    place.work(place.claim()["branch"], push=False)
    sentence = refused(place.cli("handoff", "--summary", "Fix"))
    assert "`test -f valid` exited 1" in sentence
    assert place.claim()["phase"] == "coding"
    branch = f"refs/heads/{place.claim()['branch']}"
    assert branch not in place.control.world()["refs"]
    (place.root / "valid").touch()
    ok(place.cli("handoff", "--summary", "Fix"))
    assert place.claim()["phase"] == "ready_for_pr"
    assert place.claim()["summary"] == "Fix"
    assert branch in place.control.world()["refs"]


def test_handoff_refuses_what_would_make_no_pull_request(place: Place) -> None:
    """No claim, an empty summary, no commit, the wrong branch: each is one sentence."""
    assert "no claim" in refused(place.cli("handoff", "--summary", "Fix"))
    ok(place.cli("claim", "42"))
    assert "summary is empty" in refused(place.cli("handoff", "--summary", " "))
    assert "no commit" in refused(place.cli("handoff", "--summary", "Fix"))
    place.git("switch", "--quiet", "main")
    assert "git switch claude/" in refused(place.cli("handoff", "--summary", "Fix"))
    assert place.claim()["phase"] == "coding"


# --- nudge, close, tick, status -----------------------------------------------------------------


def test_nudge_makes_only_legal_moves(place: Place) -> None:
    """An illegal move names the legal ones and changes nothing; --force makes it."""
    ok(place.cli("claim", "42"))
    sentence = refused(place.cli("nudge", "done"))
    assert "ready_for_pr" in sentence
    assert place.claim()["phase"] == "coding"
    before = (place.root / ".agent-claim.json").read_bytes()
    assert "would move #42 from coding to ready_for_pr" in ok(
        place.cli("nudge", "ready_for_pr", "--dry-run")
    )
    assert (place.root / ".agent-claim.json").read_bytes() == before
    assert place.cli("nudge", "merged").returncode == 2


def test_close_is_the_users_yes(place: Place) -> None:
    """Refused while the PR is open, however often it is asked; done once it merged."""
    place.ready()
    ok(place.cli("tick"))
    number = place.pull()
    for _ in range(2):
        done = place.cli("close")
        assert done.returncode == 1
        assert f"PR #{number} is still open" in done.stdout
    assert place.issue()["state"] == "open"
    place.control.merge_pull(number)
    assert "Issue #42 closed. Board → Done." in ok(place.cli("close"))
    assert place.issue()["state"] == "closed"
    assert "no claim" in refused(place.cli("close"))


def test_close_by_override_is_recorded_on_the_issue(place: Place) -> None:
    """--override closes without a merge, and the comment says why."""
    place.ready()
    ok(place.cli("tick"))
    ok(place.cli("close", "--override", "shipped by other means"))
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


def test_status_asks_nothing_and_shows_the_question(place: Place) -> None:
    """Where the claim stands, from the files alone; the open question each time."""
    assert "No claim" in ok(place.cli("status"))
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


# --- the rim ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [["claim", "42"], ["tick"], ["close"], ["nudge", "done"], ["status"]]
)
def test_every_failure_has_a_face(place: Place, tmp_path: Path, arguments: list[str]) -> None:
    """No repository, no token, a bad setting: one sentence each, exit 1, JSON where asked."""
    place.ready(phase="done")
    outside = subprocess.run(
        [str(COMMAND), *arguments],
        cwd=tmp_path,
        env=place.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "in no git worktree" in refused(outside)
    if arguments == ["status"]:
        return
    (place.root / ".lifecycle.toml").write_text("projct = 1\n")
    assert 'unknown key "projct"' in refused(place.cli(*arguments))
    data = json.loads(place.cli(*arguments, "--json").stdout)
    assert data["error"]["kind"] == "BadConfig"


def test_no_token_is_exit_1_with_the_way_to_set_one(place: Place) -> None:
    """The sentence names both variables and a command."""
    place.environment.pop("GH_TOKEN")
    assert "export GH_TOKEN=" in refused(place.cli("claim", "42"))


def test_a_strange_remote_is_refused_before_anything_is_sent(place: Place) -> None:
    """Fault 8: a remote elsewhere must not be taken for somebody's repository on GitHub."""
    place.git("remote", "set-url", "origin", "https://gitlab.example/octo-org/hello-service")
    assert "gitlab.example" in refused(place.cli("claim", "42"))
    assert place.requests() == []


def test_usage_errors_exit_2(place: Place) -> None:
    """An unknown command or option is a usage error, with help on how to go on."""
    for arguments in (["frobnicate"], ["claim"], ["tick", "--nope"]):
        done = place.cli(*arguments)
        assert done.returncode == 2
        assert "Usage" in done.stderr


def test_a_defect_is_exit_3_with_the_log_and_no_traceback(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What nobody foresaw is one sentence with the log's path; the trace is in the log."""
    from lifecycle import engine
    from lifecycle.cli.main import run

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("nobody foresaw this")

    place.ready()
    (place.root / ".lifecycle").mkdir()
    monkeypatch.chdir(place.root)
    monkeypatch.setattr(engine, "tick", broken)
    assert run(["tick"]) == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert ".lifecycle/log" in printed.err
    assert "nobody foresaw this" in (place.root / ".lifecycle/log").read_text()


def test_a_folder_in_place_of_a_file_is_a_sentence(place: Place) -> None:
    """What the disk refuses is named, with the file."""
    place.ready()
    (place.root / ".lifecycle/state.json").mkdir(parents=True)
    assert "state.json" in refused(place.cli("tick"))


def test_a_held_lock_is_a_sentence(place: Place) -> None:
    """Another process at work is waited for; this one holds the lock for good."""
    from lifecycle.store import Folder

    place.ready()
    with Folder(place.root).locked(1):
        tree = place.tree()
        tree.world.deadline = type(tree.world.deadline).after(place.clock, 0.3)
        from lifecycle.api import Transient

        with pytest.raises(Transient, match="Another lifecycle process"):
            tree.tick()


def test_sandbox_serve_prints_one_line_and_serves(tmp_path: Path) -> None:
    """The JSON line has the addresses; git and HTTP answer there; SIGTERM ends it with 0."""
    import urllib.request

    with subprocess.Popen(
        [str(COMMAND), "sandbox", "serve"], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout
            info: dict[str, Any] = json.loads(server.stdout.readline())
            wanted = ("api_url", "graphql_url", "git_url", "token", "repository", "project_owner")
            assert all(info[name] for name in wanted)
            assert info["project_number"] == 1
            assert info["api_url"].startswith("http://127.0.0.1:")
            request = urllib.request.Request(
                f"{info['api_url']}/repos/{info['repository']}",
                headers={"Authorization": f"Bearer {info['token']}"},
            )
            with urllib.request.urlopen(request) as answer:
                assert json.load(answer)["full_name"] == info["repository"]
            subprocess.run(
                ["git", "clone", "--quiet", info["git_url"], str(tmp_path / "x")], check=True
            )
        finally:
            server.terminate()
        assert server.wait(timeout=10) == 0


def test_sandbox_seed_errors_are_sentences(tmp_path: Path) -> None:
    """A seed that is missing, broken or strange is refused by name."""
    seed = tmp_path / "seed.json"
    for content in (None, "{", '{"colour": 1}'):
        if content is not None:
            seed.write_text(content)
        done = subprocess.run(
            [str(COMMAND), "sandbox", "serve", "--seed", str(seed)],
            capture_output=True,
            text=True,
            check=False,
        )
        refused(done)


def test_hook_path_says_where_the_script_lies() -> None:
    """What belongs into the client's settings, without looking for it."""
    done = subprocess.run(
        [str(COMMAND), "hook", "on-stop", "--path"], capture_output=True, text=True, check=True
    )
    path = Path(done.stdout.strip())
    assert path.name == "on-stop"
    assert path.read_text().startswith("#!/bin/sh")


def test_the_demo_ends_closed_and_done() -> None:
    """Exit 0 only if the issue really ended closed and the board Done; JSON for machines."""
    done = subprocess.run(
        [str(COMMAND), "demo", "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    story = json.loads(done.stdout)
    assert story["ok"] is True
    assert story["is_closed"] is True
    assert story["board"] == "Done"
    assert story["comment"].startswith("Completed in #")
    assert [step["requests"] for step in story["steps"] if step["who"] == "hook"][:2] == [0, 3]
