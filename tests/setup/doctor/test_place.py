"""Versions, the command, the worktree, settings, sessions, the waiter: one defect, one finding."""

from __future__ import annotations

import json
import os
import re
import shlex
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from lifecycle.core.timing import SystemClock
from lifecycle.sandbox.control.faults import Fault
from lifecycle.settings.resources import install_line
from lifecycle.setup.doctor import examine_worktree
from lifecycle.setup.doctor.examined import Examined
from lifecycle.storage import signs_of_life
from lifecycle.storage.store import Folder
from tests.cli.outcome import ok, refused
from tests.conftest import STARTED, installed_plugin
from tests.setup.doctor.conftest import LOCAL, Patient

SOAKED = pytest.mark.soak(
    "setup/doctor/test_place.py::test_no_git",
    "setup/doctor/test_table.py::test_every_row_is_said_somewhere",
)


def _script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def _bin(patient: Patient) -> Path:
    return Path(patient.place.environment["XDG_CONFIG_HOME"]) / "lifecycle" / "bin"


@SOAKED
def test_an_old_git(patient: Patient, tmp_path: Path) -> None:
    """Too old for leases fails, and a vendor's suffix is no harm."""
    for version, level in (("2.28.0", "fail"), ("2.32.1 (Apple Git-133)", "ok")):
        real = ok(patient.place.run("sh", "-c", "command -v git")).strip()
        old = f'[ "$1" = --version ] && echo "git version {version}" && exit; exec {real} "$@"'
        git = _script(tmp_path / "old" / "git", old)
        path = f"{git.parent}:{patient.place.environment['PATH']}"
        finding = patient.findings(PATH=path)["versions.git"]
        assert finding["level"] == level
        assert version in finding["says"]


def test_no_git(patient: Patient, tmp_path: Path) -> None:
    """Without git that is the finding, and what needs no git is still looked at."""
    (tmp_path / "empty").mkdir()
    patient.place.environment["PATH"] = str(tmp_path / "empty")
    patient.only("versions.git", "fail")
    assert "token.scopes" in patient.findings()


