"""Doctor on the tracker: which one, whether it answers, what a claim is worth; and the way out."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from lifecycle.claim.decisions import derive
from lifecycle.settings import user_folder
from lifecycle.storage import store
from tests.setup.doctor.conftest import Patient
from tests.trackers.beads import simulated

SOAKED = pytest.mark.soak(
    "setup/doctor/test_tracker.py::test_issues_are_tasks_where_nothing_else_is_found",
    "setup/doctor/test_table.py::test_every_row_is_said_somewhere",
)

TOML = ".lifecycle.toml"


def beads(patient: Patient, folder: Path, profile: str = "1.0.5") -> Path:
    """Put a program of this build on the patient's PATH, and a database into the worktree."""
    simulated.install(folder, profile)
    simulated.workspace(patient.root, folder)
    simulated.allow(patient.root, patient.place.environment)
    path = f"{folder}:{patient.place.environment['PATH']}"
    patient.place.environment |= {"PATH": path}
    return folder


def without_bd(patient: Patient) -> str:
    """The patient's PATH without any folder in which there is a bd."""
    folders = patient.place.environment["PATH"].split(":")
    return ":".join(folder for folder in folders if not (Path(folder) / "bd").exists())


def test_issues_are_tasks_where_nothing_else_is_found(patient: Patient) -> None:
    """The repository is named, and what a lease is worth."""
    found = patient.findings()
    says = "Tasks are the issues of octo-org/hello-service, as found here."
    assert found["tracker.found"]["says"] == says
    assert found["tracker.claim"]["says"].startswith("Tasks are claimed by octocat, ")
    assert found["tracker.claim"]["says"].endswith("one wins, wherever they are.")
    assert patient.wrong() == []


def test_issues_are_claimed_by_whom_claim_takes_them_for(patient: Patient) -> None:
    """The account of the token, whatever name a tracker is told: doctor and claim name the same one."""
    patient.place.environment["LIFECYCLE_ACTOR"] = "robot"
    says = patient.findings()["tracker.claim"]["says"]
    login = says.removeprefix("Tasks are claimed by ").partition(",")[0]
    taken = json.loads(patient.place.cli("claim", "42", "--json").stdout)
    assert derive.login_of(taken["claim"]["agent_id"]) == login == "octocat"
    assert f"({login}-…)" in says
    assert patient.findings()["tracker.claim"]["says"] == says


def test_without_a_remote_an_issue_is_claimed_in_the_trackers_own_name(patient: Patient) -> None:
    """No lease can lie anywhere: the name is the one that marks the issue, as LIFECYCLE_ACTOR sets it."""
    subprocess.run(["git", "-C", str(patient.root), "remote", "rename", "origin", "x"], check=True)
    named = {"LIFECYCLE_ACTOR": "robot", "LIFECYCLE_REPOSITORY": "octo-org/hello-service"}
    patient.place.environment |= named
    assert patient.findings()["tracker.claim"]["says"].startswith("Tasks are claimed as robot; ")
    assert "is yours, as robot." in patient.place.cli("tracker", "claim", "42").stdout


def test_a_tracker_beside_the_code_is_found(patient: Patient, tmp_path: Path) -> None:
    """It is asked, and what could be begun is counted."""
    folder = beads(patient, tmp_path / "bin")
    for number in range(3):
        simulated.create(folder, patient.root, f"Task {number}")
    found = patient.findings()
    assert found["tracker.found"]["says"].startswith("Tasks are kept by beads (bd 1.0.5), as ")
    assert found["tracker.found"]["says"].endswith("as found here; 3 ready to be begun.")
    assert found["tracker.claim"]["says"].endswith("if both use this very database.")
    assert patient.wrong() == []


@SOAKED
def test_without_a_github_remote_what_is_githubs_is_not_amiss(
    patient: Patient, tmp_path: Path
) -> None:
    """Tasks are beside the code, no remote and no token are there: that is said, and nothing is red."""
    beads(patient, tmp_path / "bin")
    patient.place.git("remote", "remove", "origin")
    patient.place.environment.pop("GH_TOKEN")
    found = patient.findings()
    for name in ("worktree.remote", "token.found"):
        assert found[name]["level"] == "ok"
        assert found[name]["says"].startswith("GitHub is not used here")
    assert patient.wrong() == []
    assert found["worktree.claim"]["says"].endswith("a task with: lifecycle tracker claim <id>")
    # The program is gone: that alone is to be mended, and a remote and a token still are not.
    patient.place.environment["PATH"] = without_bd(patient)
    assert patient.only("tracker.found", "fail")["says"].endswith("bd is not on PATH.")


