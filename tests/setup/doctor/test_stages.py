"""Doctor on the staged workflow: on or off, what it names, what it lacks, whom it leads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lifecycle.setup.init.hook_table import CAP
from lifecycle.setup.init.supplies import REVIEW, page_of
from tests.cli.outcome import ok
from tests.setup.doctor.conftest import LOCAL, Patient
from tests.trackers.beads import simulated

SOAKED = pytest.mark.soak(
    "setup/doctor/test_stages.py::test_on_it_says_whom_it_leads",
    "setup/doctor/test_table.py::test_every_row_is_said_somewhere",
)

TOML = ".lifecycle.toml"


@pytest.fixture
def staged(patient: Patient, tmp_path: Path) -> Patient:
    """Wired by `lifecycle init --stages`, with a tracker beside the code and one labelled task."""
    folder = tmp_path / "bin"
    simulated.install(folder)
    simulated.workspace(patient.root, folder)
    simulated.allow(patient.root, patient.place.environment)
    simulated.create(folder, patient.root, "Write the report", "auto-workflow", priority=1)
    path = f"{folder}:{patient.place.environment['PATH']}"
    patient.place.environment |= {"PATH": path}
    ok(patient.place.cli("init", "--stages"))
    return patient


def edit(patient: Patient, old: str, new: str) -> None:
    """Change one piece of the settings."""
    path = patient.root / TOML
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


@SOAKED
def test_off_it_is_one_line(patient: Patient) -> None:
    """Nothing is wrong with a project that never asked for it; the line says how to."""
    found = {name: one for name, one in patient.findings().items() if name.startswith("stages.")}
    assert list(found) == ["stages.use"]
    assert found["stages.use"]["says"].endswith("set it up with: lifecycle init --stages")


def test_on_it_says_whom_it_leads(staged: Patient) -> None:
    """After `init --stages` all is well, and the task that is next is named."""
    assert staged.wrong() == []
    says = staged.findings()["stages.tasks"]["says"]
    assert says.startswith("1 open task has the label auto-workflow; next: demo-")
    assert says.endswith(" Write the report.")


@SOAKED
def test_without_a_labelled_task_it_leads_nobody(staged: Patient) -> None:
    """That is no defect; the line has the command that labels one."""
    edit(staged, '# label = "auto-workflow"', 'label = "robots"')
    assert staged.wrong() == []
    says = staged.findings()["stages.tasks"]["says"]
    assert says.startswith(
        "No open task has the label robots, so no session is led; add the label with: "
    )
    assert says.endswith(" ID robots")


def test_switched_off_by_hand(staged: Patient) -> None:
    """In this worktree alone; the fix is the command that switches it on."""
    folder = staged.root / ".lifecycle"
    folder.mkdir(exist_ok=True)
    (folder / "stage-off").touch()
    assert staged.only("stages.use", "warn")["fix"] == "lifecycle stage on"


@SOAKED
def test_on_without_a_hook(staged: Patient) -> None:
    """The settings switch it on and nothing hears a stop: both are said, and one command mends both."""
    data = staged.settings()
    del data["hooks"]
    staged.write_settings(data)
    wrong = {one["name"]: one for one in staged.wrong()}
    assert set(wrong) == {"hooks.mark", "stages.use"}
    assert wrong["stages.use"]["level"] == "fail"
    ok(staged.place.run("sh", "-c", wrong["stages.use"]["fix"]))
    assert staged.wrong() == []


@SOAKED
def test_a_cap_that_is_too_low(staged: Patient) -> None:
    """Taken out, or lower than the blocks: the client may end a turn first; `init --stages` mends it."""
    data = staged.settings()
    del data["env"]
    staged.write_settings(data)
    finding = staged.only("stages.cap", "warn")
    assert finding["says"].startswith(
        f"{CAP} is not set, which means 8, and stages.max_blocks is 50"
    )
    ok(staged.place.run("sh", "-c", finding["fix"]))
    assert staged.wrong() == []
    edit(staged, "# max_blocks = 50", "max_blocks = 500")
    finding = staged.only("stages.cap", "warn")
    assert f"{CAP} is 58 ({LOCAL})" in finding["says"]
    ok(staged.place.run("sh", "-c", finding["fix"]))
    assert staged.wrong() == []


@SOAKED
def test_a_cap_of_somebodys_own(staged: Patient) -> None:
    """`init` does not overwrite it, so the fix is to raise it by hand."""
    staged.write_settings({"env": {CAP: "20"}}, staged.home / ".claude/settings.json")
    data = staged.settings()
    del data["env"]
    staged.write_settings(data)
    finding = staged.only("stages.cap", "warn")
    assert finding["fix"] == f"raise {CAP} to 50 or more in ~/.claude/settings.json"


@SOAKED
def test_a_command_that_is_gone(staged: Patient) -> None:
    """The instruction names it and the client does not know it; `init --stages` writes it again."""
    (staged.root / page_of(REVIEW)).unlink()
    finding = staged.only("stages.commands", "warn")
    assert finding["says"].startswith("stages.review is /oracle-review, but .claude/commands/")
    ok(staged.place.run("sh", "-c", finding["fix"]))
    assert staged.wrong() == []
    (staged.root / page_of(REVIEW)).rename(staged.root / "away.md")
    own = staged.home / ".claude/commands"
    own.mkdir(parents=True)
    (own / "oracle-review.md").write_text("mine")
    assert staged.wrong() == []


@SOAKED
def test_commands_of_others_are_not_looked_for(staged: Patient) -> None:
    """A plugin's command, or the client's own, has no file here."""
    edit(staged, f'review = "{REVIEW}"', 'review = "/security:review"')
    assert staged.wrong() == []


@SOAKED
def test_evidence_without_a_test_command(staged: Patient) -> None:
    """Known test programs count by name; a command of the project's own does not, until it is named."""
    edit(staged, "# require_evidence = false", "require_evidence = true")
    assert "[stages]" in staged.only("stages.evidence", "warn")["fix"]
    edit(staged, '# test = ["make test"]', 'test = ["make test"]')
    assert staged.only("settings.checks", "warn")["fix"] == "lifecycle trust"