def test_a_repository_of_another_user_of_the_machine(patient: Patient, tmp_path: Path) -> None:
    """git refuses to work there: the doctor, init and claim name git's own command, which heals it."""
    strange = {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    patient.place.environment["GIT_CONFIG_GLOBAL"] = str(tmp_path / "gitconfig")
    trust = f"git config --global --add safe.directory {patient.root}"
    assert patient.findings(**strange)["worktree.git"]["fix"] == trust
    for command in ("init", "claim 42"):
        assert trust in refused(patient.place.cli(*command.split(), **strange))
    ok(patient.place.run("sh", "-c", trust))
    assert "worktree.git" not in patient.findings(**strange)


@SOAKED
def test_a_plugin_of_another_version(patient: Patient, tmp_path: Path) -> None:
    """One hook or page that differs is enough, wherever it is known from where the plugin lies."""
    plugin = installed_plugin(tmp_path / "plugin")
    page = plugin / "skills/lifecycle/SKILL.md"
    current = page.read_bytes()
    page.write_text("of yesterday")
    finding = patient.only("versions.plugin", "warn", CLAUDE_PLUGIN_ROOT=str(plugin))
    assert finding["says"].endswith(install_line("install", shlex.quote(str(plugin))))
    assert finding["fix"].endswith(" && claude plugin update lifecycle@lifecycle")
    data = {**patient.settings(), "enabledPlugins": {"lifecycle@here": True}}
    patient.write_settings(data)
    assert patient.findings()["versions.plugin"]["level"] == "ok"
    listed = patient.home / ".claude" / "plugins" / "installed_plugins.json"
    entry = {"scope": "user", "installPath": str(plugin), "version": "db3b1513be70"}
    patient.write_settings({"version": 2, "plugins": {"lifecycle@here": [{}, entry]}}, listed)
    listing = patient.only("versions.plugin", "warn")
    assert listing["fix"].startswith("claude plugin marketplace update here && ")
    page.write_bytes(current)
    assert patient.findings()["versions.plugin"]["level"] == "ok"
    listed.write_text("[")
    assert patient.findings()["versions.plugin"]["level"] == "ok"


@SOAKED
def test_a_variable_that_leads_nowhere(patient: Patient) -> None:
    """The hooks obey LIFECYCLE_BIN and end in silence, whatever else could be found."""
    finding = patient.only("command.found", "fail", LIFECYCLE_BIN="/nowhere/lifecycle")
    assert finding["fix"] == "unset LIFECYCLE_BIN"
    assert "opening the PR" in finding["hinders"]


@SOAKED
def test_a_command_that_does_not_run(patient: Patient, tmp_path: Path) -> None:
    """A recorded command that starts and says nothing is found out; so is one of another version."""
    patient.unset("LIFECYCLE_BIN")
    broken = _script(tmp_path / "broken" / "lifecycle", "exit 127")
    _bin(patient).write_text(f"{broken}\n")
    finding = patient.only("command.found", "fail")
    assert str(broken) in finding["says"]
    _script(broken, "echo lifecycle, version 0.0.9")
    finding = patient.only("command.found", "warn")
    assert "0.0.9" in finding["says"]
    ok(patient.place.run("sh", "-c", finding["fix"].replace("~", str(patient.home))))
    assert _bin(patient).read_text() == f"{STARTED}\n"
    assert patient.wrong() == []


@SOAKED
def test_where_the_command_is_gets_recorded_once(patient: Patient) -> None:
    """Without a record the hooks would need a PATH: it is written, said, and not said again."""
    _bin(patient).unlink()
    found = patient.findings()
    assert found["command.recorded"]["level"] == "ok"
    assert _bin(patient).read_text() == f"{STARTED}\n"
    assert "command.recorded" not in patient.findings()


@SOAKED
def test_a_folder_that_cannot_hold_the_record(patient: Patient) -> None:
    """That nothing could be recorded is a remark, and the command is found by the variable."""
    folder = _bin(patient).parent
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    folder.write_text("in the way")
    patient.only("command.recorded", "warn")


@SOAKED
def test_no_remote(patient: Patient) -> None:
    """The missing remote is the finding, and the fix, with the real name, mends it."""
    url = patient.place.git("remote", "get-url", "origin")
    patient.place.git("remote", "remove", "origin")
    finding = patient.only("worktree.remote", "fail")
    assert "opening the PR" in finding["hinders"]
    name = patient.place.info.repository
    assert finding["fix"].endswith("/OWNER/NAME.git")
    ok(patient.place.run("sh", "-c", finding["fix"].replace("OWNER/NAME", name)))
    patient.place.git("remote", "set-url", "origin", url)  # with the credentials that it had
    patient.place.git("fetch", "--quiet")
    assert patient.wrong() == []


@SOAKED
def test_a_remote_of_another_name(patient: Patient) -> None:
    """The remote that is there is proposed."""
    patient.place.git("remote", "rename", "origin", "upstream")
    fix = patient.only("worktree.remote", "fail")["fix"]
    assert 'remote = "upstream"' in fix
    assert "git remote add origin" in fix, "there is no origin whose URL could be set"


@SOAKED
@pytest.mark.parametrize(
    ("host", "may_be_github"), [("git.example.org", True), ("gitlab.com", False)]
)
def test_a_remote_on_another_host(patient: Patient, host: str, *, may_be_github: bool) -> None:
    """The host is named, and the fix: it is a GitHub of its own if it can be, or the remote is wrong."""
    patient.place.git("remote", "set-url", "origin", f"https://{host}/octo-org/hello-service.git")
    finding = patient.only("worktree.remote", "fail")
    assert host in finding["says"]
    # The setting that names this GitHub comes before what gh is logged in at.
    assert (f"if {host} is meant: unset GITHUB_API_URL" in finding["fix"]) == may_be_github
    assert "git remote set-url origin" in finding["fix"]


def test_a_claim_that_git_tracks(patient: Patient) -> None:
    """It is nobody's claim; the fix takes it out of git, and what is left is ignored."""
    ok(patient.place.cli("claim", "42"))
    patient.place.git("add", "--force", ".agent-claim.json")
    finding = patient.only("worktree.tracked", "fail")
    assert ".agent-claim.json is tracked" in finding["says"]
    ok(patient.place.run("sh", "-c", finding["fix"]))
    assert patient.wrong() == []


def test_an_index_that_git_cannot_read(patient: Patient) -> None:
    """What git does not say is told, in whole sentences."""
    (patient.root / ".git" / "index").write_bytes(b"xx")
    says = [one["says"] for one in patient.wrong() if one["name"] == "worktree.tracked"]
    assert len(says) == 1
    assert says[0].endswith("nothing is done for it. Fix that first.")


def test_a_claim_that_git_would_take(patient: Patient) -> None:
    """A claim that is not ignored is a remark; the fix has git ignore it."""
    ok(patient.place.cli("claim", "42"))
    (patient.root / ".git" / "info" / "exclude").write_text("")
    finding = patient.only("worktree.tracked", "warn")
    ok(patient.place.run("sh", "-c", finding["fix"]))
    assert patient.wrong() == []


@SOAKED
def test_a_claim_that_cannot_be_acted_on(patient: Patient) -> None:
    """No JSON, an unknown version, no phase, no branch: each is named with what mends it."""
    ok(patient.place.cli("claim", "42"))
    path = patient.root / ".agent-claim.json"
    good = path.read_text()
    path.write_text("{")
    assert patient.only("worktree.claim", "fail")["fix"] == "lifecycle tick"
    path.write_text(json.dumps({**json.loads(good), "schema_version": 99}))
    assert "99" in patient.only("worktree.claim", "fail")["says"]
    path.write_text(json.dumps({**json.loads(good), "phase": "bogus"}))
    finding = patient.only("worktree.claim", "fail")
    assert '"bogus"' in finding["says"]
    ok(patient.place.run("sh", "-c", finding["fix"]))
    assert patient.wrong() == []
    path.write_text(json.dumps({**json.loads(good), "branch": "gone"}))
    finding = patient.only("worktree.claim", "fail")
    assert finding["hinders"] == ["handing off", "opening the PR"]
    ok(patient.place.run("sh", "-c", finding["fix"]))
    assert patient.wrong() == []


def test_a_claim_of_which_a_step_was_refused(patient: Patient) -> None:
    """What no look without a write shows is what the claim remembers: the doctor says it, too."""
    place = patient.place
    ok(place.cli("claim", "42"))
    place.work(place.claim()["branch"])
    place.control.add_fault(Fault("status", path="/pulls$", method="POST", status=403, count=9))
    place.control.add_fault(Fault("status", operation="OpenPullRequest", status=403, count=9))
    ok(place.cli("handoff", "--summary", "Fix"))
    assert place.cli("tick").returncode == 1
    finding = patient.findings()["worktree.claim"]
    assert finding["level"] == "warn"
    assert "opening the PR" in finding["hinders"]
    assert "is claimed here, in phase ready_for_pr. The PR was not opened" in finding["says"]


@SOAKED
def test_a_state_that_cannot_be_read(patient: Patient) -> None:
    """It hinders the claim until the next look begins anew, and the fix is that look."""
    ok(patient.place.cli("claim", "42"))
    (patient.root / ".lifecycle" / "state.json").write_text("{")
    finding = patient.only("worktree.claim", "fail")
    assert "state.json cannot be read" in finding["says"]
    ok(patient.place.run("sh", "-c", finding["fix"]))
    assert patient.wrong() == []


@SOAKED
def test_something_in_the_way_of_our_folder(patient: Patient) -> None:
    """A file called .lifecycle keeps everything from being remembered; the fix moves it away."""
    (patient.root / ".lifecycle").write_text("")
    finding = patient.only("worktree.files", "fail")
    ok(patient.place.run("sh", "-c", finding["fix"]))
    assert patient.wrong() == []


@pytest.mark.parametrize(
    ("blocks", "free", "found"), [(10, 0, ["worktree.files"]), (10, 1, []), (0, 0, [])]
)
def test_a_full_disk_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blocks: int, free: int, found: list[str]
) -> None:
    """No block is left for this user; a file system that counts none at all says nothing by that."""
    room = SimpleNamespace(f_blocks=blocks, f_bavail=free)
    monkeypatch.setattr("os.statvfs", lambda _: room)
    case = Examined(tmp_path, {}, SystemClock())
    examine_worktree.writable(case)
    assert [finding.name for finding in case.findings] == found
    assert [f"df -h {tmp_path}"] * len(found) == [finding.fix for finding in case.findings]


