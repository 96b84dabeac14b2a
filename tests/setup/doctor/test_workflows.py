"""Doctor on workflows: what is set up, what lies in their files; each fix works as it is typed."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

from lifecycle.settings.resources import install_line
from lifecycle.setup.init.init_mark import MARK
from lifecycle.setup.init.planned_files import digest
from lifecycle.setup.init.supplies import (
    SECTION_PAGE,
    STATE_SCRIPT,
    SYNC_SCRIPT,
    WORKFLOW_FILES,
    workflows,
)
from tests.cli.outcome import ok
from tests.repeated import soaked
from tests.setup.doctor.conftest import Patient

SOAKED = pytest.mark.soak(
    "setup/doctor/test_workflows.py::test_set_up_whole_with_a_workflow_all_is_well",
    "setup/doctor/test_workflows.py::test_what_is_not_as_init_and_the_workflow_left_it_is_told_with_its_fix",
    "setup/doctor/test_table.py::test_every_row_is_said_somewhere",
)

CURRENT = ".claude/state/workflow.json"
VIEW = ".claude/workflow_state_system.md"


@pytest.fixture
def ready(patient: Patient) -> Patient:
    """Wired by `lifecycle init --workflow`, with a workflow begun."""
    ok(patient.place.cli("init", "--workflow"))
    start = ("workflow", "start", "User Auth", "--phase", "Design", "--phase", "Build")
    ok(patient.place.cli(*start))
    return patient


def typed(patient: Patient, line: str) -> None:
    """Type a fix into a shell; an editor is one that changes nothing."""
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=patient.root,
        env={**os.environ, **patient.place.environment, "EDITOR": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (line, done.stdout, done.stderr)


def document(patient: Patient) -> dict[str, Any]:
    """The current document."""
    loaded: dict[str, Any] = json.loads((patient.root / CURRENT).read_text())
    return loaded


def test_unasked_it_is_one_line(patient: Patient) -> None:
    """Nothing is wrong with a project that has no workflow; the line says what there is."""
    found = {name: one for name, one in patient.findings().items() if name.startswith("workflow.")}
    assert list(found) == ["workflow.use"]
    assert found["workflow.use"]["says"].endswith("lifecycle init --workflow")


def linked(patient: Patient) -> None:
    """Keep the client's folder elsewhere in the project."""
    (patient.root / "tools").mkdir()
    (patient.root / ".claude").rename(patient.root / "tools/claude")
    (patient.root / ".claude").symlink_to("tools/claude")


def test_a_link_to_the_clients_folder_is_no_fault_where_no_workflow_is(patient: Patient) -> None:
    """Nothing lies there that could be used."""
    linked(patient)
    assert patient.wrong() == []


def test_a_link_to_the_clients_folder_is_said_once(ready: Patient) -> None:
    """And not for each folder in it; the fix puts a folder in its place with all that was wired."""
    linked(ready)
    fault = ready.only("workflow.state", "warn")
    assert fault["says"].startswith(".claude is not used as a workflow's: it is a link.")
    typed(ready, fault["fix"])
    assert ready.wrong() == []


def test_set_up_whole_with_a_workflow_all_is_well(ready: Patient) -> None:
    """It is named, and nothing asks for a fix."""
    assert ready.wrong() == []
    found = ready.findings()
    assert found["workflow.use"]["says"].startswith("Workflows are set up here")
    assert found["workflow.state"]["says"].startswith("1 unfinished here")


def test_what_is_not_as_init_and_the_workflow_left_it_is_told_with_its_fix(ready: Patient) -> None:
    """A stale and a changed script, no section; no script; a tracked document."""

    def fixes() -> list[tuple[str, str]]:
        return [(one["name"], one["fix"]) for one in ready.wrong()]

    stale, mark = (ready.root / STATE_SCRIPT).read_bytes(), ready.root / MARK
    (ready.root / STATE_SCRIPT).write_bytes(stale + b"# older\n")
    mark.write_text(mark.read_text().replace(digest(stale), digest(stale + b"# older\n")))
    (ready.root / SYNC_SCRIPT).write_text("#!/bin/sh\n")
    (ready.root / SECTION_PAGE).write_text("# Ours\n")
    init = "lifecycle init --workflow"
    assert sorted(fixes()) == [
        ("workflow.files", init),
        ("workflow.files", f"rm {SYNC_SCRIPT} && {init}"),
        ("workflow.section", init),
    ]
    (ready.root / SYNC_SCRIPT).unlink()
    assert ("workflow.files", init) in fixes()
    ready.place.git("add", "--force", CURRENT)
    assert ("workflow.state", f"git rm --cached {CURRENT}") in fixes()


