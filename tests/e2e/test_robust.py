"""Hooks never fail an agent: whatever comes in, whatever the world does, exit 0 and valid JSON."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from lifecycle.sandbox.control.faults import Fault
from lifecycle.settings.resources import hook_script
from tests.conftest import BRANCH, STARTED, Place
from tests.repeated import soaked

SOAKED = pytest.mark.soak(
    "e2e/test_robust.py::test_a_hanging_board_does_not_lose_the_message_about_the_pull_request",
    "claim/test_recovery.py::test_a_deadline_at_any_moment_leaves_the_guard_open",
)

HOOKS = ["on-stop", "on-idle", "session-start"]

INPUTS = {
    "empty": b"",
    "broken": b'{"hook_event_name": "St',
    "no object": b"[1, 2]",
    "binary": bytes(range(256)) * 40,
    "deep": b"[" * 200_000,
    "huge": b'{"x": "' + b"a" * 3_000_000 + b'"}',
    "surrogates": b'{"session_id": "\\ud800", "hook_event_name": 7}',
}


CONTENTS = (b"{", b'{"schema_version": 99}', b'{"phase": 7}')
NO_CLAIMS = (b"", b"\xff\xfe\x00", b"[]", b"[" * 100_000)
"""What is no claim either: `claim/test_file.py` reads such bytes."""


def each_with(first: str, others: list[str], inputs: Iterable[Any], usual: Any) -> list[Any]:
    """Each input with one hook, one with each; the rest, which the same code reads, in `make soak`."""
    chosen = [pytest.param(first, one) for one in inputs]
    for hook in others:
        chosen += [(pytest.param if one == usual else soaked)(hook, one) for one in inputs]
    return chosen


def assert_harmless(done: subprocess.CompletedProcess[str]) -> None:
    """Exit 0 (or a deliberate wake), JSON or nothing, no traceback."""
    assert done.returncode in (0, 2), done.stderr
    if done.returncode == 2:
        assert done.stderr
    if done.stdout:
        json.loads(done.stdout)
    assert "Traceback" not in done.stdout + done.stderr


@SOAKED
@pytest.mark.parametrize(
    ("hook", "name"), each_with("on-stop", [h for h in HOOKS if h != "on-stop"], INPUTS, "broken")
)
def test_any_stdin_is_survived(place: Place, hook: str, name: str) -> None:
    """Empty, broken, huge, deep or binary input: the hook does its work, and exits 0."""
    place.ready()
    done = place.hook(hook, INPUTS[name])
    assert_harmless(done)
    is_start = hook == "session-start"
    assert ("Claim: issue #42" if is_start else "PR #46 created") in done.stdout + done.stderr
    assert place.claim()["phase"] == ("ready_for_pr" if is_start else "pr_created")


@pytest.mark.parametrize(
    ("hook", "name"),
    each_with("ci-waiter", ["user-prompt-submit", "session-end"], INPUTS, "surrogates"),
)
def test_any_stdin_is_survived_behind_the_guard(place: Place, hook: str, name: str) -> None:
    """The other entrypoints, started as their guards start them, while the agent codes."""
    place.ready(phase="coding")
    (place.root / ".lifecycle").mkdir()
    assert_harmless(place.run(str(place.command), "hook", hook, stdin=INPUTS[name]))
    assert place.claim()["phase"] == "coding"
    log = place.root / ".lifecycle/log"
    said = log.read_text().splitlines() if log.exists() else []
    # Nothing went wrong on the way. The end has 0.2 s, which a busy machine may take for itself: by then
    # the script in `hooks/` has noted it, without Python.
    assert [
        line for line in said if not line.endswith("session-end: the deadline was reached")
    ] == []
    assert (place.root / ".lifecycle/waiter.lock").exists() == (hook == "ci-waiter")


@pytest.mark.parametrize(
    ("hook", "content"),
    [
        *each_with("on-stop", ["session-start"], CONTENTS, b"{"),
        *(soaked("on-idle", content) for content in CONTENTS),
        *(soaked(hook, content) for hook in HOOKS for content in NO_CLAIMS),
    ],
)
def test_any_claim_file_is_survived(place: Place, hook: str, content: bytes) -> None:
    """A broken or strange claim never fails a hook, which says so; what cannot be read is kept."""
    claim = place.root / ".agent-claim.json"
    claim.write_bytes(content)
    os.utime(
        claim, (1_700_000_000, 1_700_000_000)
    )  # else a hook waits whether somebody writes more
    done = [place.hook(hook, {}) for _ in range(2)]
    for one in done:
        assert_harmless(one)
    is_claim = hook == "session-start" and b'"phase"' in content
    said = "Claim: issue" if is_claim else ".agent-claim.json "
    assert said in done[0].stdout + done[0].stderr
    kept = [path.read_bytes() for path in place.root.glob(".agent-claim.json*")]
    assert content in kept or b'"phase"' in content


@SOAKED
@pytest.mark.parametrize("name", ["state.json", "stamp", "due", "lock", "log", "idle-due"])
@pytest.mark.parametrize("as_folder", [False, True])
def test_broken_files_of_our_own_are_survived(place: Place, name: str, *, as_folder: bool) -> None:
    """Garbage, or a folder, in place of any of our files: exit 0, and the agent's work goes on."""
    place.ready()
    folder = place.root / ".lifecycle"
    folder.mkdir()
    if as_folder:
        (folder / name).mkdir()
    else:
        (folder / name).write_bytes(b"\x00garbage")
    done = [place.hook(hook, {}) for hook in HOOKS]
    for one in done:
        assert_harmless(one)
    is_held_up = as_folder and name in ("state.json", "lock")
    assert place.claim()["phase"] == ("ready_for_pr" if is_held_up else "checks_running")
    assert (f".lifecycle/{name}" if is_held_up else "Claim: issue #42") in done[-1].stdout


