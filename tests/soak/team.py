"""The steps of a team: agents on machines with clocks of their own want the same tasks, and sweeps come.

Each agent has a clone, and works with one of two accounts. No two processes run at once by chance, since a
seed has to determine everything. Instead a command stops right before one of its moments (`killer.py`),
others act, and then it goes on: so what happens meanwhile is a part of the sequence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tests.soak import sequence
from tests.soak.sequence import DONE, IDLE, STOP, WAITER, WORK, YES, Chance, Step

EVERY = 6
"""Each so many-th seed is a team's."""
CLOCKS = (-10_800, -1200, -90, 0, 0, 90, 1200, 10_800, 25_200)
"""Seconds by which a machine's clock may be ahead."""
ISSUES = (41, 42)
STEPS = 60
SWEEPS = (("--close",), ("--close", "--release"), ("--release",), ())
COMMANDS: Mapping[tuple[str, ...], int] = {
    ("takeover", "{issue}"): 4, ("claim", "{issue}"): 3, ("release", "--reason", "enough"): 3,
    ("tick",): 2, ("close",): 2, ("handoff", "--summary", "Fix the race"): 1,
}  # fmt: skip


def drawn(seed: int) -> tuple[Step, ...]:
    """The steps of a seed: always the same."""
    return tuple(_steps(Chance(seed))) if seed % EVERY == 0 else sequence.sequence(seed)


def _steps(chance: Chance) -> Iterator[Step]:
    machines = tuple(
        (chance.one(CLOCKS), "sam" if chance.often(0.25) else "octocat")
        for _ in range(3 + chance.below(2))
    )
    yield Step("team", {"machines": machines})
    agents = range(1, len(machines))
    for _ in range(STEPS):
        step = _step(chance, chance.one(agents))
        at_once, kind = chance.often(0.2), chance.below(10)
        moment = 1 + chance.below(3 if step.name == "sweep" else 9)
        step = replace(step, after=0 if at_once else 3)
        signal = {0: chance.one(sequence.SIGNALS), 1: "SIGSTOP", 2: "SIGSTOP"}.get(kind)
        if signal == "SIGSTOP" and step.name in ("cli", "sweep"):
            yield replace(step, kill=(signal, moment))
            for _ in range(1 + chance.below(4)):
                yield _step(chance, chance.one([by for by in agents if by != step.by]))
            yield Step("go_on", by=step.by)
        elif signal not in (None, "SIGSTOP") and step.name in _PROCESSES:
            yield replace(step, kill=(signal, moment))
        else:
            yield step


_PROCESSES = sequence.PROCESSES | {"sweep", "advance"}


def _step(chance: Chance, by: int) -> Step:
    """One thing that an agent, somebody else or GitHub does."""
    issue = chance.one(ISSUES)
    family = chance.weighed(
        {"advance": 36, "command": 14, "wake": 16, "sweep": 12, "person": 10, "time": 8, "fault": 3}
    )
    if family == "advance":
        return Step("advance", {"issue": issue}, by=by)
    if family == "command":
        words = tuple(word.format(issue=issue) for word in chance.weighed(COMMANDS))
        return Step("cli", {"arguments": words, "is_person": chance.often(0.3)}, by=by)
    if family == "wake":
        return replace(chance.one((STOP, STOP, IDLE, WAITER, YES, DONE, WORK)), by=by)
    if family == "sweep":
        return Step("sweep", {"arguments": chance.one(SWEEPS)}, by=0)
    if family == "time":
        return Step("time", {"seconds": chance.one((65, 700, 4000, 28_800, 93_600))})
    return _person(chance, issue) if family == "person" else sequence._fault(chance)


def _person(chance: Chance, issue: int) -> Step:
    given: Mapping[str, dict[str, Any]] = {
        "merge": {"method": chance.one(("merge", "squash")), "delete_branch": chance.often(0.5)},
        "set_check": {"name": "test", "conclusion": chance.one(("success", "failure"))},
        "reopen_issue": {"issue": issue},
        "close_pull": {},
        "move_card": {"issue": issue, "status": chance.one(("Todo", "In Progress", "Done"))},
        "assign": {"issue": issue, "login": chance.one(("sam", "octocat"))},
        "unassign": {"issue": issue, "login": chance.one(("sam", "octocat"))},
    }
    name = chance.weighed(
        {"merge": 5, "set_check": 2, "reopen_issue": 3, "close_pull": 1, "move_card": 1, "assign": 1,
         "unassign": 1}
    )  # fmt: skip
    return Step(name, given[name])
