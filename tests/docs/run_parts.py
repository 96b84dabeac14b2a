"""What docs/states.md takes from the tables of an autonomous run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lifecycle.core.machine import Machine
from lifecycle.run.table import (
    BACKOFF_LIMIT,
    GATES,
    MAX_RETRIES,
    PHASES,
    RETRY,
    REVIEWERS,
    SHOWN_BY,
    STORIES,
    TDD,
    TRIGGERS,
    Gate,
)


def picture(machine: Machine[Any]) -> str:
    """A machine as a Mermaid diagram; its names have no hyphen there, and its reasons no colon."""
    lines = ["```mermaid", "stateDiagram-v2"]
    lines += [f'    state "{one}" as {_name(one)}' for one in machine.table if "-" in one]
    lines.append(f"    [*] --> {_name(machine.initial)}")
    for phase, row in machine.table.items():
        for wanted, why in row.items():
            plain = why.replace(":", " -").replace(";", ",")
            lines.append(f"    {_name(phase)} --> {_name(wanted)}: {plain}")
    return "\n".join([*lines, "```"])


def _name(state: str) -> str:
    return state.replace("-", "_")


def _table(head: str, rows: Iterable[Iterable[object]]) -> str:
    names = [name.strip() for name in head.split("|")]
    lines = [f"| {' | '.join(map(str, row))} |" for row in (names, *rows)]
    return "\n".join([lines[0], f"|{'---|' * len(names)}", *lines[1:]])


def gates() -> str:
    """Each gate: when, what it runs or looks at, and what a failure leads to."""
    rows = []
    records = {Gate.G1: "design, criteria, files, dependencies, questions", Gate.G6: "the review"}
    for gate, row in GATES.items():
        looks = records.get(gate) or ", ".join(f"`{name}`" for name in row.checks)
        needed = f"; `{row.required[0]}` is needed" if row.required else ""
        of = "run" if row.is_final or gate is Gate.G1 else "story"
        rows.append((gate, of, row.when, f"{looks}{needed}", row.on_fail))
    return _table("gate | belongs to the | when | checks | on fail", rows)


def checks() -> str:
    """Each check of a story, and what shows it."""
    reviews = {check: role for role, (check, _, _) in REVIEWERS.items()}
    rows = []
    for check, gate in SHOWN_BY.items():
        record = f"a review by {reviews[check]}" if check in reviews else f"`{gate}`"
        rows.append((f"`{check}`", record))
    return _table("check | shown by", rows)


def failures() -> str:
    """Each category of failure, and how it is tried again."""
    rows = []
    for category, policy in RETRY.items():
        wait = f"{policy.backoff} s, then twice as long" if policy.backoff else ""
        rows.append((f"`{category}`", policy.description, policy.strategy, wait))
    note = (
        f"At most {MAX_RETRIES} iterations on a story; at most {BACKOFF_LIMIT} seconds are waited."
    )
    return f"{_table('category | what fails | strategy | wait', rows)}\n\n{note}"


def triggers() -> str:
    """Each trigger of an escalation, what is done, and the word that is printed."""
    rows = [
        (trigger, action, f"`{word}`" if word else "")
        for trigger, (action, word) in TRIGGERS.items()
    ]
    return _table("trigger | action | word", rows)


PARTS: dict[str, Callable[[], str]] = {
    "run_phases": lambda: picture(PHASES),
    "run_stories": lambda: picture(STORIES),
    "run_tdd": lambda: picture(TDD),
    "run_gates": gates,
    "run_checks": checks,
    "run_failures": failures,
    "run_triggers": triggers,
}
"""The name of each part and what makes it."""