def test_a_folder_that_cannot_be_written_is_survived(place: Place) -> None:
    """A file where `.lifecycle/` should be: nothing can be kept, and nothing breaks."""
    place.ready()
    (place.root / ".lifecycle").write_text("not a folder")
    done = [place.hook(hook, {}) for hook in HOOKS]
    for one in done:
        assert_harmless(one)
    assert str(place.root / ".lifecycle") in done[-1].stdout
    assert (place.root / ".lifecycle").read_text() == "not a folder"
    (place.root / ".lifecycle").unlink()
    assert "PR #46 created" in place.hook("on-stop", {}).stdout


def test_no_token_is_said_once_and_keeps_the_claim(place: Place) -> None:
    """Without a token nothing is asked of GitHub; the person hears how to set one."""
    place.ready()
    place.environment.pop("GH_TOKEN")
    done = place.hook("on-stop", {})
    assert "GH_TOKEN" in json.loads(done.stdout)["systemMessage"]
    assert place.hook("on-stop", {}).stdout == ""
    assert place.claim()["phase"] == "ready_for_pr"
    assert place.requests() == []
    place.environment["GITHUB_TOKEN"] = place.info.token
    place.write(summary="Fix race condition again")
    assert "created" in place.hook("on-stop", {}).stdout


@SOAKED
def test_a_wrong_token_is_said_without_showing_it(place: Place) -> None:
    """401: said once; the token is in no output and no file."""
    place.ready()
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    done = place.hook("on-stop", {}, GH_TOKEN=secret)
    assert done.returncode == 0
    assert "GH_TOKEN" in json.loads(done.stdout)["systemMessage"]
    written = [p.read_bytes() for p in (place.root / ".lifecycle").iterdir() if p.is_file()]
    assert not any(secret.encode() in content for content in [done.stdout.encode(), *written])


def waits(done: subprocess.CompletedProcess[str]) -> bool:
    """True if the person alone is told that the pull request is not open yet."""
    reply = json.loads(done.stdout)
    told = str(reply.pop("systemMessage"))
    return not reply and told.startswith(
        "The PR for #42 is not open yet; the next look tries again: "
    )


