"""What the size of a run costs: the commands of `lifecycle run` on 500 stories, and on an empty state."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from msgspec.structs import replace
from rich.table import Table

from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.run.run_store import RunStore
from lifecycle.run.state import Run
from lifecycle.run.stories.begin import new_run
from tests.bench.timing import seconds_of
from tests.run.texts.texts_ground import a_run, done

STORIES, LINES = 500, 10_000
LIMIT = 1.5
"""How much longer a command may take on the large state than on the empty one."""

COMMANDS: Final = (
    ("recover",),
    ("status",),
    ("status", "--json"),
    ("progress", "--lines", "20"),
    ("report",),
    ("compact-context",),
    ("add-clarification", "What?", "That"),
    ("story-plan", "S2", "--design", "A table"),
)


@dataclass(frozen=True, slots=True)
class RunTook:
    """Medians of one command's seconds."""

    name: str
    empty: float
    large: float

    @property
    def ratio(self) -> float:
        """How many times as long the large state takes."""
        return self.large / self.empty


def run_rows(folder: Path, rounds: int) -> list[RunTook]:
    """Each command in turn on both states, so that a busy moment of the machine hits both."""
    now = SystemClock().now()
    small = replace(new_run("Pay", now), stories=a_run().stories[1:2])
    stories = (*(done(n, now) for n in range(5, STORIES + 1)), *a_run().stories)
    large = replace(a_run(), started=now, stories=stories)
    roots = [
        _worktree(folder / "empty-run", small, 0),
        _worktree(folder / "large-run", large, LINES),
    ]
    rows = []
    for words in COMMANDS:
        took: list[list[float]] = [[], []]
        for _ in range(rounds):
            for root, seconds in zip(roots, took, strict=True):
                seconds.append(_seconds(root, words))
        rows.append(RunTook(f"run {' '.join(words[:2])}", *map(median, took)))
    return rows


def run_table(rows: Sequence[RunTook], rounds: int) -> Table:
    """Both times of each command, and how many times as long the large one takes."""
    title = f"a run of {STORIES} stories and {LINES:,} lines (medians of {rounds})"
    table = Table(title=title, title_justify="left")
    table.add_column("command")
    for name in ("empty ms", "large ms", "÷ empty"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            row.name, f"{row.empty * 1e3:.0f}", f"{row.large * 1e3:.0f}", f"{row.ratio:.2f}"
        )
    return table


def judge_runs(rows: Sequence[RunTook]) -> list[str]:
    """Which command takes too much longer on the large state."""
    return [
        f"{row.name} takes {row.ratio:.2f} times as long with {STORIES} stories, and may take {LIMIT}"
        for row in rows
        if row.ratio > LIMIT
    ]


def _worktree(root: Path, run: Run, lines: int) -> Path:
    subprocess.run(["git", "init", "--quiet", root], check=True)
    store = RunStore(root, os.environ, Deadline.after(SystemClock(), 60))
    with store.locked():
        store.begin(run)
        if lines:
            text = "".join(f"2026-01-31T09:30:00Z line {number}\n" for number in range(lines))
            Path(store.progress.path).write_text(text)
    return root


def _seconds(root: Path, words: tuple[str, ...]) -> float:
    variables = {"PATH": os.environ["PATH"], "HOME": str(root.parent / "home")}
    command = Path(sys.executable).with_name("lifecycle")
    with contextlib.chdir(root):
        return seconds_of((str(command), "run", *words), variables)
