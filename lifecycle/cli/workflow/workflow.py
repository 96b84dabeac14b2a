"""`lifecycle workflow`: the group of its commands, loaded one at a time."""

from __future__ import annotations

import click

from lifecycle.cli.main import LazyGroup

COMMANDS: dict[str, str] = {
    "start": "workflow.workflow_start:start",
    "advance": "workflow.workflow_moves:advance",
    "block": "workflow.workflow_moves:block",
    "skip": "workflow.workflow_moves:skip",
    "fail": "workflow.workflow_moves:fail",
    "retry": "workflow.workflow_moves:retry",
    "complete": "workflow.workflow_moves:complete",
    "phase": "workflow.workflow_look:phase",
    "show": "workflow.workflow_look:show",
    "list": "workflow.workflow_look:list_all",
    "guidance": "workflow.workflow_look:guidance",
    "todos": "workflow.workflow_look:todos",
    "history": "workflow.workflow_look:history",
    "template": "workflow.workflow_start:template",
    "call": "workflow.workflow_call:call",
}
"""Where below `lifecycle/cli/` each command is: its module, and its name there."""


@click.group(
    "workflow", cls=LazyGroup, table=COMMANDS, short_help="Phases whose state survives compaction."
)
def command() -> None:
    """Keep work in ordered phases in files, so that no compaction, crash or new session loses any of it.

    Each phase has a status, an agent, files to read, what it hands on, and, if you want, a gate. In a
    session, /workflow is something else: it starts an autonomous run (lifecycle run). See docs/workflow.md.
    """