@SOAKED
def test_no_network_is_said_once_and_looked_at_again(place: Place) -> None:
    """A refused connection is Transient: one line for the person, the claim kept, the next look is due."""
    place.ready()
    nowhere = {"GITHUB_API_URL": "http://127.0.0.1:9", "GITHUB_GRAPHQL_URL": "http://127.0.0.1:9/"}
    done = place.hook("on-stop", {}, LIFECYCLE_REPOSITORY=place.info.repository, **nowhere)
    assert done.returncode == 0
    assert waits(done)
    assert (
        place.hook("on-stop", {}, LIFECYCLE_REPOSITORY=place.info.repository, **nowhere).stdout
        == ""
    )
    assert place.claim()["phase"] == "ready_for_pr"
    assert (place.root / ".lifecycle/due").exists()
    assert "look:" in (place.root / ".lifecycle/log").read_text()


@SOAKED
@pytest.mark.parametrize("kind", ["hang", "trickle"])
@pytest.mark.parametrize("operation", ["ObserveClaim", "OpenPullRequest"])
def test_a_server_that_never_ends_its_answer_does_not_hold_the_hook(
    place: Place, kind: Any, operation: str
) -> None:
    """One wall-clock deadline, whatever trickles in; what was unfinished is due again."""
    place.ready()
    place.control.add_fault(Fault(kind, operation=operation, when="before"))
    done = place.hook("on-stop", {}, LIFECYCLE_HOOK_SECONDS="2.5")
    assert (done.returncode, done.stderr) == (0, "")
    assert not done.stdout or waits(done)  # nothing if the time was up before the request
    assert place.claim()["phase"] == "ready_for_pr"
    assert (place.root / ".lifecycle/due").exists()
    place.control.clear_faults()
    place.write(summary="Fix race condition, again")
    assert "created" in place.hook("on-stop", {}).stdout
    assert len(place.pulls()) == 1


