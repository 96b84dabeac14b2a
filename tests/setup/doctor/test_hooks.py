"""Hooks: missing, doubled, silent, misdirected, mistimed: one defect, one finding, and its fix."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lifecycle.settings.resources import hook_script, top_folder
from lifecycle.setup.doctor.examine_hooks import edit
from lifecycle.setup.init import found_hooks
from lifecycle.setup.init.hook_table import NAMES, WIRES, entry, groups, local_form, wire_of
from lifecycle.storage import signs_of_life
from lifecycle.storage.store import Folder
from tests.cli.outcome import ok
from tests.repeated import soaked
from tests.setup.doctor.conftest import LOCAL, SHARED, Patient, entries

SOAKED = pytest.mark.soak(
    "setup/doctor/test_hooks.py::test_one_hook_is_missing",
    "setup/doctor/test_hooks.py::test_the_plugin_does_for_all",
    "setup/doctor/test_table.py::test_every_row_is_said_somewhere",
)

PLUGIN = {"enabledPlugins": {"lifecycle@agent-lifecycle": True}}


ON_STOP = [wire for wire in WIRES if wire.name == "on-stop"]


def _hooks(folder: Path) -> dict[str, Any]:
    """Every entry, by hand, with the scripts of some folder."""
    form = local_form(folder)
    return {"hooks": {wire.event: groups(wire.event, form) for wire in WIRES}}


def _unwired(patient: Patient) -> None:
    ok(patient.place.cli("init", "--remove"))


def _user_file(patient: Patient) -> Path:
    return patient.home / ".claude" / "settings.json"


def _copy(folder: Path) -> Path:
    """The scripts as another installation has them."""
    folder.mkdir(parents=True)
    for name in (*NAMES, "common"):
        copy = folder / name
        copy.write_bytes(hook_script(name).read_bytes())
        copy.chmod(0o755)
    return folder


@SOAKED
def test_no_hook_at_all(patient: Patient) -> None:
    """`lifecycle init` is the fix, and it is one."""
    _unwired(patient)
    finding = patient.only("hooks.missing", "fail")
    assert finding["fix"] == "lifecycle init"
    assert {"opening the PR", "waking the session"} <= set(finding["hinders"])
    ok(patient.place.run("sh", "-c", finding["fix"]))
    assert patient.wrong() == []


@pytest.mark.once("the other hooks differ by their names")
@pytest.mark.parametrize("name", NAMES)
def test_one_hook_is_missing(patient: Patient, name: str) -> None:
    """It is named, with what does not happen; `lifecycle init` puts it back."""
    data = patient.settings()
    for there in data["hooks"].values():
        for one in there:
            one["hooks"] = [e for e in one["hooks"] if not e["command"].endswith(f"/{name}")]
    patient.write_settings(data)
    finding = patient.only("hooks.missing", "fail")
    assert finding["says"].startswith(f"{name} at ")
    assert finding["hinders"]
    ok(patient.place.run("sh", "-c", finding["fix"]))
    assert patient.wrong() == []


@SOAKED
def test_shared_and_users_hooks_count(patient: Patient) -> None:
    """Wired for everybody, or by hand in the user's own settings, all is well too."""
    ok(patient.place.cli("init", "--shared"))
    assert SHARED in patient.findings()["hooks.installed"]["says"]
    assert patient.wrong() == []
    _unwired(patient)
    patient.write_settings(_hooks(top_folder("hooks")), _user_file(patient))
    assert "~/.claude/settings.json" in patient.findings()["hooks.installed"]["says"]
    assert patient.wrong() == []
    elsewhere = patient.home / "elsewhere"
    patient.only("hooks.missing", "fail", CLAUDE_CONFIG_DIR=str(elsewhere))


@pytest.mark.parametrize("name", ["a b/settings.json", "~/my $HOME/settings.json"])
def test_a_file_to_edit_may_have_any_name(patient: Patient, name: str) -> None:
    """A shell that runs the fix opens that very file; a home is still written `~`."""
    done = patient.place.run("sh", "-c", edit(name), EDITOR="echo", HOME="/h")
    assert ok(done) == f"{name.replace('~', '/h', 1)}\n"


