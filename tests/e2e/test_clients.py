"""Which client runs a hook: Claude Code with somebody in front of it or nobody, or anybody else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from select import select

import pytest

from lifecycle.core.plan import REPLIES
from lifecycle.sandbox.checks.state import PlannedCheck
from lifecycle.settings.resources import hook_script
from tests.conftest import STARTED, Place
from tests.e2e.client import SECONDS, Session, ended, heard
from tests.factories import client
from tests.repeated import soaked

SOAKED = pytest.mark.soak(
    "e2e/test_clients.py::test_sh_and_python_know_the_client_alike",
    "hooks/test_client_contract.py::test_every_row_keeps_the_clients_contract",
)

ONE = "11111111-aaaa-4bbb-8ccc-000000000001"

NESTED = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
"""Another client that the agent started from its shell: it has inherited all that Claude Code sets."""

SH = """. "$HOOKS/common"
if ! served; then echo OTHER; elif attended; then echo ATTENDED; else echo UNATTENDED; fi
"""
PYTHON = """
import os
from lifecycle.settings.running_client import client_of
print(client_of(os.environ).name)
"""


pytestmark = pytest.mark.started
"""Whose child a hook is is what these tests are about."""


@pytest.fixture
def session(place: Place) -> Session:
    """A session with a hand-off in the claim, in a project that polls fast."""
    (place.root / ".lifecycle.toml").write_text("[checks]\npoll_seconds = 0.05\n")
    place.ready()
    return Session(place, ONE)


def marks(place: Place) -> dict[str, str]:
    """What hooks write down of sessions and people."""
    names = ("owner", "seen", "ended", "prompts", "answered", "waiter")
    found = {name: place.root / ".lifecycle" / name for name in names}
    return {name: path.read_text() for name, path in found.items() if path.exists()}


OLDER = {"CLAUDE_CODE_SESSION_ATTENDED": ""}
JOB = {"CLAUDE_JOB_DIR": "/home/me/.claude/jobs/11111111"}


@pytest.mark.parametrize(
    ("seen", "is_claude", "expected"),
    [
        (client(), True, "ATTENDED"),
        (client(attended=False), True, "UNATTENDED"),
        ({**client(), "CLAUDE_CODE_ENTRYPOINT": "claude-vscode"}, True, "ATTENDED"),
        ({**client(attended=False), "CLAUDE_CODE_ENTRYPOINT": "claude-vscode"}, True, "UNATTENDED"),
        ({**client(), "CLAUDE_CODE_ENTRYPOINT": "sdk-py"}, True, "ATTENDED"),
        ({**client(), **OLDER}, True, "ATTENDED"),
        ({**client(), **OLDER, "CLAUDE_CODE_ENTRYPOINT": "claude-desktop"}, True, "ATTENDED"),
        ({**client(attended=False), **OLDER}, True, "UNATTENDED"),
        ({**client(), **OLDER, "CLAUDE_CODE_ENTRYPOINT": ""}, True, "UNATTENDED"),
        ({**client(attended=False), **JOB, "CLAUDE_CODE_SESSION_ID": ONE}, True, "ATTENDED"),
        (
            {**client(attended=False), **JOB, "CLAUDE_CODE_SESSION_ID": f"2{ONE}"},
            True,
            "UNATTENDED",
        ),
        ({**client(attended=False), "CLAUDE_CODE_SESSION_ID": ONE}, True, "UNATTENDED"),
        ({**client(), "CLAUDE_PID": ""}, True, "OTHER"),
        ({**client(), "CLAUDECODE": ""}, True, "OTHER"),
        (client(process=1), True, "OTHER"),
        (client(), False, "OTHER"),
        ({}, True, "OTHER"),
    ],
)
def test_sh_and_python_know_the_client_alike(
    tmp_path: Path, seen: dict[str, str], is_claude: bool, expected: str
) -> None:
    """By what the client names and by whose child the hook is; an older client by how it was started.

    To a session in the background (`claude --bg`) a person comes: its id begins with its job's.
    """
    script = tmp_path / "hook"
    script.write_text(SH)
    hooks = str(hook_script("on-stop").parent)
    environment = {"PATH": os.environ["PATH"], "HOOKS": hooks, **seen}
    ways = [["sh", str(script)], ["bash", str(script)], [sys.executable, "-c", PYTHON]]
    if sys.platform == "linux":  # elsewhere a shell that stays between is seen by nobody
        ways += [["sh", "-c", '"$@"; :', "sh", *way] for way in ways]
    for way in ways:
        started = way if is_claude else [sys.executable, "-c", NESTED, *way]
        done = subprocess.run(
            started, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        assert (done.stdout.strip(), done.stderr) == (expected, ""), way


@SOAKED
@pytest.mark.parametrize(
    ("who", "way"),
    [
        ("nested", "command"),
        ("cleared", "script"),
        soaked("nested", "script"),
        soaked("cleared", "command"),
    ],
)
def test_another_client_waits_claims_and_blocks_nowhere(
    session: Session, who: str, way: str
) -> None:
    """Neither one that sets nothing, nor one that the agent started, which inherits session and process."""
    place = session.place
    session.prompt()
    session.on_stop()
    place.control.merge_pull(46)
    place.cli("tick")  # a person's: the question is left for the agent
    before, state = marks(place), place.root / ".lifecycle/state.json"
    queue = json.loads(state.read_text())["queue"]
    assert queue
    environment = session.variables()
    if who == "cleared":
        environment = {k: v for k, v in environment.items() if not k.startswith("CLAUDE")}
    for hook in REPLIES:
        run = [str(hook_script(hook))] if way == "script" else [str(STARTED), "hook", hook]
        done = subprocess.run(
            [sys.executable, "-c", NESTED, *run],
            cwd=place.root,
            env=environment,
            input=session.payload("", source="clear", prompt="yes"),
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), hook
    assert marks(place) == before
    after = json.loads(state.read_text())
    assert (after["record"]["ownership"]["session"], after["queue"]) == (ONE, queue)
    assert "Should I close issue #42?" in session.prompt("anything new?").model


@SOAKED
def test_a_person_who_runs_on_stop_by_hand_sees_what_it_did(place: Place) -> None:
    """It opens the PR and says so, and makes no turn go on, since nobody knows of a turn."""
    place.ready()
    names = dict.fromkeys(client(), "")
    done = place.run(str(hook_script("on-stop")), stdin=b"{}", **names)
    reply = json.loads(done.stdout)
    assert list(reply) == ["systemMessage"]
    assert "PR #46 created" in reply["systemMessage"]
    assert place.run(str(hook_script("on-stop")), stdin=b"{}", **names).stdout == ""


@SOAKED
def test_what_a_session_is_to_hear_is_left_to_it_by_another_client(session: Session) -> None:
    """The other client's stop opens the PR; that it is there is said to the session that handed off."""
    place = session.place
    session.start()
    names = dict.fromkeys(client(), "")
    assert place.run(str(hook_script("on-stop")), stdin=b"{}", **names).stdout == ""
    assert place.pull() == 46
    assert "PR #46 created" in session.on_stop().model


