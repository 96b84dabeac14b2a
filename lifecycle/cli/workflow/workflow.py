"""`lifecycle workflow`: the group of its commands, which are rows of `commands.toml`."""

from __future__ import annotations

from typing import Final

import click

from lifecycle.cli.main import RowGroup, rows_of
from lifecycle.cli.workflow.workflow_session import WorkflowSession

COMMANDS: Final = rows_of("workflow")


@click.group(
    "workflow",
    cls=RowGroup,
    folder="workflow.",
    table=COMMANDS,
    session=WorkflowSession,
)
def command() -> None:
    """Keep work in ordered phases in files, so that no compaction, crash or new session loses any of it.

    Each phase has a status, an agent, files to read, what it hands on, and, if you want, a gate. In a
    session, /workflow is something else: it starts an autonomous run (lifecycle run). See docs/workflow.md.
    """
