"""Doctor on autonomous runs: not set up, set up whole or in part, and a run that leads nobody."""

from __future__ import annotations

import pytest

from lifecycle.run.run_store import PATH
from lifecycle.setup.init.hook_table import CAP
from lifecycle.setup.init.init_mark import MARK
from lifecycle.setup.init.planned_files import digest
from lifecycle.setup.init.supplies import SHIM_FILES, SKILL_FILE, runs
from tests.cli.outcome import ok
from tests.repeated import soaked
from tests.setup.doctor.conftest import Patient

SOAKED = pytest.mark.soak(
    "setup/doctor/test_runs.py::test_set_up_whole_it_is_one_line",
    "setup/doctor/test_table.py::test_every_row_is_said_somewhere",
)


@pytest.fixture
def ready(patient: Patient) -> Patient:
    """Wired by `lifecycle init --run`."""
    ok(patient.place.cli("init", "--run"))
    return patient


@SOAKED
def test_unasked_it_is_one_line(patient: Patient) -> None:
    """Nothing is wrong with a project that never asked for runs; the line says how to."""
    found = {name: one for name, one in patient.findings().items() if name.startswith("run.")}
    assert list(found) == ["run.use"]
    assert found["run.use"]["says"].endswith("set them up with: lifecycle init --run")


def test_set_up_whole_it_is_one_line(ready: Patient) -> None:
    """After `init --run` all is well, with a run and without."""
    assert ready.wrong() == []
    ok(ready.place.cli("run", "init", "Greet"))
    assert ready.wrong() == []
    assert ready.findings()["run.use"]["says"].startswith("Autonomous runs are set up here")


@pytest.mark.parametrize(
    "name",
    [SHIM_FILES[0], *map(soaked, [*SHIM_FILES[1:], SKILL_FILE, ".claude/agents/tester.md"])],
)
def test_a_file_that_is_gone(ready: Patient, name: str) -> None:
    """It is named, and the command that supplies it."""
    (ready.root / name).unlink()
    found = ready.only("run.files", "warn")
    assert found["says"] == f"Files that a run needs are missing: {name}."
    assert (found["fix"], found["hinders"]) == ("lifecycle init --run", ["autonomous runs"])
    ok(ready.place.cli("init", "--run"))
    assert ready.wrong() == []


@SOAKED
def test_an_agent_of_the_persons_own_stands_for_ours(ready: Patient) -> None:
    """What the client finds in the person's own folder is not missing."""
    name = ".claude/agents/tester.md"
    (ready.home / name).parent.mkdir(parents=True)
    (ready.root / name).rename(ready.home / name)
    assert ready.wrong() == []


def test_what_init_leaves_out_is_not_missing(ready: Patient) -> None:
    """A skill of the person's own stands for the command, and a script of theirs is no file of the run."""
    command, script = ready.root / ".claude/commands/implement.md", SHIM_FILES[0]
    command.unlink()
    skill = ready.home / ".claude/skills/implement/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("mine")
    assert ready.wrong() == []
    ok(ready.place.cli("init", "--run"))
    assert not command.exists()
    (ready.home / script).parent.mkdir(parents=True)
    (ready.root / script).rename(ready.home / script)
    assert script in ready.only("run.files", "warn")["says"]


@SOAKED
def test_a_file_of_an_earlier_version(ready: Patient) -> None:
    """As init wrote it, and not as it writes it today: init renews it."""
    path, mark = ready.root / SHIM_FILES[0], ready.root / MARK
    today = path.read_bytes()
    path.write_bytes(today + b"# older\n")
    old = digest(path.read_bytes())
    mark.write_text(mark.read_text().replace(digest(today), old))
    found = ready.only("run.files", "warn")
    assert found["says"] == f"Files that a run needs are from an earlier version: {SHIM_FILES[0]}."
    ok(ready.place.cli(*found["fix"].split()[1:]))
    assert ready.wrong() == []
    assert path.read_bytes() == today