@pytest.fixture
def alone(session: Session) -> Session:
    """The same session in front of which nobody sits: `claude -p`."""
    return Session(session.place, ONE, client(attended=False))


def test_where_nobody_attends_no_waiter_is_started(alone: Session) -> None:
    """The client would not return until it ends: the script never reaches the command."""
    alone.on_stop()
    spy = alone.place.root.parent / "spy"
    spy.write_text("#!/bin/sh\nexit 9\n")
    spy.chmod(0o755)
    attended = Session(alone.place, ONE, {"LIFECYCLE_BIN": str(spy)})
    assert heard(attended.waiter()).code == 9
    alone.environment["LIFECYCLE_BIN"] = str(spy)
    assert heard(alone.waiter()).code == 0
    alone.environment["LIFECYCLE_BIN"] = str(STARTED)
    environment = alone.variables()
    done = subprocess.run(
        [str(STARTED), "hook", "ci-waiter"], env=environment, timeout=SECONDS, check=False
    )
    assert done.returncode == 0  # the command by itself knows it as well


@SOAKED
def test_where_nobody_attends_the_stop_says_the_news(alone: Session) -> None:
    """CI that failed, and the question after the merge: each once, and the turn goes on for it."""
    place = alone.place
    alone.start()
    alone.prompt("hand it off")
    place.control.plan_checks(PlannedCheck(name="test", conclusion="failure"))
    assert "PR #46 created" in alone.on_stop().model
    red = alone.on_stop()
    assert not red.woke
    assert "1 FAILED — test on PR #46" in red.model
    assert red.model.endswith("\nTo see what the logs say, run: lifecycle feedback 46")
    assert alone.on_stop().is_silent
    place.control.merge_pull(46)
    assert "Should I close issue #42?" in alone.on_stop().model
    assert alone.on_stop().is_silent
    place.write(phase="done")
    assert "was not closed" in alone.on_stop().model  # nobody has answered
    assert alone.prompt("yes").is_silent
    place.write(phase="done")
    assert alone.on_stop().person.startswith("Issue #42 closed.")