def test_the_plugin_does_for_all(patient: Patient) -> None:
    """Without any hook `init` is the fix; with the plugin no file needs an entry, and its copies yield.

    Where no hook of the session ran, it is advised only to those who lack it.
    """
    session = {"CLAUDE_CODE_SESSION_ID": "other", "CLAUDE_PID": "1"}
    advised = [patient.findings(**session)["session.hooks"]["fix"]]
    _unwired(patient)
    missing = patient.only("hooks.missing", "fail")
    assert missing["fix"] == "lifecycle init"
    assert {"opening the PR", "waking the session"} <= set(missing["hinders"])
    patient.write_settings(PLUGIN, _user_file(patient))
    advised.append(patient.findings(**session)["session.hooks"]["fix"])
    assert [fix.endswith(", or install the plugin") for fix in advised] == [True, False]
    assert "by the plugin" in patient.findings()["hooks.installed"]["says"]
    finding = patient.only("hooks.permissions", "warn")
    ok(patient.place.run("sh", "-c", finding["fix"]))
    assert "by the plugin" in patient.findings()["hooks.installed"]["says"]
    assert patient.wrong() == []
    ok(patient.place.cli("init"))
    assert "copies are silent" in patient.findings()["hooks.installed"]["says"]
    assert patient.wrong() == []


@SOAKED
def test_a_plugin_that_is_disabled_is_enabled_again_and_starts_no_waiter(patient: Patient) -> None:
    """It was told that no hook is installed, and of a waiter that the next stop would start."""
    _unwired(patient)
    patient.place.ready()
    patient.place.tree().tick()
    signs_of_life.meet(Folder(patient.root), "session", time.time())
    patient.write_settings(PLUGIN, _user_file(patient))
    assert "one starts at the agent's next stop" in patient.findings()["waiter.live"]["says"]
    patient.write_settings(
        {"enabledPlugins": {"lifecycle@agent-lifecycle": False}}, _user_file(patient)
    )
    found = patient.findings()
    assert "The plugin lifecycle@agent-lifecycle is disabled" in found["hooks.missing"]["says"]
    assert found["hooks.missing"]["fix"] == "claude plugin enable lifecycle@agent-lifecycle"
    assert "no hook is at work here that would start one" in found["waiter.live"]["says"]


@SOAKED
def test_a_mark_without_entries(patient: Patient) -> None:
    """The plugin is silent for a wiring that is gone; `init` brings it back."""
    (patient.root / LOCAL).write_text(json.dumps(PLUGIN))
    finding = patient.only("hooks.mark", "fail")
    assert "silent" in finding["says"]
    ok(patient.place.run("sh", "-c", finding["fix"]))
    assert patient.wrong() == []


@pytest.mark.parametrize("options", [["--shared"], *map(soaked, [[]])])
def test_a_mark_that_is_broken(patient: Patient, options: list[str]) -> None:
    """It is named; deleting it and wiring again is the fix, in the same settings: no hook runs twice."""
    ok(patient.place.cli("init", "--remove"))
    ok(patient.place.cli("init", *options))
    (patient.root / ".claude" / "lifecycle.json").write_text("{")
    finding = patient.only("hooks.mark", "fail")
    assert "lifecycle.json cannot be read" in finding["says"]
    ok(patient.place.run("sh", "-c", finding["fix"]))
    assert patient.wrong() == []


def test_the_plugin_and_hooks_by_hand(patient: Patient) -> None:
    """Entries that `init` did not make leave no mark, so the plugin runs beside them."""
    _unwired(patient)
    patient.write_settings({**_hooks(top_folder("hooks")), **PLUGIN})
    finding = patient.only("hooks.doubled", "fail")
    assert "by the plugin" in finding["says"]
    assert finding["fix"] == "lifecycle init"
    ok(patient.place.run("sh", "-c", finding["fix"]))
    assert (patient.root / ".claude" / "lifecycle.json").is_file()


@SOAKED
def test_two_files_run_two_things(patient: Patient, tmp_path: Path) -> None:
    """Wired in two ways, a hook runs twice; the file that `init` did not write is to be edited."""
    other = _copy(tmp_path / "other" / "hooks")
    data = {"hooks": {"Stop": groups("Stop", local_form(other), ON_STOP)}}
    patient.write_settings(data, _user_file(patient))
    finding = patient.only("hooks.doubled", "fail")
    assert finding["says"].startswith("on-stop runs twice")
    assert finding["fix"] == "${EDITOR:-vi} ~/.claude/settings.json"


