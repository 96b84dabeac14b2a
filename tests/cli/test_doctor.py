"""`lifecycle doctor` as a person sees it: on a terminal, in a pipe, as JSON."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.outcome import ok
from tests.cli.terminal import on_terminal
from tests.conftest import Place
from tests.repeated import soaked


@pytest.fixture
def project(place: Place) -> Place:
    """A project without hooks, which is one thing to fix, on a home folder of the test's own."""
    place.environment["HOME"] = str(place.root.parent)
    return place


@pytest.mark.parametrize("width", [40, soaked(80), 120])
def test_a_terminal_is_filled_and_not_overrun(project: Place, width: int) -> None:
    """Groups stand on the left, prose ends within the width, and the fix is whole on one line."""
    code, shown = on_terminal(project, width, "doctor")
    assert code == 1
    assert "\x1b[" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    lines = plain.splitlines()
    assert lines[0] == f"lifecycle doctor  {project.info.repository}"
    assert max(len(line) for line in lines if "fix" not in line) <= max(width, 60)
    findings = json.loads(project.cli("doctor", "--json").stdout)["findings"]
    # The paths in them are longer than a line of the narrow one.
    long = [finding["says"] for finding in findings if re.search(r"\S{26}", finding["says"])]
    assert long
    assert all("".join(says.split()) in "".join(plain.split()) for says in long)
    assert re.search(r"^hooks +✗ No hook is", plain, re.MULTILINE)
    assert re.search(r"^ +fix +lifecycle init$", plain, re.MULTILINE)
    assert lines[-1] == "1 thing to fix."


def test_a_pipe_gets_one_line_for_each_finding(project: Place) -> None:
    """Sign, group, sentence, what is hindered, fix; no colours."""
    done = project.cli("doctor")
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert len(lines) == len(json.loads(project.cli("doctor", "--json").stdout)["findings"]) + 1
    assert all(re.match(r"[✓!✗] [a-z]+: \S", line) for line in lines)
    (wrong,) = [line for line in lines if line.startswith("✗")]
    assert wrong.startswith("✗ hooks: No hook is installed for this project. Hinders: ")
    assert wrong.endswith(". Fix: lifecycle init")
    assert "\x1b" not in done.stdout


def test_an_output_without_the_signs(project: Place) -> None:
    """Where the signs cannot be written, plain ones tell good from bad."""
    done = project.cli("doctor", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert {line[0] for line in done.stdout.splitlines()} == {"+", "x"}


def test_exit_code_and_json_agree(project: Place) -> None:
    """1 while something fails, 0 after the fix that was named; each finding has all keys."""
    done = project.cli("doctor", "--json")
    data = json.loads(done.stdout)
    assert (done.returncode, data["ok"]) == (1, False)
    keys = {"name", "level", "says", "hinders", "fix"}
    assert all(set(finding) == keys for finding in data["findings"])
    ok(project.cli("init"))
    data = json.loads(ok(project.cli("doctor", "--json")))
    assert data["ok"] is True
    assert (
        on_terminal(project, 80, "doctor")[1]
        .rstrip()
        .endswith("\x1b[32mAll that is needed works\x1b[0m.")
    )