def test_a_broken_config(patient: Patient) -> None:
    """The file, the line and nothing more: what needs no settings is looked at all the same."""
    (patient.root / ".lifecycle.toml").write_text("remote = ")
    finding = patient.only("settings.file", "fail")
    assert ".lifecycle.toml is not valid TOML" in finding["says"]
    found = patient.findings()
    assert {"token.scopes", "hooks.installed", "worktree.remote"} <= set(found)
    assert {"board", "tracker", "stages"}.isdisjoint(name.partition(".")[0] for name in found)


def test_a_projects_key_in_the_users_file(patient: Patient) -> None:
    """The file to correct is named first: the one that has the key, not the one that it belongs into."""
    (_bin(patient).parent / "config.toml").write_text('close = "auto"')
    says = patient.only("settings.file", "fail")["says"]
    assert says.partition(" names ")[0].endswith("/config.toml")


@SOAKED
def test_a_broken_config_of_the_user(patient: Patient) -> None:
    """Nobody knows then where a token may go, so none is sent anywhere, and that is said once."""
    (_bin(patient).parent / "config.toml").write_text("api_url = 1")
    patient.place.control.clear_requests()
    finding = patient.only("settings.file", "fail")
    assert "config.toml" in finding["says"]
    assert patient.place.control.requests() == ()