@SOAKED
def test_a_changed_command_file_is_said_a_changed_page_is_the_persons(ready: Patient) -> None:
    """Nobody knows what the first runs; the second is text that a person may change."""
    page = ready.root / SKILL_FILE
    page.write_text(page.read_text() + "mine")
    assert ready.wrong() == []
    (ready.root / SHIM_FILES[1]).write_text("print('mine')")
    found = ready.only("run.files", "warn")
    assert "differs from what init wrote (runs lifecycle platform)" in found["says"]
    assert found["fix"] == f"rm {SHIM_FILES[1]} && lifecycle init --run"


@SOAKED
def test_a_cap_that_is_too_low(ready: Patient) -> None:
    """The client would end a turn before the run does; who set it is named."""
    data = ready.settings()
    data["env"][CAP] = "50"
    ready.write_settings(data)
    found = ready.only("run.cap", "warn")
    assert "is 50 (.claude/settings.local.json), but a run may continue 100 times" in found["says"]
    assert found["fix"] == f"raise {CAP} to 100 or more in .claude/settings.local.json"
    del data["env"][CAP]
    ready.write_settings(data)
    assert ready.only("run.cap", "warn")["fix"] == "lifecycle init --run"


@SOAKED
def test_permissions_that_are_gone(ready: Patient) -> None:
    """A run that nobody attends would be asked for each command."""
    data = ready.settings()
    data["permissions"]["allow"].remove("Bash(lifecycle run gate:*)")
    ready.write_settings(data)
    assert ready.only("run.permissions", "warn")["fix"] == "lifecycle init --run"


@SOAKED
def test_a_run_without_what_it_needs(patient: Patient) -> None:
    """Begun by hand in a project that has the hooks alone: all that is missing is said."""
    ok(patient.place.cli("run", "init", "Greet"))
    wrong = {one["name"]: one for one in patient.wrong()}
    assert set(wrong) == {"run.use", "run.cap", "run.permissions"}
    assert wrong["run.use"]["fix"] == "lifecycle init --run"


@SOAKED
def test_a_state_that_git_tracks(ready: Patient) -> None:
    """It came with the repository, and leads nobody; git has the way out."""
    ok(ready.place.cli("run", "init", "Greet"))
    ready.place.git("add", "--force", PATH)
    found = ready.only("run.state", "fail")
    assert "came with the repository" in found["says"]
    assert found["fix"] == f"git rm --cached {PATH}"
    ready.place.git(*found["fix"].split()[1:])
    assert ready.wrong() == []


@SOAKED
@pytest.mark.parametrize(
    ("content", "words"), [("{", "cannot be read"), ('{"version": 99}', "by a later release")]
)
def test_a_state_that_cannot_be_used(ready: Patient, content: str, words: str) -> None:
    """Why nobody is led, and that the file is kept."""
    (ready.root / PATH).write_text(content)
    found = ready.only("run.state", "fail")
    assert words in found["says"]
    assert found["says"].endswith(" The file is kept.")
    assert (ready.root / PATH).read_text() == content


def test_a_link_in_the_place_of_the_state_is_said(ready: Patient) -> None:
    """One to nowhere as well: nothing can be kept there."""
    (ready.root / PATH).symlink_to("/nowhere")
    assert "is a link" in str(ready.wrong())


@SOAKED
def test_with_the_plugin_alone_two_commands_have_another_name(patient: Patient) -> None:
    """`/status` and `/review` are the client's own there; doctor says what to type."""
    ok(patient.place.cli("init", "--remove"))
    user = patient.home / ".claude/settings.json"
    patient.write_settings({"enabledPlugins": {"lifecycle@lifecycle": True}}, user)
    says = patient.findings()["run.use"]["says"]
    assert "/run-status and /run-review are ours" in says
    assert not [file.name for file in runs() if (patient.root / file.name).exists()]
    ok(patient.place.cli("run", "init", "Greet"))
    fixes = {one["name"]: one["fix"] for one in patient.wrong()}
    assert fixes["run.cap"] == fixes["run.permissions"] == "lifecycle init --permissions --run"
    ok(patient.place.cli("init", "--permissions", "--run"))
    assert not [one for one in patient.wrong() if one["name"].startswith("run.")]