@SOAKED
def test_a_sequence_that_no_task_can_have(staged: Patient) -> None:
    """Its label makes no task one of the workflow's."""
    path = staged.root / TOML
    path.write_text(path.read_text() + '[stages.workflows]\n"quick" = ["CODING"]\n')
    finding = staged.only("stages.workflows", "warn")
    assert finding["says"].startswith('stages.workflows names "quick"')


@SOAKED
def test_a_tracker_that_does_not_answer(staged: Patient, tmp_path: Path) -> None:
    """Which tasks there are is not known, and why; the tracker's own finding says the rest."""
    simulated.fault(tmp_path / "bin", "list", "garbage", times=9)
    names = {one["name"] for one in staged.wrong()}
    assert "stages.tasks" in names


@SOAKED
def test_failed_commands_are_not_heard(staged: Patient) -> None:
    """The script is wired at one of its two events: the other is named."""
    data = staged.settings()
    groups = data["hooks"]["PostToolUseFailure"]
    data["hooks"]["PostToolUseFailure"] = [one for one in groups if one["matcher"] != "Bash"]
    staged.write_settings(data)
    finding = staged.only("hooks.missing", "fail")
    assert finding["says"].startswith("post-tool-use at PostToolUseFailure is not installed")
    ok(staged.place.run("sh", "-c", finding["fix"]))
    assert staged.wrong() == []


@SOAKED
def test_the_findings_are_json(staged: Patient) -> None:
    """As a process of its own, with the stages on: it exits 0 and prints what it found."""
    staged.is_process = True
    assert json.dumps(staged.report()).count('"stages.') == 2