def test_a_hanging_board_does_not_lose_the_message_about_the_pull_request(place: Place) -> None:
    """Fault 7 with a deadline: the PR is made and said, though the board never answers.

    The alarm that the deadline sets comes when the board has been asked, however long that took.
    """
    place.ready()
    place.control.set_field(42, "Status", None)  # so the card is written alone
    place.control.add_fault(Fault("hang", operation="SetBoardFields"))
    hook = subprocess.Popen(
        [str(hook_script("on-stop"))],
        cwd=place.root,
        env=place.environment | {"LIFECYCLE_BIN": str(STARTED), "LIFECYCLE_HOOK_SECONDS": "90"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with hook:
        assert hook.stdin
        hook.stdin.write(b"{}")
        hook.stdin.close()
        hook.stdin = None
        asked = 1
        while place.control.wait_for_requests(asked, seconds=90)[-1].operation != "SetBoardFields":
            asked += 1
        hook.send_signal(signal.SIGALRM)
        said, _ = hook.communicate(timeout=90)
    assert hook.returncode == 0
    assert f"PR #{place.pull()} created" in said.decode()
    assert place.claim()["phase"] == "pr_created"


def test_a_missing_command_lets_the_agent_go_on(place: Place) -> None:
    """With lifecycle installed nowhere, each hook script exits 0 and prints nothing."""
    place.ready()
    for hook in HOOKS:
        done = place.hook(hook, {}, LIFECYCLE_BIN="/nowhere/lifecycle", PATH="/usr/bin:/bin")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "PR #46 created" in place.hook("on-stop", {}).stdout


@pytest.mark.parametrize(
    ("form", "folder"),
    [
        ("#!{} -I\n", "gone"),
        soaked("#!/bin/sh\n'''exec' {} \"$0\" \"$@\"\n' '''\n", "long"),
        soaked("#!/bin/sh\n'''exec' \"{}\" \"$0\" \"$@\"\n' '''\n", "with a space"),
        ("#!/bin/sh\n'''exec' '{}' \"$0\" \"$@\"\n' '''\n", "by uv"),
    ],
)
def test_a_command_whose_python_is_gone_is_told_at_a_start(
    place: Place, tmp_path: Path, form: str, folder: str
) -> None:
    """As after an upgrade, or where its environment was moved: no hook fails, and the person hears why.

    pip and uv have a shell start a Python whose path has a space or is long.
    """
    place.ready()
    command, python = tmp_path / "lifecycle", tmp_path / folder / "bin/python"
    command.write_text(form.format(python))
    command.chmod(0o755)
    broken = {"LIFECYCLE_BIN": str(command), "CLAUDE_PLUGIN_ROOT": str(tmp_path)}
    for hook in (*HOOKS, "ci-waiter", "user-prompt-submit"):
        done = place.hook(hook, {}, **broken)
        assert (done.returncode, done.stderr) == (0, "")
        if hook != "session-start":
            assert done.stdout == ""
            continue
        told = json.loads(done.stdout)["systemMessage"]
        assert f"cannot start, since {python} is gone" in told
        assert "pipx install --force ." in told
    assert "PR #46 created" in place.hook("on-stop", {}).stdout


@SOAKED
@pytest.mark.parametrize("shell", ["sh", "dash", "bash"])
@pytest.mark.parametrize("hook", HOOKS)
def test_the_guard_survives_a_folder_it_cannot_write(place: Place, shell: str, hook: str) -> None:
    """A redirection that fails would end dash with exit 2, which blocks the agent: the command starts."""
    if not any(Path(folder, shell).exists() for folder in os.environ["PATH"].split(":")):
        pytest.skip(f"{shell} is not installed")
    place.ready(phase="coding", status="In Progress", last_synced_status="In Progress")
    place.hook("on-stop", {})
    here = place.root / ".lifecycle"
    claim = place.root / ".agent-claim.json"
    for mark in ("due", "idle-due"):
        (here / mark).write_text("")
    (here / "stamp").write_text("")
    os.utime(here / "stamp", ns=(claim.stat().st_mtime_ns, claim.stat().st_mtime_ns))
    (here / "now").mkdir()
    said = place.root.parent / "said"
    said.write_text('#!/bin/sh\necho "$*"\n')
    said.chmod(0o755)
    done = place.run(shell, str(hook_script(hook)), stdin=b"{}", LIFECYCLE_BIN=str(said))
    assert (done.returncode, done.stdout, done.stderr) == (0, f"hook {hook}\n", "")
    done = place.run(shell, str(hook_script(hook)), stdin=b"{}")
    assert_harmless(done)
    assert done.stderr == ""


def test_no_remote_is_a_sentence_and_not_exit_2(place: Place) -> None:
    """Fault 8: a repository without origin blocked the agent; here it is told once."""
    place.ready()
    place.git("remote", "remove", "origin")
    done = place.hook("on-stop", {})
    assert done.returncode == 0
    assert 'no remote called "origin"' in json.loads(done.stdout)["systemMessage"]


@SOAKED
def test_another_events_input_does_nothing(place: Place) -> None:
    """A subagent's stop is not the agent's stop."""
    place.ready()
    done = place.hook("on-stop", {"hook_event_name": "SubagentStop", "agent_type": ""})
    assert (done.returncode, done.stdout) == (0, "")
    assert place.requests() == []
    done = place.hook("on-stop", {"hook_event_name": "Stop"})
    assert "PR #46 created" in done.stdout


@SOAKED
def test_closed_stdout_does_not_fail_the_hook(place: Place) -> None:
    """Nobody reads the reply: exit 0 all the same, and the work is done."""
    place.ready()
    command = f'"{hook_script("on-stop")}" >&-'
    done = place.run("sh", "-c", command, stdin=b"{}", LIFECYCLE_BIN=str(STARTED))
    assert done.returncode == 0
    assert place.claim()["branch"] == BRANCH
    assert place.claim()["phase"] == "pr_created"