def test_of_an_entry_of_init_and_one_by_hand_the_latter_is_to_go(patient: Patient) -> None:
    """Whichever file is read first: `init` would put its own in again."""
    ok(patient.place.cli("init", "--shared"))
    hook = {"type": "command", "command": "lifecycle hook on-stop"}
    patient.write_settings({"hooks": {"Stop": [{"hooks": [hook]}]}})
    finding = patient.only("hooks.doubled", "fail")
    assert finding["fix"] == f"${{EDITOR:-vi}} {LOCAL}"


@SOAKED
def test_two_files_run_the_same(patient: Patient) -> None:
    """The client runs equal entries once, so nothing is wrong with that."""
    patient.write_settings(_hooks(top_folder("hooks")), _user_file(patient))
    assert patient.wrong() == []


@SOAKED
def test_a_script_that_is_not_there(patient: Patient, tmp_path: Path) -> None:
    """The client goes on without a word where scripts are missing; one finding says it of a folder."""
    gone = tmp_path / "gone" / "lifecycle" / "_hooks"
    patient.change_hook("on-idle", command=str(gone / "on-idle"))
    assert (
        f"starts on-idle in {gone}, where no such" in patient.only("hooks.script", "fail")["says"]
    )
    patient.change_hook("on-stop", command=str(gone / "on-stop"))
    finding = patient.only("hooks.script", "fail")
    assert f"starts on-stop and on-idle in {gone}, where no such" in finding["says"]
    assert {"opening the PR", "waking the session"} <= set(finding["hinders"])
    ok(patient.place.run("sh", "-c", finding["fix"]))
    assert patient.wrong() == []


@SOAKED
def test_a_script_that_cannot_be_started(patient: Patient) -> None:
    """A script without its bit is named; chmod is the fix."""
    other = _copy(patient.root / "with space" / "hooks")
    _unwired(patient)
    data = _hooks(top_folder("hooks"))
    stop = next(e for e in entries(data) if e["command"].endswith("/on-stop"))
    stop["command"] = str(other / "on-stop")
    patient.write_settings(data)
    (other / "on-stop").chmod(0o644)
    finding = patient.only("hooks.script", "fail")
    assert "with space/hooks/on-stop, which is not executable" in finding["says"]
    ok(patient.place.run("sh", "-c", finding["fix"]))
    assert patient.wrong() == []


CHANGES = [
    ("on-stop", {"timeout": 5}, "timeout"),
    ("ci-waiter", {"timeout": None}, "timeout"),
    ("on-idle", {"asyncRewake": None}, "asyncRewake"),
    ("on-stop", {"async": True}, "async"),
    ("on-stop", {"if": "Bash(nothing)"}, "if"),
    ("on-stop", {"type": "prompt"}, "type"),
]


@pytest.mark.parametrize(
    ("name", "change", "key"), [CHANGES[0], *(soaked(*row) for row in CHANGES[1:])]
)
def test_an_entry_that_somebody_changed(
    patient: Patient, name: str, change: dict[str, Any], key: str
) -> None:
    """What differs from what `init` writes is named, and `init` puts it right."""
    patient.change_hook(name, **change)
    finding = patient.only("hooks.entry", "fail")
    assert finding["says"].startswith(f"{name} in {LOCAL} is not as init writes it ({key}), so")
    assert finding["hinders"]
    ok(patient.place.run("sh", "-c", finding["fix"]))
    assert patient.wrong() == []


def test_what_differs_in_an_entry_is_all_named_and_nothing_of_somebody_elses() -> None:
    """The matcher that the entry is below counts like its own keys; one by hand has no wanted form."""
    wire = wire_of("Notification", "on-idle")
    assert wire is not None
    written = entry(wire, local_form(Path("/opt/hooks")))
    file = found_hooks.ClientSettings(Path(LOCAL), LOCAL)
    for matcher, hook, changed in (
        ("idle_prompt", written, []),
        ("permission_prompt", written, ["matcher"]),
        ("", {**written, "timeout": 5, "async": True}, ["timeout", "async", "matcher"]),
        ("", {"command": "lifecycle hook on-idle"}, []),
    ):
        found = found_hooks.HookEntry(file, wire.event, matcher, wire.name, hook)
        assert found.changed == changed


