"""`scripts/workflow_state.py`: the design's own code, with any Python, on the installed command."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lifecycle import api
from lifecycle.setup.init.supplies import STATE_SCRIPT
from tests.cli.outcome import ok
from tests.setup.init.conftest import Clone

FUNCTIONS = (
    "create_workflow_state", "update_phase_status", "get_workflow_state", "generate_markdown",
)  # fmt: skip

BEFORE = "import json, sys; sys.path.insert(0, 'scripts'); from workflow_state import *\n"

ORCHESTRATOR = """
user_task = "Create calculator.py with tests and verify they pass"
first = ("Create calculator module", "general-purpose")
phases = [first, ("Write and run tests", "task-completion-verifier")]
workflow_id = create_workflow_state(user_task, phases)
workflow = get_workflow_state(workflow_id)
print(json.dumps(workflow))
"""
"""What the design's orchestrator does."""

WORKER = """
def read_json(path):
    with open(path) as file:
        return json.load(file)

workflow = read_json(".claude/state/workflow.json")
update_phase_status(workflow["id"], "phase_0", status="active")
workflow = read_json(".claude/state/workflow.json")
(my_phase,) = [one for one in workflow["phases"] if one["id"] == workflow["current_phase"]]
deliverables = ["/path/to/calculator.py", "add, subtract, multiply, divide functions"]
update_phase_status(
    workflow["id"],
    my_phase["id"],
    status="completed",
    deliverables=deliverables,
    context_for_next="Created calculator.py at /path with 4 functions"
)
update_phase_status(workflow["id"], "phase_1", "active", [])
print(json.dumps(get_workflow_state(workflow["id"])))
"""
"""What its execution agent does."""


@pytest.fixture
def project(clone: Clone) -> Clone:
    """Wired by `lifecycle init --workflow`."""
    ok(clone.run("init", "--workflow"))
    return clone


def python(project: Clone, code: str, *, folder: str = ".") -> subprocess.CompletedProcess[str]:
    """Run code with Python in the project, after the import of the script."""
    return subprocess.run(
        [
            sys.executable,
            "-c",
            BEFORE.replace("'scripts'", repr(str(project.root / "scripts"))) + code,
        ],
        cwd=project.root / folder,
        env={**project.environment, "LIFECYCLE_BIN": str(project.command)},
        capture_output=True,
        text=True,
        check=False,
    )


def said(project: Clone, code: str) -> Any:
    """What such code prints, as JSON."""
    return json.loads(ok(python(project, code)))


def test_the_designs_own_code_works(project: Clone) -> None:
    """Its orchestrator and its worker: ids, statuses, deliverables, what is handed on, and the view."""
    begun = said(project, ORCHESTRATOR)
    assert begun["id"].startswith("wf_")
    assert (begun["status"], begun["current_phase"]) == ("pending", None)
    assert [phase["status"] for phase in begun["phases"]] == ["pending", "pending"]
    done = said(project, WORKER)
    first, second = done["phases"]
    assert first["deliverables"][1] == "add, subtract, multiply, divide functions"
    assert first["context_for_next"] == "Created calculator.py at /path with 4 functions"
    assert (first["status"], second["status"], done["status"]) == ("completed", "active", "active")
    assert done["current_phase"] == "phase_1"
    view = project.read(".claude/workflow_state_system.md")
    assert "- [x] Phase 0: Create calculator module → /path/to/calculator.py, add" in view


def test_the_page_is_made_in_both_of_the_designs_forms(project: Clone) -> None:
    """generate_markdown(workflow) gives it; with a path before it, it is written there, from any folder."""
    said(project, ORCHESTRATOR)
    code = "print(json.dumps(generate_markdown(get_workflow_state())))"
    page = said(project, code)
    assert page == project.read(".claude/workflow_state_system.md")
    (project.root / "sub").mkdir()
    ok(python(project, "generate_markdown('mine.md', get_workflow_state())", folder="sub"))
    assert project.read("sub/mine.md") == page


def test_what_is_refused_is_an_error_with_the_sentence(project: Clone) -> None:
    """The same as the command's; and where no command is found, that."""
    said(project, ORCHESTRATOR)
    done = python(project, "update_phase_status(get_workflow_state()['id'], 'phase_0', 'done')")
    assert done.returncode == 1
    assert "WorkflowStateError: " in done.stderr
    assert "is not a status of a phase" in done.stderr
    lost = python(project, "import os; os.environ['LIFECYCLE_BIN'] = '/gone'; get_workflow_state()")
    assert "No lifecycle command was found outside of this project" in lost.stderr


def test_as_a_program_it_is_the_command(project: Clone) -> None:
    """`python3 scripts/workflow_state.py …` is `lifecycle workflow …`."""
    done = subprocess.run(
        [sys.executable, STATE_SCRIPT, "start", "X", "--phase", "A"],
        cwd=project.root,
        env={**project.environment, "LIFECYCLE_BIN": str(project.command)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 'The workflow "X" began: wf_' in ok(done)
    assert Path(project.root / ".claude/state/workflow.json").is_file()


def test_its_functions_are_called_as_ours(project: Clone) -> None:
    """Each of the four has the names that `lifecycle.api` has, as far as it names them."""
    code = f"""
import inspect
for name in {FUNCTIONS!r}:
    print(name, [one.name for one in inspect.signature(globals()[name]).parameters.values()])
"""
    lines = ok(python(project, code)).splitlines()
    assert len(lines) == len(FUNCTIONS)
    for line, name in zip(lines, FUNCTIONS, strict=True):
        theirs = set(json.loads(line.partition(" ")[2].replace("'", '"')))
        ours = set(inspect.signature(getattr(api, name)).parameters)
        assert theirs - {"more", "workflow"} <= ours, name
