"""The eighteen faults of the shell version: each has a test that names it."""

from __future__ import annotations

import re
from pathlib import Path

FAULTS = {
    1: "GitHub was called on every stop",
    2: "no checks, and a closed PR, counted as green",
    3: "a close that failed was reported as closed",
    4: "a poll overwrote the agent's done",
    5: "phase and PR number were written separately",
    6: "an unknown board status was a silent no-op, recorded as synced",
    7: "a board failure lost the message about the PR",
    8: "unknown versions accepted; odd remotes blocked, or meant somebody else's repository",
    9: "a poll time in the future stopped polling for good",
    10: 'with no task left it suggested "null", and boards were cut at 30 items',
    11: "clearing Agent with an empty text did nothing",
    12: "a reused branch adopted its old PR, and the base was hard-coded",
    13: "the question and the green message came again and again",
    14: "done never checked that the PR had merged",
    15: "two agents of one account both won a claim",
    16: "the board was moved by hand when a task was claimed",
    17: "context at the top level of the output reached nobody",
    18: "no tests, and no recovery from a corrupt file",
}


def test_every_fault_has_a_test_that_names_it() -> None:
    """`test_fault_N_…` exists for each of them."""
    tests = "\n".join(path.read_text() for path in Path(__file__).parent.rglob("test_*.py"))
    named = {int(n) for n in re.findall(r"^def test_fault_(\d+)_\w", tests, re.MULTILINE)}
    assert {n: fault for n, fault in FAULTS.items() if n not in named} == {}