@SOAKED
@pytest.mark.parametrize(
    ("event", "matcher"),
    [("SessionStart", "startup|resume"), ("Notification", "permission_prompt")],
)
def test_a_matcher_that_misses(patient: Patient, event: str, matcher: str) -> None:
    """An entry below another matcher than that of its script is not as `init` writes it."""
    data = patient.settings()
    data["hooks"][event][0]["matcher"] = matcher
    patient.write_settings(data)
    wrong = patient.wrong()
    assert {finding["name"] for finding in wrong} == {"hooks.entry"}
    for finding in wrong:  # at a session's start two hooks are wired together
        assert "(matcher)" in finding["says"]
        assert finding["fix"] == "lifecycle init"
    ok(patient.place.cli("init"))
    assert patient.wrong() == []


@SOAKED
def test_a_script_at_another_event(patient: Patient) -> None:
    """on-stop at SubagentStop does nothing: a remark."""
    data = patient.settings()
    data["hooks"]["SubagentStop"] += groups("Stop", local_form(top_folder("hooks")), ON_STOP)
    patient.write_settings(data)
    assert "SubagentStop" in patient.only("hooks.event", "warn")["says"]


MISSHAPEN = ("{", "[]", '{"hooks": {"Stop": [}}', "\xff", '{"permissions": "x"}', '{"hooks": []}')


@pytest.mark.parametrize("content", ['{"hooks": null}', *map(soaked, MISSHAPEN)])
def test_settings_that_cannot_be_read(patient: Patient, content: str) -> None:
    """The file is named and why, also where init refuses its shape; missing hooks are not said as well."""
    (patient.root / LOCAL).write_bytes(content.encode("latin-1"))
    finding = patient.only("hooks.settings", "fail")
    assert finding["says"].startswith(f"{LOCAL} cannot be read")


@SOAKED
@pytest.mark.parametrize(
    "data",
    [
        {"hooks": []},
        {"hooks": {"Stop": {}}},
        {"hooks": {"Stop": [1, {"hooks": 2}, {"hooks": [3, {"command": 4}, {"command": "'"}]}]}},
        {"enabledPlugins": [], "env": []},
    ],
)
def test_settings_of_another_shape(patient: Patient, data: dict[str, Any]) -> None:
    """What somebody else's settings hold in our places breaks nothing."""
    patient.write_settings(data, _user_file(patient))
    assert patient.wrong() == []


@SOAKED
def test_hooks_that_are_switched_off(patient: Patient) -> None:
    """One word in any file silences all hooks."""
    patient.write_settings({"disableAllHooks": True}, _user_file(patient))
    assert "disableAllHooks" in patient.only("hooks.disabled", "fail")["says"]


