"""Draws workflows on a terminal with rich: phases, lists and history as tables."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from lifecycle.cli.terminal import fitted, grid
from lifecycle.cli.workflow import workflow_values as words
from lifecycle.core.messages.figures import span
from lifecycle.workflow.documents.written_documents import title_of
from lifecycle.workflow.state import Workflow
from lifecycle.workflow.store.found_workflows import FoundWorkflow
from lifecycle.workflow.table import PhaseStatus

WIDTH = 140
"""Columns at most: further apart, the cells of a row lose each other."""

WIDE = 100
"""From so many columns on, the gate has a column of its own."""

STYLES = {
    PhaseStatus.ACTIVE: "cyan",
    PhaseStatus.BLOCKED: "yellow",
    PhaseStatus.COMPLETED: "green",
    PhaseStatus.FAILED: "red",
    PhaseStatus.SKIPPED: "dim",
}


def draw_workflow(workflow: Workflow, now: float, beside: Sequence[str] = ()) -> None:
    """Print a workflow as a table of its phases.

    `beside` are lines about files of other tools.
    """
    shown, width = fitted(None, WIDTH)
    done = "" if workflow.is_over else f", {workflow.progress} phases done"
    shown.print(Text(f"{workflow.name}{done}", "bold"), width=width)
    _, *further = words.heads(workflow, now)
    place, seconds = words.where(workflow), words.lasted(workflow, now)
    for line in (f"{workflow.id} · {workflow.type} · {place} · {span(seconds)}", *further):
        shown.print(Text(line, "dim"), width=width)
    shown.print()
    is_wide = width >= WIDE
    rows = []
    for index, phase in enumerate(workflow.phases):
        style = STYLES.get(phase.status, "")
        below = words.notes(phase)
        below += [f"gate: {words.gate_words(phase)}"] if phase.gate and not is_wide else []
        title = Text.assemble(
            Text(title_of(workflow, index), "bold" if index == workflow.current else ""),
            *(Text(f"\n{note}", "dim") for note in below),
        )
        cells = [Text(f"{index + 1}"), title, Text(phase.agent), Text(phase.status.value, style)]
        cells += [Text(words.gate_words(phase), "dim")] if is_wide else []
        rows.append([*cells, Text(words.took(phase, now), "dim")])
    widths = (3, None, 16, 9, *((24,) if is_wide else ()), 8)
    head = ("#", "phase", "agent", "status", *(("gate",) if is_wide else ()), "time")
    shown.print(grid(widths, rows, head), width=width)
    for heading, texts in words.parts(workflow):
        shown.print()
        shown.print(Text(heading, "bold"))
        shown.print(Text("\n".join(texts)), width=width)
    for line in beside:
        shown.print(Text(line, "dim"), width=width)


def draw_list(entries: Sequence[FoundWorkflow], session: str, now: float) -> None:
    """Print workflows as a table, the one that was changed last first."""
    shown, width = fitted(None, WIDTH)
    rows = []
    for entry in entries:
        workflow = entry.workflow
        phase = workflow.phase
        style = STYLES.get(phase.status, "") if phase is not None else "green"
        whose = Text(f"\n{words.owner(workflow, session)}", "dim")
        name = Text.assemble(workflow.name, Text(f"\n{workflow.id}", "dim"))
        place = Text.assemble(Text(words.where(workflow), style), whose)
        rows.append([name, place, Text(workflow.progress), Text(words.age(entry, now), "dim")])
    head = ("workflow", "where, whose", "done", "changed")
    shown.print(grid((24, None, 8, 10), rows, head), width=width)


def draw_history(rows: Sequence[tuple[str, str, str]]) -> None:
    """Print what happened in a workflow as a table, the newest last."""
    shown, width = fitted(None, WIDTH)
    cells = [(Text(at, "dim"), Text(phase), Text(what)) for at, phase, what in rows]
    shown.print(grid((17, 24, None), cells, ("when", "phase", "what")), width=width)