@SOAKED
def test_an_old_build_claims_less_surely(patient: Patient, tmp_path: Path) -> None:
    """Of two that claim at once both may believe it: that is a remark, with a way out."""
    beads(patient, tmp_path / "bin", "0.30.7")
    finding = patient.only("tracker.claim", "warn")
    assert "both believe it for a moment" in finding["says"]
    assert "newer version" in finding["fix"]


@SOAKED
def test_the_program_is_gone(patient: Patient) -> None:
    """Configured by name and not installed: that is said, with what to do."""
    (patient.root / TOML).write_text('[tracker]\nuse = "beads"\n')
    patient.place.environment |= {"PATH": "/usr/bin:/bin"}
    finding = next(one for one in patient.wrong() if one["name"] == "tracker.found")
    assert finding["level"] == "fail"
    assert finding["says"].count(". ") == 0
    assert finding["fix"]
    assert finding["hinders"] == ["tracker commands", "the staged workflow"]


@SOAKED
def test_a_database_without_its_program(patient: Patient) -> None:
    """Nothing is configured: with GitHub at hand a remark, without it a failure; each names the way."""
    (patient.root / ".beads").mkdir()
    patient.place.environment |= {"PATH": without_bd(patient)}
    finding = patient.only("tracker.program", "warn")
    assert finding["says"] == ".beads is here, and bd is not on PATH, so tasks are GitHub's issues."
    assert finding["fix"].startswith("install it, or set tracker.use")
    patient.unset("GH_TOKEN")
    wrong = {one["name"]: one for one in patient.wrong()}
    assert wrong["tracker.found"]["level"] == "fail"
    assert wrong["tracker.found"]["says"] == ".beads is here, and bd is not on PATH."
    assert wrong["tracker.found"]["fix"].startswith("install it")
    assert "tracker.program" not in wrong


@SOAKED
def test_bd_that_nobody_has_allowed_is_not_run(patient: Patient, tmp_path: Path) -> None:
    """Found here, it is a warning that names the way; named by the project's file, a failure."""
    folder = beads(patient, tmp_path / "bin")
    user_folder.revoke(patient.place.environment, store.clone_of(patient.root))
    finding = patient.only("tracker.program", "warn")
    assert "nobody has allowed bd to run in this repository" in finding["says"]
    assert finding["fix"].endswith("lifecycle trust")
    (patient.root / TOML).write_text('[tracker]\nuse = "beads"\n')
    failure = patient.only("tracker.found", "fail")
    assert failure["says"] == "Nobody has allowed bd to run in this repository."
    assert failure["fix"].endswith("lifecycle trust")
    assert simulated.calls(folder) == []


@SOAKED
def test_there_is_no_database(patient: Patient, tmp_path: Path) -> None:
    """Configured by name, and nothing is kept here: the fix is the tracker's own."""
    simulated.install(tmp_path / "bin")
    simulated.allow(patient.root, patient.place.environment)
    patient.place.environment |= {"PATH": f"{tmp_path / 'bin'}:{patient.place.environment['PATH']}"}
    (patient.root / TOML).write_text('[tracker]\nuse = "beads"\n')
    finding = patient.only("tracker.found", "fail")
    assert finding["fix"]


@SOAKED
def test_a_tracker_that_nobody_knows(patient: Patient) -> None:
    """Those that there are stand in the sentence."""
    (patient.root / TOML).write_text('[tracker]\nuse = "paper"\n')
    wrong = patient.wrong()
    assert wrong
    (found,) = [one for one in wrong if one["name"] == "tracker.found"]
    assert 'There is no tracker "paper".' in found["says"]
    assert "tracker.use" not in found["says"], "the fix says it"
    assert found["fix"].startswith("set tracker.use in .lifecycle.toml to one of ")


@SOAKED
def test_a_tracker_that_hangs_is_said(patient: Patient, tmp_path: Path) -> None:
    """It answers with rubbish: one sentence, and everything else is looked at all the same."""
    folder = beads(patient, tmp_path / "bin")
    assert patient.wrong() == []
    simulated.fault(folder, "ready", "garbage")
    finding = patient.only("tracker.found", "fail")
    assert "Traceback" not in finding["says"]
