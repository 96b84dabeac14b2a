"""`lifecycle workflow history`: what happened in a workflow, as the journal has it."""

from __future__ import annotations

import click

from lifecycle.cli.command_session import option
from lifecycle.cli.workflow.workflow_session import WorkflowSession, in_workflows, which
from lifecycle.core.redact import quoted
from lifecycle.core.timing import render_time
from lifecycle.storage import journal
from lifecycle.storage.journal import JournalEntry
from lifecycle.views.overview.overview_words import phase_words
from lifecycle.views.stats.stats_words import minute
from lifecycle.workflow.state import Workflow

_LINES = click.IntRange(1, 10_000)


@click.command("history", short_help="What happened in the workflow: the audit trail.")
@option("--lines N", "How many entries. Default: 100.", type=_LINES, default=100)
@which
@in_workflows
def history(given: WorkflowSession, *, lines: int, name: str) -> None:
    """Show each move of each phase, with its reason and its gate, the newest last; also of an archived one.

    It is read from the journal of this clone, so it outlives the workflow's own files.
    """
    workflow = _meant(given, name)
    entries = journal.last(given.root, lines, system=journal.WORKFLOW, task=workflow.id)
    rows = [_row(entry) for entry in entries]
    told = ["  ".join(row).rstrip() for row in rows] or [
        f"The journal has nothing of the workflow {quoted(workflow.name)}."
    ]

    def draw() -> None:
        from lifecycle.cli.workflow.workflow_screen import draw_history

        draw_history(rows)

    data = {"id": workflow.id, "workflow": workflow.name, "entries": [_data(e) for e in entries]}
    given.print(told, data, draw if rows else None)


def _meant(given: WorkflowSession, name: str) -> Workflow:
    """The workflow of this name; without one the one that is meant, else the one that ended last."""
    there = given.store.read(archived=True)
    if not name and not there.unfinished and there.found:
        return there.found[0].workflow
    return given.found(name, there).workflow


def _row(entry: JournalEntry) -> tuple[str, str, str]:
    """When, which phase, what."""
    detail = entry.detail
    title = str(detail.get("phase") or "")
    number = str(detail.get("number") or "")
    phase = f"{number}. {quoted(title)}" if title else number
    return minute(entry.at), phase, phase_words(entry)


def _data(entry: JournalEntry) -> dict[str, object]:
    return {
        "at": render_time(entry.at),
        "kind": entry.kind,
        "from": entry.source,
        "to": entry.target,
        "agent": entry.actor or None,
        "session": entry.session or None,
        **{name: entry.detail[name] for name in sorted(entry.detail)},
    }
