"""The rim of the command line: every failure has a face; the sandbox, the demo, the hooks."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lifecycle.cli.demo import sandbox
from lifecycle.core.plan import REPLIES
from tests.cli.outcome import refused
from tests.conftest import COMMAND, STARTED, Place

SOAKED = pytest.mark.soak(
    "cli/test_rim.py::test_every_failure_has_a_face",
    "core/test_retry.py::test_what_passes_is_asked_again_until_it_answers",
)


@pytest.mark.parametrize(
    "arguments",
    [
        ["claim", "42"],
        ["tick"],
        ["close"],
        ["nudge", "done", "--force", "--reason", "x"],
        ["status"],
    ],
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


def test_a_word_behind_two_dashes_asks_for_no_json(place: Place) -> None:
    """It is the check's; and a command of several lines is told for what it is."""
    (place.root / ".lifecycle.toml").write_text('[checks.commands]\ntest = """make\nmake test"""\n')
    said = refused(place.cli("check", "test", "--", "--json"))
    assert "it needs a shell (several commands in one text)" in said


def test_no_token_is_exit_1_with_the_way_to_set_one(place: Place) -> None:
    """The sentence names both variables and a command."""
    place.environment.pop("GH_TOKEN")
    assert "export GH_TOKEN=" in refused(place.cli("claim", "42"))


@SOAKED
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


@SOAKED
@pytest.mark.parametrize("arguments", [["tick", "--nope"], ["nudge", "nowhere"], ["frobnicate"]])
def test_a_usage_error_is_json_where_that_is_asked(place: Place, arguments: list[str]) -> None:
    """Exit 2, and one object as for every other error; nothing beside it."""
    done = place.cli(*arguments, "--json")
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert error["kind"] == "UsageError"
    assert error["sentence"]
    assert done.stderr == ""


