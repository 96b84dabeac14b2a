"""What the size of a run costs: every command of `lifecycle run` on 500 stories, and on an empty state.

The commands are those of the command line's own table, so that a new one is measured by itself: with a word
for each argument that it demands. Where that is refused, `CASES` says with which words, and on which run,
it does its work.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click
from msgspec.structs import replace
from rich.table import Table

from lifecycle.cli.run.run import command as group
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.git.process import GitRepository
from lifecycle.run.gates.work_facts import WorkFacts, facts_of
from lifecycle.run.run_store import FOLDER, PROGRESS, RunStore
from lifecycle.run.state import Run, Story, UserFix
from lifecycle.run.table import Gate, RunPhase, RunStatus, StoryStatus, TddPhase
from lifecycle.settings import user_folder
from lifecycle.storage import store
from tests.bench.timing import seconds_of
from tests.platforms.platform_ground import OWN, put
from tests.run.gates.stories_ground import passed, review
from tests.run.texts.texts_ground import a_run, at_work, done

STORIES, LINES = 500, 10_000
LIMIT = 1.5
"""How much longer a command may take on the large state than on the empty one."""

STORY = "S2"
TEST = ["true"]


def _as_it_is(run: Run, facts: WorkFacts) -> Run:
    del facts
    return run


def _waits(run: Run, facts: WorkFacts) -> Run:
    """A person is waited for, and `true` shows whether it is fixed."""
    del facts
    fix = UserFix("B2", "Add the key", run.started, check_command=("true",), timeout=60)
    return replace(run, status=RunStatus.AWAITING_USER, fix=fix)


def _stopped(run: Run, facts: WorkFacts) -> Run:
    del facts
    return replace(run, status=RunStatus.STOPPED, why="100 iterations", stopped_at=run.started)


def _planned(run: Run, facts: WorkFacts) -> Run:
    del facts
    return replace(run, phase=RunPhase.ANALYSIS)


def _not_begun(run: Run, facts: WorkFacts) -> Run:
    """Nobody has begun the story."""
    del facts
    new = Story(STORY, "Pay by card")
    return replace(run, stories=tuple(new if one.id == STORY else one for one in run.stories))


def _all_shown(run: Run, facts: WorkFacts) -> Run:
    """Every story is completed and reviewed, and the last gate passed on the files as they are."""
    reviews = (review(tree=facts.tree),)
    stories = tuple(
        replace(
            one, status=StoryStatus.COMPLETED, security=False, reviews=reviews, commit=facts.head
        )
        for one in run.stories
    )
    gates = (*run.gates, passed(Gate.G7, facts.tree))
    return replace(
        run, stories=stories, gates=gates, unpublished="there is no remote", published=facts.head
    )


@dataclass(frozen=True, slots=True)
class Case:
    """How a command does its work.

    Attributes:
        words: its arguments.
        run: what the run has to be, from the run and what git shows.
        edit: the file that was changed and not committed; "" if none was.
    """

    words: tuple[str, ...] = ()
    run: Callable[[Run, WorkFacts], Run] = _as_it_is
    edit: str = ""


CASES: Final = {
    "story-plan": Case((STORY, "--design", "A table")),
    "init": Case(("--anew", "Pay")),
    "complete": Case(run=_all_shown),
    "finish": Case(run=_all_shown),
    "update-phase": Case(("planning",), _planned),
    "update-story": Case((STORY, "testing")),
    "check-user-fix": Case(run=_waits),
    "user-fix-complete": Case(run=_waits),
    "await-user-fix": Case(("B2", "Add the key", "--check-command", "true")),
    "resume": Case(run=_stopped),
    "remove-story": Case((STORY, "--reason", "added by mistake"), _not_begun),
    "commit": Case((STORY,), edit="pay.py"),
    "gate": Case(("G5", STORY)),
    "verify": Case((STORY, "testsPass", "--passed")),
    "review": Case((STORY, "--by", "reviewer", "--verdict", "APPROVED")),
    "tdd-phase": Case((STORY, "red")),
}
"""Commands that a word for each demanded argument does not bring to their work."""


@dataclass(frozen=True, slots=True)
class RunTook:
    """The seconds of one command, each the least of its rounds: what disturbs a process adds to it."""

    name: str
    empty: float
    large: float

    @property
    def ratio(self) -> float:
        """How many times as long the large state takes."""
        return self.large / self.empty


class Ground:
    """A committed worktree with a run, the same before each measured command.

    Args:
        root: where it is to be.
        run: the run.
        lines: so many lines of progress.
    """

    def __init__(self, root: Path, run: Run, lines: int) -> None:
        self.root, self.run = root, run
        home = root.parent / "home"
        user = {
            f"GIT_{who}_{what}": "a@b"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        self.variables = {"PATH": os.environ["PATH"], "HOME": str(home), **user}
        root.mkdir()
        (root / "pay.py").write_text("pay = 1\n")
        (root / ".lifecycle.toml").write_text(f"[checks.commands]\ntest = {TEST}\n")
        put(home / OWN, "bench", markers=["pay.py"])
        for words in (("init", "-b", "work"), ("add", "."), ("commit", "-m", "Begin")):
            self._git(*words)
        user_folder.allow(self.variables, store.clone_of(root), checks=TEST)
        self.deadline = Deadline.after(SystemClock(), None)
        kept = RunStore(root, self.variables, self.deadline)
        with kept.locked():
            kept.begin(run)
            text = "".join(f"2026-01-31T09:30:00Z line {number}\n" for number in range(lines))
            if text:
                (root / FOLDER / PROGRESS).write_text(text)
        self.facts = facts_of(GitRepository(root, self.deadline, self.variables))
        self.run_store, self.aside = kept, root.parent / f"{root.name}-progress"
        shutil.copytree(root / ".claude", self.aside)

    def seconds(self, command: Path, name: str, words: Sequence[str]) -> float:
        """How long a command takes, from the very state that it has for every round."""
        case = CASES.get(name, Case())
        self._git("reset", "--hard", self.facts.head)
        shutil.copytree(self.aside, self.root / ".claude", dirs_exist_ok=True)
        with self.run_store.locked():
            self.run_store.write(case.run(self.run, self.facts))
        if name == "rollback-to-checkpoint":
            self._run(command, "mark-working-state")
        if case.edit:
            (self.root / case.edit).write_text("pay = 2\n")
        return self._run(command, name, *words)

    def _run(self, command: Path, *words: str) -> float:
        with contextlib.chdir(self.root):
            return seconds_of((str(command), "run", *words), self.variables, computes=True)

    def _git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", "-c", "commit.gpgsign=false", *words],
            cwd=self.root, env=self.variables, check=True, capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout.strip()


def words_of(name: str) -> tuple[str, ...]:
    """The arguments with which a command of the table is measured."""
    if name in CASES:
        return CASES[name].words
    command = group.get_command(click.Context(group), name)
    assert command is not None
    words = []
    for parameter in command.params:
        if not parameter.required:
            continue
        if isinstance(parameter, click.Option):
            words.append(parameter.opts[0])
        words.append(_word(parameter))
    return tuple(words)


def _word(parameter: click.Parameter) -> str:
    """A word that an argument takes."""
    if parameter.name == "story":
        return STORY
    if isinstance(parameter.type, click.Choice):
        return str(parameter.type.choices[0])
    return "1" if isinstance(parameter.type, type(click.INT)) else "words"


def run_rows(folder: Path, rounds: int, command: Path | None = None) -> list[RunTook]:
    """Each command in turn on both states, so that a busy moment of the machine hits both.

    Args:
        folder: an empty one.
        rounds: how often each is run.
        command: `lifecycle`; the installed one unless given.
    """
    now = SystemClock().now()
    program = command or Path(sys.executable).with_name("lifecycle")
    work = replace(at_work(), tdd=TddPhase.NONE, red=None)
    whole = replace(a_run(), started=now)
    small = replace(whole, stories=(done(1), work))
    large = replace(whole, stories=(done(1), work, *(done(n) for n in range(3, STORIES + 1))))
    grounds = (
        Ground(folder / "empty-run", small, 0),
        Ground(folder / "large-run", large, LINES),
    )
    rows = []
    for name in group.table:
        words, took = words_of(name), [list[float](), list[float]()]
        for _ in range(rounds):
            for ground, seconds in zip(grounds, took, strict=True):
                seconds.append(ground.seconds(program, name, words))
        rows.append(RunTook(f"run {name}", *map(min, took)))
    return rows


def run_table(rows: Sequence[RunTook], rounds: int) -> Table:
    """Both times of each command, and how many times as long the large one takes."""
    title = f"a run of {STORIES} stories and {LINES:,} lines (CPU time, the best of {rounds})"
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