@SOAKED
def test_a_bounded_wait_ends_when_its_time_is_up(alone: Session) -> None:
    """`wait.unattended`: the client waits so long, and returns; news within that time makes a turn."""
    place = alone.place
    settings = place.root / ".lifecycle.toml"
    settings.write_text('wait.unattended = "1s"\n[checks]\npoll_seconds = 0.05\n')
    alone.on_stop()
    place.clear()
    waiter = alone.waiter()
    with ended(waiter):
        assert heard(waiter).is_silent
    assert place.requests()  # it has looked
    settings.write_text('wait.unattended = "2h"\n[checks]\npoll_seconds = 0.05\n')
    place.clear()
    waiter = alone.waiter()
    with ended(waiter):
        place.control.wait_for_requests(2, seconds=SECONDS)
        place.control.merge_pull(46)
        assert heard(waiter).woke


CLIENT = """import os, subprocess, sys
os.environ["CLAUDE_PID"] = str(os.getpid())
subprocess.Popen(sys.argv[2:], pass_fds=[int(sys.argv[1])], stdin=subprocess.DEVNULL)
sys.stdin.read()
"""
"""A client that starts a hook and lives until it is killed."""


@SOAKED
@pytest.mark.parametrize("through", [[], ["sh", "-c", '"$@"; :', "sh"]])
def test_a_waiter_whose_client_was_killed_ends(session: Session, through: list[str]) -> None:
    """Its parent is another process by then, and its pipes, which others hold as well, tell nothing."""
    if through and sys.platform != "linux":
        pytest.skip("a shell that stays between client and hook is seen on Linux only")
    place = session.place
    session.prompt()
    session.on_stop()
    place.clear()
    lives, held = os.pipe()
    with (place.root.parent / "output").open("wb") as output:
        started = subprocess.Popen(
            [sys.executable, "-c", CLIENT, str(held), *through, str(hook_script("ci-waiter"))],
            cwd=place.root,
            env=session.variables(),
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            pass_fds=[held],
        )
    os.close(held)
    try:
        place.control.wait_for_requests(2, seconds=SECONDS)
        started.send_signal(signal.SIGKILL)
        assert select([lives], [], [], SECONDS)[0]
        assert os.read(lives, 1) == b""  # nobody has the other end any more: the waiter ended
    finally:
        started.kill()
        started.communicate()
        os.close(lives)
    assert not (place.root / ".lifecycle/waiter").exists()