def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    """A worktree that somebody removed below a shell that is in it."""
    line = f"rmdir {tmp_path} && exec {STARTED} status"
    done = subprocess.run(
        ["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "The current folder no longer exists" in refused(done)


@pytest.mark.parametrize("named", ["", f"CLAUDE_PROJECT_DIR=/{'x' * 300} "])
@pytest.mark.parametrize("hook", ["on-stop", "session-start", "ci-waiter", "session-end"])
def test_a_hook_in_a_folder_that_is_gone_fails_nothing(
    tmp_path: Path, hook: str, named: str
) -> None:
    """Set up without its script, in a client that names no folder of its project: exit 0, and no word.

    Nor does one fail in a folder that the system refuses to look into, here for its name.
    """
    line = f"rmdir {tmp_path} && {named}exec {STARTED} hook {hook}"
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=tmp_path,
        env={name: os.environ[name] for name in os.environ if not name.startswith("CLAUDE")},
        input="{}",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_failure_of_git_is_noticed_whatever_starts_us_ignores(place: Place) -> None:
    """A supervisor may ignore how its children end, and hands that on: each of ours would end with 0.

    Source: https://docs.python.org/3/library/subprocess.html#subprocess.Popen.returncode and
    https://man7.org/linux/man-pages/man7/signal.7.html (an ignored signal stays ignored across execve)
    """
    place.ready(phase="coding")
    place.work(push=False)
    hook = place.root / ".git/hooks/pre-push"
    hook.write_text("#!/bin/sh\necho 'tests are red' >&2; exit 1\n")
    hook.chmod(0o755)
    ignoring = (
        "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN);"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    words = (str(STARTED), "handoff", "--summary", "Fix")
    assert "tests are red" in refused(place.run(sys.executable, "-c", ignoring, *words))


@SOAKED
@pytest.mark.parametrize("is_unbuffered", ["", "1"])
def test_an_output_that_is_full_or_closed_is_no_defect(place: Place, is_unbuffered: str) -> None:
    """Full: named, exit 1. Closed before we began: the command works and says nothing."""
    place.environment["PYTHONUNBUFFERED"] = is_unbuffered
    for arguments in ("status", "status --json", "--help"):
        line = f"exec {STARTED} {arguments}"
        full = place.run("sh", "-c", f"{line} >/dev/full")
        assert "standard output: No space left on device" in refused(full)
        closed = place.run("sh", "-c", f"{line} >&-")
        assert (closed.returncode, closed.stderr) == (0, "")
    doctor = place.run("sh", "-c", f"exec {STARTED} doctor >&-")
    assert doctor.returncode in (0, 1)  # as what it found demands
    assert doctor.stderr == ""
    nowhere = f"cd / && exec {STARTED} status --json"
    for output in (">/dev/full", ">&-"):
        done = place.run("sh", "-c", f"{nowhere} {output}")
        assert "in no git worktree" in refused(done)


@SOAKED
@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("click", ["stats"]),
        ("lifecycle.cli.main", ["stats"]),
        ("lifecycle.cli.views.quick_status", ["status"]),
        ("lifecycle.hooks.wake", ["hook", "on-stop"]),
    ],
)
def test_an_interrupt_in_the_middle_of_an_import_is_a_sentence(
    place: Place, module: str, arguments: list[str]
) -> None:
    """Ctrl-C before there is anybody to answer it: exit 130, no traceback."""
    program = f"""
import sys

class Interrupts:
    def find_spec(self, name, *_):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupts())
from lifecycle.__main__ import main
sys.exit(main())
"""
    done = place.run(sys.executable, "-c", program, *arguments)
    assert "Interrupted" in refused(done, 130)


@pytest.mark.parametrize(
    ("arguments", "is_taken_apart"),
    [
        (["hook", "on-stop"], False),
        (["hook", "session-start"], False),
        (["hook", "post-tool-use"], False),
        (["hook", "on-idle"], False),
        (["hook", "--help"], True),
        (["status"], True),
    ],
)
def test_a_hooks_process_ends_where_it_is(
    place: Place, tmp_path: Path, arguments: list[str], *, is_taken_apart: bool
) -> None:
    """Its modules are not taken apart, which takes longer than much of what it does; a command's are."""
    program = tmp_path / "sitecustomize.py"
    program.write_text("import atexit, os\natexit.register(os.write, 2, b'taken apart\\n')\n")
    place.ready()
    environment = {"PYTHONPATH": str(tmp_path), "LIFECYCLE_BIN": str(STARTED)}
    done = place.run(str(STARTED), *arguments, stdin=b"{}", **environment)
    assert done.returncode == (2 if "on-idle" in arguments else 0), done.stderr  # news wakes
    assert ("taken apart" in done.stderr) == is_taken_apart


def test_a_defect_is_exit_3_with_the_log_and_no_traceback(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What nobody foresaw is one sentence with the log's path; the trace is in the log, its error first."""
    from lifecycle.claim.engine import look
    from lifecycle.cli.main import run

    def broken(*_: object, depth: int = 20, **__: object) -> None:
        if not depth:
            raise ZeroDivisionError("nobody foresaw this")
        deeper(depth - 1)

    def deeper(depth: int) -> None:
        broken(depth=depth)

    place.ready()
    (place.root / ".lifecycle").mkdir()
    monkeypatch.chdir(place.root)
    monkeypatch.setattr(look, "tick", broken)
    assert run(["tick"]) == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert ".lifecycle/log" in printed.err
    (line,) = (place.root / ".lifecycle/log").read_text().splitlines()
    assert " ZeroDivisionError: nobody foresaw this | File " in line


@SOAKED
def test_a_folder_in_place_of_a_file_is_a_sentence(place: Place) -> None:
    """What the disk refuses is named, with the file."""
    place.ready()
    (place.root / ".lifecycle/state.json").mkdir(parents=True)
    assert "state.json" in refused(place.cli("claim", "42"))


@SOAKED
def test_a_held_lock_is_a_sentence(place: Place) -> None:
    """Another process at work is waited for; this one holds the lock for good."""
    from lifecycle.storage.store import Folder

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
        [str(STARTED), "sandbox", "serve"], stdout=subprocess.PIPE, text=True
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


def test_sandbox_seed_errors_are_sentences(tmp_path: Path, command: Path) -> None:
    """A seed that is missing, broken or strange is refused by name."""
    seed = tmp_path / "seed.json"
    for content, named in (
        (None, str(seed)),
        ("{", "not valid YAML in line"),
        ('{"colour": 1}', "colour"),
    ):
        if content is not None:
            seed.write_text(content)
        done = subprocess.run(
            [str(command), "sandbox", "serve", "--seed", str(seed)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert named in refused(done)


@pytest.mark.parametrize(
    ("words", "named", "known"),
    [
        (("sandbox", "check", "46", "test"), "STATE", list(sandbox.STATES)),
        (("sandbox", "review", "46"), "VERDICT", list(sandbox.REVIEWS)),
        (("hook",), "NAME", list(REPLIES)),
    ],
)
def test_an_argument_is_called_as_in_the_readme(
    place: Place, words: tuple[str, ...], named: str, known: list[str]
) -> None:
    """A wrong value is told by the argument's name and the known ones; `--help` has all of them."""
    wrong = place.cli(*words, "nonsense").stderr
    assert f"Invalid value for '{named}': 'nonsense' is not one of" in wrong
    told = " ".join(place.cli(*words[:2], "--help").stdout.split())
    assert all(re.search(rf"\b{value}\b", told.replace("- ", "-")) for value in known), told


@SOAKED
def test_without_its_address_a_sandbox_command_names_the_variable(place: Place) -> None:
    """What people and CI do needs the sandbox's address: as an option, or in the variable."""
    said = place.cli("sandbox", "merge", "46", GITHUB_API_URL="").stderr
    assert "Missing option '--url' (env var: 'GITHUB_API_URL')" in said


def test_hook_path_says_where_the_script_lies() -> None:
    """What belongs into the client's settings, without looking for it."""
    done = subprocess.run(
        [str(COMMAND), "hook", "on-stop", "--path"], capture_output=True, text=True, check=True
    )
    path = Path(done.stdout.strip())
    assert path.name == "on-stop"
    assert path.read_text().startswith("#!/bin/sh")
    told = subprocess.run([*done.args, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(told.stdout) == {"path": str(path)}
    words = [str(COMMAND), "hook", "no-stop", "--json"]
    wrong = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (wrong.returncode, json.loads(wrong.stdout)["error"]["kind"]) == (1, "UsageError")


def test_a_misspelt_word_is_told_the_nearest(place: Place) -> None:
    """A command, an option and a key of the settings that are nearly right are named."""
    command = place.cli("cliam", "42")
    assert (command.returncode, command.stdout) == (2, "")
    assert "claim" in command.stderr.partition("Did you mean")[2]
    assert "--dry-run" in place.cli("tick", "--dry-rnu").stderr.partition("Did you mean")[2]
    (place.root / ".lifecycle.toml").write_text("[checks]\npoll_secnds = 1\n")
    assert 'Did you mean "checks.poll_seconds"?' in refused(place.cli("claim", "42"))
    assert place.requests() == []
    assert 'Did you mean "checks.poll_seconds"? Hinders:' in place.cli("doctor").stdout


@SOAKED
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes(place: Place, shell: str) -> None:
    """The script that the README installs is printed, and commands and options are completed."""
    done = place.cli(_LIFECYCLE_COMPLETE=f"{shell}_source")
    assert done.returncode == 0
    assert "_LIFECYCLE_COMPLETE" in done.stdout
    asked = {"COMP_WORDS": "lifecycle cl", "COMP_CWORD": "cl" if shell == "fish" else "1"}
    offered = place.cli(**asked, _LIFECYCLE_COMPLETE=f"{shell}_complete").stdout
    assert {"claim", "close"} <= set(re.findall(r"\w+", offered))
