"""A few of the random sequences, that they are what their seeds say, and that their rules can fail."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.forked import Forked
from tests.soak.doing import STEPS
from tests.soak.past import aged
from tests.soak.sequence import (
    CLAIM,
    DONE,
    FORCED,
    GO_ON,
    HAND_WRITTEN,
    HANDOFF,
    HOUR,
    IDLE,
    MERGE,
    PROCESSES,
    QUICK,
    RELEASE,
    SLOW,
    START,
    STOP,
    WORK,
    Step,
)  # fmt: skip
from tests.soak.soaking import shrunk, soak
from tests.soak.staged import DEFECTS
from tests.soak.team import CLOCKS, drawn

ROOT = Path(__file__).parents[2]
MANY = range(400)
OPENED = (HAND_WRITTEN, WORK, STOP)
TAKEN = (START, CLAIM, GO_ON, WORK, HANDOFF, STOP)

_CUT = {"fault": "connection-cut-after", "count": 9}
TEAM = Step("team", {"machines": ((0, "octocat"), (0, "octocat"), (-10_800, "sam"))})
LOST_ANSWERS = (
    Step("fault", {**_CUT, "operation": "CommentAndClose"}),
    Step("fault", {**_CUT, "path": "/comments"}),
)
"""What a closing writes comes about, and nobody is told: in one request, and one by one."""


@pytest.mark.once("each seed repeats it")
@pytest.mark.parametrize("seed", [3, 103, 66])
def test_a_sequence_violates_nothing(seed: int, forked: Forked) -> None:
    """Whatever agents, people and the network do in it, every rule holds after each step and at rest."""
    outcome = soak(seed, forked.command)
    assert outcome.violations == [], "\n".join(outcome.trail)
    assert len(outcome.trail) > len(drawn(seed)), "it was brought to rest"


def test_a_seed_gives_the_same_steps_in_every_process() -> None:
    """What `make soak SEED=7` replays elsewhere is what was run here."""
    told = "\n".join(f"{number:3} {step}" for number, step in enumerate(drawn(7), 1))
    argv = [sys.executable, "-m", "tests.soak", "--seed", "7", "--steps"]
    environment = {**os.environ, "PYTHONHASHSEED": "11", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, check=True)
    assert done.stdout.decode().rstrip("\n") == told


def test_the_sequences_leave_no_kind_of_step_out() -> None:
    """Among some hundred seeds each step, fault, kill and second agent comes, most of them often."""
    steps = [step for seed in MANY for step in drawn(seed)]
    names = Counter(step.name for step in steps)
    assert set(names) == set(STEPS)
    assert min(names.values()) >= 10, names
    assert {step.given.get("fault") for step in steps if step.name == "fault"} == set(QUICK)
    assert {step.under for step in steps} == {"", *SLOW}
    killed = [step for step in steps if step.kill]
    signals = {"SIGKILL", "SIGTERM", "SIGINT", "SIGSTOP"}
    assert {step.kill[0] for step in killed if step.kill} == signals
    assert {step.name for step in killed} == PROCESSES | {"sweep", "advance"}
    assert sum(step.by == 2 for step in steps) > 100
    teams = [step.given["machines"] for step in steps if step.name == "team"]
    assert {clock for machines in teams for clock, _ in machines} == set(CLOCKS)
    assert {login for machines in teams for _, login in machines} == {"octocat", "sam"}


def test_moments_grow_older_and_names_do_not() -> None:
    """Every date and time in a file moves together, in keys and nanoseconds too; an agent's name stays."""
    text = '{"at": 1795343220.5, "42@1795343220/pr:46": 1, "ns": 1795343220123456789, "n": "a-1795343220"}'
    assert aged(text, 20) == (
        '{"at": 1795343200.5, "42@1795343200/pr:46": 1, "ns": 1795343200123456789, "n": "a-1795343220"}'
    )
    assert aged("2026-11-22T10:00:05Z", 10) == "2026-11-22T09:59:55Z"


def test_a_failure_is_shrunk_to_the_steps_that_it_needs() -> None:
    """Of a hundred steps those stay without which it is no failure any more, in their order."""
    steps = [Step("time", {"seconds": number}) for number in range(100)]
    needed = {7, 41, 99}
    left = shrunk(steps, lambda some: needed <= {step.given["seconds"] for step in some})
    assert left == [steps[7], steps[41], steps[99]]


@pytest.mark.once("test_rules.py has each rule")
@pytest.mark.parametrize(
    ("defect", "rule", "steps"),
    [
        (
            "a comment is not found again",
            "one_comment",
            (*OPENED, MERGE, IDLE, GO_ON, DONE, *LOST_ANSWERS, STOP, Step("calm"), HOUR, STOP),
        ),
        ("closed without an answer", "closed_by_right", (*OPENED, GO_ON, MERGE, IDLE, DONE, STOP)),
        ("closed without a merge", "closed_by_right", (*OPENED, DONE, STOP)),
        ("opened without a look", "looked_first", OPENED),
        ("said again", "said_once", (*OPENED, MERGE, IDLE, IDLE)),
        ("the lease stays", "lease_returned", (*TAKEN, RELEASE, STOP)),
        ("the card stays", "board_in_step", OPENED),
        ("an exception in a look", "no_secret_kept", (*OPENED, IDLE)),
        (
            "a lease is pushed by force",
            "others_lease",
            (TEAM, replace(CLAIM, kill=("SIGSTOP", 3)), replace(CLAIM, by=2), Step("go_on")),
        ),
        ("a loss is not seen", "one_holder", (TEAM, CLAIM, replace(FORCED, by=2))),
    ],
)
def test_a_defect_of_the_product_is_found(
    defect: str, rule: str, steps: Sequence[Step], forked: Forked
) -> None:
    """With a promise broken on purpose in the product's processes, the rule that holds it fails."""
    outcome = soak(0, forked.command, steps, defect=defect)
    assert [v.partition(":")[0] for v in outcome.violations[:1]] == [rule], "\n".join(outcome.trail)


def test_every_defect_is_tried() -> None:
    """No defect lies there without a test that it is found."""
    marks = test_a_defect_of_the_product_is_found.pytestmark  # type: ignore[attr-defined]
    (mark,) = [one for one in marks if one.name == "parametrize"]
    assert {row[0] for row in mark.args[1]} == set(DEFECTS)