def test_a_workflow_without_the_permissions(patient: Patient) -> None:
    """The agent would be asked for each command; the fix allows them."""
    ok(patient.place.cli("workflow", "start", "X", "--phase", "A"))
    typed(patient, patient.only("workflow.permissions", "warn")["fix"])
    assert patient.wrong() == []


@pytest.mark.once("test_a_file_that_is_gone of test_runs has the same table of other files")
@pytest.mark.parametrize("name", WORKFLOW_FILES)
def test_a_file_that_is_gone(ready: Patient, name: str) -> None:
    """It is named, and the command that supplies it."""
    (ready.root / name).unlink()
    found = ready.only("workflow.files", "warn")
    assert found["says"] == f"Files that a workflow needs are missing: {name}."
    typed(ready, found["fix"])
    assert ready.wrong() == []


@SOAKED
def test_a_stale_shim(ready: Patient) -> None:
    """As an earlier version wrote it: init renews it."""
    old = "# an earlier one. lifecycle init --workflow\n"
    (ready.root / STATE_SCRIPT).write_text(old)
    mark = json.loads((ready.root / MARK).read_text())
    mark["sha256"][STATE_SCRIPT] = digest(old.encode())
    (ready.root / MARK).write_text(json.dumps(mark))
    found = ready.only("workflow.files", "warn")
    assert "an earlier version" in found["says"]
    typed(ready, found["fix"])
    assert ready.wrong() == []
    text = {file.name: file.text for file in workflows()}[STATE_SCRIPT]
    assert (ready.root / STATE_SCRIPT).read_text() == text


@SOAKED
def test_a_changed_shim(ready: Patient) -> None:
    """Somebody's own: nobody knows what it runs; the fix writes ours again."""
    (ready.root / SYNC_SCRIPT).write_text("#!/bin/sh\n")
    typed(ready, ready.only("workflow.files", "warn")["fix"])
    assert ready.wrong() == []


@SOAKED
def test_a_section_that_is_gone(ready: Patient) -> None:
    """Taken out of CLAUDE.md by hand; the fix puts it in again."""
    (ready.root / SECTION_PAGE).write_text("# Ours\n")
    typed(ready, ready.only("workflow.section", "warn")["fix"])
    assert ready.wrong() == []


@pytest.mark.once("workflow/test_workflow_documents has every broken one")
@pytest.mark.parametrize("content", ["", soaked('{"id": "wf_'), soaked("[]"), "{" * 10_000])
def test_a_broken_document(ready: Patient, content: str) -> None:
    """Empty, half-written, no object, too deep: one sentence; the fix sets it aside, and all is well."""
    (ready.root / CURRENT).write_text(content)
    state = ready.only("workflow.state", "warn")
    assert CURRENT in state["says"]
    typed(ready, state["fix"])
    assert ready.wrong() == []
    ok(ready.place.cli("workflow", "show"))
    assert document(ready)["phases"][0]["title"] == "Design"


def test_a_document_of_a_later_release(ready: Patient) -> None:
    """It is kept, and the fix is to install that release."""
    later = document(ready)
    later["lifecycle"]["version"] = 99
    (ready.root / CURRENT).write_text(json.dumps(later))
    found = {one["name"]: one for one in ready.wrong()}
    assert found["workflow.state"]["fix"] == install_line("renew")


@SOAKED
def test_documents_that_git_tracks(ready: Patient) -> None:
    """They came with the repository; the fix lets git forget them and keeps them."""
    ready.place.git("add", "--force", CURRENT)
    found = ready.only("workflow.state", "warn")
    assert found["fix"] == f"git rm --cached {CURRENT}"
    typed(ready, found["fix"])
    assert ready.wrong() == []
    assert (ready.root / CURRENT).is_file()


def test_an_edit_that_was_not_taken_over(ready: Patient) -> None:
    """The design's placeholder is told as one; the fix brings the document in step again."""
    edited = document(ready)
    edited["phases"][0]["status"] = "pending|active|completed|failed"
    (ready.root / CURRENT).write_text(json.dumps(edited))
    found = ready.only("workflow.edits", "warn")
    assert "pending|active|completed|failed" in found["says"]
    typed(ready, found["fix"])
    assert ready.wrong() == []


def test_a_source_that_cannot_be_used(ready: Patient) -> None:
    """A path in it that leads out of the project is told."""
    local = ready.root / "CLAUDE.local.md"
    local.write_text("Workflow State\nWorkflow: A\nPhase: 1/2 - B\n@/etc/passwd\n")
    assert "/etc/passwd" in ready.only("workflow.source", "warn")["says"]
