"""What other tools left beside a workflow is read if it is there, and never written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lifecycle.cli.workflow.workflow_look import GRAPH, SESSIONS, delegation_lines

WAVES = [{"phases": [{"phase_id": "phase_0_0"}]}, {"phases": ["phase_1_0", "phase_1_1"]}]


def written(root: Path, path: str, content: str) -> Path:
    """A file of another tool's."""
    whole = root / path
    whole.parent.mkdir(parents=True, exist_ok=True)
    whole.write_text(content)
    return whole


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (
            {"current_wave": 1, "execution_plan": {"waves": WAVES}},
            "wave 2 of 2: phase_1_0, phase_1_1",
        ),
        ({"current_wave": 0, "waves": WAVES}, "wave 1 of 2: phase_0_0"),
        ({"current_wave": 9, "waves": WAVES}, "2 waves"),
        ({}, "0 waves"),
    ],
)
def test_the_wave_of_a_task_graph_is_shown(tmp_path: Path, graph: object, words: str) -> None:
    """Each form in which a graph lists its waves: the one at work, with its phases."""
    path = written(tmp_path, GRAPH, json.dumps(graph))
    before = path.read_bytes()
    (line,) = delegation_lines(tmp_path)
    assert words in line
    assert path.read_bytes() == before


def test_delegated_sessions_are_counted(tmp_path: Path) -> None:
    """One a line, each counted once; none at all is no line."""
    written(tmp_path, SESSIONS, "sess_a\nsess_b\n\nsess_a\n")
    assert delegation_lines(tmp_path) == [f"Delegated sessions: 2 ({SESSIONS})"]
    written(tmp_path, SESSIONS, "\n")
    assert delegation_lines(tmp_path) == []


@pytest.mark.parametrize(
    "content",
    ["{", "[]", '{"waves": 1}', '{"waves": [1]}', '{"waves": [{}]}', '{"current_wave": "x"}'],
)
def test_a_broken_graph_costs_its_line_alone(tmp_path: Path, content: str) -> None:
    """Whatever lies there, the sentence names the file, and it is left as it is."""
    written(tmp_path, GRAPH, content)
    (line,) = delegation_lines(tmp_path)
    assert line == f"{GRAPH} cannot be read; it was left as it is."
    assert (tmp_path / GRAPH).read_text() == content
