"""`lifecycle run`: the group of its commands, and the session that each of them gets.

A command is made of its row in `commands.toml` and one function.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

import click

from lifecycle.cli.command_session import Session
from lifecycle.cli.main import RowGroup, Word
from lifecycle.run import run_store, state, table
from lifecycle.run.gates.work_facts import WorkFacts, facts_of, tree_of
from lifecycle.run.table import ClarificationPhase, CriterionState
from lifecycle.settings import persons, running_client

FOUND = {"met": CriterionState.MET, "unmet": CriterionState.UNMET, "manual": CriterionState.MANUAL}
"""The tester's findings on a criterion, by their words on a command line."""

_KINDS: Final[Mapping[str, click.ParamType[Any]]] = {
    "seconds": click.IntRange(1, 3_600),
    "waiver": click.Choice(["waive"]),
    "size": click.Choice(table.SIZES),
    "severity": click.Choice(table.BLOCKER_SEVERITIES),
    "reviewer": click.Choice([*table.REVIEWERS]),
    "finding": click.Choice([*FOUND]),
    "checkpoint": Word((ClarificationPhase.PRE_ANALYSIS, ClarificationPhase.PRE_PLAN)),
    "clarification": Word(ClarificationPhase),
    "story-status": Word(table.StoryStatus),
    "run-phase": Word(table.RunPhase),
    "tdd-phase": Word(table.WORK),
    "failure": Word(table.FailureCategory),
    "verdict": Word(table.ReviewVerdict),
    "gate": Word(table.Gate, case_sensitive=False),
    "check": Word(table.StoryCheck, case_sensitive=False),
}
"""Click's types for the words on a command line, by the names that a row's `kind` uses."""


class RunSession(Session):
    """A command's session with the run of its worktree."""

    @cached_property
    def store(self) -> run_store.RunStore:
        """The run's file; Refused outside of a worktree."""
        world = self.world
        world.refuse_tracked()
        asker = (self.client_session, self.client_process)
        return run_store.RunStore(world.root, world.environment, world.deadline, asker)

    @property
    def who(self) -> str:
        """The author of a record: the client's session, or "terminal"."""
        return self.client_session or "terminal"

    @property
    def can_ask(self) -> bool:
        """True if a person attends whom the agent that runs this command can ask."""
        return running_client.can_be_asked(self.world.environment)

    @cached_property
    def tree(self) -> str:
        """The name of the present tree of the worktree's files; NoRun if there is no run.

        It is read before the run is locked: git may be slow, and other commands should not wait for it.

        Raises:
            GitFailed, Transient: git cannot answer.
        """
        self.store.demanded()
        return tree_of(self.world.git)

    def facts(self, story: state.Story | None) -> WorkFacts:
        """The changes in git since this story began, if there is one; raises GitFailed, Transient."""
        return facts_of(self.world.git, story.base if story is not None else "")

    def person(self, run: state.Run, asked_at: float, command: str) -> str:
        """The evidence that a person runs this command since they were asked; Refused if there is none."""
        presence = self.presence_beside({led.client for led in run.led if led.client})
        return persons.person(presence, asked_at, f"lifecycle run {command}")

    def show_json(self, data: Mapping[str, Any]) -> None:
        """Print one JSON object, also without `--json`: for commands that always print JSON by design."""
        self.as_json = True
        self.show([], data)


@click.group("run", cls=RowGroup, table="run/commands", session=RunSession, kinds=_KINDS)
def command() -> None:
    """Follow one goal through its stories, in `.claude/workflow-state.json`.

    In a session, /workflow starts a run; lifecycle workflow is something else. A session that leads a run
    is kept at work until the run is completed, waits for you, or was stopped. See docs/runs.md.
    """