@SOAKED
def test_commands_that_nobody_allowed(patient: Patient) -> None:
    """A handoff would be refused; after `lifecycle trust` all is well."""
    (patient.root / ".lifecycle.toml").write_text('validate = ["make \\u001b[2Ktest"]')
    finding = patient.only("settings.trust", "fail")
    assert (finding["hinders"], finding["fix"]) == (["handing off"], "lifecycle trust")
    assert "`make \\x1b[2Ktest`" in finding["says"]
    ok(patient.place.cli("trust", "--yes"))
    assert patient.wrong() == []
    (_bin(patient).parent / "trust.json").write_text("{")
    assert "trust.json cannot be read" in patient.only("settings.trust", "fail")["says"]


@SOAKED
def test_a_repository_that_is_no_remote(patient: Patient) -> None:
    """A project's file may not name it: the line goes, or, if it is meant, the fix makes it a remote."""
    (patient.root / ".lifecycle.toml").write_text('repository = "other/place"')
    finding = patient.only("settings.repository", "fail")
    assert "other/place" in finding["says"]
    removal, _, remote = finding["fix"].partition(", or, if other/place is right: ")
    assert removal == "remove repository from .lifecycle.toml"
    assert remote.startswith("git remote add upstream")
    url = patient.place.git("remote", "get-url", "origin")
    patient.place.git("remote", "set-url", "origin", "https://gitlab.com/a/b.git")
    assert patient.only("settings.repository", "fail") == finding
    assert "worktree.remote" not in {one["name"] for one in patient.wrong()}, "told twice"
    patient.place.git("remote", "set-url", "origin", url)
    ok(patient.place.run("sh", "-c", remote))
    assert "settings.repository" not in {one["name"] for one in patient.wrong()}