def test_no_waiter_is_promised_where_none_of_our_hooks_may_run(
    patient: Patient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Switched off or barred, what is wired does not start one at the agent's next stop."""
    monkeypatch.setattr(found_hooks, "POLICIES", tmp_path / "policies")
    patient.place.ready()
    patient.place.tree().tick()
    signs_of_life.meet(Folder(patient.root), "session", time.time())
    promised = []
    for rules in ({}, {"disableAllHooks": True}, {"allowManagedHooksOnly": True}):
        patient.write_settings(rules, tmp_path / "policies/managed-settings.json")
        says = patient.findings()["waiter.live"]["says"]
        promised.append("one starts at the agent's next stop" in says)
    assert promised == [True, False, False]


def test_what_the_administrator_lets_nobody_run(
    patient: Patient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their file is read, and its parts: what they bar is told, and what they set up runs all the same."""
    monkeypatch.setattr(found_hooks, "POLICIES", tmp_path / "policies")
    whole = tmp_path / "policies/managed-settings.json"
    for key in ("allowManagedHooksOnly", "strictPluginOnlyCustomization"):
        patient.write_settings({key: True}, whole)
        assert f"{whole} says {key}" in patient.only("hooks.barred", "fail")["says"]
    fix = ", then install the plugin, whose hooks may run"
    assert patient.wrong()[0]["fix"] == f"lifecycle init --remove{fix}"
    mark = patient.root / ".claude/lifecycle.json"  # only by it `init --remove` removes anything
    aside = mark.rename(tmp_path / "mark")
    assert patient.wrong()[0]["fix"] == f"${{EDITOR:-vi}} .claude/settings.local.json{fix}"
    aside.rename(mark)
    patient.write_settings({"strictPluginOnlyCustomization": ["hooks"], "enabledPlugins": 5}, whole)
    assert patient.only("hooks.barred", "fail")
    patient.write_settings({"strictPluginOnlyCustomization": ["skills"]}, whole)
    assert patient.wrong() == []
    patient.write_settings({**PLUGIN, "allowManagedHooksOnly": True}, whole)
    assert patient.only("hooks.barred", "fail")["fix"] == "lifecycle init --remove"
    patient.write_settings({"allowManagedHooksOnly": True}, whole)
    part = tmp_path / "policies/managed-settings.d/20-hooks.json"
    patient.write_settings({"hooks": patient.settings()["hooks"]}, part)
    _unwired(patient)
    assert patient.wrong() == []
    patient.write_settings({"disableAllHooks": True}, whole)
    assert "administrator" in patient.only("hooks.disabled", "fail")["fix"]
    patient.write_settings({"strictPluginOnlyCustomization": True}, whole)
    patient.write_settings(_hooks(tmp_path / "gone/hooks"), part)
    assert "administrator" in patient.only("hooks.script", "fail")["fix"]
    part.unlink()
    assert patient.only("hooks.barred", "fail")["fix"].startswith("install the plugin")


def test_permissions_that_only_the_administrator_gives(
    patient: Patient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules in other files do not count then, neither `init`'s nor denials; the administrator's do."""
    monkeypatch.setattr(found_hooks, "POLICIES", tmp_path / "policies")
    whole, only = tmp_path / "policies/managed-settings.json", {found_hooks.ONLY_RULES: True}
    patient.write_settings({"permissions": {"deny": ["Bash(lifecycle:*)"]}}, _user_file(patient))
    assert patient.only("hooks.denied", "warn")
    patient.write_settings(only, whole)
    finding = patient.only("hooks.rules", "warn")
    assert finding["says"].startswith(
        f"{whole} says allowManagedPermissionRulesOnly, so the client"
    )
    assert "administrator" in finding["fix"]
    patient.write_settings({**only, "permissions": {"allow": ["Bash(lifecycle:*)"]}}, whole)
    assert patient.wrong() == []


_CLOSED = """
import os, sys
from pathlib import Path
from lifecycle.setup.init import found_hooks
found_hooks.POLICIES = Path(sys.argv[1])
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
print([file.problem for file in found_hooks.ClientSetup.read(Path("/"), {}).policies])
print(found_hooks.is_file(found_hooks.POLICIES / "on-stop"))
"""


def test_what_the_administrator_lets_nobody_read() -> None:
    """A folder that is closed to this user is a finding, and ends neither the doctor nor a hook."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0)
        shown = subprocess.run(
            [sys.executable, "-c", _CLOSED, folder],
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert shown.stdout == "['Permission denied']\nFalse\n", shown.stderr


@SOAKED
def test_comments_are_read(patient: Patient) -> None:
    """Settings with comments and trailing commas are settings."""
    path = patient.root / LOCAL
    text = path.read_text().rstrip()
    path.write_text(re.sub(r"\}\Z", "// the end\n}", text))
    assert patient.wrong() == []


def test_a_linked_worktree_has_the_hooks_of_its_main_one(patient: Patient, tmp_path: Path) -> None:
    """The client runs them there, too; where both are wired, each entry counts once, as it is run once."""
    main, linked = patient.place, replace(patient.place, root=tmp_path / "linked")
    ok(main.run("git", "worktree", "add", "--quiet", str(linked.root)))
    there = Patient(linked)
    assert "hooks.installed" in there.findings()
    assert there.wrong() == []
    ok(linked.cli("init"))
    assert there.wrong() == []
    _unwired(patient)
    assert there.wrong() == []


def test_commands_that_the_client_refuses_are_told(patient: Patient) -> None:
    """A rule of permissions.deny goes before every other: the agent cannot claim, and nothing said why."""
    data = patient.settings()
    data["permissions"]["deny"] = [
        *("Bash(lifecycle claim:*)", "Read(.env)", "Bash(lifecycle *)"),
        *(
            "Bash(lifecycle run:*)",
            "Bash(lifecycle workflow start:*)",
            "Bash(lifecycle close:*)",
            "Bash(lifecycle run user-fix-complete *)",
        ),
    ]
    patient.write_settings(data)
    finding = patient.only("hooks.denied", "warn")
    told = "Bash(lifecycle claim:*), Bash(lifecycle *), Bash(lifecycle run:*), "
    assert finding["says"].endswith(f": {told}Bash(lifecycle workflow start:*).")
    assert finding["fix"].endswith(LOCAL)
