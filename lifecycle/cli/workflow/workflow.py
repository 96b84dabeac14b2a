"""`lifecycle workflow`: the group of its commands, which are rows of `commands.toml`, and their session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import click

from lifecycle.app.guidance.preparing import preparing_store
from lifecycle.cli.command_session import Session
from lifecycle.cli.main import RowGroup, rows_of
from lifecycle.core.redact import visible
from lifecycle.workflow.steps.workflow_steps import WorkflowSteps
from lifecycle.workflow.store.found_workflows import FoundWorkflow
from lifecycle.workflow.store.workflow_change import WorktreeWorkflows
from lifecycle.workflow.store.workflow_store import WorkflowStore
from lifecycle.workflow.whose import Asker, asker_of

COMMANDS: Final = rows_of("workflow")


class WorkflowSession(Session):
    """A command's session with the workflows of its worktree."""

    @cached_property
    def store(self) -> WorkflowStore:
        """The files of the workflows; Refused outside of a worktree."""
        world = self.world
        world.refuse_tracked()
        return preparing_store(world.root, world.environment, world.deadline)

    @cached_property
    def asker(self) -> Asker:
        """The session, process and branch that this command is run from."""
        return asker_of(self.root, self.world.environment, {})

    @cached_property
    def steps(self) -> WorkflowSteps:
        """What moves a workflow, in the name of this asker."""
        clients = {self.asker.client} - {0}
        return WorkflowSteps(self.store, self.asker, lambda: self.presence_beside(clients))

    def found(self, name: str, workflows: WorktreeWorkflows) -> FoundWorkflow:
        """The workflow of this name or id, "" for the asker's own; raises NoWorkflow."""
        workflow = self.steps.named(workflows, name)
        return next(entry for entry in workflows.found if entry.workflow.id == workflow.id)

    def print(
        self,
        lines: Sequence[str],
        data: Mapping[str, Any],
        draw: Callable[[], None] | None = None,
        troubles: Iterable[str] = (),
    ) -> None:
        """Print sentences, on a terminal what `draw` draws in their place, or one JSON object.

        Args:
            lines: the sentences.
            data: the object.
            draw: prints tables.
            troubles: what is wrong with files: notes behind the rest, and a list in the object.
        """
        self.show(lines, {**data, "troubles": list(troubles)}, draw)
        for trouble in () if self.as_json else troubles:
            click.echo(visible(f"Note: {trouble}"))


@click.group("workflow", cls=RowGroup, folder="workflow.", table=COMMANDS, session=WorkflowSession)
def command() -> None:
    """Keep work in ordered phases in files, so that no compaction, crash or new session loses any of it.

    Each phase has a status, an agent, files to read, what it hands on, and, if you want, a gate. In a
    session, /workflow is something else: it starts an autonomous run (lifecycle run). See docs/workflow.md.
    """