@SOAKED
def test_a_cap_that_is_too_low(patient: Patient) -> None:
    """Whether the environment or a settings file sets it, it is found, and where."""
    cap = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
    assert "environment" in patient.only("session.cap", "warn", **{cap: "2"})["says"]
    assert patient.wrong(**{cap: "50"}) == []
    patient.write_settings({**patient.settings(), "env": {cap: 3}})
    assert LOCAL in patient.only("session.cap", "warn", **{cap: "50"})["says"]


@SOAKED
def test_the_waiter_is_shown(patient: Patient) -> None:
    """With a PR, the list says whether somebody watches it."""
    patient.place.ready()
    patient.place.tree().tick()
    assert "No waiter" in patient.findings()["waiter.live"]["says"]
    signs_of_life.promise(Folder(patient.root), "session", time.time() + 600)
    assert "A waiter watches" in patient.findings()["waiter.live"]["says"]


@SOAKED
def test_the_last_failure_is_shown(patient: Patient) -> None:
    """A day old at most, without control characters, and not once something was done since."""
    ok(patient.place.cli("claim", "42"))
    path = patient.root / ".lifecycle" / "log"
    now, old = (
        time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time.time() - ago))
        for ago in (60, 90_000)
    )
    path.write_text(f"{now},001 77 look: GitHub\x1b gave no answer\n")
    says = patient.only("waiter.log", "warn")["says"]
    assert says.endswith("look: GitHub\\x1b gave no answer")
    path.write_text(f"{now},001 77 look: {'many words ' * 40}\n")
    says = patient.only("waiter.log", "warn")["says"]
    assert says.endswith("…"), "shown to be cut"
    assert len(says) < 260
    path.write_text(f"{old},001 77 look: GitHub gave no answer\n")
    assert patient.wrong() == []
    path.write_text(f"{now},001 77 look: no\n{now},001 77 SetBoard done for o/r#42\nno line\n")
    assert patient.wrong() == []


@SOAKED
def test_nothing_of_the_users_own_is_seen(patient: Patient) -> None:
    """The home folder of the tests is theirs: what a developer has wired does not count here."""
    assert Path(patient.place.environment["HOME"]) != Path(os.environ["HOME"])


@SOAKED
def test_checks_are_named_and_whether_they_may_run(patient: Patient) -> None:
    """One line for all of them; those that nobody allowed are a warning with the way to allow them."""
    (patient.root / ".lifecycle.toml").write_text('[checks.commands]\nlint = "git status"\n')
    finding = patient.only("settings.checks", "warn")
    assert (finding["fix"], "lint" in finding["says"]) == ("lifecycle trust", True)
    ok(patient.place.cli("trust", "--yes"))
    assert patient.wrong() == []


@SOAKED
def test_commands_and_rows_that_nobody_can_use_are_told(patient: Patient) -> None:
    """A command that needs a shell or is not there, and a row whose pattern fits any output."""
    toml = patient.root / ".lifecycle.toml"
    toml.write_text(
        '[checks.commands]\nlint = "true | cat"\nbuild = "./gone"\nwhole = "true"\ntest = "no-such"\n'
    )
    ok(patient.place.cli("trust", "--yes"))
    says = [finding["says"] for finding in patient.wrong()]
    assert [re.sub(r" its command, from.*toml:", "", text)[:60] for text in says] == [
        "lifecycle check test cannot run no-such is not installed, or",
        "lifecycle check build cannot run ./gone is not installed, or",
        "lifecycle check lint cannot run it needs a shell (a pipe), b",
    ]
    row = '[[evidence.runners]]\nname = "own"\ncommands = ["./own"]\n'
    toml.write_text(f"{row}summary = ['(?P<passed>\\d*)']\n")
    (finding,) = patient.wrong()
    assert "fits an empty text" in finding["says"]
    toml.write_text(f"validate = ['true']\n{row}summary = ['\\d+']\n")
    assert ["needs a group" in finding["says"] for finding in patient.wrong()] == [True]
